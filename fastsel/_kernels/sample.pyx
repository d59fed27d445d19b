"""What a sample says of keys, for Python."""
cimport numpy as cnp
from libc.stdint cimport uint64_t

from fastsel._kernels.places cimport bits_of_places

cnp.import_array()


def sample_of(cnp.ndarray data not None, Py_ssize_t size, Py_ssize_t drawn):
    """(keys, turns): `drawn` of `size` > 0 keys, C-contiguous, as they lie there, and how many of
    them differ from the key that follows."""
    cdef cnp.npy_intp[2] shape
    cdef cnp.ndarray out
    cdef Py_ssize_t turns
    shape[0], shape[1] = drawn, cnp.PyArray_NBYTES(data) // size
    out = cnp.PyArray_EMPTY(2, shape, cnp.NPY_UINT8, 0)
    with nogil:
        turns = draw(<const char *>cnp.PyArray_DATA(data), size, shape[1], drawn,
                     <char *>cnp.PyArray_DATA(out))
    return out, turns


def places(cnp.ndarray data not None, Py_ssize_t size, Py_ssize_t most):
    """(base, bits) of at most `most` words that hold a sample of `size` words of 4 or 8 bytes, and
    a little more on both sides; None if they are more. The range may wrap around."""
    cdef uint64_t base
    cdef int bits = bits_of_places(
        cnp.PyArray_DATA(data), size, cnp.PyArray_NBYTES(data) // size, most, &base)
    return (base, bits) if bits else None
