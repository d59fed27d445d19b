"""Selections from small arrays of numbers, in one call: the steps of the other kernels would take
longer than the work.

The functions return None for arguments that they do not accept, such as classes other than ndarray,
masks that are not bool or not C-contiguous, masks of more than max_items items (SPARSE_FACTOR times
max_items if they select few), more than max_items items that are not contiguous, items that are not
bools or native numbers, large results. They hold the GIL, have the bitmask on the stack, and load
each item of the mask once.
"""
cimport numpy as cnp
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from fastsel._core.copying cimport copy_run_slices
from fastsel._core.contiguous cimport is_contiguous_native, is_native
from fastsel._core.results cimport numpy_array
from fastsel._core.strided cimport MAX_DIMS
from fastsel._positions.small cimport MAX_BLOCKS, is_small, pack_items
from fastsel._simd.blocks cimport can_compress, fs_ctz, fs_popcount, log2_width
from fastsel._simd.levels cimport level

cnp.import_array()

cdef enum:
    MAX_BYTES = 1 << 19   # of the result: 20 us of copying with the GIL
    MAX_OFFSETS = 1 << 11  # slices of a row whose offsets fit the stack
    SPARSE_FACTOR = 8     # a sparse mask may have SPARSE_FACTOR * max_items items
    # A mask is sparse if at most 1 in SPARSE_SHARE of its first max_items items is True.
    SPARSE_SHARE = 64


def boolean_mask(a, mask, Py_ssize_t max_items):
    """a[mask] for a mask of the shape of a's leading axes."""
    cdef int axis
    if not is_small(mask, max_items, SPARSE_FACTOR) or cnp.PyArray_NDIM(mask) == 0:
        return None
    # With two or more remaining axes, the result from a copy would lack NumPy's memory order.
    if type(a) is cnp.ndarray and cnp.PyArray_NDIM(a) <= cnp.PyArray_NDIM(mask) + 1:
        a = contiguous(a, max_items)
    if not is_contiguous_native(a) or cnp.PyArray_NDIM(mask) > cnp.PyArray_NDIM(a):
        return None
    for axis in range(cnp.PyArray_NDIM(mask)):
        if cnp.PyArray_DIM(mask, axis) != cnp.PyArray_DIM(a, axis):
            return None
    return compress_axes(a, mask, 0, cnp.PyArray_NDIM(mask), max_items)


def compress(condition, a, axis, Py_ssize_t max_items):
    """numpy.compress(condition, a, axis) for an axis that is None or an int within range."""
    cdef Py_ssize_t along
    a = contiguous(a, max_items)
    if a is None or not is_small(condition, max_items, SPARSE_FACTOR) or (
            cnp.PyArray_NDIM(condition) != 1):
        return None
    if axis is None:
        return compress_axes(a, condition, 0, cnp.PyArray_NDIM(a), max_items)
    if not -MAX_DIMS <= axis <= MAX_DIMS:
        return None
    along = axis
    along += cnp.PyArray_NDIM(a) if along < 0 else 0
    if not 0 <= along < cnp.PyArray_NDIM(a):
        return None
    return compress_axes(a, condition, <int>along, <int>along + 1, max_items)


def extract(condition, a, Py_ssize_t max_items):
    """numpy.extract(condition, a)."""
    a = contiguous(a, max_items)
    if a is not None and is_small(condition, max_items, SPARSE_FACTOR):
        return compress_axes(a, condition, 0, cnp.PyArray_NDIM(a), max_items)
    return None


cdef contiguous(a, Py_ssize_t max_items):
    """`a` if it is C-contiguous and aligned, or else a contiguous copy of at most max_items items;
    None if the kernels do not accept `a`."""
    if is_contiguous_native(a):
        return a
    if is_native(a) and cnp.PyArray_SIZE(a) <= max_items:
        return cnp.PyArray_NewCopy(a, cnp.NPY_CORDER)
    return None


cdef compress_axes(cnp.ndarray a, cnp.ndarray mask, int first, int stop, Py_ssize_t max_items):
    """Select by a mask along the axes first ... stop - 1 of `a`, seen as one axis. The mask may be
    shorter than this axis. Returns None if the mask is not bool, is longer than the axis, or has
    more than max_items items and is not sparse. Returns None also for large results, for more than
    MAX_OFFSETS selected slices in each of several rows, and for rows that items.pyx compresses in
    less time."""
    cdef uint64_t[SPARSE_FACTOR * MAX_BLOCKS] bits
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
    count = pack_mask(mask, max_items, bits)
    if count < 0 or rows * count * width > MAX_BYTES or (rows > 1 and count > MAX_OFFSETS):
        return None
    # items.pyx selects most of the items of many rows in less time: it compresses blocks of items.
    if rows > 1 and can_compress(width) and length <= 2 * count and rows * count > max_items:
        return None
    shape[first] = count
    out = numpy_array(cnp.PyArray_NDIM(a) + 1 - stop + first, shape,
                      <cnp.dtype>cnp.PyArray_DESCR(a))
    if rows * count * width == 0:     # no loop over slices of 0 bytes: there may be any number
        return out
    if rows == 1:
        compress_row(bits, size, source, width, count, <char *>cnp.PyArray_DATA(out))
    else:
        compress_rows(bits, size, source, length * width, rows, width, count,
                      <char *>cnp.PyArray_DATA(out))
    return out


cdef Py_ssize_t pack_mask(cnp.ndarray mask, Py_ssize_t max_items, uint64_t *bits) noexcept:
    """Pack the mask. Returns the number of selected items; or -1 if the mask has more than
    max_items items, and more than 1 in SPARSE_SHARE of the first max_items items (rounded down to
    whole blocks) is True. bits has a word for each 64 items: otherwise memory behind it is
    overwritten."""
    cdef const char *items = <const char *>cnp.PyArray_DATA(mask)
    cdef Py_ssize_t size = cnp.PyArray_SIZE(mask), start = 0, count = 0
    if size > max_items:
        start = max_items & ~63
        count = pack_items(level, items, 1, 0xff, start, bits)
        if count > start // SPARSE_SHARE:
            return -1
    return count + pack_items(level, items + start, 1, 0xff, size - start, bits + (start >> 6))


cdef void compress_row(const uint64_t *bits, Py_ssize_t size, const char *source, Py_ssize_t width,
                       Py_ssize_t count, char *target) noexcept:
    """Copy the selected slices of a row. bits has `size` bits, one for each of the first slices of
    the row. count is the number of set bits, and target has room for count slices: otherwise memory
    behind it is overwritten."""
    cdef Py_ssize_t block = 0, blocks = (size + 63) >> 6, capacity
    cdef uint64_t word
    if width in (1, 2, 4, 8):     # full blocks: all 64 items may be read
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
    """compress_row for several rows, `stride` bytes apart; the bits are decoded once. count is at
    most MAX_OFFSETS: otherwise the stack is overwritten."""
    cdef Py_ssize_t[MAX_OFFSETS] offsets
    cdef Py_ssize_t block, n = 0
    cdef uint64_t word
    for block in range((size + 63) >> 6):
        word = bits[block]
        while word:
            offsets[n] = (block * 64 + fs_ctz(word)) * width
            n += 1
            word &= word - 1
    copy_run_slices(source, stride, rows, width, offsets, count, target)
