"""Functions that small_unique.pyx and range_lookup.pyx call; see dense.pyx."""
cimport numpy as cnp
from libc.stdint cimport uint32_t

from fastsel._unique.presence cimport Presence

cpdef tuple dense(
    keys, tuple value_range, bint ascending, bint inverse, bint counts, int threads)

cdef uint32_t[::1] first_positions_plus_1(Presence presence, int threads)
