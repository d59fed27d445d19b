"""Which items of each of two arrays are in the other array: dtypes, and the choice of an
algorithm."""

import itertools

import numpy as np

from fastsel._core import _dtypes, _numpy, _threads
from fastsel._positions._positions import flatnonzero
from fastsel._selection._selection import boolean_mask
from fastsel._sets import few_tests
from fastsel._sets.table_lookup import masks_by_partitions, masks_by_table, masks_of_few
from fastsel._sets.window_lookup import look_up_in_window
from fastsel._unique import _keys, _objects, _plan
from fastsel._unique._unique import unique
from fastsel._unique.decimals import integers_of, table_threads
from fastsel._unique.groups import CACHE_BYTES, COST, GROUP_BYTES, Request, Search
from fastsel._unique.tables import Tables
from fastsel._unique.window import WindowTable

# A hash table of MAX_GROUPS groups fits the cache.
MAX_GROUPS = CACHE_BYTES // GROUP_BYTES

# A call of a kernel that hashes keys, or returns positions, numbers the keys with 32 bits, and 0 is
# no key. Larger arrays are divided into pieces of MAX_KEYS items.
MAX_KEYS = (1 << 32) - 2

# Unless tests are repeated many times, one thread fills their table. With fewer than FILLED_SHARE
# items for each distinct test, this takes longer than scattering both arrays on several threads.
FILLED_SHARE = 4

# One thread hashes up to FEW_ITEMS items and tests at once, without a sample. The limit is half of
# FEW_ITEMS for integers and dates, and a quarter for items of 1 or 2 bytes: a sample finds a window
# for all items of 1 or 2 bytes, and for many integers and dates. One thread also fills the table of
# up to FEW_ITEMS tests.
FEW_ITEMS = 1 << 14

# To sample the tests takes long beside the lookup if there are MANY_TESTS for each item. Then the
# items are sampled first: if they are far apart, no window of the tests is tried.
MANY_TESTS = 16

# If the tests are few, NumPy compares all items with one test after the other. Hashing an object or
# a long double takes about the time of MIN_HASHED comparisons.
MIN_HASHED = 8

# Types for which a set finds the objects that ``==`` finds, except NaN: the results of ``==`` are
# bool, and equal objects have equal hashes. A tuple is compared by its items. The types of
# _VALUE_MODULES are among them (dates and times, Decimal, Fraction, UUID), and some of pandas.
# pandas' offsets are not: Hour(1) equals Minute(60).
_HASHED_BY_VALUE = {bool, bytes, complex, float, int, str, type(None), tuple}
_VALUE_MODULES = {"datetime", "decimal", "fractions", "uuid"}
_PANDAS_TYPES = {"Interval", "NaTType", "Period", "Timedelta", "Timestamp"}


# Types of which all objects have one order. NumPy's sort raises an error for other objects, or not,
# depending on their positions.
_ORDERED_TYPES = {str}, {bytes}, {bool, float, int}


def numpy_is_faster(first, second):
    """Does NumPy's isin take less time? It does for a few complex numbers or long doubles, and for
    many long doubles if the tests are few."""
    has_few_tests = first.dtype.kind == "f" and second.size < MIN_HASHED
    return are_without_words(first, second) and (
        has_few_tests or first.size + second.size <= _plan.MAX_FOR_NUMPY
    )


def are_without_words(first, second):
    """Are these complex numbers or long doubles of one dtype? Their keys are no words."""
    dtype = first.dtype
    return (
        dtype.kind in "fc"
        and (dtype.kind != "f" or dtype.itemsize > 8)
        and dtype.isbuiltin != 2
        and dtype == second.dtype
        and dtype.isnative
        and not _plan.FORCED.get()
    )


def numpy_finds_values(first, second):
    """Do NumPy's set functions take less time, and is the result the same? For a few items without
    words, if no bits of the result depend on which of equal items it has."""
    return (
        first.size + second.size <= _plan.MAX_FOR_NUMPY
        and are_without_words(first, second)
        and _keys.have_one_form(first)
        and _keys.have_one_form(second)
    )


def are_hashed_at_once(items, tests):
    """Are these words so few (FEW_ITEMS) that one thread hashes them without a sample?"""
    dtype = items.dtype
    share = 4 if dtype.itemsize <= 2 else 2 if dtype.kind in "iumM" else 1
    return share * (len(items) + len(tests)) <= FEW_ITEMS


def fewer_to_convert(items, tests):
    """(tests, positions): the distinct tests, and the position of the first test that equals each,
    if the tests have to repeat and a conversion to the dtype of the items would widen them, which
    would take up to eight times their memory. Otherwise, the tests and None."""
    width = tests.dtype.itemsize
    if (
        width < 4
        and width < items.dtype.itemsize
        and tests.ndim == 1
        and len(tests) > 1 << 8 * width
        and tests.dtype.kind in "biuf"
    ):
        return unique(tests, return_index=True)
    return tests, None


def converted(array, other):
    """(items, mask): `other` in the dtype of `array`, and which items of `other`, or slices along
    axis 0, this dtype can hold; the mask is None if it can hold all. Returns None if NumPy decides
    which items are equal."""
    to, dtype = array.dtype, other.dtype
    if to == dtype:
        return other, None
    if not compares_exactly(to, dtype) or (dtype.kind == "c" and to.kind != "c"):
        return None
    if np.can_cast(dtype, to, "safe"):
        return _dtypes.cast(other, to), None
    # The dtype can hold an item if its conversion keeps the value.
    with np.errstate(all="ignore"):
        cast = other.astype(to)
        if to.kind in "iu" and dtype.kind in "iu":
            same = (cast.astype(dtype) == other) & ((cast < 0) == (other < 0))
        else:
            common = np.result_type(to, dtype)
            same = cast.astype(common) == other.astype(common)
    same = same.all(axis=tuple(range(1, same.ndim)))  # the items of a slice
    return cast, None if same.all() else same


def compares_exactly(one, other):
    """Are the items of two dtypes equal if, and only if, they are the same numbers, times or
    strings? The answer is no if NumPy converts large integers to floats, or has its own rules for
    the two dtypes."""
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


def are_strings(one, other):
    """Have two dtypes a common StringDType?"""
    kinds = one.kind + other.kind
    if "T" not in kinds or not set(kinds) <= {"T", "U"}:
        return False
    try:
        np.result_type(one, other)
    except TypeError:  # different objects stand for missing strings
        return False
    return True


def are_ordered(*arrays):
    """Do all objects, or strings of StringDType, of the arrays have one order? True for other
    dtypes."""
    types = set()
    for array in arrays:
        if array.dtype.kind == "O":
            types.update(map(type, array.tolist()))
        elif array.dtype.kind == "T":
            missing = getattr(array.dtype, "na_object", "")
            is_ordered = isinstance(missing, str) or _objects.differs_from_itself(
                missing, if_it_raises=True
            )
            if not is_ordered and any(item is missing for item in array.tolist()):
                return False
    return not types or any(types <= ordered for ordered in _ORDERED_TYPES)


def masks(first, second, both, invert):
    """(which items of `first` are in `second`, which items of `second` are in `first`), as bool
    arrays. Unless `both`, the second mask may be None. With `invert`, True marks items that are not
    in the other array. NaN never matches.

    Both arrays are of one dtype, and are 1-d, or have slices along axis 0. Returns None for 1-d
    arrays if NumPy decides which of their items are equal.
    """
    if not first.dtype.isnative and first.size + second.size <= FEW_ITEMS:
        first, second = map(_dtypes.native, (first, second))
    if first.dtype.kind == "T":  # NumPy's comparisons of some versions stop at a NUL
        few = first.size + second.size <= _plan.UNSAMPLED_ITEMS
        if few and not hasattr(first.dtype, "na_object"):
            return _masks_of_strings(first, second, invert)
        strings = np.concatenate((first, second))
        inverse = unique(strings, return_inverse=True, equal_nan=False, sorted=False)[1]
        return masks(inverse[: len(first)], inverse[len(first) :], both, invert)
    are_items, forced = first.ndim == 1, _plan.FORCED.get()
    if first.size == 0 or second.size == 0:
        if are_items and not _has_keys(first.dtype):
            return None
        are_equal = len(first) > 0 and len(second) > 0  # slices without items are equal
        make = np.ones if are_equal != invert else np.zeros
        return make(len(first), bool), make(len(second), bool)
    rule = _keys.loaded_rule(first.dtype, False) if are_items else None
    compared = are_items and not (both or forced)
    if compared and rule and few_tests.are_few(second, words=True):
        threads = _threads.for_bytes(first.nbytes * len(second))
        return few_tests.among_few(first, second, rule, invert, threads), None
    if rule and not forced and are_hashed_at_once(first, second):
        result = masks_of_few(first, second, rule, _keys.SEEDS, True, both, invert)
        if result is not None:
            return result
    if compared and few_tests.are_few(second) and (tests := _comparable_bytes(second)):
        threads = _threads.for_bytes(first.nbytes * len(second))
        return few_tests.among_few_by_bytes(first, *tests, invert, threads), None
    if are_items and (_dtypes.mostly_nan(first) or _dtypes.mostly_nan(second)):
        return _masks_without_nan(first, second, both, invert)
    keys, result = (_keys.keys_of(first, False), _keys.keys_of(second, False)), None
    if keys[0] is not None and forced in (None, "dense"):
        result = _by_windows(*keys, both, invert)
    if keys[0] is not None and result is None and max(len(first), len(second)) > MAX_KEYS:
        return _by_pieces(first, second, both, invert)
    if keys[0] is not None and result is None and forced in (None, "tables", "partitions"):
        result = _by_hash(*keys, both, invert, forced)
    if result is not None:
        return result
    if are_items:
        return None if keys[0] is None else _by_comparison(first, second, both, invert)
    inverse = unique(np.concatenate((first, second)), return_inverse=True, axis=0)[1]
    return masks(inverse[: len(first)], inverse[len(first) :], both, invert)


def _masks_of_strings(first, second, invert):
    """The masks of a few strings, of which none is missing, by Python's hash."""
    lists = first.tolist(), second.tolist()
    sets = map(set, reversed(lists))
    return tuple(
        np.fromiter((item in others for item in items), bool, len(items)) ^ invert
        for items, others in zip(lists, sets, strict=True)
    )


def _comparable_bytes(tests):
    """(tests, masks) for `among_few_by_bytes`; None for dtypes whose items cannot be compared by
    their bytes. NaN and NaT, which equal no item, are left out, and the masks leave out the sign of
    zero."""
    dtype = tests.dtype
    rule = _dtypes.key_rule(dtype.newbyteorder("=")) if _dtypes.movable(dtype) else None
    if rule is None or dtype.kind == "b" or rule.kind in (_dtypes.EXTENDED, _dtypes.QUAD):
        return None
    if rule.kind != _dtypes.RAW:
        with np.errstate(invalid="ignore"):  # signalling NaN would warn
            tests = tests[tests == tests]
    tests = np.ascontiguousarray(tests)
    masks = np.full((len(tests), dtype.itemsize), 0xFF, np.uint8)
    if dtype.kind in "fc":
        parts = tests.view(np.dtype(f"{dtype.byteorder}f{rule.width}"))
        bits_of_zero = np.array([-0.0], parts.dtype).view(np.uint8)
        masks.reshape(-1, rule.width)[parts == 0] = ~bits_of_zero
    return tests.view(np.uint8).reshape(masks.shape) & masks, masks


def are_hashed_by_value(*lists):
    """Do hash and equality of these Python objects agree with NumPy's ``==``, if each of them has a
    hash?"""
    objects = [*itertools.chain(*lists)]
    while objects:
        types = {*map(type, objects)}
        if not all(map(_is_hashed_by_value, types)):
            return False
        nested = objects if tuple in types else ()
        objects = [item for items in nested if type(items) is tuple for item in items]
    return True


def _is_hashed_by_value(kind):
    module = kind.__module__.partition(".")[0]
    is_of_pandas = module == "pandas" and kind.__name__ in _PANDAS_TYPES
    return kind in _HASHED_BY_VALUE or module in _VALUE_MODULES or is_of_pandas


def among_objects(items, tests, invert):
    """Which Python objects are among the tests, by Python's hash; None if NumPy's ``==`` may give
    another result, or takes less time."""
    if tests.size < MIN_HASHED:
        return None
    items, tests = items.tolist(), tests.tolist()
    if not are_hashed_by_value(items, tests):
        return None
    try:
        test_set = {test for test in tests if test == test}
        return np.fromiter((item in test_set for item in items), bool, len(items)) ^ invert
    except TypeError:  # an object has no hash
        return None


def _masks_without_nan(first, second, both, invert):
    """The masks, computed without the items that are NaN: they never match, and looking them up
    takes time."""
    arrays = first, second
    numbers = [~np.isnan(items) for items in arrays]
    number_masks = masks(*map(boolean_mask, arrays, numbers), both, invert)
    result = []
    for is_number, mask in zip(numbers, number_masks, strict=True):
        if mask is not None:
            mask, number_mask = np.full(is_number.size, invert), mask
            mask[flatnonzero(is_number)] = number_mask  # faster than NumPy's boolean mask
        result.append(mask)
    return tuple(result)


def _has_keys(dtype):
    return _dtypes.small_foreign(dtype) or _dtypes.key_rule(dtype.newbyteorder("=")) is not None


def _by_windows(first, second, both, invert):
    """The masks for words of which nearly all are in a window. Returns None for other keys."""
    mask = by_window(first, second, None, invert)
    other = by_window(second, first, None, invert) if both and mask is not None else None
    return None if mask is None or (both and other is None) else (mask, other)


def by_window(items, tests, output, invert):
    """The result of look_up_in_window; None if the keys are not numbers of one word, or if no
    window of the tests pays."""
    if not (items.is_ordered and items.is_word):
        return None
    has_nan, tests = tests.has_unequal_nan, tests.if_nan_were_equal()
    positions, size = output is not None, items.size + tests.size
    threads = _threads.for_bytes(size * items.width)
    search = Search(tests, tests.data, Request(index=positions), threads, threads)
    limit = _plan.max_entries(
        *(size, size * items.width, threads),
        first_positions=positions,
        group_ids=positions,
        decimals=search.scale > 0,
    )
    if items.size * MANY_TESTS < tests.size:
        few = items.if_nan_were_equal()
        if _plan.fitting_window(Search(few, few.data, Request(), 1, 1), limit) is None:
            return None
    window = _plan.fitting_window(search, limit)
    if window is None:
        return None
    if search.scale:
        tests = integers_of(tests, search.scale, False, threads)
        if tests is None:
            return None
        # Items that are no decimals equal no test: they become NaN, and NaN equals nothing.
        items, has_nan = integers_of(items, search.scale, True, threads), True
        threads = table_threads(size, window, threads)
    table = WindowTable(tests, window, positions, 0, threads)
    return look_up_in_window(items, table, limit, has_nan, output, invert)


def pieces(size):
    """Slices of at most MAX_KEYS positions."""
    return [slice(start, start + MAX_KEYS) for start in range(0, size, MAX_KEYS)]


def _by_pieces(first, second, both, invert):
    """The masks, from the masks of each piece of `first` and each piece of `second`."""
    found = np.zeros(len(first), bool), np.zeros(len(second), bool)
    for pair in itertools.product(pieces(len(first)), pieces(len(second))):
        piece_masks = masks(first[pair[0]], second[pair[1]], both, False)
        for is_found, piece, mask in zip(found, pair, piece_masks, strict=True):
            if mask is not None:
                is_found[piece] |= mask
    return tuple(is_found ^ invert for is_found in found)


def _by_hash(first, second, both, invert, forced):
    """The masks by hash tables of the smaller array's keys; None if adding or looking up keys takes
    too many probes."""
    swapped = first.size < second.size
    items, tests = (second, first) if swapped else (first, second)
    of_items, of_tests = (both, True) if swapped else (True, both)
    algorithm, search, expected = hash_plan(items, tests, Request(lookups=items.size), forced)
    outputs = of_items, of_tests, invert, search.threads
    result = None
    if algorithm == "tables":
        tables = Tables(search)
        if tables.find():
            result = masks_by_table(tables, items, *outputs)
    if result is None:
        result = masks_by_partitions(tests, items, expected, *outputs)
    return result[::-1] if swapped and result else result


def hash_plan(items, tests, request, forced):
    """(algorithm, search, expected) for hash tables of the tests, in which items are looked up. The
    algorithm is "tables" or "partitions", or `forced`. `expected` is an estimate of the number of
    distinct tests."""
    nbytes = (items.size + tests.size) * items.width
    threads = _threads.for_bytes(nbytes, COST)
    search = Search(tests, tests.data, request, threads, threads)
    expected = tests.size
    if tests.size > _plan.UNSAMPLED_ITEMS:
        # NaN never match: NaN with the same key count as one test.
        expected = Search(tests.if_nan_were_equal(), tests.data, request, 1, 1).expected
    search.expect(expected)
    slow = threads > 1 and tests.size > FEW_ITEMS and FILLED_SHARE * expected > items.size
    algorithm = "partitions" if expected > MAX_GROUPS or slow else "tables"
    return forced or algorithm, search, expected


def _by_comparison(first, second, both, invert):
    """The masks by NumPy's sort, which no choice of keys makes slow."""
    first, second = map(_dtypes.without_small_foreign, (first, second))
    if first.dtype.kind == "c":  # NumPy's sort misplaces NaN of foreign byte order
        first, second = _dtypes.native(first), _dtypes.native(second)
    with np.errstate(invalid="ignore"):  # signalling NaN would warn
        mask = _numpy.isin(first, second, invert=invert, kind="sort")
        other = _numpy.isin(second, first, invert=invert, kind="sort") if both else None
    return mask, other
