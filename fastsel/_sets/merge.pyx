"""The numbers that are in exactly one of two ascending arrays of distinct numbers, by a merge.

The first pass counts the numbers of the result, the second writes them. Each chunk merges a range
of the larger array with the numbers of the other array that belong between them.
"""
cimport numpy as cnp
from libc.stdint cimport (
    int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t)
from libc.string cimport memcpy

from fastsel._core.parallel cimport Job, chunk_count, chunk_start, scan
from fastsel._core.results cimport new_array
from fastsel._core.scratch cimport new_intp

cnp.import_array()

ctypedef fused number_t:
    int8_t
    int16_t
    int32_t
    int64_t
    uint8_t
    uint16_t
    uint32_t
    uint64_t
    float
    double

ctypedef Py_ssize_t (*count_t)(
    const void *first, Py_ssize_t n_first, const void *second, Py_ssize_t n_second) noexcept nogil
ctypedef void (*write_t)(
    const void *first, Py_ssize_t n_first, const void *second, Py_ssize_t n_second, void *out,
    Py_ssize_t room) noexcept nogil


def exclusive_or(const number_t[::1] first not None, const number_t[::1] second not None,
                 cnp.dtype dtype not None, int threads):
    """The ascending numbers that are in exactly one array, as an array of the dtype, whose items
    are as wide. Both arrays are ascending and distinct, have no NaN, and nobody writes to them:
    otherwise the result is undefined. Any two arrays that nobody writes to are safe."""
    cdef Merge job = Merge(dtype, sizeof(number_t))
    cdef Py_ssize_t n_first = first.shape[0], n_second = second.shape[0], k
    job.first = <const char *>&first[0] if n_first else NULL
    job.second = <const char *>&second[0] if n_second else NULL
    job.count, job.write = <count_t>&count_result[number_t], <write_t>&write_result[number_t]
    job.start(n_first + n_second, threads)
    for k in range(1, job.chunks + 1):
        if n_first >= n_second:
            job.first_starts[k] = chunk_start(n_first, job.chunks, k)
            job.second_starts[k] = max(
                job.second_starts[k - 1], start_of_others(first, job.first_starts[k], second))
        else:
            job.second_starts[k] = chunk_start(n_second, job.chunks, k)
            job.first_starts[k] = max(
                job.first_starts[k - 1], start_of_others(second, job.second_starts[k], first))
    return job.merge(threads)


cdef Py_ssize_t start_of_others(const number_t[::1] items, Py_ssize_t start,
                                const number_t[::1] others) noexcept nogil:
    """Where the others start that are not less than items[start]; their number if `start` is the
    end."""
    cdef Py_ssize_t low = 0, high = others.shape[0], middle
    if start == items.shape[0]:
        return high
    while low < high:
        middle = (low + high) // 2
        if others[middle] < items[start]:
            low = middle + 1
        else:
            high = middle
    return low


cdef class Merge(Job):
    cdef cnp.dtype dtype
    cdef Py_ssize_t width
    cdef count_t count
    cdef write_t write
    cdef const char *first
    cdef const char *second
    cdef Py_ssize_t[::1] first_starts     # by chunk
    cdef Py_ssize_t[::1] second_starts
    cdef Py_ssize_t[::1] offsets          # by chunk: the length of its result, then its start
    cdef char *out                        # NULL in the pass that counts

    def __init__(self, cnp.dtype dtype, Py_ssize_t width):
        self.dtype, self.width = dtype, width

    cdef int start(self, Py_ssize_t size, int threads) except -1:
        self.chunks = chunk_count(size, threads, self.width)
        self.first_starts = new_intp(self.chunks + 1)
        self.second_starts = new_intp(self.chunks + 1)
        self.first_starts[0] = self.second_starts[0] = 0
        self.offsets = new_intp(self.chunks + 1)
        return 0

    cdef cnp.ndarray merge(self, int threads):
        cdef cnp.ndarray result
        cdef cnp.npy_intp length
        self.run(threads)
        scan(&self.offsets[0], self.chunks)
        length = self.offsets[self.chunks]
        result = new_array(1, &length, self.dtype)
        self.out = <char *>cnp.PyArray_DATA(result)
        self.run(threads)
        return result

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t start_first = self.first_starts[k], start_second = self.second_starts[k]
        cdef Py_ssize_t n_first = self.first_starts[k + 1] - start_first
        cdef Py_ssize_t n_second = self.second_starts[k + 1] - start_second
        cdef const char *first = self.first + start_first * self.width
        cdef const char *second = self.second + start_second * self.width
        if self.out == NULL:
            self.offsets[k] = self.count(first, n_first, second, n_second)
        else:
            self.write(first, n_first, second, n_second, self.out + self.offsets[k] * self.width,
                       self.offsets[k + 1] - self.offsets[k])


cdef Py_ssize_t count_result(const number_t *first, Py_ssize_t n_first, const number_t *second,
                             Py_ssize_t n_second) noexcept nogil:
    """The number of numbers that write_result writes. No branch depends on a number. Of two numbers
    that are neither less nor greater than each other, both are left out: so NaN ends no loop late.
    """
    cdef Py_ssize_t i = 0, j = 0, both = 0
    cdef number_t one, other
    cdef int less, greater
    while i < n_first and j < n_second:
        one, other = first[i], second[j]
        less, greater = one < other, other < one
        both += 1 - (less | greater)
        i += 1 - greater
        j += 1 - less
    return n_first + n_second - 2 * both


cdef void write_result(const number_t *first, Py_ssize_t n_first, const number_t *second,
                       Py_ssize_t n_second, number_t *out, Py_ssize_t room) noexcept nogil:
    """Write the `room` numbers that are in exactly one range. Each number is written, and the next
    one takes its place if it is in both."""
    cdef Py_ssize_t i = 0, j = 0, n = 0
    cdef number_t one, other
    cdef int less, greater
    while i < n_first and j < n_second and n < room:
        one, other = first[i], second[j]
        less, greater = one < other, other < one
        out[n] = other if greater else one
        n += less | greater
        i += 1 - greater
        j += 1 - less
    if n < room:              # the other range has ended
        memcpy(out + n, first + i if i < n_first else second + j, (room - n) * sizeof(number_t))
