"""A key is the canonical form of an item: equal items have equal keys, whatever their bits.

Keys of 1, 2, 4 and 8 bytes are words that are made canonical as they are loaded. Longer ones (16
byte items, strings, rows) are compared as bytes and must lie there in canonical form already
(keys.pyx); their word is a hash.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from fastsel._simd.blocks cimport fs_prefetch

cdef extern from "load_once.h" nogil:
    void fs_load(void *copy, const void *source, size_t size)

cdef extern from "hashing.h" nogil:
    uint64_t fs_fold(uint64_t a, uint64_t b)
    uint64_t fs_hash_bytes(const char *p, Py_ssize_t size, uint64_t seed, uint64_t factor)

cdef enum:
    BATCH = 256     # keys at once: their words fit L1 and any stack
    BLOCKS = 4      # of a batch
    AHEAD = 32      # prefetch so many keys before an address is read

ctypedef fused wide_t:
    uint32_t
    uint64_t

ctypedef fused any_t:
    uint8_t
    uint16_t
    uint32_t
    uint64_t

ctypedef struct rule_t:
    # word & significant is the magnitude: 0 makes the word 0, more than limit makes it nan.
    # Integers have significant and limit all ones, so that nothing changes.
    uint64_t significant
    uint64_t limit
    uint64_t nan
    bint nan_unequal        # an item that is nan equals no other, not even itself

ctypedef struct keys_t:
    const char *data
    Py_ssize_t size         # number of keys
    Py_ssize_t width        # bytes of a key
    bint is_word            # width is 1, 2, 4 or 8
    rule_t rule
    const uint64_t *unequal  # bitmask of keys that equal no other, not by their bytes, or NULL
    uint64_t seed           # even, so that no hash of a longer key equals it
    uint64_t factor


cdef inline int describe_keys(keys_t *keys, cnp.ndarray data, Py_ssize_t size, tuple rule,
                              const uint64_t[::1] unequal, tuple seeds) except -1:
    """data is C-contiguous and holds `size` keys of equal width; rule is (significant, limit, nan,
    nan_unequal), seeds is (seed, factor)."""
    keys.data = <const char *>cnp.PyArray_DATA(data)
    keys.size = size
    keys.width = cnp.PyArray_NBYTES(data) // size
    keys.is_word = keys.width in (1, 2, 4, 8)
    set_rule(&keys.rule, rule)
    keys.unequal = &unequal[0] if unequal is not None else NULL
    keys.seed, keys.factor = seeds
    keys.seed &= ~<uint64_t>1
    return 0


cdef inline int set_rule(rule_t *self, tuple rule) except -1:
    self.significant, self.limit, self.nan, self.nan_unequal = rule
    return 0


cdef inline uint64_t canonical(const rule_t *rule, uint64_t word) noexcept nogil:
    """Without a branch, which would be mispredicted at every other item of half NaN."""
    cdef uint64_t magnitude = word & rule.significant
    cdef uint64_t is_nan = 0 - <uint64_t>(magnitude > rule.limit)
    word &= 0 - <uint64_t>(magnitude != 0)
    return (word & ~is_nan) | (rule.nan & is_nan)


cdef inline uint64_t load_word(const char *p, Py_ssize_t width) noexcept nogil:
    """The word at p, zero-extended; p may be unaligned. One load."""
    cdef uint8_t w1
    cdef uint16_t w2
    cdef uint32_t w4
    cdef uint64_t w8
    if width == 8:
        fs_load(&w8, p, 8)
        return w8
    if width == 4:
        fs_load(&w4, p, 4)
        return w4
    if width == 2:
        fs_load(&w2, p, 2)
        return w2
    fs_load(&w1, p, 1)
    return w1


cdef inline uint64_t key_at(const keys_t *keys, Py_ssize_t i) noexcept nogil:
    """The word of key i: the key itself, or the hash of a longer one, which is odd. One load."""
    if keys.is_word:
        return canonical(&keys.rule, load_word(keys.data + i * keys.width, keys.width))
    return fs_hash_bytes(keys.data + i * keys.width, keys.width, keys.seed, keys.factor) | 1


cdef inline uint64_t mix(const keys_t *keys, uint64_t word) noexcept nogil:
    """Hash of a word: partitions take its top bits, slots the next ones."""
    return fs_fold(word ^ keys.seed, keys.factor)


cdef inline bint is_unequal(const keys_t *keys, Py_ssize_t i, uint64_t word) noexcept nogil:
    if keys.rule.nan_unequal and word == keys.rule.nan and keys.is_word:
        return True
    return keys.unequal != NULL and (keys.unequal[i >> 6] >> (i & 63)) & 1


cdef inline bint is_plain(const rule_t *rule) noexcept nogil:
    """Is every word canonical already?"""
    return rule.significant & rule.limit == <uint64_t>-1 and not rule.nan_unequal


cdef inline void load_words(const keys_t *keys, Py_ssize_t start, Py_ssize_t n,
                            uint64_t *words) noexcept nogil:
    """The words of n keys from start on, as key_at gives them; words has room for n."""
    cdef Py_ssize_t j
    if keys.width == 8 and keys.rule.significant & keys.rule.limit == <uint64_t>-1:
        fs_load(words, keys.data + start * 8, n * 8)
    elif keys.width == 8:
        load_numbers(&keys.rule, <const uint64_t *>keys.data + start, n, words)
    elif keys.width == 4:
        load_numbers(&keys.rule, <const uint32_t *>keys.data + start, n, words)
    else:
        for j in range(n):
            words[j] = key_at(keys, start + j)


cdef inline void load_numbers(const rule_t *rule, const wide_t *numbers, Py_ssize_t n,
                              uint64_t *words) noexcept nogil:
    """Nearly all floats are canonical already. A subtraction says whether all are: the bit above
    the significant ones is set in what borrows from it, and is negative, or carries into it."""
    cdef uint64_t magnitude, gap = rule.significant - rule.limit, beyond = 0
    cdef wide_t[64] copy
    cdef Py_ssize_t start = 0, j, m
    while start < n:
        m = min(n - start, 64)
        fs_load(copy, numbers + start, m * sizeof(wide_t))
        for j in range(m):
            words[start + j] = copy[j]
            magnitude = copy[j] & rule.significant
            beyond |= ((magnitude - 1) & copy[j]) | (magnitude + gap)
        start += m
    if beyond & (rule.significant + 1):
        for j in range(n):
            words[j] = canonical(rule, words[j])


cdef inline void prefetch_keys(const keys_t *keys, Py_ssize_t start, Py_ssize_t n) noexcept nogil:
    """Ask for the batch that starts there: its loads come all at once, too few words ahead of what
    waits for them."""
    cdef Py_ssize_t at
    for at in range(0, n * keys.width, 64):
        fs_prefetch(keys.data + start * keys.width + at)
