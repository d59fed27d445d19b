"""Relabel the inverse for another order of the groups; and find the positions of the keys of each
group from the inverse, if there are few groups.

The positions are found as in scatter.pyx, with groups instead of parts: each chunk counts its keys
of each group, an exclusive scan of the counts says where each chunk writes to in each group, and
each chunk writes the positions of its keys. For many groups, sorting.pyx finds the positions.
"""
cimport numpy as cnp
from libc.string cimport memset

from fastsel._core.parallel cimport Job, chunk_count, round_start
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport new_intp

cnp.import_array()


cpdef int relabel(const Py_ssize_t[::1] ranks, Py_ssize_t[::1] inverse, int threads) except -1:
    """Replace each group id g of inverse by ranks[g]. Every item of inverse is at least 0 and less
    than the length of ranks: otherwise memory before or behind ranks is read."""
    cdef Relabel job = Relabel()
    job.ranks, job.inverse = ranks, inverse
    job.units = inverse.shape[0]
    job.chunks = chunk_count(job.units, threads, 3 * sizeof(Py_ssize_t))
    return job.run(threads)


cdef class Relabel(Job):
    cdef const Py_ssize_t[::1] ranks
    cdef Py_ssize_t[::1] inverse

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const Py_ssize_t[::1] ranks = self.ranks
        cdef Py_ssize_t[::1] inverse = self.inverse
        cdef Py_ssize_t i
        for i in range(self.begin(k), self.begin(k + 1)):
            inverse[i] = ranks[inverse[i]]


def group_positions(const Py_ssize_t[::1] inverse not None, Py_ssize_t groups, int threads):
    """(indices, offsets): the positions of group g are indices[offsets[g]:offsets[g + 1]],
    ascending. Every item of inverse is at least 0 and less than `groups`, and no other thread
    writes to inverse: otherwise memory outside of the results is overwritten."""
    cdef GroupPositions job = GroupPositions(inverse, groups, threads)
    indices = new_result(inverse.shape[0], cnp.NPY_INTP)
    offsets = new_result(groups + 1, cnp.NPY_INTP)
    job.run_rounds(job.rounds, threads)
    job.scan_counts(offsets)
    job.indices = indices
    job.run_rounds(job.rounds, threads)
    return indices, offsets


cdef class GroupPositions(Job):
    """Two passes over chunks of the inverse. Each chunk is divided into rounds, and signals are
    handled between rounds. The first pass counts the keys of each group, the second pass writes
    their positions."""
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
