"""The hash table: keys are added a batch at a time."""
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastsel._core.scratch cimport give, take
from fastsel._simd.blocks cimport fs_level_t, fs_prefetch
from fastsel._simd.levels cimport fs_level
from fastsel._unique.keys cimport BATCH, is_unequal, keys_t, mix, same_key, wide_t

cdef const fs_level_t *level = fs_level()

cdef enum:
    # The budget of extra probes, for each key and for a batch of them to begin with. Random keys
    # take 0.4 per key at most.
    PROBES_PER_KEY = 16
    SMALL_SLOT_BITS = 12    # of a table that fits L1 or nearly


cdef int table_start(table_t *table, const keys_t *keys, bint payload, Py_ssize_t most,
                     int skip_bits, Py_ssize_t expected) noexcept nogil:
    """A new table, with room for the expected keys; 0 or NO_MEMORY. Free it in both cases."""
    memset(table, 0, sizeof(table_t))
    table.width = max(keys.width, 4) if keys.is_word else 8
    table.most, table.skip_bits, table.slot_bits = most, skip_bits, FIRST_SLOT_BITS
    while capacity(table.slot_bits) < expected:
        table.slot_bits += 1
    table.slots = <char *>take(<size_t>table.width << table.slot_bits)
    if table.slots == NULL:
        return NO_MEMORY
    if payload:
        table.numbers = <uint32_t *>take(sizeof(uint32_t) << table.slot_bits)
        table.groups = <group_t *>take((capacity(table.slot_bits) + 1) * sizeof(group_t))
        if table.numbers == NULL or table.groups == NULL:
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
    give(table.groups)


cdef inline Py_ssize_t capacity(int slot_bits) noexcept nogil:
    """Keys in so many slots: a quarter while the table is small, so that nearly all keys are in
    their first slot; then half, as it costs time to clear it."""
    return <Py_ssize_t>1 << (slot_bits - (2 if slot_bits <= SMALL_SLOT_BITS else 1))


cdef Py_ssize_t add_keys(table_t *table, const keys_t *keys, const uint64_t *words, Py_ssize_t n,
                         Py_ssize_t start, const Py_ssize_t *positions, uint32_t *numbers,
                         uint8_t *is_new) noexcept nogil:
    """Add n <= BATCH keys, in turn; returns 0 or a status. Key j is at start + j, or at
    positions[j], and has that word. numbers gets the numbers of their groups plus one; of a set, of
    words alone, it is NULL, and is_new says which of them are new.

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
                        positions, numbers, NULL, False)
    if table.width == 4 and numbers == NULL:
        return add_from(table, <uint32_t *>table.slots, keys, words, first_slots, n, start,
                        positions, NULL, is_new, True)
    if table.width == 4:
        return add_from(table, <uint32_t *>table.slots, keys, words, first_slots, n, start,
                        positions, numbers, NULL, True)
    if numbers == NULL:
        return add_from(table, <uint64_t *>table.slots, keys, words, first_slots, n, start,
                        positions, NULL, is_new, True)
    return add_from(table, <uint64_t *>table.slots, keys, words, first_slots, n, start,
                    positions, numbers, NULL, True)


cdef inline Py_ssize_t add_from(table_t *table, wide_t *slots, const keys_t *keys,
                                const uint64_t *words, const uint64_t *first_slots, Py_ssize_t n,
                                Py_ssize_t start, const Py_ssize_t *positions, uint32_t *numbers,
                                uint8_t *is_new, bint is_word) noexcept nogil:
    """The same, from their first slots on. Which keys are not in these is found without a branch,
    so there is none to mispredict."""
    cdef uint16_t[BATCH] unfound
    cdef uint32_t *slot_numbers = table.numbers
    cdef group_t *groups = table.groups
    cdef Py_ssize_t mask = (<Py_ssize_t>1 << table.slot_bits) - 1, length = table.length
    cdef Py_ssize_t left = PROBES_PER_KEY * (table.lookups + BATCH) - table.probes, budget = left
    cdef Py_ssize_t n_unfound = 0, j, k, i, at
    cdef wide_t seed = <wide_t>keys.seed, word
    cdef bint added
    cdef bint any_unequal = keys.rule.nan_unequal or keys.unequal != NULL
    for j in range(n):
        word = <wide_t>words[j] ^ seed
        unfound[n_unfound] = <uint16_t>j
        n_unfound += (slots[first_slots[j]] != word) | (word == 0)
    if numbers == NULL:
        memset(is_new, 0, n)
    else:
        for j in range(n):
            numbers[j] = slot_numbers[first_slots[j]]
    if not is_word:
        n_unfound = confirm(table, keys, start, positions, n, numbers, unfound, n_unfound)
    for k in range(n_unfound):
        j = unfound[k]
        i = start + j if positions == NULL else positions[j]
        word, at = <wide_t>words[j] ^ seed, <Py_ssize_t>first_slots[j]
        if word == 0 or (any_unequal and is_unequal(keys, i, words[j])):
            length = add_apart(table, keys, i, words[j], length, numbers, is_new, j)
            continue
        while slots[at] != 0 and (slots[at] != word or not (
                is_word or same_key(keys, i, groups[slot_numbers[at] - 1].first))):
            at = (at + 1) & mask
            left -= 1
        if left < 0:
            return FLOODED
        added = slots[at] == 0
        slots[at] = word
        if numbers == NULL:
            is_new[j] = added
        else:
            if added:
                groups[length] = group_t(i, 0, words[j])
                slot_numbers[at] = <uint32_t>(length + 1)
            numbers[j] = slot_numbers[at]
        length += added
    table.length = length
    table.probes += budget - left
    return 0


cdef inline Py_ssize_t add_apart(table_t *table, const keys_t *keys, Py_ssize_t i, uint64_t word,
                                 Py_ssize_t length, uint32_t *numbers, uint8_t *is_new,
                                 Py_ssize_t j) noexcept nogil:
    """Add a key without a slot, one that equals no other or the seed, to so many; returns how many
    there are then."""
    cdef bint is_seed = not is_unequal(keys, i, word)
    cdef bint added = not is_seed or table.seed_number == 0
    cdef uint32_t number = <uint32_t>(length + 1) if added else table.seed_number
    if is_seed:
        table.seed_number = number
    if numbers == NULL:
        is_new[j] = added
        return length
    numbers[j] = number
    if added:
        table.groups[length] = group_t(i, 0, word)
    return length + added


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
            fs_prefetch(keys.data + table.groups[numbers[j] - 1].first * keys.width)
    n_unfound = 0
    for j in range(n):
        i = start + j if positions == NULL else positions[j]
        if is_unfound[j] or not same_key(keys, i, table.groups[numbers[j] - 1].first):
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
    if table.numbers != NULL:
        memcpy(larger.groups, table.groups, table.length * sizeof(group_t))
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
