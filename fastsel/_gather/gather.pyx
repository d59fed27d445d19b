"""gather_nd: index rows -> checked byte offsets -> slices.

The value of an index that is checked is the value that is used: the index is not loaded again in
between. So another thread that writes to the indices meanwhile cannot make a kernel read outside of
the data.
"""
cimport cython
cimport numpy as cnp
from libc.stdint cimport (
    int8_t, int16_t, int32_t, int64_t, intptr_t, uint8_t, uint16_t, uint32_t, uint64_t)
from libc.string cimport memset

from fastsel._core.copying cimport copy_slices, describe_slice, is_movable, slice_t
from fastsel._core.parallel cimport (
    Job, choose_threads, chunk_count, chunk_start, thresholds)
from fastsel._core.results cimport new_array
from fastsel._core.scratch cimport new_intp
from fastsel._core.strided cimport (
    MAX_DIMS, advance, cursor_t, describe, item, run_length, seek, strided_t)
from fastsel._simd.levels cimport level

ctypedef fused index_t:
    int8_t
    int16_t
    int32_t
    int64_t
    uint8_t
    uint16_t
    uint32_t

cdef enum:
    ROWS = 128   # index rows at a time; their offsets and values fit the L1 cache and any stack
    MAX_BYTES = 1 << 18   # of a result that is copied with the GIL
    COST = 2     # of a byte; see _threads.for_bytes

# Loads n indices, which are aligned and lie step bytes apart, into values.
ctypedef void (*load_t)(const char *indices, Py_ssize_t step, Py_ssize_t *values,
                        Py_ssize_t n) noexcept nogil

# A fault is the first index of a chunk that is out of bounds. These words describe it.
cdef enum:
    ROW = 0                           # the index row; -1 if all indices are within bounds
    AXIS = 1                          # the position of the index in its row
    VALUE = 2                         # the bits of the index
    FAULT_WORDS = 3


def gather_nd(data, indices):
    """fastsel.gather_nd(data, indices) for index rows that level.row_offsets accepts. Returns None
    for other arguments, and if an index is out of bounds. Up to twice small_items indices, one
    thread holds the GIL: a job would take longer than the work."""
    cdef Py_ssize_t[ROWS] offsets
    cdef cnp.npy_intp[2 * MAX_DIMS] shape
    cdef slice_t slice
    cdef const char *index
    cdef char *target
    cdef cnp.ndarray out
    cdef Py_ssize_t rows = 1, width, row, n
    cdef int lead, depth, axis, ndim
    if not cnp.PyArray_CheckExact(data) or not cnp.PyArray_CheckExact(indices) or (
            cnp.PyArray_NDIM(indices) == 0 or not cnp.PyArray_ISINTEGER(indices) or
            not cnp.PyArray_ISCARRAY_RO(indices) or not lie_side_by_side(indices) or
            not is_movable(data)):
        return None
    lead = cnp.PyArray_NDIM(indices) - 1
    depth = <int>cnp.PyArray_DIM(indices, lead)
    ndim = lead + cnp.PyArray_NDIM(data) - depth
    if not 1 <= depth <= cnp.PyArray_NDIM(data) or ndim > MAX_DIMS:
        return None
    for axis in range(lead):
        shape[axis] = cnp.PyArray_DIM(indices, axis)
        rows *= shape[axis]
    for axis in range(depth, cnp.PyArray_NDIM(data)):
        shape[lead + axis - depth] = cnp.PyArray_DIM(data, axis)
    describe_slice(&slice, data, depth)
    out = new_array(ndim, shape, <cnp.dtype>cnp.PyArray_DESCR(data))
    if rows * depth > 2 * thresholds.small_items or rows * slice.width > MAX_BYTES:
        n = choose_threads(cnp.PyArray_NBYTES(out) + cnp.PyArray_NBYTES(indices), COST)
        return out if gather(data, indices, 0, out, <int>n)[1] is None else None
    index, width = <const char *>cnp.PyArray_DATA(indices), depth * cnp.PyArray_ITEMSIZE(indices)
    target = <char *>cnp.PyArray_DATA(out)
    for row in range(0, rows, ROWS):
        n = min(rows - row, ROWS)
        if level.row_offsets(index + row * width, cnp.PyArray_ITEMSIZE(indices), depth, n,
                             <const intptr_t *>cnp.PyArray_DIMS(data),
                             <const intptr_t *>cnp.PyArray_STRIDES(data), <intptr_t *>offsets):
            return None
        if slice.width:
            copy_slices(&slice, <const char *>cnp.PyArray_DATA(data), offsets, n, target)
            target += n * slice.width
    return out


cdef inline bint lie_side_by_side(cnp.ndarray indices) noexcept:
    """Does level.row_offsets accept these indices, which are aligned and native?"""
    return (cnp.PyArray_ISSIGNED(indices) and cnp.PyArray_ITEMSIZE(indices) >= 4
            and cnp.PyArray_DIM(indices, cnp.PyArray_NDIM(indices) - 1) <= 2
            and cnp.PyArray_IS_C_CONTIGUOUS(indices))


def gather(cnp.ndarray data not None, cnp.ndarray indices not None, int batch_dims,
           cnp.ndarray out, int threads):
    """Check indices and copy slices to out in one pass. out is C-contiguous and shares no memory
    with the other arrays. If it is None, only check indices: then out becomes a new array, which
    has the byte offset in data of each index row.

    indices is aligned, native and of an integer type. Returns (out, None) if all indices are within
    bounds. Otherwise returns out, of which a part may have been written, and (row, axis, value) of
    the first index that is out of bounds.
    """
    cdef GatherRows job = GatherRows()
    job.describe_arrays(data, indices, batch_dims)
    if out is None:
        job.offsets = out = cnp.PyArray_EMPTY(
            1, <cnp.npy_intp *>&job.rows.size, cnp.NPY_INTP, 0)
    else:
        job.offsets, job.out = None, <char *>cnp.PyArray_DATA(out)
    return out, first_fault(job, threads)


def copy(cnp.ndarray data not None, int first_axis, const Py_ssize_t[::1] offsets not None,
         cnp.ndarray out not None, int threads):
    """Copy the slices at `offsets` to out, which is C-contiguous. A slice has the axes of data from
    first_axis on."""
    cdef CopySlices job
    if offsets.shape[0] == 0:
        return
    job = CopySlices()
    describe_slice(&job.slice, data, first_axis)
    job.data, job.out = <char *>cnp.PyArray_DATA(data), <char *>cnp.PyArray_DATA(out)
    job.offsets = offsets
    job.run_units(offsets.shape[0], job.slice.width + sizeof(Py_ssize_t), threads)


cdef class CopySlices(Job):
    cdef slice_t slice
    cdef const char *data
    cdef const Py_ssize_t[::1] offsets
    cdef char *out

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t start = self.begin(k)
        copy_slices(&self.slice, self.data, &self.offsets[start], self.begin(k + 1) - start,
                    self.out + start * self.slice.width)


cdef first_fault(GatherRows job, int threads):
    """Choose the chunks of the job and run it. Returns (row, axis, value) of the first index that
    is out of bounds, or None."""
    cdef Py_ssize_t k
    if job.rows.size == 0:
        return None
    job.chunks = chunk_count(job.rows.size, threads, job.slice.width + job.axes * job.width)
    job.faults = new_intp(job.chunks * FAULT_WORDS)
    job.run(threads)
    for k in range(0, job.faults.shape[0], FAULT_WORDS):
        if job.faults[k + ROW] >= 0:
            return (job.faults[k + ROW], job.faults[k + AXIS],
                    job.faults[k + VALUE] if job.signed else <uint64_t>job.faults[k + VALUE])
    return None


@cython.final
cdef class GatherRows(Job):
    """Checks index rows, and writes their offsets or their slices."""
    cdef strided_t batch                  # leading axes of data
    cdef Py_ssize_t axes                  # number of indexed axes
    cdef Py_ssize_t[MAX_DIMS] lengths     # of the indexed axes
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef slice_t slice                    # trailing axes of data
    cdef strided_t rows                   # the index rows
    cdef Py_ssize_t index_stride          # bytes between the indices of a row
    cdef Py_ssize_t width                 # bytes of an index
    cdef bint signed
    cdef bint side_by_side                # level.row_offsets accepts these rows
    cdef load_t load
    cdef Py_ssize_t rows_per_batch
    cdef Py_ssize_t[::1] offsets          # by row; None: copy the slices, do not write offsets
    cdef char *out                        # NULL: only write offsets
    cdef Py_ssize_t[::1] faults           # [chunk][FAULT_WORDS]

    cdef void describe_arrays(self, cnp.ndarray data, cnp.ndarray indices, int batch_dims) noexcept:
        cdef int last = cnp.PyArray_NDIM(indices) - 1, axis
        self.axes = cnp.PyArray_DIM(indices, last)
        describe(&self.batch, data, 0, batch_dims)
        for axis in range(<int>self.axes):
            self.lengths[axis] = cnp.PyArray_DIM(data, batch_dims + axis)
            self.strides[axis] = cnp.PyArray_STRIDE(data, batch_dims + axis)
        describe_slice(&self.slice, data, batch_dims + <int>self.axes)
        describe(&self.rows, indices, 0, last)
        self.index_stride = cnp.PyArray_STRIDE(indices, last)
        self.width = cnp.PyArray_ITEMSIZE(indices)
        self.signed = cnp.PyArray_ISSIGNED(indices)
        self.side_by_side = lie_side_by_side(indices)
        self.load = loader(<int>self.width, self.signed)
        self.rows_per_batch = self.rows.size // max(1, self.batch.size)

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        """Handle up to ROWS rows at a time, and stop at a fault."""
        cdef Py_ssize_t row = chunk_start(self.rows.size, self.chunks, k)
        cdef Py_ssize_t stop = chunk_start(self.rows.size, self.chunks, k + 1)
        cdef Py_ssize_t in_batch = row % self.rows_per_batch, n
        cdef Py_ssize_t[ROWS] buffer
        cdef Py_ssize_t *row_offsets
        cdef cursor_t batch, rows
        self.faults[k * FAULT_WORDS + ROW] = -1
        seek(&batch, &self.batch, row // self.rows_per_batch)
        seek(&rows, &self.rows, row)
        while row < stop:
            n = run_length(&rows, &self.rows, min(stop - row, ROWS))
            row_offsets = &buffer[0] if self.offsets is None else &self.offsets[row]
            if not self.find_offsets(item(&rows, &self.rows), row, row_offsets, n, k):
                return
            if self.batch.size > 1:
                in_batch = self.add_batch_starts(&batch, in_batch, row_offsets, n)
            if self.out != NULL:
                copy_slices(&self.slice, self.batch.data, row_offsets, n,
                            self.out + row * self.slice.width)
            advance(&rows, &self.rows, n)
            row += n

    cdef bint find_offsets(self, const char *indices, Py_ssize_t row, Py_ssize_t *row_offsets,
                           Py_ssize_t n, Py_ssize_t k) noexcept nogil:
        """Write the byte offset of each of n rows, from the start of its batch, to row_offsets. If
        an index is out of bounds, returns False and notes the first fault of chunk k: then the
        caller must not use row_offsets. n is at most ROWS."""
        cdef Py_ssize_t[ROWS] values
        cdef Py_ssize_t axis, wrap
        if self.side_by_side and not level.row_offsets(
                indices, self.width, self.axes, n, <const intptr_t *>self.lengths,
                <const intptr_t *>self.strides, <intptr_t *>row_offsets):
            return True
        # Rows that row_offsets does not accept, or in which it has found a fault, are handled axis
        # by axis. In the second case, each index is loaded and checked again.
        memset(row_offsets, 0, n * sizeof(Py_ssize_t))
        for axis in range(self.axes):
            self.load(indices + axis * self.index_stride, self.rows.strides[self.rows.ndim - 1],
                      values, n)
            wrap = self.lengths[axis] if self.signed else 0
            if level.add_offsets(<intptr_t *>values, n, self.lengths[axis], wrap,
                                 self.strides[axis], <intptr_t *>row_offsets):
                self.note_fault(values, n, wrap, row, axis, k)
        return self.faults[k * FAULT_WORDS + ROW] < 0

    cdef void note_fault(self, const Py_ssize_t *values, Py_ssize_t n, Py_ssize_t wrap,
                         Py_ssize_t row, Py_ssize_t axis, Py_ssize_t k) noexcept nogil:
        """Note the first fault along an axis, unless its row or an earlier row has one already. The
        caller passes the axes in ascending order."""
        cdef Py_ssize_t j, value, first = self.faults[k * FAULT_WORDS + ROW]
        for j in range(n):
            value = values[j] + (wrap if values[j] < 0 else 0)
            if <size_t>value >= <size_t>self.lengths[axis]:
                if first < 0 or row + j < first:
                    self.faults[k * FAULT_WORDS + ROW] = row + j
                    self.faults[k * FAULT_WORDS + AXIS] = axis
                    self.faults[k * FAULT_WORDS + VALUE] = values[j]
                return

    cdef Py_ssize_t add_batch_starts(self, cursor_t *batch, Py_ssize_t in_batch,
                                     Py_ssize_t *row_offsets, Py_ssize_t n) noexcept nogil:
        """Add the start of its batch to the offset of each of n rows. Returns the position of the
        next row within its batch. The cursor is on the batch of the first row, which is row
        in_batch of that batch."""
        cdef Py_ssize_t j = 0, length, i, start
        while j < n:
            length = min(n - j, self.rows_per_batch - in_batch)
            start = item(batch, &self.batch) - self.batch.data
            for i in range(j, j + length):
                row_offsets[i] += start
            j += length
            in_batch += length
            if in_batch == self.rows_per_batch:
                in_batch = 0
                advance(batch, &self.batch, 1)
        return in_batch


cdef load_t loader(int width, bint signed) noexcept nogil:
    """The function that loads indices of width bytes, 1, 2, 4 or 8."""
    if width == 8:
        return <load_t>&load[int64_t]     # of uint64, too: if negative, it is beyond any length
    if width == 4:
        return <load_t>&load[int32_t] if signed else <load_t>&load[uint32_t]
    if width == 2:
        return <load_t>&load[int16_t] if signed else <load_t>&load[uint16_t]
    return <load_t>&load[int8_t] if signed else <load_t>&load[uint8_t]


# This function is called through a pointer. So the compiler cannot know where a value came from,
# and cannot load the index again after the check.
cdef void load(const index_t *indices, Py_ssize_t step, Py_ssize_t *values,
               Py_ssize_t n) noexcept nogil:
    """The contract is that of load_t."""
    cdef Py_ssize_t j
    if step == sizeof(index_t):
        for j in range(n):
            values[j] = <Py_ssize_t>indices[j]
    else:
        for j in range(n):
            values[j] = <Py_ssize_t>(<const index_t *>(<const char *>indices + j * step))[0]
