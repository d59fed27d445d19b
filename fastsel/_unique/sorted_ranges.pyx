"""The sort of each range of sorting.pyx, and where ranges meet.

What a thread has sorted is its own, so that equal numbers lie side by side even if another thread
writes to the keys meanwhile.
"""
cimport numpy as cnp
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memset

from fastsel._simd.blocks cimport blocks_of, fs_ctz, fs_level_t
from fastsel._unique.changes cimport mark_changes
from fastsel._unique.keys cimport BATCH, load_word
from fastsel._simd.levels cimport fs_level
from fastsel._unique.ordered_numbers cimport bit_length, number_of
from fastsel._unique.sorted_ranges cimport (
    MAX_ALIKE, SAMPLE, SPARE, bits_of, is_first, number_at, numbers_of, sorting_task, typenum)
from fastsel._unique.sample cimport draw
from fastsel._core.scratch cimport Scratch
from fastsel._core.parallel cimport chunk_start

cnp.import_array()

cdef const fs_level_t *level = fs_level()


cdef int choose_limits(sorting_task *task) except -1:
    """Where the ranges meet, and how large each buffer is, as a sample says. Where many numbers are
    equal, some ranges are empty, and some large. Buffers hold 12 % more than expected."""
    cdef Scratch scratch = Scratch()
    cdef Py_ssize_t size = task.keys.size, width = task.keys.width, k, capacity
    cdef Py_ssize_t start, stop
    cdef Py_ssize_t drawn = min(size, SAMPLE * task.ranges)
    cdef char *keys = <char *>scratch.take(drawn * width)
    cdef char *numbers = <char *>scratch.take((drawn + 64) * width)
    draw(task.keys.data, size, width, drawn, keys)
    level.within[width == 8](keys, drawn, task.rule, task.order, 0, <uint64_t>-1, numbers)
    sort_numbers(numbers, drawn, typenum(width))
    task.limits[0] = task.limits[task.ranges] = 0
    task.buffer_starts[0] = start = 0
    for k in range(task.ranges):
        stop = drawn
        if k + 1 < task.ranges:
            stop = chunk_start(drawn, task.ranges, k + 1)
            task.limits[k + 1] = load_word(numbers + stop * width, width)
            while stop > start and load_word(numbers + (stop - 1) * width, width) == (
                    task.limits[k + 1]):
                stop -= 1
        capacity = size
        if task.ranges > 1:
            capacity = <Py_ssize_t>(<double>size * (stop - start) / drawn)
            capacity = min(capacity + capacity // 8, size)
        task.buffer_starts[k + 1] = task.buffer_starts[k] + blocks_of(capacity + SPARE) * 64
        start = stop
    choose_packing(task, load_word(numbers, width), load_word(numbers + (drawn - 1) * width, width))
    return 0


cdef void choose_packing(sorting_task *task, uint64_t low, uint64_t high) noexcept:
    """How numbers that go from low to high, more or less, share a word with their positions."""
    cdef uint64_t margin = (high - low) // 4 + 1
    task.packing.base, task.packing.top, task.packing.drop = 0, <uint64_t>-1, 0
    task.packing.index_bits = 32
    if task.keys.width == 8:
        task.packing.base = low - min(low, margin)
        task.packing.top = high - task.packing.base
        task.packing.top += min(margin, <uint64_t>-1 - task.packing.top)
        task.packing.index_bits = bit_length(task.keys.size - 1)
        task.packing.drop = max(
            0, bit_length(task.packing.top) + task.packing.index_bits - 64)


cdef void sort_range(void *context, Py_ssize_t k) noexcept nogil:
    """The numbers of range k, in order, and which of them are the first of their group."""
    cdef sorting_task *task = <sorting_task *>context
    cdef char *numbers = numbers_of(task, k)
    cdef uint64_t significant = <uint64_t>-1
    cdef Py_ssize_t start = 0, length = 0
    if task.limits[k] == task.limits[k + 1] and k + 1 < task.ranges:
        start = task.keys.size
    while start < task.keys.size:
        if length + SPARE > task.buffer_starts[k + 1] - task.buffer_starts[k]:
            task.lengths[k] = -1
            return
        length += within(task, k, start, numbers + length * task.width)
        start += BATCH
    task.lengths[k], task.starts[k] = length, 0
    if length == 0:
        return
    if task.sort == NULL or task.sort(numbers, length, task.view) != 0:
        task.lengths[k] = -1
        return
    if task.width == 4:
        mark_changes(level, <uint32_t *>numbers, length, significant, bits_of(task, k))
    else:
        significant = significant << task.packing.index_bits if task.packed else significant
        mark_changes(level, <uint64_t *>numbers, length, significant, bits_of(task, k))
    if task.packed and task.keys.width == 8 and not sort_ties(task, k):
        task.lengths[k] = -1
        return
    if task.keys.rule.nan_unequal:
        mark_unequal(task, k)
    if not task.merged:
        memset(bits_of(task, k), 0xff, blocks_of(length) * sizeof(uint64_t))
        if length & 63:
            bits_of(task, k)[length >> 6] = (<uint64_t>1 << (length & 63)) - 1
    task.starts[k] = level.count(bits_of(task, k), blocks_of(length))


cdef int sort_numbers(char *numbers, cnp.npy_intp length, int type_number) except -1:
    """NumPy's own sort of these words, during which other threads may have the GIL."""
    view = cnp.PyArray_SimpleNewFromData(1, &length, type_number, numbers)
    cnp.PyArray_Sort(view, 0, cnp.NPY_QUICKSORT)
    return 0


cdef inline Py_ssize_t within(const sorting_task *task, Py_ssize_t k, Py_ssize_t start,
                              char *out) noexcept nogil:
    """The numbers of range k among BATCH keys go to out; returns how many they are."""
    cdef const char *keys = task.keys.data + start * task.keys.width
    cdef Py_ssize_t n = min(task.keys.size - start, BATCH)
    cdef uint64_t low = task.limits[k], span = task.limits[k + 1] - low - 1
    if task.packed:
        return level.packed[task.keys.width == 8](
            keys, n, task.rule, task.order, low, span, &task.packing, start, out)
    return level.within[task.keys.width == 8](keys, n, task.rule, task.order, low, span, out)


cdef bint sort_ties(const sorting_task *task, Py_ssize_t k) noexcept nogil:
    """Sort packed keys that differ only in lost bits; False if these are many."""
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
        if stop - start > 1 and not sort_tie(task, k, start, stop):
            return False
        stop += 1
    return True


cdef bint sort_tie(const sorting_task *task, Py_ssize_t k, Py_ssize_t start,
                   Py_ssize_t stop) noexcept nogil:
    """The same of numbers start to stop - 1 of range k, which are equal but for lost bits."""
    cdef uint64_t *words = <uint64_t *>numbers_of(task, k)
    cdef uint64_t *bits = bits_of(task, k)
    cdef uint64_t number = number_at(task, words[start]), word
    cdef Py_ssize_t j = start + 1, gap = 1, at
    while j < stop and number_at(task, words[j]) == number:
        j += 1
    if j == stop:
        return True
    if stop - start > MAX_ALIKE:
        return False
    while 3 * gap < stop - start:       # a Shell sort
        gap = 3 * gap + 1
    while gap:
        for j in range(start + gap, stop):
            word, at = words[j], j
            number = number_at(task, word)
            while at - gap >= start and is_after(task, words[at - gap], word, number):
                words[at] = words[at - gap]
                at -= gap
            words[at] = word
        gap //= 3
    for j in range(start + 1, stop):
        if number_at(task, words[j]) != number_at(task, words[j - 1]):
            bits[j >> 6] |= <uint64_t>1 << (j & 63)
    return True


cdef inline bint is_after(const sorting_task *task, uint64_t other, uint64_t word,
                          uint64_t number) noexcept nogil:
    """Is one packed key after another, which has that number, or is it equal, and comes later?"""
    cdef uint64_t other_number = number_at(task, other)
    return other_number > number or (other_number == number and other > word)


cdef void mark_unequal(const sorting_task *task, Py_ssize_t k) noexcept nogil:
    """Of numbers that equal no other, not even themselves, each is the first. They come last."""
    cdef const char *numbers = numbers_of(task, k)
    cdef uint64_t *bits = bits_of(task, k)
    cdef uint64_t nan = number_of(task.order, task.rule[2]), number
    cdef Py_ssize_t j = task.lengths[k] - 1
    while j >= 0:
        if task.packed:
            number = number_at(task, (<uint64_t *>numbers)[j])
        else:
            number = (<uint32_t *>numbers)[j] if task.width == 4 else (<uint64_t *>numbers)[j]
        if number != nan:
            return
        bits[j >> 6] |= <uint64_t>1 << (j & 63)
        j -= 1
