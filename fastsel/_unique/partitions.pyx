"""First occurrences by partitions: for keys with many groups.

The keys are scattered by the top bits of their hash (scatter.pyx), so that parts are independent of
each other, and the table of a part has about 1 / MAX_PARTS of the groups. Within a part, keys keep
their order. So the first key that is added to a group is its first occurrence.

Memory is reused, so that all four outputs take little more working memory than the values alone:

- the first words of a part become the counts of its groups, and then their ranks
- with an inverse, the position of an entry becomes its group id within the part, and then the rank
  of the group; the inverse has the first positions of the groups until it is written
- with counts alone, the first `positions` of a part become the first positions of its groups
"""
import numpy as np

cimport numpy as cnp
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from fastsel._core.atomics cimport fs_store_relaxed
from fastsel._core.parallel cimport Job, chunk_count, clear
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport new_intp
from fastsel._positions.bitmask cimport Bitmask, pack
from fastsel._simd.blocks cimport wide_t
from fastsel._unique.groups cimport Groups, Ranks, Request, Search, relabel
from fastsel._unique.hash_table cimport (
    add_keys, batch_of, batch_t, succeeded, table_bytes, table_clear, table_free, table_start,
    table_t)
from fastsel._unique.keys cimport BATCH, keys_t
from fastsel._unique.scatter cimport (
    MAX_PART_BITS, MAX_PARTS, Scatter, ScatterByHash, part_share, read_back, scatter_keys)

FLAG_BITS = np.array([0xff], np.uint64)      # the significant bits of a flag of one byte


cdef class Partitions(Groups):
    """The groups are in order of first occurrence."""
    cdef ScatterByHash scatter
    cdef Py_ssize_t expected          # an estimate of the number of groups of a part
    cdef bint with_ids                # the tables have ids
    cdef readonly int table_threads   # the number of threads that fill tables, also for tests
    cdef object inverse               # or None
    cdef object counts                # or None
    cdef uint8_t[::1] marks           # by key; None after `find`
    cdef Py_ssize_t[::1] inverse_view  # or None
    cdef Py_ssize_t[::1] groups       # number of groups of each part
    cdef Py_ssize_t status            # 0, or of a chunk that gave up

    def __init__(self, Search search not None):
        cdef keys_t *keys = &search.keys.fields
        Groups.__init__(self, search)
        self.expected = part_share(min(search.expected, keys.size))
        self.with_ids = search.request.counts or search.request.inverse or not keys.is_word
        self.units, self.chunks = MAX_PARTS, chunk_count(
            MAX_PARTS, search.threads, 16 * part_share(keys.size))
        self.groups = new_intp(MAX_PARTS)
        self.marks = self.inverse_view = None

    cpdef bint find(self) except -1:
        cdef Request request = self.search.request
        cdef cnp.npy_intp size = self.search.keys.fields.size
        cdef Bitmask mask
        cdef int threads = self.search.threads
        # Positions and ranks have 32 bits, and so have the counts of 4-byte keys.
        if size >= <Py_ssize_t>1 << 32:
            return False
        marks = new_result(size, cnp.NPY_UINT8)      # 1: a first occurrence
        # Only the inverse needs the part of each key again. Without an inverse, the marks may
        # overwrite the part numbers.
        self.scatter = ScatterByHash(
            self.search.keys, None if request.inverse else marks, True, threads)
        if request.inverse:
            self.inverse = new_result(size, cnp.NPY_INTP)
        self.marks, self.inverse_view = marks, self.inverse
        scatter_keys(self.scatter, threads)
        clear(&self.marks[0], size, threads)
        self.table_threads = self.threads_with_room()
        self.run(self.table_threads)
        if not succeeded(self.status):
            return False
        mask = pack(marks, 1, FLAG_BITS, self.search.keys.fields.width, threads)
        self.marks = marks = None
        if request.inverse or request.counts:
            self.rank_groups(mask)
        self.scatter = None           # frees its memory before the values are allocated
        self.set_by_mask(mask)
        return True

    cdef int rank_groups(self, Bitmask mask) except -1:
        """Make the inverse and the counts that are requested. A rank of a group is its place in
        the order of first occurrence."""
        cdef int threads = self.search.threads
        if self.search.request.counts:
            self.counts = new_result(mask.count(), cnp.NPY_INTP)
        RankGroups(self, Ranks(mask, threads), self.counts).run(threads)
        if self.inverse is not None:
            read_back(self.scatter, NULL, self.inverse, threads)

    cdef int threads_with_room(self) except -1:
        """The number of threads, at least one, whose tables fit into the room for tables."""
        cdef Scatter scatter = self.scatter
        cdef Py_ssize_t nbytes = table_bytes(
            &scatter.keys, self.with_ids, scatter.room_of_part(self.expected))
        # Flags are the marks and, with an inverse, the numbers of parts.
        cdef Py_ssize_t room = scatter.room_beside(1 + (self.inverse is not None))
        return <int>max(1, min(<Py_ssize_t>self.search.threads, room // nbytes))

    cpdef tuple finish(self, ranks):
        if self.inverse is not None and ranks is not None:
            relabel(ranks, self.inverse, self.search.copy_threads)
        return self.inverse, self.counts

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        """Fill the tables of the parts of a chunk, one after the other in the same memory."""
        cdef Py_ssize_t part = self.begin(k), stop = self.begin(k + 1)
        cdef table_t table
        cdef Py_ssize_t status = table_start(
            &table, &self.scatter.keys, self.with_ids, <Py_ssize_t>1 << 31, MAX_PART_BITS,
            self.scatter.room_of_part(self.expected))
        while part < stop and status == 0:
            table_clear(&table)
            if self.scatter.keys.width <= 4:
                status = fill(self, part, &table, <uint32_t *>self.scatter.words)
            else:
                status = fill(self, part, &table, <uint64_t *>self.scatter.words)
            part += 1
        table_free(&table)
        if status:
            fs_store_relaxed(&self.status, status)


cdef Py_ssize_t fill(Partitions self, Py_ssize_t part, table_t *table,
                     wide_t *words) noexcept nogil:
    """Mark the first occurrences of one part. Returns 0 or a status.

    With counts or an inverse, the first words of the part become the counts of its groups (0 if
    only the inverse is wanted). With an inverse, the positions of entries become group ids, and the
    inverse gets the first positions of the groups; with counts alone, `positions` gets them."""
    cdef Py_ssize_t start = self.scatter.start_of(part), stop = self.scatter.start_of(part + 1)
    cdef uint32_t[::1] positions = self.scatter.positions
    cdef Py_ssize_t[::1] inverse = self.inverse_view
    cdef uint8_t[::1] marks = self.marks
    cdef bint counted = self.search.request.counts
    cdef batch_t batch
    cdef uint64_t[BATCH] batch_words
    cdef Py_ssize_t[BATCH] batch_positions
    cdef uint32_t[BATCH] ids_plus_1
    cdef Py_ssize_t entry = start, n, j, group, length = 0, status
    while entry < stop:
        n = min(stop - entry, BATCH)
        for j in range(n):
            batch_words[j], batch_positions[j] = words[entry + j], positions[entry + j]
        batch = batch_of(&self.scatter.keys, batch_words, batch_positions, n)
        status = add_keys(table, &batch, ids_plus_1)
        if status:
            return status
        while length < table.length:
            marks[table.first_positions[length]] = True
            length += 1
        if counted:
            for j in range(n):
                table.counts[ids_plus_1[j] - 1] += 1
        if inverse is not None:
            for j in range(n):
                positions[entry + j] = ids_plus_1[j] - 1
        entry += n
    self.groups[part] = length
    if not counted and inverse is None:
        return 0
    for group in range(length):
        words[start + group] = <wide_t>table.counts[group]
        if inverse is not None:
            inverse[start + group] = table.first_positions[group]
        else:
            positions[start + group] = <uint32_t>table.first_positions[group]
    return 0


cdef class RankGroups(Job):
    """Write the count of each group at its rank, and replace the group ids of entries by ranks."""
    cdef Partitions state
    cdef ScatterByHash scatter
    cdef Ranks ranks
    cdef Py_ssize_t[::1] counts       # or None

    def __init__(self, Partitions state, Ranks ranks, Py_ssize_t[::1] counts):
        self.units, self.chunks = MAX_PARTS, state.chunks
        self.state, self.scatter, self.ranks, self.counts = state, state.scatter, ranks, counts

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t part
        for part in range(self.begin(k), self.begin(k + 1)):
            if self.scatter.keys.width <= 4:
                self.rank(part, <uint32_t *>self.scatter.words)
            else:
                self.rank(part, <uint64_t *>self.scatter.words)

    cdef void rank(self, Py_ssize_t part, wide_t *words) noexcept nogil:
        cdef Py_ssize_t start = self.scatter.start_of(part), group, rank, j
        cdef uint32_t[::1] positions = self.scatter.positions
        cdef const Py_ssize_t[::1] inverse = self.state.inverse_view
        cdef Py_ssize_t[::1] counts = self.counts
        for group in range(start, start + self.state.groups[part]):
            rank = self.ranks.rank(inverse[group] if inverse is not None else positions[group])
            if counts is not None:
                counts[rank] = <Py_ssize_t>words[group]
            words[group] = <wide_t>rank
        if inverse is not None:
            for j in range(start, self.scatter.start_of(part + 1)):
                positions[j] = <uint32_t>words[start + positions[j]]
