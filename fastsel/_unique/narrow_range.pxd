"""Words of a narrow range: each number of the range has an entry of its own in a table."""
from libc.stdint cimport uint32_t, uint64_t

from fastsel._unique.keys cimport any_t, canonical, fs_load, is_plain, rule_t
from fastsel._unique.ordered_numbers cimport number_of, word_of

ctypedef struct narrow_t:
    uint64_t[3] order           # how words become numbers
    uint64_t base               # the number with the first entry
    uint64_t base_word          # its word
    uint64_t mask               # of the entries, whose number is a power of two
    Py_ssize_t blocks           # of 64 entries, at least one
    bint plain                  # words are canonical, and ordered as integers


cdef inline int describe_range(narrow_t *narrow, const rule_t *rule, tuple order,
                               tuple span) except -1:
    """span is (base, bits): the 2^bits numbers from base on have an entry each."""
    cdef int bits = span[1]
    narrow.order[0], narrow.order[1], narrow.order[2] = order
    narrow.base = span[0]
    narrow.base_word = word_of(narrow.order, narrow.base)
    narrow.mask = (<uint64_t>1 << bits) - 1
    narrow.blocks = (<Py_ssize_t>narrow.mask >> 6) + 1
    narrow.plain = is_plain(rule) and narrow.order[1] == 0
    return 0


cdef inline bint find_entries(const narrow_t *narrow, const rule_t *rule, const any_t *items,
                              Py_ssize_t n, uint32_t *at) noexcept nogil:
    """The entries of n <= 64 keys, which are loaded once; False if one has none."""
    cdef any_t[64] words
    cdef any_t entry, beyond = 0
    cdef Py_ssize_t j
    fs_load(words, items, n * sizeof(any_t))
    if not narrow.plain:                # all numbers of 1 or 2 bytes have an entry
        for j in range(n):
            at[j] = <any_t>number_of(narrow.order, canonical(rule, words[j]))
        return True
    for j in range(n):
        entry = words[j] - <any_t>narrow.base_word
        beyond |= entry
        at[j] = <uint32_t>entry
    return (<uint64_t>beyond & ~narrow.mask) == 0
