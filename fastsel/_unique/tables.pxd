"""The table of a chunk, as far as small_unique.pyx fills one of its own; and the merged one, in
which table_lookup.pyx looks up other keys."""
from libc.stdint cimport uint64_t

from fastsel._unique.keys cimport keys_t
from fastsel._unique.hash_table cimport table_t

ctypedef struct part_t:
    table_t table
    Py_ssize_t status           # 0, or why it gave up
    Py_ssize_t *numbers         # of its groups: in the table it is merged into, then in the answer
    void *recent                # keys (recent.pxd), or NULL
    int missed                  # batches in a row of which most keys were not recent

ctypedef struct tables_task:
    keys_t keys
    Py_ssize_t most             # groups for which a table may grow
    Py_ssize_t expected         # groups, estimated
    bint counted
    bint numbered               # the inverse or the counts are wanted, or keys are no words
    Py_ssize_t blocks
    Py_ssize_t chunks
    Py_ssize_t rounds
    Py_ssize_t step             # from a chunk's table to that it is merged into
    part_t *parts               # one per chunk
    Py_ssize_t *inverse         # or NULL


cdef class Tables:
    cdef tables_task task         # once the groups are found, its first part has them all
    cdef object owned             # arrays that the task points to
    cdef readonly object index    # of the groups, in order of first occurrence
    cdef object inverse
    cdef int threads

cdef void fill(const tables_task *task, part_t *part, Py_ssize_t start,
               Py_ssize_t stop) noexcept nogil
cdef void free_part(part_t *part) noexcept nogil
