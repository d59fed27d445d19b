"""The kernel of small arrays, which makes all outputs of unique in one call."""

import itertools

import numpy as np
import pytest
import reference
from collisions import colliding
from comparison import assert_same
from grids import covering
from unique_kernels import find_dense, find_small, integers

from fastsel._unique.sample import sampled_range

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


def small_outputs(array, equal_nan, in_order, flags, entries=0):
    index, inverse, counts = flags
    return find_small(
        array,
        equal_nan=equal_nan,
        index=index,
        inverse=inverse,
        counts=counts,
        ascending=in_order,
        entries=entries,
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
                entries = 1 << 16 if size > 1000 else 0
                outputs = small_outputs(array, equal_nan, in_order, flags, entries)
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
        for in_order in (True, False):
            assert_same(small_outputs(array, True, in_order, (True, True, True)), expected)


def test_strided_and_unaligned_items_are_read_in_c_order_and_no_items_give_none():
    unaligned = np.empty(81, np.uint8)[1:].view(np.int64)
    unaligned[...] = np.arange(10)
    for array in (np.arange(20)[::2], unaligned, np.arange(6).reshape(2, 3).T):
        values = find_small(array)[0]
        assert_same(values, np.ravel(array))
    assert find_small(array[:0], ascending=True) is None


@pytest.mark.parametrize("flags", FLAGS)
def test_keys_in_order_and_of_a_narrow_range_equal_the_reference(flags):
    """If `entries` is not 0, a sample says whether the keys are in order or of a narrow range; if
    `entries` is 0, the kernel sorts or hashes the keys. The sample has every 20th of 5000 keys and
    every 8th of 2000 keys, so that it misses the keys that break the order or are out of the range.
    """
    arrays = [np.arange(1025) // 2 * 2**40]
    for position in (7, 4987):
        nearly_ascending = np.arange(5000) * 2**40
        nearly_ascending[[position, position + 1]] = nearly_ascending[[position + 1, position]]
        arrays.append(nearly_ascending)
    arrays += [array[::-1].copy() for array in arrays]
    cases = [*itertools.product(arrays, (0, 1024))]
    narrow = np.arange(2000)[::-1] % 777
    cases += [(narrow, 1024), (narrow, 1023)]
    for position in (1, 1999):
        narrow_but_one = narrow.copy()
        narrow_but_one[position] = 2**60
        value_range = sampled_range(integers(narrow_but_one))
        assert value_range[1] == 10
        assert find_dense(narrow_but_one, value_range) is None
        cases.append((narrow_but_one, 1024))
    for array, entries in cases:
        for in_order in (True, False):
            outputs = small_outputs(array, True, in_order, flags, entries)
            values, *extras = reference.unique_outputs(array, sorted=in_order)
            assert_same(outputs[0], values)
            for ours, theirs, flag in zip(outputs[1:], extras, flags, strict=True):
                assert ours is None or np.array_equal(ours, theirs)
                assert (ours is None) != flag


def test_the_kernel_gives_up_on_keys_that_collide():
    keys = colliding(3000)
    assert find_small(keys, index=True, inverse=True, counts=True) is None
    values = find_small(keys[:1000], ascending=True)[0]  # sorted, not hashed
    assert np.array_equal(values, np.unique(keys[:1000]))


def test_keys_in_order_are_not_hashed():
    """The keys collide, so a hash table gives up on them. If two keys are out of order, the kernel
    uses a hash table, even if the sample misses them."""
    ascending = np.sort(colliding(3000))
    for array in (ascending, ascending[::-1].copy()):
        assert_same(find_small(array, entries=1024)[0], array)
        array[[7, 8]] = array[[8, 7]]
        assert find_small(array, entries=1024) is None
