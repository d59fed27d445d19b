"""Which items are selected: those of whose words any has a significant bit set."""
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

ctypedef fused word_t:
    uint8_t
    uint16_t
    uint32_t
    uint64_t

ctypedef struct truth_t:
    Py_ssize_t width              # bytes of a word: 1, 2, 4, 8
    Py_ssize_t words              # words of an item
    const uint64_t *significant   # words of them


cdef inline void test_run(const truth_t *truth, const char *items, Py_ssize_t stride,
                          Py_ssize_t length, uint8_t *flags) noexcept nogil:
    """One flag for each of `length` items that lie `stride` bytes apart."""
    cdef Py_ssize_t k
    if truth.words > 1:
        for k in range(length):
            flags[k] = test_words(truth, items + k * stride)
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
    cdef Py_ssize_t k
    cdef word_t word
    for k in range(length):
        memcpy(&word, items + k * stride, sizeof(word_t))   # items may be unaligned
        flags[k] = (word & significant) != 0


cdef inline bint test_words(const truth_t *truth, const char *words) noexcept nogil:
    """Is a significant bit of any word of the item set?"""
    cdef Py_ssize_t j
    cdef uint64_t word
    for j in range(truth.words):
        word = 0
        memcpy(&word, words + j * truth.width, truth.width)
        if word & truth.significant[j]:
            return True
    return False
