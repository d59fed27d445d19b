"""The one place that knows OpenMP: every kernel runs its slices through `for_slices`."""
from cython.parallel cimport prange

cdef extern from "openmp.h" nogil:
    int FS_OPENMP
    const char *FS_COMPILER
    ctypedef Py_ssize_t fs_counter
    Py_ssize_t fs_take(fs_counter *counter)   # the value before it was counted up
    Py_ssize_t fs_read(fs_counter *counter)
    void fs_yield()
    int fs_max_threads()
    int fs_in_parallel()
    int fs_team()
    int fs_enter()
    void fs_leave()
    void fs_mark_region()
    int fs_install()

ctypedef struct job_t:
    slice_body body
    void *task
    Py_ssize_t slices
    fs_counter next               # slice that nobody has taken
    fs_counter done               # threads, other than the caller, that found no slice left


cdef void for_slices(
        slice_body body, void *task, Py_ssize_t slices, int threads) noexcept nogil:
    """Run body(task, k) for each k below `slices`, on at most `threads` threads.

    A parallel region costs about a microsecond even for a team of one, so a single slice never
    enters one. Inside another region, or while another caller has the team, slices run in turn.
    """
    cdef job_t job
    cdef Py_ssize_t k
    cdef int team = <int>min(<Py_ssize_t>threads, slices), t
    if team > 1 and not fs_in_parallel() and fs_enter():
        job.body, job.task, job.slices = body, task, slices
        job.next = job.done = 0
        fs_mark_region()
        for t in prange(team, num_threads=team, schedule="static", chunksize=1):
            take_slices(&job, t)
        fs_leave()
    else:
        for k in range(slices):
            body(task, k)


cdef void take_slices(job_t *job, int t) noexcept nogil:
    """What thread t of the team does: take slices until there are none.

    The caller (thread 0) then yields its CPU until the others are done, too. Otherwise it would
    spin in the barrier that ends the region, for milliseconds if a thread that was woken late
    waits for this very CPU.
    """
    cdef Py_ssize_t k = fs_take(&job.next)
    while k < job.slices:
        job.body(job.task, k)
        k = fs_take(&job.next)
    if t == 0:
        while fs_read(&job.done) < fs_team() - 1:
            fs_yield()
    elif t < fs_team():           # with fewer threads than asked for, some come more than once
        fs_take(&job.done)


def openmp_version():
    """The _OPENMP date of the build (201511 is OpenMP 4.5), or 0 for a serial build."""
    return FS_OPENMP


def compiler():
    """The compiler that built the kernels, and its version."""
    return FS_COMPILER.decode()


def max_threads():
    """What OpenMP would use in this thread: OMP_NUM_THREADS, threadpoolctl, or the affinity."""
    return fs_max_threads()


if fs_install() != 0:
    raise MemoryError("fastsel could not register its fork handler")
