"""Two samples of the keys. The first gives their range, and whether they are in order. The second
copies keys, from which the caller estimates the number of groups or quantiles, and counts how many
of them differ from the next key.
"""
from libc.stdint cimport uint64_t
from libc.string cimport memcmp, memcpy

from fastsel._simd.blocks cimport fs_prefetch
from fastsel._unique.keys cimport AHEAD, BATCH, is_identity, keys_t, load_word
from fastsel._unique.ordered_keys cimport bit_length, to_ordered_keys

# A range of 2^bits ordered keys from base on. For keys of 1 or 2 bytes, it has all ordered keys;
# otherwise it contains the ordered keys of a sample, about in its middle.
ctypedef struct sampled_range_t:
    uint64_t base
    int bits
    bint is_addressable    # each ordered key of the range may have its own entry in a table
    bint is_presorted      # the sample ascends or descends


cdef inline sampled_range_t sampled_range_of(const keys_t *keys,
                                             const uint64_t *order_map) noexcept nogil:
    """The sampled_range_t of at least one key; the keys are words. The sample has at most BATCH
    keys, at equal steps."""
    cdef uint64_t[BATCH] keys_seen
    cdef uint64_t low, high, reach, spare, highest
    cdef Py_ssize_t n = 1, step = (keys.size - 1) // BATCH + 1, i = step
    cdef bint rises = False, falls = False
    cdef sampled_range_t sampled
    keys_seen[0] = load_word(keys.data, keys.width)
    while i < keys.size:
        keys_seen[n] = load_word(keys.data + i * keys.width, keys.width)
        n += 1
        i += step
    to_ordered_keys(&keys.rule, order_map, 8 * keys.width, keys_seen, n)
    low = high = keys_seen[0]
    for i in range(1, n):
        low, high = min(low, keys_seen[i]), max(high, keys_seen[i])
        rises |= keys_seen[i] > keys_seen[i - 1]
        falls |= keys_seen[i] < keys_seen[i - 1]
    sampled.is_presorted = not (rises and falls)
    if keys.width <= 2:
        sampled.base, sampled.bits = 0, 8 * keys.width
        sampled.is_addressable = not keys.rule.nan_unequal
        return sampled
    reach = high - low
    sampled.bits = min(max(1, bit_length(reach + min(reach >> 5, ~reach))), 8 * keys.width)
    highest = <uint64_t>-1 >> (64 - sampled.bits)
    spare = highest - reach
    low -= min(low, spare // 2)
    sampled.base = min(low, (<uint64_t>-1 >> (64 - 8 * keys.width)) - highest)
    sampled.is_addressable = is_identity(&keys.rule)
    return sampled


cdef inline Py_ssize_t draw(const char *keys, Py_ssize_t size, Py_ssize_t width, Py_ssize_t drawn,
                            Py_ssize_t first, char *out) noexcept nogil:
    """Copy `drawn` of `size` > 0 keys to out. The position of drawn key j is size times the
    fractional part of first + j multiplied by the golden ratio, so that the sample is fair even if
    keys are periodic. A key may be drawn more than once. Returns how many of the drawn keys differ
    from the next key; the last of all keys counts as one that differs."""
    cdef Py_ssize_t changes = 0, position, j
    cdef const char *key
    for j in range(drawn):
        fs_prefetch(keys + position_of(first + j + AHEAD, size) * width)
        position = position_of(first + j, size)
        key = keys + position * width
        if width == 8:
            memcpy(out + j * 8, key, 8)
            changes += position == size - 1 or load_word(key, 8) != load_word(key + 8, 8)
        else:
            memcpy(out + j * width, key, width)
            changes += position == size - 1 or memcmp(key, key + width, width) != 0
    return changes


cdef inline Py_ssize_t position_of(Py_ssize_t j, Py_ssize_t size) noexcept nogil:
    cdef uint64_t fraction = <uint64_t>j * <uint64_t>0x9E3779B97F4A7C15
    return <Py_ssize_t>(<double>(fraction >> 11) / <double>(<uint64_t>1 << 53) * size)
