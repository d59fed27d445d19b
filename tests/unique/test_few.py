"""unique of few keys, which are sorted or hashed at once."""

import itertools

import numpy as np
import pytest
import reference
from collisions import colliding
from comparison import assert_same
from grids import covering
from unique_kernels import find_few

DTYPES = ("?", "i1", "u2", "f2", "i4", "u4", "f4", "i8", "u8", "f8", "M8[s]", "m8[ns]")
SIZES = (*range(1, 71), 255, 256, 257, 1000, 1024, 1025, 5000)
FLAGS = tuple(itertools.product((False, True), repeat=3))


def lowest_bits(size, rng):
    """Keys that differ in their lowest bits only, and one large key."""
    return np.append(rng.integers(0, 3, size - 1) + 2**40, 2**62)


SPREADS = {
    "distinct": lambda size, rng: rng.permutation(size) * 1_000_003,
    "few": lambda size, rng: rng.integers(-3, 3, size),
    "repeated": lambda size, rng: rng.integers(0, max(size // 3, 1), size) << 40,
    "runs": lambda size, rng: np.repeat(rng.integers(0, 99, size), 9)[:size],
    "descending": lambda size, rng: np.arange(size)[::-1] - size // 2,
    "lowest_bits": lowest_bits,
    "large_keys_and_0": lambda size, rng: np.append(rng.permutation(size - 1) + 2**61, 0),
    "all_bits": lambda size, rng: rng.integers(-(2**63), 2**63 - 1, size),
}


def items_of(spread, dtype, size):
    """Items of a dtype; among floats are zeros and NaN of both signs."""
    rng = np.random.default_rng(size)
    numbers = SPREADS[spread](size, rng)
    dtype = np.dtype(dtype)
    if dtype.kind in "mM":
        return numbers.view(dtype)
    with np.errstate(all="ignore"):
        array = numbers.astype(dtype)
    if dtype.kind == "f":
        array[::7], array[3::11] = -0.0, 0.0
        array[5::13], array[6::31] = np.nan, -np.nan
    return array


def few_outputs(array, equal_nan, in_order, flags):
    index, inverse, counts = flags
    return find_few(
        array, equal_nan=equal_nan, index=index, inverse=inverse, counts=counts, ascending=in_order
    )


@covering(at_least=24, dtype=DTYPES, spread=SPREADS)
def test_every_output_equals_the_reference(dtype, spread):
    for size in SIZES:
        array = items_of(spread, dtype, size)
        for equal_nan, in_order in itertools.product((True, False), repeat=2):
            if array.dtype.kind not in "fmM" and not equal_nan:
                continue
            values, *extras = reference.unique_outputs(array, equal_nan=equal_nan, sorted=in_order)
            for flags in FLAGS if size in (1, 65, 1025) else (FLAGS[0], FLAGS[-1]):
                expected_extras = [
                    x if flag else None for x, flag in zip(extras, flags, strict=True)
                ]
                outputs = few_outputs(array, equal_nan, in_order, flags)
                for ours, theirs in zip(outputs, (values, *expected_extras), strict=True):
                    assert (ours is None) == (theirs is None)
                    if ours is not None:
                        assert_same(ours, theirs)


@pytest.mark.parametrize("dtype", ["S8", "S20", "U2", "U5", "V16"])
def test_strings_and_raw_bytes_come_in_order_of_first_occurrence(dtype):
    for size in (1, 64, 300, 1025):
        items = np.random.default_rng(size).integers(10, 99, size).astype("U2")
        array = items.astype("S2" if dtype[0] in "SV" else "U2").astype(dtype)
        expected = reference.unique_outputs(array, sorted=False)
        assert_same(few_outputs(array, True, False, (True, True, True)), expected)
        assert few_outputs(array, True, True, (True, True, True)) is None


def test_strided_and_unaligned_items_are_read_in_c_order():
    unaligned = np.empty(81, np.uint8)[1:].view(np.int64)
    unaligned[...] = np.arange(10)
    for array in (np.arange(20)[::2], unaligned, np.arange(6).reshape(2, 3).T):
        values = find_few(array)[0]
        assert_same(values, np.ravel(array))


def test_the_kernel_gives_up_on_keys_that_collide():
    keys = colliding(3000)
    assert find_few(keys, index=True, inverse=True, counts=True) is None
    values = find_few(keys[:1000], ascending=True)[0]  # sorted, not hashed
    assert np.array_equal(values, np.unique(keys[:1000]))
