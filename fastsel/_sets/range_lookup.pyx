"""Which items are words of a narrow range that occur among the tests: bits, as in presence.pyx.

An item that another thread changes meanwhile is found or not; nothing else depends on it.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from fastsel._core.parallel cimport chunk_count, chunk_start, for_chunks
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport Scratch
from fastsel._simd.blocks cimport blocks_of
from fastsel._unique.keys cimport any_t, canonical, describe_keys, fs_load, keys_t
from fastsel._unique.ordered_numbers cimport number_of
from fastsel._unique.presence cimport find_presence, presence_t

cnp.import_array()

ctypedef struct range_task:
    keys_t items
    presence_t tests
    bint invert
    Py_ssize_t chunks
    Py_ssize_t blocks
    uint8_t *out


def in_range(items not None, tests not None, tuple order not None,
             tuple span not None, bint has_nan, bint invert, int threads):
    """Which items are among the tests, as bool; None if a test has no entry.

    Items and tests are Keys, words of one rule, and at least one each. span and order are as for
    `ascending_values`. has_nan: the word nan, which the rule has as one value, is among nothing.
    """
    cdef range_task task
    cdef Scratch scratch = Scratch()
    cdef cnp.npy_intp size
    cdef uint64_t entry
    data, size, _, rule, unequal = items[:5]
    describe_keys(&task.items, data, size, rule, unequal, (0, 1))
    if not find_presence(&task.tests, scratch, tests[0], tests[1], rule, order, span, threads):
        return None
    task.invert = invert
    task.blocks = blocks_of(size)
    task.chunks = chunk_count(task.blocks, threads, 64 * (task.items.width + 1))
    out = new_result(1, &size, cnp.NPY_BOOL)
    task.out = <uint8_t *>cnp.PyArray_DATA(out)
    entry = number_of(task.tests.narrow.order, task.items.rule.nan) - task.tests.narrow.base
    if has_nan and entry <= task.tests.narrow.mask:
        task.tests.bits[entry >> 6] &= ~(<uint64_t>1 << (entry & 63))
    with nogil:
        for_chunks(range_chunk, &task, task.chunks, threads)
    return out


cdef void range_chunk(void *context, Py_ssize_t k) noexcept nogil:
    cdef const range_task *task = <const range_task *>context
    cdef Py_ssize_t start = chunk_start(task.blocks, task.chunks, k) * 64
    cdef Py_ssize_t stop = min(chunk_start(task.blocks, task.chunks, k + 1) * 64, task.items.size)
    if task.items.width == 1:
        look_up_bits(task, <const uint8_t *>task.items.data, start, stop)
    elif task.items.width == 2:
        look_up_bits(task, <const uint16_t *>task.items.data, start, stop)
    elif task.items.width == 4:
        look_up_bits(task, <const uint32_t *>task.items.data, start, stop)
    else:
        look_up_bits(task, <const uint64_t *>task.items.data, start, stop)


cdef inline void look_up_bits(const range_task *task, const any_t *items, Py_ssize_t start,
                              Py_ssize_t stop) noexcept nogil:
    """The bit of each item's entry; items beyond the range have none."""
    cdef any_t[64] words
    cdef const uint64_t *bits = task.tests.bits
    cdef uint64_t mask = task.tests.narrow.mask
    cdef any_t base = <any_t>task.tests.narrow.base_word, entry
    cdef uint8_t invert = task.invert
    cdef Py_ssize_t j, n
    while start < stop:
        n = min(stop - start, 64)
        fs_load(words, items + start, n * sizeof(any_t))
        if not task.tests.narrow.plain:    # of 1 or 2 bytes: each number has an entry
            for j in range(n):
                words[j] = <any_t>number_of(task.tests.narrow.order,
                                            canonical(&task.items.rule, words[j]))
        for j in range(n):
            entry = words[j] - base if task.tests.narrow.plain else words[j]
            task.out[start + j] = <uint8_t>(
                (bits[(entry & mask) >> 6] >> (entry & 63)) & (entry <= mask)) ^ invert
        start += n
