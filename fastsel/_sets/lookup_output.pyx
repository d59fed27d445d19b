"""What a lookup writes for each item: the position of the first equal test, or the value at this
position.

Lookups find positions, a batch at a time. The positions of a batch are the output, or they lead to
the values before the next batch is looked up.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from fastsel._core.copying cimport copy_slices, describe_slice
from fastsel._core.parallel cimport Job
from fastsel._core.results cimport new_result
from fastsel._simd.blocks cimport word_t
from fastsel._unique.keys cimport BATCH


cdef class Output:
    def __init__(self, Py_ssize_t size, cnp.ndarray values=None, cnp.ndarray default=None,
                 cnp.ndarray out=None):
        """The output for `size` items: positions, unless there are values.

        values has a value for each test. default has one for all items, or one for each item; if it
        is None, `first_missing` tells the first item without a test. All three arrays are
        C-contiguous and of one dtype, whose items may be copied as bytes; out, of `size` values,
        shares no memory with any array of the lookup. Otherwise memory outside of the arrays is
        read or overwritten.
        """
        self.size, self.target.first_missing, self.result = size, -1, out
        if values is None:
            return
        self.owned = values, default
        describe_slice(&self.target.value, values, 1)
        self.target.values = <const char *>cnp.PyArray_DATA(values)
        self.target.out = <char *>cnp.PyArray_DATA(out)
        if default is not None:
            self.target.default = <const char *>cnp.PyArray_DATA(default)
            if cnp.PyArray_NBYTES(default) > self.target.value.width:
                self.target.default_step = self.target.value.width

    @property
    def first_missing(self):
        return self.target.first_missing

    cdef output_t *begin(self) except NULL:
        """Allocate the index, if positions are wanted. Lookups call this as late as they can, when
        they have freed their own memory."""
        if self.result is None:
            self.result = new_result(self.size, cnp.NPY_INTP)
        if self.target.out == NULL:
            self.target.index = <Py_ssize_t *>cnp.PyArray_DATA(self.result)
        return &self.target

    def write_all(self, cnp.ndarray[Py_ssize_t, ndim=1, mode="c"] index not None, int threads):
        """Write the output of all items, whose positions are `index`. The contract is that of
        `write`."""
        cdef WriteAll job
        if self.target.out == NULL:
            self.result = index
        elif self.size:
            job = WriteAll()
            job.output, job.index = self, index
            job.run_units(self.size, self.target.value.width + sizeof(Py_ssize_t), threads)
        return self.result


cdef class WriteAll(Job):
    cdef Output output
    cdef const Py_ssize_t[::1] index

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t start = self.begin(k), stop = self.begin(k + 1), n, j
        cdef Py_ssize_t[BATCH] positions
        while start < stop:
            n = min(stop - start, BATCH)
            for j in range(n):
                positions[j] = self.index[start + j]
            write_values(&self.output.target, start, n, positions)
            start += n


cdef void write_values(output_t *output, Py_ssize_t start, Py_ssize_t n,
                       Py_ssize_t *positions) noexcept nogil:
    """`write` for values."""
    cdef Py_ssize_t width = output.value.width, step = output.default_step, all_signs = 0, j
    cdef Py_ssize_t to_default = 0, is_missing
    cdef char *out = output.out + start * width
    for j in range(n):
        all_signs |= positions[j]
    if all_signs < 0:
        if output.default == NULL:
            j = 0
            while positions[j] >= 0:
                j += 1
            mark_first(&output.first_missing, start + j)
        else:           # defaults lie at offsets from the values, too
            to_default = output.default - output.values + start * step
        for j in range(n):      # without a branch, which would often be mispredicted
            is_missing = 0 - <Py_ssize_t>(positions[j] < 0)
            positions[j] = (
                ((to_default + j * step) & is_missing) | ((positions[j] * width) & ~is_missing))
        copy_slices(&output.value, output.values, positions, n, out)
    elif width == 1:
        write_words(<const uint8_t *>output.values, positions, n, out)
    elif width == 2:
        write_words(<const uint16_t *>output.values, positions, n, out)
    elif width == 4:
        write_words(<const uint32_t *>output.values, positions, n, out)
    elif width == 8:
        write_words(<const uint64_t *>output.values, positions, n, out)
    else:
        for j in range(n):
            positions[j] *= width
        copy_slices(&output.value, output.values, positions, n, out)


cdef inline void write_words(const word_t *values, const Py_ssize_t *positions, Py_ssize_t n,
                             char *out) noexcept nogil:
    """Copy values of one word, which may be unaligned."""
    cdef Py_ssize_t j
    for j in range(n):
        memcpy(out + j * sizeof(word_t), values + positions[j], sizeof(word_t))
