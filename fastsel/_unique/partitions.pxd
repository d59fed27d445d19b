"""Keys scattered by their hash, also for table_lookup.pyx."""
from fastsel._unique.scatter cimport MAX_PART_BITS, MAX_PARTS, Scatter


cdef class ScatterByHash(Scatter):
    pass


cdef inline Py_ssize_t part_share(Py_ssize_t keys) noexcept nogil:
    """How many of so many keys a part has on average."""
    return keys >> MAX_PART_BITS
