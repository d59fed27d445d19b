"""Cut a range into slices, run a body over them, scan their counts."""

# Slices per thread: the team takes them in turn, so that one that is slow, or dense, or late to
# wake up, does not hold up the others.
cdef enum:
    SLICES_PER_THREAD = 4

# A signal handler runs between slices: one should take a few milliseconds, and even where each
# byte costs a miss of the cache a tenth of a second.
cdef enum:
    SLICE_BYTES = 1 << 21
    UNIT_BYTES = 512           # 64 items of 8 bytes
    MOST_SLICES = 1 << 20

# Handles slice k of the task; tasks are plain structs on the caller's stack.
ctypedef void (*slice_body)(void *task, Py_ssize_t k) noexcept nogil

# Both raise what a signal handler raised (Ctrl-C: KeyboardInterrupt); some slices have not run
# then, and the kernel has nothing to do but clean up.
cdef int for_slices(
    slice_body body, void *task, Py_ssize_t slices, int threads) except -1 nogil
cdef int for_rounds(
    slice_body body, void *task, Py_ssize_t rounds, Py_ssize_t slices, int threads) except -1 nogil


cdef inline Py_ssize_t slice_count(
        Py_ssize_t units, int threads, Py_ssize_t unit_bytes=UNIT_BYTES) noexcept nogil:
    """How many slices to cut `units` into: enough for all threads, and for signals to be handled
    in time, but never an empty one. unit_bytes is about what a unit reads and writes."""
    cdef Py_ssize_t slices = 1 if threads <= 1 else <Py_ssize_t>threads * SLICES_PER_THREAD
    cdef Py_ssize_t longest = max(1, SLICE_BYTES // max(1, unit_bytes))
    slices = max(slices, min(units // longest, MOST_SLICES))
    return max(1, min(units, slices))


cdef inline Py_ssize_t slice_start(
        Py_ssize_t units, Py_ssize_t slices, Py_ssize_t k) noexcept nogil:
    """Where slice k of `units` starts; slice k - 1 stops there. Sizes differ by one at most."""
    return units // slices * k + min(k, units % slices)


cdef inline Py_ssize_t round_start(
        Py_ssize_t units, Py_ssize_t slices, Py_ssize_t rounds, Py_ssize_t k) noexcept nogil:
    """Where slice k % slices of `units` starts in round k // slices: where k - slices stops."""
    cdef Py_ssize_t first = slice_start(units, slices, k % slices)
    cdef Py_ssize_t stop = slice_start(units, slices, k % slices + 1)
    return first + slice_start(stop - first, rounds, k // slices)


cdef inline void scan(Py_ssize_t *offsets, Py_ssize_t slices) noexcept nogil:
    """Turn slices counts at offsets[0] ... into slices + 1 offsets (exclusive scan, in place)."""
    cdef Py_ssize_t k, count, total = 0
    for k in range(slices):
        count = offsets[k]
        offsets[k] = total
        total += count
    offsets[slices] = total
