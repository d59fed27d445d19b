"""A filter of recent keys, for first occurrences and counts of few groups. Before it becomes
canonical, each key is compared with the recent key in its slot; if the two are equal, the key needs
no lookup. The comparison takes less time than a lookup. If the hash table has ids, each slot also
has the id of its key's group, and a count."""
from libc.stdint cimport intptr_t, uint32_t, uint64_t
from libc.string cimport memset

from fastsel._simd.blocks cimport blocks_of
from fastsel._simd.levels cimport level
from fastsel._unique.hash_table cimport batch_t
from fastsel._unique.keys cimport BATCH, canonical, keys_t, load_word
from fastsel._core.scratch cimport alloc

cdef extern from "hashing.h" nogil:
    enum:
        FS_RECENT_BITS
    uint32_t fs_recent_slot(uint64_t word, uint32_t factor)

cdef enum:
    RECENT_SLOTS = 1 << FS_RECENT_BITS

cdef inline uint32_t recent_factor(const keys_t *keys) noexcept nogil:
    """The factor of fs_recent_slot. Its top bit is set, so that key 1 is not in slot 0."""
    return <uint32_t>(keys.factor >> 32) | <uint32_t>0x80000001


cdef inline Py_ssize_t not_recent_keys(const void *recent, const keys_t *keys,
                                       Py_ssize_t start, Py_ssize_t n, uint32_t *slots,
                                       intptr_t *positions) noexcept nogil:
    """Find which of the n <= BATCH keys from start on are not recent. Writes their positions, minus
    start, and returns their number. Keys behind the last full block count as not recent; slots gets
    the slot of each other key."""
    cdef uint64_t[BATCH >> 6] bits
    cdef Py_ssize_t count = n & 63
    bits[n >> 6 if count else 0] = (<uint64_t>1 << count) - 1
    count += level.mark_not_recent[keys.width == 8](
        keys.data + start * keys.width, n >> 6, recent, recent_factor(keys), bits, slots)
    if count:
        level.write(bits, blocks_of(n), 0, False, positions, count)
    return count


cdef inline void *new_recent(const keys_t *keys, bint with_ids) noexcept nogil:
    """An empty filter, or NULL if there is no memory. The caller frees it."""
    cdef size_t size = (keys.width + 2 * sizeof(uint32_t) * with_ids) << FS_RECENT_BITS
    cdef void *recent = alloc(size)
    if recent != NULL:
        memset(recent, 0, size)
        # An empty slot has 0, which is a key of slot 0. So slot 0 gets 1, a key of another slot. If
        # another thread writes 0 to a key, this key may be found in an empty slot: group 0 exists.
        set_slot(recent, keys.width, 0, 1)
    return recent


cdef inline uint32_t *recent_ids(void *recent, const keys_t *keys) noexcept nogil:
    """The group ids of the recent keys, by slot. The count of each slot lies behind all ids."""
    return <uint32_t *>(<char *>recent + (keys.width << FS_RECENT_BITS))


cdef inline void mark_recent(void *recent, const batch_t *batch, const uint32_t *ids_plus_1,
                             bint with_ids, Py_ssize_t *counts) noexcept nogil:
    """Put the keys of a batch into their slots, except each nan that equals no key, and keys that
    another thread has changed since their words were loaded. Before a slot gets another key, its
    count is added to the count of its group. counts is NULL if keys are not counted."""
    cdef const keys_t *keys = batch.keys
    cdef uint64_t item
    cdef uint32_t slot
    cdef Py_ssize_t j
    for j in range(batch.n):
        item = load_word(keys.data + batch.positions[j] * keys.width, keys.width)
        slot = fs_recent_slot(item, recent_factor(keys))
        if canonical(&keys.rule, item) == batch.words[j] and not (
                keys.rule.nan_unequal and batch.words[j] == keys.rule.nan):
            set_slot(recent, keys.width, slot, item)
            if counts != NULL:
                move_counts(recent_ids(recent, keys), slot, counts)
            if with_ids:
                recent_ids(recent, keys)[slot] = ids_plus_1[j] - 1


cdef inline void count_slots(uint32_t *ids, const uint32_t *slots, Py_ssize_t n,
                             const intptr_t *not_recent, Py_ssize_t n_not_recent) noexcept nogil:
    """Count n keys by their slots, except the keys that are not recent; n is a multiple of 64. The
    caller calls move_all_counts before 2^32 keys are counted: otherwise a count wraps around.

    No branch depends on a key: one loop counts all keys, and a second loop subtracts the keys that
    are not recent."""
    cdef uint32_t *slot_counts = ids + RECENT_SLOTS
    cdef Py_ssize_t j
    for j in range(n):
        slot_counts[slots[j]] += 1
    for j in range(n_not_recent):
        slot_counts[slots[not_recent[j]]] -= 1


cdef inline void move_counts(uint32_t *ids, Py_ssize_t slot, Py_ssize_t *counts) noexcept nogil:
    """Add the count of a slot to the count of its group."""
    cdef uint32_t *slot_counts = ids + RECENT_SLOTS
    counts[ids[slot]] += slot_counts[slot]
    slot_counts[slot] = 0


cdef inline void move_all_counts(uint32_t *ids, Py_ssize_t *counts) noexcept nogil:
    """move_counts for all slots; of few groups, most slots are empty."""
    cdef const uint32_t *slot_counts = ids + RECENT_SLOTS
    cdef uint32_t any_count
    cdef Py_ssize_t block, slot
    for block in range(0, RECENT_SLOTS, 16):
        any_count = 0
        for slot in range(block, block + 16):
            any_count |= slot_counts[slot]
        for slot in range(block, block + 16 if any_count else block):
            move_counts(ids, slot, counts)


cdef inline void set_slot(void *recent, Py_ssize_t width, uint32_t slot,
                          uint64_t item) noexcept nogil:
    if width == 8:
        (<uint64_t *>recent)[slot] = item
    else:
        (<uint32_t *>recent)[slot] = <uint32_t>item
