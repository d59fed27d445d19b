"""Ranges of numbers, each sorted by NumPy: distinct words, and where they are."""

import numpy as np
import pytest
from grids import covering

import fastsel
from fastsel._unique import _keys
from fastsel._unique.sample import sample_of
from fastsel._unique.sorting import Sorting, max_keys

DTYPES = ("i4", "u4", "f4", "i8", "u8", "f8", "M8[s]", "m8[ns]")
SIZES = (1, 2, 63, 64, 65, 4095, 4097, 30_011)  # around blocks and what is looked at together
THREADS = (1, 2, 3, 7, 20)


def random_items(dtype, size, rng):
    """Of all magnitudes, with zeros of both signs, NaN of both signs and NaT."""
    kind = np.dtype(dtype).kind
    if kind in "mM":
        items = rng.integers(-(2**63), 2**63 - 1, size)
        items[::5] >>= 40
        return items.view(dtype)
    if kind == "f":
        items = rng.standard_normal(size) * 10.0 ** rng.integers(-30, 30, size)
        items[::7], items[1::97] = -0.0, 0.0
        items[3::11], items[5::13], items[6::31] = np.nan, -np.nan, np.inf
        return items.astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, size, dtype, endpoint=True)


def alike(items, rng):
    """Some that differ in their lowest bits only."""
    words = items.view(f"u{items.itemsize}")
    words &= ~words.dtype.type(0xFF)
    words |= rng.integers(0, 3, len(words), words.dtype)
    words[len(words) // 2 :] = words[: len(words) - len(words) // 2] + 1
    return items


SPREADS = {
    "random": lambda items, rng: items,
    "equal": lambda items, rng: np.repeat(items[:1], len(items)),
    "twice": lambda items, rng: np.resize(items[: len(items) // 2 + 1], len(items)),
    "reversed": lambda items, rng: np.sort(items)[::-1].copy(),
    "mostly_one": lambda items, rng: np.where(rng.random(len(items)) < 0.9, items[-1], items),
    "narrow": lambda items, rng: rng.integers(0, 100, len(items)).astype(items.dtype),
    "alike": alike,
    "outliers": lambda items, rng: np.where(
        np.arange(len(items)) % 100 == 50, items, rng.permutation(len(items)).astype(items.dtype)
    ),
}


def ranges_of(items, equal_nan, placed, threads, merged=True):
    """The sorted job, or None if it gives up."""
    keys = _keys.keys_of(items, equal_nan)
    job = Sorting(keys.data, keys.size, keys.rule, keys.order, placed, merged, threads)
    return job if job.sort() else None


def canonical(items):
    """One zero, and one NaN."""
    if items.dtype.kind == "f":
        items = np.where(np.isnan(items), items.dtype.type(np.nan), items)
        items[items == 0] = 0
    return items


def expected_of(items, equal_nan):
    """NumPy's answer. With the index it tells NaT apart as it should."""
    values, *extras = np.unique(items, True, True, True, equal_nan=equal_nan)
    return canonical(values), *extras


@covering(dtype=DTYPES, spread=SPREADS)
def test_every_answer(dtype, spread):
    answers = 0
    for size in SIZES:
        rng = np.random.default_rng(size)
        items = SPREADS[spread](random_items(dtype, size, rng), rng)
        for equal_nan in (True, False):
            values, index, inverse, counts = expected_of(items, equal_nan)
            for threads in THREADS:
                job = ranges_of(items, equal_nan, False, threads)
                if job is not None:
                    assert job.distinct().tobytes() == values.tobytes()
                job = ranges_of(items, equal_nan, True, threads)
                if job is None:
                    continue
                answers += 1
                found = job.groups(True, True, True)
                assert found[0].tobytes() == values.tobytes()
                for ours, theirs in zip(found[1:], (index, inverse, counts), strict=True):
                    assert np.array_equal(ours, theirs)
                job = ranges_of(items, equal_nan, True, threads, merged=False)
                order, places = job.groups(True, True, False)[1:3]
                expected = np.argsort(canonical(items), kind="stable")
                assert np.array_equal(order, expected)
                assert np.array_equal(places[order], np.arange(size))
    assert answers >= 2 * len(SIZES)  # on one thread, where the sizes are small


def test_only_what_is_wanted():
    job = ranges_of(np.array([5, 3, 5]), True, True, 1)
    assert job.groups(False, False, False)[1:] == (None, None, None)
    assert job.groups(False, False, True)[3].tolist() == [1, 2]
    assert job.groups(True, False, False)[1].tolist() == [1, 0]


SAMPLED = 1024  # keys per range, as sorting.pyx has it


def sampled_places(size, drawn):
    return sample_of(np.arange(size), size, drawn)[0].view(np.int64).ravel()


def test_ranges_of_uneven_size():
    """Most keys are the same one: the sample says so, and its range has room for all of them."""
    same = np.where(np.arange(200_000) % 8 == 0, np.arange(200_000), 77)
    for threads in (1, 2, 7, 20):
        assert np.array_equal(ranges_of(same, True, False, threads).distinct(), np.unique(same))


def test_gives_up_where_a_range_has_no_room():
    """The sample saw other keys than there are."""
    array = np.arange(10**9, 10**9 + 200_000)
    array[sampled_places(len(array), 2 * SAMPLED)] -= 10**9
    assert ranges_of(array, True, False, 2) is None
    assert ranges_of(array, True, False, 1) is not None


def test_gives_up_where_lost_bits_tell_many_keys_apart():
    """Two of the sample are far apart, so that the others share their upper bits."""
    numbers = np.arange(31 * SAMPLED, dtype=np.uint64) + np.uint64(2**40)
    numbers[sampled_places(len(numbers), SAMPLED)[:2]] = 0, 2**64 - 1
    assert ranges_of(numbers, True, True, 1) is None
    values = ranges_of(numbers, True, False, 1).distinct()
    assert np.array_equal(values, np.unique(numbers))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("spread", ["random", "mostly_one", "alike"])
def test_unique_of_many_keys(spread, dtype):
    rng = np.random.default_rng(3)
    items = SPREADS[spread](random_items(dtype, 30_001, rng), rng)
    _, index, inverse, counts = np.unique(items, True, True, True)
    order = np.argsort(index)
    ranks = np.argsort(order)
    for threads in (1, 2, 7):
        with fastsel.threads(threads):
            for wanted in ((), (True, True, True)):
                ours = fastsel.unique(items, *wanted)
                expected = (items[index], index, inverse, counts) if wanted else items[index]
                assert_bits(ours, expected)
                ours = fastsel.unique(items, *wanted, sorted=False)
                expected = items[index[order]]
                if wanted:
                    expected = expected, index[order], ranks[inverse], counts[order]
                assert_bits(ours, expected)


def assert_bits(ours, expected):
    if not isinstance(expected, tuple):
        ours, expected = (ours,), (expected,)
    for found, array in zip(ours, expected, strict=True):
        assert found.dtype == array.dtype
        assert found.tobytes() == array.tobytes()


def test_more_threads_sort_no_fewer_keys():
    assert max_keys(1) == 2**27
    assert all(max_keys(threads) > 2**26 for threads in range(1, 30))
