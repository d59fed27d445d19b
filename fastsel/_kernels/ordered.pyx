"""First occurrences in keys that are in order already, ascending or descending: equal ones lie side
by side, and nothing has to be looked up."""
cimport numpy as cnp
from libc.stdint cimport uint64_t

from fastsel._kernels.blocks cimport blocks_of, fs_level, fs_level_t
from fastsel._kernels.keys cimport describe_keys, key_at, keys_t, load_words, order_t
from fastsel._kernels.scratch cimport Scratch
from fastsel._kernels.slices cimport for_slices, slice_count, slice_start

cnp.import_array()

cdef const fs_level_t *level = fs_level()

cdef enum:
    BATCH = 512
    BATCH_BLOCKS = 8
    RISES = 1           # what a slice has seen
    FALLS = 2
    # So many keys are looked at before threads are woken up. Keys in no order give themselves away
    # among the first few.
    TRIED = 4096

ctypedef struct ordered_task:
    keys_t keys
    order_t order
    Py_ssize_t blocks
    Py_ssize_t slices
    uint64_t *bits
    int *seen           # by each slice


def in_order(cnp.ndarray data not None, Py_ssize_t size, tuple rule not None,
             tuple order not None, int threads):
    """(bits, is ascending): the bitmask of the first occurrences of `size` > 0 keys of 4 or 8
    bytes; None if they are in no order. order is (sign, negative, less)."""
    cdef ordered_task task
    cdef cnp.npy_intp blocks = blocks_of(size)
    cdef Scratch scratch = Scratch()
    cdef int seen = 0
    describe_keys(&task.keys, data, size, rule, None, (0, 1))
    task.order.sign, task.order.negative, task.order.less = order
    bits = cnp.PyArray_EMPTY(1, &blocks, cnp.NPY_UINT64, 0)
    task.bits = <uint64_t *>cnp.PyArray_DATA(bits)
    if turns(&task, 0, min(blocks, TRIED // 64)) == RISES | FALLS:
        return None
    task.blocks = blocks
    task.slices = slice_count(blocks, threads, 64 * task.keys.width)
    task.seen = <int *>scratch.take(task.slices * sizeof(int))
    with nogil:
        for_slices(turns_slice, &task, task.slices, threads)
    for k in range(task.slices):
        seen |= task.seen[k]
    if seen == RISES | FALLS:
        return None
    return bits, seen != FALLS


cdef void turns_slice(void *context, Py_ssize_t k) noexcept nogil:
    cdef ordered_task *task = <ordered_task *>context
    task.seen[k] = turns(task, slice_start(task.blocks, task.slices, k),
                         slice_start(task.blocks, task.slices, k + 1))


cdef int turns(const ordered_task *task, Py_ssize_t block, Py_ssize_t stop) noexcept nogil:
    """The bits of these blocks, and whether their keys rise or fall; not all of it if both."""
    cdef uint64_t[BATCH + 1] numbers
    cdef Py_ssize_t start, n, j
    cdef int seen = 0
    while block < stop and seen != RISES | FALLS:
        start = block * 64
        n = min(task.keys.size - start, min(stop - block, BATCH_BLOCKS) * 64)
        numbers[0] = key_at(&task.keys, max(start - 1, 0))
        load_words(&task.keys, start, n, numbers + 1)
        to_numbers(&task.order, numbers, n + 1)
        for j in range(n, blocks_of(n) * 64):
            numbers[j + 1] = numbers[n]
        seen |= level.turns(numbers, blocks_of(n), task.bits + block)
        if start == 0:
            task.bits[0] |= 1
        if task.keys.rule.lonely:
            mark_loners(task, numbers + 1, block, n)
        block += blocks_of(n)
    return seen


cdef inline void to_numbers(const order_t *order, uint64_t *words, Py_ssize_t n) noexcept nogil:
    """Words of either width to numbers in the order of their dtype."""
    cdef Py_ssize_t j
    for j in range(n):
        words[j] ^= order.sign ^ (order.negative if words[j] & order.sign else 0)
        words[j] -= order.less


cdef inline void mark_loners(const ordered_task *task, const uint64_t *numbers, Py_ssize_t block,
                             Py_ssize_t n) noexcept nogil:
    """NaN that equal no other, nor themselves."""
    cdef uint64_t nan = task.keys.rule.nan
    cdef Py_ssize_t j
    to_numbers(&task.order, &nan, 1)
    for j in range(n):
        task.bits[block + (j >> 6)] |= <uint64_t>(numbers[j] == nan) << (j & 63)
