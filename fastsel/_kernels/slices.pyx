"""The one place that knows threads and signals: every kernel runs its slices through `for_slices`.

Python handles signals in its main thread, between bytecodes; a kernel is one bytecode. So between
slices the main thread takes the GIL for a moment and lets the handlers run.
"""
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t

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

ctypedef int (*look_t)() except -1 nogil

cdef extern from "team.h" nogil:
    enum:
        FS_BUSY
        FS_ORPHANED
    int fs_team_run(slice_body body, void *task, Py_ssize_t start, Py_ssize_t stop, int threads,
                    look_t look) except -1
    int fs_team_install()

cdef extern from "clock.h" nogil:
    int64_t fs_milliseconds()

cdef extern from "Python.h" nogil:
    unsigned long PyThread_get_thread_ident()

cdef enum:
    LOOK_MILLISECONDS = 50

cdef unsigned long main_thread = 0    # that handles signals
# Used by the main thread alone: when it last read the clock, and when it is to look for signals.
cdef int64_t read_at = 0
cdef int64_t due = 0


cdef int for_slices(
        slice_body body, void *task, Py_ssize_t slices, int threads) except -1 nogil:
    """Run body(task, k) for each k below `slices`, on at most `threads` threads."""
    if slices == 1:
        body(task, 0)
    else:
        for_rounds(body, task, 1, slices, threads)
    return 0


cdef int for_rounds(
        slice_body body, void *task, Py_ssize_t rounds, Py_ssize_t slices,
        int threads) except -1 nogil:
    """Run `rounds` times `slices` slices, each round when the one before has ended: slice k is
    number k % slices of round k // slices.

    The slices of a caller who finds the team with another one run here.
    """
    cdef Py_ssize_t r
    start_to_look()
    for r in range(rounds):
        run(body, task, r * slices, (r + 1) * slices, threads)
    return 0


cdef int run(slice_body body, void *task, Py_ssize_t start, Py_ssize_t stop,
             int threads) except -1 nogil:
    cdef int outcome = FS_BUSY
    cdef Py_ssize_t k
    if threads > 1 and stop - start > 1:
        outcome = fs_team_run(body, task, start, stop, threads, look)
    if outcome == FS_BUSY:
        for k in range(start, stop):
            body(task, k)
            look()
    elif outcome == FS_ORPHANED:
        with gil:
            raise RuntimeError("a signal handler forked during a call of fastsel, which the child "
                               "cannot end")
    return 0


cdef void start_to_look() noexcept nogil:
    """After a pause the interpreter has just handled signals; what follows a long call has not."""
    global read_at, due
    cdef int64_t now
    if PyThread_get_thread_ident() == main_thread:
        now = fs_milliseconds()
        if now - read_at > LOOK_MILLISECONDS:
            due = now + LOOK_MILLISECONDS
        read_at = now


cdef int look() except -1 nogil:
    """Let signal handlers run, if this is the main thread and it is time to."""
    global read_at, due
    if PyThread_get_thread_ident() != main_thread:
        return 0
    read_at = fs_milliseconds()
    if read_at >= due:
        due = read_at + LOOK_MILLISECONDS
        with gil:
            PyErr_CheckSignals()
        read_at = fs_milliseconds()
        due = read_at + LOOK_MILLISECONDS
    return 0


def set_main_thread(ident):
    """Say which thread handles signals, by its threading.get_ident()."""
    global main_thread
    main_thread = ident


def is_threaded():
    """False for a serial build."""
    return FS_THREADED


def compiler():
    """The compiler that built the kernels, and its version."""
    return FS_COMPILER.decode()


if fs_team_install() != 0:
    raise MemoryError("fastsel could not register its fork handler")
