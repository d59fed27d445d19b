"""First occurrences by one hash table per chunk: for keys of so few groups that the tables stay in
the cache.

A chunk is filled in rounds, so that signals are handled in time. The chunks' tables are merged in
pairs, each into the one before it, then every other pair's, and so on: so that many threads share
that work, and the groups of the merged table are in order of first occurrence. The inverse holds
each key's group in its own chunk's table until `finish` writes the numbers that the caller wants,
which may have put the groups in another order.

Where only first occurrences are wanted, and few keys are new, most keys are not looked up: a filter
knows the recent ones.
"""
cimport numpy as cnp
from libc.stdint cimport intptr_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastsel._simd.blocks cimport blocks_of, fs_level_t
from fastsel._simd.levels cimport fs_level
from fastsel._unique.keys cimport BATCH, describe_keys, key_at, keys_t, load_words, prefetch_keys
from fastsel._unique.recent cimport new_recent, other_keys, remember
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport give, take, take_zeros
from fastsel._core.parallel cimport chunk_count, for_chunks, for_rounds, round_start
from fastsel._unique.hash_table cimport (
    NO_MEMORY, add_keys, table_free, table_start, table_t)

cnp.import_array()

cdef const fs_level_t *level = fs_level()

cdef enum:
    PATIENCE = 8            # batches in a row of which most keys are not recent


cdef class Tables:
    """The state between the two halves of the job; between them the groups may be put in order."""
    def __init__(self, cnp.ndarray data not None, Py_ssize_t size, tuple rule not None,
                 const uint64_t[::1] unequal, tuple seeds not None, Py_ssize_t most,
                 Py_ssize_t expected, bint inverse, bint counts, int threads):
        """Of `size` > 0 keys. A chunk's table grows for at most `most` groups; expected is an
        estimate of them, or 0."""
        cdef tables_task *task = &self.task
        cdef cnp.npy_intp length = size
        describe_keys(&task.keys, data, size, rule, unequal, seeds)
        self.threads = threads
        self.owned = (data, unequal)
        task.most, task.expected, task.counted = most, min(expected, most), counts
        task.blocks = blocks_of(size)
        task.numbered = inverse or counts or not task.keys.is_word
        task.chunks = min(task.blocks, max(1, threads))
        task.rounds = chunk_count(task.blocks // task.chunks, 1, 32 * max(8, task.keys.width))
        task.parts = <part_t *>take_zeros(task.chunks * sizeof(part_t))
        if task.parts == NULL:
            raise MemoryError()
        if inverse:
            self.inverse = new_result(1, &length, cnp.NPY_INTP)
            task.inverse = <Py_ssize_t *>cnp.PyArray_DATA(self.inverse)

    def find(self):
        """Find the groups; False if a chunk has too many, or its table takes too many probes."""
        cdef tables_task *task = &self.task
        cdef const table_t *whole = &task.parts[0].table
        cdef cnp.npy_intp length
        cdef Py_ssize_t status
        with nogil:
            for_rounds(fill_chunk, task, task.rounds, task.chunks, self.threads)
            task.step = 1
            status = worst(task)
            while task.step < task.chunks and status == 0:
                for_chunks(merge_pair, task, pairs(task), self.threads)
                task.step *= 2
                status = worst(task)
        if status == NO_MEMORY:
            raise MemoryError()
        if status:
            return False
        length = whole.length
        self.index = cnp.PyArray_EMPTY(1, &length, cnp.NPY_INTP, 0)
        memcpy(cnp.PyArray_DATA(self.index), whole.firsts, length * sizeof(Py_ssize_t))
        return True

    def finish(self, const Py_ssize_t[::1] order=None):
        """(inverse, counts), None for what was not asked for: the counts in order of first
        occurrence; the inverse likewise, or where `order` says that each group goes."""
        cdef tables_task *task = &self.task
        cdef const table_t *whole = &task.parts[0].table
        cdef cnp.npy_intp length = whole.length
        cdef Py_ssize_t g
        cdef Py_ssize_t *numbers
        cdef cnp.ndarray counts = None
        if task.counted:
            counts = new_result(1, &length, cnp.NPY_INTP)
            memcpy(cnp.PyArray_DATA(counts), whole.counts, length * sizeof(Py_ssize_t))
        if task.inverse != NULL and (order is not None or task.chunks > 1):
            numbers = <Py_ssize_t *>take(length * sizeof(Py_ssize_t))
            if numbers == NULL:
                raise MemoryError()
            task.parts[0].numbers = numbers
            for g in range(length):
                numbers[g] = g if order is None else order[g]
            with nogil:
                while task.step > 1:
                    task.step //= 2
                    for_chunks(number_pair, task, pairs(task), self.threads)
                for_rounds(relabel_chunk, task, task.rounds, task.chunks, self.threads)
        return self.inverse, counts

    def __dealloc__(self):
        if self.task.parts == NULL:
            return
        for k in range(self.task.chunks):
            free_part(&self.task.parts[k])
        give(self.task.parts)


cdef void fill_chunk(void *context, Py_ssize_t k) noexcept nogil:
    """The table of a chunk, and its part of the inverse, as far as round k."""
    cdef tables_task *task = <tables_task *>context
    cdef part_t *part = &task.parts[k % task.chunks]
    cdef Py_ssize_t start = start_key(task, k), stop = start_key(task, k + task.chunks)
    if k < task.chunks:
        part.status = table_start(
            &part.table, &task.keys, task.numbered, task.most, 0, task.expected + BATCH)
    if part.status == 0:
        fill(task, part, start, stop)


cdef inline Py_ssize_t start_key(const tables_task *task, Py_ssize_t k) noexcept nogil:
    return min(round_start(task.blocks, task.chunks, task.rounds, k) * 64, task.keys.size)


cdef void fill(const tables_task *task, part_t *part, Py_ssize_t start,
               Py_ssize_t stop) noexcept nogil:
    """Add keys, and note their groups if these are numbered."""
    cdef Py_ssize_t n
    part.missed = 0
    while start < stop and part.status == 0:
        n = min(stop - start, BATCH)
        if task.keys.is_word:
            prefetch_keys(&task.keys, start + n, BATCH)
        if part.recent == NULL or part.missed >= PATIENCE or not add_others(task, part, start, n):
            add_batch(task, part, start, n)
        start += n


cdef inline void add_batch(const tables_task *task, part_t *part, Py_ssize_t start,
                           Py_ssize_t n) noexcept nogil:
    """Add n keys, and note their groups if these are numbered. Of equal words side by side only the
    first one is added, where there seem to be many."""
    cdef uint64_t[BATCH] words
    cdef uint32_t[BATCH] numbers
    cdef Py_ssize_t[BATCH + 1] heads      # of the runs of equal words
    cdef Py_ssize_t before = part.table.length, added = n
    cdef bint in_runs
    load_words(&task.keys, start, n, words)
    in_runs = can_repeat(&task.keys) and seems_in_runs(words, n)
    if in_runs:
        added = squeeze(words, start, n, heads)
    part.status = add_keys(&part.table, &task.keys, words, added, start, heads if in_runs else NULL,
                           numbers if task.numbered else NULL)
    if part.status:
        return
    if task.numbered and in_runs:
        record_runs(task, part.table.counts, heads, added, numbers)
    elif task.numbered:
        record(task, part.table.counts, start, n, numbers)
    else:
        remember_batch(task, part, words, added, start, heads if in_runs else NULL, before)


cdef inline bint can_repeat(const keys_t *keys) noexcept nogil:
    """Are words with the same bits always equal?"""
    return keys.is_word and not keys.rule.nan_unequal and keys.unequal == NULL


cdef inline void remember_batch(const tables_task *task, part_t *part, const uint64_t *words,
                                Py_ssize_t n, Py_ssize_t start, const Py_ssize_t *positions,
                                Py_ssize_t before) noexcept nogil:
    """Remember n words, added as for add_keys to so many, if few of them are new; but no longer in
    this round after PATIENCE batches in a row of which most were not recent."""
    cdef Py_ssize_t j
    part.missed += 1
    if (part.missed >= PATIENCE or 2 * (part.table.length - before) > n or task.keys.width < 4
            or not can_repeat(&task.keys)):
        return
    if part.recent == NULL:
        part.recent = new_recent(&task.keys)
    if part.recent != NULL:
        for j in range(n):
            remember(part.recent, &task.keys, start + j if positions == NULL else positions[j],
                     words[j])


cdef inline bint add_others(const tables_task *task, part_t *part, Py_ssize_t start,
                            Py_ssize_t n) noexcept nogil:
    """Add those of n words that are not recent; False, and nothing is done, if they are many."""
    cdef intptr_t[BATCH + 64] positions
    cdef uint64_t[BATCH] words
    cdef Py_ssize_t k, others = other_keys(part.recent, &task.keys, level, start, n, positions)
    if 2 * others > n:
        return False
    part.missed = 0
    for k in range(others):
        positions[k] += start
        words[k] = key_at(&task.keys, positions[k])
        remember(part.recent, &task.keys, positions[k], words[k])
    if others:
        part.status = add_keys(&part.table, &task.keys, words, others, 0,
                               <Py_ssize_t *>positions, NULL)
    return True


cdef inline bint seems_in_runs(const uint64_t *words, Py_ssize_t n) noexcept nogil:
    """Are half of the words equal to the next one?"""
    cdef Py_ssize_t j, equal = 0
    for j in range(n - 1):
        equal += words[j] == words[j + 1]
    return 2 * equal >= n


cdef inline Py_ssize_t squeeze(uint64_t *words, Py_ssize_t start, Py_ssize_t n,
                               Py_ssize_t *heads) noexcept nogil:
    """Leave one word of each run; returns how many. heads gets their positions, and where the last
    one ends."""
    cdef Py_ssize_t j, runs = 1
    cdef uint64_t word, last = words[0]
    heads[0] = start
    for j in range(1, n):
        word = words[j]
        words[runs] = word
        heads[runs] = start + j
        runs += word != last
        last = word
    heads[runs] = start + n
    return runs


cdef inline void record(const tables_task *task, Py_ssize_t *counts, Py_ssize_t start,
                        Py_ssize_t n, const uint32_t *numbers) noexcept nogil:
    """Counts and inverse of n keys, given their groups' numbers plus one."""
    cdef Py_ssize_t j
    if task.counted:
        for j in range(n):
            counts[numbers[j] - 1] += 1
    if task.inverse != NULL:
        for j in range(n):
            task.inverse[start + j] = <Py_ssize_t>numbers[j] - 1


cdef inline void record_runs(const tables_task *task, Py_ssize_t *counts, const Py_ssize_t *heads,
                             Py_ssize_t runs, const uint32_t *numbers) noexcept nogil:
    """The same of runs."""
    cdef Py_ssize_t i, j
    for j in range(runs):
        if task.counted:
            counts[numbers[j] - 1] += heads[j + 1] - heads[j]
        if task.inverse != NULL:
            for i in range(heads[j], heads[j + 1]):
                task.inverse[i] = <Py_ssize_t>numbers[j] - 1


cdef void free_part(part_t *part) noexcept nogil:
    table_free(&part.table)
    give(part.numbers)
    give(part.recent)


cdef Py_ssize_t worst(const tables_task *task) noexcept nogil:
    """0, or the status of a chunk that gave up."""
    cdef Py_ssize_t k, status = 0
    for k in range(task.chunks):
        status = min(status, task.parts[k].status)
    return status


cdef inline Py_ssize_t pairs(const tables_task *task) noexcept nogil:
    """How many chunks have another one so many steps behind them."""
    return (task.chunks + task.step - 1) // (2 * task.step)


cdef void merge_pair(void *context, Py_ssize_t k) noexcept nogil:
    """The groups of the later table of pair k into the earlier one, and their numbers there. The
    later one ends, but for how long it was."""
    cdef tables_task *task = <tables_task *>context
    cdef table_t *whole = &task.parts[2 * k * task.step].table
    cdef part_t *part = &task.parts[(2 * k + 1) * task.step]
    cdef Py_ssize_t length = part.table.length, g = 0
    whole.most = task.chunks * task.most
    part.numbers = <Py_ssize_t *>take(length * sizeof(Py_ssize_t))
    if part.numbers == NULL:
        part.status = NO_MEMORY
    while g < length and part.status == 0:
        part.status = merge_batch(task, whole, &part.table, g, part.numbers)
        g += BATCH
    table_free(&part.table)
    memset(&part.table, 0, sizeof(table_t))
    part.table.length = length


cdef void number_pair(void *context, Py_ssize_t k) noexcept nogil:
    """The numbers of the later table of pair k: from those in the earlier one to the answer's."""
    cdef tables_task *task = <tables_task *>context
    cdef const Py_ssize_t *whole = task.parts[2 * k * task.step].numbers
    cdef part_t *part = &task.parts[(2 * k + 1) * task.step]
    cdef Py_ssize_t g
    for g in range(part.table.length):
        part.numbers[g] = whole[part.numbers[g]]


cdef Py_ssize_t merge_batch(const tables_task *task, table_t *whole, const table_t *table,
                            Py_ssize_t g, Py_ssize_t *merged) noexcept nogil:
    """A batch of the groups of a table, from g on; returns 0 or a status."""
    cdef uint64_t[BATCH] words
    cdef uint32_t[BATCH] numbers
    cdef Py_ssize_t n = min(table.length - g, BATCH), j, status
    for j in range(n):
        words[j] = key_at(&task.keys, table.firsts[g + j])
    status = add_keys(whole, &task.keys, words, n, 0, table.firsts + g,
                      numbers if task.numbered else NULL)
    if status or not task.numbered:
        return status
    for j in range(n):
        merged[g + j] = <Py_ssize_t>numbers[j] - 1
        whole.counts[merged[g + j]] += table.counts[g + j]
    return 0


cdef void relabel_chunk(void *context, Py_ssize_t k) noexcept nogil:
    """From groups in the table of a chunk to their numbers in the answer."""
    cdef tables_task *task = <tables_task *>context
    cdef const Py_ssize_t *numbers = task.parts[k % task.chunks].numbers
    cdef Py_ssize_t i
    for i in range(start_key(task, k), start_key(task, k + task.chunks)):
        task.inverse[i] = numbers[task.inverse[i]]
