"""The task of dense.pyx, its passes over the keys (dense_passes.pyx), and the entry of a key."""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from fastsel._core.scratch cimport Scratch
from fastsel._unique.keys cimport key_at, keys_t
from fastsel._unique.narrow_range cimport narrow_t
from fastsel._unique.ordered_numbers cimport number_of

ctypedef struct dense_task:
    keys_t keys
    narrow_t narrow
    Py_ssize_t entries          # of a table: whole blocks
    Py_ssize_t blocks
    Py_ssize_t chunks           # each has a table of its own
    Py_ssize_t rounds
    Py_ssize_t cuts             # of the keys, after pass 1
    Py_ssize_t spans            # of the entries
    Py_ssize_t groups
    uint8_t *present            # [chunk][entry]
    uint64_t *occurring         # the same of all chunks, as bits
    Py_ssize_t *sizes           # [chunk][entry]: counts, or NULL
    uint8_t *failed             # by chunk: a key has no entry
    uint64_t *bits              # of first occurrences
    Py_ssize_t *offsets         # of the numbers of each cut, or of each span
    uint32_t *numbers           # by entry
    Py_ssize_t *index           # or NULL
    Py_ssize_t *inverse         # or NULL
    Py_ssize_t *counts          # or NULL


cdef void describe_task(dense_task *task, Scratch scratch, cnp.ndarray data, Py_ssize_t size,
                        tuple rule, tuple order, tuple span, int threads) except *
cdef int fill_tables(dense_task *task, int threads) except -1 nogil
cdef void clear_repeated(void *context, Py_ssize_t k) noexcept nogil
cdef void write_inverse(void *context, Py_ssize_t k) noexcept nogil


cdef inline Py_ssize_t entry_of(const dense_task *task, Py_ssize_t i) noexcept nogil:
    """The entry of key i; some entry, if the key has changed to one that has none."""
    cdef uint64_t number = number_of(task.narrow.order, key_at(&task.keys, i))
    return <Py_ssize_t>((number - task.narrow.base) & task.narrow.mask)
