"""Which items of two arrays are among those of the other one: dtypes, and the choice of an
algorithm."""

from typing import NamedTuple

import numpy as np

from fastsel._core import _dtypes, _numpy, _threads
from fastsel._sets import few_tests
from fastsel._sets.range_lookup import in_range
from fastsel._sets.table_lookup import by_partitions, by_table, of_small
from fastsel._unique import _algorithms, _estimate, _keys, _plan
from fastsel._unique._distinct import unique
from fastsel._unique.sample import sampled_span
from fastsel._unique.tables import Tables

# As many groups as fit the cache.
MAX_GROUPS = _plan.CACHE_BYTES // _plan.GROUP_BYTES

# A table of many different tests is filled by one thread: with fewer items for each test, that
# takes longer than to scatter all on several threads.
FILLED_SHARE = 4

# NumPy compares all objects with one test after the other: a hash of each takes as long as so many
# comparisons.
MIN_HASHED_OBJECTS = 8

# Objects that are equal if, and only if, ``==`` is True, and have equal hashes then.
_HASHED_BY_VALUE = {bool, bytes, complex, float, int, str, type(None)}


class WantedMasks(NamedTuple):
    """Which masks are wanted, and whether they say what is not among the other array's items."""

    first: bool
    second: bool
    invert: bool


def as_dtype_of(array, other):
    """The items of `other` that equal any of array's dtype, in that dtype; None if NumPy decides
    what is equal."""
    to, dtype = array.dtype, other.dtype
    if to == dtype:
        return other
    if not compares_exactly(to, dtype) or (dtype.kind == "c" and to.kind != "c"):
        return None
    if np.can_cast(dtype, to, "safe"):
        return other.astype(to)
    # Others are the items that are the same again on the way back.
    with np.errstate(all="ignore"):
        found = other.astype(to)
        if to.kind in "iu" and dtype.kind in "iu":
            same = (found.astype(dtype) == other) & ((found < 0) == (other < 0))
        else:
            common = np.result_type(to, dtype)
            same = found.astype(common) == other.astype(common)
    same = same.all(axis=tuple(range(1, same.ndim)))  # the items of a slice
    return found if same.all() else found[same]


def compares_exactly(one, other):
    """Are the items of two dtypes equal if, and only if, they are the same numbers or strings?
    NumPy makes floats of large integers, and has rules of its own for other pairs."""
    if one == other:
        return True
    kinds, numbers = one.kind + other.kind, "biufc"
    if kinds in ("mm", "MM"):
        return one.newbyteorder("=") == other.newbyteorder("=")
    if kinds in ("SS", "UU"):
        return True
    if one.isbuiltin == 2 or other.isbuiltin == 2 or not set(kinds) <= set(numbers):
        return False
    large = any(dtype.kind in "iu" and dtype.itemsize == 8 for dtype in (one, other))
    return not large or set(kinds) <= set("biu")


def masks(first, second, wanted):
    """(which items of `first` are among those of `second`, which of `second` among those of
    `first`), as bool arrays, None for what is not wanted; None instead if NumPy decides what is
    equal. Both are of one dtype: items, or slices along axis 0, of which NumPy decides nothing. NaN
    is among nothing."""
    if first.ndim > 1:
        return _slice_masks(first, second, wanted)
    if first.size == 0 or second.size == 0:
        if not _has_keys(first.dtype):
            return None
        make = np.ones if wanted.invert else np.zeros
        return make(first.size, bool), make(second.size, bool)
    if not wanted.second and second.size <= few_tests.MAX_TESTS:
        found = _among_few(first, second, wanted.invert)
        if found is not None:
            return found, None
    if first.size + second.size <= _plan.SMALL_ITEMS:
        rule = _dtypes.word_rule(first.dtype, False)
        found = rule and of_small(first, second, rule, _keys.SEEDS, *wanted)
        if found is not None:
            return found
    keys = _keys.keys_of(first, False), _keys.keys_of(second, False)
    if keys[0] is None:
        return None
    forced = _plan.FORCED.get()
    found = None
    if forced in (None, "dense"):
        found = _by_range(*keys, wanted)
    if found is None and forced in (None, "tables", "partitions") and _countable(*keys):
        found = _by_hash(*keys, wanted, forced)
    return _by_comparison(first, second, wanted) if found is None else found


def _slice_masks(first, second, wanted):
    """As masks, of slices along axis 0."""
    if 0 in (len(first), len(second), *first.shape[1:]):
        are_equal = len(first) > 0 and len(second) > 0  # as slices without items are
        make = np.ones if are_equal != wanted.invert else np.zeros
        return make(len(first), bool), make(len(second), bool)
    forced, found = _plan.FORCED.get(), None
    if forced in (None, "tables", "partitions"):
        keys = _keys.keys_of(first, False), _keys.keys_of(second, False)
        if keys[0] is not None and _countable(*keys):
            found = _by_hash(*keys, wanted, forced)
    if found is None:
        both = np.concatenate((first, second))
        inverse = unique(both, return_inverse=True, axis=0)[1]
        found = masks(inverse[: len(first)], inverse[len(first) :], wanted)
    return found


def _among_few(items, tests, invert):
    """Which items are among a few tests; None if they are not numbers of one word."""
    if items.dtype.kind not in "iufmM" or _plan.FORCED.get():
        return None
    rule = _dtypes.word_rule(items.dtype, False)
    if rule is None:
        return None
    threads = _threads.for_bytes(items.nbytes * len(tests))
    return few_tests.among_few(items, tests, rule, invert, threads)


def among_objects(items, tests, invert):
    """Which Python objects are among the tests, by their hash; None where NumPy's ``==`` could say
    something else, or takes less time."""
    if tests.size < MIN_HASHED_OBJECTS:
        return None
    items, tests = items.tolist(), tests.tolist()
    if not (
        set(map(type, tests)) <= _HASHED_BY_VALUE and set(map(type, items)) <= _HASHED_BY_VALUE
    ):
        return None
    known = {test for test in tests if test == test}
    return np.fromiter((item in known for item in items), bool, len(items)) ^ invert


def _has_keys(dtype):
    if not _dtypes.movable(dtype):
        return False
    return _dtypes.small_foreign(dtype) or _dtypes.key_rule(dtype.newbyteorder("=")) is not None


def _countable(first, second):
    """Are there so few keys that 32 bits number them?"""
    return max(first.size, second.size) < 1 << 32


def _by_range(first, second, wanted):
    """Words of a narrow range."""
    found = []
    for items, tests, is_wanted in ((first, second, wanted.first), (second, first, wanted.second)):
        mask = _in_range(items, tests, wanted.invert) if is_wanted else None
        if is_wanted and mask is None:
            return None
        found.append(mask)
    return tuple(found)


def _in_range(items, tests, invert):
    if items.order is None or not items.is_word:
        return None
    *rule, has_nan = items.rule
    items, tests = (keys._replace(rule=(*rule, False)) for keys in (items, tests))
    base, bits = sampled_span(tests.data, tests.size, tests.rule, tests.order)
    size = items.size + tests.size
    nbytes = size * items.width
    threads = _threads.for_bytes(nbytes)
    if base is None or 1 << bits > _plan.max_entries(size, nbytes, threads, firsts=False):
        return None
    is_wide = 1 << bits > _plan.CLOSE_ENTRIES * size
    if is_wide and tests.size * _plan.WIDE_SHARE <= size:
        return None
    return in_range(items, tests, tests.order, (base, bits), has_nan, invert, threads)


def _by_hash(first, second, wanted, forced):
    """Tables of the smaller array's keys; None if these, or those that are looked up, take too
    many probes."""
    turned = first.size < second.size
    items, tests = (second, first) if turned else (first, second)
    of_items, of_tests = wanted[1::-1] if turned else wanted[:2]
    expected = tests.size
    if tests.size > _plan.SMALL_ITEMS:
        *rule, _ = tests.rule  # NaN equal nothing, and are in no table
        expected = _estimate.groups_of(
            tests._replace(rule=(*rule, False), unequal=None), _keys.SEEDS
        )
    threads = _threads.for_bytes((items.size + tests.size) * items.width, _algorithms.COST)
    algorithm = forced or _algorithm(items.size, tests.size, expected, threads)
    outputs = of_items, of_tests, wanted.invert, threads
    found = None
    if algorithm == "tables":
        nbytes = tests.size * tests.width
        own = _plan.table_count(nbytes, expected, _threads.for_bytes(nbytes, _algorithms.COST))
        most = 2 * max(expected, MAX_GROUPS // own)
        tables = Tables(
            *(tests.data, tests.size, tests.rule, tests.unequal, _keys.SEEDS),
            *(most, expected, False, False, own, True),
        )
        if tables.find():
            found = by_table(tables, items, _keys.SEEDS, *outputs)
    if found is None:
        found = by_partitions(tests, items, _keys.SEEDS, expected, *outputs)
    return found[::-1] if turned and found else found


def _algorithm(items, tests, expected, threads):
    """One table for all tests, of which so many are expected to be different, or one for each
    partition."""
    if expected > MAX_GROUPS:
        return "partitions"
    slow = threads > 1 and tests > _plan.SMALL_ITEMS and FILLED_SHARE * expected > items
    return "partitions" if slow else "tables"


def _by_comparison(first, second, wanted):
    """By NumPy's sort, which no keys slow down as they may a hash."""
    if _dtypes.small_foreign(first.dtype):
        first, second = _dtypes.as_float32(first), _dtypes.as_float32(second)
    pairs = ((first, second), wanted.first), ((second, first), wanted.second)
    with np.errstate(invalid="ignore"):  # of a signalling NaN
        return tuple(
            _numpy.isin(*arrays, invert=wanted.invert, kind="sort") if is_wanted else None
            for arrays, is_wanted in pairs
        )
