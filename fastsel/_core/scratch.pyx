"""Memory that is cached between calls: working memory, and the memory of results (results.pyx).

A block from the system costs a page fault, and the clearing of the page, for each page, and
malloc returns free memory at the top of its heap to the system. So freed blocks are cached: up to
SMALL_BLOCKS small blocks of each size, and the last LARGE_BLOCKS large blocks of at least
MIN_LARGEST bytes, and as many of fewer. Blocks of alloc of up to 4 MB are small, blocks of
alloc_large are large. The cached blocks together have at most `limit` bytes, which the user sets
(_memory.py). If there is no room for a freed block, large blocks are evicted, and then the largest
small blocks. If all slots for a freed block are in use, a small block is not cached, and a large
block evicts the block in the last of these slots. If the system has no memory left, all blocks are
evicted.

Slots and the count of bytes are atomics, so that there is no lock that a thread could hold at a
fork. A block is counted from before it is put into a slot until after it has left the slot. A
thread that has put a block into a slot then compares the count with the limit, because another
thread may have reduced the limit.
"""
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from fastsel._core.atomics cimport (
    fs_exchange_pointer, fs_fetch_add, fs_load, fs_load_pointer, fs_store)

cdef extern from "memory.h" nogil:
    enum:
        FS_MAY_CACHE
    void fs_trim()
    void fs_want_huge_pages(void *memory, size_t size)

cdef enum:
    ALIGNMENT = 64            # of a block, in bytes: a cache line
    MIN_BITS = 12             # log2 of the smallest block; sizes of small blocks are powers of two
    MAX_BITS = 22             # log2 of the largest small block
    SMALL_BLOCKS = 256        # maximum of each size: four for each of 64 threads
    MIN_EXACT = 1 << 20       # bytes from which on the size of a Memory is not rounded up
    LARGE_BLOCKS = 32         # maximum; with 8, calls of mixed sizes seldom find a block that fits
    # Smaller blocks of alloc_large have slots of their own, so that many results of some pages do
    # not evict the few blocks that cost most.
    MIN_LARGEST = 1 << 17
    HUGE = 1 << 22            # bytes from which on huge pages pay
    ALL_SMALL = (MAX_BITS - MIN_BITS + 1) * SMALL_BLOCKS
    ALL_BLOCKS = ALL_SMALL + 2 * LARGE_BLOCKS

ctypedef struct header_t:     # lies before the block
    void *start               # the pointer that the allocator returned
    size_t size               # bytes of the block

# The slots: of small blocks, by size; of large blocks of at least MIN_LARGEST bytes; of other large
# blocks.
cdef block_t[ALL_BLOCKS] blocks
cdef Py_ssize_t limit = 0     # bytes
cdef Py_ssize_t cached = 0      # bytes


cdef inline header_t *header_of(void *block) noexcept nogil:
    return <header_t *>block - 1


cdef size_t size_of(void *block) noexcept nogil:
    return header_of(block).size


cdef bint fits(void *block, size_t size) noexcept nogil:
    """Is the block large enough, and at most an eighth too large?"""
    return size <= size_of(block) <= size + size // 8


cdef bint may_cache(double size) noexcept nogil:
    """Can a large block of `size` bytes be cached?"""
    return FS_MAY_CACHE and MIN_CACHED_LARGE <= size <= fs_load(&limit)


# ---- alloc and free ---------------------------------------------------------------------


cdef inline int bits_of(size_t size) noexcept nogil:
    """log2 of the smallest sufficient size of a small block; MAX_BITS + 1 for a large block."""
    cdef int bits = MIN_BITS
    while bits <= MAX_BITS and (<size_t>1 << bits) < size:
        bits += 1
    return bits


cdef inline block_t *small_slots(int bits) noexcept nogil:
    """The SMALL_BLOCKS slots for small blocks of this size."""
    return &blocks[(bits - MIN_BITS) * SMALL_BLOCKS]


cdef void *alloc(size_t size) noexcept nogil:
    cdef int bits = bits_of(size), k
    cdef block_t *slots
    cdef void *block
    if bits > MAX_BITS:
        return alloc_large(size)
    size = <size_t>1 << bits
    slots = small_slots(bits)
    for k in range(SMALL_BLOCKS if fs_load(&cached) else 0):
        if fs_load_pointer(&slots[k]) != NULL:
            block = fs_exchange_pointer(&slots[k], NULL)
            if block != NULL:
                fs_fetch_add(&cached, -<Py_ssize_t>size)
                return block
    return system_alloc(size)


cdef inline block_t *large_slots(size_t size) noexcept nogil:
    """The LARGE_BLOCKS slots for large blocks of this size."""
    return &blocks[ALL_SMALL + (0 if size >= MIN_LARGEST else LARGE_BLOCKS)]


cdef void *alloc_large(size_t size) noexcept nogil:
    cdef block_t *slots = large_slots(size)
    cdef void *block
    cdef int k
    for k in range(LARGE_BLOCKS):
        block = fs_exchange_pointer(&slots[k], NULL)
        if block != NULL and fits(block, size):
            fs_fetch_add(&cached, -<Py_ssize_t>size_of(block))
            return block
        if block != NULL:
            evict(fs_exchange_pointer(&slots[k], block))
            enforce_limit()
    return system_alloc(size)


cdef void dealloc(void *block) noexcept nogil:
    cdef block_t *slots
    cdef int bits, k
    if block == NULL:
        return
    bits = bits_of(size_of(block))
    if bits > MAX_BITS:
        dealloc_large(block)
        return
    if reserve(size_of(block)):
        slots = small_slots(bits)
        for k in range(SMALL_BLOCKS):
            if fs_load_pointer(&slots[k]) == NULL:
                block = fs_exchange_pointer(&slots[k], block)
                if block == NULL:
                    break
        evict(block)
        enforce_limit()
    else:
        system_free(block)


cdef void dealloc_large(void *block) noexcept nogil:
    cdef block_t *slots
    cdef int k
    if block == NULL:
        return
    if size_of(block) >= MIN_CACHED_LARGE and reserve(size_of(block)):
        slots = large_slots(size_of(block))
        for k in range(LARGE_BLOCKS):
            block = fs_exchange_pointer(&slots[k], block)
            if block == NULL:
                break
        evict(block)             # the block that was cached first
        enforce_limit()
    else:
        system_free(block)


cdef bint reserve(size_t size) noexcept nogil:
    """Count a block as cached, and evict other blocks to make room for it. Returns False if there
    is no room, because other threads hold the counted blocks."""
    cdef int k = ALL_BLOCKS
    cdef Py_ssize_t max_bytes = fs_load(&limit)
    if not FS_MAY_CACHE or <Py_ssize_t>size > max_bytes:
        return False
    while fs_fetch_add(&cached, size) + <Py_ssize_t>size > max_bytes:
        fs_fetch_add(&cached, -<Py_ssize_t>size)
        k -= 1
        while k >= 0 and fs_load_pointer(&blocks[k]) == NULL:
            k -= 1
        if k < 0:
            return False
        evict(fs_exchange_pointer(&blocks[k], NULL))
    return True


cdef void enforce_limit() noexcept nogil:
    if fs_load(&cached) > fs_load(&limit):
        evict_all()


# ---- the system -------------------------------------------------------------------------


cdef void *system_alloc(size_t size) noexcept nogil:
    cdef char *start
    cdef char *block
    if size + sizeof(header_t) + ALIGNMENT < size:
        return NULL
    start = <char *>PyMem_RawMalloc(size + sizeof(header_t) + ALIGNMENT)
    if start == NULL:
        evict_all()
        start = <char *>PyMem_RawMalloc(size + sizeof(header_t) + ALIGNMENT)
    if start == NULL:
        return NULL
    if size >= HUGE:
        fs_want_huge_pages(start, size)
    block = start + sizeof(header_t) + ALIGNMENT
    block -= <size_t>block % ALIGNMENT
    header_of(block)[0] = header_t(start, size)
    return block


cdef void system_free(void *block) noexcept nogil:
    PyMem_RawFree(header_of(block).start)


cdef Py_ssize_t evict(void *block) noexcept nogil:
    """Return a cached block to the system. Returns its number of bytes; 0 for NULL."""
    cdef Py_ssize_t size
    if block == NULL:
        return 0
    size = size_of(block)
    system_free(block)
    fs_fetch_add(&cached, -size)
    return size


cpdef Py_ssize_t evict_all() noexcept nogil:
    """Return all cached blocks to the system. Returns their number of bytes."""
    cdef Py_ssize_t size = 0
    cdef int k
    for k in range(ALL_BLOCKS):
        size += evict(fs_exchange_pointer(&blocks[k], NULL))
    return size


# ---- for Python -------------------------------------------------------------------------


def set_limit(Py_ssize_t size):
    """Cache at most `size` bytes from now on; if there are more already, all are released."""
    fs_store(&limit, size)
    if cached_bytes() > size:
        release_all()


def release_all():
    """Return all cached blocks to the system, and the free memory of malloc (fs_trim). Returns the
    number of bytes that were cached."""
    cdef Py_ssize_t size = evict_all()
    fs_trim()
    return size


def clear_in_child():
    """In a forked child: evict all blocks, and set the count to 0. Other threads of the parent may
    have counted blocks that they had not yet put into slots."""
    evict_all()
    fs_store(&cached, 0)


def cached_bytes():
    return fs_load(&cached)


# ---- for kernels ------------------------------------------------------------------------


cdef class Scratch:
    cdef void *alloc(self, size_t size) except NULL:
        cdef void *block = alloc(size)
        if block == NULL:
            raise MemoryError()
        assert self.length < MAX_BLOCKS
        self.blocks[self.length] = block
        self.length += 1
        return block

    def __dealloc__(self):
        for k in range(self.length):
            dealloc(self.blocks[k])


cdef class Memory:
    def __getbuffer__(self, Py_buffer *buffer, int flags):
        buffer.buf, buffer.obj, buffer.readonly, buffer.internal = self.data, self, False, NULL
        buffer.format, buffer.itemsize = <char *>self.format, self.itemsize
        buffer.ndim, buffer.shape, buffer.len = 1, self.shape, self.shape[0] * self.itemsize
        buffer.strides, buffer.suboffsets = self.strides, NULL

    def __dealloc__(self):
        if self.from_alloc_large:
            dealloc_large(self.data)
        else:
            dealloc(self.data)


cdef Memory new_memory(Py_ssize_t n, Py_ssize_t itemsize, const char *format):
    """A Memory of n items. Below MIN_EXACT bytes, alloc rounds its size up."""
    cdef Memory memory = Memory()
    memory.from_alloc_large = n * itemsize >= MIN_EXACT
    memory.data = alloc_large(n * itemsize) if memory.from_alloc_large else alloc(n * itemsize)
    if memory.data == NULL:
        raise MemoryError()
    memory.format, memory.itemsize = format, itemsize
    memory.shape[0], memory.strides[0] = n, itemsize
    return memory


cdef uint8_t[::1] new_u8(Py_ssize_t n):
    return new_memory(n, sizeof(uint8_t), b"B")


cdef uint32_t[::1] new_u32(Py_ssize_t n):
    return new_memory(n, sizeof(uint32_t), b"I")


cdef uint64_t[::1] new_u64(Py_ssize_t n):
    return new_memory(n, sizeof(uint64_t), b"Q")


cdef Py_ssize_t[::1] new_intp(Py_ssize_t n):
    return new_memory(n, sizeof(Py_ssize_t), b"q")
