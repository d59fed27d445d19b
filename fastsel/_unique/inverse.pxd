"""Another order of the groups; see inverse.pyx."""

cpdef int relabel(const Py_ssize_t[::1] ranks, Py_ssize_t[::1] inverse, int threads) except -1
