"""A hash table of groups: open addressing, linear probing, at most half full.

A slot holds a word and the number of its group plus one (0: empty); a group holds the position of
its first item, its count and its word. Groups are numbered in the order in which they are seen.
The invariants that everything rests on: most of the slots are empty, so that a probe ends; and an
empty slot holds a word whose first slot is another one, so that a word that is found in its
first slot is there indeed, whatever the slot's number says.
"""
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastsel._simd.blocks cimport fs_level_t, fs_prefetch
from fastsel._unique.keys cimport BATCH, is_unequal, keys_t, mix, same_key
from fastsel._core.scratch cimport give, take, take_zeros

cdef enum:
    # What find_or_add returns instead of a group.
    NO_MEMORY = -1
    FLOODED = -2            # too many probes: keys made to collide, or a hash that fails
    TOO_MANY = -3           # more groups than the table may hold
    # The budget of extra probes, for each key and for a batch of them to begin with. Random keys
    # take 0.4 per key at most.
    PROBES_PER_KEY = 16
    FIRST_SLOT_BITS = 8
    SMALL_SLOT_BITS = 12    # of a table of 48 KB; what is sixteen times as large still fits L2

ctypedef struct group_t:
    Py_ssize_t first        # position of its first item
    Py_ssize_t count
    uint64_t word

ctypedef struct table_t:
    uint64_t *words         # of the slots
    uint32_t *numbers       # of the slots
    group_t *groups
    Py_ssize_t length       # groups so far
    Py_ssize_t known        # of them, when look_up was last called
    Py_ssize_t most         # groups allowed
    int slot_bits           # log2 of the number of slots
    int skip_bits           # top bits of the hash that all its keys share
    Py_ssize_t lookups
    Py_ssize_t probes


cdef inline Py_ssize_t capacity(int slot_bits) noexcept nogil:
    """Groups in a table of so many slots: a quarter while it fits L1 or nearly, so that few keys
    are neither in their first slot nor in the next; then half, as it costs time to clear it."""
    return <Py_ssize_t>1 << (slot_bits - (2 if slot_bits <= SMALL_SLOT_BITS else 1))


cdef inline int table_start(table_t *table, const keys_t *keys, Py_ssize_t most, int skip_bits,
                            Py_ssize_t expected) noexcept nogil:
    """A new table for at most `most` groups; 0 or NO_MEMORY. Free it in both cases."""
    memset(table, 0, sizeof(table_t))
    table.most = most
    table.known = -BATCH            # the first keys are new
    table.skip_bits = skip_bits
    table.slot_bits = FIRST_SLOT_BITS
    while capacity(table.slot_bits) <= expected:
        table.slot_bits += 1
    table.words = <uint64_t *>take(sizeof(uint64_t) << table.slot_bits)
    table.numbers = <uint32_t *>take(sizeof(uint32_t) << table.slot_bits)
    table.groups = <group_t *>take(capacity(table.slot_bits) * sizeof(group_t))
    if table.words == NULL or table.numbers == NULL or table.groups == NULL:
        return NO_MEMORY
    table_clear(table, keys)
    return 0


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
                               const uint64_t *words, Py_ssize_t n, uint16_t *unfound,
                               uint32_t *numbers) noexcept nogil:
    """Look up to BATCH words up in their first two slots. numbers gets what is found, unless it is
    NULL; unfound gets the indices of words that are not there, for find_or_add; returns how many
    these are. No branch depends on a word, so there is none to mispredict. If more than three
    quarters of n groups were added since the last call, all are unfound."""
    cdef uint64_t[BATCH] slots
    cdef Py_ssize_t j, k, at, n_unfound = 0, n_left = 0, n_new = table.length - table.known
    cdef Py_ssize_t mask = (<Py_ssize_t>1 << table.slot_bits) - 1
    table.known = table.length
    if n_new > n - n // 4:
        for j in range(n):
            unfound[j] = <uint16_t>j
        return n
    level.slots(words, n, keys.seed, keys.factor, table.skip_bits, 64 - table.slot_bits, slots)
    for j in range(n):
        unfound[n_unfound] = <uint16_t>j
        n_unfound += table.words[slots[j]] != words[j]
    if numbers != NULL:
        for j in range(n):
            numbers[j] = table.numbers[slots[j]]
    for k in range(n_unfound):
        j = unfound[k]
        at = (slots[j] + 1) & mask
        unfound[n_left] = <uint16_t>j
        n_left += (table.words[at] != words[j]) | (table.numbers[at] == 0)
        if numbers != NULL:
            numbers[j] = table.numbers[at]
    return n_left


cdef inline Py_ssize_t confirm(const table_t *table, const keys_t *keys, Py_ssize_t start,
                               const uint32_t *positions, Py_ssize_t n, const uint32_t *numbers,
                               uint16_t *unfound, Py_ssize_t n_unfound) noexcept nogil:
    """Keys that are no words have been looked up by their hashes: those whose bytes differ from
    those of their group's first key are unfound, too. Returns how many are. Key j is at start + j,
    or at positions[j]; the first keys are prefetched before any is compared."""
    cdef uint8_t[BATCH] is_unfound
    cdef Py_ssize_t j, k, i
    memset(is_unfound, False, n)
    for k in range(n_unfound):
        is_unfound[unfound[k]] = True
    for j in range(n):
        if not is_unfound[j]:
            fs_prefetch(keys.data + table.groups[numbers[j] - 1].first * keys.width)
    n_unfound = 0
    for j in range(n):
        i = start + j if positions == NULL else positions[j]
        if is_unfound[j] or not same_key(keys, i, table.groups[numbers[j] - 1].first):
            unfound[n_unfound] = <uint16_t>j
            n_unfound += 1
    return n_unfound


cdef inline bint takes_batch(table_t *table, const keys_t *keys, Py_ssize_t n) noexcept nogil:
    """Should n words be added by add_words? Where more than one of eight was new in the batch
    before, to add them one after the other costs less than what look_up saves. There has to be
    room."""
    cdef Py_ssize_t n_new = table.length - table.known
    if 8 * n_new <= n or not keys.is_word or keys.rule.nan_unequal or keys.unequal != NULL:
        return False
    if table.length + n >= capacity(table.slot_bits) and not grow(table, keys):
        return False
    return table.length + n < min(table.most, capacity(table.slot_bits))


cdef inline bint add_words(table_t *table, const keys_t *keys, const fs_level_t *level,
                           const uint64_t *words, Py_ssize_t n, uint32_t *numbers) noexcept nogil:
    """Find or add n words, after takes_batch: the numbers of their groups plus one. What a new
    group has as its first item is which of the words it is. False if that takes too many probes.
    """
    cdef uint64_t[BATCH] slots
    cdef uint64_t *slot_words = table.words
    cdef uint32_t *slot_numbers = table.numbers
    cdef group_t *groups = table.groups
    cdef Py_ssize_t mask = (<Py_ssize_t>1 << table.slot_bits) - 1, length = table.length, j, at
    cdef Py_ssize_t left = PROBES_PER_KEY * (table.lookups + BATCH) - table.probes
    cdef Py_ssize_t budget = left
    cdef uint64_t word
    table.known = length
    level.slots(words, n, keys.seed, keys.factor, table.skip_bits, 64 - table.slot_bits, slots)
    for j in range(n):
        word, at = words[j], <Py_ssize_t>slots[j]
        while slot_numbers[at] and slot_words[at] != word:
            at = (at + 1) & mask
            left -= 1
            if left < 0:
                return False
        if slot_numbers[at] == 0:
            groups[length] = group_t(j, 0, word)
            length += 1
            slot_words[at], slot_numbers[at] = word, <uint32_t>length
        numbers[j] = slot_numbers[at]
    table.length = length
    table.lookups += n
    table.probes += budget - left
    return True


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
        if table.probes > PROBES_PER_KEY * (table.lookups + BATCH):
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
    if table.length == capacity(table.slot_bits) and not grow(table, keys):
        return NO_MEMORY
    return table.length - 1


cdef inline Py_ssize_t add_unequal(table_t *table, const keys_t *keys, Py_ssize_t i,
                                   uint64_t word) noexcept nogil:
    """A group of its own for key i, which equals no other and needs no slot; or a status."""
    if table.length == table.most:
        return TOO_MANY
    add_group(table, i, word)
    if table.length == capacity(table.slot_bits) and not grow(table, keys):
        return NO_MEMORY
    return table.length - 1


cdef inline void add_group(table_t *table, Py_ssize_t i, uint64_t word) noexcept nogil:
    table.groups[table.length].first = i
    table.groups[table.length].count = 0
    table.groups[table.length].word = word
    table.length += 1


cdef inline bint grow(table_t *table, const keys_t *keys) noexcept nogil:
    """Four times the slots; sixteen times if the table is small and half of all keys were new.
    False if there is no memory."""
    cdef bint fast = table.slot_bits <= SMALL_SLOT_BITS and 2 * table.length > table.lookups
    return resize(table, keys, capacity(table.slot_bits + (4 if fast else 2)) - 1)


cdef inline bint resize(table_t *table, const keys_t *keys, Py_ssize_t expected) noexcept nogil:
    """Slots for as many groups as are expected, filled from the groups; as grow."""
    cdef table_t larger
    cdef Py_ssize_t mask, group, at
    if table_start(&larger, keys, table.most, table.skip_bits, expected) != 0:
        table_free(&larger)
        return False
    mask = (<Py_ssize_t>1 << larger.slot_bits) - 1
    memcpy(larger.groups, table.groups, table.length * sizeof(group_t))
    for group in range(table.length):
        if is_unequal(keys, table.groups[group].first, table.groups[group].word):
            continue
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
