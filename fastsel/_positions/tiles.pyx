"""Arrays whose neighbours in memory are not neighbours in C order, as those of a transposed array:
tiles of 64 x 64 items are read along the axis on which they lie closest, and their bits transposed.

In C order each item would be in another cache line, and each line be read once per item: without
tiles this takes 2.4 times as long (``compare.py --op nonzero --ndim 2 --layout transposed``).
"""
cimport cython
from libc.stdint cimport uint64_t
from libc.string cimport memset

from fastsel._core.parallel cimport Job, chunk_start
from fastsel._core.strided cimport MAX_DIMS, distance, strided_t
from fastsel._positions.truth cimport pack_run, truth_t
from fastsel._simd.blocks cimport blocks_of, fs_level_t
from fastsel._simd.levels cimport fs_level

cdef const fs_level_t *level = fs_level()

cdef enum:
    TILE = 64
    TALL = 8            # tiles read at a time, one below the other: runs of 512 items
    MIN_ROWS = 48       # of a chunk, which reads 64 then
    MIN_COLUMNS = 16    # fewer are as many streams, which the processor reads ahead of itself
    CHUNK_BITS = 24     # a chunk has at most 2^24 items, so that signals are handled in time


cdef int tile_axis(const strided_t *items) noexcept nogil:
    cdef int axis, closest = -1, inner = items.ndim - 1
    cdef Py_ssize_t stride, least = distance(items, inner)
    if items.size == 0 or items.shape[inner] < MIN_COLUMNS:
        return -1
    for axis in range(inner):
        stride = distance(items, axis)
        if 0 < stride < least and items.shape[axis] >= TILE:
            closest, least = axis, stride
    if closest >= 0 and items.size >> CHUNK_BITS > rows_of(items, closest) // MIN_ROWS:
        return -1           # rows so long that no chunk has enough of them
    return closest


cdef inline Py_ssize_t rows_of(const strided_t *items, int along) noexcept nogil:
    """How many rows along that axis follow each other in C order."""
    cdef Py_ssize_t rows = items.size
    cdef int axis
    for axis in range(along + 1, items.ndim):
        rows = rows // items.shape[axis]
    return rows


cdef int pack_tiles(const strided_t *items, const truth_t *truth, int along, uint64_t[::1] bits,
                    int threads) except -1:
    cdef PackTiles job = PackTiles()
    cdef Py_ssize_t rows = rows_of(items, along), step = 1
    cdef int axis
    job.items, job.truth, job.along, job.bits = items[0], truth[0], along, bits
    job.side_by_side = truth.words == 1 and items.strides[along] == truth.width
    for axis in range(items.ndim - 1, -1, -1):
        job.steps[axis] = step
        step *= items.shape[axis]
    # Chunks of TALL tiles, of fewer rows where those are too few for the threads or too long.
    job.chunks = max(1, rows // (TALL * TILE),
                     min(rows // MIN_ROWS, max(threads, items.size >> CHUNK_BITS)))
    job.run(threads)
    return 0


@cython.final
cdef class PackTiles(Job):
    """The bits of all items. A chunk is a range of blocks, items start ... stop - 1 in C order."""
    cdef strided_t items
    cdef truth_t truth
    cdef int along                    # the axis whose items lie closest; the last one is the other
    cdef bint side_by_side            # items of one word, without a gap between them
    cdef Py_ssize_t[MAX_DIMS] steps   # along each axis, in C order of items
    cdef uint64_t[::1] bits

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t block = chunk_start(self.bits.shape[0], self.chunks, k)
        cdef Py_ssize_t stop = chunk_start(self.bits.shape[0], self.chunks, k + 1)
        memset(&self.bits[block], 0, (stop - block) * sizeof(uint64_t))
        self.fill_planes(0, self.items.data, 0, block * TILE, min(stop * TILE, self.items.size))

    cdef void fill_planes(self, int axis, const char *items, Py_ssize_t position, Py_ssize_t start,
                          Py_ssize_t stop) noexcept nogil:
        """Every plane of the two axes that has an item of the chunk. items is the address of the
        item at that position: of another one, the wrong items are read, or none of the array."""
        cdef Py_ssize_t k, step = self.steps[axis], first = 0, last = self.items.shape[axis]
        if axis == self.items.ndim - 1:
            self.fill_plane(items, position, start, stop)
        elif axis == self.along:
            self.fill_planes(axis + 1, items, position, start, stop)
        else:
            if axis < self.along:   # what lies below is one run of positions
                first = max(0, start - position) // step
                last = min(last, (max(0, stop - position) + step - 1) // step)
            for k in range(first, last):
                self.fill_planes(axis + 1, items + k * self.items.strides[axis],
                                 position + k * step, start, stop)

    cdef void fill_plane(self, const char *items, Py_ssize_t position, Py_ssize_t start,
                         Py_ssize_t stop) noexcept nogil:
        """The rows of a plane that have an item of the chunk; items as in fill_planes."""
        cdef int inner = self.items.ndim - 1
        cdef Py_ssize_t rows = self.items.shape[self.along], columns = self.items.shape[inner]
        cdef Py_ssize_t step = self.steps[self.along], row = 0, column, height
        if start >= position + columns:
            row = (start - position - columns) // step + 1
        rows = min(rows, (max(0, stop - position) + step - 1) // step)
        while row < rows:
            height = min(rows - row, TALL * TILE)
            # Whole tiles, which are faster: the last one begins above where it lacks rows. Those
            # are read again; place leaves out what is another chunk's, and a bit that is seen twice
            # is set if it was either time.
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
        """At most TALL tiles, one below the other; items as in fill_planes, and the plane has so
        many rows and columns from there on: with fewer, memory behind them is read."""
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
                self.place(words[k >> 6][k & 63], position + k * self.steps[self.along], start,
                           stop)

    cdef inline void place(self, uint64_t word, Py_ssize_t position, Py_ssize_t start,
                           Py_ssize_t stop) noexcept nogil:
        """Set the bits of 64 items from a position on. Those before start and from stop on are left
        out: another chunk may be writing to their words."""
        if stop - position < TILE:
            word = word & ((<uint64_t>1 << (stop - position)) - 1) if stop > position else 0
        if position < start:
            word = word >> (start - position) if start - position < TILE else 0
            position = start
        if word:
            self.bits[position >> 6] |= word << (position & 63)
            if position & 63 and word >> (TILE - (position & 63)):
                self.bits[(position >> 6) + 1] |= word >> (TILE - (position & 63))
