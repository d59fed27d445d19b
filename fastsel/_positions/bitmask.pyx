"""Pass 1 of every selection: each item is loaded once and becomes one bit.

A dtype is seen here as `words` words of `width` bytes per item and, for each word, the bits of it
that matter (`significant`), see truth.pxd.
This is the pattern for the other kernels: a task struct, a chunk function that handles chunk k of
it, and one Python function that cuts, runs, scans and allocates. Nothing is validated here.
"""
cimport numpy as cnp
from libc.stdint cimport intptr_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from fastsel._simd.blocks cimport blocks_of, fs_join_pairs, fs_level_t, log2_width
from fastsel._simd.levels cimport fs_level
from fastsel._core.parallel cimport chunk_count, chunk_start, for_chunks, for_rounds, scan
from fastsel._core.strided cimport (
    MAX_DIMS, advance, cursor_t, describe, inner_length, is_run, item, run_length, seek, sort_axes,
    strided_t)
from fastsel._positions.tiles cimport pack_tiles, tile_axis, tiled_chunks
from fastsel._positions.truth cimport FLAG_ITEMS, pack_run, test_run, truth_t, word_t

cnp.import_array()

cdef const fs_level_t *level = fs_level()

cdef enum:
    SCRATCH_BLOCKS = 64   # blocks counted at a time where the bitmask itself is not wanted
    MIN_ROW = 16          # shorter inner rows take longer than items that lie apart
    MAX_ROWS = 255        # whose items a byte counts

ctypedef struct pack_task:
    strided_t items
    truth_t truth
    int along                     # the axis of tiles.pxd, or -1
    Py_ssize_t blocks
    Py_ssize_t chunks
    uint64_t *bits                # NULL: only count
    Py_ssize_t *counts            # one per chunk

ctypedef struct count_task:
    const uint64_t *bits
    Py_ssize_t blocks
    Py_ssize_t chunks
    Py_ssize_t *counts            # one per chunk

ctypedef struct axes_task:
    strided_t items               # two axes at least, by falling stride
    truth_t truth
    Py_ssize_t[MAX_DIMS] steps    # of the counts along each axis: 0 where it is reduced
    intptr_t *counts
    Py_ssize_t size               # how many counts
    Py_ssize_t parts              # of each of them
    Py_ssize_t cuts               # of the counts
    Py_ssize_t part_step          # to the counts of the next chunk, or 0: they share no count
    int cut_axis
    int round_axis                # a reduced axis
    Py_ssize_t chunks
    Py_ssize_t rounds


def pack(cnp.ndarray items not None, Py_ssize_t width, const uint64_t[::1] significant not None,
         Py_ssize_t moved, int threads):
    """The bitmask of all items, in C order, and the offsets of its chunks.

    moved is how many bytes pass 2 moves for a selected item: the chunks are those of pass 2.

    Returns (bits, offsets): one uint64 word per block of 64 items, the unused bits of the last
    one 0; and the exclusive scan of the number of set bits in each chunk, the total last.
    """
    cdef pack_task task
    cdef cnp.npy_intp length
    describe(&task.items, items, 0, cnp.PyArray_NDIM(items))
    set_up(&task, width, significant, moved, threads)
    length = task.blocks
    bits = cnp.PyArray_EMPTY(1, &length, cnp.NPY_UINT64, 0)
    task.bits = <uint64_t *>cnp.PyArray_DATA(bits)
    task.along = tile_axis(&task.items)
    if task.along < 0:
        return bits, run(&task, threads)
    # Tiles have chunks of their own; those of pass 2 are counted afterwards.
    task.chunks = tiled_chunks(&task.items, task.along, threads)
    with nogil:
        for_chunks(tiles_chunk, &task, task.chunks, threads)
    return bits, offsets_of(bits, width * task.truth.words + moved, threads)


def count(cnp.ndarray items not None, Py_ssize_t width, const uint64_t[::1] significant not None,
          int threads):
    """How many items are selected; makes no bitmask."""
    cdef pack_task task
    cdef strided_t in_memory_order
    describe(&task.items, items, 0, cnp.PyArray_NDIM(items))
    in_memory_order = task.items
    sort_axes(&in_memory_order)
    if inner_length(&in_memory_order) >= min(MIN_ROW, inner_length(&task.items)):
        task.items = in_memory_order
    set_up(&task, width, significant, 0, threads)
    task.bits = NULL
    offsets = run(&task, threads)
    return (<Py_ssize_t *>cnp.PyArray_DATA(offsets))[task.chunks]


def offsets_of(const uint64_t[::1] bits not None, Py_ssize_t moved, int threads):
    """The offsets of the chunks of a bitmask that was made elsewhere; moved as in pack."""
    cdef count_task task
    cdef cnp.npy_intp length
    cdef cnp.ndarray offsets
    task.blocks = bits.shape[0]
    task.bits = &bits[0] if task.blocks else NULL
    task.chunks = chunk_count(task.blocks, threads, 64 * moved)
    length = task.chunks + 1
    offsets = cnp.PyArray_EMPTY(1, &length, cnp.NPY_INTP, 0)
    task.counts = <Py_ssize_t *>cnp.PyArray_DATA(offsets)
    with nogil:
        for_chunks(count_chunk, &task, task.chunks, threads)
        scan(task.counts, task.chunks)
    return offsets


cdef void count_chunk(void *context, Py_ssize_t k) noexcept nogil:
    cdef count_task *task = <count_task *>context
    cdef Py_ssize_t start = chunk_start(task.blocks, task.chunks, k)
    task.counts[k] = level.count(
        task.bits + start, chunk_start(task.blocks, task.chunks, k + 1) - start)


def count_axes(cnp.ndarray items not None, Py_ssize_t width,
               const uint64_t[::1] significant not None, const Py_ssize_t[::1] order not None,
               const Py_ssize_t[::1] steps not None, Py_ssize_t size, int threads):
    """Count along axes: item (i, j, ...) adds to count i * steps[0] + j * steps[1] + ...

    order lists the axes of items by falling stride (the last one becomes the inner row), steps
    has one number per listed axis, 0 where the axis is reduced. size is the number of counts.

    Returns the counts, intp.
    """
    cdef axes_task task
    cdef cnp.npy_intp[2] shape
    cdef Py_ssize_t length, nbytes
    task.truth.width, task.truth.words = width, significant.shape[0]
    task.truth.significant = &significant[0]
    describe_axes(&task, items, order, steps)
    task.cut_axis = longest_axis(&task, True, True)
    task.round_axis = longest_axis(&task, True, False)
    nbytes = task.items.size * width * task.truth.words
    length = max(1, task.items.shape[task.cut_axis])
    # The counts of all chunks are to take no more than a bitmask of the items would.
    if task.steps[task.cut_axis] == 0 and (
            chunk_count(length, threads, 1) * size * 64 > task.items.size):
        task.cut_axis = longest_axis(&task, False, True)
        length = max(1, task.items.shape[task.cut_axis])
    shape[0], shape[1] = 1, size
    if task.steps[task.cut_axis]:
        task.chunks = chunk_count(length, threads, nbytes // length)
    else:
        task.chunks = shape[0] = chunk_count(length, threads, 1)
    task.part_step = size if shape[0] > 1 else 0
    length = task.items.shape[task.round_axis]
    if task.round_axis == task.cut_axis:
        length = length // task.chunks
    task.rounds = chunk_count(length, 1, nbytes // task.chunks // max(1, length))
    cdef cnp.ndarray parts = cnp.PyArray_ZEROS(2, shape, cnp.NPY_INTP, 0)
    task.counts = <intptr_t *>cnp.PyArray_DATA(parts)
    task.size, task.parts = size, shape[0]
    task.cuts = chunk_count(size, threads, task.parts * sizeof(intptr_t))
    with nogil:
        for_rounds(count_axes_chunk, &task, task.rounds, task.chunks, threads)
        if task.parts > 1:
            for_chunks(add_parts, &task, task.cuts, threads)
    return parts[0]


cdef void describe_axes(axes_task *task, cnp.ndarray items, const Py_ssize_t[::1] order,
                        const Py_ssize_t[::1] steps) noexcept:
    """Neighbouring axes are merged if they are one to the items and to the counts."""
    cdef strided_t *axes = &task.items
    cdef Py_ssize_t length, stride
    cdef int k, last
    axes.data = <char *>cnp.PyArray_DATA(items)
    axes.size = cnp.PyArray_SIZE(items)
    axes.ndim = 1                 # a reduced axis, in case that there is no other
    axes.shape[0], axes.strides[0], task.steps[0] = 1, 0, 0
    for k in range(<int>order.shape[0]):
        length = cnp.PyArray_DIM(items, <int>order[k])
        stride = cnp.PyArray_STRIDE(items, <int>order[k])
        last = axes.ndim - 1
        if length == 1:
            continue
        if last and axes.strides[last] == length * stride and task.steps[last] == length * steps[k]:
            axes.shape[last] *= length
        else:
            last += 1
            axes.ndim += 1
            axes.shape[last] = length
        axes.strides[last], task.steps[last] = stride, steps[k]


cdef int longest_axis(const axes_task *task, bint reduced, bint kept) noexcept:
    """The longest axis of those that are reduced, kept or both; of equal ones it is one that is
    kept."""
    cdef int axis, found = 0
    for axis in range(1, task.items.ndim):
        if not (kept if task.steps[axis] else reduced):
            continue
        if task.items.shape[axis] > task.items.shape[found] or (
                task.items.shape[axis] == task.items.shape[found] and task.steps[axis]):
            found = axis
    return found


cdef void set_up(pack_task *task, Py_ssize_t width, const uint64_t[::1] significant,
                 Py_ssize_t moved, int threads) noexcept:
    task.truth.width, task.truth.words = width, significant.shape[0]
    task.truth.significant = &significant[0]
    task.blocks = blocks_of(task.items.size)
    task.chunks = chunk_count(task.blocks, threads, 64 * (width * task.truth.words + moved))


cdef cnp.ndarray run(pack_task *task, int threads):
    """Run the chunks of a task that is set up; returns their offsets."""
    cdef cnp.npy_intp length = task.chunks + 1
    cdef cnp.ndarray offsets = cnp.PyArray_EMPTY(1, &length, cnp.NPY_INTP, 0)
    task.counts = <Py_ssize_t *>cnp.PyArray_DATA(offsets)
    with nogil:
        for_chunks(pack_chunk, task, task.chunks, threads)
        scan(task.counts, task.chunks)
    return offsets


cdef void tiles_chunk(void *context, Py_ssize_t k) noexcept nogil:
    cdef pack_task *task = <pack_task *>context
    cdef Py_ssize_t block = chunk_start(task.blocks, task.chunks, k)
    cdef Py_ssize_t stop_block = chunk_start(task.blocks, task.chunks, k + 1)
    pack_tiles(level, &task.items, &task.truth, task.along, block * 64,
               min(stop_block * 64, task.items.size), task.bits + block)


cdef void pack_chunk(void *context, Py_ssize_t k) noexcept nogil:
    cdef pack_task *task = <pack_task *>context
    cdef Py_ssize_t block = chunk_start(task.blocks, task.chunks, k)
    cdef Py_ssize_t stop_block = chunk_start(task.blocks, task.chunks, k + 1)
    cdef Py_ssize_t whole = 0, itemsize = task.truth.width * task.truth.words
    cdef uint64_t[SCRATCH_BLOCKS] scratch
    cdef Py_ssize_t total = 0, step
    if task.truth.words == 1 and is_run(&task.items, itemsize):
        # Whole blocks, without a copy; the items of a last, partial one go through flags below.
        whole = min(stop_block, task.items.size >> 6)
        while block < whole:
            step = whole - block if task.bits else min(whole - block, SCRATCH_BLOCKS)
            total += level.pack[log2_width(itemsize)](
                task.items.data + block * 64 * itemsize, task.truth.significant[0],
                task.bits + block if task.bits else scratch, step)
            block += step
    elif is_pairs(&task.truth) and is_run(&task.items, itemsize):
        whole = min(stop_block, task.items.size >> 6)
        while block < whole:
            step = min(whole - block, SCRATCH_BLOCKS // 2)
            level.pack[log2_width(task.truth.width)](
                task.items.data + block * 64 * itemsize, task.truth.significant[0], scratch,
                2 * step)
            total += join_pairs(scratch, step, task.bits + block if task.bits else scratch)
            block += step
    if block < stop_block:
        total += pack_flags(task, block, stop_block, scratch)
    task.counts[k] = total


cdef inline bint is_pairs(const truth_t *truth) noexcept nogil:
    """Two words with the same significant bits, as in a complex number?"""
    return truth.words == 2 and truth.significant[0] == truth.significant[1]


cdef inline Py_ssize_t join_pairs(const uint64_t *pairs, Py_ssize_t blocks,
                                  uint64_t *bits) noexcept nogil:
    """Of each two neighbouring bits one that is set if any of them is; returns how many are. bits
    may be pairs."""
    cdef Py_ssize_t k
    for k in range(blocks):
        bits[k] = fs_join_pairs(pairs[2 * k]) | fs_join_pairs(pairs[2 * k + 1]) << 32
    return level.count(bits, blocks)


cdef Py_ssize_t pack_flags(pack_task *task, Py_ssize_t block, Py_ssize_t stop_block,
                           uint64_t *scratch) noexcept nogil:
    """Blocks of items of any layout and size, by way of one byte per item."""
    cdef uint8_t[FLAG_ITEMS] flags
    cdef cursor_t cursor
    cdef Py_ssize_t left = min(stop_block * 64, task.items.size) - block * 64
    cdef Py_ssize_t filled, wanted, length, total = 0
    seek(&cursor, &task.items, block * 64)
    while left:
        wanted = min(left, FLAG_ITEMS)
        filled = 0
        while filled < wanted:
            length = run_length(&cursor, &task.items, wanted - filled)
            test_run(&task.truth, item(&cursor, &task.items),
                     task.items.strides[task.items.ndim - 1], length, flags + filled)
            advance(&cursor, &task.items, length)
            filled += length
        length = blocks_of(wanted)
        memset(flags + wanted, 0, length * 64 - wanted)
        total += level.pack[0](<char *>flags, 0xff, task.bits + block if task.bits else scratch,
                               length)
        block += length
        left -= wanted
    return total


cdef void count_axes_chunk(void *context, Py_ssize_t k) noexcept nogil:
    """Items whose coordinates on the two axes lie in chunk and round k."""
    cdef axes_task *task = <axes_task *>context
    cdef strided_t part = task.items
    cdef Py_ssize_t start = narrow(&part, task.cut_axis, task.chunks, k % task.chunks)
    narrow(&part, task.round_axis, task.rounds, k // task.chunks)
    if part.size:
        count_from(task, &part, 0, part.data, task.counts + k % task.chunks * task.part_step
                   + start * task.steps[task.cut_axis])


cdef void add_parts(void *context, Py_ssize_t k) noexcept nogil:
    """The counts of cut k: those of all chunks to the first one's."""
    cdef axes_task *task = <axes_task *>context
    cdef Py_ssize_t start = chunk_start(task.size, task.cuts, k), part, j
    cdef Py_ssize_t stop = chunk_start(task.size, task.cuts, k + 1)
    for part in range(1, task.parts):
        for j in range(start, stop):
            task.counts[j] += task.counts[part * task.part_step + j]


cdef void count_from(const axes_task *task, const strided_t *part, int axis, const char *items,
                     intptr_t *counts) noexcept nogil:
    """Every plane of the last two axes."""
    cdef int inner = part.ndim - 1
    cdef Py_ssize_t k
    if axis == inner:
        count_columns(&task.truth, items, 0, 1, part.strides[inner], part.shape[inner], counts,
                      task.steps[inner])
    elif axis == inner - 1 and task.steps[inner] == 0:
        count_rows(&task.truth, items, part.strides[axis], part.shape[axis], part.strides[inner],
                   part.shape[inner], counts, task.steps[axis])
    elif axis == inner - 1 and task.steps[axis] == 0:
        count_columns(&task.truth, items, part.strides[axis], part.shape[axis],
                      part.strides[inner], part.shape[inner], counts, task.steps[inner])
    else:
        for k in range(part.shape[axis]):
            count_from(task, part, axis + 1, items + k * part.strides[axis],
                       counts + k * task.steps[axis])


cdef void count_rows(const truth_t *truth, const char *items, Py_ssize_t row_stride,
                     Py_ssize_t rows, Py_ssize_t stride, Py_ssize_t length, intptr_t *counts,
                     Py_ssize_t step) noexcept nogil:
    """Each row's items add to a count, by way of their bits: those of short rows together."""
    cdef uint64_t[SCRATCH_BLOCKS] bits      # more than those of FLAG_ITEMS
    cdef Py_ssize_t together = 1, left, n
    if row_stride == length * stride:
        together = max(1, FLAG_ITEMS // length)
    elif length < MIN_ROW and step:
        count_columns(truth, items, stride, length, row_stride, rows, counts, step)
        return
    while rows:
        together = min(together, rows)
        left = together * length
        while left:
            n = min(left, FLAG_ITEMS)
            pack_run(level, truth, items, stride, n, bits)
            level.add_rows(bits, together, n // together, counts, step)
            items += n * stride
            left -= n
        items += together * (row_stride - length * stride)
        counts += together * step
        rows -= together


cdef void count_columns(const truth_t *truth, const char *items, Py_ssize_t row_stride,
                        Py_ssize_t rows, Py_ssize_t stride, Py_ssize_t length, intptr_t *counts,
                        Py_ssize_t step) noexcept nogil:
    """Each row's items add to the counts of their columns, by way of narrow sums; short rows that
    follow each other are one long one, whose sums are added in the end."""
    cdef uint64_t[FLAG_ITEMS] sums
    cdef uint8_t[FLAG_ITEMS] flags
    cdef bint side_by_side = truth.words == 1 and stride == truth.width
    cdef Py_ssize_t width = truth.width if side_by_side else 1
    cdef Py_ssize_t start = 0, columns, left, together, n, k
    cdef const char *row
    while start < length:
        columns = min(length - start, FLAG_ITEMS)
        row = items + start * stride
        left = rows
        while left:
            together = 1
            if row_stride == columns * stride:
                together = min(left, FLAG_ITEMS // columns)
            n = min(left // together, MAX_ROWS)
            left -= n * together
            memset(sums, 0, together * columns * width)
            if side_by_side:
                level.add_columns[log2_width(width)](
                    row, together * row_stride, n, truth.significant[0], together * columns, sums)
            else:
                for k in range(n):
                    test_run(truth, row + k * together * row_stride, stride, together * columns,
                             flags)
                    level.add_columns[0](
                        <const char *>flags, 0, 1, 0xff, together * columns, sums)
            row += n * together * row_stride
            if width == 1:
                add_sums(<uint8_t *>sums, together, columns, counts + start * step, step)
            elif width == 2:
                add_sums(<uint16_t *>sums, together, columns, counts + start * step, step)
            elif width == 4:
                add_sums(<uint32_t *>sums, together, columns, counts + start * step, step)
            else:
                add_sums(sums, together, columns, counts + start * step, step)
        start += columns


cdef inline void add_sums(const word_t *sums, Py_ssize_t rows, Py_ssize_t columns,
                          intptr_t *counts, Py_ssize_t step) noexcept nogil:
    cdef Py_ssize_t k, j
    for k in range(rows):
        for j in range(columns):
            counts[j * step] += <intptr_t>sums[k * columns + j]


cdef Py_ssize_t narrow(strided_t *part, int axis, Py_ssize_t chunks, Py_ssize_t k) noexcept nogil:
    """Leave of an axis only chunk k; returns where it starts."""
    cdef Py_ssize_t length = part.shape[axis], start = chunk_start(length, chunks, k)
    part.data += start * part.strides[axis]
    part.shape[axis] = chunk_start(length, chunks, k + 1) - start
    part.size = part.size // max(1, length) * part.shape[axis]
    return start
