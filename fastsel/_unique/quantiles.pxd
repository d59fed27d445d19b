"""The parts of keys, by quantiles of a sample; see quantiles.pyx."""
from fastsel._unique.keys cimport Keys
from fastsel._unique.scatter cimport Scatter

cdef Scatter new_scatter_by_value(Keys keys, Py_ssize_t parts, bint positions, int threads)
