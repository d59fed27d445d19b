"""A pass over strings in rounds; see string_rounds.pyx."""
from libc.stdint cimport uint8_t

from fastsel._core.parallel cimport Job


cdef class StringRounds(Job):
    cdef Py_ssize_t start         # index of the first string of the round
    cdef Py_ssize_t size          # number of strings of the round
    cdef uint8_t[::1] failed      # by chunk: 1 if it has failed

    cdef int run_round(self, int threads) except -1    # a subclass overrides it
    cdef bint run_until_failure(self, Py_ssize_t size, int threads) except -1
    cdef Py_ssize_t first(self, Py_ssize_t k) noexcept nogil


cdef Py_ssize_t max_chunk_count(int threads) noexcept
