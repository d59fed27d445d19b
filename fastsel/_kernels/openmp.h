/* What fastsel needs of OpenMP beside prange, with a serial stand-in where it is missing. */
#ifndef FASTSEL_OPENMP_H
#define FASTSEL_OPENMP_H

#include <stddef.h>

#if defined(_MSC_VER)
#define FS_TEXT_(x) #x
#define FS_TEXT(x) FS_TEXT_(x)
#define FS_COMPILER "MSVC " FS_TEXT(_MSC_VER)
#elif defined(__clang__)
#define FS_COMPILER __VERSION__
#else
#define FS_COMPILER "gcc " __VERSION__
#endif

#if defined(_OPENMP)
#include <omp.h>
#define FS_OPENMP _OPENMP
static int fs_max_threads(void)
{
    int limit = omp_get_thread_limit(), most = omp_get_max_threads();
    return most < limit ? most : limit;
}
static int fs_in_parallel(void) { return omp_in_parallel(); }
static int fs_team(void) { return omp_get_num_threads(); }
#else
#define FS_OPENMP 0
static int fs_max_threads(void) { return 1; }
static int fs_in_parallel(void) { return 0; }
static int fs_team(void) { return 1; }
#endif

#if defined(_MSC_VER)
#include <intrin.h>
#include <windows.h>
typedef volatile __int64 fs_counter;
static ptrdiff_t fs_take(fs_counter *c) { return (ptrdiff_t)_InterlockedExchangeAdd64(c, 1); }
static ptrdiff_t fs_read(fs_counter *c) { return (ptrdiff_t)_InterlockedExchangeAdd64(c, 0); }
static int fs_set(fs_counter *c, ptrdiff_t v) { return (int)_InterlockedExchange64(c, v); }
static void fs_yield(void) { SwitchToThread(); }
#else
#include <sched.h>
typedef ptrdiff_t fs_counter;
static ptrdiff_t fs_take(fs_counter *c) { return __atomic_fetch_add(c, 1, __ATOMIC_ACQ_REL); }
static ptrdiff_t fs_read(fs_counter *c) { return __atomic_load_n(c, __ATOMIC_ACQUIRE); }
static int fs_set(fs_counter *c, ptrdiff_t v) { return (int)__atomic_exchange_n(c, v, __ATOMIC_ACQ_REL); }
static void fs_yield(void) { sched_yield(); }
#endif

/* One parallel call at a time per process: whoever does not get in works serially, so that many
   calling threads never become many teams. */
static fs_counter fs_busy;
static int fs_enter(void) { return fs_set(&fs_busy, 1) == 0; }
static void fs_leave(void) { fs_set(&fs_busy, 0); }

/* libgomp does not survive a fork: its worker threads are gone in the child, and the child's next
   region waits for them for ever. So the pool of the forking thread is torn down before each
   fork; the next region makes it anew (about 30 us). LLVM's runtime repairs itself.
   The pool belongs to a thread, hence the thread-local flag: no other thread's pool is touched,
   nor one that this process inherited. */
#if defined(_OPENMP) && _OPENMP >= 201511 && !defined(__clang__) && !defined(_MSC_VER)
#include <pthread.h>
#include <unistd.h>
static __thread pid_t fs_region_pid; /* the process in which this thread last ran a region */
static void fs_mark_region(void) { fs_region_pid = getpid(); }
static void fs_before_fork(void)
{
    if (fs_region_pid == getpid()) {
#if _OPENMP >= 201811 || __GNUC__ >= 9
        omp_pause_resource_all(omp_pause_hard);
#endif
        fs_region_pid = 0;
    }
}
static int fs_install(void) { return pthread_atfork(fs_before_fork, NULL, fs_leave); }
#else
static void fs_mark_region(void) {}
static int fs_install(void) { return 0; }
#endif

#endif
