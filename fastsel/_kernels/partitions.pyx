"""First occurrences by partition: for keys with many groups.

The keys are scattered into PARTITIONS parts by the top bits of their hash, so that each part's
table, or set if only the marks are wanted, fits the cache, and parts are independent of each other.
Within a part the keys keep their order, so that the first one met is the first occurrence.

The pass that counts each part's keys also notes every key's part, in a byte of its own: the pass
that scatters must agree with it even if another thread changes the keys meanwhile. The same bytes
lead back: a key's entry in its part is the next one of that part, in the order of the keys, so
that the inverse is read from as many streams as there are parts and written as one.

What a part no longer needs is written over, so that all four outputs take little more memory than
the values alone: an entry's place becomes the number of its group, then its rank; the words of a
part become its groups' counts, then their ranks; and until it is written, the inverse holds the
groups' first positions.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from fastsel._kernels.blocks cimport blocks_of, fs_level_t
from fastsel._kernels.keys cimport (
    describe_keys, is_loner, keys_t, load_words)
from fastsel._kernels.levels cimport fs_level
from fastsel._kernels.ranks cimport rank, rank_blocks, ranks_t
from fastsel._kernels.results cimport new_result
from fastsel._kernels.scratch cimport Scratch
from fastsel._kernels.slices cimport for_slices, slice_count, slice_start
from fastsel._kernels.table cimport (
    LOOKED_UP, NO_MEMORY, confirm, find_or_add, look_up, table_clear, table_free, table_start,
    table_t)
from fastsel._kernels.wordset cimport (
    add_words, set_clear, set_free, set_start, set_t)

cnp.import_array()

cdef const fs_level_t *level = fs_level()

cdef enum:
    PARTITION_BITS = 8
    PARTITIONS = 256
    BATCH = LOOKED_UP         # words loaded together; they fit L1 and any stack
    FIRST = 1                 # what a mark says
    LONER = 2

ctypedef fused word_t:
    uint32_t
    uint64_t

ctypedef struct partitions_task:
    keys_t keys
    Py_ssize_t blocks
    Py_ssize_t slices             # of the keys
    bint narrow                   # words are scattered as 4 bytes, not 8
    Py_ssize_t expected           # groups per part, a guess
    bint counted
    uint8_t *parts                # per key: its part
    uint8_t *marks                # per key: FIRST, LONER or 0
    Py_ssize_t *starts            # [part][slice]: where that slice's keys of that part start
    char *words                   # scattered
    uint32_t *places              # scattered: position of the key
    Py_ssize_t *inverse           # or NULL
    Py_ssize_t *groups            # per part
    Py_ssize_t cuts               # slices of the parts
    Py_ssize_t *status            # one per cut
    ranks_t ranks
    Py_ssize_t *counts


cdef class Partitions:
    """The state between the two halves of the job; between them the marks become a bitmask."""
    cdef partitions_task task
    cdef object owned             # arrays that the task points to
    cdef Scratch scratch          # what else it points to
    cdef readonly object marks    # uint8, not 0 at each first occurrence
    cdef object inverse
    cdef int threads

    def __init__(self, cnp.ndarray data not None, Py_ssize_t size, tuple rule not None,
                 const uint64_t[::1] loners, tuple seeds not None, Py_ssize_t expected,
                 bint inverse, bint counts, int threads):
        """size is less than 2^32: places, counts and ranks have 4 bytes."""
        cdef partitions_task *task = &self.task
        cdef cnp.npy_intp length = size
        describe_keys(&task.keys, data, size, rule, loners, seeds)
        self.threads = threads
        self.owned = (data, loners)
        task.blocks = blocks_of(size)
        task.slices = slice_count(task.blocks, threads, 8 * max(8, task.keys.width))
        task.narrow = task.keys.width <= 4
        task.expected = min(expected, size) >> PARTITION_BITS
        task.counted = counts
        task.cuts = slice_count(PARTITIONS, threads, size >> PARTITION_BITS)
        self.scratch = Scratch()
        self.marks = cnp.PyArray_EMPTY(1, &length, cnp.NPY_UINT8, 0)
        task.marks = <uint8_t *>cnp.PyArray_DATA(self.marks)
        task.parts = <uint8_t *>self.scratch.take(size)
        task.words = <char *>self.scratch.take(
            size * (sizeof(uint32_t) if task.narrow else sizeof(uint64_t)))
        task.places = <uint32_t *>self.scratch.take(size * sizeof(uint32_t))
        task.starts = <Py_ssize_t *>self.scratch.take(
            (PARTITIONS * task.slices + 1) * sizeof(Py_ssize_t))
        task.groups = <Py_ssize_t *>self.scratch.take(PARTITIONS * sizeof(Py_ssize_t))
        task.status = <Py_ssize_t *>self.scratch.take(task.cuts * sizeof(Py_ssize_t))
        task.inverse = NULL
        if inverse:
            self.inverse = new_result(1, &length, cnp.NPY_INTP)
            task.inverse = <Py_ssize_t *>cnp.PyArray_DATA(self.inverse)

    def find(self):
        """Mark all first occurrences; False if a table takes too many probes."""
        cdef partitions_task *task = &self.task
        cdef Py_ssize_t k, status = 0
        with nogil:
            for_slices(choose_slice, task, task.slices, self.threads)
            scan_starts(task)
            for_slices(scatter_slice, task, task.slices, self.threads)
            if task.counted or task.inverse != NULL or task.keys.width not in (4, 8):
                for_slices(tables_slice, task, task.cuts, self.threads)
            else:
                for_slices(sets_slice, task, task.cuts, self.threads)
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
        if task.counted or task.inverse != NULL:
            before = rank_blocks(&task.ranks, bits)
            task.counts = NULL
            if task.counted:
                length = before[task.blocks]
                counts = new_result(1, &length, cnp.NPY_INTP)
                task.counts = <Py_ssize_t *>cnp.PyArray_DATA(counts)
                counts.fill(1)                # a loner, unless a group says otherwise
            with nogil:
                for_slices(ranks_slice, task, task.cuts, self.threads)
                if task.inverse != NULL:
                    for_slices(inverse_slice, task, task.slices, self.threads)
        return self.inverse, counts


cdef void choose_slice(void *context, Py_ssize_t k) noexcept nogil:
    """The part of each key of slice k, and how many each part gets; loners are marked."""
    cdef partitions_task *task = <partitions_task *>context
    cdef Py_ssize_t start = slice_start(task.blocks, task.slices, k) * 64
    cdef Py_ssize_t stop = min(slice_start(task.blocks, task.slices, k + 1) * 64, task.keys.size)
    cdef uint64_t[BATCH] words, parts
    cdef uint32_t[PARTITIONS] count
    cdef Py_ssize_t n, j, p
    for p in range(PARTITIONS):
        count[p] = 0
    while start < stop:
        n = min(stop - start, BATCH)
        load_words(&task.keys, start, n, words)
        level.slots(words, n, task.keys.seed, task.keys.factor, 0, 64 - PARTITION_BITS, parts)
        for j in range(n):
            task.parts[start + j] = <uint8_t>parts[j]
            task.marks[start + j] = LONER if is_loner(&task.keys, start + j, words[j]) else 0
            count[task.parts[start + j]] += task.marks[start + j] == 0
        start += n
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
    if task.narrow:
        scatter(task, k, <uint32_t *>task.words)
    else:
        scatter(task, k, <uint64_t *>task.words)


cdef void scatter(const partitions_task *task, Py_ssize_t k, word_t *out) noexcept nogil:
    cdef Py_ssize_t start = slice_start(task.blocks, task.slices, k) * 64
    cdef Py_ssize_t stop = min(slice_start(task.blocks, task.slices, k + 1) * 64, task.keys.size)
    cdef Py_ssize_t[PARTITIONS] next_entry
    cdef uint64_t[BATCH] words
    cdef Py_ssize_t n, j, p, at
    for p in range(PARTITIONS):
        next_entry[p] = task.starts[p * task.slices + k]
    while start < stop:
        n = min(stop - start, BATCH)
        load_words(&task.keys, start, n, words)
        for j in range(n):
            if task.marks[start + j]:
                continue
            p = task.parts[start + j]
            at = next_entry[p]
            next_entry[p] = at + 1
            out[at] = <word_t>words[j]
            task.places[at] = <uint32_t>(start + j)
        start += n


cdef void tables_slice(void *context, Py_ssize_t k) noexcept nogil:
    """One table after the other for the parts of cut k, in the same memory."""
    cdef partitions_task *task = <partitions_task *>context
    cdef Py_ssize_t part = slice_start(PARTITIONS, task.cuts, k)
    cdef Py_ssize_t stop = slice_start(PARTITIONS, task.cuts, k + 1)
    cdef table_t table
    cdef Py_ssize_t status = table_start(&table, &task.keys, <Py_ssize_t>1 << 31, PARTITION_BITS,
                                         task.expected)
    while part < stop and status == 0:
        table_clear(&table, &task.keys)
        if task.narrow:
            status = fill_part(task, part, &table, <uint32_t *>task.words)
        else:
            status = fill_part(task, part, &table, <uint64_t *>task.words)
        part += 1
    table_free(&table)
    task.status[k] = status


cdef void sets_slice(void *context, Py_ssize_t k) noexcept nogil:
    """The same with sets, where only the marks are wanted."""
    cdef partitions_task *task = <partitions_task *>context
    cdef Py_ssize_t part = slice_start(PARTITIONS, task.cuts, k)
    cdef Py_ssize_t stop = slice_start(PARTITIONS, task.cuts, k + 1)
    cdef set_t words
    cdef Py_ssize_t status = set_start(&words, task.keys.width, PARTITION_BITS, task.expected,
                                       <size_t>1 << 48)
    while part < stop and status == 0:
        set_clear(&words, task.keys.width)
        if task.narrow:
            status = add_part(task, part, &words, <uint32_t *>task.words)
        else:
            status = add_part(task, part, &words, <uint64_t *>task.words)
        part += 1
    set_free(&words)
    task.status[k] = status


cdef Py_ssize_t add_part(partitions_task *task, Py_ssize_t part, set_t *words,
                         const word_t *data) noexcept nogil:
    """Mark the first occurrences in one part; returns 0 or a status."""
    cdef Py_ssize_t at = task.starts[part * task.slices], n, j, news, status
    cdef Py_ssize_t stop = task.starts[(part + 1) * task.slices]
    cdef uint64_t[BATCH] batch
    cdef uint8_t[BATCH] is_new
    cdef uint32_t[BATCH] firsts
    while at < stop:
        n = min(stop - at, BATCH)
        for j in range(n):
            batch[j] = data[at + j]
        status = add_words(words, &task.keys, level, batch, n, is_new)
        if status != 0:
            return status
        news = 0
        for j in range(n):
            firsts[news] = task.places[at + j]
            news += is_new[j]
        for j in range(news):
            task.marks[firsts[j]] = FIRST
        at += n
    return 0


cdef Py_ssize_t fill_part(partitions_task *task, Py_ssize_t part, table_t *table,
                          word_t *words) noexcept nogil:
    """The groups of one part; returns 0 or a status. Entries' places become group numbers, the
    first words counts; what the inverse still has room for becomes first positions."""
    cdef Py_ssize_t start = task.starts[part * task.slices]
    cdef Py_ssize_t stop = task.starts[(part + 1) * task.slices]
    cdef bint noted = task.counted or task.inverse != NULL
    cdef uint64_t[BATCH] batch
    cdef uint32_t[BATCH] numbers
    cdef uint16_t[BATCH] late
    cdef Py_ssize_t at = start, n, j, k, lates, group, length = 0
    while at < stop:
        n = min(stop - at, BATCH)
        for j in range(n):
            batch[j] = words[at + j]
        if task.keys.is_word:
            lates = look_up(table, &task.keys, level, batch, n, late, numbers if noted else NULL)
        else:
            lates = look_up(table, &task.keys, level, batch, n, late, numbers)
            lates = confirm(table, &task.keys, 0, task.places + at, n, numbers, late, lates)
        for k in range(lates):
            j = late[k]
            table.lookups = at + j - start
            group = find_or_add(table, &task.keys, task.places[at + j], batch[j])
            if group < 0:
                return group
            if group == length:
                length += 1
                task.marks[task.places[at + j]] = FIRST
            numbers[j] = <uint32_t>(group + 1)
        if task.counted:
            for j in range(n):
                table.groups[numbers[j] - 1].count += 1
        if task.inverse != NULL:
            for j in range(n):
                task.places[at + j] = numbers[j] - 1
        at += n
    task.groups[part] = length
    for group in range(length):
        words[start + group] = <word_t>table.groups[group].count
        if task.inverse != NULL:
            task.inverse[start + group] = table.groups[group].first
        else:
            task.places[start + group] = <uint32_t>table.groups[group].first
    return 0


cdef void ranks_slice(void *context, Py_ssize_t k) noexcept nogil:
    """The parts of cut k: counts to the ranks of their groups, entries' places to ranks."""
    cdef partitions_task *task = <partitions_task *>context
    cdef Py_ssize_t part
    for part in range(slice_start(PARTITIONS, task.cuts, k),
                      slice_start(PARTITIONS, task.cuts, k + 1)):
        if task.narrow:
            rank_part(task, part, <uint32_t *>task.words)
        else:
            rank_part(task, part, <uint64_t *>task.words)


cdef void rank_part(const partitions_task *task, Py_ssize_t part, word_t *words) noexcept nogil:
    cdef Py_ssize_t start = task.starts[part * task.slices]
    cdef Py_ssize_t group, first, group_rank, j
    for group in range(task.groups[part]):
        first = (task.inverse[start + group] if task.inverse != NULL
                 else task.places[start + group])
        group_rank = rank(&task.ranks, first)
        if task.counted:
            task.counts[group_rank] = <Py_ssize_t>words[start + group]
        words[start + group] = <word_t>group_rank
    if task.inverse != NULL:
        for j in range(start, task.starts[(part + 1) * task.slices]):
            task.places[j] = <uint32_t>words[start + task.places[j]]


cdef void inverse_slice(void *context, Py_ssize_t k) noexcept nogil:
    """The ranks of the keys of slice k, each from the next entry of its part."""
    cdef partitions_task *task = <partitions_task *>context
    cdef Py_ssize_t start = slice_start(task.blocks, task.slices, k) * 64
    cdef Py_ssize_t stop = min(slice_start(task.blocks, task.slices, k + 1) * 64, task.keys.size)
    cdef Py_ssize_t[PARTITIONS] next_entry
    cdef Py_ssize_t i, p
    for p in range(PARTITIONS):
        next_entry[p] = task.starts[p * task.slices + k]
    for i in range(start, stop):
        if task.marks[i] == LONER:
            task.inverse[i] = rank(&task.ranks, i)
        else:
            p = task.parts[i]
            task.inverse[i] = task.places[next_entry[p]]
            next_entry[p] += 1
