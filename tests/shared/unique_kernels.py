"""The kernels of unique as functions with keyword arguments: a kernel has positional arguments."""

import numpy as np
from collisions import SEEDS

from fastsel._unique import _keys
from fastsel._unique.dense import Dense
from fastsel._unique.groups import Request, Search
from fastsel._unique.keys import Keys, Rule
from fastsel._unique.partitions import Partitions
from fastsel._unique.presorted import Presorted
from fastsel._unique.scatter import ScatterByHash, ScatterByValue
from fastsel._unique.small_arrays import unique_of_few
from fastsel._unique.sorting import Sorting
from fastsel._unique.tables import Tables

# All bits of a word are significant, and no word is NaN.
INTEGER_RULE = ((1 << 64) - 1, (1 << 64) - 1, 0, False)


def search_for(keys, rows=None, *, threads=1, expected=None, **outputs):
    """A Search; its sample is replaced by the number of groups that is expected."""
    rows = np.arange(keys.size) if rows is None else rows
    search = Search(keys, rows, Request(**{"ascending": False} | outputs), threads, threads)
    if expected is not None:
        search.expect(expected)
    return search


def keys_of(array, rule=INTEGER_RULE, seeds=SEEDS, unequal=None):
    """The Keys of an array; each row is a key."""
    return Keys(array, rule if isinstance(rule, Rule) else Rule(*rule), seeds, unequal)


def make_tables(
    array,
    *,
    rule=INTEGER_RULE,
    seeds=SEEDS,
    unequal=None,
    max_groups=1 << 20,
    expected=0,
    threads=1,
    **outputs,
):
    """The tables of `array`, before keys are added to them; each row is a key."""
    keys = keys_of(array, rule, seeds, unequal)
    tables = Tables(search_for(keys, threads=threads, expected=max(1, expected), **outputs))
    tables.max_groups = max_groups
    return tables


def make_partitions(array, *, expected=1, threads=1, **outputs):
    """The partitions of `array`, before its keys are scattered; each row is a key."""
    search = search_for(keys_of(array), threads=threads, expected=expected, index=True, **outputs)
    return Partitions(search)


def scatter_by_hash(keys, *, positions=True, threads=1):
    return ScatterByHash(keys, None, positions, threads)


def scatter_by_value(keys, *, positions=True, threads=1):
    return ScatterByValue(keys, max(1, min(256, keys.size // 4096)), positions, threads)


def sort_keys(keys, *, threads=1, **outputs):
    """(values, index, inverse, counts) by the sort of all keys; None if there are too many."""
    groups = Sorting(search_for(keys, keys.data, threads=threads, ascending=True, **outputs))
    if not groups.find():
        return None
    index = groups.index if outputs.get("index") else None
    return groups.values, index, *groups.finish(None)


def sort_positions(keys, *, threads=1):
    """The positions of the sorted keys."""
    groups = Sorting(search_for(keys, keys.data, threads=threads, ascending=True, grouped=True))
    return groups.positions(None)[0] if groups.find() else None


def find_presorted(array):
    """The groups of presorted items; None if they are not in order."""
    groups = Presorted(search_for(_keys.keys_of(array, True), array))
    return groups if groups.find() else None


def sign_bit(dtype):
    """The bit that is flipped to make ordered keys of integers: the sign bit, or 0 for an unsigned
    dtype."""
    return 0 if dtype.kind == "u" else 1 << 8 * dtype.itemsize - 1


def integers(array):
    """The Keys of an array of integers."""
    return Keys(array, Rule(*INTEGER_RULE, (sign_bit(array.dtype), 0, 0)), SEEDS)


def find_dense(array, window, *, threads=1, **outputs):
    """(values, index, inverse, counts) of integers, by direct addressing of `window`, which is
    (base, entries); None if too many integers are outside."""
    search = search_for(integers(array), array, threads=threads, **outputs)
    search.window = window
    groups = Dense(search)
    if not groups.find():
        return None
    return groups.values, groups.index, *groups.finish(None)


def windows_of(array):
    """(base, entries) of the windows of a sample of integers: of all its keys, and of fewer."""
    return search_for(integers(array)).windows


def estimate(keys):
    """The estimated number of groups."""
    return search_for(keys).expected


def find_few(array, *, equal_nan=True, index=False, inverse=False, counts=False, ascending=False):
    """(values, index, inverse, counts) of few items; None if a hash table takes too many probes, or
    if the values would have to be sorted by the caller."""
    flags = index, inverse, counts
    rule = _keys.loaded_rule(array.dtype, equal_nan)
    result = unique_of_few(array, rule, SEEDS, Request(*flags, ascending), None)
    if result is None:
        return None
    values, *outputs = result if any(flags) else (result,)
    return values, *(outputs.pop(0) if flag else None for flag in flags)
