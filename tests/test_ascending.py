"""Sorting distinct values, and distinct values by sorting: the same as NumPy's."""

import numpy as np
import pytest

from fastsel import _ascending

SIZES = (1, 2, 63, 64, 65, 1000, 4097)

VALUES = {
    "random": lambda n, r: r.integers(-50, 50, n),
    "all_equal": lambda n, r: np.full(n, 7),
    "two_values": lambda n, r: r.integers(0, 2, n),
    "sorted": lambda n, r: np.arange(n),
    "reversed": lambda n, r: np.arange(n)[::-1],
    "floats_with_nan": lambda n, r: np.where(r.random(n) < 0.3, np.nan, r.random(n)),
    "mostly_nan": lambda n, r: np.where(r.random(n) < 0.9, np.nan, r.random(n)),
    "dates_with_nat": lambda n, r: np.where(
        r.random(n) < 0.3, np.datetime64("NaT"), r.integers(0, 99, n).astype("M8[s]")
    ),
    "strided": lambda n, r: r.integers(0, 99, 3 * n)[::3],
    "swapped": lambda n, r: r.integers(0, 99, n).astype(">i4"),
}


def payload_nan(count):
    """NaN that differ in their payloads."""
    bits = np.uint64(0x7FF8000000000000) + np.arange(count, dtype=np.uint64)
    return bits.view(np.float64)


@pytest.mark.parametrize("kind", VALUES)
def test_sort_equals_numpy(kind):
    for size in SIZES:
        values = VALUES[kind](size, np.random.default_rng(size))
        result, expected = _ascending.sort(values), np.sort(values)
        assert result.dtype == expected.dtype
        assert np.array_equal(result, expected, equal_nan=values.dtype.kind in "fM"), size


@pytest.mark.parametrize("kind", VALUES)
def test_argsort_is_stable(kind):
    for size in SIZES:
        values = VALUES[kind](size, np.random.default_rng(size))
        expected = np.argsort(values, kind="stable")
        assert np.array_equal(_ascending.argsort(values), expected), size


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i8"])
def test_argsort_of_the_widest_ranges(dtype):
    limits = np.iinfo(dtype)
    for low, high in ((limits.min, limits.max), (0, limits.max), (limits.max // 2, limits.max)):
        values = np.array([high, low, high - 1, low + 1, high, low], dtype)
        assert np.array_equal(_ascending.argsort(values), np.argsort(values, kind="stable"))


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("equal_nan", [True, False])
def test_distinct_roads_equal_numpy(kind, equal_nan):
    for size in SIZES:
        values = VALUES[kind](size, np.random.default_rng(size))
        expected = np.unique(values, True, True, True, equal_nan=equal_nan)
        result = _ascending.distinct_with_places(values, equal_nan)
        for ours, theirs in zip(result, expected, strict=True):
            assert np.array_equal(ours, theirs, equal_nan=ours.dtype.kind in "fM"), size
        alone = _ascending.distinct(values, equal_nan)
        assert np.array_equal(alone, expected[0], equal_nan=alone.dtype.kind in "fM"), size


def test_sort_keeps_the_bits_of_nan():
    values = np.concatenate((payload_nan(40), np.arange(100.0)))
    assert _ascending.sort(values)[100:].tobytes() == values[:40].tobytes()


def test_values_are_not_modified():
    values = np.random.default_rng(1).random(1000)
    before = values.copy()
    _ascending.sort(values)
    _ascending.argsort(values)
    _ascending.distinct_with_places(values, True)
    assert values.tobytes() == before.tobytes()


def test_places_inverts_a_permutation():
    order = np.random.default_rng(2).permutation(100)
    assert np.array_equal(_ascending.places(order)[order], np.arange(100))
