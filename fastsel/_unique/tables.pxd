"""The table of a chunk, as far as small_unique.pyx fills one of its own; and the merged one, in
which table_lookup.pyx looks up other keys."""
from libc.stdint cimport uint64_t

from fastsel._core.scratch cimport Block
from fastsel._unique.keys cimport keys_t
from fastsel._unique.hash_table cimport table_t

ctypedef struct chunk_table_t:
    table_t table
    Py_ssize_t status           # 0, or why it gave up
    Py_ssize_t *group_ids       # of its groups: in the table it is merged into, then in the answer
    void *recent                # keys (recent.pxd), or NULL
    int missed                  # batches in a row of which most keys were not recent


cdef class Tables:
    cdef keys_t keys
    cdef object owned             # arrays that the keys point to
    cdef Py_ssize_t most          # groups for which a table may grow
    cdef Py_ssize_t expected      # groups, estimated
    cdef bint counted
    cdef bint numbered            # the inverse or the counts are wanted, or keys are no words
    cdef bint skips_unequal       # keys that equal no other are no groups
    cdef Py_ssize_t key_blocks
    cdef Py_ssize_t key_chunks
    cdef Py_ssize_t rounds
    cdef Block block              # of the tables
    cdef chunk_table_t *tables    # one per chunk; once the groups are found, the first has them all
    cdef readonly object index    # of the groups, in order of first occurrence
    cdef object inverse           # or None
    cdef int threads

    cdef Py_ssize_t first_key(self, Py_ssize_t k) noexcept nogil
    cdef Py_ssize_t worst_status(self) noexcept nogil


cdef void fill(chunk_table_t *part, const keys_t *keys, Py_ssize_t start, Py_ssize_t stop,
               bint counted, Py_ssize_t *inverse) noexcept nogil
cdef void free_chunk_table(chunk_table_t *part) noexcept nogil
