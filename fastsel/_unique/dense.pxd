"""What small_unique.pyx and membership.pyx call."""
cimport numpy as cnp

cpdef cnp.ndarray ascending_values(
    cnp.ndarray data, Py_ssize_t size, tuple rule, tuple order, tuple span, int threads)
cpdef tuple dense(
    cnp.ndarray data, Py_ssize_t size, tuple rule, tuple order, tuple span, bint ascending,
    bint inverse, bint counts, int threads)
cdef void count_span(void *context, Py_ssize_t k) noexcept nogil
