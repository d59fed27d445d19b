"""The function of presorted.pyx for small_unique.pyx."""
cimport numpy as cnp

cpdef tuple presorted(
    cnp.ndarray data, Py_ssize_t size, tuple rule, tuple order_map, int character_width,
    int threads)
