"""The algorithm `dense`: direct-address tables, for words of a narrow range."""

import numpy as np
import pytest
import reference
from arrays import ML_DTYPES
from comparison import assert_same, value_bytes
from grids import covering
from unique_kernels import find_ascending, find_dense, integers, sign_bit

import fastsel
from fastsel._unique import _algorithms, _keys
from fastsel._unique.sample import sampled_range

EDGE_SIZES = (1, 2, 63, 64, 65, 128, 255, 257, 1000, 4097)
NARROW_DTYPES = (
    *("bool", "int8", "uint8", "int16", "uint16", "float16", ">i2", "bfloat16", "float8_e4m3fn"),
)
WIDE_DTYPES = ("int32", "uint32", "int64", "uint64")
THREADS = (1, 2, 3, 7)


def dtype_of(name):
    return np.dtype(ML_DTYPES.get(name, name))


def random_items(name, size, groups, seed=0):
    """Items of 1 or 2 bytes with random bits; floats may be -0.0, or NaN with any bits."""
    dtype = dtype_of(name)
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 1 << 8 * dtype.itemsize, groups)
    return words[rng.integers(0, groups, size)].astype(f"u{dtype.itemsize}").view(dtype)


def first_positions(array):
    return np.sort(np.unique(array, return_index=True)[1])


def positions_by_dense(array, value_range, threads=1):
    """The positions of first occurrences; None if an item is beyond the range."""
    outputs = find_dense(array, value_range, threads=threads)
    if outputs is None:
        return None
    bits = outputs[0].view(np.uint8)
    return np.flatnonzero(np.unpackbits(bits, bitorder="little", count=array.size))


def check_outputs(array, rules):
    for rule in rules:
        expected = reference.unique_outputs(array, **rule)
        for threads in (1, 3) if array.size > 64 else (1,):
            with fastsel.threads(threads):
                assert_same(fastsel.unique(array, **rule), expected[0])
                outputs = fastsel.unique(array, return_index=True, **rule)
                assert_same(outputs, expected[:2])
                outputs = fastsel.unique(array, True, True, True, **rule)
                assert_same(outputs, expected)


@pytest.mark.parametrize("name", NARROW_DTYPES)
def test_narrow_dtypes_equal_the_reference(name, forced_kernels):
    for size in (*EDGE_SIZES, 20_000):
        for groups in (1, 5, 70_000)[size % 2 :]:
            array = random_items(name, size, groups, size)
            rules = [{"sorted": False}, {"sorted": True}]
            if array.dtype.kind == "f":
                rules.append({"sorted": False, "equal_nan": False})
            check_outputs(array, rules if size < 20_000 else rules[:1])


@covering(dtype=WIDE_DTYPES, start=["lowest", "around zero", "highest"])
def test_narrow_ranges_equal_the_reference(dtype, start, forced_kernels):
    limits = np.iinfo(dtype)
    for size in (*EDGE_SIZES, 20_000):
        for width in (1, 100, 3 * size)[size % 2 :]:
            ends = {"lowest": limits.min, "highest": limits.max - width + 1}
            first = ends.get(start, max(limits.min, -(width // 2)))
            steps = np.random.default_rng(size).integers(0, width, size)
            array = np.array([first + int(step) for step in steps], dtype)
            check_outputs(array, [{"sorted": False}, {"sorted": True}])


@pytest.mark.parametrize("dtype", WIDE_DTYPES)
@pytest.mark.parametrize("end", ["min", "max"])
def test_values_at_one_end_of_a_dtype_are_sorted(dtype, end, monkeypatch):
    monkeypatch.setattr("fastsel._unique._estimate.groups_of", None)  # it must not be called
    limits = np.iinfo(dtype)
    steps = np.random.default_rng(1).permutation(200_000).astype(dtype)
    array = limits.min + steps if end == "min" else limits.max - steps
    assert_same(fastsel.unique(array), np.sort(array))


@pytest.mark.parametrize("index", [True, False])
def test_keys_in_order_are_not_sorted_again(index, monkeypatch):
    monkeypatch.setattr("fastsel._unique._ascending.sort", None)
    monkeypatch.setattr("fastsel._unique._ascending.argsort", None)
    for size in (5000, 100_000):
        array = np.arange(size) * 10**9
        expected = (array, np.arange(size)) if index else array
        assert_same(fastsel.unique(array, return_index=index), expected)
        expected = (array, np.arange(size)[::-1].copy()) if index else array
        assert_same(fastsel.unique(array[::-1], return_index=index), expected)


@pytest.mark.parametrize("dtype", WIDE_DTYPES)
def test_values_at_both_ends_of_a_dtype_equal_the_reference(dtype, forced_kernels):
    limits = np.iinfo(dtype)
    array = np.array([limits.max, limits.min, limits.max - 3, limits.min + 2] * 500, dtype)
    check_outputs(array, [{"sorted": True}, {"sorted": False}])


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "u4", "i8"])
def test_a_block_with_one_new_word_gives_the_first_positions(dtype):
    """The first two blocks have all other words. The new word is at each position of the last two
    blocks in turn, and has one of 25 values."""
    for groups in (1, 4, 5, 100):
        items = np.arange(64 * 6) % groups
        for position in range(64 * 4, 64 * 6):
            array = items.astype(dtype)
            array[position] = 127 - position % 25
            first_of_range = sign_bit(np.dtype(dtype)) if dtype == "i8" else 0
            value_range = (0, 8) if dtype in ("u1", "i1") else (first_of_range, 16)
            assert np.array_equal(positions_by_dense(array, value_range), first_positions(array)), (
                position
            )


@pytest.mark.parametrize("chunks", THREADS)
def test_a_new_byte_at_the_start_of_a_block_or_chunk_is_found(chunks):
    """The kernel skips many repeated bytes at a time, but none beyond the end of the chunk."""
    for position in range(64, 64 * 24, 64):
        array = np.zeros(64 * 24, np.uint8)
        array[position] = 77
        assert positions_by_dense(array, (0, 8), chunks).tolist() == [0, position]


def test_each_byte_differs_from_all_others():
    for dtype in ("u1", "i1"):
        for byte in range(256):
            other_bytes = np.delete(np.arange(256), byte)
            array = (
                np.concatenate((other_bytes, other_bytes, [byte], other_bytes))
                .astype(np.uint8)
                .view(dtype)
            )
            assert np.array_equal(positions_by_dense(array, (0, 8)), first_positions(array))


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("groups", [1, 3, 300, 60_000])
def test_chunks_drop_words_of_earlier_chunks(threads, groups):
    rng = np.random.default_rng(groups)
    for items in (rng.integers(0, groups, 50_000), np.arange(50_000) // (50_000 // groups + 1)):
        for dtype in ("u2", "u4", "i8"):
            array = items.astype(dtype)
            value_range = (sign_bit(np.dtype(dtype)), 16)
            assert np.array_equal(
                positions_by_dense(array, value_range, threads), first_positions(array)
            )
            assert_same(find_ascending(array, value_range, threads=threads), np.unique(array))


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("position", [0, 63, 64, 511, 9999])
@pytest.mark.parametrize("groups", [2, 100])
def test_a_word_beyond_the_range_returns_none(position, groups, threads):
    for dtype, word in (("u4", 128), ("i4", -1), ("i8", 2**40), ("i8", -(2**63))):
        array = (np.arange(10_000) % groups).astype(dtype)
        value_range = (sign_bit(np.dtype(dtype)), 7)
        assert positions_by_dense(array, value_range, threads) is not None
        array[position] = word
        assert positions_by_dense(array, value_range, threads) is None
        assert find_ascending(array, value_range, threads=threads) is None


@pytest.mark.parametrize("threads", THREADS)
def test_a_word_beyond_the_range_in_the_first_round_returns_none(threads):
    """The kernel reads the keys in several rounds. No later round has a word beyond the range."""
    array = np.arange(4_000_000) % 77
    value_range = sign_bit(np.dtype("i8")), 7
    assert find_ascending(array, value_range, threads=threads).tolist() == [*range(77)]
    array[0] = 999
    assert positions_by_dense(array, value_range, threads) is None
    assert find_ascending(array, value_range, threads=threads) is None


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("groups", [1000, 15_000])
def test_words_beyond_the_range_of_the_sample_equal_the_reference(
    groups, in_order, kernels_with_few_threads
):
    array = np.random.default_rng(4).permutation(20_000) % groups
    array[1::1000] = -(10**12)
    expected = reference.unique_outputs(array, sorted=in_order)
    assert_same(fastsel.unique(array, sorted=in_order), expected[0])
    assert_same(fastsel.unique(array, True, True, True, sorted=in_order), expected)


@pytest.mark.parametrize(("groups", "algorithm"), [(100, "by_tables"), (150_000, "by_sorting")])
def test_the_plan_chooses_again_for_words_beyond_the_range_of_the_sample(
    groups, algorithm, monkeypatch
):
    array = np.insert(np.random.default_rng(4).permutation(200_000) % groups, 1, -(10**12))
    called = []
    for name in ("dense", "sorting", "tables", "partitions"):

        def recorded(*arguments, function=_algorithms.ALGORITHMS[name]):
            called.append(function.__name__)
            return function(*arguments)

        monkeypatch.setitem(_algorithms.ALGORITHMS, name, recorded)
    assert_same(fastsel.unique(array), np.append(-(10**12), np.arange(groups)))
    assert called == ["by_dense", algorithm]


def test_outputs_of_a_permutation_have_each_key_once(kernels_with_few_threads):
    """The direct-address table has an entry for each key, and no two keys share an entry."""
    for dtype in WIDE_DTYPES:
        array = np.random.default_rng(2).permutation(300_000).astype(dtype)
        assert_same(fastsel.unique(array, sorted=False), array)
        assert_same(fastsel.unique(array), np.arange(300_000, dtype=dtype))
        index = fastsel.unique(array, return_index=True, sorted=False)[1]
        assert np.array_equal(index, np.arange(300_000))


@pytest.mark.parametrize("threads", THREADS)
@covering(dtype=WIDE_DTYPES, start=["lowest", "middle", "highest"], bits=[1, 5, 6, 7, 20, 26])
def test_ascending_values_of_a_table_of_bits_equal_numpy(dtype, start, bits, threads):
    """The first and the last word of the range occur, and up to 3000 random words."""
    limits, entries = np.iinfo(dtype), 1 << bits
    lowest = {
        "lowest": limits.min,
        "middle": (limits.min + limits.max + 1) // 2 - entries // 2,
        "highest": limits.max - entries + 1,
    }[start]
    for share in (0.01, 0.9):
        steps = np.random.default_rng(bits).integers(
            0, entries, int(min(entries * share, 3000)) + 2
        )
        steps[-2:] = entries - 1, 0
        array = np.array([lowest + step for step in steps.tolist()], dtype)
        value_range = lowest - limits.min, bits
        assert_same(find_ascending(array, value_range, threads=threads), np.unique(array))


@pytest.mark.parametrize("dtype", ["M8[s]", "m8[ns]"])
def test_a_range_that_ends_at_nat_equals_numpy(dtype, kernels_with_few_threads, monkeypatch):
    """The word after the largest integer is the smallest integer, which is NaT."""
    monkeypatch.setattr("fastsel._unique._estimate.groups_of", None)  # it must not be called
    steps = np.random.default_rng(3).integers(0, 5000, 100_000)
    array = (np.iinfo("i8").max - steps).view(dtype)
    array[::9] = "NaT"
    assert_same(fastsel.unique(array), np.unique(array))
    assert_same(fastsel.unique(array, True, True, True), np.unique(array, True, True, True))


@pytest.mark.parametrize("dtype", [">i4", ">i8", ">M8[s]", ">m8[ns]"])
def test_values_keep_the_swapped_byte_order_and_ascend(dtype):
    array = (np.arange(30_000) % 777).astype(dtype)
    for in_order in (True, False):
        assert_same(fastsel.unique(array, sorted=in_order), array[:777])


def range_of_sample(items):
    """The least and the greatest value of the range of a sample of the items."""
    base, bits = sampled_range(integers(items))
    base -= sign_bit(items.dtype)
    return base, base + (1 << bits) - 1


@pytest.mark.parametrize("dtype", WIDE_DTYPES)
def test_range_of_a_sample_contains_the_sample_and_is_within_the_dtype(dtype):
    """The sample has at most 256 items, at equal steps. Its first item is the least of all, and its
    last item the greatest."""
    least, greatest = np.iinfo(dtype).min, np.iinfo(dtype).max
    for low, high in (
        *((0, 0), (0, 1), (5, 99), (0, 2**31 - 1), (greatest - 3, greatest)),
        *((least, least + 3), (least, greatest), (greatest // 2, greatest // 2 + 127)),
    ):
        for size in (1, 200, 256, 257, 5000):
            middle = low + (high - low) // 8
            items = np.random.default_rng(1).integers(low, middle, size, dtype, endpoint=True)
            sample = items[:: (size - 1) // 256 + 1]
            sample[0], sample[-1] = low, high
            first, last = range_of_sample(items)
            assert least <= first <= sample.min()
            assert sample.max() <= last <= greatest


@pytest.mark.parametrize(("dtype", "equal_nan"), [("f4", True), ("f8", True), ("M8[s]", False)])
def test_words_that_may_not_be_canonical_have_no_range(dtype, equal_nan):
    keys = _keys.keys_of(np.arange(1000).astype(dtype), equal_nan)
    assert sampled_range(keys)[0] is None


@pytest.mark.parametrize("dtype", ["i2", "i4", "i8", "f2", "u1", "bool"])
@pytest.mark.parametrize("groups", [1, 2, 4, 5])
def test_few_words_with_a_new_last_word_have_the_right_index_and_bits(dtype, groups):
    """Half of the arrays end with 77, which is a new word of the integer and float dtypes."""
    for size in (1001, 70_000, 140_001):
        items = np.arange(size) % groups
        for numbers in (items, np.append(items[:-1], 77)):
            array = numbers.astype(dtype)
            if array.dtype.kind == "f":
                array[array == 1] = np.nan
                array[np.flatnonzero(array == 0)[::2]] = -0.0
            index = first_positions(numbers.astype(dtype))
            for in_order in (True, False):
                outputs = fastsel.unique(array, return_index=True, sorted=in_order)
                order = np.argsort(array[index], kind="stable") if in_order else slice(None)
                assert np.array_equal(outputs[1], index[order])
                assert value_bytes(outputs[0]) == value_bytes(array[outputs[1]])
                assert value_bytes(fastsel.unique(array, sorted=in_order)) == value_bytes(
                    outputs[0]
                )
