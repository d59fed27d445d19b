"""unique and its array-API kin: signature, docstring, and how the outputs are put together.

The engines (_engines) find the first occurrences; here they become values, index, inverse and
counts, in order of first occurrence or sorted.
"""

from typing import NamedTuple

import numpy as np

from fastsel import _ascending, _engines, _gate, _numpy, _objects, _threads
from fastsel._kernels import few, indices, items, pairs, results, smallsort, texts

# Up to so many integers NumPy has sorted them before an engine has started, and where its sorts are
# fast up to so many numbers, before an engine has ended: 1e4 distinct int64 take 29 us, and by an
# engine 77 (`compare.py --op unique_sorted --size 1e4 --groups n`; 0 here and as FEW_BYTES for the
# engine).
TINY_ITEMS = 1000
SORTED_ITEMS = 1 << 15 if _ascending.SORT_SPEED else TINY_ITEMS

# Up to so many integers of a narrow range, one table under the GIL is done before an engine has
# started: 1e5 int64 of 1e3 values in 40 us and 64 (`compare.py --op unique_sorted --size 1e5
# --distribution narrow`).
PLACED_ITEMS = 1 << 17

# Up to so many bytes, which one thread serves, all outputs in order of first occurrence come from
# one call: 100 int64 of 100 groups take 1.8 us and by an engine 9.7, 1e4 of 1e3 18 and 27, with all
# outputs sorted 48 and 72 (`compare.py --op unique_first unique_all --size 100 1e4`; 0 here for the
# engines). If they are to be sorted, it gives up where more than MOST_DISTINCT of the first 256 are
# distinct: to sort all is faster then, with all outputs from 1e4 int64 of 5e3 groups on. Values
# alone are sorted at once from fewer groups on, which smallsort.unique sees, and up to FEW_ITEMS at
# any number (with fast sorts).
FEW_BYTES = 1 << 17

# Values and index of more bytes than these, but not of more than so many, come from the same call
# if the items are in order, bytes, or of few words: 1e5 int32 of 2 groups take 20 us so, by an
# engine 62, and 1e6 uint8 69 and 380 (`compare.py --op unique_first --size 1e5 1e6 --dtype uint8
# int32 --groups 2 25`; FEW_BYTES here for the engines).
MOST_FEW_BYTES = 1 << 20

MOST_DISTINCT = 248

# And where the groups are of uneven size, which the first 256 do not show, it gives up at one group
# for so many items: 1e4 int32 of 700 values take 18 us so, and sorted as they are 18, int64 of
# 1.2e3 30 (`compare.py --op unique_sorted --size 1e4 --distribution zipf`, with 1 here).
MOST_WORDS_SHARE = {1: 1, 2: 1, 4: 16, 8: 8}

# From so many items on, up to SORTED_ITEMS, what is hardly ever repeated is sorted for the order
# of first occurrence, too: 1e4 distinct int32 take 20 us so, and hashed 37 (`compare.py --op
# unique_first --size 1e3 1e4 --groups n`; more than SORTED_ITEMS here to hash them).
FIRSTS_ITEMS = 1 << 9 if _ascending.SORT_SPEED else SORTED_ITEMS + 1

# Up to so many items, all outputs in ascending order come from a sort of items beside their
# positions: 1e3 int64 of 1e3 groups take 11 us so, and hashed 25, of 25 10 and 10, 3e3 of 25 29 and
# 18. (Where that takes no bits from them, half of it; where the index alone is wanted, hashing is
# faster.)
PAIRED_ITEMS = 1 << 11 if _ascending.SORT_SPEED else 1 << 7
PAIRED_ALONE = {1: 0, 2: PAIRED_ITEMS, 4: PAIRED_ITEMS, 8: PAIRED_ITEMS // 4}

# And up to so many items, by their width, where more than one in PAIRED_SHARE is distinct: 1e4
# int32 of 6e4 values take 59 us so, and by an engine 78, 3e4 275 and 225, 3e4 int16 109 and 800
# (`compare.py --op unique_all --size 1e3 3e3 1e4 3e4`, with 0 for both).
MOST_PAIRED = {1: 0, 2: 1 << 16, 4: 1 << 14, 8: 0}
if not _ascending.SORT_SPEED:
    MOST_PAIRED = dict.fromkeys(MOST_PAIRED, 0)
PAIRED_SHARE = 8

FEW_ITEMS = 1 << 13 if _ascending.SORT_SPEED else TINY_ITEMS


class UniqueAllResult(NamedTuple):
    """What `unique_all` returns."""

    values: np.ndarray
    indices: np.ndarray
    inverse_indices: np.ndarray
    counts: np.ndarray


class UniqueCountsResult(NamedTuple):
    """What `unique_counts` returns."""

    values: np.ndarray
    counts: np.ndarray


class UniqueInverseResult(NamedTuple):
    """What `unique_inverse` returns."""

    values: np.ndarray
    inverse_indices: np.ndarray


class Wanted(NamedTuple):
    """The outputs beside the values."""

    index: bool
    inverse: bool
    counts: bool


def unique(
    ar,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    *,
    equal_nan=True,
    sorted=True,
):
    """The distinct items, or slices, of an array; equals ``numpy.unique(...)``.

    Parameters
    ----------
    ar : array_like, any shape
        Any dtype; read only, never modified.
    return_index, return_inverse, return_counts : bool, optional
        Also return the index of each value's first occurrence, the values' numbers that rebuild
        `ar`, and how often each value occurs.
    axis : int, optional
        Compare the slices along this axis instead of the items of the flattened array.
    equal_nan : bool, optional
        Count all NaN (NaT) as one value. Slices and structured items with NaN are never equal.
    sorted : bool, optional
        False returns the values in order of first occurrence, for every dtype, axis and extra
        output, and takes objects that cannot be ordered, as long as they can be hashed.

    Returns
    -------
    values : ndarray of ar's dtype, shape (groups,), or that of `ar` with `axis` shortened
        Of equal items, the first one's bits: ``values`` is ``ar.ravel()[index]``.
    index : ndarray of intp, shape (groups,)
    inverse : ndarray of intp, shape of `ar`, or (length of the axis,)
    counts : ndarray of intp, shape (groups,)
        One array if only the values are asked for, otherwise a tuple in this order.

    Raises
    ------
    AxisError, TypeError
        If `axis` is out of range or not an integer, or given for an object dtype.
    TypeError
        If objects cannot be ordered (sorted) or neither ordered nor hashed.

    Notes
    -----
    Expected time is linear in the size of `ar`, plus a sort of the distinct values. Keys made to
    collide cannot slow it beyond a small multiple of a sort: the hash is seeded, and a table that
    needs too many probes gives way to sorting; of objects, Python's own hashes decide.
    Extra memory, for items of 4 or 8 bytes, is up to 2.7 times `ar`, or 24 MB if that is more; at
    most 24 MB are kept for the next call, and the last two blocks of 32 to 128 MB, which the system
    may take. Strided arrays and rows are copied once more, and short rows and strings padded to 4
    or 8 bytes. The result is the same for every number of threads and every seed.
    Order is NumPy's: NaN and NaT last.
    Objects other than all-str or all-bytes arrays, StringDType, structured dtypes and subclasses
    go to NumPy.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.unique([3, 1, 3, 2])
    array([1, 2, 3])
    >>> fastsel.unique([3, 1, 3, 2], sorted=False)
    array([3, 1, 2])
    >>> fastsel.unique([[1, 0], [2, 5], [1, 0]], axis=0, return_counts=True)
    (array([[1, 0],
           [2, 5]]), array([2, 1]))
    >>> fastsel.unique([])
    array([], dtype=float64)
    """
    plainest = sorted and axis is None and not (return_index or return_inverse or return_counts)
    if (
        plainest
        and (values := smallsort.unique(ar, SORTED_ITEMS, PLACED_ITEMS, FEW_ITEMS)) is not None
    ):
        return values
    wanted = Wanted(return_index, return_inverse, return_counts)
    if axis is None and (found := _of_few(ar, wanted, equal_nan, sorted)) is not None:
        return _outputs(found, wanted, ar.shape)
    if plainest and (values := smallsort.unique(ar, SORTED_ITEMS, 0, SORTED_ITEMS)) is not None:
        return values
    tiny = type(ar) is np.ndarray and ar.size <= TINY_ITEMS
    if tiny and sorted and ar.dtype.kind in "iu":
        return _numpy.unique(ar, *wanted, axis)
    if _gate.overrides(ar):
        return _by_override(ar, wanted, axis, equal_nan, sorted)
    array = _gate.plain(ar)
    if array is None or (tiny and sorted and axis is None and array.dtype.char in "fd"):
        return _by_numpy(ar, wanted, axis, equal_nan, sorted)
    rows = _rows(array, axis)
    found = None if rows is None else _of_rows(rows, wanted, equal_nan, sorted)
    if found is None:
        return _by_numpy(array, wanted, axis, equal_nan, sorted)
    if axis is not None:
        found = found._replace(values=np.moveaxis(found.values, 0, axis))
    return _outputs(found, wanted, array.shape if axis is None else (len(rows),))


def unique_all(x, /):
    """Distinct values, first indices, inverse and counts; equals ``numpy.unique_all(x)``.

    Parameters
    ----------
    x : array_like, any shape
        Read only, never modified.

    Returns
    -------
    UniqueAllResult
        Named tuple (values, indices, inverse_indices, counts) as from `unique`, sorted, each NaN
        a value of its own.

    Notes
    -----
    As `unique`. Specification: the Python array API standard.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.unique_all([2, 1, 2]).counts
    array([1, 2])
    """
    if _gate.overrides(x):
        return _gate.library(x).unique_all(x)
    return UniqueAllResult(*unique(x, True, True, True, equal_nan=False))


def unique_counts(x, /):
    """Distinct values and counts; equals ``numpy.unique_counts(x)``.

    Parameters
    ----------
    x : array_like, any shape
        Read only, never modified.

    Returns
    -------
    UniqueCountsResult
        Named tuple (values, counts) as from `unique`, sorted, each NaN a value of its own.

    Notes
    -----
    As `unique`. Specification: the Python array API standard.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.unique_counts([2, 1, 2]).values
    array([1, 2])
    """
    if _gate.overrides(x):
        return _gate.library(x).unique_counts(x)
    return UniqueCountsResult(*unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x, /):
    """Distinct values and the inverse; equals ``numpy.unique_inverse(x)``.

    Parameters
    ----------
    x : array_like, any shape
        Read only, never modified.

    Returns
    -------
    UniqueInverseResult
        Named tuple (values, inverse_indices) as from `unique`, sorted, each NaN a value of its
        own; ``values[inverse_indices]`` rebuilds `x`.

    Notes
    -----
    As `unique`. Specification: the Python array API standard.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.unique_inverse([[2, 1], [2, 2]]).inverse_indices
    array([[1, 0],
           [1, 1]])
    """
    if _gate.overrides(x):
        return _gate.library(x).unique_inverse(x)
    return UniqueInverseResult(*unique(x, return_inverse=True, equal_nan=False))


def unique_values(x, /):
    """Distinct values in order of first occurrence; ``numpy.unique_values(x)`` in any order.

    Parameters
    ----------
    x : array_like, any shape
        Read only, never modified.

    Returns
    -------
    ndarray of x's dtype, shape (groups,)
        Each NaN is a value of its own. NumPy's order is unspecified.

    Notes
    -----
    As `unique`. Specification: the Python array API standard.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.unique_values([2, 1, 2])
    array([2, 1])
    """
    if _gate.overrides(x):
        return _gate.library(x).unique_values(x)
    return unique(x, equal_nan=False, sorted=False)


class Found(NamedTuple):
    """All four outputs, None where not wanted; the inverse is flat."""

    values: np.ndarray
    index: np.ndarray | None
    inverse: np.ndarray | None
    counts: np.ndarray | None


def _outputs(found, wanted, inverse_shape):
    """What the caller gets of them."""
    extras = []
    if wanted.index:
        extras.append(found.index)
    if wanted.inverse:
        extras.append(found.inverse.reshape(inverse_shape))
    if wanted.counts:
        extras.append(found.counts)
    return (found.values, *extras) if extras else found.values


def _of_few(ar, wanted, equal_nan, sorted):
    """All outputs for a small array; None for others."""
    if type(ar) is not np.ndarray or _engines.FORCE_ENGINE is not None:
        return None
    rule = _gate.word_rule(ar.dtype, bool(equal_nan))
    if rule is None:
        return None
    order = _gate.number_rule(ar.dtype)
    noted, size, width = wanted.inverse or wanted.counts, ar.size, ar.itemsize
    in_pairs = sorted and (noted or wanted.index)
    if in_pairs and size <= (PAIRED_ITEMS if noted else PAIRED_ALONE[width]):
        found = pairs.unique(ar, rule, order, *wanted)
        if found is not None:
            return Found(*found)
    elif not (sorted or noted) and FIRSTS_ITEMS <= size <= SORTED_ITEMS:
        found = smallsort.firsts(ar, wanted.index, _engines.SEEDS[1] >> 32 | 0x80000001)
        if found is not None:
            return Found(*found, None, None)
    most_distinct, most_words = 256, size
    if sorted and size > _engines.SORTED_KEYS:
        if in_pairs or width > 2:
            most_distinct = MOST_DISTINCT
        if _ascending.SORT_SPEED and not in_pairs:
            most_words = size // MOST_WORDS_SHARE[width]
        elif size <= MOST_PAIRED[width]:
            most_words = size // PAIRED_SHARE
    found = few.firsts_of_few(
        *(ar, FEW_BYTES, MOST_FEW_BYTES, _engines.FEW_PLACES, rule, order if width >= 4 else None),
        *(_engines.SEEDS, *wanted, most_distinct, most_words),
    )
    if found is not None:
        return _ordered(found[:4], wanted, sorted, found[4])
    if in_pairs and size <= MOST_PAIRED[width]:
        found = pairs.unique(ar, rule, order, *wanted)
    return found and Found(*found)


def _rows(array, axis):
    """What is compared, along axis 0: the items, flat, or the slices; None if NumPy has to see it.

    That is: an axis that is not a plain integer in range, and empty slices.
    """
    if axis is None:
        return array.ravel()
    plain = isinstance(axis, int | np.integer) and not isinstance(axis, bool)
    if not plain or not -array.ndim <= axis < array.ndim or array.size == 0:
        return None
    return np.moveaxis(array, axis, 0)


def _of_rows(rows, wanted, equal_nan, sorted):
    """All outputs for items (1-d) or slices along axis 0; None if NumPy has to do it."""
    if len(rows) == 0:
        return None
    if rows.dtype.kind in "OT":
        if rows.ndim > 1:
            return None
        found = _objects.in_order(rows, wanted.inverse)
        if found is not None:
            return _ordered(found[:4], wanted, sorted, found[4])
        found = _objects.of_strings(rows, wanted.inverse, equal_nan)
        return found and _ordered(found, wanted, sorted)
    keys = _engines.keys_of(rows, bool(equal_nan) and rows.ndim == 1)
    if keys is None:
        return None
    firsts = _engines.in_order(keys, wanted.inverse)
    expected = None
    if firsts is None and sorted:
        values = None if any(wanted) else _engines.ascending_places(keys, rows)
        if values is not None:
            return Found(values, None, None, None)
        expected = _engines.expected_groups(keys, sorted)
        found = _engines.by_sorting_first(keys, wanted, expected)
        if found is not None:
            words, *extras = found
            return Found(_ascending.items_of(words, rows, extras[0]), *extras)
    if firsts is None:
        firsts = _engines.in_places(keys, wanted.inverse, wanted.counts)
    if firsts is None:
        firsts = _engines.first_occurrences(keys, wanted.inverse, wanted.counts, expected)
    values, index = _gathered(rows, firsts, wanted.index)
    found = _arranged(values, index, firsts.finish, wanted, sorted, firsts.direction)
    if sorted and rows.dtype.kind == "c" and rows.ndim == 1 and equal_nan:
        found = _with_smallest_nan(found, rows)
    return found


def _ordered(found, wanted, sorted, direction=0):
    """All outputs, of those in order of first occurrence."""
    values, index, inverse, counts = found
    finish = _engines.finished(inverse, counts)
    return _arranged(values, index, finish, wanted, sorted, direction)


def _arranged(values, index, finish, wanted, sorted, direction):
    """The same from values and index in order of first occurrence, what Firsts finish with, and
    whether the values ascend (1) or descend (-1)."""
    order = places = inverse = counts = None
    if sorted and direction < 0:
        order = slice(None, None, -1)
        places = np.arange(len(values) - 1, -1, -1) if wanted.inverse else None
    elif sorted and direction == 0:
        ascending = None if any(wanted) else _ascending.sort(values)
        if ascending is not None:
            values = ascending
        else:
            order, places = _ascending.argsort(values, wanted.inverse)
    if wanted.inverse or wanted.counts:
        inverse, counts = finish(places)
    if order is not None:
        values = _in_order(values, order)
        index = _in_order(index, order) if wanted.index else None
        counts = _in_order(counts, order) if wanted.counts else None
    return Found(values, index, inverse, counts)


def _in_order(output, order):
    """An output in the order of the values; order is indices or a slice."""
    if output.dtype.kind == "O" and not isinstance(order, slice):
        return texts.moved_into_order(output, order)
    return np.ascontiguousarray(output[order])


def _gathered(rows, firsts, with_index):
    """Values and index in order of first occurrence."""
    threads = _threads.for_bytes(rows.nbytes)
    index = None
    if with_index or not _gate.movable(rows.dtype):
        index = indices.flat(firsts.bits, firsts.offsets, threads)
    if not _gate.movable(rows.dtype):
        return rows[index], index
    values = results.empty((int(firsts.offsets[-1]), *rows.shape[1:]), rows.dtype)
    items.keep(rows, 0, 1, firsts.bits, firsts.offsets, values, threads)
    return values, index


def _with_smallest_nan(found, flat):
    """Sorted complex numbers: NumPy's NaN is the smallest of all, not the first."""
    if not np.isnan(found.values[-1]):
        return found
    places = _numpy.flatnonzero(np.isnan(flat))
    if not len(places):  # flat has changed meanwhile
        return found
    smallest = places[np.argsort(flat[places], kind="stable")[0]]
    found.values[-1] = flat[smallest]
    if found.index is not None:
        found.index[-1] = smallest
    return found


def _by_override(ar, wanted, axis, equal_nan, sorted):
    """The answer of an array class that answers NumPy's functions itself."""
    names = ("return_index", "return_inverse", "return_counts")
    arguments = _gate.given(**dict(zip(names, wanted, strict=True)), axis=axis)
    if not equal_nan:
        arguments["equal_nan"] = equal_nan
    if not sorted:
        arguments["sorted"] = sorted
    return _gate.library(ar).unique(ar, **arguments)


def _by_numpy(ar, wanted, axis, equal_nan, sorted):
    """NumPy's answer, put into order of first occurrence if that is wanted.

    With the index NumPy sorts stably, so that the first of equal items stands for them.
    """
    try:
        found = _numpy.unique(ar, True, *wanted[1:], axis=axis, equal_nan=equal_nan)
    except (TypeError, ValueError) as error:  # objects without an order, missing strings
        rows = np.asanyarray(ar).ravel()
        if sorted or axis is not None or rows.dtype.kind not in "OT":
            _add_advice(error, rows, axis)
            raise
        found = _objects.first_occurrences(rows, wanted.inverse, equal_nan)
        if found is None:
            raise
        return _outputs(Found(*found), wanted, np.shape(ar))
    values, index, *extras = found
    if not sorted:
        order = np.argsort(index)
        values = values.take(order, axis=0 if axis is None else axis)
        index = index[order]
        if wanted.inverse:
            extras[0] = np.asarray(_ascending.places(order)[extras[0]])  # of a 0-d array, 0-d
        if wanted.counts:
            extras[-1] = extras[-1][order]
    outputs = [index, *extras] if wanted.index else extras
    return (values, *outputs) if outputs else values


def _add_advice(error, rows, axis):
    """NumPy's error keeps its class and text; below it stands what to do."""
    if axis is not None and not isinstance(axis, int | np.integer):
        error.add_note(f"axis must be an integer or None, got {axis!r}")
    elif axis is None and rows.dtype.kind in "OT":
        error.add_note("sorted=False needs no order: values come in order of first occurrence")
