"""Rank of a set bit in a bitmask: how many set bits stand before it."""
cimport numpy as cnp
from libc.stdint cimport uint64_t

from fastsel._kernels.blocks cimport fs_popcount

ctypedef struct ranks_t:
    const uint64_t *bits
    const Py_ssize_t *before      # set bits before each block


cdef inline Py_ssize_t rank(const ranks_t *ranks, Py_ssize_t i) noexcept nogil:
    cdef Py_ssize_t block = i >> 6
    cdef uint64_t below = (<uint64_t>1 << (i & 63)) - 1
    return ranks.before[block] + fs_popcount(ranks.bits[block] & below)


cdef inline cnp.ndarray rank_blocks(ranks_t *ranks, const uint64_t[::1] bits):
    """Set ranks up; the returned array owns what it points to."""
    cdef cnp.npy_intp length = bits.shape[0] + 1
    cdef cnp.ndarray before = cnp.PyArray_EMPTY(1, &length, cnp.NPY_INTP, 0)
    cdef Py_ssize_t *out = <Py_ssize_t *>cnp.PyArray_DATA(before)
    cdef Py_ssize_t block
    out[0] = 0
    for block in range(bits.shape[0]):
        out[block + 1] = out[block] + fs_popcount(bits[block])
    ranks.bits = &bits[0]
    ranks.before = out
    return before
