"""Groups of doubles that are decimals of few digits, such as 7.0 or 36.6: ids, years, prices and
measurements. Each double becomes an integer, and dense.pyx groups the integers.

A double is a decimal if it equals an integer divided by the scale, a power of ten, or if it is
large (order_body.h): so equal integers stand for equal doubles. NaN is the largest integer. The set
functions and lookups use integers of decimals, too (_membership.py).
"""
cimport numpy as cnp
from libc.stdint cimport INT64_MAX, int64_t, uint64_t
from libc.string cimport memcpy

from fastsel._core.atomics cimport fs_load_relaxed, fs_store_relaxed
from fastsel._core.parallel cimport Job
from fastsel._core.results cimport new_result
from fastsel._simd.blocks cimport blocks_of
from fastsel._simd.levels cimport level
from fastsel._unique.dense cimport new_dense
from fastsel._unique.groups cimport Groups, Search
from fastsel._unique.keys cimport Keys, Rule, keys_t, restore_bits

cdef int64_t LARGE = <int64_t>1 << 51     # from here on, integers are the bits of doubles

# The rules of the integers: NaN equals NaN, or not.
cdef tuple RULES = tuple([
    Rule(<uint64_t>-1, <uint64_t>-1, INT64_MAX, nan_unequal, (1 << 63, 0, 0))
    for nan_unequal in (False, True)
])


cdef class Decimals(Groups):
    cdef Groups dense

    cpdef bint find(self) except -1:
        cdef Search search = self.search, of_integers
        cdef Keys keys
        keys = integers_of(search.keys, search.scale, False, search.copy_threads)
        if keys is None:
            return False
        threads = table_threads(search.size, search.window, search.copy_threads)
        of_integers = Search(keys, keys.data if search.ascends else search.rows, search.request,
                             search.threads, threads)
        of_integers.window = search.window
        of_integers.sampled, of_integers.has_sample = search.sampled, True
        self.dense = new_dense(of_integers)
        if not self.dense.find():
            return False
        self.index, self.direction = self.dense.index, self.dense.direction
        self.values = self.dense.values
        if search.ascends:
            self.values = self.doubles(self.values)
        return True

    cdef object doubles(self, cnp.ndarray integers):
        """Replace the integers of the ascending values by their doubles, with the bits of the first
        occurrences."""
        cdef keys_t *keys = &self.search.keys.fields
        cdef cnp.ndarray index = self.index
        cdef const Py_ssize_t *positions = NULL
        cdef Py_ssize_t groups = cnp.PyArray_SIZE(integers), g
        cdef int64_t *words = <int64_t *>cnp.PyArray_DATA(integers)
        cdef double scale = self.search.scale, value
        for g in range(groups):
            if words[g] == INT64_MAX:
                words[g] = keys.rule.nan
            elif -LARGE < words[g] < LARGE:
                value = words[g] / scale
                memcpy(&words[g], &value, sizeof(value))
            elif words[g] < 0:
                words[g] = -words[g] | <int64_t>(<uint64_t>1 << 63)
        if index is not None:
            positions = <const Py_ssize_t *>cnp.PyArray_DATA(index)
        with nogil:
            restore_bits(keys, <uint64_t *>words, groups, positions)
        return integers

    cpdef tuple finish(self, ranks):
        return self.dense.finish(ranks)


def table_threads(Py_ssize_t size, tuple window, int threads):
    """The number of threads whose tables together have at most 16 entries for each key, since the
    integers take memory, too: 2 bytes for each key if entries are bits. Tables of bytes have fewer
    entries (window.pyx, _plan.max_entries)."""
    _, entries = window
    return max(1, min(threads, 16 * size // entries))


def integers_of(Keys keys not None, double scale, bint others_are_nan, int threads):
    """The integers of doubles, as Keys; the array of the integers has the dtype of doubles. None if
    a double is neither a decimal nor NaN, unless others_are_nan: then this double counts as NaN."""
    cdef ToIntegers job = ToIntegers()
    job.keys, job.scale, job.others_are_nan = keys, scale, others_are_nan
    job.integers = new_result(keys.fields.size, cnp.NPY_DOUBLE)
    job.run_units(blocks_of(keys.fields.size), 64 * keys.fields.width, threads)
    if job.others and not others_are_nan:
        return None
    return Keys(job.integers, RULES[keys.fields.rule.nan_unequal], (0, 1))


cdef class ToIntegers(Job):
    cdef Keys keys
    cdef double scale
    cdef bint others_are_nan
    cdef cnp.ndarray integers
    cdef Py_ssize_t others        # not 0: a key is neither a decimal nor NaN

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const keys_t *keys = &self.keys.fields
        cdef int64_t *integers = <int64_t *>cnp.PyArray_DATA(self.integers)
        cdef Py_ssize_t block, start
        for block in range(self.begin(k), self.begin(k + 1)):
            if fs_load_relaxed(&self.others) and not self.others_are_nan:
                return
            start = block * 64
            if not level.decimal_keys(keys.data + start * 8, min(64, keys.size - start),
                                      self.scale, integers + start):
                fs_store_relaxed(&self.others, 1)
