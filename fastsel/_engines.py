"""Which engine finds the first occurrences, and what it is given: keys and a guess.

Keys that are in order need none, nor do those of a narrow range, which have a place each. One table
per thread serves few groups, sets of words up to half a million where only the firsts are wanted,
partitions any number, and where nearly all keys are distinct, sorting finds it out fastest. All
give up on a table that takes too many probes, and sorting is what is left then. All give the same
answer.
"""

import os
import random
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fastsel import _ascending, _gate, _guess, _numpy, _threads
from fastsel._kernels import bitmask, distinct, gather, indices, ordered, partitions, ranges, sample
from fastsel._kernels.ascending import ascending
from fastsel._kernels.flags import first_flags, sorted_words
from fastsel._kernels.keys import are_canonical, canonical_keys
from fastsel._kernels.words import first_of_few_words, first_words

# Beyond so many expected groups a table leaves the cache and partitions are faster: on one thread
# 1e6 int64 of 1e5 groups take 3.7 ms by tables and 9.8 by partitions, of 3e5 17 and 11
# (FORCE_ENGINE; `compare.py --op unique_first --size 1e6 --groups 1e5 3e5 --threads 1` for both).
# The guess may be wrong: a table gives up at twice as many, but not before LEAST_GROUPS.
TABLE_GROUPS = 1 << 17
LEAST_GROUPS = 1 << 16

# Where only the first occurrences are wanted, words are put into a set for each slice of the keys,
# most of them without being looked up, if there are so many keys for each group and thread: the
# sets are joined on one thread. Between SLICED_GROUPS and CROWDED_GROUPS the words met lately are
# too many for that, and a table is as fast where CROWDED_KEYS keys are in a group. By slices, by
# tables and by shares of the hashes (WORDS_GROUPS), on two threads, 1e5 int32 of 1e3 groups take
# 57, 100 and 170 us, of 1e4 166, 231 and 209; 1e6 int64 of 3e3 1.0, .7 and 1.7 ms, of 6e4 2.5, 3.0
# and 2.6; 1e7 of 1e5 18, 20 and 26. (FORCE_ENGINE; `compare.py --op unique_first`.)
KEYS_PER_SLICED_GROUP = 4
SLICED_GROUPS = 1 << 11
CROWDED_GROUPS = 1 << 14
CROWDED_KEYS = 128

# Where there are more groups, up to so many, for which 8 MB are taken, there is a set for each
# share of the hashes. By partitions and by sets 1e7 of 3e5 take 46 and 31 ms, of 1e6 50 and 54, 1e6
# of 1e6 5.4 and 16. (FORCE_ENGINE; `compare.py --op unique_first`.) Where slices do not serve them,
# words that have more keys per group than this go into tables.
KEYS_PER_TABLE_GROUP = 32
WORDS_GROUPS = (1 << 19) - 512

# Where no more than one word in so many seems to be repeated, and NumPy's sorts use vectors of 64
# bytes, sorting is fastest: on two threads 1e5 distinct int64 take 0.31 ms so, 0.45 by sets and
# 0.82 by partitions, 1e6 3.5, 16 and 5.4, 1e7 50 and 82; with vectors of 32 bytes 1e6 take 8.8, 13
# and 6.5 (FORCE_ENGINE; `compare.py --op unique_first --groups n`).
REPEATED_SHARE = 8

# Each thread's table takes all groups, and they are merged on one thread: so each is to have so
# many keys per group. On two threads 1e5 int64 of 3e4 groups took 0.51 ms, on one 0.44; 1e6 of 3e4
# take 1.6 and 2.5 (`compare.py --op unique_first --size 1e5 1e6 --groups 3e4`, both ways).
KEYS_PER_GROUP = 16

# Words of a narrow range have a place each in a table: of at most so many places, and, beyond the
# few that cost nothing, of an eighth of the keys' bytes. On one thread 1e6 int64 of a range of 1e3
# take 0.5 ms by places and 1.9 by tables, of 1e5 2.5 ms and 12 by partitions; 1e7 of 1e6, 42 and
# 132 (`compare.py --op unique_first --distribution narrow --threads 1`, with FORCE_ENGINE).
MOST_PLACES = 1 << 20
FEW_PLACES = 1 << 12

# A flag is smaller than a group: where neither inverse nor counts are wanted, there may be so many
# places, and on all threads together twice as many as the keys have bytes. On two threads 1e6 int64
# of a range of 1e6 take 5 ms so, and 27 by partitions, 1e7 of 4e6 48 and 130; with 2^24 places they
# would gain nothing (`compare.py --op unique_first --distribution narrow`).
FLAG_PLACES = 1 << 23

# The partitions count in 32 bits; beyond that, and beyond TABLE_GROUPS, keys are sorted.
PARTITIONED_KEYS = 2**32 - 1

# Fewer keys are not worth a guess, unless all may be sorted first: 1e4 distinct int64, all outputs,
# take 120 us then, and 360 otherwise; the guess takes 8.
GUESSED_KEYS = 1 << 15
SORTED_KEYS = 1 << 11

# For a sorted answer, sorting all keys first by the radix kernel beats partitions from n / 4 groups
# on: at 1e6 int64 on two threads, 1e5 groups take 11 ms by sorting and 7 by partitions, 1e6 11 and
# 20 (FORCE_ENGINE; `compare.py --op unique_sorted --size 1e6 --groups n/10 n` for both).
SORTED_SHARE = 4

# And by NumPy's sorts of ranges, where they are fast, from n / 24 on for words of 4 bytes and from
# n / 12 on for words of 8. On two threads 1e5 int32 of 3e3 groups take 0.17 ms by ranges and 0.24
# by tables, 1e6 of 3e4 2.1 and 3.3, of 1e5 2.1 and 4.5; 1e6 int64 of 3e4 4.9 and 3.4, of 1e5 4.8
# and 5.8 (`compare.py --op unique_sorted`, with FORCE_ENGINE).
VALUES_SHARE = {4: 24, 8: 12}

# With positions, too: all outputs of 1e5 int32 of 3e3 groups take 0.29 ms by ranges and 0.40 by
# tables, 1e6 of 3e4 4.4 and 6.9, of 1e6 8.5 by ranges and 17 by the kernel (`--op unique_all`).
PLACED_SHARE = 24

# Words of 8 bytes lose some of their bits for their positions, and what looks alike then is looked
# at again, if hardly any is repeated, or all keys lie in a cache: from n / 8 groups on, on two
# threads, 1e5 int64 of 3e4 groups, zipf, take 0.6 ms by ranges, 0.9 by tables or partitions and 1.5
# by the radix kernel, 2e5 of 6e4 1.6, 2.0 and 3.2, 1e6 of 1e5 21, 10 and 12 (`--op unique_all`).
ALIKE_KEYS = 1 << 18
ALIKE_SHARE = 8

# Tests and measurements set this to "places", "ranges", "slices", "words", "tables", "partitions"
# or "sort"; then small arrays and keys in order go there, too.
FORCE_ENGINE = None

_EVERY_BIT = (1 << 64) - 1
_RAW_RULE = _gate.KeyRule(_gate.RAW, 8).part_rule(False)
_BYTE = np.array([0xFF], np.uint64)


def _seeds():
    """Seed and odd factor of the hash: new in every process, or made from FASTSEL_HASH_SEED."""
    source, text = random.SystemRandom(), os.environ.get("FASTSEL_HASH_SEED", "").strip()
    if text.isdecimal():
        source = random.Random(int(text))
    elif text:
        warnings.warn(
            f"FASTSEL_HASH_SEED must be a whole number, got {text!r}; it is ignored",
            RuntimeWarning,
            stacklevel=2,
        )
    return source.getrandbits(64), source.getrandbits(64) | 1


SEEDS = _seeds()


class Keys(NamedTuple):
    """Canonical keys, or items that become canonical as they are loaded."""

    data: np.ndarray  # C-contiguous and aligned
    size: int
    rule: tuple
    loners: np.ndarray | None  # bitmask of keys that equal no other
    order: tuple | None  # how the words of single items are ordered, where they are numbers
    letter: int = 0  # bytes of a letter, where they are strings


class Firsts(NamedTuple):
    """The bitmask of first occurrences, and a function that gives what else was wanted.

    finish(order) is (inverse, counts): the counts by rank, the inverse as ranks, or where the
    order says that each rank goes. To be called once.
    direction is 1 if these ascend, -1 if they descend, 0 if they may do neither.
    """

    bits: np.ndarray
    offsets: np.ndarray
    finish: Callable
    direction: int = 0


def keys_of(rows, equal_nan):
    """The keys of items (1-d) or of slices along axis 0; None if NumPy decides what is equal."""
    foreign = _gate.small_foreign(rows.dtype)
    if foreign:
        rows = _gate.foreign_keys(rows.dtype)[rows.view(f"u{rows.dtype.itemsize}")]
    if not rows.dtype.isnative and rows.dtype.kind in "fcmM":
        rows = rows.astype(rows.dtype.newbyteorder("="))
    rule = _gate.key_rule(rows.dtype)
    if rule is None:
        return None
    width = rows.nbytes // len(rows)
    word = _gate.word_rule(rows.dtype, equal_nan) if rows.ndim == 1 else None
    if word is not None:
        order = None if foreign else _gate.order_rule(rows.dtype)
        return Keys(_as_words(rows, width), len(rows), word, None, order, _letter(rows))
    if (width > 8 or width in (1, 2, 4, 8)) and _lie_canonical(rows, rule, equal_nan):
        return Keys(_as_words(rows, width), len(rows), _RAW_RULE, None, None, _letter(rows))
    return _canonical(rows, rule, width, equal_nan)


def _lie_canonical(rows, rule, equal_nan):
    """Are the bytes of the rows their keys? Those of nearly all floats are, and to look takes a
    sixth of what it takes to write them out: first occurrences of 1.25e5 rows of 8 float64 took 4.2
    ms, and take 2.2 (`compare.py --op unique_rows_first --dtype float64 --size 1e6 --width 8`)."""
    if rule.kind == _gate.RAW:
        return True
    if rule.kind == _gate.EXTENDED or not rows.flags.c_contiguous:
        return False
    threads = _threads.for_bytes(rows.nbytes)
    return are_canonical(rows, rule.width, rule.part_rule(not equal_nan), threads)


def _as_words(rows, width):
    """The items side by side, and where words of that width may lie (bytes may lie anywhere)."""
    data = np.require(rows, requirements="CA")
    if data.dtype.alignment < width <= 8 and data.ctypes.data % width:
        return data.copy()
    return data


def _canonical(rows, rule, width, equal_nan):
    """Keys written out: several parts to a key, or a width that is no word's."""
    padded = width if width > 8 else 1 << (width - 1).bit_length()
    out = np.empty((len(rows), padded), np.uint8)
    loners = None
    if rule.has_nan and not equal_nan:
        loners = np.empty((len(rows) + 63) // 64, np.uint64)
    threads = _threads.for_bytes(rows.nbytes)
    part_rule = rule.part_rule(not equal_nan)
    canonical_keys(
        rows, len(rows), rule.kind, rule.width, part_rule, equal_nan, out, loners, threads
    )
    return Keys(out, len(rows), _RAW_RULE, loners, None, _letter(rows))


def _letter(rows):
    """Bytes of a letter of strings (1-d) that are ordered letter by letter; 0 for other items."""
    is_text = rows.ndim == 1 and rows.dtype.kind in "SU" and rows.dtype.isnative
    return (4 if rows.dtype.kind == "U" else 1) if is_text else 0


def by_sorting_first(keys, wanted, expected):
    """(words, index, inverse, counts) in ascending order, None for what is not wanted, by sorting
    all keys; None where it is cheaper to find the distinct ones first."""
    if keys.order is None or keys.size > _ascending.MOST_KEYS:
        return None
    threads = _threads.for_bytes(keys.data.nbytes)
    share = PLACED_SHARE if any(wanted) else VALUES_SHARE[keys.data.nbytes // keys.size]
    if _pays("ranges", expected, share, keys):
        found = _sorted_by_ranges(keys, wanted, expected, threads)
        if found is not None:
            return found
    if _pays("sort", expected, SORTED_SHARE, keys):
        return ascending(keys.data, keys.size, keys.rule, keys.order, True, *wanted, threads)
    return None


def _pays(engine, expected, share, keys):
    """Is the engine forced, or more than one of so many keys the first of its kind?"""
    return engine == FORCE_ENGINE or (FORCE_ENGINE is None and expected * share > keys.size)


def _sorted_by_ranges(keys, wanted, expected, threads):
    if not _can_sort_ranges(keys, threads):
        return None
    placed = any(wanted)
    job = ranges.Ranges(keys.data, keys.size, keys.rule, keys.order, placed, threads)
    if placed and not job.is_exact() and not _may_look_alike(keys, expected):
        return None
    if not job.sort():
        return None
    return job.groups(*wanted) if placed else (job.distinct(), None, None, None)


def _can_sort_ranges(keys, threads):
    forced = FORCE_ENGINE == "ranges" and keys.size <= ranges.most_keys(threads)
    return forced or _ascending.sorts_ranges(keys.size, threads)


def _may_look_alike(keys, expected):
    cached = keys.size <= ALIKE_KEYS and expected * ALIKE_SHARE > keys.size
    return cached or _nearly_distinct(keys, expected)


def _nearly_distinct(keys, expected):
    return FORCE_ENGINE == "ranges" or REPEATED_SHARE * (keys.size - expected) <= keys.size


def in_order(keys, inverse):
    """The Firsts of keys that are in order already, or None."""
    if (keys.order is None and not keys.letter) or FORCE_ENGINE is not None:
        return None
    threads = _threads.for_bytes(keys.data.nbytes)
    found = ordered.in_order(keys.data, keys.size, keys.rule, keys.order, keys.letter, threads)
    if found is None:
        return None
    bits, direction = found
    offsets = bitmask.offsets_of(bits, keys.data.nbytes // keys.size, threads)

    def finish(order=None):
        starts = indices.flat(bits, offsets, threads)
        counts = np.diff(starts, append=keys.size)
        if not inverse:
            return None, counts
        return np.repeat(np.arange(len(counts)) if order is None else order, counts), counts

    return Firsts(bits, offsets, finish, direction)


def in_places(keys, inverse, counts):
    """The Firsts of words of a narrow range, or None."""
    noted = inverse or counts or keys.loners is not None or keys.rule[3]
    places = _places(keys, noted)
    if places is None or FORCE_ENGINE not in (None, "places"):
        return None
    threads = _threads.for_bytes(keys.data.nbytes)
    if noted:
        return _by_tables(keys, inverse, counts, threads, 0, places)
    return _firsts(keys, first_flags(keys.data, keys.size, keys.rule, places, threads), threads)


def ascending_places(keys, rows):
    """The sorted distinct values of rows that are integers of a narrow range, or None."""
    dtype = rows.dtype
    if rows.ndim > 1 or dtype.kind not in "iu" or not dtype.isnative:
        return None
    places = _places(keys, False)
    if places is None or FORCE_ENGINE not in (None, "places"):
        return None
    base, place_bits = places
    word_bits = 8 * dtype.itemsize
    lowest = (dtype.kind == "i") << word_bits - 1
    if place_bits < word_bits and (base - lowest) % 2**word_bits + 2**place_bits > 2**word_bits:
        # The places would wrap around; there is room on one side only.
        is_low = (lowest - base) % 2**word_bits <= 2 ** (place_bits - 1)
        base = lowest if is_low else (lowest - 2**place_bits) % 2**word_bits
    threads = _threads.for_bytes(keys.data.nbytes)
    first = lowest if place_bits == word_bits else 0
    values = sorted_words(keys.data, keys.size, keys.rule, (base, place_bits), first, threads)
    return None if values is None else values.view(dtype)


def first_occurrences(keys, inverse, counts, expected=None):
    """The Firsts of at least one key; `expected` is what expected_groups said, if it was asked."""
    threads = _threads.for_bytes(keys.data.nbytes)
    if expected is None:
        expected = expected_groups(keys)
    for engine in _engines(keys, inverse or counts, expected, threads):
        firsts = engine(keys, inverse, counts, threads, expected)
        if firsts is not None:
            return firsts
    raise AssertionError("sorting serves all keys")


def _engines(keys, noted, expected, threads):
    """The engines to try, in turn."""
    engines = {
        "ranges": _by_ranges,
        "slices": _by_slices,
        "tables": _by_tables,
        "words": _by_words,
        "partitions": _by_partitions,
        "sort": _by_sorting,
    }
    if FORCE_ENGINE in engines:
        return [engines[FORCE_ENGINE], _by_sorting]
    suits_words = not noted and _are_words(keys)
    if not _nearly_distinct(keys, expected) or _ascending.SORT_SPEED < 2:
        del engines["ranges"]
    if not suits_words or expected > WORDS_GROUPS:
        del engines["words"]
    suits_slices = suits_words and _suits_slices(keys, expected, threads)
    if not suits_slices:
        del engines["slices"]
    many = suits_words and expected > keys.size // KEYS_PER_TABLE_GROUP
    if expected > TABLE_GROUPS or suits_slices or many:
        del engines["tables"]
    return engines.values()


def _suits_slices(keys, expected, threads):
    few = 0 < expected <= keys.size // (KEYS_PER_SLICED_GROUP * threads)
    crowded = SLICED_GROUPS < expected <= min(CROWDED_GROUPS, keys.size // CROWDED_KEYS)
    lonely = keys.rule[3]  # there may be many, which all go through the set of the first slice
    return few and expected < TABLE_GROUPS and not crowded and not lonely


def _are_words(keys):
    """Are the keys words of 4 or 8 bytes, and nothing else?"""
    return keys.loners is None and keys.data.nbytes // keys.size in (4, 8)


def expected_groups(keys, may_sort=False):
    """A guess, or 0 where the answer takes less time than the guess."""
    least = SORTED_KEYS if may_sort else GUESSED_KEYS
    if keys.size <= least or keys.data.nbytes // keys.size <= 2:
        return 0
    return _guess.groups_of(keys, SEEDS)


def _places(keys, noted):
    """(base, bits) if words of a narrow range have a place each, None otherwise."""
    width = keys.data.nbytes // keys.size
    if width <= 2:
        return 0, 8 * width
    care, limit, _, lonely = keys.rule
    if width not in (4, 8) or care & limit != _EVERY_BIT or lonely:
        return None
    few = min(FEW_PLACES, keys.size // 2)
    if noted:
        most = min(MOST_PLACES, max(few, keys.data.nbytes // 32))
    else:
        threads = _threads.for_bytes(keys.data.nbytes)
        most = min(FLAG_PLACES, max(few, 2 * keys.data.nbytes // threads))
    return sample.places(keys.data, keys.size, most)


def _by_ranges(keys, inverse, counts, threads, expected):
    """By sorting words that have their positions in them."""
    order = keys.order or (None if keys.rule[3] else (0, 0, 0))  # what is lonely is to come last
    if order is None or not _are_words(keys) or not _can_sort_ranges(keys, threads):
        return None
    job = ranges.Ranges(keys.data, keys.size, keys.rule, order, True, threads)
    if not job.sort():
        return None
    bits = job.first_bits()
    offsets = bitmask.offsets_of(bits, keys.data.nbytes // keys.size, threads)
    extras = job.ranked(bits, inverse, counts) if inverse or counts else (None, None)
    return Firsts(bits, offsets, finished(*extras))  # at once: the job holds memory


def _by_slices(keys, inverse, counts, threads, expected):
    if inverse or counts or not _are_words(keys):
        return None
    most = max(2 * expected, LEAST_GROUPS)
    bits = first_of_few_words(keys.data, keys.size, keys.rule, SEEDS, expected, most, threads)
    return _firsts(keys, bits, threads)


def _by_words(keys, inverse, counts, threads, expected):
    if inverse or counts or not _are_words(keys):
        return None
    bits = first_words(keys.data, keys.size, keys.rule, SEEDS, expected, threads)
    return _firsts(keys, bits, threads)


def _firsts(keys, bits, threads):
    """Firsts of which neither inverse nor counts are wanted; None for None."""
    if bits is None:
        return None
    offsets = bitmask.offsets_of(bits, keys.data.nbytes // keys.size, threads)
    return Firsts(bits, offsets, finished(None, None))


def _by_tables(keys, inverse, counts, threads, expected, places=None):
    if keys.data.nbytes // keys.size <= 2:
        places = _places(keys, True)
    tables = min(threads, max(1, keys.size // max(1, KEYS_PER_GROUP * expected)))
    least = LEAST_GROUPS
    if FORCE_ENGINE is None and not (inverse or counts) and _are_words(keys):
        least = keys.size // KEYS_PER_TABLE_GROUP
    most = min(max(2 * expected, least), 2 * TABLE_GROUPS)
    job = distinct.Tables(
        *(keys.data, keys.size, keys.rule, keys.loners, SEEDS, places, most, expected),
        *(inverse, counts, tables),
    )
    if not job.find():
        return None
    offsets = bitmask.offsets_of(job.bits, keys.data.nbytes // keys.size, threads)
    return Firsts(job.bits, offsets, job.finish)


def _by_partitions(keys, inverse, counts, threads, expected):
    if keys.size > PARTITIONED_KEYS:
        return None
    job = partitions.Partitions(
        keys.data, keys.size, keys.rule, keys.loners, SEEDS, expected, inverse, counts, threads
    )
    if not job.find():
        return None
    bits, offsets = bitmask.pack(job.marks, 1, _BYTE, keys.data.nbytes // keys.size, threads)
    return Firsts(bits, offsets, finished(*job.finish(bits)))  # at once: the job holds memory


def _by_sorting(keys, inverse, counts, threads, expected):
    """By a stable sort of the canonical keys: no hash that anybody could flood."""
    width = keys.data.nbytes // keys.size
    if width in (4, 8) and keys.loners is None and keys.size <= _ascending.MOST_KEYS:
        found = ascending(
            keys.data, keys.size, keys.rule, (0, 0, 0), True, True, inverse, counts, threads
        )
        index, numbers, sizes = found[1:]
    else:
        index, numbers, sizes = _by_comparing(keys, threads)
    marks = np.zeros(keys.size, np.uint8)
    marks[index] = 1
    bits, offsets = bitmask.pack(marks, 1, _BYTE, width, threads)
    order, ranks = _ascending.argsort(index, True)
    return Firsts(
        bits,
        offsets,
        finished(ranks[numbers] if inverse else None, sizes[order] if counts else None),
    )


def finished(inverse, counts):
    """The function `finish` of Firsts whose inverse, as ranks, and counts are known."""

    def finish(order=None):
        if order is not None:
            # In place: a row of indices is read before its slot is written.
            threads = _threads.for_bytes(inverse.nbytes)
            gather.gather(order, inverse[:, np.newaxis], 0, inverse, threads)
        return inverse, counts

    return finish


def _by_comparing(keys, threads):
    """(index, inverse, counts) in the order of the keys' bytes."""
    words = _written_out(keys, threads)
    loners = _loners_of(keys, words)
    order = np.argsort(words, kind="stable")
    bytes_in_order = words[order].view(np.uint8).reshape(keys.size, -1)
    starts = np.empty(keys.size, bool)
    starts[0] = True
    starts[1:] = (bytes_in_order[1:] != bytes_in_order[:-1]).any(axis=1)
    starts |= loners[order]
    starts[1:] |= loners[order][:-1]
    numbers = np.empty(keys.size, np.intp)
    numbers[order] = np.cumsum(starts) - 1
    return order[starts], numbers, np.diff(_numpy.flatnonzero(starts), append=keys.size)


def _written_out(keys, threads):
    """The canonical keys themselves: unsigned words, or void items that compare as bytes."""
    width = keys.data.nbytes // keys.size
    out = np.empty(keys.size, f"u{width}" if width in (1, 2, 4, 8) else f"V{width}")
    if width in (1, 2, 4, 8):
        source = keys.data.reshape(keys.size, -1).view(out.dtype)
        canonical_keys(source, keys.size, _gate.WORD, width, keys.rule, False, out, None, 1)
    else:
        out[:] = keys.data.reshape(keys.size, -1).view(out.dtype).ravel()
    return out


def _loners_of(keys, words):
    """Which keys equal no other, as booleans."""
    if keys.loners is not None:
        bits = keys.loners.view(np.uint8)
        return np.unpackbits(bits, bitorder="little", count=keys.size).astype(bool)
    nan, lonely = keys.rule[2:]
    return words == nan if lonely else np.zeros(keys.size, bool)
