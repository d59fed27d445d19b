"""A set of words that have a place each, for first occurrences where neither inverse nor counts are
wanted.

A byte says whether the word was met. A block of 64 keys that holds no new word costs nothing but a
look at their bytes.
"""
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from fastsel._kernels.blocks cimport fs_level_t, fs_popcount
from fastsel._kernels.keys cimport any_t, canonical, is_plain, keys_t, load_word
from fastsel._kernels.known cimport FEW_WORDS, known_blocks, note_few
from fastsel._kernels.table cimport TOO_MANY

ctypedef struct flags_t:
    uint8_t *met                # by place, 1 or 0
    uint64_t base               # the word that has the first place
    int place_bits              # log2 of the number of places; all words of 1 and 2 bytes have one
    Py_ssize_t length           # words met
    uint64_t[FEW_WORDS] few     # the first ones


cdef inline Py_ssize_t flag_blocks(flags_t *flags, const keys_t *keys, const fs_level_t *level,
                                   Py_ssize_t block, Py_ssize_t stop,
                                   uint64_t *bits) noexcept nogil:
    """The bits of these blocks of keys, each of which equals itself; 0, or TOO_MANY if a key has
    no place."""
    if keys.width == 1:
        return flag_items(flags, keys, level, block, stop, bits, <const uint8_t *>keys.data)
    if keys.width == 2:
        return flag_items(flags, keys, level, block, stop, bits, <const uint16_t *>keys.data)
    if keys.width == 4:
        return flag_items(flags, keys, level, block, stop, bits, <const uint32_t *>keys.data)
    return flag_items(flags, keys, level, block, stop, bits, <const uint64_t *>keys.data)


cdef inline Py_ssize_t flag_items(flags_t *flags, const keys_t *keys, const fs_level_t *level,
                                  Py_ssize_t block, Py_ssize_t stop, uint64_t *bits,
                                  const any_t *items) noexcept nogil:
    cdef Py_ssize_t skipped, whole = min(stop, keys.size >> 6)
    cdef bint plain = is_plain(&keys.rule), has_news = False
    while block < stop:
        skipped = 0     # or less, in the last block, which is not whole
        if any_t is uint8_t:
            skipped = level.met(keys.data + block * 64, whole - block, flags.met)
        else:
            if 0 < flags.length <= FEW_WORDS:
                skipped = known_blocks(level, keys, flags.few, block * 64, whole * 64)
            if skipped <= 0 and not has_news:
                skipped = met_blocks(flags, items + block * 64, whole - block)
        if skipped > 0:
            memset(bits + block, 0, skipped * sizeof(uint64_t))
            block += skipped
        if block < stop:
            if not flag_block(flags, keys, level, plain, items + block * 64,
                              min(64, keys.size - block * 64), bits + block):
                return TOO_MANY
            has_news = bits[block] != 0
            block += 1
    return 0


cdef inline Py_ssize_t met_blocks(const flags_t *flags, const any_t *items,
                                  Py_ssize_t blocks) noexcept nogil:
    """In how many blocks, from the first one on, all items were met, as they lie there."""
    cdef const uint8_t *met = flags.met
    cdef uint32_t[64] places
    cdef any_t place, beyond = 0
    cdef uint8_t all_met = 1
    cdef Py_ssize_t block, j
    for block in range(blocks):
        if any_t is uint8_t or any_t is uint16_t:
            for j in range(64):
                all_met &= met[items[j]]
        else:
            for j in range(64):
                place = items[j] - <any_t>flags.base
                beyond |= place
                places[j] = <uint32_t>place
            if <uint64_t>beyond >> flags.place_bits:
                return block
            for j in range(64):
                all_met &= met[places[j]]
        if not all_met:
            return block
        items += 64
    return blocks


cdef inline bint flag_block(flags_t *flags, const keys_t *keys, const fs_level_t *level,
                            bint plain, const any_t *items, Py_ssize_t n,
                            uint64_t *word) noexcept nogil:
    """The bits of a block; False if a key has no place."""
    cdef uint32_t[64] places
    cdef uint8_t[64] is_new
    cdef uint64_t[64] words
    cdef any_t place, all_bits = 0
    cdef Py_ssize_t j
    if plain:
        for j in range(n):
            place = items[j] - <any_t>flags.base
            all_bits |= place
            places[j] = <uint32_t>place
        if <uint64_t>all_bits >> flags.place_bits:
            return False
    else:
        for j in range(n):
            places[j] = <uint32_t>canonical(&keys.rule, items[j])
    memset(is_new, 0, sizeof(is_new))
    for j in range(n):
        is_new[j] = flags.met[places[j]] ^ 1
        flags.met[places[j]] = 1
    if not plain:           # blocks are looked at as they lie there
        for j in range(n):
            flags.met[items[j]] = 1
    level.pack[0](<const char *>is_new, 0xff, word, 1)
    if word[0] and flags.length < FEW_WORDS:
        for j in range(n):
            words[j] = places[j] + flags.base
        note_few(flags.few, flags.length, words, n, is_new)
    flags.length += fs_popcount(word[0])
    return True


cdef inline Py_ssize_t place_of(const flags_t *flags, const keys_t *keys,
                                Py_ssize_t i) noexcept nogil:
    """The place of key i; some place, if the key has changed to one that has none."""
    cdef uint64_t word = canonical(
        &keys.rule, load_word(keys.data + i * keys.width, keys.width)) - flags.base
    return <Py_ssize_t>(word & ((<uint64_t>1 << flags.place_bits) - 1))
