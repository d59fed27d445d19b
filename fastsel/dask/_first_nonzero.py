"""first_nonzero of dask arrays."""

from __future__ import annotations

from typing import SupportsIndex

import dask.array as da
import numpy as np
from dask.base import tokenize

import fastsel
from fastsel._positions import _first_nonzero
from fastsel.dask._blocks import (
    DaskArrayLike,
    Location,
    array_of,
    blocks,
    checked_array,
    locations,
    task,
)

# The index of a block without non-zero items: greater than every index.
_NOT_FOUND = np.iinfo(np.intp).max


def first_nonzero(
    a: DaskArrayLike,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    *,
    keepdims: bool = False,
) -> da.Array:
    """Index of the first non-zero item, in a dask array or along its axes; -1 if all are zero.

    Parameters
    ----------
    a : dask array or array_like, any shape, any chunks
        Any dtype; chunk sizes may be unknown.
    axis : int or tuple of int, optional
        Axes to search along; None searches the flattened array.
    keepdims : bool, optional
        Keep the searched axes, with length 1.

    Returns
    -------
    dask array of intp
        The shape of `a` without the searched axes; with `keepdims` these axes have length 1. An
        index counts the items of the whole array along the searched axes, not those of a block.

    Raises
    ------
    AxisError, TypeError, ValueError
        When called, if an axis is out of range, not an integer or given twice, or if the blocks are
        not NumPy arrays.

    Notes
    -----
    The result equals ``fastsel.first_nonzero(...)``. Each block is searched up to its first
    non-zero item, even if an earlier block has a non-zero item. A tree of tasks finds the least
    index.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> x = da.from_array([[0, 1, 7], [0, 0, 0]], chunks=2)
    >>> fastsel.dask.first_nonzero(x, axis=1).compute()
    array([ 1, -1])
    """
    x = checked_array("a", a)
    axes = tuple(sorted(_first_nonzero.checked_axes(axis, x.ndim)))
    name = f"fastsel-first_nonzero-{tokenize(x.name, axes)}"
    where, tasks = locations(x, name)
    for block, key in blocks(x).items():
        tasks[name, *block] = task(_first_in_block, key, where[block], axes=axes)
    chunks = tuple((1,) * len(sizes) if k in axes else sizes for k, sizes in enumerate(x.chunks))
    found = array_of(name, tasks, chunks, np.intp, x)
    result = da.reduction(
        found, _least, _least, axis=axes, keepdims=bool(keepdims), dtype=np.intp, meta=found._meta
    )
    return result.map_blocks(_or_minus_one, dtype=np.intp, meta=result._meta)


def _or_minus_one(found):
    return np.where(found == _NOT_FOUND, np.intp(-1), found)


def _least(found, axis, keepdims):
    return np.min(found, axis=axis, keepdims=keepdims, initial=_NOT_FOUND)


def _first_in_block(block, location, axes):
    """For each position along the other axes, the first non-zero item of the block: its index in
    the whole array along `axes`, or _NOT_FOUND."""
    local = np.asarray(fastsel.first_nonzero(block, axes, keepdims=True))
    if not block.size:
        return np.full(local.shape, _NOT_FOUND)
    searched = Location(*(tuple(s[k] for k in axes) for s in (location.start, location.shape)))
    index = searched.flat(np.maximum(local, 0), tuple(block.shape[k] for k in axes))
    return np.where(local < 0, _NOT_FOUND, index)
