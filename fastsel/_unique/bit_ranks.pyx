"""The number of set bits before each block, for ranks of bits."""
from fastsel._core.parallel cimport Job, chunk_start
from fastsel._core.scratch cimport new_intp
from fastsel._simd.blocks cimport fs_popcount


cdef class RankBlocks(Job):
    """Count the set bits before each block; offsets has the set bits before each chunk."""
    def __init__(self, const uint64_t[::1] bits, const Py_ssize_t[::1] offsets):
        self.bits, self.offsets, self.before = bits, offsets, new_intp(bits.shape[0])
        self.chunks = offsets.shape[0] - 1

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t block, total = self.offsets[k]
        for block in range(chunk_start(self.bits.shape[0], self.chunks, k),
                           chunk_start(self.bits.shape[0], self.chunks, k + 1)):
            self.before[block] = total
            total += fs_popcount(self.bits[block])
