"""A set of words, for first occurrences where neither inverse nor counts are wanted.

Open addressing with linear probing, at most half full. A slot is a word and nothing else, so
that many times as many fit the cache as groups of table.pxd do; 0 is an empty slot, and whether the
word 0 was met stands beside. What most words find in their first slot is written
back without a decision, so there is nothing to guess wrong.

Where few words are new, most keys are not looked up at all: while there are but a few words, whole
blocks are compared with these, and then each key with the one that lies where it would be among
those met lately, as they lie in memory, which is a few instructions. (1e5 int32 of 25 groups took
149 us on one thread, and take 35: `compare.py --op unique_first --size 1e5 --dtype int32 --groups
25 --threads 1`.)
"""
from libc.stdint cimport intptr_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastsel._kernels.blocks cimport blocks_of, fs_level_t
from fastsel._kernels.changes cimport changes_in
from fastsel._kernels.keys cimport (
    canonical, keys_t, load_word, load_words, mix, prefetch_keys, wide_t)
from fastsel._kernels.known cimport FEW_WORDS, known_blocks, note_few
from fastsel._kernels.scratch cimport give, take, take_zeros
from fastsel._kernels.table cimport FLOODED, NO_MEMORY, PROBES_FREE, PROBES_PER_KEY, TOO_MANY

cdef extern from "hashing.h" nogil:
    enum:
        FS_RECENT_BITS
    uint32_t fs_recent_factor(uint64_t factor)
    uint32_t fs_recent_slot(uint64_t word, uint32_t factor)

cdef enum:
    ADDED = 512             # words at once
    ADDED_BLOCKS = 8
    MOST_GROWN = 1 << 22    # bytes of a set that has to grow; larger ones leave it to partitions
    LEAST_SLOT_BITS = 10    # so that a batch is never more than half of the slots
    SPARE_SLOT_BITS = 16    # up to here, which fits L2 or nearly, half are spare
    SMALL_SLOT_BITS = 13    # up to here three quarters are spare, as they fit L1 or nearly
    # Batches of which most words were not met lately: after so many in a row nobody asks for a
    # while.
    PATIENCE = 8
    REST = 256

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
    char *recent            # words met lately, each in its slot, not canonical; or NULL
    int strange_batches     # in a row, and then of rest


cdef inline int set_start(set_t *set, Py_ssize_t width, int skip_bits, Py_ssize_t expected,
                          size_t most) noexcept nogil:
    """An empty set with room for the expected words; 0 or NO_MEMORY. To be freed in both cases."""
    set.skip_bits, set.slot_bits, set.most = skip_bits, LEAST_SLOT_BITS, most
    set.recent, set.strange_batches = NULL, 0
    while expected + ADDED > room(set.slot_bits):
        set.slot_bits += 1
    if set.slot_bits <= SPARE_SLOT_BITS:
        set.slot_bits += 2 if set.slot_bits <= SMALL_SLOT_BITS else 1
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
    give(set.recent)


cdef inline size_t slot_width(Py_ssize_t width) noexcept nogil:
    return 4 if width <= 4 else 8


cdef inline Py_ssize_t room(int slot_bits) noexcept nogil:
    return <Py_ssize_t>1 << (slot_bits - 1)


cdef inline Py_ssize_t add_keys(set_t *set, const keys_t *keys, const fs_level_t *level,
                                Py_ssize_t start, Py_ssize_t stop, uint64_t *bits,
                                Py_ssize_t *status) noexcept nogil:
    """Add some of the keys from start, which is at a block, to stop, and set the bits of their
    blocks: those of the keys that are the first of their kind. Returns how far it came."""
    cdef uint8_t[ADDED] is_new
    cdef Py_ssize_t n = min(stop - start, ADDED), skipped
    if set.length <= FEW_WORDS and not keys.rule.lonely:
        if set.length:
            skipped = known_blocks(level, keys, set.few, start, stop)
            memset(bits, 0, skipped * sizeof(uint64_t))
            start += skipped * 64
            bits += skipped
        n = min(stop - start, 64)
    if n == 0:
        return start
    status[0] = add_batch(set, keys, level, start, n, is_new)
    if status[0] == 0:
        memset(is_new + n, 0, -n & 63)
        level.pack[0](<const char *>is_new, 0xff, bits, blocks_of(n))
    return start + n


cdef inline Py_ssize_t add_batch(set_t *set, const keys_t *keys, const fs_level_t *level,
                                 Py_ssize_t start, Py_ssize_t n, uint8_t *is_new) noexcept nogil:
    """Up to ADDED keys, in turn; 0 or a status."""
    cdef uint64_t[ADDED] words
    cdef uint64_t[ADDED_BLOCKS] strangers
    cdef Py_ssize_t status, strange
    cdef bint asks = keys.width >= 4 and set.strange_batches < PATIENCE
    prefetch_keys(keys, start + n, n)
    if asks and set.recent != NULL:
        strange = find_strangers(set, keys, level, start, n, strangers)
        if strange <= n // 2:
            set.strange_batches = 0
            set.added += n - strange
            return add_strangers(set, keys, level, start, n, strangers, strange, is_new)
    load_words(keys, start, n, words)
    status = add_words(set, keys, level, words, n, is_new)
    if status:
        return status
    mark_loners(keys, words, n, is_new)
    if asks and set.news <= n // 2 and set.length > FEW_WORDS:
        note_recent(set, keys, start, n, words)
    set.strange_batches += keys.width >= 4
    if set.strange_batches == PATIENCE + REST:
        set.strange_batches = 0
    return 0


cdef inline uint32_t recent_factor(const keys_t *keys) noexcept nogil:
    return fs_recent_factor(keys.factor)


cdef inline Py_ssize_t find_strangers(const set_t *set, const keys_t *keys,
                                      const fs_level_t *level, Py_ssize_t start, Py_ssize_t n,
                                      uint64_t *strangers) noexcept nogil:
    """The bits of keys that were not met lately, or, where these are many, in runs perhaps, are
    also another one than the key before; returns how many. What is in no whole block is taken for
    such."""
    cdef const char *data = keys.data + start * keys.width
    cdef Py_ssize_t rest = n & 63, block, strange
    if rest:
        strangers[n >> 6] = (<uint64_t>1 << rest) - 1
    strange = rest + level.strange[keys.width == 8](
        data, n >> 6, set.recent, recent_factor(keys), strangers)
    if strange <= n // 4 or keys.rule.lonely:
        return strange
    for block in range(n >> 6):
        if keys.width == 8:
            strangers[block] &= heads_in(level, <const uint64_t *>data + block * 64)
        else:
            strangers[block] &= heads_in(level, <const uint32_t *>data + block * 64)
    return level.count(strangers, blocks_of(n))


cdef inline uint64_t heads_in(const fs_level_t *level, const wide_t *block) noexcept nogil:
    """The bits of keys of a block that differ from the one before, and of the first."""
    return changes_in(level, block, block[0], <uint64_t>-1) | 1


cdef inline Py_ssize_t add_strangers(set_t *set, const keys_t *keys, const fs_level_t *level,
                                     Py_ssize_t start, Py_ssize_t n, const uint64_t *strangers,
                                     Py_ssize_t strange, uint8_t *is_new) noexcept nogil:
    """The same of keys of which only those with a bit are looked up."""
    cdef intptr_t[ADDED] places
    cdef uint64_t[ADDED] words
    cdef uint8_t[ADDED] is_new_stranger
    cdef uint64_t word
    cdef Py_ssize_t k, status
    memset(is_new, 0, n)
    if strange == 0:
        return 0
    level.write(strangers, blocks_of(n), 0, False, places, strange)
    for k in range(strange):
        word = load_word(keys.data + (start + places[k]) * keys.width, keys.width)
        words[k] = canonical(&keys.rule, word)
        remember(set, keys, word, words[k])
    status = add_words(set, keys, level, words, strange, is_new_stranger)
    if status:
        return status
    mark_loners(keys, words, strange, is_new_stranger)
    for k in range(strange):
        is_new[places[k]] = is_new_stranger[k]
    return 0


cdef inline void note_recent(set_t *set, const keys_t *keys, Py_ssize_t start, Py_ssize_t n,
                             const uint64_t *words) noexcept nogil:
    """Keys that have been added as these words were met lately, if there is memory for that."""
    cdef uint64_t word
    cdef Py_ssize_t j
    if set.recent == NULL:
        set.recent = <char *>take_zeros(keys.width << FS_RECENT_BITS)
        if set.recent == NULL:
            return
        remember_at(set, keys, 0, 1)   # where 0 would be, but has not been, nor will be 1
    for j in range(n):
        word = load_word(keys.data + (start + j) * keys.width, keys.width)
        if canonical(&keys.rule, word) == words[j]:     # no other thread has changed it
            remember(set, keys, word, words[j])


cdef inline void remember(set_t *set, const keys_t *keys, uint64_t word,
                          uint64_t canonical_word) noexcept nogil:
    if not keys.rule.lonely or canonical_word != keys.rule.nan:
        remember_at(set, keys, fs_recent_slot(word, recent_factor(keys)), word)


cdef inline void remember_at(set_t *set, const keys_t *keys, uint32_t slot,
                             uint64_t word) noexcept nogil:
    if keys.width == 8:
        (<uint64_t *>set.recent)[slot] = word
    else:
        (<uint32_t *>set.recent)[slot] = <uint32_t>word


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
    cdef Py_ssize_t j, k, at, lates = 0, later = 0, news = 0
    cdef Py_ssize_t mask = (<Py_ssize_t>1 << set.slot_bits) - 1
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
    for k in range(lates):      # most of these are in the next slot
        j = late[k]
        late[later] = <uint16_t>j
        later += slots[(places[j] + 1) & mask] != <wide_t>words[j]
    for k in range(later):
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
    larger.recent, larger.strange_batches, set.recent = set.recent, set.strange_batches, NULL
    set_free(set)
    set[0] = larger
    return 0
