"""The hash table: keys are looked up, and added, a batch at a time."""
from libc.stdint cimport uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from fastsel._core.scratch cimport alloc, free
from fastsel._simd.blocks cimport fs_level_t, fs_prefetch
from fastsel._simd.levels cimport fs_level
from fastsel._unique.keys cimport BATCH, is_unequal, keys_t, mix, wide_t

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
    table.slots = <char *>alloc(<size_t>table.width << table.slot_bits)
    table.firsts = <Py_ssize_t *>alloc(room)
    if table.slots == NULL or table.firsts == NULL:
        return NO_MEMORY
    if numbered:
        table.numbers = <uint32_t *>alloc(sizeof(uint32_t) << table.slot_bits)
        table.counts = <Py_ssize_t *>alloc(room)
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
    free(table.slots)
    free(table.numbers)
    free(table.firsts)
    free(table.counts)


cdef inline Py_ssize_t capacity(int slot_bits) noexcept nogil:
    """Keys in so many slots: a quarter while the table is small, so that nearly all keys are in
    their first slot; then half, as it costs time to clear it."""
    return <Py_ssize_t>1 << (slot_bits - (2 if slot_bits <= SMALL_SLOT_BITS else 1))


# ---- look up and add --------------------------------------------------------------------


cdef Py_ssize_t find_keys(const table_t *table, const keys_t *own, const keys_t *keys,
                          const uint64_t *words, Py_ssize_t n, const Py_ssize_t *positions,
                          uint32_t *slots) noexcept nogil:
    """The slots of n <= BATCH keys in a table of `own` keys, plus one; 0 of those that are not
    there. Key j is at positions[j] of `keys`, and has that word. Returns how many further slots
    were probed."""
    cdef uint64_t[BATCH] first_slots
    cdef uint16_t[BATCH] unknown
    cdef Py_ssize_t n_unknown = probe_first_slots(
        table, own, keys, words, n, positions, first_slots, slots, unknown)
    if table.width == 4:
        return probe(table, <const uint32_t *>table.slots, own, keys, words, first_slots,
                     positions, unknown, n_unknown, slots)
    return probe(table, <const uint64_t *>table.slots, own, keys, words, first_slots, positions,
                 unknown, n_unknown, slots)


cdef Py_ssize_t add_keys(table_t *table, const keys_t *keys, const uint64_t *words, Py_ssize_t n,
                         const Py_ssize_t *positions, uint32_t *numbers) noexcept nogil:
    """Find n <= BATCH keys, and add those that are not there, in turn; returns 0 or a status.
    `numbers` gets the groups of the keys, plus one, and is NULL if the slots are not numbered.

    Returns TOO_MANY before it grows, assuming that all n keys are new."""
    if table.length + n > capacity(table.slot_bits):
        if table.length + n > table.most:
            return TOO_MANY
        if table_resize(table, keys, max(
                table.length + n, min(4 * capacity(table.slot_bits), table.most))) != 0:
            return NO_MEMORY
    table.lookups += n
    # A loop for each: with constants for arguments.
    if not keys.is_word:
        return add_unknown(table, <uint64_t *>table.slots, keys, words, n, positions, numbers,
                           False)
    if table.width == 4:
        return add_unknown(table, <uint32_t *>table.slots, keys, words, n, positions, numbers, True)
    return add_unknown(table, <uint64_t *>table.slots, keys, words, n, positions, numbers, True)


cdef inline Py_ssize_t probe_first_slots(const table_t *table, const keys_t *own,
                                         const keys_t *keys, const uint64_t *words, Py_ssize_t n,
                                         const Py_ssize_t *positions, uint64_t *first_slots,
                                         uint32_t *slots, uint16_t *unknown) noexcept nogil:
    """What the first slots of n keys decide, without a branch that could be mispredicted: `slots`
    as for `find_keys`; `unknown` gets the keys that further slots may have, and returns how many
    these are."""
    cdef Py_ssize_t n_unknown, j
    level.hash_to_slots(
        words, n, keys.seed, keys.factor, table.skip_bits, 64 - table.slot_bits, first_slots)
    if table.slot_bits >= PREFETCHED_SLOT_BITS:
        for j in range(n):
            fs_prefetch(table.slots + first_slots[j] * table.width)
    n_unknown = level.probe_first_slots[table.width == 8](
        words, n, keys.seed, table.slots, first_slots, slots, unknown)
    if not keys.is_word:
        n_unknown = confirm(table, own, keys, n, positions, slots, unknown, n_unknown)
    return n_unknown


cdef inline Py_ssize_t confirm(const table_t *table, const keys_t *own, const keys_t *keys,
                               Py_ssize_t n, const Py_ssize_t *positions, uint32_t *slots,
                               uint16_t *unknown, Py_ssize_t n_unknown) noexcept nogil:
    """Keys that are no words were found by their hashes: those whose bytes differ are unknown, too.
    Returns how many are. The keys of the table are prefetched before any is compared."""
    cdef Py_ssize_t j
    for j in range(n):
        if slots[j]:
            fs_prefetch(key_in(table, own, slots[j] - 1))
    for j in range(n):
        if slots[j] and not same_bytes(table, own, slots[j] - 1, keys, positions[j]):
            slots[j] = 0
            unknown[n_unknown] = <uint16_t>j
            n_unknown += 1
    return n_unknown


cdef inline bint same_bytes(const table_t *table, const keys_t *own, Py_ssize_t slot,
                            const keys_t *keys, Py_ssize_t i) noexcept nogil:
    return memcmp(key_in(table, own, slot), keys.data + i * keys.width, keys.width) == 0


cdef inline const char *key_in(const table_t *table, const keys_t *own,
                               Py_ssize_t slot) noexcept nogil:
    """The first key of the group of a slot."""
    return own.data + table.firsts[table.numbers[slot] - 1] * own.width


cdef inline Py_ssize_t probe(const table_t *table, const wide_t *held, const keys_t *own,
                             const keys_t *keys, const uint64_t *words,
                             const uint64_t *first_slots, const Py_ssize_t *positions,
                             const uint16_t *unknown, Py_ssize_t n_unknown,
                             uint32_t *slots) noexcept nogil:
    """Look for keys one by one, from their first slots on; returns how many more it took."""
    cdef Py_ssize_t mask = (<Py_ssize_t>1 << table.slot_bits) - 1
    cdef Py_ssize_t probes = 0, j, k, at
    cdef wide_t word
    for k in range(n_unknown):
        j = unknown[k]
        word, at = <wide_t>words[j] ^ <wide_t>keys.seed, <Py_ssize_t>first_slots[j]
        if word == 0:           # the one without a slot
            slots[j] = <uint32_t>(mask + 2) if table.seed_number else 0
            continue
        while held[at] != 0 and (held[at] != word or not (
                keys.is_word or same_bytes(table, own, at, keys, positions[j]))):
            at = (at + 1) & mask
            probes += 1
        slots[j] = <uint32_t>(at + 1) if held[at] != 0 else 0
    return probes


cdef inline Py_ssize_t add_unknown(table_t *table, wide_t *held, const keys_t *keys,
                                   const uint64_t *words, Py_ssize_t n,
                                   const Py_ssize_t *positions, uint32_t *numbers,
                                   bint is_word) noexcept nogil:
    """The keys that are not in their first slots, one by one."""
    cdef uint64_t[BATCH] first_slots
    cdef uint32_t[BATCH] slots
    cdef uint16_t[BATCH] unknown
    cdef uint32_t *slot_numbers = table.numbers
    cdef Py_ssize_t mask = (<Py_ssize_t>1 << table.slot_bits) - 1, length = table.length
    cdef Py_ssize_t left = PROBES_PER_KEY * (table.lookups + BATCH) - table.probes, budget = left
    cdef Py_ssize_t n_unknown = probe_first_slots(
        table, keys, keys, words, n, positions, first_slots, slots, unknown)
    cdef Py_ssize_t j, k, i, at
    cdef wide_t word
    cdef uint32_t number = 0
    cdef bint added
    cdef bint any_unequal = keys.rule.nan_unequal or keys.unequal != NULL
    for k in range(n_unknown):
        slots[unknown[k]] = 0
    n_unknown = 0
    for j in range(n):          # those whose slot is empty, too
        unknown[n_unknown] = <uint16_t>j
        n_unknown += slots[j] == 0
    if numbers != NULL:
        for j in range(n):
            numbers[j] = slot_numbers[first_slots[j]]
    for k in range(n_unknown):
        j = unknown[k]
        i, at = positions[j], <Py_ssize_t>first_slots[j]
        word = <wide_t>words[j] ^ <wide_t>keys.seed
        if table.skips_unequal and any_unequal and is_unequal(keys, i, words[j]):
            continue
        if word == 0 or (any_unequal and is_unequal(keys, i, words[j])):
            added = table.seed_number == 0 or is_unequal(keys, i, words[j])
            number = <uint32_t>(length + 1) if added else table.seed_number
            if not is_unequal(keys, i, words[j]):
                table.seed_number = number
        else:
            while held[at] != 0 and (held[at] != word or not (
                    is_word or same_bytes(table, keys, at, keys, i))):
                at = (at + 1) & mask
                left -= 1
            if left < 0:
                return FLOODED
            added = held[at] == 0
            held[at] = word
            if numbers != NULL:
                number = <uint32_t>(length + 1) if added else slot_numbers[at]
                slot_numbers[at] = number
        if numbers != NULL:
            table.counts[length], numbers[j] = 0, number
        table.firsts[length] = i
        length += added
    table.length = length
    table.probes += budget - left
    return 0


# ---- growth -----------------------------------------------------------------------------


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
    larger.skips_unequal = table.skips_unequal
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
