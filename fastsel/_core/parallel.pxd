"""Divide a range into chunks, run a job on all chunks, scan the counts of the chunks.

The contract of all kernels: every pointer and view has room for what a function reads and writes
there, and stays alive meanwhile; a shorter one is undefined behaviour. Functions say only what else
they need.
"""

# Threads take chunks dynamically: if one thread is slow, the others take more chunks.
cdef enum:
    CHUNKS_PER_THREAD = 4

# Signal handlers run between chunks, so a chunk should take a few milliseconds. A chunk with a
# cache miss for every byte takes a tenth of a second.
cdef enum:
    CHUNK_BYTES = 1 << 21
    UNIT_BYTES = 512           # 64 items of 8 bytes
    MAX_CHUNKS = 1 << 20


cdef inline Py_ssize_t chunk_count(
        Py_ssize_t units, int threads, Py_ssize_t unit_bytes=UNIT_BYTES) noexcept nogil:
    """The number of chunks of `units`, at least one: enough for all threads and for timely signal
    handling, but no more than there are units. unit_bytes is about the number of bytes that are
    read and written for a unit."""
    cdef Py_ssize_t chunks = 1 if threads <= 1 else <Py_ssize_t>threads * CHUNKS_PER_THREAD
    cdef Py_ssize_t longest = max(1, CHUNK_BYTES // max(1, unit_bytes))
    chunks = max(chunks, min(units // longest, MAX_CHUNKS))
    return max(1, min(units, chunks))


cdef inline Py_ssize_t chunk_start(
        Py_ssize_t units, Py_ssize_t chunks, Py_ssize_t k) noexcept nogil:
    """Where chunk k of `units` starts, and chunk k - 1 stops. The lengths of chunks differ by at
    most one."""
    return units // chunks * k + min(k, units % chunks)


cdef class Job:
    """One pass of a kernel. A subclass has typed views of what it reads and writes, and a method
    `chunk` that handles one chunk of the work.

    The chunks of a round run in any order, several at once. No chunk may read or write what another
    chunk of the same round writes, except by atomic operations: otherwise results depend on the
    timing of threads.
    """
    cdef Py_ssize_t chunks    # of a round; `run` has one round
    cdef Py_ssize_t units     # the length of the work that chunks divide, for `begin`
    cdef void chunk(self, Py_ssize_t k) noexcept nogil

    cdef inline Py_ssize_t begin(self, Py_ssize_t k) noexcept nogil:
        """Where chunk k of the units starts, and chunk k - 1 stops."""
        return chunk_start(self.units, self.chunks, k)

    # These methods raise the exception of a signal handler (Ctrl-C: KeyboardInterrupt). Then some
    # chunks may not have run, and the kernel can only clean up.
    cdef int run(self, int threads) except -1
    cdef int run_units(self, Py_ssize_t units, Py_ssize_t unit_bytes, int threads) except -1
    cdef int run_rounds(self, Py_ssize_t rounds, int threads) except -1
    cdef int run_with_gil(self, int threads, bint checks_signals) except -1


cdef class Thresholds:
    """Sizes that decide how a kernel runs; tests set them."""
    # Up to small_items items, one thread serves a call of a kernel, without a job, on its stack.
    cdef public Py_ssize_t small_items


cdef Thresholds thresholds    # of the process


# The number of threads for a call that reads and writes nbytes; cost is as for _threads.for_bytes.
cdef int choose_threads(Py_ssize_t nbytes, int cost=*) except -1


cdef int clear(void *out, Py_ssize_t nbytes, int threads) except -1    # sets bytes to 0


cdef inline Py_ssize_t round_start(
        Py_ssize_t units, Py_ssize_t chunks, Py_ssize_t rounds, Py_ssize_t k) noexcept nogil:
    """Where chunk k % chunks of `units` starts in round k // chunks, and stops in the round before.
    """
    cdef Py_ssize_t first = chunk_start(units, chunks, k % chunks)
    cdef Py_ssize_t stop = chunk_start(units, chunks, k % chunks + 1)
    return first + chunk_start(stop - first, rounds, k // chunks)


cdef inline void scan(Py_ssize_t *offsets, Py_ssize_t chunks) noexcept nogil:
    """Replace the counts offsets[:chunks] by their exclusive scan; item `chunks` becomes the
    total."""
    cdef Py_ssize_t k, count, total = 0
    for k in range(chunks):
        count = offsets[k]
        offsets[k] = total
        total += count
    offsets[chunks] = total
