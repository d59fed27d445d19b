"""Arrange the groups that an algorithm finds, and return the outputs of unique."""

from typing import NamedTuple

import numpy as np

from fastsel._unique import _ascending
from fastsel._unique.objects import take_objects


class AllOutputs(NamedTuple):
    """All outputs; an output that is not wanted is None. The inverse is 1-d."""

    values: np.ndarray
    index: np.ndarray | None
    inverse: np.ndarray | None
    counts: np.ndarray | None
    indices: np.ndarray | None = None  # the positions of all keys, group after group
    offsets: np.ndarray | None = None  # group k has indices[offsets[k]:offsets[k + 1]]


def outputs(all_outputs, inverse_shape):
    """The result of unique: the values, or a tuple of the values and of index, inverse and counts
    where these are not None."""
    values, index, inverse, counts = all_outputs[:4]
    if inverse is not None:
        inverse = inverse.reshape(inverse_shape)
    extras = [output for output in (index, inverse, counts) if output is not None]
    return (values, *extras) if extras else values


def arrange(groups, wanted, sorted):
    """AllOutputs of the groups. If `sorted`, values ascend; otherwise groups keep their order."""
    values, index, direction = groups.values, groups.index, groups.direction
    order = ranks = inverse = counts = None
    if sorted and direction < 0:
        order = slice(None, None, -1)
        ranks = np.arange(len(values) - 1, -1, -1) if wanted.inverse else None
    elif sorted and direction == 0:
        ascending = None if any(wanted) else _ascending.sort(values)
        if ascending is not None:
            values = ascending
        else:
            order, ranks = _ascending.argsort(values, wanted.inverse)
    if wanted.grouped:
        indices, offsets = groups.indices_and_offsets(ranks)
        return AllOutputs(_reordered(values, order), None, None, None, indices, offsets)
    if wanted.inverse or wanted.counts:
        inverse, counts = groups.inverse_and_counts(ranks)
    return AllOutputs(
        _reordered(values, order),
        _reordered(index, order) if wanted.index else None,
        inverse if wanted.inverse else None,
        _reordered(counts, order) if wanted.counts else None,
    )


def _reordered(output, order):
    """An output in the order of the values. The order is an array of indices, a slice, or None if
    the output is in order already."""
    if order is None:
        return output
    if isinstance(order, slice):
        return np.ascontiguousarray(output[order])
    if output.dtype.kind == "O":
        return take_objects(output, order)
    return output.take(order, axis=0)
