"""The selected items, selected slices: a mask and an array -> compress, extract, boolean_mask.

The axes of the source are outer axes (the mask applies to each outer index), selected axes (one bit
per index, in C order) and the axes of the slice that a bit selects. Only the bitmask decides where
slices are read and written. So a thread that changes the source meanwhile changes no address.
"""
cimport cython
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from fastsel._core.copying cimport copy_rows, copy_slices, describe_slice, is_movable, slice_t
from fastsel._core.parallel cimport Job, choose_threads, chunk_start, thresholds
from fastsel._core.results cimport new_array
from fastsel._core.scratch cimport new_u64
from fastsel._core.strided cimport (
    MAX_DIMS, advance, cursor_t, describe, is_run, item, run_length, seek, start_walk, strided_t,
    walk_t, walk_to)
from fastsel._positions.bitmask cimport (
    STACK_BLOCKS, STACK_ITEMS, Bitmask, bitmask_of, describe_array, pack_blocks, pack_items)
from fastsel._positions.truth cimport truth_t
from fastsel._simd.blocks cimport (
    blocks_of, fs_ctz, fs_repeat_bits, is_item, log2_width, word_t)
from fastsel._simd.levels cimport level

cdef enum:
    FEW_SLICES = 64   # slices per outer index whose offsets are computed once for all outer indices
    # In a C-contiguous source of at least 64 rows, rows of at most MAX_TILED_ROW items of 1, 2, 4
    # or 8 bytes are compressed several at a time, by a tile (the bitmask, repeated for each of
    # these rows), if at least half of the items are selected and the bitmask is one chunk. One call
    # per row would take longer (`compare.py --op compress --width 100 --axis 1 --density .9`).
    MAX_TILED_ROW = 1024
    # Short tiles are doubled, up to TILE_BLOCKS blocks: then the time of a call per tile does not
    # matter.
    TILE_BLOCKS = 16
    # PAIR_BLOCKS blocks of items of 16 bytes are compressed at a time, each item as two items of 8
    # bytes, if on average PAIR_HITS or more items of a block are selected.
    PAIR_BLOCKS = 32
    PAIR_HITS = 2
    GATHERED_BLOCKS = 8  # blocks of strided items that are copied to contiguous memory at a time
    # The bits of MASK_BYTES times small_items bytes of a mask are on the stack: reading them takes
    # less time than the objects of a job.
    MASK_BYTES = 8
    # One thread copies a result of at most MAX_BYTES and holds the GIL. If there are several
    # outer indices, the offsets of at most MAX_OFFSETS slices are on the stack.
    MAX_BYTES = 1 << 18
    MAX_OFFSETS = 1 << 11
    # With MANY_OUTER outer indices, the second pass has enough chunks even if the bitmask has only
    # one.
    MANY_OUTER = 64


def boolean_mask(a, mask):
    """a[mask] for a bool mask of the shape of a's leading axes; None for other arguments, and for
    arrays whose result would lack NumPy's memory order."""
    cdef int axis
    if not cnp.PyArray_CheckExact(a) or not cnp.PyArray_CheckExact(mask) or (
            cnp.PyArray_TYPE(mask) != cnp.NPY_BOOL or
            not 0 < cnp.PyArray_NDIM(mask) <= cnp.PyArray_NDIM(a)):
        return None
    # The slices of NumPy's result have the memory order of a's.
    if not cnp.PyArray_IS_C_CONTIGUOUS(a) and cnp.PyArray_NDIM(a) > cnp.PyArray_NDIM(mask) + 1:
        return None
    for axis in range(cnp.PyArray_NDIM(mask)):
        if cnp.PyArray_DIM(mask, axis) != cnp.PyArray_DIM(a, axis):
            return None
    return compress_axes(a, mask, 0, cnp.PyArray_NDIM(mask), None)


def compress_axis(condition, a, axis):
    """numpy.compress(condition, a, axis) for an axis that is None or an int; None for arguments
    that compress_axes does not accept."""
    cdef Py_ssize_t along
    if not cnp.PyArray_CheckExact(a) or not cnp.PyArray_CheckExact(condition) or (
            cnp.PyArray_NDIM(condition) != 1):
        return None
    if axis is None:
        return compress_axes(a, condition, 0, cnp.PyArray_NDIM(a), None)
    if not -MAX_DIMS <= axis <= MAX_DIMS:
        return None
    along = axis
    along += cnp.PyArray_NDIM(a) if along < 0 else 0
    if not 0 <= along < cnp.PyArray_NDIM(a):
        return None
    return compress_axes(a, condition, <int>along, <int>along + 1, None)


def extract(condition, a):
    """numpy.extract(condition, a); None for arguments that compress_axes does not accept."""
    if not cnp.PyArray_CheckExact(a):
        return None
    return compress_axes(a, condition, 0, cnp.PyArray_NDIM(a), None)


cpdef compress_axes(cnp.ndarray a, mask, int first, int stop, out):
    """The slices that a mask selects along the axes first ... stop - 1 of `a`, seen as one axis.
    The mask may be shorter than this axis. The result is out if out is not None: a C-contiguous
    array of a's dtype that shares no memory with `a` and the mask.

    Returns None if describe_array does not accept the mask, if it is longer than the axis, if items
    of `a` cannot be copied as bytes, or if out has another shape than the result.
    """
    cdef uint64_t[MASK_BYTES * STACK_BLOCKS] bits
    cdef cnp.npy_intp[MAX_DIMS + 1] shape
    cdef CompressItems job
    cdef Bitmask selects = None
    cdef strided_t items, outer, selected
    cdef truth_t truth
    cdef slice_t slice
    cdef Py_ssize_t count, mask_bytes, out_bytes
    cdef int axis, ndim = cnp.PyArray_NDIM(a) + 1 - stop + first, threads
    described = describe_array(mask, &items, &truth)
    if described is None or not is_movable(a):
        return None
    if not cnp.PyArray_IS_C_CONTIGUOUS(a) and cnp.PyArray_SIZE(a) <= thresholds.small_items:
        a = cnp.PyArray_NewCopy(a, cnp.NPY_CORDER)     # faster than to find strided items
    describe(&outer, a, 0, first)
    describe(&selected, a, first, stop)
    describe_slice(&slice, a, stop)
    if items.size > selected.size:
        return None
    mask_bytes = items.size * truth.itemsize
    if mask_bytes <= MASK_BYTES * min(thresholds.small_items, STACK_ITEMS):
        count = pack_blocks(&items, &truth, 0, blocks_of(items.size), bits)
    else:
        threads = choose_threads(mask_bytes + (
            cnp.PyArray_NBYTES(a) if outer.size < MANY_OUTER else 0))
        selects = pack_items(&items, &truth, slice.width, threads)
        count = selects.count()
    for axis in range(cnp.PyArray_NDIM(a)):
        if axis < first:
            shape[axis] = cnp.PyArray_DIM(a, axis)
        elif axis >= stop:
            shape[axis + 1 - stop + first] = cnp.PyArray_DIM(a, axis)
    shape[first] = count
    if out is None:
        out = new_array(ndim, shape, <cnp.dtype>cnp.PyArray_DESCR(a))
    else:
        for axis in range(ndim):
            if ndim != cnp.PyArray_NDIM(out) or shape[axis] != cnp.PyArray_DIM(out, axis):
                return None
    out_bytes = outer.size * count * slice.width
    if out_bytes == 0:                # no loop over slices of 0 bytes: there may be any number
        return out
    if selects is None and out_bytes <= MAX_BYTES:
        if outer.size == 1:
            compress_blocks(bits, 0, blocks_of(items.size), count, &selected, &slice,
                            <char *>cnp.PyArray_DATA(out))
            return out
        if count <= MAX_OFFSETS and not (
                is_dense(&selected, count, &slice) and outer.size * count > thresholds.small_items):
            compress_few(bits, blocks_of(items.size), &selected, &outer, 0, outer.size, &slice,
                         <char *>cnp.PyArray_DATA(out))
            return out
    threads = choose_threads(mask_bytes + cnp.PyArray_NBYTES(a))
    if selects is None:
        selects = bitmask_of(bits, blocks_of(items.size), slice.width, threads)
    job = CompressItems()
    job.outer, job.selected, job.slice = outer, selected, slice
    job.compress(selects, out, threads)
    return out


cpdef int compress(cnp.ndarray source, int first_axis, int stop_axis, Bitmask mask,
                   cnp.ndarray out, int threads) except -1:
    """Compress the axes first_axis ... stop_axis - 1 of source by mask, into out.

    mask has at most one bit per index of the selected axes; missing bits select nothing. out is
    C-contiguous and has the shape (outer axes ..., total, slice axes ...) or another shape with as
    many items.
    """
    cdef CompressItems job = CompressItems()
    describe(&job.outer, source, 0, first_axis)
    describe(&job.selected, source, first_axis, stop_axis)
    describe_slice(&job.slice, source, stop_axis)
    if mask.count() * job.outer.size * job.slice.width:
        job.compress(mask, out, threads)
    return 0


cdef inline bint is_dense(const strided_t *selected, Py_ssize_t count,
                          const slice_t *slice) noexcept nogil:
    """Are at least half of the slices selected, and are they items that a level compresses?"""
    return selected.size <= 2 * count and is_item(slice.width)


@cython.final
cdef class CompressItems(Job):
    """Copies the selected slices. A unit is one of the bitmask's chunks at one outer index; a chunk
    of the job is a range of units."""
    cdef const uint64_t[::1] bits
    cdef const Py_ssize_t[::1] offsets
    cdef Py_ssize_t block_chunks      # chunks of the bitmask
    cdef strided_t outer
    cdef strided_t selected
    cdef slice_t slice
    cdef Py_ssize_t total             # slices selected per outer index
    cdef char *out
    cdef uint64_t[::1] tile           # the bitmask, repeated for tile_rows outer indices; or None
    cdef Py_ssize_t tile_rows         # or 0

    cdef int compress(self, Bitmask mask, cnp.ndarray out, int threads) except -1:
        """Run the job; outer, selected and slice are set before, and slices are selected."""
        self.bits, self.offsets, self.tile = mask.bits, mask.offsets, None
        self.block_chunks, self.total = mask.offsets.shape[0] - 1, mask.count()
        self.out = <char *>cnp.PyArray_DATA(out)
        if self.total <= FEW_SLICES and self.outer.size > self.block_chunks:
            self.block_chunks = 1         # compress_few reads the whole bitmask
        if (is_run(&self.selected, self.slice.width)
                and self.outer.size >= 64 and self.outer.ndim == 1
                and self.outer.strides[0] == self.selected.size * self.slice.width
                and is_dense(&self.selected, self.total, &self.slice)
                and self.selected.size <= MAX_TILED_ROW and self.block_chunks == 1):
            self.build_tile()
        return self.run_units(
            self.outer.size * self.block_chunks,
            (self.total * self.slice.width + self.bits.shape[0]) // self.block_chunks, threads)

    cdef int build_tile(self) except -1:
        """Repeat the bitmask of one outer index until a repetition ends at the end of a block. Then
        double the tile while the doubled tile has at most TILE_BLOCKS blocks."""
        cdef Py_ssize_t length = self.selected.size, row, b, position
        cdef uint64_t[::1] tile
        self.tile_rows = 64
        while length & 1 == 0 and self.tile_rows > 1:
            self.tile_rows, length = self.tile_rows // 2, length // 2
        while length * 2 <= TILE_BLOCKS:
            self.tile_rows, length = self.tile_rows * 2, length * 2
        self.tile = tile = new_u64(self.tile_rows * self.selected.size >> 6)
        tile[:] = 0
        for row in range(self.tile_rows):
            for b in range(self.bits.shape[0]):
                position = row * self.selected.size + b * 64
                tile[position >> 6] |= self.bits[b] << (position & 63)
                if position & 63 and self.bits[b] >> (64 - (position & 63)):
                    tile[(position >> 6) + 1] |= self.bits[b] >> (64 - (position & 63))
        return 0

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t unit = self.begin(k), stop = self.begin(k + 1)
        cdef Py_ssize_t outer = unit // self.block_chunks, s = unit % self.block_chunks
        cdef Py_ssize_t blocks = self.bits.shape[0]
        cdef strided_t selected = self.selected
        cdef cursor_t cursor
        if self.tile_rows:
            unit = outer = self.compress_tiles(unit, stop)
        if self.block_chunks == 1 and self.total <= FEW_SLICES:
            compress_few(&self.bits[0], blocks, &selected, &self.outer, unit, stop, &self.slice,
                         self.out)
            return
        seek(&cursor, &self.outer, outer)
        while unit < stop:
            selected.data = item(&cursor, &self.outer)
            compress_blocks(
                &self.bits[0], chunk_start(blocks, self.block_chunks, s),
                chunk_start(blocks, self.block_chunks, s + 1),
                self.offsets[s + 1] - self.offsets[s], &selected, &self.slice,
                self.out + (outer * self.total + self.offsets[s]) * self.slice.width)
            unit += 1
            s += 1
            if s == self.block_chunks:
                s = 0
                outer += 1
                advance(&cursor, &self.outer, 1)

    cdef Py_ssize_t compress_tiles(self, Py_ssize_t outer, Py_ssize_t stop) noexcept nogil:
        """Compress the outer indices from `outer` on that fill whole tiles, up to stop - 1. Returns
        the first outer index that is left."""
        cdef Py_ssize_t width = self.slice.width, row = self.selected.size * width
        cdef Py_ssize_t out_row = self.total * width
        cdef int word = log2_width(min(width, 8))
        while stop - outer >= self.tile_rows:
            level.compress[word](
                &self.tile[0], self.tile.shape[0], self.selected.data + outer * row,
                self.out + outer * out_row, (stop - outer) * out_row >> word)
            outer += self.tile_rows
        return outer


cdef void compress_few(const uint64_t *bits, Py_ssize_t blocks, const strided_t *selected,
                       const strided_t *outer, Py_ssize_t start, Py_ssize_t stop,
                       const slice_t *slice, char *out) noexcept nogil:
    """Compress outer indices from start to stop - 1; the offsets of the selected slices, at most
    MAX_OFFSETS, are computed once. out is where the slices of outer index 0 go."""
    cdef Py_ssize_t[MAX_OFFSETS] offsets
    cdef Py_ssize_t block, length, n_slices = 0
    cdef walk_t walk
    cdef cursor_t cursor
    start_walk(&walk, selected)
    for block in range(blocks):
        n_slices += add_offsets(&walk, selected, block, bits[block], offsets + n_slices)
    seek(&cursor, outer, start)
    while start < stop:
        length = run_length(&cursor, outer, stop - start)
        copy_rows(slice, item(&cursor, outer), outer.strides[outer.ndim - 1], length, offsets,
                  n_slices, out + start * n_slices * slice.width)
        advance(&cursor, outer, length)
        start += length


cdef void compress_blocks(const uint64_t *bits, Py_ssize_t block, Py_ssize_t stop,
                          Py_ssize_t count, const strided_t *selected, const slice_t *slice,
                          char *out) noexcept nogil:
    """Compress the slices of the blocks from `block` to stop - 1 at one outer index; `count` of
    them are selected."""
    cdef Py_ssize_t width = slice.width, whole
    if not (slice.run and is_run(selected, width)):
        compress_scattered(bits, block, stop, selected, slice, out)
        return
    whole = min(stop, selected.size >> 6)     # full blocks: all 64 items may be read
    if (is_item(width) or width == 16) and block < whole:
        if whole < stop:
            count -= level.count(bits + whole, stop - whole)
        if width < 16:
            level.compress[log2_width(width)](
                bits + block, whole - block, selected.data + block * 64 * width, out, count)
        elif count >= PAIR_HITS * (whole - block):
            compress_pairs(bits, block, whole, selected.data, out, count)
        else:
            compress_runs(bits, block, whole, selected.data, width, out)
        out += count * width
        block = whole
    compress_runs(bits, block, stop, selected.data, width, out)


cdef void compress_pairs(const uint64_t *bits, Py_ssize_t block, Py_ssize_t stop, const char *items,
                         char *out, Py_ssize_t count) noexcept nogil:
    """Compress items of 16 bytes, each as two items of 8 bytes. The item of bit 0 is at `items`,
    and the blocks are full; `count` items are selected."""
    cdef uint64_t[2 * PAIR_BLOCKS] pairs
    cdef Py_ssize_t n, k, selected
    while block < stop:
        n = min(PAIR_BLOCKS, stop - block)
        for k in range(n):
            pairs[2 * k] = fs_repeat_bits(bits[block + k])
            pairs[2 * k + 1] = fs_repeat_bits(bits[block + k] >> 32)
        level.compress[log2_width(8)](
            pairs, 2 * n, items + block * 64 * 16, out, 2 * count)
        selected = level.count(bits + block, n)
        out += selected * 16
        count -= selected
        block += n


cdef void compress_runs(const uint64_t *bits, Py_ssize_t block, Py_ssize_t stop, const char *slices,
                        Py_ssize_t width, char *out) noexcept nogil:
    """Compress contiguous slices, with one memcpy for adjacent selected slices; the slice of bit 0
    is at `slices`."""
    cdef uint64_t word
    cdef int first, length
    while block < stop:
        word = bits[block]
        while word:
            first = fs_ctz(word)
            word = ~(word >> first)             # the run ends at the lowest set bit
            length = fs_ctz(word) if word else 64
            memcpy(out, slices + (block * 64 + first) * width, length * width)
            out += length * width
            word = 0 if first + length == 64 else (
                bits[block] >> (first + length) << (first + length))
        block += 1


cdef void compress_scattered(const uint64_t *bits, Py_ssize_t block, Py_ssize_t stop,
                             const strided_t *selected, const slice_t *slice,
                             char *out) noexcept nogil:
    """Compress slices of any layout, by the offsets of the set bits of each block. If at least half
    of the items of GATHERED_BLOCKS blocks are selected, all of them are copied to contiguous memory
    first."""
    cdef Py_ssize_t[64] offsets
    cdef Py_ssize_t n, width = slice.width
    cdef bint may_gather = slice.run and is_item(width)
    cdef walk_t walk
    start_walk(&walk, selected)
    while block < stop:
        if may_gather and block + GATHERED_BLOCKS <= min(stop, selected.size >> 6):
            n = level.count(bits + block, GATHERED_BLOCKS)
            if n >= GATHERED_BLOCKS * 64 // 2:
                compress_gathered(bits + block, n, selected, block * 64, width, out)
                block += GATHERED_BLOCKS
                out += n * width
                continue
        n = add_offsets(&walk, selected, block, bits[block], offsets)
        copy_slices(slice, selected.data, offsets, n, out)
        out += n * width
        block += 1


cdef void compress_gathered(const uint64_t *bits, Py_ssize_t count, const strided_t *selected,
                            Py_ssize_t first, Py_ssize_t width, char *out) noexcept nogil:
    """Copy the items of GATHERED_BLOCKS blocks, from item `first` on, to contiguous memory, and
    compress them; `count` items are selected."""
    cdef uint64_t[GATHERED_BLOCKS * 64] items
    cdef char *next_items = <char *>items
    cdef Py_ssize_t left = GATHERED_BLOCKS * 64, length
    cdef Py_ssize_t stride = selected.strides[selected.ndim - 1]
    cdef cursor_t cursor
    seek(&cursor, selected, first)
    while left:
        length = run_length(&cursor, selected, left)
        if width == 8:
            gather_run(item(&cursor, selected), stride, length, <uint64_t *>next_items)
        elif width == 4:
            gather_run(item(&cursor, selected), stride, length, <uint32_t *>next_items)
        elif width == 2:
            gather_run(item(&cursor, selected), stride, length, <uint16_t *>next_items)
        else:
            gather_run(item(&cursor, selected), stride, length, <uint8_t *>next_items)
        next_items += length * width
        left -= length
        advance(&cursor, selected, length)
    level.compress[log2_width(width)](bits, GATHERED_BLOCKS, <const char *>items, out, count)


cdef inline void gather_run(const char *items, Py_ssize_t stride, Py_ssize_t n,
                            word_t *out) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        memcpy(&out[k], items + k * stride, sizeof(word_t))


cdef inline int add_offsets(walk_t *walk, const strided_t *selected, Py_ssize_t block,
                            uint64_t word, Py_ssize_t *offsets) noexcept nogil:
    """Write the offsets, in bytes from selected.data, of the set bits of a block. Returns the
    number of set bits.

    Blocks come in ascending order. No bit is set beyond selected.
    """
    cdef uint8_t[64] positions
    cdef Py_ssize_t inner = selected.shape[selected.ndim - 1]
    cdef Py_ssize_t stride = selected.strides[selected.ndim - 1], hit
    cdef int n, j
    if word == 0:
        return 0
    n = level.decode(word, positions)
    for j in range(n):
        hit = block * 64 + positions[j]
        if hit - walk.row_start >= inner:
            walk_to(walk, selected, hit)
        offsets[j] = (walk.cursor.row - selected.data) + (hit - walk.row_start) * stride
    return n
