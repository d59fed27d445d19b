"""unique of small arrays of integers, or floats without NaN, in one call under the GIL, mostly by
NumPy's sort: distinct items in ascending order, and, where hardly any is repeated, in order of
first occurrence.

Both functions return None for what they do not serve, such as other classes than ndarray, layouts
that are not contiguous, other dtypes, and NaN.
"""
cimport numpy as cnp
from libc.stdint cimport intptr_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from fastsel._kernels.blocks cimport blocks_of, fs_ctz, fs_level_t, log2_width
from fastsel._kernels.changes cimport note_changes
from fastsel._kernels.levels cimport fs_level
from fastsel._kernels.places cimport FLAGS_PER_KEY, bits_of_places, place_bits, wide_t
from fastsel._kernels.plain cimport is_plain
from fastsel._kernels.results cimport numpy_array
from fastsel._kernels.scratch cimport give, take

cdef extern from "hashing.h" nogil:
    enum:
        FS_RECENT_BITS
    uint32_t fs_recent_factor(uint64_t factor)
    uint32_t fs_recent_slot(uint64_t word, uint32_t factor)

# What a slot has: no word, one, or one that was met.
cdef enum:
    FREE
    TAKEN
    MET

cdef extern from "sorts.h" nogil:
    int fs_numpy_sorts_short()

cnp.import_array()

cdef const fs_level_t *level = fs_level()
cdef bint sorts_short = fs_numpy_sorts_short()

cdef enum:
    MOST_NARROW = 1000     # items of 1 byte, or of 2 if NumPy's sort of these is not vectorised
    MANY = 1 << 11         # from so many items on the first ones are looked at
    # Of so many these must be distinct, of 4 bytes and of 8, for all to be sorted at once: 1e4
    # int64 of 1.4e3 groups are hashed, and their distinct ones sorted, as fast, 1e4 int32 of 500.
    # Of more than MOST_UNSEEN items of 2 bytes, too, up to MOST_PAIRS: 1e4 distinct int16 take 12
    # us so, and by flags 22, of 25 groups 10 and 8, 3e4 of 1e3 37 and 18 (`compare.py --op
    # unique_sorted --size 1e4 3e4 --groups 25 500 1400 n`).
    LOOKED_AT = 256
    LEAST_SHORT = 201
    LEAST_LONG = 233
    MOST_UNSEEN = 1 << 12
    MOST_PAIRS = 1 << 14
    # In order of first occurrence: all of so many, of more than MANY_MORE items all of
    # MOST_LOOKED_AT, and of all items at most MOST_REPEATED are repeated.
    ALL_DISTINCT = 512
    MANY_MORE = 1 << 14
    MOST_LOOKED_AT = 2048
    LOOKED_BLOCKS = MOST_LOOKED_AT // 64
    MOST_REPEATED = 2048
    TURNS = 6              # until each of these has had a slot: the fourth one has some 8 to go
    PLACED = 1 << 11       # from so many items on a table of so few places is faster than sorting:
    PLACES = 1 << 12       # 1e4 int64 of 1e3 values take 4.5 us so, and 29


def unique(a, Py_ssize_t most_sorted, Py_ssize_t most_placed, Py_ssize_t most_unseen):
    """numpy.unique(a), or None.

    Up to most_placed integers of a narrow range need no sort. Up to most_sorted are sorted (fewer
    of 1 or 2 bytes, for which tables are faster), unless the first of them are NaN, or in order and
    longer than that; and of more than most_unseen unless several of the first are the same.
    """
    cdef Py_ssize_t width, least
    cdef char *items
    if not is_plain(a) or cnp.PyArray_SIZE(a) == 0:
        return None
    if PLACED <= cnp.PyArray_SIZE(a) <= most_placed and (out := by_places(a)) is not None:
        return out
    width, least = cnp.PyArray_ITEMSIZE(a), 0
    if width <= 2:
        most_sorted = min(most_sorted, MOST_PAIRS if width == 2 and sorts_short else MOST_NARROW)
        most_unseen = min(most_unseen, MOST_UNSEEN)
    if not is_sorted_here(a) or cnp.PyArray_SIZE(a) > most_sorted:
        return None
    if cnp.PyArray_SIZE(a) > most_unseen:
        least = LEAST_LONG if width == 8 else LEAST_SHORT
    if cnp.PyArray_SIZE(a) >= MANY and not calls_for_sort(a, LOOKED_AT, least):
        return None
    items = room_for(a)
    try:
        ordered = sorted_items(a, cnp.PyArray_SIZE(a), items)
        if is_float(a) and not settle_floats(ordered):
            return None
        out = distinct_of(ordered, a, bits_beside(a, items))
        if is_float(a):
            put_first_zero(a, out)
        return out
    finally:
        give(items)


def firsts(a, bint index, uint64_t factor):
    """(values, index) in order of first occurrence, or None: of items of 4 or 8 bytes, of which few
    are repeated. The index is None if it is not wanted; factor is that of the hash."""
    cdef uint64_t *bits
    cdef Py_ssize_t blocks, looked_at, repeated
    cdef cnp.npy_intp count
    cdef char *items
    if not is_plain(a) or cnp.PyArray_SIZE(a) < ALL_DISTINCT:
        return None
    looked_at = MOST_LOOKED_AT if cnp.PyArray_SIZE(a) > MANY_MORE else ALL_DISTINCT
    if not is_sorted_here(a) or cnp.PyArray_ITEMSIZE(a) < 4 or (
            not calls_for_sort(a, looked_at, looked_at)) or is_narrow(a):
        return None
    items, blocks = room_for(a), blocks_of(cnp.PyArray_SIZE(a))
    bits = bits_beside(a, items)
    try:
        ordered = sorted_items(a, cnp.PyArray_SIZE(a), items)
        if is_float(a) and not settle_floats(ordered):
            return None
        count = note_distinct(ordered, bits)
        if cnp.PyArray_SIZE(a) - count > MOST_REPEATED:
            return None
        if cnp.PyArray_SIZE(a) > count:
            repeated = cnp.PyArray_SIZE(a) - count
            if not clear_repeated(ordered, a, bits, repeated, fs_recent_factor(factor)):
                return None
            count = level.count(bits, blocks)
        values = kept_items(a, <const char *>cnp.PyArray_DATA(a), bits, count)
        if not index:
            return values, None
        places = cnp.PyArray_EMPTY(1, &count, cnp.NPY_INTP, 0)
        level.write(bits, blocks, 0, False, <intptr_t *>cnp.PyArray_DATA(places), count)
        return values, places
    finally:
        give(items)


cdef inline bint is_narrow(cnp.ndarray a) noexcept:
    """Do flags of a narrow range take less time than to sort many integers?"""
    cdef uint64_t base
    return cnp.PyArray_SIZE(a) >= MANY and cnp.PyArray_ISINTEGER(a) and bits_of_places(
        cnp.PyArray_DATA(a), cnp.PyArray_SIZE(a), cnp.PyArray_ITEMSIZE(a),
        cnp.PyArray_SIZE(a) * FLAGS_PER_KEY, &base)


cdef inline bint is_sorted_here(cnp.ndarray a) noexcept:
    return cnp.PyArray_ISINTEGER(a) or is_float(a)


cdef bint calls_for_sort(cnp.ndarray a, cnp.npy_intp looked_at, Py_ssize_t least) except -1:
    """Are so many of the first items distinct, none of them NaN, and, unless they have 2 bytes,
    which no other kernel takes faster then, in no order?"""
    cdef uint64_t[MOST_LOOKED_AT] items
    cdef uint64_t[LOOKED_BLOCKS] bits
    cdef const char *data = <const char *>cnp.PyArray_DATA(a)
    cdef Py_ssize_t width = cnp.PyArray_ITEMSIZE(a), last = (looked_at - 1) * width
    cdef const char *lowest = <const char *>items
    cdef const char *highest = lowest + last
    cdef Py_ssize_t j
    if least == looked_at:
        for j in range(1, 64):      # most arrays of few groups need no more
            if memcmp(data, data + j * width, width) == 0:
                return False
    ordered = sorted_items(a, looked_at, <char *>items)
    if is_float(a) and not settle_floats(ordered):
        return False
    if note_distinct(ordered, bits) < least:
        return False
    if width == 2:
        return True
    return (memcmp(lowest, data, width) or memcmp(highest, data + last, width)) and (
        memcmp(lowest, data + last, width) != 0 or memcmp(highest, data, width) != 0)


cdef char *room_for(cnp.ndarray a) except NULL:
    """For its items, in whole blocks, and their bits."""
    cdef Py_ssize_t blocks = blocks_of(cnp.PyArray_SIZE(a))
    cdef char *items = <char *>take(blocks * (64 * cnp.PyArray_ITEMSIZE(a) + sizeof(uint64_t)))
    if items == NULL:
        raise MemoryError()
    return items


cdef inline uint64_t *bits_beside(cnp.ndarray a, char *items) noexcept:
    return <uint64_t *>(items + blocks_of(cnp.PyArray_SIZE(a)) * 64 * cnp.PyArray_ITEMSIZE(a))


cdef cnp.ndarray sorted_items(cnp.ndarray a, cnp.npy_intp size, char *items):
    """So many of the first items of a, sorted."""
    memcpy(items, cnp.PyArray_DATA(a), size * cnp.PyArray_ITEMSIZE(a))
    ordered = cnp.PyArray_SimpleNewFromData(1, &size, cnp.PyArray_TYPE(a), items)
    cnp.PyArray_Sort(ordered, 0, cnp.NPY_QUICKSORT)
    return ordered


cdef bint clear_repeated(cnp.ndarray ordered, cnp.ndarray a, uint64_t *bits, Py_ssize_t repeated,
                         uint32_t factor) except -1:
    """From the bits of sorted items that differ from the one before, as all but `repeated` do, to
    those of a's items that are the first of their kind; False if they are not found this way."""
    cdef Py_ssize_t width = cnp.PyArray_ITEMSIZE(a), blocks = blocks_of(cnp.PyArray_SIZE(a))
    cdef void *data = cnp.PyArray_DATA(a)
    cdef void *in_order = cnp.PyArray_DATA(ordered)
    cdef uint64_t *same = <uint64_t *>take((blocks + repeated) * sizeof(uint64_t))
    cdef bint done
    if same == NULL:
        raise MemoryError()
    if width == 8:
        done = find_repeated(<const uint64_t *>in_order, <const uint64_t *>data, a, bits, same,
                             <uint64_t *>(same + blocks), factor)
    else:
        done = find_repeated(<const uint32_t *>in_order, <const uint32_t *>data, a, bits, same,
                             <uint32_t *>(same + blocks), factor)
    give(same)
    return done


cdef bint find_repeated(const wide_t *ordered, const wide_t *items, cnp.ndarray a, uint64_t *bits,
                        uint64_t *same, wide_t *words, uint32_t factor) noexcept:
    """As clear_repeated, turn by turn: in each, those of the repeated words that have a slot of
    their own are looked for. More than TURNS words of one slot are given up. same has room for the
    bits of as many items, words for the repeated words."""
    cdef wide_t[1 << FS_RECENT_BITS] slots
    cdef uint8_t[1 << FS_RECENT_BITS] states
    cdef Py_ssize_t size = cnp.PyArray_SIZE(a), left = 0, waiting, j, _turn
    cdef uint32_t slot
    left = list_repeated(ordered, size, bits, words)
    for j in range(left):
        if words[j] == 0 and is_float(a):
            return False        # which may have either sign
    memset(bits, 0xFF, blocks_of(size) * sizeof(uint64_t))
    if size & 63:
        bits[size >> 6] = (<uint64_t>1 << (size & 63)) - 1
    for _turn in range(TURNS):
        memset(slots, 0, sizeof(slots))
        memset(states, FREE, sizeof(states))
        waiting = 0
        for j in range(left):
            slot = fs_recent_slot(words[j], factor)
            if states[slot] == FREE:
                slots[slot], states[slot] = words[j], TAKEN
            else:
                words[waiting] = words[j]
                waiting += 1
        clear_met(items, size, slots, states, factor, same, bits)
        left = waiting
        if left == 0:
            return True
    return False


cdef Py_ssize_t list_repeated(const wide_t *ordered, Py_ssize_t size, const uint64_t *bits,
                              wide_t *words) noexcept:
    """The sorted items that equal the one before, each of them once; returns how many."""
    cdef Py_ssize_t block, j, count = 0
    cdef uint64_t repeated
    for block in range(blocks_of(size)):
        repeated = ~bits[block]
        while repeated:
            j = block * 64 + fs_ctz(repeated)
            if j < size and (count == 0 or words[count - 1] != ordered[j]):
                words[count] = ordered[j]
                count += 1
            repeated &= repeated - 1
    return count


cdef void clear_met(const wide_t *items, Py_ssize_t size, const wide_t *slots, uint8_t *states,
                    uint32_t factor, uint64_t *same, uint64_t *bits) noexcept:
    """Clear the bits of items whose word has a slot and was met before. (A slot that is FREE may
    equal a word, too: 0.)"""
    cdef Py_ssize_t whole = size >> 6, block, j
    cdef uint64_t found
    cdef uint32_t slot
    level.strange[sizeof(wide_t) == 8](<const char *>items, whole, slots, factor, same)
    if size & 63:
        same[whole] = <uint64_t>-1
    for j in range(whole * 64, size):
        if slots[fs_recent_slot(items[j], factor)] == items[j]:
            same[whole] &= ~(<uint64_t>1 << (j & 63))
    for block in range(blocks_of(size)):
        found = ~same[block]
        while found:
            j = fs_ctz(found)
            slot = fs_recent_slot(items[block * 64 + j], factor)
            if states[slot] == MET:
                bits[block] &= ~(<uint64_t>1 << j)
            elif states[slot] == TAKEN:
                states[slot] = MET
            found &= found - 1


cdef by_places(cnp.ndarray a):
    """The distinct ones of integers of a narrow range, which need no sort; None for others."""
    if not cnp.PyArray_ISINTEGER(a):
        return None
    if is_one_value(a):
        return first_item(a)
    if cnp.PyArray_ITEMSIZE(a) == 4:
        return in_places(<const uint32_t *>cnp.PyArray_DATA(a), a)
    if cnp.PyArray_ITEMSIZE(a) == 8:
        return in_places(<const uint64_t *>cnp.PyArray_DATA(a), a)
    return None


cdef inline bint is_one_value(cnp.ndarray a) noexcept:
    """Have all items the same bits? (1e5 int32 that do take 5 us so, and by places 36.)"""
    cdef const char *data = <const char *>cnp.PyArray_DATA(a)
    cdef Py_ssize_t width = cnp.PyArray_ITEMSIZE(a)
    return memcmp(data, data + width, cnp.PyArray_NBYTES(a) - width) == 0


cdef cnp.ndarray first_item(cnp.ndarray a):
    """A new array with the dtype of a."""
    cdef cnp.npy_intp one = 1
    out = numpy_array(1, &one, <cnp.dtype>cnp.PyArray_DESCR(a))
    memcpy(cnp.PyArray_DATA(out), cnp.PyArray_DATA(a), cnp.PyArray_ITEMSIZE(a))
    return out


cdef in_places(const wide_t *data, cnp.ndarray a):
    cdef uint8_t[PLACES] found
    cdef wide_t base, here, beyond = 0
    cdef Py_ssize_t i
    cdef cnp.npy_intp count = 0
    cdef int bits = place_bits(data, cnp.PyArray_SIZE(a), PLACES, &base)
    cdef wide_t mask = (<wide_t>1 << bits) - 1
    cdef wide_t lowest = <wide_t>cnp.PyArray_ISSIGNED(a) << (8 * sizeof(wide_t) - 1)
    if bits == 0:
        return None
    if base + mask - lowest < base - lowest:     # not ascending: there is room on one side only
        base = lowest if lowest - base <= mask // 2 else lowest - 1 - mask
    memset(found, 0, mask + 1)
    for i in range(cnp.PyArray_SIZE(a)):
        here = data[i] - base
        beyond |= here
        found[here & mask] = 1
    if beyond > mask:
        return None
    for i in range(<Py_ssize_t>mask + 1):
        count += found[i]
    out = numpy_array(1, &count, <cnp.dtype>cnp.PyArray_DESCR(a))
    write_found(found, base, <wide_t *>cnp.PyArray_DATA(out), count)
    return out


cdef void write_found(const uint8_t *found, wide_t value, wide_t *out, Py_ssize_t count) noexcept:
    """Those of the values from this one on that are found, `count` in all."""
    cdef Py_ssize_t n = 0, i = 0
    while n < count:
        out[n] = value
        n += found[i]
        value += 1
        i += 1


cdef distinct_of(cnp.ndarray ordered, cnp.ndarray a, uint64_t *bits):
    """The distinct ones of sorted items, of which the last block is filled up; a new array with the
    dtype of a."""
    cdef Py_ssize_t count = note_distinct(ordered, bits)
    return kept_items(a, <const char *>cnp.PyArray_DATA(ordered), bits, count)


cdef cnp.ndarray kept_items(cnp.ndarray a, const char *items, const uint64_t *bits,
                            cnp.npy_intp count):
    """A new array with the dtype of a: `count` of as many items, those whose bits are set."""
    out = numpy_array(1, &count, <cnp.dtype>cnp.PyArray_DESCR(a))
    level.keep[log2_width(cnp.PyArray_ITEMSIZE(a))](
        bits, blocks_of(cnp.PyArray_SIZE(a)), items, <char *>cnp.PyArray_DATA(out), count)
    return out


cdef Py_ssize_t note_distinct(cnp.ndarray ordered, uint64_t *bits) noexcept:
    """The bits of sorted items that differ from the one before; returns how many they are."""
    cdef char *items = <char *>cnp.PyArray_DATA(ordered)
    cdef Py_ssize_t size = cnp.PyArray_SIZE(ordered), width = cnp.PyArray_ITEMSIZE(ordered)
    cdef uint64_t all_bits = <uint64_t>-1
    if width == 8:
        note_changes(level, <uint64_t *>items, size, all_bits, bits)
    elif width == 4:
        note_changes(level, <uint32_t *>items, size, all_bits, bits)
    elif width == 2:
        note_changes(level, <uint16_t *>items, size, all_bits, bits)
    else:
        note_changes(level, <uint8_t *>items, size, all_bits, bits)
    return level.count(bits, blocks_of(size))


cdef inline bint is_float(cnp.ndarray a) noexcept:
    return cnp.PyArray_TYPE(a) == cnp.NPY_DOUBLE or cnp.PyArray_TYPE(a) == cnp.NPY_FLOAT


cdef bint settle_floats(cnp.ndarray ordered) noexcept:
    """Take the signs of zeros away; False if there are NaN. They come last."""
    if cnp.PyArray_TYPE(ordered) == cnp.NPY_DOUBLE:
        return settle(<uint64_t *>cnp.PyArray_DATA(ordered), cnp.PyArray_SIZE(ordered), 52)
    return settle(<uint32_t *>cnp.PyArray_DATA(ordered), cnp.PyArray_SIZE(ordered), 23)


cdef bint settle(wide_t *words, Py_ssize_t size, int mantissa_bits) noexcept:
    cdef wide_t magnitudes = <wide_t>-1 >> 1
    cdef wide_t infinity = magnitudes >> mantissa_bits << mantissa_bits
    cdef Py_ssize_t start = 0, stop = size, middle
    if words[size - 1] & magnitudes > infinity:
        return False
    while start < stop:         # the numbers less than zero come before start
        middle = (start + stop) // 2
        if words[middle] > magnitudes + 1:
            start = middle + 1
        else:
            stop = middle
    while start < size and words[start] & magnitudes == 0:
        words[start] = 0
        start += 1
    return True


cdef void put_first_zero(cnp.ndarray a, cnp.ndarray out) noexcept:
    """Zero gets the sign that it has where it occurs first."""
    if cnp.PyArray_TYPE(a) == cnp.NPY_DOUBLE:
        put_sign(<const uint64_t *>cnp.PyArray_DATA(a), cnp.PyArray_SIZE(a),
                 <uint64_t *>cnp.PyArray_DATA(out), cnp.PyArray_SIZE(out))
    else:
        put_sign(<const uint32_t *>cnp.PyArray_DATA(a), cnp.PyArray_SIZE(a),
                 <uint32_t *>cnp.PyArray_DATA(out), cnp.PyArray_SIZE(out))


cdef void put_sign(const wide_t *words, Py_ssize_t size, wide_t *out, Py_ssize_t groups) noexcept:
    cdef wide_t magnitudes = <wide_t>-1 >> 1, word = 1
    cdef Py_ssize_t zero = 0, i = 0
    while zero < groups and out[zero] > magnitudes:     # less than zero
        zero += 1
    if zero == groups or out[zero] != 0:
        return
    while i < size and word & magnitudes:
        word = words[i]
        i += 1
    if word & magnitudes == 0:      # unless another thread has changed them
        out[zero] = word
