"""Which items are words of a narrow range that occur among the tests, and where, by presence.pyx.

An item that another thread changes meanwhile is found or not; nothing else depends on it.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from fastsel._core.parallel cimport Job, chunk_count, chunk_start
from fastsel._core.results cimport new_result
from fastsel._simd.blocks cimport blocks_of
from fastsel._unique.dense cimport first_places
from fastsel._unique.keys cimport any_t, canonical, fs_load, keys_t
from fastsel._unique.ordered_numbers cimport number_of
from fastsel._unique.presence cimport Presence

cnp.import_array()


def in_range(items not None, tests not None, tuple order not None,
             tuple value_range not None, bint has_nan, bint invert, int threads):
    """Which items are among the tests, as bool; None if a test has no entry.

    Items and tests are Keys, words of one rule, and at least one each. value_range and order are as
    for Presence. has_nan: the word nan, which the rule has as one value, is among nothing.
    """
    cdef Presence presence
    cdef LookUpEntries job
    cdef uint64_t entry
    cdef cnp.npy_intp size = items[1]
    presence = Presence(tests[0], tests[1], items[3], order, value_range, False, False, threads)
    if not presence.find():
        return None
    presence.merge()
    out = new_result(1, &size, cnp.NPY_BOOL)
    job = LookUpEntries(items[0], size, presence, threads)
    job.out, job.invert = out.view("u1"), invert
    entry = nan_entry(presence)
    if has_nan and entry <= presence.value_range.mask:
        presence.bits[entry >> 6] &= ~(<uint64_t>1 << (entry & 63))
    job.run(threads)
    return out


def index_in_range(items not None, tests not None, tuple order not None,
                   tuple value_range not None, bint has_nan, int threads):
    """The position of the first test that equals each item, or -1; None if a test has no entry.
    Arguments as for `in_range`; there are fewer than 2^32 - 1 tests."""
    cdef Presence presence
    cdef LookUpEntries job
    cdef uint64_t entry
    cdef cnp.npy_intp size = items[1]
    presence = Presence(tests[0], tests[1], items[3], order, value_range, True, False, threads)
    if not presence.find():
        return None
    index = new_result(1, &size, cnp.NPY_INTP)
    job = LookUpEntries(items[0], size, presence, threads)
    job.places, job.index = first_places(presence, threads), index
    entry = nan_entry(presence)
    if has_nan and entry <= presence.value_range.mask:
        job.places[entry] = 0
    job.run(threads)
    return index


cdef uint64_t nan_entry(Presence presence) noexcept nogil:
    """The entry of NaN, which may be beyond the table."""
    return number_of(
        presence.value_range.order, presence.keys.rule.nan) - presence.value_range.base


cdef class LookUpEntries(Job):
    """What the entry of each item says, its bit or its place; items beyond the range have none."""
    cdef keys_t items
    cdef object owned             # the array that the items point to
    cdef Presence presence
    cdef uint32_t[::1] places     # by entry: of its first test, plus one; None: bits are looked up
    cdef uint8_t[::1] out         # of bits
    cdef Py_ssize_t[::1] index    # of places
    cdef bint invert

    def __init__(self, cnp.ndarray data, Py_ssize_t size, Presence presence, int threads):
        self.items = presence.keys
        self.items.data, self.items.size = <const char *>cnp.PyArray_DATA(data), size
        self.owned, self.presence = data, presence
        self.places = self.out = self.index = None
        self.chunks = chunk_count(
            blocks_of(self.items.size), threads, 64 * (self.items.width + 1))

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t blocks = blocks_of(self.items.size)
        cdef Py_ssize_t start = chunk_start(blocks, self.chunks, k) * 64
        cdef Py_ssize_t stop = min(chunk_start(blocks, self.chunks, k + 1) * 64, self.items.size)
        if self.items.width == 1:
            self.look_up(<const uint8_t *>self.items.data, start, stop)
        elif self.items.width == 2:
            self.look_up(<const uint16_t *>self.items.data, start, stop)
        elif self.items.width == 4:
            self.look_up(<const uint32_t *>self.items.data, start, stop)
        else:
            self.look_up(<const uint64_t *>self.items.data, start, stop)

    cdef void look_up(self, const any_t *items, Py_ssize_t start,
                      Py_ssize_t stop) noexcept nogil:
        cdef const uint64_t[::1] bits = self.presence.bits
        cdef const uint32_t[::1] places = self.places
        cdef uint8_t[::1] out = self.out
        cdef Py_ssize_t[::1] index = self.index
        cdef const uint64_t *order = self.presence.value_range.order
        cdef uint64_t mask = self.presence.value_range.mask
        cdef bint is_integer = self.presence.value_range.is_integer
        cdef any_t base = <any_t>self.presence.value_range.base_word, entry
        cdef any_t[64] words
        cdef uint8_t invert = self.invert
        cdef Py_ssize_t j, n
        while start < stop:
            n = min(stop - start, 64)
            fs_load(words, items + start, n * sizeof(any_t))
            if not is_integer:          # of 1 or 2 bytes: each of them has an entry
                base = 0
                for j in range(n):
                    words[j] = <any_t>number_of(order, canonical(&self.items.rule, words[j]))
            if places is not None:
                for j in range(n):
                    entry = words[j] - base
                    index[start + j] = <Py_ssize_t>(
                        places[entry & mask] if entry <= mask else 0) - 1
                start += n
                continue
            for j in range(n):
                entry = words[j] - base
                out[start + j] = <uint8_t>(
                    (bits[(entry & mask) >> 6] >> (entry & 63)) & (entry <= mask)) ^ invert
            start += n
