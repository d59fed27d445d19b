"""One hash table per chunk; see tables.pyx. table_lookup.pyx looks up other keys in the merged
table."""

from fastsel._core.scratch cimport Memory
from fastsel._unique.groups cimport Groups
from fastsel._unique.hash_table cimport table_t

ctypedef struct chunk_table_t:
    table_t table
    Py_ssize_t status           # 0, or the status with which the table gave up
    # By group: its id in the table to which this table was merged; in the end, its id in the
    # inverse.
    Py_ssize_t *group_ids
    void *recent                # a filter of recent keys (recent.pxd), or NULL
    int missed                  # batches since the last use of the filter; see MAX_MISSED
    int resting                 # batches that are to leave the filter as it is


cdef class Tables(Groups):
    cdef public Py_ssize_t max_groups  # a chunk's table does not grow for more groups than this
    cdef bint with_ids            # the tables have ids
    cdef bint relabels            # the chunks replace ids by final ids
    cdef Py_ssize_t rounds
    cdef Memory memory            # of the tables
    cdef chunk_table_t *tables    # by chunk; after the merge, the first has all groups
    cdef object inverse           # or None
    cdef Py_ssize_t *inverse_data

    cdef Py_ssize_t first_key(self, Py_ssize_t k) noexcept nogil
    cdef Py_ssize_t worst_status(self) noexcept nogil
    cdef int merge_threads(self, Py_ssize_t step) except -1
