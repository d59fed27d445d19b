"""Groups of words of a narrow range, by the tables of presence.pyx.

`Presence.find` sets the bit of each key that is the first key with its word in its chunk. The bit
is cleared if an earlier chunk has an equal key. Then each word gets a group id, in ascending order
or in order of first occurrence, and the last pass writes the group id of every key.

A key that another thread changes between the passes may get another group, or group 0.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from fastsel._core.parallel cimport Job, chunk_start, clear, scan
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport new_intp, new_u32
from fastsel._simd.blocks cimport fs_ctz
from fastsel._simd.levels cimport level
from fastsel._unique.keys cimport any_t, key_at, keys_t
from fastsel._unique.ordered_keys cimport ordered_key_of
from fastsel._unique.presence cimport EntryPass, Presence, find_entries, range_t

cnp.import_array()


cpdef tuple dense(keys, tuple value_range, bint ascending, bint inverse, bint counts, int threads):
    """(first_occurrences, inverse, counts) of at least one word, with None for an output that is
    not wanted; None if a word has no entry. No word is a NaN that equals no item: otherwise all NaN
    are one group.

    If `ascending`, groups are in the order of their ordered keys, and first_occurrences has the
    position of the first key of each group. Otherwise groups are in order of first occurrence, and
    first_occurrences is a bitmask of the keys. keys and value_range are as for Presence.
    """
    cdef Presence presence = Presence(keys, value_range, True, counts, threads)
    cdef Py_ssize_t[::1] offsets
    cdef uint32_t[::1] group_ids
    cdef Py_ssize_t length = 0
    cdef cnp.ndarray index_out = None, inverse_out = None, counts_out = None
    if not presence.find():
        return None
    if ascending or presence.chunks > 1:
        length = presence.merge()
        ClearRepeated(presence, None, None).run(threads)
    if not (ascending or inverse or counts):
        return presence.bitmask, None, None
    group_ids = new_entries(presence, threads)
    if inverse:
        inverse_out = new_result(presence.keys.size, cnp.NPY_INTP)
    if ascending:
        AssignByWord(presence, group_ids).run(threads)
    else:
        offsets = new_intp(presence.key_chunks + 1)
        CountFirsts(presence, offsets, None).run(threads)
        scan(&offsets[0], presence.key_chunks)
        length = offsets[presence.key_chunks]
        AssignByFirst(presence, offsets, group_ids).run(threads)
    if ascending:
        index_out = new_zeros(length, threads)
        WriteIndex(presence, index_out, group_ids).run(threads)
    if counts:
        counts_out = new_zeros(length, threads)
        SumCounts(presence, group_ids, counts_out).run(threads)
    if inverse:
        WriteInverse(presence, inverse_out, group_ids).run(threads)
    return index_out if ascending else presence.bitmask, inverse_out, counts_out


cdef uint32_t[::1] first_positions_plus_1(Presence presence, int threads):
    """By entry: the position of its first key plus one, or 0 if no key has the entry. The caller
    has filled the tables, with first occurrences. There are fewer than 2^32 keys: otherwise
    positions wrap around."""
    cdef uint32_t[::1] positions_plus_1 = new_entries(presence, threads)
    presence.merge()
    ClearRepeated(presence, None, None).run(threads)
    AssignByFirst(presence, None, positions_plus_1).run(threads)
    return positions_plus_1


cdef cnp.ndarray new_zeros(Py_ssize_t length, int threads):
    """A new result of zeros. If another thread changes all keys of a group, nothing is written for
    the group, and its result is 0."""
    out = new_result(length, cnp.NPY_INTP)
    clear(cnp.PyArray_DATA(out), length * sizeof(Py_ssize_t), threads)
    return out


cdef uint32_t[::1] new_entries(Presence presence, int threads):
    """New zeros, one for each entry of a table. If another thread changes a key, the key may get an
    entry without a group: then its group is 0."""
    cdef uint32_t[::1] entries = new_u32(presence.entries)
    clear(&entries[0], presence.entries * sizeof(uint32_t), threads)
    return entries


cdef class AssignByWord(EntryPass):
    """Assign group ids in ascending order of the entries."""
    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const uint64_t[::1] bits = self.presence.bits
        cdef Py_ssize_t block, group = self.presence.offsets[k]
        cdef uint64_t word
        for block in range(self.begin(k), self.begin(k + 1)):
            word = bits[block]
            while word:
                self.group_ids[block * 64 + fs_ctz(word)] = <uint32_t>group
                group += 1
                word &= word - 1


cdef class SumCounts(EntryPass):
    """Sum the counts of each group over all chunks."""
    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const Py_ssize_t[::1] counts = self.presence.counts
        cdef Py_ssize_t entry, chunk, count
        for entry in range(self.begin(k) * 64, self.begin(k + 1) * 64):
            count = 0
            for chunk in range(self.presence.chunks):
                count += counts[chunk * self.presence.entries + entry]
            if count:
                self.out[self.group_ids[entry]] = count


cdef class DenseKeyPass(Job):
    """A pass over chunks of the keys; chunks are whole blocks. Only WriteInverse loads keys whose
    bits in first_bits are 0."""
    cdef Presence presence
    cdef Py_ssize_t[::1] out          # output of a pass, or the number of groups before each chunk
    cdef uint32_t[::1] group_ids      # by entry: the group of its word

    def __cinit__(self, Presence presence, Py_ssize_t[::1] out, uint32_t[::1] group_ids):
        self.presence, self.out, self.group_ids = presence, out, group_ids
        self.units, self.chunks = presence.key_blocks, presence.key_chunks

    cdef Py_ssize_t entry_of(self, Py_ssize_t i) noexcept nogil:
        """The entry of key i. If another thread has changed the key to a key without an entry, the
        result is some entry of the table."""
        cdef const range_t *value_range = &self.presence.value_range
        cdef uint64_t key = ordered_key_of(value_range.order_map, key_at(&self.presence.keys, i))
        return <Py_ssize_t>((key - value_range.base) & value_range.mask)


cdef class ClearRepeated(DenseKeyPass):
    """Clear the bits of keys that also occur in an earlier chunk, according to the merged
    tables."""
    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const uint8_t[::1] present = self.presence.present
        cdef uint64_t[::1] first_bits = self.presence.first_bits
        cdef Py_ssize_t entries = self.presence.entries, chunks = self.presence.chunks
        cdef Py_ssize_t block, table_chunk = 0
        cdef uint64_t word
        for block in range(self.begin(k), self.begin(k + 1)):
            while chunk_start(self.presence.key_blocks, chunks, table_chunk + 1) <= block:
                table_chunk += 1
            word = first_bits[block] if table_chunk else 0
            while word:
                if present[(table_chunk - 1) * entries + self.entry_of(block * 64 + fs_ctz(word))]:
                    first_bits[block] &= ~(word & (0 - word))
                word &= word - 1


cdef class CountFirsts(DenseKeyPass):
    """Count the first occurrences of each chunk."""
    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t start = self.begin(k)
        self.out[k] = level.count(&self.presence.first_bits[start], self.begin(k + 1) - start)


cdef class AssignByFirst(DenseKeyPass):
    """Assign group ids in order of first occurrence. If `out` is None, write first positions plus
    one instead of group ids."""
    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const uint64_t[::1] first_bits = self.presence.first_bits
        cdef bint has_ids = self.out is not None
        cdef Py_ssize_t block, i, group = self.out[k] if has_ids else 0
        cdef uint64_t word
        for block in range(self.begin(k), self.begin(k + 1)):
            word = first_bits[block]
            while word:
                i = block * 64 + fs_ctz(word)
                self.group_ids[self.entry_of(i)] = <uint32_t>(group if has_ids else i + 1)
                group += 1
                word &= word - 1


cdef class WriteIndex(DenseKeyPass):
    """Write the first position of each group."""
    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const uint64_t[::1] first_bits = self.presence.first_bits
        cdef Py_ssize_t block, i
        cdef uint64_t word
        for block in range(self.begin(k), self.begin(k + 1)):
            word = first_bits[block]
            while word:
                i = block * 64 + fs_ctz(word)
                self.out[self.group_ids[self.entry_of(i)]] = i
                word &= word - 1


cdef class WriteInverse(DenseKeyPass):
    """The last pass: write the group id of every key."""
    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const keys_t *keys = &self.presence.keys
        cdef Py_ssize_t start = self.begin(k), stop = self.begin(k + 1)
        if keys.width == 1:
            self.write(<uint8_t *>keys.data, start, stop)
        elif keys.width == 2:
            self.write(<uint16_t *>keys.data, start, stop)
        elif keys.width == 4:
            self.write(<uint32_t *>keys.data, start, stop)
        else:
            self.write(<uint64_t *>keys.data, start, stop)

    cdef void write(self, const any_t *items, Py_ssize_t block, Py_ssize_t stop) noexcept nogil:
        cdef const uint32_t[::1] group_ids = self.group_ids
        cdef Py_ssize_t[::1] inverse = self.out
        cdef const keys_t *keys = &self.presence.keys
        cdef uint32_t mask = <uint32_t>self.presence.value_range.mask
        cdef uint32_t[64] key_entries
        cdef Py_ssize_t j, n
        while block < stop:
            n = min(64, keys.size - block * 64)
            find_entries(&self.presence.value_range, &keys.rule, items + block * 64, n, key_entries)
            for j in range(n):
                inverse[block * 64 + j] = group_ids[key_entries[j] & mask]
            block += 1
