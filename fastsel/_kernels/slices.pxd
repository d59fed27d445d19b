"""Cut a range into slices, run a body over them, scan their counts."""

# Slices per thread: the team takes them in turn, so that one that is slow, or dense, or late to
# wake up, does not hold up the others.
cdef enum:
    SLICES_PER_THREAD = 4

# Handles slice k of the task; tasks are plain structs on the caller's stack.
ctypedef void (*slice_body)(void *task, Py_ssize_t k) noexcept nogil

cdef void for_slices(
    slice_body body, void *task, Py_ssize_t slices, int threads) noexcept nogil


cdef inline Py_ssize_t slice_count(Py_ssize_t units, int threads) noexcept nogil:
    """How many slices to cut `units` into: one if serial, and never an empty one."""
    if threads <= 1 or units <= 1:
        return 1
    return min(units, <Py_ssize_t>threads * SLICES_PER_THREAD)


cdef inline Py_ssize_t slice_start(
        Py_ssize_t units, Py_ssize_t slices, Py_ssize_t k) noexcept nogil:
    """Where slice k of `units` starts; slice k - 1 stops there. Sizes differ by one at most."""
    return units // slices * k + min(k, units % slices)


cdef inline void scan(Py_ssize_t *offsets, Py_ssize_t slices) noexcept nogil:
    """Turn slices counts at offsets[0] ... into slices + 1 offsets (exclusive scan, in place)."""
    cdef Py_ssize_t k, count, total = 0
    for k in range(slices):
        count = offsets[k]
        offsets[k] = total
        total += count
    offsets[slices] = total
