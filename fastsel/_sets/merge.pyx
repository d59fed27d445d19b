"""The numbers that are in one of two ascending arrays of distinct numbers, but not in both, by a
merge.

Each chunk merges a range of the larger array with the numbers of the other array that belong
between them, into memory that has room for all of them: a merge takes longer than the second pass,
which copies the numbers of all chunks to the result.
"""
import numpy as np

cimport numpy as cnp
from libc.stdint cimport (
    int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t)
from libc.string cimport memcpy, memmove

from fastsel._core.parallel cimport Job, chunk_count, scan
from fastsel._core.results cimport new_array
from fastsel._core.scratch cimport Memory, new_intp, new_memory
from fastsel._simd.blocks cimport log2_width

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
    int keeps_first, int keeps_second, void *out) noexcept nogil


def merged(cnp.ndarray first not None, cnp.ndarray second not None, bint exclusive_or,
           int threads):
    """The ascending numbers that are in the first array alone or, with exclusive_or, in one array
    alone, in the dtype of the first array.

    Both arrays are contiguous, 1-d and of equal dtypes: native integers, dates, times, float32 or
    float64. Nobody writes to the arrays. Their numbers ascend, are distinct and are not NaN:
    otherwise the result is undefined, but no other memory is read or written."""
    cdef Merge job
    cdef cnp.ndarray result
    cdef cnp.npy_intp length
    if cnp.PyArray_SIZE(first) < cnp.PyArray_SIZE(second):
        job = Merge(second, first, threads)
        job.keeps_first, job.keeps_second = exclusive_or, True
    else:
        job = Merge(first, second, threads)
        job.keeps_first, job.keeps_second = True, exclusive_or
    job.run(threads)
    scan(&job.offsets[0], job.chunks)
    length = job.offsets[job.chunks]
    result = new_array(1, &length, <cnp.dtype>cnp.PyArray_DESCR(first))
    job.out = <char *>cnp.PyArray_DATA(result)
    job.run(threads)
    return result


cdef merge_t merge_of(const number_t *numbers) noexcept:
    """The merge for the type of the argument, which is not read."""
    return <merge_t>&merge_range[number_t]


cdef merge_t[10] MERGES = [
    merge_of(<int8_t *>NULL), merge_of(<int16_t *>NULL), merge_of(<int32_t *>NULL),
    merge_of(<int64_t *>NULL), merge_of(<uint8_t *>NULL), merge_of(<uint16_t *>NULL),
    merge_of(<uint32_t *>NULL), merge_of(<uint64_t *>NULL), merge_of(<float *>NULL),
    merge_of(<double *>NULL)]


cdef class Merge(Job):
    cdef Py_ssize_t width
    cdef bint keeps_first         # the numbers that are in the first array alone
    cdef bint keeps_second
    cdef merge_t merge_range
    cdef const char *first
    cdef const char *second
    cdef Py_ssize_t[::1] second_starts    # by chunk
    cdef Py_ssize_t[::1] offsets          # by chunk: the length of its result, then its start
    cdef Memory merged                    # the results of all chunks, with gaps
    cdef char *out                        # NULL in the pass that merges

    def __init__(self, cnp.ndarray first, cnp.ndarray second, int threads):
        cdef Py_ssize_t n_second = cnp.PyArray_SIZE(second)
        cdef Py_ssize_t[::1] starts
        kind = first.dtype.kind
        self.width, self.units = cnp.PyArray_ITEMSIZE(first), cnp.PyArray_SIZE(first)
        self.merge_range = MERGES[
            log2_width(self.width) + (4 if kind == "u" else 6 if kind == "f" else 0)]
        self.first = <const char *>cnp.PyArray_DATA(first)
        self.second = <const char *>cnp.PyArray_DATA(second)
        self.chunks = chunk_count(self.units, threads, 2 * self.width)
        self.second_starts = new_intp(self.chunks + 1)
        self.second_starts[0], self.second_starts[self.chunks] = 0, n_second
        if self.chunks > 1:
            starts = np.searchsorted(second, first[[self.begin(k) for k in range(1, self.chunks)]])
            self.second_starts[1:self.chunks] = starts
        self.offsets = new_intp(self.chunks + 1)
        self.merged = new_memory(self.units + n_second, self.width, b"B")

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t start_first = self.begin(k), start_second = self.second_starts[k]
        cdef Py_ssize_t n_first = self.begin(k + 1) - start_first
        cdef Py_ssize_t n_second = self.second_starts[k + 1] - start_second
        cdef char *merged = <char *>self.merged.data + (start_first + start_second) * self.width
        if self.out == NULL:
            self.offsets[k] = self.merge_range(
                self.first + start_first * self.width, n_first,
                self.second + start_second * self.width, n_second,
                self.keeps_first, self.keeps_second, merged)
        else:
            memcpy(self.out + self.offsets[k] * self.width, merged,
                   (self.offsets[k + 1] - self.offsets[k]) * self.width)


cdef Py_ssize_t merge_range(const number_t *first, Py_ssize_t n_first, const number_t *second,
                            Py_ssize_t n_second, int keeps_first, int keeps_second,
                            number_t *out) noexcept nogil:
    """Write the numbers that are kept, and return how many; `out` has room for all numbers. One
    merge ascends and one descends, until they meet: a CPU works on both at once. No branch depends
    on a number: each number is written, and the next one takes its place if it is not kept. Two
    numbers that are neither less nor greater than each other are both left out: so NaN ends no loop
    late."""
    cdef Py_ssize_t i = 0, j = 0, n = 0, total = n_first + n_second, last = total
    cdef number_t one, other
    cdef int less, greater
    while i < n_first and j < n_second:
        one, other = first[i], second[j]
        less, greater = one < other, other < one
        out[n] = other if greater else one
        n += less & keeps_first | greater & keeps_second
        i += 1 - greater
        j += 1 - less
        if i == n_first or j == n_second:
            break
        one, other = first[n_first - 1], second[n_second - 1]
        less, greater = one < other, other < one
        out[last - 1] = one if greater else other
        last -= greater & keeps_first | less & keeps_second
        n_first -= 1 - less
        n_second -= 1 - greater
    if i < n_first and keeps_first:
        memcpy(out + n, first + i, (n_first - i) * sizeof(number_t))
        n += n_first - i
    if j < n_second and keeps_second:
        memcpy(out + n, second + j, (n_second - j) * sizeof(number_t))
        n += n_second - j
    memmove(out + n, out + last, (total - last) * sizeof(number_t))
    return n + total - last
