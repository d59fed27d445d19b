"""A hash table of groups: open addressing, linear probing, at most a quarter full.

A slot holds a word and the number of its group plus one (0: empty); a group holds the position of
its first item, its count and its word. Groups are numbered in the order in which they are met.
The invariants that everything rests on: most of the slots are empty, so that a probe ends; and an
empty slot holds a word whose first slot is another one, so that a word that is found in its
first slot is there indeed, whatever the slot's number says.
"""
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastsel._kernels.blocks cimport fs_level_t, fs_prefetch
from fastsel._kernels.keys cimport keys_t, mix, same_key
from fastsel._kernels.scratch cimport give, take, take_zeros

cdef enum:
    # What find_or_add returns instead of a group.
    NO_MEMORY = -1
    FLOODED = -2            # too many probes: keys made to collide, or a hash that fails
    TOO_MANY = -3           # more groups than the table may hold
    # The budget of extra probes: so many for each key, and some to begin with. Random keys
    # take 0.4 per key at most.
    PROBES_PER_KEY = 16
    PROBES_FREE = 4096
    LOOKED_UP = 512         # words at once
    FIRST_SLOT_BITS = 8
    SMALL_SLOT_BITS = 12    # what is sixteen times as large still fits L2

ctypedef struct group_t:
    Py_ssize_t first        # position of its first item
    Py_ssize_t count
    uint64_t word

ctypedef struct table_t:
    uint64_t *words         # of the slots
    uint32_t *numbers       # of the slots; or of all possible words, which need no slots then
    group_t *groups
    Py_ssize_t length       # groups so far
    Py_ssize_t known        # of them, when look_up was last called
    Py_ssize_t most         # groups allowed
    int slot_bits           # log2 of the number of slots
    int skip_bits           # top bits of the hash that all its keys share
    Py_ssize_t lookups
    Py_ssize_t probes


cdef inline Py_ssize_t room(int slot_bits) noexcept nogil:
    """Groups in a table of so many slots: a quarter, so that few keys are neither in their first
    slot nor in the next. (1e5 int64 of 1e4 groups take 0.24 ms so on one thread, 0.25 with a half;
    1e6 of 1e3 1.2 and 1.5.)"""
    return <Py_ssize_t>1 << (slot_bits - 2)


cdef inline int table_start(table_t *table, const keys_t *keys, Py_ssize_t most, int skip_bits,
                            Py_ssize_t expected) noexcept nogil:
    """A new table for at most `most` groups; 0 or NO_MEMORY. Free it in both cases."""
    memset(table, 0, sizeof(table_t))
    table.most = most
    table.skip_bits = skip_bits
    table.slot_bits = FIRST_SLOT_BITS
    while room(table.slot_bits) <= expected:
        table.slot_bits += 1
    table.words = <uint64_t *>take(sizeof(uint64_t) << table.slot_bits)
    table.numbers = <uint32_t *>take(sizeof(uint32_t) << table.slot_bits)
    table.groups = <group_t *>take(room(table.slot_bits) * sizeof(group_t))
    if table.words == NULL or table.numbers == NULL or table.groups == NULL:
        return NO_MEMORY
    table_clear(table, keys)
    return 0


cdef inline int table_start_direct(table_t *table, int word_bits) noexcept nogil:
    """A new table with a place for every word of that many bits; 0 or NO_MEMORY. Free it."""
    memset(table, 0, sizeof(table_t))
    table.numbers = <uint32_t *>take_zeros(sizeof(uint32_t) << word_bits)
    table.groups = <group_t *>take(sizeof(group_t) << word_bits)
    return 0 if table.numbers != NULL and table.groups != NULL else NO_MEMORY


cdef inline void table_clear(table_t *table, const keys_t *keys) noexcept nogil:
    """Empty, with the size it has."""
    cdef Py_ssize_t first_of_zero = first_slot(table, mix(keys, 0))
    memset(table.words, 0, sizeof(uint64_t) << table.slot_bits)
    memset(table.numbers, 0, sizeof(uint32_t) << table.slot_bits)
    # The hash of the seed is 0; that of the other word has the highest bit that counts.
    table.words[first_of_zero] = (
        keys.seed if first_of_zero else keys.seed ^ <uint64_t>1 << (63 - table.skip_bits))
    table.known -= table.length     # what comes next is taken to be like what came last
    table.length = table.lookups = table.probes = 0


cdef inline void table_free(table_t *table) noexcept nogil:
    give(table.words)
    give(table.numbers)
    give(table.groups)


cdef inline Py_ssize_t first_slot(const table_t *table, uint64_t hash) noexcept nogil:
    return <Py_ssize_t>((hash << table.skip_bits) >> (64 - table.slot_bits))


cdef inline Py_ssize_t look_up(table_t *table, const keys_t *keys, const fs_level_t *level,
                               const uint64_t *words, Py_ssize_t n, uint16_t *late,
                               uint32_t *numbers) noexcept nogil:
    """What up to LOOKED_UP keys that are words find in their first two slots: their numbers, unless
    that is NULL. Late is who finds other words there, and find_or_add is for them; returns how many
    they are. Nothing is decided word by word, so there is nothing to guess wrong. If the last
    call and what followed it added more groups than three quarters of n, all are late."""
    cdef uint64_t[LOOKED_UP] slots
    cdef Py_ssize_t j, k, at, lates = 0, later = 0, news = table.length - table.known
    cdef Py_ssize_t mask = (<Py_ssize_t>1 << table.slot_bits) - 1
    table.known = table.length
    if news > n - n // 4:
        for j in range(n):
            late[j] = <uint16_t>j
        return n
    level.slots(words, n, keys.seed, keys.factor, table.skip_bits, 64 - table.slot_bits, slots)
    for j in range(n):
        late[lates] = <uint16_t>j
        lates += table.words[slots[j]] != words[j]
    if numbers != NULL:
        for j in range(n):
            numbers[j] = table.numbers[slots[j]]
    for k in range(lates):
        j = late[k]
        at = (slots[j] + 1) & mask
        late[later] = <uint16_t>j
        later += (table.words[at] != words[j]) | (table.numbers[at] == 0)
        if numbers != NULL:
            numbers[j] = table.numbers[at]
    return later


cdef inline Py_ssize_t confirm(const table_t *table, const keys_t *keys, Py_ssize_t start,
                               const uint32_t *places, Py_ssize_t n, const uint32_t *numbers,
                               uint16_t *late, Py_ssize_t lates) noexcept nogil:
    """look_up has compared the hashes of keys that are no words: those whose bytes are not those of
    their group's first key are late, too. Returns how many are. Key j stands at start + j, or at
    places[j]; the first keys are asked for before any is compared."""
    cdef uint8_t[LOOKED_UP] is_late
    cdef Py_ssize_t j, k, i
    memset(is_late, False, n)
    for k in range(lates):
        is_late[late[k]] = True
    for j in range(n):
        if not is_late[j]:
            fs_prefetch(keys.data + table.groups[numbers[j] - 1].first * keys.width)
    lates = 0
    for j in range(n):
        i = start + j if places == NULL else places[j]
        if is_late[j] or not same_key(keys, i, table.groups[numbers[j] - 1].first):
            late[lates] = <uint16_t>j
            lates += 1
    return lates


cdef inline Py_ssize_t find_or_add(table_t *table, const keys_t *keys, Py_ssize_t i,
                                   uint64_t word) noexcept nogil:
    """The group of key i, new if need be, or a negative status. The caller counts the key."""
    cdef Py_ssize_t mask = (<Py_ssize_t>1 << table.slot_bits) - 1
    cdef Py_ssize_t at = first_slot(table, mix(keys, word))
    table.lookups += 1
    while table.numbers[at]:
        if table.words[at] == word and same_key(
                keys, i, table.groups[table.numbers[at] - 1].first):
            return table.numbers[at] - 1
        table.probes += 1
        if table.probes > PROBES_PER_KEY * table.lookups + PROBES_FREE:
            return FLOODED
        at = (at + 1) & mask
    return add(table, keys, i, word, at)


cdef inline Py_ssize_t add(table_t *table, const keys_t *keys, Py_ssize_t i, uint64_t word,
                           Py_ssize_t at) noexcept nogil:
    """A new group for key i in an empty slot."""
    if table.length == table.most:
        return TOO_MANY
    add_group(table, i, word)
    table.words[at] = word
    table.numbers[at] = <uint32_t>table.length
    if table.length == room(table.slot_bits) and not grow(table, keys):
        return NO_MEMORY
    return table.length - 1


cdef inline void add_group(table_t *table, Py_ssize_t i, uint64_t word) noexcept nogil:
    table.groups[table.length].first = i
    table.groups[table.length].count = 0
    table.groups[table.length].word = word
    table.length += 1


cdef inline Py_ssize_t find_direct(table_t *table, Py_ssize_t i, uint64_t word) noexcept nogil:
    """As find_or_add, in a table that has a place for every word."""
    if table.numbers[word] == 0:
        add_group(table, i, word)
        table.numbers[word] = <uint32_t>table.length
    return table.numbers[word] - 1


cdef inline bint grow(table_t *table, const keys_t *keys) noexcept nogil:
    """Four times the slots, filled from the groups; sixteen times if the table is small and half of
    all keys were new (1000 int64 of 632 groups: 10 -> 6 us). False if there is no memory."""
    cdef table_t larger
    cdef bint fast = table.slot_bits <= SMALL_SLOT_BITS and 2 * table.length > table.lookups
    cdef int slot_bits = table.slot_bits + (4 if fast else 2)
    cdef Py_ssize_t mask = (<Py_ssize_t>1 << slot_bits) - 1, group, at
    if table_start(&larger, keys, table.most, table.skip_bits, room(slot_bits) - 1) != 0:
        table_free(&larger)
        return False
    memcpy(larger.groups, table.groups, table.length * sizeof(group_t))
    for group in range(table.length):
        at = first_slot(&larger, mix(keys, table.groups[group].word))
        while larger.numbers[at]:
            at = (at + 1) & mask
        larger.words[at] = table.groups[group].word
        larger.numbers[at] = <uint32_t>(group + 1)
    larger.length, larger.known = table.length, table.known
    larger.lookups, larger.probes = table.lookups, table.probes
    table_free(table)
    table[0] = larger
    return True
