"""unique of small arrays: all outputs from one call on one thread, with the GIL.

Keys that are in order, and keys of a narrow range, go to their kernels (presorted, dense). For
ascending values, other keys are sorted beside their positions if they are few or nearly all
distinct. All remaining keys go to a hash table, and for ascending values its groups are sorted.
"""
cimport numpy as cnp
from libc.stdint cimport intptr_t, uint64_t
from libc.string cimport memset

from fastsel._core.results cimport numpy_array
from fastsel._core.scratch cimport Scratch
from fastsel._simd.blocks cimport blocks_of, fs_level_t, is_sparse, log2_width
from fastsel._simd.levels cimport fs_level
from fastsel._unique.dense cimport dense
from fastsel._unique.tables cimport chunk_table_t, fill, free_chunk_table
from fastsel._unique.keys cimport BATCH, describe_keys, is_identity, key_at
from fastsel._unique.presence cimport ascending_values
from fastsel._unique.presorted cimport presorted
from fastsel._unique.sample cimport sampled_range_of, sampled_range_t
from fastsel._unique.small_sorting cimport (
    array_of, by_sorting, small_t, sort_positions, values_at)
from fastsel._unique.hash_table cimport NO_MEMORY, table_resize, table_start

cnp.import_array()

cdef const fs_level_t *level = fs_level()


def unique_small(cnp.ndarray a not None, tuple rule not None, tuple order_map, tuple seeds not None,
                 bint index, bint inverse, bint counts, bint ascending, Py_ssize_t entries,
                 Py_ssize_t share):
    """(values, index, inverse, counts) of a small array, None for an output that is not wanted.
    With `ascending` and an order_map, values ascend; otherwise they are in order of first
    occurrence. None instead of all if the hash table gives up.

    rule belongs to the items of a, which are words or longer than 8 bytes; order_map to their
    words, if they are numbers. `entries` is the limit for a direct-address table; 0 for arrays that
    are too small for a sample. For ascending values, all keys are sorted if more than 1 in `share`
    is distinct.
    """
    cdef small_t task
    cdef Scratch scratch = Scratch()
    if cnp.PyArray_NBYTES(a) == 0:
        return None
    if not cnp.PyArray_ISCARRAY_RO(a):
        a = cnp.PyArray_NewCopy(a, cnp.NPY_CORDER)
    task.size = cnp.PyArray_SIZE(a)
    describe_keys(&task.keys, a, task.size, rule, None, seeds)
    if order_map is not None:
        task.order_map = order_map
        if entries:
            found = by_sample(&task, a, rule, order_map, index, inverse, counts, ascending,
                              entries)
            if found is not None:
                return found
        elif ascending:
            return by_sorting(&task, a, scratch, index, inverse, counts)
    return by_table(&task, a, scratch, index, inverse, counts, ascending and order_map is not None,
                    share if entries else 0)


cdef tuple by_sample(small_t *task, cnp.ndarray a, tuple rule, tuple order_map,
                     bint index, bint inverse, bint counts, bint ascending, Py_ssize_t entries):
    """The outputs for keys that are in order or of a narrow range, according to a sample; otherwise
    None."""
    cdef sampled_range_t sampled = sampled_range_of(&task.keys, task.order_map)
    cdef cnp.ndarray first_positions
    cdef Py_ssize_t groups
    if sampled.in_order and task.keys.width >= 4:
        found = presorted(a, task.size, rule, order_map, 0, 1)
        if found is not None and (found[1] > 0 or not ascending):
            return by_runs(task, a, found[0], index, inverse, counts)
    if not sampled.is_addressable or <Py_ssize_t>1 << min(sampled.bits, 62) > entries:
        return None
    if ascending and not (index or inverse or counts) and is_identity(&task.keys.rule):
        values = ascending_values(a, task.size, rule, order_map, (sampled.base, sampled.bits), 1)
        return None if values is None else (values.view(a.dtype), None, None, None)
    found = dense(a, task.size, rule, order_map, (sampled.base, sampled.bits), ascending, inverse,
                  counts, 1)
    if found is None:
        return None
    first_positions, inverse_out, counts_out = found
    if not ascending:
        index_out = bit_positions(task, first_positions) if index else None
        return compress_items(task, a, first_positions), index_out, inverse_out, counts_out
    groups = cnp.PyArray_SIZE(first_positions)
    values = values_at(task, a, <Py_ssize_t *>cnp.PyArray_DATA(first_positions), groups)
    return values, first_positions if index else None, inverse_out, counts_out


cdef cnp.ndarray compress_items(const small_t *task, cnp.ndarray a, cnp.ndarray bitmask):
    """The items whose bits are set in a bitmask."""
    cdef const uint64_t *bits = <const uint64_t *>cnp.PyArray_DATA(bitmask)
    cdef Py_ssize_t blocks = blocks_of(task.size)
    cdef cnp.npy_intp groups = level.count(bits, blocks)
    values = numpy_array(1, &groups, <cnp.dtype>cnp.PyArray_DESCR(a))
    level.compress[log2_width(task.keys.width)](
        bits, blocks, task.keys.data, <char *>cnp.PyArray_DATA(values), groups)
    return values


cdef cnp.ndarray bit_positions(const small_t *task, cnp.ndarray bitmask):
    """The positions of the set bits."""
    cdef const uint64_t *bits = <const uint64_t *>cnp.PyArray_DATA(bitmask)
    cdef Py_ssize_t blocks = blocks_of(task.size)
    cdef cnp.npy_intp groups = level.count(bits, blocks)
    out = cnp.PyArray_EMPTY(1, &groups, cnp.NPY_INTP, 0)
    level.write(bits, blocks, 0, is_sparse(groups, blocks), <intptr_t *>cnp.PyArray_DATA(out),
                groups)
    return out


cdef tuple by_runs(const small_t *task, cnp.ndarray a, cnp.ndarray run_starts, bint index,
                   bint inverse, bint counts):
    """The outputs of ascending keys; run_starts is the bitmask of the first keys of runs."""
    cdef cnp.npy_intp size = task.size, groups
    cdef cnp.ndarray first_positions, inverse_out = None, counts_out = None
    cdef const Py_ssize_t *starts
    cdef Py_ssize_t g, j, stop
    values = compress_items(task, a, run_starts)
    if not (index or inverse or counts):
        return values, None, None, None
    first_positions = bit_positions(task, run_starts)
    starts = <const Py_ssize_t *>cnp.PyArray_DATA(first_positions)
    groups = cnp.PyArray_SIZE(first_positions)
    if inverse:
        inverse_out = cnp.PyArray_EMPTY(1, &size, cnp.NPY_INTP, 0)
    if counts:
        counts_out = cnp.PyArray_EMPTY(1, &groups, cnp.NPY_INTP, 0)
    for g in range(groups):
        stop = starts[g + 1] if g + 1 < groups else size
        if counts:
            (<Py_ssize_t *>cnp.PyArray_DATA(counts_out))[g] = stop - starts[g]
        if inverse:
            for j in range(starts[g], stop):
                (<Py_ssize_t *>cnp.PyArray_DATA(inverse_out))[j] = g
    return values, first_positions if index else None, inverse_out, counts_out


# ---- table ------------------------------------------------------------------------------


cdef tuple by_table(small_t *task, cnp.ndarray a, Scratch scratch, bint index, bint inverse,
                    bint counts, bint ascending, Py_ssize_t share):
    """The outputs by a hash table; None if the table gives up. Repeated keys among the first BATCH
    keys give an estimate of the number of groups (the birthday problem), which decides if all keys
    are sorted instead. With share 0, keys are never sorted."""
    cdef chunk_table_t chunk_table
    cdef cnp.npy_intp size = task.size, groups
    cdef Py_ssize_t sampled
    cdef bint with_ids = inverse or counts or not task.keys.is_word
    cdef Py_ssize_t *inverse_data = NULL
    memset(&chunk_table, 0, sizeof(chunk_table))
    inverse_out = None
    if inverse:
        inverse_out = cnp.PyArray_EMPTY(1, &size, cnp.NPY_INTP, 0)
        inverse_data = <Py_ssize_t *>cnp.PyArray_DATA(inverse_out)
    try:
        sampled = BATCH if share and size > BATCH else size
        chunk_table.status = table_start(&chunk_table.table, &task.keys, with_ids, size, 0, sampled)
        if chunk_table.status == 0:
            fill(&chunk_table, &task.keys, 0, sampled, counts, inverse_data)
        groups = chunk_table.table.length
        if chunk_table.status == 0 and sampled < size:
            groups = min(size, BATCH * BATCH // (2 * (BATCH - chunk_table.table.length) + 1))
            if ascending and groups * share > size:
                return by_sorting(task, a, scratch, index, inverse, counts)
            if groups * 2 > size:
                chunk_table.status = table_resize(&chunk_table.table, &task.keys, size)
        if chunk_table.status == 0 and sampled < size:
            fill(&chunk_table, &task.keys, sampled, size, counts, inverse_data)
        if chunk_table.status == NO_MEMORY:
            raise MemoryError()
        if chunk_table.status:
            return None
        return groups_of(task, a, scratch, &chunk_table, inverse_out, index, counts, ascending)
    finally:
        free_chunk_table(&chunk_table)


cdef tuple groups_of(const small_t *task, cnp.ndarray a, Scratch scratch,
                     const chunk_table_t *chunk_table, cnp.ndarray inverse_out, bint index,
                     bint counts, bint ascending):
    """The outputs of the groups of a table."""
    cdef cnp.npy_intp groups = chunk_table.table.length, size = task.size
    cdef Py_ssize_t *first_positions = <Py_ssize_t *>scratch.alloc(groups * sizeof(Py_ssize_t))
    cdef Py_ssize_t *order = <Py_ssize_t *>scratch.alloc(groups * sizeof(Py_ssize_t))
    cdef Py_ssize_t *group_ids
    cdef uint64_t *words
    cdef Py_ssize_t g, j
    cdef cnp.ndarray counts_out = None
    if ascending:
        words = <uint64_t *>scratch.alloc(groups * sizeof(uint64_t))
        for g in range(groups):
            words[g] = key_at(&task.keys, chunk_table.table.first_positions[g])
        sort_positions(task, words, groups, order, scratch)
    else:
        for g in range(groups):
            order[g] = g
    for g in range(groups):
        first_positions[g] = chunk_table.table.first_positions[order[g]]
    values = values_at(task, a, first_positions, groups)
    index_out = array_of(first_positions, groups) if index else None
    if counts:
        counts_out = cnp.PyArray_EMPTY(1, &groups, cnp.NPY_INTP, 0)
        for g in range(groups):
            (<Py_ssize_t *>cnp.PyArray_DATA(counts_out))[g] = chunk_table.table.counts[order[g]]
    if ascending and inverse_out is not None:
        for g in range(groups):
            first_positions[order[g]] = g
        group_ids = <Py_ssize_t *>cnp.PyArray_DATA(inverse_out)
        for j in range(size):
            group_ids[j] = first_positions[group_ids[j]]
    return values, index_out, inverse_out, counts_out
