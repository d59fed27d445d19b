"""first_nonzero: items -> the index of the first non-zero one, of all or along axes.

The axes that are searched are walked in C order, by the bits of up to FLAG_ITEMS items at a time,
and no further than until each index is found. Items that lie closer to each other than along these
axes are columns, which are searched side by side: one whose index is found is closed. Short rows
that follow each other are searched many at a time.

Long searches go in waves, each twice as long as the one before. The chunks of a wave are ranges of
what is searched; a chunk behind one that has found all indices is left out.
"""
cimport cython
cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint64_t
from libc.string cimport memset

from fastsel._core.parallel cimport Job, chunk_count, chunk_start
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport new_intp
from fastsel._core.strided cimport (
    MAX_DIMS, advance, cursor_t, describe, distance, item, run_length, seek, strided_t)
from fastsel._positions.truth cimport FLAG_BLOCKS, FLAG_ITEMS, describe_truth, pack_run, truth_t
from fastsel._simd.blocks cimport blocks_of, fs_ctz, fs_level_t
from fastsel._simd.levels cimport fs_level

cdef extern from *:
    """
    /* A number that several threads read and write; what one has read may be out of date. */
    #if defined(_MSC_VER)
    #define fs_look(number) (*(const volatile Py_ssize_t *)(number))
    #define fs_tell(number, value) (*(volatile Py_ssize_t *)(number) = (value))
    #else
    #define fs_look(number) __atomic_load_n(number, __ATOMIC_RELAXED)
    #define fs_tell(number, value) __atomic_store_n(number, value, __ATOMIC_RELAXED)
    #endif
    """
    Py_ssize_t fs_look(Py_ssize_t *number) noexcept nogil
    void fs_tell(Py_ssize_t *number, Py_ssize_t value) noexcept nogil

cnp.import_array()

cdef const fs_level_t *level = fs_level()

cdef enum:
    SHORT_ROW = 256               # items; several of them are searched at a time
    MIN_ROW = 64                  # shorter ones side by side, if they do not follow each other
    MAX_UNIT_BYTES = 1 << 24      # more are searched in waves, for signals to be handled in time
    MAX_WAVE_BYTES = 1 << 27      # so that the indices that its chunks find take little memory

ctypedef struct unit_t:
    Py_ssize_t offset             # of its first item, in bytes
    Py_ssize_t first              # where its first index is written to
    Py_ssize_t columns            # at most FLAG_ITEMS


def find(cnp.ndarray items not None, int kept, Py_ssize_t width,
         const uint64_t[::1] significant not None, Py_ssize_t serial_bytes, int threads):
    """For each position along the first `kept` axes, the index of the first non-zero item along the
    later ones, in C order of these, and -1 if there is none; as a new flat intp array.

    One thread searches the first serial_bytes of a long search.
    """
    cdef FindFirst job = FindFirst()
    cdef cnp.npy_intp size
    cdef Py_ssize_t unit_bytes
    describe_truth(&job.truth, width, significant)
    describe(&job.kept, items, 0, kept)
    describe(&job.searched, items, kept, cnp.PyArray_NDIM(items))
    size = job.kept.size
    out = new_result(1, &size, cnp.NPY_INTP)
    out[...] = -1
    if size == 0 or job.searched.size == 0:
        return out
    job.out = out
    job.choose_columns()
    unit_bytes = job.searched.size * min(job.columns, FLAG_ITEMS) * cnp.PyArray_ITEMSIZE(items)
    if job.units < 2 * threads or unit_bytes > MAX_UNIT_BYTES:
        job.run_waves(serial_bytes, threads)
    else:
        job.chunks = chunk_count(job.units, threads, unit_bytes)
        job.run(threads)
    return out


@cython.final
cdef class FindFirst(Job):
    """A unit is up to FLAG_ITEMS columns at one position along the other axes that are kept. Chunks
    are ranges of the units or, in waves, of what is searched for one unit."""
    cdef strided_t kept               # the axis of the columns has a position for each unit of them
    cdef strided_t searched           # in C order
    cdef truth_t truth
    cdef Py_ssize_t[MAX_DIMS] steps   # of the indices, along each axis that is kept
    cdef int column_axis              # of those that are kept, or -1: a column is a unit
    cdef Py_ssize_t columns
    cdef Py_ssize_t column_stride     # bytes
    cdef Py_ssize_t column_step       # of the indices
    cdef bint has_short_rows          # which follow each other; each is a unit
    cdef Py_ssize_t units
    cdef Py_ssize_t[::1] out          # the indices; -1 at first
    # In waves: the unit, what is searched of it, the indices that each chunk finds for its columns,
    # and the first chunk known to have found all of them.
    cdef bint in_waves
    cdef unit_t unit
    cdef Py_ssize_t start
    cdef Py_ssize_t stop
    cdef Py_ssize_t[::1] found
    cdef Py_ssize_t complete_chunk

    cdef void choose_columns(self) noexcept:
        """Columns lie closer to each other than what is searched, or are more than that where it is
        short; rows of a few columns that do not follow each other are searched column by column."""
        cdef strided_t *kept = &self.kept
        cdef int axis, inner = self.searched.ndim - 1, closest = 0
        cdef Py_ssize_t row_stride = self.searched.strides[inner], step = 1
        cdef bint is_close, follows, is_short
        for axis in range(kept.ndim - 1, -1, -1):
            self.steps[axis] = step
            step *= kept.shape[axis]
            if distance(kept, axis) < distance(kept, closest):
                closest = axis
        self.column_axis, self.columns = -1, 1
        self.has_short_rows = (
            kept.ndim == 1 and self.searched.ndim == 1 and self.searched.shape[0] <= SHORT_ROW
            and kept.strides[0] == self.searched.shape[0] * row_stride)
        is_close = distance(kept, closest) < distance(&self.searched, inner)
        follows = row_stride == kept.shape[closest] * kept.strides[closest]
        is_short = self.searched.shape[inner] < min(MIN_ROW, kept.shape[closest])
        if not self.has_short_rows and (
                is_short or (is_close and (follows or kept.shape[closest] >= MIN_ROW))):
            self.column_axis, self.columns = closest, kept.shape[closest]
            self.column_stride, self.column_step = kept.strides[closest], self.steps[closest]
            kept.shape[closest] = (self.columns - 1) // FLAG_ITEMS + 1
            kept.strides[closest] *= FLAG_ITEMS
            self.steps[closest] *= FLAG_ITEMS
        self.units = 1
        for axis in range(kept.ndim):
            self.units *= kept.shape[axis]

    cdef int run_waves(self, Py_ssize_t serial_bytes, int threads) except -1:
        """Units in turn, each until its indices are found."""
        cdef Py_ssize_t u, row_bytes, wave
        cdef int used
        self.in_waves = True
        for u in range(self.units):
            self.locate(u, &self.unit)
            row_bytes = self.unit.columns * self.truth.width * self.truth.words
            self.start, wave, used = 0, serial_bytes, 1
            while self.start < self.searched.size:
                self.stop = min(self.start + max(1, wave // row_bytes), self.searched.size)
                self.chunks = chunk_count(self.stop - self.start, used, row_bytes)
                self.found = new_intp(self.chunks * self.unit.columns)
                self.found[:] = -1
                self.complete_chunk = self.chunks
                self.run(used)
                if self.merge():
                    break
                PyErr_CheckSignals()
                self.start, used = self.stop, threads
                wave = min(2 * wave, MAX_WAVE_BYTES)
        return 0

    cdef bint merge(self) noexcept:
        """Write what the first chunk that found it says; returns whether all is found."""
        cdef Py_ssize_t c, k, at, left = self.unit.columns
        for c in range(self.unit.columns):
            at = self.unit.first + c * self.column_step
            k = 0
            while self.out[at] < 0 and k < self.chunks:
                self.out[at] = self.found[k * self.unit.columns + c]
                k += 1
            left -= self.out[at] >= 0
        return left == 0

    cdef void locate(self, Py_ssize_t u, unit_t *unit) noexcept nogil:
        cdef Py_ssize_t k
        cdef int axis
        unit.offset, unit.first, unit.columns = 0, 0, 1
        for axis in range(self.kept.ndim - 1, -1, -1):
            k = u % self.kept.shape[axis]
            u = u // self.kept.shape[axis]
            unit.offset += k * self.kept.strides[axis]
            unit.first += k * self.steps[axis]
            if axis == self.column_axis:
                unit.columns = min(FLAG_ITEMS, self.columns - k * FLAG_ITEMS)

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef unit_t unit
        cdef Py_ssize_t u, length = self.stop - self.start
        if not self.in_waves and self.has_short_rows:
            self.search_rows(chunk_start(self.units, self.chunks, k),
                             chunk_start(self.units, self.chunks, k + 1))
        elif not self.in_waves:
            for u in range(chunk_start(self.units, self.chunks, k),
                           chunk_start(self.units, self.chunks, k + 1)):
                self.locate(u, &unit)
                self.search(&unit, 0, self.searched.size, self.out, unit.first, self.column_step)
        elif k < fs_look(&self.complete_chunk):
            if self.search(&self.unit, self.start + chunk_start(length, self.chunks, k),
                           self.start + chunk_start(length, self.chunks, k + 1),
                           self.found, k * self.unit.columns, 1):
                if k < fs_look(&self.complete_chunk):   # of two at once either may stay
                    fs_tell(&self.complete_chunk, k)

    cdef void search_rows(self, Py_ssize_t row, Py_ssize_t stop) noexcept nogil:
        """Short rows that follow each other, from that one to stop - 1, of which there are so many:
        beyond, other memory is read."""
        cdef uint64_t[FLAG_BLOCKS] bits
        cdef Py_ssize_t length = self.searched.shape[0], rows, r, p, w
        cdef uint64_t hits
        while row < stop:
            rows = min(stop - row, FLAG_ITEMS // length)
            pack_run(level, &self.truth, self.kept.data + row * self.kept.strides[0],
                     self.searched.strides[0], rows * length, bits)
            for r in range(rows):
                p = r * length
                w = p >> 6
                hits = bits[w] >> (p & 63) << (p & 63)
                while hits == 0 and 64 * (w + 1) < p + length:
                    w += 1
                    hits = bits[w]
                if hits and 64 * w + fs_ctz(hits) < p + length:
                    self.out[row + r] = 64 * w + fs_ctz(hits) - p
            row += rows

    cdef bint search(self, const unit_t *unit, Py_ssize_t start, Py_ssize_t stop,
                     Py_ssize_t[::1] found, Py_ssize_t first, Py_ssize_t step) noexcept nogil:
        """The columns of a unit that have no index yet, from position `start` of what is searched
        to stop - 1; returns whether all have one now. Column c's goes to found[first + c * step]:
        the unit lies in the array, or memory beyond it is read."""
        cdef uint64_t[FLAG_BLOCKS] is_open
        cdef uint64_t[FLAG_BLOCKS] bits
        cdef cursor_t cursor
        cdef Py_ssize_t row_stride = self.searched.strides[self.searched.ndim - 1]
        cdef Py_ssize_t columns = unit.columns, left = columns, together = 1, rows, n, w, c, p
        cdef Py_ssize_t most = max(1, 64 // columns)     # rows at first, then ever more
        cdef Py_ssize_t stride = row_stride if columns == 1 else self.column_stride
        cdef uint64_t hits
        if row_stride == columns * stride:
            together = FLAG_ITEMS // columns
        most = min(most, together)
        memset(is_open, 0xff, sizeof(is_open))
        for c in range(columns):
            if self.out[unit.first + c * self.column_step] >= 0:
                close(is_open, c, columns, together)
                left -= 1
        if left:
            seek(&cursor, &self.searched, start)
        while left and start < stop:
            rows = run_length(&cursor, &self.searched, min(stop - start, most))
            n = rows * columns
            pack_run(level, &self.truth, item(&cursor, &self.searched) + unit.offset, stride, n,
                     bits)
            for w in range(blocks_of(n)):
                hits = bits[w] & is_open[w]
                while hits:
                    p = 64 * w + fs_ctz(hits)
                    c = p % columns
                    found[first + c * step] = start + p // columns
                    left -= 1
                    if left == 0:
                        return True
                    close(is_open, c, columns, together)
                    hits = bits[w] & is_open[w]
            advance(&cursor, &self.searched, rows)
            start += rows
            most = min(2 * most, together)
        return left == 0


cdef inline void close(uint64_t *is_open, Py_ssize_t column, Py_ssize_t columns,
                       Py_ssize_t rows) noexcept nogil:
    """Clear the bits of a column in rows of that many. is_open has a bit for each item of the rows,
    or what lies behind is overwritten."""
    cdef Py_ssize_t p = column
    while p < columns * rows:
        is_open[p >> 6] &= ~(<uint64_t>1 << (p & 63))
        p += columns
