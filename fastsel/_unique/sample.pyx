"""A sample of the keys: an estimate of the number of groups, and windows that hold nearly all keys.
The choice of the algorithm and the size of its tables depend on the sample; results do not.
"""
cimport numpy as cnp
from libc.math cimport fabs, pow, sqrt
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from fastsel._core.scratch cimport Scratch
from fastsel._simd.blocks cimport blocks_of, fs_prefetch
from fastsel._simd.levels cimport level
from fastsel._unique.keys cimport (
    BATCH, keeps_words, keys_t, load_words, write_ordered_keys)
from fastsel._unique.ordered_keys cimport bit_length, ordered_key_of, word_of
from fastsel._unique.part_sort cimport sort_keys, sorter_free, sorter_start, sorter_t

cdef enum:
    # For n keys, the sample has SAMPLE_ROOTS * sqrt(n) keys, but at most one key in
    # MIN_KEYS_PER_DRAWN or, if that is more, MIN_DRAWN keys.
    SAMPLE_ROOTS = 8
    MIN_KEYS_PER_DRAWN = 64
    MAX_SCALE = 10_000      # decimals have at most 4 digits behind the point


cdef int take_sample(const keys_t *keys, sample_t *sample, Py_ssize_t max_drawn) except -1:
    cdef Py_ssize_t drawn = min(<Py_ssize_t>(SAMPLE_ROOTS * sqrt(<double>keys.size)),
                                max(keys.size // MIN_KEYS_PER_DRAWN,
                                    min(keys.size, MIN_DRAWN)))
    cdef Scratch scratch = Scratch()
    cdef uint64_t *words = <uint64_t *>scratch.alloc(drawn * sizeof(uint64_t))
    cdef char *items = <char *>scratch.alloc(drawn * keys.width)
    cdef uint64_t nan = keys.rule.nan
    cdef Py_ssize_t changes = 0, unequal = 0, j
    cdef keys_t sampled = keys[0]
    cdef sorter_t sorter
    drawn = min(drawn, max_drawn)
    draw(keys.data, keys.size, keys.width, drawn, 0, items, &changes)
    if keys.rule.is_ordered:
        write_ordered_keys(keys, items, drawn, words)
        nan = ordered_key_of(&keys.rule, nan)
    else:
        sampled.data = items
        load_words(&sampled, 0, drawn, words)
    try:
        if sorter_start(&sorter, sizeof(uint64_t), drawn, False) != 0:
            raise MemoryError()
        sort_keys(&sorter, words, drawn, NULL)
        memcpy(words, sorter.keys, drawn * sizeof(uint64_t))
    finally:
        sorter_free(&sorter)
    sample.majority, sample.majority_share = words[drawn // 2], 0
    for j in range(drawn if keys.rule.is_ordered else 0):
        sample.majority_share += words[j] == sample.majority
    sample.majority_share /= drawn
    while keys.rule.nan_unequal and unequal < drawn and words[drawn - 1 - unequal] == nan:
        unequal += 1
    sample.groups = estimate(keys, words, drawn - unequal, unequal, changes, sample)
    memset(sample.windows, 0, sizeof(sample.windows))
    sample.scale = 0
    if keys.rule.is_ordered and keys.unequal == NULL:
        sample.scale = scale_of(keys, words, drawn - unequal)
        find_windows(keys, words, drawn - unequal, sample)


cdef void draw(const char *keys, Py_ssize_t size, Py_ssize_t width, Py_ssize_t drawn,
               Py_ssize_t first, char *out, Py_ssize_t *changes) noexcept nogil:
    """Copy `drawn` of `size` > 0 keys to out. The position of drawn key j is size times the
    fractional part of first + j multiplied by the golden ratio, so that the sample is fair even if
    keys are periodic. A key may be drawn more than once. Writes how many of the drawn keys differ
    from the next key; the last of all keys counts as one that differs."""
    cdef Py_ssize_t[BATCH] positions
    cdef Py_ssize_t start = 0, differ = 0, n, j
    while start < drawn:
        n = min(drawn - start, BATCH)
        for j in range(n):
            positions[j] = position_of(first + start + j, size)
            fs_prefetch(keys + positions[j] * width)
        if width == 4:                  # constant widths: the compiler makes a loop of each
            differ += draw_batch(keys, size, 4, positions, n, out + start * 4)
        elif width == 8:
            differ += draw_batch(keys, size, 8, positions, n, out + start * 8)
        else:
            differ += draw_batch(keys, size, width, positions, n, out + start * width)
        start += n
    changes[0] = differ


cdef inline Py_ssize_t draw_batch(const char *keys, Py_ssize_t size, Py_ssize_t width,
                                  const Py_ssize_t *positions, Py_ssize_t n,
                                  char *out) noexcept nogil:
    """Copy the keys at n positions to out. Returns how many differ from the next key."""
    cdef Py_ssize_t differ = 0, j
    cdef const char *key
    cdef const char *after
    for j in range(n):
        key, after = keys + positions[j] * width, keys + min(positions[j] + 1, size - 1) * width
        memcpy(out + j * width, key, width)
        differ += (positions[j] == size - 1) | (memcmp(key, after, width) != 0)
    return differ


cdef inline Py_ssize_t position_of(Py_ssize_t j, Py_ssize_t size) noexcept nogil:
    cdef uint64_t fraction = <uint64_t>j * <uint64_t>0x9E3779B97F4A7C15
    return <Py_ssize_t>(<double>(fraction >> 11) / <double>(<uint64_t>1 << 53) * size)


# ---- the number of groups ---------------------------------------------------------------


cdef Py_ssize_t estimate(const keys_t *keys, const uint64_t *words, Py_ssize_t n,
                         Py_ssize_t unequal, Py_ssize_t changes,
                         sample_t *sample) noexcept:
    """An estimate of the number of groups, from n sorted words of the sample, `unequal` further
    keys that equal no other, and the number of drawn keys that differ from the next key. Also sets
    mostly_repeated, has_even_groups and has_frequent_groups."""
    cdef Py_ssize_t[4] seen = [0, 0, 0, 0]   # how many groups the sample has once, twice, thrice
    cdef Py_ssize_t distinct = unequal, start = 0, j
    cdef double ratio = <double>keys.size / (n + unequal), groups = keys.size, runs
    for j in range(1, n + 1):
        if j == n or words[j] != words[start]:
            distinct += 1
            seen[min(j - start, 4) - 1] += 1
            start = j
    sample.has_frequent_groups = 4 * (n - seen[0] - 2 * seen[1] - 3 * seen[2]) >= n
    seen[0] += unequal
    sample.mostly_repeated = 2 * distinct <= n + unequal
    sample.has_even_groups = 2 * seen[0] <= distinct
    # There are at most as many groups as runs of equal keys. A key that differs from the next key
    # ends a run. Two standard deviations, and 4 for small numbers, are added to the number of such
    # keys in the sample.
    runs = ratio * (changes + 2 * sqrt(<double>changes) + 4)
    if keys.rule.nan_unequal:             # keys with the same bits need not be equal
        runs = <double>keys.size
    if distinct < n + unequal:
        # Groups that the sample has more than three times say nothing about the missing groups.
        groups = seen[3] + extrapolated(distinct - seen[3], seen[0], seen[1], seen[2], ratio)
    if keys.unequal != NULL:
        groups += level.count(keys.unequal, blocks_of(keys.size))
        runs = groups
    return <Py_ssize_t>max(1.0, min(min(groups, runs), <double>keys.size))


cpdef double extrapolated(Py_ssize_t distinct, Py_ssize_t once, Py_ssize_t twice, Py_ssize_t thrice,
                          double ratio) noexcept:
    """The estimated number of groups in an array that has `ratio` times as many keys as the sample.
    The sample has `distinct` groups; `once` of them have one key, and so on.

    The rates of the groups are taken to follow a gamma distribution. The probability that a group
    is seen k times is then negative binomial (Fisher, Corbet & Williams 1943). Efron & Thisted
    (1976) extrapolate it from the numbers of groups that were seen once, twice and three times.
    """
    cdef double rate, spread, shape, groups
    if once == 0 or twice == 0:
        return distinct + once * (ratio - 1)
    rate = 2.0 * twice / once
    # If few groups were seen three times, their number may be far above its expected value by
    # chance, so one standard deviation is subtracted from it.
    spread = min(3 * (thrice - sqrt(<double>thrice)) / twice - rate, 0.999)
    spread = max(spread, 1e-9)
    shape = (rate - spread) / spread
    if fabs(shape) < 1e-6:
        shape = 1e-6
    groups = distinct + once / (shape * spread) * (1 - pow(1 + spread * (ratio - 1), -shape))
    if spread > rate:
        # The groups are more uneven than any gamma distribution. Heaps' law (1978): the number of
        # groups grows as a power of the number of keys. Good (1953): the share of new groups among
        # the next keys is once / keys. So the exponent is once / groups.
        return min(groups, distinct * pow(ratio, <double>once / distinct))
    return groups


# ---- windows ----------------------------------------------------------------------------


cdef double scale_of(const keys_t *keys, uint64_t *sorted_keys, Py_ssize_t n) noexcept:
    """The least power of ten, up to MAX_SCALE, by which n ordered keys of doubles are decimals
    (order_body.h); then they become the ordered keys of the integers. Otherwise, and for keys that
    are no doubles, returns 0."""
    cdef double scale = 1
    while n and keys.width == 8 and keys.rule.negative and scale <= MAX_SCALE:
        if to_integers(keys, sorted_keys, n, scale, False):
            to_integers(keys, sorted_keys, n, scale, True)
            return scale
        scale *= 10
    return 0


cdef bint to_integers(const keys_t *keys, uint64_t *sorted_keys, Py_ssize_t n, double scale,
                      bint writes) noexcept:
    """Are n ordered keys of doubles decimals? Stops at a batch that has another key."""
    cdef int64_t[BATCH] integers
    cdef uint64_t[BATCH] words
    cdef Py_ssize_t start = 0, m, j
    while start < n:
        m = min(n - start, BATCH)
        for j in range(m):
            words[j] = word_of(&keys.rule, sorted_keys[start + j])
        if not level.decimal_keys(<const char *>words, m, scale, integers):
            return False
        for j in range(m if writes else 0):
            sorted_keys[start + j] = <uint64_t>integers[j] ^ <uint64_t>1 << 63
        start += m
    return True


cdef void find_windows(const keys_t *keys, const uint64_t *sorted_keys, Py_ssize_t n,
                       sample_t *sample) noexcept:
    """Find the windows for direct addressing of n ordered keys. Floats have none unless they are
    decimals, because some may not be canonical."""
    cdef Py_ssize_t[WINDOWS] percent_outside = [0, 1, 5, 10]
    cdef Py_ssize_t k
    cdef uint64_t highest = <uint64_t>-1 >> (64 - 8 * keys.width)
    if n == 0 or not (sample.scale or keeps_words(&keys.rule)):
        return
    if keys.rule.nan_unequal:           # the window must not have nan, the highest ordered key
        highest -= 1
    for k in range(WINDOWS):
        sample.windows[k] = densest(sorted_keys, n, n - percent_outside[k] * n // 100, highest)


cdef window_t densest(const uint64_t *sorted_keys, Py_ssize_t n, Py_ssize_t held,
                      uint64_t highest) noexcept:
    """The window of the smallest range that holds `held` of n keys."""
    cdef Py_ssize_t i, best = 0
    for i in range(n - held + 1):
        if (sorted_keys[i + held - 1] - sorted_keys[i]
                < sorted_keys[best + held - 1] - sorted_keys[best]):
            best = i
    return widened(sorted_keys[best], sorted_keys[best + held - 1], highest)


cdef window_t widened(uint64_t low, uint64_t high, uint64_t highest) noexcept:
    """A window that has the keys from low to high about in its middle, and a sixteenth of their
    range beside them. It stays within 0 ... highest; it has 0 entries if it would have 2^63."""
    cdef uint64_t reach = high - low
    cdef int bits = min(bit_length(reach + min(reach >> 4, ~reach)), bit_length(highest))
    cdef uint64_t spare
    if bits > 62:
        return window_t(0, 0)
    spare = (<uint64_t>1 << bits) - 1 - reach
    low -= min(low, spare // 2)
    low = min(low, highest - min(highest, (<uint64_t>1 << bits) - 1))
    return window_t(low, <uint64_t>1 << bits)


# ---- for tests --------------------------------------------------------------------------


def sample_of(cnp.ndarray data not None, Py_ssize_t size, Py_ssize_t drawn, Py_ssize_t first=0):
    """(keys, changes) of a sample of the `size` > 0 keys in data, which is C-contiguous. keys has a
    row of bytes for each of the `drawn` keys. Another `first` draws other keys."""
    cdef cnp.npy_intp[2] shape
    cdef cnp.ndarray out
    cdef Py_ssize_t changes
    shape[0], shape[1] = drawn, cnp.PyArray_NBYTES(data) // size
    out = cnp.PyArray_EMPTY(2, shape, cnp.NPY_UINT8, 0)
    with nogil:
        draw(<const char *>cnp.PyArray_DATA(data), size, shape[1], drawn, first,
             <char *>cnp.PyArray_DATA(out), &changes)
    return out, changes
