"""The part of a key, by quantiles of a sample; see quantiles.pyx."""
from libc.stdint cimport uint8_t, uint16_t, uint64_t

from fastsel._simd.blocks cimport fs_cells_t
from fastsel._unique.scatter cimport MAX_PARTS, Scatter


cdef class Quantiles:
    cdef readonly Py_ssize_t parts
    cdef uint64_t[::1] limits     # between the parts, ascending, with the gap closed
    cdef fs_cells_t cells
    cdef uint16_t[::1] part_of    # by cell: the part of its keys, or SEVERAL_LIMITS
    cdef uint64_t[MAX_PARTS] tree  # of the limits; node 1 is the root
    cdef int depth

    cdef int close_gap(self) except -1
    cdef int make_table(self) except -1
    cdef int make_tree(self) noexcept
    cdef void choose_parts(self, const uint64_t *keys, Py_ssize_t n, uint8_t *parts) noexcept nogil
    cdef void search(self, const uint64_t *keys, uint8_t *parts) noexcept nogil


cdef class ScatterByValue(Scatter):
    cdef Quantiles quantiles

    cdef Quantiles sampled_quantiles(self, Py_ssize_t parts)
