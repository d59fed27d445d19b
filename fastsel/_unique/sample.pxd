"""What some of the keys say of all."""
from libc.stdint cimport uint64_t
from libc.string cimport memcmp, memcpy

from fastsel._simd.blocks cimport fs_prefetch
from fastsel._unique.keys cimport AHEAD, BATCH, is_plain, keys_t, load_word
from fastsel._unique.ordered_numbers cimport bit_length, to_numbers

# The 2^bits numbers from base on hold those of a sample, and as many more on both sides as there is
# room for.
ctypedef struct span_t:
    uint64_t base
    int bits
    bint addresses          # each key of that range has an entry of its own in a table
    bint in_order           # the sample ascends or descends


cdef inline span_t span_of(const keys_t *keys, const uint64_t *order) noexcept nogil:
    """Of size > 0 words, which `order` makes numbers; keys every so often, from the first on."""
    cdef uint64_t[BATCH] numbers
    cdef uint64_t low, high, reach, spare, highest
    cdef Py_ssize_t n = 1, step = (keys.size - 1) // BATCH + 1, i = step
    cdef bint rises = False, falls = False
    cdef span_t span
    numbers[0] = load_word(keys.data, keys.width)
    while i < keys.size:
        numbers[n] = load_word(keys.data + i * keys.width, keys.width)
        n += 1
        i += step
    to_numbers(&keys.rule, order, 8 * keys.width, numbers, n)
    low = high = numbers[0]
    for i in range(1, n):
        low, high = min(low, numbers[i]), max(high, numbers[i])
        rises |= numbers[i] > numbers[i - 1]
        falls |= numbers[i] < numbers[i - 1]
    span.in_order = not (rises and falls)
    if keys.width <= 2:
        span.base, span.bits, span.addresses = 0, 8 * keys.width, not keys.rule.nan_unequal
        return span
    reach = high - low
    span.bits = min(max(1, bit_length(reach + min(reach >> 5, ~reach))), 8 * keys.width)
    highest = <uint64_t>-1 >> (64 - span.bits)
    spare = highest - reach
    low -= min(low, spare // 2)
    span.base = min(low, (<uint64_t>-1 >> (64 - 8 * keys.width)) - highest)
    span.addresses = is_plain(&keys.rule)
    return span


cdef inline Py_ssize_t draw(const char *keys, Py_ssize_t size, Py_ssize_t width, Py_ssize_t drawn,
                            Py_ssize_t first, char *out) noexcept nogil:
    """`drawn` of `size` > 0 keys go to out: at multiples of the golden ratio, of which no period
    hides any, from multiple `first` on. Returns how many differ from the key that follows."""
    cdef Py_ssize_t turns = 0, at, j
    cdef const char *key
    for j in range(drawn):
        fs_prefetch(keys + position_of(first + j + AHEAD, size) * width)
        at = position_of(first + j, size)
        key = keys + at * width
        if width == 8:
            memcpy(out + j * 8, key, 8)
            turns += at == size - 1 or load_word(key, 8) != load_word(key + 8, 8)
        else:
            memcpy(out + j * width, key, width)
            turns += at == size - 1 or memcmp(key, key + width, width) != 0
    return turns


cdef inline Py_ssize_t position_of(Py_ssize_t j, Py_ssize_t size) noexcept nogil:
    cdef uint64_t fraction = <uint64_t>j * <uint64_t>0x9E3779B97F4A7C15
    return <Py_ssize_t>(<double>(fraction >> 11) / <double>(<uint64_t>1 << 53) * size)
