"""A hash table of keys: open addressing, linear probing, at most half full.

A slot is a word of 4 or 8 bytes; groups are numbered in the order in which they are seen. Only a
numbered table knows the group of each slot: without that it is smaller, and enough for words where
neither inverse nor counts are wanted.

Words lie there mixed with the seed, so that none but the seed itself, which nobody can guess, looks
like an empty slot. That one has no slot, nor have keys that equal no other. Most of the slots are
empty, so that a probe ends.
"""
from libc.stdint cimport uint32_t, uint64_t

from fastsel._unique.keys cimport keys_t

cdef enum:
    # Instead of success: no memory; more keys than the table may grow for; too many probes, as of
    # keys made to collide.
    NO_MEMORY = -1
    TOO_MANY = -2
    FLOODED = -3
    FIRST_SLOT_BITS = 8     # of the smallest table
    PREFETCHED_SLOT_BITS = 15   # of a table that leaves the cache of a core
    # The budget of extra probes, for each key and for a batch of them to begin with. Random keys
    # take 0.4 per key at most.
    PROBES_PER_KEY = 16

ctypedef struct table_t:
    char *slots             # a word ^ seed each, 0 if empty
    uint32_t *numbers       # of the slots' groups, plus one; NULL if it is not numbered
    Py_ssize_t *firsts      # positions of the groups' first items
    Py_ssize_t *counts      # of groups, 0 at first, for the caller; NULL if it is not numbered
    Py_ssize_t width        # bytes of a slot
    Py_ssize_t length       # groups so far
    Py_ssize_t most         # it does not grow for more; its slots may be enough for some more
    uint32_t seed_number    # of the group of the seed, plus one; 0 if it was not seen
    int slot_bits           # log2 of the number of slots
    int skip_bits           # top bits of the hash that all its keys share
    bint skips_unequal      # keys that equal no other are not added
    Py_ssize_t lookups
    Py_ssize_t probes


cdef int table_start(table_t *table, const keys_t *keys, bint numbered, Py_ssize_t most,
                     int skip_bits, Py_ssize_t expected) noexcept nogil
cdef size_t table_bytes(const keys_t *keys, bint numbered, Py_ssize_t expected) noexcept nogil
cdef int table_resize(table_t *table, const keys_t *keys, Py_ssize_t expected) noexcept nogil
cdef void table_clear(table_t *table) noexcept nogil
cdef void table_free(table_t *table) noexcept nogil
cdef Py_ssize_t find_keys(const table_t *table, const keys_t *own, const keys_t *keys,
                          const uint64_t *words, Py_ssize_t n, const Py_ssize_t *positions,
                          uint32_t *slots) noexcept nogil
cdef Py_ssize_t add_keys(table_t *table, const keys_t *keys, const uint64_t *words, Py_ssize_t n,
                         const Py_ssize_t *positions, uint32_t *numbers) noexcept nogil
