"""Positions in small arrays of numbers, in one call: the steps of the other kernels would take
longer than the work.

The functions with the names of public functions, and `coordinates`, return None for arguments that
they do not accept: classes other than ndarray, more than max_items items (see `first_nonzero`),
layouts that are not C-contiguous, unaligned items, dtypes other than native bool, integers and
floats of up to 8 bytes. They hold the GIL, have the bitmask on the stack, and load each item once.
"""
cimport numpy as cnp
from libc.stdint cimport intptr_t, uint64_t

from fastsel._core.contiguous cimport is_contiguous_native
from fastsel._positions.small cimport MAX_BLOCKS, is_small, pack, pack_items, significant_of
from fastsel._simd.blocks cimport fs_ctz
from fastsel._simd.levels cimport level

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    object PyArray_Scalar(void *data, cnp.dtype descr, object base)

cdef cnp.dtype INTP = cnp.PyArray_DescrFromType(cnp.NPY_INTP)

cdef enum:
    STEP_BLOCKS = 16      # blocks that are searched at a time


def count_nonzero(a, Py_ssize_t max_items):
    """numpy.count_nonzero(a)."""
    cdef uint64_t[MAX_BLOCKS] bits
    cdef cnp.npy_intp count
    if not is_small(a, max_items) or significant_of(a) == 0:
        return None
    count = pack(level, a, significant_of(a), bits)
    return PyArray_Scalar(&count, INTP, None)


def flatnonzero(a, Py_ssize_t max_items):
    """numpy.flatnonzero(a)."""
    cdef uint64_t[MAX_BLOCKS] bits
    cdef cnp.npy_intp count
    if not is_small(a, max_items) or significant_of(a) == 0:
        return None
    count = pack(level, a, significant_of(a), bits)
    out = cnp.PyArray_EMPTY(1, &count, cnp.NPY_INTP, 0)
    level.write(bits, (cnp.PyArray_SIZE(a) + 63) >> 6, 0, False,
                <intptr_t *>cnp.PyArray_DATA(out), count)
    return out


def coordinates(a, Py_ssize_t max_items):
    """The coordinates of numpy.nonzero(a), one row for each axis; None for a 0-d array."""
    cdef uint64_t[MAX_BLOCKS] bits
    cdef cnp.npy_intp[2] shape
    cdef intptr_t *out
    cdef int axis
    if not is_small(a, max_items) or significant_of(a) == 0 or cnp.PyArray_NDIM(a) == 0:
        return None
    shape[0], shape[1] = cnp.PyArray_NDIM(a), pack(level, a, significant_of(a), bits)
    rows = cnp.PyArray_EMPTY(2, shape, cnp.NPY_INTP, 0)
    # The first row begins as flat indices. For each other axis, from the last on, they are divided
    # by its length: the remainders are the axis's row, and the quotients stay in the first row.
    out = <intptr_t *>cnp.PyArray_DATA(rows)
    level.write(bits, (cnp.PyArray_SIZE(a) + 63) >> 6, 0, False, out, shape[1])
    for axis in range(cnp.PyArray_NDIM(a) - 1, 0, -1):
        if shape[1]:              # nothing is divided by the length of an empty axis
            level.split_index(out, shape[1], 0, cnp.PyArray_DIM(a, axis), out + axis * shape[1])
    return rows


def split_rows(cnp.ndarray array not None):
    """tuple(array) for a C-contiguous 2-d array of intp, in a fifth of the time."""
    cdef cnp.npy_intp *shape = cnp.PyArray_DIMS(array)
    cdef intptr_t *data = <intptr_t *>cnp.PyArray_DATA(array)
    cdef Py_ssize_t axis
    rows = []
    for axis in range(shape[0]):
        row = cnp.PyArray_SimpleNewFromData(1, shape + 1, cnp.NPY_INTP, data + axis * shape[1])
        cnp.set_array_base(row, array)
        rows.append(row)
    return tuple(rows)


def first_nonzero(a, Py_ssize_t max_items):
    """The flat index of the first non-zero item, or -1 if all items are zero. Only the first
    max_items items are searched: if they are all zero and there are more items, returns None."""
    cdef uint64_t[STEP_BLOCKS] bits
    cdef uint64_t significant
    cdef cnp.npy_intp start = 0, size, n, index = -1
    if not is_contiguous_native(a) or significant_of(a) == 0:
        return None
    significant, size = significant_of(a), min(cnp.PyArray_SIZE(a), max_items)
    while start < size and index < 0:
        n = min(size - start, 64 * STEP_BLOCKS)
        if pack_items(level, cnp.PyArray_BYTES(a) + start * cnp.PyArray_ITEMSIZE(a),
                      cnp.PyArray_ITEMSIZE(a), significant, n, bits):
            n = 0
            while bits[n] == 0:
                n += 1
            index = start + 64 * n + fs_ctz(bits[n])
        start += n
    if index < 0 and size < cnp.PyArray_SIZE(a):
        return None
    return PyArray_Scalar(&index, INTP, None)
