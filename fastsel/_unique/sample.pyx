"""Samples of keys (sample.pxd), for Python."""
cimport numpy as cnp
from libc.stdint cimport uint64_t

from fastsel._unique.keys cimport keys_t, set_keys

cnp.import_array()


def sampled_range(keys not None):
    """(base, bits): the 2^bits ordered keys from base on contain the ordered keys of a sample of
    `keys`, a Keys of at least one word. base is None if the rule of the keys allows no
    direct-address table: for floats of 4 or 8 bytes, and if NaN or NaT equals no item."""
    cdef keys_t words
    cdef uint64_t[3] order_map = [0, 0, 0]
    cdef sampled_range_t sampled
    set_keys(&words, keys, (0, 1))
    if keys.order_map is not None:
        order_map = keys.order_map
    sampled = sampled_range_of(&words, order_map)
    return sampled.base if sampled.is_addressable else None, sampled.bits


def sample_of(cnp.ndarray data not None, Py_ssize_t size, Py_ssize_t drawn, Py_ssize_t first=0):
    """(keys, changes) of a sample of the `size` > 0 keys in data, which is C-contiguous. keys has a
    row of bytes for each of the `drawn` keys, as they are in data. changes is the number of drawn
    keys that differ from the next key in data, or are the last key in data. Another `first` draws
    other keys."""
    cdef cnp.npy_intp[2] shape
    cdef cnp.ndarray out
    cdef Py_ssize_t changes
    shape[0], shape[1] = drawn, cnp.PyArray_NBYTES(data) // size
    out = cnp.PyArray_EMPTY(2, shape, cnp.NPY_UINT8, 0)
    with nogil:
        changes = draw(<const char *>cnp.PyArray_DATA(data), size, shape[1], drawn, first,
                       <char *>cnp.PyArray_DATA(out))
    return out, changes
