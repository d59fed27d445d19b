"""Which items are among a few tests, and where. Each item is compared with each test; items are not
made canonical.

If another thread changes an item meanwhile, only the result for this item is undefined.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memset

from fastsel._core.parallel cimport Job, chunk_count
from fastsel._core.results cimport new_result
from fastsel._simd.blocks cimport log2_width
from fastsel._simd.levels cimport level
from fastsel._unique.keys cimport BATCH, canonical, load_word, rule_t, set_rule

cnp.import_array()

cdef enum:
    MAX_COMPARED = 16           # tests; with more, comparing takes longer than hashing

MAX_TESTS = MAX_COMPARED


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
