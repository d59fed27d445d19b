"""Memory that is cached between calls; Scratch and Memory, which own some of it."""
from libc.stdint cimport uint8_t, uint32_t, uint64_t

cdef enum:
    # Bytes; dealloc_large caches no smaller block. malloc caches blocks, too, but may return their
    # pages to the system; then each call pays for new pages.
    MIN_CACHED_LARGE = 1 << 14
    MAX_BLOCKS = 16           # of a Scratch

# alloc and alloc_large return undefined memory, or NULL if there is no memory. alloc rounds sizes
# of up to 4 MB up to a power of two, at least 4096, and passes larger sizes to alloc_large. A block
# of alloc_large has the requested size, or up to an eighth more if it comes from the cache. Blocks
# of alloc_large with fewer than MIN_CACHED_LARGE bytes are not cached.
cdef void *alloc(size_t size) noexcept nogil
cdef void *alloc_large(size_t size) noexcept nogil
# dealloc frees blocks of alloc: if it were given another block, alloc could later return too few
# bytes. dealloc_large frees blocks of alloc_large. Any thread may free a block; NULL is ignored.
cdef void dealloc(void *block) noexcept nogil
cdef void dealloc_large(void *block) noexcept nogil
cdef bint fits(void *block, size_t size) noexcept nogil
cdef size_t size_of(void *block) noexcept nogil
cdef bint may_cache(double size) noexcept nogil
cpdef Py_ssize_t evict_all() noexcept nogil

ctypedef void *block_t


cdef class Scratch:
    """Blocks that live as long as this object."""
    cdef block_t[MAX_BLOCKS] blocks
    cdef int length
    cdef void *alloc(self, size_t size) except NULL


cdef class Memory:
    """Memory of a kernel, for typed views. It is freed when the last view is gone."""
    cdef void *data
    cdef bint from_alloc_large    # and not from alloc
    cdef const char *format
    cdef Py_ssize_t itemsize
    cdef Py_ssize_t[1] shape
    cdef Py_ssize_t[1] strides

cdef Memory new_memory(Py_ssize_t n, Py_ssize_t itemsize, const char *format)

# New memory for n items, which are undefined.
cdef uint8_t[::1] new_u8(Py_ssize_t n)
cdef uint32_t[::1] new_u32(Py_ssize_t n)
cdef uint64_t[::1] new_u64(Py_ssize_t n)
cdef Py_ssize_t[::1] new_intp(Py_ssize_t n)
