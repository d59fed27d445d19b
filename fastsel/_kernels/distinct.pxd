"""The tables of slices, as far as few.pyx fills one of its own."""
from libc.stdint cimport uint64_t

from fastsel._kernels.keys cimport keys_t
from fastsel._kernels.ranks cimport ranks_t
from fastsel._kernels.table cimport table_t

ctypedef struct part_t:
    table_t table
    Py_ssize_t status             # 0, or why find_or_add gave up
    Py_ssize_t first              # key of this slice
    Py_ssize_t length             # groups of this slice
    Py_ssize_t *numbers           # of them: in the table of slice 0, then in the answer
    bint settled                  # the same in both, as for slice 0 in order of first occurrence

ctypedef struct tables_task:
    keys_t keys
    Py_ssize_t most               # groups per table
    Py_ssize_t expected           # groups, a guess
    uint64_t base                 # tables have a place for each word from here on,
    int place_bits                # so many bits of them; 0: they are hashed
    bint plain                    # words are as they lie there
    bint counted
    Py_ssize_t blocks
    Py_ssize_t slices
    Py_ssize_t rounds
    part_t *parts                 # one per slice
    uint64_t *bits
    Py_ssize_t *inverse           # or NULL
    ranks_t ranks
    const Py_ssize_t *order       # where each rank goes, or NULL

cdef void fill_slice(void *context, Py_ssize_t k) noexcept nogil
