"""Groups by a sort of all keys; see sorting.pyx."""
from fastsel._unique.groups cimport Groups, Search
from fastsel._unique.keys cimport any_t, keys_t

cdef Groups new_sorting(Search search)
cdef void restore_bits(const keys_t *keys, any_t *values, Py_ssize_t groups,
                       const Py_ssize_t *index) noexcept nogil
