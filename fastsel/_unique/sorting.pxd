"""Groups by a sort of all keys; see sorting.pyx."""
from fastsel._unique.groups cimport Groups, Search

cdef Groups new_sorting(Search search)
