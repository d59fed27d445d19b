"""Pass 2 of compress and masks: bitmask + items -> selected items, selected rows.

The axes of the source are outer axes (the bitmask applies to each outer index), selected axes (one
bit per index, in C order) and the axes of the slice that a bit selects. Only the bitmask decides
where slices are read and written. So a thread that changes the source meanwhile changes no address.
"""
cimport cython
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from fastsel._core.copying cimport copy_rows, copy_slices, describe_slice, slice_t
from fastsel._core.parallel cimport Job, chunk_count, chunk_start
from fastsel._core.scratch cimport new_u64
from fastsel._core.strided cimport (
    advance, cursor_t, describe, is_run, item, next_row, run_length, seek, strided_t)
from fastsel._positions.bitmask cimport Bitmask
from fastsel._simd.blocks cimport (
    PAIR_WIDTH, can_compress, fs_ctz, fs_repeat_bits, is_item, log2_width)
from fastsel._simd.levels cimport level

cnp.import_array()

cdef enum:
    FEW_SLICES = 64   # slices per outer index whose offsets fit the stack
    # In a C-contiguous source of at least 64 rows, rows of at most MAX_TILED_ROW items of 1, 2, 4,
    # 8 or 16 bytes are compressed several at a time, by a tile (the bitmask, repeated for each of
    # these rows), if at least half of the items are selected and the bitmask is one chunk. One call
    # per row would take twice as long, or ten times with items of a byte (`compare.py --op compress
    # --width 100 --axis 1 --density .9`).
    MAX_TILED_ROW = 1024
    # Short tiles are doubled, up to TILE_BLOCKS blocks: then the time of a call per tile does not
    # matter.
    TILE_BLOCKS = 16
    GATHERED_BLOCKS = 8  # blocks of strided items that are copied to contiguous memory at a time
    # PAIR_BLOCKS blocks of items of PAIR_WIDTH bytes are compressed at a time: each item as two
    # items of 8 bytes, unless there are fewer than FEW_RUNS runs of selected items per block.
    PAIR_BLOCKS = 32
    FEW_RUNS = 5

ctypedef struct walk_t:
    cursor_t cursor
    Py_ssize_t row_start          # index of the first item of the cursor's inner row


def compress(cnp.ndarray source not None, int first_axis, int stop_axis,
             Bitmask mask not None, cnp.ndarray out not None, int threads):
    """Compress the axes first_axis ... stop_axis - 1 of source by mask, into out.

    mask has at most one bit per index of the selected axes; missing bits select nothing. out is
    C-contiguous and has the shape (outer axes ..., total, slice axes ...) or another shape with as
    many items: otherwise memory behind out is overwritten.
    """
    cdef CompressItems job = CompressItems()
    describe(&job.outer, source, 0, first_axis)
    describe(&job.selected, source, first_axis, stop_axis)
    describe_slice(&job.slice, source, stop_axis)
    job.bits, job.offsets, job.tile = mask.bits, mask.offsets, None
    job.block_chunks = mask.offsets.shape[0] - 1
    job.total = mask.count()
    job.out = <char *>cnp.PyArray_DATA(out)
    if job.total * job.outer.size * job.slice.width == 0:
        return
    if job.total <= FEW_SLICES and job.outer.size > job.block_chunks:
        job.block_chunks = 1          # compress_few reads the whole bitmask
    if (cnp.PyArray_IS_C_CONTIGUOUS(source)
            and can_compress(job.slice.width)
            and job.selected.size <= min(MAX_TILED_ROW, 2 * job.total)
            and job.outer.size >= 64 and job.block_chunks == 1):
        job.build_tile()
    job.units = job.outer.size * job.block_chunks
    job.chunks = chunk_count(job.units, threads,
                             (job.total * job.slice.width + mask.bits.shape[0]) // job.block_chunks)
    job.run(threads)


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
    cdef Py_ssize_t units
    cdef char *out
    # The bitmask, repeated for tile_rows outer indices, with each bit twice for PAIR_WIDTH; or None
    cdef uint64_t[::1] tile
    cdef Py_ssize_t tile_rows         # or 0

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
        if self.slice.width == PAIR_WIDTH:
            self.tile = new_u64(2 * tile.shape[0])
            repeat_bits(&tile[0], tile.shape[0], &self.tile[0])
        return 0

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t unit = chunk_start(self.units, self.chunks, k)
        cdef Py_ssize_t stop = chunk_start(self.units, self.chunks, k + 1)
        cdef Py_ssize_t outer = unit // self.block_chunks, s = unit % self.block_chunks
        cdef strided_t selected = self.selected
        cdef cursor_t cursor
        if self.tile_rows:
            unit = outer = self.compress_tiles(unit, stop)
        if self.block_chunks == 1 and self.total <= FEW_SLICES:
            self.compress_few(unit, stop)
            return
        seek(&cursor, &self.outer, outer)
        while unit < stop:
            selected.data = item(&cursor, &self.outer)
            self.compress_unit(
                &selected, s,
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

    cdef void compress_few(self, Py_ssize_t outer, Py_ssize_t stop) noexcept nogil:
        """Compress outer indices from `outer` to stop - 1; the offsets of the selected slices are
        computed once. An outer index has at most FEW_SLICES selected slices: otherwise the stack is
        overwritten."""
        cdef Py_ssize_t[FEW_SLICES] offsets
        cdef Py_ssize_t block, length, n_slices = 0
        cdef walk_t walk
        cdef cursor_t cursor
        start_walk(&walk, &self.selected)
        for block in range(self.bits.shape[0]):
            n_slices += add_offsets(
                &walk, &self.selected, block, self.bits[block], offsets + n_slices)
        seek(&cursor, &self.outer, outer)
        while outer < stop:
            length = run_length(&cursor, &self.outer, stop - outer)
            copy_rows(&self.slice, item(&cursor, &self.outer),
                      self.outer.strides[self.outer.ndim - 1], length, offsets, n_slices,
                      self.out + outer * n_slices * self.slice.width)
            advance(&cursor, &self.outer, length)
            outer += length

    cdef void compress_unit(self, const strided_t *selected, Py_ssize_t s,
                            char *out) noexcept nogil:
        """Compress one chunk of the bitmask at one outer index. out has room for the slices that
        the chunk selects: otherwise the output of another chunk is overwritten."""
        cdef Py_ssize_t block = chunk_start(self.bits.shape[0], self.block_chunks, s)
        cdef Py_ssize_t stop = chunk_start(self.bits.shape[0], self.block_chunks, s + 1)
        cdef Py_ssize_t width = self.slice.width, whole, capacity
        if not (self.slice.run and is_run(selected, width)):
            self.compress_scattered(selected, block, stop, out)
            return
        if can_compress(width):
            whole = min(stop, selected.size >> 6)   # full blocks: all 64 items may be read
            if block < whole:
                capacity = self.offsets[s + 1] - self.offsets[s]
                if whole < stop:
                    capacity -= level.count(&self.bits[whole], stop - whole)
                if width == PAIR_WIDTH:
                    self.compress_pairs(block, whole, selected.data, out, capacity)
                else:
                    level.compress[log2_width(width)](
                        &self.bits[block], whole - block, selected.data + block * 64 * width, out,
                        capacity)
                out += capacity * width
                block = whole
        self.compress_runs(block, stop, selected.data, out)

    cdef void compress_pairs(self, Py_ssize_t block, Py_ssize_t stop, const char *items,
                             char *out, Py_ssize_t capacity) noexcept nogil:
        """Compress items of PAIR_WIDTH bytes: as pairs of items of 8 bytes if there are many runs
        of selected items, otherwise run by run. items is the address of the item of bit 0, and the
        blocks are full: otherwise other memory is read. out has room for `capacity` items, the
        number of set bits of the blocks: otherwise memory behind it is overwritten."""
        cdef uint64_t[PAIR_BLOCKS] run_starts
        cdef uint64_t[2 * PAIR_BLOCKS] pairs
        cdef Py_ssize_t n, k, count
        if capacity < FEW_RUNS * (stop - block):
            self.compress_runs(block, stop, items, out)
            return
        while block < stop:
            n = min(PAIR_BLOCKS, stop - block)
            count = level.count(&self.bits[block], n)
            for k in range(n):
                run_starts[k] = self.bits[block + k] & ~(self.bits[block + k] << 1)
            if level.count(run_starts, n) < FEW_RUNS * n:
                self.compress_runs(block, block + n, items, out)
            else:
                repeat_bits(&self.bits[block], n, pairs)
                level.compress[log2_width(8)](
                    pairs, 2 * n, items + block * 64 * PAIR_WIDTH, out, 2 * capacity)
            out += count * PAIR_WIDTH
            capacity -= count
            block += n

    cdef void compress_runs(self, Py_ssize_t block, Py_ssize_t stop, const char *rows,
                            char *out) noexcept nogil:
        """Compress contiguous slices, with one memcpy for adjacent selected slices. rows is the
        address of the slice of bit 0: otherwise other slices are copied, or memory outside of the
        source is read. out has room for the selected slices: otherwise memory behind it is
        overwritten."""
        cdef const uint64_t[::1] bits = self.bits
        cdef Py_ssize_t width = self.slice.width
        cdef uint64_t word
        cdef int first, length
        while block < stop:
            word = bits[block]
            while word:
                first = fs_ctz(word)
                word = ~(word >> first)             # the run ends at the lowest set bit
                length = fs_ctz(word) if word else 64
                memcpy(out, rows + (block * 64 + first) * width, length * width)
                out += length * width
                word = 0 if first + length == 64 else (
                    bits[block] >> (first + length) << (first + length))
            block += 1

    cdef void compress_scattered(self, const strided_t *selected, Py_ssize_t block,
                                 Py_ssize_t stop, char *out) noexcept nogil:
        """Compress slices of any layout, by the offsets of the set bits of each block. out has room
        for the selected slices: otherwise memory behind it is overwritten."""
        cdef Py_ssize_t[64] offsets
        cdef Py_ssize_t n
        cdef bint may_gather = self.slice.run and is_item(self.slice.width)
        cdef walk_t walk
        start_walk(&walk, selected)
        while block < stop:
            if may_gather and block + GATHERED_BLOCKS <= min(stop, selected.size >> 6):
                n = level.count(&self.bits[block], GATHERED_BLOCKS)
                if n >= GATHERED_BLOCKS * 64 // 2:
                    self.compress_gathered(selected, block, n, out)
                    block += GATHERED_BLOCKS
                    out += n * self.slice.width
                    continue
            n = add_offsets(&walk, selected, block, self.bits[block], offsets)
            copy_slices(&self.slice, selected.data, offsets, n, out)
            out += n * self.slice.width
            block += 1

    cdef void compress_gathered(self, const strided_t *selected, Py_ssize_t block,
                                Py_ssize_t n, char *out) noexcept nogil:
        """Compress GATHERED_BLOCKS blocks of strided items. At least half of the items are
        selected, so all items are first copied to contiguous memory. selected has all items of the
        blocks: otherwise memory outside of it is read. out has room for the n selected items:
        otherwise memory behind it is overwritten."""
        cdef uint64_t[GATHERED_BLOCKS * 64] items
        cdef Py_ssize_t width = self.slice.width
        if width == 1:
            gather_items(selected, block * 64, <uint8_t *>items)
        elif width == 2:
            gather_items(selected, block * 64, <uint16_t *>items)
        elif width == 4:
            gather_items(selected, block * 64, <uint32_t *>items)
        else:
            gather_items(selected, block * 64, items)
        level.compress[log2_width(width)](
            &self.bits[block], GATHERED_BLOCKS, <const char *>items, out, n)


ctypedef fused item_t:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


cdef inline void gather_items(const strided_t *selected, Py_ssize_t first,
                              item_t *out) noexcept nogil:
    """Copy the items of GATHERED_BLOCKS blocks, from item `first` on, to out. selected has these
    items: otherwise memory outside of it is read. out has room for them: otherwise memory behind it
    is overwritten."""
    cdef Py_ssize_t left = GATHERED_BLOCKS * 64, k, length
    cdef Py_ssize_t stride = selected.strides[selected.ndim - 1]
    cdef const char *source
    cdef cursor_t cursor
    seek(&cursor, selected, first)
    while True:
        length = run_length(&cursor, selected, left)
        source = item(&cursor, selected)
        for k in range(length):
            memcpy(&out[k], source + k * stride, sizeof(item_t))
        left -= length
        if left == 0:
            return
        out += length
        advance(&cursor, selected, length)


cdef void repeat_bits(const uint64_t *bits, Py_ssize_t blocks, uint64_t *pairs) noexcept nogil:
    """Write each bit of `blocks` words twice. pairs has room for 2 * blocks words: otherwise memory
    behind it is overwritten."""
    cdef Py_ssize_t k
    for k in range(blocks):
        pairs[2 * k] = fs_repeat_bits(bits[k])
        pairs[2 * k + 1] = fs_repeat_bits(bits[k] >> 32)


cdef inline void start_walk(walk_t *walk, const strided_t *selected) noexcept nogil:
    """Call this before the first add_offsets: without it, offsets are undefined."""
    walk.row_start = -2 * selected.shape[selected.ndim - 1]    # no row yet
    walk.cursor.row = selected.data


cdef inline int add_offsets(walk_t *walk, const strided_t *selected, Py_ssize_t block,
                            uint64_t word, Py_ssize_t *offsets) noexcept nogil:
    """Write the offsets, in bytes from selected.data, of the set bits of a block. Returns the
    number of set bits.

    Blocks come in ascending order: otherwise offsets of an earlier row are wrong. offsets has room
    for all set bits: otherwise memory behind it is overwritten. No bit is set beyond selected:
    otherwise its offset is that of another item.
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
            if walk.row_start >= 0 and hit - walk.row_start < 2 * inner:
                next_row(&walk.cursor, selected)
                walk.row_start += inner
            else:
                seek(&walk.cursor, selected, hit)
                walk.row_start = hit - walk.cursor.inner
        offsets[j] = (walk.cursor.row - selected.data) + (hit - walk.row_start) * stride
    return n
