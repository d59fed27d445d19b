"""The algorithm `tables`: first occurrences by one hash table for each chunk. A table may have a
filter of recent keys."""

import gc
import weakref

import numpy as np
import pytest
from collisions import SEEDS, colliding
from comparison import check_values_and_index
from forcing import force
from special_numbers import whole_numbers
from unique_kernels import make_tables

import fastsel
from fastsel._unique import _algorithms, _keys

THREADS = (1, 2, 3, 7)
RNG = np.random.default_rng(7)
DTYPES = ("i2", "i4", "u4", "f4", "i8", "u8", "f8", "M8[s]", "m8[ns]", ">i4", ">f8")


def positions_by_tables(array, threads, *, equal_nan=True, **options):
    """The positions of first occurrences; None if the tables give up."""
    rule = _keys.loaded_rule(array.dtype, equal_nan)
    tables = make_tables(array, rule=rule, threads=threads, **options)
    return tables.index if tables.find() else None


def expect_one_group(monkeypatch):
    """Let unique expect one group, instead of the number that a sample says."""

    def search_for(*arguments):
        search = original(*arguments)
        search.expect(1)
        return search

    original = _algorithms.search_for
    monkeypatch.setattr(_algorithms, "search_for", search_for)


def expected_positions(array):
    return np.sort(np.unique(array, return_index=True)[1])


def with_late_zeros(size):
    array = RNG.integers(1, 9, size)
    array[size * 2 // 3 :: 7] = 0
    return array


ARRAYS = {
    "few": RNG.integers(-3, 4, 5001),
    "recent keys, then new keys": np.append(RNG.integers(1, 30, 4000), RNG.permutation(4000)),
    "new keys between recent keys": np.where(np.arange(9000) % 97, 5, np.arange(9000)),
    "runs": np.repeat(RNG.integers(0, 99, 300), 33),
    "distinct": RNG.permutation(20_000),
    "repeated": RNG.integers(0, 3000, 20_000) << 20,
    "zeros alone": np.zeros(1000, int),
    "zero first": np.append(0, RNG.integers(1, 99, 999)),
    "zero last": np.append(RNG.integers(1, 99, 999), 0),
    "zeros late, in later chunks": with_late_zeros(3000),
    "seeds late": np.append(RNG.integers(1, 99, 2000), [SEEDS[0] >> 1, *[SEEDS[0] % 2**32] * 99]),
    "one key": np.ones(1, int),
    "a block and one key": np.arange(65) % 64,
    "a batch and one key": np.arange(257) % 256,
}


@pytest.mark.parametrize("dtype", ["i4", "u4", "f4", "i8", "u8", "f8", "M8[s]"])
@pytest.mark.parametrize("name", ARRAYS)
def test_tables_return_first_occurrences(name, dtype):
    array = ARRAYS[name].astype(np.int64).astype(dtype)
    positions = expected_positions(array)
    for threads in THREADS:
        for expected in (0, 100, array.size):
            assert np.array_equal(positions_by_tables(array, threads, expected=expected), positions)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_zeros_are_one_group_and_nans_are_one_group_or_distinct(dtype, threads):
    array = RNG.integers(-2, 3, 3000).astype(dtype)
    array[array == 2] = np.nan
    array[::5] = -0.0
    is_nan = np.isnan(array)
    assert np.array_equal(positions_by_tables(array, threads), expected_positions(array))
    distinct_nans = positions_by_tables(array, threads, equal_nan=False)
    numbers = np.flatnonzero(~is_nan)[expected_positions(array[~is_nan])]
    assert np.array_equal(distinct_nans, np.union1d(numbers, np.flatnonzero(is_nan)))


@pytest.mark.parametrize("threads", THREADS)
def test_tables_give_up_on_more_groups_than_allowed(threads):
    array = np.arange(1, 20_001)
    assert positions_by_tables(array, threads, max_groups=1000) is None
    assert positions_by_tables(array, threads, max_groups=20_000) is not None


@pytest.mark.parametrize("threads", THREADS)
def test_tables_give_up_on_too_many_probes(threads):
    assert positions_by_tables(colliding(4000), threads) is None


def test_tables_give_up_on_chunks_that_collide_with_each_other():
    """No table of a single chunk gives up."""
    chunks = colliding(4096).reshape(64, 64)
    assert all(positions_by_tables(chunk, 1) is not None for chunk in chunks)
    assert positions_by_tables(chunks.ravel(), 64) is None


@pytest.mark.parametrize("dtype", DTYPES)
def test_small_arrays_of_few_groups_equal_the_reference(dtype):
    """One more group comes first, last or at the edges of blocks."""
    for groups in (1, 3, 4, 5):
        for size in (64, 100, 640)[groups % 2 :: 2]:
            for position in (0, 63, 64, 65, 127, 128, size - 1):
                items = np.arange(size) % groups
                items[position % size] = groups
                check_values_and_index(whole_numbers(dtype, items - 1), threads=(1,))


@pytest.mark.parametrize("dtype", ["i1", "u1", "?", "i2", "i4", "i8", "f8"])
def test_larger_arrays_of_few_groups_equal_the_reference(dtype, forced_kernels):
    for groups in (1, 4, 5):
        items = np.arange(20_000) % groups
        items[[5, 64 * 300, -1]] = groups
        check_values_and_index(whole_numbers(dtype, items), threads=(1, 2))


@pytest.mark.parametrize("dtype", ["i4", "i8", "f4", "f8"])
def test_a_table_that_grows_has_all_groups(dtype, forced_kernels, monkeypatch):
    """The table grows after keys of few groups, and after keys that are all new."""
    force(monkeypatch, "tables")
    expect_one_group(monkeypatch)
    rng = np.random.default_rng(4)
    for items in (np.repeat([3, 4], 3000), np.arange(3000)):
        array = whole_numbers(dtype, np.concatenate((items, rng.permutation(40_000), items)))
        expected = np.sort(np.unique(array, return_index=True)[1])
        for threads in (1, 2, 5):
            with fastsel.threads(threads):
                index = fastsel.unique(array, return_index=True, sorted=False)[1]
            assert np.array_equal(index, expected)


def test_all_groups_are_found_if_the_estimate_is_much_too_low(monkeypatch):
    force(monkeypatch, "tables")
    expect_one_group(monkeypatch)
    array = np.random.default_rng(5).permutation(300_000)
    assert np.array_equal(fastsel.unique(array, sorted=False), array)


def first_positions_of(array, equal_nan=True):
    """The positions of first occurrences, ascending."""
    index = np.unique(array, return_index=True)[1]
    if array.dtype.kind != "f" or equal_nan:
        return np.sort(index)
    return np.union1d(index, np.flatnonzero(np.isnan(array)))


@pytest.mark.parametrize("algorithm", [None, "tables", "partitions"])
@pytest.mark.parametrize("dtype", ["i4", "i8", "f4", "f8"])
def test_recent_keys_are_found_at_their_first_positions(
    dtype, algorithm, forced_kernels, monkeypatch
):
    """Between recent keys are other keys: a few at a time, all at once, or in runs. Some arrays
    have more different keys than the filter holds."""
    force(monkeypatch, algorithm)
    rng = np.random.default_rng(6)
    parts = [rng.integers(-1, groups, 3000) for groups in (5, 30, 300, 3000)]
    late = np.where(rng.random(9000) < 0.01, rng.integers(0, 9000, 9000), parts[2][:1])
    runs = np.repeat(rng.integers(0, 3000, 90), 100)
    patterns = [*parts, np.concatenate(parts), late, runs, np.concatenate((parts[1], runs + 5000))]
    for items in [*patterns, np.concatenate(patterns * 2), np.arange(40_000) % 9000]:
        array = whole_numbers(dtype, items)
        if array.dtype.kind == "f":
            array[np.isnan(array)] = np.nan
            array[::7][np.isnan(array[::7])] *= -1
        for equal_nan in (True, False) if array.dtype.kind == "f" else (True,):
            expected = first_positions_of(array, equal_nan)
            # With the index, NumPy sorts NaN stably.
            _, _, inverse, counts = np.unique(array, True, True, True, equal_nan=equal_nan)
            for threads in (1, 2, 7):
                with fastsel.threads(threads):
                    outputs = fastsel.unique(array, True, equal_nan=equal_nan, sorted=False)
                    ascending = fastsel.unique(array, return_counts=True, equal_nan=equal_nan)
                    with_inverse = fastsel.unique(array, False, True, True, equal_nan=equal_nan)
                    alone = fastsel.unique(array, return_inverse=True, equal_nan=equal_nan)
                assert np.array_equal(outputs[1], expected)
                assert outputs[0].tobytes() == array[expected].tobytes()
                assert np.array_equal(ascending[1], counts)
                assert np.array_equal(with_inverse[1], inverse)
                assert np.array_equal(with_inverse[2], counts)
                assert np.array_equal(alone[1], inverse)


@pytest.mark.parametrize("dtype", ["i4", "i8"])
def test_recent_keys_that_share_a_slot_are_found(dtype, monkeypatch):
    """Among the keys are 0 and 1: an empty slot of the filter has 0, or 1 if it is slot 0."""
    words = np.arange(0, 2**31, 2**18).astype(dtype)  # as many words as slots
    rng = np.random.default_rng(7)
    for keys in (words[:2], words[:20], words, np.append(words, 1), words[1:]):
        array = np.concatenate((rng.choice(keys, 4000), keys, [0, 1])).astype(dtype)
        outputs = fastsel.unique(array, return_index=True, sorted=False)
        assert np.array_equal(outputs[1], first_positions_of(array))
        force(monkeypatch, "tables")
        _, inverse, counts = np.unique(array, return_inverse=True, return_counts=True)
        assert np.array_equal(fastsel.unique(array, return_counts=True)[1], counts)
        assert np.array_equal(fastsel.unique(array, return_inverse=True)[1], inverse)
        outputs = fastsel.unique(array, return_inverse=True, return_counts=True)
        assert np.array_equal(outputs[1], inverse)
        assert np.array_equal(outputs[2], counts)


@pytest.mark.parametrize(("chunks", "max_groups"), [(1, 4_999), (2, 2_000)])
def test_tables_give_up_on_more_than_four_times_the_groups_that_are_allowed(chunks, max_groups):
    array = np.arange(20_000)
    assert not make_tables(array, max_groups=max_groups, expected=10, threads=chunks).find()
    tables = make_tables(array, max_groups=20_000, expected=10, threads=chunks)
    assert tables.find()
    assert np.array_equal(tables.index, array)


def test_tables_in_a_reference_cycle_are_freed_once():
    """A garbage collection clears the attributes of Tables before it frees them. Only
    AddressSanitizer tells whether memory is used after that."""
    tables = make_tables(np.arange(1000) % 7, inverse=True, threads=2)
    assert tables.find()
    cycle = [tables]
    cycle.append(cycle)
    index = weakref.ref(tables.index)
    del tables, cycle
    gc.collect()
    assert index() is None
