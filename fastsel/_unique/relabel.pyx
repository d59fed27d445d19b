"""The inverse for another order of the groups."""
from fastsel._core.parallel cimport Job, chunk_count, chunk_start


def relabel(const Py_ssize_t[::1] ranks not None, Py_ssize_t[::1] inverse not None, int threads):
    """Replace each group id by its rank. Every item of inverse is less than the length of ranks:
    otherwise memory behind ranks is read."""
    Relabel(ranks, inverse, threads).run(threads)


cdef class Relabel(Job):
    cdef const Py_ssize_t[::1] ranks
    cdef Py_ssize_t[::1] inverse

    def __cinit__(self, const Py_ssize_t[::1] ranks, Py_ssize_t[::1] inverse, int threads):
        self.ranks, self.inverse = ranks, inverse
        self.chunks = chunk_count(inverse.shape[0], threads, 3 * sizeof(Py_ssize_t))

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const Py_ssize_t[::1] ranks = self.ranks
        cdef Py_ssize_t[::1] inverse = self.inverse
        cdef Py_ssize_t i
        for i in range(chunk_start(inverse.shape[0], self.chunks, k),
                       chunk_start(inverse.shape[0], self.chunks, k + 1)):
            inverse[i] = ranks[inverse[i]]
