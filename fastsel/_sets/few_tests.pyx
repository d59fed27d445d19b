"""Which items are among a few tests, and where. Each item is compared with each test; items are not
made canonical. Native words are compared by the loops of a CPU level, other items by their bytes.

If another thread changes an item meanwhile, only the result for this item is undefined.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from fastsel._core.parallel cimport Job, chunk_count
from fastsel._core.results cimport new_result
from fastsel._simd.blocks cimport is_item, log2_width
from fastsel._simd.levels cimport level
from fastsel._unique.keys cimport BATCH, canonical, load_word, rule_t, set_rule

cnp.import_array()

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


def among_few(cnp.ndarray items not None, cnp.ndarray tests not None, tuple rule not None,
              bint invert, int threads):
    """Which items are among the tests, as a flat array of bool.

    Items and tests are native words of one rule: (significant, limit, nan, nan_unequal). The words
    are integers, times or floats, whose NaN equal no item: otherwise equal items with different
    bits do not match. There are at most MAX_TESTS tests: otherwise memory behind the job is
    overwritten.
    """
    cdef CompareItems job = CompareItems(items, tests, rule, threads)
    out = new_result(job.units, cnp.NPY_BOOL)
    job.out, job.invert = <uint8_t *>cnp.PyArray_DATA(out), invert
    if job.n_tests:
        job.run(threads)
    else:                         # all tests are NaN, which equals no item
        memset(job.out, invert, job.units)
    return out


def among_few_by_bytes(cnp.ndarray items not None, const uint8_t[:, ::1] tests not None,
                       const uint8_t[:, ::1] masks not None, bint invert, int threads):
    """Which items are among the tests, as a flat array of bool. An item equals a test if
    item & mask == test, where mask is the test's row of masks.

    items is C-contiguous. The tests are few (are_few); tests and masks have a row for each of them,
    with a byte for each byte of an item: otherwise other memory is read or overwritten. If items
    have more than 16 bytes, all bits of the masks are 1.
    """
    cdef CompareBytes job = CompareBytes()
    job.owned, job.items = items, <const char *>cnp.PyArray_DATA(items)
    job.tests, job.masks, job.n_tests = tests, masks, tests.shape[0]
    job.units, job.width = cnp.PyArray_SIZE(items), cnp.PyArray_ITEMSIZE(items)
    out = new_result(job.units, cnp.NPY_BOOL)
    job.out, job.invert = <uint8_t *>cnp.PyArray_DATA(out), invert
    job.chunks = chunk_count(job.units, threads, job.width + 1)
    job.run(threads)
    return out


def index_in_few(cnp.ndarray items not None, cnp.ndarray tests not None, tuple rule not None,
                 int threads):
    """The position of the first test that equals each item, or -1. The arguments are as for
    among_few."""
    cdef FindItems job = FindItems(items, tests, rule, threads)
    index = new_result(job.units, cnp.NPY_INTP)
    job.index = index
    job.run(threads)
    return index


cdef class CompareItems(Job):
    cdef object owned             # the array that `items` points to
    cdef const char *items
    cdef Py_ssize_t width
    cdef uint64_t[MAX_COMPARED] tests
    cdef uint64_t[MAX_COMPARED] masks     # the bits of an item that are compared with each test
    cdef Py_ssize_t n_tests
    cdef Py_ssize_t[MAX_COMPARED] positions  # by test: its position; NaN is left out
    cdef uint8_t *out             # by item: 1 if a test equals the item; with invert, 0
    cdef bint invert

    def __init__(self, cnp.ndarray items, cnp.ndarray tests, tuple rule, int threads):
        cdef rule_t word_rule
        cdef Py_ssize_t width = cnp.PyArray_ITEMSIZE(tests), k
        cdef uint64_t word
        if not cnp.PyArray_ISCARRAY_RO(items):
            items = cnp.PyArray_NewCopy(items, cnp.NPY_CORDER)
        if not cnp.PyArray_ISCARRAY_RO(tests):
            tests = cnp.PyArray_NewCopy(tests, cnp.NPY_CORDER)
        set_rule(&word_rule, rule)
        for k in range(cnp.PyArray_SIZE(tests)):
            word = canonical(
                &word_rule, load_word(<const char *>cnp.PyArray_DATA(tests) + k * width, width))
            if word != word_rule.nan or not word_rule.nan_unequal:
                self.tests[self.n_tests], self.positions[self.n_tests] = word, k
                self.masks[self.n_tests] = word_rule.significant if word == 0 else <uint64_t>-1
                self.n_tests += 1
        self.owned, self.items = items, <const char *>cnp.PyArray_DATA(items)
        self.units, self.width = cnp.PyArray_SIZE(items), cnp.PyArray_ITEMSIZE(items)
        self.chunks = chunk_count(self.units, threads, self.width + 1)

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t start = self.begin(k), stop = self.begin(k + 1), i
        level.among_few[log2_width(self.width)](
            self.items + start * self.width, stop - start, self.tests, self.masks, self.n_tests,
            self.out + start)
        if self.invert:
            for i in range(start, stop):
                self.out[i] ^= 1


cdef class CompareBytes(Job):
    """Compares items of one word by the loop of a CPU level. Of other items, it compares the two
    ends, which are the first and the last 2, 4 or 8 bytes, with the ends of each test. The ends may
    overlap, and cover items of up to 16 bytes. A longer item whose ends match is then compared as a
    whole."""
    cdef object owned             # the array that `items` points to
    cdef const char *items
    cdef Py_ssize_t width
    cdef const uint8_t[:, ::1] tests
    cdef const uint8_t[:, ::1] masks
    cdef Py_ssize_t n_tests
    cdef uint8_t *out             # by item: 1 if a test equals the item; with invert, 0
    cdef bint invert

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        if is_item(self.width):
            self.compare_words(k)
        elif self.width > 8:
            self.compare_ends(k, <uint64_t>0)
        elif self.width > 4:
            self.compare_ends(k, <uint32_t>0)
        else:
            self.compare_ends(k, <uint16_t>0)

    cdef void compare_words(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t start = self.begin(k), stop = self.begin(k + 1), i, t
        cdef uint64_t[MAX_COMPARED] tests, masks
        for t in range(self.n_tests):
            tests[t] = load_word(<const char *>&self.tests[t, 0], self.width)
            masks[t] = load_word(<const char *>&self.masks[t, 0], self.width)
        if self.n_tests:
            level.among_few[log2_width(self.width)](
                self.items + start * self.width, stop - start, tests, masks, self.n_tests,
                self.out + start)
        else:
            memset(self.out + start, 0, stop - start)
        if self.invert:
            for i in range(start, stop):
                self.out[i] ^= 1

    cdef void compare_ends(self, Py_ssize_t k, end_t zero) noexcept nogil:
        """Compare the items of chunk k. An item has at least as many bytes as an end_t: otherwise
        memory beyond the items is read."""
        cdef end_t[MAX_COMPARED_ENDS] first, last, first_mask, last_mask
        cdef Py_ssize_t width = self.width, behind = width - sizeof(end_t), n = self.n_tests, i, t
        cdef uint8_t *out = self.out
        cdef end_t start, stop
        cdef const char *item = self.items + self.begin(k) * width
        cdef uint8_t equal, invert = self.invert
        for t in range(n):
            memcpy(&first[t], &self.tests[t, 0], sizeof(end_t))
            memcpy(&last[t], &self.tests[t, behind], sizeof(end_t))
            memcpy(&first_mask[t], &self.masks[t, 0], sizeof(end_t))
            memcpy(&last_mask[t], &self.masks[t, behind], sizeof(end_t))
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
                    equal |= memcmp(item, &self.tests[t, 0], width) == 0
            out[i] = equal ^ invert
            item += width


cdef class FindItems(CompareItems):
    """Compares items with one test after the other, from the last test to the first. A byte for
    each item notes the test that the item equals, without a branch. A later match overwrites it, so
    that the first equal test remains."""
    cdef Py_ssize_t[::1] index

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t start = self.begin(k), stop = self.begin(k + 1), i, n, test
        cdef Py_ssize_t[::1] index = self.index
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
            for i in range(n):
                index[start + i] = position_of[equal[i]]
            start += n
