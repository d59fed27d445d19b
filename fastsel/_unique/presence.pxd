"""Which words of a narrow range occur, as bits."""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint64_t

from fastsel._core.scratch cimport Scratch
from fastsel._unique.keys cimport keys_t
from fastsel._unique.narrow_range cimport narrow_t

ctypedef struct presence_t:
    keys_t keys
    narrow_t narrow
    Py_ssize_t blocks
    Py_ssize_t chunks           # each has a table of its own
    Py_ssize_t rounds
    Py_ssize_t spans            # of the entries
    uint64_t *bits              # [chunk][block of entries]; in the end the first has those of all
    uint8_t *failed             # by chunk: a key has no entry
    Py_ssize_t *offsets         # by span: how many words occur, and then of those before
    char *values


cdef bint find_presence(presence_t *task, Scratch scratch, cnp.ndarray data, Py_ssize_t size,
                        tuple rule, tuple order, tuple span, int threads) except -1
cpdef cnp.ndarray ascending_values(
    cnp.ndarray data, Py_ssize_t size, tuple rule, tuple order, tuple span, int threads)
