"""nonzero, flatnonzero, argwhere, count_nonzero, first_nonzero and nonzero_coordinates of dask
arrays."""

from __future__ import annotations

import operator
from typing import Literal, NamedTuple, SupportsIndex

import dask.array as da
import numpy as np
from dask.base import tokenize
from numpy.typing import DTypeLike

import fastsel
from fastsel._core import _gate, _numpy
from fastsel._positions import _coordinates, _positions
from fastsel.dask._blocks import (
    DaskArrayLike,
    Location,
    bands,
    blocks,
    checked,
    layer,
    locations,
    output,
    stand_in,
    task,
    unknown,
)

# The index of what a block does not have: above all others.
_NOWHERE = np.iinfo(np.intp).max


class NonzeroCoordinates(NamedTuple):
    """What `nonzero_coordinates` returns."""

    count: da.Array
    coordinates: da.Array


def nonzero(a: DaskArrayLike) -> tuple[da.Array, ...]:
    """Indices of the non-zero items of a dask array, one array per axis.

    Parameters
    ----------
    a : dask array, at least 1-d, any chunks
        Any dtype. Chunk sizes may be unknown if only the first axis has several chunks.

    Returns
    -------
    tuple of dask arrays of intp, each of shape (number of non-zero items,)
        Items in C order of their index in the whole array. The size of each chunk is unknown until
        computed.

    Raises
    ------
    ValueError
        If `a` is 0-d, or if chunk sizes that matter are unknown, at once.
    TypeError
        If its blocks are not NumPy arrays, at once.

    Notes
    -----
    Equals ``fastsel.nonzero(a)``. Each block is read once, by one task, without an index grid. C
    order needs blocks as wide as the array. Others are rechunked to blocks of at most the bytes of
    the largest one, or a megabyte.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> x = da.from_array([[3, 0, 0], [0, 4, 0], [5, 6, 0]], chunks=(2, 2))
    >>> [i.compute() for i in fastsel.dask.nonzero(x)]
    [array([0, 1, 2, 2]), array([0, 1, 0, 1])]
    """
    x = checked("a", a)
    if x.ndim == 0:
        _numpy.nonzero(np.empty((), x.dtype))
    x, graph, name = _of_each_band("nonzero", x, _nonzero_in_block)
    return tuple(
        _whole(x, graph, name, f"axis{axis}", operator.itemgetter(axis)) for axis in range(x.ndim)
    )


def flatnonzero(a: DaskArrayLike) -> da.Array:
    """Indices of the non-zero items of the flattened dask array.

    Parameters
    ----------
    a : dask array, any shape, any chunks
        Any dtype. Chunk sizes may be unknown if only the first axis has several chunks.

    Returns
    -------
    dask array of intp, shape (number of non-zero items,)
        Ascending indices into the flattened array; their number is unknown until computed.

    Raises
    ------
    TypeError, ValueError
        As `nonzero`, but for 0-d arrays.

    Notes
    -----
    Equals ``fastsel.flatnonzero(a)``. As `nonzero`.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> fastsel.dask.flatnonzero(da.from_array([[0, 7], [8, 0]], chunks=1)).compute()
    array([1, 2])
    """
    x, graph, name = _of_each_band("flatnonzero", checked("a", a), _flatnonzero_in_block)
    return _whole(x, graph, name, "all", _itself)


def argwhere(a: DaskArrayLike) -> da.Array:
    """Indices of the non-zero items of a dask array, one row per item.

    Parameters
    ----------
    a : dask array, any shape, any chunks
        Any dtype. Chunk sizes may be unknown if only the first axis has several chunks.

    Returns
    -------
    dask array of intp, shape (number of non-zero items, a.ndim)
        Rows in C order of their index; their number is unknown until computed.

    Raises
    ------
    TypeError, ValueError
        As `nonzero`, but for 0-d arrays.

    Notes
    -----
    Equals ``fastsel.argwhere(a)``. As `nonzero`.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> fastsel.dask.argwhere(da.from_array([[3, 0], [0, 4]], chunks=1)).compute()
    array([[0, 0],
           [1, 1]])
    """
    x, graph, name = _of_each_band("argwhere", checked("a", a), _argwhere_in_block)
    return _whole(x, graph, name, "all", _itself, (x.ndim,))


def nonzero_coordinates(
    x: DaskArrayLike,
    *,
    n: SupportsIndex | Literal["effective"] | None = None,
    dtype: DTypeLike = np.uint32,
) -> NonzeroCoordinates:
    """Count and coordinates of the non-zero items of a dask array.

    Parameters
    ----------
    x : dask array, any chunks of known sizes
        Any dtype.
    n : int or "effective", optional
        Coordinates per item, as in `fastsel.nonzero_coordinates`.
    dtype : dtype, optional
        uint32, int32, int64 or uint64.

    Returns
    -------
    NonzeroCoordinates
        Named tuple of ``count``, a 0-d dask array of `dtype`, and ``coordinates``, a dask array of
        `dtype` and shape (count, n), in C order of the items. It has a row for each non-zero item,
        instead of a buffer with x.size rows, which would be larger than x. The number of rows is
        unknown until computed.

    Raises
    ------
    ValueError, TypeError
        If n or `dtype` is not one of those above, at once; as `nonzero`.
    OverflowError
        If a dimension or the size of x does not fit `dtype`, at once.

    Notes
    -----
    As `nonzero`. There are none of the parameters of `fastsel.nonzero_coordinates` that concern
    its buffer.

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
    x = checked("x", x)
    if any(map(unknown, x.chunks)):
        raise ValueError(f"x must have known chunk sizes, got {x.chunks}: compute_chunk_sizes()")
    dtype = _coordinates._checked_dtype(dtype)
    n = _coordinates._checked_n(n, x)
    _coordinates._check_range(x, dtype)
    rows = argwhere(x)[:, x.ndim - n :].astype(dtype)
    return NonzeroCoordinates(count_nonzero(x).astype(dtype), rows)


def count_nonzero(
    a: DaskArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    *,
    keepdims: bool = False,
) -> da.Array:
    """Number of non-zero items of a dask array, in all or along axes.

    Parameters
    ----------
    a : dask array, any shape, any chunks
        Any dtype; chunk sizes may be unknown.
    axis : int or tuple of int, optional
        Axes to count along; None counts all items.
    keepdims : bool, optional
        Keep the counted axes, with length 1.

    Returns
    -------
    dask array of intp
        The shape of `a` without the axes that were counted along.

    Raises
    ------
    AxisError, TypeError
        If an axis is out of range or not an integer, if `axis` is given for a structured dtype, or
        if the blocks are not NumPy arrays, at once.

    Notes
    -----
    Equals ``fastsel.count_nonzero(...)``. One pass, no copy of the blocks; the counts are summed
    as a tree.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> x = da.from_array([[0, 1, 7], [3, 0, 0]], chunks=2)
    >>> fastsel.dask.count_nonzero(x, axis=1).compute()
    array([2, 1])
    """
    x = checked("a", a)
    _numpy.count_nonzero(stand_in(x), axis, keepdims=keepdims)
    axes = _gate.axes(axis, x.ndim)
    name = f"fastsel-count_nonzero-{tokenize(x.name, axes)}"
    every = len(axes) == x.ndim
    count = task(_count_block) if every else task(_count_in_block, axes=axes)
    tasks = {(name, *block): (*count, key) for block, key in blocks(x).items()}
    chunks = tuple((1,) * len(sizes) if k in axes else sizes for k, sizes in enumerate(x.chunks))
    meta = np.empty((0,) * x.ndim, np.intp)
    counts = da.Array(layer(name, tasks, x), name, chunks, meta=meta)
    return counts.sum(axis=axes, keepdims=bool(keepdims))


def first_nonzero(
    a: DaskArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    *,
    keepdims: bool = False,
) -> da.Array:
    """Index of the first non-zero item of a dask array, of all or along axes; -1 if there is none.

    Parameters
    ----------
    a : dask array, any shape, any chunks
        Any dtype; chunk sizes may be unknown.
    axis : int or tuple of int, optional
        Axes to search along; None searches the flattened array.
    keepdims : bool, optional
        Keep the searched axes, with length 1.

    Returns
    -------
    dask array of intp
        The shape of `a` without the axes that were searched along; indices are those in the whole
        array.

    Raises
    ------
    AxisError, TypeError, ValueError
        If an axis is out of range, not an integer or given twice, or if the blocks are not NumPy
        arrays, at once.

    Notes
    -----
    Equals ``fastsel.first_nonzero(...)``. Each block is searched up to its first non-zero item; a
    block is not spared because of what others hold. The least index of all blocks is found as a
    tree.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> x = da.from_array([[0, 1, 7], [0, 0, 0]], chunks=2)
    >>> fastsel.dask.first_nonzero(x, axis=1).compute()
    array([ 1, -1])
    """
    x = checked("a", a)
    axes = tuple(sorted(_positions.checked_axes(axis, x.ndim)))
    name = f"fastsel-first_nonzero-{tokenize(x.name, axes)}"
    where, tasks = locations(x, name)
    for block, key in blocks(x).items():
        tasks[name, *block] = task(_first_in_block, key, where[block], axes=axes)
    chunks = tuple((1,) * len(sizes) if k in axes else sizes for k, sizes in enumerate(x.chunks))
    meta = np.empty((0,) * x.ndim, np.intp)
    found = da.Array(layer(name, tasks, x), name, chunks, meta=meta)
    found = da.reduction(
        found, _least, _least, axis=axes, keepdims=bool(keepdims), dtype=np.intp, meta=meta
    )
    return found.map_blocks(_or_minus_one, dtype=np.intp, meta=found._meta)


def _nonzero_in_block(block, location):
    found = fastsel.nonzero(block)
    return [k + start if start else k for k, start in zip(found, location.start, strict=True)]


def _flatnonzero_in_block(block, location):
    return location.flat(fastsel.flatnonzero(block), block.shape)


def _argwhere_in_block(block, location):
    found = fastsel.argwhere(block)
    found += np.array(location.start, np.intp)
    return found


def _of_each_band(step, x, function):
    """The bands of `x`, and a graph with a result of the function for each of them."""
    x = bands("a", x)
    name = f"fastsel-{step}-{tokenize(x.name)}"
    where, tasks = locations(x, name)
    for k, (block, key) in enumerate(blocks(x).items()):
        tasks[name, k] = task(function, key, where[block])
    return x, layer(name, tasks, x), name


def _whole(x, graph, name, step, get, row_shape=()):
    """What `get` returns for the result of each band, as one dask array."""
    own = f"{step}-{name}"
    tasks = {(own, k) + (0,) * len(row_shape): (get, (name, k)) for k in range(x.npartitions)}
    chunks = ((np.nan,) * x.npartitions, *((size,) for size in row_shape))
    return output(graph, name, own, tasks, chunks, np.intp)


def _itself(result):
    return result


def _or_minus_one(found):
    return np.where(found == _NOWHERE, np.intp(-1), found)


def _least(found, axis, keepdims):
    return np.min(found, axis=axis, keepdims=keepdims, initial=_NOWHERE)


def _first_in_block(block, location, axes):
    """Of each position along the other axes, the index in the whole array, or _NOWHERE."""
    found = np.asarray(fastsel.first_nonzero(block, axes, keepdims=True))
    if not block.size:
        return np.full(found.shape, _NOWHERE)
    searched = Location(*(tuple(s[k] for k in axes) for s in (location.start, location.shape)))
    index = searched.flat(np.maximum(found, 0), tuple(block.shape[k] for k in axes))
    return np.where(found < 0, _NOWHERE, index)


def _count_in_block(block, axes):
    return fastsel.count_nonzero(block, axes, keepdims=True)


def _count_block(block):
    return np.full((1,) * block.ndim, fastsel.count_nonzero(block))
