"""Pass 2 of compress and masks: bitmask + items -> selected items, selected rows.

The axes of the source fall into three groups: outer axes (each index has its own selected rows),
selected axes (one bit per index, in C order) and the slice that a bit keeps or drops.
Only the bitmask decides what is read and written, so no other thread's change of the source can
move a write.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy, memset

from fastsel._simd.blocks cimport fs_ctz, fs_level_t, log2_width
from fastsel._core.copying cimport copy_rows, copy_slices, describe_slice, slice_t
from fastsel._simd.levels cimport fs_level
from fastsel._core.parallel cimport chunk_count, chunk_start, for_chunks
from fastsel._core.strided cimport (
    advance, cursor_t, describe, is_run, item, next_row, run_length, seek, strided_t)

cnp.import_array()

cdef const fs_level_t *level = fs_level()

cdef enum:
    FEW_SLICES = 64   # slices per outer index whose offsets fit the stack
    # Rows of at most so many items, of which at least half are selected, share a bitmask with their
    # neighbours: half the time of one call per row (`compare.py --op compress --axis 1`).
    TILED = 1024
    TILE_BLOCKS = 16  # at least, so that calls do not count

ctypedef struct walk_t:
    cursor_t cursor
    Py_ssize_t row_start          # index of the first item of the cursor's inner row

ctypedef struct keep_task:
    const uint64_t *bits
    const Py_ssize_t *offsets
    Py_ssize_t blocks
    Py_ssize_t chunks             # of the bitmask
    strided_t outer
    strided_t selected
    slice_t slice
    Py_ssize_t total              # slices kept per outer index
    Py_ssize_t units              # outer index x chunk of the bitmask
    Py_ssize_t cuts               # chunks of the units
    char *out
    const uint64_t *tile          # the bitmask of tile_rows outer indices that lie side by side,
    Py_ssize_t tile_blocks        # in so many whole blocks
    Py_ssize_t tile_rows          # or 0


def keep(cnp.ndarray source not None, int first_axis, int stop_axis,
         const uint64_t[::1] bits not None, const Py_ssize_t[::1] offsets not None,
         cnp.ndarray out not None, int threads):
    """Write what bits keep of axes first_axis ... stop_axis - 1 to out, a contiguous array.

    bits has at most one bit per index of the selected axes; missing ones drop. out has the shape
    (outer axes ..., total, slice axes ...), of which only the size matters here.
    """
    cdef keep_task task
    cdef uint64_t[TILED] tile
    task.bits = &bits[0]
    task.blocks = bits.shape[0]
    task.offsets = &offsets[0]
    task.chunks = offsets.shape[0] - 1
    task.total = offsets[task.chunks]
    describe(&task.outer, source, 0, first_axis)
    describe(&task.selected, source, first_axis, stop_axis)
    describe_slice(&task.slice, source, stop_axis)
    if task.total <= FEW_SLICES and task.outer.size > task.chunks:
        task.chunks = 1               # keep_few reads the whole bitmask
    task.out = <char *>cnp.PyArray_DATA(out)
    task.units = task.outer.size * task.chunks
    if task.total * task.outer.size * task.slice.width == 0:
        return
    task.tile_rows = 0
    if (cnp.PyArray_IS_C_CONTIGUOUS(source) and is_item(task.slice.width)
            and task.selected.size <= min(TILED, 2 * task.total)
            and task.outer.size >= 64 and task.chunks == 1):
        lay_tile(&task, tile)
    # Few outer indices: a unit is a chunk of pass 1. Many: each cut takes a range of them.
    task.cuts = chunk_count(task.units, threads,
                            (task.total * task.slice.width + task.blocks) // task.chunks)
    with nogil:
        for_chunks(keep_chunk, &task, task.cuts, threads)


cdef void keep_chunk(void *context, Py_ssize_t k) noexcept nogil:
    cdef keep_task *task = <keep_task *>context
    cdef Py_ssize_t unit = chunk_start(task.units, task.cuts, k)
    cdef Py_ssize_t stop = chunk_start(task.units, task.cuts, k + 1)
    cdef Py_ssize_t outer = unit // task.chunks, s = unit % task.chunks
    cdef strided_t selected = task.selected
    cdef cursor_t cursor
    if task.tile_rows:
        unit = outer = keep_tiles(task, unit, stop)
    if task.chunks == 1 and task.total <= FEW_SLICES:
        keep_few(task, unit, stop)
        return
    seek(&cursor, &task.outer, outer)
    while unit < stop:
        selected.data = item(&cursor, &task.outer)
        keep_unit(task, &selected, s,
                  task.out + (outer * task.total + task.offsets[s]) * task.slice.width)
        unit += 1
        s += 1
        if s == task.chunks:
            s = 0
            outer += 1
            advance(&cursor, &task.outer, 1)


cdef void lay_tile(keep_task *task, uint64_t *tile) noexcept:
    """The bitmask of one outer index, as often as it takes to end at a block's end."""
    cdef Py_ssize_t length = task.selected.size, row, b, at
    task.tile = tile
    task.tile_rows = 64
    while length & 1 == 0 and task.tile_rows > 1:
        task.tile_rows, length = task.tile_rows // 2, length // 2
    while length * 2 <= TILE_BLOCKS:
        task.tile_rows, length = task.tile_rows * 2, length * 2
    task.tile_blocks = task.tile_rows * task.selected.size >> 6
    memset(tile, 0, task.tile_blocks * sizeof(uint64_t))
    for row in range(task.tile_rows):
        for b in range(task.blocks):
            at = row * task.selected.size + b * 64
            tile[at >> 6] |= task.bits[b] << (at & 63)
            if at & 63 and task.bits[b] >> (64 - (at & 63)):
                tile[(at >> 6) + 1] |= task.bits[b] >> (64 - (at & 63))


cdef Py_ssize_t keep_tiles(const keep_task *task, Py_ssize_t outer,
                           Py_ssize_t stop) noexcept nogil:
    """Outer indices by whole tiles; returns the first that is left."""
    cdef Py_ssize_t width = task.slice.width, row = task.selected.size * width
    cdef Py_ssize_t kept = task.total * width
    while stop - outer >= task.tile_rows:
        level.keep[log2_width(width)](
            task.tile, task.tile_blocks, task.selected.data + outer * row,
            task.out + outer * kept, (stop - outer) * task.total)
        outer += task.tile_rows
    return outer


cdef void keep_few(const keep_task *task, Py_ssize_t outer, Py_ssize_t stop) noexcept nogil:
    """Outer indices that all keep the same few slices: where these lie is found once."""
    cdef Py_ssize_t[FEW_SLICES + 64] offsets
    cdef Py_ssize_t block, length, found = 0
    cdef walk_t walk
    cdef cursor_t cursor
    start_walk(&walk, &task.selected)
    for block in range(task.blocks):
        found += add_offsets(&walk, &task.selected, block, task.bits[block], offsets + found)
    seek(&cursor, &task.outer, outer)
    while outer < stop:
        length = run_length(&cursor, &task.outer, stop - outer)
        copy_rows(&task.slice, item(&cursor, &task.outer),
                  task.outer.strides[task.outer.ndim - 1], length, offsets, found,
                  task.out + outer * found * task.slice.width)
        advance(&cursor, &task.outer, length)
        outer += length


cdef inline bint is_item(Py_ssize_t width) noexcept nogil:
    """Is there a kernel for it?"""
    return width == 1 or width == 2 or width == 4 or width == 8


cdef void keep_unit(const keep_task *task, const strided_t *selected, Py_ssize_t s,
                    char *out) noexcept nogil:
    """One chunk of the bitmask at one outer index; out has room for what the chunk keeps."""
    cdef Py_ssize_t block = chunk_start(task.blocks, task.chunks, s)
    cdef Py_ssize_t stop = chunk_start(task.blocks, task.chunks, s + 1)
    cdef Py_ssize_t width = task.slice.width, whole, capacity
    if not (task.slice.run and is_run(selected, width)):
        keep_scattered(task, selected, block, stop, out)
        return
    if is_item(width):
        whole = min(stop, selected.size >> 6)   # blocks whose 64 items may all be read
        if block < whole:
            capacity = task.offsets[s + 1] - task.offsets[s]
            if whole < stop:
                capacity -= level.count(task.bits + whole, stop - whole)
            level.keep[log2_width(width)](
                task.bits + block, whole - block, selected.data + block * 64 * width, out, capacity)
            out += capacity * width
            block = whole
    keep_runs(task.bits, block, stop, selected.data, width, out)


cdef void keep_runs(const uint64_t *bits, Py_ssize_t block, Py_ssize_t stop, const char *rows,
                    Py_ssize_t width, char *out) noexcept nogil:
    """Rows that lie side by side: neighbouring kept rows are one copy."""
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


cdef void keep_scattered(const keep_task *task, const strided_t *selected, Py_ssize_t block,
                         Py_ssize_t stop, char *out) noexcept nogil:
    """Slices of any layout, by way of the offsets of a block's hits."""
    cdef Py_ssize_t[64] offsets
    cdef int n
    cdef walk_t walk
    start_walk(&walk, selected)
    for block in range(block, stop):
        n = add_offsets(&walk, selected, block, task.bits[block], offsets)
        copy_slices(&task.slice, selected.data, offsets, n, out)
        out += n * task.slice.width


cdef inline void start_walk(walk_t *walk, const strided_t *selected) noexcept nogil:
    walk.row_start = -2 * selected.shape[selected.ndim - 1]    # no row yet
    walk.cursor.row = selected.data


cdef inline int add_offsets(walk_t *walk, const strided_t *selected, Py_ssize_t block,
                            uint64_t word, Py_ssize_t *offsets) noexcept nogil:
    """Where the hits of a block lie, in bytes from selected.data; returns how many there are."""
    cdef uint8_t[64] at
    cdef Py_ssize_t inner = selected.shape[selected.ndim - 1]
    cdef Py_ssize_t stride = selected.strides[selected.ndim - 1], hit
    cdef int n, j
    if word == 0:
        return 0
    n = level.decode(word, at)
    for j in range(n):
        hit = block * 64 + at[j]
        if hit - walk.row_start >= inner:
            if walk.row_start >= 0 and hit - walk.row_start < 2 * inner:
                next_row(&walk.cursor, selected)
                walk.row_start += inner
            else:
                seek(&walk.cursor, selected, hit)
                walk.row_start = hit - walk.cursor.inner
        offsets[j] = (walk.cursor.row - selected.data) + (hit - walk.row_start) * stride
    return n
