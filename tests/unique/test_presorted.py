"""unique where only values or index are wanted: tables with their filter of recent keys, and keys
that are in order already."""

import itertools

import numpy as np
import pytest
import reference
from arrays import grouped
from comparison import assert_same, value_bytes
from forcing import ALGORITHMS, force
from grids import covering

import fastsel
from fastsel._unique import _algorithms, _keys
from fastsel._unique._groups import Wanted
from fastsel._unique.tables import Tables

DTYPES = ("i2", "i4", "u4", "f4", "i8", "u8", "f8", "M8[s]", "m8[ns]", ">i4", ">f8")
INTEGER_RULE = (2**64 - 1, 2**64 - 1, 0, False)
VALUES = Wanted(False, False, False)
SEEDS = (0x243F6A8885A308D3, 0x13198A2E03707345)
EDGES = (1, 63, 64, 65, 511, 512, 513, 1024, 1025, 3000)


def numbers(dtype, items):
    """Whole numbers, of which -1 is NaN or NaT, and of floats every second 0 is -0.0."""
    items = np.asarray(items)
    dtype = np.dtype(dtype)
    if dtype.kind in "mM":
        return np.where(items == -1, np.iinfo(np.int64).min, items).astype("i8").view(dtype)
    if dtype.kind != "f":
        return items.astype(dtype)
    array = np.where(items == -1, np.nan, items).astype(dtype)
    array[np.flatnonzero(array == 0)[1::2]] = -0.0
    return array


def check(array, threads=(1, 2, 3, 7)):
    """Values, and values and index, in both orders, for each NaN rule and number of threads."""
    for equal_nan in (True, False):
        if array.dtype.kind not in "fmM" and not equal_nan:
            continue
        for in_order in (True, False):
            values, index, *_ = reference.unique_outputs(
                array, equal_nan=equal_nan, sorted=in_order
            )
            rules = {"equal_nan": equal_nan, "sorted": in_order}
            for count in threads:
                with fastsel.threads(count):
                    assert_same(fastsel.unique(array, **rules), values)
                    found = fastsel.unique(array, return_index=True, **rules)
                    assert_same(found, (values, index))


@covering(dtype=DTYPES, algorithm=ALGORITHMS)
def test_values_and_index_from_every_algorithm(dtype, algorithm, forced_kernels, monkeypatch):
    force(monkeypatch, algorithm)
    rng = np.random.default_rng(3)
    for k, size in enumerate(EDGES):
        for groups in [(1, size, 100, 5)[(k + len(dtype)) % 4]]:
            check(numbers(dtype, rng.integers(-1, groups, size)), threads=(1, 3))
    check(numbers(dtype, np.append(rng.permutation(9000), [0, -1, 5, -1, 0])))


@pytest.mark.parametrize("dtype", DTYPES)
def test_small_arrays_of_few_groups(dtype):
    """The fifth group comes late, or never, at the edges of blocks."""
    for groups in (1, 3, 4, 5):
        for size in (64, 100, 640)[groups % 2 :: 2]:
            for late in (0, 63, 64, 65, 127, 128, size - 1):
                items = np.arange(size) % groups
                items[late % size] = groups
                check(numbers(dtype, items - 1), threads=(1,))


@pytest.mark.parametrize("dtype", ["i1", "u1", "?", "i2", "i4", "i8", "f8"])
def test_larger_arrays_of_few_groups(dtype, forced_kernels):
    for groups in (1, 4, 5):
        items = np.arange(20_000) % groups
        items[[5, 64 * 300, -1]] = groups
        check(numbers(dtype, items), threads=(1, 2))


@pytest.mark.parametrize("dtype", ["i4", "i8", "f4", "f8"])
def test_a_table_that_has_to_grow(dtype, forced_kernels, monkeypatch):
    """After a beginning that promised few groups, and one that promised many."""
    force(monkeypatch, "tables")
    monkeypatch.setattr("fastsel._unique._estimate.groups_of", lambda keys, seeds: 1)
    rng = np.random.default_rng(4)
    for items in (np.repeat([3, 4], 3000), np.arange(3000)):
        array = numbers(dtype, np.concatenate((items, rng.permutation(40_000), items)))
        expected = np.sort(np.unique(array, return_index=True)[1])
        for threads in (1, 2, 5):
            with fastsel.threads(threads):
                index = fastsel.unique(array, return_index=True, sorted=False)[1]
            assert np.array_equal(index, expected)


def test_tables_give_way_where_the_estimate_is_far_too_low(monkeypatch):
    force(monkeypatch, "tables")
    monkeypatch.setattr("fastsel._unique._estimate.groups_of", lambda keys, seeds: 1)
    array = np.random.default_rng(5).permutation(300_000)
    assert np.array_equal(fastsel.unique(array, sorted=False), array)


def firsts_of(array, equal_nan=True):
    """The positions of first occurrences, in turn."""
    index = np.unique(array, return_index=True)[1]
    if array.dtype.kind != "f" or equal_nan:
        return np.sort(index)
    return np.union1d(index, np.flatnonzero(np.isnan(array)))


@pytest.mark.parametrize("way", [None, "tables", "partitions"])
@pytest.mark.parametrize("dtype", ["i4", "i8", "f4", "f8"])
def test_recent_keys(dtype, way, forced_kernels, monkeypatch):
    """And others in between: few at a time, all at once, in runs, and more than are remembered."""
    force(monkeypatch, way)
    rng = np.random.default_rng(6)
    parts = [rng.integers(-1, groups, 3000) for groups in (5, 30, 300, 3000)]
    late = np.where(rng.random(9000) < 0.01, rng.integers(0, 9000, 9000), parts[2][:1])
    runs = np.repeat(rng.integers(0, 3000, 90), 100)
    patterns = [*parts, np.concatenate(parts), late, runs, np.concatenate((parts[1], runs + 5000))]
    for items in [*patterns, np.concatenate(patterns * 2), np.arange(40_000) % 9000]:
        array = numbers(dtype, items)
        if array.dtype.kind == "f":
            array[np.isnan(array)] = np.nan
            array[::7][np.isnan(array[::7])] *= -1
        for equal_nan in (True, False) if array.dtype.kind == "f" else (True,):
            expected = firsts_of(array, equal_nan)
            for threads in (1, 2, 7):
                with fastsel.threads(threads):
                    found = fastsel.unique(array, True, equal_nan=equal_nan, sorted=False)
                assert np.array_equal(found[1], expected)
                assert found[0].tobytes() == array[expected].tobytes()


@pytest.mark.parametrize("dtype", ["i4", "i8"])
def test_recent_keys_that_share_a_slot(dtype):
    """Also with 0 and 1, which stand for an empty place."""
    words = np.arange(0, 2**31, 2**18).astype(dtype)  # a multiple of the slots apart
    rng = np.random.default_rng(7)
    for some in (words[:2], words[:20], words, np.append(words, 1), words[1:]):
        array = np.concatenate((rng.choice(some, 4000), some, [0, 1])).astype(dtype)
        found = fastsel.unique(array, return_index=True, sorted=False)
        assert np.array_equal(found[1], firsts_of(array))


@pytest.mark.parametrize(("chunks", "most"), [(1, 4_999), (2, 2_000)])
def test_tables_give_up_on_twice_the_groups_that_are_allowed(chunks, most):
    array = np.arange(10_000)
    rules = (array, array.size, INTEGER_RULE, None, SEEDS)
    assert not Tables(*rules, most, 10, False, False, chunks).find()
    tables = Tables(*rules, 10_000, 10, False, False, chunks)
    assert tables.find()
    assert np.array_equal(tables.index, array)


ORDERS = {
    "ascending": np.arange(3000),
    "descending": np.arange(3000)[::-1],
    "runs": np.arange(3000) // 7,
    "runs_descending": -(np.arange(3000) // 65),
    "constant": np.full(3000, 4),
    "negative_too": np.arange(3000) - 1500,
    "two": np.arange(3000) // 1500,
}


@covering(dtype=["i4", "u4", "i8", "u8", "f4", "f8", "M8[s]", ">i8"], order=ORDERS)
def test_keys_that_are_in_order(dtype, order, forced_kernels):
    """In all outputs; with NaN at the end, where sorting puts it, and at the start; also if one of
    them is out of order after all."""
    items = ORDERS[order]
    if dtype == "u4" and items.min() < 0:
        items = items - items.min()
    for size in EDGES[len(dtype + order) % 2 :: 2]:
        array = numbers(dtype, items[:size])
        reference.check_unique(fastsel.unique, array)
    array = numbers(dtype, items)
    for place in (1, 63, 64, 512, 2998):
        broken = array.copy()
        broken[[place, place + 1]] = broken[[place + 1, place - 1]]
        check(broken, threads=(3,))
    if array.dtype.kind in "fM":
        for nans in ([0], [-1], [-2, -1], [0, 1, 2]):
            changed = array.copy()
            changed[nans] = "NaT" if changed.dtype.kind == "M" else np.nan
            check(changed, threads=(1, 3))


@pytest.mark.parametrize("equal_nan", [True, False])
@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("algorithms", [True, False])
def test_all_outputs_of_keys_in_order(algorithms, in_order, equal_nan, few_threads, request):
    if algorithms:
        request.getfixturevalue("forced_kernels")
    for items in ([-0.0, 0.0, 0.0, 1, np.nan, np.nan], [np.nan, np.nan, 2, 0.0, -0.0]):
        for repeats in (100, 300):
            array = np.repeat(items, repeats)
            array[-1:].view(np.uint64)[:] |= np.uint64(1)
            rules = {"equal_nan": equal_nan, "sorted": in_order}
            found = fastsel.unique(array, True, True, True, **rules)
            assert_same(found, reference.unique_outputs(array, **rules))


@pytest.mark.parametrize("size", [1000, 1024, 5000, 20_000])
@pytest.mark.parametrize("dtype", ["i4", "u8", "f4", "M8[s]", "S4", "U3"])
def test_what_descends_is_turned_around(dtype, size):
    """With each choice of outputs."""
    for groups in (2, size // 10, size):
        array = np.sort(np.random.default_rng(1).integers(0, groups, size).astype(dtype))[::-1]
        values, *extras = np.unique(array, True, True, True)
        for wanted in itertools.product((False, True), repeat=3):
            expected = (values, *itertools.compress(extras, wanted))
            for one in (array, array.copy()):
                found = fastsel.unique(one, *wanted)
                assert_same(found if any(wanted) else (found,), expected)


def test_an_order_that_ends_late(forced_kernels):
    for place in (19_999, 10_000):
        array = np.arange(20_000)
        array[place] = 5
        check(array, threads=(1, 3))
        check(array[::-1].copy(), threads=(2, 7))


def test_the_first_item_of_a_group_lends_its_bits(forced_kernels, monkeypatch):
    for algorithm in ALGORITHMS:
        force(monkeypatch, algorithm)
        for name in ("float32", "float64"):
            array = grouped(name, 2000, 30)
            expected = reference.unique_outputs(array, sorted=False)[0]
            assert value_bytes(fastsel.unique(array, sorted=False)) == value_bytes(expected)


@pytest.mark.parametrize("dtype", ["S1", "S3", "S4", "S8", "S9", "U1", "U2", "U5", ">U5"])
def test_strings_that_are_in_order(dtype, forced_kernels):
    """Letters beyond the first byte and the first two; and one text out of order."""
    letters = "\x01a\xff" if dtype[0] == "S" else "\x01a\u0100\U0001f600"
    size = int(dtype.lstrip(">SU"))
    texts = ["".join(t) for t in itertools.product(letters, repeat=min(size, 5))]
    texts = [text.encode("latin-1") if dtype[0] == "S" else text for text in texts]
    for items in (texts, texts[::-1], [text for text in texts for _ in range(3)], texts[:1] * 70):
        array = np.array(items, dtype)
        reference.check_unique(fastsel.unique, array)
        for place in (0, 63, 64, len(array) - 2):
            broken = array.copy()
            broken[[place % len(array), -1]] = broken[[-1, place % len(array)]]
            check(broken, threads=(1,))


def by_presorted(array):
    search = _algorithms.Search(_keys.keys_of(array, True), array, VALUES, False)
    return _algorithms.by_presorted(search)


@pytest.mark.parametrize("dtype", ["i4", "f8", "S3", "U3"])
def test_runs_are_seen_to_be_in_order(dtype):
    """Up and down; all in one run are taken to ascend."""
    items = np.repeat(np.arange(10, 60), 7).astype(dtype)
    for array, direction in ((items, 1), (items[::-1], -1), (items[:7], 1)):
        firsts = by_presorted(array)
        assert firsts is not None
        assert firsts.direction == direction
    unordered = np.append(items, items[0])
    assert by_presorted(unordered) is None
