"""Arrays that lie across C order: 64 x 64 items at a time; see tiles.pyx."""
from libc.stdint cimport uint64_t

from fastsel._core.strided cimport strided_t
from fastsel._positions.truth cimport truth_t

# The axis to read along where C order reads across, else -1.
cdef int tile_axis(const strided_t *items) noexcept nogil
# The bits of all items, by tiles along that axis, which is not the last one. bits has a word for
# each block, and significant words outlive the call: otherwise memory behind them is used.
cdef int pack_tiles(const strided_t *items, const truth_t *truth, int along, uint64_t[::1] bits,
                    int threads) except -1
