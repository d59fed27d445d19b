"""What a lookup writes for each item; see lookup_output.pyx."""
cimport numpy as cnp

from fastsel._core.atomics cimport fs_exchange, fs_load_relaxed
from fastsel._core.copying cimport slice_t

ctypedef struct output_t:
    Py_ssize_t *index         # by item: the position of its first test, or -1; NULL for values
    slice_t value             # a value: an item, or a row
    const char *values        # by test
    const char *default       # by item, default_step bytes apart; NULL: an item must have a test
    Py_ssize_t default_step
    char *out                 # by item: its value
    Py_ssize_t first_missing  # the first item that has neither a test nor a default, or -1


cdef class Output:
    cdef output_t target
    cdef Py_ssize_t size      # number of items
    cdef object owned         # the arrays that `target` points to
    cdef readonly cnp.ndarray result

    cdef output_t *begin(self) except NULL


cdef inline void mark_first(Py_ssize_t *first, Py_ssize_t position) noexcept nogil:
    """Set *first to position if *first is -1 or greater than position. Other threads may set it at
    the same time: a thread that has replaced a smaller number puts this number back."""
    while <size_t>fs_load_relaxed(first) > <size_t>position:
        position = <Py_ssize_t>min(<size_t>fs_exchange(first, position), <size_t>position)


cdef void write_values(output_t *output, Py_ssize_t start, Py_ssize_t n,
                       Py_ssize_t *positions) noexcept nogil


cdef inline Py_ssize_t *room_for(const output_t *output, Py_ssize_t start,
                                 Py_ssize_t *positions) noexcept nogil:
    """Where the caller writes the positions of the items from `start` on: to the index, or to
    `positions`. The caller then calls `write` with what `room_for` has returned."""
    return output.index + start if output.index != NULL else positions


cdef inline void write(output_t *output, Py_ssize_t start, Py_ssize_t n,
                       Py_ssize_t *positions) noexcept nogil:
    """Write the output of n items from `start` on. Each item has the position of a test, or -1:
    other positions read memory beyond the values. Overwrites the positions if values are wanted."""
    if output.index == NULL:
        write_values(output, start, n, positions)
