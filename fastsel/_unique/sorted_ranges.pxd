"""The task of sorting.pyx, whose ranges sorted_ranges.pyx sorts; and what a sorted word says."""
cimport numpy as cnp
from libc.stdint cimport uint64_t

from fastsel._simd.blocks cimport fs_packing_t
from fastsel._unique.keys cimport BATCH, key_at, keys_t
from fastsel._unique.ordered_numbers cimport number_of

cdef extern from "sorts.h" nogil:
    ctypedef int (*fs_sort_t)(void *numbers, cnp.npy_intp length, void *array) noexcept nogil

cdef enum:
    MAX_RANGES = 16
    RANGE_KEYS = 1 << 22      # and as many ranges as there may be have twice as many
    SAMPLE = 1024             # keys of a range that say where it ends: 3 % off
    SPARE = BATCH + 64        # what a buffer has to hold beyond the numbers of its range
    MAX_ALIKE = 1 << 12       # keys that differ in lost bits only, and are sorted one by one

# How far the groups of a range are written.
ctypedef struct written_t:
    Py_ssize_t group          # the last one
    Py_ssize_t started        # where in the range

ctypedef struct sorting_task:
    keys_t keys
    uint64_t[3] rule
    uint64_t[3] order         # how words become numbers: sign, negative, less
    bint packed
    bint merged
    fs_packing_t packing
    Py_ssize_t width          # of what is sorted
    fs_sort_t sort            # NumPy's, of arrays such as the view
    void *view
    Py_ssize_t ranges
    Py_ssize_t cuts           # of what is cleared for each key
    Py_ssize_t rounds         # in which groups are written
    uint64_t[MAX_RANGES + 1] limits  # of the ranges; the last one is 0, past all numbers
    Py_ssize_t[MAX_RANGES + 1] buffer_starts  # of each range, a multiple of 64
    char *numbers             # of each range, in its buffer
    uint64_t *bits            # which numbers are the first of their group
    Py_ssize_t[MAX_RANGES] lengths   # numbers; -1 if they cannot be sorted here
    Py_ssize_t[MAX_RANGES + 1] starts  # how many groups come before each range
    written_t[MAX_RANGES] written
    char *values
    Py_ssize_t *index         # or NULL
    Py_ssize_t *inverse       # or NULL
    Py_ssize_t *counts        # or NULL


cdef int choose_limits(sorting_task *task) except -1
cdef void sort_range(void *context, Py_ssize_t k) noexcept nogil


cdef inline int typenum(Py_ssize_t width) noexcept:
    return cnp.NPY_UINT32 if width == 4 else cnp.NPY_UINT64


cdef inline char *numbers_of(const sorting_task *task, Py_ssize_t k) noexcept nogil:
    return task.numbers + task.buffer_starts[k] * task.width


cdef inline uint64_t *bits_of(const sorting_task *task, Py_ssize_t k) noexcept nogil:
    return task.bits + (task.buffer_starts[k] >> 6)


cdef inline bint is_first(const uint64_t *bits, Py_ssize_t j) noexcept nogil:
    return (bits[j >> 6] >> (j & 63)) & 1


cdef inline Py_ssize_t position(const sorting_task *task, uint64_t word) noexcept nogil:
    return <Py_ssize_t>(word & ((<uint64_t>1 << task.packing.index_bits) - 1))


cdef inline uint64_t number_at(const sorting_task *task, uint64_t word) noexcept nogil:
    """The whole number of a packed key."""
    cdef uint64_t number = word >> task.packing.index_bits
    if task.keys.width == 4 or (
            task.packing.drop == 0 and 0 < number < task.packing.top):
        return number + task.packing.base
    return number_of(task.order, key_at(&task.keys, position(task, word)))
