"""Small arrays of numbers: an operator in one call, where the steps of the others cost more than
the work.

A function returns None for what it does not serve: other classes than ndarray, more than `most`
items, layouts that are not contiguous, dtypes that are not plain numbers. All is done under the GIL, and
each item of a mask is loaded once.
"""
cimport numpy as cnp
from cpython.ref cimport Py_INCREF
from libc.stdint cimport uint16_t
from libc.string cimport memcmp, memcpy

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    cnp.npy_intp PyArray_CountNonzero(cnp.ndarray a) except -1
    object PyArray_Empty(int ndim, cnp.npy_intp *shape, cnp.dtype descr, int fortran)
    object PyArray_Scalar(void *data, cnp.dtype descr, object base)

ctypedef fused real_t:
    float
    double

cdef enum:
    MOST = 500             # items, whatever the caller says
    MOST_BYTES = 1 << 14   # of the slices that gather_nd copies
    MAX_DIMS = 64

cdef cnp.dtype INTP = cnp.PyArray_DescrFromType(cnp.NPY_INTP)


cdef inline bint is_small(a, Py_ssize_t most) noexcept:
    """Plain, and of few items?"""
    return is_plain(a) and cnp.PyArray_SIZE(a) <= min(most, MOST)


cdef inline bint is_plain(a) noexcept:
    """An aligned, C-contiguous ndarray of numbers in native byte order?"""
    if not cnp.PyArray_CheckExact(a) or not cnp.PyArray_ISALIGNED(a):
        return False
    if not cnp.PyArray_IS_C_CONTIGUOUS(a) or not cnp.PyArray_ISNOTSWAPPED(a):
        return False
    return cnp.PyArray_TYPE(a) <= cnp.NPY_CLONGDOUBLE or cnp.PyArray_TYPE(a) == cnp.NPY_FLOAT16


cdef inline cnp.ndarray empty(int ndim, cnp.npy_intp *shape, cnp.ndarray like):
    """A new array with the dtype of another one, its metadata included."""
    cdef cnp.dtype descr = <cnp.dtype>cnp.PyArray_DESCR(like)
    Py_INCREF(descr)          # which PyArray_Empty takes over
    return PyArray_Empty(ndim, shape, descr, 0)


def count_nonzero(a, Py_ssize_t most):
    """numpy.count_nonzero(a)."""
    cdef cnp.npy_intp count
    if not is_small(a, most):
        return None
    count = PyArray_CountNonzero(a)
    return PyArray_Scalar(&count, INTP, None)


def boolean_mask(a, mask, Py_ssize_t most):
    """a[mask] for a mask of a's shape."""
    if is_small(a, most) and is_small(mask, most) and cnp.PyArray_SAMESHAPE(a, mask):
        return keep(a, mask)
    return None


def compress(condition, a, Py_ssize_t most):
    """numpy.compress(condition, a) for 1-d arrays."""
    if is_small(a, most) and is_small(condition, most) and cnp.PyArray_NDIM(a) == 1 and (
            cnp.PyArray_NDIM(condition) == 1):
        return keep(a, condition)
    return None


def extract(condition, a, Py_ssize_t most):
    """numpy.extract(condition, a)."""
    return keep(a, condition) if is_small(a, most) and is_small(condition, most) else None


cdef keep(cnp.ndarray a, cnp.ndarray mask):
    """What a mask of bool, with no more items than a, keeps."""
    cdef uint16_t[MOST] kept
    cdef const cnp.npy_bool *flags = <const cnp.npy_bool *>cnp.PyArray_DATA(mask)
    cdef const char *source = <const char *>cnp.PyArray_DATA(a)
    cdef Py_ssize_t size = cnp.PyArray_SIZE(mask), itemsize = cnp.PyArray_ITEMSIZE(a), j
    cdef cnp.npy_intp count = 0
    cdef char *target
    if cnp.PyArray_TYPE(mask) != cnp.NPY_BOOL or size > cnp.PyArray_SIZE(a):
        return None
    for j in range(size):
        kept[count] = <uint16_t>j
        count += flags[j] != 0
    out = empty(1, &count, a)
    target = <char *>cnp.PyArray_DATA(out)
    for j in range(count):
        copy_item(target + itemsize * j, source + itemsize * kept[j], itemsize)
    return out


def gather_nd(data, indices, Py_ssize_t most):
    """fastsel.gather_nd(data, indices) for indices of intp that are all within bounds."""
    cdef Py_ssize_t[MOST] offsets
    cdef cnp.npy_intp[2 * MAX_DIMS] shape
    cdef const Py_ssize_t *index
    cdef const char *source
    cdef char *target
    cdef const cnp.npy_intp *lengths
    cdef const cnp.npy_intp *strides
    cdef Py_ssize_t rows = 1, width, value, offset, j
    cdef int lead, depth, axis
    if not is_small(indices, most) or cnp.PyArray_TYPE(indices) != cnp.NPY_INTP or (
            not is_plain(data) or cnp.PyArray_NDIM(indices) == 0):
        return None
    lead = cnp.PyArray_NDIM(indices) - 1
    depth = <int>min(cnp.PyArray_DIM(indices, lead), MAX_DIMS)
    if not 1 <= depth <= cnp.PyArray_NDIM(data) or cnp.PyArray_SIZE(data) == 0:
        return None
    for axis in range(lead):
        shape[axis] = cnp.PyArray_DIM(indices, axis)
        rows *= shape[axis]
    for axis in range(depth, cnp.PyArray_NDIM(data)):
        shape[lead + axis - depth] = cnp.PyArray_DIM(data, axis)
    width = cnp.PyArray_STRIDE(data, depth - 1)      # of C-contiguous data: bytes of a slice
    if rows * width > MOST_BYTES:
        return None
    index = <const Py_ssize_t *>cnp.PyArray_DATA(indices)
    lengths, strides = cnp.PyArray_DIMS(data), cnp.PyArray_STRIDES(data)
    for j in range(rows):
        offset = 0
        for axis in range(depth):
            value = index[axis]
            value += lengths[axis] if value < 0 else 0
            if not 0 <= value < lengths[axis]:
                return None
            offset += value * strides[axis]
        offsets[j] = offset
        index += depth
    out = empty(lead + cnp.PyArray_NDIM(data) - depth, shape, data)
    source, target = <const char *>cnp.PyArray_DATA(data), <char *>cnp.PyArray_DATA(out)
    for j in range(rows):
        copy_item(target + j * width, source + offsets[j], width)
    return out


cdef inline void copy_item(char *target, const char *source, Py_ssize_t width) noexcept nogil:
    """memcpy, in line for the commonest widths."""
    if width == 8:
        memcpy(target, source, 8)
    elif width == 4:
        memcpy(target, source, 4)
    else:
        memcpy(target, source, width)


def unique(a, Py_ssize_t most):
    """numpy.unique(a) of integers, and of floats without zero (which has two forms) and NaN."""
    cdef Py_ssize_t itemsize, j, last = 0
    cdef cnp.npy_intp count
    cdef cnp.ndarray ordered, out
    cdef char *items
    if not is_small(a, most) or cnp.PyArray_SIZE(a) == 0:
        return None
    if cnp.PyArray_TYPE(a) == cnp.NPY_DOUBLE:
        if has_zero_or_nan(<const double *>cnp.PyArray_DATA(a), cnp.PyArray_SIZE(a)):
            return None
    elif cnp.PyArray_TYPE(a) == cnp.NPY_FLOAT:
        if has_zero_or_nan(<const float *>cnp.PyArray_DATA(a), cnp.PyArray_SIZE(a)):
            return None
    elif not cnp.PyArray_ISINTEGER(a):
        return None
    count, itemsize = cnp.PyArray_SIZE(a), cnp.PyArray_ITEMSIZE(a)
    ordered = empty(1, &count, a)
    items = <char *>cnp.PyArray_DATA(ordered)
    memcpy(items, cnp.PyArray_DATA(a), count * itemsize)
    cnp.PyArray_Sort(ordered, 0, cnp.NPY_QUICKSORT)
    for j in range(1, count):
        if memcmp(items + j * itemsize, items + last * itemsize, itemsize):
            last += 1
            memcpy(items + last * itemsize, items + j * itemsize, itemsize)
    if last + 1 == count:
        return ordered
    count = last + 1
    out = empty(1, &count, a)
    memcpy(cnp.PyArray_DATA(out), items, count * itemsize)
    return out


cdef bint has_zero_or_nan(const real_t *items, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t j
    cdef bint found = False
    for j in range(size):
        found |= items[j] == 0 or items[j] != items[j]
    return found
