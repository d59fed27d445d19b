"""Compression by a bitmask; see selected_items.pyx."""
cimport numpy as cnp

from fastsel._positions.bitmask cimport Bitmask

cpdef int compress(cnp.ndarray source, int first_axis, int stop_axis, Bitmask mask,
                   cnp.ndarray out, int threads) except -1
