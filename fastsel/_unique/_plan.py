"""The plan: one function chooses the algorithm that finds the groups of equal keys."""

import contextvars
from typing import NamedTuple

from fastsel._core import _gate

# Tables of more than CACHE_BYTES are expected to exceed the cache that a core can use. With such
# tables, direct addressing takes longer than hashing, and keys are scattered by their hash so that
# each part's table fits the cache. A group of a hash table takes about GROUP_BYTES.
CACHE_BYTES = 1 << 23
GROUP_BYTES = 64

# Hashing or sorting a key takes about COST times as long as copying it.
COST = 8

# If values are to ascend, sort all keys if more than 1 in SORTED_SHARE is distinct; otherwise hash
# the keys, and sort only the distinct values.
SORTED_SHARE = 16

# With more than CLOSE_ENTRIES entries for each key, a table of bits takes longer than hash tables
# of few groups. Then the table of bits pays only if more than 1 key in WIDE_SHARE is distinct.
CLOSE_ENTRIES = 8
WIDE_SHARE = 64

# NumPy is faster than the kernels for up to TINY_ITEMS items that the small kernel does not serve
# (another byte order, for example), for the sort of up to TINY_ITEMS values, and for up to
# TINY_STRINGS strings of which only the sorted values are wanted.
TINY_ITEMS = 1000
TINY_STRINGS = 100

# Arrays of at most SMALL_ITEMS items take one compiled call, if the small kernel serves their
# dtype: the items, their keys and their outputs fit the cache of one core.
SMALL_ITEMS = _gate.SMALL_ITEMS

# Tests set the algorithm here.
FORCED = contextvars.ContextVar("fastsel_algorithm", default=None)

# A function that is called with each chosen algorithm and the reason, or None: tests and
# `fastsel run --report` set it. Every thread that calls fastsel calls it.
watcher = None


class Plan(NamedTuple):
    """An algorithm (of `_algorithms.ALGORITHMS`, "small" or "NumPy"), and why it was chosen."""

    algorithm: str
    reason: str


# If an algorithm cannot serve the keys, its entry is the plan that follows. After `dense`,
# find_groups makes a new plan. `comparison` serves all keys.
GIVES_WAY_TO = {
    "tables": Plan("partitions", "a hash table had too many groups, or took too many probes"),
    "sorting": Plan("partitions", "there are too many keys to be sorted at once"),
    "partitions": Plan("comparison", "too many keys, or a hash table took too many probes"),
}


SMALL = Plan("small", "all items, keys and outputs fit the cache of one core")
NUMPY = Plan("NumPy", "NumPy returns before a kernel has started")


def note(algorithm, reason):
    """Tell the watcher which algorithm was chosen."""
    if (call := watcher) is not None:  # read once: another thread may set it to None
        call(algorithm, reason)


def plan_small(size, is_served, only_strings):
    """SMALL for an array of at most SMALL_ITEMS items that the kernel for small arrays is to serve;
    otherwise None.

    is_served means that the kernel for small arrays serves the dtype; only_strings, that the items
    are strings or void items, of which only ascending values are wanted.
    """
    if not is_served or (only_strings and size <= TINY_STRINGS) or FORCED.get():
        return None
    if (call := watcher) is not None:  # as note(), without a call if there is no watcher
        call(*SMALL)
    return SMALL


def plan(size, width, *, ascending, extras, range_bits, entries, threads, groups):
    """The Plan for `size` keys of `width` bytes that `by_presorted` does not serve.

    `ascending` means that the keys are numbers of 4 or 8 bytes, and ascending values are wanted;
    `extras`, that other outputs than the values are wanted. range_bits is log2 of the range of the
    ordered keys of a sample. entries is the maximum number of entries of a direct-address table
    that pays (`max_entries`), 0 if no such table serves the keys. Up to `threads` threads fill hash
    tables. groups() estimates the number of groups; `plan` calls it only if the answer depends on
    it.
    """
    entries_wanted = 1 << range_bits
    fits = entries_wanted <= entries
    if fits and (extras or not ascending or entries_wanted <= CLOSE_ENTRIES * size):
        return Plan("dense", "the keys are of a narrow range")
    expected = groups()
    if fits and expected * WIDE_SHARE > size:
        return Plan("dense", "the keys are of a narrow range, and many are distinct")
    if ascending and expected * SORTED_SHARE > size:
        return Plan("sorting", "many keys are distinct, and the answer ascends")
    # A table may have as many groups as fit the cache; fewer if only some threads would fill a
    # table, because all threads would work on partitions.
    max_groups = (
        CACHE_BYTES // GROUP_BYTES * table_count(size * width, expected, threads) // threads
    )
    if expected <= max_groups:
        return Plan("tables", "a hash table of all groups fits the cache")
    return Plan("partitions", "a hash table of all groups exceeds the cache")


def max_entries(size, nbytes, threads, *, first_positions, group_ids=False, counts=False):
    """The maximum number of entries of a direct-address table. Each thread has a table.

    An entry is a bit, or a byte if first positions are wanted; with counts, the table of each
    thread also has a count of 8 bytes for each entry. With group_ids, which the inverse and the
    counts need, there is also one group id of 4 bytes for each entry. The bits or bytes of a table
    have at most CACHE_BYTES. All tables together have at most `budget` bytes.
    """
    table_bits = 8 if first_positions else 1
    entry_bits = threads * (table_bits + (64 if counts else 0)) + (32 if group_ids else 0)
    # Keys of less than 8 bytes may have larger tables than their own bytes allow, if the tables fit
    # the cache.
    budget = max(2 * nbytes, min(2 * 8 * size, CACHE_BYTES))
    return 8 * min(CACHE_BYTES // table_bits, budget // entry_bits)


def table_count(nbytes, groups, threads):
    """The number of threads that fill a hash table each. Each table may have all groups, and tables
    are merged in pairs, so the keys of a table have at least twice the bytes of its groups, unless
    there is only one table."""
    return min(threads, max(1, nbytes // max(1, 2 * GROUP_BYTES * groups)))
