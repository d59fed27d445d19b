"""New arrays for results; see results.pyx."""
cimport numpy as cnp

# Arrays of undefined items; new_result's has one axis. If there is no memory, cached memory is
# evicted, and NumPy tries again.
cdef cnp.ndarray new_array(int ndim, cnp.npy_intp *shape, cnp.dtype dtype)
cdef cnp.ndarray new_result(cnp.npy_intp length, int typenum)
