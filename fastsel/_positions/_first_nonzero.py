"""first_nonzero: signature, docstring, axes, objects."""

from __future__ import annotations

import itertools
from typing import Any, Literal, SupportsIndex, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastsel._core import _dtypes, _gate, _numpy, _threads
from fastsel._positions import first_nonzero as kernel
from fastsel._positions._positions import true_items, with_truth

_ROUND_ITEMS = 1 << 12  # items between two checks for signals


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
    """Index of the first non-zero item, of all items or along axes; -1 where all items are zero.

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
        The shape of `a` without the searched axes, unless `keepdims` is True. An index along
        several axes counts their items in C order; with ``axis=None`` it is an index into
        ``a.ravel()``.

    Raises
    ------
    AxisError
        If an axis is out of range.
    TypeError
        If an axis is not an integer, or if the array is a set, a dict or an iterator.
    ValueError
        If an axis is given twice.

    Notes
    -----
    **Zero.** As in `nonzero`, -0.0 and empty strings are zero, NaN and NaT are not.

    **Time and memory.** The search ends soon after the first non-zero item: on several threads, up
    to 128 MiB of later items are read. Dtypes with a kernel need neither a copy nor a bitmask.
    Items of other dtypes, such as objects and StringDType, first become booleans if the search is
    along some of the axes. If the search is along all axes, or without `axis`, an array of another
    dtype is copied if it cannot be flattened as a view; object arrays are never copied.

    **Threads.** The result is the same for every number of threads.

    **Objects.** ``bool`` is called on the objects up to the first true object; along some of the
    axes, it is called on all objects.

    **Subclasses** are treated as base-class arrays (a masked array without its mask).

    **NumPy.** NumPy has no such function: ``numpy.argmax(a != 0)`` compares all items first, and
    returns 0 if all are zero.

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
    if axis is None and keepdims is False and (index := kernel.first_nonzero(a)) is not None:
        return index
    if type(a) is not np.ndarray and not _gate.is_numpy(library := _gate.library(a)):
        return library.first_nonzero(a, **_gate.non_defaults(axis=axis, keepdims=keepdims))
    array = _gate.as_array("a", a)
    axes = checked_axes(axis, array.ndim)
    if len(axes) == array.ndim and _dtypes.truth(array.dtype) is None:
        index = np.array(_first_object(array))
    else:
        array, truth = with_truth(array)
        remaining = [k for k in range(array.ndim) if k not in axes]
        threads = _threads.for_bytes(array.nbytes)
        index = kernel.find(
            *(array.transpose(*remaining, *sorted(axes)), len(remaining), *truth),
            *(2 * _threads.MIN_CHUNK_BYTES, threads),
        ).reshape([array.shape[k] for k in remaining])
    if keepdims:
        return np.expand_dims(index, axes)
    return index if index.ndim else index[()]


def checked_axes(axis, ndim):
    """The axes, counted from 0. Wrong axes raise the errors of NumPy's count_nonzero, but integers
    that do not fit a C int raise AxisError."""
    axes = _gate.axes(axis, ndim)
    if axes is None:
        for k in axis if isinstance(axis, tuple) else (axis,):
            if isinstance(k, int | np.integer) and not isinstance(k, bool):
                _gate.checked_axis(k, ndim)
        _numpy.count_nonzero(np.zeros((1,) * ndim, bool), axis)
        axes = np.lib.array_utils.normalize_axis_tuple(axis, ndim)
    return axes


def _first_object(array):
    """The flat index of the first item that is true by NumPy's rules, for a dtype without a Truth
    (_dtypes); -1 if no item is true."""
    is_object = array.dtype.char == "O"
    flat = array.flat if is_object else array.reshape(-1)  # slices of `flat` lose StringDType items
    for start in range(0, array.size, _ROUND_ITEMS):
        items = flat[start : start + _ROUND_ITEMS]
        if not is_object:
            items = true_items(items)
        for index in itertools.compress(itertools.count(start), items.tolist()):
            return index
    return -1
