"""group_indices on dask arrays: signature and docstring."""

from __future__ import annotations

from typing import NamedTuple, SupportsIndex

import dask.array as da

from fastsel.dask._blocks import DaskArrayLike
from fastsel.dask._distinct import outputs_of


class GroupIndices(NamedTuple):
    """What `group_indices` returns."""

    values: da.Array
    indices: da.Array
    offsets: da.Array


def group_indices(
    ar: DaskArrayLike,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
    split_every: SupportsIndex = 8,
    partitions: SupportsIndex | None = None,
) -> GroupIndices:
    """The distinct items, or slices, of a dask array, and where each of them occurs.

    Parameters
    ----------
    ar : dask array, any shape, any chunks
        Any dtype. Chunk sizes may be unknown along the first axis.
    axis : int, optional
        Compare the slices along this axis instead of the items of the flattened array.
    equal_nan, sorted, split_every, partitions : optional
        As in `unique`.

    Returns
    -------
    GroupIndices
        Named tuple (values, indices, offsets) of dask arrays, as from `fastsel.group_indices`, with
        positions in the whole array. The number of groups is unknown until computed; there is one
        chunk, or one for each partition. Compute the three arrays together (``dask.compute``).

    Raises
    ------
    AxisError, TypeError, ValueError
        As `unique`, or if `ar` has several blocks along later axes and unknown chunk sizes.

    Notes
    -----
    The groups are found as by `unique` with the inverse and the counts; then each block is grouped
    by the inverse. The array is rechunked to blocks that follow one another in C order. Without
    partitions, one task holds all indices.

    Examples
    --------
    >>> import dask, dask.array as da, fastsel.dask
    >>> x = da.from_array([3, 1, 3, 2], chunks=2)
    >>> values, indices, offsets = dask.compute(*fastsel.dask.group_indices(x))
    >>> values, indices, offsets
    (array([1, 2, 3]), array([1, 3, 0, 2]), array([0, 1, 2, 4]))
    """
    found = outputs_of(ar, axis, split_every, partitions, equal_nan, sorted, grouped=True)
    return GroupIndices(found["values"], found["indices"], found["offsets"])
