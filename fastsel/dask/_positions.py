"""nonzero, flatnonzero, argwhere, count_nonzero and nonzero_coordinates of dask arrays."""

from __future__ import annotations

import math
import operator
from typing import Literal, NamedTuple, SupportsIndex

import dask.array as da
import numpy as np
from dask.base import tokenize
from numpy.typing import DTypeLike

import fastsel
from fastsel._core import _gate, _numpy
from fastsel._positions import _nonzero_coordinates, _positions
from fastsel.dask._blocks import (
    DaskArrayLike,
    array_of,
    bands,
    blocks,
    check_known,
    checked_array,
    layer,
    locations,
    output,
    stand_in,
    task,
)


class NonzeroCoordinates(NamedTuple):
    """The result of `nonzero_coordinates`."""

    count: da.Array
    coordinates: da.Array


def nonzero(a: DaskArrayLike, *, dtype: DTypeLike | None = None) -> tuple[da.Array, ...]:
    """Indices of the non-zero items of a dask array, one array per axis.

    Parameters
    ----------
    a : dask array or array_like, at least 1-d, any chunks
        Any dtype. Chunk sizes may be unknown if only the first axis has several chunks.
    dtype : dtype, optional
        An integer dtype for the indices; intp by default.

    Returns
    -------
    tuple of dask arrays of `dtype`, each of shape (number of non-zero items,)
        Coordinates in the whole array, in C order. Chunk sizes are unknown until computed.

    Raises
    ------
    ValueError
        When called, if `a` is 0-d, or if needed chunk sizes are unknown.
    TypeError
        When called, if the blocks are not NumPy arrays, or `dtype` is not an integer dtype.
    OverflowError
        If an axis is so long that an index may not fit `dtype`: when called, or when computed if
        its length is unknown.

    Notes
    -----
    The result equals ``fastsel.nonzero(a)``. Each block is read once, by one task, without an index
    grid. C order needs blocks that span the later axes. Other blocks are rechunked to blocks of at
    most the bytes of the largest block, or of 1 MB if that is more.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> x = da.from_array([[3, 0, 0], [0, 4, 0], [5, 6, 0]], chunks=(2, 2))
    >>> [i.compute() for i in fastsel.dask.nonzero(x)]
    [array([0, 1, 2, 2]), array([0, 1, 0, 1])]
    """
    x = checked_array("a", a)
    if x.ndim == 0:
        _numpy.nonzero(np.empty((), x.dtype))
    dtype = _checked_dtype(dtype, x.shape)
    x, graph, name = _call_on_each_band("nonzero", x, _nonzero_in_block, dtype)
    return tuple(
        _as_one_array(x, graph, name, f"axis{axis}", operator.itemgetter(axis), dtype)
        for axis in range(x.ndim)
    )


def flatnonzero(a: DaskArrayLike, *, dtype: DTypeLike | None = None) -> da.Array:
    """Indices of the non-zero items of the flattened dask array.

    Parameters
    ----------
    a : dask array or array_like, any shape, any chunks
        Any dtype. Chunk sizes may be unknown if only the first axis has several chunks.
    dtype : dtype, optional
        As in `nonzero`; the indices into the flattened array have to fit.

    Returns
    -------
    dask array of `dtype`, shape (number of non-zero items,)
        Ascending indices into the flattened array; their number is unknown until computed.

    Raises
    ------
    TypeError, ValueError, OverflowError
        As `nonzero`, but `a` may be 0-d.

    Notes
    -----
    The result equals ``fastsel.flatnonzero(a)``. The notes of `nonzero` apply.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> fastsel.dask.flatnonzero(da.from_array([[0, 7], [8, 0]], chunks=1)).compute()
    array([1, 2])
    """
    x = checked_array("a", a)
    dtype = _checked_dtype(dtype, (math.prod(x.shape),))
    x, graph, name = _call_on_each_band("flatnonzero", x, _flatnonzero_in_block, dtype)
    return _as_one_array(x, graph, name, "all", np.asarray, dtype)


def argwhere(a: DaskArrayLike, *, dtype: DTypeLike | None = None) -> da.Array:
    """Indices of the non-zero items of a dask array, one row per item.

    Parameters
    ----------
    a : dask array or array_like, any shape, any chunks
        Any dtype. Chunk sizes may be unknown if only the first axis has several chunks.
    dtype : dtype, optional
        As in `nonzero`.

    Returns
    -------
    dask array of `dtype`, shape (number of non-zero items, a.ndim)
        Rows in C order; their number is unknown until computed.

    Raises
    ------
    TypeError, ValueError, OverflowError
        As `nonzero`, but `a` may be 0-d.

    Notes
    -----
    The result equals ``fastsel.argwhere(a)``. The notes of `nonzero` apply.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> fastsel.dask.argwhere(da.from_array([[3, 0], [0, 4]], chunks=1)).compute()
    array([[0, 0],
           [1, 1]])
    """
    x = checked_array("a", a)
    dtype = _checked_dtype(dtype, x.shape)
    x, graph, name = _call_on_each_band("argwhere", x, _argwhere_in_block, dtype)
    return _as_one_array(x, graph, name, "all", np.asarray, dtype, (x.ndim,))


def nonzero_coordinates(
    x: DaskArrayLike,
    *,
    n: SupportsIndex | Literal["effective"] | None = None,
    dtype: DTypeLike = np.uint32,
) -> NonzeroCoordinates:
    """Count and coordinates of the non-zero items of a dask array.

    Parameters
    ----------
    x : dask array or array_like, any chunks of known sizes
        Any dtype.
    n : int or "effective", optional
        Number of coordinates per item, as in `fastsel.nonzero_coordinates`.
    dtype : dtype, optional
        uint32, int32, int64 or uint64.

    Returns
    -------
    NonzeroCoordinates
        Named tuple (count, coordinates). ``count`` is a 0-d dask array of `dtype`. ``coordinates``
        is a dask array of `dtype` and shape (count, n), with one row for each non-zero item, in C
        order of the items. Unlike `fastsel.nonzero_coordinates`, it has no rows beyond the count.
        The number of rows is unknown until computed.

    Raises
    ------
    ValueError, TypeError
        When called, if chunk sizes are unknown, if the blocks are not NumPy arrays, or if n or
        `dtype` has no accepted value.
    OverflowError
        When called, if a coordinate or the size of x may not fit `dtype`.

    Notes
    -----
    The notes of `nonzero` apply, but two tasks read each block: one for the count, one for the
    coordinates. The parameters of `fastsel.nonzero_coordinates` for its buffer and for DirectML's
    checks do not exist here.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> x = da.from_array([[1.0, 0.0], [-0.0, 3.5]], chunks=1)
    >>> count, coordinates = fastsel.dask.nonzero_coordinates(x)
    >>> int(count)
    2
    >>> coordinates.compute()
    array([[0, 0],
           [1, 1]], dtype=uint32)
    """
    x = checked_array("x", x)
    check_known("x", x)
    dtype = _nonzero_coordinates._checked_dtype(dtype)
    n = _nonzero_coordinates._checked_n(n, x)
    _nonzero_coordinates._check_coordinates_fit(x, dtype)
    rows = argwhere(x)[:, x.ndim - n :].astype(dtype)
    return NonzeroCoordinates(count_nonzero(x).astype(dtype), rows)


def count_nonzero(
    a: DaskArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    *,
    keepdims: bool = False,
) -> da.Array:
    """Number of non-zero items, in a dask array or along its axes.

    Parameters
    ----------
    a : dask array or array_like, any shape, any chunks
        Any dtype; chunk sizes may be unknown.
    axis : int or tuple of int, optional
        Axes to count along; None counts all items.
    keepdims : bool, optional
        Keep the counted axes, with length 1.

    Returns
    -------
    dask array of intp
        The shape of `a` without the counted axes; with `keepdims` these axes have length 1.

    Raises
    ------
    AxisError, TypeError, ValueError
        When called, if an axis is out of range, not an integer or given twice, if `axis` is given,
        or `keepdims` is True, for a structured dtype of several fields, or if the blocks are not
        NumPy arrays.

    Notes
    -----
    The result equals ``fastsel.count_nonzero(...)``. Each block is read once, without a copy; the
    counts are summed as a tree.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> x = da.from_array([[0, 1, 7], [3, 0, 0]], chunks=2)
    >>> fastsel.dask.count_nonzero(x, axis=1).compute()
    array([2, 1])
    """
    x = checked_array("a", a)
    _numpy.count_nonzero(stand_in(x), axis, keepdims=keepdims)
    axes = _gate.axes(axis, x.ndim) if x.ndim else ()  # NumPy takes axis=0 of a 0-d array
    name = f"fastsel-count_nonzero-{tokenize(x.name, axes)}"
    counts_all = len(axes) == x.ndim
    count = task(_count_all_in_block) if counts_all else task(_count_along_in_block, axes=axes)
    tasks = {(name, *block): (*count, key) for block, key in blocks(x).items()}
    chunks = tuple((1,) * len(sizes) if k in axes else sizes for k, sizes in enumerate(x.chunks))
    counts = array_of(name, tasks, chunks, np.intp, x)
    return counts.sum(axis=axes, keepdims=bool(keepdims))


def _checked_dtype(dtype, shape):
    """The dtype of indices. Raises OverflowError if an index along an axis of known length may not
    fit it."""
    dtype = _gate.index_dtype(dtype)
    _positions.check_indices_fit([size for size in shape if not math.isnan(size)], dtype)
    return dtype


def _nonzero_in_block(block, location, dtype):
    _positions.check_indices_fit(location.shape, dtype)
    indices = zip(fastsel.nonzero(block), location.start, strict=True)
    return [(k + start if start else k).astype(dtype, copy=False) for k, start in indices]


def _flatnonzero_in_block(block, location, dtype):
    _positions.check_indices_fit([math.prod(location.shape)], dtype)
    return location.flat(fastsel.flatnonzero(block), block.shape).astype(dtype, copy=False)


def _argwhere_in_block(block, location, dtype):
    _positions.check_indices_fit(location.shape, dtype)
    rows = fastsel.argwhere(block)
    rows += np.array(location.start, np.intp)
    return rows.astype(dtype, copy=False)


def _call_on_each_band(step, x, function, dtype):
    """The bands of `x`, a graph with a task that calls the function for each band, and the name of
    these tasks."""
    x = bands("a", x)
    name = f"fastsel-{step}-{tokenize(x.name, dtype)}"
    where, tasks = locations(x, name)
    for k, (block, key) in enumerate(blocks(x).items()):
        tasks[name, k] = task(function, key, where[block], dtype=dtype)
    return x, layer(name, tasks, x), name


def _as_one_array(x, graph, name, part, get, dtype, row_shape=()):
    """One dask array: `get` makes each of its blocks from the result of a task of the graph."""
    tasks = [(get, (name, k)) for k in range(x.npartitions)]
    chunks = ((np.nan,) * x.npartitions, *((size,) for size in row_shape))
    return output(graph, name, part, tasks, chunks, dtype)


def _count_along_in_block(block, axes):
    return fastsel.count_nonzero(block, axes, keepdims=True)


def _count_all_in_block(block):
    return np.full((1,) * block.ndim, fastsel.count_nonzero(block))
