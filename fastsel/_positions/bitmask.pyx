"""Pass 1 of selections: each item becomes one bit. Pass 2 reads the bits, and not the items again.

Kernels see a dtype as `words` words of `width` bytes per item, and the significant bits of each
word; see truth.pxd.

The other kernels follow the pattern of this kernel. A kernel is a job: a class whose attributes are
typed views of what it reads and writes, or pointers if the type is not known when compiling, and
whose method `chunk` handles one chunk. A Python function describes the arrays, allocates memory,
runs the job on all chunks and scans their counts. Kernels validate nothing.
"""
cimport numpy as cnp
cimport cython
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memset

from fastsel._core.parallel cimport Job, chunk_count, chunk_start, scan
from fastsel._core.scratch cimport new_intp, new_u64
from fastsel._core.strided cimport (
    advance, cursor_t, describe, inner_length, is_run, item, run_length, seek, sort_axes, strided_t)
from fastsel._positions.tiles cimport pack_tiles, tile_axis
from fastsel._positions.truth cimport (
    FLAG_BLOCKS, FLAG_ITEMS, describe_truth, is_pair, test_run, truth_t)
from fastsel._simd.blocks cimport blocks_of, fs_join_pairs, log2_width
from fastsel._simd.levels cimport level

cnp.import_array()

cdef enum:
    SCRATCH_BLOCKS = 64   # blocks whose bits have room on the stack
    # Items are counted in memory order if inner rows are then at least MIN_ROW items long, or at
    # least as long as in C order.
    MIN_ROW = 16


def pack(cnp.ndarray items not None, Py_ssize_t width, const uint64_t[::1] significant not None,
         Py_ssize_t moved, int threads):
    """The Bitmask of all items, in C order. `moved` is the number of bytes that pass 2 writes for a
    selected item; the chunks of blocks depend on it."""
    cdef PackItems job = PackItems()
    cdef Bitmask mask = Bitmask()
    cdef int along
    describe(&job.items, items, 0, cnp.PyArray_NDIM(items))
    job.describe_words(width, significant, moved, threads)
    job.bits = mask.bits = new_u64(job.blocks)
    along = tile_axis(&job.items)
    if along >= 0:
        # Tiles have their own chunks; the bits of each chunk of blocks are counted afterwards.
        pack_tiles(&job.items, &job.truth, along, job.bits, threads)
        mask.count_bits(width * job.truth.words + moved, threads)
        return mask
    job.counts = mask.offsets = new_intp(job.chunks + 1)
    job.run(threads)
    scan(&job.counts[0], job.chunks)
    return mask


def count(cnp.ndarray items not None, Py_ssize_t width, const uint64_t[::1] significant not None,
          int threads):
    """The number of non-zero items, without a bitmask."""
    cdef PackItems job = PackItems()
    cdef strided_t in_memory_order
    describe(&job.items, items, 0, cnp.PyArray_NDIM(items))
    if not is_run(&job.items, cnp.PyArray_ITEMSIZE(items)):
        in_memory_order = job.items
        sort_axes(&in_memory_order)
        if inner_length(&in_memory_order) >= min(MIN_ROW, inner_length(&job.items)):
            job.items = in_memory_order
    job.describe_words(width, significant, 0, threads)
    job.bits, job.counts = None, new_intp(job.chunks + 1)
    job.run(threads)
    scan(&job.counts[0], job.chunks)
    return job.counts[job.chunks]


def from_bits(uint64_t[::1] bits not None, Py_ssize_t moved, int threads):
    """The Bitmask that has these bits; `moved` is as for pack."""
    cdef Bitmask mask = Bitmask()
    mask.bits = bits
    mask.count_bits(moved, threads)
    return mask


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
        job.bits, job.chunks = self.bits, chunk_count(self.bits.shape[0], threads, 64 * moved)
        job.counts = self.offsets = new_intp(job.chunks + 1)
        job.run(threads)
        scan(&job.counts[0], job.chunks)
        return 0


cdef class CountBits(Job):
    """Count the set bits of each chunk of blocks."""
    cdef const uint64_t[::1] bits
    cdef Py_ssize_t[::1] counts       # by chunk, and room for the total

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t block = chunk_start(self.bits.shape[0], self.chunks, k)
        cdef Py_ssize_t stop = chunk_start(self.bits.shape[0], self.chunks, k + 1)
        self.counts[k] = level.count(&self.bits[block], stop - block) if block < stop else 0


@cython.final
cdef class PackItems(Job):
    """Write the bits of all items, and count the set bits of each chunk of blocks."""
    cdef strided_t items
    cdef truth_t truth
    cdef Py_ssize_t blocks
    cdef uint64_t[::1] bits           # None: only count
    cdef Py_ssize_t[::1] counts       # by chunk, and room for the total

    cdef void describe_words(self, Py_ssize_t width, const uint64_t[::1] significant,
                             Py_ssize_t moved, int threads) noexcept:
        """Describe the words of the items, and choose the chunks; `items` is set before. The caller
        keeps `significant` alive until the job ends: otherwise freed memory is read."""
        describe_truth(&self.truth, width, significant)
        self.blocks = blocks_of(self.items.size)
        self.chunks = chunk_count(
            self.blocks, threads, 64 * (width * self.truth.words + moved))

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t block = chunk_start(self.blocks, self.chunks, k)
        cdef Py_ssize_t stop = chunk_start(self.blocks, self.chunks, k + 1)
        cdef Py_ssize_t whole = min(stop, self.items.size >> 6), total = 0
        # Full blocks of contiguous items of one word, or of a pair, are packed directly; all other
        # items become flags first.
        if block < whole and is_run(&self.items, self.truth.width * self.truth.words):
            if self.truth.words == 1:
                total = self.pack_words(block, whole)
                block = whole
            elif is_pair(&self.truth):
                total = self.pack_pairs(block, whole)
                block = whole
        if block < stop:
            total += self.pack_flags(block, stop)
        self.counts[k] = total

    cdef Py_ssize_t pack_words(self, Py_ssize_t block, Py_ssize_t stop) noexcept nogil:
        """Pack full blocks of contiguous items of one word. Returns the number of set bits."""
        cdef uint64_t[SCRATCH_BLOCKS] scratch
        cdef Py_ssize_t width = self.truth.width, step, total = 0
        while block < stop:
            step = min(stop - block, SCRATCH_BLOCKS) if self.bits is None else stop - block
            total += level.pack[log2_width(width)](
                self.items.data + block * 64 * width, self.truth.significant[0],
                &scratch[0] if self.bits is None else &self.bits[block], step)
            block += step
        return total

    cdef Py_ssize_t pack_pairs(self, Py_ssize_t block, Py_ssize_t stop) noexcept nogil:
        """Pack full blocks of contiguous items of two words with the same significant bits, such as
        complex numbers: the words are packed, and the two bits of each item are joined. Returns the
        number of set bits."""
        cdef uint64_t[SCRATCH_BLOCKS] scratch
        cdef uint64_t[::1] bits = self.bits
        cdef Py_ssize_t width = self.truth.width, step, total = 0, b
        while block < stop:
            step = min(stop - block, SCRATCH_BLOCKS // 2)
            level.pack[log2_width(width)](
                self.items.data + block * 128 * width, self.truth.significant[0], scratch, 2 * step)
            for b in range(step):
                scratch[b] = (fs_join_pairs(scratch[2 * b])
                              | fs_join_pairs(scratch[2 * b + 1]) << 32)
            total += level.count(scratch, step)
            if bits is not None:
                for b in range(step):
                    bits[block + b] = scratch[b]
            block += step
        return total

    cdef Py_ssize_t pack_flags(self, Py_ssize_t block, Py_ssize_t stop) noexcept nogil:
        """Pack blocks of items of any layout and size; each item first becomes a flag of one byte.
        Returns the number of set bits."""
        cdef uint64_t[FLAG_BLOCKS] scratch
        cdef uint8_t[FLAG_ITEMS] flags
        cdef cursor_t cursor
        cdef Py_ssize_t left = min(stop * 64, self.items.size) - block * 64
        cdef Py_ssize_t filled, wanted, length, total = 0
        seek(&cursor, &self.items, block * 64)
        while left:
            wanted = min(left, FLAG_ITEMS)
            filled = 0
            while filled < wanted:
                length = run_length(&cursor, &self.items, wanted - filled)
                test_run(&self.truth, item(&cursor, &self.items),
                         self.items.strides[self.items.ndim - 1], length, flags + filled)
                advance(&cursor, &self.items, length)
                filled += length
            length = blocks_of(wanted)
            memset(flags + wanted, 0, length * 64 - wanted)
            total += level.pack[0](
                <const char *>flags, 0xff, &scratch[0] if self.bits is None else &self.bits[block],
                length)
            block += length
            left -= wanted
        return total
