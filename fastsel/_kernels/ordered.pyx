"""First occurrences in keys that are in order already, ascending or descending: equal ones lie side
by side, and nothing has to be looked up."""
cimport numpy as cnp
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcmp, memcpy

from fastsel._kernels.blocks cimport blocks_of, fs_level_t
from fastsel._kernels.keys cimport describe_keys, key_at, load_words
from fastsel._kernels.levels cimport fs_level
from fastsel._kernels.numbers cimport number_of
from fastsel._kernels.scratch cimport Scratch
from fastsel._kernels.slices cimport for_slices, slice_count, slice_start

cnp.import_array()

cdef const fs_level_t *level = fs_level()

cdef enum:
    # Blocks that are looked at before the threads are: keys in no order give themselves away among
    # the first few.
    TRIED_BLOCKS = 64
    BLOCKS_AT_ONCE = 8


def in_order(cnp.ndarray data not None, Py_ssize_t size, tuple rule not None,
             tuple order, int letter, int threads):
    """(bits, direction): the bitmask of the first occurrences of `size` > 0 keys; None if they are
    in no order. direction is 1 if they ascend, -1 if they descend and turned around are sorted.
    Keys of 4 or 8 bytes are ordered by (sign, negative, less); if that is None, keys are texts of
    letters of 1 or 4 bytes."""
    cdef ordered_task task
    cdef cnp.npy_intp blocks = blocks_of(size)
    cdef Scratch scratch = Scratch()
    cdef int seen = 0
    describe_keys(&task.keys, data, size, rule, None, (0, 1))
    if order is not None:
        task.order = order
    task.letter = letter
    bits = cnp.PyArray_EMPTY(1, &blocks, cnp.NPY_UINT64, 0)
    task.bits = <uint64_t *>cnp.PyArray_DATA(bits)
    if turns(&task, 0, min(blocks, TRIED_BLOCKS)) == RISES | FALLS:
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
    return bits, direction_of(&task.keys, seen)


cdef void turns_slice(void *context, Py_ssize_t k) noexcept nogil:
    cdef ordered_task *task = <ordered_task *>context
    task.seen[k] = turns(task, slice_start(task.blocks, task.slices, k),
                         slice_start(task.blocks, task.slices, k + 1))


cdef int turns(const ordered_task *task, Py_ssize_t block, Py_ssize_t stop) noexcept nogil:
    cdef Py_ssize_t width = task.keys.width, whole = min(stop, task.keys.size >> 6), done
    cdef uint64_t last = key_at(&task.keys, max(block * 64 - 1, 0))
    cdef bint is_start = block == 0
    cdef int seen = 0
    if task.letter:
        return text_turns(task, block, stop)
    last = number_of(task.order, last)
    while block < stop and seen != RISES | FALLS:
        done = 0
        if block < whole and not task.keys.rule.lonely:
            done = level.turns[width == 8](
                task.keys.data + block * 64 * width, min(whole - block, BLOCKS_AT_ONCE),
                task.keys.rule.care, task.keys.rule.limit, task.order, &last, task.bits + block,
                &seen)
        if done == 0:       # the last block, or one with words that are not canonical
            turn_block(task, block, &last, &seen)
            done = 1
        block += done
    if is_start:
        task.bits[0] |= 1
    return seen


cdef void turn_block(const ordered_task *task, Py_ssize_t block, uint64_t *last,
                     int *seen) noexcept nogil:
    """The same of one block, made canonical and filled up with its last key."""
    cdef uint64_t[64] words
    cdef uint32_t[64] narrow
    cdef uint64_t all_bits = <uint64_t>-1
    cdef Py_ssize_t n = min(task.keys.size - block * 64, 64), j
    load_words(&task.keys, block * 64, n, words)
    for j in range(n, 64):
        words[j] = words[n - 1]
    for j in range(64):
        narrow[j] = <uint32_t>words[j]
    level.turns[task.keys.width == 8](
        <const char *>words if task.keys.width == 8 else <const char *>narrow, 1, all_bits,
        all_bits, task.order, last, task.bits + block, seen)
    for j in range(n):
        if task.keys.rule.lonely and words[j] == task.keys.rule.nan:
            task.bits[block] |= <uint64_t>1 << j


cdef int text_turns(const ordered_task *task, Py_ssize_t block, Py_ssize_t stop) noexcept nogil:
    """As turns, of texts."""
    cdef Py_ssize_t width = task.keys.width, i
    cdef const char *text
    cdef uint64_t word
    cdef int seen = 0, turn
    while block < stop and seen != RISES | FALLS:
        word = block == 0
        for i in range(max(block * 64, 1), min(block * 64 + 64, task.keys.size)):
            text = task.keys.data + i * width
            turn = compare(text - width, text, width, task.letter)
            word |= <uint64_t>(turn != 0) << (i & 63)
            seen |= RISES if turn < 0 else FALLS if turn > 0 else 0
        task.bits[block] = word
        block += 1
    return seen


cdef inline int compare(const char *one, const char *other, Py_ssize_t width,
                        int letter) noexcept nogil:
    """Less than 0, 0 or more than 0, as the one text is before, like or after the other."""
    cdef uint32_t a, b
    cdef Py_ssize_t at
    if letter == 1:
        return memcmp(one, other, width)
    for at in range(0, width, 4):
        memcpy(&a, one + at, 4)
        memcpy(&b, other + at, 4)
        if a != b:
            return -1 if a < b else 1
    return 0
