"""What a sample says of keys, for Python."""
cimport numpy as cnp
from libc.stdint cimport uint64_t

from fastsel._unique.keys cimport describe_keys, keys_t

cnp.import_array()


def sampled_span(cnp.ndarray data not None, Py_ssize_t size, tuple rule not None,
                 tuple order not None):
    """(base, bits): the 2^bits numbers from base on hold those of a sample of `size` > 0 words.
    base is None if words of this rule have no entries of their own in a table. order is how words
    become numbers."""
    cdef keys_t keys
    cdef uint64_t[3] numbered = order
    cdef span_t span
    describe_keys(&keys, data, size, rule, None, (0, 1))
    span = span_of(&keys, numbered)
    return span.base if span.addresses else None, span.bits


def sample_of(cnp.ndarray data not None, Py_ssize_t size, Py_ssize_t drawn, Py_ssize_t first=0):
    """(keys, turns): `drawn` of `size` > 0 keys, C-contiguous, not canonical, and how many of
    them differ from the key that follows. Another `first` draws other keys."""
    cdef cnp.npy_intp[2] shape
    cdef cnp.ndarray out
    cdef Py_ssize_t turns
    shape[0], shape[1] = drawn, cnp.PyArray_NBYTES(data) // size
    out = cnp.PyArray_EMPTY(2, shape, cnp.NPY_UINT8, 0)
    with nogil:
        turns = draw(<const char *>cnp.PyArray_DATA(data), size, shape[1], drawn, first,
                     <char *>cnp.PyArray_DATA(out))
    return out, turns
