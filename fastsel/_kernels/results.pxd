"""New arrays for what may be large; results.pyx says where their memory comes from."""
cimport numpy as cnp

cdef cnp.ndarray new_result(int ndim, cnp.npy_intp *shape, int typenum)
