"""Arrays whose neighbours in memory are not neighbours in C order, as those of a transposed array:
tiles of 64 x 64 items are read along the axis on which they lie closest, and their bits transposed.

In C order each item would be in another cache line, and each line be read once per item: without
tiles this takes 2.4 times as long (``compare.py --op nonzero --ndim 2 --layout transposed``).
"""
from libc.stdint cimport uint64_t
from libc.string cimport memset

from fastsel._simd.blocks cimport blocks_of, fs_level_t
from fastsel._core.strided cimport MAX_DIMS, strided_t
from fastsel._positions.truth cimport pack_run, truth_t

cdef enum:
    TILE = 64
    TALL = 8            # tiles read at a time, one below the other: runs of 512 items
    MIN_ROWS = 48       # of a chunk, which reads 64 then
    MIN_COLUMNS = 16    # fewer are as many streams, which the processor reads ahead of itself
    CHUNK_BITS = 24     # a chunk has at most 2^24 items, so that signals are handled in time

ctypedef struct tiles_t:
    const fs_level_t *level
    const strided_t *items
    const truth_t *truth
    int along                     # the axis whose items lie closest; the last one is the other
    bint side_by_side             # items of one word, without a gap between them
    Py_ssize_t[MAX_DIMS] steps    # along each axis, in C order of items
    Py_ssize_t start              # the items whose bits are wanted
    Py_ssize_t stop
    uint64_t *bits                # of item start, and on


cdef inline int tile_axis(const strided_t *items) noexcept nogil:
    """The axis to read along where C order reads across, else -1."""
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


cdef inline Py_ssize_t distance(const strided_t *items, int axis) noexcept nogil:
    """Bytes from an item to its neighbour on that axis."""
    return items.strides[axis] if items.strides[axis] >= 0 else -items.strides[axis]


cdef inline Py_ssize_t tiled_chunks(const strided_t *items, int along,
                                    int threads) noexcept nogil:
    """Chunks of TALL tiles, of fewer rows where those are too few for the threads or too long."""
    cdef Py_ssize_t rows = rows_of(items, along)
    cdef Py_ssize_t wanted = max(threads, items.size >> CHUNK_BITS)
    return max(1, rows // (TALL * TILE), min(rows // MIN_ROWS, wanted))


cdef inline void pack_tiles(
        const fs_level_t *level, const strided_t *items, const truth_t *truth, int along,
        Py_ssize_t start, Py_ssize_t stop, uint64_t *bits) noexcept nogil:
    """The bits of items start ... stop - 1; start is the first item of a block."""
    cdef tiles_t tiles
    cdef Py_ssize_t step = 1
    cdef int axis
    tiles.level, tiles.items, tiles.truth, tiles.along = level, items, truth, along
    tiles.start, tiles.stop, tiles.bits = start, stop, bits
    tiles.side_by_side = truth.words == 1 and items.strides[along] == truth.width
    for axis in range(items.ndim - 1, -1, -1):
        tiles.steps[axis] = step
        step *= items.shape[axis]
    memset(bits, 0, blocks_of(stop - start) * sizeof(uint64_t))
    fill_planes(&tiles, 0, items.data, 0)


cdef inline void fill_planes(const tiles_t *tiles, int axis, const char *items,
                             Py_ssize_t position) noexcept nogil:
    """Every plane of the two axes, from the item at that position on."""
    cdef Py_ssize_t k, step = tiles.steps[axis], first = 0, last = tiles.items.shape[axis]
    if axis == tiles.items.ndim - 1:
        fill_plane(tiles, items, position)
    elif axis == tiles.along:
        fill_planes(tiles, axis + 1, items, position)
    else:
        if axis < tiles.along:   # what lies below is one run of positions
            first = max(0, tiles.start - position) // step
            last = min(last, (max(0, tiles.stop - position) + step - 1) // step)
        for k in range(first, last):
            fill_planes(tiles, axis + 1, items + k * tiles.items.strides[axis],
                        position + k * step)


cdef inline void fill_plane(const tiles_t *tiles, const char *items,
                            Py_ssize_t position) noexcept nogil:
    cdef int inner = tiles.items.ndim - 1
    cdef Py_ssize_t rows = tiles.items.shape[tiles.along], columns = tiles.items.shape[inner]
    cdef Py_ssize_t step = tiles.steps[tiles.along], row = 0, column, height
    if tiles.start >= position + columns:
        row = (tiles.start - position - columns) // step + 1
    rows = min(rows, (max(0, tiles.stop - position) + step - 1) // step)
    while row < rows:
        height = min(rows - row, TALL * TILE)
        # Whole tiles, which are faster: the last one begins above where it lacks rows. Those are
        # read again; place() leaves out what is another chunk's, and a bit that is seen twice is
        # set if it was either time.
        if tiles.side_by_side and height & 63 and row + height >= (height | 63) + 1:
            row, height = row + height - (height | 63) - 1, (height | 63) + 1
        column = 0
        while column < columns:
            fill_tiles(
                tiles,
                items + row * tiles.items.strides[tiles.along]
                + column * tiles.items.strides[inner], position + row * step + column,
                height, min(columns - column, TILE))
            column += TILE
        row += height


cdef inline void fill_tiles(const tiles_t *tiles, const char *items, Py_ssize_t position,
                            Py_ssize_t rows, Py_ssize_t columns) noexcept nogil:
    cdef uint64_t[TALL][TILE] words
    cdef uint64_t[TALL] column
    cdef Py_ssize_t j, k, stride = tiles.items.strides[tiles.items.ndim - 1]
    for k in range(columns):
        pack_run(tiles.level, tiles.truth, items + k * stride, tiles.items.strides[tiles.along],
                 rows, column)
        for j in range(blocks_of(rows)):
            words[j][k] = column[j]
    for j in range(blocks_of(rows)):
        memset(words[j] + columns, 0, (TILE - columns) * sizeof(uint64_t))
        tiles.level.transpose(words[j])
    for k in range(rows):
        if words[k >> 6][k & 63]:
            place(tiles, words[k >> 6][k & 63],
                  position + k * tiles.steps[tiles.along] - tiles.start)


cdef inline void place(const tiles_t *tiles, uint64_t word, Py_ssize_t at) noexcept nogil:
    """Set the bits of 64 items, of which those before start and from stop on are left out."""
    cdef Py_ssize_t capacity = tiles.stop - tiles.start - at
    if capacity < TILE:
        word = word & ((<uint64_t>1 << capacity) - 1) if capacity > 0 else 0
    if at < 0:
        word = word >> -at if at > -TILE else 0
        at = 0
    if word:
        tiles.bits[at >> 6] |= word << (at & 63)
        if (at & 63) and word >> (TILE - (at & 63)):
            tiles.bits[(at >> 6) + 1] |= word >> (TILE - (at & 63))
