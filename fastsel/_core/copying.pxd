"""Copy slices. A set bit or an index row selects one slice: the items along the trailing axes of an
array.

All copy functions have one contract: slices lie within the source, out has them side by side, and
out and the source do not overlap.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from fastsel._simd.blocks cimport fs_prefetch
from fastsel._core.strided cimport cursor_t, describe, is_run, next_row, seek, strided_t

cdef extern from "numpy/arrayobject.h":
    bint PyDataType_REFCHK(cnp.dtype)

cdef enum:
    LINE = 64              # bytes of a cache line
    SLICES_AHEAD = 2       # how many slices ahead a slice is prefetched
    LINES_AHEAD = 8        # maximum cache lines of a slice that are prefetched
    # If rows lie at least FAR bytes apart, copy_fixed prefetches slices ROWS_AHEAD rows ahead, at
    # most ROW_LINES cache lines of a row. The CPU itself prefetches rows that lie closer together.
    FAR = 256
    ROWS_AHEAD = 16
    ROW_LINES = 32

ctypedef struct bytes16_t:
    uint64_t[2] words

ctypedef struct bytes32_t:
    uint64_t[4] words

ctypedef struct bytes64_t:
    uint64_t[8] words

# A few instructions copy an item of one of these types, without a call of memcpy.
ctypedef fused fixed_t:
    uint8_t
    uint16_t
    uint32_t
    uint64_t
    bytes16_t
    bytes32_t
    bytes64_t

ctypedef struct slice_t:
    strided_t items
    Py_ssize_t itemsize
    Py_ssize_t width      # bytes of all items of a slice
    bint run              # the items of a slice lie side by side


cdef inline bint is_movable(cnp.ndarray a) noexcept:
    """Can items of `a` be copied as bytes? See _dtypes.movable."""
    return cnp.PyArray_ITEMSIZE(a) > 0 and (
        not PyDataType_REFCHK(<cnp.dtype>cnp.PyArray_DESCR(a)))


cdef inline void describe_slice(slice_t *slice, cnp.ndarray a, int first_axis) noexcept:
    """Describe the slices of a, which have its axes from first_axis on. If a has no such axis, a
    slice is one item."""
    describe(&slice.items, a, first_axis, cnp.PyArray_NDIM(a))
    slice.itemsize = cnp.PyArray_ITEMSIZE(a)
    slice.width = slice.items.size * slice.itemsize
    slice.run = is_run(&slice.items, slice.itemsize)


cdef inline void copy_slices(const slice_t *slice, const char *base, const Py_ssize_t *offsets,
                             Py_ssize_t n, char *out) noexcept nogil:
    """Copy n slices; slice j lies at base + offsets[j]."""
    copy_rows(slice, base, 0, 1, offsets, n, out)


cdef inline void copy_rows(const slice_t *slice, const char *base, Py_ssize_t stride,
                           Py_ssize_t rows, const Py_ssize_t *offsets, Py_ssize_t n,
                           char *out) noexcept nogil:
    """Copy n slices of each row; slice j of row i lies at base + i * stride + offsets[j]."""
    cdef Py_ssize_t i
    if slice.run:
        copy_run_slices(base, stride, rows, slice.width, offsets, n, out)
        return
    for i in range(rows):
        copy_strided(slice, base + i * stride, offsets, n, out)
        out += n * slice.width


cdef inline void copy_run_slices(const char *base, Py_ssize_t stride, Py_ssize_t rows,
                                 Py_ssize_t width, const Py_ssize_t *offsets, Py_ssize_t n,
                                 char *out) noexcept nogil:
    """copy_rows for slices of width bytes whose items lie side by side."""
    if width == 1:
        copy_fixed(base, stride, rows, offsets, n, <uint8_t *>out)
    elif width == 2:
        copy_fixed(base, stride, rows, offsets, n, <uint16_t *>out)
    elif width == 4:
        copy_fixed(base, stride, rows, offsets, n, <uint32_t *>out)
    elif width == 8:
        copy_fixed(base, stride, rows, offsets, n, <uint64_t *>out)
    elif width == 16:
        copy_fixed(base, stride, rows, offsets, n, <bytes16_t *>out)
    elif width == 32:
        copy_fixed(base, stride, rows, offsets, n, <bytes32_t *>out)
    elif width == 64:
        copy_fixed(base, stride, rows, offsets, n, <bytes64_t *>out)
    elif count_neighbours(offsets, n, width) > n // 2:
        copy_neighbours(base, stride, rows, width, offsets, n, out)
    else:
        copy_apart(base, stride, rows, width, offsets, n, out)


cdef inline Py_ssize_t count_neighbours(const Py_ssize_t *offsets, Py_ssize_t n,
                                        Py_ssize_t width) noexcept nogil:
    """Count the slices that begin where the slice before them ends."""
    cdef Py_ssize_t j, count = 0
    for j in range(1, n):
        count += offsets[j] - offsets[j - 1] == width
    return count


cdef inline void copy_neighbours(const char *base, Py_ssize_t stride, Py_ssize_t rows,
                                 Py_ssize_t width, const Py_ssize_t *offsets, Py_ssize_t n,
                                 char *out) noexcept nogil:
    """copy_run_slices with one memcpy for adjacent slices."""
    cdef Py_ssize_t i, j, start, length
    for i in range(rows):
        j = 0
        while j < n:
            start, length = offsets[j], width
            j += 1
            while j < n and offsets[j] == start + length:
                length += width
                j += 1
            memcpy(out, base + i * stride + start, length)
            out += length


cdef inline void copy_apart(const char *base, Py_ssize_t stride, Py_ssize_t rows,
                            Py_ssize_t width, const Py_ssize_t *offsets, Py_ssize_t n,
                            char *out) noexcept nogil:
    """copy_run_slices with one memcpy for each slice; later slices are prefetched."""
    cdef Py_ssize_t lines = min((width + LINE - 1) // LINE, LINES_AHEAD), line, i, j
    for i in range(rows):
        for j in range(n):
            if j + SLICES_AHEAD < n:
                for line in range(lines):     # the address may be invalid: a prefetch never fails
                    fs_prefetch(base + i * stride + offsets[j + SLICES_AHEAD] + line * LINE)
            memcpy(out, base + i * stride + offsets[j], width)
            out += width


cdef inline void copy_fixed(const char *base, Py_ssize_t stride, Py_ssize_t rows,
                            const Py_ssize_t *offsets, Py_ssize_t n,
                            fixed_t *out) noexcept nogil:
    """copy_run_slices for slices as wide as fixed_t; out may be unaligned."""
    cdef Py_ssize_t[ROW_LINES] lines
    cdef Py_ssize_t i, j, n_lines = 0
    if rows > ROWS_AHEAD and not -FAR < stride < FAR:
        n_lines = lines_of(offsets, n, lines)
    for i in range(rows):
        if i + ROWS_AHEAD < rows:
            for j in range(n_lines):
                fs_prefetch(base + (i + ROWS_AHEAD) * stride + lines[j])
        for j in range(n):
            memcpy(<char *>out + j * sizeof(fixed_t), base + i * stride + offsets[j],
                   sizeof(fixed_t))
        out += n


cdef inline Py_ssize_t lines_of(const Py_ssize_t *offsets, Py_ssize_t n,
                                Py_ssize_t *lines) noexcept nogil:
    """Write the first offset, and each offset that is at least LINE bytes above the last written
    offset, until ROW_LINES offsets are written. Returns the number of written offsets."""
    cdef Py_ssize_t j, n_lines = 0
    for j in range(n):
        if n_lines == 0 or offsets[j] - lines[n_lines - 1] >= LINE:
            lines[n_lines] = offsets[j]
            n_lines += 1
            if n_lines == ROW_LINES:
                break
    return n_lines


cdef inline void copy_strided(const slice_t *slice, const char *base, const Py_ssize_t *offsets,
                              Py_ssize_t n, char *out) noexcept nogil:
    """copy_slices for slices of at least two items that do not lie side by side. Copies the first
    inner row of all slices, then the next inner row, and so on."""
    cdef Py_ssize_t length = slice.items.shape[slice.items.ndim - 1]
    cdef Py_ssize_t stride = slice.items.strides[slice.items.ndim - 1]
    cdef Py_ssize_t left = slice.items.size, j
    cdef cursor_t cursor
    cdef const char *row
    seek(&cursor, &slice.items, 0)
    while left:
        row = base + (cursor.row - slice.items.data)
        if stride == slice.itemsize:
            for j in range(n):
                memcpy(out + j * slice.width, row + offsets[j], length * stride)
        elif slice.itemsize == 1:
            copy_spaced[uint8_t](slice, row, stride, length, offsets, n, <uint8_t *>out)
        elif slice.itemsize == 2:
            copy_spaced[uint16_t](slice, row, stride, length, offsets, n, <uint16_t *>out)
        elif slice.itemsize == 4:
            copy_spaced[uint32_t](slice, row, stride, length, offsets, n, <uint32_t *>out)
        elif slice.itemsize == 8:
            copy_spaced[uint64_t](slice, row, stride, length, offsets, n, <uint64_t *>out)
        elif slice.itemsize == 16:
            copy_spaced[bytes16_t](slice, row, stride, length, offsets, n, <bytes16_t *>out)
        else:
            copy_long(slice, row, stride, length, offsets, n, out)
        next_row(&cursor, &slice.items)
        out += length * slice.itemsize
        left -= length


cdef inline void copy_spaced(const slice_t *slice, const char *row, Py_ssize_t stride,
                             Py_ssize_t length, const Py_ssize_t *offsets, Py_ssize_t n,
                             fixed_t *out) noexcept nogil:
    """Copy one inner row of each slice. Item k of the row of slice j lies at
    row + offsets[j] + k * stride. The longer loop is the inner loop, so that few columns of a
    Fortran-ordered array are read one after the other."""
    cdef Py_ssize_t j, k, width = slice.width
    if length < n:
        for k in range(length):
            for j in range(n):
                memcpy(<char *>(out + k) + j * width, row + offsets[j] + k * stride,
                       sizeof(fixed_t))
    else:
        for j in range(n):
            for k in range(length):
                memcpy(<char *>(out + k) + j * width, row + offsets[j] + k * stride,
                       sizeof(fixed_t))


cdef inline void copy_long(const slice_t *slice, const char *row, Py_ssize_t stride,
                           Py_ssize_t length, const Py_ssize_t *offsets, Py_ssize_t n,
                           char *out) noexcept nogil:
    """copy_spaced for items of any size."""
    cdef Py_ssize_t j, k
    for j in range(n):
        for k in range(length):
            memcpy(out + j * slice.width + k * slice.itemsize, row + offsets[j] + k * stride,
                   slice.itemsize)
