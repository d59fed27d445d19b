"""Keys and their Rule, and the bits of zero and NaN among values; keys.pxd has what loops read."""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint64_t

from fastsel._simd.blocks cimport word_t
from fastsel._unique.ordered_keys cimport ordered_key_of


cdef class Rule:
    def __init__(self, uint64_t significant, uint64_t limit, uint64_t nan, bint nan_unequal,
                 tuple order_map=None, int character_width=0):
        """The arguments are the fields of fs_rule_t (level.h). order_map is (sign, negative,
        minimum); None if the words have no order."""
        self.words.significant, self.words.limit, self.words.nan = significant, limit, nan
        self.words.nan_unequal, self.words.character_width = nan_unequal, character_width
        self.words.is_ordered = order_map is not None
        if order_map is not None:
            self.words.sign, self.words.negative, self.words.minimum = order_map


cdef class Keys:
    def __init__(self, cnp.ndarray data not None, Rule rule not None, tuple seeds not None,
                 const uint64_t[::1] unequal=None):
        """The items, or slices along axis 0, of data: at least one, of at least one byte. Their
        bytes are keys by the rule. seeds is (seed, factor) of the hash. `unequal` has a bit for
        each key that equals no other."""
        cdef keys_t *keys = &self.fields
        keys.size = cnp.PyArray_DIM(data, 0)
        keys.width = cnp.PyArray_NBYTES(data) // keys.size
        keys.is_word = keys.width in (1, 2, 4, 8)
        if not (cnp.PyArray_IS_C_CONTIGUOUS(data) and cnp.PyArray_ISALIGNED(data)
                and (not keys.is_word or <size_t>cnp.PyArray_DATA(data) % keys.width == 0)):
            data = cnp.PyArray_NewCopy(data, cnp.NPY_CORDER)
        self.rule, self.data = rule, data
        keys.data = <const char *>cnp.PyArray_DATA(data)
        keys.rule = rule.words
        if unequal is not None:
            self.unequal = unequal.base
            keys.unequal = &unequal[0]
        keys.seed, keys.factor = seeds
        keys.seed &= ~<uint64_t>1

    @property
    def size(self):
        return self.fields.size

    @property
    def width(self):
        """Bytes of a key."""
        return self.fields.width

    @property
    def is_word(self):
        """Are the keys words, and does no bitmask mark keys that equal no other?"""
        return self.fields.is_word and self.fields.unequal == NULL

    @property
    def is_ordered(self):
        """Do the keys have ordered keys?"""
        return self.fields.rule.is_ordered

    @property
    def has_unequal_nan(self):
        """Does the word nan of the rule equal no key, not even itself?"""
        return self.fields.rule.nan_unequal

    def if_nan_were_equal(self):
        """These keys, as if all NaN were equal."""
        cdef Keys keys = Keys.__new__(Keys)
        keys.fields, keys.data, keys.rule = self.fields, self.data, self.rule
        keys.fields.rule.nan_unequal, keys.fields.unequal = False, NULL
        return keys


# ---- the bits of zero and NaN ------------------------------------------------------------


cdef void restore_bits(const keys_t *keys, word_t *values, Py_ssize_t groups,
                       const Py_ssize_t *index) noexcept nogil:
    """Give zero and NaN among the ascending values of floats the bits of their first occurrences.
    index has the first positions, or is NULL. Several NaN keep their order. If another thread has
    changed the keys, some values keep their canonical bits."""
    cdef const word_t *items = <const word_t *>keys.data
    cdef Py_ssize_t i, zero = 0, stop = groups, nans = 0, middle
    cdef word_t nan = <word_t>keys.rule.nan, item
    cdef uint64_t key_of_zero = ordered_key_of(&keys.rule, 0)
    while zero < stop:
        middle = (zero + stop) >> 1
        if ordered_key_of(&keys.rule, values[middle]) < key_of_zero:
            zero = middle + 1
        else:
            stop = middle
    if zero < groups and values[zero] == 0:
        i = next_special(keys, items, index[zero] if index != NULL else 0, False)
        if i < keys.size:
            values[zero] = items[i] & ~<word_t>keys.rule.significant
    while nans < groups and values[groups - 1 - nans] == nan:
        nans += 1
    i = -1
    for middle in range(groups - nans, groups):
        i = next_special(keys, items, i + 1, True) if index == NULL else index[middle]
        if i == keys.size:
            break
        fs_load_once(&item, items + i, sizeof(item))
        if canonical(&keys.rule, item) == nan:
            values[middle] = item


cdef inline Py_ssize_t next_special(const keys_t *keys, const word_t *items, Py_ssize_t i,
                                    bint seeks_nan) noexcept nogil:
    """The position of the first zero or NaN from position i on, or the number of keys. The compiler
    vectorizes the loop over a block."""
    cdef word_t significant = <word_t>keys.rule.significant, limit = <word_t>keys.rule.limit
    cdef word_t low = limit + 1 if seeks_nan else 0
    cdef word_t reach = significant - low if seeks_nan else 0
    cdef uint8_t found
    cdef Py_ssize_t j
    while i < keys.size:
        if not i & 63 and keys.size - i >= 64:
            found = 0
            for j in range(64):
                found |= <word_t>((items[i + j] & significant) - low) <= reach
            if not found:
                i += 64
                continue
        if <word_t>((items[i] & significant) - low) <= reach:
            return i
        i += 1
    return i
