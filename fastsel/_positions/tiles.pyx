"""Pass 1 of arrays whose neighbours in memory are not neighbours in C order, such as transposed
arrays: tiles of 64 x 64 items are read along the axis whose items lie closest to each other, and
the bits of each tile are transposed.

In C order, each item would be in another cache line than the item before it, and a line would be
read once per item: without tiles this takes 2.4 times as long (``compare.py --op nonzero --ndim 2
--layout transposed``).
"""
cimport cython
from libc.stdint cimport uint64_t
from libc.string cimport memset

from fastsel._core.parallel cimport Job, chunk_start
from fastsel._core.strided cimport MAX_DIMS, distance, strided_t
from fastsel._positions.truth cimport pack_run, truth_t
from fastsel._simd.blocks cimport blocks_of
from fastsel._simd.levels cimport level

cdef enum:
    TILE = 64
    TALL = 8            # maximum tiles that are read together, one below the other
    MIN_ROWS = 48       # minimum rows of a chunk
    MIN_COLUMNS = 16    # with fewer columns, tiles do not pay: the CPU prefetches by itself
    CHUNK_BITS = 24     # log2 of the maximum items of a chunk, so that signals are handled in time


cdef int tile_axis(const strided_t *items) noexcept nogil:
    cdef int axis, closest = -1, inner = items.ndim - 1
    cdef Py_ssize_t stride, smallest = distance(items, inner)
    if items.size == 0 or items.shape[inner] < MIN_COLUMNS:
        return -1
    for axis in range(inner):
        stride = distance(items, axis)
        if 0 < stride < smallest and items.shape[axis] >= TILE:
            closest, smallest = axis, stride
    if closest >= 0 and items.size >> CHUNK_BITS > count_rows(items, closest) // MIN_ROWS:
        return -1           # rows are so long that a chunk would have fewer than MIN_ROWS
    return closest


cdef inline Py_ssize_t count_rows(const strided_t *items, int along) noexcept nogil:
    """The number of rows. A row has the items at one position along the axes 0 ... along."""
    cdef Py_ssize_t rows = items.size
    cdef int axis
    for axis in range(along + 1, items.ndim):
        rows = rows // items.shape[axis]
    return rows


cdef int pack_tiles(const strided_t *items, const truth_t *truth, int along, uint64_t[::1] bits,
                    int threads) except -1:
    cdef PackTiles job = PackTiles()
    cdef Py_ssize_t rows = count_rows(items, along), step = 1
    cdef int axis
    job.items, job.truth, job.along, job.bits = items[0], truth[0], along, bits
    job.side_by_side = truth.words == 1 and items.strides[along] == truth.width
    for axis in range(items.ndim - 1, -1, -1):
        job.steps[axis] = step
        step *= items.shape[axis]
    # A chunk has the rows of TALL tiles; fewer rows if there would be fewer chunks than threads, or
    # chunks of more than 2^CHUNK_BITS items.
    job.chunks = max(1, rows // (TALL * TILE),
                     min(rows // MIN_ROWS, max(threads, items.size >> CHUNK_BITS)))
    job.run(threads)
    return 0


@cython.final
cdef class PackTiles(Job):
    """Write the bits of all items. A chunk is a range of blocks: items start ... stop - 1 in C
    order."""
    cdef strided_t items
    cdef truth_t truth
    # Tiles are read along the axis `along`. A plane has this axis and the last axis.
    cdef int along
    cdef bint side_by_side            # items of one word, contiguous along the axis `along`
    cdef Py_ssize_t[MAX_DIMS] steps   # by axis: distance of neighbours in C order, in items
    cdef uint64_t[::1] bits

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t block = chunk_start(self.bits.shape[0], self.chunks, k)
        cdef Py_ssize_t stop = chunk_start(self.bits.shape[0], self.chunks, k + 1)
        memset(&self.bits[block], 0, (stop - block) * sizeof(uint64_t))
        self.fill_planes(0, self.items.data, 0, block * TILE, min(stop * TILE, self.items.size))

    cdef void fill_planes(self, int axis, const char *items, Py_ssize_t position, Py_ssize_t start,
                          Py_ssize_t stop) noexcept nogil:
        """Fill every plane that has an item of the chunk. items is the address of the item at
        `position`."""
        cdef Py_ssize_t k, step = self.steps[axis], first = 0, last = self.items.shape[axis]
        if axis == self.items.ndim - 1:
            self.fill_plane(items, position, start, stop)
        elif axis == self.along:
            self.fill_planes(axis + 1, items, position, start, stop)
        else:
            if axis < self.along:   # the items at one index have consecutive positions
                first = max(0, start - position) // step
                last = min(last, (max(0, stop - position) + step - 1) // step)
            for k in range(first, last):
                self.fill_planes(axis + 1, items + k * self.items.strides[axis],
                                 position + k * step, start, stop)

    cdef void fill_plane(self, const char *items, Py_ssize_t position, Py_ssize_t start,
                         Py_ssize_t stop) noexcept nogil:
        """Fill the rows of a plane that have an item of the chunk; items is as for fill_planes."""
        cdef int inner = self.items.ndim - 1
        cdef Py_ssize_t rows = self.items.shape[self.along], columns = self.items.shape[inner]
        cdef Py_ssize_t step = self.steps[self.along], row = 0, column, height
        if start >= position + columns:
            row = (start - position - columns) // step + 1
        rows = min(rows, (max(0, stop - position) + step - 1) // step)
        while row < rows:
            height = min(rows - row, TALL * TILE)
            # Full tiles are faster. So if the last tile lacks rows, the tiles begin earlier, and
            # some rows are read again. set_bits ignores rows of other chunks. If a row is read
            # twice, its bits are set for the items that were selected at either time.
            if self.side_by_side and height & 63 and row + height >= (height | 63) + 1:
                row, height = row + height - (height | 63) - 1, (height | 63) + 1
            column = 0
            while column < columns:
                self.fill_tiles(
                    items + row * self.items.strides[self.along]
                    + column * self.items.strides[inner],
                    position + row * step + column, height, min(columns - column, TILE), start,
                    stop)
                column += TILE
            row += height

    cdef inline void fill_tiles(self, const char *items, Py_ssize_t position, Py_ssize_t rows,
                                Py_ssize_t columns, Py_ssize_t start,
                                Py_ssize_t stop) noexcept nogil:
        """Fill at most TALL tiles, one below the other. items is as for fill_planes, and the plane
        has `rows` rows and `columns` columns from there on: with fewer, memory outside of the array
        is read."""
        cdef uint64_t[TALL][TILE] words
        cdef uint64_t[TALL] column
        cdef Py_ssize_t j, k, stride = self.items.strides[self.items.ndim - 1]
        for k in range(columns):
            pack_run(level, &self.truth, items + k * stride, self.items.strides[self.along], rows,
                     column)
            for j in range(blocks_of(rows)):
                words[j][k] = column[j]
        for j in range(blocks_of(rows)):
            memset(words[j] + columns, 0, (TILE - columns) * sizeof(uint64_t))
            level.transpose(words[j])
        for k in range(rows):
            if words[k >> 6][k & 63]:
                self.set_bits(words[k >> 6][k & 63], position + k * self.steps[self.along], start,
                              stop)

    cdef inline void set_bits(self, uint64_t word, Py_ssize_t position, Py_ssize_t start,
                              Py_ssize_t stop) noexcept nogil:
        """Set the bits of 64 items from `position` on, but not of items before start or from stop
        on: another chunk may be writing to the words of these items."""
        if stop - position < TILE:
            word = word & ((<uint64_t>1 << (stop - position)) - 1) if stop > position else 0
        if position < start:
            word = word >> (start - position) if start - position < TILE else 0
            position = start
        if word:
            self.bits[position >> 6] |= word << (position & 63)
            if position & 63 and word >> (TILE - (position & 63)):
                self.bits[(position >> 6) + 1] |= word >> (TILE - (position & 63))
