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

from fastsel._core.parallel cimport Job, chunk_count, round_start
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport alloc, free, new_block
from fastsel._simd.blocks cimport blocks_of, fs_level_t
from fastsel._simd.levels cimport fs_level
from fastsel._unique.hash_table cimport NO_MEMORY, add_keys, table_free, table_start, table_t
from fastsel._unique.keys cimport BATCH, describe_keys, key_at, keys_t, load_words, prefetch_keys
from fastsel._unique.recent cimport new_recent, other_keys, remember

cnp.import_array()

cdef const fs_level_t *level = fs_level()

cdef enum:
    PATIENCE = 8            # batches in a row of which most keys are not recent


cdef class Tables:
    """The state between the two halves of the job; between them the groups may be put in order."""
    def __init__(self, cnp.ndarray data not None, Py_ssize_t size, tuple rule not None,
                 const uint64_t[::1] unequal, tuple seeds not None, Py_ssize_t most,
                 Py_ssize_t expected, bint inverse, bint counts, int threads,
                 bint skips_unequal=False, bint numbered=False):
        """Of `size` > 0 keys. A chunk's table grows for at most `most` groups; expected is an
        estimate of them, or 0. skips_unequal: keys that equal no other are no groups; then there
        are neither inverse nor counts. numbered: the group of each slot is to be known."""
        cdef cnp.npy_intp length = size
        describe_keys(&self.keys, data, size, rule, unequal, seeds)
        self.owned, self.threads = (data, unequal), threads
        self.most, self.expected, self.counted = most, min(expected, most), counts
        self.numbered = numbered or inverse or counts or not self.keys.is_word
        self.skips_unequal = skips_unequal
        self.key_blocks = blocks_of(size)
        self.key_chunks = min(self.key_blocks, max(1, threads))
        self.rounds = chunk_count(
            self.key_blocks // self.key_chunks, 1, 32 * max(8, self.keys.width))
        self.block = new_block(self.key_chunks, sizeof(chunk_table_t), b"B")
        self.tables = <chunk_table_t *>self.block.data
        memset(self.tables, 0, self.key_chunks * sizeof(chunk_table_t))
        if inverse:
            self.inverse = new_result(1, &length, cnp.NPY_INTP)

    def find(self):
        """Find the groups; False if a chunk has too many, or its table takes too many probes."""
        cdef const table_t *whole = &self.tables[0].table
        cdef cnp.npy_intp length
        cdef Py_ssize_t step = 1
        FillTables(self, 0).run_rounds(self.rounds, self.threads)
        while step < self.key_chunks and self.worst_status() == 0:
            MergePairs(self, step).run(self.threads)
            step *= 2
        if self.worst_status() == NO_MEMORY:
            raise MemoryError()
        if self.worst_status():
            return False
        length = whole.length
        self.index = cnp.PyArray_EMPTY(1, &length, cnp.NPY_INTP, 0)
        memcpy(cnp.PyArray_DATA(self.index), whole.firsts, length * sizeof(Py_ssize_t))
        return True

    def finish(self, const Py_ssize_t[::1] ranks=None):
        """(inverse, counts), None for what was not asked for: the counts in order of first
        occurrence; the inverse likewise, or with the ranks of the groups instead."""
        cdef const table_t *whole = &self.tables[0].table
        cdef cnp.npy_intp length = whole.length
        cdef Py_ssize_t step = 1, g
        cdef Py_ssize_t *group_ids
        cdef cnp.ndarray counts = None
        if self.counted:
            counts = new_result(1, &length, cnp.NPY_INTP)
            memcpy(cnp.PyArray_DATA(counts), whole.counts, length * sizeof(Py_ssize_t))
        if self.inverse is not None and (ranks is not None or self.key_chunks > 1):
            group_ids = <Py_ssize_t *>alloc(length * sizeof(Py_ssize_t))
            if group_ids == NULL:
                raise MemoryError()
            self.tables[0].group_ids = group_ids
            for g in range(length):
                group_ids[g] = g if ranks is None else ranks[g]
            while step < self.key_chunks:
                step *= 2
            while step > 1:
                step //= 2
                NumberPairs(self, step).run(self.threads)
            Relabel(self, 0).run_rounds(self.rounds, self.threads)
        return self.inverse, counts

    cdef Py_ssize_t first_key(self, Py_ssize_t k) noexcept nogil:
        """Where chunk k % key_chunks starts in round k // key_chunks."""
        return min(round_start(self.key_blocks, self.key_chunks, self.rounds, k) * 64,
                   self.keys.size)

    cdef Py_ssize_t worst_status(self) noexcept nogil:
        """0, or the status of a chunk that gave up."""
        cdef Py_ssize_t k, status = 0
        for k in range(self.key_chunks):
            status = min(status, self.tables[k].status)
        return status

    def __dealloc__(self):
        for k in range(self.key_chunks if self.tables != NULL else 0):
            free_chunk_table(&self.tables[k])


cdef void free_chunk_table(chunk_table_t *part) noexcept nogil:
    table_free(&part.table)
    free(part.group_ids)
    free(part.recent)


# ---- fill -------------------------------------------------------------------------------


cdef class OverTables(Job):
    """A pass over the chunks of the keys, or over pairs of their tables."""
    cdef Tables all
    cdef Py_ssize_t step              # from a chunk's table to that it is merged into; 0: no pairs
    cdef Py_ssize_t[::1] inverse      # or None

    def __cinit__(self, Tables all, Py_ssize_t step):
        self.all, self.step, self.inverse = all, step, all.inverse
        self.chunks = all.key_chunks
        if step:                      # how many chunks have another one so many steps behind them
            self.chunks = (all.key_chunks + step - 1) // (2 * step)


cdef class FillTables(OverTables):
    """The table of a chunk, and its part of the inverse, a round at a time."""
    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef chunk_table_t *part = &self.all.tables[k % self.chunks]
        if k < self.chunks:
            part.status = table_start(&part.table, &self.all.keys, self.all.numbered, self.all.most,
                                      0, self.all.expected + BATCH)
            part.table.skips_unequal = self.all.skips_unequal
        if part.status == 0:
            fill(part, &self.all.keys, self.all.first_key(k), self.all.first_key(k + self.chunks),
                 self.all.counted, &self.inverse[0] if self.inverse is not None else NULL)


cdef void fill(chunk_table_t *part, const keys_t *keys, Py_ssize_t start, Py_ssize_t stop,
               bint counted, Py_ssize_t *inverse) noexcept nogil:
    """Add keys start to stop - 1 to a table that has started, and count the groups, and write the
    group of each key to the inverse of all keys, or NULL, if the table is numbered."""
    cdef Py_ssize_t n
    part.missed = 0
    while start < stop and part.status == 0:
        n = min(stop - start, BATCH)
        if keys.is_word:
            prefetch_keys(keys, start + n, BATCH)
        if part.recent == NULL or part.missed >= PATIENCE or not add_others(part, keys, start, n):
            add_batch(part, keys, start, n, counted, inverse)
        start += n


cdef inline void add_batch(chunk_table_t *part, const keys_t *keys, Py_ssize_t start, Py_ssize_t n,
                           bint counted, Py_ssize_t *inverse) noexcept nogil:
    """Add n keys. Of equal words side by side only the first one is added, where there seem to be
    many."""
    cdef uint64_t[BATCH] words
    cdef uint32_t[BATCH] numbers
    cdef Py_ssize_t[BATCH + 1] run_starts
    cdef Py_ssize_t before = part.table.length, runs = n, j
    cdef bint in_runs, numbered = part.table.numbers != NULL
    load_words(keys, start, n, words)
    in_runs = can_repeat(keys) and seems_in_runs(words, n)
    if in_runs:
        runs = squeeze(words, start, n, run_starts)
    else:
        for j in range(n):
            run_starts[j] = start + j
    part.status = add_keys(
        &part.table, keys, words, runs, run_starts, numbers if numbered else NULL)
    if part.status:
        return
    if numbered and in_runs:
        record_runs(part.table.counts if counted else NULL, inverse, run_starts, runs, numbers)
    elif numbered:
        record(part.table.counts if counted else NULL, inverse, start, n, numbers)
    else:
        remember_batch(part, keys, words, runs, run_starts, before)


cdef inline bint can_repeat(const keys_t *keys) noexcept nogil:
    """Are words with the same bits always equal?"""
    return keys.is_word and not keys.rule.nan_unequal and keys.unequal == NULL


cdef inline void remember_batch(chunk_table_t *part, const keys_t *keys, const uint64_t *words,
                                Py_ssize_t n, const Py_ssize_t *positions,
                                Py_ssize_t before) noexcept nogil:
    """Remember n words, added to a table that had `before` groups, if few of them are new; but no
    longer in this round after PATIENCE batches in a row of which most were not recent."""
    cdef Py_ssize_t j
    part.missed += 1
    if (part.missed >= PATIENCE or 2 * (part.table.length - before) > n or keys.width < 4
            or not can_repeat(keys)):
        return
    if part.recent == NULL:
        part.recent = new_recent(keys)
    if part.recent != NULL:
        for j in range(n):
            remember(part.recent, keys, positions[j], words[j])


cdef inline bint add_others(chunk_table_t *part, const keys_t *keys, Py_ssize_t start,
                            Py_ssize_t n) noexcept nogil:
    """Add those of n words that are not recent; False, and nothing is done, if they are many."""
    cdef intptr_t[BATCH + 64] positions
    cdef uint64_t[BATCH] words
    cdef Py_ssize_t k, others = other_keys(part.recent, keys, level, start, n, positions)
    if 2 * others > n:
        return False
    part.missed = 0
    for k in range(others):
        positions[k] += start
        words[k] = key_at(keys, positions[k])
        remember(part.recent, keys, positions[k], words[k])
    if others:
        part.status = add_keys(&part.table, keys, words, others, <Py_ssize_t *>positions, NULL)
    return True


cdef inline bint seems_in_runs(const uint64_t *words, Py_ssize_t n) noexcept nogil:
    """Are half of the words equal to the next one?"""
    cdef Py_ssize_t j, equal = 0
    for j in range(n - 1):
        equal += words[j] == words[j + 1]
    return 2 * equal >= n


cdef inline Py_ssize_t squeeze(uint64_t *words, Py_ssize_t start, Py_ssize_t n,
                               Py_ssize_t *run_starts) noexcept nogil:
    """Leave one word of each run; returns how many. run_starts gets their positions, and where the
    last one ends."""
    cdef Py_ssize_t j, runs = 1
    cdef uint64_t word, last = words[0]
    run_starts[0] = start
    for j in range(1, n):
        word = words[j]
        words[runs] = word
        run_starts[runs] = start + j
        runs += word != last
        last = word
    run_starts[runs] = start + n
    return runs


cdef inline void record(Py_ssize_t *counts, Py_ssize_t *inverse, Py_ssize_t start, Py_ssize_t n,
                        const uint32_t *numbers) noexcept nogil:
    """Counts and inverse of n keys, NULL for what is not wanted, given their groups plus one."""
    cdef Py_ssize_t j
    if counts != NULL:
        for j in range(n):
            counts[numbers[j] - 1] += 1
    if inverse != NULL:
        for j in range(n):
            inverse[start + j] = <Py_ssize_t>numbers[j] - 1


cdef inline void record_runs(Py_ssize_t *counts, Py_ssize_t *inverse, const Py_ssize_t *run_starts,
                             Py_ssize_t runs, const uint32_t *numbers) noexcept nogil:
    """The same of runs."""
    cdef Py_ssize_t i, j
    for j in range(runs):
        if counts != NULL:
            counts[numbers[j] - 1] += run_starts[j + 1] - run_starts[j]
        if inverse != NULL:
            for i in range(run_starts[j], run_starts[j + 1]):
                inverse[i] = <Py_ssize_t>numbers[j] - 1


# ---- merge ------------------------------------------------------------------------------


cdef class MergePairs(OverTables):
    """The groups of the later table of a pair into the earlier one, and their group there. The
    later table is freed; only its length is kept."""
    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef table_t *whole = &self.all.tables[2 * k * self.step].table
        cdef chunk_table_t *part = &self.all.tables[(2 * k + 1) * self.step]
        cdef Py_ssize_t length = part.table.length, g = 0
        whole.most = self.all.key_chunks * self.all.most
        part.group_ids = <Py_ssize_t *>alloc(length * sizeof(Py_ssize_t))
        if part.group_ids == NULL:
            part.status = NO_MEMORY
        while g < length and part.status == 0:
            part.status = merge_batch(&self.all.keys, whole, &part.table, g, part.group_ids)
            g += BATCH
        table_free(&part.table)
        memset(&part.table, 0, sizeof(table_t))
        part.table.length = length


cdef Py_ssize_t merge_batch(const keys_t *keys, table_t *whole, const table_t *table, Py_ssize_t g,
                            Py_ssize_t *merged) noexcept nogil:
    """A batch of the groups of a table, from g on; returns 0 or a status."""
    cdef uint64_t[BATCH] words
    cdef uint32_t[BATCH] numbers
    cdef Py_ssize_t n = min(table.length - g, BATCH), j, status
    cdef bint numbered = table.numbers != NULL
    for j in range(n):
        words[j] = key_at(keys, table.firsts[g + j])
    status = add_keys(whole, keys, words, n, table.firsts + g, numbers if numbered else NULL)
    if status or not numbered:
        return status
    for j in range(n):
        merged[g + j] = <Py_ssize_t>numbers[j] - 1
        whole.counts[merged[g + j]] += table.counts[g + j]
    return 0


cdef class NumberPairs(OverTables):
    """The groups of the later table of a pair: from those in the earlier one to the answer's."""
    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const Py_ssize_t *whole = self.all.tables[2 * k * self.step].group_ids
        cdef chunk_table_t *part = &self.all.tables[(2 * k + 1) * self.step]
        cdef Py_ssize_t g
        for g in range(part.table.length):
            part.group_ids[g] = whole[part.group_ids[g]]


cdef class Relabel(OverTables):
    """From groups in the table of a chunk to those of the answer."""
    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const Py_ssize_t *group_ids = self.all.tables[k % self.chunks].group_ids
        cdef Py_ssize_t[::1] inverse = self.inverse
        cdef Py_ssize_t i
        for i in range(self.all.first_key(k), self.all.first_key(k + self.chunks)):
            inverse[i] = group_ids[inverse[i]]
