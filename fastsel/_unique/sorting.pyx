"""Groups of equal keys in ascending order: the keys are scattered to parts by their value, and each
part is sorted in the cache of one thread, so that equal keys lie side by side.

Keys of 4 and 8 bytes become integers of the same order. A sample says where the parts meet
(quantiles.pyx), the scatter of scatter.pyx writes them, the sort of a part is that of pieces.pyx.
What a part no longer needs is written over: the first words of a part become its distinct keys, the
positions of its entries the positions of their first occurrences or, for the inverse, the groups of
the entries; until it is written, the inverse holds the positions of the first occurrences.
"""
cimport numpy as cnp
from libc.stdint cimport intptr_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastsel._core.parallel cimport Job, scan
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport alloc, free, new_intp, new_u64, new_u8
from fastsel._simd.blocks cimport blocks_of, fs_level_t, is_sparse, log2_width
from fastsel._simd.levels cimport fs_level
from fastsel._unique.keys cimport BATCH, describe_keys
from fastsel._unique.ordered_numbers cimport number_of, to_words
from fastsel._unique.pieces cimport (
    mark_runs, sort_keys, sorter_bytes, sorter_free, sorter_start, sorter_t)
from fastsel._unique.quantiles cimport Quantiles
from fastsel._unique.sample cimport draw
from fastsel._unique.scatter cimport MAX_PARTS, Scatter, read_back, scatter_keys, word_t

cnp.import_array()

cdef const fs_level_t *level = fs_level()

cdef enum:
    PART_KEYS = 4096             # of a part at least, unless there are fewer keys
    SAMPLED = 16                  # keys of a part that say where it ends: 25 % off
    MIN_ROOM = 1 << 22            # bytes of the sorts of all threads
    MAX_PART_KEYS = 1 << 26       # a part of more takes too long for a signal to be handled in time


cdef class ScatterByValue(Scatter):
    """Words are integers in the order of the keys; a part has those between two quantiles."""
    cdef Quantiles quantiles
    cdef uint64_t[3] rule         # what makes keys canonical: significant, limit, nan
    cdef uint64_t[3] order        # and then ordered integers: sign, negative, less

    def __init__(self, cnp.ndarray data not None, Py_ssize_t size, tuple rule not None,
                 tuple order not None, tuple seeds not None, bint positions, int threads):
        describe_keys(&self.keys, data, size, rule, None, seeds)
        self.owned, self.order = data, order
        self.rule = (self.keys.rule.significant, self.keys.rule.limit, self.keys.rule.nan)
        self.quantiles = self.sampled_quantiles(max(1, min(MAX_PARTS, size // PART_KEYS)))
        self.describe(self.quantiles.parts, None, positions, threads)

    cdef Quantiles sampled_quantiles(self, Py_ssize_t parts):
        """Of a sample that nobody can foresee."""
        cdef Py_ssize_t n = parts * SAMPLED, width = self.keys.width
        cdef uint8_t[::1] items
        cdef uint64_t[::1] sample
        if parts == 1:
            return Quantiles(new_u64(1), 1)
        items, sample = new_u8(n * width), new_u64(n)
        draw(self.keys.data, self.keys.size, width, n, <Py_ssize_t>(self.keys.factor >> 33),
             <char *>&items[0])
        level.ordered_keys[log2_width(width)](
            <char *>&items[0], n, self.rule, self.order, &sample[0])
        view = cnp.PyArray_SimpleNewFromData(1, <cnp.npy_intp *>&n, cnp.NPY_UINT64, &sample[0])
        cnp.PyArray_Sort(view, 0, cnp.NPY_QUICKSORT)
        return Quantiles(sample, parts)

    cdef void load(self, Py_ssize_t start, Py_ssize_t n, uint64_t *words) noexcept nogil:
        cdef Py_ssize_t width = self.keys.width
        level.ordered_keys[log2_width(width)](
            self.keys.data + start * width, n, self.rule, self.order, words)

    cdef void choose_parts(self, Py_ssize_t start, Py_ssize_t n, uint8_t *parts) noexcept nogil:
        cdef uint64_t[BATCH] keys
        self.load(start, n, keys)
        self.quantiles.choose_parts(keys, n, parts)


def sorted_groups(cnp.ndarray data not None, Py_ssize_t size, tuple rule not None,
                  tuple order not None, tuple seeds not None, bint index, bint inverse,
                  bint counts, bint merged, int threads):
    """(values, index, inverse, counts) of `size` > 0 keys of 4 or 8 bytes, in ascending order, None
    for what is not wanted; the values are words. None instead for too many keys.

    order is how words become integers (sign, negative, less). merged: equal keys are one group;
    else each key is one, so that the index sorts the keys, stably, and the inverse is its inverse.
    """
    cdef SortParts job = sorted_parts(data, size, rule, order, seeds, index, inverse, merged, False,
                                      threads)
    cdef cnp.npy_intp groups
    cdef cnp.ndarray index_out = None, counts_out = None
    if job is None:
        return None
    groups = job.groups[job.chunks]
    if index:
        index_out = new_result(1, &groups, cnp.NPY_INTP)
    if counts:
        counts_out = new_result(1, &groups, cnp.NPY_INTP)
    values = job.values_of_groups(index_out, counts_out, threads)
    if inverse:
        read_back(job.scatter, job.scatter.positions, job.groups, job.inverse, threads)
    return values, index_out, job.inverse_out, counts_out


def sorted_positions(cnp.ndarray data not None, Py_ssize_t size, tuple rule not None,
                     tuple order not None, tuple seeds not None, int threads):
    """(values, indices, offsets) of the same keys: those of group g are at the positions
    indices[offsets[g]:offsets[g + 1]], which ascend. None for too many keys."""
    cdef SortParts job = sorted_parts(data, size, rule, order, seeds, True, False, True, True,
                                      threads)
    cdef cnp.npy_intp length = size, ends
    cdef cnp.ndarray indices, offsets
    if job is None:
        return None
    ends = job.groups[job.chunks] + 1
    indices = new_result(1, &length, cnp.NPY_INTP)
    offsets = new_result(1, &ends, cnp.NPY_INTP)
    (<Py_ssize_t *>cnp.PyArray_DATA(offsets))[ends - 1] = size
    return job.values_of_groups(indices, offsets, threads), indices, offsets


cdef SortParts sorted_parts(cnp.ndarray data, Py_ssize_t size, tuple rule, tuple order, tuple seeds,
                            bint index, bint inverse, bint merged, bint all_positions, int threads):
    """The keys in parts that are sorted, and how many groups come before each part; None for too
    many keys."""
    cdef bint with_entries = index or inverse
    cdef ScatterByValue scatter
    cdef SortParts job
    cdef cnp.npy_intp length = size
    cdef cnp.ndarray inverse_out = None
    if with_entries and size >= <Py_ssize_t>1 << 32:
        return None
    scatter = ScatterByValue(data, size, rule, order, seeds, with_entries, threads)
    scatter_keys(scatter, threads)
    if inverse:
        inverse_out = new_result(1, &length, cnp.NPY_INTP)
    job = SortParts(scatter, inverse_out, merged, all_positions)
    if job.longest >= MAX_PART_KEYS:
        return None
    job.run(job.sorter_threads(threads))
    if job.no_memory:
        raise MemoryError()
    scan(&job.groups[0], scatter.parts)
    return job


cdef class SortParts(Job):
    """Each part: its distinct keys, ascending, in the place of its first words; where each of them
    begins among the sorted keys; and where entries are wanted, what the head of this file says."""
    cdef ScatterByValue scatter
    cdef object inverse_out
    cdef Py_ssize_t[::1] inverse      # or None
    cdef bint merged
    cdef bint all_positions           # those of all entries are wanted, not of first occurrences
    cdef bint with_entries
    cdef Py_ssize_t longest           # keys of a part
    cdef uint64_t[::1] run_starts     # bitmask of the sorted keys, each part in blocks of its own
    cdef Py_ssize_t[::1] groups       # of each part
    cdef bint no_memory

    def __init__(self, ScatterByValue scatter, inverse_out, bint merged, bint all_positions):
        cdef Py_ssize_t part
        self.scatter, self.merged, self.all_positions = scatter, merged, all_positions
        self.inverse_out = self.inverse = inverse_out
        self.chunks = scatter.parts
        self.with_entries = scatter.positions is not None
        self.run_starts = new_u64(self.first_block(scatter.parts) + 1)
        self.groups = new_intp(scatter.parts + 1)
        for part in range(scatter.parts):
            self.longest = max(self.longest, scatter.start_of(part + 1) - scatter.start_of(part))

    cdef Py_ssize_t first_block(self, Py_ssize_t part) noexcept nogil:
        """Of the part's bits: parts before it have at most so many."""
        return (self.scatter.start_of(part) >> 6) + part

    cdef int sorter_threads(self, int threads) noexcept nogil:
        """As many as have room beside the scattered keys in 2.5 times the keys' bytes, or in
        MIN_ROOM if that is more."""
        cdef Py_ssize_t size = self.scatter.keys.size, width = self.scatter.keys.width
        cdef Py_ssize_t room = 5 * width * size // 2 - width * size - size
        cdef Py_ssize_t nbytes = sorter_bytes(width, self.longest, self.with_entries)
        room -= 8 * (self.run_starts.shape[0] + self.scatter.starts.shape[0])
        if self.with_entries:
            room -= sizeof(uint32_t) * size
        if self.inverse is not None:
            nbytes += sizeof(uint32_t) * self.longest
        return <int>max(1, min(<Py_ssize_t>threads, max(MIN_ROOM, room) // nbytes))

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        if self.scatter.start_of(k) == self.scatter.start_of(k + 1):
            self.groups[k] = 0
        elif self.scatter.narrow:
            self.sort(k, <uint32_t *>self.scatter.words)
        else:
            self.sort(k, <uint64_t *>self.scatter.words)

    cdef void sort(self, Py_ssize_t part, word_t *words) noexcept nogil:
        cdef Py_ssize_t start = self.scatter.start_of(part)
        cdef Py_ssize_t n = self.scatter.start_of(part + 1) - start
        cdef uint64_t *bits = &self.run_starts[self.first_block(part)]
        cdef uint64_t nan = number_of(self.scatter.order, self.scatter.rule[2])
        cdef uint32_t *entries = NULL
        cdef Py_ssize_t groups = n, j
        cdef sorter_t sorter
        if sorter_start(&sorter, sizeof(word_t), n, self.with_entries) != 0:
            self.no_memory = True
            sorter_free(&sorter)
            return
        if self.inverse is not None:
            entries = <uint32_t *>alloc(n * sizeof(uint32_t))
            if entries == NULL:
                self.no_memory = True
                sorter_free(&sorter)
                return
            for j in range(n):
                entries[j] = <uint32_t>j
        elif self.with_entries:
            entries = &self.scatter.positions[start]
        sort_keys(&sorter, words + start, n, entries)
        if self.merged:
            groups = mark_runs(<word_t *>sorter.keys, n, nan,
                               self.scatter.keys.rule.nan_unequal, bits)
        else:
            memset(bits, 0xff, blocks_of(n) * sizeof(uint64_t))
            if n & 63:
                bits[n >> 6] = (<uint64_t>1 << (n & 63)) - 1
        level.compress[2 + (sizeof(word_t) == 8)](
            bits, blocks_of(n), <char *>sorter.keys, <char *>(words + start), groups)
        if self.with_entries and not self.all_positions:
            level.compress[2](bits, blocks_of(n), <char *>entries, <char *>sorter.entries, groups)
        if self.inverse is not None:
            self.write_groups(start, n, bits, entries, sorter.entries, groups)
            free(entries)
        elif self.with_entries and not self.all_positions:
            memcpy(entries, sorter.entries, groups * sizeof(uint32_t))
        self.groups[part] = groups
        sorter_free(&sorter)

    cdef void write_groups(self, Py_ssize_t start, Py_ssize_t n, const uint64_t *bits,
                           const uint32_t *entries, const uint32_t *first_entries,
                           Py_ssize_t groups) noexcept nogil:
        """Positions of the first occurrences, and the group of each entry, for the inverse."""
        cdef Py_ssize_t[::1] inverse = self.inverse
        cdef uint32_t[::1] positions = self.scatter.positions
        cdef Py_ssize_t j
        cdef uint32_t group = <uint32_t>-1
        for j in range(groups):
            inverse[start + j] = positions[start + first_entries[j]]
        for j in range(n):
            group += <uint32_t>((bits[j >> 6] >> (j & 63)) & 1)
            positions[start + entries[j]] = group

    cdef cnp.ndarray values_of_groups(self, index, counts, int threads):
        """The words of all groups; and what else is wanted of them is written."""
        cdef cnp.npy_intp groups = self.groups[self.chunks]
        values = new_result(1, &groups, cnp.NPY_UINT32 if self.scatter.narrow else cnp.NPY_UINT64)
        WriteGroups(self, values, index, counts).run(threads)
        return values


cdef class WriteGroups(Job):
    """What is wanted of the groups of each part: where all positions are wanted, these instead of
    the index, and where they begin instead of the counts."""
    cdef SortParts job
    cdef Scatter scatter
    cdef cnp.ndarray values
    cdef Py_ssize_t[::1] index        # or None
    cdef Py_ssize_t[::1] counts       # or None

    def __init__(self, SortParts job, cnp.ndarray values, Py_ssize_t[::1] index,
                 Py_ssize_t[::1] counts):
        self.job, self.scatter, self.values = job, job.scatter, values
        self.chunks = job.chunks
        self.index, self.counts = index, counts

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t first = self.job.groups[k], groups = self.job.groups[k + 1] - first
        cdef Py_ssize_t width = self.scatter.keys.width, start = self.scatter.start_of(k), g
        cdef Py_ssize_t n = self.scatter.start_of(k + 1) - start
        cdef char *values = <char *>cnp.PyArray_DATA(self.values) + first * width
        cdef const uint32_t[::1] positions = self.scatter.positions
        cdef const Py_ssize_t[::1] inverse = self.job.inverse
        cdef Py_ssize_t[::1] index = self.index, counts = self.counts
        if groups == 0:
            return
        memcpy(values, self.scatter.words + start * width, groups * width)
        if width == 4:
            to_words(self.job.scatter.order, <uint32_t *>values, groups)
        else:
            to_words(self.job.scatter.order, <uint64_t *>values, groups)
        if self.job.all_positions:
            for g in range(start, start + n):
                index[g] = positions[g]
            level.write(&self.job.run_starts[self.job.first_block(k)], blocks_of(n), start,
                        is_sparse(groups, blocks_of(n)), <intptr_t *>&counts[first], groups)
            return
        if index is not None:
            for g in range(groups):
                index[first + g] = (inverse[start + g] if inverse is not None
                                    else positions[start + g])
        if counts is not None:
            level.write(&self.job.run_starts[self.job.first_block(k)], blocks_of(n), 0,
                        is_sparse(groups, blocks_of(n)), <intptr_t *>&counts[first], groups)
            for g in range(first, first + groups - 1):
                counts[g] = counts[g + 1] - counts[g]
            counts[first + groups - 1] = n - counts[first + groups - 1]
