"""First occurrences of words by one set per chunk: for keys of so few groups that the sets stay in
the cache, where neither inverse nor counts are wanted.

A chunk is filled in rounds, so that signals are handled in time. What is new in a chunk is then
added to the set of the first one, in the order of the chunks, and what is not new there loses its
bit. Where few keys are new, most of them are not looked up: a filter knows the recent ones.
"""
cimport numpy as cnp
from libc.stdint cimport intptr_t, uint8_t, uint64_t
from libc.string cimport memset

from fastsel._simd.blocks cimport blocks_of, fs_ctz, fs_level_t
from fastsel._unique.keys cimport (
    BATCH, canonical, describe_keys, key_at, keys_t, load_word, load_words, prefetch_keys)
from fastsel._simd.levels cimport fs_level
from fastsel._unique.recent cimport new_recent, other_keys, remember
from fastsel._core.scratch cimport Scratch, give
from fastsel._core.parallel cimport chunk_count, chunk_start, for_rounds, round_start
from fastsel._unique.hash_table cimport (
    NO_MEMORY, add_keys, table_free, table_start, table_t)

cnp.import_array()

cdef const fs_level_t *level = fs_level()

cdef enum:
    PATIENCE = 8            # batches in a row of which most keys are not recent

ctypedef struct part_t:
    table_t words               # without a payload
    Py_ssize_t status           # 0, or why it gave up
    void *recent                # keys (recent.pxd), or NULL
    int missed                  # batches in a row of which most keys were not recent

ctypedef struct sets_task:
    keys_t keys
    Py_ssize_t most             # words for which a set may grow
    Py_ssize_t expected         # words, estimated
    Py_ssize_t blocks
    Py_ssize_t chunks
    Py_ssize_t rounds
    part_t *parts               # one per chunk
    uint64_t *bits              # of first occurrences


cpdef cnp.ndarray first_words(cnp.ndarray data, Py_ssize_t size, tuple rule, tuple seeds,
                              Py_ssize_t most, Py_ssize_t expected, int threads):
    """The bitmask of the first occurrences of `size` > 0 words of 4 or 8 bytes; None if the set of
    a chunk would have to grow for more than `most`, or takes too many probes. expected is an
    estimate of them, or 0."""
    cdef sets_task task
    cdef Scratch scratch = Scratch()
    cdef cnp.npy_intp blocks = blocks_of(size)
    cdef Py_ssize_t k, status = 0
    describe_keys(&task.keys, data, size, rule, None, seeds)
    bits = cnp.PyArray_EMPTY(1, &blocks, cnp.NPY_UINT64, 0)
    task.bits = <uint64_t *>cnp.PyArray_DATA(bits)
    task.most, task.expected, task.blocks = most, min(expected, most), blocks
    task.chunks = min(blocks, max(1, threads))
    task.rounds = chunk_count(blocks // task.chunks, 1, 32 * max(8, task.keys.width))
    task.parts = <part_t *>scratch.take(task.chunks * sizeof(part_t))
    memset(task.parts, 0, task.chunks * sizeof(part_t))
    try:
        with nogil:
            for_rounds(fill_chunk, &task, task.rounds, task.chunks, threads)
            for k in range(task.chunks):
                status = min(status, task.parts[k].status)
            if status == 0:
                status = merge(&task)
    finally:
        for k in range(task.chunks):
            table_free(&task.parts[k].words)
            give(task.parts[k].recent)
    if status == NO_MEMORY:
        raise MemoryError()
    return bits if status == 0 else None


cdef void fill_chunk(void *context, Py_ssize_t k) noexcept nogil:
    """The set of a chunk, and its bits, as far as round k."""
    cdef sets_task *task = <sets_task *>context
    cdef part_t *part = &task.parts[k % task.chunks]
    cdef Py_ssize_t start = round_start(task.blocks, task.chunks, task.rounds, k) * 64
    cdef Py_ssize_t stop = round_start(task.blocks, task.chunks, task.rounds, k + task.chunks) * 64
    cdef Py_ssize_t n
    stop = min(stop, task.keys.size)
    if k < task.chunks:
        part.status = table_start(
            &part.words, &task.keys, False, task.most, 0, task.expected + BATCH)
    part.missed = 0
    while start < stop and part.status == 0:
        n = min(stop - start, BATCH)
        prefetch_keys(&task.keys, start + n, BATCH)
        if part.recent == NULL or part.missed >= PATIENCE or not add_others(task, part, start, n):
            add_batch(task, part, start, n)
        start += n


cdef inline void add_batch(const sets_task *task, part_t *part, Py_ssize_t start,
                           Py_ssize_t n) noexcept nogil:
    """Add n keys, and remember them if most were in the set; but no longer in this round after
    PATIENCE batches in a row of which most were not recent."""
    cdef uint64_t[BATCH] words
    cdef uint8_t[BATCH] is_new
    cdef Py_ssize_t before = part.words.length, j
    load_words(&task.keys, start, n, words)
    part.status = add_keys(&part.words, &task.keys, words, n, start, NULL, NULL, is_new)
    memset(is_new + n, 0, -n & 63)
    level.pack[0](<const char *>is_new, 0xff, task.bits + (start >> 6), blocks_of(n))
    part.missed += 1
    if (task.keys.rule.nan_unequal or part.missed >= PATIENCE
            or 2 * (part.words.length - before) > n):
        return
    if part.recent == NULL:
        part.recent = new_recent(&task.keys)
    if part.recent != NULL:
        for j in range(n):
            remember(part.recent, &task.keys, start + j, words[j])


cdef inline bint add_others(const sets_task *task, part_t *part, Py_ssize_t start,
                            Py_ssize_t n) noexcept nogil:
    """Add those of n keys that are not recent; False, and nothing is done, if they are many."""
    cdef intptr_t[BATCH + 64] positions
    cdef uint64_t[BATCH] words
    cdef uint8_t[BATCH] is_new
    cdef uint64_t *bits = task.bits + (start >> 6)
    cdef Py_ssize_t k, i, others = other_keys(
        part.recent, &task.keys, level, start, n, positions)
    if 2 * others > n:
        return False
    memset(bits, 0, blocks_of(n) * sizeof(uint64_t))
    part.missed = 0
    if others == 0:
        return True
    for k in range(others):
        i = start + positions[k]
        words[k] = canonical(
            &task.keys.rule, load_word(task.keys.data + i * task.keys.width, task.keys.width))
        remember(part.recent, &task.keys, i, words[k])
    part.status = add_keys(&part.words, &task.keys, words, others, start, NULL, NULL, is_new)
    for k in range(others):
        bits[positions[k] >> 6] |= <uint64_t>is_new[k] << (positions[k] & 63)
    return True


cdef Py_ssize_t merge(sets_task *task) noexcept nogil:
    """Clear the bits of keys that chunks before their own have; returns 0 or a status."""
    cdef Py_ssize_t block = chunk_start(task.blocks, task.chunks, 1), n = 0, status
    cdef Py_ssize_t[BATCH] positions
    cdef uint64_t[BATCH] words
    cdef uint64_t left
    task.parts[0].words.most = task.chunks * task.most
    while block < task.blocks:
        left = task.bits[block]
        while left:
            positions[n] = block * 64 + fs_ctz(left)
            words[n] = key_at(&task.keys, positions[n])
            left &= left - 1
            n += 1
            if n == BATCH:
                status = merge_batch(task, positions, words, n)
                if status:
                    return status
                n = 0
        block += 1
    return merge_batch(task, positions, words, n)


cdef Py_ssize_t merge_batch(sets_task *task, const Py_ssize_t *positions, const uint64_t *words,
                            Py_ssize_t n) noexcept nogil:
    cdef uint8_t[BATCH] is_new
    cdef Py_ssize_t status, j
    status = add_keys(
        &task.parts[0].words, &task.keys, words, n, 0, positions, NULL, is_new)
    for j in range(n):
        if not is_new[j]:
            task.bits[positions[j] >> 6] &= ~(<uint64_t>1 << (positions[j] & 63))
    return status
