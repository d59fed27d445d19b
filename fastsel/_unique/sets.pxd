"""What small_unique.pyx calls."""
cimport numpy as cnp

cpdef cnp.ndarray first_words(
    cnp.ndarray data, Py_ssize_t size, tuple rule, tuple seeds, Py_ssize_t most,
    Py_ssize_t expected, int threads)
