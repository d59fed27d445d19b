/* What fastsel needs of OpenMP beside prange, with a serial stand-in where it is missing. */
#ifndef FASTSEL_OPENMP_H
#define FASTSEL_OPENMP_H

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
#else
#define FS_OPENMP 0
static int fs_max_threads(void) { return 1; }
static int fs_in_parallel(void) { return 0; }
#endif

/* One parallel call at a time per process: whoever does not get in works serially, so that many
   calling threads never become many teams. */
#if defined(_MSC_VER)
#include <intrin.h>
static volatile long fs_busy;
static int fs_enter(void) { return _InterlockedExchange(&fs_busy, 1) == 0; }
static void fs_leave(void) { _InterlockedExchange(&fs_busy, 0); }
static void fs_reset(void) { fs_leave(); }
#else
static int fs_busy;
static int fs_enter(void) { return __atomic_exchange_n(&fs_busy, 1, __ATOMIC_ACQUIRE) == 0; }
static void fs_leave(void) { __atomic_store_n(&fs_busy, 0, __ATOMIC_RELEASE); }
static void fs_reset(void) { fs_leave(); }
#endif

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
static int fs_install(void) { return pthread_atfork(fs_before_fork, NULL, fs_reset); }
#else
static void fs_mark_region(void) {}
static int fs_install(void)
{
#if !defined(_MSC_VER) && defined(_OPENMP)
    (void)fs_reset;
#endif
    return 0;
}
#endif

#endif
