"""Large blocks of memory that are kept for whom they fit next, and lent to the system meanwhile.

The system clears each page of fresh memory, after a fault for it, which takes longer than to write
it: nonzero of 1e7 bool, half of them True, took 4.4 ms, and takes 2.7, first occurrences of 1e6
distinct texts 250 ms and 51 (`compare.py --op nonzero --size 1e7 --peers numpy` and `--op
unique_first --dtype object --size 1e6 --groups n`, and with MOST_KEPT = 0). The system takes the
pages when it is short of memory (MADV_FREE). To tell it so is a call of its own: masks of 1e6
float64, whose results malloc keeps, took 0.12 ms, and 0.33 with LEAST_KEPT = 1 << 22.
"""

cdef extern from "memory.h" nogil:
    enum:
        FS_KEPT_LARGE
    void *fs_exchange(void **slot, void *value)
    int fs_offer(void *memory, size_t size)

cdef enum:
    LEAST_KEPT = 1 << 25  # bytes; below, glibc's malloc keeps memory, without a call to the system
    MOST_KEPT = 1 << 27

ctypedef struct header_t:  # stands before the data
    void *start           # what the allocator returned
    size_t room           # bytes of data

ctypedef void *data_t
ctypedef void (*release_t)(void *data) noexcept nogil


cdef inline header_t *header_of(void *data) noexcept nogil:
    return <header_t *>data - 1


cdef inline bint is_large(size_t size) noexcept nogil:
    return LEAST_KEPT <= size <= MOST_KEPT


cdef inline bint fits(void *data, size_t size) noexcept nogil:
    """Neither too small nor, by more than an eighth, too large."""
    return size <= header_of(data).room <= size + size // 8


cdef inline void *find_kept(data_t *slots, size_t size, release_t release) noexcept nogil:
    """One of the blocks in these slots, or NULL if none fits."""
    cdef void *data
    cdef int k
    for k in range(FS_KEPT_LARGE):
        data = fs_exchange(&slots[k], NULL)
        if data != NULL and fits(data, size):
            return data
        if data != NULL:
            release(fs_exchange(&slots[k], data))
    return NULL


cdef inline void keep_or_release(data_t *slots, void *data, release_t release) noexcept nogil:
    """Keep the block, if the system can take it back; the oldest one goes."""
    cdef size_t size = header_of(data).room
    cdef int k
    if is_large(size) and fs_offer(data, size):
        for k in range(FS_KEPT_LARGE):
            data = fs_exchange(&slots[k], data)
            if data == NULL:
                return
    release(data)


cdef inline void release_all(data_t *slots, release_t release) noexcept nogil:
    cdef int k
    for k in range(FS_KEPT_LARGE):
        release(fs_exchange(&slots[k], NULL))
