"""First occurrences in keys that ascend or descend already. Equal keys lie side by side, so no key
has to be looked up."""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy

from fastsel._core.parallel cimport Job, chunk_count
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport new_u8
from fastsel._simd.blocks cimport blocks_of
from fastsel._unique.keys cimport BLOCKS, key_at, keys_t, load_words, set_keys
from fastsel._simd.levels cimport level
from fastsel._unique.ordered_keys cimport ordered_key_of

cnp.import_array()

cdef enum:
    # The bits of `seen`.
    RISES = 1               # a key was greater than the key before it
    FALLS = 2               # a key was less than the key before it

cpdef tuple presorted(keys, int threads):
    """(bits, direction), or None if the keys neither ascend nor descend. bits is the bitmask of the
    first occurrences. direction is 1 if the keys ascend, or all are equal; -1 if they descend; 0 if
    they descend and each NaN is a group, because the reverse of several NaN would be in the wrong
    order. keys is a Keys, or a tuple of its fields, of at least one key: numbers of 4 or 8 bytes
    with an order_map, or strings without one.
    """
    cdef MarkRuns job = MarkRuns()
    cdef cnp.npy_intp blocks
    cdef uint8_t seen = 0
    cdef Py_ssize_t k
    set_keys(&job.keys, keys, (0, 1))
    order_map, job.character_width = keys[5:]
    if order_map is not None:
        job.order_map = order_map
    blocks = blocks_of(job.keys.size)
    bits = cnp.PyArray_EMPTY(1, &blocks, cnp.NPY_UINT64, 0)
    job.bits = bits
    if job.mark(0, min(blocks, BLOCKS)) == RISES | FALLS:
        return None
    job.units, job.chunks = blocks, chunk_count(blocks, threads, 64 * job.keys.width)
    job.seen = new_u8(job.chunks)
    job.run(threads)
    for k in range(job.chunks):
        seen |= job.seen[k]
    if seen == RISES | FALLS:
        return None
    if seen == FALLS:
        return bits, 0 if job.keys.rule.nan_unequal else -1
    return bits, 1


cdef class MarkRuns(Job):
    """Mark the first key of each group, while all keys ascend, or all descend."""
    cdef keys_t keys
    cdef uint64_t[3] order_map    # sign, negative, minimum: makes ordered keys
    cdef int character_width      # bytes of a character; 0 if keys are numbers
    cdef uint64_t[::1] bits
    cdef uint8_t[::1] seen        # by chunk: RISES, FALLS or both

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        self.seen[k] = self.mark(self.begin(k), self.begin(k + 1))

    cdef uint8_t mark(self, Py_ssize_t block, Py_ssize_t stop) noexcept nogil:
        """Write the bits of blocks `block` to stop - 1. Returns 0, RISES, FALLS or both; if both,
        some bits may not be written."""
        if self.character_width:
            return self.mark_strings(block, stop)
        return self.mark_numbers(block, stop)

    cdef uint8_t mark_numbers(self, Py_ssize_t block, Py_ssize_t stop) noexcept nogil:
        cdef Py_ssize_t width = self.keys.width, whole = min(stop, self.keys.size >> 6), done
        cdef uint64_t last = ordered_key_of(
            self.order_map, key_at(&self.keys, max(block * 64 - 1, 0)))
        cdef bint is_start = block == 0
        cdef int seen = 0
        while block < stop and seen != RISES | FALLS:
            done = 0
            if block < whole and not self.keys.rule.nan_unequal:
                done = level.mark_changes[width == 8](
                    self.keys.data + block * 64 * width, min(whole - block, BLOCKS),
                    self.keys.rule.significant, self.keys.rule.limit, self.order_map, &last,
                    &self.bits[block], &seen)
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
        cdef uint64_t[64] words
        cdef uint32_t[64] narrow
        cdef uint64_t all_bits = <uint64_t>-1
        cdef Py_ssize_t n = min(self.keys.size - block * 64, 64), j
        load_words(&self.keys, block * 64, n, words)
        for j in range(n, 64):
            words[j] = words[n - 1]
        for j in range(64):
            narrow[j] = <uint32_t>words[j]
        level.mark_changes[self.keys.width == 8](
            <const char *>words if self.keys.width == 8 else <const char *>narrow, 1, all_bits,
            all_bits, self.order_map, last, &self.bits[block], seen)
        for j in range(n):
            if self.keys.rule.nan_unequal and words[j] == self.keys.rule.nan:
                self.bits[block] |= <uint64_t>1 << j

    cdef uint8_t mark_strings(self, Py_ssize_t block, Py_ssize_t stop) noexcept nogil:
        cdef Py_ssize_t width = self.keys.width, i
        cdef const char *string
        cdef uint64_t word
        cdef uint8_t seen = 0
        cdef int comparison
        while block < stop and seen != RISES | FALLS:
            word = block == 0
            for i in range(max(block * 64, 1), min(block * 64 + 64, self.keys.size)):
                string = self.keys.data + i * width
                comparison = compare(string - width, string, width, self.character_width)
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


def group_runs(const uint64_t[::1] bits not None, const Py_ssize_t[::1] offsets not None,
               Py_ssize_t size, const Py_ssize_t[::1] ranks, int threads):
    """The inverse of `size` keys in runs; bits mark the first key of each run. The group id of a
    key is the index of its run or, with ranks, ranks[index]. offsets has the number of set bits
    before each chunk of blocks, then the total."""
    cdef GroupRuns job = GroupRuns()
    job.bits, job.offsets, job.ranks = bits, offsets, ranks
    job.units, job.chunks = bits.shape[0], offsets.shape[0] - 1
    job.inverse = inverse = new_result(size, cnp.NPY_INTP)
    job.run(threads)
    return inverse


cdef class GroupRuns(Job):
    cdef const uint64_t[::1] bits
    cdef const Py_ssize_t[::1] offsets
    cdef const Py_ssize_t[::1] ranks      # or None
    cdef Py_ssize_t[::1] inverse

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const uint64_t[::1] bits = self.bits
        cdef Py_ssize_t[::1] inverse = self.inverse
        cdef Py_ssize_t group = -1, run = self.offsets[k] - 1, i
        if run >= 0:            # the run that the chunk before ends with
            group = run if self.ranks is None else self.ranks[run]
        for i in range(self.begin(k) * 64, min(self.begin(k + 1) * 64, inverse.shape[0])):
            if bits[i >> 6] >> (i & 63) & 1:
                run += 1
                group = run if self.ranks is None else self.ranks[run]
            inverse[i] = group
