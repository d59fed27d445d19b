"""Checks of arguments of small_gather.pyx, small_positions.pyx and small_selection.pyx."""
cimport numpy as cnp


cdef inline bint is_native(a) noexcept:
    """Is `a` an ndarray, not of a subclass, of bools or numbers in native byte order?"""
    cdef cnp.ndarray array
    if not cnp.PyArray_CheckExact(a):
        return False
    array = <cnp.ndarray>a        # without a type check, which might raise
    return cnp.PyArray_ISNOTSWAPPED(array) and (
        cnp.PyArray_TYPE(array) <= cnp.NPY_CLONGDOUBLE
        or cnp.PyArray_TYPE(array) == cnp.NPY_FLOAT16)


cdef inline bint is_contiguous_native(a) noexcept:
    """Does is_native accept `a`, and is it C-contiguous and aligned?"""
    return is_native(a) and cnp.PyArray_ISALIGNED(<cnp.ndarray>a) and (
        cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray>a))
