"""Cut a range into chunks, run a job over them, scan their counts."""

# Per thread: threads take them dynamically, so that the others do the work of a slow thread.
cdef enum:
    CHUNKS_PER_THREAD = 4

# Signal handlers run between chunks, so a chunk is to take a few milliseconds; with a cache miss
# for every byte, a tenth of a second.
cdef enum:
    CHUNK_BYTES = 1 << 21
    UNIT_BYTES = 512           # 64 items of 8 bytes
    MAX_CHUNKS = 1 << 20


cdef class Job:
    """One pass of a kernel: a subclass has typed views of what it reads and writes, and handles one
    chunk of it at a time.

    Chunks run in any order, several at once: what one writes, no other chunk of the same pass reads
    or writes.
    """
    cdef Py_ssize_t chunks    # of a round; one round, unless rounds are asked for
    cdef void chunk(self, Py_ssize_t k) noexcept nogil
    # Each raises what a signal handler raised (Ctrl-C: KeyboardInterrupt); some chunks have not run
    # then, and the kernel has nothing to do but clean up.
    cdef int run(self, int threads) except -1
    cdef int run_rounds(self, Py_ssize_t rounds, int threads) except -1
    cdef int run_with_gil(self, int threads) except -1


cdef inline Py_ssize_t chunk_count(
        Py_ssize_t units, int threads, Py_ssize_t unit_bytes=UNIT_BYTES) noexcept nogil:
    """How many chunks to cut `units` into: enough for all threads, and for signals to be handled
    in time, but never an empty one. unit_bytes is about what a unit reads and writes."""
    cdef Py_ssize_t chunks = 1 if threads <= 1 else <Py_ssize_t>threads * CHUNKS_PER_THREAD
    cdef Py_ssize_t longest = max(1, CHUNK_BYTES // max(1, unit_bytes))
    chunks = max(chunks, min(units // longest, MAX_CHUNKS))
    return max(1, min(units, chunks))


cdef inline Py_ssize_t chunk_start(
        Py_ssize_t units, Py_ssize_t chunks, Py_ssize_t k) noexcept nogil:
    """Where chunk k of `units` starts; chunk k - 1 stops there. Sizes differ by one at most."""
    return units // chunks * k + min(k, units % chunks)


cdef inline Py_ssize_t round_start(
        Py_ssize_t units, Py_ssize_t chunks, Py_ssize_t rounds, Py_ssize_t k) noexcept nogil:
    """Where chunk k % chunks of `units` starts in round k // chunks: where k - chunks stops."""
    cdef Py_ssize_t first = chunk_start(units, chunks, k % chunks)
    cdef Py_ssize_t stop = chunk_start(units, chunks, k % chunks + 1)
    return first + chunk_start(stop - first, rounds, k // chunks)


cdef inline void scan(Py_ssize_t *offsets, Py_ssize_t chunks) noexcept nogil:
    """Turn chunks counts at offsets[0] ... into chunks + 1 offsets (exclusive scan, in place)."""
    cdef Py_ssize_t k, count, total = 0
    for k in range(chunks):
        count = offsets[k]
        offsets[k] = total
        total += count
    offsets[chunks] = total
