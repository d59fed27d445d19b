"""The hash table: looks up keys, and adds keys, one batch at a time."""
from libc.stdint cimport uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from fastsel._core.scratch cimport alloc, dealloc
from fastsel._simd.blocks cimport FS_REQUIRE, fs_prefetch, wide_t
from fastsel._simd.levels cimport level
from fastsel._unique.keys cimport BATCH, is_unequal, keys_t, mix

cdef enum:
    FIRST_SLOT_BITS = 8     # log2 of the slots of the smallest table
    # log2 of the slots of the largest table of at most 192 KiB, with ids: it fits the cache of a
    # core, and the slots of larger tables are prefetched.
    SMALL_SLOT_BITS = 14


cdef bint succeeded(Py_ssize_t status) except -1:
    """Is the status 0? Raises MemoryError if it is NO_MEMORY."""
    if status == NO_MEMORY:
        raise MemoryError()
    return status == 0


cdef int slot_bits_for(Py_ssize_t expected) noexcept nogil:
    cdef int slot_bits = FIRST_SLOT_BITS
    while capacity(slot_bits) < expected:
        slot_bits += 1
    return slot_bits


cdef size_t table_bytes(const keys_t *keys, bint with_ids, Py_ssize_t expected) noexcept nogil:
    """The bytes of a table that starts with room for `expected` groups."""
    cdef int slot_bits = slot_bits_for(expected)
    cdef size_t slot = max(keys.width, 4) if keys.is_word else 8
    cdef size_t group = sizeof(Py_ssize_t)
    if with_ids:
        slot, group = slot + sizeof(uint32_t), 2 * group
    return (slot << slot_bits) + group * capacity(slot_bits)


cdef int table_start(table_t *table, const keys_t *keys, bint with_ids, Py_ssize_t max_groups,
                     int skip_bits, Py_ssize_t expected) noexcept nogil:
    """Start a table with room for `expected` groups. Returns 0 or NO_MEMORY; in both cases the
    caller frees the table. A table of keys that are not words must have ids: otherwise the search
    for a key reads ids at NULL."""
    cdef size_t group_bytes
    FS_REQUIRE(keys.is_word or with_ids)
    memset(table, 0, sizeof(table_t))
    table.width = max(keys.width, 4) if keys.is_word else 8
    table.max_groups, table.skip_bits = max_groups, skip_bits
    table.slot_bits = slot_bits_for(expected)
    # One more group: add_unknown writes entry `length` even if the key is not new.
    group_bytes = (capacity(table.slot_bits) + 1) * sizeof(Py_ssize_t)
    table.slots = <char *>alloc(<size_t>table.width << table.slot_bits)
    table.first_positions = <Py_ssize_t *>alloc(group_bytes)
    if table.slots == NULL or table.first_positions == NULL:
        return NO_MEMORY
    if with_ids:
        table.ids_plus_1 = <uint32_t *>alloc(sizeof(uint32_t) << table.slot_bits)
        table.counts = <Py_ssize_t *>alloc(group_bytes)
        if table.ids_plus_1 == NULL or table.counts == NULL:
            return NO_MEMORY
    table_clear(table)
    return 0


cdef void table_clear(table_t *table) noexcept nogil:
    """Empty the table; its size stays."""
    memset(table.slots, 0, <size_t>table.width << table.slot_bits)
    if table.ids_plus_1 != NULL:
        memset(table.ids_plus_1, 0, sizeof(uint32_t) << table.slot_bits)
    table.seed_id_plus_1 = 0
    table.length = table.lookups = table.probes = 0


cdef void table_free(table_t *table) noexcept nogil:
    dealloc(table.slots)
    dealloc(table.ids_plus_1)
    dealloc(table.first_positions)
    dealloc(table.counts)


cdef inline Py_ssize_t capacity(int slot_bits) noexcept nogil:
    """The maximum number of groups of a table: a quarter of its slots if it is small, so that the
    first slot decides about most keys; otherwise half of its slots, because clearing slots takes
    time."""
    return <Py_ssize_t>1 << (slot_bits - (2 if slot_bits <= SMALL_SLOT_BITS else 1))


# ---- look up and add --------------------------------------------------------------------


cdef Py_ssize_t find_keys(const table_t *table, const keys_t *table_keys, const batch_t *batch,
                          uint32_t *slots) noexcept nogil:
    """Look up the keys of a batch in a table of table_keys: slots[j] becomes the slot of key j plus
    one, or 0 if the table does not have the key. If the table has the seed, which has no slot, the
    result for the seed is the number of slots plus one. Returns the number of extra probes."""
    cdef probes_t probes
    probe_first_slots(table, table_keys, batch, False, slots, &probes)
    if table.width == 4:
        return probe(table, <const uint32_t *>table.slots, table_keys, batch, &probes, slots)
    return probe(table, <const uint64_t *>table.slots, table_keys, batch, &probes, slots)


cdef Py_ssize_t add_keys(table_t *table, const batch_t *batch,
                         uint32_t *ids_plus_1) noexcept nogil:
    """Look up the keys of a batch, and add the keys that the table does not have, in their order.

    ids_plus_1 gets the group id of each key plus one, if the table has ids. With skips_unequal, its
    entry for a key that equals no other is undefined. Returns a status; it is GAVE_UP if the table
    would have to grow for n new groups, and would then have more than max_groups groups.
    """
    cdef Py_ssize_t length = table.length + batch.n
    if length > capacity(table.slot_bits):
        if length > table.max_groups:
            return GAVE_UP
        if table_resize(table, batch.keys, max(
                length, min(4 * capacity(table.slot_bits), table.max_groups))) != 0:
            return NO_MEMORY
    table.lookups += batch.n
    # The compiler inlines each call, with its constant arguments, as a loop of its own.
    if not batch.keys.is_word:
        return add_unknown(table, <uint64_t *>table.slots, batch, ids_plus_1, False)
    if table.width == 4:
        return add_unknown(table, <uint32_t *>table.slots, batch, ids_plus_1, True)
    return add_unknown(table, <uint64_t *>table.slots, batch, ids_plus_1, True)


cdef inline void probe_first_slots(const table_t *table, const keys_t *table_keys,
                                   const batch_t *batch, bint empty, uint32_t *slots,
                                   probes_t *probes) noexcept nogil:
    """Compare the keys with their first slots; for words, no branch depends on the result. slots[j]
    becomes the first slot of key j plus one if it has the key, otherwise 0. With `empty`, keys
    whose first slot is empty are unknown, too."""
    cdef Py_ssize_t j
    level.hash_to_slots(batch.words, batch.n, batch.keys.seed, batch.keys.factor, table.skip_bits,
                        64 - table.slot_bits, probes.first_slots)
    if table.slot_bits > SMALL_SLOT_BITS:
        for j in range(batch.n):
            fs_prefetch(table.slots + probes.first_slots[j] * table.width)
    probes.n_unknown = level.probe_first_slots[table.width == 8](
        batch.words, batch.n, batch.keys.seed, table.slots, probes.first_slots, empty, slots,
        probes.unknown)
    if not batch.keys.is_word:
        confirm(table, table_keys, batch, slots, probes)


cdef inline void confirm(const table_t *table, const keys_t *table_keys, const batch_t *batch,
                         uint32_t *slots, probes_t *probes) noexcept nogil:
    """Compare the bytes of keys that were found by their hashes: a key whose bytes differ becomes
    unknown. In a large table, all keys to compare with are prefetched before the first comparison.
    """
    cdef Py_ssize_t j
    if table.slot_bits > SMALL_SLOT_BITS:
        for j in range(batch.n):
            if slots[j]:
                fs_prefetch(key_in(table, table_keys, slots[j] - 1))
    for j in range(batch.n):
        if slots[j] and not same_bytes(
                table, table_keys, slots[j] - 1, batch.keys, batch.positions[j]):
            slots[j] = 0
            probes.unknown[probes.n_unknown] = <uint16_t>j
            probes.n_unknown += 1


cdef inline bint same_bytes(const table_t *table, const keys_t *table_keys, Py_ssize_t slot,
                            const keys_t *keys, Py_ssize_t i) noexcept nogil:
    return memcmp(key_in(table, table_keys, slot), keys.data + i * keys.width, keys.width) == 0


cdef inline const char *key_in(const table_t *table, const keys_t *table_keys,
                               Py_ssize_t slot) noexcept nogil:
    """The first key of the group of a slot."""
    return table_keys.data + table.first_positions[table.ids_plus_1[slot] - 1] * table_keys.width


cdef inline Py_ssize_t probe(const table_t *table, const wide_t *table_words,
                             const keys_t *table_keys, const batch_t *batch,
                             const probes_t *probes, uint32_t *slots) noexcept nogil:
    """Look up the unknown keys one by one, from their first slots on. Returns the number of extra
    probes."""
    cdef const keys_t *keys = batch.keys
    cdef const uint64_t *words = batch.words
    cdef Py_ssize_t mask = (<Py_ssize_t>1 << table.slot_bits) - 1
    cdef Py_ssize_t extra = 0, j, k, slot
    cdef wide_t word
    for k in range(probes.n_unknown):
        j = probes.unknown[k]
        word, slot = <wide_t>words[j] ^ <wide_t>keys.seed, <Py_ssize_t>probes.first_slots[j]
        if word == 0:           # the seed, which has no slot
            slots[j] = <uint32_t>(mask + 2) if table.seed_id_plus_1 else 0
            continue
        while table_words[slot] != 0 and (table_words[slot] != word or not (
                keys.is_word or same_bytes(table, table_keys, slot, keys, batch.positions[j]))):
            slot = (slot + 1) & mask
            extra += 1
        slots[j] = <uint32_t>(slot + 1) if table_words[slot] != 0 else 0
    return extra


cdef inline Py_ssize_t add_unknown(table_t *table, wide_t *table_words, const batch_t *batch,
                                   uint32_t *ids_plus_1, bint is_word) noexcept nogil:
    """add_keys for slots of one width. All keys are compared with their first slots; then the
    unknown keys are looked up one by one, and added if the table does not have them."""
    cdef probes_t probes
    cdef uint32_t[BATCH] slots
    cdef const keys_t *keys = batch.keys
    cdef const uint64_t *words = batch.words
    cdef const Py_ssize_t *positions = batch.positions
    cdef uint32_t *slot_ids_plus_1 = table.ids_plus_1
    cdef Py_ssize_t mask = (<Py_ssize_t>1 << table.slot_bits) - 1, length = table.length
    cdef Py_ssize_t left = PROBES_PER_KEY * (table.lookups + BATCH) - table.probes, budget = left
    cdef Py_ssize_t j, k, i, slot
    cdef wide_t word
    cdef uint32_t id_plus_1 = 0
    cdef bint added
    cdef bint with_ids = slot_ids_plus_1 != NULL
    cdef bint any_unequal = keys.rule.nan_unequal or keys.unequal != NULL
    probe_first_slots(table, keys, batch, True, slots, &probes)
    if not is_word:             # the keys that `confirm` has listed last are out of order
        probes.n_unknown = 0
        for j in range(batch.n):
            probes.unknown[probes.n_unknown] = <uint16_t>j
            probes.n_unknown += slots[j] == 0
    for j in range(batch.n if with_ids else 0):
        ids_plus_1[j] = slot_ids_plus_1[probes.first_slots[j]]
    for k in range(probes.n_unknown):
        j = probes.unknown[k]
        i, slot = positions[j], <Py_ssize_t>probes.first_slots[j]
        word = <wide_t>words[j] ^ <wide_t>keys.seed
        if table.skips_unequal and any_unequal and is_unequal(keys, i, words[j]):
            continue
        if word == 0 or (any_unequal and is_unequal(keys, i, words[j])):
            added = table.seed_id_plus_1 == 0 or is_unequal(keys, i, words[j])
            id_plus_1 = <uint32_t>(length + 1) if added else table.seed_id_plus_1
            if not is_unequal(keys, i, words[j]):
                table.seed_id_plus_1 = id_plus_1
        else:
            while table_words[slot] != 0 and (table_words[slot] != word or not (
                    is_word or same_bytes(table, keys, slot, keys, i))):
                slot = (slot + 1) & mask
                left -= 1
            if left < 0:
                return GAVE_UP
            added = table_words[slot] == 0
            table_words[slot] = word
            if with_ids:
                id_plus_1 = <uint32_t>(length + 1) if added else slot_ids_plus_1[slot]
                slot_ids_plus_1[slot] = id_plus_1
        if with_ids:
            table.counts[length], ids_plus_1[j] = 0, id_plus_1
        table.first_positions[length] = i
        length += added
    table.length = length
    table.probes += budget - left
    return 0


# ---- growth -----------------------------------------------------------------------------


cdef int table_resize(table_t *table, const keys_t *keys, Py_ssize_t expected) noexcept nogil:
    """Make room for `expected` groups; `expected` is at least table.length. Returns 0 or NO_MEMORY.
    After NO_MEMORY the table is unchanged."""
    cdef table_t larger
    if table_start(&larger, keys, table.ids_plus_1 != NULL, table.max_groups, table.skip_bits,
                   expected) != 0:
        table_free(&larger)
        return NO_MEMORY
    memcpy(larger.first_positions, table.first_positions, table.length * sizeof(Py_ssize_t))
    if table.counts != NULL:
        memcpy(larger.counts, table.counts, table.length * sizeof(Py_ssize_t))
    if table.width == 4:
        move_words(table, <uint32_t *>table.slots, &larger, <uint32_t *>larger.slots, keys)
    else:
        move_words(table, <uint64_t *>table.slots, &larger, <uint64_t *>larger.slots, keys)
    larger.length, larger.seed_id_plus_1 = table.length, table.seed_id_plus_1
    larger.lookups, larger.probes = table.lookups, table.probes
    larger.skips_unequal = table.skips_unequal
    table_free(table)
    table[0] = larger
    return 0


cdef inline void move_words(const table_t *table, const wide_t *slots, const table_t *larger,
                            wide_t *new_slots, const keys_t *keys) noexcept nogil:
    cdef Py_ssize_t mask = (<Py_ssize_t>1 << larger.slot_bits) - 1, old_slot, new_slot
    cdef uint64_t hash
    for old_slot in range(<Py_ssize_t>1 << table.slot_bits):
        if slots[old_slot] == 0:
            continue
        hash = mix(keys, slots[old_slot] ^ <wide_t>keys.seed)
        new_slot = <Py_ssize_t>((hash << larger.skip_bits) >> (64 - larger.slot_bits))
        while new_slots[new_slot]:
            new_slot = (new_slot + 1) & mask
        new_slots[new_slot] = slots[old_slot]
        if table.ids_plus_1 != NULL:
            larger.ids_plus_1[new_slot] = table.ids_plus_1[old_slot]
