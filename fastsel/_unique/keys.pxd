"""A key is the canonical form of an item: equal items have equal keys, whatever their bits.

Keys of 1, 2, 4 and 8 bytes are words, which become canonical when they are loaded. Longer keys
(items of 16 bytes, strings, rows) are compared as bytes, and must be canonical in memory already
(canonical.pyx); the word of a longer key is its hash.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from fastsel._simd.blocks cimport fs_prefetch, log2_width, rule_t, wide_t, word_t
from fastsel._simd.levels cimport level

cdef extern from "load_once.h" nogil:
    void fs_load_once(void *copy, const void *source, size_t size)

cdef extern from "hashing.h" nogil:
    uint64_t fs_fold(uint64_t a, uint64_t b)
    uint64_t fs_hash_bytes(const char *p, Py_ssize_t size, uint64_t seed, uint64_t factor)

cdef enum:
    BATCH = 256     # keys at a time: their words fit the L1 cache and any stack
    AHEAD = 32      # how many keys ahead a kernel prefetches

ctypedef struct keys_t:
    const char *data
    Py_ssize_t size         # number of keys
    Py_ssize_t width        # bytes of a key
    bint is_word            # width is 1, 2, 4 or 8
    rule_t rule
    const uint64_t *unequal  # bitmask of keys that equal no other, whatever their bytes; or NULL
    uint64_t seed           # even; hashes of longer keys are odd, so that no hash equals the seed
    uint64_t factor


cdef class Rule:
    """Which words are equal and, if they are numbers or times, their order. Made once for each
    dtype."""
    cdef rule_t words


cdef class Keys:
    """Keys of equal width. Loops read `fields`; the other attributes own what they point to."""
    cdef keys_t fields
    cdef readonly cnp.ndarray data      # C-contiguous; aligned for words
    cdef readonly Rule rule
    cdef readonly object unequal        # bitmask (uint64), or None


cdef inline uint64_t canonical(const rule_t *rule, uint64_t word) noexcept nogil:
    """The canonical form of a word. No branch depends on the word: in data that is half NaN, such a
    branch would often be mispredicted."""
    cdef uint64_t magnitude = word & rule.significant
    cdef uint64_t nan_mask = 0 - <uint64_t>(magnitude > rule.limit)
    word &= 0 - <uint64_t>(magnitude != 0)
    return (word & ~nan_mask) | (rule.nan & nan_mask)


cdef inline uint64_t load_word(const char *p, Py_ssize_t width) noexcept nogil:
    """The word at p, zero-extended; p may be unaligned. The word is loaded once."""
    cdef uint8_t w1
    cdef uint16_t w2
    cdef uint32_t w4
    cdef uint64_t w8
    if width == 8:
        fs_load_once(&w8, p, 8)
        return w8
    if width == 4:
        fs_load_once(&w4, p, 4)
        return w4
    if width == 2:
        fs_load_once(&w2, p, 2)
        return w2
    fs_load_once(&w1, p, 1)
    return w1


cdef inline uint64_t key_at(const keys_t *keys, Py_ssize_t i) noexcept nogil:
    """The word of key i: the key itself, which is loaded once, or the hash of a longer key, which
    is odd."""
    if keys.is_word:
        return canonical(&keys.rule, load_word(keys.data + i * keys.width, keys.width))
    return fs_hash_bytes(keys.data + i * keys.width, keys.width, keys.seed, keys.factor) | 1


cdef inline uint64_t mix(const keys_t *keys, uint64_t word) noexcept nogil:
    """The hash of a word. In a scatter by hash, its top bits choose the part, and the next bits the
    slot in the table of the part. Otherwise its top bits choose the slot."""
    return fs_fold(word ^ keys.seed, keys.factor)


cdef inline bint is_unequal(const keys_t *keys, Py_ssize_t i, uint64_t word) noexcept nogil:
    """Does key i, whose word is `word`, equal no other key?"""
    if keys.rule.nan_unequal and word == keys.rule.nan and keys.is_word:
        return True
    return keys.unequal != NULL and (keys.unequal[i >> 6] >> (i & 63)) & 1


cdef inline void write_ordered_keys(const keys_t *keys, const char *items, Py_ssize_t n,
                                    uint64_t *out) noexcept nogil:
    """Write the ordered keys of n items of the dtype of the keys."""
    level.ordered_keys[log2_width(keys.width)](items, n, &keys.rule, out)


cdef inline bint keeps_words(const rule_t *rule) noexcept nogil:
    """Is every word canonical already?"""
    return rule.significant & rule.limit == <uint64_t>-1


cdef inline void load_words(const keys_t *keys, Py_ssize_t start, Py_ssize_t n,
                            uint64_t *words) noexcept nogil:
    """Write the words (key_at) of n keys from start on to `words`."""
    cdef Py_ssize_t j
    if keys.width == 8 and keeps_words(&keys.rule):
        fs_load_once(words, keys.data + start * 8, n * 8)
    elif keys.width == 8:
        load_canonical(&keys.rule, <const uint64_t *>keys.data + start, n, words)
    elif keys.width == 4:
        load_canonical(&keys.rule, <const uint32_t *>keys.data + start, n, words)
    else:
        for j in range(n):
            words[j] = key_at(keys, start + j)


cdef inline void load_canonical(const rule_t *rule, const wide_t *words_at, Py_ssize_t n,
                                uint64_t *words) noexcept nogil:
    """Load n words, and make them canonical. Few arrays of floats have -0.0 or NaN, so all words
    are first tested, without a branch, and are made canonical only if one of them is -0.0 or NaN.
    The test reads the bit above the significant bits: it is set if magnitude - 1 borrows from it in
    a negative word (-0.0), or if magnitude + gap carries into it (NaN)."""
    cdef uint64_t magnitude, gap = rule.significant - rule.limit, beyond = 0
    cdef wide_t[64] copy
    cdef Py_ssize_t start = 0, j, m
    while start < n:
        m = min(n - start, 64)
        fs_load_once(copy, words_at + start, m * sizeof(wide_t))
        for j in range(m):
            words[start + j] = copy[j]
            magnitude = copy[j] & rule.significant
            beyond |= ((magnitude - 1) & copy[j]) | (magnitude + gap)
        start += m
    if beyond & (rule.significant + 1):
        for j in range(n):
            words[j] = canonical(rule, words[j])


cdef inline void prefetch_keys(const keys_t *keys, Py_ssize_t start, Py_ssize_t n) noexcept nogil:
    """Prefetch n keys from start on. The CPU does not prefetch the next batch in time by itself,
    because a batch loads all its keys within a short time."""
    cdef Py_ssize_t offset
    for offset in range(0, n * keys.width, 64):
        fs_prefetch(keys.data + start * keys.width + offset)


# Give zero and NaN among the ascending values the bits of their first occurrences; see keys.pyx.
cdef void restore_bits(const keys_t *keys, word_t *values, Py_ssize_t groups,
                       const Py_ssize_t *index) noexcept nogil
