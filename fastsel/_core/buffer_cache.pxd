"""A cache of large blocks of memory, which the system may take while nobody uses them.

Fresh memory costs a page fault, and a page to clear, for every 4 kB, which takes longer than to
write it: without the cache (MAX_CACHED = 0) nonzero takes 1.6 times as long (`compare.py --op
nonzero --size 1e7`). The system takes cached pages when it is short of memory (MADV_FREE).
"""

cdef extern from "memory.h" nogil:
    enum:
        FS_CACHED_LARGE
    void *fs_exchange(void **slot, void *value)
    int fs_offer(void *memory, size_t size)

cdef enum:
    MIN_CACHED = 1 << 25  # bytes; below, malloc has a cache of its own, without a system call
    MAX_CACHED = 1 << 27

ctypedef struct header_t:  # stands before the data
    void *start           # what the allocator returned
    size_t size           # bytes of data

ctypedef void *data_t
ctypedef void (*release_t)(void *data) noexcept nogil


cdef inline header_t *header_of(void *data) noexcept nogil:
    return <header_t *>data - 1


cdef inline bint is_large(size_t size) noexcept nogil:
    return MIN_CACHED <= size <= MAX_CACHED


cdef inline bint fits(void *data, size_t size) noexcept nogil:
    """Neither too small nor, by more than an eighth, too large."""
    return size <= header_of(data).size <= size + size // 8


cdef inline void *find_cached(data_t *slots, size_t size, release_t release) noexcept nogil:
    """One of the blocks in these slots, or NULL if none fits."""
    cdef void *data
    cdef int k
    for k in range(FS_CACHED_LARGE):
        data = fs_exchange(&slots[k], NULL)
        if data != NULL and fits(data, size):
            return data
        if data != NULL:
            release(fs_exchange(&slots[k], data))
    return NULL


cdef inline void cache_or_release(data_t *slots, void *data, release_t release) noexcept nogil:
    """Keep the block, if the system can take it back; the oldest one goes."""
    cdef size_t size = header_of(data).size
    cdef int k
    if is_large(size) and fs_offer(data, size):
        for k in range(FS_CACHED_LARGE):
            data = fs_exchange(&slots[k], data)
            if data == NULL:
                return
    release(data)


cdef inline void release_all(data_t *slots, release_t release) noexcept nogil:
    cdef int k
    for k in range(FS_CACHED_LARGE):
        release(fs_exchange(&slots[k], NULL))
