"""The one place that knows threads: every kernel runs its slices through `for_slices`."""

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #define FS_TEXT_(x) #x
    #define FS_TEXT(x) FS_TEXT_(x)
    #define FS_COMPILER "MSVC " FS_TEXT(_MSC_VER)
    #elif defined(__clang__)
    #define FS_COMPILER __VERSION__
    #else
    #define FS_COMPILER "gcc " __VERSION__
    #endif
    #if defined(FASTSEL_SERIAL)
    #define FS_THREADED 0
    #else
    #define FS_THREADED 1
    #endif
    """
    const char *FS_COMPILER
    bint FS_THREADED

cdef extern from "team.h" nogil:
    bint fs_team_run(slice_body body, void *task, Py_ssize_t slices, int threads)
    int fs_team_install()


cdef void for_slices(
        slice_body body, void *task, Py_ssize_t slices, int threads) noexcept nogil:
    """Run body(task, k) for each k below `slices`, on at most `threads` threads.

    A single slice, and the slices of a caller who finds the team with another one, run here.
    """
    cdef Py_ssize_t k
    if slices > 1 and threads > 1 and fs_team_run(body, task, slices, threads):
        return
    for k in range(slices):
        body(task, k)


def is_threaded():
    """False for a serial build."""
    return FS_THREADED


def compiler():
    """The compiler that built the kernels, and its version."""
    return FS_COMPILER.decode()


if fs_team_install() != 0:
    raise MemoryError("fastsel could not register its fork handler")
