"""Checks of the kernels of small arrays: which arrays they serve."""
cimport numpy as cnp


cdef inline bint is_native(a) noexcept:
    """Is a an ndarray, not of a subclass, of numbers in native byte order?"""
    cdef cnp.ndarray array
    if not cnp.PyArray_CheckExact(a):
        return False
    array = <cnp.ndarray>a        # without a type check, which might raise
    return cnp.PyArray_ISNOTSWAPPED(array) and (
        cnp.PyArray_TYPE(array) <= cnp.NPY_CLONGDOUBLE
        or cnp.PyArray_TYPE(array) == cnp.NPY_FLOAT16)


cdef inline bint is_contiguous_native(a) noexcept:
    """Is a native, as above, C-contiguous and aligned?"""
    return is_native(a) and cnp.PyArray_ISALIGNED(<cnp.ndarray>a) and (
        cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray>a))
