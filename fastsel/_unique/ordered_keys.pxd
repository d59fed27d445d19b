"""Turn words into ordered keys, which are unsigned integers in the order of the items, and back.

order_map is (sign, negative, minimum). The bits of sign are flipped; if the sign bit of the word is
set, the bits of negative are flipped too; then minimum is subtracted. For dates and times, minimum
is 1, so that NaT, the smallest integer, becomes the largest key.
"""
from libc.stdint cimport uint64_t

from fastsel._simd.blocks cimport word_t


cdef inline uint64_t ordered_key_of(const uint64_t *order_map, uint64_t word) noexcept nogil:
    return (word ^ order_map[0] ^ (order_map[1] if word & order_map[0] else 0)) - order_map[2]


cdef inline uint64_t word_of(const uint64_t *order_map, uint64_t key) noexcept nogil:
    key += order_map[2]
    return key ^ order_map[0] ^ (0 if key & order_map[0] else order_map[1])


cdef inline int bit_length(uint64_t key) noexcept nogil:
    cdef int bits = 0
    while key:
        key >>= 1
        bits += 1
    return bits


cdef inline void to_words(const uint64_t *order_map, word_t *keys, Py_ssize_t n) noexcept nogil:
    """Replace n ordered keys by their canonical words."""
    cdef word_t sign = <word_t>order_map[0], negative = <word_t>order_map[1]
    cdef word_t minimum = <word_t>order_map[2]
    cdef word_t key
    cdef int top = 8 * sizeof(word_t) - 1
    cdef Py_ssize_t j
    for j in range(n):
        key = keys[j] + minimum
        keys[j] = key ^ sign ^ (0 if key >> top else negative)
