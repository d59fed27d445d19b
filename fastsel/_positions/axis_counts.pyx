"""count_nonzero along axes: items -> counts, without a bitmask.

The axes are sorted by descending stride, whatever their order in the array, so that memory is read
in its order. Columns are summed in lanes as wide as the items, or in lanes of a byte if the items
have several words or do not lie side by side in a row; rows are counted from the bits of several
rows at a time. If chunks are ranges of a reduced axis, each chunk has its own copy of the counts,
and the copies are added at the end.
"""
cimport cython
cimport numpy as cnp
from libc.stdint cimport intptr_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from fastsel._core.parallel cimport Job, chunk_count, chunk_start
from fastsel._core.strided cimport MAX_DIMS, strided_t
from fastsel._positions.truth cimport (
    FLAG_BLOCKS, FLAG_ITEMS, describe_truth, pack_run, test_run, truth_t)
from fastsel._simd.blocks cimport log2_width, word_t
from fastsel._simd.levels cimport level

cdef enum:
    # Shorter rows are counted as columns if there are gaps between rows and each row has its own
    # count.
    MIN_ROW = 16
    MAX_ROWS = 255        # maximum rows that a sum of one byte can count


def count(cnp.ndarray items not None, Py_ssize_t width, const uint64_t[::1] significant not None,
          tuple axes not None, int threads):
    """Count the non-zero items along axes, which are numbers from 0. Returns the counts, intp; the
    remaining axes have the memory order of the items, as in NumPy's sums."""
    cdef CountAxes job = CountAxes()
    cdef cnp.npy_intp length
    cdef list remaining
    describe_truth(&job.truth, cnp.PyArray_ITEMSIZE(items), width, significant)
    remaining = job.describe_axes(items, axes)
    job.choose_chunks(threads)
    length = job.copies * job.size
    counts = cnp.PyArray_ZEROS(1, &length, cnp.NPY_INTP, 0)
    job.counts = counts
    job.run_rounds(job.rounds, threads)
    if job.copies > 1:
        counts = counts.reshape(job.copies, job.size).sum(0)
    if len(remaining) > 1:
        counts = counts.reshape([cnp.PyArray_DIM(items, axis) for axis in remaining])
    if remaining != sorted(remaining):
        counts = counts.transpose(sorted(range(len(remaining)), key=remaining.__getitem__))
    return counts


@cython.final
cdef class CountAxes(Job):
    """Count the non-zero items. Chunks are ranges of one axis. So that signals are handled in time,
    chunks are also divided into rounds: ranges of a reduced axis, which may be the axis of the
    chunks."""
    cdef strided_t items              # axes by descending stride
    cdef truth_t truth
    cdef Py_ssize_t[MAX_DIMS] steps   # by axis: distance in the counts; 0 for a reduced axis
    cdef Py_ssize_t size              # number of counts
    cdef Py_ssize_t copies            # copies of the counts: one, or one for each chunk
    cdef int chunk_axis
    cdef int round_axis               # a reduced axis
    cdef Py_ssize_t rounds
    cdef Py_ssize_t[::1] counts       # one copy after the other, 0 at first

    cdef list describe_axes(self, cnp.ndarray items, tuple reduced):
        """Describe the axes by descending stride; axes of equal strides keep their order. Returns
        the axes that are not reduced, in this order. Adjacent axes are merged if one stride covers
        both axes, of the items and of the counts."""
        cdef strided_t *axes = &self.items
        cdef int[MAX_DIMS] order
        cdef Py_ssize_t[MAX_DIMS] steps
        cdef Py_ssize_t length, stride
        cdef int ndim = cnp.PyArray_NDIM(items), axis, k, last
        cdef list remaining = []
        for axis in range(ndim):
            k = axis
            while k and abs_stride(items, order[k - 1]) < abs_stride(items, axis):
                order[k] = order[k - 1]
                k -= 1
            order[k] = axis
        self.size = 1
        for k in range(ndim - 1, -1, -1):
            steps[k] = 0
            if order[k] not in reduced:
                steps[k] = self.size
                self.size *= cnp.PyArray_DIM(items, order[k])
                remaining.insert(0, order[k])
        axes.data = <char *>cnp.PyArray_DATA(items)
        axes.size = cnp.PyArray_SIZE(items)
        axes.ndim = 1                 # a reduced axis of length 1: there always is one
        axes.shape[0], axes.strides[0], self.steps[0] = 1, 0, 0
        if axes.size == 0:            # there may be MAX_DIMS axes that cannot be merged
            return remaining
        for k in range(ndim):
            length, stride = cnp.PyArray_DIM(items, order[k]), cnp.PyArray_STRIDE(items, order[k])
            last = axes.ndim - 1
            if length == 1:
                continue
            if last and axes.strides[last] == length * stride and (
                    self.steps[last] == length * steps[k]):
                axes.shape[last] *= length
            else:
                last += 1
                axes.ndim += 1
                axes.shape[last] = length
            axes.strides[last], self.steps[last] = stride, steps[k]
        return remaining

    cdef void choose_chunks(self, int threads) noexcept:
        """Choose the axes of chunks and rounds, and their numbers."""
        cdef Py_ssize_t nbytes = self.items.size * self.truth.itemsize, length
        self.chunk_axis = self.longest_axis(True, True)
        self.round_axis = self.longest_axis(True, False)
        length = max(1, self.items.shape[self.chunk_axis])
        # The copies of the counts may have at most as many bytes as a bitmask of the items.
        if self.steps[self.chunk_axis] == 0 and (
                chunk_count(length, threads, 1) * self.size * 64 > self.items.size):
            self.chunk_axis = self.longest_axis(False, True)
            length = max(1, self.items.shape[self.chunk_axis])
        if self.steps[self.chunk_axis]:
            self.chunks, self.copies = chunk_count(length, threads, nbytes // length), 1
        else:
            self.chunks = self.copies = chunk_count(length, threads, 1)
        length = self.items.shape[self.round_axis]
        if self.round_axis == self.chunk_axis:
            length = length // self.chunks
        self.rounds = chunk_count(length, 1, nbytes // self.chunks // max(1, length))

    cdef int longest_axis(self, bint reduced, bint remaining) noexcept:
        """The longest axis: of the reduced axes if `reduced`, and of the axes that remain in the
        result if `remaining`. Among axes of equal length, a remaining axis is preferred."""
        cdef int axis, longest = 0
        for axis in range(1, self.items.ndim):
            if not (remaining if self.steps[axis] else reduced):
                continue
            if self.items.shape[axis] > self.items.shape[longest] or (
                    self.items.shape[axis] == self.items.shape[longest] and self.steps[axis]):
                longest = axis
        return longest

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef strided_t view = self.items
        cdef Py_ssize_t chunk = k % self.chunks
        cdef Py_ssize_t start = narrow_to_chunk(&view, self.chunk_axis, self.chunks, chunk)
        narrow_to_chunk(&view, self.round_axis, self.rounds, k // self.chunks)
        if view.size:
            self.count_planes(
                &view, 0, view.data, (chunk * self.size if self.copies > 1 else 0)
                + start * self.steps[self.chunk_axis])

    cdef void count_planes(self, const strided_t *view, int axis, const char *items,
                           Py_ssize_t first) noexcept nogil:
        """Count the non-zero items, one plane of the last two axes at a time, or one row if both
        axes remain in the result. The axes of view from `axis` on begin at the item at `items`, and
        first is the index of the count of this item."""
        cdef int inner = view.ndim - 1
        cdef Py_ssize_t k
        if axis == inner:
            self.count_columns(items, 0, 1, view.strides[inner], view.shape[inner], first,
                               self.steps[inner])
        elif axis == inner - 1 and self.steps[inner] == 0:
            self.count_rows(items, view.strides[axis], view.shape[axis], view.strides[inner],
                            view.shape[inner], first, self.steps[axis])
        elif axis == inner - 1 and self.steps[axis] == 0:
            self.count_columns(items, view.strides[axis], view.shape[axis], view.strides[inner],
                               view.shape[inner], first, self.steps[inner])
        else:
            for k in range(view.shape[axis]):
                self.count_planes(view, axis + 1, items + k * view.strides[axis],
                                  first + k * self.steps[axis])

    cdef void count_rows(self, const char *items, Py_ssize_t row_stride, Py_ssize_t rows,
                         Py_ssize_t stride, Py_ssize_t length, Py_ssize_t first,
                         Py_ssize_t step) noexcept nogil:
        """Count the non-zero items of each row from their bits; adjacent short rows are packed
        together."""
        cdef uint64_t[FLAG_BLOCKS + 1] bits       # add_rows reads one word more
        cdef Py_ssize_t joined = 1, left, n
        if row_stride == length * stride:
            joined = max(1, FLAG_ITEMS // length)
        elif length < MIN_ROW and step:
            self.count_columns(items, stride, length, row_stride, rows, first, step)
            return
        while rows:
            joined = min(joined, rows)
            left = joined * length
            while left:
                n = min(left, FLAG_ITEMS)
                pack_run(level, &self.truth, items, stride, n, bits)
                level.add_rows(
                    bits, joined, n // joined, <intptr_t *>&self.counts[first], step)
                items += n * stride
                left -= n
            items += joined * (row_stride - length * stride)
            first += joined * step
            rows -= joined

    cdef void count_columns(self, const char *items, Py_ssize_t row_stride, Py_ssize_t rows,
                            Py_ssize_t stride, Py_ssize_t length, Py_ssize_t first,
                            Py_ssize_t step) noexcept nogil:
        """Count the non-zero items of each column in narrow sums, which are added to the counts.
        Consecutive short rows are summed as one long row."""
        cdef uint64_t[FLAG_ITEMS] sums
        cdef uint8_t[FLAG_ITEMS] flags
        cdef bint side_by_side = self.truth.words == 1 and stride == self.truth.width
        cdef Py_ssize_t width = self.truth.width if side_by_side else 1
        cdef Py_ssize_t start = 0, columns, left, joined, n, k
        cdef const char *row
        while start < length:
            columns = min(length - start, FLAG_ITEMS)
            row = items + start * stride
            left = rows
            while left:
                joined = 1
                if row_stride == columns * stride:
                    joined = min(left, FLAG_ITEMS // columns)
                n = min(left // joined, MAX_ROWS)
                left -= n * joined
                memset(sums, 0, joined * columns * width)
                if side_by_side:
                    level.add_columns[log2_width(width)](
                        row, joined * row_stride, n, self.truth.significant[0],
                        joined * columns, sums)
                else:
                    for k in range(n):
                        test_run(&self.truth, row + k * joined * row_stride, stride,
                                 joined * columns, flags)
                        level.add_columns[0](
                            <const char *>flags, 0, 1, 0xff, joined * columns, sums)
                row += n * joined * row_stride
                if width == 1:
                    self.add_sums(<uint8_t *>sums, joined, columns, first + start * step, step)
                elif width == 2:
                    self.add_sums(<uint16_t *>sums, joined, columns, first + start * step, step)
                elif width == 4:
                    self.add_sums(<uint32_t *>sums, joined, columns, first + start * step, step)
                else:
                    self.add_sums(<uint64_t *>sums, joined, columns, first + start * step, step)
            start += columns

    cdef void add_sums(self, const word_t *sums, Py_ssize_t rows, Py_ssize_t columns,
                       Py_ssize_t first, Py_ssize_t step) noexcept nogil:
        """Add the sums of all rows to the counts of their columns."""
        cdef Py_ssize_t[::1] counts = self.counts
        cdef Py_ssize_t k, j
        for k in range(rows):
            for j in range(columns):
                counts[first + j * step] += <Py_ssize_t>sums[k * columns + j]


cdef Py_ssize_t abs_stride(cnp.ndarray items, int axis) noexcept:
    cdef Py_ssize_t stride = cnp.PyArray_STRIDE(items, axis)
    return stride if stride > 0 else -stride


cdef Py_ssize_t narrow_to_chunk(strided_t *view, int axis, Py_ssize_t chunks,
                                Py_ssize_t k) noexcept nogil:
    """Narrow the view to chunk k of an axis. Returns where the chunk starts."""
    cdef Py_ssize_t length = view.shape[axis], start = chunk_start(length, chunks, k)
    view.data += start * view.strides[axis]
    view.shape[axis] = chunk_start(length, chunks, k + 1) - start
    view.size = view.size // max(1, length) * view.shape[axis]
    return start
