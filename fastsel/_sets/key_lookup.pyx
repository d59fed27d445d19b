"""The keys of one array, the tests, are added to a hash table; the keys of another array, the
items, are looked up in this table, one batch at a time. Both arrays may have been scattered before.
A side (lookup_t) is one of the two arrays, and its outputs.

If another thread changes a key meanwhile, only the results for this key, and for keys that equal
its old or new value, are undefined.
"""
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from fastsel._core.scratch cimport alloc, free
from fastsel._sets.lookup_output cimport mark_first, room_for, write
from fastsel._unique.hash_table cimport (
    FLOODED, NO_MEMORY, PROBES_PER_KEY, add_keys, batch_of, batch_t, find_keys, table_t)
from fastsel._unique.keys cimport BATCH, keys_t, load_words


cdef Py_ssize_t compare_ranges(const lookup_t *items, const lookup_t *tests,
                               table_t *table) noexcept nogil:
    """Add the tests to an empty table, and look up the items. If tests.mask is wanted, look up the
    tests among the marked slots. Returns 0 or a status."""
    cdef uint8_t *marks = NULL
    cdef uint32_t *by_slot = NULL
    cdef lookup_t side = items[0]
    cdef Py_ssize_t status
    table.skips_unequal = True
    status = add_tests(tests, table)
    if status == 0 and tests.mask != NULL:
        marks = <uint8_t *>alloc(length_by_slot(table))
        if marks == NULL:
            return NO_MEMORY
        memset(marks, 0, length_by_slot(table))
    if (status == 0 and items.positions_plus_1 != NULL
            and items.stop - items.start >= length_by_slot(table)):
        by_slot = <uint32_t *>alloc(length_by_slot(table) * sizeof(uint32_t))
        if by_slot == NULL:
            return NO_MEMORY
        fill_by_slot(table, by_slot)
        side.by_slot = by_slot
    if status == 0:
        status = look_up(table, &tests.keys, &side, marks, False)
    if status == 0 and marks != NULL:
        marks[0] = 0
        status = look_up(table, &tests.keys, tests, marks, True)
    free(marks)
    free(by_slot)
    return status


cdef Py_ssize_t add_tests(const lookup_t *side, table_t *table) noexcept nogil:
    cdef batch_t batch
    cdef uint64_t[BATCH] words
    cdef Py_ssize_t[BATCH] positions
    cdef uint32_t[BATCH] ids_plus_1
    cdef Py_ssize_t start = side.start, n, status = 0
    while start < side.stop and status == 0:
        n = min(side.stop - start, BATCH)
        load_batch(side, start, n, words, positions)
        batch = batch_of(&side.keys, words, positions, n)
        status = add_keys(table, &batch, ids_plus_1 if table.ids_plus_1 != NULL else NULL)
        start += n
    return status


cdef inline void load_batch(const lookup_t *side, Py_ssize_t start, Py_ssize_t n, uint64_t *words,
                            Py_ssize_t *positions) noexcept nogil:
    """Load n words and the positions of their keys. `start` is the index of a key or, if the side
    is scattered, of a scattered word. Positions are in the array or, if the side is scattered and
    side.positions is NULL, among the scattered words."""
    cdef Py_ssize_t j
    if side.words == NULL:
        load_words(&side.keys, start, n, words)
    elif side.four_bytes:
        for j in range(n):
            words[j] = (<const uint32_t *>side.words)[start + j]
    else:
        for j in range(n):
            words[j] = (<const uint64_t *>side.words)[start + j]
    for j in range(n):
        positions[j] = start + j
        if side.positions != NULL:
            positions[j] = side.positions[start + j]


cdef Py_ssize_t look_up(const table_t *table, const keys_t *table_keys, const lookup_t *side,
                        uint8_t *marks, bint are_tests) noexcept nogil:
    """Look up the keys of a side, and write the side's output; a side has at most one output.
    Returns 0 or FLOODED.

    An item is found if the table has it; it marks its slot if marks is not NULL. A test is found if
    its slot is marked; marks[0] is 0: otherwise tests that the table does not have (NaN) are found,
    too. For `output`, positions_plus_1 and first_positions the table has ids: otherwise memory at
    NULL is read."""
    cdef batch_t batch
    cdef uint64_t[BATCH] words
    cdef Py_ssize_t[BATCH] positions
    cdef uint32_t[BATCH] slots
    cdef uint8_t *mask
    cdef Py_ssize_t *found
    cdef uint8_t invert = side.invert
    cdef Py_ssize_t start = side.start, stop = side.stop, n, j
    cdef Py_ssize_t left = PROBES_PER_KEY * (stop - start + BATCH)
    while start < stop:
        n = min(stop - start, BATCH)
        load_batch(side, start, n, words, positions)
        batch = batch_of(&side.keys, words, positions, n)
        left -= find_keys(table, table_keys, &batch, slots)
        if left < 0:
            return FLOODED
        if are_tests:
            mask = side.mask + start
            for j in range(n):
                mask[j] = marks[slots[j]] ^ invert
        elif side.mask != NULL:
            mask = side.mask + start
            for j in range(n):
                mask[j] = (slots[j] != 0) ^ invert
        elif side.output != NULL:
            found = room_for(side.output, start, positions)
            for j in range(n):
                found[j] = <Py_ssize_t>position_plus_1(table, side.by_slot, slots[j]) - 1
            write(side.output, start, n, found)
        elif side.positions_plus_1 != NULL:
            for j in range(n):
                side.positions_plus_1[start + j] = position_plus_1(
                    table, side.by_slot, slots[j])
        elif side.first_positions != NULL and is_any_found(slots, n):
            for j in range(n):
                if slots[j]:
                    mark_first(
                        side.first_positions + id_plus_1_of(table, slots[j]) - 1, positions[j])
        if marks != NULL and not are_tests and is_any_found(slots, n):
            for j in range(n):
                fs_mark(marks + slots[j])
        start += n
    return 0


cdef inline bint is_any_found(const uint32_t *slots, Py_ssize_t n) noexcept nogil:
    cdef uint32_t found = 0
    cdef Py_ssize_t j
    for j in range(n):
        found |= slots[j]
    return found != 0


cdef inline uint32_t position_plus_1(const table_t *table, const uint32_t *by_slot,
                                     uint32_t slot_plus_1) noexcept nogil:
    """The position plus one of the first key of the group for which `find_keys` wrote slot_plus_1;
    0 if it wrote 0. by_slot is what fill_by_slot wrote, or NULL."""
    if by_slot != NULL:
        return by_slot[slot_plus_1]
    return first_position_plus_1(table, id_plus_1_of(table, slot_plus_1)) if slot_plus_1 else 0


cdef inline uint32_t id_plus_1_of(const table_t *table, uint32_t slot_plus_1) noexcept nogil:
    """The group id plus one of a key for which `find_keys` wrote slot_plus_1 > 0. The branch is for
    the seed, the key without a slot. Nobody can guess the seed, so keys almost never equal it."""
    if slot_plus_1 > <uint64_t>1 << table.slot_bits:
        return table.seed_id_plus_1
    return table.ids_plus_1[slot_plus_1 - 1]


cdef void fill_by_slot(const table_t *table, uint32_t *by_slot) noexcept nogil:
    """Write the position plus one of the first key of each slot, so that one load leads from what
    `find_keys` writes to a position; 0 for slots without a key. by_slot has length_by_slot items.
    The table has ids, and fewer than 2^32 keys."""
    cdef Py_ssize_t k, slots = <Py_ssize_t>1 << table.slot_bits
    by_slot[0] = 0
    for k in range(slots):
        by_slot[k + 1] = first_position_plus_1(table, table.ids_plus_1[k])
    by_slot[slots + 1] = first_position_plus_1(table, table.seed_id_plus_1)


cdef inline uint32_t first_position_plus_1(const table_t *table, uint32_t id_plus_1) noexcept nogil:
    """The first position of a group plus one, without a branch; 0 if id_plus_1 is 0."""
    cdef uint32_t exists = id_plus_1 != 0
    return <uint32_t>(table.first_positions[id_plus_1 - exists] + 1) & (0 - exists)
