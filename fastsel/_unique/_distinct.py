"""unique and its array-API kin: signatures, docstrings, and the one way through.

Small arrays need one call of a kernel. Others become keys (_keys), an algorithm (_plan,
_algorithms) finds their groups, and _outputs makes values, index, inverse and counts of these.
"""

import operator

import numpy as np

from fastsel._core import _dtypes, _gate, _numpy
from fastsel._unique import _algorithms, _keys, _numpy_unique, _objects, _plan
from fastsel._unique._groups import Groups, Wanted
from fastsel._unique._outputs import arranged, outputs
from fastsel._unique._results import UniqueAllResult, UniqueCountsResult, UniqueInverseResult
from fastsel._unique.small_unique import unique_small


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
    needs too many probes gives way to sorting; of objects other than all str or all bytes, their
    own hashes decide.
    Extra memory, for items of 4 or 8 bytes, is up to 2.5 times `ar` (2.75 times with the inverse of
    items of 4 bytes), or 24 MB if that is more, and 20 kB for each thread; in ascending order,
    anything but native numbers takes 28 bytes more for each distinct item. Strided arrays and rows,
    and rows of floats with NaN or negative zero, are copied once more, and short rows and strings
    padded to 4 or 8 bytes. What is kept between calls, see `set_keep_mb`, comes on top.
    The result is the same for every number of threads and every seed.
    Order is NumPy's: NaN and NaT last.
    Structured dtypes, subclasses and, if sorted, objects other than all-str or all-bytes arrays go
    to NumPy.

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
    wanted = return_index, return_inverse, return_counts
    is_array = type(ar) is np.ndarray
    if is_array and axis is None and ar.size <= _plan.SMALL_ITEMS:
        found = _small(ar, wanted, equal_nan, sorted)
        if found is not None:
            return outputs(found, ar.shape) if any(wanted) else found[0]
    wanted = Wanted(*wanted)
    tiny = is_array and ar.size <= _plan.TINY_ITEMS
    if tiny and sorted and ar.dtype.kind in ("iu" if axis is not None else "iuSU"):
        return _numpy.unique(ar, *wanted, axis)
    array = _gate.plain(ar)
    if array is None:
        array = ar if _gate.overrides(ar) else np.asanyarray(ar)
        if not _is_ours(array, sorted):
            return _numpy_unique.as_given(array, wanted, axis, equal_nan, sorted)
    sorted = bool(sorted)
    by_numpy = tiny and sorted and axis is None and array.dtype.char in "fd"
    rows = None if by_numpy or type(array) is not np.ndarray else rows_of(array, axis)
    found = None if rows is None else of_rows(rows, wanted, equal_nan, sorted)
    if found is None:
        return _numpy_unique.by_numpy(array, wanted, axis, equal_nan, sorted)
    found = found._replace(values=along(found.values, axis))
    return outputs(found, array.shape if axis is None else (len(rows),))


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


def rows_of(array, axis):
    """What is compared, along axis 0: the items, flat, or the slices; None if NumPy has to see it.

    That is: an axis that is not an integer in range, and empty slices.
    """
    if axis is None:
        return array.ravel()
    try:
        axis = operator.index(axis)
    except TypeError:
        return None
    if not -array.ndim <= axis < array.ndim:
        return None
    if array.size == 0:
        return None
    return array if axis == 0 else np.moveaxis(array, axis, 0)


def along(values, axis):
    """The values, which lie along axis 0, along the axis that was asked for."""
    return values if values.ndim == 1 or axis == 0 else np.moveaxis(values, 0, axis)


def of_rows(rows, wanted, equal_nan, sorted):
    """All outputs for items (1-d) or slices along axis 0; None if NumPy has to do it."""
    if len(rows) == 0:
        return None
    if rows.dtype.kind in "OT":
        if rows.ndim > 1:
            return None
        rows = np.require(rows, requirements="CA")  # with an axis it may have come in any strides
        groups = _objects.groups_of(rows, wanted, equal_nan, sorted)
        return groups and arranged(groups, wanted, sorted)
    keys = _keys.keys_of(rows, bool(equal_nan) and rows.ndim == 1)
    if keys is None:
        return None
    found = arranged(_algorithms.find_groups(keys, rows, wanted, sorted), wanted, sorted)
    if sorted and rows.dtype.kind == "c" and rows.ndim == 1 and equal_nan:
        found = _with_smallest_nan(found, rows)
    return found


def _small(ar, wanted, equal_nan, sorted):
    """(values, index, inverse, counts) of a small array, None for what is not wanted; None for
    dtypes that the kernel does not serve, and for keys that others serve better."""
    rules = _dtypes.small_rules(ar.dtype, bool(equal_nan))
    if rules is None or _plan.FORCED.get():
        return None
    rule, order = rules
    if order is None and sorted and not any(wanted) and ar.size <= _plan.TINY_STRINGS:
        return None
    entries = 0  # of a table, which serves no tiny array better
    if ar.size > _plan.TINY_ITEMS:
        entries = _plan.max_entries(
            *(ar.size, ar.nbytes, 1),
            firsts=not sorted or any(wanted) or ar.dtype.kind not in "iumM",
            numbered=any(wanted[1:]),
            counts=wanted[2],
        )
    found = unique_small(ar, rule, order, _keys.SEEDS, *wanted, sorted, entries, _plan.SORTED_SHARE)
    if found is None or order is not None or not sorted:
        return found
    values, index, *extras = found
    return arranged(Groups(values, index, *extras), Wanted(*wanted), True)


def _with_smallest_nan(found, flat):
    """Sorted complex numbers: NumPy's NaN is the smallest of all, not the first."""
    if not np.isnan(found.values[-1]):
        return found
    positions = _numpy.flatnonzero(np.isnan(flat))
    if not len(positions):  # flat has changed meanwhile
        return found
    smallest = positions[np.argsort(flat[positions], kind="stable")[0]]
    found.values[-1] = flat[smallest]
    if found.index is not None:
        found.index[-1] = smallest
    return found


def _is_ours(array, sorted):
    """Is the answer for this ours to find? It is for an ndarray, and to put NumPy's answer for a
    subclass into order of first occurrence; but for a mask, which would become another one."""
    if type(array) is np.ndarray:
        return True
    return not (_gate.overrides(array) or isinstance(array, np.ma.MaskedArray) or sorted)
