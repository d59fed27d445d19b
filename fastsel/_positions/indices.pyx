"""Pass 2 of nonzero: bitmask -> flat indices, one coordinate per axis, or the starts of rows.

Each chunk writes into its own cut of the output, from offsets[k] to offsets[k + 1].
"""
cimport numpy as cnp
from libc.stdint cimport intptr_t, uint32_t, uint64_t

from fastsel._simd.blocks cimport fs_level_t, fs_popcount, is_sparse
from fastsel._simd.levels cimport fs_level
from fastsel._core.results cimport new_result
from fastsel._core.parallel cimport chunk_count, chunk_start, for_chunks
from fastsel._core.strided cimport MAX_DIMS

cnp.import_array()

cdef const fs_level_t *level = fs_level()

cdef enum:
    # An inner row of so many items, with so many hits on the average, is written as a whole:
    # compare.py --op nonzero --ndim 2 --dtype bool --density .0003 .01 .1
    LONG_ROW = 128
    ROW_HITS = 2
    PIECE = 16            # blocks whose indices fit L1

ctypedef fused coordinate_t:
    uint32_t
    uint64_t

ctypedef struct write_task:
    const uint64_t *bits
    const Py_ssize_t *offsets
    Py_ssize_t blocks
    Py_ssize_t chunks
    char *out
    Py_ssize_t width              # bytes of an item of out, 4 or 8
    # Only for row starts:
    Py_ssize_t rows
    Py_ssize_t row_items
    # Only for coordinates:
    Py_ssize_t hit_step           # of the output, in coordinates, from hit to hit
    Py_ssize_t axis_step          # ... and from axis to axis
    int ndim
    Py_ssize_t[MAX_DIMS] shape
    bint is_whole                 # it has all axes


ctypedef struct fill_task:
    char *out
    Py_ssize_t width              # bytes of an item of out, 4 or 8
    Py_ssize_t items
    Py_ssize_t chunks
    uint64_t value


def flat(const uint64_t[::1] bits not None, const Py_ssize_t[::1] offsets not None, int threads):
    """Indices of the set bits, ascending, as a new intp array."""
    cdef write_task task
    cdef cnp.npy_intp total = offsets[offsets.shape[0] - 1]
    cdef cnp.ndarray out = new_result(1, &total, cnp.NPY_INTP)
    if total:
        set_up(&task, bits, offsets, out)
        with nogil:
            for_chunks(flat_chunk, &task, task.chunks, threads)
    return out


def coordinates(const uint64_t[::1] bits not None, const Py_ssize_t[::1] offsets not None,
                tuple shape not None, cnp.ndarray out not None, int threads):
    """Coordinates of the set bits in an array of that shape, into rows 0 ... total - 1 of out.

    shape may lack leading axes of the array, whose coordinates are then left out. out is 2-D with
    one column per axis of shape, of any layout, its items 4 or 8 bytes wide; only the first total
    rows are written.
    """
    cdef write_task task
    cdef Py_ssize_t items = 1
    cdef int axis
    cdef bint is_flat
    if offsets[offsets.shape[0] - 1] == 0 or len(shape) == 0:
        return
    set_up(&task, bits, offsets, out)
    task.hit_step = cnp.PyArray_STRIDE(out, 0) // task.width
    task.axis_step = cnp.PyArray_STRIDE(out, 1) // task.width
    task.ndim = <int>len(shape)
    for axis in range(task.ndim):
        task.shape[axis] = shape[axis]
        items *= task.shape[axis]
    # Are they those of all bits? Twice as many do not fit one block if they are more than 32, nor
    # several if they are more than (blocks - 1) * 64.
    task.is_whole = items > max(32, (task.blocks - 1) * 64)
    is_flat = task.ndim == 1 and task.is_whole
    with nogil:
        if is_flat and task.width == sizeof(intptr_t) and task.hit_step == 1:
            for_chunks(flat_chunk, &task, task.chunks, threads)
        else:
            for_chunks(coordinates_chunk, &task, task.chunks, threads)


def keep_first(uint64_t[::1] bits not None, Py_ssize_t[::1] offsets not None, Py_ssize_t count):
    """Cut a bitmask after the first `count` of its set bits, of which there are more: in the chunk
    where they end the others are cleared, and the offsets say that later chunks have none."""
    cdef Py_ssize_t chunks = offsets.shape[0] - 1, k = 0, left, block, later
    cdef uint64_t word, kept
    while offsets[k + 1] <= count:
        k += 1
    left = count - offsets[k]
    for block in range(chunk_start(bits.shape[0], chunks, k),
                       chunk_start(bits.shape[0], chunks, k + 1)):
        word, kept = bits[block], 0
        while word and left:
            kept |= word & (0 - word)
            word &= word - 1
            left -= 1
        bits[block] = kept
    for later in range(k + 1, chunks + 1):
        offsets[later] = count


def fill(cnp.ndarray out not None, Py_ssize_t start, uint64_t value, int threads):
    """Write value into all rows of out from `start` on. out is contiguous, as for `coordinates`."""
    cdef fill_task task
    cdef Py_ssize_t columns = cnp.PyArray_DIM(out, 1)
    task.width = cnp.PyArray_ITEMSIZE(out)
    task.out = <char *>cnp.PyArray_DATA(out) + start * columns * task.width
    task.items = (cnp.PyArray_DIM(out, 0) - start) * columns
    task.chunks = chunk_count(task.items, threads, task.width)
    task.value = value
    if task.items:
        with nogil:
            for_chunks(fill_chunk, &task, task.chunks, threads)


def row_starts(const uint64_t[::1] bits not None, const Py_ssize_t[::1] offsets not None,
               Py_ssize_t row_items, cnp.ndarray out not None, int threads):
    """How many bits are set before each row of row_items > 0 bits, into out.

    out is contiguous and has an item of 4 or 8 bytes for each row; all of them start before the
    end of the last block.
    """
    cdef write_task task
    set_up(&task, bits, offsets, out)
    task.row_items = row_items
    task.rows = cnp.PyArray_SIZE(out)
    with nogil:
        for_chunks(row_starts_chunk, &task, task.chunks, threads)


cdef void fill_chunk(void *context, Py_ssize_t k) noexcept nogil:
    cdef fill_task *task = <fill_task *>context
    cdef Py_ssize_t start = chunk_start(task.items, task.chunks, k)
    cdef Py_ssize_t n = chunk_start(task.items, task.chunks, k + 1) - start
    if task.width == 4:
        fill_items(<uint32_t *>task.out + start, n, <uint32_t>task.value)
    else:
        fill_items(<uint64_t *>task.out + start, n, task.value)


cdef inline void fill_items(coordinate_t *out, Py_ssize_t n, coordinate_t value) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = value


cdef void set_up(write_task *task, const uint64_t[::1] bits, const Py_ssize_t[::1] offsets,
                 cnp.ndarray out) noexcept:
    task.bits = &bits[0]
    task.blocks = bits.shape[0]
    task.offsets = &offsets[0]
    task.chunks = offsets.shape[0] - 1
    task.out = <char *>cnp.PyArray_DATA(out)
    task.width = cnp.PyArray_ITEMSIZE(out)


cdef void flat_chunk(void *context, Py_ssize_t k) noexcept nogil:
    cdef write_task *task = <write_task *>context
    cdef Py_ssize_t block = chunk_start(task.blocks, task.chunks, k)
    cdef Py_ssize_t blocks = chunk_start(task.blocks, task.chunks, k + 1) - block
    cdef Py_ssize_t hits = task.offsets[k + 1] - task.offsets[k]
    if hits == 0:               # of bits that keep_first has left out
        return
    level.write(task.bits + block, blocks, block * 64, is_sparse(hits, blocks),
                <intptr_t *>task.out + task.offsets[k], hits)


cdef void coordinates_chunk(void *context, Py_ssize_t k) noexcept nogil:
    cdef write_task *task = <write_task *>context
    cdef Py_ssize_t inner = task.shape[task.ndim - 1]
    cdef Py_ssize_t blocks = (
        chunk_start(task.blocks, task.chunks, k + 1) - chunk_start(task.blocks, task.chunks, k))
    cdef Py_ssize_t hits = task.offsets[k + 1] - task.offsets[k]
    if hits == 0:               # of bits that keep_first has left out
        return
    if task.width == 4:
        write_coordinates(task, k, is_sparse(hits, blocks), <uint32_t *>task.out)
    elif (sizeof(intptr_t) == 8 and task.hit_step == 1 and inner >= LONG_ROW
          and hits // ROW_HITS >= blocks * 64 // inner):
        write_rows(task, k, is_sparse(hits, blocks))
    else:
        write_coordinates(task, k, is_sparse(hits, blocks), <uint64_t *>task.out)


cdef void write_rows(const write_task *task, Py_ssize_t k, bint sparse) noexcept nogil:
    """Coordinates row by row: what flat_chunk writes, less where the row starts, beside its own."""
    cdef Py_ssize_t inner = task.shape[task.ndim - 1], row_start = -inner
    cdef Py_ssize_t start = chunk_start(task.blocks, task.chunks, k) * 64, stop
    cdef Py_ssize_t chunk_stop = chunk_start(task.blocks, task.chunks, k + 1) * 64
    cdef Py_ssize_t left = task.offsets[k + 1] - task.offsets[k], hits, j
    cdef Py_ssize_t[MAX_DIMS] coords
    cdef intptr_t *out = <intptr_t *>task.out + task.offsets[k]
    cdef intptr_t *column
    cdef intptr_t coordinate
    cdef int axis
    while left:
        row_start = find_row(task, start, row_start, coords)
        stop = min(row_start + inner, chunk_stop)
        hits = write_row(task.bits, start, stop, row_start, sparse,
                         out + (task.ndim - 1) * task.axis_step, left)
        for axis in range(task.ndim - 1):
            column, coordinate = out + axis * task.axis_step, coords[axis]
            for j in range(hits):
                column[j] = coordinate
        out += hits
        left -= hits
        start = stop


cdef Py_ssize_t write_row(const uint64_t *bits, Py_ssize_t start, Py_ssize_t stop,
                          Py_ssize_t row_start, bint sparse, intptr_t *out,
                          Py_ssize_t capacity) noexcept nogil:
    """The set bits from start to stop - 1 as indices within their row, and how many they are.

    They are those of at least two blocks, or start or stop is a block's. capacity is what is left
    of the chunk's cut, which the rows that follow fill.
    """
    cdef Py_ssize_t block = start >> 6, blocks = (stop >> 6) - block, hits = 0
    cdef uint64_t word
    if start & 63:
        word = bits[block] >> (start & 63) << (start & 63)
        level.write(&word, 1, block * 64 - row_start, sparse, out, capacity)
        hits = fs_popcount(word)
        block += 1
        blocks -= 1
    level.write(bits + block, blocks, block * 64 - row_start, sparse, out + hits, capacity - hits)
    hits += level.count(bits + block, blocks)
    if stop & 63:
        word = bits[stop >> 6] & ((<uint64_t>1 << (stop & 63)) - 1)
        level.write(&word, 1, (stop & ~63) - row_start, sparse, out + hits, capacity - hits)
        hits += fs_popcount(word)
    return hits


cdef void write_coordinates(const write_task *task, Py_ssize_t k, bint sparse,
                            coordinate_t *out) noexcept nogil:
    """Some blocks at a time: the indices of their hits are divided by the length of each axis."""
    cdef intptr_t[64 * PIECE] indices
    cdef intptr_t[64 * PIECE] remainders
    cdef Py_ssize_t block = chunk_start(task.blocks, task.chunks, k)
    cdef Py_ssize_t stop = chunk_start(task.blocks, task.chunks, k + 1), blocks, start, n
    cdef int axis
    out += task.offsets[k] * task.hit_step
    while block < stop:
        blocks = min(PIECE - 1, stop - block)       # the last 64 indices are room for write
        n = level.count(task.bits + block, blocks)
        if n:
            level.write(task.bits + block, blocks, 0, sparse, indices, n + 64)
            start = block * 64
            for axis in range(task.ndim - 1, -1, -1):
                if axis == 0 and task.is_whole:
                    put(indices, start, n, out, task.hit_step)
                    break
                level.divide(indices, n, start % task.shape[axis], task.shape[axis], remainders)
                put(remainders, 0, n, out + axis * task.axis_step, task.hit_step)
                start = start // task.shape[axis]
            out += n * task.hit_step
        block += blocks


cdef inline void put(const intptr_t *coordinates, Py_ssize_t start, Py_ssize_t n,
                     coordinate_t *out, Py_ssize_t step) noexcept nogil:
    cdef Py_ssize_t j
    if step == 1:
        for j in range(n):
            out[j] = <coordinate_t>(coordinates[j] + start)
    else:
        for j in range(n):
            out[j * step] = <coordinate_t>(coordinates[j] + start)


cdef Py_ssize_t find_row(const write_task *task, Py_ssize_t hit, Py_ssize_t row_start,
                         Py_ssize_t *coords) noexcept nogil:
    """Coordinates of the inner row that holds a hit; returns the index at which it starts."""
    cdef int axis
    cdef Py_ssize_t inner = task.shape[task.ndim - 1], row
    if row_start >= 0 and hit - row_start < 2 * inner:
        # The next row, as always where hits are dense: count up instead of dividing.
        for axis in range(task.ndim - 2, -1, -1):
            coords[axis] += 1
            if coords[axis] < task.shape[axis]:
                break
            coords[axis] = 0
        return row_start + inner
    row = hit // inner
    row_start = row * inner
    for axis in range(task.ndim - 2, 0, -1):
        coords[axis] = row % task.shape[axis]
        row = row // task.shape[axis]
    if task.ndim > 1:
        coords[0] = row
    return row_start


cdef void row_starts_chunk(void *context, Py_ssize_t k) noexcept nogil:
    cdef write_task *task = <write_task *>context
    if task.width == 4:
        write_row_starts(task, k, <uint32_t *>task.out)
    else:
        write_row_starts(task, k, <uint64_t *>task.out)


cdef void write_row_starts(const write_task *task, Py_ssize_t k, coordinate_t *out) noexcept nogil:
    """The rows that start within chunk k."""
    cdef Py_ssize_t block = chunk_start(task.blocks, task.chunks, k)
    cdef Py_ssize_t stop = chunk_start(task.blocks, task.chunks, k + 1) * 64
    cdef Py_ssize_t row = (block * 64 + task.row_items - 1) // task.row_items
    cdef Py_ssize_t start = row * task.row_items
    cdef Py_ssize_t before = task.offsets[k]        # set bits before the block
    while row < task.rows and start < stop:
        before += level.count(task.bits + block, (start >> 6) - block)
        block = start >> 6
        out[row] = <coordinate_t>(
            before + fs_popcount(task.bits[block] & ((<uint64_t>1 << (start & 63)) - 1)))
        row += 1
        start += task.row_items
