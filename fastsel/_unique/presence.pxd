"""Words of a narrow range, each of which has an entry of its own in a table; see presence.pyx."""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from fastsel._core.parallel cimport Job
from fastsel._unique.keys cimport any_t, canonical, fs_load, keys_t, rule_t
from fastsel._unique.ordered_numbers cimport number_of

ctypedef struct range_t:
    uint64_t[3] order           # how words become ordered keys
    uint64_t base               # the ordered key with the first entry
    uint64_t base_word          # its word
    uint64_t mask               # of the entries, whose number is a power of two
    Py_ssize_t blocks           # of 64 entries, at least one
    bint is_integer             # words are canonical, and ordered as integers


cdef class Presence(Job):
    cdef keys_t keys
    cdef object owned             # the array that the keys point to
    cdef range_t value_range
    cdef int threads
    cdef Py_ssize_t entries       # of a table: whole blocks
    cdef cnp.npy_intp key_blocks
    cdef Py_ssize_t rounds
    cdef Py_ssize_t key_chunks    # of the passes that follow
    cdef Py_ssize_t entry_chunks
    cdef object bitmask           # of first occurrences, or None
    cdef uint64_t[::1] bits       # [chunk][block of entries]: what occurs; merged, in chunk 0
    cdef uint8_t[::1] present     # [chunk][entry]: what occurs, with firsts; else None
    cdef uint64_t[::1] first_bits  # the bitmask
    cdef Py_ssize_t[::1] counts   # [chunk][entry], or None
    cdef uint8_t[::1] failed      # by chunk: a key has no entry

    cdef bint find(self) except -1
    cdef Py_ssize_t[::1] merge(self)
    cdef void clear(self, Py_ssize_t chunk) noexcept nogil
    cdef void fill(self, const any_t *items, Py_ssize_t chunk, Py_ssize_t block,
                   Py_ssize_t stop) noexcept nogil

cpdef cnp.ndarray ascending_values(
    cnp.ndarray data, Py_ssize_t size, tuple rule, tuple order, tuple value_range, int threads)


cdef class OverEntries(Job):
    cdef Presence presence
    cdef Py_ssize_t[::1] offsets  # words before each chunk
    cdef uint32_t[::1] group_ids  # by entry
    cdef Py_ssize_t[::1] out

    cdef Py_ssize_t first_block(self, Py_ssize_t k) noexcept nogil


cdef inline bint find_entries(const range_t *value_range, const rule_t *rule, const any_t *items,
                              Py_ssize_t n, uint32_t *at) noexcept nogil:
    """The entries of n <= 64 keys, which are loaded once; False if one has none."""
    cdef any_t[64] words
    cdef any_t entry, beyond = 0
    cdef Py_ssize_t j
    fs_load(words, items, n * sizeof(any_t))
    if not value_range.is_integer:      # of 1 or 2 bytes: each of them has an entry
        for j in range(n):
            at[j] = <any_t>number_of(value_range.order, canonical(rule, words[j]))
        return True
    for j in range(n):
        entry = words[j] - <any_t>value_range.base_word
        beyond |= entry
        at[j] = <uint32_t>entry
    return (<uint64_t>beyond & ~value_range.mask) == 0
