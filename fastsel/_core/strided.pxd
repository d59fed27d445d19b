"""Walk the items of a strided array in C order: describe, seek, advance.

Adjacent axes are merged if one stride covers both. So a C-contiguous array of any number of
dimensions is one row, and every other layout has inner rows that are as long as possible.

A description does not keep its array alive. A cursor is used with the description that it walks.
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

ctypedef struct walk_t:            # visits some of the rows, in their order
    cursor_t cursor
    Py_ssize_t row_start           # index of the first item of the cursor's inner row


cdef inline void describe(
        strided_t *s, cnp.ndarray a, int first_axis, int stop_axis) noexcept:
    """Describe the axes first_axis ... stop_axis - 1 of a."""
    cdef int axis
    s.data = <char *>cnp.PyArray_DATA(a)
    s.ndim = 0
    s.size = 1
    for axis in range(first_axis, stop_axis):
        s.size *= cnp.PyArray_DIM(a, axis)
        append_axis(s, cnp.PyArray_DIM(a, axis), cnp.PyArray_STRIDE(a, axis))
    complete(s)


cdef inline void append_axis(strided_t *s, Py_ssize_t length, Py_ssize_t stride) noexcept nogil:
    """Add an inner axis, or merge it with the axis before it; an axis of length 1 is left out."""
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
    """Call this after the last append_axis: an array of one item gets an axis. Without an axis,
    memory before the shape would be read as the inner row."""
    if s.ndim == 0:
        s.shape[0] = 1
        s.strides[0] = 0
        s.ndim = 1


cdef inline void sort_axes(strided_t *s) noexcept nogil:
    """Sort the axes of s by descending stride, and turn axes of negative stride around, for callers
    that do not need C order: positions in s are no longer positions in C order. s is complete and
    has items."""
    cdef strided_t axes = s[0]
    cdef int axis, k
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
    """The number of items of an inner row."""
    return s.shape[s.ndim - 1]


cdef inline Py_ssize_t distance(const strided_t *s, int axis) noexcept nogil:
    """Bytes between neighbours along an axis."""
    return s.strides[axis] if s.strides[axis] >= 0 else -s.strides[axis]


cdef inline bint is_run(const strided_t *s, Py_ssize_t width) noexcept nogil:
    """Do the items, of width bytes, lie side by side?"""
    return s.size <= 1 or (s.ndim == 1 and s.strides[0] == width)


cdef inline void seek(cursor_t *c, const strided_t *s, Py_ssize_t index) noexcept nogil:
    """Move the cursor to item `index`, 0 <= index < size."""
    cdef int axis
    c.inner = index % s.shape[s.ndim - 1]
    index = index // s.shape[s.ndim - 1]
    c.row = s.data
    for axis in range(s.ndim - 2, -1, -1):
        c.coords[axis] = index % s.shape[axis]
        index = index // s.shape[axis]
        c.row += c.coords[axis] * s.strides[axis]


cdef inline char *item(const cursor_t *c, const strided_t *s) noexcept nogil:
    """The address of the cursor's item."""
    return c.row + c.inner * s.strides[s.ndim - 1]


cdef inline void next_row(cursor_t *c, const strided_t *s) noexcept nogil:
    """Move to the start of the next inner row, and from the last row to the first."""
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
        const cursor_t *c, const strided_t *s, Py_ssize_t limit) noexcept nogil:
    """The number of items from the cursor, which is on s, to the end of its row; at most limit."""
    return min(limit, s.shape[s.ndim - 1] - c.inner)


cdef inline void advance(cursor_t *c, const strided_t *s, Py_ssize_t run) noexcept nogil:
    """Move forward by `run` items, at most run_length."""
    c.inner += run
    if c.inner == s.shape[s.ndim - 1]:
        next_row(c, s)


cdef inline void start_walk(walk_t *walk, const strided_t *s) noexcept nogil:
    """Call this before the first walk_to."""
    walk.row_start = -2 * s.shape[s.ndim - 1]    # no row yet
    walk.cursor.row = s.data


cdef inline void walk_to(walk_t *walk, const strided_t *s, Py_ssize_t index) noexcept nogil:
    """Move to the inner row of item `index`, which lies behind the present row."""
    cdef Py_ssize_t inner = s.shape[s.ndim - 1]
    if walk.row_start >= 0 and index - walk.row_start < 2 * inner:
        next_row(&walk.cursor, s)                # increments, and does not divide
        walk.row_start += inner
    else:
        seek(&walk.cursor, s, index)
        walk.row_start = index - walk.cursor.inner
