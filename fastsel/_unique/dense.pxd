"""Groups by direct addressing; see dense.pyx."""
cimport numpy as cnp
from libc.stdint cimport uint32_t, uint64_t

from fastsel._unique.groups cimport Groups
from fastsel._unique.sorting cimport Sorting
from fastsel._unique.window cimport WindowTable


cdef class Dense(Groups):
    cdef WindowTable table
    cdef Sorting rest             # the groups of the keys outside of the window, ascending, or None
    cdef Py_ssize_t[::1] positions_outside    # the position of each key outside
    cdef Py_ssize_t in_window     # groups of the table
    cdef Py_ssize_t below         # groups of the rest that are below the window
    cdef uint32_t[::1] group_ids  # by entry; None if no output needs them

    cdef int find_rest(self, bint by_position) except -1
    cdef uint64_t ordered(self, cnp.ndarray words, Py_ssize_t g) noexcept
    cdef Py_ssize_t rest_groups(self)
    cdef int set_ascending(self, bint by_position, bint are_words) except -1
    cdef Py_ssize_t id_of_rest(self, Py_ssize_t g) noexcept nogil
    cdef int copy_rest(self, cnp.ndarray source, cnp.ndarray out) except -1
    cdef int assign_ids_by_word(self) except -1
    cdef int mark_rest(self) except -1
    cdef Py_ssize_t assign_ids_by_first(self, Py_ssize_t[::1] ids_of_rest) except -1


# For window_lookup.pyx.
cdef uint32_t[::1] first_positions_plus_1(WindowTable table, int threads)
