"""unique of small arrays, in one call of a kernel: which one, and up to how many items."""

import numpy as np

from fastsel import _ascending, _engines, _gate, _numpy
from fastsel._kernels import few, pairs, smallsort
from fastsel._outputs import Found, ordered

# Arrays of more bytes are for the engines; 0: those of any item.
MOST_BYTES = 1 << 20

# Up to so many numbers NumPy has sorted them, where its sorts are fast, before an engine has ended:
# 1e4 distinct int64 take 29 us, and by an engine 77; up to FEW_ITEMS before another kernel has, and
# beyond that if the first few of them are distinct (`compare.py --op unique_sorted --size 1e4
# --groups n`, with 0 for MOST_BYTES).
SORTED_ITEMS = 1 << 15 if _ascending.SORT_SPEED else 1000
FEW_ITEMS = 1 << 13 if _ascending.SORT_SPEED else SORTED_ITEMS

# Up to so many integers of a narrow range, one table under the GIL is done before an engine has
# started: 1e5 int64 of 1e3 values in 40 us and 64 (`compare.py --op unique_sorted --size 1e5
# --distribution narrow`).
PLACED_ITEMS = 1 << 17

# Up to so many bytes, which one thread serves, all outputs in order of first occurrence come from
# one call: 100 int64 of 100 groups take 1.8 us and by an engine 9.7, 1e4 of 1e3 18 and 27, with all
# outputs sorted 48 and 72 (`compare.py --op unique_first unique_all --size 100 1e4`). Values and
# index of more bytes, up to MOST_BYTES, do if the items are in order, bytes, or of few words: 1e5
# int32 of 2 groups take 20 us so, by an engine 62, and 1e6 uint8 69 and 380 (`--op unique_first
# --size 1e5 1e6 --dtype uint8 int32 --groups 2 25`).
FEW_BYTES = 1 << 17

# Values alone, or with their index, in order of first occurrence up to so many, though an engine
# would have two threads: 3e4 int64 of 3e3 groups take 80 us so, zipf 55, and 95 and 100 by an
# engine, 5e4 int32 of 8e3 129 and 173 (`compare.py --op unique_first --size 3e4 5e4 --groups 3000
# 8000`).
FIRSTS_BYTES = 1 << 18

# If they are to be sorted, that gives up where more than so many of the first 256 are distinct: to
# sort all is faster then, with all outputs from 1e4 int64 of 5e3 groups on. (Values alone are
# sorted at once from fewer groups on, which smallsort.unique sees.)
MOST_DISTINCT = 248

# And where the groups are of uneven size, which the first 256 do not show, it gives up at one group
# for so many items: 1e4 int32 of 700 values take 18 us so, and sorted as they are 18, int64 of
# 1.2e3 30 (`compare.py --op unique_sorted --size 1e4 --distribution zipf`, with 1 here).
MOST_WORDS_SHARE = {1: 1, 2: 1, 4: 16, 8: 7}

# From so many items on, up to so many by their dtype, what is hardly ever repeated is sorted for
# the order of first occurrence, too: 1e4 distinct int32 take 20 us so, and hashed 37, of 9e3 groups
# 33, 1e5 220 and by an engine 270. (1e5 random float32, of which some are repeated, take 300.)
# (`compare.py --op unique_first --size 1e3 1e4 1e5 --groups n`, with {} to hash them.)
FIRSTS_ITEMS = 1 << 9
MOST_FIRSTS = dict.fromkeys("lLqQfd", 1 << 15) | dict.fromkeys("iI", 1 << 17)
if not _ascending.SORT_SPEED:
    MOST_FIRSTS = {}

# Up to so many items, inverse or counts in ascending order come from a sort of items beside their
# positions, and up to a share of them the index alone, which hashing finds sooner: 1e3 int64 of 1e3
# groups, spread over all 64 bits, take 11 us so, and hashed 25, of 25 groups 10 and 10, 3e3 of 25
# 29 and 18, the index alone of 1e3 of 25 10 and 6 (`compare.py --op unique_all --dtype int64 --size
# 1e3 3e3 --groups 25 1e3`, and with 0 here).
PAIRED_ITEMS = 1 << 11 if _ascending.SORT_SPEED else 1 << 7
ALONE_SHARE = {1: 1, 2: 1, 4: 1, 8: 4}  # by the width of an item

# And up to so many items where more than one in PAIRED_SHARE is distinct: 1e4 distinct int32 take
# 59 us so, and by an engine 78, 3e4 275 and 225, 3e4 int16 of 2e4 groups 109 and 800 (`compare.py
# --op unique_all --dtype int16 int32 --size 1e4 3e4 --groups n`, and with 0 in MOST_PAIRED).
MOST_PAIRED = {1: 0, 2: 1 << 16, 4: 1 << 14, 8: 0}
if not _ascending.SORT_SPEED:
    MOST_PAIRED = dict.fromkeys(MOST_PAIRED, 0)
PAIRED_SHARE = 8

# Of very few texts NumPy has the sorted values before a hash has: 10 U8 in 2 us and 5, 100 in 7 to
# 12 and 6 to 8, 100 S8 in 3 to 8 and 6 to 7. Up to TEXTS one call is faster than an engine, which
# sees whether they are in order: 300 U8 take 8 to 13 us so, and 15 to 20; with other outputs NumPy
# is as fast if all are distinct (`compare.py --op unique_sorted unique_all --dtype U8 S8 --size 10
# 100 300 1e3`).
VERY_FEW_TEXTS = {"S": 100, "U": 64}
TEXTS = 1000


def sorted_values(ar):
    """The sorted distinct values of a small array of integers, floats without NaN, or very few
    texts; None for others."""
    if not _is_small(ar):
        return None
    if ar.size <= VERY_FEW_TEXTS.get(ar.dtype.kind, 0):
        return _numpy.unique(ar)
    return smallsort.unique(ar, SORTED_ITEMS, PLACED_ITEMS, FEW_ITEMS)


def find_outputs(ar, wanted, equal_nan, sorted):
    """All outputs for a small array, after sorted_values was asked; None for others."""
    rule = _gate.word_rule(ar.dtype, bool(equal_nan)) if _is_small(ar) else None
    if rule is None:
        return None
    order = _gate.number_rule(ar.dtype)
    if not sorted:
        return _first_occurrences(ar, rule, order, wanted)
    if ar.dtype.kind in "SU":
        most_distinct = MOST_DISTINCT if any(wanted) else 256
        few_texts = ar.size <= TEXTS
        return _hashed(ar, rule, order, wanted, True, most_distinct, ar.size) if few_texts else None
    if ar.itemsize > 8:
        return None
    if any(wanted):
        return _sorted_outputs(ar, rule, order, wanted)
    width = ar.itemsize
    uneven = ar.size // MOST_WORDS_SHARE[width] if _ascending.SORT_SPEED else ar.size
    most = (256 if width <= 2 else MOST_DISTINCT, uneven)
    hashed = _hashed(ar, rule, order, wanted, True, *most)
    if hashed is not None or ar.size <= FEW_ITEMS:
        return hashed
    values = smallsort.unique(ar, SORTED_ITEMS, 0, SORTED_ITEMS)
    return None if values is None else Found(values, None, None, None)


def _first_occurrences(ar, rule, order, wanted):
    """The outputs in order of first occurrence, or None."""
    noted = wanted.inverse or wanted.counts
    if not noted and FIRSTS_ITEMS <= ar.size <= MOST_FIRSTS.get(ar.dtype.char, 0):
        firsts = smallsort.firsts(ar, wanted.index, _engines.SEEDS[1])
        if firsts is not None:
            return Found(*firsts, None, None)
    return _hashed(ar, rule, order, wanted, False, 256, ar.size)


def _sorted_outputs(ar, rule, order, wanted):
    """Values and others, sorted, or None."""
    size, width = ar.size, ar.itemsize
    noted = wanted.inverse or wanted.counts
    if size <= (PAIRED_ITEMS if noted else PAIRED_ITEMS // ALONE_SHARE[width]):
        paired = pairs.unique(ar, rule, order, *wanted)
        return Found(*paired) if paired else _hashed(ar, rule, order, wanted, True, 256, size)
    if size > MOST_PAIRED[width]:
        return _hashed(ar, rule, order, wanted, True, MOST_DISTINCT, size)
    hashed = _hashed(ar, rule, order, wanted, True, MOST_DISTINCT, size // PAIRED_SHARE)
    if hashed is not None:
        return hashed
    paired = pairs.unique(ar, rule, order, *wanted)
    return paired and Found(*paired)


def _hashed(ar, rule, order, wanted, sorted, most_distinct, most_words):
    """All outputs of not too many words, or None."""
    if sorted and order is not None and ar.size <= _engines.SORTED_KEYS:
        most_distinct, most_words = 256, ar.size
    most = FEW_BYTES if sorted or wanted.inverse or wanted.counts else FIRSTS_BYTES
    firsts = few.firsts_of_few(
        *(ar, most, MOST_BYTES, _engines.FEW_PLACES, rule),
        *(order if ar.itemsize >= 4 else None, _engines.SEEDS, *wanted, most_distinct, most_words),
    )
    if firsts is None:
        return None
    values, direction = firsts[0], firsts[4]
    if sorted and order is not None and len(values) <= _ascending.FEW_VALUES and not any(wanted):
        if direction != 1:
            values.sort(kind="stable")
        return Found(values, None, None, None)
    return ordered(firsts[:4], wanted, sorted, direction)


def _is_small(ar):
    small = type(ar) is np.ndarray and ar.nbytes <= MOST_BYTES
    return small and _engines.FORCE_ENGINE is None
