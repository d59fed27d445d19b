"""The scatter by hash, which table_lookup.pyx uses, too."""
from fastsel._unique.scatter cimport MAX_PART_BITS, MAX_PARTS, Scatter


cdef class ScatterByHash(Scatter):
    pass


cdef inline Py_ssize_t part_share(Py_ssize_t keys) noexcept nogil:
    """The average number of keys of a part."""
    return keys >> MAX_PART_BITS
