"""First occurrences by partition: for keys with many groups.

The keys are scattered into PARTITIONS parts by the top bits of their hash, so that each part's
table fits the cache, and parts are independent of each other. Within a part the keys keep their
order, so that the first one seen is the first occurrence.

The pass that counts each part's keys also notes every key's part, in a byte of its own: the pass
that scatters must agree with it even if another thread changes the keys meanwhile. The same bytes
lead back: a key's entry in its part is the next one of that part, in the order of the keys, so
that the inverse is read from as many streams as there are parts and written as one.

What a part no longer needs is written over, so that all four outputs take little more memory than
the values: an entry's position becomes the number of its group, then its rank; the words of a
part become its groups' counts, then their ranks; and until it is written, the inverse holds the
groups' first positions.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from fastsel._simd.blocks cimport blocks_of, fs_level_t
from fastsel._unique.keys cimport BATCH, describe_keys, is_unequal, load_words
from fastsel._simd.levels cimport fs_level
from fastsel._unique.bit_ranks cimport rank, rank_blocks
from fastsel._unique.partitions cimport PARTITION_BITS, PARTITIONS, partitions_task
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport Scratch
from fastsel._core.parallel cimport chunk_count, chunk_start, for_chunks
from fastsel._unique.hash_table cimport (
    NO_MEMORY, add_keys, table_bytes, table_clear, table_free, table_start, table_t)

cnp.import_array()

cdef const fs_level_t *level = fs_level()

ctypedef fused word_t:
    uint32_t
    uint64_t

cdef class Partitions:
    """The state between the two halves of the job; between them the marks become a bitmask."""
    cdef partitions_task task
    cdef object owned             # arrays that the task points to
    cdef Scratch scratch          # what else it points to
    cdef readonly object marks    # uint8, not 0 at each first occurrence
    cdef object inverse
    cdef int threads

    def __init__(self, cnp.ndarray data not None, Py_ssize_t size, tuple rule not None,
                 const uint64_t[::1] unequal, tuple seeds not None, Py_ssize_t expected,
                 bint inverse, bint counts, int threads):
        """size is less than 2^32: positions, counts and ranks have 4 bytes."""
        cdef partitions_task *task = &self.task
        cdef cnp.npy_intp length = size
        describe_keys(&task.keys, data, size, rule, unequal, seeds)
        self.threads = threads
        self.owned = (data, unequal)
        task.blocks = blocks_of(size)
        task.chunks = chunk_count(task.blocks, threads, 32 * max(8, task.keys.width))
        task.narrow = task.keys.width <= 4
        task.expected = min(expected, size) >> PARTITION_BITS
        task.counted = counts
        task.numbered = counts or inverse or not task.keys.is_word
        task.cuts = chunk_count(PARTITIONS, threads, 16 * (size >> PARTITION_BITS))
        self.scratch = Scratch()
        self.marks = cnp.PyArray_EMPTY(1, &length, cnp.NPY_UINT8, 0)
        task.marks = task.parts = <uint8_t *>cnp.PyArray_DATA(self.marks)
        if inverse:
            task.parts = <uint8_t *>self.scratch.take(size)
        task.words = <char *>self.scratch.take(
            size * (sizeof(uint32_t) if task.narrow else sizeof(uint64_t)))
        task.positions = <uint32_t *>self.scratch.take(size * sizeof(uint32_t))
        task.starts = <Py_ssize_t *>self.scratch.take(
            (PARTITIONS * task.chunks + 1) * sizeof(Py_ssize_t))
        task.groups = <Py_ssize_t *>self.scratch.take(PARTITIONS * sizeof(Py_ssize_t))
        task.status = <Py_ssize_t *>self.scratch.take(task.cuts * sizeof(Py_ssize_t))
        task.inverse = NULL
        if inverse:
            self.inverse = new_result(1, &length, cnp.NPY_INTP)
            task.inverse = <Py_ssize_t *>cnp.PyArray_DATA(self.inverse)

    def table_threads(self):
        """As many as have room for their tables in 2.5 times the keys' bytes, or in a byte per key
        if that is more."""
        cdef partitions_task *task = &self.task
        cdef Py_ssize_t nbytes = table_bytes(&task.keys, task.numbered, task.expected + BATCH)
        cdef Py_ssize_t used = 5 + (task.inverse != NULL) + (4 if task.narrow else 8)
        cdef Py_ssize_t room = task.keys.size * max(1, 5 * task.keys.width // 2 - used)
        return <int>max(1, min(<Py_ssize_t>self.threads, room // nbytes))

    def find(self):
        """Mark all first occurrences; False if a table takes too many probes."""
        cdef partitions_task *task = &self.task
        cdef Py_ssize_t k, status = 0
        cdef int table_threads = self.table_threads()
        with nogil:
            for_chunks(choose_chunk, task, task.chunks, self.threads)
            scan_starts(task)
            for_chunks(scatter_chunk, task, task.chunks, self.threads)
            for_chunks(clear_chunk, task, task.chunks, self.threads)
            for_chunks(tables_chunk, task, task.cuts, table_threads)
            for k in range(task.cuts):
                status = min(status, task.status[k])
        if status == NO_MEMORY:
            raise MemoryError()
        return status == 0

    def finish(self, const uint64_t[::1] bits not None, const Py_ssize_t[::1] offsets not None):
        """(inverse, counts) as ranks and by rank, None for what was not asked for.

        bits are the marks as a bitmask, offsets those of its chunks, the total last.
        """
        cdef partitions_task *task = &self.task
        cdef cnp.npy_intp length = offsets[offsets.shape[0] - 1]
        cdef cnp.ndarray counts = None
        if not task.counted and task.inverse == NULL:
            return None, None
        task.ranks.bits = &bits[0]
        task.ranks.before = <Py_ssize_t *>self.scratch.take(task.blocks * sizeof(Py_ssize_t))
        task.offsets, task.spans = &offsets[0], offsets.shape[0] - 1
        task.counts = NULL
        if task.counted:
            counts = new_result(1, &length, cnp.NPY_INTP)
            task.counts = <Py_ssize_t *>cnp.PyArray_DATA(counts)
        with nogil:
            for_chunks(span_ranks, task, task.spans, self.threads)
            for_chunks(ranks_chunk, task, task.cuts, self.threads)
            if task.inverse != NULL:
                for_chunks(inverse_chunk, task, task.chunks, self.threads)
        return self.inverse, counts


cdef void choose_chunk(void *context, Py_ssize_t k) noexcept nogil:
    """The part of each key of chunk k, and how many each part gets. Keys that equal no other may
    have the same hash: they go to all parts in turn."""
    cdef partitions_task *task = <partitions_task *>context
    cdef Py_ssize_t start = chunk_start(task.blocks, task.chunks, k) * 64
    cdef Py_ssize_t stop = min(chunk_start(task.blocks, task.chunks, k + 1) * 64, task.keys.size)
    cdef uint64_t[BATCH] words, parts
    cdef uint32_t[PARTITIONS] count
    cdef bint any_unequal = task.keys.rule.nan_unequal or task.keys.unequal != NULL
    cdef Py_ssize_t n, j, p
    for p in range(PARTITIONS):
        count[p] = 0
    while start < stop:
        n = min(stop - start, BATCH)
        load_words(&task.keys, start, n, words)
        level.slots(words, n, task.keys.seed, task.keys.factor, 0, 64 - PARTITION_BITS, parts)
        for j in range(n):
            p = parts[j]
            if any_unequal and is_unequal(&task.keys, start + j, words[j]):
                p = (start + j) & (PARTITIONS - 1)
            task.parts[start + j] = <uint8_t>p
            count[p] += 1
        start += n
    for p in range(PARTITIONS):
        task.starts[p * task.chunks + k] = count[p]


cdef void scan_starts(partitions_task *task) noexcept nogil:
    """Counts -> where each chunk's keys of each part start: part by part, chunk by chunk."""
    cdef Py_ssize_t cell, count, total = 0
    for cell in range(PARTITIONS * task.chunks):
        count = task.starts[cell]
        task.starts[cell] = total
        total += count
    task.starts[PARTITIONS * task.chunks] = total


cdef void scatter_chunk(void *context, Py_ssize_t k) noexcept nogil:
    """Words and positions of chunk k, each to its part."""
    cdef partitions_task *task = <partitions_task *>context
    if task.narrow:
        scatter(task, k, <uint32_t *>task.words)
    else:
        scatter(task, k, <uint64_t *>task.words)


cdef void scatter(const partitions_task *task, Py_ssize_t k, word_t *out) noexcept nogil:
    cdef Py_ssize_t start = chunk_start(task.blocks, task.chunks, k) * 64
    cdef Py_ssize_t stop = min(chunk_start(task.blocks, task.chunks, k + 1) * 64, task.keys.size)
    cdef Py_ssize_t[PARTITIONS] next_entry
    cdef uint64_t[BATCH] words
    cdef Py_ssize_t n, j, p, at
    for p in range(PARTITIONS):
        next_entry[p] = task.starts[p * task.chunks + k]
    while start < stop:
        n = min(stop - start, BATCH)
        load_words(&task.keys, start, n, words)
        for j in range(n):
            p = task.parts[start + j]
            at = next_entry[p]
            next_entry[p] = at + 1
            out[at] = <word_t>words[j]
            if task.positions != NULL:
                task.positions[at] = <uint32_t>(start + j)
        start += n


cdef void clear_chunk(void *context, Py_ssize_t k) noexcept nogil:
    cdef partitions_task *task = <partitions_task *>context
    cdef Py_ssize_t start = chunk_start(task.blocks, task.chunks, k) * 64
    cdef Py_ssize_t stop = min(chunk_start(task.blocks, task.chunks, k + 1) * 64, task.keys.size)
    memset(task.marks + start, 0, stop - start)


cdef void tables_chunk(void *context, Py_ssize_t k) noexcept nogil:
    """One table after the other for the parts of cut k, in the same memory."""
    cdef partitions_task *task = <partitions_task *>context
    cdef Py_ssize_t part = chunk_start(PARTITIONS, task.cuts, k)
    cdef Py_ssize_t stop = chunk_start(PARTITIONS, task.cuts, k + 1)
    cdef table_t table
    cdef Py_ssize_t status = table_start(
        &table, &task.keys, task.numbered, <Py_ssize_t>1 << 31, PARTITION_BITS,
        task.expected + BATCH)
    while part < stop and status == 0:
        table_clear(&table)
        if task.narrow:
            status = fill_part(task, part, &table, <uint32_t *>task.words)
        else:
            status = fill_part(task, part, &table, <uint64_t *>task.words)
        part += 1
    table_free(&table)
    task.status[k] = status


cdef Py_ssize_t fill_part(partitions_task *task, Py_ssize_t part, table_t *table,
                          word_t *words) noexcept nogil:
    """The groups of one part; returns 0 or a status. Entries' positions become group numbers, the
    first words counts; what the inverse still has room for becomes first positions."""
    cdef Py_ssize_t start = task.starts[part * task.chunks]
    cdef Py_ssize_t stop = task.starts[(part + 1) * task.chunks]
    cdef uint64_t[BATCH] batch
    cdef Py_ssize_t[BATCH] positions
    cdef uint32_t[BATCH] numbers
    cdef Py_ssize_t at = start, n, j, group, length = 0, status
    while at < stop:
        n = min(stop - at, BATCH)
        for j in range(n):
            batch[j], positions[j] = words[at + j], task.positions[at + j]
        status = add_keys(table, &task.keys, batch, n, 0, positions,
                          numbers if task.numbered else NULL)
        if status:
            return status
        while length < table.length:
            task.marks[table.firsts[length]] = True
            length += 1
        if task.counted:
            for j in range(n):
                table.counts[numbers[j] - 1] += 1
        if task.inverse != NULL:
            for j in range(n):
                task.positions[at + j] = numbers[j] - 1
        at += n
    task.groups[part] = length
    if not task.counted and task.inverse == NULL:
        return 0
    for group in range(length):
        words[start + group] = <word_t>table.counts[group]
        if task.inverse != NULL:
            task.inverse[start + group] = table.firsts[group]
        else:
            task.positions[start + group] = <uint32_t>table.firsts[group]
    return 0


cdef void span_ranks(void *context, Py_ssize_t k) noexcept nogil:
    """The ranks of the blocks of span k."""
    cdef partitions_task *task = <partitions_task *>context
    rank_blocks(&task.ranks, chunk_start(task.blocks, task.spans, k),
                chunk_start(task.blocks, task.spans, k + 1), task.offsets[k])


cdef void ranks_chunk(void *context, Py_ssize_t k) noexcept nogil:
    """The parts of cut k: counts to the ranks of their groups, entries' positions to ranks."""
    cdef partitions_task *task = <partitions_task *>context
    cdef Py_ssize_t part
    for part in range(chunk_start(PARTITIONS, task.cuts, k),
                      chunk_start(PARTITIONS, task.cuts, k + 1)):
        if task.narrow:
            rank_part(task, part, <uint32_t *>task.words)
        else:
            rank_part(task, part, <uint64_t *>task.words)


cdef void rank_part(const partitions_task *task, Py_ssize_t part, word_t *words) noexcept nogil:
    cdef Py_ssize_t start = task.starts[part * task.chunks]
    cdef Py_ssize_t group, first, group_rank, j
    for group in range(task.groups[part]):
        first = (task.inverse[start + group] if task.inverse != NULL
                 else task.positions[start + group])
        group_rank = rank(&task.ranks, first)
        if task.counted:
            task.counts[group_rank] = <Py_ssize_t>words[start + group]
        words[start + group] = <word_t>group_rank
    if task.inverse != NULL:
        for j in range(start, task.starts[(part + 1) * task.chunks]):
            task.positions[j] = <uint32_t>words[start + task.positions[j]]


cdef void inverse_chunk(void *context, Py_ssize_t k) noexcept nogil:
    """The ranks of the keys of chunk k, each from the next entry of its part."""
    cdef partitions_task *task = <partitions_task *>context
    cdef Py_ssize_t start = chunk_start(task.blocks, task.chunks, k) * 64
    cdef Py_ssize_t stop = min(chunk_start(task.blocks, task.chunks, k + 1) * 64, task.keys.size)
    cdef Py_ssize_t[PARTITIONS] next_entry
    cdef Py_ssize_t i, p
    for p in range(PARTITIONS):
        next_entry[p] = task.starts[p * task.chunks + k]
    for i in range(start, stop):
        p = task.parts[i]
        task.inverse[i] = task.positions[next_entry[p]]
        next_entry[p] += 1
