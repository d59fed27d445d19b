"""Passes over a bitmask; see coordinates.pyx."""
cimport numpy as cnp
from libc.stdint cimport uint64_t

from fastsel._core.parallel cimport Job
from fastsel._positions.bitmask cimport Bitmask


cdef class BitmaskPass(Job):
    """A pass over the chunks of a bitmask's blocks, which are the units."""
    cdef const uint64_t[::1] bits
    cdef const Py_ssize_t[::1] offsets    # set bits before each chunk, then the total

    cdef void read(self, Bitmask mask) noexcept


cpdef cnp.ndarray flat(Bitmask mask, int threads)
cpdef int row_starts(Bitmask mask, Py_ssize_t row_items, cnp.ndarray out, int threads) except -1
cdef cnp.ndarray positions_of(const uint64_t *bits, Py_ssize_t blocks, Py_ssize_t total)
