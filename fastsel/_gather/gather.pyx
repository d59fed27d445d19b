"""gather_nd: index rows -> checked byte offsets -> slices.

An index is loaded once, into a buffer of this thread; what is checked is what is used, so that no
other thread's change of the indices can move a read out of the data.
"""
cimport numpy as cnp
from libc.stdint cimport (
    int8_t, int16_t, int32_t, int64_t, intptr_t, uint8_t, uint16_t, uint32_t, uint64_t)
from libc.string cimport memset

from fastsel._simd.blocks cimport fs_level_t
from fastsel._core.copying cimport copy_slices, describe_slice, slice_t
from fastsel._simd.levels cimport fs_level
from fastsel._core.parallel cimport chunk_count, chunk_start, for_chunks
from fastsel._core.strided cimport (
    MAX_DIMS, advance, cursor_t, describe, item, run_length, seek, strided_t)

cnp.import_array()

cdef const fs_level_t *level = fs_level()

ctypedef fused index_t:
    int8_t
    int16_t
    int32_t
    int64_t
    uint8_t
    uint16_t
    uint32_t

cdef enum:
    ROWS = 128   # index rows at a time; their offsets and values fit L1 and any stack

# values has room for n indices, which lie step bytes apart.
ctypedef void (*load_t)(const char *indices, Py_ssize_t step, Py_ssize_t *values,
                        Py_ssize_t n) noexcept nogil

ctypedef struct gather_task:
    strided_t batch                   # leading axes of data
    Py_ssize_t axes                   # indexed axes, K
    Py_ssize_t[MAX_DIMS] lengths      # of the indexed axes
    Py_ssize_t[MAX_DIMS] strides
    slice_t slice                     # trailing axes of data
    strided_t rows                    # of indices
    Py_ssize_t index_stride           # within a row
    Py_ssize_t width                  # of an index
    bint signed
    bint plain                        # rows that a level takes whole
    load_t load
    Py_ssize_t rows_per_batch
    Py_ssize_t chunks
    Py_ssize_t *offsets               # NULL: copy at once
    char *out                         # NULL: only offsets
    fault_t *faults                   # one per chunk

ctypedef struct fault_t:
    Py_ssize_t row                    # of indices, or -1
    Py_ssize_t axis                   # within the row
    int64_t value                     # its bits


def gather(cnp.ndarray data not None, cnp.ndarray indices not None, int batch_dims,
           cnp.ndarray out not None, int threads):
    """Check and copy in one pass into out, which is C-contiguous: a new array, or the indices
    themselves, if a row is one index and a slice as wide (a row is read before it is written).

    indices is aligned, native and of an integer type. Returns None, or (row, axis, value) of the
    first index that is out of bounds, in which case out is partly written.
    """
    cdef gather_task task
    describe_data(&task, data, batch_dims, cnp.PyArray_DIM(indices, cnp.PyArray_NDIM(indices) - 1))
    task.offsets = NULL
    task.out = <char *>cnp.PyArray_DATA(out)
    return run(&task, indices, batch_dims, threads)


def offsets(cnp.ndarray data not None, cnp.ndarray indices not None, int batch_dims,
            int threads):
    """Check only: returns (offsets, fault), the byte offset in data of each row's slice."""
    cdef gather_task task
    cdef cnp.npy_intp length
    describe_data(&task, data, batch_dims, cnp.PyArray_DIM(indices, cnp.PyArray_NDIM(indices) - 1))
    length = cnp.PyArray_SIZE(indices) // task.axes
    cdef cnp.ndarray result = cnp.PyArray_EMPTY(1, &length, cnp.NPY_INTP, 0)
    task.offsets = <Py_ssize_t *>cnp.PyArray_DATA(result)
    task.out = NULL
    return result, run(&task, indices, batch_dims, threads)


def copy(cnp.ndarray data not None, int first_axis, const Py_ssize_t[::1] offsets not None,
         cnp.ndarray out not None, int threads):
    """Copy the slices (axes first_axis ... of data) at those offsets to out, C-contiguous."""
    cdef copy_task task
    describe_slice(&task.slice, data, first_axis)
    task.data = <char *>cnp.PyArray_DATA(data)
    task.rows = offsets.shape[0]
    task.chunks = chunk_count(task.rows, threads, task.slice.width + sizeof(Py_ssize_t))
    task.out = <char *>cnp.PyArray_DATA(out)
    if task.rows == 0:
        return
    task.offsets = &offsets[0]
    with nogil:
        for_chunks(copy_chunk, &task, task.chunks, threads)


ctypedef struct copy_task:
    slice_t slice
    const char *data
    const Py_ssize_t *offsets
    Py_ssize_t rows
    Py_ssize_t chunks
    char *out


cdef void copy_chunk(void *context, Py_ssize_t k) noexcept nogil:
    cdef copy_task *task = <copy_task *>context
    cdef Py_ssize_t start = chunk_start(task.rows, task.chunks, k)
    copy_slices(&task.slice, task.data, task.offsets + start,
                chunk_start(task.rows, task.chunks, k + 1) - start,
                task.out + start * task.slice.width)


cdef void describe_data(gather_task *task, cnp.ndarray data, int batch_dims,
                        Py_ssize_t axes) noexcept:
    cdef int axis
    describe(&task.batch, data, 0, batch_dims)
    task.axes = axes
    for axis in range(<int>axes):
        task.lengths[axis] = cnp.PyArray_DIM(data, batch_dims + axis)
        task.strides[axis] = cnp.PyArray_STRIDE(data, batch_dims + axis)
    describe_slice(&task.slice, data, batch_dims + <int>axes)


cdef run(gather_task *task, cnp.ndarray indices, int batch_dims, int threads):
    """Run the chunks of a task whose data is described; returns the first fault or None."""
    cdef int last = cnp.PyArray_NDIM(indices) - 1
    cdef cnp.npy_intp[2] shape
    cdef Py_ssize_t k
    describe(&task.rows, indices, 0, last)
    task.index_stride = cnp.PyArray_STRIDE(indices, last)
    task.width = cnp.PyArray_ITEMSIZE(indices)
    task.signed = cnp.PyArray_ISSIGNED(indices)
    task.plain = (task.signed and task.width >= 4 and task.axes <= 2 and
                  cnp.PyArray_IS_C_CONTIGUOUS(indices))
    task.load = loader(task.width, task.signed)
    if task.rows.size == 0:
        return None
    task.rows_per_batch = task.rows.size // task.batch.size
    task.chunks = chunk_count(task.rows.size, threads,
                              task.slice.width + task.axes * task.width)
    shape[0], shape[1] = task.chunks, 3
    cdef cnp.ndarray faults = cnp.PyArray_EMPTY(2, shape, cnp.NPY_INT64, 0)
    task.faults = <fault_t *>cnp.PyArray_DATA(faults)
    with nogil:
        for_chunks(gather_chunk, task, task.chunks, threads)
    for k in range(task.chunks):
        if task.faults[k].row >= 0:
            return (task.faults[k].row, task.faults[k].axis,
                    task.faults[k].value if task.signed else <uint64_t>task.faults[k].value)
    return None


cdef void gather_chunk(void *context, Py_ssize_t k) noexcept nogil:
    """Rows of chunk k, ROWS at a time, up to the first block with a fault."""
    cdef gather_task *task = <gather_task *>context
    cdef Py_ssize_t row = chunk_start(task.rows.size, task.chunks, k)
    cdef Py_ssize_t stop = chunk_start(task.rows.size, task.chunks, k + 1)
    cdef Py_ssize_t in_batch = row % task.rows_per_batch, n
    cdef Py_ssize_t[ROWS] local
    cdef Py_ssize_t *found
    cdef cursor_t batch, rows
    task.faults[k].row = -1
    seek(&batch, &task.batch, row // task.rows_per_batch)
    seek(&rows, &task.rows, row)
    while row < stop:
        n = run_length(&rows, &task.rows, min(stop - row, ROWS))
        found = &local[0] if task.offsets == NULL else &task.offsets[row]
        if not index_offsets(task, item(&rows, &task.rows), row, found, n, &task.faults[k]):
            return
        if task.batch.size > 1:
            in_batch = add_starts(task, &batch, in_batch, found, n)
        if task.out != NULL:
            copy_slices(&task.slice, task.batch.data, found, n,
                        task.out + row * task.slice.width)
        advance(&rows, &task.rows, n)
        row += n


cdef Py_ssize_t add_starts(const gather_task *task, cursor_t *batch, Py_ssize_t in_batch,
                           Py_ssize_t *found, Py_ssize_t n) noexcept nogil:
    """Add where the batch of each of n rows starts; returns the row within the last batch."""
    cdef Py_ssize_t j = 0, length, i, start
    while j < n:
        length = min(n - j, task.rows_per_batch - in_batch)
        start = item(batch, &task.batch) - task.batch.data
        for i in range(j, j + length):
            found[i] += start
        j += length
        in_batch += length
        if in_batch == task.rows_per_batch:
            in_batch = 0
            advance(batch, &task.batch, 1)
    return in_batch


cdef bint index_offsets(const gather_task *task, const char *indices, Py_ssize_t row,
                        Py_ssize_t *found, Py_ssize_t n, fault_t *fault) noexcept nogil:
    """The offsets of n rows from the start of their batch; False, and the first fault, if an index
    is out of bounds: then nothing in found is to be used.
    """
    cdef Py_ssize_t[ROWS] values
    cdef Py_ssize_t axis, wrap
    if task.plain and not level.row_offsets(
            indices, task.width, task.axes, n, <const intptr_t *>task.lengths,
            <const intptr_t *>task.strides, <intptr_t *>found):
        return True
    # Axis by axis, also to find a fault; all is loaded again, and checked again.
    memset(found, 0, n * sizeof(Py_ssize_t))
    for axis in range(task.axes):
        task.load(indices + axis * task.index_stride, task.rows.strides[task.rows.ndim - 1],
                  values, n)
        wrap = task.lengths[axis] if task.signed else 0
        if level.add_offsets(<intptr_t *>values, n, task.lengths[axis], wrap,
                             task.strides[axis], <intptr_t *>found):
            note_fault(values, n, task.lengths[axis], wrap, row, axis, fault)
    return fault.row < 0


cdef void note_fault(const Py_ssize_t *values, Py_ssize_t n, Py_ssize_t length, Py_ssize_t wrap,
                     Py_ssize_t row, Py_ssize_t axis, fault_t *fault) noexcept nogil:
    """Keep the smallest position: rows first, then axes, which come in ascending order."""
    cdef Py_ssize_t j, value
    for j in range(n):
        value = values[j] + (wrap if values[j] < 0 else 0)
        if <size_t>value >= <size_t>length:
            if fault.row < 0 or row + j < fault.row:
                fault.row, fault.axis, fault.value = row + j, axis, values[j]
            return


# Each is called through a pointer, so that no compiler can see, behind the call, that a value came
# from memory, and load it again after it was checked.

cdef void load_i8(const char *indices, Py_ssize_t step, Py_ssize_t *values,
                  Py_ssize_t n) noexcept nogil:
    load(<const int8_t *>indices, step, values, n)


cdef void load_i16(const char *indices, Py_ssize_t step, Py_ssize_t *values,
                   Py_ssize_t n) noexcept nogil:
    load(<const int16_t *>indices, step, values, n)


cdef void load_i32(const char *indices, Py_ssize_t step, Py_ssize_t *values,
                   Py_ssize_t n) noexcept nogil:
    load(<const int32_t *>indices, step, values, n)


cdef void load_i64(const char *indices, Py_ssize_t step, Py_ssize_t *values,
                   Py_ssize_t n) noexcept nogil:
    """uint64, too: what is negative as int64 is beyond any length, as it should be."""
    load(<const int64_t *>indices, step, values, n)


cdef void load_u8(const char *indices, Py_ssize_t step, Py_ssize_t *values,
                  Py_ssize_t n) noexcept nogil:
    load(<const uint8_t *>indices, step, values, n)


cdef void load_u16(const char *indices, Py_ssize_t step, Py_ssize_t *values,
                   Py_ssize_t n) noexcept nogil:
    load(<const uint16_t *>indices, step, values, n)


cdef void load_u32(const char *indices, Py_ssize_t step, Py_ssize_t *values,
                   Py_ssize_t n) noexcept nogil:
    load(<const uint32_t *>indices, step, values, n)


cdef load_t loader(int width, bint signed) noexcept nogil:
    """The function that loads and extends indices of that width."""
    if width == 8:
        return load_i64
    if width == 4:
        return load_i32 if signed else load_u32
    if width == 2:
        return load_i16 if signed else load_u16
    return load_i8 if signed else load_u8


cdef inline void load(const index_t *indices, Py_ssize_t step, Py_ssize_t *values,
                      Py_ssize_t n) noexcept nogil:
    """One index of each of n rows that lie step bytes apart."""
    cdef Py_ssize_t j
    if step == sizeof(index_t):
        for j in range(n):
            values[j] = <Py_ssize_t>indices[j]
    else:
        for j in range(n):
            values[j] = <Py_ssize_t>(<const index_t *>(<const char *>indices + j * step))[0]
