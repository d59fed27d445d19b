"""The algorithms that find groups of equal keys, and what each gives: its Groups."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fastsel._core import _dtypes, _numpy, _threads, results
from fastsel._positions import bitmask, indices, items
from fastsel._unique import _ascending, _estimate, _keys, _plan, partitions, tables
from fastsel._unique.dense import dense
from fastsel._unique.keys import canonical_keys
from fastsel._unique.presence import ascending_values
from fastsel._unique.presorted import presorted, run_numbers
from fastsel._unique.relabel import relabel
from fastsel._unique.sample import sampled_span
from fastsel._unique.sorting import sorted_groups

# To hash or sort a key takes so many times as long as to copy it.
COST = 8

_BYTE = np.array([0xFF], np.uint64)


class Groups(NamedTuple):
    """Values and index of the groups, and a function that gives what else was wanted.

    finish(order) is (inverse, counts): the counts in the order of the values, the inverse likewise,
    or where `order` says that each group goes. To be called once.
    direction is 1 if the values ascend, -1 if they descend, 0 if they may do neither, as in order
    of first occurrence.
    """

    values: np.ndarray
    index: np.ndarray | None
    finish: Callable
    direction: int = 0


def find(keys, rows, wanted, ascending):
    """The Groups of at least one key; rows are the items that the keys stand for."""
    ascending = bool(ascending and keys.order)
    forced = _plan.FORCED.get()
    if forced is None and (keys.letter or (keys.order and keys.width in (4, 8))):
        groups = _presorted(keys, rows, wanted)
        if groups is not None:
            return groups
    expected, span = _Estimate(keys), _span(keys)
    algorithm = forced or _choose(keys, rows, wanted, ascending, span, expected)
    while (groups := _ALGORITHMS[algorithm](keys, rows, wanted, ascending, span, expected)) is None:
        if algorithm == "dense":  # the sample did not show the whole range
            algorithm = _choose(keys, rows, wanted, ascending, (None, 64), expected)
        else:
            algorithm = _plan.GIVES_WAY_TO[algorithm]
    return groups


def finished(inverse, counts):
    """The function `finish` of Groups whose inverse and counts are known."""

    def finish(order=None):
        if order is not None and inverse is not None:
            relabel(order, inverse, _threads.for_bytes(inverse.nbytes))
        return inverse, counts

    return finish


class _Estimate:
    """The expected number of groups, found when it is asked for."""

    def __init__(self, keys):
        self.keys, self.groups = keys, None

    def __call__(self):
        if self.groups is None:
            self.groups = _estimate.groups_of(self.keys, _keys.SEEDS)
        return self.groups


def _span(keys):
    """(base, bits): where a direct-address table that holds a sample of the keys begins, or None,
    and log2 of their range."""
    if not keys.is_word:
        return None, 64
    return sampled_span(keys.data, keys.size, keys.rule, keys.order or (0, 0, 0))


def _choose(keys, rows, wanted, ascending, span, expected):
    base, bits = span
    nbytes = keys.size * keys.width
    entries = 0
    if base is not None:
        entries = _plan.max_entries(
            *(keys.size, nbytes, _threads.for_bytes(nbytes)),
            firsts=not _values_alone(rows, wanted, ascending),
            numbered=wanted.inverse or wanted.counts,
            counts=wanted.counts,
        )
    return _plan.plan(
        keys.size,
        keys.width,
        ascending=ascending and keys.width in (4, 8),
        extras=any(wanted),
        span_bits=bits,
        entries=entries,
        threads=_threads.for_bytes(nbytes, COST),
        groups=expected,
    )


def _presorted(keys, rows, wanted):
    """Keys that ascend or descend already: equal ones lie side by side."""
    threads = _threads.for_bytes(keys.data.nbytes)
    found = presorted(keys.data, keys.size, keys.rule, keys.order, keys.letter, threads)
    if found is None:
        return None
    bits, direction = found
    mask = bitmask.from_bits(bits, keys.width, threads)

    def finish(order=None):
        inverse = counts = None
        if wanted.inverse:
            inverse = run_numbers(bits, mask.offsets, keys.size, order, threads)
        if wanted.counts:
            counts = np.diff(indices.flat(mask, threads), append=keys.size)
        return inverse, counts

    return Groups(*_at_bits(rows, mask, wanted.index), finish, direction)


def _at_bits(rows, mask, with_index):
    """Values and index in order of first occurrence."""
    threads = _threads.for_bytes(rows.nbytes)
    index = None
    if with_index or not _dtypes.movable(rows.dtype):
        index = indices.flat(mask, threads)
    if not _dtypes.movable(rows.dtype):
        return rows[index], index
    values = results.empty((mask.total, *rows.shape[1:]), rows.dtype)
    items.compress(rows, 0, 1, mask, values, threads)
    return values, index


def _dense(keys, rows, wanted, ascending, span, expected):
    """Words of a narrow range: a direct-address table."""
    alone = _values_alone(rows, wanted, ascending)
    base, bits = span
    if base is None or 1 << bits > _plan.CACHE_BYTES * (8 if alone else 1):  # forced
        return None
    threads = _threads.for_bytes(keys.data.nbytes)
    arguments = keys.data, keys.size, keys.rule, keys.order or (0, 0, 0), span
    if alone:
        values = ascending_values(*arguments, threads)
        return values if values is None else Groups(values.view(rows.dtype), None, _nothing, 1)
    found = dense(*arguments, ascending, wanted.inverse, wanted.counts, threads)
    if found is None:
        return None
    first_occurrences, *extras = found
    if ascending:
        return Groups(rows[first_occurrences], first_occurrences, finished(*extras), 1)
    mask = bitmask.from_bits(first_occurrences, keys.width, threads)
    return Groups(*_at_bits(rows, mask, wanted.index), finished(*extras))


def _values_alone(rows, wanted, ascending):
    """Are the values wanted in order, and no more, and are they what the words' numbers say?"""
    return ascending and not any(wanted) and rows.dtype.kind in "iumM" and rows.dtype.isnative


def _nothing(order=None):
    return None, None


def _sorting(keys, rows, wanted, ascending, span, expected):
    """Numbers of many groups: all are sorted."""
    if not ascending or keys.width not in (4, 8):
        return None
    threads = _threads.for_bytes(keys.data.nbytes, COST)
    found = sorted_groups(
        *(keys.data, keys.size, keys.rule, keys.order, _keys.SEEDS, *wanted, True, threads)
    )
    if found is None:
        return None
    words, index, *extras = found
    return Groups(_ascending.items_of(words, rows, index), index, finished(*extras), 1)


def _by_first(rows, index, inverse, counts):
    """Groups in order of first occurrence, of those in any order."""
    order, ranks = _ascending.argsort(index, True)
    index = index[order]
    if inverse is not None:
        inverse, _ = finished(inverse, None)(ranks)
    return Groups(rows[index], index, finished(inverse, None if counts is None else counts[order]))


def _tables(keys, rows, wanted, ascending, span, expected):
    """Not too many groups: a hash table for each thread."""
    nbytes = keys.data.nbytes
    threads = _plan.table_count(nbytes, expected(), _threads.for_bytes(nbytes, COST))
    most = 2 * max(expected(), _plan.CACHE_BYTES // _plan.GROUP_BYTES // threads)
    job = tables.Tables(
        *(keys.data, keys.size, keys.rule, keys.unequal, _keys.SEEDS, most, expected()),
        *(wanted.inverse, wanted.counts, threads),
    )
    if not job.find():
        return None
    return Groups(rows.take(job.index, axis=0, mode="clip"), job.index, job.finish)


def _partitions(keys, rows, wanted, ascending, span, expected):
    """Many groups: keys are partitioned by their hash, each part has a table."""
    if keys.size >= 1 << 32:  # which are counted in 32 bits
        return None
    threads = _threads.for_bytes(keys.data.nbytes, COST)
    job = partitions.Partitions(
        *(keys.data, keys.size, keys.rule, keys.unequal, _keys.SEEDS, expected()),
        *(wanted.inverse, wanted.counts, threads),
    )
    if not job.find():
        return None
    mask = bitmask.pack(job.marks, 1, _BYTE, keys.width, threads)
    finish = finished(*job.finish(mask.bits, mask.offsets))
    del job  # and its memory
    return Groups(*_at_bits(rows, mask, wanted.index), finish)


def _comparison(keys, rows, wanted, ascending, span, expected):
    """By NumPy's sort of the keys' bytes, which no keys slow down as they may a hash. Behind each
    key stands 0, or its position if it equals no other."""
    width = keys.width
    out = np.empty((keys.size, width + 8), np.uint8)
    kind = _dtypes.WORD if keys.is_word else _dtypes.RAW
    source = keys.data.reshape(keys.size, -1).view(f"u{width}" if keys.is_word else np.uint8)
    canonical_keys(source, keys.size, kind, width, keys.rule, False, out, None, 1)
    if keys.unequal is not None or keys.rule[3]:
        if keys.unequal is None:
            is_unequal = (
                np.ascontiguousarray(out[:, :width]).view(source.dtype).ravel() == keys.rule[2]
            )
        else:
            bits = keys.unequal.view(np.uint8)
            is_unequal = np.unpackbits(bits, bitorder="little", count=keys.size)
        out[:, width:] = (is_unequal * np.arange(1, keys.size + 1)).reshape(-1, 1).view(np.uint8)
    found = iter(_numpy.unique(out.view(f"V{width + 8}").ravel(), True, *wanted[1:])[1:])
    return _by_first(rows, *(next(found) if flag else None for flag in (True, *wanted[1:])))


_ALGORITHMS = {
    "dense": _dense,
    "sorting": _sorting,
    "tables": _tables,
    "partitions": _partitions,
    "comparison": _comparison,
}
