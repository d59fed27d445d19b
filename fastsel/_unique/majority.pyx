"""The keys that differ from the most frequent key, and the inverse of all keys from theirs."""
cimport numpy as cnp
from libc.stdint cimport uint32_t, uint64_t

from fastsel._core.parallel cimport Job
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport new_u64
from fastsel._positions.bitmask cimport Bitmask, from_bits
from fastsel._positions.coordinates cimport BitmaskPass
from fastsel._simd.blocks cimport FS_REQUIRE, blocks_of, fs_ctz, rule_t, wide_t
from fastsel._simd.levels cimport level
from fastsel._unique.groups cimport Search
from fastsel._unique.keys cimport BATCH, keys_t
from fastsel._unique.ordered_keys cimport word_of


def mark_others(Search search not None):
    """(mask, first): the Bitmask of the keys that differ from the majority of the sample, and the
    position of the first key that does not (any position if all differ). The keys are words of 4 or
    8 bytes with an order: otherwise memory behind them is read."""
    cdef keys_t *keys = &search.keys.fields
    cdef MarkOthers job = MarkOthers()
    cdef Py_ssize_t block = 0
    FS_REQUIRE(keys.width >= 4 and keys.rule.is_ordered)
    job.keys, job.majority_word = keys, word_of(&keys.rule, search.sample().majority)
    job.bits = new_u64(blocks_of(keys.size))
    job.run_units(blocks_of(keys.size), 64 * keys.width, search.copy_threads)
    while block < job.units - 1 and job.bits[block] == <uint64_t>-1:
        block += 1
    return (from_bits(job.bits, keys.width, search.copy_threads),
            min(block * 64 + fs_ctz(~job.bits[block] | <uint64_t>1 << 63), keys.size - 1))


cdef class MarkOthers(Job):
    cdef const keys_t *keys
    cdef uint64_t majority_word       # canonical
    cdef uint64_t[::1] bits

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        if self.keys.width == 4:
            self.mark(k, <const uint32_t *>self.keys.data)
        else:
            self.mark(k, <const uint64_t *>self.keys.data)

    cdef void mark(self, Py_ssize_t k, const wide_t *items) noexcept nogil:
        """Items are compared as they are, which takes half the time of making them canonical: both
        zeros are 0 without their sign, and other numbers have one form."""
        cdef const rule_t *rule = &self.keys.rule
        cdef wide_t significant = <wide_t>rule.significant, limit = <wide_t>rule.limit
        cdef wide_t word = <wide_t>self.majority_word
        cdef bint is_nan = limit < significant and word == <wide_t>rule.nan
        cdef uint64_t mask = significant if word == 0 else <wide_t>-1
        cdef Py_ssize_t block = self.begin(k), stop = self.begin(k + 1), blocks, n, j
        cdef wide_t[BATCH] words
        if is_nan:      # a magnitude up to the limit, less the limit and 1, has the top bit
            mask = significant + 1
        while block < stop:
            blocks = min(stop - block, BATCH >> 6)
            n = min(blocks * 64, self.keys.size - block * 64)
            if is_nan:
                for j in range(n):
                    words[j] = (items[block * 64 + j] & significant) - limit - 1
            else:
                for j in range(n):
                    words[j] = items[block * 64 + j] ^ word
            for j in range(n, blocks * 64):
                words[j] = 0
            level.pack[2 + (sizeof(wide_t) == 8)](
                <const char *>words, mask, &self.bits[block], blocks)
            block += blocks


def inverse_of_all(Bitmask mask not None, const Py_ssize_t[::1] inverse not None,
                   Py_ssize_t majority_id, Py_ssize_t size, int threads):
    """The inverse of all `size` keys. The mask marks some keys, and `inverse` has the group id of
    each marked key; group ids from majority_id on become one higher. The other keys get the group
    id majority_id. `inverse` has an item for each set bit of the mask: otherwise memory behind
    `inverse` is read."""
    cdef InverseOfAll job = InverseOfAll()
    job.read(mask)
    job.inverse, job.majority_id, job.size = inverse, majority_id, size
    out = new_result(size, cnp.NPY_INTP)
    job.out = out
    job.run(threads)
    return out


cdef class InverseOfAll(BitmaskPass):
    cdef const Py_ssize_t[::1] inverse
    cdef Py_ssize_t majority_id
    cdef Py_ssize_t size
    cdef Py_ssize_t[::1] out

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const Py_ssize_t[::1] inverse = self.inverse
        cdef Py_ssize_t[::1] out = self.out
        cdef Py_ssize_t position = self.offsets[k], majority_id = self.majority_id
        cdef Py_ssize_t block, i, group_id
        cdef uint64_t word
        for block in range(self.begin(k), self.begin(k + 1)):
            for i in range(block * 64, min(block * 64 + 64, self.size)):
                out[i] = majority_id
            word = self.bits[block]
            while word:
                group_id = inverse[position]
                out[block * 64 + fs_ctz(word)] = group_id + (group_id >= majority_id)
                position += 1
                word &= word - 1
