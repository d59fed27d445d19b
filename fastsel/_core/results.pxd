"""New arrays for results; see results.pyx."""
cimport numpy as cnp
from cpython.ref cimport Py_INCREF

cdef extern from "numpy/arrayobject.h":
    object PyArray_Empty(int ndim, cnp.npy_intp *shape, cnp.dtype descr, int fortran)

cdef cnp.ndarray new_result(cnp.npy_intp length, int typenum)


cdef inline cnp.ndarray numpy_array(int ndim, cnp.npy_intp *shape, cnp.dtype dtype):
    """A new array, allocated by NumPy, of this dtype with its metadata."""
    Py_INCREF(dtype)          # PyArray_Empty steals this reference
    return PyArray_Empty(ndim, shape, dtype, 0)
