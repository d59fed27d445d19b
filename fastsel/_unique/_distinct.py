"""unique and the array-API functions: signatures, docstrings, and the steps of a call.

For a small array, one call of a kernel makes all outputs. For other arrays, the items become keys
(_keys), an algorithm (_plan, _algorithms) finds the groups, and _outputs makes values, index,
inverse and counts from the groups. _objects finds the groups of objects and of StringDType.
_numpy_unique calls NumPy for arrays that the kernels do not serve.
"""

from __future__ import annotations

import operator
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastsel._core import _dtypes, _gate, _numpy, _threads, results
from fastsel._positions import bitmask, selected_items
from fastsel._unique import _algorithms, _keys, _numpy_unique, _objects, _plan
from fastsel._unique._groups import Groups, Wanted
from fastsel._unique._outputs import AllOutputs, arrange, outputs
from fastsel._unique._results import UniqueAllResult, UniqueCountsResult, UniqueInverseResult
from fastsel._unique.small_unique import unique_small


def unique(
    ar: ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> NDArray[Any] | tuple[NDArray[Any], ...]:
    """The distinct items, or slices, of an array; equals ``numpy.unique(...)``.

    Parameters
    ----------
    ar : array_like, any shape
        Any dtype; read only, never modified.
    return_index, return_inverse, return_counts : bool, optional
        Also return the index of each value's first occurrence, the indices into the values that
        rebuild `ar`, and how often each value occurs.
    axis : int, optional
        Compare the slices along this axis instead of the items of the flattened array.
    equal_nan : bool, optional
        Count all NaN (NaT) as one value; if False, each is a value of its own. Slices of 2-d and
        larger arrays, and structured items, are never equal if they have a NaN.
    sorted : bool, optional
        False returns the values in order of first occurrence, for every dtype, axis and extra
        output. It also serves objects that cannot be ordered, if they can be hashed.

    Returns
    -------
    values : ndarray of ar's dtype, shape (groups,), or the shape of `ar` with `axis` shortened
        Each value has the bits of its first occurrence: ``values`` is ``ar.ravel()[index]``, or
        ``ar.take(index, axis)``. Exception: sorted complex values with `equal_nan` have the
        smallest NaN in NumPy's order, and `index` has the position of this NaN.
    index : ndarray of intp, shape (groups,)
    inverse : ndarray of intp, shape of `ar`, or (length of the axis,)
    counts : ndarray of intp, shape (groups,)
        `unique` returns only the array of values if no other output is requested, otherwise a tuple
        of the requested outputs in this order.

    Raises
    ------
    AxisError, TypeError
        If `axis` is out of range, is not an integer, or is given for an array of objects or of
        StringDType that is not 1-d.
    TypeError
        If objects, or objects of two of their types, cannot be ordered; with ``sorted=False``, if
        they can be neither ordered nor hashed.

    Notes
    -----
    **Order.** Sorted values are in NumPy's order, NaN and NaT last (in slices of float16, NaN
    first). The result is the same for every number of threads and every seed of the hash.

    **Time.** Expected time is linear in the size of `ar`, plus a sort of the distinct values. Keys
    made to collide cost no more than a small multiple of a sort: the hash is seeded, and if a table
    needs too many probes, the keys are sorted instead. With ``sorted=False``, objects are compared
    by Python's hash and equality, unless all are str or all are bytes: as in a Python set, objects
    with equal hashes, such as multiples of ``2**61 - 1``, are compared with one another.

    **Memory.** Extra memory, for items of 4 or 8 bytes, is up to 2.5 times `ar` (2.75 times with
    the inverse of items of 4 bytes), or 24 MB if that is more, and 20 kB for each thread. Cached
    memory (see `set_keep_mb`) is not included. These inputs need more memory:

    - ascending values that are not native numbers: 28 bytes for each distinct item;
    - items, or slices along `axis`, that are not contiguous, aligned and in native byte order: a
      copy;
    - complex numbers and rows of floats with NaN or negative zero, and long doubles: a copy;
    - rows and strings of 3, 5, 6 or 7 bytes: padding to 4 or 8 bytes.

    **NumPy.** Structured dtypes, and subclasses other than np.memmap, are passed to NumPy. The
    values of a masked array are in NumPy's order, also with ``sorted=False``. With `sorted`,
    objects are passed to NumPy, too, unless all are str or all are bytes.

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
    array = ar if type(ar) is np.ndarray else _gate.base_array(ar)
    wanted = return_index, return_inverse, return_counts
    if array is None:
        array = ar if _gate.overrides(ar) else np.asanyarray(ar)
        if not _is_served(array, sorted):
            return _numpy_unique.as_given(array, Wanted(*wanted), axis, equal_nan, sorted)
    is_array = type(array) is np.ndarray
    if is_array and axis is None and array.size <= _plan.SMALL_ITEMS:
        found = _small(array, wanted, equal_nan, sorted)
        if found is not None:
            return outputs(found, array.shape) if any(wanted) else found[0]
        if sorted and array.size <= _plan.TINY_ITEMS:
            found = _numpy_unique.of_tiny(array, wanted, equal_nan)
            if found is not None:
                _plan.note(*_plan.NUMPY)
                return found
    # A flag without a truth value raises its error here, as it does in the small kernel.
    wanted, equal_nan, sorted = Wanted(*map(bool, wanted)), bool(equal_nan), bool(sorted)
    rows = rows_of(array, axis) if is_array else None
    found = None if rows is None else outputs_of_rows(rows, wanted, equal_nan, sorted)
    if found is None:
        return _numpy_unique.by_numpy(array, wanted, axis, equal_nan, sorted)
    if rows.ndim > 1:
        found = found._replace(values=along(found.values, axis))
    return outputs(found, array.shape if axis is None else (len(rows),))


def unique_all(x: ArrayLike, /) -> UniqueAllResult[Any]:
    """Distinct values, first indices, inverse and counts; equals ``numpy.unique_all(x)``.

    Parameters
    ----------
    x : array_like, any shape
        Read only, never modified.

    Returns
    -------
    UniqueAllResult
        Named tuple (values, indices, inverse_indices, counts), as `unique` returns them. The values
        ascend, and each NaN is a value of its own.

    Notes
    -----
    The notes of `unique` apply. Specification: the Python array API standard.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.unique_all([2, 1, 2]).counts
    array([1, 2])
    """
    if _gate.overrides(x):
        return _gate.library(x).unique_all(x)
    return UniqueAllResult(*unique(x, True, True, True, equal_nan=False))


def unique_counts(x: ArrayLike, /) -> UniqueCountsResult[Any]:
    """Distinct values and counts; equals ``numpy.unique_counts(x)``.

    Parameters
    ----------
    x : array_like, any shape
        Read only, never modified.

    Returns
    -------
    UniqueCountsResult
        Named tuple (values, counts), as `unique` returns them. The values ascend, and each NaN is
        a value of its own.

    Notes
    -----
    The notes of `unique` apply. Specification: the Python array API standard.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.unique_counts([2, 1, 2]).values
    array([1, 2])
    """
    if _gate.overrides(x):
        return _gate.library(x).unique_counts(x)
    return UniqueCountsResult(*unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x: ArrayLike, /) -> UniqueInverseResult[Any]:
    """Distinct values and the inverse; equals ``numpy.unique_inverse(x)``.

    Parameters
    ----------
    x : array_like, any shape
        Read only, never modified.

    Returns
    -------
    UniqueInverseResult
        Named tuple (values, inverse_indices), as `unique` returns them. The values ascend, and each
        NaN is a value of its own; ``values[inverse_indices]`` rebuilds `x`.

    Notes
    -----
    The notes of `unique` apply. Specification: the Python array API standard.

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


def unique_values(x: ArrayLike, /) -> NDArray[Any]:
    """Distinct values in order of first occurrence; the values of ``numpy.unique_values(x)``.

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
    The notes of `unique` apply. Specification: the Python array API standard.

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
    """The flattened items or, with an axis, the array with this axis moved to the front.

    Returns None if NumPy serves the call: if the axis is not an integer in range, or the array is
    empty and an axis is given.
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
    """The values, with their axis 0 moved to the axis of the call."""
    return values if values.ndim == 1 or axis == 0 else np.moveaxis(values, 0, axis)


def outputs_of_rows(rows, wanted, equal_nan, sorted):
    """All outputs for items (1-d) or slices along axis 0; None if NumPy serves the call."""
    if len(rows) == 0:
        return None
    if rows.dtype.kind in "OT":
        if rows.ndim > 1:
            return None
        rows = np.require(rows, requirements="CA")  # with an axis, rows may have any strides
        groups = _objects.groups_of(rows, wanted, equal_nan, sorted)
        return groups and arrange(groups, wanted, sorted)
    if sorted and not any(wanted) and rows.ndim == 1 and not _plan.FORCED.get():
        values = _values_of_mostly_nan(rows, wanted, equal_nan)
        if values is not None:
            return AllOutputs(values, None, None, None)
    keys = _keys.keys_of(rows, equal_nan and rows.ndim == 1)
    if keys is None:
        return None
    all_outputs = arrange(_algorithms.find_groups(keys, rows, wanted, sorted), wanted, sorted)
    if sorted and rows.dtype.kind == "c" and rows.ndim == 1 and equal_nan:
        all_outputs = _with_smallest_nan(all_outputs, rows)
    return all_outputs


def _values_of_mostly_nan(rows, wanted, equal_nan):
    """The ascending values of floats of at least 4 bytes, dates or times, if at least half of a
    sample and half of the array are NaN or NaT; otherwise None. Only the items that are neither NaN
    nor NaT are sorted: a sort takes longer if many keys are equal."""
    if rows.dtype.kind not in "fmM" or rows.itemsize < 4 or not _dtypes.mostly_nan(rows):
        return None
    is_number, threads = ~np.isnan(rows), _threads.for_bytes(rows.nbytes)
    mask = bitmask.pack(is_number, 1, _algorithms.FLAG_BITS, rows.itemsize, threads)
    if 2 * mask.total > rows.size:  # the sample had a greater share of NaN than the array
        return None
    numbers = results.empty((mask.total,), rows.dtype)
    selected_items.compress(rows, 0, 1, mask, numbers, threads)
    nan = rows[int(is_number.argmin()) :][:1] if equal_nan else rows[~is_number]
    number_outputs = outputs_of_rows(numbers, wanted, equal_nan, True)
    values = numbers if number_outputs is None else number_outputs.values
    out = results.empty((len(values) + len(nan),), rows.dtype)
    out[: len(values)], out[len(values) :] = values, nan
    return out


def _small(ar, wanted, equal_nan, sorted):
    """(values, index, inverse, counts) of a small array, with None for outputs that are not wanted.
    Returns None if the kernel does not serve the dtype or gives up, if NumPy takes less time, or if
    an algorithm is forced."""
    rules = _dtypes.key_and_number_rules(ar.dtype, bool(equal_nan))
    only_strings = sorted and rules is not None and rules[1] is None and not any(wanted)
    if _plan.plan_small(ar.size, rules is not None, only_strings) is None:
        return None
    rule, order_map = rules
    entries = 0  # no direct-address table, which does not pay for tiny arrays
    if ar.size > _plan.TINY_ITEMS:
        entries = _plan.max_entries(
            *(ar.size, ar.nbytes, 1),
            first_positions=not sorted or any(wanted) or ar.dtype.kind not in "iumM",
            group_ids=any(wanted[1:]),
            counts=wanted[2],
        )
    result = unique_small(
        ar, rule, order_map, _keys.SEEDS, *wanted, sorted, entries, _plan.SORTED_SHARE
    )
    if result is None or order_map is not None or not sorted:
        return result
    values, index, *extras = result
    return arrange(Groups(values, index, *extras), Wanted(*wanted), True)


def _with_smallest_nan(all_outputs, flat):
    """The outputs of sorted complex numbers, with the smallest NaN in place of the first NaN: NumPy
    returns the smallest one."""
    if not np.isnan(all_outputs.values[-1]):
        return all_outputs
    positions = _numpy.flatnonzero(np.isnan(flat))
    if not len(positions):  # another thread has changed flat
        return all_outputs
    smallest = positions[np.argsort(flat[positions], kind="stable")[0]]
    all_outputs.values[-1] = flat[smallest]
    if all_outputs.index is not None:
        all_outputs.index[-1] = smallest
    return all_outputs


def _is_served(array, sorted):
    """Does fastsel serve this array? It serves a base-class ndarray. If not `sorted`, it also
    serves other subclasses than masked arrays: it puts NumPy's answer into order of first
    occurrence, which would change the mask of a masked array. It serves no array that overrides
    NumPy's functions."""
    if type(array) is np.ndarray:
        return True
    return not (_gate.overrides(array) or isinstance(array, np.ma.MaskedArray) or sorted)
