"""The one place that knows OpenMP: every kernel runs its slices through `for_slices`."""
from cython.parallel cimport prange

cdef extern from "openmp.h" nogil:
    int FS_OPENMP
    const char *FS_COMPILER
    int fs_max_threads()
    int fs_in_parallel()
    int fs_enter()
    void fs_leave()
    void fs_mark_region()
    int fs_install()


cdef void for_slices(
        slice_body body, void *task, Py_ssize_t slices, int threads) noexcept nogil:
    """Run body(task, k) for each k below `slices`, on at most `threads` threads.

    A parallel region costs about a microsecond even for a team of one, so a single slice never
    enters one. Inside another region, or while another caller has the team, slices run in turn.
    """
    cdef Py_ssize_t k
    if slices > 1 and threads > 1 and not fs_in_parallel() and fs_enter():
        fs_mark_region()
        for k in prange(slices, num_threads=<int>min(<Py_ssize_t>threads, slices),
                        schedule="dynamic", chunksize=1):
            body(task, k)
        fs_leave()
    else:
        for k in range(slices):
            body(task, k)


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
