"""First occurrences in keys that are in order already, ascending or descending: equal ones lie side
by side, and nothing has to be looked up."""
cimport numpy as cnp
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcmp, memcpy

from fastsel._simd.blocks cimport blocks_of, fs_level_t
from fastsel._unique.keys cimport BLOCKS, describe_keys, key_at, keys_t, load_words
from fastsel._simd.levels cimport fs_level
from fastsel._unique.ordered_numbers cimport number_of
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport Scratch
from fastsel._core.parallel cimport chunk_count, chunk_start, for_chunks

cnp.import_array()

cdef const fs_level_t *level = fs_level()

cdef enum:
    RISES = 1               # what was seen
    FALLS = 2

ctypedef struct presorted_task:
    keys_t keys
    uint64_t[3] order       # how words become numbers: sign, negative, less
    int letter              # bytes of a letter of a string; 0: keys are numbers
    Py_ssize_t blocks
    Py_ssize_t chunks
    uint64_t *bits
    int *seen               # by each chunk

ctypedef struct runs_task:
    const uint64_t *bits
    Py_ssize_t blocks
    Py_ssize_t size
    const Py_ssize_t *offsets
    Py_ssize_t chunks
    const Py_ssize_t *order  # or NULL
    Py_ssize_t *out


cpdef tuple presorted(cnp.ndarray data, Py_ssize_t size, tuple rule, tuple order, int letter,
                      int threads):
    """(bits, direction): the bitmask of the first occurrences of `size` > 0 keys; None if they are
    in no order. direction is 1 if they ascend, -1 if they descend and turned around are sorted.
    Keys of 4 or 8 bytes are ordered by (sign, negative, less); if that is None, keys are strings of
    letters of 1 or 4 bytes."""
    cdef presorted_task task
    cdef cnp.npy_intp blocks = blocks_of(size)
    cdef Scratch scratch = Scratch()
    cdef int seen = 0
    describe_keys(&task.keys, data, size, rule, None, (0, 1))
    if order is not None:
        task.order = order
    task.letter = letter
    bits = cnp.PyArray_EMPTY(1, &blocks, cnp.NPY_UINT64, 0)
    task.bits = <uint64_t *>cnp.PyArray_DATA(bits)
    if turns(&task, 0, min(blocks, BLOCKS)) == RISES | FALLS:
        return None
    task.blocks = blocks
    task.chunks = chunk_count(blocks, threads, 64 * task.keys.width)
    task.seen = <int *>scratch.take(task.chunks * sizeof(int))
    with nogil:
        for_chunks(turns_chunk, &task, task.chunks, threads)
    for k in range(task.chunks):
        seen |= task.seen[k]
    if seen == RISES | FALLS:
        return None
    if seen == FALLS:       # NaN that equals nothing would come last in the wrong order
        return bits, 0 if task.keys.rule.nan_unequal else -1
    return bits, 1


cdef void turns_chunk(void *context, Py_ssize_t k) noexcept nogil:
    cdef presorted_task *task = <presorted_task *>context
    task.seen[k] = turns(task, chunk_start(task.blocks, task.chunks, k),
                         chunk_start(task.blocks, task.chunks, k + 1))


cdef int turns(const presorted_task *task, Py_ssize_t block, Py_ssize_t stop) noexcept nogil:
    cdef Py_ssize_t width = task.keys.width, whole = min(stop, task.keys.size >> 6), done
    cdef uint64_t last = key_at(&task.keys, max(block * 64 - 1, 0))
    cdef bint is_start = block == 0
    cdef int seen = 0
    if task.letter:
        return string_turns(task, block, stop)
    last = number_of(task.order, last)
    while block < stop and seen != RISES | FALLS:
        done = 0
        if block < whole and not task.keys.rule.nan_unequal:
            done = level.turns[width == 8](
                task.keys.data + block * 64 * width, min(whole - block, BLOCKS),
                task.keys.rule.significant, task.keys.rule.limit, task.order, &last,
                task.bits + block, &seen)
        if done == 0:       # the last block, or one with words that are not canonical
            turn_block(task, block, &last, &seen)
            done = 1
        block += done
    if is_start:
        task.bits[0] |= 1
    return seen


cdef void turn_block(const presorted_task *task, Py_ssize_t block, uint64_t *last,
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
        if task.keys.rule.nan_unequal and words[j] == task.keys.rule.nan:
            task.bits[block] |= <uint64_t>1 << j


cdef int string_turns(const presorted_task *task, Py_ssize_t block, Py_ssize_t stop) noexcept nogil:
    """As turns, of strings."""
    cdef Py_ssize_t width = task.keys.width, i
    cdef const char *string
    cdef uint64_t word
    cdef int seen = 0, turn
    while block < stop and seen != RISES | FALLS:
        word = block == 0
        for i in range(max(block * 64, 1), min(block * 64 + 64, task.keys.size)):
            string = task.keys.data + i * width
            turn = compare(string - width, string, width, task.letter)
            word |= <uint64_t>(turn != 0) << (i & 63)
            seen |= RISES if turn < 0 else FALLS if turn > 0 else 0
        task.bits[block] = word
        block += 1
    return seen


cdef inline int compare(const char *one, const char *other, Py_ssize_t width,
                        int letter) noexcept nogil:
    """Less than 0, 0 or more than 0, as the one string is before, like or after the other."""
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


# ---- runs -------------------------------------------------------------------------------


def run_numbers(const uint64_t[::1] bits not None, const Py_ssize_t[::1] offsets not None,
                Py_ssize_t size, const Py_ssize_t[::1] order, int threads):
    """The inverse of keys of which the first one of each run has its bit set: the number of each
    key's run, or what order says of it. offsets are those of the chunks of bits."""
    cdef runs_task task
    cdef cnp.npy_intp length = size
    out = new_result(1, &length, cnp.NPY_INTP)
    task.bits, task.blocks, task.size = &bits[0], bits.shape[0], size
    task.offsets, task.chunks = &offsets[0], offsets.shape[0] - 1
    task.order = &order[0] if order is not None else NULL
    task.out = <Py_ssize_t *>cnp.PyArray_DATA(out)
    with nogil:
        for_chunks(runs_chunk, &task, task.chunks, threads)
    return out


cdef void runs_chunk(void *context, Py_ssize_t k) noexcept nogil:
    cdef runs_task *task = <runs_task *>context
    cdef Py_ssize_t start = chunk_start(task.blocks, task.chunks, k) * 64
    cdef Py_ssize_t stop = min(chunk_start(task.blocks, task.chunks, k + 1) * 64, task.size)
    cdef Py_ssize_t run = task.offsets[k] - 1, number = 0, i
    if run >= 0:            # of the chunk before
        number = run if task.order == NULL else task.order[run]
    for i in range(start, stop):
        if task.bits[i >> 6] >> (i & 63) & 1:
            run += 1
            number = run if task.order == NULL else task.order[run]
        task.out[i] = number
