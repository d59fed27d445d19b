"""unique of small arrays: all outputs from one call on one thread, with the GIL.

A sample finds numbers that are presorted or of a narrow range; they have kernels (presorted.pyx,
presence.pyx, dense.pyx). For ascending values, other numbers are sorted if they are few or if many
of them are distinct, by the sort of one part (pieces.pyx), with their positions if needed. All
remaining keys are added to a hash table; for ascending values, the groups are then sorted: here if
the keys are numbers, otherwise by the caller.
"""
cimport numpy as cnp
from libc.stdint cimport intptr_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastsel._core.results cimport new_array
from fastsel._core.scratch cimport Scratch
from fastsel._simd.blocks cimport blocks_of, is_sparse, log2_width
from fastsel._simd.levels cimport level
from fastsel._unique.dense cimport dense
from fastsel._unique.tables cimport chunk_table_t, fill, free_chunk_table
from fastsel._unique.keys cimport (
    BATCH, as_words, canonical, describe_keys, fs_load, is_identity, key_at, keys_t, wide_t)
from fastsel._unique.ordered_keys cimport ordered_key_of, to_ordered_keys, to_words
from fastsel._unique.pieces cimport mark_runs, sort_keys, sorter_free, sorter_start, sorter_t
from fastsel._unique.presence cimport ascending_values
from fastsel._unique.presorted cimport presorted
from fastsel._unique.sample cimport sampled_range_of, sampled_range_t
from fastsel._unique.hash_table cimport NO_MEMORY, table_resize, table_start

cnp.import_array()

ctypedef struct small_t:
    keys_t keys
    uint64_t[3] order_map
    bint index              # which outputs are wanted
    bint inverse
    bint counts
    bint ascending


def unique_small(cnp.ndarray a not None, tuple rule not None, tuple order_map, tuple seeds not None,
                 bint index, bint inverse, bint counts, bint ascending, Py_ssize_t max_entries,
                 Py_ssize_t sorted_share):
    """(values, index, inverse, counts) of a small array, with None for an output that is not
    wanted; None if `a` is empty or the hash table needs too many probes. With `ascending` and an
    order_map, values ascend; otherwise they are in order of first occurrence.

    rule is the rule of the items of a, which are words or longer than 8 bytes; order_map is their
    order_map if they are numbers, otherwise None. max_entries is the maximum number of entries of a
    direct-address table; 0 for arrays that are too small for a sample. For ascending values, all
    numbers of these arrays are sorted; in larger arrays, numbers that are neither presorted nor of
    a narrow range are sorted if more than 1 in sorted_share is distinct.
    """
    cdef small_t task
    cdef Scratch scratch = Scratch()
    if cnp.PyArray_NBYTES(a) == 0:
        return None
    a = as_words(a)
    describe_keys(&task.keys, a, cnp.PyArray_SIZE(a), rule, None, seeds)
    task.index, task.inverse, task.counts = index, inverse, counts
    task.ascending = ascending and order_map is not None
    if order_map is not None:
        task.order_map = order_map
        if max_entries:
            outputs = by_sample(&task, a, rule, order_map, max_entries)
            if outputs is not None:
                return outputs
        elif ascending:
            return by_sorting(&task, a, scratch)
    return by_table(&task, a, scratch, sorted_share if max_entries else 0)


cdef tuple by_sample(const small_t *task, cnp.ndarray a, tuple rule, tuple order_map,
                     Py_ssize_t max_entries):
    """The outputs of keys of 4 or 8 bytes that ascend, or descend if values need not ascend; and of
    keys in a narrow range about a sample, if a direct-address table serves them. None for other
    keys."""
    cdef sampled_range_t sampled = sampled_range_of(&task.keys, task.order_map)
    cdef cnp.ndarray first_positions
    cdef Py_ssize_t groups
    cdef tuple keys = (a, task.keys.size, task.keys.width, rule, None, order_map, 0)
    if sampled.is_presorted and task.keys.width >= 4:
        runs = presorted(keys, 1)
        if runs is not None and (runs[1] > 0 or not task.ascending):
            return by_runs(task, a, runs[0])
    if not sampled.is_addressable or <Py_ssize_t>1 << min(sampled.bits, 62) > max_entries:
        return None
    value_range = sampled.base, sampled.bits
    if (task.ascending and not (task.index or task.inverse or task.counts)
            and is_identity(&task.keys.rule)):
        values = ascending_values(keys, value_range, 1)
        return None if values is None else (values.view(a.dtype), None, None, None)
    outputs = dense(keys, value_range, task.ascending, task.inverse, task.counts, 1)
    if outputs is None:
        return None
    first_positions, inverse_out, counts_out = outputs
    if not task.ascending:
        index_out = bit_positions(task, first_positions) if task.index else None
        return compress_items(task, a, first_positions), index_out, inverse_out, counts_out
    groups = cnp.PyArray_SIZE(first_positions)
    values = values_at(task, a, <Py_ssize_t *>cnp.PyArray_DATA(first_positions), groups)
    return values, first_positions if task.index else None, inverse_out, counts_out


cdef cnp.ndarray compress_items(const small_t *task, cnp.ndarray a, cnp.ndarray bitmask):
    """The items of `a` whose bits are set in a bitmask."""
    cdef const uint64_t *bits = <const uint64_t *>cnp.PyArray_DATA(bitmask)
    cdef Py_ssize_t blocks = blocks_of(task.keys.size)
    cdef cnp.npy_intp groups = level.count(bits, blocks)
    values = new_array(1, &groups, <cnp.dtype>cnp.PyArray_DESCR(a))
    level.compress[log2_width(task.keys.width)](
        bits, blocks, task.keys.data, <char *>cnp.PyArray_DATA(values), groups)
    return values


cdef cnp.ndarray bit_positions(const small_t *task, cnp.ndarray bitmask):
    """The positions of the set bits."""
    cdef const uint64_t *bits = <const uint64_t *>cnp.PyArray_DATA(bitmask)
    cdef Py_ssize_t blocks = blocks_of(task.keys.size)
    cdef cnp.npy_intp groups = level.count(bits, blocks)
    out = cnp.PyArray_EMPTY(1, &groups, cnp.NPY_INTP, 0)
    level.write(bits, blocks, 0, is_sparse(groups, blocks), <intptr_t *>cnp.PyArray_DATA(out),
                groups)
    return out


cdef cnp.ndarray values_at(const small_t *task, cnp.ndarray a, const Py_ssize_t *positions,
                           cnp.npy_intp groups):
    """The items at the given positions, with the bits that they have in a."""
    cdef Py_ssize_t width = task.keys.width, j
    cdef const char *items = <const char *>cnp.PyArray_DATA(a)
    values = new_array(1, &groups, <cnp.dtype>cnp.PyArray_DESCR(a))
    cdef char *out = <char *>cnp.PyArray_DATA(values)
    if width == 8:
        for j in range(groups):
            memcpy(out + j * 8, items + positions[j] * 8, 8)
    elif width == 4:
        for j in range(groups):
            memcpy(out + j * 4, items + positions[j] * 4, 4)
    else:
        for j in range(groups):
            memcpy(out + j * width, items + positions[j] * width, width)
    return values


cdef tuple by_runs(const small_t *task, cnp.ndarray a, cnp.ndarray run_starts):
    """The outputs of presorted keys, in the order of the keys; run_starts is the bitmask of the
    first keys of runs."""
    cdef cnp.npy_intp size = task.keys.size, groups
    cdef cnp.ndarray first_positions, inverse_out = None, counts_out = None
    cdef const Py_ssize_t *starts
    cdef Py_ssize_t g, j, stop
    values = compress_items(task, a, run_starts)
    if not (task.index or task.inverse or task.counts):
        return values, None, None, None
    first_positions = bit_positions(task, run_starts)
    starts = <const Py_ssize_t *>cnp.PyArray_DATA(first_positions)
    groups = cnp.PyArray_SIZE(first_positions)
    if task.inverse:
        inverse_out = cnp.PyArray_EMPTY(1, &size, cnp.NPY_INTP, 0)
    if task.counts:
        counts_out = cnp.PyArray_EMPTY(1, &groups, cnp.NPY_INTP, 0)
    for g in range(groups):
        stop = starts[g + 1] if g + 1 < groups else size
        if task.counts:
            (<Py_ssize_t *>cnp.PyArray_DATA(counts_out))[g] = stop - starts[g]
        if task.inverse:
            for j in range(starts[g], stop):
                (<Py_ssize_t *>cnp.PyArray_DATA(inverse_out))[j] = g
    return values, first_positions if task.index else None, inverse_out, counts_out


# ---- sorting ----------------------------------------------------------------------------


cdef tuple by_sorting(const small_t *task, cnp.ndarray a, Scratch scratch):
    """The outputs in ascending order, by a sort of all keys."""
    cdef Py_ssize_t size = task.keys.size
    cdef uint64_t *keys = <uint64_t *>scratch.alloc(size * sizeof(uint64_t))
    # ordered_keys reads significant, limit and nan, which lie side by side in a rule_t.
    level.ordered_keys[log2_width(task.keys.width)](
        task.keys.data, size, &task.keys.rule.significant, task.order_map, keys)
    if task.keys.width == 8:
        return sorted_outputs(task, a, scratch, keys)
    return sorted_outputs(task, a, scratch, narrowed(keys, size))


cdef uint32_t *narrowed(uint64_t *keys, Py_ssize_t n) noexcept:
    """Narrow keys of at most 4 bytes to 4 bytes, in the same memory."""
    cdef uint32_t *out = <uint32_t *>keys
    cdef Py_ssize_t j
    for j in range(n):
        out[j] = <uint32_t>keys[j]
    return out


cdef int sort_with_positions(sorter_t *sorter, wide_t *keys, Py_ssize_t n,
                             uint32_t *positions) except -1:
    """Sort n keys into sorter.keys. `positions`, if not NULL, become the positions that the sorted
    keys had before. The caller frees the sorter."""
    cdef Py_ssize_t j
    if sorter_start(sorter, sizeof(wide_t), n, positions != NULL) != 0:
        raise MemoryError()
    for j in range(n if positions != NULL else 0):
        positions[j] = <uint32_t>j
    sort_keys(sorter, keys, n, positions)
    return 0


cdef tuple sorted_outputs(const small_t *task, cnp.ndarray a, Scratch scratch, wide_t *keys):
    cdef cnp.npy_intp size = task.keys.size, groups
    cdef Py_ssize_t blocks = blocks_of(size), j, group = -1
    cdef bint with_positions = task.index or task.inverse or task.keys.width < 4
    cdef uint64_t *bits = <uint64_t *>scratch.alloc(blocks * sizeof(uint64_t))
    cdef uint64_t nan = ordered_key_of(task.order_map, task.keys.rule.nan)
    cdef uint32_t *positions = NULL
    cdef Py_ssize_t *out
    cdef cnp.ndarray first_positions = None, inverse_out = None, counts_out = None
    cdef sorter_t sorter
    if with_positions:
        positions = <uint32_t *>scratch.alloc(size * sizeof(uint32_t))
    try:
        sort_with_positions(&sorter, keys, size, positions)
        groups = mark_runs(<wide_t *>sorter.keys, size, nan, task.keys.rule.nan_unequal, bits)
        if not with_positions:
            values = values_of(task, a, <wide_t *>sorter.keys, bits, groups)
    finally:
        sorter_free(&sorter)
    if with_positions:
        first_positions = cnp.PyArray_EMPTY(1, &groups, cnp.NPY_INTP, 0)
        out = <Py_ssize_t *>cnp.PyArray_DATA(first_positions)
        for j in range(size):
            if (bits[j >> 6] >> (j & 63)) & 1:
                group += 1
                out[group] = positions[j]
        values = values_at(task, a, out, groups)
    if task.inverse:
        inverse_out = cnp.PyArray_EMPTY(1, &size, cnp.NPY_INTP, 0)
        out = <Py_ssize_t *>cnp.PyArray_DATA(inverse_out)
        group = -1
        for j in range(size):
            group += (bits[j >> 6] >> (j & 63)) & 1
            out[positions[j]] = group
    if task.counts:
        counts_out = cnp.PyArray_EMPTY(1, &groups, cnp.NPY_INTP, 0)
        out = <Py_ssize_t *>cnp.PyArray_DATA(counts_out)
        level.write(bits, blocks, 0, is_sparse(groups, blocks), <intptr_t *>out, groups)
        for group in range(groups - 1):
            out[group] = out[group + 1] - out[group]
        out[groups - 1] = size - out[groups - 1]
    return values, first_positions if task.index else None, inverse_out, counts_out


cdef cnp.ndarray values_of(const small_t *task, cnp.ndarray a, const wide_t *keys,
                           const uint64_t *bits, cnp.npy_intp groups):
    """The items, of 4 or 8 bytes, of the sorted keys whose bits are set."""
    values = new_array(1, &groups, <cnp.dtype>cnp.PyArray_DESCR(a))
    cdef wide_t *out = <wide_t *>cnp.PyArray_DATA(values)
    level.compress[2 + (sizeof(wide_t) == 8)](
        bits, blocks_of(task.keys.size), <const char *>keys, <char *>out, groups)
    to_words(task.order_map, out, groups)
    if cnp.PyArray_ISFLOAT(a):
        restore_bits(task, <const wide_t *>cnp.PyArray_DATA(a), groups, out)
    return values


cdef void restore_bits(const small_t *task, const wide_t *items, Py_ssize_t groups,
                       wide_t *values) noexcept:
    """Give zero and NaN among the ascending values the bits of their first occurrences in items.
    Several NaN keep their order."""
    cdef Py_ssize_t i = 0, zero = 0, nans = 0, stop = groups, middle
    cdef wide_t nan = <wide_t>task.keys.rule.nan, item
    while zero < stop:
        middle = (zero + stop) >> 1
        if ordered_key_of(task.order_map, values[middle]) < ordered_key_of(task.order_map, 0):
            zero = middle + 1
        else:
            stop = middle
    if zero < groups and values[zero] != 0:
        zero = groups
    while zero < groups and i < task.keys.size:
        fs_load(&item, items + i, sizeof(item))
        if canonical(&task.keys.rule, item) == 0:
            values[zero] = item
            break
        i += 1
    while nans < groups and values[groups - 1 - nans] == nan:
        nans += 1
    i = 0
    while nans and i < task.keys.size:
        fs_load(&item, items + i, sizeof(item))
        if canonical(&task.keys.rule, item) == nan:
            values[groups - nans] = item
            nans -= 1
        i += 1


# ---- table ------------------------------------------------------------------------------


cdef tuple by_table(const small_t *task, cnp.ndarray a, Scratch scratch, Py_ssize_t sorted_share):
    """The outputs by a hash table; None if the table needs too many probes. The repeated keys among
    the first BATCH keys give an estimate of the number of groups (the birthday problem). For
    ascending values, all keys are sorted instead if the estimate is more than 1 group in
    sorted_share keys; with sorted_share 0, keys are never sorted."""
    cdef chunk_table_t chunk_table
    cdef cnp.npy_intp size = task.keys.size, groups
    cdef Py_ssize_t sampled
    cdef bint with_ids = task.inverse or task.counts or not task.keys.is_word
    cdef Py_ssize_t *inverse_data = NULL
    memset(&chunk_table, 0, sizeof(chunk_table))
    inverse_out = None
    if task.inverse:
        inverse_out = cnp.PyArray_EMPTY(1, &size, cnp.NPY_INTP, 0)
        inverse_data = <Py_ssize_t *>cnp.PyArray_DATA(inverse_out)
    try:
        sampled = BATCH if sorted_share and size > BATCH else size
        chunk_table.status = table_start(&chunk_table.table, &task.keys, with_ids, size, 0, sampled)
        if chunk_table.status == 0:
            fill(&chunk_table, &task.keys, 0, sampled, task.counts, inverse_data)
        groups = chunk_table.table.length
        if chunk_table.status == 0 and sampled < size:
            groups = min(size, BATCH * BATCH // (2 * (BATCH - chunk_table.table.length) + 1))
            if task.ascending and groups * sorted_share > size:
                return by_sorting(task, a, scratch)
            if groups * 2 > size:
                chunk_table.status = table_resize(&chunk_table.table, &task.keys, size)
        if chunk_table.status == 0 and sampled < size:
            fill(&chunk_table, &task.keys, sampled, size, task.counts, inverse_data)
        if chunk_table.status == NO_MEMORY:
            raise MemoryError()
        if chunk_table.status:
            return None
        return table_outputs(task, a, scratch, &chunk_table, inverse_out)
    finally:
        free_chunk_table(&chunk_table)


cdef tuple table_outputs(const small_t *task, cnp.ndarray a, Scratch scratch,
                         const chunk_table_t *chunk_table, cnp.ndarray inverse_out):
    """The outputs of the groups of a table. inverse_out has group ids of the table, or is None."""
    cdef cnp.npy_intp groups = chunk_table.table.length
    cdef uint32_t *order = <uint32_t *>scratch.alloc(groups * sizeof(uint32_t))
    cdef cnp.ndarray first_positions = cnp.PyArray_EMPTY(1, &groups, cnp.NPY_INTP, 0)
    cdef Py_ssize_t *out = <Py_ssize_t *>cnp.PyArray_DATA(first_positions)
    cdef Py_ssize_t *ranks
    cdef Py_ssize_t g, j
    cdef cnp.ndarray counts_out = None
    if task.ascending:
        sort_groups(task, chunk_table, scratch, order)
    else:
        for g in range(groups):
            order[g] = <uint32_t>g
    for g in range(groups):
        out[g] = chunk_table.table.first_positions[order[g]]
    values = values_at(task, a, out, groups)
    if task.counts:
        counts_out = cnp.PyArray_EMPTY(1, &groups, cnp.NPY_INTP, 0)
        for g in range(groups):
            (<Py_ssize_t *>cnp.PyArray_DATA(counts_out))[g] = chunk_table.table.counts[order[g]]
    if task.ascending and inverse_out is not None:
        ranks = <Py_ssize_t *>scratch.alloc(groups * sizeof(Py_ssize_t))
        for g in range(groups):
            ranks[order[g]] = g
        out = <Py_ssize_t *>cnp.PyArray_DATA(inverse_out)
        for j in range(task.keys.size):
            out[j] = ranks[out[j]]
    return values, first_positions if task.index else None, inverse_out, counts_out


cdef int sort_groups(const small_t *task, const chunk_table_t *chunk_table, Scratch scratch,
                     uint32_t *order) except -1:
    """Write the permutation that sorts the groups of a table by their values."""
    cdef Py_ssize_t groups = chunk_table.table.length, g
    cdef uint64_t *words = <uint64_t *>scratch.alloc(groups * sizeof(uint64_t))
    cdef sorter_t sorter
    for g in range(groups):
        words[g] = key_at(&task.keys, chunk_table.table.first_positions[g])
    to_ordered_keys(&task.keys.rule, task.order_map, 8 * task.keys.width, words, groups)
    try:
        if task.keys.width == 8:
            return sort_with_positions(&sorter, words, groups, order)
        return sort_with_positions(&sorter, narrowed(words, groups), groups, order)
    finally:
        sorter_free(&sorter)
