"""Which items are among tests of a narrow range, and where, by the tables of presence.pyx.

If another thread changes an item meanwhile, only the result for this item is undefined.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from fastsel._core.parallel cimport Job, chunk_count
from fastsel._core.results cimport new_result
from fastsel._sets.lookup_output cimport Output, output_t, room_for, write
from fastsel._simd.blocks cimport blocks_of
from fastsel._unique.dense cimport first_positions_plus_1
from fastsel._unique.keys cimport any_t, canonical, fs_load, keys_t
from fastsel._unique.ordered_keys cimport ordered_key_of
from fastsel._unique.presence cimport Presence

cnp.import_array()


def look_up_in_range(items not None, tests not None, tuple value_range not None, bint has_nan,
                     int threads, Output output, bint invert):
    """Which items are among the tests, as bool; or the result of `output`, if it is not None. None
    if a test has no entry.

    Items and tests are Keys: words of one rule, at least one item and one test. value_range is as
    for Presence. If has_nan, the word nan of the rule never matches. With an output there are fewer
    than 2^32 tests: otherwise positions wrap around. `invert` applies to bool.
    """
    cdef Presence presence = Presence(tests, value_range, output is not None, False, threads)
    cdef Py_ssize_t size = items[1]
    cdef LookUpEntries job
    cdef uint64_t entry                 # of nan; it may lie beyond the table
    if not presence.find():
        return None
    job = LookUpEntries(items[0], size, presence, threads)
    entry = ordered_key_of(presence.value_range.order_map, presence.keys.rule.nan)
    entry -= presence.value_range.base
    has_nan = has_nan and entry <= presence.value_range.mask
    if output is not None:
        job.positions_plus_1 = first_positions_plus_1(presence, threads)
        if has_nan:
            job.positions_plus_1[entry] = 0
        job.output = output.begin()
        out = output.result
    else:
        presence.merge()
        out = new_result(size, cnp.NPY_BOOL)
        job.out, job.invert = out.view("u1"), invert
        if has_nan:
            presence.bits[entry >> 6] &= ~(<uint64_t>1 << (entry & 63))
    job.run(threads)
    return out


cdef class LookUpEntries(Job):
    """Looks up the entry of each item: its bit, or the position of its first test. An item beyond
    the range has no entry, and matches no test."""
    cdef keys_t items
    cdef object owned             # the array that `items` points to
    cdef Presence presence
    # By entry: the position of its first test plus one. None: look up bits.
    cdef uint32_t[::1] positions_plus_1
    cdef uint8_t[::1] out         # output of bits
    cdef output_t *output         # of positions
    cdef bint invert

    def __init__(self, cnp.ndarray data, Py_ssize_t size, Presence presence, int threads):
        self.items = presence.keys
        self.items.data, self.items.size = <const char *>cnp.PyArray_DATA(data), size
        self.owned, self.presence = data, presence
        self.positions_plus_1 = self.out = None
        self.units = blocks_of(size)
        self.chunks = chunk_count(self.units, threads, 64 * (self.items.width + 1))

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t start = self.begin(k) * 64
        cdef Py_ssize_t stop = min(self.begin(k + 1) * 64, self.items.size)
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
        cdef const uint32_t[::1] positions_plus_1 = self.positions_plus_1
        cdef uint8_t[::1] out = self.out
        cdef Py_ssize_t[64] positions
        cdef Py_ssize_t *found
        cdef const uint64_t *order_map = self.presence.value_range.order_map
        cdef uint64_t mask = self.presence.value_range.mask
        cdef bint is_integer = self.presence.value_range.is_integer
        cdef any_t base = <any_t>self.presence.value_range.base_word, entry
        cdef any_t[64] words
        cdef uint8_t invert = self.invert
        cdef Py_ssize_t j, n
        while start < stop:
            n = min(stop - start, 64)
            fs_load(words, items + start, n * sizeof(any_t))
            if not is_integer:          # words of 1 or 2 bytes: each word has an entry
                base = 0
                for j in range(n):
                    words[j] = <any_t>ordered_key_of(
                        order_map, canonical(&self.items.rule, words[j]))
            if positions_plus_1 is not None:
                found = room_for(self.output, start, positions)
                for j in range(n):
                    entry = words[j] - base
                    found[j] = <Py_ssize_t>(
                        positions_plus_1[entry & mask] if entry <= mask else 0) - 1
                write(self.output, start, n, found)
                start += n
                continue
            for j in range(n):
                entry = words[j] - base
                out[start + j] = <uint8_t>(
                    (bits[(entry & mask) >> 6] >> (entry & 63)) & (entry <= mask)) ^ invert
            start += n
