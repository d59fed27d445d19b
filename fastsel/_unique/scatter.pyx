"""The scatter: keys are written to parts, stably, in two passes over chunks of the keys.

Pass 1 counts the keys of each part in each chunk. An exclusive scan of the counts says where each
chunk writes to in each part, and pass 2 writes. Within a part, keys keep their order. A subclass of
Scatter chooses the part of a key: by its hash, or by quantiles of a sample (quantiles.pyx).

Pass 1 notes the part of each key in a byte, and pass 2 reads this byte. So both passes agree even
if another thread writes to the keys meanwhile. The entry of a key is the index of its scattered
word. The bytes also lead back from the entries to the keys: in the order of the keys, the entry of
each key is the next entry of its part. So `read_back` and `read_back_flags` read the results as one
stream per part, and write them as one stream.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memset

from fastsel._core.parallel cimport Job, chunk_count, scan
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport new_intp, new_memory, new_u32, new_u8
from fastsel._simd.blocks cimport blocks_of, wide_t
from fastsel._simd.levels cimport level
from fastsel._unique.keys cimport BATCH, Keys, is_unequal, load_words

cnp.import_array()


cdef class Scatter:
    cdef int describe(self, Py_ssize_t parts, uint8_t[::1] part_of, bint positions,
                      int threads) except -1:
        """Allocate the memory for `parts` parts of `self.keys`, at most MAX_PARTS: otherwise the
        number of a part does not fit a byte. With positions there are fewer than 2^32 keys:
        otherwise positions wrap around. part_of has a byte for each key; if it is None, it is
        allocated."""
        cdef Py_ssize_t size = self.keys.size
        self.parts = parts
        self.key_blocks = blocks_of(size)
        self.key_chunks = chunk_count(self.key_blocks, threads, 32 * max(8, self.keys.width))
        self.four_bytes = self.keys.width <= 4
        self.part_of = new_u8(size) if part_of is None else part_of
        self.starts = new_intp(parts * self.key_chunks + 1)
        self.memory = new_memory(size, 4 if self.four_bytes else 8, b"B")
        self.words = <char *>self.memory.data
        self.positions = new_u32(size) if positions else None
        return 0

    cdef void load(self, Py_ssize_t start, Py_ssize_t n, uint64_t *words) noexcept nogil:
        """Write the words of n keys from start on; each key is loaded once."""
        pass

    cdef void choose_parts(self, Py_ssize_t start, Py_ssize_t n, uint8_t *parts) noexcept nogil:
        """Write the parts of n keys from start on."""
        pass

    cdef Py_ssize_t start_of(self, Py_ssize_t part) noexcept nogil:
        """The first entry of a part; if part is `parts`, the number of all entries."""
        return self.starts[part * self.key_chunks]

    cdef Py_ssize_t room_of_part(self, Py_ssize_t expected) noexcept nogil:
        """For how many groups a table starts that gets one part after the other: for the expected
        groups of a part and one batch, but not for more than the keys of the largest part."""
        cdef Py_ssize_t largest = 0, part
        for part in range(self.parts):
            largest = max(largest, self.start_of(part + 1) - self.start_of(part))
        return min(expected + BATCH, largest)

    cdef Py_ssize_t room_beside(self, Py_ssize_t flags) noexcept nogil:
        """The bytes of the room for tables: 2.5 times the bytes of the keys, less the bytes of the
        scatter and of `flags` bytes per key; but at least a byte per key."""
        cdef Py_ssize_t used = flags + (4 if self.four_bytes else 8)
        if self.positions is not None:
            used += sizeof(uint32_t)
        return self.keys.size * max(1, 5 * self.keys.width // 2 - used)


cdef class ScatterByHash(Scatter):
    """A part has the words of a range of hashes. Keys that equal no other key may all have the same
    hash, so they are distributed evenly over all parts."""
    def __init__(self, Keys keys not None, uint8_t[::1] part_of, bint positions, int threads):
        self.keys, self.owner = keys.fields, keys
        self.describe(MAX_PARTS, part_of, positions, threads)

    cdef void load(self, Py_ssize_t start, Py_ssize_t n, uint64_t *words) noexcept nogil:
        load_words(&self.keys, start, n, words)

    cdef void choose_parts(self, Py_ssize_t start, Py_ssize_t n, uint8_t *parts) noexcept nogil:
        cdef uint64_t[BATCH] words, parts_u64
        cdef Py_ssize_t j
        self.load(start, n, words)
        level.hash_to_slots(
            words, n, self.keys.seed, self.keys.factor, 0, 64 - MAX_PART_BITS, parts_u64)
        for j in range(n):
            parts[j] = <uint8_t>parts_u64[j]
        if self.keys.rule.nan_unequal or self.keys.unequal != NULL:
            for j in range(n):
                if is_unequal(&self.keys, start + j, words[j]):
                    parts[j] = <uint8_t>(start + j)


cdef int scatter_keys(Scatter scatter, int threads) except -1:
    """Run both passes."""
    cdef CountParts count = CountParts(scatter)
    cdef WriteParts write = WriteParts(scatter)
    count.run(threads)
    scan(&scatter.starts[0], scatter.parts * scatter.key_chunks)
    write.run(threads)
    return 0


cdef class ScatterKeyPass(Job):
    """A pass over chunks of the keys; chunks are whole blocks."""
    cdef Scatter scatter

    def __cinit__(self, Scatter scatter):
        self.scatter, self.units, self.chunks = scatter, scatter.key_blocks, scatter.key_chunks

    cdef Py_ssize_t first_key(self, Py_ssize_t k) noexcept nogil:
        """The first key of chunk k."""
        return min(self.begin(k) * 64, self.scatter.keys.size)


cdef inline bint have_one_part(const uint8_t *parts, Py_ssize_t n) noexcept nogil:
    """Are all n > 0 keys of a batch in one part, as in most batches of ascending keys? Key by key,
    a CPU would wait for the count that it has just written."""
    return memcmp(parts, parts + 1, n - 1) == 0


cdef class CountParts(ScatterKeyPass):
    """Pass 1: note the part of each key, and count the keys of each part."""
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
            if have_one_part(&part_of[start], n):
                counts[part_of[start]] += <uint32_t>n
            else:
                for j in range(start, start + n):
                    counts[part_of[j]] += 1
            start += n
        for p in range(self.scatter.parts):
            starts[p * self.chunks + k] = counts[p]


cdef class WriteParts(ScatterKeyPass):
    """Pass 2: write the words of a chunk's keys, and their positions if wanted."""
    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        if self.scatter.four_bytes:
            self.write(k, <uint32_t *>self.scatter.words)
        else:
            self.write(k, <uint64_t *>self.scatter.words)

    cdef void write(self, Py_ssize_t k, wide_t *out) noexcept nogil:
        cdef Py_ssize_t start = self.first_key(k), stop = self.first_key(k + 1)
        cdef const uint8_t[::1] part_of = self.scatter.part_of
        cdef uint32_t[::1] positions = self.scatter.positions
        cdef bint with_positions = self.scatter.positions is not None
        cdef uint64_t[BATCH] words
        cdef Py_ssize_t[MAX_PARTS] next_entry
        cdef Py_ssize_t n, j, p, entry
        next_entries(self.scatter, k, next_entry)
        while start < stop:
            n = min(stop - start, BATCH)
            self.scatter.load(start, n, words)
            if have_one_part(&part_of[start], n):
                entry = next_entry[part_of[start]]
                next_entry[part_of[start]] = entry + n
                for j in range(n):
                    out[entry + j] = <wide_t>words[j]
                for j in range(n if with_positions else 0):
                    positions[entry + j] = <uint32_t>(start + j)
            elif with_positions:
                for j in range(n):
                    p = part_of[start + j]
                    entry = next_entry[p]
                    next_entry[p] = entry + 1
                    out[entry] = <wide_t>words[j]
                    positions[entry] = <uint32_t>(start + j)
            else:
                for j in range(n):
                    p = part_of[start + j]
                    out[next_entry[p]] = <wide_t>words[j]
                    next_entry[p] += 1
            start += n


# ---- from parts back to keys ------------------------------------------------------------


cdef class ReadGroups(ScatterKeyPass):
    """Write the group id of each key: the id of its entry plus the offset of its part."""
    cdef const uint32_t[::1] group_ids
    cdef const Py_ssize_t[::1] offsets    # or None
    cdef Py_ssize_t[::1] inverse

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const uint8_t[::1] part_of = self.scatter.part_of
        cdef const uint32_t[::1] group_ids = self.group_ids
        cdef Py_ssize_t[::1] inverse = self.inverse
        cdef Py_ssize_t[MAX_PARTS] next_entry, offset
        cdef Py_ssize_t i, p
        next_entries(self.scatter, k, next_entry)
        for p in range(self.scatter.parts):
            offset[p] = 0 if self.offsets is None else self.offsets[p]
        for i in range(self.first_key(k), self.first_key(k + 1)):
            p = part_of[i]
            inverse[i] = offset[p] + group_ids[next_entry[p]]
            next_entry[p] += 1


cdef class ReadFlags(ScatterKeyPass):
    """Write the flag of each key."""
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
    """Write the group id of each key: the id of its entry plus the offset of its part, if there are
    offsets."""
    cdef ReadGroups job = ReadGroups(scatter)
    job.group_ids, job.offsets, job.inverse = group_ids, offsets, inverse
    return job.run(threads)


cdef object read_back_flags(Scatter scatter, const uint8_t[::1] flags, int threads):
    """The flag of each key, which is the flag of its entry, as a bool array; None if flags is
    None."""
    cdef ReadFlags job
    if flags is None:
        return None
    out = new_result(scatter.keys.size, cnp.NPY_BOOL)
    job = ReadFlags(scatter)
    job.flags, job.out = flags, out.view("u1")
    job.run(threads)
    return out
