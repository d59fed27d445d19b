"""First occurrences of small arrays of words, in one call on one thread, where the steps of a whole
engine would cost more than the work; and of larger ones that hold few words.
"""
cimport numpy as cnp
from libc.stdint cimport intptr_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastsel._kernels.blocks cimport blocks_of, fs_level_t, log2_width
from fastsel._kernels.changes cimport write_lengths
from fastsel._kernels.distinct cimport fill_slice, part_t, tables_task
from fastsel._kernels.flagset cimport flag_blocks, flags_t
from fastsel._kernels.keys cimport describe_keys, is_plain, keys_t
from fastsel._kernels.levels cimport fs_level
from fastsel._kernels.numbers cimport bit_length
from fastsel._kernels.ordered cimport FALLS, RISES, direction_of, ordered_task, turns
from fastsel._kernels.places cimport FLAGS_PER_KEY, bits_of_places
from fastsel._kernels.results cimport numpy_array
from fastsel._kernels.scratch cimport give, take, take_zeros
from fastsel._kernels.slices cimport round_start
from fastsel._kernels.table cimport NO_MEMORY, TOO_MANY, table_free, table_t
from fastsel._kernels.wordset cimport MOST_GROWN, add_keys, set_free, set_start, set_t

cnp.import_array()

cdef const fs_level_t *level = fs_level()

cdef enum:
    LOOKED_AT = 256         # keys that say how many are distinct
    # After so many keys it is asked how many words will come: to give up late takes longest. 1e4
    # int32 of 1e3 groups, zipf, sorted, took 38 us, and take 25, all outputs of 2e3 groups, random,
    # 74 and 58 (`compare.py --op unique_sorted unique_all --size 1e4 --groups 1000 2000`).
    EXTENDED_AT = 1024
    ROUND_BLOCKS = LOOKED_AT // 64
    # Words of 2 bytes, from which on all 65536 have a place each: to clear the places of groups
    # takes 4 us, as long as so many keys that are hashed; to clear flags, less.
    MANY_PAIRS = 1 << 12
    MANY_FLAGGED = 1 << 10
    # Of more than `most` bytes that are in no order: 1e5 int32 of 1e3 groups take 65 us so, and 80
    # on two threads; to find that there are more takes 4 us.
    MOST_WORDS = 1 << 10
    MANY_ORDERED = 1 << 10  # keys, from which on it pays to see whether they are in order

ctypedef struct few_t:
    keys_t keys
    uint64_t base               # places, as in flagset.pxd and distinct.pxd
    int place_bits              # 0: words are hashed
    Py_ssize_t most_words
    Py_ssize_t most_distinct    # of each LOOKED_AT of the first keys
    bint looks_ahead            # asks whether there will be more than most_words
    uint64_t *bits


def firsts_of_few(a, Py_ssize_t most, Py_ssize_t most_of_few, Py_ssize_t most_places,
                  tuple rule not None, tuple order, tuple seeds not None, bint index, bint inverse,
                  bint counts, Py_ssize_t most_distinct, Py_ssize_t most_words):
    """(values, index, inverse, counts, direction) in order of first occurrence, None for what is
    not wanted; direction as in ordered.pyx, or 0.

    rule is that of a's items, which are words or longer than 8 bytes, order that of words of 4 or 8
    bytes, if they have one (see ordered.pyx). None for what this does not serve: other classes
    than ndarray, layouts that are not contiguous, items that equal no other and are to be counted,
    keys that the table does not take, more than most_distinct groups for each 256 of the first few
    keys, more than most_words, by now or expected, and more than `most` bytes. Where neither
    inverse nor counts are wanted, most_of_few bytes may be in order, of no more than MOST_WORDS
    words, or bytes.
    """
    cdef few_t few
    cdef bint noted = inverse or counts
    cdef Py_ssize_t status
    cdef int seen
    if not cnp.PyArray_CheckExact(a) or not cnp.PyArray_ISCARRAY_RO(a) or (
            not 0 < cnp.PyArray_NBYTES(a) <= most_of_few):
        return None
    describe_keys(&few.keys, a, cnp.PyArray_SIZE(a), rule, None, seeds)
    if few.keys.is_word and <size_t>cnp.PyArray_DATA(a) % few.keys.width:
        return None
    few.most_distinct = most_distinct
    few.most_words = most_words
    few.looks_ahead = most_words < few.keys.size and cnp.PyArray_NBYTES(a) <= most
    if cnp.PyArray_NBYTES(a) > most and few.keys.width > 1:
        few.most_words = min(most_words, MOST_WORDS)
    if few.keys.rule.lonely and few.keys.width <= 2:
        noted = True        # flags have no place for items that equal no other
    if (noted or not few.keys.is_word) and cnp.PyArray_NBYTES(a) > most:
        return None
    find_places(&few, noted, most_places, most)
    few.bits = <uint64_t *>take(blocks_of(few.keys.size) * sizeof(uint64_t))
    if few.bits == NULL:
        raise MemoryError()
    try:
        if order is not None and few.keys.size >= MANY_ORDERED:
            seen = see_order(&few, order)
            if seen != RISES | FALLS:
                found = at_bits(&few, a, index or noted, direction_of(&few.keys, seen))
                if noted:
                    found = with_runs(few.keys.size, found, index, inverse, counts)
                return found
        if noted or not few.keys.is_word:
            return by_table(&few, a, index, inverse, counts)
        status = by_flags(&few) if few.place_bits else by_words(&few)
        if status == NO_MEMORY:
            raise MemoryError()
        return None if status else at_bits(&few, a, index, 0)
    finally:
        give(few.bits)


cdef void find_places(few_t *few, bint noted, Py_ssize_t most_places,
                      Py_ssize_t most) noexcept:
    cdef Py_ssize_t width = few.keys.width, size = few.keys.size
    most_places = min(most_places, size // 2)
    if not noted:
        most_places = max(most_places, FLAGS_PER_KEY * size)
    few.base, few.place_bits = 0, 0
    if width == 1 or width == 2 and size >= (MANY_PAIRS if noted else MANY_FLAGGED):
        few.place_bits = <int>(8 * width)
    elif width in (4, 8) and is_plain(&few.keys.rule) and size * width <= most:
        few.place_bits = bits_of_places(few.keys.data, size, width, most_places, &few.base)


cdef int see_order(few_t *few, tuple order) noexcept:
    """Whether keys rise or fall; if not both, their bits are set."""
    cdef ordered_task task
    task.keys, task.letter, task.bits = few.keys, 0, few.bits
    task.order = order
    return turns(&task, 0, blocks_of(few.keys.size))


cdef Py_ssize_t by_flags(few_t *few) noexcept:
    """The bits of all keys; 0 or a status."""
    cdef flags_t flags
    cdef Py_ssize_t block = 0, stop = 0, blocks = blocks_of(few.keys.size), status = 0, before
    memset(&flags, 0, sizeof(flags))
    flags.base, flags.place_bits = few.base, few.place_bits
    flags.met = <uint8_t *>take_zeros(<size_t>1 << few.place_bits)
    if flags.met == NULL:
        return NO_MEMORY
    while block < blocks and status == 0:
        stop, before = min(blocks, block + ROUND_BLOCKS), flags.length
        status = flag_blocks(&flags, &few.keys, level, block, stop, few.bits)
        if status == 0:
            status = check(few, block * 64, stop * 64, before, flags.length)
        block = stop
    give(flags.met)
    return status


cdef inline Py_ssize_t check(const few_t *few, Py_ssize_t start, Py_ssize_t stop,
                             Py_ssize_t before, Py_ssize_t length) noexcept:
    """TOO_MANY if there are too many words, or will be: `before` up to start, length up to stop."""
    if length > few.most_words:
        return TOO_MANY
    if start < LOOKED_AT <= stop and LOOKED_AT * length > few.most_distinct * stop:
        return TOO_MANY
    if start < EXTENDED_AT <= stop and few.looks_ahead and (
            will_be_many(few, start, stop, before, length)):
        return TOO_MANY
    return 0


cdef bint will_be_many(const few_t *few, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t before,
                       Py_ssize_t length) noexcept:
    """As above: if most_words groups of equal size would have shown fewer words by now; or if at
    first up to 2 of 3 keys were new and half as many still are, as in a power law, of which as many
    come again (times log 2) whenever the keys are twice as many."""
    cdef double drawn = <double>stop / few.most_words     # of each of these groups
    cdef Py_ssize_t news = length - before, doublings = bit_length(few.keys.size // stop)
    if length * (1 + drawn / 2 + drawn * drawn / 12) > stop:      # nearly 1 - exp(-drawn), up to 3
        return True
    return 3 * before < 2 * start and 2 * news * start > before * (stop - start) and (
        0.7 * news * stop * doublings > (stop - start) * (few.most_words - length))


cdef Py_ssize_t by_words(few_t *few) noexcept:
    """The same."""
    cdef set_t set
    cdef Py_ssize_t start = 0, stop, before
    cdef Py_ssize_t status = set_start(&set, few.keys.width, 0, 0, MOST_GROWN)
    while start < few.keys.size and status == 0:
        before = set.length
        stop = add_keys(&set, &few.keys, level, start, few.keys.size, few.bits + (start >> 6),
                        &status)
        if status == 0:
            status = check(few, start, stop, before, set.length)
        start = stop
    set_free(&set)
    return status


cdef tuple at_bits(const few_t *few, cnp.ndarray a, bint index, int direction):
    """The answer, of the keys whose bits are set."""
    cdef Py_ssize_t blocks = blocks_of(few.keys.size)
    cdef cnp.npy_intp count = level.count(few.bits, blocks)
    values = numpy_array(1, &count, <cnp.dtype>cnp.PyArray_DESCR(a))
    level.keep[log2_width(few.keys.width)](
        few.bits, blocks, few.keys.data, <char *>cnp.PyArray_DATA(values), count)
    if not index:
        return values, None, None, None, direction
    places = cnp.PyArray_EMPTY(1, &count, cnp.NPY_INTP, 0)
    level.write(few.bits, blocks, 0, False, <intptr_t *>cnp.PyArray_DATA(places), count)
    return values, places, None, None, direction


cdef tuple with_runs(cnp.npy_intp size, tuple found, bint index, bint inverse, bint counts):
    """The same with the numbers and lengths of the runs that start at the index it has."""
    cdef cnp.ndarray places = found[1], numbers = None, lengths = None
    cdef cnp.npy_intp groups = cnp.PyArray_SIZE(places)
    cdef const Py_ssize_t *starts = <const Py_ssize_t *>cnp.PyArray_DATA(places)
    cdef Py_ssize_t *out
    cdef Py_ssize_t g, i, stop
    if inverse:
        numbers = cnp.PyArray_EMPTY(1, &size, cnp.NPY_INTP, 0)
        out = <Py_ssize_t *>cnp.PyArray_DATA(numbers)
        for g in range(groups):
            stop = starts[g + 1] if g + 1 < groups else size
            for i in range(starts[g], stop):
                out[i] = g
    if counts:
        lengths = cnp.PyArray_EMPTY(1, &groups, cnp.NPY_INTP, 0)
        write_lengths(starts, groups, size, <Py_ssize_t *>cnp.PyArray_DATA(lengths))
    return found[0], places if index else None, numbers, lengths, found[4]


cdef tuple by_table(const few_t *few, cnp.ndarray a, bint index, bint inverse, bint counts):
    cdef tables_task task
    cdef part_t part
    cdef Py_ssize_t k, start = 0, stop, before, loners = 0
    cdef cnp.npy_intp size = few.keys.size
    memset(&task, 0, sizeof(task))
    memset(&part, 0, sizeof(part))
    task.keys, task.base, task.place_bits = few.keys, few.base, few.place_bits
    task.plain = is_plain(&task.keys.rule)
    task.blocks = blocks_of(size)
    task.slices, task.rounds = 1, max(1, task.blocks // ROUND_BLOCKS)
    task.parts, task.bits, task.most, task.counted = &part, few.bits, size, counts
    if inverse:
        numbers = cnp.PyArray_EMPTY(1, &size, cnp.NPY_INTP, 0)
        task.inverse = <Py_ssize_t *>cnp.PyArray_DATA(numbers)
    try:
        for k in range(task.rounds):
            stop, before = 64 * round_start(task.blocks, 1, task.rounds, k + 1), part.table.length
            fill_slice(&task, k)
            if check(few, start, stop, before, part.table.length):
                return None
            start = stop
        if part.status == NO_MEMORY:
            raise MemoryError()
        for k in range(task.blocks):
            loners += few.bits[k] != 0
        if part.status or loners:
            return None
        size = part.table.length
        values = numpy_array(1, &size, <cnp.dtype>cnp.PyArray_DESCR(a))
        copy_firsts(&part.table, &task.keys, <char *>cnp.PyArray_DATA(values))
        return (values, of_groups(&part.table, False) if index else None,
                numbers if inverse else None, of_groups(&part.table, True) if counts else None,
                0)
    finally:
        table_free(&part.table)


cdef void copy_firsts(const table_t *table, const keys_t *keys, char *out) noexcept:
    """The first item of each group, its bits as they are."""
    cdef Py_ssize_t g
    if keys.width == 8:
        for g in range(table.length):
            (<uint64_t *>out)[g] = (<const uint64_t *>keys.data)[table.groups[g].first]
    elif keys.width == 4:
        for g in range(table.length):
            (<uint32_t *>out)[g] = (<const uint32_t *>keys.data)[table.groups[g].first]
    else:
        for g in range(table.length):
            memcpy(out + g * keys.width, keys.data + table.groups[g].first * keys.width,
                   keys.width)


cdef cnp.ndarray of_groups(const table_t *table, bint counts):
    """The groups' counts, or the positions of their first items."""
    cdef cnp.npy_intp length = table.length
    cdef cnp.ndarray out = cnp.PyArray_EMPTY(1, &length, cnp.NPY_INTP, 0)
    cdef Py_ssize_t *data = <Py_ssize_t *>cnp.PyArray_DATA(out)
    cdef Py_ssize_t g
    for g in range(length):
        data[g] = table.groups[g].count if counts else table.groups[g].first
    return out
