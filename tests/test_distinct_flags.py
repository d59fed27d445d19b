"""unique of words that have a place each, where neither inverse nor counts are wanted: flags."""

import numpy as np
import pytest
import reference
from arrays import assert_same, value_bytes

import fastsel
from fastsel import _engines, _small
from fastsel._kernels import sample
from fastsel._kernels.flags import first_flags, sorted_words

RULE = ((1 << 64) - 1, (1 << 64) - 1, 0, False)
EDGES = (1, 2, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000, 4095, 4097)
NARROW = ("bool", "int8", "uint8", "int16", "uint16", "float16", ">i2", "bfloat16", "float8_e4m3fn")
WIDE = ("int32", "uint32", "int64", "uint64")
THREADS = (1, 2, 3, 7)


def dtype_of(name):
    if name[0].isalpha() and name.startswith(("bfloat", "float8")):
        return np.dtype(getattr(pytest.importorskip("ml_dtypes"), name))
    return np.dtype(name)


def of_bits(name, size, groups, seed=0):
    """Any items of 1 or 2 bytes, among them -0.0, NaN of several bits, and True as other bytes."""
    dtype = dtype_of(name)
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 1 << 8 * dtype.itemsize, groups)
    chosen = words[rng.integers(0, groups, size)].astype(f"u{dtype.itemsize}")
    return (chosen & 1 if dtype.kind == "b" else chosen).view(dtype)


def first_index(array):
    return np.sort(np.unique(array, return_index=True)[1])


def index_of(bits, size):
    return np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little", count=size))


def check(array, rules):
    for rule in rules:
        expected = reference.unique_outputs(array, **rule)
        for threads in THREADS:
            with fastsel.threads(threads):
                assert_same(fastsel.unique(array, **rule), expected[0])
                found = fastsel.unique(array, return_index=True, **rule)
                assert_same(found, expected[:2])


@pytest.mark.parametrize("name", NARROW)
def test_narrow_dtypes(name, forced_kernels):
    for size in (*EDGES, 20_000):
        for groups in (1, 2, 5, 70_000):
            array = of_bits(name, size, groups, size)
            rules = [{"sorted": False}, {"sorted": True}]
            if array.dtype.kind == "f":
                rules.append({"sorted": False, "equal_nan": False})
            check(array, rules if size < 20_000 else rules[:1])


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize("start", ["lowest", "around zero", "highest"])
def test_narrow_ranges(dtype, start, forced_kernels):
    limits = np.iinfo(dtype)
    for size in (*EDGES, 20_000):
        for width in (1, 2, 100, size, 3 * size):
            first = {"lowest": limits.min, "highest": limits.max - width + 1}
            first = first.get(start, max(limits.min, -(width // 2)))
            steps = np.random.default_rng(size).integers(0, width, size)
            array = np.array([first + int(step) for step in steps], dtype)
            check(array, [{"sorted": False}, {"sorted": True}])


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize("end", ["min", "max"])
def test_sorted_values_at_the_ends_of_a_dtype(dtype, end, monkeypatch):
    """They are read off the flags, though the places would wrap around."""
    monkeypatch.setattr(_engines, "expected_groups", None)  # nothing comes after the flags
    limits = np.iinfo(dtype)
    steps = np.random.default_rng(1).permutation(200_000).astype(dtype)
    array = limits.min + steps if end == "min" else limits.max - steps
    assert_same(fastsel.unique(array), np.sort(array))


@pytest.mark.parametrize("index", [True, False])
def test_what_is_in_order_is_not_sorted_again(index, monkeypatch):
    monkeypatch.setattr("fastsel._ascending.sort", None)
    monkeypatch.setattr("fastsel._ascending.argsort", None)
    for size in (5000, 100_000):
        array = np.arange(size) * 10**9
        expected = (array, np.arange(size)) if index else array
        assert_same(fastsel.unique(array, return_index=index), expected)
        expected = (array, np.arange(size)[::-1].copy()) if index else array
        assert_same(fastsel.unique(array[::-1], return_index=index), expected)


@pytest.mark.parametrize("dtype", WIDE)
def test_sorted_values_of_a_range_that_wraps(dtype, forced_kernels):
    limits = np.iinfo(dtype)
    array = np.array([limits.max, limits.min, limits.max - 3, limits.min + 2] * 500, dtype)
    check(array, [{"sorted": True}, {"sorted": False}])


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8"])
def test_a_block_with_one_new_word(dtype):
    """At each place of a block, and of each value, after blocks that have none."""
    for known in (1, 4, 5, 200):
        base = np.arange(64 * 6) % known
        for place in range(64 * 4, 64 * 6):
            array = base.astype(dtype)
            array[place] = 255 - place % 50
            bits = first_flags(array, array.size, RULE, (0, 8 if dtype == "u1" else 16), 1)
            assert np.array_equal(index_of(bits, array.size), first_index(array)), place


def test_each_byte_is_told_from_the_others():
    for byte in range(256):
        others = np.delete(np.arange(256), byte)
        array = np.concatenate((others, others, [byte], others)).astype(np.uint8)
        bits = first_flags(array, array.size, RULE, (0, 8), 1)
        assert np.array_equal(index_of(bits, array.size), first_index(array))


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("groups", [1, 3, 300, 60_000])
def test_slices_drop_what_others_have_met(threads, groups):
    rng = np.random.default_rng(groups)
    for array in (rng.integers(0, groups, 50_000), np.arange(50_000) // (50_000 // groups + 1)):
        for dtype in ("u2", "u4", "i8"):
            words = array.astype(dtype)
            bits = first_flags(words, words.size, RULE, (0, 16), threads)
            assert np.array_equal(index_of(bits, words.size), first_index(words))
            values = sorted_words(words, words.size, RULE, (0, 16), 0, threads)
            assert_same(values, np.unique(words))
            upper_half_first = np.sort(np.unique(words) ^ words.dtype.type(1 << 15))
            values = sorted_words(words, words.size, RULE, (0, 16), 1 << 15, threads)
            assert np.array_equal(values ^ words.dtype.type(1 << 15), upper_half_first)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("place", [0, 63, 64, 511, 9999])
@pytest.mark.parametrize("known", [2, 100])
def test_a_word_beyond_the_range_ends_the_attempt(place, known, threads):
    for dtype, beyond in (("u4", 128), ("i4", -1), ("i8", 2**40), ("i8", -(2**63))):
        array = (np.arange(10_000) % known).astype(dtype)
        assert first_flags(array, array.size, RULE, (0, 7), threads) is not None
        array[place] = beyond
        assert first_flags(array, array.size, RULE, (0, 7), threads) is None
        assert sorted_words(array, array.size, RULE, (0, 7), 0, threads) is None


@pytest.mark.parametrize("sorted_too", [True, False])
def test_words_that_the_sample_did_not_show(sorted_too, few_threads):
    array = np.arange(200_000) % 1000
    array[1::1000] = -(10**12)
    expected = reference.unique_outputs(array, sorted=sorted_too)[0]
    assert_same(fastsel.unique(array, sorted=sorted_too), expected)


def test_a_permutation(few_threads):
    """As many places as there are keys, and more than a table of groups would have."""
    for dtype in WIDE:
        array = np.random.default_rng(2).permutation(300_000).astype(dtype)
        assert_same(fastsel.unique(array, sorted=False), array)
        assert_same(fastsel.unique(array), np.arange(300_000, dtype=dtype))
        index = fastsel.unique(array, return_index=True, sorted=False)[1]
        assert np.array_equal(index, np.arange(300_000))


def test_no_more_places_than_allowed(monkeypatch):
    keys = _engines.keys_of(np.array([0, 5000] * 1000), True)
    assert _engines.in_places(keys, False, False) is not None
    assert _engines.in_places(keys, True, False) is None
    monkeypatch.setattr(_engines, "FLAG_PLACES", 1 << 12)
    assert _engines.in_places(keys, False, False) is None
    assert sample.places(keys.data, keys.size, 1 << 13) is not None


@pytest.mark.parametrize("dtype", ["i2", "i4", "i8", "f4", "f8", "M8[s]", "u1", "bool"])
@pytest.mark.parametrize("groups", [1, 2, 4, 5])
def test_few_words_in_one_call(dtype, groups):
    """Of more bytes than other small arrays have; a word more comes at the end, or not at all."""
    limit = _small.MOST_BYTES // np.dtype(dtype).itemsize
    for size in (_small.FEW_BYTES // np.dtype(dtype).itemsize + 1, limit, limit + 1):
        items = np.arange(size) % groups
        for late in (items, np.append(items[:-1], 77)):
            array = late.astype(dtype)
            if array.dtype.kind == "f":
                array[array == 1] = np.nan
                array[np.flatnonzero(array == 0)[::2]] = -0.0
            index = first_index(late.astype(dtype))
            for in_order in (True, False):
                found = fastsel.unique(array, return_index=True, sorted=in_order)
                order = np.argsort(array[index], kind="stable") if in_order else slice(None)
                assert np.array_equal(found[1], index[order])
                assert value_bytes(found[0]) == value_bytes(array[found[1]])
                assert value_bytes(fastsel.unique(array, sorted=in_order)) == value_bytes(found[0])
