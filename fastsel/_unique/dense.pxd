"""Groups by direct addressing; see dense.pyx."""
from libc.stdint cimport uint32_t

from fastsel._unique.groups cimport Groups, Search
from fastsel._unique.window cimport WindowTable

cdef Groups new_dense(Search search)
# For window_lookup.pyx.
cdef Py_ssize_t merge_tables(WindowTable table, int threads) except -1
cdef uint32_t[::1] first_positions_plus_1(WindowTable table, int threads)
