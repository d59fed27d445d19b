"""Which items are among tests of which nearly all are in a window, and where, by the tables of
window.pyx. The few tests outside of the window are compared one by one with the items outside.

If another thread changes an item meanwhile, only the result for this item is undefined.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from fastsel._core.parallel cimport Job
from fastsel._core.results cimport new_result
from fastsel._sets.lookup_output cimport Output, output_t, room_for, write
from fastsel._simd.blocks cimport blocks_of, fs_ctz, word_t
from fastsel._unique.dense cimport first_positions_plus_1, merge_tables
from fastsel._unique.keys cimport Keys, fs_load_once, keys_t, load_word
from fastsel._unique.ordered_keys cimport bit_length, ordered_key_of, word_of
from fastsel._unique.sample cimport widened, window_t
from fastsel._unique.window cimport WindowTable, find_entries

cdef enum:
    MAX_OUTSIDE = 16          # different tests outside of the window


def look_up_in_window(Keys items not None, WindowTable table not None, uint64_t limit,
                      bint has_nan, Output output, bint invert):
    """Which items are among the tests, as bool; or the result of `output`, if it is not None. None
    if too many tests are outside of the window, and a window of all tests has more than `limit`
    entries.

    The tests are the keys of the table, which is not filled yet; it has first positions if, and
    only if, there is an output. The items, at least one, are words of the same rule. If has_nan,
    the word nan of the rule never matches. With an output there are fewer than 2^32 tests:
    otherwise positions wrap around. `invert` applies to bool.
    """
    cdef Keys tests = table.keys
    cdef int threads = table.threads
    cdef LookUpEntries job
    cdef window_t window_of_all
    cdef uint64_t entry                 # of nan; it may lie beyond the table
    if not table.fill():
        return None
    job = LookUpEntries(items, table)
    if not job.list_outside(has_nan):
        window_of_all = widened(
            min(job.low, table.window.base),
            max(job.high, table.window.base + table.window.entries - 1),
            <uint64_t>-1 >> (64 - 8 * tests.fields.width))
        if not 0 < window_of_all.entries <= limit:
            return None
        table = WindowTable(tests, (window_of_all.base, window_of_all.entries),
                            output is not None, 0, threads)
        return look_up_in_window(items, table, 0, has_nan, output, invert)
    entry = ordered_key_of(&tests.fields.rule, tests.fields.rule.nan) - table.window.base
    has_nan = has_nan and entry < table.window.entries
    if output is not None:
        merge_tables(table, threads)
        job.positions_plus_1 = first_positions_plus_1(table, threads)
        job.positions_plus_1[table.window.entries] = 0
        if has_nan:
            job.positions_plus_1[entry] = 0
        job.output = output.begin()
        out = output.result
    else:
        table.merge()
        out = new_result(items.fields.size, cnp.NPY_BOOL)
        job.out, job.invert = out.view("u1"), invert
        if has_nan:
            table.bits[entry >> 6] &= ~(<uint64_t>1 << (entry & 63))
    job.set_range()
    job.run_units(blocks_of(items.fields.size), 64 * (items.fields.width + 1), threads)
    return out


cdef class LookUpEntries(Job):
    """Looks up the entry of each item: its bit, or the position of its first test."""
    cdef Keys items
    cdef WindowTable table
    # By entry: the position of its first test plus one. None: look up bits.
    cdef uint32_t[::1] positions_plus_1
    cdef uint8_t[::1] out         # output of bits
    cdef output_t *output         # of positions
    cdef bint invert
    cdef uint64_t[MAX_OUTSIDE] words            # the different tests outside of the window
    cdef Py_ssize_t[MAX_OUTSIDE] positions      # where each of them occurs first
    cdef int n_outside
    cdef uint64_t low             # the least ordered key of a test outside of the window
    cdef uint64_t high            # the greatest one
    # An integer equals no test if a bit of `beyond` is set in its difference to `lowest`. Only if
    # has_range.
    cdef bint has_range
    cdef uint64_t lowest
    cdef uint64_t beyond

    def __init__(self, Keys items, WindowTable table):
        self.items, self.table = items, table
        self.positions_plus_1 = self.out = None

    cdef bint list_outside(self, bint has_nan) except -1:
        """List the different tests outside of the window, but not nan if has_nan. Returns False if
        they are too many. Sets their range."""
        cdef const keys_t *keys = &self.table.keys.fields
        cdef Py_ssize_t n = self.table.close_outside(), j
        cdef uint64_t word, key
        cdef bint fits = True
        self.low = <uint64_t>-1
        for j in range(n):
            word = load_word(
                <const char *>self.table.outside_words.data + j * keys.width, keys.width)
            if has_nan and word == keys.rule.nan:
                continue
            key = ordered_key_of(&keys.rule, word)
            self.low, self.high = min(self.low, key), max(self.high, key)
            if not fits or self.find_outside(word) >= 0:
                continue
            fits = self.n_outside < MAX_OUTSIDE
            if fits:
                self.words[self.n_outside] = word
                self.positions[self.n_outside] = self.table.outside_positions[j]
                self.n_outside += 1
        return fits

    cdef int set_range(self) except -1:
        """Set the range of all tests, if items can be compared with it. Bits are merged."""
        cdef const uint64_t[::1] bits = self.table.bits
        cdef Py_ssize_t first = 0, last = self.table.entry_blocks - 1
        cdef uint64_t low = self.low, high = self.high
        while first <= last and bits[first] == 0:
            first += 1
        while last > first and bits[last] == 0:
            last -= 1
        if first <= last:
            low = min(
                low, self.table.window.base + <uint64_t>first * 64 + fs_ctz(bits[first]))
            high = max(
                high, self.table.window.base + <uint64_t>last * 64 + bit_length(bits[last]) - 1)
        self.has_range = self.table.are_integers and low <= high
        self.lowest = word_of(&self.items.fields.rule, low)
        self.beyond = ~<uint64_t>63
        while (high - low) & self.beyond:
            self.beyond <<= 1

    cdef inline Py_ssize_t find_outside(self, uint64_t word) noexcept nogil:
        """The position of the first test outside of the window that equals the word, or -1."""
        cdef int t
        for t in range(self.n_outside):
            if self.words[t] == word:
                return self.positions[t]
        return -1

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const keys_t *items = &self.items.fields
        cdef Py_ssize_t start = self.begin(k) * 64, stop = min(self.begin(k + 1) * 64, items.size)
        if items.width == 1:
            self.look_up(<const uint8_t *>items.data, start, stop)
        elif items.width == 2:
            self.look_up(<const uint16_t *>items.data, start, stop)
        elif items.width == 4:
            self.look_up(<const uint32_t *>items.data, start, stop)
        else:
            self.look_up(<const uint64_t *>items.data, start, stop)

    cdef void look_up(self, const word_t *items, Py_ssize_t start,
                      Py_ssize_t stop) noexcept nogil:
        cdef const uint64_t[::1] bits = self.table.bits
        cdef const uint32_t[::1] positions_plus_1 = self.positions_plus_1
        cdef uint8_t[::1] out = self.out
        cdef Py_ssize_t[64] positions
        cdef Py_ssize_t *found
        cdef word_t[64] words
        cdef uint32_t[64] entries
        cdef uint32_t behind = <uint32_t>self.table.window.entries
        cdef word_t lowest = <word_t>self.lowest, beyond = <word_t>self.beyond
        cdef uint8_t invert = self.invert
        cdef bint has_range = self.has_range, outside
        cdef Py_ssize_t j, n
        while start < stop:
            n = min(stop - start, 64)
            # If the first item equals no test, perhaps none does.
            if (has_range and <word_t>(items[start] - lowest) & beyond
                    and all_beyond(items + start, n, lowest, beyond)):
                if positions_plus_1 is None:
                    memset(&out[start], invert, n)
                else:
                    found = room_for(self.output, start, positions)
                    memset(found, 0xff, n * sizeof(Py_ssize_t))       # -1
                    write(self.output, start, n, found)
                start += n
                continue
            fs_load_once(words, items + start, n * sizeof(word_t))
            outside = find_entries(self.table, words, n, entries) and self.n_outside
            if positions_plus_1 is None:
                for j in range(n):
                    out[start + j] = (
                        <uint8_t>(bits[entries[j] >> 6] >> (entries[j] & 63)) & 1) ^ invert
                for j in range(n if outside else 0):
                    if entries[j] == behind:
                        out[start + j] = (self.find_outside(words[j]) >= 0) ^ invert
            else:
                found = room_for(self.output, start, positions)
                for j in range(n):
                    found[j] = <Py_ssize_t>positions_plus_1[entries[j]] - 1
                for j in range(n if outside else 0):
                    if entries[j] == behind:
                        found[j] = self.find_outside(words[j])
                write(self.output, start, n, found)
            start += n


cdef inline bint all_beyond(const word_t *words, Py_ssize_t n, word_t lowest,
                            word_t beyond) noexcept nogil:
    """Has each word's difference to `lowest` a bit of `beyond`? The compiler vectorizes the loop:
    SSE2 cannot compare 64-bit words, but the top bit of ~x & (x - 1) says whether x is 0."""
    cdef word_t inside = 0, bits
    cdef Py_ssize_t j
    for j in range(n):
        bits = <word_t>(words[j] - lowest) & beyond
        inside |= ~bits & <word_t>(bits - 1)
    return not inside >> (8 * sizeof(word_t) - 1)
