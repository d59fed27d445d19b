"""gather_nd of few indices, in one call: the steps of gather.pyx would take longer than the work.

The function returns None for arguments that it does not accept: classes other than ndarray, more
than max_items indices, layouts that are not C-contiguous, unaligned items, data of dtypes other
than bool and native numbers, empty data, large results, and index rows other than those that its
docstring names. It holds the GIL, and loads each index once.
"""
cimport numpy as cnp
from libc.stdint cimport intptr_t

from fastsel._core.copying cimport copy_run_slices
from fastsel._core.contiguous cimport is_contiguous_native
from fastsel._core.results cimport numpy_array
from fastsel._core.strided cimport MAX_DIMS
from fastsel._simd.levels cimport level

cnp.import_array()

cdef enum:
    MAX_BYTES = 1 << 18   # of the result: 20 us of copying with the GIL
    ROWS = 128            # index rows at a time


def gather_nd(data, indices, Py_ssize_t max_items):
    """fastsel.gather_nd(data, indices) for rows of one or two signed indices, of 4 or 8 bytes and
    within bounds."""
    cdef Py_ssize_t[ROWS] offsets
    cdef cnp.npy_intp[2 * MAX_DIMS] shape
    cdef const char *source
    cdef const char *index
    cdef char *target
    cdef Py_ssize_t rows = 1, width, index_width, n, j
    cdef int lead, depth, axis
    if not is_contiguous_native(data) or not is_contiguous_native(indices) or (
            cnp.PyArray_SIZE(indices) > max_items or not cnp.PyArray_ISINTEGER(indices) or
            not cnp.PyArray_ISSIGNED(indices) or cnp.PyArray_NDIM(indices) == 0):
        return None
    lead, index_width = cnp.PyArray_NDIM(indices) - 1, cnp.PyArray_ITEMSIZE(indices)
    depth = <int>min(cnp.PyArray_DIM(indices, lead), MAX_DIMS)
    if index_width < 4 or not 1 <= depth <= min(cnp.PyArray_NDIM(data), 2) or (
            cnp.PyArray_SIZE(data) == 0):
        return None
    for axis in range(lead):
        shape[axis] = cnp.PyArray_DIM(indices, axis)
        rows *= shape[axis]
    # The width of a slice. It is not a stride: the stride of an axis of length 1 may be any number.
    width = cnp.PyArray_ITEMSIZE(data)
    for axis in range(depth, cnp.PyArray_NDIM(data)):
        shape[lead + axis - depth] = cnp.PyArray_DIM(data, axis)
        width *= cnp.PyArray_DIM(data, axis)
    if rows * width > MAX_BYTES:
        return None
    out = numpy_array(lead + cnp.PyArray_NDIM(data) - depth, shape,
                      <cnp.dtype>cnp.PyArray_DESCR(data))
    source, target = <const char *>cnp.PyArray_DATA(data), <char *>cnp.PyArray_DATA(out)
    index = <const char *>cnp.PyArray_DATA(indices)
    for j in range(0, rows, ROWS):
        n = min(rows - j, ROWS)
        if level.row_offsets(index, index_width, depth, n,
                             <const intptr_t *>cnp.PyArray_DIMS(data),
                             <const intptr_t *>cnp.PyArray_STRIDES(data), <intptr_t *>offsets):
            return None
        copy_run_slices(source, 0, 1, width, offsets, n, target)
        index += n * depth * index_width
        target += n * width
    return out
