"""Words as unsigned numbers of the same order, and back.

The order is three words: the sign, which is flipped; what is flipped too where the sign was set;
and what is subtracted then, so that NaT, the smallest integer, becomes the largest number.
"""
from libc.stdint cimport uint64_t


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
