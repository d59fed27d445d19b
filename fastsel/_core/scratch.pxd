"""Memory that is kept from call to call, and Scratch, which has some for the time of one."""
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

cdef enum:
    MIN_LARGE = 1 << 17       # bytes of a block that take_large keeps; malloc keeps smaller ones
    MAX_BLOCKS = 16

# Working memory, and memory of any size. NULL: there is none.
cdef void *take(size_t size) noexcept nogil
cdef void *take_zeros(size_t size) noexcept nogil
cdef void *take_large(size_t size) noexcept nogil
# Each takes back what came from its namesakes, in any thread; NULL is nothing.
cdef void give(void *block) noexcept nogil
cdef void give_large(void *block) noexcept nogil
cdef bint fits(void *block, size_t size) noexcept nogil   # as it is
cdef size_t size_of(void *block) noexcept nogil
cdef bint may_keep(double size) noexcept nogil
cpdef Py_ssize_t drop() noexcept nogil

ctypedef void *block_t


cdef class Scratch:
    """Blocks that live as long as this object."""
    cdef block_t[MAX_BLOCKS] blocks
    cdef int length
    cdef void *take(self, size_t size) except NULL


cdef class Block:
    """Memory of a kernel, seen by views; it goes back when the last of them is gone."""
    cdef void *data
    cdef bint is_large
    cdef const char *format
    cdef Py_ssize_t itemsize
    cdef Py_ssize_t[1] shape
    cdef Py_ssize_t[1] strides

cdef Block new_block(Py_ssize_t n, Py_ssize_t itemsize, const char *format)

# New memory for n items, which are not defined.
cdef uint8_t[::1] new_u8(Py_ssize_t n)
cdef uint16_t[::1] new_u16(Py_ssize_t n)
cdef uint32_t[::1] new_u32(Py_ssize_t n)
cdef uint64_t[::1] new_u64(Py_ssize_t n)
cdef Py_ssize_t[::1] new_intp(Py_ssize_t n)
