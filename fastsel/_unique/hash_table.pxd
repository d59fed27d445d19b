"""A hash table of keys: open addressing, linear probing, at most half full.

A slot is a word of 4 or 8 bytes. With a payload it also has the number of its group plus one, and a
group has the position of its first item, its count and its word; groups are numbered in the order
in which they are seen. Without one the table is a set, several times as many of whose words fit the
cache: enough where only first occurrences are wanted.

Words lie there mixed with the seed, so that none but the seed itself, which nobody can guess, looks
like an empty slot. That one has no slot, nor have keys that equal no other. Most of the slots are
empty, so that a probe ends.
"""
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from fastsel._unique.keys cimport keys_t

cdef enum:
    # Instead of success: no memory; more keys than the table may grow for; too many probes, as of
    # keys made to collide.
    NO_MEMORY = -1
    TOO_MANY = -2
    FLOODED = -3
    FIRST_SLOT_BITS = 8     # of the smallest table

ctypedef struct group_t:
    Py_ssize_t first        # position of its first item
    Py_ssize_t count
    uint64_t word

ctypedef struct table_t:
    char *slots             # a word ^ seed each, 0 if empty
    uint32_t *numbers       # of the slots' groups, plus one; NULL of a set
    group_t *groups         # NULL of a set
    Py_ssize_t width        # bytes of a slot
    Py_ssize_t length       # groups so far; of a set, words
    Py_ssize_t most         # it does not grow for more; its slots may be enough for some more
    uint32_t seed_number    # of the group of the seed, plus one; 0 if it was not seen
    int slot_bits           # log2 of the number of slots
    int skip_bits           # top bits of the hash that all its keys share
    Py_ssize_t lookups
    Py_ssize_t probes


cdef int table_start(table_t *table, const keys_t *keys, bint payload, Py_ssize_t most,
                     int skip_bits, Py_ssize_t expected) noexcept nogil
cdef int table_resize(table_t *table, const keys_t *keys, Py_ssize_t expected) noexcept nogil
cdef void table_clear(table_t *table) noexcept nogil
cdef void table_free(table_t *table) noexcept nogil
cdef Py_ssize_t add_keys(table_t *table, const keys_t *keys, const uint64_t *words, Py_ssize_t n,
                         Py_ssize_t start, const Py_ssize_t *positions, uint32_t *numbers,
                         uint8_t *is_new) noexcept nogil
