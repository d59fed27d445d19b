"""group_indices on dask arrays: signature and docstring."""

from __future__ import annotations

from typing import NamedTuple, SupportsIndex

import dask.array as da

from fastsel.dask._blocks import DaskArrayLike
from fastsel.dask._groups import Rule
from fastsel.dask._unique import outputs_of


class GroupIndices(NamedTuple):
    """The result of `group_indices`."""

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
    ar : dask array or array_like, any shape, any chunks
        Any dtype. Chunk sizes may be unknown if only `axis`, or with axis=None the first axis, has
        several chunks.
    axis : int, optional
        Compare the slices along this axis instead of the items of the flattened array.
    equal_nan, sorted, split_every, partitions : optional
        As in `unique`.

    Returns
    -------
    GroupIndices
        Named tuple (values, indices, offsets) of dask arrays, equal to those of
        `fastsel.group_indices`; positions are in the whole array. The number of groups is unknown
        until computed, and with several partitions also the length of `indices`. Along the groups,
        each array has one chunk, or one for each partition. Compute the three arrays together
        (``dask.compute``).

    Raises
    ------
    AxisError, TypeError, ValueError
        As `unique`, or, with axis=None, if `ar` has several blocks along later axes and unknown
        chunk sizes.

    Notes
    -----
    The groups are found as by `unique` with the inverse and the counts; then each block is grouped
    by its inverse. The array is rechunked to blocks that follow one another in C order or, with
    `axis`, so that no slice is divided. Without partitions, one task holds all indices.

    Examples
    --------
    >>> import dask, dask.array as da, fastsel.dask
    >>> x = da.from_array([3, 1, 3, 2], chunks=2)
    >>> values, indices, offsets = dask.compute(*fastsel.dask.group_indices(x))
    >>> values, indices, offsets
    (array([1, 2, 3]), array([1, 3, 0, 2]), array([0, 1, 2, 4]))
    """
    rule = Rule(False, equal_nan, sorted, inverse=True, counts=True, grouped=True)
    found = outputs_of(ar, axis, split_every, partitions, rule)
    return GroupIndices(found["values"], found["indices"], found["offsets"])
