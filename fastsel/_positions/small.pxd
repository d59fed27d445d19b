"""Which arrays small_positions.pyx and small_selection.pyx accept, and the bits of an array."""
cimport numpy as cnp
from libc.stdint cimport uint64_t
from libc.string cimport memcpy, memset

from fastsel._core.contiguous cimport is_contiguous_native
from fastsel._simd.blocks cimport fs_level_t, log2_width

cdef enum:
    MAX_ITEMS = 1 << 14    # maximum of max_items, even if the caller passes more
    MAX_BLOCKS = MAX_ITEMS // 64


cdef inline bint is_small(a, Py_ssize_t max_items, Py_ssize_t factor=1) noexcept:
    """Does is_contiguous_native accept `a`, and has `a` at most factor * max_items items? max_items
    counts as at most MAX_ITEMS."""
    return is_contiguous_native(a) and (
        cnp.PyArray_SIZE(<cnp.ndarray>a) <= factor * min(max_items, MAX_ITEMS))


cdef inline uint64_t significant_of(cnp.ndarray a) noexcept:
    """The significant bits of an item: all bits, except the sign of floats. 0 for complex numbers
    and long double, whose items are not one word."""
    cdef int typenum = cnp.PyArray_TYPE(a)
    if typenum == cnp.NPY_DOUBLE:
        return <uint64_t>-1 >> 1
    if typenum == cnp.NPY_FLOAT:
        return <uint64_t>-1 >> 33
    if typenum == cnp.NPY_FLOAT16:
        return <uint64_t>-1 >> 49
    return <uint64_t>-1 if cnp.PyArray_ISINTEGER(a) or typenum == cnp.NPY_BOOL else 0


cdef inline Py_ssize_t pack(const fs_level_t *level, cnp.ndarray a, uint64_t significant,
                            uint64_t *bits) noexcept:
    """Pack all items of a. Returns the number of set bits. bits is as for pack_items."""
    return pack_items(level, <const char *>cnp.PyArray_DATA(a), cnp.PyArray_ITEMSIZE(a),
                      significant, cnp.PyArray_SIZE(a), bits)


cdef inline Py_ssize_t pack_items(const fs_level_t *level, const char *items, Py_ssize_t width,
                                  uint64_t significant, Py_ssize_t size, uint64_t *bits) noexcept:
    """Pack `size` contiguous items of width bytes, 1, 2, 4 or 8. Returns the number of set bits.
    bits has a word for each 64 items: otherwise memory behind it is overwritten."""
    cdef char[64 * 8] last
    cdef Py_ssize_t whole = size >> 6, count = level.pack[log2_width(width)](
        items, significant, bits, whole)
    if size & 63:
        memset(last, 0, sizeof(last))
        memcpy(last, items + whole * 64 * width, (size & 63) * width)
        count += level.pack[log2_width(width)](last, significant, bits + whole, 1)
    return count
