"""Direct-address tables for a window of the keys: each word in the window has an entry.

Each chunk of the keys has a table. If only the words are needed, an entry is a byte, or a bit if
there are many; if their counts are needed, a number. If first occurrences are needed, an entry is a
byte, and a bitmask gets a bit for each key that is the first key of its word in its chunk. `merge`
merges the tables. Entries, and so the distinct words, are in ascending order.

Keys outside of the window (sentinels, typos, the tail of a distribution) are listed, with their
positions. No key outside throws the pass away, unless a chunk has no more room for it.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memmove, memset

from fastsel._core.parallel cimport Job, choose_threads, chunk_count, round_start, scan
from fastsel._core.scratch cimport new_intp, new_memory, new_u32, new_u64, new_u8
from fastsel._simd.blocks cimport FS_REQUIRE, blocks_of, fs_ctz, word_t
from fastsel._simd.levels cimport level
from fastsel._unique.groups cimport L2_BYTES
from fastsel._unique.keys cimport canonical, fs_load_once, keeps_words
from fastsel._unique.ordered_keys cimport ordered_key_of, word_of

cdef enum:
    # A chunk has room for one key outside of the window in MAX_OUTSIDE_SHARE keys.
    MAX_OUTSIDE_SHARE = 7


cdef class WindowTable(Job):
    def __init__(self, Keys keys not None, object window, bint first_positions,
                 int count_tables, int threads):
        """Tables for at least one key; the keys are words with an order. window is (base, entries):
        each of `entries` < 2^32 ordered keys from base on has an entry, and `entries` is a power of
        two. For bytes and float16 it has all of them, and for other keys every word is canonical:
        otherwise memory beyond the table is written. No NaN that equals no item is in
        the window: otherwise all NaN are one group. Each chunk has `count_tables` tables of counts:
        0, 1, or COUNT_TABLES, which take keys in turn."""
        cdef Py_ssize_t size = keys.fields.size, width = keys.fields.width, tables, nbytes
        cdef bint has_bytes, has_bits, has_all
        self.keys, self.count_tables, self.threads = keys, count_tables, threads
        self.window.base, self.window.entries = window
        FS_REQUIRE(self.window.entries & (self.window.entries - 1) == 0)
        self.base_word = word_of(&keys.fields.rule, self.window.base)
        self.are_integers = (
            keeps_words(&keys.fields.rule) and keys.fields.rule.negative == 0)
        has_all = width <= 2 and self.window.entries == <uint64_t>1 << (8 * width)
        FS_REQUIRE(has_all or width > 2 or width == 2 and self.are_integers)
        self.key_blocks = blocks_of(size)
        self.entry_blocks = <Py_ssize_t>(self.window.entries >> 6) + 1
        self.chunks = max(1, min(self.key_blocks, threads))
        # A table that fits the L2 cache has a byte for each entry, if that is at most twice the
        # bytes of the keys of its chunk. A byte is written without a read; to write a bit, the CPU
        # has to read the word of the bit, and waits for the last write to this word.
        has_bytes = first_positions or not count_tables and <Py_ssize_t>self.window.entries <= min(
            <Py_ssize_t>L2_BYTES, 2 * size * width // self.chunks)
        has_bits = not (has_bytes or count_tables)
        # A table of bits pays if the keys of its chunk have at least half of the table's bytes.
        if has_bits:
            self.chunks = max(1, min(self.chunks, size * width // (5 * self.entry_blocks)))
        self.chunks = max(self.chunks, (size >> 31) + 1)    # a chunk's counts have 32 bits
        self.rounds = chunk_count(self.key_blocks // self.chunks, 1, 64 * width)
        self.key_chunks = chunk_count(self.key_blocks, threads, 64 * (width + sizeof(Py_ssize_t)))
        tables = self.chunks * self.entry_blocks
        nbytes = tables * (8 if has_bits else 64 * (has_bytes + 4 * count_tables))
        # Few entries are merged and numbered before other threads have started.
        self.entry_chunks = chunk_count(
            self.entry_blocks, min(threads, choose_threads(nbytes)) if threads > 1 else 1)
        self.bits = new_u64(tables if has_bits else self.entry_blocks)
        self.present = new_u8(64 * tables) if has_bytes else None
        self.counts = new_u32(64 * tables * count_tables) if count_tables else None
        self.first_bits = self.offsets = None
        if first_positions:
            self.first_bits = cnp.PyArray_EMPTY(1, &self.key_blocks, cnp.NPY_UINT64, 0)
        # A block may write up to 64 keys beyond the room, which count as no room.
        self.room = 0 if has_all else size // self.chunks // MAX_OUTSIDE_SHARE + 64
        self.outside_words = new_memory(self.chunks * (self.room + 64), width, b"B")
        self.outside_positions = new_intp(self.chunks * (self.room + 64))
        self.outside = new_intp(self.chunks)

    cdef bint fill(self) except -1:
        """Fill the tables. Returns False if too many keys are outside of the window."""
        cdef Py_ssize_t k
        self.run_rounds(self.rounds, self.threads)
        for k in range(self.chunks):
            if self.outside[k] < 0:
                return False
        return True

    cdef Py_ssize_t merge(self) except -1:
        """Merge the tables. Returns the number of distinct words in the window."""
        self.offsets = new_intp(self.entry_chunks + 1)
        MergeTables(self).run(self.threads)
        scan(&self.offsets[0], self.entry_chunks)
        return self.offsets[self.entry_chunks]

    cdef Py_ssize_t close_outside(self) noexcept:
        """Make the lists of all chunks one list, in the order of the keys. Returns its length."""
        cdef Py_ssize_t k, n, start, width = self.keys.fields.width, total = 0
        cdef char *words = <char *>self.outside_words.data
        cdef Py_ssize_t *positions = &self.outside_positions[0]
        for k in range(self.chunks):
            start, n = k * (self.room + 64), self.outside[k]
            memmove(positions + total, positions + start, n * sizeof(Py_ssize_t))
            memmove(words + total * width, words + start * width, n * width)
            total += n
        return total

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        """Add the keys that chunk k % chunks handles in round k // chunks."""
        cdef Py_ssize_t start = round_start(self.key_blocks, self.chunks, self.rounds, k)
        cdef Py_ssize_t stop = round_start(
            self.key_blocks, self.chunks, self.rounds, k + self.chunks)
        cdef Py_ssize_t chunk = k % self.chunks, length = 64 * self.entry_blocks
        cdef const char *data = self.keys.fields.data
        if k < self.chunks:
            self.outside[chunk] = 0
            if self.present is not None:
                memset(&self.present[chunk * length], 0, length)
            if self.counts is not None:
                memset(&self.counts[chunk * length * self.count_tables], 0,
                       length * self.count_tables * sizeof(uint32_t))
            if self.present is None and self.counts is None:
                memset(&self.bits[chunk * self.entry_blocks], 0, length // 8)
        if self.keys.fields.width == 1:
            add(self, <uint8_t *>data, chunk, start, stop)
        elif self.keys.fields.width == 2:
            add(self, <uint16_t *>data, chunk, start, stop)
        elif self.keys.fields.width == 4:
            add(self, <uint32_t *>data, chunk, start, stop)
        else:
            add(self, <uint64_t *>data, chunk, start, stop)


cdef void add(WindowTable self, const word_t *items, Py_ssize_t chunk, Py_ssize_t block,
              Py_ssize_t stop) noexcept nogil:
    """Add the keys of blocks `block` to stop - 1. Each call has constant arguments, so that several
    loops are compiled."""
    if self.counts is None and self.present is None:
        add_blocks(self, items, chunk, block, stop, False, False, False)
    elif self.counts is None and self.first_bits is None:
        add_blocks(self, items, chunk, block, stop, True, False, False)
    elif self.counts is None:
        add_blocks(self, items, chunk, block, stop, True, True, False)
    elif self.first_bits is None:
        add_blocks(self, items, chunk, block, stop, False, False, True)
    else:
        add_blocks(self, items, chunk, block, stop, True, True, True)


cdef inline void add_blocks(WindowTable self, const word_t *items, Py_ssize_t chunk,
                            Py_ssize_t block, Py_ssize_t stop, bint has_bytes,
                            bint first_positions, bint counted) noexcept nogil:
    cdef uint64_t[::1] bits = self.bits, first_bits = self.first_bits
    cdef uint8_t[::1] present = self.present
    cdef uint32_t[::1] counts = self.counts
    cdef Py_ssize_t length = 64 * self.entry_blocks, table = chunk * length
    cdef Py_ssize_t first_word = chunk * self.entry_blocks
    cdef Py_ssize_t whole = min(stop, self.keys.fields.size >> 6), j, n
    cdef uint8_t[256] bytes_seen
    cdef uint32_t[64] entries
    cdef word_t[64] words
    cdef uint8_t[64] is_new
    cdef uint8_t all_seen
    if word_t is uint8_t:
        if not counted:
            see_bytes(self, table, bytes_seen)
    while block < stop:
        if word_t is uint8_t:
            if not counted:             # skip blocks whose bytes are all in the table
                n = max(0, level.skip_seen(
                    <const char *>items + block * 64, whole - block, bytes_seen))
                if first_positions and n:
                    memset(&first_bits[block], 0, n * sizeof(uint64_t))
                block += n
                if block >= stop:
                    break
        n = min(64, self.keys.fields.size - block * 64)
        fs_load_once(words, items + block * 64, n * sizeof(word_t))
        if find_entries(self, words, n, entries):
            if self.outside[chunk] < 0 or not list_outside(self, words, entries, n, chunk, block):
                return
        if counted:
            count_entries(&counts[table * self.count_tables],
                          length if self.count_tables > 1 else 0, entries, n)
        if first_positions:
            all_seen = all_are_set(&present[table], entries, n)
            if all_seen:
                first_bits[block] = 0
            else:
                memset(is_new, 0, sizeof(is_new))
                for j in range(n):
                    is_new[j] = present[table + entries[j]] ^ 1
                    present[table + entries[j]] = 1
                for j in range(n):      # keys outside of the window are not marked
                    is_new[j] &= entries[j] != <uint32_t>self.window.entries
                level.pack[0](<const char *>is_new, 0xff, &first_bits[block], 1)
        elif has_bytes:
            all_seen = 0
            if word_t is uint8_t:
                all_seen = all_are_set(&present[table], entries, n)
            for j in range(n):
                present[table + entries[j]] = 1
        elif not counted:
            all_seen = 1
            for j in range(n):
                all_seen &= <uint8_t>(bits[first_word + (entries[j] >> 6)] >> (entries[j] & 63))
            if not all_seen & 1:
                for j in range(n):
                    bits[first_word + (entries[j] >> 6)] |= <uint64_t>1 << (entries[j] & 63)
        if word_t is uint8_t:
            if not (counted or all_seen & 1):
                see_bytes(self, table, bytes_seen)
        block += 1


cdef inline void count_entries(uint32_t *counts, Py_ssize_t step, const uint32_t *entries,
                               Py_ssize_t n) noexcept nogil:
    """Count n entries in COUNT_TABLES tables in turn, which are `step` entries apart; if step is 0,
    in one table."""
    cdef Py_ssize_t j = 0, a, b, c, d
    while j < n - 3:
        a, b, c, d = entries[j], entries[j + 1], entries[j + 2], entries[j + 3]
        counts[a] += 1
        counts[step + b] += 1
        counts[2 * step + c] += 1
        counts[3 * step + d] += 1
        j += 4
    while j < n:
        counts[entries[j]] += 1
        j += 1


cdef inline uint8_t all_are_set(const uint8_t *flags, const uint32_t *entries,
                                Py_ssize_t n) noexcept nogil:
    """Are the flags of n entries all 1? The flags of four entries are loaded at a time."""
    cdef uint8_t seen = 1
    cdef Py_ssize_t j = 0
    while j < n - 3:
        seen &= (flags[entries[j]] & flags[entries[j + 1]]
                 & flags[entries[j + 2]] & flags[entries[j + 3]])
        j += 4
    while j < n:
        seen &= flags[entries[j]]
        j += 1
    return seen


cdef bint list_outside(WindowTable self, const word_t *words, const uint32_t *entries,
                       Py_ssize_t n, Py_ssize_t chunk, Py_ssize_t block) noexcept nogil:
    """List the keys of a block that are outside of the window. Returns False if there is no room.
    """
    cdef Py_ssize_t start = chunk * (self.room + 64), length = self.outside[chunk], j
    cdef word_t *listed = <word_t *>self.outside_words.data + start
    cdef Py_ssize_t *positions = &self.outside_positions[start]
    cdef uint64_t mask
    # The number of entries is a power of two: no entry in the window has its bit.
    level.pack[2](<const char *>entries, <uint64_t>self.window.entries, &mask, 1)
    mask &= <uint64_t>-1 >> (64 - n)
    while mask:
        j = fs_ctz(mask)
        listed[length] = words[j]
        positions[length] = block * 64 + j
        length += 1
        mask &= mask - 1
    self.outside[chunk] = length if length <= self.room else -1
    return length <= self.room


cdef inline void see_bytes(WindowTable self, Py_ssize_t table, uint8_t *seen) noexcept nogil:
    """Write to `seen`, for each byte, whether the table has its canonical word."""
    cdef const keys_t *keys = &self.keys.fields
    cdef Py_ssize_t entry
    cdef int byte
    for byte in range(256):
        entry = table + <Py_ssize_t>(
            ordered_key_of(&keys.rule, canonical(&keys.rule, byte)) & 0xff)
        if self.present is not None:
            seen[byte] = self.present[entry]
        else:
            seen[byte] = <uint8_t>(self.bits[entry >> 6] >> (entry & 63)) & 1


cdef class EntryPass(Job):
    def __cinit__(self, WindowTable table, uint32_t[::1] group_ids=None,
                  Py_ssize_t[::1] out=None):
        self.table, self.group_ids, self.out = table, group_ids, out
        self.units, self.chunks = table.entry_blocks, table.entry_chunks


cdef class MergeTables(EntryPass):
    """Merge the tables into the bits of chunk 0, without the entry behind the window, and count the
    distinct words. With bytes, the table of each chunk also gets the words of the chunks before
    it."""
    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef uint64_t[::1] bits = self.table.bits
        cdef uint8_t[::1] present = self.table.present
        cdef const uint32_t[::1] counts = self.table.counts
        cdef Py_ssize_t start = self.begin(k), stop = self.begin(k + 1), chunk, block, entry
        cdef Py_ssize_t length = 64 * self.table.entry_blocks, last = self.table.entry_blocks - 1
        cdef uint64_t word
        if counts is not None:
            memset(&bits[start], 0, (stop - start) * sizeof(uint64_t))
            for chunk in range(self.table.chunks * self.table.count_tables):
                for block in range(start, stop):
                    level.pack[2](<const char *>&counts[chunk * length + 64 * block], 0xffffffff,
                                  &word, 1)
                    bits[block] |= word
        for chunk in range(self.table.chunks):
            if present is None and counts is None and chunk:
                for block in range(start, stop):
                    bits[block] |= bits[chunk * (length >> 6) + block]
            if present is not None and chunk:
                for entry in range(start * 64, stop * 64):
                    present[chunk * length + entry] |= present[(chunk - 1) * length + entry]
        if present is not None and counts is None:
            level.pack[0](<const char *>&present[(self.table.chunks - 1) * length + start * 64],
                          0xff, &bits[start], stop - start)
        if stop > last:
            bits[last] &= ((<uint64_t>1 << (self.table.window.entries & 63)) - 1)
        self.table.offsets[k] = level.count(&bits[start], stop - start)
