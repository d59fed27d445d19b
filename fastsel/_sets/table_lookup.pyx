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
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memset

from fastsel._core.parallel cimport Job, chunk_count
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport new_intp, new_u32, new_u8
from fastsel._sets.key_lookup cimport (
    compare_ranges, fill_by_slot, fs_mark, length_by_slot, look_up, lookup_t)
from fastsel._sets.lookup_output cimport Output, output_t, room_for, write
from fastsel._simd.blocks cimport blocks_of
from fastsel._unique.groups cimport Request, Search
from fastsel._unique.hash_table cimport (
    NO_MEMORY, table_bytes, table_clear, table_free, table_start, table_t)
from fastsel._unique.keys cimport BATCH, Keys, Rule, keys_t
from fastsel._unique.scatter cimport (
    MAX_PART_BITS, MAX_PARTS, Scatter, ScatterByHash, next_entries, part_share, read_back_flags,
    scatter_keys)
from fastsel._unique.tables cimport Tables

cnp.import_array()


def masks_by_table(Tables tables not None, Keys items not None, bint of_items,
                   bint of_tests, bint invert, int threads):
    """(which items are among the tests, which tests are among the items) as bool arrays, with None
    for an output that is not wanted. Returns None if keys need too many probes.

    The tests are the keys of `tables`, whose groups have been found; the items are Keys of the same
    rule. Keys that equal no other never match.
    """
    cdef LookUp job
    cdef uint8_t[::1] marks = None
    items_out = new_result(items.fields.size, cnp.NPY_BOOL) if of_items else None
    tests_out = new_result(tables.search.keys.fields.size, cnp.NPY_BOOL) if of_tests else None
    if of_tests:
        marks = new_u8(length_by_slot(&tables.tables[0].table))
        marks[:] = 0
    job = LookUp(tables, items, items_out, invert)
    job.marks = marks
    if not job.look_up_all(threads):
        return None
    if of_tests:
        marks[0] = 0
        job = LookUp(tables, tables.search.keys, tests_out, invert)
        job.marks, job.are_tests = marks, True
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
    cdef CompareParts job = CompareParts(
        scattered(items, False, threads), scattered(tests, False, threads), expected, invert,
        threads)
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
    cdef CompareParts job = CompareParts(
        scattered(items, False, threads), scattered(tests, True, threads), expected, False,
        threads)
    job.positions_plus_1 = new_u32(job.items.keys.size)
    if not job.compare(threads):
        return None
    ReadPositions(job.items, job.positions_plus_1, output, threads).run(threads)
    return output.result


def masks_of_few(cnp.ndarray first not None, cnp.ndarray second not None, Rule rule not None,
                 tuple seeds not None, bint of_first, bint of_second, bint invert):
    """masks_by_table of two small arrays of one dtype, without a sample, on one thread. Neither is
    empty; the smaller one has the table. None if keys need too many probes."""
    cdef bint swapped = cnp.PyArray_SIZE(first) < cnp.PyArray_SIZE(second)
    cdef Keys items = Keys(second if swapped else first, rule, seeds)
    cdef Tables tables = table_of_few(first if swapped else second, rule, seeds,
                                      Request(lookups=items.fields.size))
    cdef bint of_items = of_second if swapped else of_first
    masks = None
    if tables is not None:
        masks = masks_by_table(
            tables, items, of_items, of_first if swapped else of_second, invert, 1)
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
    """Look up keys in the merged table of `tables`."""
    cdef object owned
    cdef const table_t *table
    cdef const keys_t *table_keys
    cdef lookup_t side
    cdef bint are_tests
    cdef uint8_t[::1] marks       # by slot plus one: 1 if an item has this slot; or None
    cdef uint8_t flooded          # 1 if the keys of a chunk need too many probes

    def __init__(self, Tables tables, Keys keys, cnp.ndarray out, bint invert):
        """Look up `keys`. `out` gets the mask, or is None."""
        self.owned, self.marks = (tables, keys, out), None
        self.table, self.table_keys = &tables.tables[0].table, &tables.search.keys.fields
        memset(&self.side, 0, sizeof(self.side))
        self.side.keys, self.side.invert = keys.fields, invert
        if out is not None:
            self.side.mask = <uint8_t *>cnp.PyArray_DATA(out)

    cdef bint look_up_all(self, int threads) except -1:
        """Look up all keys. Returns False if they need too many probes."""
        self.run_units(
            blocks_of(self.side.keys.size), 64 * max(8, self.side.keys.width), threads)
        return not self.flooded

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef uint8_t *marks = &self.marks[0] if self.marks is not None else NULL
        cdef lookup_t side = self.side
        side.start, side.stop = self.begin(k) * 64, min(self.begin(k + 1) * 64, side.keys.size)
        if look_up(self.table, self.table_keys, &side, marks, self.are_tests):
            fs_mark(&self.flooded)


# ---- partitions ------------------------------------------------------------------------


cdef ScatterByHash scattered(Keys keys, bint positions, int threads):
    """Scatter all keys. Their positions are scattered too if `positions`, or if the words alone do
    not decide which keys are equal."""
    scatter = ScatterByHash(keys, None, positions or not keys.is_word, threads)
    scatter_keys(scatter, threads)
    return scatter


cdef class ReadPositions(Job):
    """Write the output of all items, from the positions that are noted by entry."""
    cdef ScatterByHash items
    cdef const uint32_t[::1] positions_plus_1
    cdef output_t *output

    def __init__(self, ScatterByHash items, uint32_t[::1] positions_plus_1, Output output,
                 int threads):
        self.items, self.positions_plus_1 = items, positions_plus_1
        self.output = output.begin()
        self.units, self.chunks = items.key_blocks, items.key_chunks

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t start = self.begin(k) * 64
        cdef Py_ssize_t stop = min(self.begin(k + 1) * 64, self.items.keys.size), n, j, p
        cdef const uint8_t[::1] part_of = self.items.part_of
        cdef const uint32_t[::1] positions_plus_1 = self.positions_plus_1
        cdef Py_ssize_t[MAX_PARTS] next_entry
        cdef Py_ssize_t[BATCH] positions
        cdef Py_ssize_t *found
        next_entries(self.items, k, next_entry)
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
    cdef Py_ssize_t[::1] status       # of each chunk

    def __init__(self, ScatterByHash items, ScatterByHash tests, Py_ssize_t expected, bint invert,
                 int threads):
        self.items, self.tests, self.invert = items, tests, invert
        self.items_mask = self.tests_mask = self.positions_plus_1 = None
        self.expected = part_share(min(expected, tests.keys.size))
        self.units, self.chunks = MAX_PARTS, chunk_count(
            MAX_PARTS, threads, 16 * part_share(max(items.keys.size, tests.keys.size)))
        self.status = new_intp(self.chunks)

    cdef bint compare(self, int threads) except -1:
        """Compare all parts. Returns False if keys need too many probes."""
        cdef Py_ssize_t k, status = 0
        self.run(self.table_threads(threads))
        for k in range(self.chunks):
            status = min(status, self.status[k])
        if status == NO_MEMORY:
            raise MemoryError()
        return status == 0

    cdef bint with_ids(self) noexcept nogil:
        return self.positions_plus_1 is not None or not self.tests.keys.is_word

    cdef int table_threads(self, int threads) noexcept:
        """The number of threads, at least one, whose tables fit into the room that both sides leave
        (room_beside)."""
        cdef const keys_t *keys = &self.tests.keys
        cdef Py_ssize_t nbytes = table_bytes(
            keys, self.with_ids(), self.tests.room_of_part(self.expected))
        cdef Py_ssize_t room = self.items.room_beside(2) + self.tests.room_beside(2)
        if self.positions_plus_1 is not None:
            nbytes += nbytes // 2         # a slot with its id has at least 8 bytes; by_slot has 4
        else:
            nbytes += nbytes // 4         # a slot has at least 4 bytes, and its mark has 1
        return <int>max(1, min(<Py_ssize_t>threads, room // nbytes))

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t part = self.begin(k), stop = self.begin(k + 1)
        cdef const keys_t *keys = &self.tests.keys
        cdef lookup_t items = side_of(self.items), tests = side_of(self.tests)
        cdef table_t table
        cdef Py_ssize_t status = table_start(
            &table, keys, self.with_ids(), <Py_ssize_t>1 << 31, MAX_PART_BITS,
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
        self.status[k] = status


cdef lookup_t side_of(Scatter scatter) noexcept nogil:
    cdef lookup_t side
    memset(&side, 0, sizeof(side))
    side.keys, side.words, side.four_bytes = scatter.keys, scatter.words, scatter.four_bytes
    side.positions = &scatter.positions[0] if scatter.positions is not None else NULL
    return side
