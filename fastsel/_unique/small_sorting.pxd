"""Functions of small_sorting.pyx for small_unique.pyx, and their common arguments."""
cimport numpy as cnp
from libc.stdint cimport uint64_t

from fastsel._core.scratch cimport Scratch
from fastsel._unique.keys cimport keys_t

ctypedef struct small_t:
    keys_t keys
    uint64_t[3] order_map
    Py_ssize_t size

cdef tuple by_sorting(
    small_t *task, cnp.ndarray a, Scratch scratch, bint index, bint inverse, bint counts)
cdef int sort_positions(
    const small_t *task, uint64_t *words, Py_ssize_t size, Py_ssize_t *positions,
    Scratch scratch) except -1
cdef cnp.ndarray values_at(
    const small_t *task, cnp.ndarray a, const Py_ssize_t *positions, cnp.npy_intp groups)
cdef cnp.ndarray array_of(const Py_ssize_t *positions, cnp.npy_intp length)
