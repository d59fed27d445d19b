"""Small arrays of numbers: an operator in one call, where the steps of the other kernels would cost
more than the work.

A function returns None for what it does not serve: other classes than ndarray, more than `most`
items (of the mask or the indices, where there are any), layouts that are not contiguous, dtypes
that are not plain numbers, large results. All is done under the GIL; the bitmask is on the stack,
and each item and each index is loaded once, as everywhere.
"""
cimport numpy as cnp
from libc.stdint cimport intptr_t, uint64_t
from libc.string cimport memcpy, memset

from fastsel._kernels.blocks cimport fs_ctz, fs_level_t, fs_popcount, log2_width
from fastsel._kernels.chunks cimport copy_run_chunks
from fastsel._kernels.levels cimport fs_level
from fastsel._kernels.plain cimport is_plain
from fastsel._kernels.results cimport numpy_array

cnp.import_array()

cdef const fs_level_t *level = fs_level()

cdef extern from "numpy/arrayobject.h":
    object PyArray_Scalar(void *data, cnp.dtype descr, object base)

cdef enum:
    MOST = 1 << 14         # items, whatever the caller says
    MOST_BLOCKS = MOST // 64
    MOST_BYTES = 1 << 18   # of the result: 20 us of copying under the GIL
    MOST_PLACES = 1 << 11  # whose offsets are listed
    BLOCK_ROWS = 128       # of indices
    MAX_DIMS = 64

cdef cnp.dtype INTP = cnp.PyArray_DescrFromType(cnp.NPY_INTP)


cdef inline bint is_small(a, Py_ssize_t most) noexcept:
    """Plain, and of few items?"""
    return is_plain(a) and cnp.PyArray_SIZE(a) <= min(most, MOST)


cdef inline uint64_t care_of(cnp.ndarray a) noexcept:
    """The bits that decide whether an item is non-zero: all but the sign of floats. 0 for dtypes
    that are not of one word."""
    cdef int typenum = cnp.PyArray_TYPE(a)
    if typenum == cnp.NPY_DOUBLE:
        return <uint64_t>-1 >> 1
    if typenum == cnp.NPY_FLOAT:
        return <uint64_t>-1 >> 33
    if typenum == cnp.NPY_FLOAT16:
        return <uint64_t>-1 >> 49
    return <uint64_t>-1 if cnp.PyArray_ISINTEGER(a) or typenum == cnp.NPY_BOOL else 0


cdef inline Py_ssize_t pack(cnp.ndarray a, uint64_t care, uint64_t *bits) noexcept:
    """The bitmask of a's items; returns how many are set."""
    cdef char[64 * 8] last
    cdef const char *items = <const char *>cnp.PyArray_DATA(a)
    cdef Py_ssize_t width = cnp.PyArray_ITEMSIZE(a), size = cnp.PyArray_SIZE(a)
    cdef Py_ssize_t whole = size >> 6, count = level.pack[log2_width(width)](
        items, care, bits, whole)
    if size & 63:
        memset(last, 0, sizeof(last))
        memcpy(last, items + whole * 64 * width, (size & 63) * width)
        count += level.pack[log2_width(width)](last, care, bits + whole, 1)
    return count


def count_nonzero(a, Py_ssize_t most):
    """numpy.count_nonzero(a)."""
    cdef uint64_t[MOST_BLOCKS] bits
    cdef cnp.npy_intp count
    if not is_small(a, most) or care_of(a) == 0:
        return None
    count = pack(a, care_of(a), bits)
    return PyArray_Scalar(&count, INTP, None)


def flatnonzero(a, Py_ssize_t most):
    """numpy.flatnonzero(a)."""
    cdef uint64_t[MOST_BLOCKS] bits
    cdef cnp.npy_intp count
    if not is_small(a, most) or care_of(a) == 0:
        return None
    count = pack(a, care_of(a), bits)
    out = cnp.PyArray_EMPTY(1, &count, cnp.NPY_INTP, 0)
    level.write(bits, (cnp.PyArray_SIZE(a) + 63) >> 6, 0, False,
                <intptr_t *>cnp.PyArray_DATA(out), count)
    return out


def boolean_mask(a, mask, Py_ssize_t most):
    """a[mask] for a mask of the shape of a's leading axes."""
    cdef int axis
    if not is_plain(a) or not is_small(mask, most) or (
            not 0 < cnp.PyArray_NDIM(mask) <= cnp.PyArray_NDIM(a)):
        return None
    for axis in range(cnp.PyArray_NDIM(mask)):
        if cnp.PyArray_DIM(mask, axis) != cnp.PyArray_DIM(a, axis):
            return None
    return keep(a, mask, 0, cnp.PyArray_NDIM(mask))


def compress(condition, a, axis, Py_ssize_t most):
    """numpy.compress(condition, a, axis) for an axis that is None or an int."""
    cdef Py_ssize_t along
    if not is_plain(a) or not is_small(condition, most) or cnp.PyArray_NDIM(condition) != 1:
        return None
    if axis is None:
        return keep(a, condition, 0, cnp.PyArray_NDIM(a))
    if not -MAX_DIMS <= axis <= MAX_DIMS:
        return None
    along = axis
    along += cnp.PyArray_NDIM(a) if along < 0 else 0
    if not 0 <= along < cnp.PyArray_NDIM(a):
        return None
    return keep(a, condition, <int>along, <int>along + 1)


def extract(condition, a, Py_ssize_t most):
    """numpy.extract(condition, a)."""
    if is_plain(a) and is_small(condition, most):
        return keep(a, condition, 0, cnp.PyArray_NDIM(a))
    return None


cdef keep(cnp.ndarray a, cnp.ndarray mask, int first, int stop):
    """What a mask of bool keeps of the axes of a from first to stop, taken as one, of which it may
    cover less than all."""
    cdef uint64_t[MOST_BLOCKS] bits
    cdef cnp.npy_intp[MAX_DIMS + 1] shape
    cdef const char *source = <const char *>cnp.PyArray_DATA(a)
    cdef Py_ssize_t size = cnp.PyArray_SIZE(mask), width = cnp.PyArray_ITEMSIZE(a)
    cdef Py_ssize_t rows = 1, length = 1, count
    cdef int axis
    for axis in range(cnp.PyArray_NDIM(a)):
        if axis < first:
            shape[axis] = cnp.PyArray_DIM(a, axis)
            rows *= cnp.PyArray_DIM(a, axis)
        elif axis < stop:
            length *= cnp.PyArray_DIM(a, axis)
        else:
            shape[axis + 1 - stop + first] = cnp.PyArray_DIM(a, axis)
            width *= cnp.PyArray_DIM(a, axis)
    if cnp.PyArray_TYPE(mask) != cnp.NPY_BOOL or size > length:
        return None
    count = pack(mask, care_of(mask), bits)
    if rows * count * width > MOST_BYTES or (rows > 1 and count > MOST_PLACES):
        return None
    shape[first] = count
    out = numpy_array(cnp.PyArray_NDIM(a) + 1 - stop + first, shape,
                      <cnp.dtype>cnp.PyArray_DESCR(a))
    if rows * count * width == 0:     # there may be any number of rows of nothing
        return out
    if rows == 1:
        keep_row(bits, size, source, width, count, <char *>cnp.PyArray_DATA(out))
    else:
        keep_rows(bits, size, source, length * width, rows, width, count,
                  <char *>cnp.PyArray_DATA(out))
    return out


cdef void keep_row(const uint64_t *bits, Py_ssize_t size, const char *source, Py_ssize_t width,
                   Py_ssize_t count, char *target) noexcept:
    """The chunks of a row of `size` that the bits select."""
    cdef Py_ssize_t block = 0, blocks = (size + 63) >> 6, room
    cdef uint64_t word
    if width in (1, 2, 4, 8):     # blocks whose 64 items may all be read
        block = size >> 6
        room = count - (fs_popcount(bits[block]) if block < blocks else 0)
        level.keep[log2_width(width)](bits, block, source, target, room)
        target += room * width
    while block < blocks:
        word = bits[block]
        while word:
            memcpy(target, source + (block * 64 + fs_ctz(word)) * width, width)
            target += width
            word &= word - 1
        block += 1


cdef void keep_rows(const uint64_t *bits, Py_ssize_t size, const char *source, Py_ssize_t stride,
                    Py_ssize_t rows, Py_ssize_t width, Py_ssize_t count, char *target) noexcept:
    """The same of several rows: the bits are decoded once."""
    cdef Py_ssize_t[MOST_PLACES] offsets
    cdef Py_ssize_t block, n = 0
    cdef uint64_t word
    for block in range((size + 63) >> 6):
        word = bits[block]
        while word:
            offsets[n] = (block * 64 + fs_ctz(word)) * width
            n += 1
            word &= word - 1
    copy_run_chunks(source, stride, rows, width, offsets, count, target)


def gather_nd(data, indices, Py_ssize_t most):
    """fastsel.gather_nd(data, indices) for signed indices, one or two to a row, that are all within
    bounds.
    """
    cdef Py_ssize_t[BLOCK_ROWS] offsets
    cdef cnp.npy_intp[2 * MAX_DIMS] shape
    cdef const char *source
    cdef const char *index
    cdef char *target
    cdef Py_ssize_t rows = 1, width, index_width, n, j
    cdef int lead, depth, axis
    if not is_plain(data) or not is_plain(indices) or cnp.PyArray_SIZE(indices) > most or (
            not cnp.PyArray_ISINTEGER(indices) or not cnp.PyArray_ISSIGNED(indices) or
            cnp.PyArray_NDIM(indices) == 0):
        return None
    lead, index_width = cnp.PyArray_NDIM(indices) - 1, cnp.PyArray_ITEMSIZE(indices)
    depth = <int>min(cnp.PyArray_DIM(indices, lead), MAX_DIMS)
    if index_width < 4 or not 1 <= depth <= min(cnp.PyArray_NDIM(data), 2) or (
            cnp.PyArray_SIZE(data) == 0):
        return None
    for axis in range(lead):
        shape[axis] = cnp.PyArray_DIM(indices, axis)
        rows *= shape[axis]
    width = cnp.PyArray_ITEMSIZE(data)      # of a slice; a stride would not do: that of an axis
    for axis in range(depth, cnp.PyArray_NDIM(data)):        # of length 1 may be any number
        shape[lead + axis - depth] = cnp.PyArray_DIM(data, axis)
        width *= cnp.PyArray_DIM(data, axis)
    if rows * width > MOST_BYTES:
        return None
    out = numpy_array(lead + cnp.PyArray_NDIM(data) - depth, shape,
                      <cnp.dtype>cnp.PyArray_DESCR(data))
    source, target = <const char *>cnp.PyArray_DATA(data), <char *>cnp.PyArray_DATA(out)
    index = <const char *>cnp.PyArray_DATA(indices)
    for j in range(0, rows, BLOCK_ROWS):
        n = min(rows - j, BLOCK_ROWS)
        if level.row_offsets(index, index_width, depth, n,
                             <const intptr_t *>cnp.PyArray_DIMS(data),
                             <const intptr_t *>cnp.PyArray_STRIDES(data), <intptr_t *>offsets):
            return None
        copy_run_chunks(source, 0, 1, width, offsets, n, target)
        index += n * depth * index_width
        target += n * width
    return out
