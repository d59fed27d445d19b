"""Small arrays, sorted: the values alone, or all outputs, by the keys beside their positions."""
cimport numpy as cnp
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy

from fastsel._core.results cimport numpy_array
from fastsel._simd.blocks cimport blocks_of, fs_level_t
from fastsel._simd.levels cimport fs_level
from fastsel._unique.changes cimport mark_changes
from fastsel._unique.keys cimport canonical, fs_load, load_words, wide_t
from fastsel._unique.ordered_numbers cimport bit_length, number_of, to_numbers, to_words

cnp.import_array()

cdef const fs_level_t *level = fs_level()


cdef tuple by_sorting(small_t *task, cnp.ndarray a, Scratch scratch, bint index, bint inverse,
                      bint counts):
    cdef Py_ssize_t blocks = blocks_of(task.size)
    cdef uint64_t *bits
    cdef void *numbers
    if index or inverse or counts or task.keys.width < 4:
        load(task, scratch)
        return sorted_with_positions(task, a, scratch, index, inverse, counts)
    bits = <uint64_t *>scratch.take(blocks * sizeof(uint64_t))
    numbers = scratch.take((blocks + 1) * 64 * task.keys.width)
    if task.keys.width == 8:
        return sorted_values(task, a, <uint64_t *>numbers, bits), None, None, None
    return sorted_values(task, a, <uint32_t *>numbers, bits), None, None, None


# ---- only values ------------------------------------------------------------------------


cdef cnp.ndarray sorted_values(const small_t *task, cnp.ndarray a, wide_t *numbers,
                               uint64_t *bits):
    """The distinct values of 4 or 8 bytes, ascending. There is room for whole blocks, and one."""
    cdef cnp.npy_intp size = task.size, groups
    cdef uint64_t[3] rule
    cdef Py_ssize_t blocks = blocks_of(size), j
    cdef wide_t nan = <wide_t>number_of(task.order, task.keys.rule.nan)
    cdef wide_t *out
    rule[0], rule[1], rule[2] = task.keys.rule.significant, task.keys.rule.limit, task.keys.rule.nan
    level.within[sizeof(wide_t) == 8](
        task.keys.data, size, rule, task.order, 0, <uint64_t>-1, <char *>numbers)
    view = cnp.PyArray_SimpleNewFromData(
        1, &size, cnp.NPY_UINT32 if sizeof(wide_t) == 4 else cnp.NPY_UINT64, numbers)
    cnp.PyArray_Sort(view, 0, cnp.NPY_QUICKSORT)
    mark_changes(level, numbers, size, <uint64_t>-1, bits)
    j = size - 1
    while task.keys.rule.nan_unequal and j >= 0 and numbers[j] == nan:
        bits[j >> 6] |= <uint64_t>1 << (j & 63)
        j -= 1
    groups = level.count(bits, blocks)
    values = numpy_array(1, &groups, <cnp.dtype>cnp.PyArray_DESCR(a))
    out = <wide_t *>cnp.PyArray_DATA(values)
    level.keep[2 + (sizeof(wide_t) == 8)](
        bits, blocks, <const char *>numbers, <char *>out, groups)
    to_words(task.order, out, groups)
    if cnp.PyArray_ISFLOAT(a):
        restore_bits(task, <const wide_t *>cnp.PyArray_DATA(a), groups, out)
    return values


cdef void restore_bits(const small_t *task, const wide_t *items, Py_ssize_t groups,
                       wide_t *values) noexcept:
    """Zero and NaN get the bits of their first occurrence; several NaN come in their order."""
    cdef Py_ssize_t i = 0, zero = 0, nans = 0, stop = groups, middle
    cdef wide_t nan = <wide_t>task.keys.rule.nan, item
    while zero < stop:
        middle = (zero + stop) >> 1
        if number_of(task.order, values[middle]) < number_of(task.order, 0):
            zero = middle + 1
        else:
            stop = middle
    if zero < groups and values[zero] != 0:
        zero = groups
    while zero < groups and i < task.size:
        fs_load(&item, items + i, sizeof(item))
        if canonical(&task.keys.rule, item) == 0:
            values[zero] = item
            break
        i += 1
    while nans < groups and values[groups - 1 - nans] == nan:
        nans += 1
    i = 0
    while nans and i < task.size:
        fs_load(&item, items + i, sizeof(item))
        if canonical(&task.keys.rule, item) == nan:
            values[groups - nans] = item
            nans -= 1
        i += 1


# ---- with positions ---------------------------------------------------------------------


cdef tuple sorted_with_positions(const small_t *task, cnp.ndarray a, Scratch scratch, bint index,
                                 bint inverse, bint counts):
    cdef cnp.npy_intp size = task.size, groups = 0
    cdef Py_ssize_t *positions = <Py_ssize_t *>scratch.take(size * sizeof(Py_ssize_t))
    cdef Py_ssize_t *starts = <Py_ssize_t *>scratch.take((size + 1) * sizeof(Py_ssize_t))
    cdef Py_ssize_t j, group
    cdef uint64_t word, last = 0
    cdef Py_ssize_t *numbers
    sort_positions(task, task.words, size, positions, scratch)
    for j in range(size):
        word = task.words[positions[j]]
        if j == 0 or word != last or (task.keys.rule.nan_unequal and word == task.keys.rule.nan):
            starts[groups] = j
            groups += 1
        last = word
    starts[groups] = size
    labels = None
    if inverse:
        labels = cnp.PyArray_EMPTY(1, &size, cnp.NPY_INTP, 0)
        numbers = <Py_ssize_t *>cnp.PyArray_DATA(labels)
        for group in range(groups):
            for j in range(starts[group], starts[group + 1]):
                numbers[positions[j]] = group
    sizes = None
    if counts:
        sizes = cnp.PyArray_EMPTY(1, &groups, cnp.NPY_INTP, 0)
        for group in range(groups):
            (<Py_ssize_t *>cnp.PyArray_DATA(sizes))[group] = starts[group + 1] - starts[group]
    for group in range(groups):
        starts[group] = positions[starts[group]]
    return (values_at(task, a, starts, groups), array_of(starts, groups) if index else None,
            labels, sizes)


cdef cnp.ndarray values_at(const small_t *task, cnp.ndarray a, const Py_ssize_t *positions,
                           cnp.npy_intp groups):
    """The items at these positions, with their own bits."""
    cdef Py_ssize_t width = task.keys.width, j
    cdef const char *items = <const char *>cnp.PyArray_DATA(a)
    values = numpy_array(1, &groups, <cnp.dtype>cnp.PyArray_DESCR(a))
    cdef char *out = <char *>cnp.PyArray_DATA(values)
    if width == 8:
        for j in range(groups):
            memcpy(out + j * 8, items + positions[j] * 8, 8)
    elif width == 4:
        for j in range(groups):
            memcpy(out + j * 4, items + positions[j] * 4, 4)
    else:
        for j in range(groups):
            memcpy(out + j * width, items + positions[j] * width, width)
    return values


cdef cnp.ndarray array_of(const Py_ssize_t *numbers, cnp.npy_intp length):
    out = cnp.PyArray_EMPTY(1, &length, cnp.NPY_INTP, 0)
    memcpy(cnp.PyArray_DATA(out), numbers, length * sizeof(Py_ssize_t))
    return out


cdef int sort_positions(const small_t *task, const uint64_t *words, cnp.npy_intp size,
                        Py_ssize_t *positions, Scratch scratch) except -1:
    """The positions of words in ascending order, of equal ones in their own.

    A word is sorted as a number whose low bits are its position; it may lose bits for that.
    """
    cdef uint64_t *pairs = <uint64_t *>scratch.take(size * sizeof(uint64_t))
    cdef uint64_t low = <uint64_t>-1, high = 0
    cdef int index_bits = bit_length(size - 1), lost
    cdef Py_ssize_t j
    memcpy(pairs, words, size * sizeof(uint64_t))
    to_numbers(&task.keys.rule, task.order, 8 * task.keys.width, pairs, size)
    for j in range(size):
        low, high = min(low, pairs[j]), max(high, pairs[j])
    lost = bit_length(high - low) + index_bits - 64
    if lost <= -32:
        sort_pairs(pairs, size, low, 0, index_bits, positions, <uint32_t *>pairs, cnp.NPY_UINT32)
        return 0
    sort_pairs(pairs, size, low, max(lost, 0), index_bits, positions, pairs, cnp.NPY_UINT64)
    if lost > 0 and not sort_ties(task, words, size, lost, low, positions):
        for j in range(size):
            pairs[j] = number_of(task.order, words[j])
        view = cnp.PyArray_SimpleNewFromData(1, &size, cnp.NPY_UINT64, pairs)
        order = cnp.PyArray_ArgSort(view, 0, cnp.NPY_MERGESORT)
        memcpy(positions, cnp.PyArray_DATA(order), size * sizeof(Py_ssize_t))
    return 0


cdef int sort_pairs(const uint64_t *numbers, cnp.npy_intp size, uint64_t low, int lost,
                    int index_bits, Py_ssize_t *positions, wide_t *pairs, int typenum) except -1:
    """Numbers beside their positions; pairs may be where the numbers are."""
    cdef wide_t mask = (<wide_t>1 << index_bits) - 1
    cdef Py_ssize_t j
    for j in range(size):
        pairs[j] = <wide_t>((numbers[j] - low) >> lost << index_bits) | <wide_t>j
    view = cnp.PyArray_SimpleNewFromData(1, &size, typenum, pairs)
    cnp.PyArray_Sort(view, 0, cnp.NPY_QUICKSORT)
    for j in range(size):
        positions[j] = <Py_ssize_t>(pairs[j] & mask)
    return 0


cdef bint sort_ties(const small_t *task, const uint64_t *words, Py_ssize_t size, int lost,
                    uint64_t low, Py_ssize_t *positions) noexcept:
    """Sort words that differ only in lost bits; False if these are many."""
    cdef Py_ssize_t j, at, moving, moves = size * bit_length(size)
    cdef uint64_t number
    for j in range(1, size):
        moving, at = positions[j], j
        number = number_of(task.order, words[moving])
        while at and number_of(task.order, words[positions[at - 1]]) > number:
            positions[at] = positions[at - 1]
            at -= 1
        positions[at] = moving
        moves -= j - at
        if moves < 0:
            return False
    return True


cdef int load(small_t *task, Scratch scratch) except -1:
    """The words of all keys, each loaded once."""
    task.words = <uint64_t *>scratch.take(task.size * sizeof(uint64_t))
    load_words(&task.keys, 0, task.size, task.words)
    return 0
