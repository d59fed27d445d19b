"""Memory for the time of a call, which is kept warm for the next one.

A block from the system is a page fault for every 4096 bytes, and malloc gives what is free at the
top of the heap back to it: unique of 10 000 integers took 160 us in a process that does nothing
else, 130 of them in page faults. So a few blocks of each size are kept, 24 MB in all, until memory
runs out.
"""
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.string cimport memset

from fastsel._kernels cimport results

cdef extern from "memory.h" nogil:
    enum:
        FS_KEPT_BLOCKS
    void *fs_exchange(void **slot, void *value)
    void fs_want_huge_pages(void *memory, size_t size)

cdef enum:
    HEADER = 64               # a cache line, in which the block's class stands
    LEAST_BITS = 12           # log2 of the sizes that are kept
    MOST_BITS = 22
    HUGE = 1 << 22            # from here on huge pages pay

cdef block_t[(MOST_BITS + 1) * FS_KEPT_BLOCKS + 1] kept


cdef inline int kept_blocks(int bits) noexcept nogil:
    """So many of that size; of the largest, which are half of all, half."""
    return FS_KEPT_BLOCKS if bits < MOST_BITS else FS_KEPT_BLOCKS // 2


cdef void *take(size_t size) noexcept nogil:
    cdef int bits = LEAST_BITS, k
    cdef char *block
    while bits <= MOST_BITS and (<size_t>1 << bits) < size:
        bits += 1
    if bits <= MOST_BITS and FS_KEPT_BLOCKS:
        size = <size_t>1 << bits
        for k in range(kept_blocks(bits)):
            block = <char *>fs_exchange(&kept[bits * FS_KEPT_BLOCKS + k], NULL)
            if block != NULL:
                return block + HEADER
    if size + HEADER < size:
        return NULL
    block = <char *>PyMem_RawMalloc(size + HEADER)
    if block == NULL:
        drop()
        results.drop()
        block = <char *>PyMem_RawMalloc(size + HEADER)
    if block == NULL:
        return NULL
    if size >= HUGE:
        fs_want_huge_pages(block, size)
    (<int *>block)[0] = bits
    return block + HEADER


cdef void *take_zeros(size_t size) noexcept nogil:
    cdef void *block = take(size)
    if block != NULL:
        memset(block, 0, size)
    return block


cdef void give(void *block) noexcept nogil:
    cdef int bits, k
    if block == NULL:
        return
    block = <char *>block - HEADER
    bits = (<int *>block)[0]
    if bits <= MOST_BITS:
        for k in range(kept_blocks(bits)):
            block = fs_exchange(&kept[bits * FS_KEPT_BLOCKS + k], block)
            if block == NULL:
                return
    PyMem_RawFree(block)


cpdef void drop() noexcept nogil:
    """Give all that is kept back to the system."""
    cdef int k
    for k in range((MOST_BITS + 1) * FS_KEPT_BLOCKS):
        PyMem_RawFree(fs_exchange(&kept[k], NULL))


cdef class Scratch:
    cdef void *take(self, size_t size) except NULL:
        cdef void *block = take(size)
        if block == NULL:
            raise MemoryError()
        assert self.length < MOST_BLOCKS
        self.blocks[self.length] = block
        self.length += 1
        return block

    def __dealloc__(self):
        for k in range(self.length):
            give(self.blocks[k])
