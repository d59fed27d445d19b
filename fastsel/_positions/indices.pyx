"""Pass 2 of nonzero: bitmask -> flat indices, or the starts of rows.

Each chunk writes into its own part of the output, from offsets[k] to offsets[k + 1].
"""
cimport numpy as cnp
from libc.stdint cimport intptr_t, uint32_t, uint64_t

from fastsel._core.parallel cimport Job, chunk_start
from fastsel._core.results cimport new_result
from fastsel._positions.bitmask cimport Bitmask
from fastsel._simd.blocks cimport fs_level_t, fs_popcount, is_sparse
from fastsel._simd.levels cimport fs_level

cnp.import_array()

cdef const fs_level_t *level = fs_level()


def flat(Bitmask mask not None, int threads):
    """Indices of the set bits, ascending, as a new intp array."""
    cdef WriteIndices job
    cdef cnp.npy_intp total = mask.count()
    cdef cnp.ndarray out = new_result(1, &total, cnp.NPY_INTP)
    if total:
        job = WriteIndices()
        job.read(mask)
        job.out = <intptr_t *>cnp.PyArray_DATA(out)
        job.run(threads)
    return out


def row_starts(Bitmask mask not None, Py_ssize_t row_items, cnp.ndarray out not None, int threads):
    """How many bits are set before each row of row_items > 0 bits, into out.

    out is C-contiguous and has an item of 4 or 8 bytes for each row; all of them start before the
    end of the last block.
    """
    cdef WriteRowStarts job = WriteRowStarts()
    job.read(mask)
    job.out, job.narrow = <char *>cnp.PyArray_DATA(out), cnp.PyArray_ITEMSIZE(out) == 4
    job.rows, job.row_items = cnp.PyArray_SIZE(out), row_items
    job.run(threads)


cdef class OverBits(Job):
    cdef void read(self, Bitmask mask) noexcept:
        """Pass over its chunks."""
        self.bits, self.offsets = mask.bits, mask.offsets
        self.chunks = mask.offsets.shape[0] - 1

    cdef Py_ssize_t start_block(self, Py_ssize_t k) noexcept nogil:
        """Where chunk k starts; chunk k - 1 stops there."""
        return chunk_start(self.bits.shape[0], self.chunks, k)

    cdef void write_indices(self, Py_ssize_t k, intptr_t *out) noexcept nogil:
        """The indices of the set bits of chunk k. out has room for all of them, or what lies behind
        is overwritten."""
        cdef Py_ssize_t block = self.start_block(k), blocks = self.start_block(k + 1) - block
        cdef Py_ssize_t hits = self.offsets[k + 1] - self.offsets[k]
        level.write(&self.bits[block], blocks, block * 64, is_sparse(hits, blocks), out, hits)


cdef class WriteIndices(OverBits):
    cdef intptr_t *out

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        if self.offsets[k] < self.offsets[k + 1]:
            self.write_indices(k, self.out + self.offsets[k])


cdef class WriteRowStarts(OverBits):
    """The rows that start within a chunk."""
    cdef char *out
    cdef bint narrow                  # an item of out has 4 bytes, not 8
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
            self.put(row, before + fs_popcount(bits[block] & ((<uint64_t>1 << (start & 63)) - 1)))
            row += 1
            start += self.row_items

    cdef inline void put(self, Py_ssize_t row, Py_ssize_t start) noexcept nogil:
        """Row is below `rows`, or what lies behind out is overwritten."""
        if self.narrow:
            (<uint32_t *>self.out)[row] = <uint32_t>start
        else:
            (<uint64_t *>self.out)[row] = start
