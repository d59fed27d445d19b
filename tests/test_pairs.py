"""Small arrays that are sorted together with their positions, for index, inverse and counts."""

import itertools

import numpy as np
import pytest
from arrays import assert_same

import fastsel
from fastsel import _gate, _small
from fastsel._kernels import pairs

DTYPES = ["i2", "u2", "f2", "i4", "u4", "f4", "i8", "u8", "f8", "M8[s]", "m8[ns]"]
WANTED = [flags for flags in itertools.product([False, True], repeat=3) if any(flags)]
SIZES = [1, 2, 63, 64, 65, 700, 5000, 65_536]


def some(dtype, size, spread, generator):
    """Items of every kind of the dtype: signed zeros, NaN of several bits, NaT."""
    dtype = np.dtype(dtype)
    if spread == "full":
        return generator.integers(0, 256, size * dtype.itemsize, dtype=np.uint8).view(dtype)
    if spread == "ends":  # 8 bytes: they differ in the top bits and in the lowest
        words = generator.integers(-1, 2, size) * 2**62 + generator.integers(0, 5, size)
        return words.view(dtype)[:size].copy()
    numbers = generator.integers(-(spread // 2), spread // 2 + 1, size)
    if dtype.kind in "mM":
        items = numbers.view(dtype)
        items[generator.random(size) < 0.05] = "NaT"
        return items
    items = numbers.astype(dtype)
    if dtype.kind == "f":
        items[generator.random(size) < 0.05] = np.nan
        items[generator.random(size) < 0.05] = -np.nan
        items[generator.random(size) < 0.05] = -0.0
    return items


def unique(a, flags, equal_nan=True):
    rule = _gate.word_rule(a.dtype, equal_nan)
    return pairs.unique(a, rule, _gate.number_rule(a.dtype), *flags)


@pytest.fixture
def _without_pairs(monkeypatch):
    monkeypatch.setattr(_small, "PAIRED_ITEMS", 0)
    monkeypatch.setattr(_small, "MOST_PAIRED", dict.fromkeys(_small.MOST_PAIRED, 0))


@pytest.mark.usefixtures("_without_pairs")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("spread", [1, 30, 30_000, "full", "ends"])
@pytest.mark.parametrize("equal_nan", [True, False])
def test_equals_the_engines_bit_by_bit(dtype, spread, equal_nan):
    generator = np.random.default_rng(5)
    served = 0
    for size in SIZES:
        a = some(dtype, size, spread, generator)
        flags = WANTED[size % len(WANTED)]
        found = unique(a, flags, equal_nan)
        if found is None:  # NaN that equal none, or both ends of the range, and what lies close
            far_apart = a.itemsize == 8 and (dtype != "i8" or spread in ("full", "ends"))
            assert (a.dtype.kind == "f" and not equal_nan) or (far_apart and size > 1)
            continue
        assert [output is not None for output in found] == [True, *flags]
        expected = fastsel.unique(a, *flags, equal_nan=equal_nan)
        found = [output for output in found if output is not None]
        for ours, theirs in zip(found, expected, strict=True):
            assert_same(ours, theirs)
        served += 1
    far_apart = spread == "ends" or (dtype in ("u8", "M8[s]", "m8[ns]") and spread in (30, 30_000))
    if not far_apart and (equal_nan or np.dtype(dtype).kind in "iu"):
        assert served == len(SIZES)


@pytest.mark.parametrize("dtype", ["i8", "u8", "f8"])
def test_what_only_lost_bits_tell_apart_is_in_order(dtype):
    """The position of 3000 items needs 12 bits: the lowest ones of a number are not sorted."""
    generator = np.random.default_rng(2)
    for few in (2, 7, 40):
        words = generator.permutation(3000) // few * 2**51 + generator.integers(0, 100, 3000)
        a = words.view(dtype)
        found = unique(a, (True, True, True))
        assert found is not None
        for ours, theirs in zip(found, np.unique(a, True, True, True), strict=True):
            assert_same(ours, theirs)


@pytest.mark.parametrize("dtype", ["i8", "f8"])
def test_what_differs_in_few_bits_is_left_to_others(dtype):
    a = np.append(np.random.default_rng(2).permutation(3000), 2**62).view(dtype)
    assert unique(a, (True, False, False)) is None
    for ours, theirs in zip(
        fastsel.unique(a, True, True, True), np.unique(a, True, True, True), strict=True
    ):
        assert_same(ours, theirs)


@pytest.mark.parametrize(
    "a",
    [
        np.arange(0, dtype="i4"),
        np.arange(9, dtype="i1"),
        np.arange(9, dtype="c8"),
        np.arange(9, dtype="i4")[::2],
        np.arange(9, dtype=">i4"),
        np.arange(9).view(np.recarray),
    ],
    ids=["none", "bytes", "complex", "strided", "swapped", "subclass"],
)
def test_what_is_not_served(a):
    order = _gate.number_rule(a.dtype)
    assert pairs.unique(a, (2**64 - 1, 2**64 - 1, 0, False), order, True, True, True) is None


@pytest.mark.parametrize("dtype", ["i2", "u2", "f2", "i4", "u4", "f4", "i8"])
@pytest.mark.parametrize("flags", WANTED)
def test_small_arrays_are_sorted_in_pairs(dtype, flags, monkeypatch):
    calls = []
    monkeypatch.setattr(_small.few, "firsts_of_few", lambda *args: calls.append(args))
    a = some(dtype, 30, 30, np.random.default_rng(1)).reshape(3, 10)
    outputs = fastsel.unique(a, *flags)
    assert not calls
    assert len(outputs) == 1 + sum(flags)
    if flags[1]:
        assert outputs[1 + flags[0]].shape == (3, 10)
