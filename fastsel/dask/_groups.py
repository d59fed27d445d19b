"""The functions that the tasks of unique and group_indices call.

A *group* is a distinct value with the index of its first occurrence and its count. Its *number* is
its position among the groups of a block, of a merged result or of the whole result; its *final
number* is its position in the whole result. Tasks find the groups of blocks, merge, order and
number them.
"""

import math
from typing import NamedTuple

import numpy as np

import fastsel
from fastsel._core import _dtypes
from fastsel._unique import _sort
from fastsel.dask._blocks import shared_dtype

# Borders of partitions are chosen from a sample: at least MIN_SAMPLES values of each block, or all
# if it has fewer, and about MIN_SAMPLES or more per partition. One task holds the whole sample.
MIN_SAMPLES = 32


class Rule(NamedTuple):
    """The items to compare and the outputs to return; the same for all tasks of a call."""

    rows: bool  # slices along axis 0, not items
    equal_nan: bool
    sorted: bool
    inverse: bool
    counts: bool
    smallest_nan: bool = False  # the smallest NaN represents all NaN, instead of the first one
    grouped: bool = False  # the positions of all items are wanted, group after group

    def unique(self, values, **options):
        return fastsel.unique(
            values, axis=0 if self.rows else None, equal_nan=self.equal_nan, **options
        )


class BlockGroups(NamedTuple):
    """Distinct values, the positions of their first occurrences, and how often they occur."""

    values: np.ndarray
    index: np.ndarray
    counts: np.ndarray | None  # None if not requested


class Numbered(NamedTuple):
    """The groups of several sources, or of one block, for the inverse."""

    groups: BlockGroups
    # For each source, the numbers of its groups among these groups. A block is one source, and its
    # items have the numbers, in the smallest unsigned integers.
    numbers: list


class Ordered(NamedTuple):
    """BlockGroups in their final order."""

    groups: BlockGroups
    # For each group, in the order before `arrange`, its position in the final order. None if the
    # order is unchanged, or without the inverse.
    numbers: np.ndarray | None


class Parted(NamedTuple):
    """BlockGroups divided into parts."""

    parts: list  # of BlockGroups
    order: np.ndarray  # part after part, the numbers that the groups had before the division


def leaf(block, location, rule):
    """The BlockGroups of a block, with positions in the whole array; for the inverse, Numbered."""
    values, index, *rest = rule.unique(
        block,
        return_index=True,
        return_inverse=rule.inverse,
        return_counts=rule.counts,
        sorted=rule.smallest_nan,
    )
    index = index + location.start[0] if rule.rows else location.flat(index, block.shape)
    groups = BlockGroups(values, index, rest[-1] if rule.counts else None)
    if not rule.inverse:
        return groups
    return Numbered(groups, [rest[0].astype(np.min_scalar_type(max(len(index) - 1, 0)))])


def merge(parts, rule):
    """The union of the BlockGroups of several sources, in order of first occurrence (with
    `smallest_nan`, NaN come last); for the inverse, Numbered."""
    values, index = joined([part.values for part in parts]), joined([part.index for part in parts])
    order = _representatives_first(values, index, rule.smallest_nan)
    merged_values, first_indices, inverse = rule.unique(
        values[order], return_index=True, return_inverse=True, sorted=False
    )
    new_numbers = np.empty_like(inverse)
    new_numbers[order] = inverse
    counts = None
    if rule.counts:
        counts = np.zeros(len(merged_values), np.intp)
        np.add.at(counts, new_numbers, joined([part.counts for part in parts]))
    groups = BlockGroups(merged_values, index[order][first_indices], counts)
    if not rule.inverse:
        return groups
    ends = np.cumsum([len(part.index) for part in parts])[:-1]
    return Numbered(groups, np.split(new_numbers, ends))


def _representatives_first(values, index, smallest_nan):
    """An order in which the value that represents a group precedes all values equal to it: the
    first one or, with `smallest_nan`, the smallest NaN."""
    order = np.argsort(index, kind="stable")
    if not smallest_nan:
        return order
    nan = np.isnan(values[order])
    nans = order[nan]
    return np.concatenate([order[~nan], nans[np.argsort(values[nans], kind="stable")]])


def arrange(groups, rule):
    """The groups in the order of the result, as Ordered."""
    if not rule.sorted or groups.values.size == 0:
        return Ordered(groups, None)
    try:
        order, ranks = _sort.argsort(groups.values, rule.inverse)
    except TypeError:
        np.sort(groups.values, kind="stable")  # raises NumPy's error, as fastsel.unique does
        raise
    return Ordered(_picked(groups, order), ranks)


def _picked(groups, order):
    return BlockGroups(*(None if part is None else part[order] for part in groups))


def size(ordered):
    """The number of groups."""
    return len(ordered.groups.index)


def final_numbers(ordered, sizes, k):
    """The final numbers of the groups of partition k, in their order before `arrange`. The
    partitions have `sizes` groups."""
    first = sum(sizes[:k])
    if ordered.numbers is None:
        return np.arange(first, first + sizes[k])
    return ordered.numbers + first


def numbers_of_source(numbers, numbered, k):
    """The final numbers of the groups of source k or, with k=0, of the items of a block, from the
    final numbers of the `numbered` groups."""
    return fastsel.gather_nd(numbers, numbered.numbers[k][..., np.newaxis])


def numbers_of_undivided(parted, numbers):
    """The final numbers of groups, in their order before they were divided into parts, from the
    final numbers of the groups of each part."""
    result = np.empty(len(parted.order), np.intp)
    result[parted.order] = joined(numbers)
    return result


def grouped_block(inverse, location):
    """group_indices of the inverse of a block, with positions in the whole array."""
    found = fastsel.group_indices(inverse)
    return found._replace(indices=found.indices + location.start[0])


def grouped_part(grouped, sizes, k):
    """(numbers, indices): for each item of a grouped block whose group is in partition k, the final
    number of this group, and the position of the item. The partitions have `sizes` groups."""
    first = sum(sizes[:k])
    start, stop = np.searchsorted(grouped.values, (first, first + sizes[k]))
    offsets = grouped.offsets[start : stop + 1]
    indices = grouped.indices[offsets[0] : offsets[-1]]
    return np.repeat(grouped.values[start:stop], np.diff(offsets)), indices


def joined_indices(parts):
    """The positions of each group of a partition, group after group, from the grouped_part of each
    block; later blocks have greater positions."""
    numbers, indices = (joined([part[k] for part in parts]) for k in (0, 1))
    return indices[fastsel.group_indices(numbers).indices]


def total(ordered):
    """The number of items of the groups of a partition."""
    return int(ordered.groups.counts.sum())


def offsets_of(ordered, totals, k):
    """Where the positions of each group of partition k end in `indices`; for the first partition,
    preceded by 0. The partitions have `totals` items."""
    ends = np.cumsum(ordered.groups.counts, dtype=np.intp) + sum(totals[:k])
    return ends if k else np.append(np.intp(0), ends)


def sample(groups, count):
    """A sample of the values of a block: at least `count`, or all if it has fewer."""
    return groups.values[:: max(len(groups.values) // count, 1)]


def borders_of_values(samples, partitions):
    """Values that divide the samples into ranges of about equal size; none without samples."""
    values = comparable(joined(samples))
    values = np.sort(values[~_is_nan_object(values)])
    shares = range(1, partitions) if len(values) else ()
    return values[[len(values) * k // partitions for k in shares]]


def borders_of_index(location, partitions, rule):
    """Positions that divide the array into ranges of about equal length."""
    items = location.shape[0] if rule.rows else math.prod(location.shape)
    return np.array([items * k // partitions for k in range(1, partitions)], np.intp)


def part_by_value(groups, borders, partitions):
    """The groups divided into ranges of values; NaN among objects are in the last range."""
    values = comparable(groups.values)
    nans = _is_nan_object(values)
    numbers = np.full(len(values), partitions - 1)
    numbers[~nans] = np.searchsorted(borders, values[~nans], "right")
    return _part(groups, numbers, partitions)


def _is_nan_object(values):
    """Which objects are NaN: NumPy's sort and searchsorted have no place for them."""
    return _dtypes.is_nan(values) if values.dtype.kind == "O" else np.zeros(len(values), bool)


def part_by_index(groups, borders, partitions):
    """The groups divided into ranges of the positions of their first occurrences."""
    return _part(groups, np.searchsorted(borders, groups.index, "right"), partitions)


def one_part(parted, k):
    return parted.parts[k]


def _part(groups, part_numbers, partitions):
    order = np.argsort(part_numbers, kind="stable")
    starts = np.searchsorted(part_numbers[order], np.arange(partitions + 1))
    parts = [_picked(groups, order[starts[k] : starts[k + 1]]) for k in range(partitions)]
    return Parted(parts, order)


def comparable(values):
    """The values in a form for which NumPy's sort and searchsorted use the same order, with equal
    values side by side."""
    if _dtypes.small_foreign(values.dtype):
        values = _dtypes.as_float32(values)
    if values.ndim > 1:
        width = math.prod(values.shape[1:])
        if width == 0:  # rows without items are equal
            return np.zeros(len(values), bool)
        return _sort.as_records(values.reshape(len(values), width))
    if values.dtype.kind == "b":
        return values.view(np.uint8) != 0  # a True may have any byte
    if values.dtype.kind == "T":  # NumPy's searchsorted mixes up strings of two arrays
        return values.astype(object)
    if values.dtype.kind == "c":
        return np.where(np.isnan(values), values.dtype.type(complex(np.nan, np.nan)), values)
    return values


def joined(arrays):
    """The concatenation of arrays, in their `shared_dtype`."""
    return np.concatenate(arrays, dtype=shared_dtype(arrays))
