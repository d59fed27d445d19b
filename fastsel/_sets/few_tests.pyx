"""Which items are among a few tests, and where. Each item is compared with each test; items are not
made canonical. Native words are compared by the loops of a CPU level, other items by their bytes.

If another thread changes an item meanwhile, only the result for this item is undefined.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from fastsel._core.parallel cimport Job
from fastsel._core.results cimport new_result
from fastsel._sets.lookup_output cimport Output, output_t, room_for, write
from fastsel._simd.blocks cimport FS_REQUIRE, is_item, log2_width
from fastsel._simd.levels cimport level
from fastsel._unique.keys cimport BATCH, Rule, canonical, load_word

cdef enum:
    # Maximum tests: with more, comparing takes longer than hashing.
    MAX_COMPARED = 16         # of one word
    MAX_COMPARED_ENDS = 4     # of other widths

MAX_TESTS = MAX_COMPARED

ctypedef fused end_t:
    uint16_t
    uint32_t
    uint64_t


def are_few(cnp.ndarray tests not None, bint words=False):
    """Are the tests few enough to compare each item with each of them? With `words`, also: is each
    test one word? False for bools, because equal bools may have different bytes."""
    if cnp.PyArray_TYPE(tests) == cnp.NPY_BOOL:
        return False
    if is_item(cnp.PyArray_ITEMSIZE(tests)):
        return cnp.PyArray_SIZE(tests) <= MAX_COMPARED
    return not words and cnp.PyArray_SIZE(tests) <= MAX_COMPARED_ENDS


def among_few(cnp.ndarray items not None, cnp.ndarray tests not None, Rule rule not None,
              bint invert, int threads):
    """Which items are among the tests, as a flat array of bool.

    Items and tests are native words of one rule. The words are integers, times or floats, whose NaN
    equal no item: otherwise equal items with different bits do not match. There are at most
    MAX_TESTS tests: otherwise memory behind the job is overwritten.
    """
    cdef CompareItems job = CompareItems(items)
    job.add_tests(tests, rule)
    return job.mask(invert, threads)


def among_few_by_bytes(cnp.ndarray items not None, const uint8_t[:, ::1] tests not None,
                       const uint8_t[:, ::1] masks not None, bint invert, int threads):
    """Which items are among the tests, as a flat array of bool. An item equals a test if
    item & mask == test, where mask is the test's row of masks.

    The tests are few (are_few); tests and masks have a row for each of them, with a byte for each
    byte of an item: otherwise other memory is read or overwritten. If items have more than 16
    bytes, all bits of the masks are 1.
    """
    cdef CompareItems job
    cdef CompareEnds by_ends
    cdef Py_ssize_t t
    if is_item(cnp.PyArray_ITEMSIZE(items)):
        job = CompareItems(items)
        for t in range(tests.shape[0]):
            job.add(load_word(<const char *>&tests[t, 0], job.width),
                    load_word(<const char *>&masks[t, 0], job.width), t)
    else:
        job = by_ends = CompareEnds(items)
        by_ends.whole_tests, by_ends.whole_masks, by_ends.n_tests = tests, masks, tests.shape[0]
    return job.mask(invert, threads)


def find_in_few(cnp.ndarray items not None, cnp.ndarray tests not None, Rule rule not None,
                Output output not None, int threads):
    """Write the output of all items. The arguments are as for among_few."""
    cdef FindItems job = FindItems(items)
    job.add_tests(tests, rule)
    job.output = output.begin()
    job.run_units(job.units, job.width + sizeof(Py_ssize_t), threads)
    return output.result


cdef class CompareItems(Job):
    """Compares items of one word by the loop of a CPU level."""
    cdef object owned             # the array that `items` points to
    cdef const char *items
    cdef Py_ssize_t width
    cdef uint64_t[MAX_COMPARED] tests
    cdef uint64_t[MAX_COMPARED] masks     # the bits of an item that are compared with each test
    cdef Py_ssize_t[MAX_COMPARED] positions  # by test: its position; NaN is left out
    cdef Py_ssize_t n_tests
    cdef uint8_t *out             # by item: 1 if a test equals the item; with invert, 0
    cdef bint invert

    def __init__(self, cnp.ndarray items):
        items = cnp.PyArray_GETCONTIGUOUS(items)
        self.owned, self.items = items, <const char *>cnp.PyArray_DATA(items)
        self.units, self.width = cnp.PyArray_SIZE(items), cnp.PyArray_ITEMSIZE(items)

    cdef void add(self, uint64_t test, uint64_t mask, Py_ssize_t position) noexcept:
        """Add a test. There are fewer than MAX_COMPARED: otherwise memory behind is overwritten."""
        FS_REQUIRE(self.n_tests < MAX_COMPARED)
        self.tests[self.n_tests], self.masks[self.n_tests] = test, mask
        self.positions[self.n_tests] = position
        self.n_tests += 1

    cdef int add_tests(self, cnp.ndarray tests, Rule rule) except -1:
        """Add the tests of `among_few`, without NaN, which equals no item."""
        cdef Py_ssize_t k
        cdef uint64_t word
        tests = cnp.PyArray_GETCONTIGUOUS(tests)
        for k in range(cnp.PyArray_SIZE(tests)):
            word = canonical(&rule.words, load_word(
                <const char *>cnp.PyArray_DATA(tests) + k * self.width, self.width))
            if word != rule.words.nan or not rule.words.nan_unequal:
                self.add(word, rule.words.significant if word == 0 else <uint64_t>-1, k)

    cdef cnp.ndarray mask(self, bint invert, int threads):
        """Which items equal a test, as an array of bool."""
        out = new_result(self.units, cnp.NPY_BOOL)
        self.out, self.invert = <uint8_t *>cnp.PyArray_DATA(out), invert
        self.run_units(self.units, self.width + 1, threads)
        return out

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t start = self.begin(k), stop = self.begin(k + 1), i
        level.among_few[log2_width(self.width)](
            self.items + start * self.width, stop - start, self.tests, self.masks, self.n_tests,
            self.out + start)
        if self.invert:
            for i in range(start, stop):
                self.out[i] ^= 1


cdef class CompareEnds(CompareItems):
    """Compares the two ends of items, which are the first and the last 2, 4 or 8 bytes, with the
    ends of each test. The ends may overlap, and cover items of up to 16 bytes. A longer item whose
    ends match is then compared as a whole."""
    cdef const uint8_t[:, ::1] whole_tests  # by test: its bytes, and the bits that are compared
    cdef const uint8_t[:, ::1] whole_masks

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        if self.width > 8:
            self.compare_ends(k, <uint64_t>0)
        elif self.width > 4:
            self.compare_ends(k, <uint32_t>0)
        else:
            self.compare_ends(k, <uint16_t>0)

    cdef void compare_ends(self, Py_ssize_t k, end_t zero) noexcept nogil:
        """Compare the items of chunk k. An item has at least as many bytes as an end_t: otherwise
        memory beyond the items is read."""
        cdef end_t[MAX_COMPARED_ENDS] first, last, first_mask, last_mask
        cdef Py_ssize_t width = self.width, behind = width - sizeof(end_t), n = self.n_tests, i, t
        cdef uint8_t *out = self.out
        cdef end_t start, stop
        cdef const char *item = self.items + self.begin(k) * width
        cdef uint8_t equal, invert = self.invert
        FS_REQUIRE(behind >= 0 and n <= MAX_COMPARED_ENDS)
        for t in range(n):
            memcpy(&first[t], &self.whole_tests[t, 0], sizeof(end_t))
            memcpy(&last[t], &self.whole_tests[t, behind], sizeof(end_t))
            memcpy(&first_mask[t], &self.whole_masks[t, 0], sizeof(end_t))
            memcpy(&last_mask[t], &self.whole_masks[t, behind], sizeof(end_t))
        for i in range(self.begin(k), self.begin(k + 1)):
            memcpy(&start, item, sizeof(end_t))
            memcpy(&stop, item + behind, sizeof(end_t))
            equal = 0
            for t in range(n):
                equal |= (((start ^ first[t]) & first_mask[t])
                          | ((stop ^ last[t]) & last_mask[t])) == 0
            if equal and behind > <Py_ssize_t>sizeof(end_t):
                equal = 0
                for t in range(n):
                    equal |= memcmp(item, &self.whole_tests[t, 0], width) == 0
            out[i] = equal ^ invert
            item += width


cdef class FindItems(CompareItems):
    """Compares items with one test after the other, from the last test to the first. A byte for
    each item notes the test that the item equals, without a branch. A later match overwrites it, so
    that the first equal test remains."""
    cdef output_t *output

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t start = self.begin(k), stop = self.begin(k + 1), i, n, test
        cdef Py_ssize_t[BATCH] positions
        cdef Py_ssize_t *found
        cdef Py_ssize_t[MAX_COMPARED + 1] position_of
        cdef uint8_t[BATCH] flags, equal          # equal: index of the test plus one, or 0
        cdef uint8_t test_plus_1
        position_of[0] = -1
        for test in range(self.n_tests):
            position_of[test + 1] = self.positions[test]
        while start < stop:
            n = min(stop - start, BATCH)
            memset(equal, 0, sizeof(equal))
            for test in range(self.n_tests - 1, -1, -1):
                level.among_few[log2_width(self.width)](
                    self.items + start * self.width, n, &self.tests[test], &self.masks[test], 1,
                    flags)
                test_plus_1 = <uint8_t>(test + 1)
                for i in range(n):
                    equal[i] ^= (equal[i] ^ test_plus_1) & <uint8_t>(0 - flags[i])
            found = room_for(self.output, start, positions)
            for i in range(n):
                found[i] = position_of[equal[i]]
            write(self.output, start, n, found)
            start += n
