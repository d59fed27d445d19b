"""What small_unique.pyx calls."""
cimport numpy as cnp

cpdef tuple presorted(
    cnp.ndarray data, Py_ssize_t size, tuple rule, tuple order, int letter, int threads)
