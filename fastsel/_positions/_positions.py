"""nonzero, flatnonzero, argwhere, count_nonzero.

Each function chooses between a kernel, an adapter and the NumPy function, which also raises NumPy's
errors. One call of a kernel serves an array of any size: a first pass makes the bitmask, and a
second pass writes the indices; counts need no bitmask.
"""

from __future__ import annotations

import math
from typing import Any, Literal, SupportsIndex, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from fastsel._core import _dtypes, _gate, _numpy, _threads, results
from fastsel._core._typing import Flat, Index
from fastsel._positions import axis_counts, bitmask, coordinates

_INTP = np.dtype(np.intp)


@overload
def nonzero(a: ArrayLike, *, dtype: None = None) -> tuple[Flat[np.intp], ...]: ...
@overload
def nonzero(a: ArrayLike, *, dtype: type[Index] | np.dtype[Index]) -> tuple[Flat[Index], ...]: ...
@overload
def nonzero(a: ArrayLike, *, dtype: DTypeLike) -> tuple[Flat[np.integer[Any]], ...]: ...
def nonzero(a: ArrayLike, *, dtype: DTypeLike | None = None) -> Any:
    """Indices of the non-zero items, one array per axis; equals ``numpy.nonzero(a)``.

    Parameters
    ----------
    a : array_like, shape (n, m, ...)
        Any dtype, at least 1-d; read only, never modified.
    dtype : dtype, optional
        An integer dtype for the indices; intp by default.

    Returns
    -------
    tuple of ndarray of `dtype`, each of shape (number of non-zero items,)
        Coordinates along each axis; the items come in C order for any layout of `a`.

    Raises
    ------
    ValueError
        If `a` is 0-d (with NumPy 2.0, this is a warning).
    TypeError
        If `dtype` is not an integer dtype.
    OverflowError
        If an axis is so long that an index may not fit `dtype`, before anything is allocated.

    Notes
    -----
    **Zero.** As in NumPy, -0.0 and empty strings are zero, NaN and NaT are not.

    **Time and memory.** `a` is read once, into a bitmask of an eighth of a byte per item. The
    result is written from the bitmask. Indices of 4 and 8 bytes in native byte order are written
    directly; for another `dtype`, native indices of 4 or 8 bytes are written and then converted.

    **Threads.** The result is the same for every number of threads. If another thread writes to `a`
    while a kernel reads it, no index is out of range or out of order.

    **NumPy.** Object and StringDType arrays, and subclasses other than memmap, are passed to NumPy.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.nonzero([[3, 0, 0], [0, 4, 0], [5, 6, 0]])
    (array([0, 1, 2, 2]), array([0, 1, 0, 1]))
    >>> fastsel.nonzero([0.0, -0.0])
    (array([], dtype=int64),)
    >>> fastsel.nonzero([[0, 1], [1, 0]], dtype="int32")
    (array([0, 1], dtype=int32), array([1, 0], dtype=int32))
    """
    if dtype is not None:
        return _nonzero_as("nonzero", a, dtype)
    array = a if type(a) is np.ndarray else _gate.base_array(a)
    if array is None:
        return _gate.library(a).nonzero(a)
    if array.ndim == 1:
        index = coordinates.flatnonzero(array)
        return array.nonzero() if index is None else (index,)
    rows = coordinates.nonzero(array)
    return array.nonzero() if rows is None else coordinates.split_rows(rows)


@overload
def flatnonzero(a: ArrayLike, *, dtype: None = None) -> Flat[np.intp]: ...
@overload
def flatnonzero(a: ArrayLike, *, dtype: type[Index] | np.dtype[Index]) -> Flat[Index]: ...
@overload
def flatnonzero(a: ArrayLike, *, dtype: DTypeLike) -> Flat[np.integer[Any]]: ...
def flatnonzero(a: ArrayLike, *, dtype: DTypeLike | None = None) -> Any:
    """Indices of the non-zero items of the flattened array; equals ``numpy.flatnonzero(a)``.

    Parameters
    ----------
    a : array_like, any shape
        Any dtype; read only, never modified.
    dtype : dtype, optional
        An integer dtype for the indices; intp by default.

    Returns
    -------
    ndarray of `dtype`, shape (number of non-zero items,)
        Ascending indices into ``a.ravel()`` (C order).

    Raises
    ------
    TypeError
        If `dtype` is not an integer dtype.
    OverflowError
        If `a` is so long that an index may not fit `dtype`, before anything is allocated.

    Notes
    -----
    The notes of `nonzero` apply. A strided or transposed array of more than 500 items is read in
    place, without a flat copy.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.flatnonzero([[0, 7], [8, 0]])
    array([1, 2])
    """
    if dtype is not None:
        return _nonzero_as("flatnonzero", a, dtype)
    if (index := coordinates.flatnonzero(a)) is not None:
        return index
    array = _gate.base_array(a)
    if array is None or array is a:
        return _gate.library(a).flatnonzero(a)
    return flatnonzero(array)


@overload
def argwhere(
    a: ArrayLike, *, dtype: None = None
) -> np.ndarray[tuple[int, int], np.dtype[np.intp]]: ...
@overload
def argwhere(
    a: ArrayLike, *, dtype: type[Index] | np.dtype[Index]
) -> np.ndarray[tuple[int, int], np.dtype[Index]]: ...
@overload
def argwhere(
    a: ArrayLike, *, dtype: DTypeLike
) -> np.ndarray[tuple[int, int], np.dtype[np.integer[Any]]]: ...
def argwhere(a: ArrayLike, *, dtype: DTypeLike | None = None) -> Any:
    """Indices of the non-zero items, one row per item; equals ``numpy.argwhere(a)``.

    Parameters
    ----------
    a : array_like, any shape
        Any dtype; read only, never modified.
    dtype : dtype, optional
        An integer dtype for the indices; intp by default.

    Returns
    -------
    ndarray of `dtype`, shape (number of non-zero items, a.ndim)
        The rows of the items come in C order. Like NumPy's result, the array is F-contiguous.

    Raises
    ------
    TypeError
        If `dtype` is not an integer dtype.
    OverflowError
        If an axis is so long that an index may not fit `dtype`, before anything is allocated.

    Notes
    -----
    The notes of `nonzero` apply. A 0-d array gives shape (1, 0) or (0, 0).

    Examples
    --------
    >>> import fastsel
    >>> fastsel.argwhere([[3, 0], [0, 4]])
    array([[0, 0],
           [1, 1]])
    """
    if dtype is not None:
        return _nonzero_as("argwhere", a, dtype)
    array = _gate.base_array(a)
    rows = coordinates.nonzero(array)
    return _gate.library(a).argwhere(a) if rows is None else rows.T


@overload
def count_nonzero(
    a: ArrayLike, axis: None = None, *, keepdims: Literal[False] = False
) -> np.intp: ...
@overload
def count_nonzero(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    *,
    keepdims: Literal[True],
) -> NDArray[np.intp]: ...
@overload
def count_nonzero(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    *,
    keepdims: bool = False,
) -> Any: ...
def count_nonzero(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    *,
    keepdims: bool = False,
) -> Any:
    """Number of non-zero items, in the array or along axes; equals ``numpy.count_nonzero(...)``.

    Parameters
    ----------
    a : array_like, any shape
        Any dtype; read only, never modified.
    axis : int or tuple of int, optional
        Axes to count along; None counts all items.
    keepdims : bool, optional
        Keep the counted axes, with length 1.

    Returns
    -------
    intp scalar, or ndarray of intp
        The shape of `a` without the counted axes, unless `keepdims` is True.

    Raises
    ------
    AxisError
        If an axis is out of range.
    TypeError
        If an axis is not an integer, or if `axis` is given, or `keepdims` is True, for a structured
        dtype with several fields.
    ValueError
        If an axis is given twice.

    Notes
    -----
    `a` is read once, without the boolean copy that NumPy makes for `axis`. If a counted axis is
    divided into chunks, each chunk has separate counts, which are added at the end. Objects and
    StringDType are passed to NumPy, and with `axis` also structured dtypes and subclasses other
    than memmap. Without `axis`, the items of a masked array are counted without its mask.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.count_nonzero([[0, 1, 7], [3, 0, 0]], axis=1)
    array([2, 1])
    >>> int(fastsel.count_nonzero([0.0, -0.0, float("nan")]))
    1
    """
    if axis is None and keepdims is False and (count := bitmask.count_nonzero(a)) is not None:
        return count
    array = _gate.base_array(a)
    if array is None or type(keepdims) is not bool:
        arguments = _gate.non_defaults(axis=axis, keepdims=keepdims)
        library = _gate.library(a)
        count = library.count_nonzero(a, **arguments)
        return _as_intp(count) if library is _numpy else count
    if axis is None and not keepdims and array is not a:
        return count_nonzero(array)
    if (truth := _dtypes.truth(array.dtype)) is None:
        return _as_intp(_numpy.count_nonzero(array, axis, keepdims=keepdims))
    axes = _gate.axes(axis, array.ndim)
    if axes is None or array.ndim == 0 or array.dtype.fields is not None:
        return _as_intp(_numpy.count_nonzero(a, axis=axis, keepdims=keepdims))
    if len(axes) == array.ndim:
        total = bitmask.count_nonzero(array)
        return np.full((1,) * array.ndim, total) if keepdims else total
    counts = axis_counts.count(array, *truth, axes, _threads.for_bytes(array.nbytes))
    if keepdims:
        counts = counts.reshape([1 if k in axes else n for k, n in enumerate(array.shape)])
    return counts


def find_coordinates(array, truth, dtype=_INTP, flat=False):
    """The coordinates of the non-zero items, of shape (ndim, count); if `flat`, their flat indices,
    of shape (1, count). The caller has checked that the indices fit dtype."""
    shape = (array.size,) if flat else array.shape
    # The kernel writes native indices of 4 or 8 bytes.
    native = dtype.newbyteorder("=") if dtype.itemsize >= 4 else np.dtype(np.uint32)
    threads = _threads.for_bytes(array.nbytes)
    mask = bitmask.pack(array, *truth, native.itemsize * len(shape), threads)
    out = results.empty((len(shape), mask.total), native)
    coordinates.write(mask, shape, out.T, threads)
    return out if native == dtype else out.astype(dtype)


def check_indices_fit(shape, dtype):
    """Raise an OverflowError if an index along an axis of this shape may not fit the dtype."""
    max_index = int(np.iinfo(dtype).max)
    for length in shape:
        if length - 1 > max_index:
            raise OverflowError(
                f"a has a length of {length}, whose indices may not fit dtype {dtype.name}: "
                f"its greatest number is {max_index}"
            )


def _nonzero_as(name, a, dtype):
    """The result of nonzero, flatnonzero or argwhere, as `name` says, with indices of `dtype`."""
    dtype = _gate.index_dtype(dtype)
    library = _gate.library(a)
    if not _gate.is_numpy(library):
        return getattr(library, name)(a, dtype=dtype)
    array = _gate.base_array(a)
    flat = name == "flatnonzero"
    shape = np.shape(a) if array is None else array.shape
    check_indices_fit((math.prod(shape),) if flat else shape, dtype)
    truth = None if array is None or array.ndim == 0 else _dtypes.truth(array.dtype)
    if truth is None or _gate.tiny(array):
        result = getattr(library, name)(a)
        if name == "nonzero":
            return tuple(index.astype(dtype) for index in result)
        return result.astype(dtype)
    result = find_coordinates(array, truth, dtype, flat)
    return tuple(result) if name == "nonzero" else result[0] if flat else result.T


def with_truth(array):
    """The array and its Truth (_dtypes); for a dtype without a Truth, these of its true_items."""
    if (truth := _dtypes.truth(array.dtype)) is not None:
        return array, truth
    return true_items(array), _dtypes.truth(np.dtype(bool))


def true_items(array):
    """Which items are true by NumPy's rules: a bool array, for dtypes without a Truth (_dtypes)."""
    true = np.zeros(array.shape, bool)
    if array.ndim:
        true[array.nonzero()] = True
    else:
        true[...] = bool(array)
    return true


def _as_intp(count):
    """NumPy's count as intp. Before NumPy 2.3, the count of a whole array is an int."""
    return np.intp(count) if type(count) is int else count
