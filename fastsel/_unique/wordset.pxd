"""A set of words: a hash table without payload, for where only first occurrences are wanted.

Open addressing, linear probing, at most half full. A slot is a word of 4 or 8 bytes and nothing
else, so that several times as many fit the cache as groups of hash_table.pxd do. 0 is an empty
slot; has_zero says whether the word 0 was seen.
"""
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from fastsel._simd.blocks cimport fs_level_t
from fastsel._unique.keys cimport BATCH, keys_t, mix, wide_t
from fastsel._core.scratch cimport give, take
from fastsel._unique.hash_table cimport (
    FIRST_SLOT_BITS, FLOODED, NO_MEMORY, PROBES_PER_KEY, TOO_MANY, capacity)

ctypedef struct set_t:
    char *slots
    Py_ssize_t width        # bytes of a slot
    int slot_bits           # log2 of the number of slots
    int skip_bits           # top bits of the hash that all words share
    bint has_zero
    Py_ssize_t length       # words that have slots
    Py_ssize_t most         # of them for which it may grow
    Py_ssize_t lookups
    Py_ssize_t probes


cdef inline int set_start(set_t *set, Py_ssize_t width, Py_ssize_t most, int skip_bits,
                          Py_ssize_t expected) noexcept nogil:
    """An empty set, with room for the expected words; 0 or NO_MEMORY. Free it in both cases."""
    set.width, set.most, set.skip_bits = max(width, 4), most, skip_bits
    set.slot_bits = FIRST_SLOT_BITS
    while capacity(set.slot_bits) < expected + BATCH:
        set.slot_bits += 1
    set.slots = <char *>take(<size_t>set.width << set.slot_bits)
    if set.slots == NULL:
        return NO_MEMORY
    set_clear(set)
    return 0


cdef inline void set_clear(set_t *set) noexcept nogil:
    """Empty, with the size it has."""
    memset(set.slots, 0, <size_t>set.width << set.slot_bits)
    set.has_zero = False
    set.length = set.lookups = set.probes = 0


cdef inline void set_free(set_t *set) noexcept nogil:
    give(set.slots)


cdef inline Py_ssize_t set_add(set_t *set, const keys_t *keys, const fs_level_t *level,
                               const uint64_t *words, Py_ssize_t n,
                               uint8_t *is_new) noexcept nogil:
    """Add n <= BATCH words, in turn, and say which of them are new; returns 0 or a status. That
    there are too many is said before more memory is taken for them."""
    cdef uint64_t[BATCH] slots
    cdef Py_ssize_t j, status
    memset(is_new, 0, n)
    if set.length + n > capacity(set.slot_bits):
        if set.length + n > set.most:
            return TOO_MANY
        if not set_grow(set, keys):
            return NO_MEMORY
    level.slots(words, n, keys.seed, keys.factor, set.skip_bits, 64 - set.slot_bits, slots)
    set.lookups += n
    if set.width == 4:
        status = add_at(set, <uint32_t *>set.slots, words, slots, n, is_new)
    else:
        status = add_at(set, <uint64_t *>set.slots, words, slots, n, is_new)
    j = 0
    while not set.has_zero and j < n:
        is_new[j] |= words[j] == 0
        set.has_zero = words[j] == 0
        j += 1
    return status


cdef inline Py_ssize_t add_at(set_t *set, wide_t *slots, const uint64_t *words,
                              const uint64_t *first_slots, Py_ssize_t n,
                              uint8_t *is_new) noexcept nogil:
    """The same but for 0. Which words are not in their first slots is found without a branch, so
    there is no branch to mispredict."""
    cdef uint16_t[BATCH] unfound
    cdef Py_ssize_t mask = (<Py_ssize_t>1 << set.slot_bits) - 1, n_unfound = 0, j, k, at
    cdef wide_t word
    for j in range(n):
        unfound[n_unfound] = <uint16_t>j
        n_unfound += slots[first_slots[j]] != <wide_t>words[j]
    for k in range(n_unfound):
        j = unfound[k]
        word, at = <wide_t>words[j], <Py_ssize_t>first_slots[j]
        while slots[at] != 0 and slots[at] != word:
            at = (at + 1) & mask
            set.probes += 1
        is_new[j] = slots[at] != word
        slots[at] = word
        set.length += is_new[j]
        if set.probes > PROBES_PER_KEY * (set.lookups + BATCH):
            return FLOODED
    return 0


cdef inline bint set_grow(set_t *set, const keys_t *keys) noexcept nogil:
    """Room for four times the words, but not for more than are allowed; False if there is no
    memory."""
    cdef set_t larger
    cdef Py_ssize_t words = min(4 * capacity(set.slot_bits), set.most)
    if set_start(&larger, set.width, set.most, set.skip_bits, words - BATCH) != 0:
        set_free(&larger)
        return False
    if set.width == 4:
        move_words(set, <uint32_t *>set.slots, &larger, <uint32_t *>larger.slots, keys)
    else:
        move_words(set, <uint64_t *>set.slots, &larger, <uint64_t *>larger.slots, keys)
    larger.has_zero, larger.length = set.has_zero, set.length
    larger.lookups, larger.probes = set.lookups, set.probes
    set_free(set)
    set[0] = larger
    return True


cdef inline void move_words(const set_t *set, const wide_t *slots, const set_t *larger,
                            wide_t *new_slots, const keys_t *keys) noexcept nogil:
    cdef Py_ssize_t mask = (<Py_ssize_t>1 << larger.slot_bits) - 1, old, at
    for old in range(<Py_ssize_t>1 << set.slot_bits):
        if slots[old] == 0:
            continue
        at = <Py_ssize_t>(
            (mix(keys, slots[old]) << larger.skip_bits) >> (64 - larger.slot_bits))
        while new_slots[at]:
            at = (at + 1) & mask
        new_slots[at] = slots[old]
