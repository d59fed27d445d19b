"""unique of small arrays of words, sorted, with index, inverse or counts, in one call under the
GIL.

NumPy sorts each item as a number that has its position in its lowest bits. Items of 8 bytes may
lose bits of their own for that; what is alike then is looked at again.
"""
cimport numpy as cnp
from libc.stdint cimport intptr_t, uint16_t, uint32_t, uint64_t

from fastsel._kernels.blocks cimport blocks_of, fs_ctz, fs_level_t
from fastsel._kernels.changes cimport note_changes, write_lengths
from fastsel._kernels.keys cimport describe_keys, key_at, keys_t, load_words, wide_t
from fastsel._kernels.levels cimport fs_level
from fastsel._kernels.numbers cimport bit_length, number_of
from fastsel._kernels.results cimport numpy_array
from fastsel._kernels.scratch cimport give, take

cnp.import_array()

cdef const fs_level_t *level = fs_level()

cdef enum:
    MOST_MOVES = 8              # for each item, to put right what is alike

ctypedef struct pairs_t:
    keys_t keys
    uint64_t[3] order
    int index_bits              # of a position
    int lost_bits               # of a number
    Py_ssize_t width            # of a pair
    char *pairs
    uint64_t *bits              # which of the sorted pairs are the first of their kind


def unique(a, tuple rule not None, tuple order, bint index, bint inverse, bint counts):
    """(values, index, inverse, counts) in ascending order, None for what is not wanted.

    rule and order are those of the words that a's items are; order may be None. None for what this
    does not serve: other classes than ndarray, layouts that are not contiguous, no items, items
    without an order, items of 1 byte, and of 8 of which many differ in lost bits alone.
    """
    cdef pairs_t task
    cdef cnp.npy_intp size
    cdef cnp.ndarray array
    if order is None or not cnp.PyArray_CheckExact(a) or not cnp.PyArray_ISCARRAY_RO(a) or (
            cnp.PyArray_SIZE(a) == 0 or cnp.PyArray_ITEMSIZE(a) == 1):
        return None
    array, size = a, cnp.PyArray_SIZE(a)
    describe_keys(&task.keys, array, size, rule, None, (0, 1))
    task.order = order
    task.index_bits = bit_length(size - 1)
    task.width = 4 if task.keys.width == 2 and task.index_bits <= 16 else 8
    if task.keys.rule.lonely and has_nan(&task.keys):
        return None
    task.pairs = <char *>take(blocks_of(size) * (64 * task.width + sizeof(uint64_t)))
    if task.pairs == NULL:
        raise MemoryError()
    task.bits = <uint64_t *>(task.pairs + blocks_of(size) * 64 * task.width)
    try:
        fill(&task)
        pairs = cnp.PyArray_SimpleNewFromData(
            1, &size, cnp.NPY_UINT32 if task.width == 4 else cnp.NPY_UINT64, task.pairs)
        cnp.PyArray_Sort(pairs, 0, cnp.NPY_QUICKSORT)
        if task.width == 4:
            return outputs(&task, <uint32_t *>task.pairs, array, index, inverse, counts)
        if task.lost_bits and not tell_apart(&task):
            return None
        return outputs(&task, <uint64_t *>task.pairs, array, index, inverse, counts)
    finally:
        give(task.pairs)


cdef bint has_nan(const keys_t *keys) noexcept:
    cdef Py_ssize_t j
    for j in range(keys.size):
        if key_at(keys, j) == keys.rule.nan:
            return True
    return False


cdef void fill(pairs_t *task) noexcept:
    cdef Py_ssize_t j, size = task.keys.size
    cdef uint64_t low = <uint64_t>-1, high = 0
    cdef uint64_t *pairs = <uint64_t *>task.pairs
    task.lost_bits = 0
    if task.width == 4:
        fill_short(task)
        return
    load_words(&task.keys, 0, size, pairs)
    for j in range(size):
        pairs[j] = number_of(task.order, pairs[j])
        low = min(low, pairs[j])
        high = max(high, pairs[j])
    task.lost_bits = max(0, bit_length(high - low) + task.index_bits - 64)
    for j in range(size):
        pairs[j] = (pairs[j] - low) >> task.lost_bits << task.index_bits | <uint64_t>j


cdef void fill_short(pairs_t *task) noexcept:
    """The same of words of 2 bytes: of integers only the sign changes."""
    cdef const uint16_t *items = <const uint16_t *>task.keys.data
    cdef uint32_t *pairs = <uint32_t *>task.pairs
    cdef uint32_t flip = <uint32_t>task.order[0]
    cdef Py_ssize_t j
    cdef int shift = task.index_bits
    if task.order[1] == 0:
        for j in range(task.keys.size):
            pairs[j] = (items[j] ^ flip) << shift | <uint32_t>j
    else:
        for j in range(task.keys.size):
            pairs[j] = <uint32_t>number_of(task.order, key_at(&task.keys, j)) << shift | <uint32_t>j


cdef bint tell_apart(pairs_t *task) noexcept:
    """Put into order what only lost bits tell apart, and note where it starts; False if that is
    much."""
    cdef uint64_t *pairs = <uint64_t *>task.pairs
    cdef uint64_t pair, top, number, last = number_at(task, pairs[0])
    cdef Py_ssize_t j, at, moves = MOST_MOVES * task.keys.size
    for j in range(1, task.keys.size):
        pair, top, at = pairs[j], pairs[j] >> task.index_bits, j
        number = number_at(task, pair)
        if pairs[j - 1] >> task.index_bits != top or number >= last:
            last = number
            continue
        while at and pairs[at - 1] >> task.index_bits == top and (
                number_at(task, pairs[at - 1]) > number):
            pairs[at] = pairs[at - 1]
            at -= 1
        pairs[at] = pair
        moves -= j - at
        if moves < 0:
            return False
    return True


cdef inline uint64_t number_at(const pairs_t *task, uint64_t pair) noexcept:
    """With all its bits."""
    cdef Py_ssize_t at = <Py_ssize_t>(pair & ((<uint64_t>1 << task.index_bits) - 1))
    return number_of(task.order, key_at(&task.keys, at))


cdef void note_told(const pairs_t *task) noexcept:
    """The bits of pairs that only lost bits tell from the one before."""
    cdef const uint64_t *pairs = <const uint64_t *>task.pairs
    cdef Py_ssize_t block, j
    cdef uint64_t alike
    for block in range(blocks_of(task.keys.size)):
        alike = ~task.bits[block]
        while alike:
            j = block * 64 + fs_ctz(alike)
            if j < task.keys.size and (
                    number_at(task, pairs[j]) != number_at(task, pairs[j - 1])):
                task.bits[block] |= alike & -alike
            alike &= alike - 1


cdef tuple outputs(const pairs_t *task, wide_t *pairs, cnp.ndarray a, bint index, bint inverse,
                   bint counts):
    cdef wide_t mask = (<wide_t>1 << task.index_bits) - 1
    cdef cnp.npy_intp size = task.keys.size, groups
    cdef Py_ssize_t group, stop, j
    cdef Py_ssize_t *starts
    cdef Py_ssize_t *out
    note_changes(level, pairs, size, <uint64_t>~mask, task.bits)
    if task.lost_bits:
        note_told(task)
    groups = level.count(task.bits, blocks_of(size))
    cdef cnp.ndarray values = numpy_array(1, &groups, <cnp.dtype>cnp.PyArray_DESCR(a))
    cdef cnp.ndarray places = cnp.PyArray_EMPTY(1, &groups, cnp.NPY_INTP, 0)
    cdef cnp.ndarray numbers = None, lengths = None
    starts = <Py_ssize_t *>cnp.PyArray_DATA(places)
    level.write(task.bits, blocks_of(size), 0, False, <intptr_t *>starts, groups)
    if inverse:
        numbers = cnp.PyArray_EMPTY(1, &size, cnp.NPY_INTP, 0)
        out = <Py_ssize_t *>cnp.PyArray_DATA(numbers)
        for group in range(groups):
            stop = starts[group + 1] if group + 1 < groups else size
            for j in range(starts[group], stop):
                out[pairs[j] & mask] = group
    if counts:
        lengths = cnp.PyArray_EMPTY(1, &groups, cnp.NPY_INTP, 0)
        write_lengths(starts, groups, size, <Py_ssize_t *>cnp.PyArray_DATA(lengths))
    for group in range(groups):
        starts[group] = <Py_ssize_t>(pairs[starts[group]] & mask)
    copy_items(a, starts, groups, values)
    return values, places if index else None, numbers, lengths


cdef void copy_items(cnp.ndarray a, const Py_ssize_t *places, Py_ssize_t groups,
                     cnp.ndarray values) noexcept:
    """The first item of each group, its bits as they are."""
    cdef Py_ssize_t group
    if cnp.PyArray_ITEMSIZE(a) == 8:
        for group in range(groups):
            (<uint64_t *>cnp.PyArray_DATA(values))[group] = (
                (<const uint64_t *>cnp.PyArray_DATA(a))[places[group]])
    elif cnp.PyArray_ITEMSIZE(a) == 4:
        for group in range(groups):
            (<uint32_t *>cnp.PyArray_DATA(values))[group] = (
                (<const uint32_t *>cnp.PyArray_DATA(a))[places[group]])
    else:
        for group in range(groups):
            (<uint16_t *>cnp.PyArray_DATA(values))[group] = (
                (<const uint16_t *>cnp.PyArray_DATA(a))[places[group]])
