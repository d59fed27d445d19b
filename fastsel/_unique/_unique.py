"""unique and the array-API functions: signatures, docstrings, and the steps of a call.

The items, or slices, become keys (_keys); an algorithm of the plan finds the groups of equal keys
(_plan, _algorithms, _objects); and the outputs are put into the order that is requested (_outputs).
Few keys take the same steps in one call (small_arrays.pyx). _numpy_unique calls NumPy for arrays
that the kernels do not serve.
"""

from __future__ import annotations

import operator
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from fastsel._core import _gate, _numpy
from fastsel._unique import _keys, _numpy_unique, _objects, _plan
from fastsel._unique._algorithms import find_groups
from fastsel._unique._outputs import as_result, outputs_of
from fastsel._unique._results import UniqueAllResult, UniqueCountsResult, UniqueInverseResult
from fastsel._unique.groups import Request
from fastsel._unique.small_arrays import unique_of_few


def unique(
    ar: ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
    inverse_dtype: DTypeLike | None = None,
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
    inverse_dtype : dtype, optional
        An integer dtype for the inverse; intp by default. Other outputs do not depend on it.

    Returns
    -------
    values : ndarray of ar's dtype, shape (groups,), or the shape of `ar` with `axis` shortened
        Each value has the bits of its first occurrence: ``values`` is ``ar.ravel()[index]``, or
        ``ar.take(index, axis)``. Exception: sorted complex values with `equal_nan` have the
        smallest NaN in NumPy's order, and `index` has the position of this NaN.
    index : ndarray of intp, shape (groups,)
    inverse : ndarray of `inverse_dtype`, shape of `ar`, or (length of the axis,)
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
        they can be neither ordered nor hashed; or if `inverse_dtype` is not an integer dtype.
    OverflowError
        If there are more values than `inverse_dtype` can count.
    ValueError
        If `ar` has missing strings without an order (None in StringDType), and `sorted` is True.

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
    - rows and strings of 3, 5, 6 or 7 bytes: padding to 4 or 8 bytes;
    - an inverse that is converted to `inverse_dtype` at the end: 8 bytes for each item.

    An inverse of integers and rounded floats that lie in a narrow range is written in native
    integers of 4 bytes at once, so that ``inverse_dtype="int32"`` halves its memory. For other
    inputs, and other dtypes, an inverse of intp is converted at the end.

    **NumPy.** Structured dtypes, and subclasses other than np.memmap, are passed to NumPy. The
    values of a masked array are in NumPy's order, also with ``sorted=False``. With `sorted`,
    objects are passed to NumPy, too, unless all are str, all are bytes, or up to 500 are all int.

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
    >>> fastsel.unique([[7, 9], [9, 9]], return_inverse=True, inverse_dtype="int32")
    (array([7, 9]), array([[0, 1],
           [1, 1]], dtype=int32))
    >>> fastsel.unique([])
    array([], dtype=float64)
    """
    array = ar if type(ar) is np.ndarray else _gate.base_array(ar)
    if inverse_dtype is not None:
        inverse_dtype = _gate.index_dtype(inverse_dtype, "inverse_dtype")
    request = Request(
        *(return_index, return_inverse, return_counts, sorted, equal_nan),
        inverse_dtype=inverse_dtype,
    )
    is_array = type(array) is np.ndarray
    is_few = (
        is_array
        and axis is None
        and array.size > 0
        and _plan.needs_no_sample(array.size, array.nbytes, request.ascending, request)
    )
    if is_few and inverse_dtype is None and not _plan.FORCED.get():
        rule = _keys.loaded_rule(array.dtype, request.equal_nan)
        if rule is not None:
            result = unique_of_few(array, rule, _keys.SEEDS, request, _plan.watcher)
            if result is not None:
                return result
    if array is None:
        array = ar if _gate.overrides(ar) else np.asanyarray(ar)
        if not _is_served(array, request):
            return _numpy_unique.as_given(array, request, axis)
        is_array = type(array) is np.ndarray
    if is_few and array.size <= _plan.MAX_FOR_NUMPY and sorted and not _plan.FORCED.get():
        found = _numpy_unique.of_tiny(array, request)
        if found is not None:
            _plan.note(*_plan.NUMPY)
            return _numpy_unique.in_inverse_dtype(found, request)
    rows = rows_of(array, axis) if is_array else None
    outputs = None if rows is None else outputs_of_rows(rows, request)
    if outputs is None:
        result = _numpy_unique.by_numpy(array, request, axis)
        return _numpy_unique.in_inverse_dtype(result, request)
    if rows.ndim > 1:
        outputs = along(outputs[0], axis), *outputs[1:]
    return as_result(outputs, array.shape if axis is None else (len(rows),))


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
        return array if array.ndim == 1 else array.ravel()
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


def outputs_of_rows(rows, request):
    """The outputs (_outputs.outputs_of) for items (1-d) or slices along axis 0; None if NumPy
    serves the call."""
    if rows.ndim > 1 and rows.dtype.itemsize == 0:  # slices without bytes are equal
        _, *others = outputs_of_rows(np.zeros(len(rows), np.uint8), request)
        return rows[:1].copy(), *others
    keys = None
    if rows.ndim == 1 and rows.dtype.kind in "OT":
        rows = _objects.own_items(rows)
    elif rows.size:
        keys = _keys.keys_of(rows, request.equal_nan and rows.ndim == 1)
        if keys is None:
            return None
    groups = find_groups(keys, rows, request)
    if groups is None:
        return None
    values, *others = outputs_of(groups, request)
    ours, dtype = values.dtype, rows.dtype
    as_is = ours == dtype and ours.metadata == dtype.metadata
    outputs = (values if as_is else values.astype(dtype), *others)
    if dtype.kind == "c" and rows.ndim == 1 and request.ascending and request.equal_nan:
        _put_smallest_nan(outputs, rows, request)
    return outputs


def _put_smallest_nan(outputs, flat, request):
    """Put the smallest NaN in place of the first NaN of sorted complex numbers: NumPy returns the
    smallest one."""
    if not len(flat) or not np.isnan(outputs[0][-1]):
        return
    positions = _numpy.flatnonzero(np.isnan(flat))
    if not len(positions):  # another thread has changed flat
        return
    smallest = positions[np.argsort(flat[positions], kind="stable")[0]]
    outputs[0][-1] = flat[smallest]
    if request.index:
        outputs[1][-1] = smallest


def _is_served(array, request):
    """Does fastsel serve this array? It serves a base-class ndarray. For the order of first
    occurrence, it also serves other subclasses than masked arrays: it puts NumPy's answer into this
    order, which would change the mask of a masked array. It serves no array that overrides NumPy's
    functions."""
    if type(array) is np.ndarray:
        return True
    is_masked = isinstance(array, np.ma.MaskedArray)
    return not (_gate.overrides(array) or is_masked or request.ascending)
