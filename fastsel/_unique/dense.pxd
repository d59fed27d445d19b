"""What small_unique.pyx calls."""
cimport numpy as cnp

cpdef tuple dense(
    cnp.ndarray data, Py_ssize_t size, tuple rule, tuple order, tuple value_range, bint ascending,
    bint inverse, bint counts, int threads)
