"""The algorithm `dense`: direct-address tables, for words of a narrow range."""

import itertools

import numpy as np
import pytest
import reference
from arrays import ML_DTYPES
from comparison import assert_same, value_bytes
from grids import covering
from unique_kernels import find_dense, search_for, sign_bit, windows_of

import fastsel
from fastsel._unique import _algorithms, _keys

EDGE_SIZES = (1, 2, 63, 64, 65, 128, 255, 257, 1000, 4097)
NARROW_DTYPES = (
    *("bool", "int8", "uint8", "int16", "uint16", "float16", ">i2", "bfloat16", "float8_e4m3fn"),
)
WIDE_DTYPES = ("int32", "uint32", "int64", "uint64")
THREADS = (1, 2, 3, 7)
FLAGS = tuple(itertools.product((False, True), repeat=3))


def random_items(name, size, groups):
    """Items of 1 or 2 bytes with random bits; floats may be -0.0, or NaN with any bits."""
    dtype = np.dtype(ML_DTYPES.get(name, name))
    rng = np.random.default_rng(size)
    words = rng.integers(0, 1 << 8 * dtype.itemsize, groups)
    return words[rng.integers(0, groups, size)].astype(f"u{dtype.itemsize}").view(dtype)


def first_positions(array):
    return np.sort(np.unique(array, return_index=True)[1])


def positions_by_dense(array, value_range, threads=1):
    """The positions of first occurrences, by a table of 2^bits entries from base on; None if too
    many items are outside of this window."""
    base, bits = value_range
    outputs = find_dense(array, (base, 1 << bits), threads=threads, index=True)
    return outputs and outputs[1]


def ascending_by_dense(array, value_range, threads=1):
    """The ascending values, by a table of bytes or bits; None if too many items are outside."""
    base, bits = value_range
    outputs = find_dense(array, (base, 1 << bits), threads=threads, ascending=True)
    return outputs and outputs[0]


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
            array = random_items(name, size, groups)
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
    monkeypatch.delitem(_algorithms.ALGORITHMS, "sorting")  # it must not be called
    limits = np.iinfo(dtype)
    steps = np.random.default_rng(1).permutation(200_000).astype(dtype)
    array = limits.min + steps if end == "min" else limits.max - steps
    assert_same(fastsel.unique(array), np.sort(array))


@pytest.mark.parametrize("index", [True, False])
def test_keys_in_order_are_not_sorted_again(index, monkeypatch):
    monkeypatch.setattr("fastsel._unique._sort.sort", None)
    monkeypatch.setattr("fastsel._unique._sort.argsort", None)
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


@pytest.mark.parametrize("dtype", ["i4", "i8"])
def test_few_frequent_words_with_a_wide_tail_are_counted(dtype, num_threads):
    """Several tables of counts take turns."""
    rng = np.random.default_rng(1)
    for size in (400_000, 400_063):
        frequent, others = rng.integers(4, size=size), rng.integers(60_000, size=size)
        array = np.where(rng.random(size) < 0.96, frequent, others).astype(dtype)
        for outputs in ((False, False, True), (True, True, True)):
            assert_same(fastsel.unique(array, *outputs), np.unique(array, *outputs))


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
            assert_same(ascending_by_dense(array, value_range, threads), np.unique(array))


WINDOWS = {  # a dtype, and words around a window of 128 words
    "i2": (-1, -(2**15), 2**15 - 1),
    "u2": (128, 2**16 - 1),
    "u4": (128, 2**32 - 1),
    "i4": (-1, -(2**31), 2**31 - 1),
    "i8": (2**40, -(2**63), 2**63 - 1, -1),
}


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("dtype", WINDOWS)
def test_keys_outside_of_the_window_equal_the_reference(dtype, threads):
    """They are at the edges of blocks and chunks, once or repeated; up to one key in eight."""
    window = sign_bit(np.dtype(dtype)), 128
    for size, step in itertools.product((65, 1000, 10_000), (9, 64, 997)):
        array = np.random.default_rng(step).integers(0, 100, size).astype(dtype)
        array[::step] = np.resize(WINDOWS[dtype], len(array[::step]))
        for in_order, flags in itertools.product((True, False), FLAGS):
            names = ("index", "inverse", "counts")
            requested = dict(zip(names, flags, strict=True))
            outputs = find_dense(array, window, threads=threads, ascending=in_order, **requested)
            expected = reference.numpy_unique_outputs(array, sorted=in_order)
            assert_same(outputs[0], expected[0])
            for flag, ours, theirs in zip(flags, outputs[1:], expected[1:], strict=True):
                if flag:
                    assert_same(ours, theirs)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("first", [0, 3_300_000])
def test_too_many_keys_outside_of_the_window_return_none(threads, first):
    """The keys outside are in the first round of the kernel, or in the last one."""
    array = np.arange(4_000_000) % 77
    value_range = sign_bit(np.dtype("i8")), 7
    assert ascending_by_dense(array, value_range, threads).tolist() == [*range(77)]
    array[first : first + 700_000] = 999
    assert positions_by_dense(array, value_range, threads) is None
    assert ascending_by_dense(array, value_range, threads) is None


@pytest.mark.parametrize("equal_nan", [True, False])
def test_nat_is_outside_of_the_window_if_it_equals_nothing(equal_nan, kernels_with_few_threads):
    array = np.random.default_rng(1).integers(0, 300, 20_000).astype("M8[D]")
    array[::11] = "NaT"
    for in_order in (True, False):
        expected = reference.numpy_unique_outputs(array, equal_nan=equal_nan, sorted=in_order)
        ours = fastsel.unique(array, True, True, True, equal_nan=equal_nan, sorted=in_order)
        assert_same(ours, expected)


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


COLUMNS = {
    "sentinel": lambda g, n: np.where(g.random(n) < 0.02, -1, g.integers(10**6, 10**6 + 5000, n)),
    "typo": lambda g, n: np.append(g.integers(0, 100, n - 1), 10**9),
    "heavy tail": lambda g, n: g.zipf(1.3, n) % 60_000,
    "heavier tail": lambda g, n: g.zipf(1.2, n).clip(0, 2**40),
    "both sides": lambda g, n: (
        g.integers(0, 99, n) + (g.random(n) < 0.01) * g.integers(-(2**40), 2**40, n)
    ),
    "every second key": lambda g, n: np.where(
        g.random(n) < 0.5, g.integers(0, 99, n), g.integers(0, 2**60, n)
    ),
}


@pytest.mark.parametrize("dtype", ["i2", "i4", "i8", "M8[s]"])
@pytest.mark.parametrize("column", COLUMNS)
def test_columns_with_outliers_equal_the_reference(column, dtype, kernels_with_few_threads):
    for size in (1001, 30_000):
        for seed in (1, 2):
            items = COLUMNS[column](np.random.default_rng(seed), size)
            array = items.astype("i8")
            array = array.view(dtype) if np.dtype(dtype).itemsize == 8 else array.astype(dtype)
            for in_order in (True, False):
                expected = reference.numpy_unique_outputs(array, sorted=in_order)
                assert_same(fastsel.unique(array, sorted=in_order), expected[0])
                outputs = fastsel.unique(array, True, True, True, sorted=in_order)
                assert_same(outputs, expected)
                outputs = fastsel.unique(array, return_counts=True, sorted=in_order)
                assert_same(outputs, expected[::3])


def test_one_key_outside_of_the_window_does_not_change_the_algorithm(monkeypatch):
    notes = []
    monkeypatch.setattr("fastsel._unique._plan.watcher", lambda *chosen: notes.append(chosen[0]))
    for groups in (100, 150_000):
        array = np.insert(np.random.default_rng(4).permutation(200_000) % groups, 1, -(10**12))
        assert_same(fastsel.unique(array), np.append(-(10**12), np.arange(groups)))
    assert notes == ["dense", "dense"]


def test_outputs_of_a_permutation_have_each_key_once(kernels_with_few_threads):
    """The direct-address table has an entry for each key, and no two keys share an entry."""
    for dtype in WIDE_DTYPES:
        array = np.random.default_rng(2).permutation(300_000).astype(dtype)
        assert_same(fastsel.unique(array, sorted=False), array)
        assert_same(fastsel.unique(array), np.arange(300_000, dtype=dtype))
        index = fastsel.unique(array, return_index=True, sorted=False)[1]
        assert np.array_equal(index, np.arange(300_000))


@pytest.mark.parametrize("threads", THREADS)
@covering(
    dtype=WIDE_DTYPES, start=["lowest", "middle", "highest"], bits=[1, 5, 6, 7, 18, 19, 20, 26]
)
def test_ascending_values_of_a_table_of_words_equal_numpy(dtype, start, bits, threads):
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
        assert_same(ascending_by_dense(array, value_range, threads), np.unique(array))


@pytest.mark.parametrize("bits", [12, 18, 19], ids=["bytes", "most bytes", "bits"])
@pytest.mark.parametrize("dtype", WIDE_DTYPES)
def test_each_chunk_adds_its_words_and_lists_the_keys_outside(bits, dtype):
    """A table of bits has several chunks only if each of them has many keys."""
    array = np.random.default_rng(bits).integers(0, 1 << bits, 500_000).astype(dtype)
    array[5::11] = np.iinfo(dtype).max
    array[::9] = 7
    expected = np.unique(array)
    for threads in THREADS:
        values = ascending_by_dense(array, (sign_bit(array.dtype), bits), threads)
        assert_same(values, expected)


@pytest.mark.parametrize("dtype", ["M8[s]", "m8[ns]"])
def test_a_range_that_ends_at_nat_equals_numpy(dtype, kernels_with_few_threads, monkeypatch):
    """The word after the largest integer is the smallest integer, which is NaT."""
    monkeypatch.delitem(_algorithms.ALGORITHMS, "sorting")  # it must not be called
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


@pytest.mark.parametrize("dtype", WIDE_DTYPES)
def test_windows_contain_the_sample_and_are_within_the_dtype(dtype):
    """Both ends of the range occur often, so that the sample has them."""
    least, greatest = np.iinfo(dtype).min, np.iinfo(dtype).max
    for low, high in (
        *((0, 0), (0, 1), (5, 99), (0, 2**31 - 1), (greatest - 3, greatest)),
        *((least, least + 3), (least, greatest), (greatest // 2, greatest // 2 + 127)),
    ):
        for size in (1, 200, 256, 257, 5000):
            items = np.random.default_rng(1).integers(low, high, size, dtype, endpoint=True)
            items[::3], items[1::3] = low, high
            (base, entries), *denser = windows_of(items)
            if int(items.max()) - int(items.min()) > 2**61:
                assert (base, entries) == (0, 0)
                continue
            base += least
            assert entries & (entries - 1) == 0
            assert least <= base <= items.min()
            assert items.max() <= base + entries - 1 <= greatest
            sizes = [entries, *(fewer for _, fewer in denser)]
            assert sizes == sorted(sizes, reverse=True)
            assert sizes[-1] > 0


@pytest.mark.parametrize(("dtype", "equal_nan"), [("f4", True), ("f8", True), ("f8", False)])
def test_words_that_may_not_be_canonical_have_no_range(dtype, equal_nan):
    keys = _keys.keys_of((np.arange(1000) / 7).astype(dtype), equal_nan)
    assert search_for(keys).windows == ((0, 0),) * 4


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
