"""Pass 2 of nonzero: bitmask -> for each set bit a flat index, or one coordinate per axis.
`row_starts` writes the number of set bits before each row of the array.

Chunk k writes items offsets[k] ... offsets[k + 1] - 1 of the output, or the numbers of the rows
that begin in the chunk.
"""
cimport cython
cimport numpy as cnp
from libc.stdint cimport intptr_t, uint32_t, uint64_t

from fastsel._core.parallel cimport Job, choose_threads, chunk_start
from fastsel._core.results cimport new_array, new_result
from fastsel._core.strided cimport start_walk, strided_t, walk_t, walk_to
from fastsel._positions.bitmask cimport (
    STACK_BLOCKS, Bitmask, describe_array, fits_stack, pack_blocks, pack_items)
from fastsel._positions.truth cimport truth_t
from fastsel._simd.blocks cimport blocks_of, fs_popcount, is_sparse, wide_t
from fastsel._simd.levels cimport level

cdef cnp.dtype INTP = cnp.PyArray_DescrFromType(cnp.NPY_INTP)

cdef enum:
    # Inner rows of LONG_ROW items or more are written row by row if they have ROW_HITS set bits or
    # more on average, and the columns of out are contiguous and have items of 8 bytes. `compare.py
    # --op nonzero --ndim 2 --dtype bool --density .0003 .01 .1` measures such rows.
    LONG_ROW = 128
    ROW_HITS = 2
    BATCH_BLOCKS = 16     # blocks whose indices fit the L1 cache


# ---- flat indices ------------------------------------------------------------------------


def flatnonzero(a):
    """numpy.flatnonzero(a); None for an array that describe_array does not accept."""
    cdef uint64_t[STACK_BLOCKS] bits
    cdef strided_t items
    cdef truth_t truth
    cdef Py_ssize_t blocks
    cdef int threads
    described = describe_array(a, &items, &truth)
    if described is None:
        return None
    if fits_stack(&items):
        blocks = blocks_of(items.size)
        return positions_of(bits, blocks, pack_blocks(&items, &truth, 0, blocks, bits))
    threads = choose_threads(cnp.PyArray_NBYTES(a))
    return flat(pack_items(&items, &truth, sizeof(intptr_t), threads), threads)


cdef cnp.ndarray positions_of(const uint64_t *bits, Py_ssize_t blocks, Py_ssize_t total):
    """The indices of the set bits, of which there are `total`."""
    out = new_result(total, cnp.NPY_INTP)
    level.write(bits, blocks, 0, is_sparse(total, blocks), <intptr_t *>cnp.PyArray_DATA(out), total)
    return out


cpdef cnp.ndarray flat(Bitmask mask, int threads):
    """The indices of the set bits, ascending, as a new intp array."""
    cdef WriteCoordinates job
    cdef cnp.npy_intp total = mask.count()
    cdef cnp.ndarray out = new_result(total, cnp.NPY_INTP)
    if total:
        job = WriteCoordinates()
        job.read(mask)
        job.out, job.width = <char *>cnp.PyArray_DATA(out), sizeof(intptr_t)
        job.hit_step = job.axes.ndim = job.is_whole = 1
        job.run(threads)
    return out


cdef class BitmaskPass(Job):
    cdef void read(self, Bitmask mask) noexcept:
        """Set up the pass over a mask."""
        self.bits, self.offsets = mask.bits, mask.offsets
        self.units, self.chunks = mask.bits.shape[0], mask.offsets.shape[0] - 1


# ---- row starts --------------------------------------------------------------------------


cpdef int row_starts(Bitmask mask, Py_ssize_t row_items, cnp.ndarray out, int threads) except -1:
    """Write the number of set bits before each row of row_items > 0 bits to out.

    out is C-contiguous and has an item of 4 or 8 bytes for each row. All rows start before the end
    of the last block.
    """
    cdef WriteRowStarts job = WriteRowStarts()
    job.read(mask)
    job.out, job.has_u32_items = <char *>cnp.PyArray_DATA(out), cnp.PyArray_ITEMSIZE(out) == 4
    job.rows, job.row_items = cnp.PyArray_SIZE(out), row_items
    return job.run(threads)


cdef class WriteRowStarts(BitmaskPass):
    """Write the number of set bits before each row that begins within a chunk."""
    cdef char *out
    cdef bint has_u32_items           # items of out have 4 bytes instead of 8
    cdef Py_ssize_t rows
    cdef Py_ssize_t row_items

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const uint64_t[::1] bits = self.bits
        cdef Py_ssize_t block = self.begin(k), stop = self.begin(k + 1) * 64
        cdef Py_ssize_t row = (block * 64 + self.row_items - 1) // self.row_items, row_start
        cdef Py_ssize_t start = row * self.row_items, before = self.offsets[k]
        while row < self.rows and start < stop:
            before += level.count(&bits[block], (start >> 6) - block)
            block = start >> 6
            row_start = before + fs_popcount(bits[block] & ((<uint64_t>1 << (start & 63)) - 1))
            if self.has_u32_items:
                (<uint32_t *>self.out)[row] = <uint32_t>row_start
            else:
                (<uint64_t *>self.out)[row] = row_start
            row += 1
            start += self.row_items


# ---- coordinates -------------------------------------------------------------------------


def nonzero(a):
    """The coordinates of numpy.nonzero(a), one row for each axis; None for a 0-d array, and for an
    array that describe_array does not accept."""
    cdef uint64_t[STACK_BLOCKS] bits
    cdef strided_t items
    cdef truth_t truth
    cdef cnp.npy_intp[2] shape
    cdef Bitmask mask = None
    cdef intptr_t *out
    cdef Py_ssize_t blocks
    cdef int axis, threads = 1
    described = describe_array(a, &items, &truth)
    if described is None or cnp.PyArray_NDIM(a) == 0:
        return None
    shape[0], blocks = cnp.PyArray_NDIM(a), blocks_of(items.size)
    if fits_stack(&items):
        shape[1] = pack_blocks(&items, &truth, 0, blocks, bits)
    else:
        threads = choose_threads(cnp.PyArray_NBYTES(a))
        mask = pack_items(&items, &truth, shape[0] * sizeof(intptr_t), threads)
        shape[1] = mask.count()
    rows = new_array(2, shape, INTP)
    if mask is not None:
        write(mask, a.shape, rows.T, threads)
        return rows
    # The first row begins as flat indices. For each other axis, from the last on, they are divided
    # by its length: the remainders are the axis's row, and the quotients stay in the first row.
    out = <intptr_t *>cnp.PyArray_DATA(rows)
    level.write(bits, blocks, 0, is_sparse(shape[1], blocks), out, shape[1])
    for axis in range(cnp.PyArray_NDIM(a) - 1, 0, -1):
        if shape[1]:              # nothing is divided by the length of an empty axis
            level.split_index(out, shape[1], 0, cnp.PyArray_DIM(a, axis), out + axis * shape[1])
    return rows


def split_rows(cnp.ndarray array not None):
    """tuple(array) for a C-contiguous 2-d array of intp, in less time."""
    cdef cnp.npy_intp *shape = cnp.PyArray_DIMS(array)
    cdef intptr_t *data = <intptr_t *>cnp.PyArray_DATA(array)
    cdef Py_ssize_t axis
    rows = []
    for axis in range(shape[0]):
        row = cnp.PyArray_SimpleNewFromData(1, shape + 1, cnp.NPY_INTP, data + axis * shape[1])
        cnp.set_array_base(row, array)
        rows.append(row)
    return tuple(rows)


def write(Bitmask mask not None, tuple shape not None, cnp.ndarray out not None, int threads):
    """Write the coordinates of the set bits of mask to the first rows of out.

    shape is the shape of the array, and may lack leading axes, whose coordinates are left out. out
    is 2-D, with a column for each axis of shape and at least mask.total rows. It may
    have any layout; its items are aligned and 4 or 8 bytes wide.
    """
    cdef WriteCoordinates job
    cdef Py_ssize_t items = 1
    cdef int axis
    if mask.count() == 0 or len(shape) == 0:
        return
    job = WriteCoordinates()
    job.read(mask)
    job.out, job.width = <char *>cnp.PyArray_DATA(out), cnp.PyArray_ITEMSIZE(out)
    job.hit_step = cnp.PyArray_STRIDE(out, 0) // job.width
    job.axis_step = cnp.PyArray_STRIDE(out, 1) // job.width
    job.axes.ndim = <int>len(shape)
    for axis in range(job.axes.ndim):
        job.axes.shape[axis] = shape[axis]
        items *= job.axes.shape[axis]
    # If this comparison is true, shape lacks no axis of more than one index: with such an axis, the
    # array would have at least 2 * items items, for which its blocks have no room.
    job.is_whole = items > max(32, (mask.bits.shape[0] - 1) * 64)
    job.run(threads)


def truncate(Bitmask mask not None, Py_ssize_t count):
    """Reduce a bitmask, which has more than `count` set bits, to the first `count` set bits. In the
    chunk of the first surplus bit, all surplus bits are cleared. In later chunks the bits stay, but
    the offsets say that these chunks are empty."""
    cdef uint64_t[::1] bits = mask.bits
    cdef Py_ssize_t[::1] offsets = mask.offsets
    cdef Py_ssize_t chunks = offsets.shape[0] - 1, k = 0, left, block, later
    cdef uint64_t word, first
    while offsets[k + 1] <= count:
        k += 1
    left = count - offsets[k]
    for block in range(chunk_start(bits.shape[0], chunks, k),
                       chunk_start(bits.shape[0], chunks, k + 1)):
        word, first = bits[block], 0
        while word and left:
            first |= word & (0 - word)
            word &= word - 1
            left -= 1
        bits[block] = first
    for later in range(k + 1, chunks + 1):
        offsets[later] = count


def fill(cnp.ndarray out not None, Py_ssize_t start, uint64_t value, int threads):
    """Write value to all rows of out from `start` on. out is 2-D and C-contiguous, and its items
    are 4 or 8 bytes wide."""
    cdef Fill job = Fill()
    cdef Py_ssize_t columns = cnp.PyArray_DIM(out, 1)
    job.width, job.value = cnp.PyArray_ITEMSIZE(out), value
    job.out = <char *>cnp.PyArray_DATA(out) + start * columns * job.width
    job.run_units((cnp.PyArray_DIM(out, 0) - start) * columns, job.width, threads)


cdef class Fill(Job):
    cdef char *out
    cdef Py_ssize_t width             # bytes of an item, 4 or 8
    cdef uint64_t value

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t start = self.begin(k), n = self.begin(k + 1) - start
        if self.width == 4:
            fill_items(<uint32_t *>self.out + start, n, <uint32_t>self.value)
        else:
            fill_items(<uint64_t *>self.out + start, n, self.value)


cdef inline void fill_items(wide_t *out, Py_ssize_t n, wide_t value) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = value


@cython.final
cdef class WriteCoordinates(BitmaskPass):
    """Writes the coordinates of hits, the set bits. They lie hit_step from hit to hit, and
    axis_step from axis to axis."""
    cdef char *out
    cdef Py_ssize_t width             # bytes of a coordinate, 4 or 8
    cdef Py_ssize_t hit_step          # in coordinates
    cdef Py_ssize_t axis_step
    cdef strided_t axes               # ndim and shape (flat: only ndim); other fields are 0
    cdef bint is_whole                # axes has all axes of more than one index; False: unknown

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t inner = self.axes.shape[self.axes.ndim - 1]
        cdef Py_ssize_t block = self.begin(k), blocks = self.begin(k + 1) - block
        cdef Py_ssize_t offset = self.offsets[k], hits = self.offsets[k + 1] - offset
        cdef bint sparse = is_sparse(hits, blocks)
        if hits == 0:               # bits may be set all the same, if truncate emptied the chunk
            return
        if self.width == 4:
            self.write_divided(k, sparse, <uint32_t *>self.out + offset * self.hit_step)
        elif self.hit_step == 1 and self.axes.ndim == 1 and self.is_whole:
            level.write(&self.bits[block], blocks, block * 64, sparse,
                        <intptr_t *>self.out + offset, hits)
        elif self.hit_step == 1 and inner >= LONG_ROW and hits // ROW_HITS >= blocks * 64 // inner:
            self.write_rows(k, sparse, <intptr_t *>self.out + offset)
        else:
            self.write_divided(k, sparse, <uint64_t *>self.out + offset * self.hit_step)

    cdef void write_rows(self, Py_ssize_t k, bint sparse, intptr_t *out) noexcept nogil:
        """Write the coordinates of chunk k row by row: the last coordinate is the index within the
        row; the other coordinates are equal in the whole row."""
        cdef Py_ssize_t inner = self.axes.shape[self.axes.ndim - 1]
        cdef Py_ssize_t start = self.begin(k) * 64, stop
        cdef Py_ssize_t chunk_stop = self.begin(k + 1) * 64
        cdef Py_ssize_t left = self.offsets[k + 1] - self.offsets[k], hits, j
        cdef walk_t walk
        cdef intptr_t *column
        cdef intptr_t coordinate
        cdef int axis, last = self.axes.ndim - 1
        start_walk(&walk, &self.axes)
        while left:
            walk_to(&walk, &self.axes, start)
            stop = min(walk.row_start + inner, chunk_stop)
            hits = self.write_row(start, stop, walk.row_start, sparse,
                                  out + last * self.axis_step, left)
            for axis in range(last):
                column, coordinate = out + axis * self.axis_step, walk.cursor.coords[axis]
                for j in range(hits):
                    column[j] = coordinate
            out += hits
            left -= hits
            start = stop

    cdef Py_ssize_t write_row(self, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t row_start,
                              bint sparse, intptr_t *out, Py_ssize_t capacity) noexcept nogil:
        """Write the set bits from start to stop - 1 as indices within their row. Returns the number
        of these bits.

        start and stop lie in different blocks, or one of them is a multiple of 64. out has room for
        `capacity` indices, at least the number of these bits. Slots behind the hits of this row may
        be written; later rows overwrite them.
        """
        cdef Py_ssize_t block = start >> 6, blocks = (stop >> 6) - block, hits = 0
        cdef uint64_t word
        if start & 63:
            word = self.bits[block] >> (start & 63) << (start & 63)
            level.write(&word, 1, block * 64 - row_start, sparse, out, capacity)
            hits = fs_popcount(word)
            block += 1
            blocks -= 1
        if blocks:
            level.write(&self.bits[block], blocks, block * 64 - row_start, sparse, out + hits,
                        capacity - hits)
            hits += level.count(&self.bits[block], blocks)
        if stop & 63:
            word = self.bits[stop >> 6] & ((<uint64_t>1 << (stop & 63)) - 1)
            level.write(&word, 1, (stop & ~63) - row_start, sparse, out + hits, capacity - hits)
            hits += fs_popcount(word)
        return hits

    cdef void write_divided(self, Py_ssize_t k, bint sparse, wide_t *out) noexcept nogil:
        """Write the coordinates of chunk k, up to BATCH_BLOCKS - 1 blocks at a time: the indices of
        the hits are divided by the length of each axis."""
        cdef intptr_t[64 * BATCH_BLOCKS] indices
        cdef intptr_t[64 * BATCH_BLOCKS] remainders
        cdef Py_ssize_t block = self.begin(k), stop = self.begin(k + 1)
        cdef Py_ssize_t blocks, start, n, length
        cdef int axis
        while block < stop:
            blocks = min(BATCH_BLOCKS - 1, stop - block)     # level.write may use the last 64 slots
            n = level.count(&self.bits[block], blocks)
            if n:
                level.write(&self.bits[block], blocks, 0, sparse, indices, n + 64)
                start = block * 64
                for axis in range(self.axes.ndim - 1, -1, -1):
                    if axis == 0 and self.is_whole:
                        write_column(indices, start, n, out, self.hit_step)
                        break
                    length = self.axes.shape[axis]
                    level.split_index(indices, n, start % length, length, remainders)
                    write_column(remainders, 0, n, out + axis * self.axis_step, self.hit_step)
                    start = start // length
                out += n * self.hit_step
            block += blocks


cdef inline void write_column(const intptr_t *coordinates, Py_ssize_t start, Py_ssize_t n,
                              wide_t *out, Py_ssize_t step) noexcept nogil:
    """Write start + coordinate for each of n coordinates. The items of out lie `step`
    apart."""
    cdef Py_ssize_t j
    if step == 1:
        for j in range(n):
            out[j] = <wide_t>(coordinates[j] + start)
    else:
        for j in range(n):
            out[j * step] = <wide_t>(coordinates[j] + start)
