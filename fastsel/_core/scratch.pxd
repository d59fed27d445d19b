"""Memory for the time of a call, which is cached for the next one."""

cdef void *take(size_t size) noexcept nogil      # NULL: no memory
cdef void *take_zeros(size_t size) noexcept nogil
cdef void give(void *block) noexcept nogil       # any thread; NULL is nothing

ctypedef void *block_t

cdef enum:
    MAX_BLOCKS = 16


cdef class Scratch:
    """Blocks that live as long as this object."""
    cdef block_t[MAX_BLOCKS] blocks
    cdef int length
    cdef void *take(self, size_t size) except NULL
