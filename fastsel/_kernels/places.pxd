"""Do words lie in so narrow a range that each can have a place of its own in a table?"""
from libc.stdint cimport uint32_t, uint64_t

from fastsel._kernels.keys cimport wide_t

cdef enum:
    SAMPLE = 1024   # words that say what the range is
    # Flags for each key that take less time than to hash or sort the keys, on one thread: 1e4 int32
    # of a range of 1e4 take 13 us so, hashed 38 and sorted 20, 3e4 int64 of 3e4 52 and, sorted, 110
    # (`compare.py --op unique_first --distribution narrow --size 1e4 3e4 --groups n`).
    FLAGS_PER_KEY = 6


cdef inline int place_bits(const wide_t *data, Py_ssize_t size, Py_ssize_t most,
                           wide_t *base) noexcept nogil:
    """Places for a sample of `size` words, and a little more on both sides: 2 to this power, the
    first one for base; 0 if they are more than `most`. The range may wrap around."""
    cdef wide_t half = <wide_t>1 << (8 * sizeof(wide_t) - 1)
    cdef wide_t start = data[0] - half, low = half, high = half, here, spare
    cdef Py_ssize_t i = 0, step = max(1, size // SAMPLE)
    cdef int bits = 1, word_bits = <int>(8 * sizeof(wide_t))
    while i < size and high - low < <wide_t>most:
        here = data[i] - start                # half is where the first word is
        low = here if here < low else low
        high = here if here > high else high
        i += step
    if high - low >= <wide_t>most:
        return 0
    spare = (high - low) >> 6 if size > SAMPLE else 0
    while bits < word_bits and (high - low) + spare >= <wide_t>1 << bits:
        bits += 1
    if bits == word_bits or <wide_t>1 << bits > <wide_t>most:
        return 0
    spare = (<wide_t>1 << bits) - 1 - (high - low)
    base[0] = <wide_t>(low + start - spare // 2)
    return bits


cdef inline int bits_of_places(const void *words, Py_ssize_t size, Py_ssize_t width,
                               Py_ssize_t most, uint64_t *base) noexcept nogil:
    """The same of words of 4 or 8 bytes."""
    cdef uint32_t base4 = 0
    cdef int bits
    if width == 8:
        return place_bits(<const uint64_t *>words, size, most, base)
    bits = place_bits(<const uint32_t *>words, size, most, &base4)
    base[0] = base4
    return bits
