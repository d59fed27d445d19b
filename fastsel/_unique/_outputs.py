"""The outputs of unique: the groups that an algorithm has found, in the order that is requested."""

import numpy as np

from fastsel._core import _threads
from fastsel._unique import _sort
from fastsel._unique.groups import group_positions, values_at
from fastsel._unique.objects import take_objects

# For up to MAX_COUNTED_GROUPS groups, or groups of COUNTED_KEYS keys on average,
# positions_of_groups counts the keys of each group in each chunk of the inverse; for more groups,
# it sorts the inverse with its positions.
MAX_COUNTED_GROUPS = 1 << 12
COUNTED_KEYS = 8


def outputs_of(groups, request):
    """(values, index, inverse, counts), with None for outputs that are not requested; the inverse
    is 1-d. If positions are grouped: (values, indices, offsets)."""
    values, order, ranks = groups.values, None, None
    if request.ascending and groups.direction != 1:
        values, order, ranks = in_ascending_order(groups, request)
    if request.grouped:
        positions = groups.positions(ranks)
        if positions is None:
            inverse, _ = groups.finish(ranks)
            del groups  # frees its memory
            positions = positions_of_groups(inverse, len(values))
        return values, *positions
    inverse = counts = None
    if request.inverse or request.counts:
        if request.inverse and request.inverse_dtype is not None:
            _check_fit(len(values), request.inverse_dtype)
        inverse, counts = groups.finish(ranks)
    index = groups.index if request.index else None
    inverse, counts = inverse if request.inverse else None, counts if request.counts else None
    if inverse is not None and request.inverse_dtype is not None:
        inverse = inverse.astype(request.inverse_dtype, copy=False)
    if order is not None:
        index, counts = _reordered(index, order), _reordered(counts, order)
    return values, index, inverse, counts


def in_ascending_order(groups, request):
    """(values, order, ranks): the ascending values; the order of the groups, as an array of indices
    or a slice, or None if no output needs it; the inverse permutation, or None if the inverse is
    not requested."""
    values, order, ranks = groups.values, None, None
    with_ranks = request.inverse or request.grouped
    if groups.direction < 0:
        order = slice(None, None, -1)
        ranks = np.arange(len(values) - 1, -1, -1) if with_ranks else None
    elif request.index or with_ranks or request.counts:
        order, ranks = _sort.argsort(values, with_ranks)
    else:
        ascending = _sort.sort(values)
        if ascending is not None:
            return ascending, None, None
        order, _ = _sort.argsort(values, False)
    return _reordered(values, order), order, ranks


def positions_of_groups(inverse, groups):
    """(indices, offsets) of `Groups.positions`, from the inverse."""
    if groups > max(MAX_COUNTED_GROUPS, len(inverse) // COUNTED_KEYS):
        found = _sort.positions(inverse)
        # If another thread changed the keys meanwhile, the inverse may lack a group.
        if found is not None and len(found[1]) == groups + 1:
            return found
    return group_positions(inverse, groups, _threads.for_bytes(2 * inverse.nbytes))


def _reordered(output, order):
    """An output in the order of the values."""
    if output is None:
        return None
    if isinstance(order, slice):
        return np.ascontiguousarray(output[order])
    if output.dtype.kind == "O":
        return take_objects(output, order)
    return values_at(output, order)


def converted(inverse, dtype):
    """The inverse in another dtype. Raises OverflowError if a number does not fit it."""
    if inverse.dtype == dtype:  # it may be unsigned, and max rejects the -1 below
        return inverse
    _check_fit(int(inverse.max(initial=-1)) + 1, dtype)
    return inverse.astype(dtype)


def _check_fit(groups, inverse_dtype):
    """Raise an OverflowError if an inverse of this number of groups does not fit the dtype."""
    greatest = np.iinfo(inverse_dtype).max
    if groups - 1 > greatest:
        raise OverflowError(
            f"ar has {groups} distinct values, whose indices do not fit inverse_dtype "
            f"{inverse_dtype.name}: its greatest number is {greatest}"
        )


def as_result(outputs, inverse_shape):
    """The result of unique: the values, or a tuple of the values and of index, inverse and counts
    where these are not None."""
    values, index, inverse, counts = outputs
    if inverse is not None:
        inverse = inverse.reshape(inverse_shape)
    extras = [output for output in (index, inverse, counts) if output is not None]
    return (values, *extras) if extras else values
