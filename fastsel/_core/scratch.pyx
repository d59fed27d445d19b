"""Memory for the time of a call, which is cached for the next one.

A block from the system is a page fault for every 4096 bytes, and malloc gives what is free at the
top of the heap back to it: a small call would spend most of its time in page faults. So a few
blocks of each size are kept, 24 MB in all, until memory runs out;
and the last two large ones, which the system may take (buffer_cache.pxd).
"""
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.string cimport memset

from fastsel._core cimport results
from fastsel._core.buffer_cache cimport (
    FS_CACHED_LARGE, cache_or_release, data_t, find_cached, fs_exchange, header_of, header_t,
    is_large, release_all)

cdef extern from "memory.h" nogil:
    enum:
        FS_CACHED_BLOCKS
    void fs_want_huge_pages(void *memory, size_t size)

cdef enum:
    HEADER = 64               # a cache line, at whose end the block's header stands
    MIN_BITS = 12           # log2 of the least size that is cached; smaller ones are rounded up
    MAX_BITS = 22
    HUGE = 1 << 22            # from here on huge pages pay

cdef data_t[(MAX_BITS + 1) * FS_CACHED_BLOCKS + 1] cached
cdef data_t[FS_CACHED_LARGE + 1] large_blocks


cdef inline int max_cached(int bits) noexcept nogil:
    """So many of that size; of the largest, which are half of all, half."""
    return FS_CACHED_BLOCKS if bits < MAX_BITS else FS_CACHED_BLOCKS // 2


cdef inline int bits_of(size_t size) noexcept nogil:
    """log2 of the least cached size that fits; MAX_BITS + 1 if there is none."""
    cdef int bits = MIN_BITS
    while bits <= MAX_BITS and (<size_t>1 << bits) < size:
        bits += 1
    return bits


cdef void *take(size_t size) noexcept nogil:
    cdef int bits = bits_of(size), k
    cdef void *block = NULL
    if bits <= MAX_BITS and FS_CACHED_BLOCKS:
        size = <size_t>1 << bits
        for k in range(max_cached(bits)):
            block = fs_exchange(&cached[bits * FS_CACHED_BLOCKS + k], NULL)
            if block != NULL:
                return block
    elif is_large(size):
        block = find_cached(large_blocks, size, release)
    return fresh(size) if block == NULL else block


cdef void *fresh(size_t size) noexcept nogil:
    cdef char *start
    if size + HEADER < size:
        return NULL
    start = <char *>PyMem_RawMalloc(size + HEADER)
    if start == NULL:
        drop()
        results.drop()
        start = <char *>PyMem_RawMalloc(size + HEADER)
    if start == NULL:
        return NULL
    if size >= HUGE:
        fs_want_huge_pages(start, size)
    header_of(start + HEADER)[0] = header_t(start, size)
    return start + HEADER


cdef void release(void *block) noexcept nogil:
    if block != NULL:
        PyMem_RawFree(header_of(block).start)


cdef void *take_zeros(size_t size) noexcept nogil:
    cdef void *block = take(size)
    if block != NULL:
        memset(block, 0, size)
    return block


cdef void give(void *block) noexcept nogil:
    cdef int bits, k
    if block == NULL:
        return
    bits = bits_of(header_of(block).size)
    if bits > MAX_BITS:
        cache_or_release(large_blocks, block, release)
        return
    for k in range(max_cached(bits)):
        block = fs_exchange(&cached[bits * FS_CACHED_BLOCKS + k], block)
        if block == NULL:
            return
    release(block)


cpdef void drop() noexcept nogil:
    """Give all cached blocks back to the system."""
    cdef int k
    for k in range((MAX_BITS + 1) * FS_CACHED_BLOCKS):
        release(fs_exchange(&cached[k], NULL))
    release_all(large_blocks, release)


cdef class Scratch:
    cdef void *take(self, size_t size) except NULL:
        cdef void *block = take(size)
        if block == NULL:
            raise MemoryError()
        assert self.length < MAX_BLOCKS
        self.blocks[self.length] = block
        self.length += 1
        return block

    def __dealloc__(self):
        for k in range(self.length):
            give(self.blocks[k])
