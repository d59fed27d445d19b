"""Direct-address tables for words of a narrow range; see presence.pyx."""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from fastsel._core.parallel cimport Job
from fastsel._unique.keys cimport any_t, canonical, fs_load, keys_t, rule_t
from fastsel._unique.ordered_keys cimport ordered_key_of

ctypedef struct range_t:
    uint64_t[3] order_map       # sign, negative, minimum: makes ordered keys
    uint64_t base               # the ordered key of entry 0
    uint64_t base_word          # the word of base
    uint64_t mask               # number of entries, a power of two, minus 1
    Py_ssize_t blocks           # blocks of 64 entries, at least one
    bint is_integer             # every word is canonical; word minus base_word is its entry


cdef class Presence(Job):
    cdef keys_t keys
    cdef object owned             # the Keys that `keys` points to
    cdef range_t value_range
    cdef int threads
    cdef Py_ssize_t entries       # of a table, in whole blocks
    cdef cnp.npy_intp key_blocks
    cdef Py_ssize_t rounds
    cdef Py_ssize_t key_chunks    # of the passes over keys after `find`
    cdef Py_ssize_t entry_chunks  # of the passes over entries
    cdef object bitmask           # bitmask of first occurrences, or None
    # [chunk][block of entries]: which words occur; after `merge`, chunk 0 has the words of all
    # chunks. If `present` is not None, only `merge` writes bits, and they are of chunk 0 only.
    cdef uint64_t[::1] bits
    # [chunk][entry], or None: 1 if the word occurs in the chunk or, after `merge`, before it.
    cdef uint8_t[::1] present
    cdef uint64_t[::1] first_bits  # a view of bitmask
    cdef Py_ssize_t[::1] counts   # [chunk][entry], or None
    cdef uint8_t[::1] failed      # by chunk: 1 if a key has no entry
    cdef Py_ssize_t[::1] offsets  # number of words before each chunk of the entries; set by `merge`

    cdef bint find(self) except -1
    cdef Py_ssize_t merge(self) except -1
    cdef void clear(self, Py_ssize_t chunk) noexcept nogil
    cdef void fill(self, const any_t *items, Py_ssize_t chunk, Py_ssize_t block,
                   Py_ssize_t stop) noexcept nogil

cpdef cnp.ndarray ascending_values(keys, tuple value_range, int threads)


cdef class EntryPass(Job):
    cdef Presence presence
    cdef uint32_t[::1] group_ids  # by entry: the group of its word
    cdef Py_ssize_t[::1] out


cdef inline bint find_entries(const range_t *value_range, const rule_t *rule, const any_t *items,
                              Py_ssize_t n, uint32_t *key_entries) noexcept nogil:
    """Write the entries of n <= 64 keys. Each key is loaded once. Returns False if a key has no
    entry."""
    cdef any_t[64] words
    cdef any_t entry, beyond = 0
    cdef Py_ssize_t j
    fs_load(words, items, n * sizeof(any_t))
    if not value_range.is_integer:      # words of 1 or 2 bytes: each word has an entry
        for j in range(n):
            key_entries[j] = <any_t>ordered_key_of(value_range.order_map, canonical(rule, words[j]))
        return True
    for j in range(n):
        entry = words[j] - <any_t>value_range.base_word
        beyond |= entry
        key_entries[j] = <uint32_t>entry
    return (<uint64_t>beyond & ~value_range.mask) == 0
