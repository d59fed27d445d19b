"""Canonical values -> the values as they occur first: zero and NaN have several forms in memory."""
from libc.stdint cimport uint8_t

from fastsel._simd.blocks cimport word_t
from fastsel._unique.keys cimport canonical, fs_load_once, keys_t
from fastsel._unique.ordered_keys cimport ordered_key_of


cdef void restore_bits(const keys_t *keys, word_t *values, Py_ssize_t groups,
                       const Py_ssize_t *index) noexcept nogil:
    """Give zero and NaN among the ascending values of floats the bits of their first occurrences.
    index has the first positions, or is NULL. Several NaN keep their order. If another thread has
    changed the keys, some values keep their canonical bits."""
    cdef const word_t *items = <const word_t *>keys.data
    cdef Py_ssize_t i, zero = 0, stop = groups, nans = 0, middle
    cdef word_t nan = <word_t>keys.rule.nan, item
    while zero < stop:
        middle = (zero + stop) >> 1
        if ordered_key_of(keys.order_map, values[middle]) < ordered_key_of(keys.order_map, 0):
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
                                    bint is_nan) noexcept nogil:
    """The position of the first zero or NaN from position i on, or the number of keys. The compiler
    vectorizes the loop over a block."""
    cdef word_t significant = <word_t>keys.rule.significant, limit = <word_t>keys.rule.limit
    cdef word_t low = limit + 1 if is_nan else 0, reach = significant - low if is_nan else 0
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
