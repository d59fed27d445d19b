"""Selections from small arrays of numbers, in one call: the steps of the other kernels would cost
more than the work.

A function returns None for what it does not serve: other classes than ndarray, more than `most`
items of the mask, or MORE times as many if it selects few, more items that lie apart, dtypes
that are not native numbers, large results. All is done under the GIL; the bitmask is on the stack,
and each item is loaded once, as everywhere.
"""
cimport numpy as cnp
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from fastsel._core.copying cimport copy_run_slices
from fastsel._core.contiguous cimport is_contiguous_native, is_native
from fastsel._core.results cimport numpy_array
from fastsel._core.strided cimport MAX_DIMS
from fastsel._positions.small cimport MAX_BLOCKS, is_small, pack_items
from fastsel._simd.blocks cimport fs_ctz, fs_level_t, fs_popcount, log2_width
from fastsel._simd.levels cimport fs_level

cnp.import_array()

cdef const fs_level_t *level = fs_level()

cdef enum:
    MAX_BYTES = 1 << 19   # of the result: 20 us of copying under the GIL
    MAX_PLACES = 1 << 11  # whose offsets are listed
    MORE = 8              # of masks that select one item of FEW, or less
    FEW = 64


def boolean_mask(a, mask, Py_ssize_t most):
    """a[mask] for a mask of the shape of a's leading axes."""
    cdef int axis
    if not is_small(mask, most, MORE) or cnp.PyArray_NDIM(mask) == 0:
        return None
    # Of a copy the result would have its remaining axes in another order than NumPy gives them.
    if type(a) is cnp.ndarray and cnp.PyArray_NDIM(a) <= cnp.PyArray_NDIM(mask) + 1:
        a = contiguous(a, most)
    if not is_contiguous_native(a) or cnp.PyArray_NDIM(mask) > cnp.PyArray_NDIM(a):
        return None
    for axis in range(cnp.PyArray_NDIM(mask)):
        if cnp.PyArray_DIM(mask, axis) != cnp.PyArray_DIM(a, axis):
            return None
    return compress_axes(a, mask, 0, cnp.PyArray_NDIM(mask), most)


def compress(condition, a, axis, Py_ssize_t most):
    """numpy.compress(condition, a, axis) for an axis that is None or an int."""
    cdef Py_ssize_t along
    a = contiguous(a, most)
    if a is None or not is_small(condition, most, MORE) or (
            cnp.PyArray_NDIM(condition) != 1):
        return None
    if axis is None:
        return compress_axes(a, condition, 0, cnp.PyArray_NDIM(a), most)
    if not -MAX_DIMS <= axis <= MAX_DIMS:
        return None
    along = axis
    along += cnp.PyArray_NDIM(a) if along < 0 else 0
    if not 0 <= along < cnp.PyArray_NDIM(a):
        return None
    return compress_axes(a, condition, <int>along, <int>along + 1, most)


def extract(condition, a, Py_ssize_t most):
    """numpy.extract(condition, a)."""
    a = contiguous(a, most)
    if a is not None and is_small(condition, most, MORE):
        return compress_axes(a, condition, 0, cnp.PyArray_NDIM(a), most)
    return None


cdef contiguous(a, Py_ssize_t most):
    """a, or a copy of at most `most` items that lie apart; None if a has to be served elsewhere."""
    if is_contiguous_native(a):
        return a
    if is_native(a) and cnp.PyArray_SIZE(a) <= most:
        return cnp.PyArray_NewCopy(a, cnp.NPY_CORDER)
    return None


cdef compress_axes(cnp.ndarray a, cnp.ndarray mask, int first, int stop, Py_ssize_t most):
    """What a mask of bool selects of the axes of a from first to stop, taken as one, of which it
    may cover less than all."""
    cdef uint64_t[MORE * MAX_BLOCKS] bits
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
    count = pack_mask(mask, most, bits)
    if count < 0 or rows * count * width > MAX_BYTES or (rows > 1 and count > MAX_PLACES):
        return None
    shape[first] = count
    out = numpy_array(cnp.PyArray_NDIM(a) + 1 - stop + first, shape,
                      <cnp.dtype>cnp.PyArray_DESCR(a))
    if rows * count * width == 0:     # there may be any number of rows of nothing
        return out
    if rows == 1:
        compress_row(bits, size, source, width, count, <char *>cnp.PyArray_DATA(out))
    else:
        compress_rows(bits, size, source, length * width, rows, width, count,
                      <char *>cnp.PyArray_DATA(out))
    return out


cdef Py_ssize_t pack_mask(cnp.ndarray mask, Py_ssize_t most, uint64_t *bits) noexcept:
    """Returns how many items are selected; -1 if a large mask begins with many. bits has a word for
    each 64 items, or what lies behind is overwritten."""
    cdef const char *items = <const char *>cnp.PyArray_DATA(mask)
    cdef Py_ssize_t size = cnp.PyArray_SIZE(mask), start = 0, count = 0
    if size > most:
        start = most & ~63
        count = pack_items(level, items, 1, 0xff, start, bits)
        if count > start // FEW:
            return -1
    return count + pack_items(level, items + start, 1, 0xff, size - start, bits + (start >> 6))


cdef void compress_row(const uint64_t *bits, Py_ssize_t size, const char *source, Py_ssize_t width,
                       Py_ssize_t count, char *target) noexcept:
    """The slices of a row of `size` that the bits select. count is how many are set, and target has
    room for as many slices: otherwise what lies behind is overwritten."""
    cdef Py_ssize_t block = 0, blocks = (size + 63) >> 6, capacity
    cdef uint64_t word
    if width in (1, 2, 4, 8):     # blocks whose 64 items may all be read
        block = size >> 6
        capacity = count - (fs_popcount(bits[block]) if block < blocks else 0)
        level.compress[log2_width(width)](bits, block, source, target, capacity)
        target += capacity * width
    while block < blocks:
        word = bits[block]
        while word:
            memcpy(target, source + (block * 64 + fs_ctz(word)) * width, width)
            target += width
            word &= word - 1
        block += 1


cdef void compress_rows(const uint64_t *bits, Py_ssize_t size, const char *source,
                        Py_ssize_t stride, Py_ssize_t rows, Py_ssize_t width, Py_ssize_t count,
                        char *target) noexcept:
    """The same of several rows: the bits are decoded once. count is at most MAX_PLACES, or the
    stack is overwritten."""
    cdef Py_ssize_t[MAX_PLACES] offsets
    cdef Py_ssize_t block, n = 0
    cdef uint64_t word
    for block in range((size + 63) >> 6):
        word = bits[block]
        while word:
            offsets[n] = (block * 64 + fs_ctz(word)) * width
            n += 1
            word &= word - 1
    copy_run_slices(source, stride, rows, width, offsets, count, target)
