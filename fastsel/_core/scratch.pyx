"""Memory that is kept from call to call: what a call works with, and its results (results.pyx).

A block from the system is a page fault, and a page to clear, for every 4096 bytes, and malloc gives
what is free at the top of the heap back to it: small calls would spend most of their time there,
and large ones a good part. So blocks are kept when they are given back: a few of each size up to
4 MB, and the last LARGE_BLOCKS others, which make room for the former. Together they have no more
bytes than `limit`, which the user sets (_memory.py). All of them go when memory runs out.

Slots are exchanged and bytes counted by atomics, so that there is no lock that a thread could hold
at a fork. Bytes are counted before their block is in a slot, and until it has left it. Whoever has
put a block into a slot then looks at the limit, which may have become less meanwhile.
"""
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

cdef extern from "memory.h" nogil:
    enum:
        FS_KEEPS
    void *fs_exchange(void **slot, void *value)
    Py_ssize_t fs_add(Py_ssize_t *sum, Py_ssize_t value)
    Py_ssize_t fs_get(Py_ssize_t *number)
    void fs_set(Py_ssize_t *number, Py_ssize_t value)
    void fs_trim()
    void fs_want_huge_pages(void *memory, size_t size)

cdef enum:
    ALIGNMENT = 64            # of a block: a cache line
    MIN_BITS = 12             # log2 of the least size of a small block; sizes are rounded up
    MAX_BITS = 22
    SMALL_BLOCKS = 4          # of a size
    MIN_EXACT = 1 << 20       # from here on a Block is no larger than it has to be
    LARGE_BLOCKS = 32         # with eight, mixed calls find as little as without
    HUGE = 1 << 22            # from here on huge pages pay

ctypedef struct header_t:     # stands before the block
    void *start               # what the allocator returned
    size_t size               # bytes of the block

cdef block_t[(MAX_BITS + 1) * SMALL_BLOCKS] small
cdef block_t[LARGE_BLOCKS] large
cdef Py_ssize_t limit = 0     # bytes
cdef Py_ssize_t kept = 0      # bytes


cdef inline header_t *header_of(void *block) noexcept nogil:
    return <header_t *>block - 1


cdef size_t size_of(void *block) noexcept nogil:
    return header_of(block).size


cdef bint fits(void *block, size_t size) noexcept nogil:
    """Neither too small nor, by more than an eighth, too large."""
    return size <= size_of(block) <= size + size // 8


cdef bint may_keep(double size) noexcept nogil:
    """Would a large block of that size be kept?"""
    return FS_KEEPS and MIN_LARGE <= size <= fs_get(&limit)


# ---- take and give ----------------------------------------------------------------------


cdef inline int bits_of(size_t size) noexcept nogil:
    """log2 of the least size of small blocks that is enough; MAX_BITS + 1 if there is none."""
    cdef int bits = MIN_BITS
    while bits <= MAX_BITS and (<size_t>1 << bits) < size:
        bits += 1
    return bits


cdef inline int small_blocks(int bits) noexcept nogil:
    """So many of that size; of the largest, which are half of all, half."""
    return SMALL_BLOCKS if bits < MAX_BITS else SMALL_BLOCKS // 2


cdef void *take(size_t size) noexcept nogil:
    cdef int bits = bits_of(size), k
    cdef void *block
    if bits > MAX_BITS:
        return take_large(size)
    size = <size_t>1 << bits
    for k in range(small_blocks(bits)):
        block = fs_exchange(&small[bits * SMALL_BLOCKS + k], NULL)
        if block != NULL:
            fs_add(&kept, -<Py_ssize_t>size)
            return block
    return fresh(size)


cdef void *take_large(size_t size) noexcept nogil:
    cdef void *block
    cdef int k
    for k in range(LARGE_BLOCKS):
        block = fs_exchange(&large[k], NULL)
        if block != NULL and fits(block, size):
            fs_add(&kept, -<Py_ssize_t>size_of(block))
            return block
        if block != NULL:
            forget(fs_exchange(&large[k], block))
            hold_limit()
    return fresh(size)


cdef void *take_zeros(size_t size) noexcept nogil:
    cdef void *block = take(size)
    if block != NULL:
        memset(block, 0, size)
    return block


cdef void give(void *block) noexcept nogil:
    cdef int bits, k
    if block == NULL:
        return
    bits = bits_of(size_of(block))
    if bits > MAX_BITS:
        give_large(block)
        return
    if reserve(size_of(block)):
        for k in range(small_blocks(bits)):
            block = fs_exchange(&small[bits * SMALL_BLOCKS + k], block)
            if block == NULL:
                break
        forget(block)
        hold_limit()
    else:
        release(block)


cdef void give_large(void *block) noexcept nogil:
    cdef int k
    if block == NULL:
        return
    if size_of(block) >= MIN_LARGE and reserve(size_of(block)):
        for k in range(LARGE_BLOCKS):
            block = fs_exchange(&large[k], block)
            if block == NULL:
                break
        forget(block)             # the oldest one
        hold_limit()
    else:
        release(block)


cdef bint reserve(size_t size) noexcept nogil:
    """Count a block among those that are kept, if there is room: large ones make it."""
    cdef int k = LARGE_BLOCKS
    cdef Py_ssize_t most = fs_get(&limit)
    if not FS_KEEPS or <Py_ssize_t>size > most:
        return False
    while fs_add(&kept, size) > most:
        fs_add(&kept, -<Py_ssize_t>size)
        k -= 1
        if k < 0:
            return False
        forget(fs_exchange(&large[k], NULL))
    return True


cdef void hold_limit() noexcept nogil:
    if fs_get(&kept) > fs_get(&limit):
        drop()


# ---- the system's -----------------------------------------------------------------------


cdef void *fresh(size_t size) noexcept nogil:
    cdef char *start
    cdef char *block
    if size + sizeof(header_t) + ALIGNMENT < size:
        return NULL
    start = <char *>PyMem_RawMalloc(size + sizeof(header_t) + ALIGNMENT)
    if start == NULL:
        drop()
        start = <char *>PyMem_RawMalloc(size + sizeof(header_t) + ALIGNMENT)
    if start == NULL:
        return NULL
    if size >= HUGE:
        fs_want_huge_pages(start, size)
    block = start + sizeof(header_t) + ALIGNMENT
    block -= <size_t>block % ALIGNMENT
    header_of(block)[0] = header_t(start, size)
    return block


cdef void release(void *block) noexcept nogil:
    PyMem_RawFree(header_of(block).start)


cdef Py_ssize_t forget(void *block) noexcept nogil:
    """Give a block that was kept to the system; returns its bytes. NULL is nothing."""
    cdef Py_ssize_t size
    if block == NULL:
        return 0
    size = size_of(block)
    release(block)
    fs_add(&kept, -size)
    return size


cpdef Py_ssize_t drop() noexcept nogil:
    """Give all that is kept back to the system; returns how many bytes that was."""
    cdef Py_ssize_t size = 0
    cdef int k
    for k in range((MAX_BITS + 1) * SMALL_BLOCKS):
        size += forget(fs_exchange(&small[k], NULL))
    for k in range(LARGE_BLOCKS):
        size += forget(fs_exchange(&large[k], NULL))
    return size


# ---- for _memory.py and the tests -------------------------------------------------------


def set_limit(Py_ssize_t size):
    """Keep no more than so many bytes from now on."""
    fs_set(&limit, size)
    if kept_bytes() > size:
        release_all()


def release_all():
    """Give all that is kept back to the system, and what malloc has of it; returns how many bytes
    were kept."""
    cdef Py_ssize_t size = drop()
    fs_trim()
    return size


def start_afresh():
    """In a child made by fork: nothing is kept. Other threads of the parent may have been about to
    put blocks into slots."""
    drop()
    fs_set(&kept, 0)


def kept_bytes():
    return fs_get(&kept)


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


cdef class Block:
    def __getbuffer__(self, Py_buffer *buffer, int flags):
        buffer.buf, buffer.obj, buffer.readonly, buffer.internal = self.data, self, False, NULL
        buffer.format, buffer.itemsize = <char *>self.format, self.itemsize
        buffer.ndim, buffer.shape, buffer.len = 1, self.shape, self.shape[0] * self.itemsize
        buffer.strides, buffer.suboffsets = self.strides, NULL

    def __dealloc__(self):
        if self.is_large:
            give_large(self.data)
        else:
            give(self.data)


cdef Block new_block(Py_ssize_t n, Py_ssize_t itemsize, const char *format):
    """Small blocks have up to twice the bytes that are asked for."""
    cdef Block block = Block()
    block.is_large = n * itemsize >= MIN_EXACT
    block.data = take_large(n * itemsize) if block.is_large else take(n * itemsize)
    if block.data == NULL:
        raise MemoryError()
    block.format, block.itemsize, block.shape[0], block.strides[0] = format, itemsize, n, itemsize
    return block


cdef uint8_t[::1] new_u8(Py_ssize_t n):
    return new_block(n, sizeof(uint8_t), b"B")


cdef uint16_t[::1] new_u16(Py_ssize_t n):
    return new_block(n, sizeof(uint16_t), b"H")


cdef uint32_t[::1] new_u32(Py_ssize_t n):
    return new_block(n, sizeof(uint32_t), b"I")


cdef uint64_t[::1] new_u64(Py_ssize_t n):
    return new_block(n, sizeof(uint64_t), b"Q")


cdef Py_ssize_t[::1] new_intp(Py_ssize_t n):
    return new_block(n, sizeof(Py_ssize_t), b"q")
