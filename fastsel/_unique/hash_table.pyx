"""The hash table: keys are added a batch at a time."""
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastsel._core.scratch cimport give, take
from fastsel._simd.blocks cimport fs_level_t, fs_prefetch
from fastsel._simd.levels cimport fs_level
from fastsel._unique.keys cimport BATCH, is_unequal, keys_t, mix, same_key, wide_t

cdef const fs_level_t *level = fs_level()

cdef enum:
    SMALL_SLOT_BITS = 12    # of a table that fits L1 or nearly


cdef int slot_bits_for(Py_ssize_t expected) noexcept nogil:
    cdef int slot_bits = FIRST_SLOT_BITS
    while capacity(slot_bits) < expected:
        slot_bits += 1
    return slot_bits


cdef size_t table_bytes(const keys_t *keys, bint numbered, Py_ssize_t expected) noexcept nogil:
    """What a table takes that starts with room for the expected keys."""
    cdef int slot_bits = slot_bits_for(expected)
    cdef size_t slot = max(keys.width, 4) if keys.is_word else 8
    cdef size_t group = sizeof(Py_ssize_t)
    if numbered:
        slot, group = slot + sizeof(uint32_t), 2 * group
    return (slot << slot_bits) + group * capacity(slot_bits)


cdef int table_start(table_t *table, const keys_t *keys, bint numbered, Py_ssize_t most,
                     int skip_bits, Py_ssize_t expected) noexcept nogil:
    """A new table, with room for the expected keys; 0 or NO_MEMORY. Free it in both cases. That of
    keys that are no words is numbered."""
    cdef size_t room
    memset(table, 0, sizeof(table_t))
    table.width = max(keys.width, 4) if keys.is_word else 8
    table.most, table.skip_bits, table.slot_bits = most, skip_bits, slot_bits_for(expected)
    room = (capacity(table.slot_bits) + 1) * sizeof(Py_ssize_t)
    table.slots = <char *>take(<size_t>table.width << table.slot_bits)
    table.firsts = <Py_ssize_t *>take(room)
    if table.slots == NULL or table.firsts == NULL:
        return NO_MEMORY
    if numbered:
        table.numbers = <uint32_t *>take(sizeof(uint32_t) << table.slot_bits)
        table.counts = <Py_ssize_t *>take(room)
        if table.numbers == NULL or table.counts == NULL:
            return NO_MEMORY
    table_clear(table)
    return 0


cdef void table_clear(table_t *table) noexcept nogil:
    """Empty, with the size it has."""
    memset(table.slots, 0, <size_t>table.width << table.slot_bits)
    if table.numbers != NULL:
        memset(table.numbers, 0, sizeof(uint32_t) << table.slot_bits)
    table.seed_number = 0
    table.length = table.lookups = table.probes = 0


cdef void table_free(table_t *table) noexcept nogil:
    give(table.slots)
    give(table.numbers)
    give(table.firsts)
    give(table.counts)


cdef inline Py_ssize_t capacity(int slot_bits) noexcept nogil:
    """Keys in so many slots: a quarter while the table is small, so that nearly all keys are in
    their first slot; then half, as it costs time to clear it."""
    return <Py_ssize_t>1 << (slot_bits - (2 if slot_bits <= SMALL_SLOT_BITS else 1))


cdef Py_ssize_t add_keys(table_t *table, const keys_t *keys, const uint64_t *words, Py_ssize_t n,
                         Py_ssize_t start, const Py_ssize_t *positions,
                         uint32_t *numbers) noexcept nogil:
    """Add n <= BATCH keys, in turn; returns 0 or a status. Key j is at start + j, or at
    positions[j], and has that word. numbers gets the numbers of their groups plus one, and is NULL
    if the slots are not numbered.

    That there may be too many keys, as if all n were new, is said before more memory is taken."""
    cdef uint64_t[BATCH] first_slots
    if table.length + n > capacity(table.slot_bits):
        if table.length + n > table.most:
            return TOO_MANY
        if table_resize(table, keys, max(
                table.length + n, min(4 * capacity(table.slot_bits), table.most))) != 0:
            return NO_MEMORY
    level.slots(
        words, n, keys.seed, keys.factor, table.skip_bits, 64 - table.slot_bits, first_slots)
    table.lookups += n
    # A loop for each: with constants for arguments.
    if not keys.is_word:
        return add_from(table, <uint64_t *>table.slots, keys, words, first_slots, n, start,
                        positions, numbers, False)
    if table.width == 4:
        return add_from(table, <uint32_t *>table.slots, keys, words, first_slots, n, start,
                        positions, numbers, True)
    return add_from(table, <uint64_t *>table.slots, keys, words, first_slots, n, start,
                    positions, numbers, True)


cdef inline Py_ssize_t add_from(table_t *table, wide_t *slots, const keys_t *keys,
                                const uint64_t *words, const uint64_t *first_slots, Py_ssize_t n,
                                Py_ssize_t start, const Py_ssize_t *positions, uint32_t *numbers,
                                bint is_word) noexcept nogil:
    """The same, from their first slots on. Which keys are not in these is found without a branch,
    so there is none to mispredict."""
    cdef uint16_t[BATCH] unfound
    cdef uint32_t *slot_numbers = table.numbers
    cdef Py_ssize_t *firsts = table.firsts
    cdef Py_ssize_t *counts = table.counts
    cdef Py_ssize_t mask = (<Py_ssize_t>1 << table.slot_bits) - 1, length = table.length
    cdef Py_ssize_t left = PROBES_PER_KEY * (table.lookups + BATCH) - table.probes, budget = left
    cdef Py_ssize_t n_unfound = 0, j, k, i, at
    cdef wide_t seed = <wide_t>keys.seed, word
    cdef uint32_t number = 0
    cdef bint added
    cdef bint any_unequal = keys.rule.nan_unequal or keys.unequal != NULL
    for j in range(n):
        word = <wide_t>words[j] ^ seed
        unfound[n_unfound] = <uint16_t>j
        n_unfound += (slots[first_slots[j]] != word) | (word == 0)
    if numbers != NULL:
        for j in range(n):
            numbers[j] = slot_numbers[first_slots[j]]
    if not is_word:
        n_unfound = confirm(table, keys, start, positions, n, numbers, unfound, n_unfound)
    for k in range(n_unfound):
        j = unfound[k]
        i = start + j if positions == NULL else positions[j]
        word, at = <wide_t>words[j] ^ seed, <Py_ssize_t>first_slots[j]
        if word == 0 or (any_unequal and is_unequal(keys, i, words[j])):
            added = table.seed_number == 0 or is_unequal(keys, i, words[j])
            number = <uint32_t>(length + 1) if added else table.seed_number
            if not is_unequal(keys, i, words[j]):
                table.seed_number = number
        else:
            while slots[at] != 0 and (slots[at] != word or not (
                    is_word or same_key(keys, i, firsts[slot_numbers[at] - 1]))):
                at = (at + 1) & mask
                left -= 1
            if left < 0:
                return FLOODED
            added = slots[at] == 0
            slots[at] = word
            if numbers != NULL:
                number = <uint32_t>(length + 1) if added else slot_numbers[at]
                slot_numbers[at] = number
        if numbers != NULL:
            counts[length], numbers[j] = 0, number
        firsts[length] = i
        length += added
    table.length = length
    table.probes += budget - left
    return 0


cdef inline Py_ssize_t confirm(const table_t *table, const keys_t *keys, Py_ssize_t start,
                               const Py_ssize_t *positions, Py_ssize_t n, const uint32_t *numbers,
                               uint16_t *unfound, Py_ssize_t n_unfound) noexcept nogil:
    """Keys that are no words have been looked up by their hashes: those whose bytes differ from
    those of their group's first key are unfound, too. Returns how many are. The first keys are
    prefetched before any is compared."""
    cdef uint8_t[BATCH] is_unfound
    cdef Py_ssize_t j, k, i
    memset(is_unfound, False, n)
    for k in range(n_unfound):
        is_unfound[unfound[k]] = True
    for j in range(n):
        if not is_unfound[j]:
            fs_prefetch(keys.data + table.firsts[numbers[j] - 1] * keys.width)
    n_unfound = 0
    for j in range(n):
        i = start + j if positions == NULL else positions[j]
        if is_unfound[j] or not same_key(keys, i, table.firsts[numbers[j] - 1]):
            unfound[n_unfound] = <uint16_t>j
            n_unfound += 1
    return n_unfound


cdef int table_resize(table_t *table, const keys_t *keys, Py_ssize_t expected) noexcept nogil:
    """Room for the expected keys, at least as many as there are; 0 or NO_MEMORY."""
    cdef table_t larger
    if table_start(&larger, keys, table.numbers != NULL, table.most, table.skip_bits,
                   expected) != 0:
        table_free(&larger)
        return NO_MEMORY
    memcpy(larger.firsts, table.firsts, table.length * sizeof(Py_ssize_t))
    if table.counts != NULL:
        memcpy(larger.counts, table.counts, table.length * sizeof(Py_ssize_t))
    if table.width == 4:
        move_words(table, <uint32_t *>table.slots, &larger, <uint32_t *>larger.slots, keys)
    else:
        move_words(table, <uint64_t *>table.slots, &larger, <uint64_t *>larger.slots, keys)
    larger.length, larger.seed_number = table.length, table.seed_number
    larger.lookups, larger.probes = table.lookups, table.probes
    table_free(table)
    table[0] = larger
    return 0


cdef inline void move_words(const table_t *table, const wide_t *slots, const table_t *larger,
                            wide_t *new_slots, const keys_t *keys) noexcept nogil:
    cdef Py_ssize_t mask = (<Py_ssize_t>1 << larger.slot_bits) - 1, old, at
    for old in range(<Py_ssize_t>1 << table.slot_bits):
        if slots[old] == 0:
            continue
        at = first_slot(larger, mix(keys, slots[old] ^ <wide_t>keys.seed))
        while new_slots[at]:
            at = (at + 1) & mask
        new_slots[at] = slots[old]
        if table.numbers != NULL:
            larger.numbers[at] = table.numbers[old]


cdef inline Py_ssize_t first_slot(const table_t *table, uint64_t hash) noexcept nogil:
    return <Py_ssize_t>((hash << table.skip_bits) >> (64 - table.slot_bits))
