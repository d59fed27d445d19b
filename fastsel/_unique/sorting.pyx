"""Groups of equal keys in ascending order: keys are scattered to parts by their value, and each
part is sorted by one thread, so that equal keys lie side by side.

Keys of 4 and 8 bytes become ordered keys. Quantiles of a sample are the limits between parts
(quantiles.pyx), scatter.pyx writes the parts, and pieces.pyx sorts each part. Memory is reused:

- the first words of a part become the ordered keys of its groups
- the positions of its entries become the first positions of its groups; with an inverse, the group
  ids of the entries; with all_positions, the positions of its sorted keys
- the inverse has the first positions of the groups until it is written
"""
cimport numpy as cnp
from libc.stdint cimport intptr_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastsel._core.parallel cimport Job, scan
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport alloc, free, new_intp, new_u64, new_u8
from fastsel._simd.blocks cimport blocks_of, is_sparse, log2_width
from fastsel._simd.levels cimport level
from fastsel._unique.keys cimport BATCH, set_keys, wide_t
from fastsel._unique.ordered_keys cimport ordered_key_of, to_words
from fastsel._unique.pieces cimport (
    mark_runs, sort_keys, sorter_bytes, sorter_free, sorter_start, sorter_t)
from fastsel._unique.quantiles cimport Quantiles
from fastsel._unique.sample cimport draw
from fastsel._unique.scatter cimport MAX_PARTS, Scatter, read_back, scatter_keys

cnp.import_array()

cdef enum:
    PART_KEYS = 4096              # minimum average size of parts, in keys
    SAMPLED_PER_PART = 16         # keys: the standard deviation of the size of a part is 25 %
    MIN_ROOM = 1 << 22            # bytes that the sorters of all threads may always have together
    MAX_PART_KEYS = 1 << 26       # longer parts would delay the handling of signals


cdef class ScatterByValue(Scatter):
    """Words are ordered keys; a part has the words between two limits (quantiles.pyx)."""
    cdef Quantiles quantiles
    cdef uint64_t[3] order_map        # sign, negative, minimum: makes ordered keys

    def __init__(self, keys not None, tuple seeds not None, bint positions, int threads):
        set_keys(&self.keys, keys, seeds)
        self.owned, self.order_map = keys, keys.order_map
        self.quantiles = self.sampled_quantiles(max(1, min(MAX_PARTS, keys.size // PART_KEYS)))
        self.describe(self.quantiles.parts, None, positions, threads)

    cdef Quantiles sampled_quantiles(self, Py_ssize_t parts):
        """The quantiles of a sample. The random factor of the hash chooses the sample, so that
        nobody can foresee it."""
        cdef Py_ssize_t n = parts * SAMPLED_PER_PART, width = self.keys.width
        cdef uint8_t[::1] items
        cdef uint64_t[::1] sample
        if parts == 1:
            return Quantiles(new_u64(1), 1)
        items, sample = new_u8(n * width), new_u64(n)
        draw(self.keys.data, self.keys.size, width, n, <Py_ssize_t>(self.keys.factor >> 33),
             <char *>&items[0])
        level.ordered_keys[log2_width(width)](
            <char *>&items[0], n, &self.keys.rule.significant, self.order_map, &sample[0])
        view = cnp.PyArray_SimpleNewFromData(1, <cnp.npy_intp *>&n, cnp.NPY_UINT64, &sample[0])
        cnp.PyArray_Sort(view, 0, cnp.NPY_QUICKSORT)
        return Quantiles(sample, parts)

    cdef void load(self, Py_ssize_t start, Py_ssize_t n, uint64_t *words) noexcept nogil:
        cdef Py_ssize_t width = self.keys.width
        level.ordered_keys[log2_width(width)](
            self.keys.data + start * width, n, &self.keys.rule.significant, self.order_map, words)

    cdef void choose_parts(self, Py_ssize_t start, Py_ssize_t n, uint8_t *parts) noexcept nogil:
        cdef uint64_t[BATCH] keys
        self.load(start, n, keys)
        self.quantiles.choose_parts(keys, n, parts)


def sorted_groups(keys not None, tuple seeds not None, bint index, bint inverse, bint counts,
                  bint merged, int threads):
    """(values, index, inverse, counts) of a Keys of at least one number of 4 or 8 bytes, in
    ascending order, with None for an output that is not wanted; None for too many keys (see
    sorted_parts). The values are canonical words.

    If `merged`, equal keys are one group. Otherwise each key is a group of its own: the index is
    the permutation that sorts the keys, stably, and the inverse is the inverse permutation.
    """
    cdef SortParts job = sorted_parts(keys, seeds, index, inverse, merged, False, threads)
    cdef cnp.npy_intp groups
    cdef cnp.ndarray index_out = None, counts_out = None
    if job is None:
        return None
    groups = job.groups[job.chunks]
    if index:
        index_out = new_result(groups, cnp.NPY_INTP)
    if counts:
        counts_out = new_result(groups, cnp.NPY_INTP)
    values = job.values_of_groups(index_out, counts_out, threads)
    if inverse:
        read_back(job.scatter, job.scatter.positions, job.groups, job.inverse, threads)
    return values, index_out, job.inverse_out, counts_out


def sorted_positions(keys not None, tuple seeds not None, int threads):
    """(values, indices, offsets), or None for too many keys. Keys and values are as for
    sorted_groups. The keys of group g are at the positions indices[offsets[g]:offsets[g + 1]],
    which ascend."""
    cdef SortParts job = sorted_parts(keys, seeds, True, False, True, True, threads)
    cdef cnp.ndarray indices, offsets
    if job is None:
        return None
    indices = new_result(keys.size, cnp.NPY_INTP)
    offsets = new_result(job.groups[job.chunks] + 1, cnp.NPY_INTP)
    (<Py_ssize_t *>cnp.PyArray_DATA(offsets))[job.groups[job.chunks]] = keys.size
    return job.values_of_groups(indices, offsets, threads), indices, offsets


cdef SortParts sorted_parts(keys, tuple seeds, bint index, bint inverse, bint merged,
                            bint all_positions, int threads):
    """Sort the parts, and scan the numbers of their groups. Returns None for too many keys: 2^32
    with index or inverse, or MAX_PART_KEYS in a part."""
    cdef bint with_entries = index or inverse
    cdef ScatterByValue scatter
    cdef SortParts job
    cdef cnp.ndarray inverse_out = None
    cdef Py_ssize_t part
    if with_entries and keys.size >= <Py_ssize_t>1 << 32:
        return None
    scatter = ScatterByValue(keys, seeds, with_entries, threads)
    scatter_keys(scatter, threads)
    if inverse:
        inverse_out = new_result(keys.size, cnp.NPY_INTP)
    job = SortParts(scatter, inverse_out, merged, all_positions)
    if job.longest >= MAX_PART_KEYS:
        return None
    job.run(job.sorter_threads(threads))
    for part in range(scatter.parts):
        if job.no_memory[part]:
            raise MemoryError()
    scan(&job.groups[0], scatter.parts)
    return job


cdef class SortParts(Job):
    """Sort each part. Its first words become the ordered keys of its groups, ascending; the bits of
    run_starts mark the first key of each group. The head of this file says what positions and
    inverse become."""
    cdef ScatterByValue scatter
    cdef object inverse_out
    cdef Py_ssize_t[::1] inverse      # or None
    cdef bint merged
    cdef bint all_positions           # write the positions of all entries, not only of first ones
    cdef bint with_entries
    cdef Py_ssize_t longest           # number of keys of the longest part
    cdef uint64_t[::1] run_starts     # bitmask of the sorted keys; each part begins a new block
    cdef Py_ssize_t[::1] groups       # of each part: the number; after a scan, the offset
    cdef uint8_t[::1] no_memory       # by part: 1 if there was no memory to sort it

    def __init__(self, ScatterByValue scatter, inverse_out, bint merged, bint all_positions):
        cdef Py_ssize_t part
        self.scatter, self.merged, self.all_positions = scatter, merged, all_positions
        self.inverse_out = self.inverse = inverse_out
        self.chunks = scatter.parts
        self.with_entries = scatter.positions is not None
        self.run_starts = new_u64(self.first_block(scatter.parts) + 1)
        self.groups = new_intp(scatter.parts + 1)
        self.no_memory = new_u8(scatter.parts)
        self.no_memory[:] = False
        for part in range(scatter.parts):
            self.longest = max(self.longest, scatter.start_of(part + 1) - scatter.start_of(part))

    cdef Py_ssize_t first_block(self, Py_ssize_t part) noexcept nogil:
        """The first block of a part in run_starts: at least the number of blocks of all parts
        before it."""
        return (self.scatter.start_of(part) >> 6) + part

    cdef int sorter_threads(self, int threads) noexcept nogil:
        """The number of threads, at least one, whose sorters fit into the room for sorters. This
        room is 2.5 times the bytes of the keys, less the bytes of the scatter and of run_starts;
        but at least MIN_ROOM."""
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
        elif self.scatter.four_bytes:
            self.sort(k, <uint32_t *>self.scatter.words)
        else:
            self.sort(k, <uint64_t *>self.scatter.words)

    cdef void sort(self, Py_ssize_t part, wide_t *words) noexcept nogil:
        cdef Py_ssize_t start = self.scatter.start_of(part)
        cdef Py_ssize_t n = self.scatter.start_of(part + 1) - start
        cdef uint64_t *bits = &self.run_starts[self.first_block(part)]
        cdef uint64_t nan = ordered_key_of(self.scatter.order_map, self.scatter.keys.rule.nan)
        cdef uint32_t *entries = NULL
        cdef Py_ssize_t groups = n, j
        cdef sorter_t sorter
        if self.inverse is not None:
            entries = <uint32_t *>alloc(n * sizeof(uint32_t))
        if (sorter_start(&sorter, sizeof(wide_t), n, self.with_entries) != 0
                or self.inverse is not None and entries == NULL):
            self.no_memory[part] = True
            sorter_free(&sorter)
            free(entries)
            return
        if self.inverse is not None:
            for j in range(n):
                entries[j] = <uint32_t>j
        elif self.with_entries:
            entries = &self.scatter.positions[start]
        sort_keys(&sorter, words + start, n, entries)
        if self.merged:
            groups = mark_runs(<wide_t *>sorter.keys, n, nan,
                               self.scatter.keys.rule.nan_unequal, bits)
        else:
            memset(bits, 0xff, blocks_of(n) * sizeof(uint64_t))
            if n & 63:
                bits[n >> 6] = (<uint64_t>1 << (n & 63)) - 1
        level.compress[2 + (sizeof(wide_t) == 8)](
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
        """Write the first positions of the groups of a part to the inverse, and the group id of
        each entry to the positions."""
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
        """The words of all groups. Writes index and counts if they are not None."""
        cdef int kind = cnp.NPY_UINT32 if self.scatter.four_bytes else cnp.NPY_UINT64
        values = new_result(self.groups[self.chunks], kind)
        WriteGroups(self, values, index, counts).run(threads)
        return values


cdef class WriteGroups(Job):
    """Write values, index and counts of the groups of each part. With all_positions, index gets the
    positions of all keys, group after group, and counts gets the offset of each group in index."""
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
            to_words(self.job.scatter.order_map, <uint32_t *>values, groups)
        else:
            to_words(self.job.scatter.order_map, <uint64_t *>values, groups)
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
