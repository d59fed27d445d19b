"""The algorithm `without_majority`: arrays of which one item makes up most."""

import functools
import itertools

import numpy as np
import pytest
import reference
from comparison import assert_same
from forcing import force, numpy_sorts_whole
from grids import covering

import fastsel
from fastsel._unique import _keys, _plan
from fastsel._unique._algorithms import WithoutMajority, search_for
from fastsel._unique.groups import Request

EDGE_SIZES = (1, 2, 63, 64, 65, 129, 1000, 4097)

# For each dtype, the items of which one makes up most of an array. Items side by side may be equal
# and have other bits.
ITEMS = {
    "int32": (0, 7, -(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-1, 2**63 - 1),
    "uint64": (2**64 - 1, 2**63),
    "float32": (0.0, -0.0, np.nan, -np.nan, np.inf, 0.1),
    "float64": (-0.0, 0.0, np.nan, -np.nan, -np.inf, 0.1, 5e-324),
    ">f8": (0.0, np.nan, -2.5),
    ">u4": (7,),
    "M8[s]": ("NaT", 0, -5),
    "m8[us]": ("NaT", 3),
}


def mostly(dtype, item, size, share=0.9):
    """An array of `size` items, of which about this share equals `item`. The other items have
    random bits, or are items of ITEMS[dtype]."""
    name, dtype, rng = dtype, np.dtype(dtype), np.random.default_rng(size)
    native = dtype.newbyteorder("=")
    array = rng.integers(0, 256, (size, dtype.itemsize), np.uint8).view(native).ravel()
    special = np.array(ITEMS[name], native)
    few = rng.random(size) < 0.3
    array[few] = special[rng.integers(0, len(special), few.sum())]
    array[rng.random(size) < share] = np.array([item], native)
    return array.astype(dtype)


def majorities():
    return [(dtype, item) for dtype, items in ITEMS.items() for item in items]


@pytest.mark.parametrize(("dtype", "item"), majorities())
def test_all_outputs_equal_the_reference(dtype, item, kernels_with_few_threads, monkeypatch):
    force(monkeypatch, "without_majority")
    for size, share in ((size, share) for size in EDGE_SIZES for share in (0.7, 0.9, 1)):
        array = mostly(dtype, item, size, share)
        for equal_nan, ascending in itertools.product((True, False), repeat=2):
            order = {"equal_nan": equal_nan, "sorted": ascending}
            values, index, inverse, counts = reference.unique_outputs(array, **order)
            unique = functools.partial(fastsel.unique, array, **order)
            assert_same(unique(), values)
            assert_same(unique(return_counts=True), (values, counts))
            assert_same(unique(return_index=True), (values, index))
            assert_same(unique(return_inverse=True), (values, inverse))
            assert_same(unique(True, True, True), (values, index, inverse, counts))
            narrow = unique(return_inverse=True, inverse_dtype=np.int32)
            assert_same(narrow, (values, inverse.astype(np.int32)))


def find(array, **request):
    """Does the algorithm find the groups of an array?"""
    search = search_for(_keys.keys_of(array, True), array, Request(**request))
    return WithoutMajority(search).find()


@pytest.mark.parametrize("dtype", ["int32", "float64", "M8[s]"])
def test_it_gives_way_if_more_than_half_of_the_items_differ(dtype):
    array = np.arange(1000).astype(dtype)
    assert not find(array)
    array[::2] = 7
    assert find(array)
    array[:4:2] = 3
    assert not find(array)


@pytest.mark.parametrize("request_of", [{"index": True}, {"inverse": True}, {"ascending": False}])
def test_it_gives_way_if_a_quarter_of_the_items_differ_whose_positions_take_memory(request_of):
    array = np.full(1000, -7)
    array[:251] = np.arange(251)
    assert find(array)
    assert find(array, counts=True)
    assert not find(array, **request_of)
    array[0] = -7
    assert find(array, **request_of)


@pytest.mark.parametrize("dtype", ["S4", "V16", "c16", "i2", "?"])
def test_it_gives_way_for_other_items_than_words_of_numbers(dtype):
    assert not find(np.zeros(100, dtype))


def test_it_gives_way_if_the_cpu_takes_subnormal_floats_for_zero(monkeypatch):
    monkeypatch.setattr("fastsel._unique._algorithms.subnormals_are_zero", lambda: True)
    assert not find(np.zeros(100))
    assert find(np.zeros(100, int))


@pytest.mark.thread_unsafe(reason="replaces the watcher of the process")
@pytest.mark.parametrize("item", [0, np.nan])
@pytest.mark.parametrize("argument", [None, "return_counts", "return_inverse", "sorted"])
def test_a_column_of_nearly_one_value_is_found_without_it(item, argument, monkeypatch):
    chosen = []
    monkeypatch.setattr(_plan, "watcher", lambda algorithm, reason: chosen.append(algorithm))
    array = np.random.default_rng(0).random(300_000) * 1e9
    array[np.arange(len(array)) % 32 != 0] = item
    fastsel.unique(array, **({argument: argument != "sorted"} if argument else {}))
    assert chosen[-1] == "without_majority"
    fastsel.unique_counts(array)  # each NaN is a value
    assert (chosen[-1] == "without_majority") == (item == 0)


@covering(share=(0.6, 0.95, 0.999), sorts_whole=(True, False))
@pytest.mark.thread_unsafe(reason="sets the answer of the process")
def test_large_columns_equal_numpy(share, sorts_whole):
    rng = np.random.default_rng(1)
    with numpy_sorts_whole(sorts_whole):
        for array in (rng.integers(-(2**31), 2**31, 300_000), rng.standard_normal(300_000)):
            array[rng.random(len(array)) < share] = 3
            expected = np.unique(array, True, True, True)
            for threads in (1, 2, 3, 7):
                with fastsel.threads(threads):
                    assert_same(fastsel.unique(array), expected[0])
                    assert_same(fastsel.unique(array, True, True, True), expected)
                    values, index, inverse, counts = fastsel.unique(
                        array, True, True, True, sorted=False
                    )
                    assert_same(index, np.sort(expected[1]))
                    assert_same(values, array[index])
                    assert_same(values[inverse], array)
                    assert_same(counts, np.bincount(inverse))
