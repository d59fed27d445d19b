"""Groups by a sort of all keys; see sorting.pyx."""
cimport numpy as cnp
from libc.stdint cimport uint32_t, uint64_t

from fastsel._core.scratch cimport Scratch
from fastsel._unique.groups cimport Groups
from fastsel._unique.keys cimport any_t, keys_t, wide_t
from fastsel._unique.quantiles cimport ScatterByValue


cdef class Sorting(Groups):
    cdef ScatterByValue scatter   # or None: one part has all keys, in their order
    cdef Scratch scratch
    cdef bint four_bytes
    cdef char *words              # ordered keys, in parts; after `find`, those of the groups
    cdef uint32_t *key_positions      # of the ordered keys; NULL if no output needs them
    cdef Py_ssize_t longest       # number of keys of the longest part with different keys
    cdef bint sorts_whole         # sorts_at_once: there is one part, without entries
    cdef bint as_numbers          # NumPy sorts the words as signed integers or floats
    # Of the words. If they are sorted as numbers, only its minimum is not 0.
    cdef uint64_t[3] order_map
    cdef cnp.ndarray run_order    # the order of nearly sorted keys; or None
    cdef uint64_t *run_starts     # bitmask of the sorted keys; each part begins a new block
    cdef Py_ssize_t *offsets      # groups before each part, then the total
    cdef cnp.ndarray inverse
    cdef Py_ssize_t *inverse_data  # or NULL

    cdef int scatter_to_parts(self, bint with_positions) except -1
    cdef void order_words(self) noexcept
    cdef int sort_runs(self, wide_t *words) except -1
    cdef void copy_sorted(self, const wide_t *words, wide_t *out, uint32_t *entries) noexcept nogil
    cdef Py_ssize_t start_of(self, Py_ssize_t part) noexcept nogil
    cdef bint has_equal_keys(self, Py_ssize_t part) noexcept nogil
    cdef Py_ssize_t first_block(self, Py_ssize_t part) noexcept nogil
    cdef int sorter_threads(self) noexcept nogil
    cdef void sort(self, Py_ssize_t part, wide_t *words) noexcept nogil
    cdef Py_ssize_t group_equal_keys(self, Py_ssize_t part, const wide_t *words) noexcept nogil
    cdef Py_ssize_t mark_groups(self, Py_ssize_t part, const wide_t *keys) noexcept nogil
    cdef void write_groups(self, Py_ssize_t part, const uint32_t *entries,
                           const uint32_t *first_entries, Py_ssize_t groups) noexcept nogil
    cdef int set_values(self) except -1
    cpdef cnp.ndarray order(self)


cdef void restore_bits(const keys_t *keys, any_t *values, Py_ssize_t groups,
                       const Py_ssize_t *index) noexcept nogil
