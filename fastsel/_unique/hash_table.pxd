"""A hash table of keys: open addressing, linear probing, at most half full.

A slot has 4 or 8 bytes: word ^ seed of its key, or 0 if the slot is empty. Groups get ids in the
order in which their first keys are added. A table with ids also has the group of each slot. A table
without ids is smaller, and suffices for words if neither inverse nor counts are wanted.

Only one word looks like an empty slot: the seed itself. Neither the seed nor a key that equals no
other has a slot. At most half of the slots are in use, so that each search for a key that the table
does not have ends at an empty slot.
"""
from libc.stdint cimport uint16_t, uint32_t, uint64_t

from fastsel._unique.keys cimport BATCH, keys_t

cdef enum:
    # The status of a call is 0, NO_MEMORY or GAVE_UP.
    NO_MEMORY = -1          # an allocation failed
    GAVE_UP = -2            # too many groups, or probes: the keys may be made to collide
    # The budget of extra probes, those after the first slot, for each key. A table begins with the
    # budget of a batch. Random keys need at most 1.5 extra probes on average, if half of the slots
    # are in use.
    PROBES_PER_KEY = 16

ctypedef struct table_t:
    char *slots             # word ^ seed, or 0 if the slot is empty
    uint32_t *ids_plus_1    # by slot: group id plus one; NULL in a table without ids
    Py_ssize_t *first_positions   # by group: position of its first key
    Py_ssize_t *counts      # by group: 0 at first, the caller counts; NULL in a table without ids
    Py_ssize_t width        # bytes of a slot
    Py_ssize_t length       # number of groups
    Py_ssize_t max_groups   # the table does not grow for more groups than this
    uint32_t seed_id_plus_1  # group id of the seed plus one; 0 if the seed was not added
    int slot_bits           # log2 of the number of slots
    int skip_bits           # how many top bits of the hash are equal for all keys
    bint skips_unequal      # keys that equal no other are not added
    Py_ssize_t lookups      # keys that add_keys has looked up
    Py_ssize_t probes       # their extra probes

ctypedef struct batch_t:    # n <= BATCH keys: key j is the key of `keys` at positions[j]
    const keys_t *keys
    const uint64_t *words   # word of key j
    const Py_ssize_t *positions
    Py_ssize_t n

ctypedef struct probes_t:   # what the first slots say about the keys of a batch
    uint64_t[BATCH] first_slots
    uint16_t[BATCH] unknown     # the keys that the first slot does not decide
    Py_ssize_t n_unknown


cdef inline batch_t batch_of(const keys_t *keys, const uint64_t *words,
                             const Py_ssize_t *positions, Py_ssize_t n) noexcept nogil:
    cdef batch_t batch
    batch.keys, batch.words, batch.positions, batch.n = keys, words, positions, n
    return batch


cdef bint succeeded(Py_ssize_t status) except -1
cdef int table_start(table_t *table, const keys_t *keys, bint with_ids, Py_ssize_t max_groups,
                     int skip_bits, Py_ssize_t expected) noexcept nogil
cdef size_t table_bytes(const keys_t *keys, bint with_ids, Py_ssize_t expected) noexcept nogil
cdef int table_resize(table_t *table, const keys_t *keys, Py_ssize_t expected) noexcept nogil
cdef void table_clear(table_t *table) noexcept nogil
cdef void table_free(table_t *table) noexcept nogil
cdef Py_ssize_t find_keys(const table_t *table, const keys_t *table_keys, const batch_t *batch,
                          uint32_t *slots) noexcept nogil
cdef Py_ssize_t add_keys(table_t *table, const batch_t *batch,
                         uint32_t *ids_plus_1) noexcept nogil
