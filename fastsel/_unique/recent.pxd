"""A filter of recent keys, for first occurrences of few groups: each key is compared, before it
becomes canonical, with the one in its slot; if they are equal it needs no lookup. That takes a
quarter of the time of one."""
from libc.stdint cimport intptr_t, uint32_t, uint64_t

from fastsel._simd.blocks cimport blocks_of, fs_level_t
from fastsel._unique.keys cimport BATCH, BLOCKS, canonical, keys_t, load_word
from fastsel._core.scratch cimport alloc_zeros

cdef extern from "hashing.h" nogil:
    enum:
        FS_RECENT_BITS
    uint32_t fs_recent_slot(uint64_t word, uint32_t factor)

cdef inline uint32_t factor_of(const keys_t *keys) noexcept nogil:
    return <uint32_t>(keys.factor >> 32) | <uint32_t>0x80000001


cdef inline Py_ssize_t other_keys(const void *recent, const keys_t *keys, const fs_level_t *level,
                                  Py_ssize_t start, Py_ssize_t n,
                                  intptr_t *positions) noexcept nogil:
    """Which of n <= BATCH keys are not in their slots, by their positions from start on; those
    beyond the last whole block count as such."""
    cdef uint64_t[BLOCKS] bits
    cdef Py_ssize_t others = n & 63
    bits[n >> 6 if others else 0] = (<uint64_t>1 << others) - 1
    others += level.mark_not_recent[keys.width == 8](
        keys.data + start * keys.width, n >> 6, recent, factor_of(keys), bits)
    if others:
        level.write(bits, blocks_of(n), 0, False, positions, others)
    return others


cdef inline void *new_recent(const keys_t *keys) noexcept nogil:
    """Slots that no key is in; NULL if there is no memory. To be given back."""
    cdef void *recent = alloc_zeros(keys.width << FS_RECENT_BITS)
    if recent != NULL:
        put(recent, keys.width, 0, 1)   # where 0 would be; the slot of 1 is another one
    return recent


cdef inline void remember(void *recent, const keys_t *keys, Py_ssize_t i,
                          uint64_t word) noexcept nogil:
    """Key i, whose word has been added, unless another thread has changed it."""
    cdef uint64_t item = load_word(keys.data + i * keys.width, keys.width)
    if canonical(&keys.rule, item) == word:
        put(recent, keys.width, fs_recent_slot(item, factor_of(keys)), item)


cdef inline void put(void *recent, Py_ssize_t width, uint32_t slot, uint64_t item) noexcept nogil:
    if width == 8:
        (<uint64_t *>recent)[slot] = item
    else:
        (<uint32_t *>recent)[slot] = <uint32_t>item
