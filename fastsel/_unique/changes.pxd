"""Which items differ from the one before: in sorted items, the first of each group."""
from libc.stdint cimport uint64_t

from fastsel._simd.blocks cimport blocks_of, fs_level_t, log2_width
from fastsel._unique.keys cimport any_t


cdef inline void mark_changes(const fs_level_t *level, any_t *items, Py_ssize_t size,
                              uint64_t significant, uint64_t *bits) noexcept nogil:
    """Set the bits of those of `size` > 0 items that differ from the one before in
    significant bits, and the first bit. There is room for whole blocks, which the last item
    fills up."""
    cdef Py_ssize_t block, j
    for j in range(size, blocks_of(size) * 64):
        items[j] = items[size - 1]
    for block in range(blocks_of(size)):
        bits[block] = changes_in(level, items + block * 64, items[max(block * 64 - 1, 0)],
                                 significant)
    bits[0] |= 1


cdef inline uint64_t changes_in(const fs_level_t *level, const any_t *items, any_t last,
                                uint64_t significant) noexcept nogil:
    """The bits of a block; last comes before it."""
    cdef any_t[64] changes
    cdef uint64_t bits
    cdef Py_ssize_t j
    changes[0] = items[0] ^ last
    for j in range(1, 64):
        changes[j] = items[j] ^ items[j - 1]
    level.pack[log2_width(sizeof(any_t))](<const char *>changes, significant, &bits, 1)
    return bits
