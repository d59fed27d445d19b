"""nonzero, flatnonzero, argwhere, count_nonzero, first_nonzero.

Each function checks whether a kernel may serve the call (_gate), and otherwise calls the NumPy
function, which also raises NumPy's errors. Then a first pass makes the bitmask, and a second one
writes the result.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, Literal, SupportsIndex, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastsel._core import _dtypes, _gate, _numpy, _threads, results
from fastsel._core._typing import Flat
from fastsel._positions import (
    axis_counts,
    bitmask,
    coordinates,
    first_items,
    indices,
    small_positions,
)

_INTP = np.dtype(np.intp)
_POSITION = _INTP.itemsize
_SEARCHED_OBJECTS = 1 << 12  # between these, signals are handled


def nonzero(a: ArrayLike) -> tuple[Flat[np.intp], ...]:
    """Indices of the non-zero items, one array per axis; equals ``numpy.nonzero(a)``.

    Parameters
    ----------
    a : array_like, shape (n, m, ...)
        Any dtype, at least 1-d; read only, never modified.

    Returns
    -------
    tuple of ndarray of intp, each of shape (number of non-zero items,)
        Coordinate along each axis, items in C order of their index, whatever the layout of `a`.

    Raises
    ------
    ValueError
        If `a` is 0-d.

    Notes
    -----
    Zero is what NumPy calls zero: -0.0 and empty strings are, NaN and NaT are not.
    `a` is read once, into a bitmask of an eighth of a byte per item, the only temporary. The result
    is written from the bitmask alone. So another thread's writes to `a` during the call cannot
    yield an index that is out of range or out of order. The result is the same for every number
    of threads. Object and StringDType arrays, and subclasses with a `nonzero` of their own, go to
    NumPy.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.nonzero([[3, 0, 0], [0, 4, 0], [5, 6, 0]])
    (array([0, 1, 2, 2]), array([0, 1, 0, 1]))
    >>> fastsel.nonzero([0.0, -0.0])
    (array([], dtype=int64),)
    """
    if type(a) is np.ndarray and a.ndim == 1:
        index = small_positions.flatnonzero(a, _gate.SMALL_ITEMS)
        if index is not None:
            return (index,)
    array = _gate.plain(a)
    if array is None:
        return _gate.library(a).nonzero(a)
    if _gate.tiny(array) or array.ndim == 0 or (truth := _dtypes.truth(array.dtype)) is None:
        return array.nonzero()
    return tuple(find_coordinates(array, truth))


def flatnonzero(a: ArrayLike) -> Flat[np.intp]:
    """Indices of the non-zero items of the flattened array; equals ``numpy.flatnonzero(a)``.

    Parameters
    ----------
    a : array_like, any shape
        Any dtype; read only, never modified.

    Returns
    -------
    ndarray of intp, shape (number of non-zero items,)
        Ascending indices into ``a.ravel()`` (C order).

    Notes
    -----
    As `nonzero`; a strided or transposed array is read in place, without a flat copy.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.flatnonzero([[0, 7], [8, 0]])
    array([1, 2])
    """
    if (index := small_positions.flatnonzero(a, _gate.SMALL_ITEMS)) is not None:
        return index
    array = _gate.plain(a)
    if array is None:
        return _gate.library(a).flatnonzero(a)
    if _gate.tiny(array) or (truth := _dtypes.truth(array.dtype)) is None:
        return array.ravel().nonzero()[0]
    threads = _threads.for_bytes(array.nbytes)
    return indices.flat(bitmask.pack(array, *truth, _POSITION, threads), threads)


def argwhere(a: ArrayLike) -> np.ndarray[tuple[int, int], np.dtype[np.intp]]:
    """Indices of the non-zero items, one row per item; equals ``numpy.argwhere(a)``.

    Parameters
    ----------
    a : array_like, any shape
        Any dtype; read only, never modified.

    Returns
    -------
    ndarray of intp, shape (number of non-zero items, a.ndim)
        Rows in C order of their index. As NumPy's, the array is F-contiguous.

    Notes
    -----
    As `nonzero`. A 0-d array gives shape (1, 0) or (0, 0).

    Examples
    --------
    >>> import fastsel
    >>> fastsel.argwhere([[3, 0], [0, 4]])
    array([[0, 0],
           [1, 1]])
    """
    array = _gate.plain(a)
    if array is None or array.ndim == 0:
        return _gate.library(a).argwhere(a)
    if _gate.tiny(array) or (truth := _dtypes.truth(array.dtype)) is None:
        return np.array(array.nonzero()).T
    return find_coordinates(array, truth).T


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
    """Number of non-zero items, in all or along axes; equals ``numpy.count_nonzero(...)``.

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
        The shape of `a` without the axes that were counted along.

    Raises
    ------
    AxisError
        If an axis is out of range.
    TypeError
        If an axis is not an integer, or if `axis` is given for a structured dtype.

    Notes
    -----
    One pass over `a`, without the boolean copy that NumPy makes for `axis`. Along the longest axis,
    each part of it that a thread takes at a time has counts of its own, which are added in the end.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.count_nonzero([[0, 1, 7], [3, 0, 0]], axis=1)
    array([2, 1])
    >>> int(fastsel.count_nonzero([0.0, -0.0, float("nan")]))
    1
    """
    if (
        axis is None
        and keepdims is False
        and (count := small_positions.count_nonzero(a, _gate.SMALL_ITEMS)) is not None
    ):
        return count
    array = _gate.plain(a)
    if array is None or type(keepdims) is not bool:
        arguments = _gate.given(axis=axis, keepdims=keepdims)
        return _as_intp(_gate.library(a).count_nonzero(a, **arguments))
    if _gate.tiny(array) or (truth := _dtypes.truth(array.dtype)) is None:
        return _as_intp(_numpy.count_nonzero(array, axis, keepdims=keepdims))
    if axis is None and not keepdims:
        return np.intp(bitmask.count(array, *truth, _threads.for_bytes(array.nbytes)))
    axes = _gate.axes(axis, array.ndim)
    if axes is None or array.ndim == 0 or array.dtype.fields is not None:
        return _as_intp(_numpy.count_nonzero(a, axis=axis, keepdims=keepdims))
    return _count_along(array, truth, axes, keepdims)


@overload
def first_nonzero(
    a: ArrayLike, axis: None = None, *, keepdims: Literal[False] = False
) -> np.intp: ...
@overload
def first_nonzero(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    *,
    keepdims: Literal[True],
) -> NDArray[np.intp]: ...
@overload
def first_nonzero(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    *,
    keepdims: bool = False,
) -> Any: ...
def first_nonzero(
    a: ArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    *,
    keepdims: bool = False,
) -> Any:
    """Index of the first non-zero item, of all or along axes; -1 where there is none.

    Parameters
    ----------
    a : array_like, any shape
        Any dtype; read only, never modified.
    axis : int or tuple of int, optional
        Axes to search along; None searches the flattened array.
    keepdims : bool, optional
        Keep the searched axes, with length 1.

    Returns
    -------
    intp scalar, or ndarray of intp
        The shape of `a` without the axes that were searched along. An index along several axes
        counts their items in C order; with ``axis=None`` it is an index into ``a.ravel()``.

    Raises
    ------
    AxisError
        If an axis is out of range.
    TypeError
        If an axis is not an integer.
    ValueError
        If an axis is given twice.

    Notes
    -----
    Zero is what `nonzero` calls zero. Items are looked at in C order, and none that lies far behind
    the first non-zero one: the time is that of reading the items before it. No copy is made, no
    bitmask, and the result is the same for every number of threads. Objects are asked for their
    truth one by one, up to the first that is true; along axes, each of them is asked. Subclasses
    are taken as plain arrays (a masked array without its mask). NumPy has no such function:
    ``numpy.argmax(a != 0)`` compares all items first, and returns 0 if none is non-zero.

    Examples
    --------
    >>> import fastsel
    >>> int(fastsel.first_nonzero([0, 0, 7, 0, 5]))
    2
    >>> fastsel.first_nonzero([[0, 1, 7], [0, 0, 3], [0, 0, 0]], axis=1)
    array([ 1,  2, -1])
    >>> int(fastsel.first_nonzero([]))
    -1
    """
    if (
        axis is None
        and keepdims is False
        and (index := small_positions.first_nonzero(a, _gate.SMALL_ITEMS)) is not None
    ):
        return index
    if type(a) is not np.ndarray and not _gate.is_numpy(library := _gate.library(a)):
        return library.first_nonzero(a, **_gate.given(axis=axis, keepdims=keepdims))
    array = _gate.as_array("a", a)
    axes = checked_axes(axis, array.ndim)
    truth = _dtypes.truth(array.dtype)
    if truth is None and len(axes) == array.ndim:
        found = np.array(_first_object(array))
    else:
        if truth is None:
            array = true_items(array)
            truth = _dtypes.truth(array.dtype)
        kept = [k for k in range(array.ndim) if k not in axes]
        threads = _threads.for_bytes(array.nbytes)
        found = first_items.find(
            *(array.transpose(*kept, *sorted(axes)), len(kept), *truth),
            *(2 * _threads.MIN_CHUNK_BYTES, threads),
        ).reshape([array.shape[k] for k in kept])
    if keepdims:
        return np.expand_dims(found, axes)
    return found if found.ndim else found[()]


def find_coordinates(array, truth):
    """(ndim, count) intp: one contiguous row per axis."""
    threads = _threads.for_bytes(array.nbytes)
    mask = bitmask.pack(array, *truth, _POSITION * array.ndim, threads)
    out = results.empty((array.ndim, mask.total), _INTP)
    coordinates.write(mask, array.shape, out.T, threads)
    return out


def true_items(array):
    """The truth of each item by NumPy's rules, for a dtype that has no rule of ours."""
    true = np.zeros(array.shape, bool)
    if array.ndim:
        true[array.nonzero()] = True
    else:
        true[...] = bool(array)
    return true


def checked_axes(axis, ndim):
    """The axes, counted from 0; errors are those of NumPy's count_nonzero."""
    axes = _gate.axes(axis, ndim)
    if axes is None:
        _numpy.count_nonzero(np.zeros((1,) * ndim, bool), axis)
        axes = np.lib.array_utils.normalize_axis_tuple(axis, ndim)
    return axes


def _first_object(array):
    """The flat index of the first item that is true, of a dtype whose truth is NumPy's to tell."""
    is_object = array.dtype.char == "O"
    flat = array.flat if is_object else array.reshape(-1)  # `flat` has no slices of StringDType
    for start in range(0, array.size, _SEARCHED_OBJECTS):
        items = flat[start : start + _SEARCHED_OBJECTS]
        if not is_object:
            items = true_items(items)
        for index in itertools.compress(itertools.count(start), items.tolist()):
            return index
    return -1


def _as_intp(count):
    """NumPy's count as intp; before NumPy 2.3 the count of a whole array is an int."""
    return np.intp(count) if type(count) is int else count


def _count_along(array, truth, axes, keepdims):
    """Counts along axes, in an array with the memory order of the input, as NumPy's sums have."""
    order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
    kept = [axis for axis in order if axis not in axes]
    if not kept:
        total = np.intp(bitmask.count(array, *truth, _threads.for_bytes(array.nbytes)))
        return np.full((1,) * array.ndim, total) if keepdims else total
    shape = [array.shape[axis] for axis in kept]
    steps = np.zeros(array.ndim, np.intp)
    step = 1
    for axis in reversed(kept):
        steps[order.index(axis)] = step
        step *= array.shape[axis]
    counts = axis_counts.count(
        array, *truth, np.array(order, np.intp), steps, math.prod(shape),
        _threads.for_bytes(array.nbytes),
    )  # fmt: skip
    counts = counts.reshape(shape).transpose(np.argsort(kept))
    return np.expand_dims(counts, tuple(axes)) if keepdims else counts
