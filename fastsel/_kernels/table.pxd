"""A hash table of groups: open addressing, linear probing, at most half full.

A slot holds a word and the number of its group plus one (0: empty); a group holds the position of
its first item, its count and its word. Groups are numbered in the order in which they are met.
The invariant that everything rests on: at least half of the slots are empty, so a probe ends.
"""
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastsel._kernels.keys cimport keys_t, mix, same_key
from fastsel._kernels.scratch cimport give, take, take_zeros

cdef enum:
    # What find_or_add returns instead of a group.
    NO_MEMORY = -1
    FLOODED = -2            # too many probes: keys made to collide, or a hash that fails
    TOO_MANY = -3           # more groups than the table may hold
    # The budget of extra probes: so many for each key, and some to begin with. Random keys at
    # half load take 0.5 per key.
    PROBES_PER_KEY = 16
    PROBES_FREE = 4096
    FIRST_SLOT_BITS = 8
    LIGHT_SLOT_BITS = 17

ctypedef struct slot_t:
    uint64_t word
    uint32_t group          # number of the group plus one
    uint32_t unused

ctypedef struct group_t:
    Py_ssize_t first        # position of its first item
    Py_ssize_t count
    uint64_t word

ctypedef struct table_t:
    slot_t *slots
    uint32_t *direct        # instead of slots: one number per possible word, no hash
    group_t *groups
    Py_ssize_t length       # groups so far
    Py_ssize_t most         # groups allowed
    int slot_bits           # log2 of the number of slots
    int skip_bits           # top bits of the hash that all its keys share
    Py_ssize_t lookups
    Py_ssize_t probes


cdef inline Py_ssize_t room(int slot_bits) noexcept nogil:
    """Groups in a table of so many slots: an eighth up to 2 MB, because each key that is not in its
    first slot costs a branch that nobody can predict; a half beyond. (1e5 int64 of 1e4 groups take
    0.43 ms so on one thread, 0.59 with a half from 256 kB on.)"""
    return <Py_ssize_t>1 << (slot_bits - (3 if slot_bits < LIGHT_SLOT_BITS else 1))


cdef inline int table_start(table_t *table, Py_ssize_t most, int skip_bits,
                            Py_ssize_t expected) noexcept nogil:
    """A new table for at most `most` groups; 0 or NO_MEMORY. Free it in both cases."""
    memset(table, 0, sizeof(table_t))
    table.most = most
    table.skip_bits = skip_bits
    table.slot_bits = FIRST_SLOT_BITS
    while room(table.slot_bits) <= expected:
        table.slot_bits += 1
    table.slots = <slot_t *>take_zeros(sizeof(slot_t) << table.slot_bits)
    table.groups = <group_t *>take(room(table.slot_bits) * sizeof(group_t))
    return 0 if table.slots != NULL and table.groups != NULL else NO_MEMORY


cdef inline int table_start_direct(table_t *table, int word_bits) noexcept nogil:
    """A new table with a place for every word of that many bits; 0 or NO_MEMORY. Free it."""
    memset(table, 0, sizeof(table_t))
    table.direct = <uint32_t *>take_zeros(sizeof(uint32_t) << word_bits)
    table.groups = <group_t *>take(sizeof(group_t) << word_bits)
    return 0 if table.direct != NULL and table.groups != NULL else NO_MEMORY


cdef inline void table_clear(table_t *table) noexcept nogil:
    """Empty, with the size it has."""
    memset(table.slots, 0, (<size_t>1 << table.slot_bits) * sizeof(slot_t))
    table.length = table.lookups = table.probes = 0


cdef inline void table_free(table_t *table) noexcept nogil:
    give(table.slots)
    give(table.direct)
    give(table.groups)


cdef inline Py_ssize_t find_or_add(table_t *table, const keys_t *keys, Py_ssize_t i,
                                   uint64_t word) noexcept nogil:
    """The group of key i, new if need be, or a negative status. The caller counts the key."""
    cdef Py_ssize_t mask = (<Py_ssize_t>1 << table.slot_bits) - 1
    cdef Py_ssize_t at = <Py_ssize_t>(
        (mix(keys, word) << table.skip_bits) >> (64 - table.slot_bits))
    cdef slot_t *slot = &table.slots[at]
    table.lookups += 1
    while slot.group:
        if slot.word == word and same_key(keys, i, table.groups[slot.group - 1].first):
            return slot.group - 1
        table.probes += 1
        if table.probes > PROBES_PER_KEY * table.lookups + PROBES_FREE:
            return FLOODED
        at = (at + 1) & mask
        slot = &table.slots[at]
    return add(table, keys, i, word, slot)


cdef inline Py_ssize_t add(table_t *table, const keys_t *keys, Py_ssize_t i, uint64_t word,
                           slot_t *slot) noexcept nogil:
    """A new group for key i in an empty slot."""
    cdef Py_ssize_t group = table.length
    if group == table.most:
        return TOO_MANY
    slot.word = word
    slot.group = <uint32_t>(group + 1)
    table.groups[group].first = i
    table.groups[group].count = 0
    table.groups[group].word = word
    table.length += 1
    if table.length == room(table.slot_bits) and not grow(table, keys):
        return NO_MEMORY
    return group


cdef inline void add_group(table_t *table, Py_ssize_t i, uint64_t word) noexcept nogil:
    table.groups[table.length].first = i
    table.groups[table.length].count = 0
    table.groups[table.length].word = word
    table.length += 1


cdef inline Py_ssize_t find_direct(table_t *table, Py_ssize_t i, uint64_t word) noexcept nogil:
    """As find_or_add, in a table that has a place for every word."""
    if table.direct[word] == 0:
        add_group(table, i, word)
        table.direct[word] = <uint32_t>table.length
    return table.direct[word] - 1


cdef inline bint grow(table_t *table, const keys_t *keys) noexcept nogil:
    """Four times the slots, filled from the groups; False if there is no memory."""
    cdef int slot_bits = table.slot_bits + 2
    cdef Py_ssize_t mask = (<Py_ssize_t>1 << slot_bits) - 1, group, at
    cdef slot_t *slots = <slot_t *>take_zeros(sizeof(slot_t) << slot_bits)
    cdef group_t *groups = <group_t *>take(room(slot_bits) * sizeof(group_t))
    if slots == NULL or groups == NULL:
        give(slots)
        give(groups)
        return False
    memcpy(groups, table.groups, table.length * sizeof(group_t))
    for group in range(table.length):
        at = <Py_ssize_t>((mix(keys, groups[group].word) << table.skip_bits) >> (64 - slot_bits))
        while slots[at].group:
            at = (at + 1) & mask
        slots[at].word = groups[group].word
        slots[at].group = <uint32_t>(group + 1)
    give(table.slots)
    give(table.groups)
    table.slots, table.groups = slots, groups
    table.slot_bits = slot_bits
    return True
