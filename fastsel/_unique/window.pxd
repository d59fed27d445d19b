"""Direct-address tables for the keys of a window; see window.pyx."""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from fastsel._core.parallel cimport Job
from fastsel._core.scratch cimport Memory
from fastsel._simd.blocks cimport word_t
from fastsel._simd.levels cimport level
from fastsel._unique.keys cimport Keys, keys_t
from fastsel._unique.sample cimport window_t


cdef enum:
    COUNT_TABLES = 4


cdef class WindowTable(Job):
    cdef Keys keys
    cdef window_t window
    cdef uint64_t base_word       # the word of window.base
    cdef bint are_integers        # every word is canonical; word minus base_word is its entry
    cdef int threads
    cdef cnp.npy_intp key_blocks
    cdef Py_ssize_t rounds
    cdef Py_ssize_t key_chunks    # of the passes over keys after `fill`
    cdef Py_ssize_t entry_blocks  # of a table; keys outside of the window share the entry behind it
    cdef Py_ssize_t entry_chunks  # of the passes over entries
    # By chunk and entry. Only `merge` writes `bits` if there are other tables.
    cdef uint64_t[::1] bits       # which words occur; after `merge`, chunk 0 has all words
    cdef uint32_t[::1] counts     # keys of each word, in count_tables tables of a chunk; or None
    cdef Py_ssize_t count_tables
    # 1 if the word occurs in the chunk or, after `merge`, before it; None if entries have no bytes.
    cdef uint8_t[::1] present
    cdef uint64_t[::1] first_bits  # bitmask of first occurrences, an array; or None
    cdef Py_ssize_t room          # of each chunk: maximum number of keys outside
    cdef Memory outside_words     # by chunk: words of the keys outside, in the width of the keys
    cdef Py_ssize_t[::1] outside_positions
    cdef Py_ssize_t[::1] outside  # by chunk: how many; -1 if there is no room
    cdef Py_ssize_t[::1] offsets  # number of words before each chunk of the entries; set by `merge`

    cdef bint fill(self) except -1
    cdef Py_ssize_t merge(self) except -1
    cdef Py_ssize_t close_outside(self) noexcept


cdef class EntryPass(Job):
    """A pass over chunks of the entries; chunks are whole blocks."""
    cdef WindowTable table
    cdef uint32_t[::1] group_ids  # by entry: the group of its word
    cdef Py_ssize_t[::1] out


cdef inline bint find_entries(WindowTable table, const word_t *words, Py_ssize_t n,
                              uint32_t *entries) noexcept nogil:
    """Write the entries of n <= 64 words. Returns whether a word is outside of the window; its
    entry is the one behind the window. Each byte and each float16 has an entry."""
    cdef word_t base = <word_t>table.base_word, length = <word_t>table.window.entries
    cdef word_t seen = 0
    cdef uint64_t[64] ordered
    cdef const keys_t *keys = &table.keys.fields
    cdef Py_ssize_t j
    cdef uint32_t last = <uint32_t>table.window.entries, high, entry
    if word_t is uint8_t or word_t is uint16_t:
        if not table.are_integers:
            level.ordered_keys[sizeof(word_t) - 1](
                <const char *>words, n, &keys.rule, ordered)
            for j in range(n):
                entries[j] = <uint32_t>ordered[j]
            return False
        for j in range(n):
            seen |= words[j] - base
            entries[j] = <word_t>(words[j] - base)
        if word_t is uint16_t:
            if seen >= last:
                for j in range(n):
                    entries[j] = min(entries[j], last)
                return True
        return False
    else:
        # The length is a power of two, so that one test finds out whether all words are inside.
        for j in range(n):
            seen |= words[j] - base
            entries[j] = <uint32_t>(words[j] - base)
        if seen < length:
            return False
        # In variables of 32 bits, the compiler vectorizes the minimum also with SSE2, which cannot
        # compare words of 64 bits.
        for j in range(n):
            high = <uint32_t>(<uint64_t>(words[j] - base) >> 32)
            entry = <uint32_t>(words[j] - base) | (0 - <uint32_t>(high != 0))
            entries[j] = entry if entry < last else last
        return True
