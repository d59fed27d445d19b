"""Pass 1 of selections: each item becomes one bit. Pass 2 reads the bits, and not the items again.

Kernels see a dtype as `words` words of `width` bytes per item, of which the last may overlap the
one before it, and the significant bits of each word; see truth.pxd.

The entries of kernels that take any object, such as count_nonzero, serve all sizes. They return
None for arguments that they do not serve. Up to max_items items, one thread has the bits on its
stack and holds the GIL: the objects of a job would take longer than the work.

The other kernels follow the pattern of this kernel. A kernel is a job: a class whose attributes are
typed views of what it reads and writes, or pointers if the type is not known when compiling, and
whose method `chunk` handles one chunk. A Python function describes the arrays, allocates memory,
runs the job on all chunks and scans their counts. Kernels validate nothing.
"""
cimport cython
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy, memset

from fastsel._core.parallel cimport Job, choose_threads, chunk_count, chunk_start, scan
from fastsel._core.scratch cimport new_intp, new_u64
from fastsel._core.strided cimport (
    MAX_DIMS, advance, cursor_t, describe, distance, inner_length, is_run, item, run_length, seek,
    sort_axes, strided_t)
from fastsel._positions.truth cimport (
    FLAG_ITEMS, describe_truth, pack_run, test_run, truth_t)
from fastsel._simd.blocks cimport blocks_of
from fastsel._simd.levels cimport level

cdef extern from "numpy/arrayobject.h":
    object PyArray_Scalar(void *data, cnp.dtype descr, object base)
    object PyArray_View(cnp.ndarray array, void *dtype, void *of_class)

cdef object ARRAY_FUNCTION = cnp.ndarray.__array_function__
cdef cnp.dtype INTP = cnp.PyArray_DescrFromType(cnp.NPY_INTP)

cdef object truth_rule        # _dtypes.truth

cdef enum:
    COUNTED_BLOCKS = 64   # blocks whose bits are counted at a time
    # Items are counted in memory order if inner rows are then at least SHORTEST_ROW items long, or
    # at least as long as in C order.
    SHORTEST_ROW = 16


def set_truth_rule(rule):
    """Set the function that finds the Truth of a dtype."""
    global truth_rule
    truth_rule = rule


def count_nonzero(a):
    """numpy.count_nonzero(a), as intp; None for an array that describe_array does not accept. NumPy
    counts the items of a subclass that does not override NumPy's functions as if it were the base
    class: the mask of a masked array changes nothing."""
    cdef strided_t items
    cdef truth_t truth
    cdef cnp.npy_intp total
    if (not cnp.PyArray_CheckExact(a) and cnp.PyArray_Check(a)
            and type(a).__array_function__ is ARRAY_FUNCTION):
        a = PyArray_View(<cnp.ndarray>a, NULL, <void *>cnp.ndarray)
    described = describe_array(a, &items, &truth)
    if described is None:
        return None
    if fits_stack(&items):
        total = pack_blocks(&items, &truth, 0, blocks_of(items.size), NULL)
    else:
        total = count_items(&items, &truth, choose_threads(cnp.PyArray_NBYTES(a)))
    return PyArray_Scalar(&total, INTP, None)


cpdef Bitmask pack(cnp.ndarray items, Py_ssize_t width, const uint64_t[::1] significant,
                   Py_ssize_t moved, int threads):
    """The Bitmask of all items, in C order. `moved` is the number of bytes that pass 2 writes for a
    selected item; the chunks of blocks depend on it."""
    cdef strided_t described
    cdef truth_t truth
    describe(&described, items, 0, cnp.PyArray_NDIM(items))
    describe_truth(&truth, cnp.PyArray_ITEMSIZE(items), width, significant)
    return pack_items(&described, &truth, moved, threads)


cdef describe_by_rule(cnp.dtype dtype, truth_t *truth):
    cdef const uint64_t[::1] significant
    rule = truth_rule(dtype)
    if rule is not None:
        width, significant = rule
        describe_truth(truth, dtype.itemsize, width, significant)
    return rule


cdef Bitmask pack_items(const strided_t *items, const truth_t *truth, Py_ssize_t moved,
                        int threads):
    cdef PackItems job = PackItems()
    cdef Bitmask mask = Bitmask()
    cdef int along = tile_axis(items)
    mask.bits = new_u64(blocks_of(items.size))
    if along >= 0:
        # Tiles have their own chunks; the bits of each chunk of blocks are counted afterwards.
        pack_tiles(items, truth, along, mask.bits, threads)
        mask.count_bits(truth.itemsize + moved, threads)
        return mask
    job.bits = mask.bits
    job.count(items, truth, moved, threads)
    mask.offsets = job.counts
    return mask


cdef Py_ssize_t count_items(const strided_t *items, const truth_t *truth, int threads) except -1:
    """The number of non-zero items."""
    cdef PackItems job = PackItems()
    cdef strided_t in_memory_order
    job.bits = None
    if not is_run(items, truth.itemsize):
        in_memory_order = items[0]
        sort_axes(&in_memory_order)
        if inner_length(&in_memory_order) >= min(SHORTEST_ROW, inner_length(items)):
            items = &in_memory_order
    job.count(items, truth, 0, threads)
    return job.counts[job.chunks]


cdef Py_ssize_t pack_blocks(const strided_t *items, const truth_t *truth, Py_ssize_t block,
                            Py_ssize_t stop, uint64_t *bits) noexcept nogil:
    cdef uint64_t[COUNTED_BLOCKS] scratch
    cdef uint8_t[FLAG_ITEMS] flags
    cdef uint64_t *target
    cdef cursor_t cursor
    cdef Py_ssize_t width = truth.itemsize, n, filled, length, total = 0
    cdef Py_ssize_t left = min(stop * 64, items.size) - block * 64
    if is_run(items, width):
        while left > 0:
            n = left if bits != NULL else min(left, 64 * COUNTED_BLOCKS)
            total += pack_run(level, truth, items.data + block * 64 * width, width, n,
                              bits if bits != NULL else scratch)
            block += COUNTED_BLOCKS
            left -= n
        return total
    # Items of other layouts become flags first, across the ends of their rows.
    seek(&cursor, items, block * 64)
    while left:
        n, filled = min(left, FLAG_ITEMS), 0
        while filled < n:
            length = run_length(&cursor, items, n - filled)
            test_run(truth, item(&cursor, items), items.strides[items.ndim - 1], length,
                     flags + filled)
            advance(&cursor, items, length)
            filled += length
        length = blocks_of(n)
        memset(flags + n, 0, length * 64 - n)
        target = bits if bits != NULL else scratch
        total += level.pack[0](<const char *>flags, 0xff, target, length)
        if bits != NULL:
            bits += length
        left -= n
    return total


cpdef Bitmask from_bits(uint64_t[::1] bits, Py_ssize_t moved, int threads):
    """The Bitmask that has these bits; `moved` is as for pack."""
    cdef Bitmask mask = Bitmask()
    mask.bits = bits
    mask.count_bits(moved, threads)
    return mask


cdef Bitmask bitmask_of(const uint64_t *bits, Py_ssize_t blocks, Py_ssize_t moved, int threads):
    cdef uint64_t[::1] copy = new_u64(blocks)
    memcpy(&copy[0], bits, blocks * sizeof(uint64_t))
    return from_bits(copy, moved, threads)


cdef class Bitmask:
    @property
    def total(self):
        """The number of selected items."""
        return self.count()

    cdef Py_ssize_t count(self) noexcept nogil:
        return self.offsets[self.offsets.shape[0] - 1]

    cdef int count_bits(self, Py_ssize_t moved, int threads) except -1:
        """Compute the offsets from bits that are already written."""
        cdef CountBits job = CountBits()
        job.bits, job.units = self.bits, self.bits.shape[0]
        job.chunks = chunk_count(job.units, threads, 64 * moved)
        job.counts = self.offsets = new_intp(job.chunks + 1)
        job.run(threads)
        scan(&job.counts[0], job.chunks)
        return 0


cdef class CountBits(Job):
    """Count the set bits of each chunk of blocks."""
    cdef const uint64_t[::1] bits
    cdef Py_ssize_t[::1] counts       # by chunk, and room for the total

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t block = self.begin(k), stop = self.begin(k + 1)
        self.counts[k] = level.count(&self.bits[block], stop - block) if block < stop else 0


@cython.final
cdef class PackItems(Job):
    """Write the bits of all items, and count the set bits of each chunk of blocks."""
    cdef strided_t items
    cdef truth_t truth
    cdef uint64_t[::1] bits           # None: only count
    cdef Py_ssize_t[::1] counts       # by chunk, and the total

    cdef int count(self, const strided_t *items, const truth_t *truth, Py_ssize_t moved,
                   int threads) except -1:
        """Run the job: afterwards, counts has the offset of each chunk. `bits` is set before. The
        caller keeps the significant words of truth alive until the job ends."""
        self.items, self.truth, self.units = items[0], truth[0], blocks_of(items.size)
        self.chunks = chunk_count(
            self.units, threads, 64 * (truth.itemsize + moved))
        self.counts = new_intp(self.chunks + 1)
        self.run(threads)
        scan(&self.counts[0], self.chunks)
        return 0

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t block = self.begin(k), stop = self.begin(k + 1)
        cdef bint writes = self.bits is not None and block < stop
        self.counts[k] = pack_blocks(&self.items, &self.truth, block, stop,
                                     &self.bits[block] if writes else NULL)


# ---- tiles -------------------------------------------------------------------------------

# If neighbours in memory are not neighbours in C order, as in transposed arrays, tiles of 64 x 64
# items are read along the axis whose items lie closest to each other, and the bits of each tile are
# transposed. In C order, each item would be in another cache line than the item before it, and a
# line would be read once per item (``compare.py --op nonzero --ndim 2 --layout transposed``).

cdef enum:
    TILE = 64
    TALL = 8            # maximum tiles that are read together, one below the other
    MIN_ROWS = 48       # minimum rows of a chunk
    MIN_COLUMNS = 16    # with fewer columns, tiles do not pay: the CPU prefetches by itself
    CHUNK_BITS = 24     # log2 of the maximum items of a chunk, so that signals are handled in time


cdef int tile_axis(const strided_t *items) noexcept nogil:
    """The axis along which tiles are read, which is not the last axis; -1 if tiles do not pay, or
    if rows are too long for chunks of MIN_ROWS rows."""
    cdef int axis, closest = -1, inner = items.ndim - 1
    cdef Py_ssize_t stride, smallest = distance(items, inner), before = 1, rows = 0
    if items.size == 0 or items.shape[inner] < MIN_COLUMNS:
        return -1
    for axis in range(inner):
        stride, before = distance(items, axis), before * items.shape[axis]
        if 0 < stride < smallest and items.shape[axis] >= TILE:
            closest, smallest, rows = axis, stride, before
    if items.size >> CHUNK_BITS > rows // MIN_ROWS:
        return -1           # rows are so long that a chunk would have fewer than MIN_ROWS
    return closest


cdef int pack_tiles(const strided_t *items, const truth_t *truth, int along, uint64_t[::1] bits,
                    int threads) except -1:
    """Write the bits of all items, by tiles along an axis, which is not the last axis. A row has
    the items at one position along the axes 0 ... along."""
    cdef PackTiles job = PackTiles()
    cdef Py_ssize_t rows, step = 1
    cdef int axis
    job.items, job.truth, job.along, job.bits = items[0], truth[0], along, bits
    job.side_by_side = truth.words == 1 and items.strides[along] == truth.width
    for axis in range(items.ndim - 1, -1, -1):
        job.steps[axis] = step
        step *= items.shape[axis]
    rows = items.size // job.steps[along]
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
