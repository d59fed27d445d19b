"""A set of words, for first occurrences where neither inverse nor counts are wanted.

Open addressing with linear probing, at most half full. A slot is a word and nothing else, so
that many times as many fit the cache as groups of table.pxd do; 0 is an empty slot, and whether the
word 0 was met stands beside. What most words find in their first slot is written
back without a decision, so there is nothing to guess wrong.
"""
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastsel._kernels.blocks cimport fs_level_t
from fastsel._kernels.keys cimport keys_t, mix, wide_t
from fastsel._kernels.known cimport FEW_WORDS, note_few
from fastsel._kernels.scratch cimport give, take
from fastsel._kernels.table cimport FLOODED, NO_MEMORY, PROBES_FREE, PROBES_PER_KEY, TOO_MANY

cdef enum:
    ADDED = 512             # words at once
    ADDED_BLOCKS = 8
    MOST_GROWN = 1 << 22    # bytes of a set that has to grow; larger ones leave it to partitions
    LEAST_SLOT_BITS = 10    # so that a batch is never more than half of the slots
    SMALL_SLOT_BITS = 13    # up to here three quarters are spare, as they fit L1 or nearly

ctypedef struct set_t:
    char *slots             # of 4 bytes, or for longer words 8
    int slot_bits           # log2 of the number of slots
    int skip_bits           # top bits of the hash that all words share
    bint has_zero
    Py_ssize_t length
    Py_ssize_t news         # of the last batch
    Py_ssize_t added        # words so far, new or not
    Py_ssize_t probes
    size_t most             # bytes to which it may grow
    uint64_t[FEW_WORDS] few  # the first words met


cdef inline int set_start(set_t *set, Py_ssize_t width, int skip_bits, Py_ssize_t expected,
                          size_t most) noexcept nogil:
    """An empty set with room for the expected words; 0 or NO_MEMORY. To be freed in both cases."""
    set.skip_bits, set.slot_bits, set.most = skip_bits, LEAST_SLOT_BITS, most
    while expected + ADDED > room(set.slot_bits):
        set.slot_bits += 1
    if set.slot_bits <= SMALL_SLOT_BITS:
        set.slot_bits += 2
    set.slots = <char *>take(slot_width(width) << set.slot_bits)
    if set.slots == NULL:
        return NO_MEMORY
    set_clear(set, width)
    return 0


cdef inline void set_clear(set_t *set, Py_ssize_t width) noexcept nogil:
    """Empty, with the size it has."""
    memset(set.slots, 0, slot_width(width) << set.slot_bits)
    set.has_zero = False
    set.length = set.added = set.probes = 0
    set.news = ADDED


cdef inline void set_free(set_t *set) noexcept nogil:
    give(set.slots)


cdef inline size_t slot_width(Py_ssize_t width) noexcept nogil:
    return 4 if width <= 4 else 8


cdef inline Py_ssize_t room(int slot_bits) noexcept nogil:
    return <Py_ssize_t>1 << (slot_bits - 1)


cdef inline Py_ssize_t add_words(set_t *set, const keys_t *keys, const fs_level_t *level,
                                 const uint64_t *words, Py_ssize_t n,
                                 uint8_t *is_new) noexcept nogil:
    """Add up to ADDED words, in turn, and say which were not there; 0 or a status."""
    cdef Py_ssize_t status
    if keys.width <= 4:
        status = make_room(set, keys, n, <const uint32_t *>set.slots)
        return status or add_to_slots(set, keys, level, words, n, is_new, <uint32_t *>set.slots)
    status = make_room(set, keys, n, <const uint64_t *>set.slots)
    return status or add_to_slots(set, keys, level, words, n, is_new, <uint64_t *>set.slots)


cdef inline Py_ssize_t add_to_slots(set_t *set, const keys_t *keys, const fs_level_t *level,
                                    const uint64_t *words, Py_ssize_t n, uint8_t *is_new,
                                    wide_t *slots) noexcept nogil:
    cdef uint64_t[ADDED] places
    cdef uint16_t[ADDED] late
    cdef Py_ssize_t j, k, at, lates = 0, news = 0, mask = (<Py_ssize_t>1 << set.slot_bits) - 1
    cdef wide_t word, here
    cdef uint64_t zeros = 0
    cdef bint is_empty
    level.slots(words, n, keys.seed, keys.factor, set.skip_bits, 64 - set.slot_bits, places)
    if set.news > n // 8:
        for j in range(n):
            word = <wide_t>words[j]
            here = slots[places[j]]
            is_empty = here == 0
            slots[places[j]] = here | (word & -<wide_t>is_empty)
            late[lates] = <uint16_t>j
            lates += (here != word) & (not is_empty) & (word != 0)
            is_new[j] = is_empty & (word != 0)
    else:
        for j in range(n):
            word = <wide_t>words[j]
            late[lates] = <uint16_t>j
            lates += (slots[places[j]] != word) & (word != 0)
        memset(is_new, 0, n)
    set.added += n
    for k in range(lates):
        j = late[k]
        word = <wide_t>words[j]
        at = <Py_ssize_t>places[j]
        while slots[at] != 0 and slots[at] != word:
            at = (at + 1) & mask
            set.probes += 1
        is_new[j] = slots[at] == 0
        slots[at] = word
    if set.probes > PROBES_PER_KEY * set.added + PROBES_FREE:
        return FLOODED
    if not set.has_zero:
        for j in range(n):
            zeros |= ~words[j] & (words[j] - 1)     # 0 alone sets the top bit
        j = 0
        while zeros >> 63 and not set.has_zero:
            if words[j] == 0:
                set.has_zero = is_new[j] = True
            j += 1
    for j in range(n):
        news += is_new[j]
    if set.length < FEW_WORDS and news:
        note_few(set.few, set.length, words, n, is_new)
    set.length += news
    set.news = news
    return 0


cdef inline void mark_loners(const keys_t *keys, const uint64_t *words, Py_ssize_t n,
                             uint8_t *is_new) noexcept nogil:
    """Words that equal no other, not even themselves, are all new."""
    cdef Py_ssize_t j
    if keys.rule.lonely:
        for j in range(n):
            is_new[j] |= words[j] == keys.rule.nan


cdef inline Py_ssize_t make_room(set_t *set, const keys_t *keys, Py_ssize_t n,
                                 const wide_t *slots) noexcept nogil:
    """More slots, if there is no room for n words more: for all keys, if they go on like this, and
    for twice as many words at least. 0 or a status."""
    cdef set_t larger
    cdef Py_ssize_t k, at, mask, all_keys
    cdef Py_ssize_t most = set.most // (2 * sizeof(wide_t)) - ADDED
    cdef wide_t *target
    if set.length + n <= room(set.slot_bits):
        return 0
    if 2 * set.length > most:
        return TOO_MANY
    all_keys = set.length * ((keys.size >> set.skip_bits) // set.added + 1)
    if set_start(&larger, keys.width, set.skip_bits,
                 min(max(2 * set.length, all_keys), most), set.most) != 0:
        return NO_MEMORY
    target = <wide_t *>larger.slots
    mask = (<Py_ssize_t>1 << larger.slot_bits) - 1
    for k in range(<Py_ssize_t>1 << set.slot_bits):
        if slots[k] == 0:
            continue
        at = <Py_ssize_t>((mix(keys, slots[k]) << set.skip_bits) >> (64 - larger.slot_bits))
        while target[at]:
            at = (at + 1) & mask
        target[at] = slots[k]
    larger.has_zero, larger.news = set.has_zero, set.news
    memcpy(larger.few, set.few, sizeof(set.few))
    larger.length, larger.added, larger.probes = set.length, set.added, set.probes
    set_free(set)
    set[0] = larger
    return 0
