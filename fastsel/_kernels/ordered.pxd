"""Whether keys are in order already, as far as few.pyx asks."""
from libc.stdint cimport uint64_t

from fastsel._kernels.keys cimport keys_t

cdef enum:
    RISES = 1           # what was seen
    FALLS = 2

ctypedef struct ordered_task:
    keys_t keys
    uint64_t[3] order   # how words become numbers: sign, negative, less
    int letter          # bytes of a letter of a text; 0: keys are numbers
    Py_ssize_t blocks
    Py_ssize_t slices
    uint64_t *bits
    int *seen           # by each slice

# The bits of these blocks, and whether their keys rise or fall; not all of it if both.
cdef int turns(const ordered_task *task, Py_ssize_t block, Py_ssize_t stop) noexcept nogil


cdef inline int direction_of(const keys_t *keys, int seen) noexcept nogil:
    """1 if keys ascend, -1 if they descend, so that turned around they are sorted: not so where
    some may equal no other, as these come last in the order they have. 0: neither."""
    if seen == FALLS:
        return 0 if keys.rule.lonely else -1
    return 0 if seen == RISES | FALLS else 1
