"""gather_nd on dask arrays: tasks sort index rows by block of data, and gather from each block."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import SupportsIndex

import dask.array as da
import numpy as np
from dask.base import tokenize

import fastsel
from fastsel._core import _numpy
from fastsel._gather import _gather
from fastsel.dask._blocks import (
    DaskArrayLike,
    array_of,
    check_known,
    checked_array,
    shared_dtype,
    task,
    unknown,
)


def gather_nd(
    data: DaskArrayLike, indices: DaskArrayLike, batch_dims: SupportsIndex = 0
) -> da.Array:
    """The slices of a dask array that rows of indices address; ONNX GatherND-13.

    Parameters
    ----------
    data : dask array or array_like, shape (b..., d0, d1, ...), at least 1-d
        Any dtype, any chunks of known sizes.
    indices : dask array or array_like of integers, shape (b..., n, m, ..., k), at least 1-d
        As in `fastsel.gather_nd`; any chunks. Sizes along the axes between the batch axes and the
        last one may be unknown: so ``gather_nd(x, argwhere(x))`` works.
    batch_dims : int, optional
        Number of leading axes that `data` and `indices` share.

    Returns
    -------
    dask array of data's dtype, shape indices.shape[:-1] + data.shape[batch_dims + k:]
        The chunks are those of `data` along the batch axes and the axes of the slices, and along
        the other axes those of `indices`, or chosen by dask if `indices` is not a dask array.
        Lengths that `indices` does not know are unknown.

    Raises
    ------
    IndexError
        If an index is out of bounds: when called, or when computed if `indices` is a dask array.
        The message names the first index out of bounds of a block, its position in the whole
        `indices` (in the block, if chunk sizes are unknown), and the axis.
    ValueError
        When called, if the shapes do not fit, `batch_dims` is out of range, or needed chunk sizes
        are unknown.
    TypeError
        When called, if `indices` is not of an integer dtype, `batch_dims` is not an integer, or the
        blocks are not NumPy arrays.

    Notes
    -----
    The result equals ``fastsel.gather_nd(data, indices, batch_dims)``. For each block of indices,
    one task sorts the index rows by the block of data that they address. One task per addressed
    block gathers the slices, and one task per block of the result puts them in order. These tasks
    exchange index rows and slices, not blocks of `data`.

    If `indices` is a dask array, each pair of a block of indices and a block of `data` with the
    same batch positions has a task. Otherwise the call itself sorts the index rows, and only blocks
    that they address have a task. To select the non-zero items of an array with many blocks, use
    ``boolean_mask(x, x != 0)`` instead of ``gather_nd(x, argwhere(x))``: it has one task per block.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> x = da.from_array([[0, 1], [2, 3]], chunks=1)
    >>> fastsel.dask.gather_nd(x, [[0, 0], [1, 1]]).compute()
    array([0, 3])
    """
    data = checked_array("data", data)
    in_memory = not isinstance(indices, da.Array)
    rows = _gather._integer_rows(indices) if in_memory else checked_array("indices", indices)
    check_known("data", data)
    if not in_memory:
        _gather._integer_rows(rows._meta)
        shared = min(batch_dims, rows.ndim - 1) if isinstance(batch_dims, int) else 0
        check_known("indices", rows, [*range(shared), rows.ndim - 1])
    batch = _gather._checked_batch_dims(batch_dims, data, rows)
    depth = _gather._checked_depth(data, rows, batch)
    if in_memory:
        size = "auto" if rows.size else -1
        chunks = (*data.chunks[:batch], *[size] * (rows.ndim - 1 - batch), -1)
        rows = da.from_array(rows, chunks=chunks)
    else:
        rows = rows.rechunk({**dict(enumerate(data.chunks[:batch])), rows.ndim - 1: -1})
    return _gathered(data, rows, batch, depth, in_memory)


@dataclass(frozen=True)
class Target:
    """What a block of index rows addresses: the indexed axes of data, divided into blocks."""

    shape: tuple  # of data
    batch: int
    bounds: tuple  # for each indexed axis, the first index of each block, and the length
    # The position of the first index row of the block in the whole of indices; if chunk sizes are
    # unknown, None, and `block` has the numbers of the block.
    start: tuple | None
    block: tuple


@dataclass(frozen=True)
class Located:
    """Index rows, sorted by the block of data that they address."""

    shape: tuple  # of the block of indices, without its last axis
    order: np.ndarray  # the positions of the rows in the block of indices
    first_rows: np.ndarray  # for each block of data, where its rows begin; and the number of rows
    rows: np.ndarray  # indices within the block of data: batch axes first, then indexed axes

    def slice_of(self, number):
        """The slice of the rows that address a block of data, by the number of the block."""
        return slice(self.first_rows[number], self.first_rows[number + 1])


def _gathered(data, rows, batch, depth, in_memory):
    name = f"fastsel-gather_nd-{tokenize(data.name, rows.name, batch)}"
    indexed = data.chunks[batch : batch + depth]
    bounds = tuple(tuple(np.cumsum((0, *sizes)).tolist()) for sizes in indexed)
    grid = tuple(map(len, indexed))
    trailing = data.chunks[batch + depth :]
    starts = [np.cumsum((0, *sizes)).tolist() for sizes in rows.chunks[:-1]]
    known = not any(map(unknown, rows.chunks))
    tasks = {}
    for block in np.ndindex(rows.numblocks[:-1]):
        start = tuple(s[k] for s, k in zip(starts, block, strict=True)) if known else None
        target = Target(data.shape, batch, bounds, start, block)
        addressed = range(math.prod(grid))
        source = (rows.name, *block, 0)
        locate = task(_located, source, target=target)
        if in_memory:  # raise errors now, and leave out blocks of data that no row addresses
            found = _located(rows.blocks[(*block, 0)].compute(scheduler="sync"), target)
            addressed = _numpy.flatnonzero(np.diff(found.first_rows)).tolist()
            locate = found
        located = ("locate-" + name, *block)
        tasks[located] = locate
        for tail in np.ndindex(tuple(map(len, trailing))):
            tail_shape = tuple(sizes[k] for sizes, k in zip(trailing, tail, strict=True))
            parts = []
            for number in addressed:
                where = np.unravel_index(number, grid)
                key = (f"fetch-{name}", number, *block, *tail)
                source = (data.name, *block[:batch], *map(int, where), *tail)
                tasks[key] = task(fastsel.gather_nd, source, (_rows_of, located, number))
                parts.append(key)
            tasks[(name, *block, *tail)] = task(
                _assembled,
                located,
                parts,
                numbers=list(addressed),
                tail_shape=tail_shape,
                dtype=data.dtype,
            )
    return array_of(name, tasks, (*rows.chunks[:-1], *trailing), data.dtype, data, rows)


def _located(indices, target):
    """Check a block of index rows, and sort them by the block of data that they address."""
    batch, depth = target.batch, indices.shape[-1]
    checked_rows = _checked_rows(indices, target)
    count = len(checked_rows)
    number = np.zeros(count, np.intp)
    local = np.empty((count, batch + depth), np.intp)
    if batch:
        grid = np.indices(indices.shape[:-1], sparse=True)[:batch]
        for axis, positions in enumerate(grid):
            local[:, axis] = np.broadcast_to(positions, indices.shape[:-1]).ravel()
    for axis, bounds in enumerate(target.bounds):
        index = checked_rows[:, axis]
        if len(bounds) > 2:
            block = np.searchsorted(bounds[1:], index, "right")
            number = number * (len(bounds) - 1) + block
            index = index - np.array(bounds)[block]
        local[:, batch + axis] = index
    blocks = math.prod(len(bounds) - 1 for bounds in target.bounds)
    number = number.astype(np.min_scalar_type(blocks))  # NumPy sorts 8 and 16 bits by radix
    order = np.argsort(number, kind="stable")
    counts = np.bincount(number, minlength=blocks)
    rows = fastsel.gather_nd(local, order[:, np.newaxis])
    return Located(indices.shape[:-1], order, np.concatenate([[0], np.cumsum(counts)]), rows)


def _checked_rows(indices, target):
    """The index rows, of shape (count, depth), with indices counted from 0. Raises IndexError if
    an index is out of bounds."""
    indices = _gather._integer_rows(indices)
    rows = indices.reshape(math.prod(indices.shape[:-1]), indices.shape[-1])
    sizes = np.array(target.shape[target.batch : target.batch + rows.shape[1]], np.intp)
    wrong = (rows >= sizes) | (rows < -sizes)
    if wrong.any():
        row, column = np.unravel_index(wrong.argmax(), wrong.shape)
        local = np.unravel_index(row, indices.shape[:-1])
        start, whole = target.start, "indices"
        if start is None:
            start, whole = (0,) * len(local), f"block {target.block} of indices"
        position = (*(int(a + b) for a, b in zip(start, local, strict=True)), int(column))
        raise IndexError(
            f"index {rows[row, column]} at position {position} of {whole} is out of bounds for "
            f"axis {target.batch + column} of data with size {sizes[column]}"
        )
    rows = rows.astype(np.intp)
    rows += sizes * (rows < 0)
    return rows


def _rows_of(located, number):
    return located.rows[located.slice_of(number)]


def _assembled(located, parts, numbers, tail_shape, dtype):
    """The slices of all blocks of data, in the order of the index rows."""
    dtype = shared_dtype(parts) if parts else dtype
    out = np.empty((len(located.order), *tail_shape), dtype)
    for number, part in zip(numbers, parts, strict=True):
        out[located.order[located.slice_of(number)]] = part
    return out.reshape(located.shape + tail_shape)
