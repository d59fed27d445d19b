"""Distinct words of a narrow range, by direct addressing: each has an entry of its own in a table.

Pass 1 (dense_passes.pyx) finds the words that occur, and their first occurrences. Then each word
gets its number, in ascending order or in that of first occurrence, and pass 2 writes the number of
every key.

A key that another thread changes between the passes may get another group's number, or 0.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from fastsel._simd.blocks cimport fs_ctz, fs_level_t
from fastsel._simd.levels cimport fs_level
from fastsel._unique.dense_passes cimport (
    clear_repeated, dense_task, describe_task, entry_of, fill_tables, write_inverse)
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport Scratch
from fastsel._core.parallel cimport chunk_start, for_chunks, scan

cnp.import_array()

cdef const fs_level_t *level = fs_level()


cpdef tuple dense(cnp.ndarray data, Py_ssize_t size, tuple rule, tuple order, tuple span,
                  bint ascending, bint inverse, bint counts, int threads):
    """(first_occurrences, inverse, counts), None for what is not wanted, of `size` > 0 words, of
    which none is NaN that equals nothing; None if one has no entry.

    ascending: groups are numbered by their words, and first_occurrences is their index; otherwise
    they are in order of first occurrence, and first_occurrences is the bitmask of these.
    span and order are as for `describe_range`.
    """
    cdef dense_task task
    cdef Scratch scratch = Scratch()
    cdef bint found
    cdef Py_ssize_t groups
    cdef cnp.npy_intp length
    cdef cnp.ndarray bits, index = None, numbers_out = None, counts_out = None
    describe_task(&task, scratch, data, size, rule, order, span, threads)
    length = task.blocks
    bits = cnp.PyArray_EMPTY(1, &length, cnp.NPY_UINT64, 0)
    task.bits = <uint64_t *>cnp.PyArray_DATA(bits)
    if ascending or inverse or counts:
        task.numbers = <uint32_t *>scratch.take(task.entries * sizeof(uint32_t))
    if counts:
        task.sizes = <Py_ssize_t *>scratch.take(task.chunks * task.entries * sizeof(Py_ssize_t))
    with nogil:
        found = fill_tables(&task, threads)
        if found:
            if ascending or task.chunks > 1:
                for_chunks(merge_span, &task, task.spans, threads)
                for_chunks(clear_repeated, &task, task.cuts, threads)
            groups = number_words(&task, ascending, threads)
    if not found:
        return None
    if inverse:
        length = size
        numbers_out = new_result(1, &length, cnp.NPY_INTP)
        task.inverse = <Py_ssize_t *>cnp.PyArray_DATA(numbers_out)
    length = groups
    if counts:
        counts_out = new_result(1, &length, cnp.NPY_INTP)
        task.counts = <Py_ssize_t *>cnp.PyArray_DATA(counts_out)
    if ascending:
        index = new_result(1, &length, cnp.NPY_INTP)
        task.index = <Py_ssize_t *>cnp.PyArray_DATA(index)
    task.groups = groups
    with nogil:
        if ascending or counts:
            for_chunks(clear_groups, &task, task.spans, threads)
        if ascending:
            for_chunks(index_by_number, &task, task.cuts, threads)
        if counts:
            for_chunks(sum_counts, &task, task.spans, threads)
        if inverse:
            for_chunks(write_inverse, &task, task.cuts, threads)
    return index if ascending else bits, numbers_out, counts_out


cdef Py_ssize_t number_words(dense_task *task, bint ascending, int threads) except -1 nogil:
    """The numbers of all words that occur, if they are wanted; returns how many there are."""
    if task.numbers == NULL:
        return 0
    for_chunks(clear_numbers, task, task.spans, threads)
    if ascending:
        scan(task.offsets, task.spans)
        for_chunks(number_span, task, task.spans, threads)
        return task.offsets[task.spans]
    for_chunks(count_cut, task, task.cuts, threads)
    scan(task.offsets, task.cuts)
    for_chunks(number_cut, task, task.cuts, threads)
    return task.offsets[task.cuts]


# ---- numbers ----------------------------------------------------------------------------


cdef void clear_numbers(void *context, Py_ssize_t k) noexcept nogil:
    """A key that another thread changes may be one without a number: 0 is one."""
    cdef dense_task *task = <dense_task *>context
    cdef Py_ssize_t start = chunk_start(task.narrow.blocks, task.spans, k) * 64
    cdef Py_ssize_t stop = chunk_start(task.narrow.blocks, task.spans, k + 1) * 64
    memset(task.numbers + start, 0, (stop - start) * sizeof(uint32_t))


cdef void clear_groups(void *context, Py_ssize_t k) noexcept nogil:
    """Of a group whose keys another thread changes, nothing else may be written."""
    cdef dense_task *task = <dense_task *>context
    cdef Py_ssize_t start = chunk_start(task.groups, task.spans, k)
    cdef size_t nbytes = (chunk_start(task.groups, task.spans, k + 1) - start) * sizeof(Py_ssize_t)
    if task.index != NULL:
        memset(task.index + start, 0, nbytes)
    if task.counts != NULL:
        memset(task.counts + start, 0, nbytes)


cdef void merge_span(void *context, Py_ssize_t k) noexcept nogil:
    """What occurs in a chunk or in one before it, in its presence table; that of the last chunk as
    bits, too, and how many words a span has."""
    cdef dense_task *task = <dense_task *>context
    cdef Py_ssize_t start = chunk_start(task.narrow.blocks, task.spans, k)
    cdef Py_ssize_t blocks = chunk_start(task.narrow.blocks, task.spans, k + 1) - start
    cdef Py_ssize_t _chunk, entry
    cdef uint8_t *present = task.present + start * 64
    cdef const uint8_t *before
    for _chunk in range(1, task.chunks):
        before = present
        present += task.entries
        for entry in range(blocks * 64):
            present[entry] |= before[entry]
    level.pack[0](<const char *>present, 0xff, task.occurring + start, blocks)
    task.offsets[k] = level.count(task.occurring + start, blocks)


cdef void number_span(void *context, Py_ssize_t k) noexcept nogil:
    """The numbers of the words of a span, ascending."""
    cdef dense_task *task = <dense_task *>context
    cdef Py_ssize_t block, number = task.offsets[k]
    cdef uint64_t word
    for block in range(chunk_start(task.narrow.blocks, task.spans, k),
                       chunk_start(task.narrow.blocks, task.spans, k + 1)):
        word = task.occurring[block]
        while word:
            task.numbers[block * 64 + fs_ctz(word)] = <uint32_t>number
            number += 1
            word &= word - 1


cdef void count_cut(void *context, Py_ssize_t k) noexcept nogil:
    cdef dense_task *task = <dense_task *>context
    cdef Py_ssize_t start = chunk_start(task.blocks, task.cuts, k)
    task.offsets[k] = level.count(task.bits + start,
                                  chunk_start(task.blocks, task.cuts, k + 1) - start)


cdef void number_cut(void *context, Py_ssize_t k) noexcept nogil:
    """Numbers in order of first occurrence."""
    cdef dense_task *task = <dense_task *>context
    cdef Py_ssize_t block, number = task.offsets[k]
    cdef uint64_t word
    for block in range(chunk_start(task.blocks, task.cuts, k),
                       chunk_start(task.blocks, task.cuts, k + 1)):
        word = task.bits[block]
        while word:
            task.numbers[entry_of(task, block * 64 + fs_ctz(word))] = <uint32_t>number
            number += 1
            word &= word - 1


cdef void index_by_number(void *context, Py_ssize_t k) noexcept nogil:
    """The index of words that have their numbers already."""
    cdef dense_task *task = <dense_task *>context
    cdef Py_ssize_t block, i
    cdef uint64_t word
    for block in range(chunk_start(task.blocks, task.cuts, k),
                       chunk_start(task.blocks, task.cuts, k + 1)):
        word = task.bits[block]
        while word:
            i = block * 64 + fs_ctz(word)
            task.index[task.numbers[entry_of(task, i)]] = i
            word &= word - 1


cdef void sum_counts(void *context, Py_ssize_t k) noexcept nogil:
    """The counts of a span of entries, over all chunks."""
    cdef dense_task *task = <dense_task *>context
    cdef Py_ssize_t entry, chunk, size
    for entry in range(chunk_start(task.narrow.blocks, task.spans, k) * 64,
                       chunk_start(task.narrow.blocks, task.spans, k + 1) * 64):
        size = 0
        for chunk in range(task.chunks):
            size += task.sizes[chunk * task.entries + entry]
        if size:
            task.counts[task.numbers[entry]] = size
