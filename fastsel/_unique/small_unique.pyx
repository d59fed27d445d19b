"""unique of small arrays: all outputs from one call on one thread, under the GIL.

Keys in order, and those of a narrow range, go to the kernels for these. Of the others, few keys,
and those of which hardly any is repeated, are sorted beside their positions where the answer is
ascending; the rest is put into a hash table, whose groups are then sorted likewise.
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
from fastsel._unique.keys cimport BATCH, describe_keys, is_plain, key_at
from fastsel._unique.presence cimport ascending_values
from fastsel._unique.presorted cimport presorted
from fastsel._unique.sample cimport span_of, span_t
from fastsel._unique.small_sorting cimport (
    array_of, by_sorting, small_t, sort_positions, values_at)
from fastsel._unique.hash_table cimport NO_MEMORY, table_resize, table_start

cnp.import_array()

cdef const fs_level_t *level = fs_level()


def unique_small(cnp.ndarray a not None, tuple rule not None, tuple order, tuple seeds not None,
                 bint index, bint inverse, bint counts, bint ascending, Py_ssize_t entries,
                 Py_ssize_t share):
    """(values, index, inverse, counts) of a small array, None for what is not wanted: ascending if
    that is wanted and `order` is given, else in order of first occurrence.

    rule is that of a's items, which are words or longer than 8 bytes, order that of the words that
    are numbers; a direct-address table has at most so many entries, and 0 says that the array is so
    small that a sample does not pay. If the answer is to ascend, all keys are sorted if more than
    one of `share` is distinct. None if the hash table gives up.
    """
    cdef small_t task
    cdef Scratch scratch = Scratch()
    if cnp.PyArray_NBYTES(a) == 0:
        return None
    if not cnp.PyArray_ISCARRAY_RO(a):
        a = cnp.PyArray_NewCopy(a, cnp.NPY_CORDER)
    task.size = cnp.PyArray_SIZE(a)
    describe_keys(&task.keys, a, task.size, rule, None, seeds)
    if order is not None:
        task.order = order
        if entries:
            found = by_sample(&task, a, rule, order, index, inverse, counts, ascending,
                              entries)
            if found is not None:
                return found
        elif ascending:
            return by_sorting(&task, a, scratch, index, inverse, counts)
    return by_table(&task, a, scratch, index, inverse, counts, ascending and order is not None,
                    share if entries else 0)


cdef tuple by_sample(small_t *task, cnp.ndarray a, tuple rule, tuple order,
                     bint index, bint inverse, bint counts, bint ascending, Py_ssize_t entries):
    """Keys in order, and those of a narrow range; None for others, as a sample says."""
    cdef span_t span = span_of(&task.keys, task.order)
    cdef cnp.ndarray first_positions
    cdef Py_ssize_t groups
    if span.in_order and task.keys.width >= 4:
        found = presorted(a, task.size, rule, order, 0, 1)
        if found is not None and (found[1] > 0 or not ascending):
            return by_runs(task, a, found[0], index, inverse, counts)
    if not span.addresses or <Py_ssize_t>1 << min(span.bits, 62) > entries:
        return None
    if ascending and not (index or inverse or counts) and is_plain(&task.keys.rule):
        values = ascending_values(a, task.size, rule, order, (span.base, span.bits), 1)
        return None if values is None else (values.view(a.dtype), None, None, None)
    found = dense(a, task.size, rule, order, (span.base, span.bits), ascending, inverse, counts, 1)
    if found is None:
        return None
    first_positions, labels, sizes = found
    if not ascending:
        index_out = set_bits(task, first_positions) if index else None
        return marked(task, a, first_positions), index_out, labels, sizes
    groups = cnp.PyArray_SIZE(first_positions)
    values = values_at(task, a, <Py_ssize_t *>cnp.PyArray_DATA(first_positions), groups)
    return values, first_positions if index else None, labels, sizes


cdef cnp.ndarray marked(const small_t *task, cnp.ndarray a, cnp.ndarray bitmask):
    """The items whose bits are set."""
    cdef const uint64_t *bits = <const uint64_t *>cnp.PyArray_DATA(bitmask)
    cdef Py_ssize_t blocks = blocks_of(task.size)
    cdef cnp.npy_intp groups = level.count(bits, blocks)
    values = numpy_array(1, &groups, <cnp.dtype>cnp.PyArray_DESCR(a))
    level.compress[log2_width(task.keys.width)](
        bits, blocks, task.keys.data, <char *>cnp.PyArray_DATA(values), groups)
    return values


cdef cnp.ndarray set_bits(const small_t *task, cnp.ndarray bitmask):
    """Where they are."""
    cdef const uint64_t *bits = <const uint64_t *>cnp.PyArray_DATA(bitmask)
    cdef Py_ssize_t blocks = blocks_of(task.size)
    cdef cnp.npy_intp groups = level.count(bits, blocks)
    out = cnp.PyArray_EMPTY(1, &groups, cnp.NPY_INTP, 0)
    level.write(bits, blocks, 0, is_sparse(groups, blocks), <intptr_t *>cnp.PyArray_DATA(out),
                groups)
    return out


cdef tuple by_runs(const small_t *task, cnp.ndarray a, cnp.ndarray heads, bint index, bint inverse,
                   bint counts):
    """The outputs of keys that ascend, of which the heads of runs are marked."""
    cdef cnp.npy_intp size = task.size, groups
    cdef cnp.ndarray first_positions, labels = None, sizes = None
    cdef const Py_ssize_t *starts
    cdef Py_ssize_t g, j, stop
    values = marked(task, a, heads)
    if not (index or inverse or counts):
        return values, None, None, None
    first_positions = set_bits(task, heads)
    starts = <const Py_ssize_t *>cnp.PyArray_DATA(first_positions)
    groups = cnp.PyArray_SIZE(first_positions)
    if inverse:
        labels = cnp.PyArray_EMPTY(1, &size, cnp.NPY_INTP, 0)
    if counts:
        sizes = cnp.PyArray_EMPTY(1, &groups, cnp.NPY_INTP, 0)
    for g in range(groups):
        stop = starts[g + 1] if g + 1 < groups else size
        if counts:
            (<Py_ssize_t *>cnp.PyArray_DATA(sizes))[g] = stop - starts[g]
        if inverse:
            for j in range(starts[g], stop):
                (<Py_ssize_t *>cnp.PyArray_DATA(labels))[j] = g
    return values, first_positions if index else None, labels, sizes


# ---- table ------------------------------------------------------------------------------


cdef tuple by_table(small_t *task, cnp.ndarray a, Scratch scratch, bint index, bint inverse,
                    bint counts, bint ascending, Py_ssize_t share):
    """None if the table gives up. How many of the first keys are repeated says how many groups
    there are (the birthday problem), and whether all keys are sorted instead; not if share is 0."""
    cdef chunk_table_t part
    cdef cnp.npy_intp size = task.size, groups
    cdef Py_ssize_t sampled
    cdef bint numbered = inverse or counts or not task.keys.is_word
    cdef Py_ssize_t *inverse_data = NULL
    memset(&part, 0, sizeof(part))
    labels = None
    if inverse:
        labels = cnp.PyArray_EMPTY(1, &size, cnp.NPY_INTP, 0)
        inverse_data = <Py_ssize_t *>cnp.PyArray_DATA(labels)
    try:
        sampled = BATCH if share and size > BATCH else size
        part.status = table_start(&part.table, &task.keys, numbered, size, 0, sampled)
        if part.status == 0:
            fill(&part, &task.keys, 0, sampled, counts, inverse_data)
        groups = part.table.length
        if part.status == 0 and sampled < size:
            groups = min(size, BATCH * BATCH // (2 * (BATCH - part.table.length) + 1))
            if ascending and groups * share > size:
                return by_sorting(task, a, scratch, index, inverse, counts)
            if groups * 2 > size:
                part.status = table_resize(&part.table, &task.keys, size)
        if part.status == 0 and sampled < size:
            fill(&part, &task.keys, sampled, size, counts, inverse_data)
        if part.status == NO_MEMORY:
            raise MemoryError()
        if part.status:
            return None
        return groups_of(task, a, scratch, &part, labels, index, counts, ascending)
    finally:
        free_chunk_table(&part)


cdef tuple groups_of(const small_t *task, cnp.ndarray a, Scratch scratch, const chunk_table_t *part,
                     cnp.ndarray labels, bint index, bint counts, bint ascending):
    """The outputs of the groups of a table."""
    cdef cnp.npy_intp groups = part.table.length, size = task.size
    cdef Py_ssize_t *first_positions = <Py_ssize_t *>scratch.alloc(groups * sizeof(Py_ssize_t))
    cdef Py_ssize_t *order = <Py_ssize_t *>scratch.alloc(groups * sizeof(Py_ssize_t))
    cdef Py_ssize_t *numbers
    cdef uint64_t *words
    cdef Py_ssize_t g, j
    cdef cnp.ndarray sizes = None
    if ascending:
        words = <uint64_t *>scratch.alloc(groups * sizeof(uint64_t))
        for g in range(groups):
            words[g] = key_at(&task.keys, part.table.firsts[g])
        sort_positions(task, words, groups, order, scratch)
    else:
        for g in range(groups):
            order[g] = g
    for g in range(groups):
        first_positions[g] = part.table.firsts[order[g]]
    values = values_at(task, a, first_positions, groups)
    index_out = array_of(first_positions, groups) if index else None
    if counts:
        sizes = cnp.PyArray_EMPTY(1, &groups, cnp.NPY_INTP, 0)
        for g in range(groups):
            (<Py_ssize_t *>cnp.PyArray_DATA(sizes))[g] = part.table.counts[order[g]]
    if ascending and labels is not None:
        for g in range(groups):
            first_positions[order[g]] = g
        numbers = <Py_ssize_t *>cnp.PyArray_DATA(labels)
        for j in range(size):
            numbers[j] = first_positions[numbers[j]]
    return values, index_out, labels, sizes
