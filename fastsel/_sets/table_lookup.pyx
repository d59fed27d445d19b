"""Which keys of two arrays, items and tests, are among those of the other one.

The tests are in hash tables: in a single one, that of tables.pyx, while it fits the cache; else
both arrays are scattered by their hash as in partitions.pyx, and each part has a table. Items are
looked up, a batch at a time. A test is among the items if one of them has marked its slot.

A key that another thread changes meanwhile is found or not; nothing else depends on it.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp, memset

from fastsel._core.parallel cimport chunk_count, chunk_start, for_chunks
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport Scratch, give, take
from fastsel._simd.blocks cimport blocks_of, fs_level_t, fs_prefetch
from fastsel._simd.levels cimport fs_level
from fastsel._unique.hash_table cimport (
    FLOODED, NO_MEMORY, PROBES_PER_KEY, add_keys, table_bytes, table_clear, table_free, table_start,
    table_t)
from fastsel._unique.keys cimport BATCH, describe_keys, keys_t, load_words, wide_t
from fastsel._unique.partitions cimport (
    PARTITION_BITS, PARTITIONS, choose_chunk, partitions_task, scan_starts, scatter_chunk)
from fastsel._unique.tables cimport Tables

cdef extern from *:
    """
    /* Sets a mark that other threads may set, too; most calls find it set. */
    static inline void fs_mark(uint8_t *mark)
    {
    #if defined(_MSC_VER)
        if (!*(volatile uint8_t *)mark) *(volatile uint8_t *)mark = 1;
    #else
        if (!__atomic_load_n(mark, __ATOMIC_RELAXED)) __atomic_store_n(mark, 1, __ATOMIC_RELAXED);
    #endif
    }
    """
    void fs_mark(uint8_t *mark) noexcept nogil

cnp.import_array()

cdef const fs_level_t *level = fs_level()

cdef enum:
    PREFETCHED_SLOT_BITS = 15   # of a table that leaves the cache of a core
    MAX_COMPARED = 16           # words to compare with each item, which takes less than a hash

ctypedef struct side_t:
    partitions_task parts         # its keys and, in the case of partitions, these scattered
    uint8_t *found                # by key, or as scattered; NULL if not wanted
    uint8_t *out                  # by key

ctypedef struct hash_task:
    side_t items
    side_t tests
    const table_t *table          # of all tests, or NULL
    uint8_t *marks                # by slot plus one: has an item been found there? or NULL
    Py_ssize_t expected           # tests of each part
    bint invert
    Py_ssize_t *status            # by chunk


def by_table(Tables tables not None, items not None, tuple seeds not None, bint of_items,
             bint of_tests, bint invert, int threads):
    """(which items are among the tests, which tests are among the items) as bool arrays, None for
    what is not wanted; None instead if items take too many probes.

    The tests are the keys of `tables`, whose groups have been found, the items are Keys of the same
    rule. Keys that equal no other are among nothing.
    """
    cdef hash_task task
    cdef Scratch scratch = Scratch()
    cdef Py_ssize_t status = 0
    memset(&task, 0, sizeof(task))
    describe_side(&task.items, items, seeds, threads)
    task.tests.parts.keys = tables.task.keys
    task.tests.parts.blocks = tables.task.blocks
    task.tests.parts.chunks = chunk_count(
        tables.task.blocks, threads, 64 * max(8, tables.task.keys.width))
    results = new_masks(&task, of_items, of_tests)
    task.items.found, task.tests.found = task.items.out, task.tests.out
    task.table, task.invert = &tables.task.parts[0].table, invert
    task.status = <Py_ssize_t *>scratch.take(
        (task.items.parts.chunks + task.tests.parts.chunks) * sizeof(Py_ssize_t))
    if of_tests:
        task.marks = <uint8_t *>scratch.take(marks_size(task.table))
        memset(task.marks, 0, marks_size(task.table))
    with nogil:
        for_chunks(items_chunk, &task, task.items.parts.chunks, threads)
        status = worst(task.status, task.items.parts.chunks)
        if of_tests and status == 0:
            task.marks[0] = 0
            for_chunks(tests_chunk, &task, task.tests.parts.chunks, threads)
            status = worst(task.status, task.tests.parts.chunks)
    return None if status else results


def by_partitions(tests not None, items not None, tuple seeds not None,
                  Py_ssize_t expected, bint of_items, bint of_tests, bint invert, int threads):
    """The same of tests that are too many for one table, about `expected` different ones; both
    arrays have less than 2^32 keys."""
    cdef hash_task task
    cdef Scratch scratch = Scratch()
    cdef Py_ssize_t status = 0, cuts
    memset(&task, 0, sizeof(task))
    describe_side(&task.items, items, seeds, threads)
    describe_side(&task.tests, tests, seeds, threads)
    results = new_masks(&task, of_items, of_tests)
    task.invert, task.expected = invert, min(expected, task.tests.parts.keys.size) >> PARTITION_BITS
    scatter_side(&task.items, scratch, of_items, threads)
    scatter_side(&task.tests, scratch, of_tests, threads)
    cuts = chunk_count(PARTITIONS, threads, 16 * max(
        task.items.parts.keys.size, task.tests.parts.keys.size) >> PARTITION_BITS)
    task.items.parts.cuts, task.tests.parts.cuts = cuts, cuts
    task.status = <Py_ssize_t *>scratch.take(cuts * sizeof(Py_ssize_t))
    with nogil:
        for_chunks(parts_chunk, &task, cuts, table_threads(&task, threads))
        status = worst(task.status, cuts)
        if status == 0 and of_items:
            for_chunks(gather_chunk, &task.items, task.items.parts.chunks, threads)
        if status == 0 and of_tests:
            for_chunks(gather_chunk, &task.tests, task.tests.parts.chunks, threads)
    if status == NO_MEMORY:
        raise MemoryError()
    return None if status else results


def of_small(cnp.ndarray first not None, cnp.ndarray second not None, tuple rule not None,
             tuple seeds not None, bint of_first, bint of_second, bint invert):
    """(which items of `first` are in `second`, which of `second` in `first`), None for what is not
    wanted, of two small arrays of one dtype, in one call; None if they take too many probes.

    Both have items, which are words or longer than 8 bytes, of that rule.
    """
    cdef bint turned = cnp.PyArray_SIZE(first) < cnp.PyArray_SIZE(second)
    cdef hash_task task
    cdef table_t table
    cdef keys_t *keys = &task.tests.parts.keys
    cdef Py_ssize_t status
    memset(&task, 0, sizeof(task))
    if not cnp.PyArray_ISCARRAY_RO(first):
        first = cnp.PyArray_NewCopy(first, cnp.NPY_CORDER)
    if not cnp.PyArray_ISCARRAY_RO(second):
        second = cnp.PyArray_NewCopy(second, cnp.NPY_CORDER)
    tests, items = (first, second) if turned else (second, first)
    describe_keys(keys, tests, cnp.PyArray_SIZE(tests), rule, None, seeds)
    describe_keys(&task.items.parts.keys, items, cnp.PyArray_SIZE(items), rule, None, seeds)
    masks = new_masks(&task, of_second if turned else of_first, of_first if turned else of_second)
    task.items.found, task.tests.found = task.items.out, task.tests.out
    task.invert = invert
    status = table_start(&table, keys, not keys.is_word, keys.size, 0, keys.size)
    if status == 0:
        status = compare_ranges(&task, &table, 0, keys.size, 0, task.items.parts.keys.size)
    table_free(&table)
    if status == NO_MEMORY:
        raise MemoryError()
    if status:
        return None
    return (masks[1], masks[0]) if turned else masks


cdef int describe_side(side_t *side, keys, tuple seeds, int threads) except -1:
    data, size, _, rule, unequal = keys[:5]
    describe_keys(&side.parts.keys, data, size, rule, unequal, seeds)
    side.parts.blocks = blocks_of(size)
    side.parts.chunks = chunk_count(
        side.parts.blocks, threads, 64 * max(8, side.parts.keys.width))
    side.parts.narrow = side.parts.keys.width <= 4
    return 0


cdef tuple new_masks(hash_task *task, bint of_items, bint of_tests):
    cdef cnp.ndarray items = None, tests = None
    cdef cnp.npy_intp size
    if of_items:
        size = task.items.parts.keys.size
        items = new_result(1, &size, cnp.NPY_BOOL)
        task.items.out = <uint8_t *>cnp.PyArray_DATA(items)
    if of_tests:
        size = task.tests.parts.keys.size
        tests = new_result(1, &size, cnp.NPY_BOOL)
        task.tests.out = <uint8_t *>cnp.PyArray_DATA(tests)
    return items, tests


cdef inline Py_ssize_t marks_size(const table_t *table) noexcept nogil:
    """One for each slot, one for the key without a slot, and one for keys that are not found."""
    return (<Py_ssize_t>1 << table.slot_bits) + 2


cdef Py_ssize_t worst(const Py_ssize_t *status, Py_ssize_t chunks) noexcept nogil:
    cdef Py_ssize_t k, found = 0
    for k in range(chunks):
        found = min(found, status[k])
    return found


# ---- all keys in one table -------------------------------------------------------------


cdef void items_chunk(void *context, Py_ssize_t k) noexcept nogil:
    cdef hash_task *task = <hash_task *>context
    task.status[k] = look_up(task, task.table, &task.items, start_of(&task.items, k),
                             start_of(&task.items, k + 1), task.marks, False)


cdef void tests_chunk(void *context, Py_ssize_t k) noexcept nogil:
    cdef hash_task *task = <hash_task *>context
    task.status[k] = look_up(task, task.table, &task.tests, start_of(&task.tests, k),
                             start_of(&task.tests, k + 1), task.marks, True)


cdef inline Py_ssize_t start_of(const side_t *side, Py_ssize_t k) noexcept nogil:
    return min(chunk_start(side.parts.blocks, side.parts.chunks, k) * 64, side.parts.keys.size)


# ---- partitions ------------------------------------------------------------------------


cdef int scatter_side(side_t *side, Scratch scratch, bint wanted, int threads) except -1:
    """The words of all keys, each to its part; and their positions, where words are not enough."""
    cdef partitions_task *parts = &side.parts
    cdef Py_ssize_t size = parts.keys.size
    parts.parts = <uint8_t *>scratch.take(size)
    parts.words = <char *>scratch.take(
        size * (sizeof(uint32_t) if parts.narrow else sizeof(uint64_t)))
    parts.starts = <Py_ssize_t *>scratch.take((PARTITIONS * parts.chunks + 1) * sizeof(Py_ssize_t))
    if not parts.keys.is_word or parts.keys.unequal != NULL:
        parts.positions = <uint32_t *>scratch.take(size * sizeof(uint32_t))
    if wanted:
        side.found = <uint8_t *>scratch.take(size)
    with nogil:
        for_chunks(choose_chunk, parts, parts.chunks, threads)
        scan_starts(parts)
        for_chunks(scatter_chunk, parts, parts.chunks, threads)
    return 0


cdef int table_threads(const hash_task *task, int threads) noexcept nogil:
    """As many as have room for their tables in 2.5 times the bytes of both sides' keys, or in a
    byte per key if that is more."""
    cdef const keys_t *keys = &task.tests.parts.keys
    cdef Py_ssize_t nbytes = table_bytes(keys, not keys.is_word, task.expected + BATCH)
    cdef Py_ssize_t room = room_beside(&task.items) + room_beside(&task.tests)
    nbytes += nbytes // 4         # or less, for the marks of items
    return <int>max(1, min(threads, room // nbytes))


cdef Py_ssize_t room_beside(const side_t *side) noexcept nogil:
    """What the scattered keys leave of the bytes of one side."""
    cdef Py_ssize_t used = 2 + (4 if side.parts.narrow else 8)
    if side.parts.positions != NULL:
        used += sizeof(uint32_t)
    return side.parts.keys.size * max(1, 5 * side.parts.keys.width // 2 - used)


cdef void parts_chunk(void *context, Py_ssize_t k) noexcept nogil:
    """One table after the other for the parts of cut k, in the same memory."""
    cdef hash_task *task = <hash_task *>context
    cdef Py_ssize_t part = chunk_start(PARTITIONS, task.tests.parts.cuts, k)
    cdef Py_ssize_t stop = chunk_start(PARTITIONS, task.tests.parts.cuts, k + 1)
    cdef const keys_t *keys = &task.tests.parts.keys
    cdef table_t table
    cdef Py_ssize_t status = table_start(
        &table, keys, not keys.is_word, <Py_ssize_t>1 << 31, PARTITION_BITS,
        task.expected + BATCH)
    while part < stop and status == 0:
        table_clear(&table)
        status = compare_ranges(
            task, &table, part_start(&task.tests, part), part_start(&task.tests, part + 1),
            part_start(&task.items, part), part_start(&task.items, part + 1))
        part += 1
    table_free(&table)
    task.status[k] = status


cdef inline Py_ssize_t part_start(const side_t *side, Py_ssize_t part) noexcept nogil:
    return side.parts.starts[part * side.parts.chunks]


cdef void gather_chunk(void *context, Py_ssize_t k) noexcept nogil:
    """What was found of the keys of chunk k, each the next one of its part."""
    cdef const side_t *side = <const side_t *>context
    cdef Py_ssize_t[PARTITIONS] next_entry
    cdef Py_ssize_t i, p
    for p in range(PARTITIONS):
        next_entry[p] = side.parts.starts[p * side.parts.chunks + k]
    for i in range(start_of(side, k), start_of(side, k + 1)):
        p = side.parts.parts[i]
        side.out[i] = side.found[next_entry[p]]
        next_entry[p] += 1


# ---- lookup ----------------------------------------------------------------------------


cdef Py_ssize_t compare_ranges(const hash_task *task, table_t *table, Py_ssize_t test,
                               Py_ssize_t stop_test, Py_ssize_t item,
                               Py_ssize_t stop_item) noexcept nogil:
    """Add these tests to an empty table and look up these items; returns 0 or a status."""
    cdef Py_ssize_t status = add_tests(&task.tests, test, stop_test, table)
    cdef uint8_t *marks = NULL
    if status == 0 and task.tests.found != NULL:
        marks = <uint8_t *>take(marks_size(table))
        if marks == NULL:
            return NO_MEMORY
        memset(marks, 0, marks_size(table))
    if status == 0:
        status = look_up(task, table, &task.items, item, stop_item, marks, False)
    if status == 0 and marks != NULL:
        marks[0] = 0
        status = look_up(task, table, &task.tests, test, stop_test, marks, True)
    give(marks)
    return status


cdef Py_ssize_t add_tests(const side_t *side, Py_ssize_t start, Py_ssize_t stop,
                          table_t *table) noexcept nogil:
    cdef uint64_t[BATCH] words
    cdef Py_ssize_t[BATCH] positions
    cdef uint32_t[BATCH] numbers
    cdef Py_ssize_t n, status = 0
    while start < stop and status == 0:
        n = min(stop - start, BATCH)
        load_batch(side, start, n, words, positions)
        status = add_keys(table, &side.parts.keys, words, n, 0, positions,
                          numbers if table.numbers != NULL else NULL)
        start += n
    return status


cdef inline void load_batch(const side_t *side, Py_ssize_t start, Py_ssize_t n, uint64_t *words,
                            Py_ssize_t *positions) noexcept nogil:
    """Words and positions of n keys, as they lie or as scattered; where words are enough, their
    positions there."""
    cdef Py_ssize_t j
    if side.parts.words == NULL:
        load_words(&side.parts.keys, start, n, words)
    elif side.parts.narrow:
        for j in range(n):
            words[j] = (<const uint32_t *>side.parts.words)[start + j]
    else:
        for j in range(n):
            words[j] = (<const uint64_t *>side.parts.words)[start + j]
    for j in range(n):
        positions[j] = start + j
        if side.parts.positions != NULL:
            positions[j] = side.parts.positions[start + j]


cdef Py_ssize_t look_up(const hash_task *task, const table_t *table, const side_t *side,
                        Py_ssize_t start, Py_ssize_t stop, uint8_t *marks,
                        bint are_tests) noexcept nogil:
    """Look up these keys of a side; returns 0 or FLOODED. Items are found if they are there, and
    mark what they find; tests, if they were found."""
    cdef uint64_t[BATCH] words
    cdef Py_ssize_t[BATCH] positions
    cdef uint32_t[BATCH] slots
    cdef uint64_t[MAX_COMPARED + 1] compared
    cdef uint8_t invert = task.invert
    cdef Py_ssize_t left = PROBES_PER_KEY * (stop - start + BATCH), n, j, n_compared = 0
    if (marks == NULL and side.parts.keys.is_word and table.length <= MAX_COMPARED
            and table.slot_bits < PREFETCHED_SLOT_BITS):
        n_compared = words_of(table, &side.parts.keys, compared)
    while start < stop:
        n = min(stop - start, BATCH)
        load_batch(side, start, n, words, positions)
        if n_compared:
            level.any_of(words, n, compared, n_compared, side.found + start)
            for j in range(n):
                side.found[start + j] ^= invert
            start += n
            continue
        left -= find_keys(table, &task.tests.parts.keys, &side.parts.keys, words, n, positions,
                          slots)
        if left < 0:
            return FLOODED
        if are_tests:
            for j in range(n):
                side.found[start + j] = marks[slots[j]] ^ invert
        elif side.found != NULL:
            for j in range(n):
                side.found[start + j] = (slots[j] != 0) ^ invert
        if marks != NULL and not are_tests:
            for j in range(n):
                fs_mark(marks + slots[j])
        start += n
    return 0


cdef Py_ssize_t words_of(const table_t *table, const keys_t *keys,
                         uint64_t *compared) noexcept nogil:
    """The words of a table of at most MAX_COMPARED; returns how many."""
    cdef Py_ssize_t slot, n = 0
    cdef uint64_t held
    if table.seed_number:
        compared[0], n = keys.seed if table.width == 8 else <uint32_t>keys.seed, 1
    for slot in range(<Py_ssize_t>1 << table.slot_bits):
        if table.width == 4:
            held = (<const uint32_t *>table.slots)[slot]
            compared[n] = <uint32_t>(held ^ keys.seed)
        else:
            held = (<const uint64_t *>table.slots)[slot]
            compared[n] = held ^ keys.seed
        n += held != 0
    return n


cdef Py_ssize_t find_keys(const table_t *table, const keys_t *tests, const keys_t *keys,
                          const uint64_t *words, Py_ssize_t n, const Py_ssize_t *positions,
                          uint32_t *slots) noexcept nogil:
    """The slots of n <= BATCH keys in a table of tests, plus one; 0 of those that are not there.
    Returns how many further slots were probed."""
    cdef uint64_t[BATCH] first_slots
    cdef uint16_t[BATCH] unknown
    cdef Py_ssize_t n_unknown, j
    level.slots(
        words, n, keys.seed, keys.factor, table.skip_bits, 64 - table.slot_bits, first_slots)
    if table.slot_bits >= PREFETCHED_SLOT_BITS:
        for j in range(n):
            fs_prefetch(table.slots + first_slots[j] * table.width)
    n_unknown = level.find[table.width == 8](
        words, n, keys.seed, table.slots, first_slots, slots, unknown)
    if not keys.is_word:
        n_unknown = confirm(table, tests, keys, n, positions, slots, unknown, n_unknown)
    if table.width == 4:
        return probe(table, <const uint32_t *>table.slots, tests, keys, words, first_slots,
                     positions, unknown, n_unknown, slots)
    return probe(table, <const uint64_t *>table.slots, tests, keys, words, first_slots,
                 positions, unknown, n_unknown, slots)


cdef inline Py_ssize_t probe(const table_t *table, const wide_t *held, const keys_t *tests,
                             const keys_t *keys, const uint64_t *words,
                             const uint64_t *first_slots, const Py_ssize_t *positions,
                             const uint16_t *unknown, Py_ssize_t n_unknown,
                             uint32_t *slots) noexcept nogil:
    """Look for keys one by one, from their first slots on; returns how many more it took."""
    cdef Py_ssize_t mask = (<Py_ssize_t>1 << table.slot_bits) - 1
    cdef Py_ssize_t probes = 0, j, k, at, i
    cdef wide_t word
    for k in range(n_unknown):
        j = unknown[k]
        i = positions[j]
        word, at = <wide_t>words[j] ^ <wide_t>keys.seed, <Py_ssize_t>first_slots[j]
        if word == 0:           # the one without a slot
            slots[j] = <uint32_t>(mask + 2) if table.seed_number else 0
            continue
        while held[at] != 0 and (held[at] != word or not (
                keys.is_word or same_bytes(table, tests, at, keys, i))):
            at = (at + 1) & mask
            probes += 1
        slots[j] = <uint32_t>(at + 1) if held[at] != 0 else 0
    return probes


cdef inline Py_ssize_t confirm(const table_t *table, const keys_t *tests, const keys_t *keys,
                               Py_ssize_t n, const Py_ssize_t *positions, const uint32_t *slots,
                               uint16_t *unknown, Py_ssize_t n_unknown) noexcept nogil:
    """Keys that are no words were found by their hashes: those whose bytes differ are unknown, too.
    Returns how many are. The tests are prefetched before any is compared."""
    cdef Py_ssize_t j
    for j in range(n):
        if slots[j]:
            fs_prefetch(test_at(table, tests, slots[j] - 1))
    for j in range(n):
        if slots[j] and not same_bytes(table, tests, slots[j] - 1, keys, positions[j]):
            unknown[n_unknown] = <uint16_t>j
            n_unknown += 1
    return n_unknown


cdef inline bint same_bytes(const table_t *table, const keys_t *tests, Py_ssize_t slot,
                            const keys_t *keys, Py_ssize_t i) noexcept nogil:
    return memcmp(test_at(table, tests, slot), keys.data + i * keys.width, keys.width) == 0


cdef inline const char *test_at(const table_t *table, const keys_t *tests,
                                Py_ssize_t slot) noexcept nogil:
    """The first key of the group of a slot."""
    return tests.data + table.firsts[table.numbers[slot] - 1] * tests.width
