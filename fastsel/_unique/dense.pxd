"""First positions by direct addressing, for window_lookup.pyx; see dense.pyx."""
from libc.stdint cimport uint32_t

from fastsel._unique.window cimport WindowTable

cdef uint32_t[::1] first_positions_plus_1(WindowTable table, int threads)
