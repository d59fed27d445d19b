"""New arrays for results."""
cimport numpy as cnp
from cpython.ref cimport Py_INCREF

cdef extern from "numpy/arrayobject.h":
    object PyArray_Empty(int ndim, cnp.npy_intp *shape, cnp.dtype descr, int fortran)


cdef inline cnp.ndarray empty(int ndim, cnp.npy_intp *shape, cnp.ndarray like):
    """A new array with the dtype of another one, its metadata included."""
    cdef cnp.dtype descr = <cnp.dtype>cnp.PyArray_DESCR(like)
    Py_INCREF(descr)          # which PyArray_Empty takes over
    return PyArray_Empty(ndim, shape, descr, 0)
