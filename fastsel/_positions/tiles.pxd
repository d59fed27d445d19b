"""Bits of transposed arrays, by tiles of 64 x 64 items; see tiles.pyx."""
from libc.stdint cimport uint64_t

from fastsel._core.strided cimport strided_t
from fastsel._positions.truth cimport truth_t

# The axis along which tiles are read, which is not the last axis; -1 if tiles do not pay, or if
# rows are too long for chunks of MIN_ROWS rows.
cdef int tile_axis(const strided_t *items) noexcept nogil
# Write the bits of all items, by tiles along an axis, which is not the last axis.
cdef int pack_tiles(const strided_t *items, const truth_t *truth, int along, uint64_t[::1] bits,
                    int threads) except -1
