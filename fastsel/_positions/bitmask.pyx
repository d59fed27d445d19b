"""Pass 1 of every selection: each item is loaded once and becomes one bit.

A dtype is seen here as `words` words of `width` bytes per item and, for each word, the bits of it
that matter (`significant`), see truth.pxd.
This is the pattern for the other kernels: a task struct, a chunk function that handles chunk k of
it, and one Python function that cuts, runs, scans and allocates. Nothing is validated here.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from fastsel._simd.blocks cimport blocks_of, fs_join_pairs, fs_level_t, log2_width
from fastsel._simd.levels cimport fs_level
from fastsel._core.parallel cimport chunk_count, chunk_start, for_chunks, for_rounds, scan
from fastsel._core.strided cimport (
    MAX_DIMS, advance, cursor_t, describe, inner_length, is_run, item, run_length, seek, sort_axes,
    strided_t)
from fastsel._positions.tiles cimport pack_tiles, tile_axis, tiled_chunks
from fastsel._positions.truth cimport test_run, truth_t

cnp.import_array()

cdef const fs_level_t *level = fs_level()

cdef enum:
    FLAG_ITEMS = 1024     # items tested before they are packed; the buffer fits L1 and any stack
    SCRATCH_BLOCKS = 64   # blocks counted at a time where the bitmask itself is not wanted
    MIN_ROW = 16          # shorter inner rows take longer than items that lie apart

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
    strided_t items               # axes by falling stride, the last one is the inner row
    truth_t truth
    Py_ssize_t[MAX_DIMS] steps    # of the output along each axis: 0 where it is reduced
    Py_ssize_t *out
    int cut_axis                  # not reduced, so that no two chunks share an output item
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
               const uint64_t[::1] significant not None, cnp.ndarray out not None,
               const Py_ssize_t[::1] order not None, const Py_ssize_t[::1] steps not None,
               Py_ssize_t cut_axis, Py_ssize_t round_axis, int threads):
    """Count along axes: item (i, j, ...) adds to out at i * steps[0] + j * steps[1] + ...

    order lists the axes of items by falling stride (the last one becomes the inner row), steps
    has one number per listed axis, 0 where the axis is reduced; cut_axis and round_axis are the
    positions in order of an axis that is not reduced and of one that is, if there is any. out is
    zeroed, contiguous intp.
    """
    cdef axes_task task
    cdef Py_ssize_t nbytes
    cdef int k, axis
    task.truth.width, task.truth.words = width, significant.shape[0]
    task.truth.significant = &significant[0]
    task.out = <Py_ssize_t *>cnp.PyArray_DATA(out)
    task.items.data = <char *>cnp.PyArray_DATA(items)
    task.items.ndim = <int>order.shape[0]
    task.items.size = cnp.PyArray_SIZE(items)
    for k in range(task.items.ndim):
        axis = <int>order[k]
        task.items.shape[k] = cnp.PyArray_DIM(items, axis)
        task.items.strides[k] = cnp.PyArray_STRIDE(items, axis)
        task.steps[k] = steps[k]
    task.cut_axis, task.round_axis = <int>cut_axis, <int>round_axis
    nbytes = task.items.size * width * task.truth.words
    task.chunks = chunk_count(task.items.shape[cut_axis], threads,
                              nbytes // max(1, task.items.shape[cut_axis]))
    task.rounds = 1
    if task.steps[round_axis] == 0:
        task.rounds = chunk_count(task.items.shape[round_axis], 1,
                                  nbytes // task.chunks // max(1, task.items.shape[round_axis]))
    with nogil:
        for_rounds(count_axes_chunk, &task, task.rounds, task.chunks, threads)


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
    cdef int inner = part.ndim - 1, cut = task.cut_axis, axis
    cdef Py_ssize_t start = narrow(&part, cut, task.chunks, k % task.chunks)
    cdef Py_ssize_t length, j
    cdef Py_ssize_t *out = task.out + start * task.steps[cut]
    cdef Py_ssize_t *row
    cdef uint8_t[FLAG_ITEMS] flags
    cdef cursor_t cursor
    narrow(&part, task.round_axis, task.rounds, k // task.chunks)
    if part.size == 0:
        return
    seek(&cursor, &part, 0)
    while part.size:
        length = run_length(&cursor, &part, FLAG_ITEMS)
        test_run(&task.truth, item(&cursor, &part), part.strides[inner], length, flags)
        row = out + cursor.inner * task.steps[inner]
        for axis in range(inner):
            row += cursor.coords[axis] * task.steps[axis]
        if task.steps[inner]:
            for j in range(length):
                row[j * task.steps[inner]] += flags[j]
        else:
            row[0] += sum_flags(flags, length)
        advance(&cursor, &part, length)
        part.size -= length


cdef Py_ssize_t narrow(strided_t *part, int axis, Py_ssize_t chunks, Py_ssize_t k) noexcept nogil:
    """Leave of an axis only chunk k; returns where it starts."""
    cdef Py_ssize_t length = part.shape[axis], start = chunk_start(length, chunks, k)
    part.data += start * part.strides[axis]
    part.shape[axis] = chunk_start(length, chunks, k + 1) - start
    part.size = part.size // max(1, length) * part.shape[axis]
    return start


cdef inline Py_ssize_t sum_flags(const uint8_t *flags, Py_ssize_t length) noexcept nogil:
    cdef Py_ssize_t j
    cdef uint32_t total = 0   # at most FLAG_ITEMS; 32 bits so that the compiler sums vectors
    for j in range(length):
        total += flags[j]
    return total
