"""Run the chunks of a Job on several threads, and signal handlers between chunks. No other module
begins a parallel region.

The threads of an OpenMP region take chunks until none is left, so a thread that starts late takes
fewer chunks. Each of up to MAX_RANGES threads begins with a range of its own, so that in each call
and each pass a CPU works on memory that it has in its cache. A region ends only when all its
threads have reached its end. If threads have to wait for a CPU in several regions in a row, calls
are serial for a while (late_regions.h).

Python handles signals in its main thread, between bytecodes; a call of a kernel is one bytecode. So
the main thread reads the clock after each chunk. When it is time to check signals, all threads
finish their chunks, the region ends, the handlers run, and another region runs the remaining
chunks. A handler never runs within a region of the call that it interrupts: it may raise, call
fastsel, or fork, and a forked child has the results so far.
"""
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t
from libc.string cimport memset

from fastsel._core.atomics cimport fs_atomic_t, fs_exchange, fs_fetch_add, fs_load, fs_store

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
    #if defined(FASTSEL_CHECKED)
    #define FS_CHECKED 1
    #else
    #define FS_CHECKED 0
    #endif
    """
    const char *FS_COMPILER
    bint FS_CHECKED       # 1: a chunk may raise an IndexError, which is printed where it happens

cdef extern from "openmp.h" nogil:
    fs_atomic_t fs_forks
    int FS_OPENMP
    void fs_acquire(void *address)
    void fs_release(void *address)
    bint fs_begin_region(int threads)
    void fs_run_region(int threads, void (*work)(void *, int) noexcept nogil, void *state)
    void fs_end_region()
    int fs_install_fork_handlers()
    const char *fs_runtime()
    int fs_thread_limit()
    int omp_get_max_threads()
    int omp_get_num_procs()

cdef extern from "clock.h" nogil:
    int64_t fs_microseconds()
    int64_t fs_thread_microseconds()

cdef extern from "late_regions.h" nogil:
    int FS_LATE_MICROSECONDS
    void fs_note_region(int64_t start, int64_t worked)
    int64_t fs_serial_until_us()

cdef extern from "Python.h" nogil:
    unsigned long PyThread_get_thread_ident()

cdef enum:
    CHECK_MICROSECONDS = 50_000    # between two checks for signals
    MAX_RANGES = 64           # maximum ranges of a job; more threads than ranges share the ranges

thresholds = Thresholds(small_items=1 << 14)
THRESHOLDS = thresholds      # for tests

cdef object thread_rule      # _threads.for_bytes
cdef unsigned long main_thread = 0    # the thread that handles signals
# Only the main thread uses these times: when it last read the clock, and when it has to check
# signals.
cdef int64_t read_at = 0
cdef int64_t due = 0

ctypedef struct chunks_t:
    fs_atomic_t next          # the next chunk that no thread has taken
    Py_ssize_t stop
    char padding[48]          # makes it as long as a cache line

ctypedef struct run_t:
    void *job                 # a Job
    Py_ssize_t rounds
    Py_ssize_t round          # number of rounds that have begun
    int threads
    Py_ssize_t forks          # the number of forks when the call began
    bint checks_signals       # the caller is the main thread, and signal handlers may run
    fs_atomic_t pause         # 1: threads take no further chunk, to check signals or begin a region
    int64_t serial_until_us   # end of the serial time after which the call may begin a region; or 0
    int64_t worked            # microseconds that the caller has worked in the region
    fs_atomic_t ran           # the longest CPU time noted by another thread, in microseconds
    int n_ranges
    chunks_t ranges[MAX_RANGES]


cdef class Thresholds:
    def __cinit__(self, *, Py_ssize_t small_items):
        self.small_items = small_items


cdef class Job:
    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        """Handle chunk k; with rounds, chunk k % chunks of round k // chunks."""
        pass

    cdef int run(self, int threads) except -1:
        """Handle all chunks without the GIL, on at most `threads` threads."""
        return self.run_rounds(1, threads)

    cdef int run_units(self, Py_ssize_t units, Py_ssize_t unit_bytes, int threads) except -1:
        """Divide the units into chunks (chunk_count), and handle them."""
        self.units, self.chunks = units, chunk_count(units, threads, unit_bytes)
        return self.run(threads)

    cdef int run_rounds(self, Py_ssize_t rounds, int threads) except -1:
        """Handle the chunks of all rounds; a round begins when the round before has ended."""
        if self.chunks * rounds == 1:
            with nogil:
                self.chunk(0)
            return 0
        return run_all(self, rounds, threads, False, True)

    cdef int run_with_gil(self, int threads, bint checks_signals) except -1:
        """Handle all chunks, and hold the GIL, so that no other thread changes an object while a
        chunk reads it. With checks_signals, signal handlers run between chunks."""
        return run_all(self, 1, 1 if FS_CHECKED else threads, True, checks_signals)


cdef class Clear(Job):
    cdef char *out

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        memset(self.out + self.begin(k), 0, self.begin(k + 1) - self.begin(k))


cdef int clear(void *out, Py_ssize_t nbytes, int threads) except -1:
    cdef Clear job = Clear()
    if threads > 1:
        threads = min(threads, choose_threads(nbytes))
    job.out = <char *>out
    return job.run_units(nbytes, 1, threads)


cdef int run_all(Job job, Py_ssize_t rounds, int threads, bint keeps_gil,
                 bint checks_signals) except -1:
    """Run the chunks of all rounds, without the GIL or, if keeps_gil, with it.

    Only the thread that holds the GIL releases it, and acquires it again: PyGILState_Ensure and
    PyGILState_Check, and so Cython's `with gil` and its prange without the GIL, have wrong answers
    in a process with several interpreters.
    """
    cdef run_t state
    cdef bint is_time_to_check = True
    state.job, state.rounds, state.round, state.n_ranges = <void *>job, rounds, 0, 0
    state.threads, state.forks = threads, fs_load(&fs_forks)
    state.checks_signals = checks_signals and PyThread_get_thread_ident() == main_thread
    if state.checks_signals:
        start_clock()
    while is_time_to_check:
        if keeps_gil:
            is_time_to_check = run_until_check(&state)
        else:
            with nogil:
                is_time_to_check = run_until_check(&state)
        if is_time_to_check:
            check_signals()
    return 0


cdef bint run_until_check(run_t *state) noexcept nogil:
    """Run chunks, in regions or on this thread alone, until it is time to check signals: then
    returns True. Returns False when all chunks of all rounds have run. This thread works alone if
    the call has one thread or one chunk is left, during a serial time (late_regions.h), if
    fs_begin_region returns 0, and in a child that a signal handler has forked during this call."""
    cdef Py_ssize_t left
    cdef int wanted
    while True:
        left = count_left(state)
        if left == 0:
            if state.round == state.rounds:
                return False
            begin_round(state)
            continue
        fs_store(&state.pause, 0)
        wanted = <int>min(state.threads, left)
        if fs_load(&fs_forks) != state.forks:
            wanted = 1
        state.serial_until_us = fs_serial_until_us() if wanted > 1 else 0
        if wanted > 1 and not state.serial_until_us and fs_begin_region(wanted):
            run_region(state, wanted)
            fs_end_region()
        else:
            take_chunks(state, 0)
        if state.checks_signals and fs_load(&state.pause):
            return True


cdef void begin_round(run_t *state) noexcept nogil:
    """Divide the chunks of the next round into ranges: one for each thread, but at most MAX_RANGES,
    and at most one for each chunk."""
    cdef Py_ssize_t chunks = (<Job>state.job).chunks, start = state.round * chunks
    cdef int k
    state.n_ranges = <int>max(1, min(min(state.threads, MAX_RANGES), chunks))
    for k in range(state.n_ranges):
        fs_store(&state.ranges[k].next, start + chunk_start(chunks, state.n_ranges, k))
        state.ranges[k].stop = start + chunk_start(chunks, state.n_ranges, k + 1)
    state.round += 1


cdef Py_ssize_t count_left(run_t *state) noexcept nogil:
    cdef Py_ssize_t left = 0
    cdef int k
    for k in range(state.n_ranges):
        left += max(0, state.ranges[k].stop - fs_load(&state.ranges[k].next))
    return left


cdef void run_region(run_t *state, int threads) noexcept nogil:
    """Run chunks on `threads` threads, and note for late_regions.h how long the region took, and
    how long its busiest thread worked."""
    cdef int64_t start = fs_microseconds()
    fs_store(&state.ran, 0)
    fs_release(state)
    fs_run_region(threads, work, state)
    fs_acquire(state)
    fs_note_region(start, max(state.worked, <int64_t>fs_load(&state.ran)))


cdef void work(void *address, int thread) noexcept nogil:
    """Run chunks in one thread of a region; the caller is thread 0."""
    cdef run_t *state = <run_t *>address
    if thread == 0:
        state.worked = -fs_microseconds()
        take_chunks(state, 0)
        state.worked += fs_microseconds()
    else:
        work_as_helper(state, thread)


cdef void work_as_helper(run_t *state, int thread) noexcept nogil:
    """Run chunks in another thread than the caller. Note the CPU time of this thread if its
    chunks took FS_LATE_MICROSECONDS or more."""
    cdef int64_t start = fs_microseconds(), ran = fs_thread_microseconds()
    if FS_CHECKED:
        # Register the thread with Python for all its chunks: an exception would be lost with a
        # thread state that is made only to raise it.
        with gil:
            with nogil:
                take_chunks(state, thread)
    else:
        take_chunks(state, thread)
    if fs_microseconds() - start < FS_LATE_MICROSECONDS:
        return
    ran = fs_thread_microseconds() - ran
    while fs_load(&state.ran) < ran:  # if two threads write at once, the larger value stays
        ran = max(ran, <int64_t>fs_exchange(&state.ran, <Py_ssize_t>ran))


cdef void take_chunks(run_t *state, int thread) noexcept nogil:
    """Run chunks until none is left, or until the caller, thread 0, finds that it is time to
    pause."""
    cdef Py_ssize_t k
    fs_acquire(state)
    while not fs_load(&state.pause):
        k = take_chunk(state, thread)
        if k < 0:
            break
        (<Job>state.job).chunk(k)
        if thread == 0 and is_time_to_pause(state):
            fs_store(&state.pause, 1)
    fs_release(state)


cdef bint is_time_to_pause(run_t *state) noexcept nogil:
    if state.checks_signals:
        return check_is_due()
    return state.serial_until_us != 0 and fs_microseconds() >= state.serial_until_us


cdef Py_ssize_t take_chunk(run_t *state, int thread) noexcept nogil:
    """Returns a chunk that no thread has taken, from this thread's range if one is left there; -1
    if all chunks are taken."""
    cdef chunks_t *chunk_range
    cdef Py_ssize_t chunk
    cdef int k
    for k in range(state.n_ranges):
        chunk_range = &state.ranges[(thread + k) % state.n_ranges]
        if fs_load(&chunk_range.next) < chunk_range.stop:
            chunk = fs_fetch_add(&chunk_range.next, 1)
            if chunk < chunk_range.stop:
                return chunk
    return -1


cdef void start_clock() noexcept nogil:
    """If the clock was last read more than CHECK_MICROSECONDS ago, Python has probably handled
    signals since then: the next check is due after CHECK_MICROSECONDS. Otherwise this call may
    directly follow a long call, and the time of the next check does not change."""
    global read_at, due
    cdef int64_t now = fs_microseconds()
    if now - read_at > CHECK_MICROSECONDS:
        due = now + CHECK_MICROSECONDS
    read_at = now


cdef bint check_is_due() noexcept nogil:
    global read_at
    read_at = fs_microseconds()
    return read_at >= due


cdef int check_signals() except -1:
    """Run the handlers of signals that have arrived. The next check is due CHECK_MICROSECONDS
    later, also if a handler calls fastsel."""
    global read_at, due
    due = read_at + CHECK_MICROSECONDS
    PyErr_CheckSignals()
    read_at = fs_microseconds()
    due = read_at + CHECK_MICROSECONDS
    return 0


def set_thread_rule(rule):
    """Set the function that chooses the number of threads for a number of bytes."""
    global thread_rule
    thread_rule = rule


cdef int choose_threads(Py_ssize_t nbytes, int cost=1) except -1:
    return thread_rule(nbytes, cost)


def set_main_thread(ident):
    """Set the thread that handles signals, by its threading.get_ident()."""
    global main_thread
    main_thread = ident


def is_threaded():
    """False for a serial build."""
    return FS_OPENMP != 0


def openmp():
    """The OpenMP version of the build, as a date (201511 is 4.5), or 0; and the path of the OpenMP
    library, or None."""
    cdef const char *file = fs_runtime()
    return FS_OPENMP, None if file == NULL else file.decode("utf-8", "surrogateescape")


def max_threads():
    """(count, limit): the number of threads that OpenMP would use in this thread, 0 in a serial
    build; and OpenMP's limit (OMP_THREAD_LIMIT)."""
    return omp_get_max_threads(), fs_thread_limit()


def processors():
    """The number of CPUs that OpenMP sees, even if it has bound this thread to one CPU; 0 in a
    serial build."""
    return omp_get_num_procs()


def compiler():
    """The compiler that built the kernels, and its version."""
    return FS_COMPILER.decode()


if fs_install_fork_handlers() != 0:
    raise MemoryError("fastsel could not register its fork handler")
