"""Words as unsigned numbers of the same order, and back.

The order is three words: the sign, which is flipped; what is flipped too where the sign was set;
and what is subtracted then, so that NaT, the smallest integer, becomes the largest number.
"""
from libc.stdint cimport uint64_t

from fastsel._unique.keys cimport canonical, rule_t, wide_t


cdef inline uint64_t number_of(const uint64_t *order, uint64_t word) noexcept nogil:
    return (word ^ order[0] ^ (order[1] if word & order[0] else 0)) - order[2]


cdef inline uint64_t word_of(const uint64_t *order, uint64_t number) noexcept nogil:
    number += order[2]
    return number ^ order[0] ^ (0 if number & order[0] else order[1])


cdef inline int bit_length(uint64_t number) noexcept nogil:
    cdef int bits = 0
    while number:
        number >>= 1
        bits += 1
    return bits


cdef inline void to_numbers(const rule_t *rule, const uint64_t *order, int bits, wide_t *words,
                            Py_ssize_t n) noexcept nogil:
    """The numbers of the canonical forms of n words of so many bits, in place; vectors of them at a
    time."""
    cdef wide_t sign = <wide_t>order[0], negative = <wide_t>order[1], less = <wide_t>order[2]
    cdef wide_t significant = <wide_t>rule.significant, limit = <wide_t>rule.limit
    cdef wide_t nan = <wide_t>rule.nan
    cdef wide_t word, magnitude
    cdef int top = bits - 1
    cdef Py_ssize_t j
    for j in range(n):
        word = words[j]
        magnitude = word & significant
        word = word if magnitude else 0
        word = nan if magnitude > limit else word
        words[j] = (word ^ sign ^ (negative if word >> top else 0)) - less


cdef inline void to_words(const uint64_t *order, wide_t *numbers, Py_ssize_t n) noexcept nogil:
    """Back from numbers to canonical words, in place."""
    cdef wide_t sign = <wide_t>order[0], negative = <wide_t>order[1], less = <wide_t>order[2]
    cdef wide_t number
    cdef int top = 8 * sizeof(wide_t) - 1
    cdef Py_ssize_t j
    for j in range(n):
        number = numbers[j] + less
        numbers[j] = number ^ sign ^ (0 if number >> top else negative)
