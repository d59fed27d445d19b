"""first_nonzero: items -> the index of the first non-zero item, of all items or along axes.

The searched axes are walked in C order, by the bits of up to FLAG_ITEMS items at a time, until all
indices are found. If items lie closer to each other along a remaining axis than along the inner
searched axis, the positions along the remaining axis are columns, which are searched side by side
(choose_columns has the exact rule). A column is closed when its index is found. Consecutive short
rows are searched together.

If units (see FindFirst) are long, or fewer than twice the threads, each unit is searched in waves;
each wave is twice as long as the wave before, up to MAX_WAVE_BYTES. The chunks of a wave are ranges
of the searched axes. If a chunk has found all indices, later chunks are skipped.
"""
cimport cython
cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint64_t
from libc.string cimport memset

from fastsel._core.atomics cimport fs_load_relaxed, fs_store_relaxed
from fastsel._core.parallel cimport Job, chunk_count, chunk_start, thresholds
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport new_intp
from fastsel._core.strided cimport (
    MAX_DIMS, advance, cursor_t, describe, distance, item, run_length, seek, strided_t)
from fastsel._positions.truth cimport (
    FLAG_BLOCKS, FLAG_ITEMS, count_zeros, describe_number, describe_truth, pack_run, truth_t)
from fastsel._simd.blocks cimport blocks_of, fs_ctz
from fastsel._simd.levels cimport level

cdef extern from "numpy/arrayobject.h":
    object PyArray_Scalar(void *data, cnp.dtype descr, object base)

cdef cnp.dtype INTP = cnp.PyArray_DescrFromType(cnp.NPY_INTP)

cdef enum:
    WHOLE_BYTES = 64              # by small_items: maximum bytes that one thread searches, no job
    SHORT_ROW = 256               # maximum items of a row that is searched together with other rows
    # Searched rows of fewer than NARROW items are searched as columns, if there are more columns
    # than items in a row. Otherwise, fewer than NARROW columns with gaps between their rows are
    # searched one by one.
    NARROW = 64
    # Larger units are searched in waves, so that signals are handled in time.
    MAX_UNIT_BYTES = 1 << 24
    # Longer waves have more chunks, and the indices that chunks find would take too much memory.
    MAX_WAVE_BYTES = 1 << 27

ctypedef struct unit_t:
    Py_ssize_t offset             # bytes from the first item of the array to that of the unit
    Py_ssize_t first              # position in the output of the index of the first column
    Py_ssize_t columns            # at most FLAG_ITEMS


def first_nonzero(a):
    """The flat index of the first non-zero item, or -1 if all items are zero. One thread searches
    the first small_items items, and all items of up to WHOLE_BYTES times small_items bytes. Returns
    None if these are zero and there are more items; also for arrays that are not of native
    numbers."""
    cdef strided_t items
    cdef truth_t truth
    cdef cnp.npy_intp index = -1, n
    if not cnp.PyArray_CheckExact(a) or not describe_number(&truth, a):
        return None
    describe(&items, a, 0, cnp.PyArray_NDIM(a))
    n = min(items.size, thresholds.small_items)
    index = first_item(&items, 0, &truth, 0, n)
    if index < 0 and n < items.size:
        if cnp.PyArray_NBYTES(a) > WHOLE_BYTES * thresholds.small_items:
            return None
        with nogil:
            index = first_item(&items, 0, &truth, n, items.size)
    return PyArray_Scalar(&index, INTP, None)


cdef Py_ssize_t first_item(const strided_t *items, Py_ssize_t offset, const truth_t *truth,
                           Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    """The first index of a non-zero item, from `start` to stop - 1, or -1 if all are zero. The
    items lie `offset` bytes behind the items of the description."""
    cdef uint64_t[FLAG_BLOCKS] bits
    cdef cursor_t cursor
    cdef Py_ssize_t stride = items.strides[items.ndim - 1], step = 64, n
    if start < stop:
        seek(&cursor, items, start)
    while start < stop:
        n = run_length(&cursor, items, min(stop - start, step))
        if pack_run(level, truth, item(&cursor, items) + offset, stride, n, bits):
            n = 0
            while bits[n] == 0:
                n += 1
            return start + 64 * n + fs_ctz(bits[n])
        advance(&cursor, items, n)
        start += n
        step = min(2 * step, FLAG_ITEMS)
        if stride == truth.itemsize and start < stop:
            n = count_zeros(level, truth, item(&cursor, items) + offset,
                            run_length(&cursor, items, stop - start))
            advance(&cursor, items, n)
            start += n
    return -1


def find(cnp.ndarray items not None, int remaining, Py_ssize_t width,
         const uint64_t[::1] significant not None, Py_ssize_t serial_bytes, int threads):
    """For each position along the first `remaining` axes: the index of the first non-zero item
    along the other axes, in C order, or -1 if all items are zero. Returns a new flat intp array.

    In a search in waves, the first wave of each unit has serial_bytes and runs on one thread; in
    later waves each thread has at least half of that.
    """
    cdef FindFirst job = FindFirst()
    cdef cnp.npy_intp size
    cdef Py_ssize_t unit_bytes
    describe_truth(&job.truth, cnp.PyArray_ITEMSIZE(items), width, significant)
    describe(&job.remaining, items, 0, remaining)
    describe(&job.searched, items, remaining, cnp.PyArray_NDIM(items))
    size = job.remaining.size
    out = new_result(size, cnp.NPY_INTP)
    out[...] = -1
    if size == 0 or job.searched.size == 0:
        return out
    job.out = out
    job.choose_columns()
    unit_bytes = job.searched.size * min(job.columns, FLAG_ITEMS) * cnp.PyArray_ITEMSIZE(items)
    if job.units < 2 * threads or unit_bytes > MAX_UNIT_BYTES:
        job.run_waves(serial_bytes, threads)
    else:
        job.chunks = chunk_count(job.units, threads, unit_bytes)
        job.run(threads)
    return out


@cython.final
cdef class FindFirst(Job):
    """A unit is up to FLAG_ITEMS columns at one position along the other remaining axes. Chunks are
    ranges of the units or, in waves, of the searched axes of one unit."""
    cdef strided_t remaining          # remaining axes; the axis of columns is divided into units
    cdef strided_t searched           # searched axes, in C order
    cdef truth_t truth
    cdef Py_ssize_t[MAX_DIMS] steps   # by remaining axis: distance in the output
    cdef int column_axis              # the remaining axis of columns; -1: each unit is one column
    cdef Py_ssize_t columns
    cdef Py_ssize_t column_stride     # bytes
    cdef Py_ssize_t column_step       # distance of columns in the output
    cdef bint has_short_rows          # units are consecutive short rows
    cdef Py_ssize_t[::1] out          # the indices, -1 at first
    # For waves: the unit; the range start ... stop - 1 of positions along the searched axes; the
    # indices that each chunk has found for the columns; and the first chunk that is known to have
    # found all indices, or the number of chunks.
    cdef bint in_waves
    cdef unit_t unit
    cdef Py_ssize_t start
    cdef Py_ssize_t stop
    cdef Py_ssize_t[::1] chunk_indices
    cdef Py_ssize_t complete_chunk

    cdef void choose_columns(self) noexcept:
        """Choose the axis of columns, and count the units. Columns are chosen if a searched row has
        fewer than NARROW items and there are more columns than items in the row. They are also
        chosen if columns lie closer to each other than neighbours along the inner searched axis,
        and there are no gaps between the rows of columns, or at least NARROW columns. Consecutive
        short rows need no columns."""
        cdef strided_t *remaining = &self.remaining
        cdef int axis, inner = self.searched.ndim - 1, closest = 0
        cdef Py_ssize_t row_stride = self.searched.strides[inner], step = 1
        cdef bint is_close, follows, is_short
        for axis in range(remaining.ndim - 1, -1, -1):
            self.steps[axis] = step
            step *= remaining.shape[axis]
            if distance(remaining, axis) < distance(remaining, closest):
                closest = axis
        self.column_axis, self.columns = -1, 1
        self.has_short_rows = (
            remaining.ndim == 1 and self.searched.ndim == 1 and self.searched.shape[0] <= SHORT_ROW
            and remaining.strides[0] == self.searched.shape[0] * row_stride)
        is_close = distance(remaining, closest) < distance(&self.searched, inner)
        follows = row_stride == remaining.shape[closest] * remaining.strides[closest]
        is_short = self.searched.shape[inner] < min(NARROW, remaining.shape[closest])
        if not self.has_short_rows and (
                is_short or (is_close and (follows or remaining.shape[closest] >= NARROW))):
            self.column_axis, self.columns = closest, remaining.shape[closest]
            self.column_stride, self.column_step = remaining.strides[closest], self.steps[closest]
            remaining.shape[closest] = (self.columns - 1) // FLAG_ITEMS + 1
            remaining.strides[closest] *= FLAG_ITEMS
            self.steps[closest] *= FLAG_ITEMS
        self.units = 1
        for axis in range(remaining.ndim):
            self.units *= remaining.shape[axis]

    cdef int run_waves(self, Py_ssize_t serial_bytes, int threads) except -1:
        """Search one unit after the other, each until its indices are found or it ends."""
        cdef Py_ssize_t u, row_bytes, wave
        cdef Py_ssize_t[::1] _last
        cdef int used
        self.in_waves = True
        self.chunk_indices = self.out  # `_last` needs a view before the first wave, too
        for u in range(self.units):
            self.locate(u, &self.unit)
            row_bytes = self.unit.columns * self.truth.itemsize
            self.start, wave, used = 0, serial_bytes, 1
            while self.start < self.searched.size:
                self.stop = min(self.start + max(1, wave // row_bytes), self.searched.size)
                self.chunks = chunk_count(self.stop - self.start, used, row_bytes)
                # Without another reference to this view, Cython would free it by PyGILState_Ensure,
                # which hangs in a second interpreter.
                _last = self.chunk_indices
                self.chunk_indices = new_intp(self.chunks * self.unit.columns)
                self.chunk_indices[:] = -1
                self.complete_chunk = self.chunks
                self.run(used)
                if self.merge():
                    break
                PyErr_CheckSignals()
                self.start = self.stop
                wave = min(2 * wave, MAX_WAVE_BYTES)
                used = <int>min(threads, 2 * wave // serial_bytes)
        return 0

    cdef bint merge(self) noexcept:
        """Write the index of each column, from the first chunk that has found one. Returns whether
        all indices are found."""
        cdef Py_ssize_t c, k, out_index, left = self.unit.columns
        for c in range(self.unit.columns):
            out_index = self.unit.first + c * self.column_step
            k = 0
            while self.out[out_index] < 0 and k < self.chunks:
                self.out[out_index] = self.chunk_indices[k * self.unit.columns + c]
                k += 1
            left -= self.out[out_index] >= 0
        return left == 0

    cdef void locate(self, Py_ssize_t u, unit_t *unit) noexcept nogil:
        cdef Py_ssize_t k
        cdef int axis
        unit.offset, unit.first, unit.columns = 0, 0, 1
        for axis in range(self.remaining.ndim - 1, -1, -1):
            k = u % self.remaining.shape[axis]
            u = u // self.remaining.shape[axis]
            unit.offset += k * self.remaining.strides[axis]
            unit.first += k * self.steps[axis]
            if axis == self.column_axis:
                unit.columns = min(FLAG_ITEMS, self.columns - k * FLAG_ITEMS)

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef unit_t unit
        cdef Py_ssize_t u, length = self.stop - self.start
        if not self.in_waves and self.has_short_rows:
            self.search_rows(self.begin(k), self.begin(k + 1))
        elif not self.in_waves:
            for u in range(self.begin(k), self.begin(k + 1)):
                self.locate(u, &unit)
                self.search(&unit, 0, self.searched.size, self.out, unit.first, self.column_step)
        elif k < fs_load_relaxed(&self.complete_chunk):
            if self.search(&self.unit, self.start + chunk_start(length, self.chunks, k),
                           self.start + chunk_start(length, self.chunks, k + 1),
                           self.chunk_indices, k * self.unit.columns, 1):
                # If two threads store at once, either value may stay.
                if k < fs_load_relaxed(&self.complete_chunk):
                    fs_store_relaxed(&self.complete_chunk, k)

    cdef void search_rows(self, Py_ssize_t row, Py_ssize_t stop) noexcept nogil:
        """Search the consecutive short rows from `row` to stop - 1."""
        cdef uint64_t[FLAG_BLOCKS] bits
        cdef Py_ssize_t length = self.searched.shape[0], rows, r, p, w
        cdef uint64_t hits
        while row < stop:
            rows = min(stop - row, FLAG_ITEMS // length)
            pack_run(level, &self.truth, self.remaining.data + row * self.remaining.strides[0],
                     self.searched.strides[0], rows * length, bits)
            for r in range(rows):
                p = r * length
                w = p >> 6
                hits = bits[w] >> (p & 63) << (p & 63)
                while hits == 0 and 64 * (w + 1) < p + length:
                    w += 1
                    hits = bits[w]
                if hits and 64 * w + fs_ctz(hits) < p + length:
                    self.out[row + r] = 64 * w + fs_ctz(hits) - p
            row += rows

    cdef bint search(self, const unit_t *unit, Py_ssize_t start, Py_ssize_t stop,
                     Py_ssize_t[::1] indices, Py_ssize_t first, Py_ssize_t step) noexcept nogil:
        """Search the columns of a unit that have no index yet, from position `start` of the
        searched axes to stop - 1. Returns whether all columns have an index now. Writes the index
        of column c to indices[first + c * step]."""
        cdef uint64_t[FLAG_BLOCKS] is_open
        cdef uint64_t[FLAG_BLOCKS] bits
        cdef cursor_t cursor
        cdef Py_ssize_t row_stride = self.searched.strides[self.searched.ndim - 1]
        cdef Py_ssize_t columns = unit.columns, left = columns, together = 1, rows, n, w, c, p
        cdef Py_ssize_t max_rows = max(1, 64 // columns)  # doubles with each step
        cdef Py_ssize_t stride = self.column_stride
        cdef uint64_t hits
        if columns == 1:
            indices[first] = first_item(&self.searched, unit.offset, &self.truth, start, stop)
            return indices[first] >= 0
        if row_stride == columns * stride:
            together = FLAG_ITEMS // columns
        max_rows = min(max_rows, together)
        memset(is_open, 0xff, sizeof(is_open))
        for c in range(columns):
            if self.out[unit.first + c * self.column_step] >= 0:
                close_column(is_open, c, columns, together)
                left -= 1
        if left:
            seek(&cursor, &self.searched, start)
        while left and start < stop:
            rows = run_length(&cursor, &self.searched, min(stop - start, max_rows))
            n = rows * columns
            pack_run(level, &self.truth, item(&cursor, &self.searched) + unit.offset, stride, n,
                     bits)
            for w in range(blocks_of(n)):
                hits = bits[w] & is_open[w]
                while hits:
                    p = 64 * w + fs_ctz(hits)
                    c = p % columns
                    indices[first + c * step] = start + p // columns
                    left -= 1
                    if left == 0:
                        return True
                    close_column(is_open, c, columns, together)
                    hits = bits[w] & is_open[w]
            advance(&cursor, &self.searched, rows)
            start += rows
            max_rows = min(2 * max_rows, together)
        return left == 0


cdef inline void close_column(uint64_t *is_open, Py_ssize_t column, Py_ssize_t columns,
                              Py_ssize_t rows) noexcept nogil:
    """Clear the bits of a column in `rows` rows of `columns` columns."""
    cdef Py_ssize_t p = column
    while p < columns * rows:
        is_open[p >> 6] &= ~(<uint64_t>1 << (p & 63))
        p += columns
