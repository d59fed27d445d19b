"""Pass 2 of nonzero: bitmask -> flat indices, or the number of set bits before each row.

Chunk k writes flat indices into its own range of the output, offsets[k] ... offsets[k + 1] - 1; or
the numbers for the rows that begin in the chunk.
"""
cimport numpy as cnp
from libc.stdint cimport intptr_t, uint32_t, uint64_t

from fastsel._core.parallel cimport Job, choose_threads, chunk_start
from fastsel._core.results cimport new_result
from fastsel._core.strided cimport strided_t
from fastsel._positions.bitmask cimport (
    STACK_BLOCKS, Bitmask, describe_array, fits_stack, pack_blocks, pack_items)
from fastsel._positions.truth cimport truth_t
from fastsel._simd.blocks cimport blocks_of, fs_popcount, is_sparse
from fastsel._simd.levels cimport level

cnp.import_array()


def flatnonzero(a):
    """numpy.flatnonzero(a); None for an array that describe_array does not accept."""
    cdef uint64_t[STACK_BLOCKS] bits
    cdef strided_t items
    cdef truth_t truth
    cdef Py_ssize_t blocks, total
    cdef cnp.ndarray out
    cdef int threads
    described = describe_array(a, &items, &truth)
    if described is None:
        return None
    if fits_stack(&items):
        blocks = blocks_of(items.size)
        total = pack_blocks(&items, &truth, 0, blocks, bits)
        out = new_result(total, cnp.NPY_INTP)
        level.write(bits, blocks, 0, is_sparse(total, blocks),
                    <intptr_t *>cnp.PyArray_DATA(out), total)
        return out
    threads = choose_threads(cnp.PyArray_NBYTES(a))
    return flat(pack_items(&items, &truth, sizeof(intptr_t), threads), threads)


cpdef cnp.ndarray flat(Bitmask mask, int threads):
    """The indices of the set bits, ascending, as a new intp array."""
    cdef WriteIndices job
    cdef cnp.npy_intp total = mask.count()
    cdef cnp.ndarray out = new_result(total, cnp.NPY_INTP)
    if total:
        job = WriteIndices()
        job.read(mask)
        job.out = <intptr_t *>cnp.PyArray_DATA(out)
        job.run(threads)
    return out


def row_starts(Bitmask mask not None, Py_ssize_t row_items, cnp.ndarray out not None, int threads):
    """Write the number of set bits before each row of row_items > 0 bits to out.

    out is C-contiguous and has an item of 4 or 8 bytes for each row. All rows start before the end
    of the last block.
    """
    cdef WriteRowStarts job = WriteRowStarts()
    job.read(mask)
    job.out, job.has_u32_items = <char *>cnp.PyArray_DATA(out), cnp.PyArray_ITEMSIZE(out) == 4
    job.rows, job.row_items = cnp.PyArray_SIZE(out), row_items
    job.run(threads)


cdef class BitmaskPass(Job):
    cdef void read(self, Bitmask mask) noexcept:
        """Set up the pass over a mask."""
        self.bits, self.offsets = mask.bits, mask.offsets
        self.chunks = mask.offsets.shape[0] - 1

    cdef Py_ssize_t start_block(self, Py_ssize_t k) noexcept nogil:
        """The first block of chunk k, before which chunk k - 1 stops."""
        return chunk_start(self.bits.shape[0], self.chunks, k)

    cdef void write_indices(self, Py_ssize_t k, intptr_t *out) noexcept nogil:
        """Write the indices of the set bits of chunk k."""
        cdef Py_ssize_t block = self.start_block(k), blocks = self.start_block(k + 1) - block
        cdef Py_ssize_t hits = self.offsets[k + 1] - self.offsets[k]
        level.write(&self.bits[block], blocks, block * 64, is_sparse(hits, blocks), out, hits)


cdef class WriteIndices(BitmaskPass):
    cdef intptr_t *out

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        if self.offsets[k] < self.offsets[k + 1]:
            self.write_indices(k, self.out + self.offsets[k])


cdef class WriteRowStarts(BitmaskPass):
    """Write the number of set bits before each row that begins within a chunk."""
    cdef char *out
    cdef bint has_u32_items           # items of out have 4 bytes instead of 8
    cdef Py_ssize_t rows
    cdef Py_ssize_t row_items

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const uint64_t[::1] bits = self.bits
        cdef Py_ssize_t block = self.start_block(k), stop = self.start_block(k + 1) * 64
        cdef Py_ssize_t row = (block * 64 + self.row_items - 1) // self.row_items
        cdef Py_ssize_t start = row * self.row_items, before = self.offsets[k]
        while row < self.rows and start < stop:
            before += level.count(&bits[block], (start >> 6) - block)
            block = start >> 6
            self.write_start(
                row, before + fs_popcount(bits[block] & ((<uint64_t>1 << (start & 63)) - 1)))
            row += 1
            start += self.row_items

    cdef inline void write_start(self, Py_ssize_t row, Py_ssize_t start) noexcept nogil:
        if self.has_u32_items:
            (<uint32_t *>self.out)[row] = <uint32_t>start
        else:
            (<uint64_t *>self.out)[row] = start
