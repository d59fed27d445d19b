"""First occurrences of words, where neither inverse nor counts are wanted.

Each share of the hashes has a set (wordset.pxd), and a thread that looks at all keys: their hash
says, faster than a pass that scatters them, which ones belong to it. Shares are a power of two.
"""
cimport numpy as cnp
from libc.stdint cimport intptr_t, uint8_t, uint64_t
from libc.string cimport memset

from fastsel._kernels.blocks cimport blocks_of, fs_level, fs_level_t, log2_width
from fastsel._kernels.keys cimport describe_keys, keys_t, load_words
from fastsel._kernels.results cimport numpy_array
from fastsel._kernels.scratch cimport give, take, take_zeros
from fastsel._kernels.slices cimport for_rounds, slice_count, slice_start
from fastsel._kernels.table cimport NO_MEMORY, TOO_MANY
from fastsel._kernels.wordset cimport (
    ADDED, ADDED_BLOCKS, FEW_WORDS, add_words, set_free, set_start, set_t)

cnp.import_array()

cdef const fs_level_t *level = fs_level()

cdef enum:
    LOOKED_AT = 256
    MOST_GROWN = 1 << 22    # bytes of a set that has to grow; larger ones leave it to partitions

ctypedef struct share_t:
    set_t words
    Py_ssize_t status
    uint64_t *bits

ctypedef struct words_task:
    keys_t keys
    int share_bits              # log2 of the number of shares
    Py_ssize_t shares
    Py_ssize_t blocks
    Py_ssize_t rounds
    Py_ssize_t expected
    share_t *parts


def first_words(cnp.ndarray data not None, Py_ssize_t size, tuple rule not None,
                tuple seeds not None, Py_ssize_t expected, int threads):
    """The bitmask of the first occurrences of `size` > 0 words of 4 or 8 bytes, of which about
    `expected` are distinct; None if a set takes too many probes, or has to grow too large."""
    cdef words_task task
    cdef cnp.npy_intp blocks = blocks_of(size)
    cdef uint64_t *data_of_bits
    cdef Py_ssize_t k, status = 0
    describe_keys(&task.keys, data, size, rule, None, seeds)
    task.share_bits = 0
    while 2 << task.share_bits <= threads:
        task.share_bits += 1
    task.shares = 1 << task.share_bits
    task.blocks = blocks
    task.rounds = slice_count(blocks, 1, 8 * 64 * 8)
    task.expected = expected
    bits = cnp.PyArray_EMPTY(1, &blocks, cnp.NPY_UINT64, 0)
    data_of_bits = <uint64_t *>cnp.PyArray_DATA(bits)
    task.parts = <share_t *>take_zeros(task.shares * sizeof(share_t))
    if task.parts == NULL:
        raise MemoryError()
    try:
        with nogil:
            for k in range(task.shares):
                task.parts[k].bits = (data_of_bits if k == 0
                                      else <uint64_t *>take(blocks * sizeof(uint64_t)))
                if task.parts[k].bits == NULL:
                    status = NO_MEMORY
            if status == 0:
                for_rounds(share_slice, &task, task.rounds, task.shares, threads)
            for k in range(task.shares):
                status = min(status, task.parts[k].status)
            if status == 0:
                join_bits(&task)
    finally:
        for k in range(task.shares):
            set_free(&task.parts[k].words)
            if k:
                give(task.parts[k].bits)
        give(task.parts)
    if status == NO_MEMORY:
        raise MemoryError()
    return bits if status == 0 else None


cdef void share_slice(void *context, Py_ssize_t k) noexcept nogil:
    """Share k % shares of the keys of round k // shares."""
    cdef words_task *task = <words_task *>context
    cdef share_t *part = &task.parts[k % task.shares]
    cdef Py_ssize_t block = slice_start(task.blocks, task.rounds, k // task.shares)
    cdef Py_ssize_t stop = slice_start(task.blocks, task.rounds, k // task.shares + 1)
    cdef Py_ssize_t n, blocks
    cdef uint8_t[ADDED] is_new
    if k < task.shares:
        part.status = set_start(&part.words, task.keys.width, task.share_bits,
                                task.expected >> task.share_bits, MOST_GROWN)
    while block < stop and part.status == 0:
        blocks = min(stop - block, ADDED_BLOCKS)
        n = min(task.keys.size - block * 64, blocks * 64)
        memset(is_new + n, 0, ADDED - n)
        add_batch(task, part, k % task.shares, block * 64, n, is_new)
        level.pack[0](<const char *>is_new, 0xff, part.bits + block, blocks)
        block += blocks


cdef inline void add_batch(const words_task *task, share_t *part, uint64_t share, Py_ssize_t start,
                           Py_ssize_t n, uint8_t *is_new) noexcept nogil:
    cdef uint64_t[ADDED] words, shares, own
    cdef intptr_t[ADDED] places
    cdef uint64_t[ADDED_BLOCKS] bits
    cdef uint8_t[ADDED] is_new_own
    cdef Py_ssize_t j, k, owned
    load_words(&task.keys, start, n, words)
    if task.share_bits == 0:
        part.status = add_words(&part.words, &task.keys, level, words, n, is_new)
        mark_loners(&task.keys, words, n, is_new)
        return
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


cdef inline void mark_loners(const keys_t *keys, const uint64_t *words, Py_ssize_t n,
                             uint8_t *is_new) noexcept nogil:
    """Words that equal no other, not even themselves, are all new."""
    cdef Py_ssize_t j
    if keys.rule.lonely:
        for j in range(n):
            is_new[j] |= words[j] == keys.rule.nan


cdef void join_bits(const words_task *task) noexcept nogil:
    """All shares' bits into those of the first. The first key is the first of its kind, even if
    none of the shares took it for its own because another thread writes to the keys."""
    cdef Py_ssize_t k, block
    task.parts[0].bits[0] |= 1
    for k in range(1, task.shares):
        for block in range(task.blocks):
            task.parts[0].bits[block] |= task.parts[k].bits[block]


cdef tuple few_words(const keys_t *keys, cnp.ndarray a, bint index, Py_ssize_t most_distinct,
                     uint64_t *bits):
    """(values, index, None, None) of the small array that the keys are, the index if it is wanted;
    None if more than most_distinct of each 256 of the first few are distinct, or the set takes too
    many probes. bits has room for the bitmask."""
    cdef set_t set
    cdef cnp.npy_intp count
    cdef Py_ssize_t blocks = blocks_of(keys.size)
    cdef Py_ssize_t status = set_start(&set, keys.width, 0, 0, MOST_GROWN)
    if status == 0:
        status = find_few(keys, &set, most_distinct, bits)
    set_free(&set)
    if status == NO_MEMORY:
        raise MemoryError()
    if status:
        return None
    count = level.count(bits, blocks)
    values = numpy_array(1, &count, <cnp.dtype>cnp.PyArray_DESCR(a))
    level.keep[log2_width(keys.width)](
        bits, blocks, keys.data, <char *>cnp.PyArray_DATA(values), count)
    if not index:
        return values, None, None, None
    places = cnp.PyArray_EMPTY(1, &count, cnp.NPY_INTP, 0)
    level.write(bits, blocks, 0, False, <intptr_t *>cnp.PyArray_DATA(places), count)
    return values, places, None, None


cdef Py_ssize_t find_few(const keys_t *keys, set_t *set, Py_ssize_t most_distinct,
                         uint64_t *bits) noexcept:
    """The bits of all keys on one thread; 0 or a status. As long as no more than FEW_WORDS were
    met, whole blocks are compared with these."""
    cdef uint64_t[ADDED] words
    cdef uint8_t[ADDED] is_new
    cdef Py_ssize_t start = 0, n, skipped, status
    while start < keys.size:
        n = ADDED
        if set.length <= FEW_WORDS and not keys.rule.lonely:
            n = 64
            if set.length:
                skipped = level.known[log2_width(keys.width)](
                    keys.data + start * keys.width, (keys.size - start) >> 6, set.few)
                memset(bits + (start >> 6), 0, skipped * sizeof(uint64_t))
                start += skipped * 64
        n = min(n, keys.size - start)
        load_words(keys, start, n, words)
        status = add_words(set, keys, level, words, n, is_new)
        if status:
            return status
        mark_loners(keys, words, n, is_new)
        memset(is_new + n, 0, -n & 63)
        level.pack[0](<const char *>is_new, 0xff, bits + (start >> 6), blocks_of(n))
        if start < LOOKED_AT <= start + n and LOOKED_AT * set.length > most_distinct * (start + n):
            return TOO_MANY
        start += n
    return 0
