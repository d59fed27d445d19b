/* Functions for parallel.pyx that depend on OpenMP, the system or the compiler. A build without
   OpenMP has the same functions, but never begins a region. */
#ifndef FASTSEL_OPENMP_H
#define FASTSEL_OPENMP_H

#include <stddef.h>
#include "atomics.h"

#if defined(_OPENMP)
#include <omp.h>
#define FS_OPENMP _OPENMP
#else
#define FS_OPENMP 0
static int omp_get_max_threads(void) { return 0; }
static int omp_get_num_procs(void) { return 0; }
static int omp_in_parallel(void) { return 1; }
#endif

#if FS_OPENMP >= 200805
static int fs_thread_limit(void) { return omp_get_thread_limit(); }
#else
static int fs_thread_limit(void) { return 0x7fffffff; } /* MSVC has OpenMP 2.0 */
#endif

/* ThreadSanitizer does not see the barriers of a runtime that is not instrumented. These calls tell
   it about OpenMP's barriers where a region begins and ends. */
#if defined(FASTSEL_TSAN)
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#define fs_acquire(address) __tsan_acquire(address)
#define fs_release(address) __tsan_release(address)
#else
#define fs_acquire(address) ((void)(address))
#define fs_release(address) ((void)(address))
#endif

static fs_atomic_t fs_in_region; /* 1 while a thread of this process is in a region of fastsel */
static fs_atomic_t fs_forks;     /* the number of forks between the import and this process */

#if defined(_WIN32) || !FS_OPENMP

static int fs_may_run(int threads) { return threads > 0; }
static int fs_install_fork_handlers(void) { return 0; }
static const char *fs_runtime(void) { return NULL; }

#else

#include <dlfcn.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include "clock.h"
#include "can_make_threads.h"

/* A runtime keeps a thread pool for each thread that has run a region, until that thread ends; with
   libgomp, fs_before_fork ends the pool if the thread forks. So only FS_MAX_POOLS threads may run
   regions, until a pool ends. */
enum { FS_MAX_POOLS = 2 };
enum { FS_TRIAL_MICROSECONDS = 1000000 }; /* for how long the answer of a trial is valid */

static fs_atomic_t fs_pools;         /* number of threads of this process that have a pool */
static pthread_key_t fs_pool_key; /* has a destructor, which runs when a thread with a pool ends */
static __thread int fs_pool_threads; /* size of this thread's pool, with this thread; 0: no pool */
static __thread int fs_tried_threads; /* a trial allowed this pool size, until fs_tried_until */
static __thread int64_t fs_tried_until;

static void fs_return_pool(void *pools) { fs_fetch_add((fs_atomic_t *)pools, -1); }

/* Can this thread's pool have `threads` threads? One thread at a time may call this: otherwise
   there is a data race on refused_until. A pool shrinks and grows with the size of the calls. An
   answer is valid for FS_TRIAL_MICROSECONDS, so that not every growth needs a trial. */
static int fs_can_have(int threads)
{
    static int64_t refused_until;
    int64_t now = fs_microseconds();
    if (threads <= fs_tried_threads && now < fs_tried_until) return 1;
    if (now < refused_until) return 0;
    if (!fs_can_make(threads - fs_pool_threads)) {
        refused_until = now + FS_TRIAL_MICROSECONDS;
        return 0;
    }
    fs_tried_threads = threads;
    fs_tried_until = now + FS_TRIAL_MICROSECONDS;
    return 1;
}

/* May this thread run a region of `threads` threads? One thread at a time may call this: otherwise
   there may be too many pools. */
static int fs_may_run(int threads)
{
    if (!fs_pool_threads) {
        if (fs_load(&fs_pools) >= FS_MAX_POOLS || !fs_can_have(threads) ||
            pthread_setspecific(fs_pool_key, &fs_pools))
            return 0;
        fs_fetch_add(&fs_pools, 1);
    } else if (threads > fs_pool_threads && !fs_can_have(threads)) {
        return 0;
    }
    fs_pool_threads = threads;
    return 1;
}

static int fs_is_libgomp; /* 1 if the loaded runtime is libgomp, or cannot be examined */

#if defined(__GNUC__) && __GNUC__ >= 9 && !defined(__clang__)
/* The number of threads of this process plus two; 0 if the system has no /proc. */
static ptrdiff_t fs_count_tasks(void)
{
    struct stat tasks;
    return stat("/proc/self/task", &tasks) ? 0 : (ptrdiff_t)tasks.st_nlink;
}

/* End this thread's pool. The system counts a thread for some microseconds after it has been
   joined, and Python would warn of a fork with several threads. So wait until the threads are gone,
   but for at most 50 pauses. */
static void fs_end_pool(void)
{
    struct timespec pause = {0, 20000};
    ptrdiff_t before = fs_count_tasks();
    omp_pause_resource_all(omp_pause_hard);
    for (int k = 0; k < 50 && fs_count_tasks() > before - (fs_pool_threads - 1); k++)
        nanosleep(&pause, NULL);
}
#else
static void fs_end_pool(void) {}
#endif

static void fs_clear_pool(void)
{
    fs_pool_threads = fs_tried_threads = 0;
    pthread_setspecific(fs_pool_key, NULL);
}

/* A child has only the thread that forked, but libgomp would wait there for the threads of its
   pool. So the pool ends before the fork. The pools of other threads do not matter: the child does
   not have these threads. If this thread has run no region of fastsel, its pool belongs to another
   library, and stays. The runtimes of LLVM and Intel start anew in a child, and hang there if their
   pool was ended. */
static void fs_before_fork(void)
{
    if (!fs_is_libgomp || !fs_pool_threads) return;
    fs_end_pool();
    fs_clear_pool();
    fs_fetch_add(&fs_pools, -1);
}

static void fs_in_child(void)
{
    fs_clear_pool();
    fs_store(&fs_pools, 0);
    fs_store(&fs_in_region, 0);
    fs_fetch_add(&fs_forks, 1);
}

/* The path of the loaded OpenMP library, or NULL. */
static const char *fs_runtime(void)
{
    Dl_info info;
    return dladdr((void *)omp_get_max_threads, &info) ? info.dli_fname : NULL;
}

/* Finds out whether the runtime is libgomp, creates the key of the pools, and installs the fork
   handlers. Returns 0 if there was no error. Other runtimes have libgomp's functions too, and conda
   gives their files the name of libgomp. But libgomp alone lacks __kmpc_fork_call. */
static int fs_install_fork_handlers(void)
{
    const char *file = fs_runtime();
    void *library = file == NULL ? NULL : dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
    fs_is_libgomp = library == NULL || dlsym(library, "__kmpc_fork_call") == NULL;
    if (library != NULL) dlclose(library);
    return pthread_key_create(&fs_pool_key, fs_return_pool) ||
           pthread_atfork(fs_before_fork, NULL, fs_in_child);
}

#endif

/* Begins a region of `threads` threads, and returns 1; returns 0 if this thread may not begin one.
   A process has one region of fastsel at a time, and none within another parallel region. */
static int fs_begin_region(int threads)
{
    if (omp_in_parallel() || fs_exchange(&fs_in_region, 1)) return 0;
    if (fs_may_run(threads)) return 1;
    fs_store(&fs_in_region, 0);
    return 0;
}

/* Calls work(state, t) for t from 0 to threads - 1, each in a thread of its own unless the system
   gives fewer threads. The calling thread has t = 0. */
static void fs_run_region(int threads, void (*work)(void *, int), void *state)
{
    int t;
#if FS_OPENMP
#pragma omp parallel for num_threads(threads) schedule(static)
#endif
    for (t = 0; t < threads; t++) work(state, t);
}

static void fs_end_region(void) { fs_store(&fs_in_region, 0); }

#endif
