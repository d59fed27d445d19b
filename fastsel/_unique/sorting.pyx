"""Groups of equal keys in ascending order: keys are scattered to parts by their value, and each
part is sorted by one thread, so that equal keys lie side by side.

Keys become ordered keys. scatter.pyx writes the parts, and part_sort.pyx sorts each part. Few keys
are one part, which needs no scatter. Memory is reused:

- the first words of a part become the ordered keys of its groups; if NumPy sorts whole parts, the
  words stay where they are
- the positions of its entries become the positions of its sorted keys; with an inverse, the group
  ids of the entries
- the inverse has the first positions of the groups until it is written
"""
cimport numpy as cnp
from libc.stdint cimport intptr_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy

from fastsel._core.parallel cimport CHUNKS_PER_THREAD, Job, scan
from fastsel._core.results cimport new_array, new_result
from fastsel._core.scratch cimport Scratch, alloc, dealloc
from fastsel._simd.blocks cimport blocks_of, is_sparse, log2_width, rule_t, wide_t
from fastsel._simd.levels cimport level
from fastsel._unique.groups cimport CACHE_BYTES, L2_BYTES, Groups, Request, Search, values_at
from fastsel._unique.keys cimport keys_t, restore_bits, write_ordered_keys
from fastsel._unique.ordered_keys cimport ordered_key_of, to_words
from fastsel._unique.part_sort cimport (
    PART_KEYS, UNSIGNED, kind_of, mark_runs, sort_keys, sort_words, sorter_bytes, sorter_free,
    sorter_start, sorter_t, whole_is_faster, word_kind)
from fastsel._unique.sample cimport sample_t
from fastsel._unique.scatter cimport (
    MAX_PARTS, Scatter, new_scatter_by_value, read_back, scatter_keys)

cdef enum:
    # With fewer than MIN_PARTS parts, a CPU waits for the count of a part that it has just written:
    # one thread sorts fewer keys as one part. Where NumPy's sort is fast and no positions are
    # needed, NumPy sorts each part in place. More parts than the threads need cost more in the
    # scatter than they save in the sort. A part has about MAX_ALONE_KEYS keys at most, so that
    # signals are handled in time.
    MIN_PARTS = 16
    # One call of NumPy's sort takes the least time up to MAX_SHORT_KEYS keys, and, where this sort
    # is fast, up to MAX_ALONE_KEYS keys on one thread, and up to L2_BYTES of keys on several
    # threads, or twice that on two; if groups are counted, keys of 4 bytes have the limit of keys
    # of 8 bytes on any number of threads. If few groups have most of the keys, parts are uneven,
    # but this sort is faster: then the limit is MAX_REPEATED_KEYS keys on up to two threads, and
    # MAX_WHOLE_KEYS on more. More keys would delay the handling of signals. But tables count the
    # keys of at most FEW_GROUPS even groups in less time than this sort, because most keys are in
    # their filter of recent keys.
    MAX_SHORT_KEYS = 256
    MAX_WHOLE_KEYS = 1 << 17
    MAX_ALONE_KEYS = 1 << 22
    MAX_REPEATED_KEYS = 1 << 24
    FEW_GROUPS = 2048
    # On one thread, NumPy's stable sort of up to MAX_RUN_KEYS keys takes less time than pieces if
    # at most one key in KEYS_PER_FALL is less than the key before it. It takes up to 36 bytes for
    # each key.
    MAX_RUN_KEYS = 1 << 19
    KEYS_PER_FALL = 64
    MAX_PART_KEYS = 1 << 26       # longer parts would delay the handling of signals


cdef inline bint needs_positions(Search search) noexcept:
    """Words of 4 and 8 bytes are values; other values are found at their positions."""
    return search.request.positions or search.keys.fields.width < 4


cpdef bint sorts_at_once(Search search) except -1:
    """Does one thread sort the keys by one call of NumPy's sort, without positions?"""
    cdef const keys_t *keys = &search.keys.fields
    cdef bint counted = search.request.counts
    cdef Py_ssize_t nbytes = keys.size * (8 if counted else keys.width)
    cdef const sample_t *sample
    if needs_positions(search):
        return False
    if keys.size <= MAX_SHORT_KEYS:
        return True
    if not whole_is_faster():
        return False
    if nbytes <= L2_BYTES or search.threads == 2 and nbytes <= 2 * L2_BYTES and not counted:
        return True
    if keys.size > (MAX_REPEATED_KEYS if search.threads <= 2 else MAX_WHOLE_KEYS):
        return False
    sample = search.sample()
    if counted and sample.has_even_groups and sample.groups <= FEW_GROUPS:
        return False
    return keys.size <= MAX_ALONE_KEYS and search.threads == 1 or sample.mostly_repeated


cdef bint is_nearly_sorted(const keys_t *keys) noexcept nogil:
    """Are the keys nearly sorted, or a few sorted runs? Looks at up to 64 blocks."""
    cdef uint64_t[64] ordered
    cdef Py_ssize_t blocks = blocks_of(keys.size), block = 0, falls = 0, seen = 0, n, j
    while block < blocks:
        n = min(64, keys.size - block * 64)
        write_ordered_keys(keys, keys.data + block * 64 * keys.width, n, ordered)
        for j in range(n - 1):
            falls += ordered[j] > ordered[j + 1]
        seen += n
        block += (blocks >> 6) + 1
    return falls * KEYS_PER_FALL <= seen


cdef Groups new_sorting(Search search):
    return Sorting(search)


cdef class Sorting(Groups):
    cdef Scatter scatter          # or None: one part has all keys, in their order
    cdef Scratch scratch
    cdef bint four_bytes
    # Ordered keys, in parts; after `find`, the groups' keys, unless NumPy sorts whole parts.
    cdef char *words
    cdef uint32_t *key_positions      # of the ordered keys; NULL if no output needs them
    cdef Py_ssize_t longest       # number of keys of the longest part with different keys
    cdef bint sorts_whole         # NumPy sorts the words of each part, in place, without entries
    cdef word_kind kind           # the kind of numbers as which NumPy sorts the words, if it does
    # Of the words. If they are sorted as signed integers or floats, sign and negative are 0.
    cdef rule_t rule
    cdef bint merges_runs         # NumPy's stable sort finds the runs of the keys, and merges them
    cdef cnp.ndarray run_order    # the order that it finds; or None
    cdef uint64_t *run_starts     # bitmask of the sorted keys; each part begins a new block
    cdef Py_ssize_t *offsets      # groups before each part, then the total
    cdef cnp.ndarray inverse
    cdef Py_ssize_t *inverse_data  # or NULL

    cpdef bint find(self) except -1:
        cdef keys_t *keys = &self.search.keys.fields
        cdef Request request = self.search.request
        cdef bint with_positions = needs_positions(self.search)
        cdef Py_ssize_t part
        if not self.search.ascends or with_positions and keys.size >= <Py_ssize_t>1 << 32:
            return False
        self.scratch, self.four_bytes, self.units = Scratch(), keys.width <= 4, keys.size
        self.choose_parts(with_positions)
        self.kind = kind_of(keys) if self.sorts_whole and self.chunks == 1 else UNSIGNED
        self.rule = keys.rule
        if self.kind != UNSIGNED:
            self.rule.sign = self.rule.negative = 0
        self.scatter_to_parts(with_positions)
        if self.longest >= MAX_PART_KEYS:
            return False
        if request.inverse and not request.grouped:
            self.inverse = new_result(keys.size, cnp.NPY_INTP)
            self.inverse_data = <Py_ssize_t *>cnp.PyArray_DATA(self.inverse)
        self.offsets = <Py_ssize_t *>self.scratch.alloc((self.chunks + 1) * sizeof(Py_ssize_t))
        self.run_starts = <uint64_t *>self.scratch.alloc(
            (self.first_block(self.chunks) + 1) * sizeof(uint64_t))
        self.run(self.sorter_threads())
        for part in range(self.chunks):
            if self.offsets[part] < 0:
                raise MemoryError()
        scan(self.offsets, self.chunks)
        self.direction = 1
        self.set_values()
        return True

    # ---- parts --------------------------------------------------------------------------

    cdef int choose_parts(self, bint with_positions) except -1:
        """Set the number of parts, and whether NumPy sorts each of them whole."""
        cdef const keys_t *keys = &self.search.keys.fields
        cdef Py_ssize_t size = keys.size, parts = MAX_PARTS
        cdef int threads = self.search.threads
        cdef bint at_once = sorts_at_once(self.search)
        self.merges_runs = with_positions and (
            threads == 1 and size <= MAX_RUN_KEYS or size < 2 * PART_KEYS
        ) and is_nearly_sorted(keys)
        self.sorts_whole = at_once or not with_positions and whole_is_faster()
        if self.sorts_whole:
            parts = min(parts, max(
                MIN_PARTS, CHUNKS_PER_THREAD * threads, size // MAX_ALONE_KEYS))
        if at_once or self.merges_runs or threads == 1 and size < MIN_PARTS * PART_KEYS:
            parts = 1
        self.chunks = max(1, min(parts, size // PART_KEYS))

    cdef int scatter_to_parts(self, bint with_positions) except -1:
        cdef keys_t *keys = &self.search.keys.fields
        cdef int threads = self.search.threads
        cdef cnp.npy_intp size = keys.size
        cdef Py_ssize_t part
        if self.chunks == 1:
            self.longest = keys.size
            self.words = <char *>self.scratch.alloc(keys.size * (4 if keys.width == 4 else 8))
            self.order_words()
            if with_positions:
                self.key_positions = <uint32_t *>self.scratch.alloc(keys.size * sizeof(uint32_t))
                for part in range(keys.size):
                    self.key_positions[part] = <uint32_t>part
            if self.merges_runs:
                view = cnp.PyArray_SimpleNewFromData(
                    1, &size, cnp.NPY_UINT32 if self.four_bytes else cnp.NPY_UINT64, self.words)
                self.run_order = cnp.PyArray_ArgSort(view, 0, cnp.NPY_MERGESORT)
            return 0
        self.scatter = new_scatter_by_value(
            self.search.keys, self.chunks, with_positions, threads)
        scatter_keys(self.scatter, threads)
        self.words = self.scatter.words
        self.key_positions = &self.scatter.positions[0] if with_positions else NULL
        for part in range(self.chunks):
            if not self.has_equal_keys(part):
                self.longest = max(self.longest, self.start_of(part + 1) - self.start_of(part))

    cdef void order_words(self) noexcept:
        """Write the ordered keys of all keys to `words`, as words of 4 or 8 bytes."""
        cdef const keys_t *keys = &self.search.keys.fields
        cdef uint64_t *words = <uint64_t *>self.words
        cdef Py_ssize_t j
        if keys.width == 4:
            level.narrow_ordered_keys(
                keys.data, keys.size, &self.rule, <uint32_t *>words)
            return
        level.ordered_keys[log2_width(keys.width)](keys.data, keys.size, &self.rule, words)
        if keys.width < 4:
            for j in range(keys.size):
                (<uint32_t *>words)[j] = <uint32_t>words[j]

    cdef void copy_sorted(self, const wide_t *words, wide_t *out, uint32_t *entries) noexcept nogil:
        """Write words and entries in run_order."""
        cdef const Py_ssize_t *order = <const Py_ssize_t *>cnp.PyArray_DATA(self.run_order)
        cdef Py_ssize_t j
        for j in range(self.units):
            out[j], entries[j] = words[order[j]], <uint32_t>order[j]

    cdef Py_ssize_t start_of(self, Py_ssize_t part) noexcept nogil:
        """The first entry of a part; if part is `chunks`, the number of all entries."""
        if self.chunks == 1:
            return part * self.units
        return self.scatter.start_of(part)

    cdef bint has_equal_keys(self, Py_ssize_t part) noexcept nogil:
        """Are all words of a part equal? Most frequent keys have a part of their own."""
        cdef Py_ssize_t width = 4 if self.four_bytes else 8, start = self.start_of(part)
        cdef const char *words = self.words + start * width
        cdef Py_ssize_t n = self.start_of(part + 1) - start
        return n > 0 and memcmp(words, words + width, (n - 1) * width) == 0

    cdef Py_ssize_t first_block(self, Py_ssize_t part) noexcept nogil:
        """The first block of a part in run_starts: at least the number of blocks of all parts
        before it."""
        return (self.start_of(part) >> 6) + part

    cdef int sorter_threads(self) noexcept nogil:
        """The number of threads, at least one, whose sorters fit into the room for sorters. This
        room is the room beside the scatter and its part numbers, and a byte more per key with the
        inverse of keys of 4 bytes, less the bytes of run_starts; but at least CACHE_BYTES / 2."""
        cdef Py_ssize_t size = self.search.keys.fields.size, width = self.search.keys.fields.width
        cdef Py_ssize_t nbytes = sorter_bytes(width, self.longest, self.key_positions != NULL), room
        if self.sorts_whole or self.chunks == 1:
            return self.search.threads
        room = self.scatter.room_beside(1) - 8 * (
            self.first_block(self.chunks) + self.scatter.starts.shape[0])
        if self.inverse_data != NULL:
            nbytes += sizeof(uint32_t) * self.longest
            if width == 4:
                room += size
        room = max(room, CACHE_BYTES // 2)
        return <int>max(1, min(<Py_ssize_t>self.search.threads, room // nbytes))

    # ---- the sort of a part -------------------------------------------------------------

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        """Sort part k. Unless NumPy sorts whole parts, its first words become the ordered keys of
        its groups, ascending; the bits of run_starts mark the first key of each group; offsets[k]
        becomes the number of groups, or -1 if there is no memory."""
        if self.start_of(k) == self.start_of(k + 1):
            self.offsets[k] = 0
        elif self.four_bytes:
            self.sort(k, <uint32_t *>self.words)
        else:
            self.sort(k, <uint64_t *>self.words)

    cdef void sort(self, Py_ssize_t part, wide_t *words) noexcept nogil:
        cdef Py_ssize_t start = self.start_of(part), n = self.start_of(part + 1) - start
        cdef uint64_t *bits = self.run_starts + self.first_block(part)
        cdef uint32_t *entries = NULL
        cdef Py_ssize_t groups = -1, j
        cdef bint ready
        cdef sorter_t sorter
        if self.has_equal_keys(part):
            self.offsets[part] = self.group_equal_keys(part, words + start)
            return
        if self.sorts_whole:
            sort_words(&self.search.keys.fields, words + start, n, self.kind)
            self.offsets[part] = self.mark_groups(part, words + start)
            return
        if self.inverse_data != NULL:
            entries = <uint32_t *>alloc(n * sizeof(uint32_t))
        elif self.key_positions != NULL:
            entries = self.key_positions + start
        ready = sorter_start(&sorter, sizeof(wide_t), n, self.key_positions != NULL) == 0
        if ready and (entries != NULL or self.key_positions == NULL):
            for j in range(n if self.inverse_data != NULL else 0):
                entries[j] = <uint32_t>j
            if self.merges_runs:
                self.copy_sorted(words, <wide_t *>sorter.keys, entries)
            else:
                sort_keys(&sorter, words + start, n, entries)
            groups = self.mark_groups(part, <wide_t *>sorter.keys)
            level.compress[2 + (sizeof(wide_t) == 8)](
                bits, blocks_of(n), <char *>sorter.keys, <char *>(words + start), groups)
            if self.inverse_data != NULL:
                level.compress[2](
                    bits, blocks_of(n), <char *>entries, <char *>sorter.entries, groups)
                self.write_groups(part, entries, sorter.entries, groups)
        if self.inverse_data != NULL:
            dealloc(entries)
        sorter_free(&sorter)
        self.offsets[part] = groups

    cdef Py_ssize_t group_equal_keys(self, Py_ssize_t part, const wide_t *words) noexcept nogil:
        """`sort` for equal words: they, and their positions, are in order already. They are one
        group, or each NaN is a group. Returns the number of groups."""
        cdef Py_ssize_t start = self.start_of(part), n = self.start_of(part + 1) - start, j
        cdef Py_ssize_t groups = self.mark_groups(part, words)
        cdef uint32_t *positions
        if self.inverse_data != NULL:
            positions = self.key_positions + start
            for j in range(groups):
                self.inverse_data[start + j] = positions[j]
            for j in range(n):
                positions[j] = <uint32_t>j if groups == n else 0
        return groups

    cdef Py_ssize_t mark_groups(self, Py_ssize_t part, const wide_t *keys) noexcept nogil:
        """Mark the first key of each group of a part, from its sorted keys. Returns the number of
        groups."""
        return mark_runs(
            keys, self.start_of(part + 1) - self.start_of(part),
            ordered_key_of(&self.rule, self.rule.nan), self.rule.nan_unequal,
            self.run_starts + self.first_block(part))

    cdef void write_groups(self, Py_ssize_t part, const uint32_t *entries,
                           const uint32_t *first_entries, Py_ssize_t groups) noexcept nogil:
        """Write the first positions of the groups of a part to the inverse, and the group id of
        each entry to the positions."""
        cdef Py_ssize_t start = self.start_of(part), n = self.start_of(part + 1) - start, j
        cdef const uint64_t *bits = self.run_starts + self.first_block(part)
        cdef uint32_t *positions = self.key_positions + start
        cdef Py_ssize_t *inverse = self.inverse_data + start
        cdef uint32_t group = <uint32_t>-1
        for j in range(groups):
            inverse[j] = positions[first_entries[j]]
        for j in range(n):
            group += <uint32_t>((bits[j >> 6] >> (j & 63)) & 1)
            positions[entries[j]] = group

    # ---- outputs ------------------------------------------------------------------------

    cdef int set_values(self) except -1:
        """Set values and, if requested or needed for the values, the index."""
        cdef cnp.ndarray rows = self.search.rows, data = self.search.keys.data
        cdef keys_t *keys = &self.search.keys.fields
        cdef cnp.npy_intp groups = self.offsets[self.chunks]
        cdef PartOutputs outputs = PartOutputs(self)
        if self.search.request.index or keys.width < 4:
            self.index = new_result(groups, cnp.NPY_INTP)
            outputs.index = <Py_ssize_t *>cnp.PyArray_DATA(<cnp.ndarray>self.index)
        if keys.width >= 4:
            self.values = new_array(1, &groups, <cnp.dtype>cnp.PyArray_DESCR(data))
            outputs.values = <char *>cnp.PyArray_DATA(<cnp.ndarray>self.values)
        outputs.run(self.search.threads)
        if keys.width < 4:
            self.values = values_at(rows, self.index)
            return 0
        if keys.rule.limit < keys.rule.significant:
            with nogil:
                if keys.width == 8:
                    restore_bits(keys, <uint64_t *>outputs.values, groups, outputs.index)
                else:
                    restore_bits(keys, <uint32_t *>outputs.values, groups, outputs.index)

    cpdef tuple finish(self, ranks):
        cdef cnp.ndarray counts = None
        cdef PartOutputs outputs
        cdef Py_ssize_t j
        if self.search.request.counts:
            counts = new_result(self.offsets[self.chunks], cnp.NPY_INTP)
            outputs = PartOutputs(self)
            outputs.counts = <Py_ssize_t *>cnp.PyArray_DATA(counts)
            outputs.run(self.search.threads)
        if self.inverse_data != NULL and self.chunks == 1:
            for j in range(self.units):
                self.inverse_data[j] = self.key_positions[j]
        elif self.inverse_data != NULL:
            read_back(self.scatter, self.offsets, self.inverse, self.search.threads)
        self.scratch = self.scatter = None    # frees their memory before the caller needs more
        return self.inverse, counts

    cpdef tuple positions(self, ranks):
        cdef Py_ssize_t groups = self.offsets[self.chunks]
        cdef cnp.ndarray indices = new_result(self.units, cnp.NPY_INTP)
        cdef cnp.ndarray offsets = new_result(groups + 1, cnp.NPY_INTP)
        cdef PartOutputs outputs = PartOutputs(self)
        outputs.indices = <Py_ssize_t *>cnp.PyArray_DATA(indices)
        outputs.starts = <Py_ssize_t *>cnp.PyArray_DATA(offsets)
        outputs.starts[groups] = self.units
        outputs.run(self.search.threads)
        return indices, offsets

    cpdef cnp.ndarray order(self):
        """The positions of all keys, ascending by key; equal keys keep their order. The request was
        for grouped positions. Call this instead of `positions`."""
        cdef cnp.ndarray indices = new_result(self.units, cnp.NPY_INTP)
        cdef PartOutputs outputs = PartOutputs(self)
        outputs.indices = <Py_ssize_t *>cnp.PyArray_DATA(indices)
        outputs.run(self.search.threads)
        return indices


cdef class PartOutputs(Job):
    """Write outputs of the groups of each part; a pointer is NULL if its output is not written."""
    cdef Sorting sorting
    cdef char *values
    cdef Py_ssize_t *index
    cdef Py_ssize_t *counts
    cdef Py_ssize_t *indices      # positions of all keys, group after group
    cdef Py_ssize_t *starts       # by group: where it begins in indices

    def __cinit__(self, Sorting sorting):
        self.sorting, self.chunks = sorting, sorting.chunks

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t first = self.sorting.offsets[k], g
        cdef Py_ssize_t groups = self.sorting.offsets[k + 1] - first
        cdef Py_ssize_t start = self.sorting.start_of(k), n = self.sorting.start_of(k + 1) - start
        cdef const uint32_t *positions = self.sorting.key_positions + start
        if groups == 0:
            return
        if self.values != NULL and self.sorting.four_bytes:
            self.write_values(k, <uint32_t *>self.values + first, groups)
        elif self.values != NULL:
            self.write_values(k, <uint64_t *>self.values + first, groups)
        if self.index != NULL and self.sorting.inverse_data != NULL:
            memcpy(self.index + first, self.sorting.inverse_data + start,
                   groups * sizeof(Py_ssize_t))
        elif self.index != NULL:
            self.write_starts(k, 0, self.index + first)
            for g in range(first, first + groups):
                self.index[g] = positions[self.index[g]]
        if self.indices != NULL:
            for g in range(n):
                self.indices[start + g] = positions[g]
        if self.starts != NULL:
            self.write_starts(k, start, self.starts + first)
        if self.counts != NULL:
            self.write_starts(k, 0, self.counts + first)
            for g in range(first, first + groups - 1):
                self.counts[g] = self.counts[g + 1] - self.counts[g]
            self.counts[first + groups - 1] = n - self.counts[first + groups - 1]

    cdef void write_values(self, Py_ssize_t k, wide_t *values,
                           Py_ssize_t groups) noexcept nogil:
        cdef Py_ssize_t start = self.sorting.start_of(k)
        cdef const wide_t *words = <const wide_t *>self.sorting.words + start
        if self.sorting.sorts_whole:
            level.compress[2 + (sizeof(wide_t) == 8)](
                self.sorting.run_starts + self.sorting.first_block(k),
                blocks_of(self.sorting.start_of(k + 1) - start), <const char *>words,
                <char *>values, groups)
        else:
            memcpy(values, words, groups * sizeof(wide_t))
        if self.sorting.kind == UNSIGNED or self.sorting.rule.minimum:
            to_words(&self.sorting.rule, values, groups)

    cdef void write_starts(self, Py_ssize_t k, Py_ssize_t start, Py_ssize_t *out) noexcept nogil:
        """Write where the groups of part k begin; `start` is added."""
        cdef Py_ssize_t blocks = blocks_of(self.sorting.start_of(k + 1) - self.sorting.start_of(k))
        cdef Py_ssize_t groups = self.sorting.offsets[k + 1] - self.sorting.offsets[k]
        level.write(self.sorting.run_starts + self.sorting.first_block(k), blocks, start,
                    is_sparse(groups, blocks), <intptr_t *>out, groups)
