"""The bitmask, which pass 1 writes and pass 2 reads; see bitmask.pyx."""
from libc.stdint cimport uint64_t


cdef class Bitmask:
    """One bit for each item, 1 if the item is selected; and the offset of each chunk of pass 2."""
    cdef readonly uint64_t[::1] bits      # a word for each block; unused bits of the last are 0
    cdef readonly Py_ssize_t[::1] offsets     # set bits before each chunk of blocks, then the total

    cdef Py_ssize_t count(self) noexcept nogil
    cdef int count_bits(self, Py_ssize_t moved, int threads) except -1
