"""compress, extract and boolean_mask of dask arrays."""

from __future__ import annotations

import itertools
import operator
from typing import SupportsIndex

import dask.array as da
import numpy as np
from dask.base import tokenize

import fastsel
from fastsel._core import _numpy
from fastsel.dask._blocks import (
    DaskArrayLike,
    array_of,
    bands,
    blocks,
    checked_array,
    empty,
    one_axis,
    rechunked,
    stand_in,
    task,
    unknown,
)
from fastsel.dask._positions import count_nonzero


def compress(
    condition: DaskArrayLike, a: DaskArrayLike, axis: SupportsIndex | None = None
) -> da.Array:
    """The slices of a dask array along an axis that a condition selects.

    Parameters
    ----------
    condition : dask array or array_like, shape (k,)
        Non-zero items select slices. `condition` may be shorter than the axis (slices beyond its
        end are not selected), or longer if its items beyond the axis are zero. If chunk sizes of
        `condition` or of `a` along the axis are unknown, `condition` must be a dask array with
        chunks of the same sizes as those of `a`.
    a : dask array or array_like, any chunks
        Any dtype.
    axis : int, optional
        None selects items of the flattened array.

    Returns
    -------
    dask array of a's dtype
        Shape and chunks of `a`, except along the axis, whose length is unknown until computed if
        `condition` is a dask array. With axis=None, the array is 1-d.

    Raises
    ------
    ValueError
        When called, if `condition` is not 1-d, or if needed chunk sizes are unknown.
    AxisError, TypeError
        When called, if `axis` is out of range or not an integer, or if the blocks are not NumPy
        arrays.
    IndexError
        If `condition` selects beyond the end of the axis, unless an earlier axis is known to have
        length 0: when called, or when computed if `condition` is a dask array. When computed, if
        chunk sizes that were unknown differ.

    Notes
    -----
    The result equals ``fastsel.compress(condition, a, axis)``. Each block has a separate task. With
    axis=None, `a` is rechunked as by `nonzero`.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> x = da.from_array([[1, 2, 3], [4, 5, 6]], chunks=2)
    >>> fastsel.dask.compress([0, 1, 1], x, axis=1).compute()
    array([[2, 3],
           [5, 6]])
    """
    x = checked_array("a", a)
    if not isinstance(condition, da.Array):
        condition = condition if isinstance(condition, np.ndarray) else np.array(condition, bool)
    if condition.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    if axis is None:
        return _selected(condition, one_axis("a", x), 0)
    x = x.reshape(1) if x.ndim == 0 else x
    _numpy.compress([], stand_in(x), axis)
    axis = operator.index(axis) % x.ndim
    length = condition.shape[0]
    if 0 in x.shape[:axis] and length > x.shape[axis] and not any(map(unknown, x.chunks)):
        # As in NumPy, the condition may select beyond the end: there is nothing to copy.
        chunks = (*x.chunks[:axis], (length,), *x.chunks[axis + 1 :])
        x = empty(x, tuple(map(sum, chunks)), chunks)
    return _selected(condition, x, axis)


def extract(condition: DaskArrayLike, arr: DaskArrayLike) -> da.Array:
    """The items of a dask array where a condition of any shape is non-zero.

    Parameters
    ----------
    condition : dask array or array_like, any shape
        Non-zero items select items of `arr`; the two arrays are read in C order. If chunk sizes of
        one of the arrays are unknown, `condition` must be a dask array whose chunks have the sizes
        of the chunks of `arr`.
    arr : dask array or array_like, any chunks
        Any dtype.

    Returns
    -------
    dask array of arr's dtype, shape (number of selected items,)
        The number of selected items is unknown until computed if `condition` is a dask array.

    Raises
    ------
    IndexError
        If `condition` selects beyond the last item of `arr`: when called, or when computed if
        `condition` is a dask array. When computed, if chunk sizes that were unknown differ.
    TypeError, ValueError
        When called, if the blocks are not NumPy arrays, or if needed chunk sizes are unknown.

    Notes
    -----
    The result equals ``fastsel.extract(condition, arr)``. The notes of `compress` with axis=None
    apply.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> x = da.from_array([[1, 2], [3, 4]], chunks=1)
    >>> fastsel.dask.extract(x % 2 == 1, x).compute()
    array([1, 3])
    """
    if isinstance(condition, da.Array):
        condition = one_axis("condition", condition)
    else:
        condition = np.ravel(condition)
    return _selected(condition, one_axis("arr", checked_array("arr", arr)), 0)


def boolean_mask(a: DaskArrayLike, mask: DaskArrayLike) -> da.Array:
    """The items, or rows, of a dask array where a boolean mask is True; ``a[mask]``.

    Parameters
    ----------
    a : dask array or array_like, shape (n, m, ...), any chunks
        Any dtype.
    mask : dask array or array_like of bool, shape of the leading axes of `a`
        If chunk sizes of these axes are unknown, `mask` must be a dask array with chunks of the
        same sizes.

    Returns
    -------
    dask array of a's dtype, shape (number of True items, remaining axes of `a` ...)
        The number of True items is unknown until computed if `mask` is a dask array.

    Raises
    ------
    IndexError
        If `mask` is not boolean, or its shape differs from the shape of a's leading axes: when
        called, or when computed if chunk sizes are unknown.
    TypeError, ValueError
        When called, if the blocks are not NumPy arrays, or if needed chunk sizes are unknown.

    Notes
    -----
    The result equals ``fastsel.boolean_mask(a, mask)``. If the mask covers several axes, these axes
    are rechunked as by `nonzero`; the other axes keep their chunks.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> x = da.from_array([[1, 2], [3, 4], [5, 6]], chunks=2)
    >>> fastsel.dask.boolean_mask(x, x > 2).compute()
    array([3, 4, 5, 6])
    >>> fastsel.dask.boolean_mask(x, [True, False, True]).compute()
    array([[1, 2],
           [5, 6]])
    """
    x = checked_array("a", a)
    if not isinstance(mask, da.Array):
        is_empty_list = isinstance(mask, list) and np.asarray(mask).size == 0
        mask = np.array(mask, bool) if is_empty_list else np.asarray(mask)
    if mask.dtype != bool:
        raise IndexError(f"mask must be a boolean array, got dtype {mask.dtype}")
    if mask.ndim == 0:
        x, mask = x[np.newaxis], mask.reshape(1)
    _check_mask_shape(x, mask)
    axes = mask.ndim
    if isinstance(mask, da.Array):
        if axes > 1 and mask.shape == x.shape[:axes]:
            mask = mask.rechunk(x.chunks[:axes])
        if axes > 1 and any(map(unknown, x.chunks[:axes] + mask.chunks)):
            x, mask = bands("a", x, axes), bands("mask", mask)
            if mask.numblocks != x.numblocks[:axes]:
                raise ValueError(
                    "mask must have the same chunks as a, where sizes are unknown: got "
                    f"{mask.numblocks} and {x.numblocks[:axes]} chunks; compute_chunk_sizes() "
                    "finds the sizes"
                )
            mask = _checked_by(_check_block_shape, mask, x)
        mask = one_axis("mask", mask)
    else:
        mask = mask.ravel()
    return _selected(mask, one_axis("a", x, axes), 0)


def _check_mask_shape(x, mask):
    """Raise NumPy's errors. A mask axis of length 0 fits any length, as in NumPy."""
    if mask.ndim > x.ndim:
        raise IndexError(
            f"too many indices for array: array is {x.ndim}-dimensional, but {mask.ndim} were "
            "indexed"
        )
    for axis, (size, covers) in enumerate(zip(x.shape, mask.shape, strict=False)):
        if covers not in (0, size) and not np.isnan(size) and not np.isnan(covers):
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis}; size of axis is "
                f"{size} but size of corresponding boolean axis is {covers}"
            )


def _checked_by(check, mask, other, **options):
    """The mask. Each of its tasks calls `check` with its block and the block of `other` at the same
    place; `check` raises an error or returns the block of the mask. `other` may have more axes, of
    which the first block counts, or be 0-d."""
    name = f"fastsel-checked-{tokenize(check.__name__, mask.name, other.name, options)}"
    rest = (0,) * (other.ndim - mask.ndim)
    tasks = {
        (name, *block): task(check, key, (other.name, *(block + rest)[: other.ndim]), **options)
        for block, key in blocks(mask).items()
    }
    return array_of(name, tasks, mask.chunks, mask.dtype, mask, other)


def _check_block_shape(mask, block):
    if any(m not in (0, n) for m, n in zip(mask.shape, block.shape, strict=False)):
        raise IndexError(
            f"boolean index did not match indexed array: shapes {mask.shape} and {block.shape}, in "
            "one of the blocks"
        )
    return mask


def _selected(condition, x, axis):
    """The slices that a 1-d condition selects along an axis."""
    if isinstance(condition, da.Array) and condition.shape[0] < x.shape[axis]:
        x = x[(*[slice(None)] * axis, slice(condition.shape[0]))]
    sizes, size = x.chunks[axis], x.shape[axis]
    if isinstance(condition, da.Array):
        condition, lengths = _fitted(condition, sizes, size, axis), (np.nan,) * len(sizes)
    else:
        if unknown(sizes):
            raise ValueError(
                f"the chunk sizes of the array along axis {axis} are unknown, and the condition is "
                "not a dask array: compute_chunk_sizes() finds them"
            )
        condition = _as_mask(condition, size, axis)
        ends = np.cumsum((0, *sizes)).tolist()
        lengths = tuple(
            int(fastsel.count_nonzero(condition[start:stop]))
            for start, stop in itertools.pairwise(ends)
        )
        condition = da.from_array(condition, chunks=(sizes,))
    name = f"fastsel-compress-{tokenize(x.name, condition.name, axis)}"
    tasks = {
        (name, *block): task(_compress_block, key, (condition.name, block[axis]), axis=axis)
        for block, key in blocks(x).items()
    }
    chunks = (*x.chunks[:axis], lengths, *x.chunks[axis + 1 :])
    result = array_of(name, tasks, chunks, x.dtype, x, condition)
    if len(lengths) > 1 and sum(lengths) == 1:
        # dask takes an axis of length 1 for one block, and broadcasts the first one.
        block = lengths.index(1)
        result = result.blocks[(*[slice(None)] * axis, slice(block, block + 1))]
    return result


def _compress_block(block, mask, axis):
    if len(mask) != block.shape[axis]:
        raise IndexError(
            f"boolean index did not match indexed array along axis {axis}; size of axis is "
            f"{block.shape[axis]} but size of corresponding boolean axis is {len(mask)}, in one "
            "of the blocks"
        )
    return fastsel.compress(mask, block, axis)


def _as_mask(condition, size, axis):
    """A NumPy condition as a mask with the length of the axis."""
    positions = fastsel.flatnonzero(np.asarray(condition))
    if len(positions) and positions[-1] >= size:
        beyond = positions[np.searchsorted(positions, size)]
        raise IndexError(f"index {beyond} is out of bounds for axis {axis} with size {size}")
    mask = np.zeros(size, bool)
    mask[positions] = True
    return mask


def _fitted(condition, sizes, size, axis):
    """A condition that is a dask array, at least as long as the axis: cut to the length of the
    axis, and rechunked to its chunks. If sizes are unknown, the condition itself."""
    condition = checked_array("condition", condition)
    condition_sizes = condition.chunks[0]
    if unknown(sizes) or unknown(condition_sizes):
        if len(sizes) != len(condition_sizes):
            raise ValueError(
                f"condition must have the same chunks as axis {axis}, where sizes are unknown: "
                f"got {len(condition_sizes)} and {len(sizes)} chunks; compute_chunk_sizes() finds "
                "the sizes"
            )
        return condition
    kept = rechunked(condition[:size], (sizes,))
    if condition.shape[0] > size:
        beyond = count_nonzero(condition[size:])
        kept = _checked_by(_check_beyond, kept, beyond, axis=axis, size=size)
    return kept


def _check_beyond(block, count_beyond, axis, size):
    if count_beyond:
        raise IndexError(f"condition selects beyond the end of axis {axis} with size {size}")
    return block
