"""A pass over strings in rounds: threads read the strings of a round, and the caller holds the GIL.

Between rounds, signal handlers and other Python threads run.
"""
from cpython.exc cimport PyErr_CheckSignals

from fastsel._core.parallel cimport chunk_count, chunk_start
from fastsel._core.scratch cimport new_u8

cdef enum:
    ROUND_STRINGS = 1 << 16   # strings between two checks for signals: about a millisecond
    STRING_BYTES = 128        # about how many bytes of a string a thread reads


cdef class StringRounds(Job):
    """A chunk that cannot handle a string fails, and the pass ends after this round."""
    cdef int run_round(self, int threads) except -1:
        """Handle the chunks of a round, and hold the GIL."""
        return self.run_with_gil(threads, True)

    cdef bint run_until_failure(self, Py_ssize_t size, int threads) except -1:
        """Handle `size` strings, or stop after the round in which a chunk fails. Returns whether no
        chunk has failed."""
        cdef Py_ssize_t k
        self.failed = new_u8(max_chunk_count(threads))
        self.failed[:] = False
        self.start = 0
        while self.start < size:
            self.size = min(size - self.start, ROUND_STRINGS)
            self.chunks = chunk_count(self.size, threads, STRING_BYTES)
            self.run_round(threads)
            for k in range(self.chunks):
                if self.failed[k]:
                    return False
            self.start += self.size
            if self.start < size:
                PyErr_CheckSignals()
                with nogil:       # other Python threads may run
                    pass
        return True

    cdef Py_ssize_t first(self, Py_ssize_t k) noexcept nogil:
        """The index of the first string of chunk k of the round."""
        return self.start + chunk_start(self.size, self.chunks, k)


cdef Py_ssize_t max_chunk_count(int threads) noexcept:
    """The maximum number of chunks of a round."""
    return chunk_count(ROUND_STRINGS, threads, STRING_BYTES)
