"""Distinct words, and where they are, by NumPy's sorts: each thread sorts numbers of its own range.

Every thread looks at all keys and takes those of its range, which is faster than a pass that
scatters them; where the ranges meet, a sample says. The sort for unsigned numbers, which is
vectorised on most CPUs, does the rest. What the threads have sorted is their own, so that equal
numbers lie side by side even if another thread writes to the keys meanwhile.

To know where a number was, it is sorted as a word whose low bits are its position. Keys of 8 bytes
lose some of their own bits for that, and what is equal then is looked at again.
"""
cimport numpy as cnp
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcmp, memset

from fastsel._kernels.blocks cimport (
    blocks_of, fs_ctz, fs_level_t, fs_places_t, fs_prefetch)
from fastsel._kernels.changes cimport note_changes
from fastsel._kernels.keys cimport describe_keys, key_at, keys_t, load_word, wide_t
from fastsel._kernels.levels cimport fs_level
from fastsel._kernels.numbers cimport bit_length, number_of, word_of
from fastsel._kernels.ranks cimport rank, rank_blocks, ranks_t
from fastsel._kernels.results cimport new_result
from fastsel._kernels.sample cimport draw
from fastsel._kernels.scratch cimport Scratch
from fastsel._kernels.slices cimport for_rounds, for_slices, scan

cdef extern from "sorts.h" nogil:
    ctypedef int (*fs_sort_t)(void *numbers, cnp.npy_intp length, void *array) noexcept nogil
    fs_sort_t fs_numpy_sort(int typenum)
    int fs_numpy_sort_speed()

cnp.import_array()

cdef const fs_level_t *level = fs_level()

cdef enum:
    # Each range is one more look at all keys; and in NumPy's sort, which takes a twentieth of a
    # second for this many, no signal is handled.
    MOST_RANGES = 16
    RANGE_KEYS = 1 << 23
    # Keys that say where a range ends, one of so many, and at most so many per range: they are 3 %
    # off, and each range has room for an eighth more.
    SAMPLE_SHARE = 64
    SAMPLE = 1024
    NEW_WORK = 4              # to sort a number that is not repeated, 1 for one that is
    AT_ONCE = 4096            # keys
    SPARE = AT_ONCE + 64      # what a range has to have room for beyond its numbers
    ROUND_KEYS = 1 << 18      # whose groups are written between two looks for signals
    AHEAD = 32                # keys to be looked at again are asked for so many before
    MOST_ALIKE = 64           # keys that differ in lost bits only, and are sorted one by one

# How far the groups of a range are written.
ctypedef struct written_t:
    Py_ssize_t group          # the last one
    Py_ssize_t number         # that it has in the answer
    Py_ssize_t started        # where in the range

ctypedef struct ranges_task:
    keys_t keys
    uint64_t[3] rule
    uint64_t[3] order         # how words become numbers: sign, negative, less
    bint placed
    fs_places_t places
    Py_ssize_t width          # of what is sorted
    fs_sort_t sort
    fs_sort_t sort_keys       # for the sample, which is not placed
    Py_ssize_t ranges
    uint64_t[MOST_RANGES + 1] limits  # of the ranges; the last one is 0, past all numbers
    Py_ssize_t[MOST_RANGES + 1] rooms  # where the room of each range starts, a multiple of 64
    char *numbers             # in their rooms
    uint64_t *bits            # which numbers are the first of their kind
    Py_ssize_t[MOST_RANGES] lengths   # numbers; -1 if they cannot be sorted here
    Py_ssize_t[MOST_RANGES + 1] starts  # how many groups come before each range
    written_t[MOST_RANGES] written
    char *values
    Py_ssize_t *index         # or NULL
    Py_ssize_t *inverse       # or NULL
    Py_ssize_t *counts        # or NULL
    bint ranked               # groups are numbered as their first keys come
    ranks_t ranks
    Py_ssize_t last           # number of a group


cdef class Ranges:
    """The keys' numbers, sorted."""
    cdef ranges_task task
    cdef object owned             # what the task points to
    cdef Scratch scratch
    cdef int threads

    def __init__(self, cnp.ndarray data not None, Py_ssize_t size, tuple rule not None,
                 tuple order not None, bint placed, int threads):
        """`size` > 0 keys of 4 or 8 bytes, at most `most_keys(threads)`; order is (sign, negative,
        less). placed: it is wanted where the keys are."""
        cdef ranges_task *task = &self.task
        describe_keys(&task.keys, data, size, rule, None, (0, 1))
        task.rule = (task.keys.rule.care, task.keys.rule.limit, task.keys.rule.nan)
        task.order = order
        task.placed = placed
        self.owned, self.threads = data, threads
        task.width = 8 if placed else task.keys.width
        task.sort = fs_numpy_sort(typenum(task.width))
        task.sort_keys = fs_numpy_sort(typenum(task.keys.width))
        if task.sort == NULL or task.sort_keys == NULL:
            raise NotImplementedError("this NumPy keeps its sorts to itself")
        task.ranges = ranges_for(size, threads)
        choose_limits(task)
        self.scratch = Scratch()
        task.numbers = <char *>self.scratch.take(task.rooms[task.ranges] * task.width)
        task.bits = <uint64_t *>self.scratch.take(task.rooms[task.ranges] // 8)

    def is_exact(self):
        """Do placed numbers keep all their bits, as far as a sample says?"""
        return self.task.places.drop == 0

    def sort(self):
        """False if the keys are spread too unevenly for the ranges, or differ in too few bits; and
        if it shows that another thread has changed them: there would be too many, or too few."""
        cdef ranges_task *task = &self.task
        cdef Py_ssize_t k, sorted_keys = 0
        with nogil:
            for_slices(sort_range, task, task.ranges, self.threads)
            for k in range(task.ranges):
                task.starts[k] = count_groups(task, k)
            scan(task.starts, task.ranges)
        for k in range(task.ranges):
            if task.lengths[k] < 0:
                return False
            sorted_keys += task.lengths[k]
        return sorted_keys == task.keys.size

    def distinct(self):
        """The distinct words of keys that are not placed, in ascending order."""
        cdef ranges_task *task = &self.task
        values = self.new_values()
        with nogil:
            for_slices(distinct_range, task, task.ranges, self.threads)
        return values

    def groups(self, bint index, bint inverse, bint counts):
        """(values, index, inverse, counts) of placed keys; None for what is not asked for."""
        cdef ranges_task *task = &self.task
        cdef Py_ssize_t length = task.starts[task.ranges]
        values = self.new_values()
        indices = new_indices(length, index, &task.index)
        task.ranked = False
        return values, indices, *self.numbered(length, inverse, counts)

    def order(self, bint places):
        """(order, places): the positions of placed keys in ascending order, stably, and, if wanted,
        where each key goes. No other thread may change these keys."""
        cdef ranges_task *task = &self.task
        order = new_indices(task.keys.size, True, &task.index)
        new_places = new_indices(task.keys.size, places, &task.inverse)
        with nogil:
            for_rounds(order_range, task, rounds_of(task), task.ranges, self.threads)
        return order, new_places

    def first_bits(self):
        """The bitmask of the first occurrences of placed keys."""
        cdef ranges_task *task = &self.task
        cdef cnp.npy_intp blocks = blocks_of(task.keys.size)
        bits = cnp.PyArray_EMPTY(1, &blocks, cnp.NPY_UINT64, 0)
        cdef uint64_t *out = <uint64_t *>cnp.PyArray_DATA(bits)
        with nogil:
            clear_repeated(task, out)
        return bits

    def ranked(self, const uint64_t[::1] bits not None, bint inverse, bint counts):
        """(inverse, counts) as ranks and by rank of the bits, which first_bits gave."""
        cdef ranges_task *task = &self.task
        before = rank_blocks(&task.ranks, bits)
        task.values, task.index = NULL, NULL
        task.ranked = True
        return self.numbered(before[bits.shape[0]], inverse, counts)

    cdef tuple numbered(self, Py_ssize_t length, bint inverse, bint counts):
        cdef ranges_task *task = &self.task
        numbers = new_indices(task.keys.size, inverse, &task.inverse)
        sizes = new_indices(length, counts, &task.counts)
        task.last = length - 1
        with nogil:
            # Keys that another thread changes may be in two ranges, or in none.
            if inverse and task.ranges > 1:
                memset(task.inverse, 0, task.keys.size * sizeof(Py_ssize_t))
            if counts and task.ranked:
                memset(task.counts, 0, length * sizeof(Py_ssize_t))
            for_rounds(groups_range, task, rounds_of(task), task.ranges, self.threads)
        return numbers, sizes

    cdef object new_values(self):
        cdef cnp.npy_intp length = self.task.starts[self.task.ranges]
        cdef cnp.ndarray values = new_result(1, &length, typenum(self.task.keys.width))
        self.task.values = <char *>cnp.PyArray_DATA(values)
        return values


def most_keys(int threads):
    """How many keys so many threads sort, for signals to be handled in time."""
    return RANGE_KEYS * (MOST_RANGES // min(threads, MOST_RANGES) * min(threads, MOST_RANGES))


def numpy_sort_speed():
    """Of NumPy's sorts of numbers on this CPU: 0 (also if it keeps them to itself), or 1 if they
    are vectorised, or 2 if by vectors of 64 bytes."""
    known = fs_numpy_sort(cnp.NPY_UINT32) != NULL and fs_numpy_sort(cnp.NPY_UINT64) != NULL
    return fs_numpy_sort_speed() if known else 0


cdef Py_ssize_t ranges_for(Py_ssize_t size, int threads) noexcept:
    """As many for each thread."""
    cdef Py_ssize_t each = min(max(threads, 1), MOST_RANGES), ranges = each
    while ranges * RANGE_KEYS < size:
        ranges += each
    return ranges


cdef int typenum(Py_ssize_t width) noexcept:
    return cnp.NPY_UINT32 if width == 4 else cnp.NPY_UINT64


cdef object new_indices(cnp.npy_intp length, bint wanted, Py_ssize_t **data):
    cdef cnp.ndarray result
    data[0] = NULL
    if not wanted:
        return None
    result = new_result(1, &length, cnp.NPY_INTP)
    data[0] = <Py_ssize_t *>cnp.PyArray_DATA(result)
    return result


# ---- sort -------------------------------------------------------------------------------


cdef int choose_limits(ranges_task *task) except -1:
    """Where the ranges meet, and the room of each, as a sample says: some may be empty, and some
    large, where many numbers are the same."""
    cdef Scratch scratch = Scratch()
    cdef Py_ssize_t size = task.keys.size, width = task.keys.width, j, k, room
    cdef Py_ssize_t start, stop, at, work, all_work = 0
    cdef Py_ssize_t drawn = max(min(size // SAMPLE_SHARE, SAMPLE * task.ranges), min(size, SAMPLE))
    cdef char *keys = <char *>scratch.take(drawn * width)
    cdef char *numbers = <char *>scratch.take((drawn + 64) * width)
    draw(task.keys.data, size, width, drawn, keys)
    level.within[width == 8](keys, drawn, task.rule, task.order, 0, <uint64_t>-1, numbers)
    task.sort_keys(numbers, drawn, NULL)
    task.limits[0] = task.limits[task.ranges] = 0
    task.rooms[0] = start = at = work = 0
    for j in range(drawn):
        all_work += work_of(numbers, j, width)
    for k in range(task.ranges):
        stop = drawn
        if k + 1 < task.ranges:
            while work * task.ranges < all_work * (k + 1):
                work += work_of(numbers, at, width)
                at += 1
            task.limits[k + 1] = load_word(numbers + min(at, drawn - 1) * width, width)
            stop = start
            while load_word(numbers + stop * width, width) < task.limits[k + 1]:
                stop += 1
        room = size
        if task.ranges > 1:
            room = <Py_ssize_t>(<double>size * (stop - start) / drawn)
            room = min(room + room // 8, size)
        task.rooms[k + 1] = task.rooms[k] + blocks_of(room + SPARE) * 64
        start = stop
    choose_places(task, load_word(numbers, width), load_word(numbers + (drawn - 1) * width, width))
    return 0


cdef inline Py_ssize_t work_of(const char *numbers, Py_ssize_t j, Py_ssize_t width) noexcept nogil:
    """To sort number j of those in order: repeated ones are soon found to be alike."""
    cdef bint is_new = j == 0 or memcmp(numbers + j * width, numbers + (j - 1) * width, width) != 0
    return NEW_WORK if is_new else 1


cdef void choose_places(ranges_task *task, uint64_t low, uint64_t high) noexcept:
    """How numbers that go from low to high, more or less, share a word with their positions."""
    cdef uint64_t margin = (high - low) // 4 + 1
    task.places.base, task.places.top, task.places.drop = 0, <uint64_t>-1, 0
    task.places.index_bits = 32
    if task.keys.width == 8:
        task.places.base = low - min(low, margin)
        task.places.top = high - task.places.base
        task.places.top += min(margin, <uint64_t>-1 - task.places.top)
        task.places.index_bits = bit_length(task.keys.size - 1)
        task.places.drop = max(
            0, bit_length(task.places.top) + task.places.index_bits - 64)


cdef void sort_range(void *context, Py_ssize_t k) noexcept nogil:
    """The numbers of range k, in order, and which of them are the first of their kind."""
    cdef ranges_task *task = <ranges_task *>context
    cdef char *numbers = numbers_of(task, k)
    cdef uint64_t care = <uint64_t>-1
    cdef Py_ssize_t start = 0, length = 0
    if task.limits[k] == task.limits[k + 1] and k + 1 < task.ranges:
        start = task.keys.size
    while start < task.keys.size:
        if length + SPARE > task.rooms[k + 1] - task.rooms[k]:
            task.lengths[k] = -1
            return
        length += within(task, k, start, numbers + length * task.width)
        start += AT_ONCE
    task.lengths[k] = length
    if length == 0:
        return
    if task.sort(numbers, length, NULL) != 0:
        task.lengths[k] = -1
        return
    if task.width == 4:
        note_changes(level, <uint32_t *>numbers, length, care, bits_of(task, k))
    else:
        care = care << task.places.index_bits if task.placed else care
        note_changes(level, <uint64_t *>numbers, length, care, bits_of(task, k))
    if task.placed and task.keys.width == 8 and not tell_apart(task, k):
        task.lengths[k] = -1
    elif task.keys.rule.lonely:
        note_lonely(task, k)


cdef inline char *numbers_of(const ranges_task *task, Py_ssize_t k) noexcept nogil:
    return task.numbers + task.rooms[k] * task.width


cdef inline uint64_t *bits_of(const ranges_task *task, Py_ssize_t k) noexcept nogil:
    return task.bits + (task.rooms[k] >> 6)


cdef inline Py_ssize_t within(const ranges_task *task, Py_ssize_t k, Py_ssize_t start,
                              char *out) noexcept nogil:
    """The numbers of range k among AT_ONCE keys go to out; returns how many they are."""
    cdef const char *keys = task.keys.data + start * task.keys.width
    cdef Py_ssize_t n = min(task.keys.size - start, AT_ONCE)
    cdef uint64_t low = task.limits[k], span = task.limits[k + 1] - low - 1
    if task.placed:
        return level.placed[task.keys.width == 8](
            keys, n, task.rule, task.order, low, span, &task.places, start, out)
    return level.within[task.keys.width == 8](keys, n, task.rule, task.order, low, span, out)


cdef inline bint is_first(const uint64_t *bits, Py_ssize_t j) noexcept nogil:
    return (bits[j >> 6] >> (j & 63)) & 1


cdef bint tell_apart(const ranges_task *task, Py_ssize_t k) noexcept nogil:
    """Sort what only lost bits tell apart; False if that is much."""
    cdef const uint64_t *bits = bits_of(task, k)
    cdef Py_ssize_t start, stop = 1
    cdef uint64_t repeated
    while stop < task.lengths[k]:
        repeated = ~bits[stop >> 6] >> (stop & 63)
        if repeated == 0:
            stop = (stop | 63) + 1
            continue
        stop += fs_ctz(repeated)
        start = stop - 1
        while stop < task.lengths[k] and not is_first(bits, stop):
            stop += 1
        if stop - start > 1 and not tell_run_apart(task, k, start, stop):
            return False
        stop += 1
    return True


cdef bint tell_run_apart(const ranges_task *task, Py_ssize_t k, Py_ssize_t start,
                         Py_ssize_t stop) noexcept nogil:
    """The same of numbers start to stop - 1 of range k, which look alike."""
    cdef uint64_t *words = <uint64_t *>numbers_of(task, k)
    cdef uint64_t *bits = bits_of(task, k)
    cdef uint64_t[MOST_ALIKE] numbers
    cdef uint64_t number, first = number_at(task, words[start]), word
    cdef Py_ssize_t j = start + 1, at
    while j < stop and number_at(task, words[j]) == first:
        j += 1
    if j == stop:
        return True
    if stop - start > MOST_ALIKE:
        return False
    for j in range(start, stop):
        word, at = words[j], j
        number = number_at(task, word)
        while at > start and numbers[at - 1 - start] > number:
            numbers[at - start], words[at] = numbers[at - 1 - start], words[at - 1]
            at -= 1
        numbers[at - start], words[at] = number, word
    for j in range(start + 1, stop):
        if numbers[j - start] != numbers[j - 1 - start]:
            bits[j >> 6] |= <uint64_t>1 << (j & 63)
    return True


cdef void note_lonely(const ranges_task *task, Py_ssize_t k) noexcept nogil:
    """Of numbers that equal no other, not even themselves, each is the first. They come last."""
    cdef const char *numbers = numbers_of(task, k)
    cdef uint64_t *bits = bits_of(task, k)
    cdef uint64_t lonely = number_of(task.order, task.rule[2]), number
    cdef Py_ssize_t j = task.lengths[k] - 1
    while j >= 0:
        if task.placed:
            number = number_at(task, (<uint64_t *>numbers)[j])
        else:
            number = (<uint32_t *>numbers)[j] if task.width == 4 else (<uint64_t *>numbers)[j]
        if number != lonely:
            return
        bits[j >> 6] |= <uint64_t>1 << (j & 63)
        j -= 1


cdef inline Py_ssize_t position(const ranges_task *task, uint64_t word) noexcept nogil:
    return <Py_ssize_t>(word & ((<uint64_t>1 << task.places.index_bits) - 1))


cdef inline uint64_t number_at(const ranges_task *task, uint64_t word) noexcept nogil:
    """The whole number of a placed key."""
    cdef uint64_t number = word >> task.places.index_bits
    if task.keys.width == 4 or (
            task.places.drop == 0 and 0 < number < task.places.top):
        return number + task.places.base
    return number_of(task.order, key_at(&task.keys, position(task, word)))


# ---- groups -----------------------------------------------------------------------------


cdef Py_ssize_t count_groups(const ranges_task *task, Py_ssize_t k) noexcept nogil:
    return level.count(bits_of(task, k), blocks_of(max(task.lengths[k], 0)))


cdef void distinct_range(void *context, Py_ssize_t k) noexcept nogil:
    cdef ranges_task *task = <ranges_task *>context
    cdef Py_ssize_t start = task.starts[k], stop = task.starts[k + 1], width = task.width
    level.keep[2 + (width == 8)](
        bits_of(task, k), blocks_of(task.lengths[k]), numbers_of(task, k),
        task.values + start * width, stop - start)
    if width == 4:
        to_words(task, <uint32_t *>task.values, start, stop)
    else:
        to_words(task, <uint64_t *>task.values, start, stop)


cdef inline void to_words(const ranges_task *task, wide_t *numbers, Py_ssize_t start,
                          Py_ssize_t stop) noexcept nogil:
    cdef Py_ssize_t j
    if task.order[0]:
        for j in range(start, stop):
            numbers[j] = <wide_t>word_of(task.order, numbers[j])


cdef Py_ssize_t rounds_of(const ranges_task *task) noexcept nogil:
    cdef Py_ssize_t most = 0, k
    for k in range(task.ranges):
        most = max(most, task.lengths[k])
    return most // ROUND_KEYS + 1


cdef void groups_range(void *context, Py_ssize_t k) noexcept nogil:
    """All that is wanted of the groups of range k % ranges, as far as round k // ranges."""
    cdef ranges_task *task = <ranges_task *>context
    cdef Py_ssize_t start = k // task.ranges * ROUND_KEYS
    k = k % task.ranges
    cdef const uint64_t *words = <const uint64_t *>numbers_of(task, k)
    cdef const uint64_t *bits = bits_of(task, k)
    cdef Py_ssize_t length = task.lengths[k], j, at
    cdef written_t written = task.written[k]
    if start == 0:
        written = written_t(task.starts[k] - 1, 0, 0)
    for j in range(start, min(length, start + ROUND_KEYS)):
        at = position(task, words[j])
        if is_first(bits, j):
            if task.counts != NULL and j:
                task.counts[written.number] = j - written.started
            written.started = j
            written.group += 1
            written.number = written.group
            if task.ranked:
                written.number = min(rank(&task.ranks, at), task.last)
            if task.index != NULL:
                task.index[written.group] = at
            if task.values != NULL:
                write_value(task, words, j, length, written.group)
        if task.inverse != NULL:
            task.inverse[at] = written.number
    if task.counts != NULL and start < length <= start + ROUND_KEYS:
        task.counts[written.number] = length - written.started
    task.written[k] = written


cdef void order_range(void *context, Py_ssize_t k) noexcept nogil:
    """The order, and places, of range k % ranges in round k // ranges."""
    cdef ranges_task *task = <ranges_task *>context
    cdef Py_ssize_t start = k // task.ranges * ROUND_KEYS, before = 0, j
    k = k % task.ranges
    cdef const uint64_t *words = <const uint64_t *>numbers_of(task, k)
    for j in range(k):
        before += task.lengths[j]
    for j in range(start, min(task.lengths[k], start + ROUND_KEYS)):
        task.index[before + j] = position(task, words[j])
        if task.inverse != NULL:
            task.inverse[position(task, words[j])] = before + j


cdef inline void write_value(const ranges_task *task, const uint64_t *words, Py_ssize_t j,
                             Py_ssize_t length, Py_ssize_t group) noexcept nogil:
    cdef uint64_t word
    if task.places.drop and j + AHEAD < length:
        fs_prefetch(task.keys.data + position(task, words[j + AHEAD]) * 8)
    word = word_of(task.order, number_at(task, words[j]))
    if task.keys.width == 4:
        (<uint32_t *>task.values)[group] = <uint32_t>word
    else:
        (<uint64_t *>task.values)[group] = word


cdef void clear_repeated(const ranges_task *task, uint64_t *out) noexcept nogil:
    """All bits, but those of keys that are not the first of their kind."""
    cdef Py_ssize_t size = task.keys.size, k, block, left, at
    cdef const uint64_t *words
    cdef uint64_t repeated
    memset(out, 0xff, blocks_of(size) * sizeof(uint64_t))
    if size & 63:
        out[size >> 6] = (<uint64_t>1 << (size & 63)) - 1
    for k in range(task.ranges):
        words = <const uint64_t *>numbers_of(task, k)
        for block in range(blocks_of(task.lengths[k])):
            repeated = ~bits_of(task, k)[block]
            left = task.lengths[k] - block * 64
            if left < 64:
                repeated &= (<uint64_t>1 << left) - 1
            while repeated:
                at = position(task, words[block * 64 + fs_ctz(repeated)])
                out[at >> 6] &= ~(<uint64_t>1 << (at & 63))
                repeated &= repeated - 1
    out[0] |= 1       # even if the keys have changed
