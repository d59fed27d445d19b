"""What pass 1 makes, and pass 2 reads; see bitmask.pyx."""
from libc.stdint cimport uint64_t


cdef class Bitmask:
    """Which of some items are selected, and how many of them lie before each chunk of pass 2."""
    cdef readonly uint64_t[::1] bits      # a word for each block of 64; unused bits are 0
    cdef readonly Py_ssize_t[::1] offsets     # of each chunk of the blocks, the total last

    cdef Py_ssize_t count(self) noexcept nogil
    cdef int count_bits(self, Py_ssize_t moved, int threads) except -1
