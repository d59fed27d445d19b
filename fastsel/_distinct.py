"""unique and its array-API kin: signature, docstring, and the roads that arrays take.

Small arrays (_small) need one call of a kernel. The engines (_engines) find the first occurrences
in others, of which _outputs makes values, index, inverse and counts.
"""

from typing import NamedTuple

import numpy as np

from fastsel import _ascending, _engines, _gate, _numpy, _objects, _small, _threads
from fastsel._kernels import indices, items, results
from fastsel._outputs import Found, Wanted, arranged, ordered, outputs

# Up to so many items that no kernel of small arrays takes, such as those of other byte orders,
# NumPy is done before an engine has started.
TINY_ITEMS = 1000


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
    may take. Strided arrays and rows, and rows of floats with NaN or negative zero, are copied once
    more, and short rows and strings padded to 4 or 8 bytes. The result is the same for every number
    of threads and every seed.
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
    if plainest and (values := _small.sorted_values(ar)) is not None:
        return values
    wanted = Wanted(return_index, return_inverse, return_counts)
    if axis is None and (found := _small.find_outputs(ar, wanted, equal_nan, sorted)) is not None:
        return outputs(found, wanted, ar.shape)
    tiny = type(ar) is np.ndarray and ar.size <= TINY_ITEMS
    if tiny and sorted and ar.dtype.kind in ("iu" if axis is not None else "iuSU"):
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
    if rows.ndim > 1 and axis != 0:
        found = found._replace(values=np.moveaxis(found.values, 0, axis))
    return outputs(found, wanted, array.shape if axis is None else (len(rows),))


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


def _rows(array, axis):
    """What is compared, along axis 0: the items, flat, or the slices; None if NumPy has to see it.

    That is: an axis that is not a plain integer in range, and empty slices.
    """
    if axis is None:
        return array.ravel()
    plain = isinstance(axis, int | np.integer) and not isinstance(axis, bool)
    if not plain or not -array.ndim <= axis < array.ndim or array.size == 0:
        return None
    return array if axis == 0 else np.moveaxis(array, axis, 0)


def _of_rows(rows, wanted, equal_nan, sorted):
    """All outputs for items (1-d) or slices along axis 0; None if NumPy has to do it."""
    if len(rows) == 0:
        return None
    if rows.dtype.kind in "OT":
        if rows.ndim > 1:
            return None
        rows = np.require(rows, requirements="CA")  # with an axis it may have come in any strides
        found = _objects.in_order(rows, wanted.inverse)
        if found is not None:
            return ordered(found[:4], wanted, sorted, found[4])
        found = _objects.of_strings(rows, wanted.inverse, equal_nan)
        return found and ordered(found, wanted, sorted)
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
    found = arranged(values, index, firsts.finish, wanted, sorted, firsts.direction)
    if sorted and rows.dtype.kind == "c" and rows.ndim == 1 and equal_nan:
        found = _with_smallest_nan(found, rows)
    return found


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
        return outputs(Found(*found), wanted, np.shape(ar))
    values, index, *extras = found
    if not sorted:
        order = np.argsort(index)
        values = values.take(order, axis=0 if axis is None else axis)
        index = index[order]
        if wanted.inverse:
            extras[0] = np.asarray(_ascending.places(order)[extras[0]])  # of a 0-d array, 0-d
        if wanted.counts:
            extras[-1] = extras[-1][order]
    extras = [index, *extras] if wanted.index else extras
    return (values, *extras) if extras else values


def _add_advice(error, rows, axis):
    """NumPy's error keeps its class and text; below it stands what to do."""
    if axis is not None and not isinstance(axis, int | np.integer):
        error.add_note(f"axis must be an integer or None, got {axis!r}")
    elif axis is None and rows.dtype.kind in "OT":
        error.add_note("sorted=False needs no order: values come in order of first occurrence")
