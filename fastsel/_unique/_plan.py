"""The plan: which algorithms may find the groups of equal keys, and the order of trying them."""

import contextvars
from typing import NamedTuple

from fastsel._unique.groups import CACHE_BYTES, GROUP_BYTES, L2_BYTES, table_count
from fastsel._unique.part_sort import sorts_whole
from fastsel._unique.sorting import sorts_at_once

# If values are to ascend, sort all keys if more than 1 in SORTED_SHARE is distinct (if their
# positions would move along, and hash tables fit the cache, 2 in SORTED_SHARE), or 1 in
# SHARE_OF_TAIL if few groups have most of the keys; otherwise hash the keys, and sort only the
# distinct values.
SORTED_SHARE = 16
SHARE_OF_TAIL = 4

# A window of all sampled keys, or of 99 % of them, serves direct addressing as well as one of 95 %,
# unless it has more than MAX_WIDER times the entries and is not cheap. A cheap table has at most
# L2_BYTES entries, and at most 1 in CHEAP_SHARE of the entries that pay: it takes next to no time
# beside the keys.
MAX_WIDER = 8
CHEAP_SHARE = 4

# A key that makes up MAJORITY of the keys may be left out while the others are searched; a key with
# more than half of them, only where NumPy's sort is slow: a fast sort takes little time for equal
# keys.
MAJORITY = 7 / 8

# A direct-address table has at most MAX_ENTRIES_PER_KEY entries for each key; of bits, 4 bytes.
MAX_ENTRIES_PER_KEY = 32

# Most keys of up to FILTERED_GROUPS groups are in a table's filter of recent keys.
FILTERED_GROUPS = 1000

# Up to UNSAMPLED_ITEMS keys are sorted without a sample, and up to twice as many keys are hashed
# without a sample, if the keys are not in order already: a sample would take longer than it saves.
# Where NumPy's sort is fast, up to SORTED_AT_ONCE * UNSAMPLED_ITEMS keys are sorted without a
# sample, if no output depends on the positions of keys.
UNSAMPLED_ITEMS = 2048
SORTED_AT_ONCE = 8

# Up to MAX_FOR_NUMPY items, NumPy or Python is faster for dtypes whose items are not words: complex
# numbers, long doubles, strings and objects.
MAX_FOR_NUMPY = 500

# Tests set the algorithm here.
FORCED = contextvars.ContextVar("fastsel_algorithm", default=None)

# A function that is called with each chosen algorithm and the reason, or None: tests and
# `fastsel run --report` set it. Every thread that calls fastsel calls it.
watcher = None


class Plan(NamedTuple):
    """An algorithm (of `_algorithms.ALGORITHMS`, or "NumPy"), and why it was chosen."""

    algorithm: str
    reason: str


NO_ITEMS = Plan("no_items", "the array is empty")
STRING_RUNS = Plan("string_runs", "the strings are in order already")
HASHED_STRINGS = Plan("hashed_strings", "all items are str, or all are bytes")
HASHED_OBJECTS = Plan("hashed_objects", "some items are no strings, and need no order")
PRESORTED = Plan("presorted", "the keys are in order already")
PRESORTED_COMPLEX = Plan("presorted_complex", PRESORTED.reason)
DENSE = Plan("dense", "nearly all keys are in a narrow range")
DECIMALS = Plan("decimals", "the keys have few digits, and nearly all are in a narrow range")
WITHOUT_MAJORITY = Plan("without_majority", "one key is most of the keys; it is left out")
SORTING = Plan("sorting", "many keys are distinct, and the answer ascends")
COUNTS = Plan("sorting", "a sort of all keys, and counts of the runs, take less time than tables")
TABLES = Plan("tables", "a hash table of all groups fits the cache")
PARTITIONS = Plan("partitions", "a hash table of all groups exceeds the cache")
COMPARISON = Plan("comparison", "there are too many keys, or a hash table took too many probes")
NUMPY = Plan("NumPy", "NumPy returns before a kernel has started")


def note(algorithm, reason):
    """Tell the watcher which algorithm found the groups."""
    if (call := watcher) is not None:  # read once: another thread may set it to None
        call(algorithm, reason)


def plans(search):
    """The algorithms for a search, in the order in which they are tried: each of them may give way
    to the next one. `comparison` serves all keys."""
    if search.size == 0:
        yield NO_ITEMS
    if search.keys is None:
        yield from (STRING_RUNS, HASHED_STRINGS, HASHED_OBJECTS)
        return
    forced = FORCED.get()
    if forced is None:
        are_complex = search.rows.ndim == 1 and search.rows.dtype.kind == "c"
        yield PRESORTED_COMPLEX if are_complex else PRESORTED
    if forced not in (None, "dense"):
        yield Plan(forced, "forced")
    else:
        search.window = window(search)
        if forced is None and leaves_out_majority(search):
            yield WITHOUT_MAJORITY
        if forced is None and sorts_tail(search):
            yield SORTING
        elif search.window is not None and not search.scale:
            yield DENSE
        elif search.window is not None and pay_as_integers(search):
            yield DECIMALS
        if sorts_many(search):
            yield SORTING
        elif search.ascends and search.request.counts and sorts_at_once(search):
            yield COUNTS
        elif search.expected <= max_groups(search):
            yield TABLES
    yield PARTITIONS
    yield COMPARISON


def leaves_out_majority(search):
    """Does it pay to leave out the most frequent key? Not if a window has all keys, or if a table's
    filter finds a few groups, and neither an inverse nor counts are wanted. A key with less than
    MAJORITY pays only if the others would be sorted without positions, and NumPy's sort is slow.
    Keys that fit the L2 cache have to be sorted so, too."""
    window, request = search.window, search.request
    if request.grouped or search.nbytes < 4 * search.size or window == search.windows[0]:
        return False
    share = search.majority_share
    if share <= 0.5:
        return False
    sorts_slowly = search.ascends and not (request.positions or sorts_at_once(search))
    if share < MAJORITY:
        return sorts_slowly and sorts_many(search)
    if search.nbytes <= L2_BYTES and not sorts_slowly:
        return False
    is_dense = window is not None and not search.scale
    has_few = search.expected <= FILTERED_GROUPS
    return request.inverse or request.counts or is_dense or not has_few


def sorts_tail(search):
    """Does one fast sort find the values of a heavy tail? Other algorithms handle the frequent keys
    in less time, and the rare ones in more. So the sort pays for keys that fit the L2 cache; but
    not if a window has 99 % of the keys."""
    if search.window in search.windows[:2]:
        return False
    is_tail = search.only_ascending_values and search.has_heavy_tail and search.nbytes <= L2_BYTES
    return is_tail and sorts_at_once(search)


def pay_as_integers(search):
    """Does it pay to make integers of decimals? A table finds the values of few groups in less
    time. On one thread, a fast sort finds the values of a heavy tail in less time."""
    if search.request.inverse or search.request.counts:
        return True
    is_tail = search.copy_threads == 1 and search.only_ascending_values and search.mostly_repeated
    if is_tail and sorts_many(search) and sorts_at_once(search):
        return False
    return search.expected > FILTERED_GROUPS


def sorts_many(search):
    """Are so many keys distinct that it pays to sort all keys? The hash table of a heavy tail has
    the frequent keys in the cache. But counts and group ids double its time, and merging tables
    adds more."""
    share, request = SORTED_SHARE, search.request
    if request.positions and not request.grouped and search.expected <= max_groups(search):
        share //= 2
    if not search.ascends or search.expected * share <= search.size:
        return False
    if not search.mostly_repeated or not (search.only_ascending_values or search.threads == 1):
        return True
    share = SHARE_OF_TAIL if search.only_ascending_values else 2 * SHARE_OF_TAIL
    fits = search.expected <= min(search.size // share, max_groups(search))
    return not fits or sorts_at_once(search)


def are_few(search):
    """Does groups_of_few find the groups? Sorted complex numbers have an algorithm of their own."""
    if search.keys is None or search.rows.dtype.kind == "c" or FORCED.get():
        return False
    return needs_no_sample(search.size, search.nbytes, search.ascends, search.request)


def needs_no_sample(size, nbytes, ascending, request):
    """Are keys sorted (ascending), or hashed, without a sample?"""
    if size <= UNSAMPLED_ITEMS:
        return True
    if not ascending:
        return size <= 2 * UNSAMPLED_ITEMS
    if size > SORTED_AT_ONCE * UNSAMPLED_ITEMS or request.positions or nbytes < 4 * size:
        return False
    return sorts_whole()


def max_groups(search):
    """The maximum number of groups for hash tables that fit the cache; more if few groups have most
    of the keys, and fewer if only some threads would fill a table, because all threads would work
    on partitions."""
    tables = table_count(search.nbytes, search.expected, search.threads)
    if tables == search.threads and search.mostly_repeated:
        return SHARE_OF_TAIL * CACHE_BYTES // GROUP_BYTES
    return CACHE_BYTES // GROUP_BYTES * tables // search.threads


def window(search):
    """(base, entries) of a direct-address table that pays, or None."""
    *_, (_, entries_of_densest) = search.windows
    if not 0 < entries_of_densest <= MAX_ENTRIES_PER_KEY * search.size:
        return None
    limit = max_entries(
        *(search.size, search.nbytes, search.copy_threads),
        first_positions=search.by_position,
        group_ids=search.needs_group_ids,
        counts=search.request.counts,
        decimals=search.scale > 0,
    )
    return fitting_window(search, limit)


def fitting_window(search, limit):
    """The window of the whole sample, or of its densest 99, 95 or 90 %: the first that has at most
    `limit` entries. The window of the whole sample, and that of 99 %, also do not have many more
    entries than the window of 95 %. None if no window serves."""
    _, _, (_, entries_of_95), _ = search.windows
    cheap = min(limit // CHEAP_SHARE, L2_BYTES)
    most = min(limit, max(MAX_WIDER * entries_of_95, cheap))
    for (base, entries), maximum in zip(search.windows, (most, most, limit, limit), strict=True):
        if 0 < entries <= maximum:
            return base, entries
    return None


def max_entries(
    size, nbytes, threads, *, first_positions, group_ids=False, counts=False, decimals=False
):
    """The maximum number of entries of a direct-address table, of which a thread has at most one.

    An entry is a bit, or a byte if first positions are wanted (window.pyx makes bytes of the bits
    of small tables, which then take at most the memory of the keys); with counts, the table of each
    thread also has a count of 4 bytes for each entry (or several counts, if a small share of these
    entries is enough: see dense.pyx). With group_ids, there is also one group id of 4 bytes for
    each entry. The bits or bytes of a table have at most CACHE_BYTES. All tables together have at
    most `budget` bytes, because the keys outside of the window take memory, too; tables of bits
    alone, whose threads may share one, have 4 bytes for each key. The tables of decimals have half
    of that or less: their integers take memory, too.
    """
    table_bits = 8 if first_positions else 32 if counts else 1
    entry_bits = 8 * first_positions + 32 * counts
    if entry_bits == 0 and not group_ids:
        return min(8 * CACHE_BYTES, MAX_ENTRIES_PER_KEY // (1 + decimals) * size)
    # Keys of less than 8 bytes may have larger tables than their own bytes allow, if the tables fit
    # the cache.
    budget = max(5 * nbytes // 4, min(2 * 8 * size, CACHE_BYTES))
    if decimals:
        budget = max(3 * nbytes // 8, min(budget, CACHE_BYTES // 2))
    entry_bits = threads * max(entry_bits, 1) + 32 * group_ids
    return 8 * min(CACHE_BYTES // table_bits, budget // entry_bits)
