"""nonzero, flatnonzero, argwhere, count_nonzero, compress, extract, boolean_mask.

Each function checks whether a kernel may serve the call (_gate), and otherwise calls the NumPy
function, which also raises NumPy's errors. Then one pass makes the bitmask, and one writes.
"""

from __future__ import annotations

import math
from typing import Any, Literal, SupportsIndex, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastsel import _gate, _numpy, _threads
from fastsel._kernels import bitmask, indices, items, results, small

# Up to so many items NumPy's own loops are done before our other kernels have started
# (benchmarks/bench_tiny.py); and up to so many, NumPy holds the interpreter lock, so that no other
# thread can write to the array between the two passes of its nonzero, which would not notice.
TINY_ITEMS = 500

# Up to so many items one call of small.pyx is done before several kernels are, on several threads.
SMALL_ITEMS = 1 << 14

_INTP = np.dtype(np.intp)
_POSITION = _INTP.itemsize

Scalar = TypeVar("Scalar", bound=np.generic)
Out = TypeVar("Out", bound=NDArray[Any])


def nonzero(a: ArrayLike) -> tuple[NDArray[np.intp], ...]:
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
    `a` is read once, into a bitmask of an eighth of a byte per item, the only temporary; the rest
    depends on the bitmask alone, so that another thread's writes to `a` during the call cannot
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
        index = small.flatnonzero(a, SMALL_ITEMS)
        if index is not None:
            return (index,)
    array = _gate.plain(a)
    if array is None:
        return _gate.library(a).nonzero(a)
    if (
        _gate.tiny(array, TINY_ITEMS)
        or array.ndim == 0
        or (truth := _gate.truth(array.dtype)) is None
    ):
        return array.nonzero()
    return tuple(coordinates(array, truth))


def flatnonzero(a: ArrayLike) -> NDArray[np.intp]:
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
    As `nonzero`; a strided or transposed array is read where it lies, no flat copy is made.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.flatnonzero([[0, 7], [8, 0]])
    array([1, 2])
    """
    if (index := small.flatnonzero(a, SMALL_ITEMS)) is not None:
        return index
    array = _gate.plain(a)
    if array is None:
        return _gate.library(a).flatnonzero(a)
    if _gate.tiny(array, TINY_ITEMS) or (truth := _gate.truth(array.dtype)) is None:
        return array.ravel().nonzero()[0]
    threads = _threads.for_bytes(array.nbytes)
    bits, offsets = bitmask.pack(array, *truth, _POSITION, threads)
    return indices.flat(bits, offsets, threads)


def argwhere(a: ArrayLike) -> NDArray[np.intp]:
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
    if _gate.tiny(array, TINY_ITEMS) or (truth := _gate.truth(array.dtype)) is None:
        return np.array(array.nonzero()).T
    return coordinates(array, truth).T


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
    One pass over `a`, without the boolean copy that NumPy makes for `axis`; no temporaries.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.count_nonzero([[0, 1, 7], [3, 0, 0]], axis=1)
    array([2, 1])
    >>> int(fastsel.count_nonzero([0.0, -0.0, float("nan")]))
    1
    """
    if axis is None and not keepdims and (count := small.count_nonzero(a, SMALL_ITEMS)) is not None:
        return count
    array = _gate.plain(a)
    if array is None:
        arguments = _gate.given(axis=axis, keepdims=keepdims)
        return _as_intp(_gate.library(a).count_nonzero(a, **arguments))
    if _gate.tiny(array, TINY_ITEMS) or (truth := _gate.truth(array.dtype)) is None:
        return _as_intp(_numpy.count_nonzero(array, axis, keepdims=keepdims))
    if axis is None and not keepdims:
        return np.intp(bitmask.count(array, *truth, _threads.for_bytes(array.nbytes)))
    axes = _axes(axis, array.ndim)
    if axes is None or array.ndim == 0 or array.dtype.fields is not None:
        return _as_intp(_numpy.count_nonzero(a, axis=axis, keepdims=keepdims))
    return _count_along(array, truth, axes, keepdims)


@overload
def compress(
    condition: ArrayLike, a: NDArray[Scalar], axis: SupportsIndex | None = None, out: None = None
) -> NDArray[Scalar]: ...
@overload
def compress(
    condition: ArrayLike, a: ArrayLike, axis: SupportsIndex | None = None, out: None = None
) -> NDArray[Any]: ...
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
    """The slices of `a` along an axis that a condition selects; equals ``numpy.compress(...)``.

    Parameters
    ----------
    condition : array_like, shape (k,)
        Non-zero selects. May be shorter than the axis (the rest is dropped), or longer if what is
        beyond is zero.
    a : array_like, shape (n, m, ...)
        Any dtype; read only, never modified.
    axis : int, optional
        None selects items of the flattened array.
    out : ndarray, optional
        Of the result's shape; receives the result. May overlap `a`.

    Returns
    -------
    ndarray of a's dtype, C-contiguous
        Shape of `a` with the axis shortened to the number of selected slices; or `out`.

    Raises
    ------
    ValueError
        If `condition` is not 1-d, or `out` has another shape or is read-only.
    IndexError
        If `condition` selects beyond the end of the axis.
    AxisError, TypeError
        If `axis` is out of range or not an integer, or `out` has a dtype that cannot take a's.

    Notes
    -----
    Condition and items are read once; the only temporary is a bitmask of an eighth of a byte per
    item of `condition` (no index array is built). The result is the same for every number of
    threads. Object and StringDType arrays, subclasses, and an `out` of another dtype or layout go
    to NumPy. When an error is raised, `out` is untouched.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.compress([0, 1, 1], [[1, 2, 3], [4, 5, 6]], axis=1)
    array([[2, 3],
           [5, 6]])
    >>> fastsel.compress([True, False, True], [1, 2, 3])
    array([1, 3])
    """
    if (
        out is None
        and (axis is None or type(axis) is int)
        and (kept := small.compress(condition, a, axis, SMALL_ITEMS)) is not None
    ):
        return kept
    if type(a) is type(condition) is np.ndarray and _tiny(a, condition):
        return a.compress(condition, axis, out)
    array, mask = _gate.plain(a), _condition(condition)
    kept = None
    if array is not None and mask is not None and not _tiny(array, mask):
        if axis is None:
            kept = _keep(mask, array, 0, array.ndim, out)
        elif (axes := _axes(axis, array.ndim)) and type(axis) is not tuple:
            kept = _keep(mask, array, axes[0], axes[0] + 1, out)
    if kept is None:
        arguments = _gate.given(axis=axis, out=out)
        return _gate.library(condition, a).compress(_for_numpy(condition), a, **arguments)
    return _gate.like(kept, a) if out is None else out


@overload
def extract(condition: ArrayLike, arr: NDArray[Scalar]) -> NDArray[Scalar]: ...
@overload
def extract(condition: ArrayLike, arr: ArrayLike) -> NDArray[Any]: ...
def extract(condition: ArrayLike, arr: ArrayLike) -> NDArray[Any]:
    """The items of `arr` where a condition of any shape is non-zero; equals ``numpy.extract``.

    Parameters
    ----------
    condition : array_like, any shape
        Non-zero selects; condition and `arr` are both taken in C order.
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
    As `compress`; neither array is copied to be flattened.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.extract([[True, False], [False, True]], [[1, 2], [3, 4]])
    array([1, 4])
    """
    if (kept := small.extract(condition, arr, SMALL_ITEMS)) is not None:
        return kept
    array, mask = _gate.plain(arr), _gate.plain(condition)
    if array is None or mask is None:
        return _gate.library(condition, arr).extract(_for_numpy(condition), arr)
    if type(arr) is np.ndarray and _tiny(array, mask):
        return array.ravel().take(mask.ravel().nonzero()[0])
    kept = _keep(mask, array, 0, array.ndim, None)
    return _numpy.extract(_for_numpy(mask), arr) if kept is None else _gate.like(kept, arr)


@overload
def boolean_mask(a: NDArray[Scalar], mask: ArrayLike) -> NDArray[Scalar]: ...
@overload
def boolean_mask(a: ArrayLike, mask: ArrayLike) -> NDArray[Any]: ...
def boolean_mask(a: ArrayLike, mask: ArrayLike) -> NDArray[Any]:
    """The items, or rows, of `a` where a boolean mask is True; equals ``a[mask]``.

    Parameters
    ----------
    a : array_like, shape (n, m, ...)
        Any dtype; read only, never modified.
    mask : array_like of bool, shape of the leading axes of `a`

    Returns
    -------
    ndarray of a's dtype, shape (number of True items, remaining axes of `a` ...)
        In C order of the mask's index; a copy.

    Raises
    ------
    IndexError
        If `mask` is not boolean, or its shape differs from that of a's leading axes.

    Notes
    -----
    As `compress`. Non-boolean masks are refused, because ``a[mask]`` would mean something else.

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
    if (kept := small.boolean_mask(a, mask, SMALL_ITEMS)) is not None:
        return kept
    if type(a) is type(mask) is np.ndarray and mask.dtype.kind == "b" and _tiny(a, mask):
        return a[mask]
    if (
        not type(a) is type(mask) is np.ndarray
        and (library := _gate.library(a, mask)) is not _numpy
    ):
        return library.boolean_mask(a, mask)
    given = _boolean(mask)
    array, selects = _gate.plain(a), _gate.plain(given)
    if (
        array is None
        or selects is None
        or array.size <= TINY_ITEMS
        or selects.dtype != bool
        or selects.ndim == 0
        or selects.shape != array.shape[: selects.ndim]
    ):
        return (a if hasattr(a, "__array_function__") else np.asarray(a))[_for_numpy(given)]
    order = _memory_order(array, selects.ndim)
    kept = _keep(selects, array.transpose(order), 0, selects.ndim, None)
    if kept is None:
        return array[_for_numpy(selects)]
    if array.ndim > selects.ndim:
        kept = kept.transpose(np.argsort(order[selects.ndim - 1 :]))
    return _gate.like(kept, a)


def coordinates(array, truth):
    """(ndim, count) intp: one contiguous row per axis."""
    threads = _threads.for_bytes(array.nbytes)
    bits, offsets = bitmask.pack(array, *truth, _POSITION * array.ndim, threads)
    out = results.empty((array.ndim, int(offsets[-1])), _INTP)
    indices.coordinates(bits, offsets, array.shape, out.T, threads)
    return out


def _as_intp(count):
    """What NumPy counted; before 2.3 its count of a whole array is an int."""
    return np.intp(count) if type(count) is int else count


def _axes(axis, ndim):
    """The axes to count along, or None if NumPy has to say what is wrong with them."""
    if axis is None:
        return tuple(range(ndim))
    axes = axis if type(axis) is tuple else (axis,)
    if any(isinstance(k, bool) or not isinstance(k, int | np.integer) for k in axes):
        return None
    if any(not -ndim <= k < ndim for k in axes):
        return None
    axes = tuple(int(k) % ndim for k in axes)
    return axes if len(set(axes)) == len(axes) else None


def _count_along(array, truth, axes, keepdims):
    """Counts in the memory order of the input, as NumPy's sums are."""
    order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
    kept = [axis for axis in order if axis not in axes]
    if not kept:
        total = np.intp(bitmask.count(array, *truth, _threads.for_bytes(array.nbytes)))
        return np.full((1,) * array.ndim, total) if keepdims else total
    counts = np.zeros([array.shape[axis] for axis in kept], np.intp)
    step_of = dict(zip(kept, (s // counts.itemsize for s in counts.strides), strict=True))
    steps = np.array([step_of.get(axis, 0) for axis in order], np.intp)
    cut, around = (
        order.index(max(group, key=lambda axis: array.shape[axis]))
        for group in (kept, axes or kept)
    )
    bitmask.count_axes(
        array, *truth, counts, np.array(order, np.intp), steps, cut, around,
        _threads.for_bytes(array.nbytes),
    )  # fmt: skip
    counts = counts.transpose(np.argsort(kept))
    return np.expand_dims(counts, tuple(axes)) if keepdims else counts


def _tiny(array, mask):
    return _gate.tiny(array, TINY_ITEMS) and _gate.tiny(mask, TINY_ITEMS)


def _for_numpy(mask):
    """A mask that NumPy may have: a copy, unless it is tiny, or of a class of its own. NumPy reads
    it twice, without the GIL: another thread, or process, that writes to it in between would lead
    it out of bounds."""
    plain = _gate.plain(mask) if isinstance(mask, np.ndarray) else None
    return mask if plain is None or _gate.tiny(plain, TINY_ITEMS) else plain.copy()


def _condition(condition):
    """What compress accepts as a 1-d condition, or None where NumPy has to judge it."""
    if isinstance(condition, np.ndarray):
        mask = _gate.plain(condition)
    elif isinstance(condition, list | tuple):
        try:
            mask = np.array(condition, dtype=bool)
        except (TypeError, ValueError):
            return None
    else:
        return None
    return mask if mask is not None and mask.ndim == 1 else None


def _boolean(mask):
    """The mask as a boolean array; an empty list is one."""
    selects = np.asanyarray(mask)
    if isinstance(mask, list) and not selects.size:
        return selects.astype(bool)
    if selects.dtype.kind in "iu":  # which a[mask] would take
        advice = "a.take(mask) takes positions, mask != 0 compares"
        raise IndexError(f"mask must be a boolean array, got dtype {selects.dtype} ({advice})")
    if selects.dtype.kind != "b":
        advice = " (mask != 0 compares)" if selects.dtype.kind in "fc" else ""
        raise IndexError(f"mask must be a boolean array, got dtype {selects.dtype}{advice}")
    return selects


def _memory_order(array, leading):
    """Axes of `array`, the leading ones as they are, the others by falling stride."""
    trailing = sorted(range(leading, array.ndim), key=lambda axis: -abs(array.strides[axis]))
    return [*range(leading), *trailing]


def _keep(mask, array, first, stop, out):
    """What `mask` selects of the axes first ... stop - 1, or None if NumPy has to do it.

    That is: dtypes that are not moved as bytes, masks that reach beyond the axes, an `out` that
    cannot be written as it is.
    """
    truth = _gate.truth(mask.dtype)
    size = math.prod(array.shape[first:stop])
    if truth is None or not _gate.movable(array.dtype) or array.size == 0 or mask.size == 0:
        return None
    if mask.size > size:
        mask = mask.ravel()
        if bitmask.count(mask[size:], *truth, 1):
            return None
        mask = mask[:size]
    threads = _threads.for_bytes(mask.nbytes + array.nbytes)
    row_bytes = array.itemsize * math.prod(array.shape[stop:])
    bits, offsets = bitmask.pack(mask, *truth, row_bytes, threads)
    shape = (*array.shape[:first], int(offsets[-1]), *array.shape[stop:])
    if out is None:
        out = results.empty(shape, array.dtype)
    elif not _writable_as_is(out, shape, array, mask):
        return None
    if out.size:  # there may be any number of rows of nothing
        items.keep(array, first, stop, bits, offsets, out, threads)
    return out


def _writable_as_is(out, shape, *inputs):
    """Can a kernel write the result straight into `out`?"""
    return (
        type(out) is np.ndarray
        and out.shape == shape
        and out.dtype == inputs[0].dtype
        and out.flags.c_contiguous
        and out.flags.writeable
        and not any(np.may_share_memory(out, a) for a in inputs)
    )
