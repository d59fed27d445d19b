"""Items of a strided array in C order of their index: describe, seek, walk.

Neighbouring axes that a single stride covers are merged, so that a C-contiguous array of any
number of dimensions is one row, and every other layout has the longest inner rows it can have.

Nothing keeps the array alive or its memory in place: whoever describes an array holds it for as
long as the description is used.
"""
cimport numpy as cnp

cdef enum:
    MAX_DIMS = 64  # NPY_MAXDIMS of NumPy 2

ctypedef struct strided_t:
    char *data
    int ndim                       # at least 1
    Py_ssize_t size                # items in all
    Py_ssize_t[MAX_DIMS] shape
    Py_ssize_t[MAX_DIMS] strides   # bytes

ctypedef struct cursor_t:
    char *row                      # first item of the inner row
    Py_ssize_t inner               # position within the inner row
    Py_ssize_t[MAX_DIMS] coords    # of the outer axes


cdef inline void describe(
        strided_t *s, cnp.ndarray a, int first_axis, int stop_axis) noexcept:
    """The axes first_axis ... stop_axis - 1 of a, which has that many: beyond, memory behind its
    shape is read."""
    cdef int axis
    s.data = <char *>cnp.PyArray_DATA(a)
    s.ndim = 0
    s.size = 1
    for axis in range(first_axis, stop_axis):
        s.size *= cnp.PyArray_DIM(a, axis)
        append_axis(s, cnp.PyArray_DIM(a, axis), cnp.PyArray_STRIDE(a, axis))
    complete(s)


cdef inline void append_axis(strided_t *s, Py_ssize_t length, Py_ssize_t stride) noexcept nogil:
    """A new inner axis, or more of the one before. s has less than MAX_DIMS axes, or memory behind
    its shape is overwritten."""
    if length == 1:
        return
    if s.ndim and s.strides[s.ndim - 1] == length * stride:
        s.shape[s.ndim - 1] *= length
        s.strides[s.ndim - 1] = stride
    else:
        s.shape[s.ndim] = length
        s.strides[s.ndim] = stride
        s.ndim += 1


cdef inline void complete(strided_t *s) noexcept nogil:
    """After the last axis. Without it an array of one item has no axis, and its inner row lies
    before its shape."""
    if s.ndim == 0:
        s.shape[0] = 1
        s.strides[0] = 0
        s.ndim = 1


cdef inline void sort_axes(strided_t *s) noexcept nogil:
    """As the items lie in memory, for whoever needs them in no order: positions in s are no longer
    positions in C order. s is complete."""
    cdef strided_t axes = s[0]
    cdef int axis, k
    if s.size == 0:
        return
    s.ndim = 0
    for axis in range(axes.ndim):
        if axes.strides[axis] < 0:
            s.data += (axes.shape[axis] - 1) * axes.strides[axis]
            axes.strides[axis] = -axes.strides[axis]
    while axes.ndim:
        k = 0
        for axis in range(1, axes.ndim):
            if axes.strides[axis] > axes.strides[k]:
                k = axis
        append_axis(s, axes.shape[k], axes.strides[k])
        axes.ndim -= 1
        axes.shape[k], axes.strides[k] = axes.shape[axes.ndim], axes.strides[axes.ndim]
    complete(s)


cdef inline Py_ssize_t inner_length(const strided_t *s) noexcept nogil:
    """Items of an inner row."""
    return s.shape[s.ndim - 1]


cdef inline Py_ssize_t distance(const strided_t *s, int axis) noexcept nogil:
    """Bytes from an item to its neighbour on that axis, which s has: else, it is any number."""
    return s.strides[axis] if s.strides[axis] >= 0 else -s.strides[axis]


cdef inline bint is_run(const strided_t *s, Py_ssize_t width) noexcept nogil:
    """Are the items, each of that many bytes, side by side?"""
    return s.size <= 1 or (s.ndim == 1 and s.strides[0] == width)


cdef inline void seek(cursor_t *c, const strided_t *s, Py_ssize_t index) noexcept nogil:
    """Put the cursor on item `index`, 0 <= index < size: of another one, the address is outside of
    the array; in an empty array, a division by 0 ends the process."""
    cdef int axis
    c.inner = index % s.shape[s.ndim - 1]
    index = index // s.shape[s.ndim - 1]
    c.row = s.data
    for axis in range(s.ndim - 2, -1, -1):
        c.coords[axis] = index % s.shape[axis]
        index = index // s.shape[axis]
        c.row += c.coords[axis] * s.strides[axis]


cdef inline char *item(const cursor_t *c, const strided_t *s) noexcept nogil:
    """Address of the item under the cursor, which is on s: of another array, it is anywhere."""
    return c.row + c.inner * s.strides[s.ndim - 1]


cdef inline void next_row(cursor_t *c, const strided_t *s) noexcept nogil:
    """Go to the start of the next inner row (after the last one: to the first). The cursor is on
    s, or the row is outside of it."""
    cdef int axis
    c.inner = 0
    for axis in range(s.ndim - 2, -1, -1):
        c.coords[axis] += 1
        c.row += s.strides[axis]
        if c.coords[axis] < s.shape[axis]:
            return
        c.row -= s.strides[axis] * s.shape[axis]
        c.coords[axis] = 0


cdef inline Py_ssize_t run_length(
        const cursor_t *c, const strided_t *s, Py_ssize_t most) noexcept nogil:
    """Items from the cursor, which is on s, to the end of its inner row, at most `most`."""
    return min(most, s.shape[s.ndim - 1] - c.inner)


cdef inline void advance(cursor_t *c, const strided_t *s, Py_ssize_t run) noexcept nogil:
    """Move on by a run of at most run_length: beyond it, the cursor leaves its row, and never comes
    to the next one."""
    c.inner += run
    if c.inner == s.shape[s.ndim - 1]:
        next_row(c, s)
