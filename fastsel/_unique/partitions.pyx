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
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from fastsel._core.parallel cimport Job, chunk_count, clear
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport new_intp
from fastsel._simd.blocks cimport fs_popcount
from fastsel._unique.hash_table cimport (
    NO_MEMORY, add_keys, table_bytes, table_clear, table_free, table_start, table_t)
from fastsel._unique.keys cimport BATCH, wide_t
from fastsel._unique.scatter cimport (
    MAX_PART_BITS, MAX_PARTS, Scatter, ScatterByHash, part_share, read_back, scatter_keys)

cnp.import_array()


cdef class Partitions:
    """The state between `find` and `finish`; between them, the caller packs the marks to a
    bitmask."""
    cdef ScatterByHash scatter
    cdef Py_ssize_t expected          # an estimate of the number of groups of a part
    cdef bint counted
    cdef bint with_ids                # the tables have ids
    cdef readonly object marks        # uint8, by key: 1 if it is a first occurrence
    cdef object inverse
    cdef Py_ssize_t part_chunks
    cdef Py_ssize_t[::1] groups       # number of groups of each part
    cdef int threads

    def __init__(self, keys not None, tuple seeds not None, Py_ssize_t expected, bint inverse,
                 bint counts, int threads):
        """keys is a Keys of at least one key, and of fewer than 2^32 keys: otherwise positions,
        counts and ranks wrap around. expected is an estimate of the number of groups."""
        cdef cnp.npy_intp size = keys.size
        self.marks = cnp.PyArray_EMPTY(1, &size, cnp.NPY_UINT8, 0)
        # Only the inverse needs the part of each key again. Without an inverse, the marks may
        # overwrite the part numbers.
        self.scatter = ScatterByHash(
            keys, seeds, None if inverse else self.marks, True, threads)
        self.expected, self.counted, self.threads = part_share(min(expected, size)), counts, threads
        self.with_ids = counts or inverse or not self.scatter.keys.is_word
        self.part_chunks = chunk_count(MAX_PARTS, threads, 16 * part_share(size))
        self.groups = new_intp(MAX_PARTS)
        if inverse:
            self.inverse = new_result(size, cnp.NPY_INTP)

    def find(self):
        """Mark all first occurrences. Returns False if a table needs too many probes, or if a part
        may have more than 2^31 groups."""
        cdef FillTables fill = FillTables(self)
        cdef Py_ssize_t k, status = 0
        scatter_keys(self.scatter, self.threads)
        clear(cnp.PyArray_DATA(self.marks), self.scatter.keys.size, self.threads)
        fill.run(self.table_threads())
        for k in range(fill.chunks):
            status = min(status, fill.status[k])
        if status == NO_MEMORY:
            raise MemoryError()
        return status == 0

    def table_threads(self):
        """The number of threads, at least one, whose tables fit into the room for tables. This room
        is 2.5 times the bytes of the keys, less the bytes of the scatter and of the marks; but at
        least a byte per key."""
        cdef Scatter scatter = self.scatter
        cdef Py_ssize_t nbytes = table_bytes(&scatter.keys, self.with_ids, self.expected + BATCH)
        cdef Py_ssize_t used = 5 + (self.inverse is not None) + (4 if scatter.four_bytes else 8)
        cdef Py_ssize_t room = scatter.keys.size * max(1, 5 * scatter.keys.width // 2 - used)
        return <int>max(1, min(<Py_ssize_t>self.threads, room // nbytes))

    def finish(self, const uint64_t[::1] bits not None, const Py_ssize_t[::1] offsets not None):
        """(inverse, counts), with None for an output that is not wanted. Groups are in order of
        first occurrence.

        bits has the marks as a bitmask; offsets has the number of set bits before each chunk of
        blocks, then the total.
        """
        cdef cnp.ndarray counts = None
        cdef Py_ssize_t[::1] no_offsets
        cdef RankBlocks rank_blocks
        if not self.counted and self.inverse is None:
            return None, None
        if self.counted:
            counts = new_result(offsets[offsets.shape[0] - 1], cnp.NPY_INTP)
        rank_blocks = RankBlocks(bits, offsets)
        rank_blocks.run(self.threads)
        RankGroups(self, rank_blocks, counts).run(self.threads)
        if self.inverse is not None:
            no_offsets = new_intp(MAX_PARTS)
            no_offsets[:] = 0
            read_back(
                self.scatter, self.scatter.positions, no_offsets, self.inverse, self.threads)
        return self.inverse, counts


cdef class PartPass(Job):
    """A pass over chunks of the parts."""
    cdef Partitions state
    cdef ScatterByHash scatter
    cdef Py_ssize_t[::1] inverse      # or None

    def __cinit__(self, Partitions state, *_):
        self.units, self.chunks = MAX_PARTS, state.part_chunks
        self.state, self.scatter, self.inverse = state, state.scatter, state.inverse


cdef class FillTables(PartPass):
    """Fill the tables of the parts of a chunk, one after the other in the same memory."""
    cdef uint8_t[::1] marks
    cdef Py_ssize_t[::1] status       # of each chunk

    def __init__(self, Partitions state):
        self.marks, self.status = state.marks, new_intp(self.chunks)

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t part = self.begin(k), stop = self.begin(k + 1)
        cdef table_t table
        cdef Py_ssize_t status = table_start(
            &table, &self.scatter.keys, self.state.with_ids, <Py_ssize_t>1 << 31, MAX_PART_BITS,
            self.state.expected + BATCH)
        while part < stop and status == 0:
            table_clear(&table)
            if self.scatter.four_bytes:
                status = self.fill(part, &table, <uint32_t *>self.scatter.words)
            else:
                status = self.fill(part, &table, <uint64_t *>self.scatter.words)
            part += 1
        table_free(&table)
        self.status[k] = status

    cdef Py_ssize_t fill(self, Py_ssize_t part, table_t *table, wide_t *words) noexcept nogil:
        """Mark the first occurrences of one part. Returns 0 or a status.

        With counts or an inverse, the first words of the part become the counts of its groups (0 if
        only the inverse is wanted). With an inverse, the positions of entries become group ids, and
        the inverse gets the first positions of the groups; with counts alone, `positions` gets
        them."""
        cdef Py_ssize_t start = self.scatter.start_of(part), stop = self.scatter.start_of(part + 1)
        cdef uint32_t[::1] positions = self.scatter.positions
        cdef Py_ssize_t[::1] inverse = self.inverse
        cdef uint8_t[::1] marks = self.marks
        cdef uint64_t[BATCH] batch
        cdef Py_ssize_t[BATCH] batch_positions
        cdef uint32_t[BATCH] ids_plus_1
        cdef Py_ssize_t entry = start, n, j, group, length = 0, status
        while entry < stop:
            n = min(stop - entry, BATCH)
            for j in range(n):
                batch[j], batch_positions[j] = words[entry + j], positions[entry + j]
            status = add_keys(table, &self.scatter.keys, batch, n, batch_positions,
                              ids_plus_1 if self.state.with_ids else NULL)
            if status:
                return status
            while length < table.length:
                marks[table.first_positions[length]] = True
                length += 1
            if self.state.counted:
                for j in range(n):
                    table.counts[ids_plus_1[j] - 1] += 1
            if inverse is not None:
                for j in range(n):
                    positions[entry + j] = ids_plus_1[j] - 1
            entry += n
        self.state.groups[part] = length
        if not self.state.counted and inverse is None:
            return 0
        for group in range(length):
            words[start + group] = <wide_t>table.counts[group]
            if inverse is not None:
                inverse[start + group] = table.first_positions[group]
            else:
                positions[start + group] = <uint32_t>table.first_positions[group]
        return 0


cdef class RankBlocks(Job):
    """Count the set bits before each block. offsets has the number of set bits before each chunk of
    blocks, then the total."""
    cdef const uint64_t[::1] bits
    cdef const Py_ssize_t[::1] offsets
    cdef Py_ssize_t[::1] before           # set bits before each block

    def __init__(self, const uint64_t[::1] bits, const Py_ssize_t[::1] offsets):
        self.bits, self.offsets, self.before = bits, offsets, new_intp(bits.shape[0])
        self.units, self.chunks = bits.shape[0], offsets.shape[0] - 1

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t block, total = self.offsets[k]
        for block in range(self.begin(k), self.begin(k + 1)):
            self.before[block] = total
            total += fs_popcount(self.bits[block])

    cdef inline Py_ssize_t rank(self, Py_ssize_t i) noexcept nogil:
        """The number of set bits before bit i."""
        cdef uint64_t below = (<uint64_t>1 << (i & 63)) - 1
        return self.before[i >> 6] + fs_popcount(self.bits[i >> 6] & below)


cdef class RankGroups(PartPass):
    """Write the count of each group at its rank, and replace the group ids of entries by ranks."""
    cdef RankBlocks ranks
    cdef Py_ssize_t[::1] counts       # or None

    def __init__(self, Partitions state, RankBlocks ranks, Py_ssize_t[::1] counts):
        self.ranks, self.counts = ranks, counts

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t part
        for part in range(self.begin(k), self.begin(k + 1)):
            if self.scatter.four_bytes:
                self.rank(part, <uint32_t *>self.scatter.words)
            else:
                self.rank(part, <uint64_t *>self.scatter.words)

    cdef void rank(self, Py_ssize_t part, wide_t *words) noexcept nogil:
        cdef Py_ssize_t start = self.scatter.start_of(part), group, rank, j
        cdef uint32_t[::1] positions = self.scatter.positions
        cdef const Py_ssize_t[::1] inverse = self.inverse
        cdef Py_ssize_t[::1] counts = self.counts
        for group in range(start, start + self.state.groups[part]):
            rank = self.ranks.rank(inverse[group] if inverse is not None else positions[group])
            if counts is not None:
                counts[rank] = <Py_ssize_t>words[group]
            words[group] = <wide_t>rank
        if inverse is not None:
            for j in range(start, self.scatter.start_of(part + 1)):
                positions[j] = <uint32_t>words[start + positions[j]]
