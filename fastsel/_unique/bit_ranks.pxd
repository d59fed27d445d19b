"""The rank of a set bit in a bitmask: the number of set bits before it."""
from libc.stdint cimport uint64_t

from fastsel._core.parallel cimport Job
from fastsel._simd.blocks cimport fs_popcount


cdef class RankBlocks(Job):
    cdef const uint64_t[::1] bits
    cdef const Py_ssize_t[::1] offsets    # set bits before each chunk of blocks
    cdef Py_ssize_t[::1] before           # set bits before each block

    cdef inline Py_ssize_t rank(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t block = i >> 6
        cdef uint64_t below = (<uint64_t>1 << (i & 63)) - 1
        return self.before[block] + fs_popcount(self.bits[block] & below)
