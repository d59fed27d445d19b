"""Some of the keys, evenly spread: multiples of the golden ratio, of which no period hides any."""
from libc.stdint cimport uint64_t
from libc.string cimport memcmp, memcpy

from fastsel._kernels.blocks cimport fs_prefetch
from fastsel._kernels.keys cimport load_word

cdef enum:
    DRAWN_AHEAD = 32     # keys asked for before they are looked at


cdef inline Py_ssize_t draw(const char *keys, Py_ssize_t size, Py_ssize_t width, Py_ssize_t drawn,
                            char *out) noexcept nogil:
    """`drawn` of `size` > 0 keys go to out; returns how many differ from the key that follows."""
    cdef Py_ssize_t turns = 0, at, j
    cdef const char *key
    for j in range(drawn):
        fs_prefetch(keys + place_of(j + DRAWN_AHEAD, size) * width)
        at = place_of(j, size)
        key = keys + at * width
        if width == 8:
            memcpy(out + j * 8, key, 8)
            turns += at == size - 1 or load_word(key, 8) != load_word(key + 8, 8)
        else:
            memcpy(out + j * width, key, width)
            turns += at == size - 1 or memcmp(key, key + width, width) != 0
    return turns


cdef inline Py_ssize_t place_of(Py_ssize_t j, Py_ssize_t size) noexcept nogil:
    cdef uint64_t fraction = <uint64_t>j * <uint64_t>0x9E3779B97F4A7C15
    return <Py_ssize_t>(<double>(fraction >> 11) / <double>(<uint64_t>1 << 53) * size)
