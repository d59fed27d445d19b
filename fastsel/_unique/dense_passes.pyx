"""The passes of dense.pyx over the keys.

Pass 1 fills a presence table for each chunk, which says what words occur there, and sets a bit for
each key that is the first of its group in its chunk. Once the tables say what occurs so far,
`clear_repeated` clears the bits of keys that an earlier chunk has. Pass 2 writes the inverse.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from fastsel._simd.blocks cimport blocks_of, fs_ctz, fs_level_t
from fastsel._unique.keys cimport any_t, canonical, describe_keys
from fastsel._unique.narrow_range cimport describe_range, find_entries
from fastsel._simd.levels cimport fs_level
from fastsel._unique.ordered_numbers cimport number_of
from fastsel._unique.dense_passes cimport dense_task, entry_of
from fastsel._core.scratch cimport Scratch
from fastsel._core.parallel cimport chunk_count, chunk_start, for_rounds, round_start

cnp.import_array()

cdef const fs_level_t *level = fs_level()


cdef void describe_task(dense_task *task, Scratch scratch, cnp.ndarray data, Py_ssize_t size,
                        tuple rule, tuple order, tuple span, int threads) except *:
    memset(task, 0, sizeof(dense_task))
    describe_keys(&task.keys, data, size, rule, None, (0, 1))
    describe_range(&task.narrow, &task.keys.rule, order, span)
    task.entries = task.narrow.blocks * 64
    task.blocks = blocks_of(size)
    task.chunks = min(task.blocks, max(1, threads))
    task.rounds = chunk_count(task.blocks // task.chunks, 1, 64 * task.keys.width)
    task.cuts = chunk_count(task.blocks, threads, 64 * (task.keys.width + sizeof(Py_ssize_t)))
    task.spans = chunk_count(task.narrow.blocks, threads)
    task.present = <uint8_t *>scratch.take(task.chunks * task.entries)
    task.occurring = <uint64_t *>scratch.take(task.entries // 8)
    task.failed = <uint8_t *>scratch.take(task.chunks)
    task.offsets = <Py_ssize_t *>scratch.take(
        (max(task.cuts, task.spans) + 1) * sizeof(Py_ssize_t))


# ---- pass 1 -----------------------------------------------------------------------------


cdef int fill_tables(dense_task *task, int threads) except -1 nogil:
    """The tables of all chunks; False if a key has no entry."""
    cdef Py_ssize_t k
    memset(task.failed, False, task.chunks)
    for_rounds(fill_chunk, task, task.rounds, task.chunks, threads)
    for k in range(task.chunks):
        if task.failed[k]:
            return False
    return True


cdef void fill_chunk(void *context, Py_ssize_t k) noexcept nogil:
    cdef dense_task *task = <dense_task *>context
    cdef Py_ssize_t chunk = k % task.chunks
    cdef Py_ssize_t start = round_start(task.blocks, task.chunks, task.rounds, k)
    cdef Py_ssize_t stop = round_start(task.blocks, task.chunks, task.rounds, k + task.chunks)
    if k < task.chunks:
        memset(task.present + chunk * task.entries, 0, task.entries)
        if task.sizes != NULL:
            memset(task.sizes + chunk * task.entries, 0, task.entries * sizeof(Py_ssize_t))
    if task.failed[chunk]:
        return
    if task.keys.width == 1:
        task.failed[chunk] = not fill_blocks(task, chunk, start, stop, <uint8_t *>task.keys.data)
    elif task.keys.width == 2:
        task.failed[chunk] = not fill_blocks(task, chunk, start, stop, <uint16_t *>task.keys.data)
    elif task.keys.width == 4:
        task.failed[chunk] = not fill_blocks(task, chunk, start, stop, <uint32_t *>task.keys.data)
    else:
        task.failed[chunk] = not fill_blocks(task, chunk, start, stop, <uint64_t *>task.keys.data)


cdef inline bint fill_blocks(const dense_task *task, Py_ssize_t chunk, Py_ssize_t block,
                             Py_ssize_t stop, const any_t *items) noexcept nogil:
    """Presence, counts and bits of these blocks of keys; False if a key has no entry."""
    cdef uint8_t *present = task.present + chunk * task.entries
    cdef Py_ssize_t *sizes = NULL
    cdef uint8_t[256] bytes_seen
    cdef uint32_t[64] at
    cdef uint8_t[64] is_new
    cdef uint8_t all_seen
    cdef Py_ssize_t j, n, skipped
    if task.sizes != NULL:
        sizes = task.sizes + chunk * task.entries
    if any_t is uint8_t:
        presence_of_bytes(task, present, bytes_seen)
    while block < stop:
        if any_t is uint8_t:
            if sizes == NULL:           # a vector of bytes at a time
                skipped = level.skip_seen(<const char *>items + block * 64,
                                          min(stop, task.keys.size >> 6) - block, bytes_seen)
                if skipped > 0:
                    memset(task.bits + block, 0, skipped * sizeof(uint64_t))
                block += max(0, skipped)
                if block >= stop:
                    break
        n = min(64, task.keys.size - block * 64)
        if not find_entries(&task.narrow, &task.keys.rule, items + block * 64, n, at):
            return False
        all_seen = 1
        for j in range(n):
            all_seen &= present[at[j]]
        if all_seen:
            task.bits[block] = 0
        else:
            memset(is_new, 0, sizeof(is_new))
            for j in range(n):
                is_new[j] = present[at[j]] ^ 1
                present[at[j]] = 1
            level.pack[0](<const char *>is_new, 0xff, task.bits + block, 1)
            if any_t is uint8_t:
                presence_of_bytes(task, present, bytes_seen)
        if sizes != NULL:
            for j in range(n):
                sizes[at[j]] += 1
        block += 1
    return True


cdef inline void presence_of_bytes(const dense_task *task, const uint8_t *present,
                                   uint8_t *seen) noexcept nogil:
    """The presence of each byte, before it becomes canonical."""
    cdef int byte
    for byte in range(256):
        seen[byte] = present[number_of(task.narrow.order, canonical(&task.keys.rule, byte)) & 0xff]


cdef void clear_repeated(void *context, Py_ssize_t k) noexcept nogil:
    """Clear the bits of keys that chunks before their own have seen, as `merge_span` says."""
    cdef dense_task *task = <dense_task *>context
    cdef Py_ssize_t block, own = 0, entry
    cdef uint64_t word
    for block in range(chunk_start(task.blocks, task.cuts, k),
                       chunk_start(task.blocks, task.cuts, k + 1)):
        while chunk_start(task.blocks, task.chunks, own + 1) <= block:
            own += 1
        word = task.bits[block] if own else 0
        while word:
            entry = entry_of(task, block * 64 + fs_ctz(word))
            if task.present[(own - 1) * task.entries + entry]:
                task.bits[block] &= ~(word & (0 - word))
            word &= word - 1


# ---- pass 2 -----------------------------------------------------------------------------


cdef void write_inverse(void *context, Py_ssize_t k) noexcept nogil:
    """Pass 2: the number of every key of a cut."""
    cdef dense_task *task = <dense_task *>context
    cdef Py_ssize_t start = chunk_start(task.blocks, task.cuts, k)
    cdef Py_ssize_t stop = chunk_start(task.blocks, task.cuts, k + 1)
    if task.keys.width == 1:
        write_numbers(task, start, stop, <uint8_t *>task.keys.data)
    elif task.keys.width == 2:
        write_numbers(task, start, stop, <uint16_t *>task.keys.data)
    elif task.keys.width == 4:
        write_numbers(task, start, stop, <uint32_t *>task.keys.data)
    else:
        write_numbers(task, start, stop, <uint64_t *>task.keys.data)


cdef inline void write_numbers(const dense_task *task, Py_ssize_t block, Py_ssize_t stop,
                               const any_t *items) noexcept nogil:
    cdef uint32_t[64] at
    cdef Py_ssize_t j, n
    cdef Py_ssize_t *out
    while block < stop:
        n = min(64, task.keys.size - block * 64)
        find_entries(&task.narrow, &task.keys.rule, items + block * 64, n, at)
        out = task.inverse + block * 64
        for j in range(n):
            out[j] = task.numbers[at[j] & <uint32_t>task.narrow.mask]
        block += 1
