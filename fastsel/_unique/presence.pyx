"""Which words of a narrow range occur, by direct addressing: each word has an entry in a table.

Each chunk of the keys has a table. If only the words are wanted, an entry is a bit. If first
occurrences are wanted, an entry is a byte, and a bitmask gets a bit for each key that is the first
key of its group in its chunk. `merge` merges the tables. The entries, and so the distinct words,
are in ascending order.
"""
cimport numpy as cnp
from libc.stdint cimport intptr_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from fastsel._core.parallel cimport Job, chunk_count, round_start, scan
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport new_intp, new_u64, new_u8
from fastsel._simd.blocks cimport blocks_of, fs_ctz, is_sparse
from fastsel._simd.levels cimport level
from fastsel._unique.keys cimport any_t, canonical, is_identity, set_keys
from fastsel._unique.ordered_keys cimport ordered_key_of, word_of

cnp.import_array()


cdef class Presence(Job):
    """Finds which words occur in each chunk of the keys; each chunk has a table of its own."""
    def __init__(self, keys not None, tuple value_range not None, bint with_first_positions,
                 bint counted, int threads):
        """keys is a Keys of at least one key; the keys are words. value_range is (base, bits): each
        of the 2^bits ordered keys from base on has an entry. For keys of 1 byte and float16 it is
        (0, 8 * width): otherwise memory beyond the table is read or written. If
        with_first_positions, first occurrences are marked; if `counted`, the keys of each entry are
        counted."""
        cdef range_t *r = &self.value_range
        cdef Py_ssize_t size
        set_keys(&self.keys, keys, (0, 1))
        self.owned, self.threads, size = keys, threads, self.keys.size
        if keys[5] is not None:
            r.order_map = keys[5]
        r.base = value_range[0]
        r.base_word = word_of(r.order_map, r.base)
        r.mask = (<uint64_t>1 << <int>value_range[1]) - 1
        r.blocks = (<Py_ssize_t>r.mask >> 6) + 1
        r.is_integer = is_identity(&self.keys.rule) and r.order_map[1] == 0
        self.key_blocks, self.entries = blocks_of(size), r.blocks * 64
        self.chunks = max(1, min(self.key_blocks, threads))
        # A table of bits pays if the keys of its chunk have at least half of the table's bytes.
        if not with_first_positions:
            self.chunks = max(1, min(self.chunks, 16 * size * self.keys.width // self.entries))
        self.rounds = chunk_count(self.key_blocks // self.chunks, 1, 64 * self.keys.width)
        self.key_chunks = chunk_count(
            self.key_blocks, threads, 64 * (self.keys.width + sizeof(Py_ssize_t)))
        self.entry_chunks = chunk_count(r.blocks, threads)
        self.bits = new_u64(r.blocks if with_first_positions else self.chunks * r.blocks)
        self.present = new_u8(self.chunks * self.entries) if with_first_positions else None
        self.bitmask = None
        if with_first_positions:
            self.bitmask = cnp.PyArray_EMPTY(1, &self.key_blocks, cnp.NPY_UINT64, 0)
        self.first_bits = self.bitmask
        self.counts = new_intp(self.chunks * self.entries) if counted else None
        self.failed = new_u8(self.chunks)

    cdef bint find(self) except -1:
        """Fill the tables. Returns False if a key has no entry."""
        cdef Py_ssize_t k
        self.run_rounds(self.rounds, self.threads)
        for k in range(self.chunks):
            if self.failed[k]:
                return False
        return True

    cdef Py_ssize_t merge(self) except -1:
        """Merge the tables. Returns the number of distinct words."""
        self.offsets = new_intp(self.entry_chunks + 1)
        MergeTables(self).run(self.threads)
        scan(&self.offsets[0], self.entry_chunks)
        return self.offsets[self.entry_chunks]

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        """Add the keys that chunk k % chunks handles in round k // chunks."""
        cdef Py_ssize_t start = round_start(self.key_blocks, self.chunks, self.rounds, k)
        cdef Py_ssize_t stop = round_start(
            self.key_blocks, self.chunks, self.rounds, k + self.chunks)
        cdef Py_ssize_t chunk = k % self.chunks
        if k < self.chunks:
            self.clear(chunk)
        if self.failed[chunk]:
            return
        if self.keys.width == 1:
            self.fill(<uint8_t *>self.keys.data, chunk, start, stop)
        elif self.keys.width == 2:
            self.fill(<uint16_t *>self.keys.data, chunk, start, stop)
        elif self.keys.width == 4:
            self.fill(<uint32_t *>self.keys.data, chunk, start, stop)
        else:
            self.fill(<uint64_t *>self.keys.data, chunk, start, stop)

    cdef void clear(self, Py_ssize_t chunk) noexcept nogil:
        cdef Py_ssize_t start = chunk * self.entries
        self.failed[chunk] = False
        if self.present is None:
            memset(&self.bits[start >> 6], 0, self.entries >> 3)
        else:
            memset(&self.present[start], 0, self.entries)
        if self.counts is not None:
            memset(&self.counts[start], 0, self.entries * sizeof(Py_ssize_t))

    cdef void fill(self, const any_t *items, Py_ssize_t chunk, Py_ssize_t block,
                   Py_ssize_t stop) noexcept nogil:
        cdef bint filled
        if self.present is None:
            filled = fill_table(self, items, chunk, block, stop, False)
        else:
            filled = fill_table(self, items, chunk, block, stop, True)
        self.failed[chunk] = not filled


cdef inline bint fill_table(Presence self, const any_t *items, Py_ssize_t chunk, Py_ssize_t block,
                            Py_ssize_t stop, bint with_first_positions) noexcept nogil:
    """Add the keys of blocks `block` to stop - 1 to the table of the chunk. Returns False if a key
    has no entry. with_first_positions is a constant, so that two loops are compiled."""
    cdef uint64_t[::1] bits = self.bits, first_bits = self.first_bits
    cdef uint8_t[::1] present = self.present
    cdef Py_ssize_t[::1] counts = self.counts
    cdef Py_ssize_t table = chunk * self.entries, whole = min(stop, self.keys.size >> 6), j, n
    cdef bint counted = self.counts is not None
    cdef uint8_t[256] bytes_seen
    cdef uint32_t[64] key_entries
    cdef uint8_t[64] is_new
    cdef uint8_t all_seen
    if any_t is uint8_t:
        see_bytes(self, table, bytes_seen, with_first_positions)
    while block < stop:
        if any_t is uint8_t:
            if not counted:             # skip blocks whose bytes are all in the table
                n = max(0, level.skip_seen(
                    <const char *>items + block * 64, whole - block, bytes_seen))
                if with_first_positions and n:
                    memset(&first_bits[block], 0, n * sizeof(uint64_t))
                block += n
                if block >= stop:
                    break
        n = min(64, self.keys.size - block * 64)
        if not find_entries(&self.value_range, &self.keys.rule, items + block * 64, n, key_entries):
            return False
        all_seen = 1
        for j in range(n):
            if with_first_positions:
                all_seen &= present[table + key_entries[j]]
            else:
                all_seen &= <uint8_t>(bits[(table + key_entries[j]) >> 6] >> (key_entries[j] & 63))
        if with_first_positions and all_seen:
            first_bits[block] = 0
        elif with_first_positions:
            memset(is_new, 0, sizeof(is_new))
            for j in range(n):
                is_new[j] = present[table + key_entries[j]] ^ 1
                present[table + key_entries[j]] = 1
            level.pack[0](<const char *>is_new, 0xff, &first_bits[block], 1)
        elif not all_seen:
            for j in range(n):
                bits[(table + key_entries[j]) >> 6] |= <uint64_t>1 << (key_entries[j] & 63)
        if any_t is uint8_t:
            if not all_seen:
                see_bytes(self, table, bytes_seen, with_first_positions)
        if counted:
            for j in range(n):
                counts[table + key_entries[j]] += 1
        block += 1
    return True


cdef inline void see_bytes(Presence self, Py_ssize_t table, uint8_t *seen,
                           bint with_first_positions) noexcept nogil:
    """Write to `seen`, for each byte, whether the table has its canonical word."""
    cdef Py_ssize_t entry
    cdef int byte
    for byte in range(256):
        entry = table + <Py_ssize_t>(
            ordered_key_of(self.value_range.order_map, canonical(&self.keys.rule, byte)) & 0xff)
        if with_first_positions:
            seen[byte] = self.present[entry]
        else:
            seen[byte] = <uint8_t>(self.bits[entry >> 6] >> (entry & 63)) & 1


cdef class EntryPass(Job):
    """A pass over chunks of the entries; chunks are whole blocks."""
    def __cinit__(self, Presence presence, uint32_t[::1] group_ids=None,
                  Py_ssize_t[::1] out=None):
        self.presence, self.group_ids, self.out = presence, group_ids, out
        self.units, self.chunks = presence.value_range.blocks, presence.entry_chunks


cdef class MergeTables(EntryPass):
    """Merge the tables into the bits of chunk 0, and count the distinct words. With first
    occurrences, the table of each chunk also gets the words of the chunks before it."""
    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef uint64_t[::1] bits = self.presence.bits
        cdef uint8_t[::1] present = self.presence.present
        cdef Py_ssize_t start = self.begin(k), blocks = self.begin(k + 1) - start
        cdef Py_ssize_t entries = self.presence.entries, chunk, block, entry
        for chunk in range(1, self.presence.chunks):
            if present is None:
                for block in range(start, start + blocks):
                    bits[block] |= bits[chunk * (entries >> 6) + block]
            else:
                for entry in range(start * 64, (start + blocks) * 64):
                    present[chunk * entries + entry] |= present[(chunk - 1) * entries + entry]
        if present is not None:
            level.pack[0](<const char *>&present[(self.presence.chunks - 1) * entries + start * 64],
                          0xff, &bits[start], blocks)
        self.presence.offsets[k] = level.count(&bits[start], blocks)


# ---- only the ascending values ----------------------------------------------------------


cpdef cnp.ndarray ascending_values(keys, tuple value_range, int threads):
    """The distinct integers or times, ascending, in the type of keys.data (times lose their unit);
    None if one has no entry. keys and value_range are as for Presence."""
    cdef Presence presence = Presence(keys, value_range, False, False, threads)
    cdef WriteValues write
    if not presence.find():
        return None
    write = WriteValues(presence)
    write.values = new_result(presence.merge(), cnp.PyArray_TYPE(keys[0]))
    write.run(threads)
    return write.values


cdef class WriteValues(EntryPass):
    """Write the words whose bits are set."""
    cdef cnp.ndarray values

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef char *values = <char *>cnp.PyArray_DATA(self.values)
        cdef Py_ssize_t width = self.presence.keys.width
        if width == 1:
            self.write(k, <uint8_t *>values)
        elif width == 2:
            self.write(k, <uint16_t *>values)
        elif width == 4:
            self.write(k, <uint32_t *>values)
        else:
            self.write(k, <uint64_t *>values)

    cdef void write(self, Py_ssize_t k, any_t *values) noexcept nogil:
        cdef const uint64_t[::1] bits = self.presence.bits
        cdef Py_ssize_t start = self.begin(k), stop = self.begin(k + 1), block
        cdef Py_ssize_t position = self.presence.offsets[k]
        cdef Py_ssize_t count = self.presence.offsets[k + 1] - position
        cdef uint64_t base = self.presence.value_range.base_word, word
        if any_t is uint64_t and sizeof(intptr_t) == 8:     # a word is base plus the bit's index
            level.write(&bits[start], stop - start, <intptr_t>(base + start * 64),
                        is_sparse(count, stop - start), <intptr_t *>values + position, count)
            return
        for block in range(start, stop):
            word = bits[block]
            while word:
                values[position] = <any_t>(base + block * 64 + fs_ctz(word))
                position += 1
                word &= word - 1
