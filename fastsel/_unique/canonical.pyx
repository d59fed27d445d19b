"""Check whether items are canonical in memory; write the canonical keys of items and of rows; write
the ordered keys of items.

A key consists of fields: a complex number has two fields, any other item is one field. All fields
of an array follow one rule.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastsel._core.atomics cimport fs_mark
from fastsel._core.parallel cimport Job, chunk_count
from fastsel._core.scratch cimport new_u64
from fastsel._simd.blocks cimport blocks_of, rule_t, word_t
from fastsel._unique.keys cimport BATCH, Rule, canonical, load_word
from fastsel._unique.ordered_keys cimport ordered_key_of

ctypedef enum field_kind:
    RAW = 0       # bytes, which are canonical
    WORD = 1      # 1, 2, 4 or 8 bytes, with a rule
    EXTENDED = 2  # x87 extended precision: 64 bit mantissa, 16 bit sign and exponent, padding
    QUAD = 3      # IEEE quad precision: the rule applies to its upper half


# ---- ordered keys -----------------------------------------------------------------------


def ordered_keys(cnp.ndarray items not None, positions, Rule rule not None, int threads):
    """(keys, least, greatest): the ordered keys, uint64, of the items of a 1-d array at these
    positions, or of all items if positions is None. An item has 1, 2, 4 or 8 bytes; there is at
    least one key."""
    cdef OrderItems job = OrderItems()
    cdef cnp.npy_intp size = cnp.PyArray_SIZE(items) if positions is None else len(positions)
    cdef Py_ssize_t k
    cdef uint64_t least = <uint64_t>-1, greatest = 0
    out = cnp.PyArray_EMPTY(1, &size, cnp.NPY_UINT64, 0)
    job.items = <const char *>cnp.PyArray_DATA(items)
    job.stride, job.width = cnp.PyArray_STRIDE(items, 0), cnp.PyArray_ITEMSIZE(items)
    job.positions, job.rule, job.out = positions, rule.words, out
    job.units, job.chunks = size, chunk_count(size, threads, 2 * sizeof(uint64_t))
    job.least, job.greatest = new_u64(job.chunks), new_u64(job.chunks)
    job.run(threads)
    for k in range(job.chunks):
        least, greatest = min(least, job.least[k]), max(greatest, job.greatest[k])
    return out, least, greatest


cdef class OrderItems(Job):
    cdef const char *items
    cdef Py_ssize_t stride
    cdef Py_ssize_t width
    cdef const Py_ssize_t[::1] positions
    cdef rule_t rule
    cdef uint64_t[::1] out
    cdef uint64_t[::1] least      # by chunk
    cdef uint64_t[::1] greatest

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const Py_ssize_t[::1] positions = self.positions
        cdef uint64_t[::1] out = self.out
        cdef uint64_t key, least = <uint64_t>-1, greatest = 0
        cdef bint all_items = positions is None
        cdef Py_ssize_t i, at
        for i in range(self.begin(k), self.begin(k + 1)):
            at = i if all_items else positions[i]
            key = load_word(self.items + at * self.stride, self.width)
            key = ordered_key_of(&self.rule, canonical(&self.rule, key))
            least, greatest = min(least, key), max(greatest, key)
            out[i] = key
        self.least[k], self.greatest[k] = least, greatest


def append_keys(uint64_t[::1] words, uint64_t[::1] keys not None, uint64_t least, int bits,
                int threads):
    """Subtract `least` from the keys and append them, as the lowest `bits` bits, to the words, in
    place; bits is less than 64. Returns the words; or the keys, if words is None."""
    cdef AppendKeys job = AppendKeys()
    job.words, job.keys, job.least, job.bits = words, keys, least, bits
    job.run_units(keys.shape[0], 3 * sizeof(uint64_t), threads)
    return (keys if words is None else words).base


cdef class AppendKeys(Job):
    cdef uint64_t[::1] words
    cdef uint64_t[::1] keys
    cdef uint64_t least
    cdef int bits

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef uint64_t[::1] words = self.words, keys = self.keys
        cdef Py_ssize_t i
        if words is None:
            for i in range(self.begin(k), self.begin(k + 1)):
                keys[i] -= self.least
        else:
            for i in range(self.begin(k), self.begin(k + 1)):
                words[i] = words[i] << self.bits | (keys[i] - self.least)


# ---- are items canonical in memory? -----------------------------------------------------


def are_canonical(cnp.ndarray items not None, Py_ssize_t width, Rule rule not None, int threads):
    """Are all fields of a C-contiguous array canonical? A field has `width` bytes, 1, 2, 4 or 8. No
    NaN of a float counts as canonical, nor does a NaT that equals no item."""
    cdef CheckWords job = CheckWords()
    job.words, job.width = <const char *>cnp.PyArray_DATA(items), width
    job.rule = rule.words
    job.run_units(cnp.PyArray_NBYTES(items) // width, width, threads)
    return not job.noncanonical


cdef class CheckWords(Job):
    cdef const char *words
    cdef Py_ssize_t width
    cdef rule_t rule
    cdef uint8_t noncanonical     # 1 if a word is not canonical

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t start = self.begin(k), stop = self.begin(k + 1), n
        cdef const char *words
        cdef bint noncanonical = False
        while start < stop and not noncanonical:
            words = self.words + start * self.width
            n = min(stop - start, BATCH)
            if self.width == 8:
                noncanonical = has_noncanonical(&self.rule, words, n, <uint64_t>self.rule.nan)
            elif self.width == 4:
                noncanonical = has_noncanonical(&self.rule, words, n, <uint32_t>self.rule.nan)
            elif self.width == 2:
                noncanonical = has_noncanonical(&self.rule, words, n, <uint16_t>self.rule.nan)
            else:
                noncanonical = has_noncanonical(&self.rule, words, n, <uint8_t>self.rule.nan)
            start += n
        if noncanonical:
            fs_mark(&self.noncanonical)


cdef inline bint has_noncanonical(const rule_t *rule, const char *words, Py_ssize_t n,
                                  word_t nan) noexcept nogil:
    """Is one of n words noncanonical? A NaN of a float counts as noncanonical, and so does a nan
    that equals no item."""
    cdef word_t word, magnitude, significant = <word_t>rule.significant, limit = <word_t>rule.limit
    cdef word_t gap = <word_t>(rule.significant - rule.limit), beyond = 0
    cdef bint has_nan = False
    cdef Py_ssize_t j
    if rule.significant > rule.limit and rule.limit:  # floats: see load_canonical
        for j in range(n):
            memcpy(&word, words + j * sizeof(word_t), sizeof(word_t))
            magnitude = word & significant
            beyond |= (<word_t>(magnitude - 1) & word) | <word_t>(magnitude + gap)
        return (beyond & <word_t>(significant + 1)) != 0
    for j in range(n):
        memcpy(&word, words + j * sizeof(word_t), sizeof(word_t))
        beyond |= <word_t>((word if word <= limit else nan) ^ word)
        has_nan |= word == nan
    return beyond != 0 or (rule.nan_unequal and has_nan)


# ---- canonical keys ---------------------------------------------------------------------


def canonical_keys(cnp.ndarray items not None, int kind, Py_ssize_t width, Rule rule not None,
                   bint collapse, cnp.ndarray out not None, int threads):
    """Write the canonical form of items to out, one key for each index of the first axis. Returns
    the bitmask of the keys that have a nan, if nan equals no key, and None otherwise.

    Both arrays are C-contiguous. There is at least one key, and no key is empty. If keys of out are
    wider than their items, zeros follow. kind and width describe a field, whose rule is `rule`.
    With collapse, all keys with a nan become one key, of which all bits are 1. Fields are floats
    then: another dtype may have a key of these bits.
    """
    cdef WriteKeys job = WriteKeys()
    cdef Py_ssize_t keys = cnp.PyArray_DIM(items, 0)
    job.unequal = unequal = new_u64(blocks_of(keys)) if rule.words.nan_unequal else None
    job.items = <const char *>cnp.PyArray_DATA(items)
    job.kind, job.width, job.collapse = <field_kind>kind, width, collapse
    job.rule = rule.words
    job.keys, job.used = keys, cnp.PyArray_NBYTES(items) // keys
    job.key_width = cnp.PyArray_NBYTES(out) // keys
    job.out = <char *>cnp.PyArray_DATA(out)
    job.run_units(blocks_of(keys), 64 * job.key_width, threads)
    return unequal


cdef class WriteKeys(Job):
    cdef const char *items
    cdef field_kind kind
    cdef Py_ssize_t width         # bytes of a field
    cdef rule_t rule
    cdef Py_ssize_t keys
    cdef Py_ssize_t used          # bytes of the items of a key
    cdef Py_ssize_t key_width     # bytes of a key: its items, then zeros
    cdef bint collapse            # all bits of a key become 1 if a field is nan
    cdef char *out
    cdef uint64_t[::1] unequal    # bitmask of the keys that have a nan, or None

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t key = self.begin(k) * 64, stop = min(self.begin(k + 1) * 64, self.keys)
        cdef char *out
        cdef bint has_nan
        cdef uint64_t word = 0
        if self.kind == RAW and self.used < self.key_width <= 8:
            self.pad(key, stop)
            return
        while key < stop:
            out = self.out + key * self.key_width
            has_nan = self.write_fields(self.items + key * self.used, out)
            memset(out + self.used, 0, self.key_width - self.used)
            if has_nan:
                word |= <uint64_t>1 << (key & 63)
                if self.collapse:
                    memset(out, 0xff, self.used)
            key += 1
            if self.unequal is not None and ((key & 63) == 0 or key == stop):
                self.unequal[(key - 1) >> 6] = word
                word = 0

    cdef void pad(self, Py_ssize_t key, Py_ssize_t stop) noexcept nogil:
        """Write raw keys of 3, 5, 6 or 7 bytes as words, with zeros behind them."""
        cdef Py_ssize_t used = self.used
        cdef uint64_t word
        for key in range(key, stop):
            if (self.keys - key) * used >= 8:       # 8 bytes are loaded in less time than `used`
                memcpy(&word, self.items + key * used, 8)
                word &= (<uint64_t>1 << 8 * used) - 1
            else:
                word = 0
                memcpy(&word, self.items + key * used, used)
            if self.key_width == 4:
                memcpy(self.out + key * 4, &word, 4)
            else:
                memcpy(self.out + key * 8, &word, 8)

    cdef bint write_fields(self, const char *source, char *out) noexcept nogil:
        """Write the fields of one key. Returns whether a field is nan."""
        cdef Py_ssize_t size = self.used, field
        cdef bint has_nan = False
        if self.kind == RAW:
            memcpy(out, source, size)
        elif self.kind == EXTENDED:
            for field in range(size // self.width):
                has_nan |= write_extended(
                    source + field * self.width, out + field * self.width, self.width)
        elif self.kind == QUAD:
            for field in range(size // 16):
                has_nan |= write_quad(&self.rule, source + field * 16, out + field * 16)
        elif self.width == 8:
            has_nan = write_words(&self.rule, source, size // 8, out, <uint64_t>self.rule.nan)
        elif self.width == 4:
            has_nan = write_words(&self.rule, source, size // 4, out, <uint32_t>self.rule.nan)
        elif self.width == 2:
            has_nan = write_words(&self.rule, source, size // 2, out, <uint16_t>self.rule.nan)
        else:
            has_nan = write_words(&self.rule, source, size, out, <uint8_t>self.rule.nan)
        return has_nan


cdef inline bint write_words(const rule_t *rule, const char *source, Py_ssize_t n, char *out,
                             word_t nan) noexcept nogil:
    """Write the canonical form of n words. Returns whether a word exceeds the limit of the rule or,
    with nan_unequal, is nan."""
    cdef word_t word, magnitude, key, max_magnitude = 0
    cdef word_t significant = <word_t>rule.significant, limit = <word_t>rule.limit
    cdef bint has_nan = False
    cdef Py_ssize_t j
    for j in range(n):
        memcpy(&word, source + j * sizeof(word_t), sizeof(word_t))
        magnitude = word & significant
        key = word if magnitude else 0
        key = key if magnitude <= limit else nan
        max_magnitude = max(max_magnitude, magnitude)
        has_nan |= rule.nan_unequal and word == nan
        memcpy(out + j * sizeof(word_t), &key, sizeof(word_t))
    return has_nan or max_magnitude > limit


cdef inline bint write_extended(const char *source, char *out, Py_ssize_t width) noexcept nogil:
    cdef uint64_t mantissa
    cdef uint64_t exponent = 0
    memcpy(&mantissa, source, 8)
    memcpy(&exponent, source + 8, 2)
    cdef uint64_t leading = mantissa >> 63, magnitude = exponent & 0x7fff
    # If the exponent is not 0, a value whose leading bit is not set is nan. If the exponent is 0,
    # the bit may be set: then the value equals the value with the exponent 1.
    cdef bint has_nan = magnitude and (not leading or (magnitude == 0x7fff and mantissa << 1))
    if has_nan:
        mantissa, exponent = <uint64_t>3 << 62, 0x7fff
    elif mantissa == 0:
        exponent = 0
    elif magnitude == 0:
        exponent |= leading
    memset(out, 0, width)
    memcpy(out, &mantissa, 8)
    memcpy(out + 8, &exponent, 2)
    return has_nan


cdef inline bint write_quad(const rule_t *rule, const char *source, char *out) noexcept nogil:
    cdef uint64_t[2] half  # the lower half, then the upper half
    memcpy(half, source, 16)
    # For the rule, the lower half counts as one bit.
    cdef uint64_t magnitude = (half[1] | (half[0] != 0)) & rule.significant
    if magnitude > rule.limit:
        half[0], half[1] = 0, rule.nan
    elif magnitude == 0:
        half[1] = 0
    memcpy(out, half, 16)
    return magnitude > rule.limit
