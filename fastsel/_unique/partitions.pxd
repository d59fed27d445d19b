"""The task of partitions.pyx, and the passes that scatter keys, also for table_lookup.pyx."""
from libc.stdint cimport uint8_t, uint32_t

from fastsel._unique.bit_ranks cimport ranks_t
from fastsel._unique.keys cimport keys_t

cdef enum:
    PARTITION_BITS = 8
    PARTITIONS = 1 << PARTITION_BITS

ctypedef struct partitions_task:
    keys_t keys
    Py_ssize_t blocks
    Py_ssize_t chunks             # of the keys
    bint narrow                   # words are scattered as 4 bytes, not 8
    Py_ssize_t expected           # groups per part, estimated
    bint counted
    bint numbered                 # the tables number their slots
    uint8_t *parts                # per key: its part
    uint8_t *marks                # per key: is it the first one of its group?
    Py_ssize_t *starts            # [part][chunk]: where that chunk's keys of that part start
    char *words                   # scattered
    uint32_t *positions           # scattered: position of the key; or NULL
    Py_ssize_t *inverse           # or NULL
    Py_ssize_t *groups            # per part
    Py_ssize_t cuts               # chunks of the parts
    Py_ssize_t *status            # one per cut
    ranks_t ranks
    Py_ssize_t spans              # of the bitmask
    const Py_ssize_t *offsets     # of the ranks of each span
    Py_ssize_t *counts


cdef void choose_chunk(void *context, Py_ssize_t k) noexcept nogil
cdef void scan_starts(partitions_task *task) noexcept nogil
cdef void scatter_chunk(void *context, Py_ssize_t k) noexcept nogil
