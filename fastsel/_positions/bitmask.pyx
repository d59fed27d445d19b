"""Pass 1 of selections: each item becomes one bit. Pass 2 reads the bits, and not the items again.

Kernels see a dtype as `words` words of `width` bytes per item, of which the last may overlap the
one before it, and the significant bits of each word; see truth.pxd.

The entries of kernels that take any object, such as count_nonzero, serve all sizes. They return
None for arguments that they do not serve. Up to max_items items, one thread has the bits on its
stack and holds the GIL: the objects of a job would take longer than the work.

The other kernels follow the pattern of this kernel. A kernel is a job: a class whose attributes are
typed views of what it reads and writes, or pointers if the type is not known when compiling, and
whose method `chunk` handles one chunk. A Python function describes the arrays, allocates memory,
runs the job on all chunks and scans their counts. Kernels validate nothing.
"""
cimport cython
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy, memset

from fastsel._core.parallel cimport Job, choose_threads, chunk_count, scan
from fastsel._core.scratch cimport new_intp, new_u64
from fastsel._core.strided cimport (
    advance, cursor_t, describe, inner_length, is_run, item, run_length, seek, sort_axes, strided_t)
from fastsel._positions.tiles cimport pack_tiles, tile_axis
from fastsel._positions.truth cimport (
    FLAG_ITEMS, describe_truth, pack_run, test_run, truth_t)
from fastsel._simd.blocks cimport blocks_of
from fastsel._simd.levels cimport level

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    object PyArray_Scalar(void *data, cnp.dtype descr, object base)

cdef cnp.dtype INTP = cnp.PyArray_DescrFromType(cnp.NPY_INTP)

cdef object truth_rule        # _dtypes.truth

cdef enum:
    COUNTED_BLOCKS = 64   # blocks whose bits are counted at a time
    # Items are counted in memory order if inner rows are then at least SHORTEST_ROW items long, or
    # at least as long as in C order.
    SHORTEST_ROW = 16


def set_truth_rule(rule):
    """Set the function that finds the Truth of a dtype."""
    global truth_rule
    truth_rule = rule


def count_nonzero(a):
    """numpy.count_nonzero(a), as intp; None for an array that describe_array does not accept."""
    cdef strided_t items
    cdef truth_t truth
    cdef cnp.npy_intp total
    described = describe_array(a, &items, &truth)
    if described is None:
        return None
    if fits_stack(&items):
        total = pack_blocks(&items, &truth, 0, blocks_of(items.size), NULL)
    else:
        total = count_items(&items, &truth, choose_threads(cnp.PyArray_NBYTES(a)))
    return PyArray_Scalar(&total, INTP, None)


cpdef Bitmask pack(cnp.ndarray items, Py_ssize_t width, const uint64_t[::1] significant,
                   Py_ssize_t moved, int threads):
    """The Bitmask of all items, in C order. `moved` is the number of bytes that pass 2 writes for a
    selected item; the chunks of blocks depend on it."""
    cdef strided_t described
    cdef truth_t truth
    describe(&described, items, 0, cnp.PyArray_NDIM(items))
    describe_truth(&truth, cnp.PyArray_ITEMSIZE(items), width, significant)
    return pack_items(&described, &truth, moved, threads)


cdef describe_by_rule(cnp.dtype dtype, truth_t *truth):
    cdef const uint64_t[::1] significant
    rule = truth_rule(dtype)
    if rule is not None:
        significant = rule[1]
        describe_truth(truth, dtype.itemsize, rule[0], significant)
    return rule


cdef Bitmask pack_items(const strided_t *items, const truth_t *truth, Py_ssize_t moved,
                        int threads):
    cdef PackItems job = PackItems()
    cdef Bitmask mask = Bitmask()
    cdef int along = tile_axis(items)
    mask.bits = new_u64(blocks_of(items.size))
    if along >= 0:
        # Tiles have their own chunks; the bits of each chunk of blocks are counted afterwards.
        pack_tiles(items, truth, along, mask.bits, threads)
        mask.count_bits(truth.itemsize + moved, threads)
        return mask
    job.bits = mask.bits
    job.count(items, truth, moved, threads)
    mask.offsets = job.counts
    return mask


cdef Py_ssize_t count_items(const strided_t *items, const truth_t *truth, int threads) except -1:
    """The number of non-zero items."""
    cdef PackItems job = PackItems()
    cdef strided_t in_memory_order
    job.bits = None
    if not is_run(items, truth.itemsize):
        in_memory_order = items[0]
        sort_axes(&in_memory_order)
        if inner_length(&in_memory_order) >= min(SHORTEST_ROW, inner_length(items)):
            items = &in_memory_order
    job.count(items, truth, 0, threads)
    return job.counts[job.chunks]


cdef Py_ssize_t pack_blocks(const strided_t *items, const truth_t *truth, Py_ssize_t block,
                            Py_ssize_t stop, uint64_t *bits) noexcept nogil:
    cdef uint64_t[COUNTED_BLOCKS] scratch
    cdef uint8_t[FLAG_ITEMS] flags
    cdef uint64_t *target
    cdef cursor_t cursor
    cdef Py_ssize_t width = truth.itemsize, n, filled, length, total = 0
    cdef Py_ssize_t left = min(stop * 64, items.size) - block * 64
    if left <= 0:
        return 0
    if is_run(items, width) and bits != NULL:
        return pack_run(level, truth, items.data + block * 64 * width, width, left, bits)
    if is_run(items, width):
        while left > 0:
            total += pack_run(level, truth, items.data + block * 64 * width, width,
                              min(left, 64 * COUNTED_BLOCKS), scratch)
            block += COUNTED_BLOCKS
            left -= 64 * COUNTED_BLOCKS
        return total
    # Items of other layouts become flags first, across the ends of their rows.
    seek(&cursor, items, block * 64)
    while left:
        n, filled = min(left, FLAG_ITEMS), 0
        while filled < n:
            length = run_length(&cursor, items, n - filled)
            test_run(truth, item(&cursor, items), items.strides[items.ndim - 1], length,
                     flags + filled)
            advance(&cursor, items, length)
            filled += length
        length = blocks_of(n)
        memset(flags + n, 0, length * 64 - n)
        target = bits if bits != NULL else scratch
        total += level.pack[0](<const char *>flags, 0xff, target, length)
        if bits != NULL:
            bits += length
        left -= n
    return total


cpdef Bitmask from_bits(uint64_t[::1] bits, Py_ssize_t moved, int threads):
    """The Bitmask that has these bits; `moved` is as for pack."""
    cdef Bitmask mask = Bitmask()
    mask.bits = bits
    mask.count_bits(moved, threads)
    return mask


cdef Bitmask bitmask_of(const uint64_t *bits, Py_ssize_t blocks, Py_ssize_t moved, int threads):
    cdef uint64_t[::1] copy = new_u64(blocks)
    memcpy(&copy[0], bits, blocks * sizeof(uint64_t))
    return from_bits(copy, moved, threads)


cdef class Bitmask:
    @property
    def total(self):
        """The number of selected items."""
        return self.count()

    cdef Py_ssize_t count(self) noexcept nogil:
        return self.offsets[self.offsets.shape[0] - 1]

    cdef int count_bits(self, Py_ssize_t moved, int threads) except -1:
        """Compute the offsets from bits that are already written."""
        cdef CountBits job = CountBits()
        job.bits, job.units = self.bits, self.bits.shape[0]
        job.chunks = chunk_count(job.units, threads, 64 * moved)
        job.counts = self.offsets = new_intp(job.chunks + 1)
        job.run(threads)
        scan(&job.counts[0], job.chunks)
        return 0


cdef class CountBits(Job):
    """Count the set bits of each chunk of blocks."""
    cdef const uint64_t[::1] bits
    cdef Py_ssize_t[::1] counts       # by chunk, and room for the total

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t block = self.begin(k), stop = self.begin(k + 1)
        self.counts[k] = level.count(&self.bits[block], stop - block) if block < stop else 0


@cython.final
cdef class PackItems(Job):
    """Write the bits of all items, and count the set bits of each chunk of blocks."""
    cdef strided_t items
    cdef truth_t truth
    cdef uint64_t[::1] bits           # None: only count
    cdef Py_ssize_t[::1] counts       # by chunk, and the total

    cdef int count(self, const strided_t *items, const truth_t *truth, Py_ssize_t moved,
                   int threads) except -1:
        """Run the job: afterwards, counts has the offset of each chunk. `bits` is set before. The
        caller keeps the significant words of truth alive until the job ends."""
        self.items, self.truth, self.units = items[0], truth[0], blocks_of(items.size)
        self.chunks = chunk_count(
            self.units, threads, 64 * (truth.itemsize + moved))
        self.counts = new_intp(self.chunks + 1)
        self.run(threads)
        scan(&self.counts[0], self.chunks)
        return 0

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t block = self.begin(k), stop = self.begin(k + 1), total
        cdef bint writes = self.bits is not None and block < stop
        total = pack_blocks(&self.items, &self.truth, block, stop,
                            &self.bits[block] if writes else NULL)
        self.counts[k] = total
