"""Distinct words in ascending order, and where they are, by NumPy's sort: each thread sorts the
numbers of a range of its own.

A sample says where the ranges meet. Each range takes its numbers from a vectorised pass over all
keys; there are at most as many ranges as threads, and MAX_RANGES, until one would be so long that
no signal is handled in time. See sorted_ranges.pyx.

To know where a number was, it is sorted as a word whose low bits are its position. Keys of 8 bytes
lose some of their own bits for that, and what is equal then is compared once more.
"""
cimport numpy as cnp
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memset

from fastsel._simd.blocks cimport blocks_of, fs_level_t, fs_prefetch
from fastsel._unique.keys cimport AHEAD, describe_keys
from fastsel._simd.levels cimport fs_level
from fastsel._unique.ordered_numbers cimport to_words, word_of
from fastsel._unique.sorted_ranges cimport (
    MAX_RANGES, RANGE_KEYS, bits_of, choose_limits, fs_sort_t, is_first, number_at, numbers_of,
    position, sort_range, sorting_task, typenum, written_t)
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport Scratch
from fastsel._core.parallel cimport chunk_count, chunk_start, for_chunks, for_rounds, scan

cdef extern from "sorts.h" nogil:
    fs_sort_t fs_sort_of(cnp.ndarray array)

cnp.import_array()

cdef const fs_level_t *level = fs_level()


cdef class Sorting:
    """The keys' numbers, sorted."""
    cdef sorting_task task
    cdef object owned             # what the task points to
    cdef cnp.ndarray view
    cdef Scratch scratch
    cdef int threads

    def __init__(self, cnp.ndarray data not None, Py_ssize_t size, tuple rule not None,
                 tuple order not None, bint packed, bint merged, int threads):
        """`size` > 0 keys of 4 or 8 bytes, at most `max_keys(threads)`; order is (sign, negative,
        less). packed: it is wanted where the keys are. merged: equal keys are one group; else each
        key is one, so that the index sorts them, stably, and the inverse says where each goes."""
        cdef sorting_task *task = &self.task
        cdef cnp.npy_intp length = 0
        describe_keys(&task.keys, data, size, rule, None, (0, 1))
        task.rule = (task.keys.rule.significant, task.keys.rule.limit, task.keys.rule.nan)
        task.order = order
        task.packed, task.merged = packed, merged
        self.owned, self.threads = data, threads
        task.width = 8 if packed else task.keys.width
        task.ranges, task.cuts = ranges_for(size, threads), chunk_count(size, threads, 8)
        choose_limits(task)
        self.view = cnp.PyArray_EMPTY(1, &length, typenum(task.width), 0)
        task.sort, task.view = fs_sort_of(self.view), <void *>self.view
        self.scratch = Scratch()
        task.numbers = <char *>self.scratch.take(task.buffer_starts[task.ranges] * task.width)
        task.bits = <uint64_t *>self.scratch.take(task.buffer_starts[task.ranges] // 8)

    def sort(self):
        """False if the keys are spread too unevenly for the ranges, or differ in too few bits; and
        if it shows that another thread has changed them: there would be too many, or too few."""
        cdef sorting_task *task = &self.task
        cdef Py_ssize_t k, sorted_keys = 0
        with nogil:
            for_chunks(sort_range, task, task.ranges, self.threads)
            scan(task.starts, task.ranges)
        for k in range(task.ranges):
            if task.lengths[k] < 0:
                return False
            sorted_keys += task.lengths[k]
        return sorted_keys == task.keys.size

    def distinct(self):
        """The distinct words of keys that are not packed, in ascending order."""
        cdef sorting_task *task = &self.task
        values = self.new_values()
        with nogil:
            for_chunks(distinct_range, task, task.ranges, self.threads)
        return values

    def groups(self, bint index, bint inverse, bint counts):
        """(values, index, inverse, counts) of packed keys; None for what is not asked for."""
        cdef sorting_task *task = &self.task
        cdef Py_ssize_t length = task.starts[task.ranges], most = 0, k
        for k in range(task.ranges):
            most = max(most, task.lengths[k])
        task.rounds = chunk_count(most, 1, sizeof(Py_ssize_t))
        values = self.new_values()
        indices = new_indices(length, index, &task.index)
        numbers = new_indices(task.keys.size, inverse, &task.inverse)
        sizes = new_indices(length, counts, &task.counts)
        with nogil:
            # A key that another thread changes may be in no range.
            if inverse and task.ranges > 1:
                for_chunks(clear_inverse, task, task.cuts, self.threads)
            for_rounds(groups_range, task, task.rounds, task.ranges, self.threads)
        return values, indices, numbers, sizes

    cdef object new_values(self):
        cdef cnp.npy_intp length = self.task.starts[self.task.ranges]
        cdef cnp.ndarray values = new_result(1, &length, typenum(self.task.keys.width))
        self.task.values = <char *>cnp.PyArray_DATA(values)
        return values


def max_keys(int threads):
    """How many keys so many threads sort. NumPy's sort takes a twentieth of a second for 2^23, and
    no signal is handled meanwhile."""
    return 2 * RANGE_KEYS * (MAX_RANGES // min(threads, MAX_RANGES) * min(threads, MAX_RANGES))


cdef Py_ssize_t ranges_for(Py_ssize_t size, int threads) noexcept:
    """As many for each thread."""
    cdef Py_ssize_t each = min(max(threads, 1), MAX_RANGES), ranges = each
    while ranges * RANGE_KEYS < size and ranges + each <= MAX_RANGES:
        ranges += each
    return ranges


cdef object new_indices(cnp.npy_intp length, bint wanted, Py_ssize_t **data):
    cdef cnp.ndarray result
    data[0] = NULL
    if not wanted:
        return None
    result = new_result(1, &length, cnp.NPY_INTP)
    data[0] = <Py_ssize_t *>cnp.PyArray_DATA(result)
    return result


# ---- groups -----------------------------------------------------------------------------


cdef void distinct_range(void *context, Py_ssize_t k) noexcept nogil:
    cdef sorting_task *task = <sorting_task *>context
    cdef Py_ssize_t start = task.starts[k], stop = task.starts[k + 1], width = task.width
    level.keep[2 + (width == 8)](
        bits_of(task, k), blocks_of(task.lengths[k]), numbers_of(task, k),
        task.values + start * width, stop - start)
    if width == 4:
        to_words(task.order, <uint32_t *>task.values + start, stop - start)
    else:
        to_words(task.order, <uint64_t *>task.values + start, stop - start)


cdef void groups_range(void *context, Py_ssize_t k) noexcept nogil:
    """All that is wanted of the groups of range k % ranges, as far as round k // ranges."""
    cdef sorting_task *task = <sorting_task *>context
    cdef Py_ssize_t turn = k // task.ranges
    k = k % task.ranges
    cdef const uint64_t *words = <const uint64_t *>numbers_of(task, k)
    cdef const uint64_t *bits = bits_of(task, k)
    cdef Py_ssize_t length = task.lengths[k], stop, j, at
    cdef written_t written = task.written[k]
    if turn == 0:
        written = written_t(task.starts[k] - 1, 0)
    stop = chunk_start(length, task.rounds, turn + 1)
    for j in range(chunk_start(length, task.rounds, turn), stop):
        at = position(task, words[j])
        if is_first(bits, j):
            if task.counts != NULL and j:
                task.counts[written.group] = j - written.started
            written.started = j
            written.group += 1
            if task.index != NULL:
                task.index[written.group] = at
            if task.values != NULL:
                write_value(task, words, j, length, written.group)
        if task.inverse != NULL:
            task.inverse[at] = written.group
    if task.counts != NULL and length and turn == task.rounds - 1:
        task.counts[written.group] = length - written.started
    task.written[k] = written


cdef void clear_inverse(void *context, Py_ssize_t k) noexcept nogil:
    cdef sorting_task *task = <sorting_task *>context
    cdef Py_ssize_t start = chunk_start(task.keys.size, task.cuts, k)
    memset(task.inverse + start, 0,
           (chunk_start(task.keys.size, task.cuts, k + 1) - start) * sizeof(Py_ssize_t))


cdef inline void write_value(const sorting_task *task, const uint64_t *words, Py_ssize_t j,
                             Py_ssize_t length, Py_ssize_t group) noexcept nogil:
    cdef uint64_t word
    if task.packing.drop and j + AHEAD < length:
        fs_prefetch(task.keys.data + position(task, words[j + AHEAD]) * 8)
    word = word_of(task.order, number_at(task, words[j]))
    if task.keys.width == 4:
        (<uint32_t *>task.values)[group] = <uint32_t>word
    else:
        (<uint64_t *>task.values)[group] = word
