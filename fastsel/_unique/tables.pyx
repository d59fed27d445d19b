"""First occurrences by one hash table per chunk: for keys with few groups, so that the tables stay
in the cache.

A chunk table is filled in rounds, so that signals are handled in time. Then adjacent tables are
merged in pairs, the later table into the earlier one; then the merged tables are merged in pairs,
and so on. So threads share the work, and the groups of the merged table are in order of first
occurrence. At first, the inverse of a chunk has the group ids of the chunk's table. `finish`
replaces them by the final ids; before that, the caller may order the groups.

Of words of 4 or 8 bytes, a filter has the recent keys; a key in the filter needs no lookup.
"""
cimport cython
cimport numpy as cnp
from libc.stdint cimport intptr_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastsel._core.parallel cimport Job, choose_threads, chunk_count, round_start
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport alloc, dealloc, new_memory
from fastsel._simd.blocks cimport blocks_of
from fastsel._unique.groups cimport (
    CACHE_BYTES, COST, GROUP_BYTES, Groups, Request, Search, table_count, values_at)
from fastsel._unique.hash_table cimport (
    NO_MEMORY, add_keys, batch_of, batch_t, succeeded, table_free, table_start, table_t)
from fastsel._unique.keys cimport BATCH, key_at, keys_t, load_words, prefetch_keys
from fastsel._unique.recent cimport (
    count_slots, mark_recent, move_all_counts, new_recent, not_recent_keys, recent_ids)

cdef enum:
    # A batch uses the filter if enough of its keys are recent (add_not_recent). After MAX_MISSED
    # batches in a row that have not used the filter, it is tried again after MISSED_PERIOD batches.
    # After a batch of which too few keys are recent, the next MAX_MISSED batches that use the
    # filter leave it as it is: if a rare key and one that has most of the keys share a slot, the
    # rare key would evict the other in each batch. Of MAX_MISSED batches in all, or counts of fewer
    # than MIN_COUNTED keys a group, the filter is first tried after MISSED_PERIOD batches: it would
    # take longer than the lookups.
    MAX_MISSED = 8
    MIN_COUNTED = 16
    MISSED_PERIOD = 256
    # Lookups are faster in a table with more room. The room of one group pays for itself after
    # LOOKUPS_PER_GROUP lookups.
    LOOKUPS_PER_GROUP = 4


@cython.no_gc_clear               # __dealloc__ reads what self.memory owns
cdef class Tables(Groups):
    """The groups are in order of first occurrence."""
    def __init__(self, Search search not None):
        cdef keys_t *keys = &search.keys.fields
        cdef Request request = search.request
        cdef Py_ssize_t size = keys.size, expected = search.sample().groups
        Groups.__init__(self, search)
        self.units = blocks_of(size)
        self.chunks = min(self.units, table_count(size * keys.width, expected, search.threads))
        self.max_groups = 2 * max(expected, CACHE_BYTES // GROUP_BYTES // self.chunks)
        self.with_ids = (request.inverse or request.counts or not keys.is_word
                         or request.lookups and request.index)
        self.rounds = chunk_count(self.units // self.chunks, 1, 32 * max(8, keys.width))
        self.memory = new_memory(self.chunks, sizeof(chunk_table_t), b"B")
        self.tables = <chunk_table_t *>self.memory.data
        memset(self.tables, 0, self.chunks * sizeof(chunk_table_t))
        if request.inverse:
            self.inverse = new_result(size, cnp.NPY_INTP)
            self.inverse_data = <Py_ssize_t *>cnp.PyArray_DATA(<cnp.ndarray>self.inverse)

    cpdef bint find(self) except -1:
        cdef const table_t *whole = &self.tables[0].table
        cdef cnp.ndarray index
        cdef Py_ssize_t step = 1
        self.run_rounds(self.rounds, self.search.threads)
        while step < self.chunks and self.worst_status() == 0:
            MergePairs(self, step).run(self.merge_threads(step))
            step *= 2
        if not succeeded(self.worst_status()):
            return False
        if self.search.request.lookups == 0:
            self.index = index = new_result(whole.length, cnp.NPY_INTP)
            memcpy(
                cnp.PyArray_DATA(index), whole.first_positions, whole.length * sizeof(Py_ssize_t))
            self.values = values_at(self.search.rows, index)
        return True

    cdef int merge_threads(self, Py_ssize_t step) except -1:
        """The number of threads that merge pairs of tables: one thread merges few groups before
        other threads have started."""
        cdef Py_ssize_t groups = 0, k
        for k in range(step, self.chunks, 2 * step):
            groups += self.tables[k].table.length
        return min(self.search.threads, choose_threads(2 * GROUP_BYTES * groups, COST))

    cpdef tuple finish(self, ranks):
        cdef const table_t *whole = &self.tables[0].table
        cdef const Py_ssize_t[::1] new_ids = ranks
        cdef Py_ssize_t length = whole.length, step = 1, g
        cdef Py_ssize_t *group_ids
        cdef cnp.ndarray counts = None
        if self.search.request.counts:
            counts = new_result(length, cnp.NPY_INTP)
            memcpy(cnp.PyArray_DATA(counts), whole.counts, length * sizeof(Py_ssize_t))
        if self.inverse is not None and (ranks is not None or self.chunks > 1):
            group_ids = <Py_ssize_t *>alloc(length * sizeof(Py_ssize_t))
            if group_ids == NULL:
                raise MemoryError()
            self.tables[0].group_ids = group_ids
            for g in range(length):
                group_ids[g] = g if new_ids is None else new_ids[g]
            while step < self.chunks:
                step *= 2
            while step > 1:
                step //= 2
                MapPairs(self, step).run(self.merge_threads(step))
            self.relabels = True
            self.run_rounds(self.rounds, self.search.threads)
        return self.inverse, counts

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        """Add the keys that chunk k % chunks handles in round k // chunks to the chunk's table, and
        write the chunk's inverse if it is requested. At the end, replace the ids of the chunk's
        table in the inverse by the final ids."""
        cdef const keys_t *keys = &self.search.keys.fields
        cdef chunk_table_t *chunk_table = &self.tables[k % self.chunks]
        cdef const Py_ssize_t *group_ids = chunk_table.group_ids
        cdef Py_ssize_t *inverse = self.inverse_data
        cdef Py_ssize_t start = self.first_key(k), stop = self.first_key(k + self.chunks), room, i
        if self.relabels:
            for i in range(start, stop):
                inverse[i] = group_ids[inverse[i]]
            return
        if k < self.chunks:
            room = max(keys.size, self.search.request.lookups // LOOKUPS_PER_GROUP)
            chunk_table.status = table_start(
                &chunk_table.table, keys, self.with_ids, self.max_groups, 0,
                min(min(self.search.sampled.groups, self.max_groups) + BATCH, room))
            chunk_table.table.skips_unequal = (
                self.search.request.lookups > 0 and not self.search.request.inverse)
            if keys.size <= MAX_MISSED * BATCH or (
                    self.search.request.counts
                    and keys.size < MIN_COUNTED * self.search.sampled.groups):
                chunk_table.missed = MAX_MISSED
        if chunk_table.status == 0:
            fill(chunk_table, keys, start, stop, self.search.request.counts, inverse)

    cdef Py_ssize_t first_key(self, Py_ssize_t k) noexcept nogil:
        """The first key that chunk k % chunks handles in round k // chunks."""
        return min(round_start(self.units, self.chunks, self.rounds, k) * 64,
                   self.search.keys.fields.size)

    cdef Py_ssize_t worst_status(self) noexcept nogil:
        """0, or the lowest status of the chunk tables that gave up."""
        cdef Py_ssize_t k, status = 0
        for k in range(self.chunks):
            status = min(status, self.tables[k].status)
        return status

    def __dealloc__(self):
        for k in range(self.chunks if self.tables != NULL else 0):
            table_free(&self.tables[k].table)
            dealloc(self.tables[k].group_ids)
            dealloc(self.tables[k].recent)


# ---- fill -------------------------------------------------------------------------------


cdef class TablePass(Job):
    """A pass over pairs of the tables of the chunks."""
    cdef Tables state
    cdef Py_ssize_t step              # distance of the two tables of a pair

    def __cinit__(self, Tables state, Py_ssize_t step):
        self.state, self.step = state, step
        self.chunks = (state.chunks + step - 1) // (2 * step)


cdef void fill(chunk_table_t *chunk_table, const keys_t *keys, Py_ssize_t start, Py_ssize_t stop,
               bint counted, Py_ssize_t *inverse) noexcept nogil:
    """Add keys start to stop - 1 to a table that has started. If `counted`, count the keys of each
    group. If inverse is not NULL, write the group id of key i to inverse[i]. Counts and inverse
    need a table with ids. If the table gives up, its status says why."""
    cdef Py_ssize_t n
    while start < stop and chunk_table.status == 0:
        n = min(stop - start, BATCH)
        if keys.is_word:
            prefetch_keys(keys, start + n, BATCH)
        if (chunk_table.recent == NULL or chunk_table.missed >= MAX_MISSED
                or not add_not_recent(chunk_table, keys, start, n, counted, inverse)):
            add_batch(chunk_table, keys, start, n, counted, inverse)
        start += n
    if counted and chunk_table.recent != NULL and chunk_table.status == 0:
        # A round has far fewer than 2^32 keys.
        move_all_counts(recent_ids(chunk_table.recent, keys), chunk_table.table.counts)


cdef inline void add_batch(chunk_table_t *chunk_table, const keys_t *keys, Py_ssize_t start,
                           Py_ssize_t n, bint counted, Py_ssize_t *inverse) noexcept nogil:
    """Add n keys. If the words seem to come in runs of equal words, only the first word of each run
    is looked up."""
    cdef batch_t batch
    cdef uint64_t[BATCH] words
    cdef uint32_t[BATCH] ids_plus_1
    cdef Py_ssize_t[BATCH + 1] run_starts
    cdef Py_ssize_t before = chunk_table.table.length, runs = n, j
    cdef Py_ssize_t *counts
    cdef bint in_runs
    load_words(keys, start, n, words)
    # Words with the same bits are equal, unless each NaN is a group.
    in_runs = (keys.is_word and not keys.rule.nan_unequal and keys.unequal == NULL
               and seems_in_runs(words, n))
    if in_runs:
        runs = compress_runs(words, start, n, run_starts)
    else:
        for j in range(n):
            run_starts[j] = start + j
    batch = batch_of(keys, words, run_starts, runs)
    chunk_table.status = add_keys(&chunk_table.table, &batch, ids_plus_1)
    if chunk_table.status:
        return
    counts = chunk_table.table.counts if counted else NULL
    if in_runs:
        record_runs(counts, inverse, run_starts, runs, ids_plus_1)
    else:
        record(counts, inverse, run_starts, n, ids_plus_1)
    # Runs are counted, and get their ids, in less time than recent keys do.
    if not (in_runs and (counted or inverse != NULL)):
        mark_recent_batch(chunk_table, keys, &batch, ids_plus_1, counts, before)


cdef inline void mark_recent_batch(chunk_table_t *chunk_table, const keys_t *keys,
                                   const batch_t *batch, const uint32_t *ids_plus_1,
                                   Py_ssize_t *counts, Py_ssize_t before) noexcept nogil:
    """Count a batch that has not used the filter. Put its words into the filter if they have 4 or 8
    bytes, if at most half of them are new, and if fewer than MAX_MISSED batches in a row have not
    used the filter. Before the words were added, the table had `before` groups. counts is NULL if
    words are not counted."""
    chunk_table.missed = (chunk_table.missed + 1) % MISSED_PERIOD
    if (chunk_table.missed >= MAX_MISSED or 2 * (chunk_table.table.length - before) > batch.n
            or keys.width < 4 or not keys.is_word or keys.unequal != NULL):
        return
    if chunk_table.recent == NULL:
        chunk_table.recent = new_recent(keys, chunk_table.table.ids_plus_1 != NULL)
    if chunk_table.recent != NULL:
        mark_recent(chunk_table.recent, batch, ids_plus_1,
                    chunk_table.table.ids_plus_1 != NULL, counts)


cdef inline bint add_not_recent(chunk_table_t *chunk_table, const keys_t *keys, Py_ssize_t start,
                                Py_ssize_t n, bint counted, Py_ssize_t *inverse) noexcept nogil:
    """Add the words that are not recent, and put them into the filter unless it is resting. Counts
    and the inverse get all words. If more than half are not recent, returns False and adds no word:
    it takes less time to look up all words."""
    cdef intptr_t[BATCH + 64] positions
    cdef batch_t batch
    cdef uint64_t[BATCH] words
    cdef uint32_t[BATCH] ids_plus_1, slots
    cdef uint32_t *ids = recent_ids(chunk_table.recent, keys)
    cdef Py_ssize_t *counts
    cdef Py_ssize_t n_slots = n & ~<Py_ssize_t>63, k, not_recent = not_recent_keys(
        chunk_table.recent, keys, start, n, slots, positions)
    if 2 * not_recent > n:
        chunk_table.resting = MAX_MISSED
        return False
    chunk_table.missed = 0
    if counted:
        # Keys behind the last full block are not recent, and their positions are the last.
        count_slots(ids, slots, n_slots, positions, not_recent - (n & 63))
    for k in range(n_slots if inverse != NULL else 0):
        inverse[start + k] = ids[slots[k]]
    for k in range(not_recent):
        positions[k] += start
        words[k] = key_at(keys, positions[k])
    batch = batch_of(keys, words, <Py_ssize_t *>positions, not_recent)
    if not_recent:
        chunk_table.status = add_keys(&chunk_table.table, &batch, ids_plus_1)
    if chunk_table.status:
        return True
    counts = chunk_table.table.counts if counted else NULL
    record(counts, inverse, <Py_ssize_t *>positions, not_recent, ids_plus_1)
    if chunk_table.resting:
        chunk_table.resting -= 1
    else:
        mark_recent(chunk_table.recent, &batch, ids_plus_1,
                    chunk_table.table.ids_plus_1 != NULL, counts)
    return True


cdef inline bint seems_in_runs(const uint64_t *words, Py_ssize_t n) noexcept nogil:
    """Are at least half of the words equal to the next word? The compiler vectorizes the loop: SSE2
    cannot compare 64-bit words, but the top bit of ~x & (x - 1) says whether x is 0."""
    cdef uint64_t equal = 0, change
    cdef Py_ssize_t j
    for j in range(n - 1):
        change = words[j] ^ words[j + 1]
        equal += (~change & (change - 1)) >> 63
    return 2 * <Py_ssize_t>equal >= n


cdef inline Py_ssize_t compress_runs(uint64_t *words, Py_ssize_t start, Py_ssize_t n,
                                     Py_ssize_t *run_starts) noexcept nogil:
    """Keep one word of each run. Returns the number of runs. run_starts gets the position of each
    run's first key, and the end of the last run: up to n + 1 positions."""
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


cdef inline void record(Py_ssize_t *counts, Py_ssize_t *inverse, const Py_ssize_t *positions,
                        Py_ssize_t n, const uint32_t *ids_plus_1) noexcept nogil:
    """Add n keys to counts, and write their group ids to inverse, if these are not NULL."""
    cdef Py_ssize_t j
    if counts != NULL:
        for j in range(n):
            counts[ids_plus_1[j] - 1] += 1
    if inverse != NULL:
        for j in range(n):
            inverse[positions[j]] = <Py_ssize_t>ids_plus_1[j] - 1


cdef inline void record_runs(Py_ssize_t *counts, Py_ssize_t *inverse, const Py_ssize_t *run_starts,
                             Py_ssize_t runs, const uint32_t *ids_plus_1) noexcept nogil:
    """`record`, for runs of equal keys."""
    cdef Py_ssize_t i, j
    for j in range(runs):
        if counts != NULL:
            counts[ids_plus_1[j] - 1] += run_starts[j + 1] - run_starts[j]
        if inverse != NULL:
            for i in range(run_starts[j], run_starts[j + 1]):
                inverse[i] = <Py_ssize_t>ids_plus_1[j] - 1


# ---- merge ------------------------------------------------------------------------------


cdef class MergePairs(TablePass):
    """Merge the later table of a pair into the earlier table and, if tables have ids, note the new
    id of each group. The later table is freed; only its length is kept."""
    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const keys_t *keys = &self.state.search.keys.fields
        cdef table_t *whole = &self.state.tables[2 * k * self.step].table
        cdef chunk_table_t *chunk_table = &self.state.tables[(2 * k + 1) * self.step]
        cdef table_t *table = &chunk_table.table
        cdef Py_ssize_t length = table.length, g = 0, n, j
        cdef Py_ssize_t *new_ids = <Py_ssize_t *>alloc(length * sizeof(Py_ssize_t))
        cdef bint with_ids = table.ids_plus_1 != NULL
        cdef batch_t batch
        cdef uint64_t[BATCH] words
        cdef uint32_t[BATCH] ids_plus_1
        whole.max_groups = self.state.chunks * self.state.max_groups
        chunk_table.group_ids = new_ids
        if new_ids == NULL:
            chunk_table.status = NO_MEMORY
        while g < length and chunk_table.status == 0:
            n = min(length - g, BATCH)
            for j in range(n):
                words[j] = key_at(keys, table.first_positions[g + j])
            batch = batch_of(keys, words, table.first_positions + g, n)
            chunk_table.status = add_keys(whole, &batch, ids_plus_1)
            for j in range(n if with_ids and chunk_table.status == 0 else 0):
                new_ids[g + j] = <Py_ssize_t>ids_plus_1[j] - 1
                whole.counts[new_ids[g + j]] += table.counts[g + j]
            g += n
        table_free(table)
        memset(table, 0, sizeof(table_t))
        table.length = length


cdef class MapPairs(TablePass):
    """Map the noted group ids of the later table of a pair, which are ids of the earlier table, to
    the final ids."""
    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const Py_ssize_t *whole = self.state.tables[2 * k * self.step].group_ids
        cdef chunk_table_t *chunk_table = &self.state.tables[(2 * k + 1) * self.step]
        cdef Py_ssize_t g
        for g in range(chunk_table.table.length):
            chunk_table.group_ids[g] = whole[chunk_table.group_ids[g]]
