"""The part of a key, by quantiles of a sample; see quantiles.pyx."""
from libc.stdint cimport uint8_t, uint16_t, uint64_t

from fastsel._core.scratch cimport Memory
from fastsel._unique.scatter cimport Scatter
from fastsel._simd.blocks cimport fs_cells_t

# A table of cells, for some of the limits.
ctypedef struct node_t:
    fs_cells_t cells
    Py_ssize_t first              # index of cell 0 in part_of


cdef class Quantiles:
    cdef readonly Py_ssize_t parts
    cdef uint64_t[::1] limits     # between the parts, ascending, with the gap closed
    cdef Memory node_memory
    cdef node_t *nodes
    cdef uint16_t[::1] part_of    # by cell: a part, or MAX_PARTS plus the index of a node
    cdef Py_ssize_t n_nodes
    cdef Py_ssize_t n_cells

    cdef int close_gap(self, fs_cells_t *cells) except -1
    cdef Py_ssize_t build(self, Py_ssize_t first, Py_ssize_t stop, fs_cells_t cells) except -1
    cdef void choose_parts(self, const uint64_t *keys, Py_ssize_t n, uint8_t *parts) noexcept nogil


cdef class ScatterByValue(Scatter):
    cdef Quantiles quantiles

    cdef Quantiles sampled_quantiles(self, Py_ssize_t parts)
