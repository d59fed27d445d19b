"""Which keys of two arrays, items and tests, are among those of the other one.

The tests are in hash tables: in a single one, that of tables.pyx, while it fits the cache; else
both arrays are scattered by their hash as in partitions.pyx, and each part has a table. Items are
looked up, a batch at a time. A test is among the items if one of them has marked its slot.

A key that another thread changes meanwhile is found or not; nothing else depends on it.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from fastsel._core.parallel cimport Job, chunk_count, chunk_start
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport alloc, free, new_intp, new_u8
from fastsel._simd.blocks cimport blocks_of, fs_level_t
from fastsel._simd.levels cimport fs_level
from fastsel._unique.hash_table cimport (
    FLOODED, NO_MEMORY, PROBES_PER_KEY, add_keys, find_keys, table_bytes,
    table_clear, table_free, table_start, table_t)
from fastsel._unique.keys cimport BATCH, describe_keys, keys_t, load_words
from fastsel._unique.partitions cimport ScatterByHash, part_share
from fastsel._unique.scatter cimport (
    MAX_PART_BITS, MAX_PARTS, Scatter, read_back_flags, scatter_keys)
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

ctypedef struct side_t:
    keys_t keys
    const void *words             # scattered, of 4 or 8 bytes; NULL: keys as they lie
    bint narrow                   # scattered words have 4 bytes
    const uint32_t *positions     # of scattered words; NULL: words are enough
    uint8_t *found                # by key, or as scattered; NULL if not wanted


def by_table(Tables tables not None, items not None, tuple seeds not None, bint of_items,
             bint of_tests, bint invert, int threads):
    """(which items are among the tests, which tests are among the items) as bool arrays, None for
    what is not wanted; None instead if items take too many probes.

    The tests are the keys of `tables`, whose groups have been found, the items are Keys of the same
    rule. Keys that equal no other are among nothing.
    """
    cdef LookUp look_up_items, look_up_tests
    cdef side_t side
    cdef uint8_t[::1] marks = None
    describe_side(&side, items, seeds)
    items_out = new_mask(side.keys.size) if of_items else None
    look_up_items = LookUp(tables, items_out, invert, threads)
    look_up_items.describe(&side, threads)
    if of_tests:
        marks = new_u8(marks_size(look_up_items.table))
        marks[:] = 0
        look_up_items.marks = marks
    look_up_items.run(threads)
    if look_up_items.failed():
        return None
    if not of_tests:
        return items_out, None
    marks[0] = 0
    side.keys = tables.keys
    tests_out = new_mask(side.keys.size)
    look_up_tests = LookUp(tables, tests_out, invert, threads)
    look_up_tests.describe(&side, threads)
    look_up_tests.marks, look_up_tests.are_tests = marks, True
    look_up_tests.run(threads)
    return None if look_up_tests.failed() else (items_out, tests_out)


def by_partitions(tests not None, items not None, tuple seeds not None,
                  Py_ssize_t expected, bint of_items, bint of_tests, bint invert, int threads):
    """The same of tests that are too many for one table, about `expected` different ones; both
    arrays have less than 2^32 keys."""
    cdef CompareParts job
    cdef Py_ssize_t k, status = 0
    job = CompareParts(scattered(items, seeds, threads), scattered(tests, seeds, threads), expected,
                       of_items, of_tests, invert, threads)
    job.run(job.table_threads(threads))
    for k in range(job.chunks):
        status = min(status, job.status[k])
    if status == NO_MEMORY:
        raise MemoryError()
    if status:
        return None
    return (in_order(job.items, job.items_found, threads),
            in_order(job.tests, job.tests_found, threads))


def of_small(cnp.ndarray first not None, cnp.ndarray second not None, tuple rule not None,
             tuple seeds not None, bint of_first, bint of_second, bint invert):
    """(which items of `first` are in `second`, which of `second` in `first`), None for what is not
    wanted, of two small arrays of one dtype, in one call; None if they take too many probes.

    Both have items, which are words or longer than 8 bytes, of that rule.
    """
    cdef bint turned = cnp.PyArray_SIZE(first) < cnp.PyArray_SIZE(second)
    cdef side_t items, tests
    cdef table_t table
    cdef Py_ssize_t status
    memset(&items, 0, sizeof(items))
    memset(&tests, 0, sizeof(tests))
    if not cnp.PyArray_ISCARRAY_RO(first):
        first = cnp.PyArray_NewCopy(first, cnp.NPY_CORDER)
    if not cnp.PyArray_ISCARRAY_RO(second):
        second = cnp.PyArray_NewCopy(second, cnp.NPY_CORDER)
    describe_keys(&items.keys, second if turned else first,
                  cnp.PyArray_SIZE(second if turned else first), rule, None, seeds)
    describe_keys(&tests.keys, first if turned else second,
                  cnp.PyArray_SIZE(first if turned else second), rule, None, seeds)
    of_items, of_tests = (of_second, of_first) if turned else (of_first, of_second)
    items_out = new_mask(items.keys.size) if of_items else None
    tests_out = new_mask(tests.keys.size) if of_tests else None
    items.found, tests.found = data_of(items_out), data_of(tests_out)
    status = table_start(
        &table, &tests.keys, not tests.keys.is_word, tests.keys.size, 0, tests.keys.size)
    if status == 0:
        status = compare_ranges(
            &items, &tests, &table, 0, tests.keys.size, 0, items.keys.size, invert)
    table_free(&table)
    if status == NO_MEMORY:
        raise MemoryError()
    if status:
        return None
    return (tests_out, items_out) if turned else (items_out, tests_out)


cdef int describe_side(side_t *side, keys, tuple seeds) except -1:
    data, size, _, rule, unequal = keys[:5]
    memset(side, 0, sizeof(side_t))
    return describe_keys(&side.keys, data, size, rule, unequal, seeds)


cdef cnp.ndarray new_mask(cnp.npy_intp size):
    return new_result(1, &size, cnp.NPY_BOOL)


cdef uint8_t *data_of(cnp.ndarray mask) noexcept:
    return NULL if mask is None else <uint8_t *>cnp.PyArray_DATA(mask)


cdef inline Py_ssize_t marks_size(const table_t *table) noexcept nogil:
    """One for each slot, one for the key without a slot, and one for keys that are not found."""
    return (<Py_ssize_t>1 << table.slot_bits) + 2


# ---- all keys in one table -------------------------------------------------------------


cdef class LookUp(Job):
    """Keys of one side in the table of all tests."""
    cdef object owned
    cdef const table_t *table
    cdef const keys_t *table_keys
    cdef side_t side
    cdef bint are_tests
    cdef bint invert
    cdef uint8_t[::1] marks       # by slot plus one: has an item been found there? or None
    cdef Py_ssize_t[::1] status   # of each chunk

    def __init__(self, Tables tables, out, bint invert, int threads):
        self.owned, self.invert, self.marks = (tables, out), invert, None
        self.table, self.table_keys = &tables.tables[0].table, &tables.keys

    cdef int describe(self, const side_t *side, int threads) except -1:
        self.side = side[0]
        self.side.found = data_of(self.owned[1])
        self.chunks = chunk_count(
            blocks_of(side.keys.size), threads, 64 * max(8, side.keys.width))
        self.status = new_intp(self.chunks)
        return 0

    cdef bint failed(self) noexcept:
        cdef Py_ssize_t k
        for k in range(self.chunks):
            if self.status[k]:
                return True
        return False

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t blocks = blocks_of(self.side.keys.size)
        cdef uint8_t *marks = &self.marks[0] if self.marks is not None else NULL
        self.status[k] = look_up(
            self.table, self.table_keys, &self.side, chunk_start(blocks, self.chunks, k) * 64,
            min(chunk_start(blocks, self.chunks, k + 1) * 64, self.side.keys.size), marks,
            self.are_tests, self.invert)


# ---- partitions ------------------------------------------------------------------------


cdef ScatterByHash scattered(keys, tuple seeds, int threads):
    """All keys, each in its part; with their positions, where words are not enough."""
    data, size, width, rule, unequal = keys[:5]
    positions = width not in (1, 2, 4, 8) or unequal is not None
    scatter = ScatterByHash(data, size, rule, unequal, seeds, None, positions, threads)
    scatter_keys(scatter, threads)
    return scatter


cdef object in_order(Scatter scatter, const uint8_t[::1] found, int threads):
    """What was found of each key, given that of each entry; None of None."""
    if found is None:
        return None
    out = new_mask(scatter.keys.size)
    read_back_flags(scatter, found, out.view("u1"), threads)
    return out


cdef class CompareParts(Job):
    """One table after the other for the parts of a chunk, in the same memory."""
    cdef ScatterByHash items
    cdef ScatterByHash tests
    cdef uint8_t[::1] items_found     # by entry, or None
    cdef uint8_t[::1] tests_found
    cdef Py_ssize_t expected          # tests of each part
    cdef bint invert
    cdef Py_ssize_t[::1] status       # of each chunk

    def __init__(self, ScatterByHash items, ScatterByHash tests, Py_ssize_t expected, bint of_items,
                 bint of_tests, bint invert, int threads):
        self.items, self.tests, self.invert = items, tests, invert
        self.expected = part_share(min(expected, tests.keys.size))
        self.items_found = new_u8(items.keys.size) if of_items else None
        self.tests_found = new_u8(tests.keys.size) if of_tests else None
        self.chunks = chunk_count(
            MAX_PARTS, threads, 16 * part_share(max(items.keys.size, tests.keys.size)))
        self.status = new_intp(self.chunks)

    cdef int table_threads(self, int threads) noexcept:
        """As many as have room for their tables in 2.5 times the bytes of both sides' keys, or in a
        byte per key if that is more."""
        cdef const keys_t *keys = &self.tests.keys
        cdef Py_ssize_t nbytes = table_bytes(keys, not keys.is_word, self.expected + BATCH)
        cdef Py_ssize_t room = room_beside(self.items) + room_beside(self.tests)
        nbytes += nbytes // 4         # or less, for the marks of items
        return <int>max(1, min(<Py_ssize_t>threads, room // nbytes))

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t part = chunk_start(MAX_PARTS, self.chunks, k)
        cdef Py_ssize_t stop = chunk_start(MAX_PARTS, self.chunks, k + 1)
        cdef const keys_t *keys = &self.tests.keys
        cdef side_t items = side_of(self.items), tests = side_of(self.tests)
        cdef table_t table
        cdef Py_ssize_t status = table_start(
            &table, keys, not keys.is_word, <Py_ssize_t>1 << 31, MAX_PART_BITS,
            self.expected + BATCH)
        items.found = &self.items_found[0] if self.items_found is not None else NULL
        tests.found = &self.tests_found[0] if self.tests_found is not None else NULL
        while part < stop and status == 0:
            table_clear(&table)
            status = compare_ranges(
                &items, &tests, &table, self.tests.start_of(part), self.tests.start_of(part + 1),
                self.items.start_of(part), self.items.start_of(part + 1), self.invert)
            part += 1
        table_free(&table)
        self.status[k] = status


cdef side_t side_of(Scatter scatter) noexcept nogil:
    cdef side_t side
    side.keys, side.words, side.narrow = scatter.keys, scatter.words, scatter.narrow
    side.positions = &scatter.positions[0] if scatter.positions is not None else NULL
    side.found = NULL
    return side


cdef Py_ssize_t room_beside(Scatter scatter) noexcept:
    """What the scattered keys leave of the bytes of one side."""
    cdef Py_ssize_t used = 2 + (4 if scatter.narrow else 8)
    if scatter.positions is not None:
        used += sizeof(uint32_t)
    return scatter.keys.size * max(1, 5 * scatter.keys.width // 2 - used)


# ---- lookup ----------------------------------------------------------------------------


cdef Py_ssize_t compare_ranges(const side_t *items, const side_t *tests, table_t *table,
                               Py_ssize_t test, Py_ssize_t stop_test, Py_ssize_t item,
                               Py_ssize_t stop_item, bint invert) noexcept nogil:
    """Add these tests to an empty table and look up these items; returns 0 or a status."""
    cdef uint8_t *marks = NULL
    cdef Py_ssize_t status
    table.skips_unequal = True
    status = add_tests(tests, test, stop_test, table)
    if status == 0 and tests.found != NULL:
        marks = <uint8_t *>alloc(marks_size(table))
        if marks == NULL:
            return NO_MEMORY
        memset(marks, 0, marks_size(table))
    if status == 0:
        status = look_up(table, &tests.keys, items, item, stop_item, marks, False, invert)
    if status == 0 and marks != NULL:
        marks[0] = 0
        status = look_up(table, &tests.keys, tests, test, stop_test, marks, True, invert)
    free(marks)
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
        status = add_keys(table, &side.keys, words, n, positions,
                          numbers if table.numbers != NULL else NULL)
        start += n
    return status


cdef inline void load_batch(const side_t *side, Py_ssize_t start, Py_ssize_t n, uint64_t *words,
                            Py_ssize_t *positions) noexcept nogil:
    """Words and positions of n keys, as they lie or as scattered; where words are enough, their
    positions there."""
    cdef Py_ssize_t j
    if side.words == NULL:
        load_words(&side.keys, start, n, words)
    elif side.narrow:
        for j in range(n):
            words[j] = (<const uint32_t *>side.words)[start + j]
    else:
        for j in range(n):
            words[j] = (<const uint64_t *>side.words)[start + j]
    for j in range(n):
        positions[j] = start + j
        if side.positions != NULL:
            positions[j] = side.positions[start + j]


cdef Py_ssize_t look_up(const table_t *table, const keys_t *table_keys, const side_t *side,
                        Py_ssize_t start, Py_ssize_t stop, uint8_t *marks, bint are_tests,
                        uint8_t invert) noexcept nogil:
    """Look up these keys of a side; returns 0 or FLOODED. Items are found if they are there, and
    mark what they find; tests, if they were found."""
    cdef uint64_t[BATCH] words
    cdef Py_ssize_t[BATCH] positions
    cdef uint32_t[BATCH] slots
    cdef Py_ssize_t left = PROBES_PER_KEY * (stop - start + BATCH), n, j
    while start < stop:
        n = min(stop - start, BATCH)
        load_batch(side, start, n, words, positions)
        left -= find_keys(table, table_keys, &side.keys, words, n, positions, slots)
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
