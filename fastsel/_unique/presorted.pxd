"""Groups of keys that are in order already; see presorted.pyx."""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint64_t

from fastsel._core.scratch cimport Scratch
from fastsel._unique.groups cimport Groups


cdef class Presorted(Groups):
    cdef cnp.ndarray run_starts   # bitmask of the first keys of runs
    cdef uint64_t *bits           # its data
    cdef uint8_t *seen            # by chunk: RISES, FALLS or both
    cdef Scratch scratch

    cdef uint8_t mark(self, Py_ssize_t block, Py_ssize_t stop) noexcept nogil
    cdef uint8_t mark_numbers(self, Py_ssize_t block, Py_ssize_t stop) noexcept nogil
    cdef void mark_block(self, Py_ssize_t block, uint64_t *last, int *seen) noexcept nogil
    cdef uint8_t mark_strings(self, Py_ssize_t block, Py_ssize_t stop) noexcept nogil
