"""Which items are selected: an item is selected if one of its words has a significant bit set."""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastsel._simd.blocks cimport (
    FS_LINE_BYTES, blocks_of, fs_join_pairs, fs_level_t, fs_popcount, log2_width, word_t)

cdef enum:
    FLAG_ITEMS = 1024   # bytes of a buffer of flags, one per item; fits the L1 cache and any stack
    FLAG_BLOCKS = FLAG_ITEMS // 64
    FEW_WORDS = 8       # words that are tested without a branch

ctypedef struct truth_t:
    Py_ssize_t itemsize           # bytes of an item
    Py_ssize_t width              # bytes of a word: the greatest of 1, 2, 4, 8 that fits an item
    Py_ssize_t words              # words of an item; the last may overlap the one before it
    const uint64_t *significant   # by word of an item: its significant bits
    uint64_t[2] of_number         # what significant points to after describe_number


cdef inline void describe_truth(truth_t *truth, Py_ssize_t itemsize, Py_ssize_t width,
                                const uint64_t[::1] significant) noexcept:
    """Describe the words of an item. significant has a word for each word of an item, at least one;
    the caller keeps it alive."""
    truth.itemsize, truth.width, truth.words = itemsize, width, significant.shape[0]
    truth.significant = &significant[0]


cdef inline bint describe_number(truth_t *truth, cnp.ndarray a) noexcept:
    """Describe the words of native numbers and bools of one word, or of complex numbers of two: all
    bits are significant, except the sign of floats. Returns False for other dtypes, which
    _dtypes.truth describes in more time."""
    cdef int typenum = cnp.PyArray_TYPE(a)
    if not cnp.PyArray_ISNOTSWAPPED(a):
        return False
    truth.itemsize, truth.width, truth.words = cnp.PyArray_ITEMSIZE(a), cnp.PyArray_ITEMSIZE(a), 1
    if typenum == cnp.NPY_CFLOAT or typenum == cnp.NPY_CDOUBLE:
        truth.width, truth.words = truth.width // 2, 2
    elif typenum > cnp.NPY_DOUBLE and typenum != cnp.NPY_FLOAT16:
        return False
    truth.of_number[0] = <uint64_t>-1 >> (64 - 8 * truth.width)
    if typenum >= cnp.NPY_FLOAT:
        truth.of_number[0] >>= 1
    truth.of_number[1] = truth.of_number[0]
    truth.significant = truth.of_number
    return True


cdef inline bint is_pair(const truth_t *truth) noexcept nogil:
    """Does an item have two words with the same significant bits, as a complex number does?"""
    return (truth.words == 2 and truth.itemsize == 2 * truth.width
            and truth.significant[0] == truth.significant[1])


cdef inline Py_ssize_t count_zeros(const fs_level_t *level, const truth_t *truth,
                                   const char *items, Py_ssize_t length) noexcept nogil:
    """The number of zero items before the first line (fs_level_t.skip_zeros) with another item, for
    `length` items side by side; 0 if words of an item differ in their significant bits."""
    cdef uint64_t repeated = <uint64_t>-1 // (<uint64_t>-1 >> (64 - 8 * truth.width))
    if truth.words > 1 and not is_pair(truth):
        return 0
    return FS_LINE_BYTES // truth.itemsize * level.skip_zeros(
        items, truth.significant[0] * repeated, length * truth.itemsize // FS_LINE_BYTES)


cdef inline Py_ssize_t pack_run(const fs_level_t *level, const truth_t *truth, const char *items,
                                Py_ssize_t stride, Py_ssize_t length,
                                uint64_t *bits) noexcept nogil:
    """Pack `length` items that lie `stride` bytes apart; unused bits of the last word are 0.
    Returns the number of set bits."""
    cdef Py_ssize_t whole = length >> 6, count = 0, n, b
    cdef uint8_t[FLAG_ITEMS] flags
    cdef uint64_t[2 * FLAG_BLOCKS] pairs
    cdef char[64 * 8] last
    if truth.words == 1 and stride == truth.width:
        count = level.pack[log2_width(stride)](items, truth.significant[0], bits, whole)
        n = length & 63
        if n and whole:               # pack the last 64 items, and drop what is packed already
            level.pack[log2_width(stride)](
                items + (length - 64) * stride, truth.significant[0], bits + whole, 1)
            bits[whole] >>= 64 - n
            count += fs_popcount(bits[whole])
        elif n:
            memcpy(last, items, n * stride)
            memset(last + n * stride, 0, (64 - n) * stride)
            count = level.pack[log2_width(stride)](last, truth.significant[0], bits, 1)
        return count
    while length:
        n, whole = min(length, FLAG_ITEMS), 0
        if stride == 2 * truth.width and is_pair(truth):
            whole = n >> 6
            level.pack[log2_width(truth.width)](items, truth.significant[0], pairs, 2 * whole)
            for b in range(whole):
                bits[b] = fs_join_pairs(pairs[2 * b]) | fs_join_pairs(pairs[2 * b + 1]) << 32
            count += level.count(bits, whole)
        length -= n
        items += whole * 64 * stride
        bits += whole
        n -= whole * 64
        if n:
            test_run(truth, items, stride, n, flags)
            memset(flags + n, 0, (blocks_of(n) << 6) - n)
            count += level.pack[0](<const char *>flags, 0xff, bits, blocks_of(n))
            items += n * stride
            bits += blocks_of(n)
    return count


cdef inline void test_run(const truth_t *truth, const char *items, Py_ssize_t stride,
                          Py_ssize_t length, uint8_t *flags) noexcept nogil:
    """Write a flag, 1 or 0, for each of `length` items that lie `stride` bytes apart and may be
    unaligned."""
    if truth.words > 2:
        test_words(truth, items, stride, length, flags)
    elif truth.words == 2 and truth.width == 2:
        test_pair(truth, items, stride, <uint16_t>0, length, flags)
    elif truth.words == 2 and truth.width == 4:
        test_pair(truth, items, stride, <uint32_t>0, length, flags)
    elif truth.words == 2:
        test_pair(truth, items, stride, <uint64_t>0, length, flags)
    elif truth.width == 1:
        test_word(items, stride, <uint8_t>truth.significant[0], length, flags)
    elif truth.width == 2:
        test_word(items, stride, <uint16_t>truth.significant[0], length, flags)
    elif truth.width == 4:
        test_word(items, stride, <uint32_t>truth.significant[0], length, flags)
    else:
        test_word(items, stride, <uint64_t>truth.significant[0], length, flags)


cdef inline void test_word(const char *items, Py_ssize_t stride, word_t significant,
                           Py_ssize_t length, uint8_t *flags) noexcept nogil:
    """test_run for items of one word."""
    cdef Py_ssize_t k
    cdef word_t word
    for k in range(length):
        memcpy(&word, items + k * stride, sizeof(word_t))   # the word may be unaligned
        flags[k] = (word & significant) != 0


cdef inline void test_pair(const truth_t *truth, const char *items, Py_ssize_t stride,
                           word_t second, Py_ssize_t length, uint8_t *flags) noexcept nogil:
    """test_run for items of two words. `second` is only the type of the words."""
    cdef word_t significant = <word_t>truth.significant[0], first
    cdef word_t significant_of_second = <word_t>truth.significant[1]
    cdef Py_ssize_t offset = truth.itemsize - sizeof(word_t), k
    for k in range(length):
        memcpy(&first, items + k * stride, sizeof(word_t))
        memcpy(&second, items + k * stride + offset, sizeof(word_t))
        flags[k] = ((first & significant) | (second & significant_of_second)) != 0


cdef inline void test_words(const truth_t *truth, const char *items, Py_ssize_t stride,
                            Py_ssize_t length, uint8_t *flags) noexcept nogil:
    """test_run for items of more than two words of 8 bytes. For each FEW_WORDS words, at most one
    branch depends on the items: a CPU cannot predict whether a string is empty, for example, if
    strings are empty at random."""
    cdef Py_ssize_t j, k, stop, last = truth.itemsize - sizeof(uint64_t)
    cdef uint64_t word, set_bits
    for k in range(length):
        set_bits, j = 0, 0
        while j < truth.words and not set_bits:
            stop = min(j + FEW_WORDS, truth.words)
            while j < stop:
                memcpy(&word, items + k * stride + min(<Py_ssize_t>(j * sizeof(word)), last),
                       sizeof(word))
                set_bits = set_bits | (word & truth.significant[j])
                j += 1
        flags[k] = set_bits != 0
