"""First occurrences in keys that ascend or descend already. Equal keys lie side by side, so no key
has to be looked up."""
import numpy as np

cimport numpy as cnp
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy

from fastsel._core.atomics cimport fs_mark
from fastsel._core.results cimport new_result
from fastsel._positions.bitmask cimport Bitmask, from_bits
from fastsel._positions.coordinates cimport BitmaskPass, flat
from fastsel._simd.blocks cimport blocks_of, rule_t
from fastsel._simd.levels cimport level
from fastsel._unique.groups cimport Groups, Search, relabel
from fastsel._unique.keys cimport BATCH, key_at, keys_t, load_words
from fastsel._unique.ordered_keys cimport ordered_key_of

cdef enum:
    # The bits of what `mark` returns.
    RISES = 1               # a key was greater than the key before it
    FALLS = 2               # a key was less than the key before it


cdef Groups new_presorted(Search search):
    return Presorted(search)


cdef class Presorted(Groups):
    """Groups of keys that ascend or descend already: numbers of 4 or 8 bytes, or strings."""
    cdef cnp.ndarray run_starts   # bitmask of the first keys of runs
    cdef uint64_t *bits           # its data
    cdef uint8_t[4] seen          # 1 at each number that `mark` has returned

    cpdef bint find(self) except -1:
        cdef const keys_t *keys = &self.search.keys.fields
        cdef cnp.npy_intp blocks = blocks_of(keys.size)
        cdef uint64_t[BATCH >> 6] first_bits
        if keys.rule.character_width == 0 and (not keys.rule.is_ordered or keys.width < 4):
            return False
        self.bits = first_bits
        if self.mark(0, min(blocks, BATCH >> 6)) == RISES | FALLS:
            return False
        self.run_starts = cnp.PyArray_EMPTY(1, &blocks, cnp.NPY_UINT64, 0)
        self.bits = <uint64_t *>cnp.PyArray_DATA(self.run_starts)
        self.run_units(blocks, 64 * keys.width, self.search.copy_threads)
        if self.seen[RISES | FALLS] or self.seen[RISES] and self.seen[FALLS]:
            return False
        # If each NaN is a group, descending keys have no direction: the reverse of several NaN
        # would be in the wrong order.
        self.direction = 1 if not self.seen[FALLS] else 0 if keys.rule.nan_unequal else -1
        self.set_first_occurrences(self.run_starts)
        return True

    cpdef tuple finish(self, ranks):
        cdef Search search = self.search
        cdef cnp.ndarray inverse = None, counts = None
        cdef Bitmask mask
        cdef GroupRuns job
        if not (search.request.inverse or search.request.counts):
            return None, None
        mask = from_bits(self.run_starts, search.keys.fields.width, search.copy_threads)
        if search.request.inverse:
            inverse = new_result(search.keys.fields.size, cnp.NPY_INTP)
            job = GroupRuns()
            job.read(mask)
            job.inverse = inverse
            job.run(search.copy_threads)
            if ranks is not None:
                relabel(ranks, inverse, search.copy_threads)
        if search.request.counts:
            starts = flat(mask, search.copy_threads)
            last = len(starts) - 1
            counts = new_result(last + 1, cnp.NPY_INTP)
            np.subtract(starts[1:], starts[:last], out=counts[:last])
            counts[last] = search.keys.fields.size - starts[last]
        return inverse, counts

    cpdef tuple positions(self, ranks):
        cdef Search search = self.search
        if ranks is not None:
            return None
        mask = from_bits(self.run_starts, search.keys.fields.width, search.copy_threads)
        starts = flat(mask, search.copy_threads)
        groups = len(starts)
        offsets = new_result(groups + 1, cnp.NPY_INTP)
        offsets[:groups], offsets[groups] = starts, search.keys.fields.size
        return np.arange(search.keys.fields.size), offsets

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        """Mark the first key of each group, while all keys ascend, or all descend."""
        fs_mark(&self.seen[self.mark(self.begin(k), self.begin(k + 1))])

    cdef uint8_t mark(self, Py_ssize_t block, Py_ssize_t stop) noexcept nogil:
        """Write the bits of blocks `block` to stop - 1. Returns 0, RISES, FALLS or both; if both,
        some bits may not be written."""
        if self.search.keys.fields.rule.character_width:
            return self.mark_strings(block, stop)
        return self.mark_numbers(block, stop)

    cdef uint8_t mark_numbers(self, Py_ssize_t block, Py_ssize_t stop) noexcept nogil:
        cdef const keys_t *keys = &self.search.keys.fields
        cdef Py_ssize_t width = keys.width, whole = min(stop, keys.size >> 6), done
        cdef uint64_t last = ordered_key_of(
            &keys.rule, key_at(keys, max(block * 64 - 1, 0)))
        cdef bint is_start = block == 0
        cdef int seen = 0
        while block < stop and seen != RISES | FALLS:
            done = 0
            if block < whole and not keys.rule.nan_unequal:
                done = level.mark_changes[width == 8](
                    keys.data + block * 64 * width, min(whole - block, BATCH >> 6),
                    &keys.rule, &last, &self.bits[block], &seen)
            if done == 0:       # a partial block, -0.0, NaN, or each NaN is a group
                self.mark_block(block, &last, &seen)
                done = 1
            block += done
        if is_start:
            self.bits[0] |= 1
        return <uint8_t>seen

    cdef void mark_block(self, Py_ssize_t block, uint64_t *last, int *seen) noexcept nogil:
        """mark_numbers for one block: its words become canonical, and a partial block is filled up
        with its last key."""
        cdef const keys_t *keys = &self.search.keys.fields
        cdef uint64_t[64] words
        cdef uint32_t[64] narrow
        cdef rule_t rule = keys.rule
        cdef Py_ssize_t n = min(keys.size - block * 64, 64), j
        load_words(keys, block * 64, n, words)
        for j in range(n, 64):
            words[j] = words[n - 1]
        for j in range(64):
            narrow[j] = <uint32_t>words[j]
        rule.significant = rule.limit = <uint64_t>-1    # the words are canonical
        level.mark_changes[keys.width == 8](
            <const char *>words if keys.width == 8 else <const char *>narrow, 1, &rule, last,
            &self.bits[block], seen)
        for j in range(n):
            if keys.rule.nan_unequal and words[j] == keys.rule.nan:
                self.bits[block] |= <uint64_t>1 << j

    cdef uint8_t mark_strings(self, Py_ssize_t block, Py_ssize_t stop) noexcept nogil:
        cdef const keys_t *keys = &self.search.keys.fields
        cdef Py_ssize_t width = keys.width, i
        cdef const char *string
        cdef uint64_t word
        cdef uint8_t seen = 0
        cdef int comparison
        while block < stop and seen != RISES | FALLS:
            word = block == 0
            for i in range(max(block * 64, 1), min(block * 64 + 64, keys.size)):
                string = keys.data + i * width
                comparison = compare(string - width, string, width, keys.rule.character_width)
                word |= <uint64_t>(comparison != 0) << (i & 63)
                seen |= RISES if comparison < 0 else FALLS if comparison > 0 else 0
            self.bits[block] = word
            block += 1
        return seen


cdef inline int compare(const char *one, const char *other, Py_ssize_t width,
                        int character_width) noexcept nogil:
    """Compare two strings by their characters. Negative if `one` is less than `other`, positive if
    it is greater, 0 if both are equal."""
    cdef uint32_t a, b
    cdef Py_ssize_t offset
    if character_width == 1:
        return memcmp(one, other, width)
    for offset in range(0, width, 4):
        memcpy(&a, one + offset, 4)
        memcpy(&b, other + offset, 4)
        if a != b:
            return -1 if a < b else 1
    return 0


# ---- runs -------------------------------------------------------------------------------


cdef class GroupRuns(BitmaskPass):
    """Write the inverse of keys in runs, whose first keys the bitmask marks: the group id of a key
    is the index of its run."""
    cdef Py_ssize_t[::1] inverse

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const uint64_t[::1] bits = self.bits
        cdef Py_ssize_t[::1] inverse = self.inverse
        cdef Py_ssize_t run = self.offsets[k] - 1, i, stop = self.begin(k + 1) * 64
        for i in range(self.begin(k) * 64, min(stop, inverse.shape[0])):
            run += bits[i >> 6] >> (i & 63) & 1
            inverse[i] = run
