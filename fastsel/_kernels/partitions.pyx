"""First occurrences by partition: for keys with many groups.

The keys are scattered into PARTITIONS parts by the top bits of their hash, so that each part's
table fits the cache, and parts are independent of each other. Within a part the keys keep their
order, so that the first one met is the first occurrence.

The pass that counts each part's keys also notes every key's part, in a byte of its own: the pass
that scatters must agree with it even if another thread changes the keys meanwhile.
What a part no longer needs after its table is made (its words and positions) is written over with
its groups' counts, so that all four outputs take no more memory than the values alone.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from fastsel._kernels.blocks cimport blocks_of
from fastsel._kernels.keys cimport describe_keys, is_loner, key_at, keys_t, load_word, mix
from fastsel._kernels.ranks cimport rank, rank_blocks, ranks_t
from fastsel._kernels.slices cimport for_slices, slice_count, slice_start
from fastsel._kernels.table cimport (
    NO_MEMORY, find_or_add, table_clear, table_free, table_start, table_t)

cnp.import_array()

cdef enum:
    PARTITION_BITS = 8
    PARTITIONS = 256

ctypedef struct partitions_task:
    keys_t keys
    Py_ssize_t blocks
    Py_ssize_t slices             # of the keys, at least size / 2^32
    Py_ssize_t word_width         # bytes of a scattered word: 4 or 8
    Py_ssize_t expected           # groups per part, a guess
    bint counted
    uint8_t *parts                # per key: its part
    uint8_t *marks                # per key: is it a first occurrence?
    Py_ssize_t *starts            # [part][slice]: where that slice's keys of that part start
    char *words                   # scattered
    uint32_t *places              # scattered: position within the slice
    Py_ssize_t *inverse           # or NULL
    Py_ssize_t *groups            # [part][slice]: groups first met in the slices up to this one
    Py_ssize_t cuts               # slices of the parts
    Py_ssize_t *status            # one per cut
    ranks_t ranks
    Py_ssize_t *counts


cdef class Partitions:
    """The state between the two halves of the job; between them the marks become a bitmask."""
    cdef partitions_task task
    cdef object owned             # the arrays that the task points to
    cdef readonly object marks    # uint8, 1 at each first occurrence
    cdef object inverse
    cdef int threads

    def __init__(self, cnp.ndarray data not None, Py_ssize_t size, tuple rule not None,
                 const uint64_t[::1] loners, tuple seeds not None, Py_ssize_t expected,
                 bint inverse, bint counts, int threads):
        cdef partitions_task *task = &self.task
        describe_keys(&task.keys, data, size, rule, loners, seeds)
        self.threads = threads
        self.owned = (data, loners)
        task.blocks = blocks_of(size)
        task.slices = max(slice_count(task.blocks, threads), (size >> 31) + 1)
        # A count is written over a word later on, so it must fit.
        task.word_width = 4 if task.keys.width <= 4 and size <= <Py_ssize_t>0xffffffff else 8
        task.expected = expected >> PARTITION_BITS
        task.counted = counts
        task.cuts = slice_count(PARTITIONS, threads)
        self.marks = self.array(cnp.NPY_UINT8, size)
        task.marks = <uint8_t *>cnp.PyArray_DATA(self.marks)
        task.parts = <uint8_t *>cnp.PyArray_DATA(self.array(cnp.NPY_UINT8, size))
        task.words = <char *>cnp.PyArray_DATA(self.array(cnp.NPY_UINT8, size * task.word_width))
        task.places = <uint32_t *>cnp.PyArray_DATA(self.array(cnp.NPY_UINT32, size))
        task.starts = <Py_ssize_t *>cnp.PyArray_DATA(
            self.array(cnp.NPY_INTP, PARTITIONS * task.slices + 1))
        task.groups = <Py_ssize_t *>cnp.PyArray_DATA(
            self.array(cnp.NPY_INTP, PARTITIONS * task.slices))
        task.status = <Py_ssize_t *>cnp.PyArray_DATA(self.array(cnp.NPY_INTP, task.cuts))
        task.inverse = NULL
        if inverse:
            self.inverse = self.array(cnp.NPY_INTP, size)
            task.inverse = <Py_ssize_t *>cnp.PyArray_DATA(self.inverse)

    cdef cnp.ndarray array(self, int typenum, cnp.npy_intp length):
        """An array, for its huge pages, that lives as long as this object."""
        cdef cnp.ndarray result = cnp.PyArray_EMPTY(1, &length, typenum, 0)
        self.owned += (result,)
        return result

    def find(self):
        """Mark all first occurrences; False if a table takes too many probes."""
        cdef partitions_task *task = &self.task
        cdef Py_ssize_t k, status = 0
        with nogil:
            for_slices(choose_slice, task, task.slices, self.threads)
            scan_starts(task)
            for_slices(scatter_slice, task, task.slices, self.threads)
            for_slices(tables_slice, task, task.cuts, self.threads)
            for k in range(task.cuts):
                status = min(status, task.status[k])
        if status == NO_MEMORY:
            raise MemoryError()
        return status == 0

    def finish(self, const uint64_t[::1] bits not None):
        """(inverse, counts) as ranks and by rank, None for what was not asked for.

        bits are the marks as a bitmask.
        """
        cdef partitions_task *task = &self.task
        cdef cnp.npy_intp length
        cdef cnp.ndarray counts = None
        before = rank_blocks(&task.ranks, bits)
        if task.counted:
            length = before[task.blocks]
            counts = cnp.PyArray_EMPTY(1, &length, cnp.NPY_INTP, 0)
            task.counts = <Py_ssize_t *>cnp.PyArray_DATA(counts)
            counts.fill(1)                    # a loner, unless a group says otherwise
            with nogil:
                for_slices(counts_slice, task, task.cuts, self.threads)
        if task.inverse != NULL:
            with nogil:
                for_slices(relabel_slice, task, task.slices, self.threads)
        return self.inverse, counts


cdef void choose_slice(void *context, Py_ssize_t k) noexcept nogil:
    """The part of each key of slice k, and how many each part gets; loners are marked."""
    cdef partitions_task *task = <partitions_task *>context
    cdef Py_ssize_t start = slice_start(task.blocks, task.slices, k) * 64
    cdef Py_ssize_t stop = min(slice_start(task.blocks, task.slices, k + 1) * 64, task.keys.size)
    cdef uint32_t[PARTITIONS] count
    cdef Py_ssize_t i, p
    cdef uint64_t word
    for p in range(PARTITIONS):
        count[p] = 0
    for i in range(start, stop):
        word = key_at(&task.keys, i)
        task.marks[i] = is_loner(&task.keys, i, word)
        if task.marks[i]:
            if task.inverse != NULL:
                task.inverse[i] = i
            continue
        p = <Py_ssize_t>(mix(&task.keys, word) >> (64 - PARTITION_BITS))
        task.parts[i] = <uint8_t>p
        count[p] += 1
    for p in range(PARTITIONS):
        task.starts[p * task.slices + k] = count[p]


cdef void scan_starts(partitions_task *task) noexcept nogil:
    """Counts -> where each slice's keys of each part start: part by part, slice by slice."""
    cdef Py_ssize_t cell, count, total = 0
    for cell in range(PARTITIONS * task.slices):
        count = task.starts[cell]
        task.starts[cell] = total
        total += count
    task.starts[PARTITIONS * task.slices] = total


cdef void scatter_slice(void *context, Py_ssize_t k) noexcept nogil:
    """Words and positions of slice k, each to its part."""
    cdef partitions_task *task = <partitions_task *>context
    cdef Py_ssize_t start = slice_start(task.blocks, task.slices, k) * 64
    cdef Py_ssize_t stop = min(slice_start(task.blocks, task.slices, k + 1) * 64, task.keys.size)
    cdef Py_ssize_t[PARTITIONS] next_place
    cdef Py_ssize_t i, p, at
    cdef uint64_t word
    cdef uint32_t half
    for p in range(PARTITIONS):
        next_place[p] = task.starts[p * task.slices + k]
    for i in range(start, stop):
        if task.marks[i]:
            continue
        word = key_at(&task.keys, i)
        at = next_place[task.parts[i]]
        next_place[task.parts[i]] = at + 1
        if task.word_width == 8:
            memcpy(task.words + at * 8, &word, 8)
        else:
            half = <uint32_t>word
            memcpy(task.words + at * 4, &half, 4)
        task.places[at] = <uint32_t>(i - start)


cdef void tables_slice(void *context, Py_ssize_t k) noexcept nogil:
    """One table after the other for the parts of cut k, in the same memory."""
    cdef partitions_task *task = <partitions_task *>context
    cdef Py_ssize_t part = slice_start(PARTITIONS, task.cuts, k)
    cdef Py_ssize_t stop = slice_start(PARTITIONS, task.cuts, k + 1)
    cdef table_t table
    cdef Py_ssize_t status = table_start(&table, <Py_ssize_t>1 << 31, PARTITION_BITS,
                                         task.expected)
    while part < stop and status == 0:
        table_clear(&table)
        status = fill_part(task, part, &table)
        part += 1
    table_free(&table)
    task.status[k] = status


cdef Py_ssize_t fill_part(partitions_task *task, Py_ssize_t part, table_t *table) noexcept nogil:
    """The groups of one part; returns 0 or a status."""
    cdef Py_ssize_t s, j, i, group, start, length
    cdef Py_ssize_t *starts = task.starts + part * task.slices
    cdef uint64_t word
    for s in range(task.slices):
        start = slice_start(task.blocks, task.slices, s) * 64
        for j in range(starts[s], starts[s + 1]):
            i = start + task.places[j]
            word = load_word(task.words + j * task.word_width, task.word_width)
            length = table.length
            group = find_or_add(table, &task.keys, i, word)
            if group < 0:
                return group
            if group == length:
                task.marks[i] = 1
            if task.inverse != NULL:
                task.inverse[i] = table.groups[group].first
            table.groups[group].count += 1
        task.groups[part * task.slices + s] = table.length
    if task.counted:
        note_counts(task, part, table)
    return 0


cdef void note_counts(partitions_task *task, Py_ssize_t part,
                      const table_t *table) noexcept nogil:
    """Each group's count and first position, over the words and places of the part."""
    cdef Py_ssize_t s = 0, g, start = task.starts[part * task.slices]
    cdef uint64_t count
    for g in range(table.length):
        while g >= task.groups[part * task.slices + s]:
            s += 1
        task.places[start + g] = <uint32_t>(
            table.groups[g].first - slice_start(task.blocks, task.slices, s) * 64)
        count = <uint64_t>table.groups[g].count
        memcpy(task.words + (start + g) * task.word_width, &count, task.word_width)


cdef void counts_slice(void *context, Py_ssize_t k) noexcept nogil:
    """The noted counts of the parts of cut k, to the ranks of their groups."""
    cdef partitions_task *task = <partitions_task *>context
    cdef Py_ssize_t part, s, g, at, first
    for part in range(slice_start(PARTITIONS, task.cuts, k),
                      slice_start(PARTITIONS, task.cuts, k + 1)):
        at = task.starts[part * task.slices]
        g = 0
        for s in range(task.slices):
            first = slice_start(task.blocks, task.slices, s) * 64
            while g < task.groups[part * task.slices + s]:
                task.counts[rank(&task.ranks, first + task.places[at])] = <Py_ssize_t>load_word(
                    task.words + at * task.word_width, task.word_width)
                at += 1
                g += 1


cdef void relabel_slice(void *context, Py_ssize_t k) noexcept nogil:
    """From positions of first occurrences to their ranks."""
    cdef partitions_task *task = <partitions_task *>context
    cdef Py_ssize_t start = slice_start(task.blocks, task.slices, k) * 64
    cdef Py_ssize_t stop = min(slice_start(task.blocks, task.slices, k + 1) * 64, task.keys.size)
    cdef Py_ssize_t i
    for i in range(start, stop):
        task.inverse[i] = rank(&task.ranks, task.inverse[i])
