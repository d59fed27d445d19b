"""First occurrences of words, where neither inverse nor counts are wanted.

Few words: each thread has a set (wordset.pxd) for its slice of the keys, and what is first of its
kind in a later slice is looked up again in the set of the first. Many: each share of the hashes has
a set, and a thread that looks at all keys: their hash says, faster than a pass that scatters them,
which ones belong to it. Shares are a power of two.
"""
cimport numpy as cnp
from libc.stdint cimport intptr_t, uint8_t, uint64_t
from libc.string cimport memset

from fastsel._kernels.blocks cimport blocks_of, fs_level_t
from fastsel._kernels.keys cimport describe_keys, key_at, keys_t, load_words
from fastsel._kernels.levels cimport fs_level
from fastsel._kernels.scratch cimport give, take, take_zeros
from fastsel._kernels.slices cimport (
    for_rounds, round_start, slice_body, slice_count, slice_start)
from fastsel._kernels.table cimport NO_MEMORY, TOO_MANY
from fastsel._kernels.wordset cimport (
    ADDED, ADDED_BLOCKS, MOST_GROWN, add_keys, add_words, mark_loners, set_free, set_start, set_t)

cnp.import_array()

cdef const fs_level_t *level = fs_level()

ctypedef struct share_t:
    set_t words
    Py_ssize_t status
    uint64_t *bits              # of all keys

ctypedef struct words_task:
    keys_t keys
    int share_bits              # log2 of the number of shares
    Py_ssize_t most             # words, if the keys are cut into slices
    Py_ssize_t shares           # or slices
    Py_ssize_t blocks
    Py_ssize_t rounds
    Py_ssize_t expected
    share_t *parts


def first_of_few_words(cnp.ndarray data not None, Py_ssize_t size, tuple rule not None,
                       tuple seeds not None, Py_ssize_t expected, Py_ssize_t most, int threads):
    """The bitmask of the first occurrences of `size` > 0 words of 4 or 8 bytes, of which about
    `expected` are distinct; None if a slice has more than `most`, or a set takes too many probes.
    """
    cdef words_task task
    describe_keys(&task.keys, data, size, rule, None, seeds)
    task.blocks = blocks_of(size)
    task.share_bits, task.most, task.expected = 0, most, min(expected, most)
    task.shares = min(task.blocks, max(1, threads))
    task.rounds = slice_count(task.blocks // task.shares, 1, 64 * task.keys.width)
    return bits_of(&task, slice_of_words, threads)


def first_words(cnp.ndarray data not None, Py_ssize_t size, tuple rule not None,
                tuple seeds not None, Py_ssize_t expected, int threads):
    """The same of any number of words; None if a set takes too many probes, or has to grow too
    large."""
    cdef words_task task
    if threads < 2:
        return first_of_few_words(data, size, rule, seeds, expected, size, 1)
    describe_keys(&task.keys, data, size, rule, None, seeds)
    task.share_bits = 1
    while 2 << task.share_bits <= threads:
        task.share_bits += 1
    task.blocks = blocks_of(size)
    task.shares = 1 << task.share_bits
    task.rounds = slice_count(task.blocks, 1, 8 * 64 * 8)
    task.expected = expected >> task.share_bits
    return bits_of(&task, share_of_words, threads)


cdef object bits_of(words_task *task, slice_body body, int threads):
    cdef cnp.npy_intp blocks = task.blocks
    cdef uint64_t *data_of_bits
    cdef Py_ssize_t k, status = 0
    bits = cnp.PyArray_EMPTY(1, &blocks, cnp.NPY_UINT64, 0)
    data_of_bits = <uint64_t *>cnp.PyArray_DATA(bits)
    task.parts = <share_t *>take_zeros(task.shares * sizeof(share_t))
    if task.parts == NULL:
        raise MemoryError()
    try:
        with nogil:
            for k in range(task.shares):
                task.parts[k].bits = (data_of_bits if k == 0 or task.share_bits == 0
                                      else <uint64_t *>take(blocks * sizeof(uint64_t)))
                if task.parts[k].bits == NULL:
                    status = NO_MEMORY
            if status == 0:
                for_rounds(body, task, task.rounds, task.shares, threads)
            for k in range(task.shares):
                status = min(status, task.parts[k].status)
            if status == 0:
                status = join_slices(task) if task.share_bits == 0 else join_shares(task)
    finally:
        for k in range(task.shares):
            set_free(&task.parts[k].words)
            if task.share_bits and k:
                give(task.parts[k].bits)
        give(task.parts)
    if status == NO_MEMORY:
        raise MemoryError()
    return bits if status == 0 else None


# ---- slices of the keys -----------------------------------------------------------------


cdef void slice_of_words(void *context, Py_ssize_t k) noexcept nogil:
    """Slice k % slices of the keys, as far as round k // slices."""
    cdef words_task *task = <words_task *>context
    cdef share_t *part = &task.parts[k % task.shares]
    cdef Py_ssize_t start = start_block(task, k) * 64
    cdef Py_ssize_t stop = min(start_block(task, k + task.shares) * 64, task.keys.size)
    if k < task.shares:
        part.status = set_start(&part.words, task.keys.width, 0, task.expected,
                                min(MOST_GROWN, 4 * task.keys.width * task.most))
    while start < stop and part.status == 0:
        start = add_keys(&part.words, &task.keys, level, start, stop, part.bits + (start >> 6),
                         &part.status)
        if part.words.length > task.most:
            part.status = TOO_MANY


cdef inline Py_ssize_t start_block(const words_task *task, Py_ssize_t k) noexcept nogil:
    return round_start(task.blocks, task.shares, task.rounds, k)


cdef Py_ssize_t join_slices(words_task *task) noexcept nogil:
    """Clear the bits of words that are in slices before; 0 or a status. The first key is the first
    of its kind even if another thread writes to the keys."""
    cdef uint64_t *bits = task.parts[0].bits
    cdef uint64_t[ADDED] words
    cdef intptr_t[ADDED] places
    cdef uint8_t[ADDED] is_new
    cdef Py_ssize_t block = start_block(task, min(1, task.shares - 1)), stop, n, k, status
    bits[0] |= 1
    if task.shares == 1:
        return 0
    while block < task.blocks:
        stop = min(block + ADDED_BLOCKS, task.blocks)
        n = level.count(bits + block, stop - block)
        if n:
            level.write(bits + block, stop - block, block * 64, True, places, n)
            for k in range(n):
                words[k] = key_at(&task.keys, places[k])
            status = add_words(&task.parts[0].words, &task.keys, level, words, n, is_new)
            if status:
                return status
            mark_loners(&task.keys, words, n, is_new)
            for k in range(n):
                if not is_new[k]:
                    bits[places[k] >> 6] &= ~(<uint64_t>1 << (places[k] & 63))
        block = stop
    return 0


# ---- shares of the hashes ---------------------------------------------------------------


cdef void share_of_words(void *context, Py_ssize_t k) noexcept nogil:
    """Share k % shares of the keys of round k // shares."""
    cdef words_task *task = <words_task *>context
    cdef share_t *part = &task.parts[k % task.shares]
    cdef Py_ssize_t block = slice_start(task.blocks, task.rounds, k // task.shares)
    cdef Py_ssize_t stop = slice_start(task.blocks, task.rounds, k // task.shares + 1)
    cdef Py_ssize_t n, blocks
    cdef uint8_t[ADDED] is_new
    if k < task.shares:
        part.status = set_start(&part.words, task.keys.width, task.share_bits, task.expected,
                                MOST_GROWN)
    while block < stop and part.status == 0:
        blocks = min(stop - block, ADDED_BLOCKS)
        n = min(task.keys.size - block * 64, blocks * 64)
        memset(is_new + n, 0, ADDED - n)
        add_share(task, part, k % task.shares, block * 64, n, is_new)
        level.pack[0](<const char *>is_new, 0xff, part.bits + block, blocks)
        block += blocks


cdef inline void add_share(const words_task *task, share_t *part, uint64_t share, Py_ssize_t start,
                           Py_ssize_t n, uint8_t *is_new) noexcept nogil:
    cdef uint64_t[ADDED] words, shares, own
    cdef intptr_t[ADDED] places
    cdef uint64_t[ADDED_BLOCKS] bits
    cdef uint8_t[ADDED] is_new_own
    cdef Py_ssize_t j, k, owned
    load_words(&task.keys, start, n, words)
    level.slots(words, n, task.keys.seed, task.keys.factor, 0, 64 - task.share_bits, shares)
    for j in range(n):
        shares[j] ^= share
    memset(shares + n, 0xff, (ADDED - n) * sizeof(uint64_t))
    owned = ADDED - level.pack[3](<const char *>shares, <uint64_t>-1, bits, ADDED_BLOCKS)
    for k in range(ADDED_BLOCKS):
        bits[k] = ~bits[k]
    level.keep[3](bits, ADDED_BLOCKS, <const char *>words, <char *>own, owned)
    part.status = add_words(&part.words, &task.keys, level, own, owned, is_new_own)
    mark_loners(&task.keys, own, owned, is_new_own)
    memset(is_new, 0, n)
    if part.words.news or task.keys.rule.lonely:
        level.write(bits, ADDED_BLOCKS, 0, False, places, owned)
        for k in range(owned):
            is_new[places[k]] = is_new_own[k]


cdef Py_ssize_t join_shares(const words_task *task) noexcept nogil:
    """All shares' bits into those of the first; 0. The first key is the first of its kind, even if
    none of the shares took it for its own because another thread writes to the keys."""
    cdef Py_ssize_t k, block
    task.parts[0].bits[0] |= 1
    for k in range(1, task.shares):
        for block in range(task.blocks):
            task.parts[0].bits[block] |= task.parts[k].bits[block]
    return 0
