"""Rank of a set bit in a bitmask: how many set bits come before it."""
from libc.stdint cimport uint64_t

from fastsel._simd.blocks cimport fs_popcount

ctypedef struct ranks_t:
    const uint64_t *bits
    Py_ssize_t *before            # set bits before each block


cdef inline Py_ssize_t rank(const ranks_t *ranks, Py_ssize_t i) noexcept nogil:
    cdef Py_ssize_t block = i >> 6
    cdef uint64_t below = (<uint64_t>1 << (i & 63)) - 1
    return ranks.before[block] + fs_popcount(ranks.bits[block] & below)


cdef inline void rank_blocks(const ranks_t *ranks, Py_ssize_t block, Py_ssize_t stop,
                             Py_ssize_t before) noexcept nogil:
    """Fill in these blocks, given how many set bits come before the first of them."""
    while block < stop:
        ranks.before[block] = before
        before += fs_popcount(ranks.bits[block])
        block += 1
