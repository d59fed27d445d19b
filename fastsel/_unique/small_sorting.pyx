"""Sorts for small arrays, of all keys or of the distinct keys, by the sort of one part
(pieces.pyx)."""
cimport numpy as cnp
from libc.stdint cimport intptr_t, uint32_t, uint64_t
from libc.string cimport memcpy

from fastsel._core.results cimport numpy_array
from fastsel._core.scratch cimport Scratch
from fastsel._simd.blocks cimport blocks_of, fs_level_t, is_sparse, log2_width
from fastsel._simd.levels cimport fs_level
from fastsel._unique.keys cimport canonical, fs_load
from fastsel._unique.ordered_keys cimport ordered_key_of, to_ordered_keys, to_words
from fastsel._unique.pieces cimport mark_runs, sort_keys, sorter_free, sorter_start, sorter_t
from fastsel._unique.scatter cimport word_t

cnp.import_array()

cdef const fs_level_t *level = fs_level()


cdef tuple by_sorting(small_t *task, cnp.ndarray a, Scratch scratch, bint index, bint inverse,
                      bint counts):
    """(values, index, inverse, counts) in ascending order, None for an output that is not
    wanted."""
    cdef Py_ssize_t size = task.size
    cdef uint64_t[3] rule
    cdef uint64_t *keys = <uint64_t *>scratch.alloc(size * sizeof(uint64_t))
    rule[0], rule[1], rule[2] = task.keys.rule.significant, task.keys.rule.limit, task.keys.rule.nan
    level.ordered_keys[log2_width(task.keys.width)](
        task.keys.data, size, rule, task.order_map, keys)
    if task.keys.width == 8:
        return sorted_outputs(task, a, scratch, keys, index, inverse, counts)
    return sorted_outputs(task, a, scratch, narrowed(keys, size), index, inverse, counts)


cdef uint32_t *narrowed(uint64_t *keys, Py_ssize_t n) noexcept:
    """Narrow keys of at most 4 bytes to 4 bytes, in the same memory."""
    cdef uint32_t *out = <uint32_t *>keys
    cdef Py_ssize_t j
    for j in range(n):
        out[j] = <uint32_t>keys[j]
    return out


cdef tuple sorted_outputs(small_t *task, cnp.ndarray a, Scratch scratch, word_t *keys, bint index,
                          bint inverse, bint counts):
    cdef cnp.npy_intp size = task.size, groups
    cdef Py_ssize_t blocks = blocks_of(size), j, group = -1
    cdef bint with_entries = index or inverse or task.keys.width < 4
    cdef uint64_t *bits = <uint64_t *>scratch.alloc(blocks * sizeof(uint64_t))
    cdef uint64_t nan = ordered_key_of(task.order_map, task.keys.rule.nan)
    cdef uint32_t *entries = NULL
    cdef Py_ssize_t *first_positions = NULL
    cdef Py_ssize_t *out
    cdef cnp.ndarray inverse_out = None, counts_out = None
    cdef sorter_t sorter
    if with_entries:
        entries = <uint32_t *>scratch.alloc(size * sizeof(uint32_t))
        for j in range(size):
            entries[j] = <uint32_t>j
    try:
        if sorter_start(&sorter, sizeof(word_t), size, with_entries) != 0:
            raise MemoryError()
        sort_keys(&sorter, keys, size, entries)
        groups = mark_runs(<word_t *>sorter.keys, size, nan, task.keys.rule.nan_unequal, bits)
        if not with_entries:
            values = values_of(task, a, <word_t *>sorter.keys, bits, groups)
    finally:
        sorter_free(&sorter)
    if with_entries:
        first_positions = <Py_ssize_t *>scratch.alloc(groups * sizeof(Py_ssize_t))
        for j in range(size):
            if (bits[j >> 6] >> (j & 63)) & 1:
                group += 1
                first_positions[group] = entries[j]
        values = values_at(task, a, first_positions, groups)
    index_out = array_of(first_positions, groups) if index else None
    if inverse:
        inverse_out = cnp.PyArray_EMPTY(1, &size, cnp.NPY_INTP, 0)
        out = <Py_ssize_t *>cnp.PyArray_DATA(inverse_out)
        group = -1
        for j in range(size):
            group += (bits[j >> 6] >> (j & 63)) & 1
            out[entries[j]] = group
    if counts:
        counts_out = cnp.PyArray_EMPTY(1, &groups, cnp.NPY_INTP, 0)
        out = <Py_ssize_t *>cnp.PyArray_DATA(counts_out)
        level.write(bits, blocks, 0, is_sparse(groups, blocks), <intptr_t *>out, groups)
        for group in range(groups - 1):
            out[group] = out[group + 1] - out[group]
        out[groups - 1] = size - out[groups - 1]
    return values, index_out, inverse_out, counts_out


cdef cnp.ndarray values_of(const small_t *task, cnp.ndarray a, const word_t *keys,
                           const uint64_t *bits, cnp.npy_intp groups):
    """The items, of 4 or 8 bytes, of the sorted keys whose bits are set."""
    values = numpy_array(1, &groups, <cnp.dtype>cnp.PyArray_DESCR(a))
    cdef word_t *out = <word_t *>cnp.PyArray_DATA(values)
    level.compress[2 + (sizeof(word_t) == 8)](
        bits, blocks_of(task.size), <const char *>keys, <char *>out, groups)
    to_words(task.order_map, out, groups)
    if cnp.PyArray_ISFLOAT(a):
        restore_bits(task, <const word_t *>cnp.PyArray_DATA(a), groups, out)
    return values


cdef void restore_bits(const small_t *task, const word_t *items, Py_ssize_t groups,
                       word_t *values) noexcept:
    """Give zero and NaN the bits of their first occurrences; several NaN keep their order."""
    cdef Py_ssize_t i = 0, zero = 0, nans = 0, stop = groups, middle
    cdef word_t nan = <word_t>task.keys.rule.nan, item
    while zero < stop:
        middle = (zero + stop) >> 1
        if ordered_key_of(task.order_map, values[middle]) < ordered_key_of(task.order_map, 0):
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


cdef int sort_positions(const small_t *task, uint64_t *words, Py_ssize_t size,
                        Py_ssize_t *positions, Scratch scratch) except -1:
    """Write the order of canonical words to positions. Words are distinct, and undefined
    afterwards."""
    to_ordered_keys(&task.keys.rule, task.order_map, 8 * task.keys.width, words, size)
    if task.keys.width == 8:
        return sort_entries(words, size, positions, scratch)
    return sort_entries(narrowed(words, size), size, positions, scratch)


cdef int sort_entries(word_t *keys, Py_ssize_t size, Py_ssize_t *positions,
                      Scratch scratch) except -1:
    cdef uint32_t *entries = <uint32_t *>scratch.alloc(size * sizeof(uint32_t))
    cdef sorter_t sorter
    cdef Py_ssize_t j
    for j in range(size):
        entries[j] = <uint32_t>j
    try:
        if sorter_start(&sorter, sizeof(word_t), size, True) != 0:
            raise MemoryError()
        sort_keys(&sorter, keys, size, entries)
    finally:
        sorter_free(&sorter)
    for j in range(size):
        positions[j] = entries[j]
    return 0


cdef cnp.ndarray values_at(const small_t *task, cnp.ndarray a, const Py_ssize_t *positions,
                           cnp.npy_intp groups):
    """The items at the given positions, with the bits that they have in a."""
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


cdef cnp.ndarray array_of(const Py_ssize_t *positions, cnp.npy_intp length):
    out = cnp.PyArray_EMPTY(1, &length, cnp.NPY_INTP, 0)
    memcpy(cnp.PyArray_DATA(out), positions, length * sizeof(Py_ssize_t))
    return out
