"""Turn words into ordered keys by their rule (fs_rule_t of level.h), and back."""
from libc.stdint cimport uint64_t

from fastsel._simd.blocks cimport rule_t, word_t


cdef inline uint64_t ordered_key_of(const rule_t *rule, uint64_t word) noexcept nogil:
    """The ordered key of a canonical word."""
    return (word ^ rule.sign ^ (rule.negative if word & rule.sign else 0)) - rule.minimum


cdef inline uint64_t word_of(const rule_t *rule, uint64_t key) noexcept nogil:
    """The canonical word of an ordered key."""
    key += rule.minimum
    return key ^ rule.sign ^ (0 if key & rule.sign else rule.negative)


cdef inline int bit_length(uint64_t key) noexcept nogil:
    cdef int bits = 0
    while key:
        key >>= 1
        bits += 1
    return bits


cdef inline void to_words(const rule_t *rule, word_t *keys, Py_ssize_t n) noexcept nogil:
    """Replace n ordered keys by their canonical words."""
    cdef word_t sign = <word_t>rule.sign, negative = <word_t>rule.negative
    cdef word_t minimum = <word_t>rule.minimum
    cdef word_t key
    cdef int top = 8 * sizeof(word_t) - 1
    cdef Py_ssize_t j
    for j in range(n):
        key = keys[j] + minimum
        keys[j] = key ^ sign ^ (0 if key >> top else negative)
