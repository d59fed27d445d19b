"""New arrays for what may be large; results.pyx says where their memory comes from."""
cimport numpy as cnp
from cpython.ref cimport Py_INCREF

cdef extern from "numpy/arrayobject.h":
    object PyArray_Empty(int ndim, cnp.npy_intp *shape, cnp.dtype descr, int fortran)

cdef cnp.ndarray new_result(int ndim, cnp.npy_intp *shape, int typenum)


cdef inline cnp.ndarray numpy_array(int ndim, cnp.npy_intp *shape, cnp.dtype dtype):
    """A new array in NumPy's memory, with the dtype's metadata."""
    Py_INCREF(dtype)          # which PyArray_Empty takes over
    return PyArray_Empty(ndim, shape, dtype, 0)
