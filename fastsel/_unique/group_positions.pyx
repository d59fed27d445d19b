"""The positions of the keys of each group, from the inverse: for few groups.

This is the scatter of scatter.pyx, with groups instead of parts: each chunk counts its keys of each
group, an exclusive scan of the counts says where each chunk writes to each group, and each chunk
writes the positions of its keys. For many groups, sorting.pyx finds the positions.
"""
cimport numpy as cnp
from libc.string cimport memset

from fastsel._core.parallel cimport Job, chunk_count, round_start
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport new_intp

cnp.import_array()


def group_positions(const Py_ssize_t[::1] inverse not None, Py_ssize_t groups, int threads):
    """(indices, offsets): the positions of group g are indices[offsets[g]:offsets[g + 1]],
    ascending. Every item of inverse is less than `groups`, and no other thread writes to inverse:
    otherwise memory behind the results is overwritten."""
    cdef cnp.npy_intp size = inverse.shape[0], ends = groups + 1
    cdef CountGroups count
    cdef WritePositions write
    indices = new_result(1, &size, cnp.NPY_INTP)
    offsets = new_result(1, &ends, cnp.NPY_INTP)
    count = CountGroups(inverse, groups, threads)
    count.run_rounds(count.rounds, threads)
    count.scan_counts(offsets)
    write = WritePositions(inverse, groups, threads)
    write.next_entry, write.indices = count.next_entry, indices
    write.run_rounds(write.rounds, threads)
    return indices, offsets


cdef class OverInverse(Job):
    """A pass over chunks of the inverse, in rounds, so that signals are handled in time."""
    cdef const Py_ssize_t[::1] inverse
    cdef Py_ssize_t groups
    cdef Py_ssize_t rounds
    cdef Py_ssize_t[::1] next_entry   # [chunk][group]: count, then index of the next entry

    def __cinit__(self, const Py_ssize_t[::1] inverse, Py_ssize_t groups, int threads):
        self.inverse, self.groups = inverse, groups
        # All chunks together have at most as many counts as there are keys.
        self.chunks = max(1, min(<Py_ssize_t>threads, inverse.shape[0] // max(1, groups)))
        self.rounds = chunk_count(inverse.shape[0] // self.chunks, 1, 2 * sizeof(Py_ssize_t))

    cdef Py_ssize_t first_key(self, Py_ssize_t k) noexcept nogil:
        """Where chunk k % chunks starts in round k // chunks."""
        return round_start(self.inverse.shape[0], self.chunks, self.rounds, k)


cdef class CountGroups(OverInverse):
    """Count the keys of each group in each chunk."""
    def __init__(self, *_):
        self.next_entry = new_intp(max(1, self.chunks * self.groups))

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const Py_ssize_t[::1] inverse = self.inverse
        cdef Py_ssize_t[::1] counts = self.next_entry
        cdef Py_ssize_t row = k % self.chunks * self.groups, i
        if k < self.chunks:
            memset(&counts[row], 0, self.groups * sizeof(Py_ssize_t))
        for i in range(self.first_key(k), self.first_key(k + self.chunks)):
            counts[row + inverse[i]] += 1

    cdef void scan_counts(self, Py_ssize_t[::1] offsets) noexcept nogil:
        """Turn the counts into offsets into `indices`."""
        cdef Py_ssize_t[::1] counts = self.next_entry
        cdef Py_ssize_t g, k, at, count, total = 0
        for g in range(self.groups):
            offsets[g] = total
            for k in range(self.chunks):
                at = k * self.groups + g
                count = counts[at]
                counts[at] = total
                total += count
        offsets[self.groups] = total


cdef class WritePositions(OverInverse):
    """Write the position of each key to the range of its group."""
    cdef Py_ssize_t[::1] indices

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const Py_ssize_t[::1] inverse = self.inverse
        cdef Py_ssize_t[::1] next_entry = self.next_entry, indices = self.indices
        cdef Py_ssize_t row = k % self.chunks * self.groups, i, at
        for i in range(self.first_key(k), self.first_key(k + self.chunks)):
            at = next_entry[row + inverse[i]]
            next_entry[row + inverse[i]] = at + 1
            indices[at] = i
