"""The table of a chunk, for small_unique.pyx; and the merged table, in which table_lookup.pyx looks
up other keys."""
from libc.stdint cimport uint64_t

from fastsel._unique.keys cimport keys_t
from fastsel._unique.hash_table cimport table_t

ctypedef struct chunk_table_t:
    table_t table
    Py_ssize_t status           # 0, or the status with which the table gave up
    # By group: its id in the table to which this table was merged; in the end, its id in the
    # inverse.
    Py_ssize_t *group_ids
    void *recent                # a filter of recent keys (recent.pxd), or NULL
    int missed                  # batches in a row without use of the filter


cdef class Tables:
    cdef keys_t keys
    cdef object owned             # arrays that the keys point to
    cdef Py_ssize_t max_groups    # a chunk's table does not grow for more groups than this
    cdef Py_ssize_t expected      # an estimate of the number of groups
    cdef bint counted             # counts are wanted
    cdef bint with_ids            # the tables have ids
    cdef bint skips_unequal       # keys that equal no other do not become groups
    cdef Py_ssize_t key_blocks
    cdef Py_ssize_t key_chunks
    cdef Py_ssize_t rounds
    cdef chunk_table_t *tables    # by chunk; after the merge, the first has all groups
    cdef readonly object index    # first positions of the groups, in order of first occurrence
    cdef object inverse           # or None
    cdef int threads

    cdef Py_ssize_t first_key(self, Py_ssize_t k) noexcept nogil
    cdef Py_ssize_t worst_status(self) noexcept nogil


cdef void fill(chunk_table_t *chunk_table, const keys_t *keys, Py_ssize_t start, Py_ssize_t stop,
               bint counted, Py_ssize_t *inverse) noexcept nogil
cdef void free_chunk_table(chunk_table_t *chunk_table) noexcept nogil
