"""The functions that the tasks of unique call.

A *group* is a distinct value with the index of its first occurrence and its count; its *number* is
its position in the result. Tasks find the groups of blocks, merge, order and number them.
"""

import math
from typing import NamedTuple

import numpy as np

import fastsel
from fastsel._core import _dtypes
from fastsel._unique import _ascending
from fastsel.dask._blocks import shared_dtype

# Borders of partitions are chosen from a sample of at least MIN_SAMPLES values per partition, and
# per block. One task holds the whole sample.
MIN_SAMPLES = 32


class Rule(NamedTuple):
    """The items to compare and the outputs to return; the same for all tasks of a call."""

    rows: bool  # slices along axis 0, not items
    equal_nan: bool
    sorted: bool
    inverse: bool
    counts: bool
    smallest_nan: bool  # the smallest NaN represents all NaN, instead of the first one
    grouped: bool = False  # the positions of all items are wanted, group after group

    def unique(self, values, **options):
        return fastsel.unique(
            values, axis=0 if self.rows else None, equal_nan=self.equal_nan, **options
        )


class Groups(NamedTuple):
    """Distinct values, the positions of their first occurrences, and how often they occur."""

    values: np.ndarray
    index: np.ndarray
    counts: np.ndarray | None


class Leaf(NamedTuple):
    """Groups and, for the inverse, the group of each item of the block, as small integers."""

    groups: Groups
    codes: np.ndarray


class Merged(NamedTuple):
    """Merged groups and, for the inverse, the new numbers of the groups of each source."""

    groups: Groups
    new_numbers: list


class Ordered(NamedTuple):
    """Groups in their final order, and the new number of each group (None: unchanged)."""

    groups: Groups
    numbers: np.ndarray | None


class Parted(NamedTuple):
    """Groups divided into parts, and their previous numbers, part after part."""

    parts: list
    order: np.ndarray


def leaf(block, location, rule):
    """The groups of one block, with positions in the whole array; a Leaf for the inverse."""
    values, index, *rest = rule.unique(
        block,
        return_index=True,
        return_inverse=rule.inverse,
        return_counts=rule.counts,
        sorted=rule.smallest_nan,
    )
    index = index + location.start[0] if rule.rows else location.flat(index, block.shape)
    groups = Groups(values, index, rest[-1] if rule.counts else None)
    if not rule.inverse:
        return groups
    return Leaf(groups, rest[0].astype(np.min_scalar_type(max(len(index) - 1, 0))))


def merge(parts, rule):
    """The union of groups, in order of first occurrence (with `smallest_nan`, NaN come last);
    Merged for the inverse."""
    values, index = joined([part.values for part in parts]), joined([part.index for part in parts])
    order = _first_ones_first(values, index, rule.smallest_nan)
    merged_values, first_indices, inverse = rule.unique(
        values[order], return_index=True, return_inverse=True, sorted=False
    )
    new_numbers = np.empty_like(inverse)
    new_numbers[order] = inverse
    counts = None
    if rule.counts:
        counts = np.zeros(len(merged_values), np.intp)
        np.add.at(counts, new_numbers, joined([part.counts for part in parts]))
    groups = Groups(merged_values, index[order][first_indices], counts)
    if not rule.inverse:
        return groups
    ends = np.cumsum([len(part.index) for part in parts])[:-1]
    return Merged(groups, np.split(new_numbers, ends))


def _first_ones_first(values, index, smallest_nan):
    """An order in which the value that represents a group precedes all values equal to it."""
    order = np.argsort(index, kind="stable")
    if not smallest_nan:
        return order
    nan = np.isnan(values[order])
    nans = order[nan]
    return np.concatenate([order[~nan], nans[np.argsort(values[nans], kind="stable")]])


def arrange(groups, rule):
    """The groups in the order of the result."""
    if not rule.sorted or groups.values.size == 0:
        return Ordered(groups, None)
    order, ranks = _ascending.argsort(groups.values, rule.inverse)
    return Ordered(_picked(groups, order), ranks)


def _picked(groups, order):
    return Groups(*(None if part is None else part[order] for part in groups))


def size(ordered):
    """The number of groups."""
    return len(ordered.groups.index)


def numbers_of_last(ordered, sizes, k):
    """The final numbers of the groups of part k, in their order before `arrange`."""
    first = sum(sizes[:k])
    if ordered.numbers is None:
        return np.arange(first, first + sizes[k])
    return ordered.numbers + first


def numbers_before(numbers, merged, k):
    """The numbers of the groups of source k, from the numbers of the merged groups."""
    return look_up(numbers, merged.new_numbers[k])


def numbers_of_whole(parted, numbers):
    """The numbers of groups before they were divided, from the numbers of their parts."""
    result = np.empty(len(parted.order), np.intp)
    result[parted.order] = joined(numbers)
    return result


def numbered_block(numbers, leaf):
    """The inverse of a block."""
    return look_up(numbers, leaf.codes)


def grouped_block(numbers, location):
    """The numbers of the groups of a block, and where each of them occurs in the whole array."""
    found = fastsel.group_indices(numbers)
    return found._replace(indices=found.indices + location.start[0])


def grouped_part(grouped, sizes, k):
    """The positions of the groups of part k, and the group number of each position."""
    first = sum(sizes[:k])
    start, stop = np.searchsorted(grouped.values, (first, first + sizes[k]))
    offsets = grouped.offsets[start : stop + 1]
    indices = grouped.indices[offsets[0] : offsets[-1]]
    return np.repeat(grouped.values[start:stop], np.diff(offsets)), indices


def joined_indices(parts):
    """The positions of each group of a part, group after group, from its positions in each block;
    later blocks have greater positions."""
    numbers, indices = (joined([part[k] for part in parts]) for k in (0, 1))
    return indices[fastsel.group_indices(numbers).indices]


def total(ordered):
    """The number of items of the groups of a part."""
    return int(ordered.groups.counts.sum())


def offsets_of(ordered, totals, k):
    """Where the positions of each group of part k end, and for the first part the 0 before them."""
    ends = np.cumsum(ordered.groups.counts, dtype=np.intp) + sum(totals[:k])
    return ends if k else np.append(np.intp(0), ends)


def look_up(numbers, codes):
    return fastsel.gather_nd(numbers, codes[..., np.newaxis])


def sample(groups, count):
    """A sample of the values of a block."""
    return groups.values[:: max(len(groups.values) // count, 1)]


def borders_of_values(samples, partitions):
    """Values that divide the samples into equal shares, and all values into about equal shares."""
    values = np.sort(comparable(joined(samples)))
    shares = range(1, partitions) if len(values) else ()
    return values[[len(values) * k // partitions for k in shares]]


def borders_of_index(location, partitions, rule):
    """Positions that divide the array into equal shares."""
    items = location.shape[0] if rule.rows else math.prod(location.shape)
    return np.array([items * k // partitions for k in range(1, partitions)], np.intp)


def part_by_value(groups, borders, partitions):
    """The groups in ranges of values."""
    return _part(groups, np.searchsorted(borders, comparable(groups.values), "right"), partitions)


def part_by_index(groups, borders, partitions):
    """The groups in ranges of first occurrences."""
    return _part(groups, np.searchsorted(borders, groups.index, "right"), partitions)


def one_part(parted, k):
    return parted.parts[k]


def _part(groups, numbers, partitions):
    order = np.argsort(numbers, kind="stable")
    ends = np.searchsorted(numbers[order], np.arange(partitions + 1))
    parts = [_picked(groups, order[ends[k] : ends[k + 1]]) for k in range(partitions)]
    return Parted(parts, order)


def comparable(values):
    """Values in a form that NumPy's searchsorted can order, with equal values side by side."""
    if _dtypes.small_foreign(values.dtype):
        values = _dtypes.as_float32(values)
    if values.ndim > 1:
        width = math.prod(values.shape[1:])
        if width == 0:  # rows without items are equal
            return np.zeros(len(values), bool)
        return _ascending.as_records(values.reshape(len(values), width))
    if values.dtype.kind == "c":
        return np.where(np.isnan(values), values.dtype.type(complex(np.nan, np.nan)), values)
    return values


def joined(arrays):
    """The concatenation of several arrays."""
    return np.concatenate(arrays, dtype=shared_dtype(arrays))
