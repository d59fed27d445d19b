"""unique and the array-API functions on dask arrays: signature, docstring, output arrays."""

from __future__ import annotations

import operator
from typing import Any, Literal, NamedTuple, SupportsIndex, overload

import dask.array as da
import numpy as np
from dask.base import tokenize
from numpy.typing import DTypeLike

from fastsel._core import _gate, _numpy
from fastsel._unique._outputs import converted
from fastsel.dask import _stages
from fastsel.dask._blocks import (
    DaskArrayLike,
    bands,
    checked_array,
    layer,
    one_axis,
    output,
    stand_in,
)
from fastsel.dask._groups import Rule


class UniqueAllResult(NamedTuple):
    """The result of `unique_all`."""

    values: da.Array
    indices: da.Array
    inverse_indices: da.Array
    counts: da.Array


class UniqueCountsResult(NamedTuple):
    """The result of `unique_counts`."""

    values: da.Array
    counts: da.Array


class UniqueInverseResult(NamedTuple):
    """The result of `unique_inverse`."""

    values: da.Array
    inverse_indices: da.Array


@overload
def unique(
    ar: DaskArrayLike,
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
    inverse_dtype: DTypeLike | None = None,
    split_every: SupportsIndex = 8,
    partitions: SupportsIndex | None = None,
) -> da.Array: ...
@overload
def unique(
    ar: DaskArrayLike,
    return_index: Literal[True],
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
    inverse_dtype: DTypeLike | None = None,
    split_every: SupportsIndex = 8,
    partitions: SupportsIndex | None = None,
) -> tuple[da.Array, ...]: ...
@overload
def unique(
    ar: DaskArrayLike,
    return_index: bool,
    return_inverse: Literal[True],
    return_counts: bool = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
    inverse_dtype: DTypeLike | None = None,
    split_every: SupportsIndex = 8,
    partitions: SupportsIndex | None = None,
) -> tuple[da.Array, ...]: ...
@overload
def unique(
    ar: DaskArrayLike,
    return_index: bool = False,
    *,
    return_inverse: Literal[True],
    return_counts: bool = False,
    axis: SupportsIndex | None = None,
    equal_nan: bool = True,
    sorted: bool = True,
    inverse_dtype: DTypeLike | None = None,
    split_every: SupportsIndex = 8,
    partitions: SupportsIndex | None = None,
) -> tuple[da.Array, ...]: ...
@overload
def unique(
    ar: DaskArrayLike,
    return_index: bool,
    return_inverse: bool,
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
    inverse_dtype: DTypeLike | None = None,
    split_every: SupportsIndex = 8,
    partitions: SupportsIndex | None = None,
) -> tuple[da.Array, ...]: ...
@overload
def unique(
    ar: DaskArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    *,
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    equal_nan: bool = True,
    sorted: bool = True,
    inverse_dtype: DTypeLike | None = None,
    split_every: SupportsIndex = 8,
    partitions: SupportsIndex | None = None,
) -> tuple[da.Array, ...]: ...
@overload
def unique(
    ar: DaskArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
    inverse_dtype: DTypeLike | None = None,
    split_every: SupportsIndex = 8,
    partitions: SupportsIndex | None = None,
) -> da.Array | tuple[da.Array, ...]: ...
def unique(
    ar: DaskArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
    inverse_dtype: DTypeLike | None = None,
    split_every: SupportsIndex = 8,
    partitions: SupportsIndex | None = None,
) -> Any:
    """The distinct items, or slices, of a dask array; equals ``fastsel.unique(...)``.

    Parameters
    ----------
    ar : dask array or array_like, any shape, any chunks
        Any dtype. Chunk sizes may be unknown; with `axis`, only if no other axis has several
        chunks.
    return_index, return_inverse, return_counts : bool, optional
        Also return the index of each value's first occurrence in the whole array, the indices into
        the values that rebuild `ar`, and how often each value occurs.
    axis : int, optional
        Compare the slices along this axis instead of the items of the flattened array.
    equal_nan, sorted : bool, optional
        As in `fastsel.unique`; ``sorted=False`` is the order of first occurrence.
    inverse_dtype : dtype, optional
        An integer dtype for the inverse; intp by default.
    split_every : int, optional
        Without `partitions`, the greatest number of blocks, and then of merged results, that one
        task merges; at least 2.
    partitions : int, optional
        Divide the groups into this number of ranges of values, and merge each range in a separate
        task, for groups that do not fit into the memory of one worker. With ``sorted=False``, the
        merged groups are then divided into ranges of positions. At least 1; None merges all groups
        as a tree.

    Returns
    -------
    values : dask array of ar's dtype, shape (groups,), or the shape of `ar` with `axis` shortened
    index : dask array of intp, shape (groups,)
    inverse : dask array of `inverse_dtype`, shape of `ar` in its chunks, or (length of the axis,)
    counts : dask array of intp, shape (groups,)
        One array if only the values are requested, otherwise a tuple in this order. The number of
        groups is unknown until computed. Along the groups, each output has one chunk, or one for
        each partition. Compute several outputs together (``dask.compute``): they share the tasks
        that find the groups.

    Raises
    ------
    AxisError, TypeError
        When called, if `axis` is out of range or not an integer, or is given for an array of
        objects or StringDType that is not 1-d.
    TypeError
        When called, if the blocks are not NumPy arrays, or if `split_every` or `partitions` is not
        an integer, or `inverse_dtype` is not an integer dtype. When computed, if objects cannot be
        ordered; with ``sorted=False`` and without partitions, only if they can be neither ordered
        nor hashed.
    ValueError
        When called, if `split_every` or `partitions` is too small, or if needed chunk sizes are
        unknown.
    OverflowError
        When computed, if there are more values than `inverse_dtype` can count.

    Notes
    -----
    **Time.** Each block is read once, by one task, which returns the groups of the block. With
    `axis`, the array is rechunked so that no slice is divided.

    **Memory.** A task holds a block, or the groups of `split_every` blocks or merged results; the
    last task holds all groups. With partitions, a task holds one range of the groups of all blocks.

    For the inverse, two things are held for each block until all groups are known: the groups of
    the block, and the inverse of the block alone, in the smallest unsigned integers (of 1, 2 or 4
    bytes for up to 2**32 groups). With ``equal_nan=False`` each NaN is a group, and with partitions
    one task merges all NaN.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> x = da.from_array([3, 1, 3, 2], chunks=2)
    >>> fastsel.dask.unique(x).compute()
    array([1, 2, 3])
    >>> values, inverse, counts = fastsel.dask.unique(
    ...     x, return_inverse=True, return_counts=True, sorted=False
    ... )
    >>> values.compute(), inverse.compute(), counts.compute()
    (array([3, 1, 2]), array([0, 1, 0, 2]), array([2, 1, 1]))
    >>> inverse.chunks, values.chunks
    (((2, 2),), ((nan,),))
    """
    rule = Rule(False, equal_nan, sorted, return_inverse, return_counts)
    found = outputs_of(ar, axis, split_every, partitions, rule)
    if inverse_dtype is not None:
        inverse_dtype = _gate.index_dtype(inverse_dtype, "inverse_dtype")
        if return_inverse:
            found["inverse"] = found["inverse"].map_blocks(
                converted, inverse_dtype, dtype=inverse_dtype
            )
    wanted = {"index": return_index, "inverse": return_inverse, "counts": return_counts}
    extras = [found[name] for name, is_wanted in wanted.items() if is_wanted]
    return (found["values"], *extras) if extras else found["values"]


def unique_all(x: DaskArrayLike, /) -> UniqueAllResult:
    """Distinct values, first indices, inverse and counts of a dask array.

    Parameters
    ----------
    x : dask array or array_like, any shape, any chunks

    Returns
    -------
    UniqueAllResult
        Named tuple (values, indices, inverse_indices, counts) of dask arrays. The values
        ascend, and each NaN is a value of its own. The number of groups is unknown until computed.

    Notes
    -----
    The notes of `unique` apply. The result equals ``fastsel.unique_all(x)``.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> fastsel.dask.unique_all(da.from_array([2, 1, 2], chunks=2)).indices.compute()
    array([1, 0])
    """
    return UniqueAllResult(*unique(x, True, True, True, equal_nan=False))


def unique_counts(x: DaskArrayLike, /) -> UniqueCountsResult:
    """Distinct values and counts of a dask array.

    Parameters
    ----------
    x : dask array or array_like, any shape, any chunks

    Returns
    -------
    UniqueCountsResult
        Named tuple (values, counts) of dask arrays. The values ascend, and each NaN is a value of
        its own. The number of groups is unknown until computed.

    Notes
    -----
    The notes of `unique` apply. The result equals ``fastsel.unique_counts(x)``.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> fastsel.dask.unique_counts(da.from_array([2, 1, 2], chunks=2)).counts.compute()
    array([1, 2])
    """
    return UniqueCountsResult(*unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x: DaskArrayLike, /) -> UniqueInverseResult:
    """Distinct values and the inverse of a dask array.

    Parameters
    ----------
    x : dask array or array_like, any shape, any chunks

    Returns
    -------
    UniqueInverseResult
        Named tuple (values, inverse_indices) of dask arrays. The values ascend, and each NaN
        is a value of its own. The number of groups is unknown until computed.

    Notes
    -----
    The notes of `unique` apply. The result equals ``fastsel.unique_inverse(x)``.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> fastsel.dask.unique_inverse(da.from_array([2, 1, 2], chunks=2)).inverse_indices.compute()
    array([1, 0, 1])
    """
    return UniqueInverseResult(*unique(x, return_inverse=True, equal_nan=False))


def unique_values(x: DaskArrayLike, /) -> da.Array:
    """Distinct values of a dask array in order of first occurrence.

    Parameters
    ----------
    x : dask array or array_like, any shape, any chunks

    Returns
    -------
    dask array of x's dtype, shape (groups,)
        Each NaN is a value of its own. The number of groups is unknown until computed.

    Notes
    -----
    The notes of `unique` apply. The result equals ``fastsel.unique_values(x)``.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> fastsel.dask.unique_values(da.from_array([2, 1, 2], chunks=2)).compute()
    array([2, 1])
    """
    return unique(x, equal_nan=False, sorted=False)


def outputs_of(ar, axis, split_every, partitions, rule):
    """The outputs of unique or, if `rule.grouped`, of group_indices: a dict of dask arrays by name.
    It has an array `counts` that cannot be computed if `rule.counts` is false. The rule has the
    caller's flags as they are, and `rows` and `smallest_nan` are not yet set."""
    x = checked_array("ar", ar)
    axis = _checked_axis(x, axis)
    _check_at_least("split_every", split_every, 2)
    if partitions is not None:
        _check_at_least("partitions", partitions, 1)
    if axis is not None:
        x = bands("ar", np.moveaxis(x, axis, 0), whole_rows=True)
    elif rule.grouped:
        x = one_axis("ar", x if x.ndim else x.reshape(1))
    rule = Rule(*map(bool, rule))
    merges_nan = x.dtype.kind == "c" and axis is None and rule.sorted and rule.equal_nan
    rule = rule._replace(rows=axis is not None, smallest_nan=merges_nan)
    found = _outputs(x, rule, split_every, partitions)
    if axis is not None:
        found["values"] = np.moveaxis(found["values"], 0, axis)
    return found


def _checked_axis(x, axis):
    """The axis of the slices, or None for items; the slices of a 1-d array are its items."""
    if axis is None:
        return None
    _numpy.unique(stand_in(x), axis=axis)
    return operator.index(axis) % x.ndim if x.ndim > 1 else None


def _check_at_least(name, value, least):
    if _gate.integer(name, value) < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")


def _outputs(x, rule, split_every, partitions):
    """`outputs_of` for checked arguments; the slices are along axis 0."""
    name = f"fastsel-unique-{tokenize(x.name, rule, split_every, partitions)}"
    graph = _stages.Graph(x, name, rule)
    last = (
        graph.merge_by_tree(split_every)
        if partitions is None
        else graph.merge_by_partitions(partitions)
    )
    groups = (np.nan,) * len(last)
    rows = [(size,) for size in x.shape[1:]] if rule.rows else []
    parts = {
        part: ([(operator.attrgetter(f"groups.{part}"), key) for key in last], (groups, *rest))
        for part, rest in {"values": rows, "index": (), "counts": ()}.items()
    }
    if rule.grouped:
        indices, offsets = graph.group_indices_tasks(last)
        parts["indices"] = indices, (x.shape[:1] if len(last) == 1 else groups,)
        parts["offsets"] = offsets, (groups,)
    elif rule.inverse:
        parts["inverse"] = graph.inverse_tasks(last), x.chunks[:1] if rule.rows else x.chunks
    found = layer(name, graph.tasks, x)  # copies the tasks, so it follows the calls that add some
    return {
        part: output(found, name, part, tasks, chunks, x.dtype if part == "values" else np.intp)
        for part, (tasks, chunks) in parts.items()
    }
