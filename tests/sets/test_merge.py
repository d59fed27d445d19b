"""setxor1d and setdiff1d of numbers, of which a merge serves many."""

import itertools

import numpy as np
import pytest

import fastsel
from fastsel._sets.merge import merged

NUMBERS = ("i1", "i2", "i4", "i8", "q", "u1", "u2", "u4", "u8", "f4", "f8")
DTYPES = (*NUMBERS, "?", "f2", ">i4", ">f8", "M8[s]", "m8[ns]", ">M8[D]")
# The larger array is divided into chunks; 200_000 items have several.
SIZES = (
    *((0, 0), (0, 1), (1, 1), (3, 2), (300, 200), (20_000, 1), (0, 20_000), (20_000, 20_000)),
    *((200_000, 60_001), (60_001, 200_000)),
)


def numbers(size, limit, dtype, rng):
    """Numbers of both signs; floats also have NaN, infinities and zeros of both signs, times also
    NaT."""
    items = rng.integers(-limit, limit, size).astype("i8").astype(dtype)
    if items.dtype.kind == "f":
        items[::7], items[1::11], items[2::13] = np.nan, -0.0, np.inf
    if items.dtype.kind in "mM":
        items[::7] = "NaT"
    return items


@pytest.mark.parametrize("function", ["setxor1d", "setdiff1d"])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_sets_of_numbers_equal_numpys(dtype, sizes, function):
    rng = np.random.default_rng(5)
    for limit in (3, 30_000) if np.dtype(dtype).itemsize > 1 else (3, 100):
        first, second = (numbers(size, limit, dtype, rng) for size in sizes)
        wide = "f4" if dtype == "f2" else dtype  # on some CPUs, NumPy misplaces infinities of f2
        expected = getattr(np, function)(first.astype(wide), second.astype(wide)).astype(dtype)
        results = []
        for threads in (1, 2, 3, 7):
            with fastsel.threads(threads):
                results.append(getattr(fastsel, function)(first, second))
        np.testing.assert_array_equal(results[0], expected)
        order = "|" if function == "setdiff1d" else "="  # setdiff1d keeps the dtype of ar1
        assert results[0].dtype == np.dtype(dtype).newbyteorder(order)
        assert len({result.tobytes() for result in results}) == 1


def test_setxor1d_of_integers_with_nothing_or_everything_in_common():
    evens = np.arange(0, 100_000, 2)
    assert fastsel.setxor1d(evens, evens).size == 0
    assert fastsel.setxor1d(evens, evens + 1).tolist() == list(range(100_000))
    assert fastsel.setxor1d(evens, evens + 100_000).tolist() == list(range(0, 200_000, 2))
    extremes = np.concatenate((evens, np.iinfo("i8").max - evens, np.iinfo("i8").min + evens))
    assert fastsel.setxor1d(extremes, evens).tolist() == sorted({*extremes.tolist()} - {*evens})


def test_setxor1d_of_zeros_of_both_signs_and_nan():
    first = np.concatenate((np.full(20_000, -0.0), [np.nan, 1.0]))
    second = np.concatenate((np.zeros(20_000), [-np.nan, 2.0]))
    assert fastsel.setxor1d(first, second).tolist()[:2] == [1.0, 2.0]
    assert np.isnan(fastsel.setxor1d(first, second)[2:]).tolist() == [True, True]
    only_nan = np.full(20_000, np.nan)
    assert np.isnan(fastsel.setxor1d(only_nan, only_nan)).tolist() == [True, True]
    assert fastsel.setxor1d(only_nan, np.zeros(20_000)).tolist()[0] == 0.0


@pytest.mark.parametrize("sizes", [(40_000, 3_000), (3_000, 40_000), (40_000, 40_000)], ids=str)
@pytest.mark.parametrize("values", [4, 100_000])
def test_values_have_the_bits_of_their_first_item_in_ar1(sizes, values):
    rng = np.random.default_rng(6)
    first, second = (rng.integers(0, values, size) * 0.37 for size in sizes)
    for array, zero in ((first, -0.0), (second, 0.0)):
        array[array == 0] = -zero
        array[:2] = zero, np.nan
    common = fastsel.intersect1d(first, second)
    assert np.signbit(common[0])
    assert common[0] == 0
    only_first = fastsel.setdiff1d(first, second[1:])
    assert (only_first[0] == 0) == (0.0 not in second[1:])
    assert np.isnan(only_first[-1])
    assert not np.isnan(only_first[:-1]).any()


def test_metadata_of_dtypes_is_as_in_numpy():
    with_metadata = np.dtype("f8", metadata={"unit": "m"})
    few, many = np.arange(3.0), np.arange(10.0, 5000.0) / 3
    many[-1] = np.nan
    for ar1, ar2 in itertools.product((few, many), repeat=2):
        for dtypes in itertools.product(("f8", with_metadata), repeat=2):
            arrays = [ar.astype(dtype) for ar, dtype in zip((ar1, ar2), dtypes, strict=True)]
            for function in ("setxor1d", "setdiff1d"):
                result = getattr(fastsel, function)(*arrays)
                assert result.dtype.metadata == getattr(np, function)(*arrays).dtype.metadata


def test_true_of_any_bits_equals_true():
    first = np.arange(20_000, dtype="u1").view(bool)
    second = np.array([0, 1], "u1").view(bool)
    for one, other in [(first, second), (second, first)]:
        assert fastsel.setxor1d(one, other).size == 0
        assert fastsel.setdiff1d(one, other).size == 0
        assert fastsel.intersect1d(one, other).tolist() == [False, True]
        assert fastsel.union1d(one, other).tolist() == [False, True]
    assert fastsel.setxor1d(first[1:] | True, second).tolist() == [False]


@pytest.mark.parametrize("dtype", NUMBERS)
def test_merge_of_every_small_pair(dtype):
    """All pairs of subsets of five numbers."""
    values = np.array([0, 1, 5, 100, 127], dtype)
    subsets = [values[[bool(k >> j & 1) for j in range(5)]] for k in range(32)]
    for first in subsets:
        for second in subsets:
            one, other = {*first.tolist()}, {*second.tolist()}
            assert merged(first, second, True, 2).tolist() == sorted(one ^ other)
            assert merged(first, second, False, 2).tolist() == sorted(one - other)


@pytest.mark.parametrize("dtype", ["i8", "f4", "f8"])
def test_merge_of_unsorted_numbers_and_nan_ends_within_its_memory(dtype):
    """`unique` may return unsorted numbers and several NaN if another thread writes to its input.
    Only the length of the result is checked."""
    rng = np.random.default_rng(1)
    ascending = np.arange(300_000).astype(dtype)
    for _ in range(20):
        first, second = ascending.copy(), ascending[: rng.integers(1, 300_000)].copy()
        for array in (first, second):
            array[rng.integers(0, array.size, 100)] = rng.integers(0, 600_000, 100)
            array[:: array.size // 8 + 1] = 600_000  # at the limits of chunks
            if array.dtype.kind == "f":
                array[rng.integers(0, array.size, 100)] = np.nan
        for exclusive_or in (True, False):
            for threads in (1, 2, 3, 7):
                result = merged(first, second, exclusive_or, threads)
                assert len(result) <= first.size + second.size
