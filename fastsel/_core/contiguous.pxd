"""Which arrays the kernels of small ones take."""
cimport numpy as cnp


cdef inline bint is_contiguous_native(a) noexcept:
    """A C-contiguous, aligned ndarray of numbers in native byte order?"""
    cdef cnp.ndarray array
    if not cnp.PyArray_CheckExact(a):
        return False
    array = <cnp.ndarray>a        # without a check, which might raise
    if not cnp.PyArray_ISALIGNED(array) or not cnp.PyArray_IS_C_CONTIGUOUS(array):
        return False
    if not cnp.PyArray_ISNOTSWAPPED(array):
        return False
    return (cnp.PyArray_TYPE(array) <= cnp.NPY_CLONGDOUBLE
            or cnp.PyArray_TYPE(array) == cnp.NPY_FLOAT16)
