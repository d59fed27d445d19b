"""Which arrays the kernels of small ones take."""
cimport numpy as cnp


cdef inline bint is_plain(a) noexcept:
    """An aligned, C-contiguous ndarray of numbers in native byte order?"""
    if not cnp.PyArray_CheckExact(a) or not cnp.PyArray_ISALIGNED(a):
        return False
    if not cnp.PyArray_IS_C_CONTIGUOUS(a) or not cnp.PyArray_ISNOTSWAPPED(a):
        return False
    return cnp.PyArray_TYPE(a) <= cnp.NPY_CLONGDOUBLE or cnp.PyArray_TYPE(a) == cnp.NPY_FLOAT16
