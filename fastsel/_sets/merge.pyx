"""The numbers that are in exactly one of two ascending arrays of distinct numbers, by a merge.

Each chunk merges a range of the larger array with the numbers of the other array that belong
between them, into memory that has room for all of them: a merge takes longer than the second pass,
which copies the numbers of all chunks to the result.
"""
cimport numpy as cnp
from libc.stdint cimport (
    int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t)
from libc.string cimport memcpy, memmove

from fastsel._core.parallel cimport Job, chunk_count, scan
from fastsel._core.results cimport new_array
from fastsel._core.scratch cimport Memory, new_intp, new_memory

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

ctypedef Py_ssize_t (*merge_t)(
    const void *first, Py_ssize_t n_first, const void *second, Py_ssize_t n_second,
    void *out) noexcept nogil


def exclusive_or(const number_t[::1] first not None, const number_t[::1] second not None,
                 cnp.dtype dtype not None, int threads):
    """The ascending numbers that are in exactly one array, as an array of the dtype, whose items
    are as wide. Both arrays are ascending and distinct, have no NaN, and nobody writes to them:
    otherwise the result is undefined. Any two arrays that nobody writes to are safe."""
    cdef Py_ssize_t k
    if first.shape[0] < second.shape[0]:
        first, second = second, first
    cdef Py_ssize_t n_first = first.shape[0], n_second = second.shape[0]
    cdef Merge job = Merge(dtype, sizeof(number_t), n_first, n_first + n_second, threads)
    job.first = <const char *>&first[0] if n_first else NULL
    job.second = <const char *>&second[0] if n_second else NULL
    job.merge_range = <merge_t>&merge_range[number_t]
    for k in range(1, job.chunks + 1):
        job.second_starts[k] = max(
            job.second_starts[k - 1], start_of_others(first, job.begin(k), second))
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
    cdef merge_t merge_range
    cdef const char *first
    cdef const char *second
    cdef Py_ssize_t[::1] second_starts    # by chunk
    cdef Py_ssize_t[::1] offsets          # by chunk: the length of its result, then its start
    cdef Memory merged                    # the results of all chunks, with gaps
    cdef char *out                        # NULL in the pass that merges

    def __init__(self, cnp.dtype dtype, Py_ssize_t width, Py_ssize_t n_first, Py_ssize_t size,
                 int threads):
        self.dtype, self.width, self.units = dtype, width, n_first
        self.chunks = chunk_count(size, threads, width)
        self.second_starts = new_intp(self.chunks + 1)
        self.second_starts[0] = 0
        self.offsets = new_intp(self.chunks + 1)
        self.merged = new_memory(size, width, b"B")

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
        cdef Py_ssize_t start_first = self.begin(k), start_second = self.second_starts[k]
        cdef Py_ssize_t n_first = self.begin(k + 1) - start_first
        cdef Py_ssize_t n_second = self.second_starts[k + 1] - start_second
        cdef char *merged = <char *>self.merged.data + (start_first + start_second) * self.width
        if self.out == NULL:
            self.offsets[k] = self.merge_range(
                self.first + start_first * self.width, n_first,
                self.second + start_second * self.width, n_second, merged)
        else:
            memcpy(self.out + self.offsets[k] * self.width, merged,
                   (self.offsets[k + 1] - self.offsets[k]) * self.width)


cdef Py_ssize_t merge_range(const number_t *first, Py_ssize_t n_first, const number_t *second,
                            Py_ssize_t n_second, number_t *out) noexcept nogil:
    """Write the numbers that are in exactly one range, and return how many; `out` has room for all
    numbers. One merge ascends and one descends, until they meet: a CPU works on both at once. No
    branch depends on a number: each number is written, and the next one takes its place if it is in
    both. Of two numbers that are neither less nor greater than each other, both are left out: so
    NaN ends no loop late. The pointer to an empty range may be NULL."""
    cdef Py_ssize_t i = 0, j = 0, n = 0, total = n_first + n_second, last = total
    cdef number_t one, other
    cdef int less, greater
    while i < n_first and j < n_second:
        one, other = first[i], second[j]
        less, greater = one < other, other < one
        out[n] = other if greater else one
        n += less | greater
        i += 1 - greater
        j += 1 - less
        if i == n_first or j == n_second:
            break
        one, other = first[n_first - 1], second[n_second - 1]
        less, greater = one < other, other < one
        out[last - 1] = one if greater else other
        last -= less | greater
        n_first -= 1 - less
        n_second -= 1 - greater
    if i < n_first:
        memcpy(out + n, first + i, (n_first - i) * sizeof(number_t))
    n += n_first - i
    if j < n_second:
        memcpy(out + n, second + j, (n_second - j) * sizeof(number_t))
    n += n_second - j
    memmove(out + n, out + last, (total - last) * sizeof(number_t))
    return n + total - last
