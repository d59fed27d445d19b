"""Which words of a narrow range occur: a bit for each number of the range.

Each chunk of the keys marks what it has in a table of its own, and the tables are merged. Their
bits are in ascending order, and so are the distinct values that they stand for.
"""
cimport numpy as cnp
from libc.stdint cimport intptr_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from fastsel._core.parallel cimport (
    chunk_count, chunk_start, for_chunks, for_rounds, round_start, scan)
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport Scratch
from fastsel._simd.blocks cimport blocks_of, fs_ctz, fs_level_t, is_sparse
from fastsel._simd.levels cimport fs_level
from fastsel._unique.keys cimport any_t, canonical, describe_keys
from fastsel._unique.narrow_range cimport describe_range, find_entries
from fastsel._unique.ordered_numbers cimport number_of
from fastsel._unique.presence cimport presence_t

cnp.import_array()

cdef const fs_level_t *level = fs_level()


cpdef cnp.ndarray ascending_values(cnp.ndarray data, Py_ssize_t size, tuple rule, tuple order,
                                   tuple span, int threads):
    """The distinct ones of `size` > 0 plain words, ascending; None if one has no entry.

    span is (base, bits): the 2^bits numbers from base on have an entry each; order is how words
    become numbers.
    """
    cdef presence_t task
    cdef Scratch scratch = Scratch()
    cdef cnp.npy_intp length
    if not find_presence(&task, scratch, data, size, rule, order, span, threads):
        return None
    scan(task.offsets, task.spans)
    length = task.offsets[task.spans]
    out = new_result(1, &length, cnp.PyArray_TYPE(data))
    task.values = <char *>cnp.PyArray_DATA(out)
    with nogil:
        for_chunks(write_values, &task, task.spans, threads)
    return out


cdef bint find_presence(presence_t *task, Scratch scratch, cnp.ndarray data, Py_ssize_t size,
                        tuple rule, tuple order, tuple span, int threads) except -1:
    """The words that occur among `size` > 0; False if one has no entry."""
    cdef Py_ssize_t k, table_bytes
    describe_keys(&task.keys, data, size, rule, None, (0, 1))
    describe_range(&task.narrow, &task.keys.rule, order, span)
    task.blocks = blocks_of(size)
    # A table of a thread's own pays if that has keys of half as many bytes.
    table_bytes = task.narrow.blocks * sizeof(uint64_t)
    task.chunks = max(1, min(min(task.blocks, threads), 2 * size * task.keys.width // table_bytes))
    task.rounds = chunk_count(task.blocks // task.chunks, 1, 64 * task.keys.width)
    task.spans = chunk_count(
        task.narrow.blocks, threads, sizeof(uint64_t) * task.chunks + 64 * task.keys.width)
    task.bits = <uint64_t *>scratch.take(task.chunks * table_bytes)
    task.failed = <uint8_t *>scratch.take(task.chunks)
    task.offsets = <Py_ssize_t *>scratch.take((task.spans + 1) * sizeof(Py_ssize_t))
    memset(task.failed, False, task.chunks)
    with nogil:
        for_rounds(mark_chunk, task, task.rounds, task.chunks, threads)
        for k in range(task.chunks):
            if task.failed[k]:
                return False
        for_chunks(merge_span, task, task.spans, threads)
    return True


cdef void mark_chunk(void *context, Py_ssize_t k) noexcept nogil:
    cdef presence_t *task = <presence_t *>context
    cdef Py_ssize_t chunk = k % task.chunks
    cdef Py_ssize_t start = round_start(task.blocks, task.chunks, task.rounds, k)
    cdef Py_ssize_t stop = round_start(task.blocks, task.chunks, task.rounds, k + task.chunks)
    cdef uint64_t *bits = task.bits + chunk * task.narrow.blocks
    if k < task.chunks:
        memset(bits, 0, task.narrow.blocks * sizeof(uint64_t))
    if task.failed[chunk]:
        return
    if task.keys.width == 1:
        task.failed[chunk] = not mark_blocks(task, bits, start, stop, <uint8_t *>task.keys.data)
    elif task.keys.width == 2:
        task.failed[chunk] = not mark_blocks(task, bits, start, stop, <uint16_t *>task.keys.data)
    elif task.keys.width == 4:
        task.failed[chunk] = not mark_blocks(task, bits, start, stop, <uint32_t *>task.keys.data)
    else:
        task.failed[chunk] = not mark_blocks(task, bits, start, stop, <uint64_t *>task.keys.data)


cdef inline bint mark_blocks(const presence_t *task, uint64_t *bits, Py_ssize_t block,
                             Py_ssize_t stop, const any_t *items) noexcept nogil:
    """Set the bits of these blocks of keys; False if one has none."""
    cdef uint8_t[256] bytes_seen
    cdef uint32_t[64] at
    cdef uint8_t seen
    cdef Py_ssize_t j, n
    if any_t is uint8_t:
        presence_of_bytes(task, bits, bytes_seen)
    while block < stop:
        if any_t is uint8_t:            # a vector of bytes at a time
            block += max(0, level.skip_seen(<const char *>items + block * 64,
                                            min(stop, task.keys.size >> 6) - block, bytes_seen))
            if block >= stop:
                break
        n = min(64, task.keys.size - block * 64)
        if not find_entries(&task.narrow, &task.keys.rule, items + block * 64, n, at):
            return False
        seen = 1
        for j in range(n):
            seen &= <uint8_t>(bits[at[j] >> 6] >> (at[j] & 63))
        if not seen:
            for j in range(n):
                bits[at[j] >> 6] |= <uint64_t>1 << (at[j] & 63)
            if any_t is uint8_t:
                presence_of_bytes(task, bits, bytes_seen)
        block += 1
    return True


cdef inline void presence_of_bytes(const presence_t *task, const uint64_t *bits,
                                   uint8_t *seen) noexcept nogil:
    """The presence of each byte, before it becomes canonical."""
    cdef uint64_t entry
    cdef int byte
    for byte in range(256):
        entry = number_of(task.narrow.order, canonical(&task.keys.rule, byte)) & 0xff
        seen[byte] = (bits[entry >> 6] >> (entry & 63)) & 1


cdef void merge_span(void *context, Py_ssize_t k) noexcept nogil:
    """All tables in the first, and how many words of a span occur."""
    cdef presence_t *task = <presence_t *>context
    cdef Py_ssize_t start = chunk_start(task.narrow.blocks, task.spans, k)
    cdef Py_ssize_t blocks = chunk_start(task.narrow.blocks, task.spans, k + 1) - start
    cdef uint64_t *bits = task.bits + start
    cdef const uint64_t *others = bits
    cdef Py_ssize_t _chunk, block
    for _chunk in range(1, task.chunks):
        others += task.narrow.blocks
        for block in range(blocks):
            bits[block] |= others[block]
    task.offsets[k] = level.count(bits, blocks)


cdef void write_values(void *context, Py_ssize_t k) noexcept nogil:
    cdef presence_t *task = <presence_t *>context
    cdef Py_ssize_t start = chunk_start(task.narrow.blocks, task.spans, k)
    cdef Py_ssize_t blocks = chunk_start(task.narrow.blocks, task.spans, k + 1) - start
    cdef Py_ssize_t first = task.offsets[k], found = task.offsets[k + 1] - first
    cdef const uint64_t *bits = task.bits + start
    cdef uint64_t base = task.narrow.base_word + start * 64
    if task.keys.width == 1:
        values_of(bits, blocks, base, <uint8_t *>task.values + first, found)
    elif task.keys.width == 2:
        values_of(bits, blocks, base, <uint16_t *>task.values + first, found)
    elif task.keys.width == 4:
        values_of(bits, blocks, base, <uint32_t *>task.values + first, found)
    else:
        values_of(bits, blocks, base, <uint64_t *>task.values + first, found)


cdef inline void values_of(const uint64_t *bits, Py_ssize_t blocks, uint64_t base, any_t *values,
                           Py_ssize_t found) noexcept nogil:
    """The words whose bits are set, of which the first bit stands for base."""
    cdef Py_ssize_t block
    cdef uint64_t word
    if any_t is uint64_t and sizeof(intptr_t) == 8:     # as the positions of the bits
        level.write(bits, blocks, <intptr_t>base, is_sparse(found, blocks), <intptr_t *>values,
                    found)
        return
    for block in range(blocks):
        word = bits[block]
        while word:
            values[0] = <any_t>(base + block * 64 + fs_ctz(word))
            values += 1
            word &= word - 1
