"""The scatter: keys are written to parts, stably, in two passes over chunks of them.

The first pass counts the keys of each part in each chunk, an exclusive scan says where each chunk
writes to each part, and the second pass writes. Within a part, keys stay in the order in which they
were given. A subclass of Scatter decides to which part a key belongs: by its hash (partitions.pyx)
or by its place among quantiles of a sample (sorting.pyx).

The first pass notes the part of each key in a byte of its own. The second pass reads that byte, so
that both agree even if another thread writes to the keys meanwhile. The same bytes lead back: the
entry of a key is the next one of its part, in the order of the keys. So what is known of each
entry is read from as many streams as there are parts, and written as one (`read_back`).
"""
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from fastsel._core.parallel cimport Job, chunk_count, chunk_start, scan
from fastsel._core.scratch cimport new_block, new_intp, new_u32, new_u8
from fastsel._simd.blocks cimport blocks_of
from fastsel._unique.keys cimport BATCH


cdef class Scatter:
    cdef int describe(self, Py_ssize_t parts, uint8_t[::1] part_of, bint positions,
                      int threads) except -1:
        """The memory for at most MAX_PARTS parts of `self.keys`, fewer than 2^32 if their positions
        are wanted. part_of has a byte for each key, or is None."""
        cdef Py_ssize_t size = self.keys.size
        self.parts = parts
        self.key_blocks = blocks_of(size)
        self.key_chunks = chunk_count(self.key_blocks, threads, 32 * max(8, self.keys.width))
        self.narrow = self.keys.width <= 4
        self.part_of = new_u8(size) if part_of is None else part_of
        self.starts = new_intp(parts * self.key_chunks + 1)
        self.block = new_block(size, 4 if self.narrow else 8, b"B")
        self.words = <char *>self.block.data
        self.positions = new_u32(size) if positions else None
        return 0

    cdef void load(self, Py_ssize_t start, Py_ssize_t n, uint64_t *words) noexcept nogil:
        """The words that stand for n keys, each loaded once."""
        pass

    cdef void choose_parts(self, Py_ssize_t start, Py_ssize_t n, uint8_t *parts) noexcept nogil:
        """The parts of n keys."""
        pass

    cdef Py_ssize_t start_of(self, Py_ssize_t part) noexcept nogil:
        """Where a part begins; part `parts` begins where the last one ends."""
        return self.starts[part * self.key_chunks]


cdef int scatter_keys(Scatter scatter, int threads) except -1:
    """Both passes."""
    cdef CountParts count = CountParts(scatter)
    cdef WriteParts write = WriteParts(scatter)
    count.run(threads)
    scan(&scatter.starts[0], scatter.parts * scatter.key_chunks)
    write.run(threads)
    return 0


cdef class OverKeys(Job):
    """A pass over chunks of the keys, in blocks of 64."""
    cdef Scatter scatter

    def __cinit__(self, Scatter scatter):
        self.scatter, self.chunks = scatter, scatter.key_chunks

    cdef Py_ssize_t first_key(self, Py_ssize_t k) noexcept nogil:
        """Where chunk k starts."""
        cdef Py_ssize_t block = chunk_start(self.scatter.key_blocks, self.chunks, k)
        return min(block * 64, self.scatter.keys.size)


cdef class CountParts(OverKeys):
    """Pass 1: the part of each key, and how many keys of each part a chunk has."""
    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t start = self.first_key(k), stop = self.first_key(k + 1)
        cdef Py_ssize_t[::1] starts = self.scatter.starts
        cdef uint8_t[::1] part_of = self.scatter.part_of
        cdef uint32_t[MAX_PARTS] counts
        cdef Py_ssize_t n, j, p
        memset(counts, 0, sizeof(counts))
        while start < stop:
            n = min(stop - start, BATCH)
            self.scatter.choose_parts(start, n, &part_of[start])
            for j in range(start, start + n):
                counts[part_of[j]] += 1
            start += n
        for p in range(self.scatter.parts):
            starts[p * self.chunks + k] = counts[p]


cdef class WriteParts(OverKeys):
    """Pass 2: the words, and the positions if they are wanted, of a chunk's keys."""
    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        if self.scatter.narrow:
            self.write(k, <uint32_t *>self.scatter.words)
        else:
            self.write(k, <uint64_t *>self.scatter.words)

    cdef void write(self, Py_ssize_t k, word_t *out) noexcept nogil:
        cdef Py_ssize_t start = self.first_key(k), stop = self.first_key(k + 1)
        cdef const uint8_t[::1] part_of = self.scatter.part_of
        cdef uint32_t[::1] positions = self.scatter.positions
        cdef bint with_positions = self.scatter.positions is not None
        cdef uint64_t[BATCH] words
        cdef Py_ssize_t[MAX_PARTS] next_entry
        cdef Py_ssize_t n, j, p, at
        next_entries(self.scatter, k, next_entry)
        while start < stop:
            n = min(stop - start, BATCH)
            self.scatter.load(start, n, words)
            if with_positions:
                for j in range(n):
                    p = part_of[start + j]
                    at = next_entry[p]
                    next_entry[p] = at + 1
                    out[at] = <word_t>words[j]
                    positions[at] = <uint32_t>(start + j)
            else:
                for j in range(n):
                    p = part_of[start + j]
                    out[next_entry[p]] = <word_t>words[j]
                    next_entry[p] += 1
            start += n


cdef inline void next_entries(Scatter scatter, Py_ssize_t k, Py_ssize_t *next_entry) noexcept nogil:
    """Where the entries of chunk k of the keys begin in each part."""
    cdef const Py_ssize_t[::1] starts = scatter.starts
    cdef Py_ssize_t p
    for p in range(scatter.parts):
        next_entry[p] = starts[p * scatter.key_chunks + k]


# ---- the way back -----------------------------------------------------------------------


cdef class ReadGroups(OverKeys):
    """The group of each key."""
    cdef const uint32_t[::1] group_ids
    cdef const Py_ssize_t[::1] offsets
    cdef Py_ssize_t[::1] inverse

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const uint8_t[::1] part_of = self.scatter.part_of
        cdef const uint32_t[::1] group_ids = self.group_ids
        cdef Py_ssize_t[::1] inverse = self.inverse
        cdef Py_ssize_t[MAX_PARTS] next_entry, offset
        cdef Py_ssize_t i, p
        next_entries(self.scatter, k, next_entry)
        for p in range(self.scatter.parts):
            offset[p] = self.offsets[p]
        for i in range(self.first_key(k), self.first_key(k + 1)):
            p = part_of[i]
            inverse[i] = offset[p] + group_ids[next_entry[p]]
            next_entry[p] += 1


cdef class ReadFlags(OverKeys):
    """The flag of each key."""
    cdef const uint8_t[::1] flags
    cdef uint8_t[::1] out

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const uint8_t[::1] part_of = self.scatter.part_of
        cdef const uint8_t[::1] flags = self.flags
        cdef uint8_t[::1] out = self.out
        cdef Py_ssize_t[MAX_PARTS] next_entry
        cdef Py_ssize_t i, p
        next_entries(self.scatter, k, next_entry)
        for i in range(self.first_key(k), self.first_key(k + 1)):
            p = part_of[i]
            out[i] = flags[next_entry[p]]
            next_entry[p] += 1


cdef int read_back(Scatter scatter, const uint32_t[::1] group_ids, const Py_ssize_t[::1] offsets,
                   Py_ssize_t[::1] inverse, int threads) except -1:
    """The group of each key: of its entry, plus the offset of its part."""
    cdef ReadGroups job = ReadGroups(scatter)
    job.group_ids, job.offsets, job.inverse = group_ids, offsets, inverse
    job.run(threads)
    return 0


cdef int read_back_flags(Scatter scatter, const uint8_t[::1] flags, uint8_t[::1] out,
                         int threads) except -1:
    """The flag of each key, from that of each entry."""
    cdef ReadFlags job = ReadFlags(scatter)
    job.flags, job.out = flags, out
    job.run(threads)
    return 0
