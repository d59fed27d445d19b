"""Which keys of one array, the items, are in another array, the tests, and where; and which tests
are among the items.

Hash tables hold the tests; for find_by_table_of_items, the table holds the items, and the tests are
looked up. `_membership` chooses: all keys are looked up in the merged table of tables.pyx, or both
arrays are scattered by their hash, as in partitions.pyx, and each part has a table. Items are
looked up in batches. A test is among the items if an item has marked its slot.

If another thread changes a key meanwhile, only the results for this key, and for keys that equal
its old or new value, are undefined.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from fastsel._core.atomics cimport fs_mark, fs_store_relaxed
from fastsel._core.parallel cimport Job, chunk_count
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport alloc, dealloc, new_intp, new_u32, new_u8
from fastsel._sets.lookup_output cimport Output, mark_first, output_t, room_for, write
from fastsel._simd.blocks cimport FS_REQUIRE, blocks_of
from fastsel._unique.groups cimport Request, Search
from fastsel._unique.hash_table cimport (
    GAVE_UP, NO_MEMORY, PROBES_PER_KEY, add_keys, batch_of, batch_t, find_keys, succeeded,
    table_bytes, table_clear, table_free, table_start, table_t)
from fastsel._unique.keys cimport BATCH, Keys, Rule, keys_t, load_words
from fastsel._unique.scatter cimport (
    MAX_PART_BITS, MAX_PARTS, Scatter, ScatterByHash, ScatterKeyPass, next_entries, part_share,
    read_back_flags, scatter_keys)
from fastsel._unique.tables cimport Tables

ctypedef struct lookup_t:
    keys_t keys
    const void *words             # scattered words of 4 or 8 bytes; NULL: keys are not scattered
    const uint32_t *positions     # of the scattered words; NULL if not needed
    # The range that is looked up, or added: indices of keys or, if scattered, of the words.
    Py_ssize_t start
    Py_ssize_t stop
    # Outputs by key, in the order of keys or scattered words; NULL for outputs that are not wanted.
    uint8_t *mask                 # 1 if the other side has the key; with invert, 1 if it does not
    uint8_t invert
    output_t *output              # of the position of the first equal key of the other side, or -1
    uint32_t *positions_plus_1    # this position plus one
    const uint32_t *by_slot       # for these two outputs: see fill_by_slot; or NULL
    # By group of the table: position of the first key of this side in the group; NULL if not
    # wanted.
    Py_ssize_t *first_positions
    # By what find_keys writes: an item that is found sets its mark, and a test is found if its mark
    # is set; or NULL.
    uint8_t *marks
    bint are_tests


def masks_by_table(Tables tables not None, Keys items not None, bint of_items,
                   bint of_tests, bint invert, int threads):
    """(which items are among the tests, which tests are among the items) as bool arrays, with None
    for an output that is not wanted. Returns None if keys need too many probes.

    The tests are the keys of `tables`, whose groups have been found; the items are Keys of the same
    rule. Keys that equal no other never match.
    """
    cdef uint8_t[::1] marks
    items_out = new_result(items.fields.size, cnp.NPY_BOOL) if of_items else None
    tests_out = new_result(tables.search.keys.fields.size, cnp.NPY_BOOL) if of_tests else None
    cdef LookUp job = LookUp(tables, items, items_out, invert)
    if of_tests:
        marks = new_u8(length_by_slot(job.table))
        marks[:] = 0
        job.side.marks = &marks[0]
    if not job.look_up_all(threads):
        return None
    if of_tests:
        marks[0] = 0
        job = LookUp(tables, tables.search.keys, tests_out, invert)
        job.side.marks, job.side.are_tests = &marks[0], True
        if not job.look_up_all(threads):
            return None
    return items_out, tests_out


def find_by_table(Tables tables not None, Keys items not None, Output output not None,
                  int threads):
    """Write the output of all items; returns its result, or None if items need too many probes. The
    tests are the keys of `tables`, which have ids."""
    cdef LookUp job = LookUp(tables, items, None, False)
    cdef uint32_t[::1] by_slot
    if items.fields.size >= length_by_slot(job.table):
        by_slot = new_u32(length_by_slot(job.table))
        fill_by_slot(job.table, &by_slot[0])
        job.side.by_slot = &by_slot[0]
    job.side.output = output.begin()
    return output.result if job.look_up_all(threads) else None


def find_by_table_of_items(Tables tables not None, Keys tests not None, Output output not None,
                           int threads):
    """find_by_table, where the items are the keys of `tables`, which have an inverse: each group of
    items gets the position of its first test. None if tests need too many probes."""
    cdef LookUp job = LookUp(tables, tests, None, False)
    cdef Py_ssize_t[::1] first_positions = new_intp(tables.tables[0].table.length)
    first_positions[:] = -1
    job.side.first_positions = &first_positions[0]
    if not job.look_up_all(threads):
        return None
    return output.write_all(tables.finish(first_positions)[0], threads)


def masks_by_partitions(Keys tests not None, Keys items not None, Py_ssize_t expected,
                        bint of_items, bint of_tests, bint invert, int threads):
    """The masks that masks_by_table returns, by a table for each part of the tests. `expected` is
    an estimate of the number of distinct tests. Both arrays have fewer than 2^32 keys: otherwise
    positions wrap around. Returns None if keys need too many probes."""
    cdef CompareParts job = CompareParts(tests, items, expected, False, threads)
    job.invert = invert
    job.items_mask = new_u8(job.items.keys.size) if of_items else None
    job.tests_mask = new_u8(job.tests.keys.size) if of_tests else None
    if not job.compare(threads):
        return None
    return (read_back_flags(job.items, job.items_mask, threads),
            read_back_flags(job.tests, job.tests_mask, threads))


def find_by_partitions(Keys tests not None, Keys items not None, Py_ssize_t expected,
                       Output output not None, int threads):
    """Write the output of all items, as find_by_table does; the other arguments are as for
    masks_by_partitions. Returns None if keys need too many probes."""
    cdef CompareParts job = CompareParts(tests, items, expected, True, threads)
    cdef ReadPositions read
    job.positions_plus_1 = new_u32(job.items.keys.size)
    if not job.compare(threads):
        return None
    read = ReadPositions(job.items)
    read.positions_plus_1, read.output = job.positions_plus_1, output.begin()
    read.run(threads)
    return output.result


def masks_of_few(cnp.ndarray first not None, cnp.ndarray second not None, Rule rule not None,
                 tuple seeds not None, bint of_first, bint of_second, bint invert):
    """masks_by_table of two small arrays of one dtype, without a sample, on one thread. Neither is
    empty; the smaller one has the table. None if keys need too many probes."""
    cdef bint swapped = cnp.PyArray_SIZE(first) < cnp.PyArray_SIZE(second)
    cdef Keys items
    cdef Tables tables
    if swapped:
        first, second, of_first, of_second = second, first, of_second, of_first
    items = Keys(first, rule, seeds)
    tables = table_of_few(second, rule, seeds, Request(lookups=items.fields.size))
    if tables is None:
        return None
    masks = masks_by_table(tables, items, of_first, of_second, invert, 1)
    return masks[::-1] if swapped and masks is not None else masks


def find_in_few_keys(cnp.ndarray items not None, cnp.ndarray tests not None, Rule rule not None,
                     tuple seeds not None, Output output not None):
    """find_by_table of two small arrays, as for masks_of_few."""
    cdef bint swapped = cnp.PyArray_SIZE(items) < cnp.PyArray_SIZE(tests)
    cdef Keys others = Keys(tests if swapped else items, rule, seeds)
    cdef Tables tables = table_of_few(items if swapped else tests, rule, seeds, Request(
        index=True, inverse=swapped, lookups=others.fields.size))
    if tables is None:
        return None
    if swapped:
        return find_by_table_of_items(tables, others, output, 1)
    return find_by_table(tables, others, output, 1)


cdef Tables table_of_few(cnp.ndarray array, Rule rule, tuple seeds, Request request):
    """The table of a small array; None if it needs too many probes."""
    cdef Search search = Search(Keys(array, rule, seeds), array, request, 1, 1)
    cdef Tables tables
    search.expect(search.keys.fields.size)
    tables = Tables(search)
    return tables if tables.find() else None


# ---- all keys in one table -------------------------------------------------------------


cdef class LookUp(Job):
    """Look up keys in the merged table of `tables`; the caller holds all three."""
    cdef const table_t *table
    cdef const keys_t *table_keys
    cdef lookup_t side
    cdef uint8_t flooded          # 1 if the keys of a chunk need too many probes

    def __init__(self, Tables tables, Keys keys, cnp.ndarray out, bint invert):
        """Look up `keys`. `out` gets the mask, or is None."""
        self.table, self.table_keys = &tables.tables[0].table, &tables.search.keys.fields
        self.side.keys, self.side.invert = keys.fields, invert
        if out is not None:
            self.side.mask = <uint8_t *>cnp.PyArray_DATA(out)

    cdef bint look_up_all(self, int threads) except -1:
        """Look up all keys. Returns False if they need too many probes."""
        self.run_units(
            blocks_of(self.side.keys.size), 64 * max(8, self.side.keys.width), threads)
        return not self.flooded

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef lookup_t side = self.side
        side.start, side.stop = self.begin(k) * 64, min(self.begin(k + 1) * 64, side.keys.size)
        if look_up(self.table, self.table_keys, &side):
            fs_mark(&self.flooded)


# ---- partitions ------------------------------------------------------------------------


cdef ScatterByHash scattered(Keys keys, bint positions, int threads):
    """Scatter all keys. Their positions are scattered too if `positions`, or if the words alone do
    not decide which keys are equal."""
    scatter = ScatterByHash(keys, None, positions or not keys.is_word, threads)
    scatter_keys(scatter, threads)
    return scatter


cdef class ReadPositions(ScatterKeyPass):
    """Write the output of all items, from the positions that are noted by entry."""
    cdef const uint32_t[::1] positions_plus_1
    cdef output_t *output

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t start = self.first_key(k), stop = self.first_key(k + 1), n, j, p
        cdef const uint8_t[::1] part_of = self.scatter.part_of
        cdef const uint32_t[::1] positions_plus_1 = self.positions_plus_1
        cdef Py_ssize_t[MAX_PARTS] next_entry
        cdef Py_ssize_t[BATCH] positions
        cdef Py_ssize_t *found
        next_entries(self.scatter, k, next_entry)
        while start < stop:
            n = min(stop - start, BATCH)
            found = room_for(self.output, start, positions)
            for j in range(n):
                p = part_of[start + j]
                found[j] = <Py_ssize_t>positions_plus_1[next_entry[p]] - 1
                next_entry[p] += 1
            write(self.output, start, n, found)
            start += n


cdef class CompareParts(Job):
    """Compare the parts of a chunk, one after the other; their tables use the same memory."""
    cdef ScatterByHash items
    cdef ScatterByHash tests
    cdef uint8_t[::1] items_mask      # by entry, or None
    cdef uint8_t[::1] tests_mask
    # By entry: the position of the first equal test plus one; or None.
    cdef uint32_t[::1] positions_plus_1
    cdef Py_ssize_t expected          # an estimate of the number of distinct tests of a part
    cdef bint invert
    cdef Py_ssize_t status            # 0, or of a chunk that gave up

    def __init__(self, Keys tests, Keys items, Py_ssize_t expected, bint positions, int threads):
        """With `positions`, the positions of the tests are scattered, too."""
        self.items, self.tests = (
            scattered(items, False, threads), scattered(tests, positions, threads))
        self.items_mask = self.tests_mask = self.positions_plus_1 = None
        self.expected = part_share(min(expected, tests.fields.size))
        self.units, self.chunks = MAX_PARTS, chunk_count(
            MAX_PARTS, threads, 16 * part_share(max(items.fields.size, tests.fields.size)))

    cdef bint with_ids(self) noexcept nogil:
        return self.positions_plus_1 is not None or not self.tests.keys.is_word

    cdef bint compare(self, int threads) except -1:
        """Compare all parts, by as many threads as have room for their tables beside both sides
        (room_beside). Returns False if keys need too many probes."""
        cdef Py_ssize_t nbytes = table_bytes(
            &self.tests.keys, self.with_ids(), self.tests.room_of_part(self.expected))
        cdef Py_ssize_t room = self.items.room_beside(2) + self.tests.room_beside(2)
        if self.positions_plus_1 is not None:
            nbytes += nbytes // 2         # a slot with its id has at least 8 bytes; by_slot has 4
        else:
            nbytes += nbytes // 4         # a slot has at least 4 bytes, and its mark has 1
        self.run(<int>max(1, min(<Py_ssize_t>threads, room // nbytes)))
        return succeeded(self.status)

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t part = self.begin(k), stop = self.begin(k + 1)
        cdef lookup_t items = side_of(self.items), tests = side_of(self.tests)
        cdef table_t table
        cdef Py_ssize_t status = table_start(
            &table, &self.tests.keys, self.with_ids(), <Py_ssize_t>1 << 31, MAX_PART_BITS,
            self.tests.room_of_part(self.expected))
        items.invert = tests.invert = self.invert
        items.mask = &self.items_mask[0] if self.items_mask is not None else NULL
        if self.positions_plus_1 is not None:
            items.positions_plus_1 = &self.positions_plus_1[0]
        tests.mask = &self.tests_mask[0] if self.tests_mask is not None else NULL
        while part < stop and status == 0:
            table_clear(&table)
            items.start, tests.start = self.items.start_of(part), self.tests.start_of(part)
            part += 1
            items.stop, tests.stop = self.items.start_of(part), self.tests.start_of(part)
            status = compare_ranges(&items, &tests, &table)
        table_free(&table)
        if status:
            fs_store_relaxed(&self.status, status)


cdef lookup_t side_of(Scatter scatter) noexcept nogil:
    cdef lookup_t side
    memset(&side, 0, sizeof(side))
    side.keys, side.words = scatter.keys, scatter.words
    side.positions = &scatter.positions[0] if scatter.positions is not None else NULL
    return side


# ---- the lookup itself -------------------------------------------------------------------


cdef inline Py_ssize_t length_by_slot(const table_t *table) noexcept nogil:
    """The length of an array by what `find_keys` writes: one item for each slot, one for the key
    without a slot, and one for keys that are not found."""
    return (<Py_ssize_t>1 << table.slot_bits) + 2


cdef Py_ssize_t compare_ranges(const lookup_t *items, lookup_t *tests,
                               table_t *table) noexcept nogil:
    """Add the tests to an empty table, and look up the items. If tests.mask is wanted, look up the
    tests among the marked slots. Returns 0 or a status."""
    cdef uint32_t *by_slot = NULL
    cdef lookup_t side = items[0]
    cdef Py_ssize_t length, status
    table.skips_unequal = True
    status = add_tests(tests, table)
    if status:
        return status
    length = length_by_slot(table)
    if tests.mask != NULL:
        side.marks = <uint8_t *>alloc(length)
        if side.marks == NULL:
            return NO_MEMORY
        memset(side.marks, 0, length)
    elif items.positions_plus_1 != NULL and items.stop - items.start >= length:
        by_slot = <uint32_t *>alloc(length * sizeof(uint32_t))
        if by_slot == NULL:
            return NO_MEMORY
        fill_by_slot(table, by_slot)
        side.by_slot = by_slot
    status = look_up(table, &tests.keys, &side)
    if status == 0 and tests.mask != NULL:
        side.marks[0] = 0
        tests.marks, tests.are_tests = side.marks, True
        status = look_up(table, &tests.keys, tests)
    dealloc(side.marks)
    dealloc(by_slot)
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
        status = add_keys(table, &batch, ids_plus_1)
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
    elif side.keys.width <= 4:
        for j in range(n):
            words[j] = (<const uint32_t *>side.words)[start + j]
    else:
        for j in range(n):
            words[j] = (<const uint64_t *>side.words)[start + j]
    for j in range(n):
        positions[j] = start + j
        if side.positions != NULL:
            positions[j] = side.positions[start + j]


cdef Py_ssize_t look_up(const table_t *table, const keys_t *table_keys,
                        const lookup_t *side) noexcept nogil:
    """Look up the keys of a side, and write the side's output; a side has at most one output beside
    the marks. Returns 0 or GAVE_UP.

    Items are found if the table has them. For tests, marks[0] is 0: otherwise tests that the table
    does not have (NaN) are found, too. For `output`, positions_plus_1 and first_positions the table
    has ids: otherwise memory at NULL is read."""
    cdef batch_t batch
    cdef uint64_t[BATCH] words
    cdef Py_ssize_t[BATCH] positions
    cdef uint32_t[BATCH] slots
    cdef uint8_t *mask
    cdef Py_ssize_t *found
    cdef uint8_t invert = side.invert
    cdef Py_ssize_t start = side.start, stop = side.stop, n, j
    cdef Py_ssize_t left = PROBES_PER_KEY * (stop - start + BATCH)
    FS_REQUIRE(table.ids_plus_1 != NULL or side.output == NULL
               and side.positions_plus_1 == NULL and side.first_positions == NULL)
    while start < stop:
        n = min(stop - start, BATCH)
        load_batch(side, start, n, words, positions)
        batch = batch_of(&side.keys, words, positions, n)
        left -= find_keys(table, table_keys, &batch, slots)
        if left < 0:
            return GAVE_UP
        if side.are_tests:
            mask = side.mask + start
            for j in range(n):
                mask[j] = side.marks[slots[j]] ^ invert
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
        if side.marks != NULL and not side.are_tests and is_any_found(slots, n):
            for j in range(n):
                fs_mark(side.marks + slots[j])
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
