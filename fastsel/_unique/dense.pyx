"""Groups of keys of which nearly all are in a window, by the tables of window.pyx.

The few keys outside are sorted. For ascending values, the groups below the window, those of the
table and those above it follow each other. For the order of first occurrence, the first occurrences
of both are bits of one bitmask, and the rank of its bit is the id of a group.

A key that another thread changes between the passes may get another group, or group 0.
"""
import numpy as np

cimport numpy as cnp
from libc.stdint cimport intptr_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastsel._core.atomics cimport fs_store_u32
from fastsel._core.parallel cimport choose_threads, chunk_start, clear
from fastsel._core.results cimport new_array, new_result
from fastsel._core.scratch cimport new_u32
from fastsel._positions.bitmask cimport Bitmask, from_bits
from fastsel._simd.blocks cimport fs_ctz, is_sparse, word_t
from fastsel._simd.levels cimport level
from fastsel._unique.groups cimport (
    CACHE_BYTES, COST, Groups, Ranks, Request, Search, values_at)
from fastsel._unique.keys cimport Keys, fs_load_once, keeps_words, keys_t, restore_bits
from fastsel._unique.ordered_keys cimport ordered_key_of, to_words
from fastsel._unique.sorting cimport new_sorting
from fastsel._unique.window cimport COUNT_TABLES, EntryPass, WindowTable, find_entries

cdef enum:
    FEW_ENTRIES = 1 << 9      # with more entries, keys in a row seldom have the same count


cdef Groups new_dense(Search search):
    return Dense(search)


cdef class Dense(Groups):
    cdef WindowTable table
    cdef Groups rest              # the groups of the keys outside of the window, ascending, or None
    cdef cnp.ndarray rest_index   # the first position of each group of the rest; or None
    cdef Py_ssize_t in_window     # groups of the table
    cdef Py_ssize_t below         # groups of the rest that are below the window
    cdef uint32_t[::1] group_ids  # by entry, if an output needs them

    cpdef bint find(self) except -1:
        cdef Search search = self.search
        cdef keys_t *keys = &search.keys.fields
        # Canonical words are the items themselves: their values need no position.
        cdef bint by_position = search.by_position
        cdef bint are_words = keeps_words(&keys.rule) or not by_position
        cdef int threads = search.copy_threads
        cdef Py_ssize_t[::1] index
        cdef uint64_t[::1] bits
        cdef Py_ssize_t g
        if by_position and search.ascends and keys.size >= <Py_ssize_t>1 << 32:
            return False        # first_positions_plus_1
        self.table = WindowTable(
            search.keys, search.window, by_position, count_tables(search), threads)
        if not self.table.fill():
            return False
        self.find_rest(by_position)
        if search.ascends or search.request.counts or self.table.chunks > 1:
            self.in_window = merge_tables(self.table, threads)
        if search.ascends:
            self.direction = 1
            self.set_ascending(by_position, are_words)
        else:
            bits = self.table.first_bits
            if self.rest is not None:       # mark its first occurrences
                index = self.rest_index
                for g in range(index.shape[0]):
                    bits[index[g] >> 6] |= <uint64_t>1 << (index[g] & 63)
            self.set_first_occurrences(self.table.first_bits.base)
        return True

    cdef int find_rest(self, bint by_position) except -1:
        """Sort the keys outside of the window."""
        cdef Search search = self.search
        cdef Request request = search.request
        cdef Py_ssize_t outside = self.table.close_outside()
        cdef int threads = min(search.threads, choose_threads(
            outside * search.keys.fields.width, COST))
        cdef cnp.ndarray words
        cdef uint64_t[::1] values
        cdef Keys keys
        if outside == 0:
            return 0
        words = np.frombuffer(
            self.table.outside_words, f"u{search.keys.fields.width}", outside).copy()
        self.table.outside_words = None     # frees its memory
        keys = Keys(words, search.keys.rule, (0, 1))
        self.rest = new_sorting(Search(
            keys, words, Request(by_position, request.inverse, request.counts, True),
            threads, threads))
        if not self.rest.find():
            raise MemoryError()     # not reached: fewer keys than a part may have
        if by_position:
            self.rest_index = np.asarray(self.table.outside_positions)[self.rest.index]
            self.rest.index = None      # frees its memory
        values = self.rest.values.astype(np.uint64)
        while self.below < values.shape[0] and (
                ordered_key_of(&keys.fields.rule, values[self.below]) < self.table.window.base):
            self.below += 1

    cdef Py_ssize_t rest_groups(self):
        return 0 if self.rest is None else cnp.PyArray_SIZE(self.rest.values)

    # ---- ascending ----------------------------------------------------------------------

    cdef int set_ascending(self, bint by_position, bint are_words) except -1:
        cdef Search search = self.search
        cdef const keys_t *keys = &search.keys.fields
        cdef int threads = search.copy_threads
        cdef cnp.npy_intp groups = self.in_window + self.rest_groups()
        cdef WriteValues write
        cdef Py_ssize_t k
        for k in range(self.table.entry_chunks + 1):
            self.table.offsets[k] += self.below
        if by_position:
            self.group_ids = first_positions_plus_1(self.table, threads)
            self.index = new_result(groups, cnp.NPY_INTP)
            AssignByWord(self.table, self.group_ids, self.index).run(threads)
            if self.rest is not None:
                self.index[self.rest_ids()] = self.rest_index
        if not are_words:
            self.values = values_at(search.rows, self.index)
            return 0
        self.values = new_array(1, &groups, <cnp.dtype>cnp.PyArray_DESCR(search.keys.data))
        write = WriteValues(self.table)
        write.values = <char *>cnp.PyArray_DATA(<cnp.ndarray>self.values)
        write.run(threads)
        if not self.table.are_integers:     # float16, of which no key is outside of the window
            with nogil:
                to_words(&keys.rule, <uint16_t *>write.values, groups)
                restore_bits(keys, <uint16_t *>write.values, groups, NULL)
        if self.rest is not None:
            words, values = self.rest.values, self.values.view(self.rest.values.dtype)
            values[:self.below] = words[:self.below]
            values[self.below + self.in_window:] = words[self.below:]

    cdef cnp.ndarray rest_ids(self):
        """The ids of the groups of the rest among the ascending groups."""
        ids = np.arange(self.rest_groups())
        ids[self.below:] += self.in_window
        return ids

    # ---- inverse and counts -------------------------------------------------------------

    cpdef tuple finish(self, ranks):
        cdef Request request = self.search.request
        cdef int threads = self.search.copy_threads
        cdef cnp.ndarray inverse = None, counts = None, ids_of_rest = None
        cdef WriteInverse write
        if self.search.ascends:
            if not self.search.by_position:
                self.group_ids = new_u32(64 * self.table.entry_blocks)
                AssignByWord(self.table, self.group_ids).run(threads)
            ids_of_rest = self.rest_ids()
        else:
            ids_of_rest = self.assign_ids_by_first()
        rest_inverse, rest_counts = (None, None) if self.rest is None else self.rest.finish(None)
        if request.counts:
            # If another thread changes all keys of a group, nothing is written for the group.
            counts = new_result(cnp.PyArray_DIM(self.values, 0), cnp.NPY_INTP)
            clear(cnp.PyArray_DATA(counts), cnp.PyArray_NBYTES(counts), threads)
            SumCounts(self.table, self.group_ids, counts).run(threads)
            if self.rest is not None:
                counts[ids_of_rest] = rest_counts
        if request.inverse:
            inverse = new_result(self.search.keys.fields.size, request.inverse_type)
            write = WriteInverse(self.table, self.group_ids)
            write.inverse = inverse
            write.run(threads)
            if self.rest is not None:
                positions = np.asarray(self.table.outside_positions)[:len(rest_inverse)]
                inverse[positions] = ids_of_rest[rest_inverse]
        return inverse, counts

    cdef cnp.ndarray assign_ids_by_first(self):
        """Assign group ids in order of first occurrence. Returns the ids of the groups of the rest;
        None if no key is outside of the window."""
        cdef int threads = self.search.copy_threads
        cdef Bitmask mask = from_bits(
            self.table.first_bits, self.search.keys.fields.width, threads)
        cdef Py_ssize_t[::1] ids
        cdef AssignByFirst assign
        cdef Ranks ranks
        cdef Py_ssize_t g
        self.group_ids = new_entries(self.table, threads)
        assign = AssignByFirst(self.table, self.group_ids, mask.offsets)
        assign.chunks = mask.offsets.shape[0] - 1
        assign.run(threads)
        if self.rest is None:
            return None
        ranks = Ranks(mask, threads)
        out = self.rest_index.copy()
        ids = out
        for g in range(ids.shape[0]):
            ids[g] = ranks.rank(ids[g])
        return out


cdef int count_tables(Search search) except -1:
    """The number of tables of counts of each chunk. A CPU waits for a count that it has just
    written; if few words have most of the keys, that happens less often in several tables. All
    tables together have at most 4 bytes for each key."""
    cdef Py_ssize_t entries, entries_of_densest
    if not search.request.counts:
        return 0
    _, entries = search.window
    *_, (_, entries_of_densest) = search.windows
    if (entries_of_densest <= FEW_ENTRIES and entries <= min(
            CACHE_BYTES // (4 * COUNT_TABLES), search.size // (5 * search.copy_threads))):
        return COUNT_TABLES
    return 1


cdef Py_ssize_t merge_tables(WindowTable table, int threads) except -1:
    """Merge the tables of all chunks; only the first occurrences of all keys keep their bits.
    Returns the number of distinct words in the window."""
    cdef Py_ssize_t groups = table.merge()
    if table.first_bits is not None and table.chunks > 1:
        ClearRepeated(table).run(threads)
    return groups


cdef uint32_t[::1] first_positions_plus_1(WindowTable table, int threads):
    """By entry: the position of its first key plus one, or 0 if no key has the entry. The tables
    are merged, and have first positions. There are fewer than 2^32 keys: otherwise positions wrap
    around."""
    cdef uint32_t[::1] positions_plus_1 = new_entries(table, threads)
    AssignByFirst(table, positions_plus_1).run(threads)
    return positions_plus_1


cdef uint32_t[::1] new_entries(WindowTable table, int threads):
    """New zeros, one for each entry of a table, and for the entry behind the window. If another
    thread changes a key, the key may get an entry without a group: then its group is 0."""
    cdef uint32_t[::1] entries = new_u32(64 * table.entry_blocks)
    clear(&entries[0], 64 * table.entry_blocks * sizeof(uint32_t), threads)
    return entries


# ---- passes over the entries ------------------------------------------------------------


cdef class WriteValues(EntryPass):
    """Write the words whose bits are set; of float16, the ordered keys."""
    cdef char *values

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t width = self.table.keys.fields.width
        if width == 1:
            self.write(k, <uint8_t *>self.values)
        elif width == 2:
            self.write(k, <uint16_t *>self.values)
        elif width == 4:
            self.write(k, <uint32_t *>self.values)
        else:
            self.write(k, <uint64_t *>self.values)

    cdef void write(self, Py_ssize_t k, word_t *values) noexcept nogil:
        cdef const uint64_t[::1] bits = self.table.bits
        cdef Py_ssize_t start = self.begin(k), stop = self.begin(k + 1), block
        cdef Py_ssize_t position = self.table.offsets[k]
        cdef Py_ssize_t count = self.table.offsets[k + 1] - self.table.offsets[k]
        cdef uint64_t base = self.table.base_word if self.table.are_integers else 0, word
        if word_t is uint64_t:     # a word is base plus the bit's index
            level.write(&bits[start], stop - start, <intptr_t>(base + start * 64),
                        is_sparse(count, stop - start), <intptr_t *>values + position, count)
        else:
            for block in range(start, stop):
                word = bits[block]
                while word:
                    values[position] = <word_t>(base + block * 64 + fs_ctz(word))
                    position += 1
                    word &= word - 1


cdef class AssignByWord(EntryPass):
    """Assign group ids in ascending order of the entries; entries without a group get 0. If `out`
    is not None, group_ids has first positions plus one: `out` gets the position of each group."""
    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const uint64_t[::1] bits = self.table.bits
        cdef Py_ssize_t[::1] out = self.out
        cdef bint has_positions = out is not None
        cdef Py_ssize_t block, group = self.table.offsets[k], j
        cdef uint32_t[64] positions_plus_1
        cdef uint32_t *ids
        cdef uint64_t word
        for block in range(self.begin(k), self.begin(k + 1)):
            ids, word = &self.group_ids[block * 64], bits[block]
            if has_positions:
                memcpy(positions_plus_1, ids, sizeof(positions_plus_1))
            memset(ids, 0, sizeof(positions_plus_1))
            while word:
                j = fs_ctz(word)
                if has_positions:       # 0 if another thread has changed the keys
                    out[group] = <Py_ssize_t>max(positions_plus_1[j], 1) - 1
                ids[j] = <uint32_t>group
                group += 1
                word &= word - 1


cdef class SumCounts(EntryPass):
    """Sum the counts of each group over all chunks."""
    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const uint64_t[::1] bits = self.table.bits
        cdef Py_ssize_t length = 64 * self.table.entry_blocks, block, table, j
        cdef const uint32_t *counts
        cdef uint64_t[64] sums
        cdef uint64_t word
        for block in range(self.begin(k), self.begin(k + 1)):
            word = bits[block]
            if word == 0:
                continue
            memset(sums, 0, sizeof(sums))
            for table in range(self.table.chunks * self.table.count_tables):
                counts = &self.table.counts[table * length + block * 64]
                for j in range(64):
                    sums[j] += counts[j]
            while word:
                j = fs_ctz(word)
                self.out[self.group_ids[block * 64 + j]] = <Py_ssize_t>sums[j]
                word &= word - 1


# ---- passes over the keys ---------------------------------------------------------------


cdef class DenseKeyPass(EntryPass):
    """A pass over chunks of the keys instead; chunks are whole blocks. Only WriteInverse loads
    blocks whose bits in first_bits are 0."""
    def __cinit__(self, WindowTable table, *_):
        self.units, self.chunks = table.key_blocks, table.key_chunks

    cdef inline Py_ssize_t load_entries(self, Py_ssize_t block, uint32_t *entries) noexcept nogil:
        """Write the entries of the keys of a block. Returns how many there are."""
        cdef const keys_t *keys = &self.table.keys.fields
        cdef const char *data = keys.data + block * 64 * keys.width
        cdef Py_ssize_t n = min(64, keys.size - block * 64)
        if keys.width == 1:
            load_and_find(self.table, <const uint8_t *>data, n, entries)
        elif keys.width == 2:
            load_and_find(self.table, <const uint16_t *>data, n, entries)
        elif keys.width == 4:
            load_and_find(self.table, <const uint32_t *>data, n, entries)
        else:
            load_and_find(self.table, <const uint64_t *>data, n, entries)
        return n


cdef inline void load_and_find(WindowTable table, const word_t *items, Py_ssize_t n,
                               uint32_t *entries) noexcept nogil:
    cdef word_t[64] words
    fs_load_once(words, items, n * sizeof(word_t))
    find_entries(table, words, n, entries)


cdef class ClearRepeated(DenseKeyPass):
    """Clear the bits of keys that also occur in an earlier chunk, according to the merged
    tables."""
    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const uint8_t[::1] present = self.table.present
        cdef uint64_t[::1] first_bits = self.table.first_bits
        cdef Py_ssize_t length = 64 * self.table.entry_blocks, chunks = self.table.chunks
        cdef Py_ssize_t block, table_chunk = 0, j
        cdef uint32_t[64] entries
        cdef uint8_t[64] seen
        cdef uint64_t repeated
        memset(seen, 0, sizeof(seen))
        for block in range(self.begin(k), self.begin(k + 1)):
            while chunk_start(self.table.key_blocks, chunks, table_chunk + 1) <= block:
                table_chunk += 1
            if table_chunk and first_bits[block]:
                for j in range(self.load_entries(block, entries)):
                    seen[j] = present[(table_chunk - 1) * length + entries[j]]
                level.pack[0](<const char *>seen, 0xff, &repeated, 1)
                first_bits[block] &= ~repeated


cdef class AssignByFirst(DenseKeyPass):
    """Assign group ids in order of first occurrence; `out` has the number of groups before each
    chunk. If it is None, write first positions plus one instead of group ids."""
    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const uint64_t[::1] first_bits = self.table.first_bits
        cdef bint has_ids = self.out is not None
        cdef Py_ssize_t block, j, group = self.out[k] if has_ids else 0
        cdef uint32_t[64] entries
        cdef uint64_t word
        for block in range(self.begin(k), self.begin(k + 1)):
            word = first_bits[block]
            if word:
                self.load_entries(block, entries)
            while word:
                j = fs_ctz(word)
                # Two threads write to an entry if another thread has changed a key to another.
                fs_store_u32(&self.group_ids[entries[j]],
                             <uint32_t>(group if has_ids else block * 64 + j + 1))
                group += 1
                word &= word - 1


cdef class WriteInverse(DenseKeyPass):
    """The last pass: write the group id of every key; keys outside of the window get any id,
    which `finish` replaces."""
    cdef cnp.ndarray inverse          # of 4 or 8 bytes for each key

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const uint32_t[::1] group_ids = self.group_ids
        cdef bint is_narrow = cnp.PyArray_ITEMSIZE(self.inverse) == 4
        cdef uint32_t *narrow = <uint32_t *>cnp.PyArray_DATA(self.inverse)
        cdef Py_ssize_t *wide = <Py_ssize_t *>cnp.PyArray_DATA(self.inverse)
        cdef uint32_t[64] entries
        cdef Py_ssize_t block, j, n
        for block in range(self.begin(k), self.begin(k + 1)):
            n = self.load_entries(block, entries)
            if is_narrow:
                for j in range(n):
                    narrow[block * 64 + j] = group_ids[entries[j]]
            else:
                for j in range(n):
                    wide[block * 64 + j] = group_ids[entries[j]]
