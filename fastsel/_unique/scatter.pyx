"""The scatter: keys are written to parts, stably, in two passes over chunks of the keys.

Pass 1 counts the keys of each part in each chunk. An exclusive scan of the counts says where each
chunk writes to in each part, and pass 2 writes. Within a part, keys keep their order. A subclass of
Scatter chooses the part of a key: by its hash, or by its value, between quantiles of a sample.

Pass 1 notes the part of each key in a byte, and pass 2 reads this byte. So both passes agree even
if another thread writes to the keys meanwhile. The entry of a key is the index of its scattered
word. The bytes also lead back from the entries to the keys: in the order of the keys, the entry of
each key is the next entry of its part. So `read_back` and `read_back_flags` read the results as one
stream per part, and write them as one stream.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp, memset

from fastsel._core.parallel cimport chunk_count, scan
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport new_intp, new_memory, new_u32, new_u64, new_u8
from fastsel._simd.blocks cimport FS_REQUIRE, blocks_of, fs_cells_t, wide_t
from fastsel._simd.levels cimport level
from fastsel._unique.keys cimport BATCH, Keys, is_unequal, load_words, write_ordered_keys
from fastsel._unique.ordered_keys cimport bit_length
from fastsel._unique.sample cimport draw

cdef enum:
    # For each part, PER_PART keys are sampled, so that the standard deviation of its size is 25 %,
    # and the table has about PER_PART cells.
    PER_PART = 16
    AT_ONCE = 8             # keys that are looked up in the tree at once; divides BATCH


cdef class Scatter:
    def __init__(self, Keys keys not None, Py_ssize_t parts, uint8_t[::1] part_of, bint positions,
                 int threads):
        """Allocate the memory for `parts` parts, at most MAX_PARTS: otherwise the number of a part
        does not fit a byte. With positions there are fewer than 2^32 keys: otherwise positions wrap
        around. part_of has a byte for each key; if it is None, it is allocated."""
        cdef Py_ssize_t size = keys.fields.size
        FS_REQUIRE(parts <= MAX_PARTS and (not positions or size < <Py_ssize_t>1 << 32))
        self.keys, self.owner, self.parts = keys.fields, keys, parts
        self.key_chunks = chunk_count(blocks_of(size), threads, 32 * max(8, self.keys.width))
        self.part_of = new_u8(size) if part_of is None else part_of
        self.starts = new_intp(parts * self.key_chunks + 1)
        self.memory = new_memory(size, 4 if self.keys.width <= 4 else 8, b"B")
        self.words = <char *>self.memory.data
        self.positions = new_u32(size) if positions else None

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
        cdef Py_ssize_t used = flags + (4 if self.keys.width <= 4 else 8)
        if self.positions is not None:
            used += sizeof(uint32_t)
        return self.keys.size * max(1, 5 * self.keys.width // 2 - used)


cdef class ScatterByHash(Scatter):
    """A part has the words of a range of hashes. Keys that equal no other key may all have the same
    hash, so they are distributed evenly over all parts."""
    def __init__(self, Keys keys not None, uint8_t[::1] part_of, bint positions, int threads):
        Scatter.__init__(self, keys, MAX_PARTS, part_of, positions, threads)

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


cdef Scatter new_scatter_by_value(Keys keys, Py_ssize_t parts, bint positions, int threads):
    return ScatterByValue(keys, parts, positions, threads)


cdef class ScatterByValue(Scatter):
    """Words are ordered keys; a part has the words between two limits.

    The limits are quantiles of a sample, so that parts are of about equal size, for any
    distribution. Equal keys are in one part, so a part with a frequent key is larger. A table gives
    the part of most keys without a search: the distance of the key from the smallest limit,
    shifted, is the number of a cell of the table, and the cell has the part. If a cell contains one
    limit, the limit moves to the start of the cell. Keys in a cell that contains several limits are
    looked up in a search tree of all limits.

    The table leaves out most of the widest gap between two limits. Floats of both signs have a wide
    gap around zero, with most of the exponents but few keys; integers in two distant clusters have
    a wide gap, too.
    """
    cdef uint64_t[::1] limits     # between the parts, ascending, with the gap closed
    cdef fs_cells_t cells
    # By cell: the part of its keys; MAX_PARTS if the cell has several limits.
    cdef uint16_t[::1] cell_parts
    cdef uint64_t[MAX_PARTS] tree  # of the limits; node 1 is the root
    cdef int depth

    def __init__(self, Keys keys not None, Py_ssize_t parts, bint positions, int threads):
        """There are at least two parts: otherwise there is no limit."""
        cdef uint64_t[::1] sample
        cdef Py_ssize_t n = parts - 1, k
        Scatter.__init__(self, keys, parts, None, positions, threads)
        self.limits = new_u64(n)
        sample = self.sorted_sample(parts * PER_PART)
        for k in range(n):
            self.limits[k] = sample[sample.shape[0] * (k + 1) // parts]
        # If several quantiles are the same key, all but the first become this key plus 1, so that
        # the part of the key has few other keys.
        for k in range(n - 1, 0, -1):
            if self.limits[k] == self.limits[k - 1] and self.limits[k] != <uint64_t>-1:
                self.limits[k] += 1
        self.close_gap()
        self.make_table()
        self.make_tree()

    cdef uint64_t[::1] sorted_sample(self, cnp.npy_intp n):
        """The ordered keys of n drawn keys, ascending. The random factor of the hash chooses the
        sample, so that nobody can foresee it."""
        cdef Py_ssize_t width = self.keys.width, changes
        cdef uint8_t[::1] items = new_u8(n * width)
        cdef uint64_t[::1] sample = new_u64(n)
        draw(self.keys.data, self.keys.size, width, n, <Py_ssize_t>(self.keys.factor >> 33),
             <char *>&items[0], &changes)
        write_ordered_keys(&self.keys, <char *>&items[0], n, &sample[0])
        view = cnp.PyArray_SimpleNewFromData(1, &n, cnp.NPY_UINT64, &sample[0])
        cnp.PyArray_Sort(view, 0, cnp.NPY_QUICKSORT)
        return sample

    cdef void load(self, Py_ssize_t start, Py_ssize_t n, uint64_t *words) noexcept nogil:
        write_ordered_keys(&self.keys, self.keys.data + start * self.keys.width, n, words)

    cdef int close_gap(self) except -1:
        """Shorten the widest gap between limits to about the average of the other gaps, and write
        to `cells` what is left out. If there are fewer than 3 limits, there are no other
        gaps. Keys in the gap stay below the limit behind the gap: this limit may be NaN, or another
        frequent key."""
        cdef uint64_t[::1] limits = self.limits
        cdef Py_ssize_t n = limits.shape[0], widest = 0, k
        cdef uint64_t wide, usual
        self.cells = fs_cells_t(0, 1, <uint64_t>-1, <uint64_t>-1, 0, 0)
        if n < 3:
            return 0
        for k in range(1, n - 1):
            if limits[k + 1] - limits[k] > limits[widest + 1] - limits[widest]:
                widest = k
        wide = limits[widest + 1] - limits[widest]
        usual = (limits[n - 1] - limits[0] - wide) // (n - 2) + 1
        if wide > usual:
            self.cells.gap_low, self.cells.gap_high = limits[widest] + usual, limits[widest + 1]
            self.cells.gap = wide - usual - 1
            for k in range(widest + 1, n):
                limits[k] -= self.cells.gap

    cdef int make_table(self) except -1:
        cdef const uint64_t[::1] limits = self.limits
        cdef Py_ssize_t n = limits.shape[0], k = 0, m, cell
        cdef uint64_t reach = limits[n - 1] - limits[0], low, width
        self.cells.low = limits[0]
        self.cells.shift = max(0, bit_length(reach) - bit_length(PER_PART * n))
        self.cells.last = (reach >> self.cells.shift) + 1
        width = <uint64_t>1 << self.cells.shift
        self.cell_parts = new_memory(self.cells.last + 1, sizeof(uint16_t), b"H")
        self.cell_parts[0] = 0
        for cell in range(1, <Py_ssize_t>self.cells.last + 1):
            low = limits[0] + (<uint64_t>(cell - 1) << self.cells.shift)
            while k < n and limits[k] <= low:
                k += 1
            m = k
            # A limit at the start of the next cell counts, too: the limit before it may be a
            # frequent key, and would move away from it.
            while m < n and limits[m] - low < width + (m > k):
                m += 1
            self.cell_parts[cell] = <uint16_t>(m if m - k <= 1 else MAX_PARTS)
            k = m

    cdef int make_tree(self) noexcept:
        """Write the limits to the search tree: below node k are nodes 2 k and 2 k + 1."""
        cdef Py_ssize_t n = self.limits.shape[0], node, rank
        cdef int depth
        self.depth = bit_length(n)
        for node in range(1, 1 << self.depth):
            depth = bit_length(node)
            rank = ((2 * (node - (1 << (depth - 1))) + 1) << (self.depth - depth)) - 1
            self.tree[node] = self.limits[rank] if rank < n else <uint64_t>-1

    cdef void choose_parts(self, Py_ssize_t start, Py_ssize_t n, uint8_t *parts) noexcept nogil:
        """The part of a key is the number of limits, as moved to the starts of cells, that are at
        most the key. So a greater key never has a lower part."""
        cdef const uint16_t[::1] cell_parts = self.cell_parts
        cdef const fs_cells_t *cells = &self.cells
        cdef uint32_t[BATCH] cell_of
        cdef uint64_t[BATCH] keys, searched
        cdef uint8_t[BATCH] positions, found
        cdef uint16_t part
        cdef uint64_t key
        cdef Py_ssize_t j, m = 0
        self.load(start, n, keys)
        level.cells_of(keys, n, cells, cell_of)
        for j in range(n):
            part = cell_parts[cell_of[j]]
            parts[j] = <uint8_t>part
            positions[m] = <uint8_t>j
            m += part == MAX_PARTS
        if m == 0:
            return
        for j in range(m):
            key = keys[positions[j]]
            searched[j] = key - cells.gap if key >= cells.gap_high else min(key, cells.gap_low)
        for j in range(m, (m + AT_ONCE - 1) // AT_ONCE * AT_ONCE):
            searched[j] = 0
        j = 0
        while j < m:
            self.search(searched + j, found + j)
            j += AT_ONCE
        for j in range(m):
            parts[positions[j]] = found[j]

    cdef inline void search(self, const uint64_t *keys, uint8_t *parts) noexcept nogil:
        """Write the parts of AT_ONCE keys, from which the caller has subtracted the gap: the number
        of limits that are at most the key."""
        cdef uint32_t[AT_ONCE] nodes
        cdef int j
        for j in range(AT_ONCE):
            nodes[j] = 1
        for _ in range(self.depth):
            for j in range(AT_ONCE):
                nodes[j] = 2 * nodes[j] + (self.tree[nodes[j]] <= keys[j])
        for j in range(AT_ONCE):
            parts[j] = <uint8_t>min(<Py_ssize_t>nodes[j] - (1 << self.depth), self.parts - 1)


cdef int scatter_keys(Scatter scatter, int threads) except -1:
    """Run both passes."""
    CountParts(scatter).run(threads)
    scan(&scatter.starts[0], scatter.parts * scatter.key_chunks)
    return WriteParts(scatter).run(threads)


cdef class ScatterKeyPass(Job):
    def __cinit__(self, Scatter scatter):
        self.scatter, self.units = scatter, blocks_of(scatter.keys.size)
        self.chunks = scatter.key_chunks

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
        if self.scatter.keys.width <= 4:
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
            else:
                for j in range(n):
                    p = part_of[start + j]
                    entry = next_entry[p]
                    next_entry[p] = entry + 1
                    out[entry] = <wide_t>words[j]
                    if with_positions:
                        positions[entry] = <uint32_t>(start + j)
            start += n


# ---- from parts back to keys ------------------------------------------------------------


cdef class ReadGroups(ScatterKeyPass):
    """Write the group id of each key: the id of its entry plus the offset of its part."""
    cdef const Py_ssize_t *offsets        # or NULL
    cdef Py_ssize_t[::1] inverse

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const uint8_t[::1] part_of = self.scatter.part_of
        cdef const uint32_t[::1] group_ids = self.scatter.positions
        cdef Py_ssize_t[::1] inverse = self.inverse
        cdef Py_ssize_t[MAX_PARTS] next_entry, offset
        cdef Py_ssize_t i, p
        next_entries(self.scatter, k, next_entry)
        for p in range(self.scatter.parts):
            offset[p] = 0 if self.offsets == NULL else self.offsets[p]
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


cdef int read_back(Scatter scatter, const Py_ssize_t *offsets, Py_ssize_t[::1] inverse,
                   int threads) except -1:
    """Write the group id of each key: the id of its entry, which takes the place of its position,
    plus the offset of its part, if there are offsets."""
    cdef ReadGroups job = ReadGroups(scatter)
    job.offsets, job.inverse = offsets, inverse
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
