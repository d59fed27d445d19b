"""The interface of the algorithms that find groups of equal keys.

An algorithm is a subclass of Groups. It is made of a Search, and its methods are called in this
order, each at most once::

    groups = Tables(search)            # or another algorithm
    if not groups.find():              # gives way: the caller tries another algorithm
        ...
    groups.values, groups.index        # one item and one position of each group
    groups.direction                   # do the values ascend?
    inverse, counts = groups.finish(ranks)    # or: indices, offsets = groups.positions(ranks)

`ranks` is None if the order of the groups stays as it is. Otherwise the caller has sorted the
values, and ranks[g] is the new place of group g: the inverse has ranks instead of group ids.

For the items [7, 5, 7], Tables find values [7, 5] and index [0, 1], and direction stays 0. The
caller sorts the values to [5, 7]: group 0 gets place 1, so ranks are [1, 0], finish(ranks) returns
the inverse [1, 0, 1] and, in the order of the groups, the counts [2, 1].

`relabel` writes the ranks, and `group_positions` finds the positions of few groups in an inverse.
"""
cimport numpy as cnp
from libc.stdint cimport uint64_t
from libc.string cimport memcpy, memset

from fastsel._core.copying cimport LINE, copy_run_slices, is_movable
from fastsel._core.parallel cimport choose_threads, chunk_count, round_start, thresholds
from fastsel._core.results cimport new_array, new_result
from fastsel._core.scratch cimport new_intp
from fastsel._core.strided cimport MAX_DIMS
from fastsel._positions.bitmask cimport Bitmask, from_bits
from fastsel._positions.coordinates cimport flat, positions_of, row_starts
from fastsel._positions.selected_items cimport compress
from fastsel._simd.blocks cimport FS_REQUIRE, is_item, log2_width
from fastsel._simd.levels cimport level
from fastsel._unique.keys cimport BATCH, keeps_words, keys_t
from fastsel._unique.sample cimport MIN_DRAWN, WINDOWS, take_sample


cdef class Request:
    def __init__(self, bint index=False, bint inverse=False, bint counts=False,
                 bint ascending=True, bint equal_nan=True, bint grouped=False,
                 Py_ssize_t lookups=0, cnp.dtype inverse_dtype=None):
        self.index, self.inverse, self.counts = index, inverse, counts
        self.ascending, self.equal_nan = ascending, equal_nan
        self.grouped, self.lookups = grouped, lookups
        self.positions = index or inverse or grouped
        self.values_only = not (self.positions or counts)
        self.inverse_dtype, self.inverse_type = inverse_dtype, cnp.NPY_INTP
        if inverse_dtype is not None and inverse_dtype.itemsize == 4 and inverse_dtype.isnative:
            self.inverse_type = inverse_dtype.num


cdef class Search:
    def __init__(self, Keys keys, cnp.ndarray rows not None, Request request not None,
                 int threads, int copy_threads):
        self.keys, self.rows, self.request = keys, rows, request
        self.threads, self.copy_threads = threads, copy_threads
        self.size = cnp.PyArray_DIM(rows, 0)
        if keys is not None:
            self.size, self.nbytes = keys.fields.size, keys.fields.size * keys.fields.width
            self.ascends = request.ascending and keys.fields.rule.is_ordered

    cdef const sample_t *sample(self) except NULL:
        """What a sample says about the keys; the sample is taken once."""
        if not self.has_sample:
            take_sample(&self.keys.fields, &self.sampled, self.keys.fields.size)
            self.has_sample = True
        return &self.sampled

    cpdef int take_small_sample(self) except -1:
        """Take a sample of at most MIN_DRAWN keys."""
        take_sample(&self.keys.fields, &self.sampled, MIN_DRAWN)
        self.has_sample = True

    cpdef int expect(self, Py_ssize_t groups) except -1:
        """Expect this number of groups, without a sample."""
        self.sampled.groups, self.has_sample = groups, True

    @property
    def expected(self):
        """An estimate of the number of groups."""
        return self.sample().groups

    @property
    def mostly_repeated(self):
        """Is at most half of the sample distinct? Then few groups have most of the keys."""
        return self.sample().mostly_repeated

    @property
    def has_heavy_tail(self):
        """Do some groups have many sampled keys, and most groups only one?"""
        return self.sample().has_frequent_groups and not self.sample().has_even_groups

    @property
    def majority_share(self):
        """The share of the sample that its middle key has: above .5, this key is the majority. 0
        for keys without an order."""
        return self.sample().majority_share

    @property
    def windows(self):
        """(base, entries) of windows for direct-address tables: of the whole sample, and of its
        densest 99, 95 and 90 %. A window has 0 entries if no such table serves the keys."""
        cdef const keys_t *keys = &self.keys.fields
        cdef const sample_t *sample
        cdef bint are_ordered = keys.rule.is_ordered and keys.unequal == NULL
        cdef bint has_all = keys.width == 1 or keys.width == 2 and (
            keys.rule.negative or not self.needs_group_ids)
        if are_ordered and has_all and not keys.rule.nan_unequal:
            return ((0, 1 << 8 * keys.width),) * WINDOWS  # all words, without a sample
        if not are_ordered or not (keeps_words(&keys.rule) or self.scale):
            return ((0, 0),) * WINDOWS
        sample = self.sample()
        return tuple([(sample.windows[k].base, sample.windows[k].entries) for k in range(WINDOWS)])

    @property
    def scale(self):
        """All sampled keys are NaN or decimals by `scale` (order_body.h); 0 if not, or if the keys
        are no doubles."""
        cdef const keys_t *keys = &self.keys.fields
        return self.sample().scale if keys.width == 8 and keys.rule.negative else 0

    @property
    def only_ascending_values(self):
        """Are only ascending values requested, which the keys have an order for?"""
        return self.ascends and self.request.values_only

    @property
    def by_position(self):
        """Does a direct-address table have to find first positions? If values ascend and are the
        canonical words, float16, or decimals, only the index needs them."""
        cdef const keys_t *keys = &self.keys.fields
        cdef bint are_halves = keys.width == 2 and keys.rule.negative
        return self.request.index or not (
            self.ascends and (keeps_words(&keys.rule) or are_halves or self.scale))

    @property
    def needs_group_ids(self):
        """Does a direct-address table have to find the group id of each entry? The first positions
        of ascending values need them, too."""
        return (self.request.inverse or self.request.counts
                or self.ascends and self.by_position)


cdef class Groups(Job):
    """Groups of equal keys, in the order in which the algorithm finds them."""
    def __init__(self, Search search not None):
        self.search = search

    cpdef bint find(self) except -1:
        """Find the groups. Returns False if the algorithm gives way: if it does not serve these
        keys, or if it would take too long. After True, these attributes are set:

        - values: an item, or slice, of each group, with the bits of its first occurrence; the
          values of rows of foreign byte order may be native
        - index: the position of each group's first occurrence; None if it is not requested and
          the algorithm does not need it
        - direction: 1 if the values ascend, -1 if they descend, 0 if the algorithm does not say

        If other keys are looked up in the table, only `finish` follows, with ranks.
        """
        raise NotImplementedError

    cpdef tuple finish(self, ranks):
        """(inverse, counts), with None for an output that is not requested. Counts are in the order
        of the values."""
        raise NotImplementedError

    cpdef tuple positions(self, ranks):
        """(indices, offsets): the positions of all keys, group after group; and where each group
        begins in indices, then the number of keys. None if the algorithm has only an inverse, in
        which the caller finds the positions."""
        return None

    cdef int set_first_occurrences(self, cnp.ndarray bits) except -1:
        """Set values and index from a bitmask of the first occurrences. The index stays None if it
        is not requested."""
        cdef Search search = self.search
        cdef cnp.ndarray rows = search.rows, values
        cdef Py_ssize_t width = cnp.PyArray_ITEMSIZE(rows), blocks = cnp.PyArray_SIZE(bits)
        cdef const uint64_t *words = <const uint64_t *>cnp.PyArray_DATA(bits)
        cdef cnp.npy_intp groups
        if (chunk_count(blocks, search.copy_threads, 64 * width) > 1
                or cnp.PyArray_NDIM(rows) > 1 or not is_item(width)
                or not cnp.PyArray_IS_C_CONTIGUOUS(rows)):
            return self.set_by_mask(from_bits(
                bits, search.keys.fields.width, search.copy_threads))
        # One chunk of items that a level compresses: without the jobs of the general way.
        groups = level.count(words, blocks)
        self.values = values = new_array(1, &groups, <cnp.dtype>cnp.PyArray_DESCR(rows))
        level.compress[log2_width(width)](
            words, blocks, <const char *>cnp.PyArray_DATA(rows), <char *>cnp.PyArray_DATA(values),
            groups)
        if search.request.index:
            self.index = positions_of(words, blocks, groups)

    cdef int set_by_mask(self, Bitmask mask) except -1:
        """set_first_occurrences, from a Bitmask."""
        cdef Search search = self.search
        cdef cnp.ndarray rows = search.rows
        cdef cnp.npy_intp[MAX_DIMS] shape
        if search.request.index or not is_movable(rows):
            self.index = flat(mask, search.copy_threads)
        if not is_movable(rows):
            self.values = rows[self.index]
            return 0
        memcpy(shape, cnp.PyArray_DIMS(rows), cnp.PyArray_NDIM(rows) * sizeof(cnp.npy_intp))
        shape[0] = mask.count()
        self.values = new_array(
            cnp.PyArray_NDIM(rows), shape, <cnp.dtype>cnp.PyArray_DESCR(rows))
        return compress(rows, 0, 1, mask, self.values, search.copy_threads)


cpdef Py_ssize_t table_count(Py_ssize_t nbytes, Py_ssize_t groups,
                             Py_ssize_t threads) noexcept nogil:
    """The number of threads that fill a hash table each. Each table may have all groups, and tables
    are merged in pairs, so the keys of a table have at least twice the bytes of its groups, unless
    there is only one table."""
    return min(threads, max(1, nbytes // max(1, 2 * GROUP_BYTES * groups)))


cpdef cnp.ndarray values_at(cnp.ndarray rows, cnp.ndarray positions):
    """The items, or slices, at these positions, with the bits that they have in rows. All positions
    are positions of rows, in a contiguous array of intp: otherwise other memory is read."""
    cdef TakeSlices job
    cdef cnp.npy_intp[MAX_DIMS] shape
    cdef const Py_ssize_t *at = <const Py_ssize_t *>cnp.PyArray_DATA(positions)
    cdef const char *source = <const char *>cnp.PyArray_DATA(rows)
    cdef Py_ssize_t n = cnp.PyArray_SIZE(positions), width, k
    cdef int threads, ndim = cnp.PyArray_NDIM(rows)
    cdef cnp.ndarray values
    if not (is_movable(rows) and cnp.PyArray_IS_C_CONTIGUOUS(rows)):
        return rows.take(positions, axis=0, mode="clip")
    for k in range(n):
        FS_REQUIRE(0 <= at[k] < cnp.PyArray_DIM(rows, 0))
    memcpy(shape, cnp.PyArray_DIMS(rows), ndim * sizeof(cnp.npy_intp))
    shape[0], width = n, cnp.PyArray_NBYTES(rows) // max(1, cnp.PyArray_DIM(rows, 0))
    values = new_array(ndim, shape, <cnp.dtype>cnp.PyArray_DESCR(rows))
    if n <= thresholds.small_items:
        take_slices(source, width, at, n, <char *>cnp.PyArray_DATA(values))
        return values
    job = TakeSlices()
    job.source, job.width, job.positions = source, width, at
    job.out = <char *>cnp.PyArray_DATA(values)
    threads = choose_threads(n * width, COST)
    job.run_units(n, width + LINE, threads)
    return values


cdef class TakeSlices(Job):
    cdef const char *source
    cdef const Py_ssize_t *positions
    cdef Py_ssize_t width
    cdef char *out

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t start = self.begin(k)
        take_slices(self.source, self.width, self.positions + start, self.begin(k + 1) - start,
                    self.out + start * self.width)


cdef void take_slices(const char *source, Py_ssize_t width, const Py_ssize_t *positions,
                      Py_ssize_t n, char *out) noexcept nogil:
    """Copy the n slices of `width` bytes at these positions, side by side, to out."""
    cdef Py_ssize_t[BATCH] offsets
    cdef Py_ssize_t start = 0, batch, j
    while start < n:
        batch = min(n - start, BATCH)
        for j in range(batch):
            offsets[j] = positions[start + j] * width
        copy_run_slices(source, 0, 1, width, offsets, batch, out + start * width)
        start += batch


cdef class Ranks:
    def __init__(self, Bitmask mask, int threads):
        before = new_result(mask.bits.shape[0], cnp.NPY_INTP)
        row_starts(mask, 64, before, threads)
        self.bits, self.before = mask.bits, before


# ---- the inverse ------------------------------------------------------------------------


cpdef int relabel(const Py_ssize_t[::1] ranks, Py_ssize_t[::1] inverse, int threads) except -1:
    """Replace each group id g of inverse by ranks[g]. Every item of inverse is at least 0 and less
    than the length of ranks: otherwise memory before or behind ranks is read."""
    cdef TakeSlices job = TakeSlices()
    if inverse.shape[0] == 0:
        return 0
    # take_slices reads the positions of a batch before it writes there.
    job.source, job.width = <const char *>&ranks[0], sizeof(Py_ssize_t)
    job.positions, job.out = &inverse[0], <char *>&inverse[0]
    return job.run_units(inverse.shape[0], 3 * sizeof(Py_ssize_t), threads)


def group_positions(const Py_ssize_t[::1] inverse not None, Py_ssize_t groups, int threads):
    """(indices, offsets): the positions of group g are indices[offsets[g]:offsets[g + 1]],
    ascending. For many groups, sorting.pyx finds them in less time. Every item of inverse is at
    least 0 and less than `groups`, and no other thread writes to inverse: otherwise memory outside
    of the results is overwritten."""
    cdef GroupPositions job = GroupPositions(inverse, groups, threads)
    indices = new_result(inverse.shape[0], cnp.NPY_INTP)
    offsets = new_result(groups + 1, cnp.NPY_INTP)
    job.run_rounds(job.rounds, threads)
    job.scan_counts(offsets)
    job.indices = indices
    job.run_rounds(job.rounds, threads)
    return indices, offsets


cdef class GroupPositions(Job):
    """Two passes over chunks of the inverse, as in scatter.pyx, with groups instead of parts: the
    first pass counts the keys of each group, an exclusive scan of the counts says where each chunk
    writes to in each group, and the second pass writes the positions. Each chunk is divided into
    rounds, and signals are handled between rounds."""
    cdef const Py_ssize_t[::1] inverse
    cdef Py_ssize_t groups
    cdef Py_ssize_t rounds
    # [chunk][group]: in the first pass a count; in the second pass the index in `indices` to which
    # the chunk writes next.
    cdef Py_ssize_t[::1] next_entry
    cdef Py_ssize_t[::1] indices      # None in the first pass

    def __init__(self, const Py_ssize_t[::1] inverse, Py_ssize_t groups, int threads):
        self.inverse, self.groups, self.indices = inverse, groups, None
        # The counts of all chunks together do not outnumber the keys.
        self.chunks = max(1, min(<Py_ssize_t>threads, inverse.shape[0] // max(1, groups)))
        self.rounds = chunk_count(inverse.shape[0] // self.chunks, 1, 2 * sizeof(Py_ssize_t))
        self.next_entry = new_intp(max(1, self.chunks * groups))

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const Py_ssize_t[::1] inverse = self.inverse
        cdef Py_ssize_t[::1] next_entry = self.next_entry, indices = self.indices
        cdef Py_ssize_t row = k % self.chunks * self.groups, i, entry
        cdef Py_ssize_t start = round_start(inverse.shape[0], self.chunks, self.rounds, k)
        cdef Py_ssize_t stop = round_start(
            inverse.shape[0], self.chunks, self.rounds, k + self.chunks)
        if indices is None:
            if k < self.chunks:
                memset(&next_entry[row], 0, self.groups * sizeof(Py_ssize_t))
            for i in range(start, stop):
                next_entry[row + inverse[i]] += 1
            return
        for i in range(start, stop):
            entry = next_entry[row + inverse[i]]
            next_entry[row + inverse[i]] = entry + 1
            indices[entry] = i

    cdef void scan_counts(self, Py_ssize_t[::1] offsets) noexcept nogil:
        """Replace the count of each chunk and group by the index in `indices` where the chunk
        begins to write positions of the group. Writes `offsets`."""
        cdef Py_ssize_t[::1] counts = self.next_entry
        cdef Py_ssize_t g, k, position, count, total = 0
        for g in range(self.groups):
            offsets[g] = total
            for k in range(self.chunks):
                position = k * self.groups + g
                count = counts[position]
                counts[position] = total
                total += count
        offsets[self.groups] = total
