"""Groups of keys that are in order already; see presorted.pyx."""
from fastsel._unique.groups cimport Groups, Search

cdef Groups new_presorted(Search search)
