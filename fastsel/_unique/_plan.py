"""Which algorithm finds the distinct keys: one decision, from what the keys are like."""

import contextvars
from typing import NamedTuple

# Tables of more bytes leave the cache of any CPU. Then direct addressing costs more than a hash,
# and keys are partitioned by hash so that each part's table fits. A group of a hash table takes
# some GROUP_BYTES.
CACHE_BYTES = 1 << 23
GROUP_BYTES = 64

# For an ascending answer, sort all keys if more than 1 in SORTED_SHARE is distinct; otherwise hash
# them, and sort only the distinct values.
SORTED_SHARE = 16

# A table of bits with more than so many entries for each key costs more than a hash of few groups:
# then it pays if more than one key in WIDE_SHARE is distinct.
CLOSE_ENTRIES = 8
WIDE_SHARE = 64

# With so many items that no single call serves, such as those of another byte order, or so many
# strings of which only the values are wanted, NumPy is done before a kernel has started.
TINY_ITEMS = 1000
TINY_STRINGS = 100

# So many items fit the cache of one core, with all that is made of them: one compiled call.
SMALL_ITEMS = 1 << 14

# Tests choose the algorithm by this.
FORCED = contextvars.ContextVar("fastsel_algorithm", default=None)

# Called with the algorithm and the reason, by whoever wants to see what is chosen; or None.
WATCHER = contextvars.ContextVar("fastsel_watcher", default=None)


class Plan(NamedTuple):
    """An algorithm of `_algorithms.ALGORITHMS`, and why it was chosen."""

    algorithm: str
    reason: str


# A hash table that exceeds its budget of groups or probes gives way to the next algorithm;
# comparison serves all keys.
GIVES_WAY_TO = {
    "tables": Plan("partitions", "a hash table had too many groups, or took too many probes"),
    "sorting": Plan("partitions", "there are too many keys to be sorted at once"),
    "partitions": Plan("comparison", "a hash table took too many probes"),
}


def note(algorithm, reason):
    """Tell the watcher what was chosen."""
    watcher = WATCHER.get()
    if watcher is not None:
        watcher(algorithm, reason)


def plan(size, width, *, ascending, extras, range_bits, entries, threads, groups):
    """The algorithm for keys that are not in order already.

    Parameters
    ----------
    size, width : int
        The number of keys, and their bytes.
    ascending : bool
        Whether the answer is to be sorted, and the keys are numbers of 4 or 8 bytes.
    extras : bool
        Whether more than the values is wanted.
    range_bits : int
        log2 of the range of the ordered keys.
    entries : int
        The size of a direct-address table that pays (`max_entries`); 0 if none holds the keys.
    threads : int
        How many there are for hash tables.
    groups : callable
        Estimates the number of distinct keys; called only where the answer depends on it.

    Returns
    -------
    Plan
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
    # As many groups as fit the cache, and less where some threads have no table, as all of them
    # work on partitions.
    most = CACHE_BYTES // GROUP_BYTES * table_count(size * width, expected, threads) // threads
    if expected <= most:
        return Plan("tables", "a hash table of all groups fits the cache")
    return Plan("partitions", "a hash table of all groups exceeds the cache")


def max_entries(size, nbytes, threads, *, firsts, numbered=False, counts=False):
    """How many entries a direct-address table may have, of which each thread has one: a bit, or a
    byte if first occurrences are to be found. numbered: words get numbers, for the inverse or the
    counts.

    All may take twice as many bytes as the keys or, while they fit the cache, as words of 8 bytes.
    """
    table_bits = 8 if firsts else 1
    entry_bits = threads * (table_bits + (64 if counts else 0)) + (32 if numbered else 0)
    budget = max(2 * nbytes, min(2 * 8 * size, CACHE_BYTES))
    return 8 * min(CACHE_BYTES // table_bits, budget // entry_bits)


def table_count(nbytes, groups, threads):
    """How many threads fill a hash table each. Each table holds all groups, and they are merged in
    pairs: each is to have keys of at least twice as many bytes as its groups."""
    return min(threads, max(1, nbytes // max(1, 2 * GROUP_BYTES * groups)))
