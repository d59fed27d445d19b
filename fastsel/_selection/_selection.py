"""compress, extract, boolean_mask.

Each function chooses between a kernel, an adapter and NumPy, which also raises NumPy's errors. One
call of a kernel serves arrays of any size: a first pass makes the bitmask of the mask, and a second
pass copies the items.
"""

from __future__ import annotations

import math
from typing import Any, SupportsIndex, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastsel._core import _gate, _numpy
from fastsel._core._typing import ArrayLikeOf, ArrayOf, Flat, ListOf, Scalar
from fastsel._positions import bitmask, selected_items

Out = TypeVar("Out", bound=NDArray[Any])


@overload
def compress(
    condition: ArrayLike,
    a: ArrayLikeOf[Scalar],
    axis: SupportsIndex | None = None,
    out: None = None,
) -> NDArray[Scalar]: ...
@overload
def compress(condition: ArrayLike, a: ArrayLike, axis: SupportsIndex | None, out: Out) -> Out: ...
@overload
def compress(
    condition: ArrayLike, a: ArrayLike, axis: SupportsIndex | None = None, *, out: Out
) -> Out: ...
def compress(
    condition: ArrayLike,
    a: ArrayLike,
    axis: SupportsIndex | None = None,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """The slices that a condition selects along an axis of `a`; equals ``numpy.compress(...)``.

    Parameters
    ----------
    condition : array_like, shape (k,)
        Non-zero items select slices. `condition` may be shorter than the axis (slices beyond its
        end are not selected), or longer if its items beyond the axis are zero.
    a : array_like, shape (n, m, ...)
        Any dtype; read only, never modified.
    axis : int, optional
        None selects items of the flattened array.
    out : ndarray, optional
        Array for the result, of the shape of the result. It may overlap `a`.

    Returns
    -------
    ndarray of a's dtype, C-contiguous; or `out`
        The selected slices: the shape of `a`, with the axis shortened to the number of slices.

    Raises
    ------
    ValueError
        If `condition` is not 1-d, or `out` has another shape or is read-only.
    IndexError
        If `condition` selects beyond the end of the axis, unless an earlier axis has length 0.
    AxisError, TypeError
        If `axis` is out of range or not an integer, or `out` is not an array, or its dtype cannot
        be cast safely to the dtype of `a` (as in NumPy).

    Notes
    -----
    **Time and memory.** `condition`, and the selected slices of `a`, are read once. The only
    temporary is a bitmask of an eighth of a byte per item of `condition`; no index array is made.
    Lists are converted to arrays, and a strided `condition` that is longer than the axis is copied.

    **Threads.** The result is the same for every number of threads.

    **Errors.** If NumPy or fastsel raises an error, `out` has its former items afterwards. For this
    promise, an `out` of another dtype is copied.

    **NumPy.** These arguments are passed to NumPy: object and StringDType arrays, subclasses other
    than memmap, and an `out` that has another dtype, is not C-contiguous, or overlaps an input.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.compress([0, 1, 1], [[1, 2, 3], [4, 5, 6]], axis=1)
    array([[2, 3],
           [5, 6]])
    >>> fastsel.compress([True, False, True], [1, 2, 3])
    array([1, 3])
    """
    result = None
    if out is None and (axis is None or type(axis) is int):
        result = selected_items.compress_axis(condition, a, axis)
        if result is not None:
            return result
    if out is None and _are_references(condition, a):
        return _numpy.compress(_for_numpy(condition), a, axis)
    array = mask = None
    if out is None or type(out) is np.ndarray:
        mask = _condition(condition)
        array = None if mask is None else _gate.base_array(a)
    if array is not None:
        if axis is None:
            result = _compress(mask, array, 0, array.ndim, out)
        elif (axes := _gate.axes(axis, array.ndim)) and type(axis) is not tuple:
            result = _compress(mask, array, axes[0], axes[0] + 1, out)
    if result is None:
        return _compress_by_library(condition, a, axis, out)
    return _gate.like(result, a) if out is None else out


def _compress_by_library(condition, a, axis, out):
    """compress by NumPy, or by the library of the arrays."""
    library, former = _gate.library(condition, a, out), None
    if library is _numpy and isinstance(out, np.ndarray) and np.asanyarray(a).dtype != out.dtype:
        former = np.array(out)
    arguments = _gate.non_defaults(axis=axis, out=out)
    try:
        return library.compress(_for_numpy(condition, a, out), a, **arguments)
    except BaseException:
        # If an item cannot be converted, NumPy has already written the items before it.
        if former is not None and out.flags.writeable:
            np.asarray(out)[...] = former
        raise


@overload
def extract(condition: ArrayLike, arr: ArrayOf[Scalar]) -> Flat[Scalar]: ...
@overload
def extract(condition: ArrayLike, arr: ListOf[bool]) -> Flat[np.bool_]: ...
@overload
def extract(condition: ArrayLike, arr: ListOf[int]) -> Flat[np.int_]: ...
@overload
def extract(condition: ArrayLike, arr: ListOf[float]) -> Flat[np.float64]: ...
@overload
def extract(condition: ArrayLike, arr: ListOf[complex]) -> Flat[np.complex128]: ...
@overload
def extract(condition: ArrayLike, arr: ListOf[str]) -> Flat[np.str_]: ...
@overload
def extract(condition: ArrayLike, arr: ListOf[bytes]) -> Flat[np.bytes_]: ...
@overload
def extract(condition: ArrayLike, arr: ArrayLike) -> Flat[Any]: ...
def extract(condition: ArrayLike, arr: ArrayLike) -> Flat[Any]:
    """The items of `arr` where a condition of any shape is non-zero; equals ``numpy.extract``.

    Parameters
    ----------
    condition : array_like, any shape
        Non-zero items select items of `arr`; the two arrays are read in C order.
    arr : array_like, any shape
        Any dtype; read only, never modified.

    Returns
    -------
    ndarray of arr's dtype, shape (number of selected items,)

    Raises
    ------
    IndexError
        If `condition` selects beyond the last item of `arr`.

    Notes
    -----
    The notes of `compress` apply. Arrays are flattened without a copy, except a strided
    `condition` that has more items than `arr`.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.extract([[True, False], [False, True]], [[1, 2], [3, 4]])
    array([1, 4])
    """
    result = selected_items.extract(condition, arr)
    if result is not None:
        return result
    if _are_references(condition, arr):
        return _numpy.extract(_for_numpy(condition), arr)
    mask = None if _gate.overrides(arr) else _gate.base_array(condition)
    array = None if mask is None else _gate.base_array(arr)
    if array is None:
        return _gate.library(condition, arr).extract(_for_numpy(condition, arr), arr)
    result = _compress(mask, array, 0, array.ndim)
    return _numpy.extract(_for_numpy(mask), arr) if result is None else _gate.like(result, arr)


def boolean_mask(a: ArrayLikeOf[Scalar], mask: ArrayLike) -> NDArray[Scalar]:
    """The items or slices of `a` where a boolean mask is True; equals ``a[mask]``.

    Parameters
    ----------
    a : array_like, shape (n, m, ...)
        Any dtype; read only, never modified.
    mask : array_like of bool, shape of the leading axes of `a`

    Returns
    -------
    ndarray of a's dtype, shape (number of True items, remaining axes of `a` ...)
        A copy of the items or slices, in C order of the mask.

    Raises
    ------
    IndexError
        If `mask` is not boolean, or its shape differs from the shape of a's leading axes.

    Notes
    -----
    The notes of `compress` apply. Masks of integers are refused, because ``a[mask]`` would use the
    integers as positions. As in NumPy, an empty list or an empty 1-d mask fits every `a` that is
    not 0-d, and selects nothing.

    Examples
    --------
    >>> import fastsel, numpy as np
    >>> a = np.array([[1, 2], [3, 4], [5, 6]])
    >>> fastsel.boolean_mask(a, a > 2)
    array([3, 4, 5, 6])
    >>> fastsel.boolean_mask(a, [True, False, True])
    array([[1, 2],
           [5, 6]])
    """
    result = selected_items.boolean_mask(a, mask)
    if result is not None:
        return result
    if _are_references(mask, a) and mask.dtype == bool:
        return a[_for_numpy(mask)]
    if not type(a) is type(mask) is np.ndarray:
        library = _gate.library(a, mask)
        if not _gate.is_numpy(library):
            return library.boolean_mask(a, mask)
    bool_mask = _boolean(mask)
    array, array_mask = _gate.base_array(a), _gate.base_array(bool_mask)
    unfit = array is None or array_mask is None or array_mask.dtype != bool
    if unfit or array_mask.ndim == 0 or array_mask.shape != array.shape[: array_mask.ndim]:
        indexed = hasattr(a, "__array_function__") and not isinstance(a, list | tuple)
        return (a if indexed else np.asarray(a))[_for_numpy(bool_mask)]
    # The order of the axes in memory: the axes of the mask, then the others by decreasing stride.
    leading = array_mask.ndim
    trailing = sorted(range(leading, array.ndim), key=lambda axis: -abs(array.strides[axis]))
    order = [*range(leading), *trailing]
    is_in_memory_order = order == [*range(array.ndim)]
    source = array if is_in_memory_order else array.transpose(order)
    result = _compress(array_mask, source, 0, leading)
    if result is None:
        return array[_for_numpy(array_mask)]
    return result if is_in_memory_order else result.transpose(np.argsort(order[leading - 1 :]))


def _are_references(mask, a):
    """Is `a` an array of objects or of StringDType, whose items NumPy has to select? False unless
    both arrays are of the base class."""
    return type(a) is type(mask) is np.ndarray and a.dtype.hasobject


def _for_numpy(mask, *others):
    """The mask to pass to NumPy. A base-class array or memmap is copied, unless it is tiny, or one
    of `others` overrides NumPy's functions: NumPy reads a mask twice, without the GIL, and if
    another thread or process wrote to the mask in between, NumPy would read or write out of
    bounds."""
    base = _gate.base_array(mask) if isinstance(mask, np.ndarray) else None
    if base is None or _gate.tiny(base) or any(map(_gate.overrides, others)):
        return mask
    return base.copy()


def _condition(condition):
    """The condition of compress as a 1-d array, or None if NumPy has to be called."""
    if isinstance(condition, np.ndarray):
        mask = _gate.base_array(condition)
    elif type(condition) in (list, tuple):
        try:
            mask = np.array(condition, dtype=bool)
        except (TypeError, ValueError):
            return None
    else:
        return None
    return mask if mask is not None and mask.ndim == 1 else None


def _boolean(mask):
    """The mask as a boolean array, IndexError for another dtype; an empty list counts as
    boolean."""
    selects = np.asanyarray(mask)
    if isinstance(mask, list) and not selects.size:
        return selects.astype(bool)
    if selects.dtype.kind in "iu":  # a[mask] would use the integers as positions
        advice = "a.take(mask) takes positions, mask != 0 compares"
        raise IndexError(f"mask must be a boolean array, got dtype {selects.dtype} ({advice})")
    if selects.dtype.kind != "b":
        advice = " (mask != 0 compares)" if selects.dtype.kind in "fc" else ""
        raise IndexError(f"mask must be a boolean array, got dtype {selects.dtype}{advice}")
    return selects


def _compress(mask, array, first, stop, out=None):
    """The slices that `mask` selects along axes first ... stop - 1; None if NumPy has to be called:
    also if the mask selects beyond the axes, and if a kernel cannot write to `out`."""
    if out is not None:
        can_write = out.flags.c_contiguous and out.flags.writeable and out.dtype == array.dtype
        if not can_write or np.may_share_memory(out, array) or np.may_share_memory(out, mask):
            return None
    size = math.prod(array.shape[first:stop])
    if mask.size > size:
        mask = mask.ravel()
        if bitmask.count_nonzero(mask[size:]) != 0:
            return None
        mask = mask[:size]
    return selected_items.compress_axes(array, mask, first, stop, out)
