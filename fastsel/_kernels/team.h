/* The threads of fastsel: a team of workers that help a caller with the slices of one job.

   The caller takes slices like any worker, and at the end it waits only for slices that a worker
   has begun, never for a worker to begin. So a worker that wakes up late, or never, costs nothing:
   a call is at worst as slow as a serial one. (A region of OpenMP ends when its last thread has
   arrived; where the CPUs are busy, that took milliseconds.) A worker that cannot be created is
   a worker less, not an error.

   After each slice the caller looks whether it should go on; if not, no further slice begins.

   Workers know nothing of Python. They wait for the next job for a moment, yielding their CPU to
   whoever wants it, then sleep, and end when nobody has called for some seconds: a process whose
   other threads have ended must not live on for them. */
#ifndef FASTSEL_TEAM_H
#define FASTSEL_TEAM_H

#include <stddef.h>

typedef void (*fs_body_t)(void *task, ptrdiff_t k);
typedef int (*fs_look_t)(void); /* not 0 ends the job */

/* What fs_team_run returns. */
enum { FS_STOPPED = -1, FS_BUSY = 0, FS_DONE = 1, FS_ORPHANED = 2 };

#if defined(FASTSEL_SERIAL)

static int fs_team_run(fs_body_t body, void *task, ptrdiff_t start, ptrdiff_t stop, int threads,
                       fs_look_t look)
{
    (void)body, (void)task, (void)start, (void)stop, (void)threads, (void)look;
    return FS_BUSY;
}
static int fs_team_install(void) { return 0; }

#else

#if defined(_WIN32)

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
typedef SRWLOCK fs_lock_t;
typedef CONDITION_VARIABLE fs_signal_t;
#define FS_LOCK_INIT SRWLOCK_INIT
#define FS_SIGNAL_INIT CONDITION_VARIABLE_INIT
typedef volatile LONG64 fs_atomic_t;
static void fs_lock(fs_lock_t *l) { AcquireSRWLockExclusive(l); }
static void fs_unlock(fs_lock_t *l) { ReleaseSRWLockExclusive(l); }
static void fs_wait(fs_signal_t *s, fs_lock_t *l) { SleepConditionVariableSRW(s, l, INFINITE, 0); }
static int fs_wait_seconds(fs_signal_t *s, fs_lock_t *l, int seconds)
{
    return SleepConditionVariableSRW(s, l, 1000 * seconds, 0) != 0;
}
static void fs_wake_all(fs_signal_t *s) { WakeAllConditionVariable(s); }
static ptrdiff_t fs_take(fs_atomic_t *a) { return (ptrdiff_t)InterlockedExchangeAdd64(a, 1); }
static ptrdiff_t fs_get(fs_atomic_t *a) { return (ptrdiff_t)InterlockedExchangeAdd64(a, 0); }
static ptrdiff_t fs_swap(fs_atomic_t *a, ptrdiff_t v) { return (ptrdiff_t)InterlockedExchange64(a, v); }
static void fs_yield(void) { SwitchToThread(); }

#else

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
typedef pthread_mutex_t fs_lock_t;
typedef pthread_cond_t fs_signal_t;
#define FS_LOCK_INIT PTHREAD_MUTEX_INITIALIZER
#define FS_SIGNAL_INIT PTHREAD_COND_INITIALIZER
typedef ptrdiff_t fs_atomic_t;
static void fs_lock(fs_lock_t *l) { pthread_mutex_lock(l); }
static void fs_unlock(fs_lock_t *l) { pthread_mutex_unlock(l); }
static void fs_wait(fs_signal_t *s, fs_lock_t *l) { pthread_cond_wait(s, l); }
static int fs_wait_seconds(fs_signal_t *s, fs_lock_t *l, int seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += seconds;
    return pthread_cond_timedwait(s, l, &until) == 0;
}
static void fs_wake_all(fs_signal_t *s) { pthread_cond_broadcast(s); }
static ptrdiff_t fs_take(fs_atomic_t *a) { return __atomic_fetch_add(a, 1, __ATOMIC_ACQ_REL); }
static ptrdiff_t fs_get(fs_atomic_t *a) { return __atomic_load_n(a, __ATOMIC_ACQUIRE); }
static ptrdiff_t fs_swap(fs_atomic_t *a, ptrdiff_t v) { return __atomic_exchange_n(a, v, __ATOMIC_ACQ_REL); }
static void fs_yield(void) { sched_yield(); }

#endif

/* A scheduler may wake a worker on the CPU of its caller and leave it there for long, beside idle
   ones: two threads then take turns on one CPU, which is slower than one thread. So a worker that
   finds itself on its caller's CPU moves to another one that it is allowed to use. */
#if defined(__linux__)
static ptrdiff_t fs_cpu(void) { return sched_getcpu(); }
static void fs_leave_cpu(ptrdiff_t cpu)
{
    cpu_set_t allowed, others;
    if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof allowed, &allowed)) return;
    others = allowed;
    CPU_CLR((size_t)cpu, &others);
    if (CPU_COUNT(&others) && !sched_setaffinity(0, sizeof others, &others))
        sched_setaffinity(0, sizeof allowed, &allowed);
}
#else
static ptrdiff_t fs_cpu(void) { return -1; }
static void fs_leave_cpu(ptrdiff_t cpu) { (void)cpu; }
#endif

/* How often a worker yields before it sleeps, and a caller before it sleeps until the workers
   are done: about half a millisecond on an idle CPU. Longer than lies between the passes of a
   call and between calls in a loop; a sleeping worker takes 0.05 to 0.1 ms to come back. */
#define FS_YIELDS 1500

/* How long a worker sleeps before it ends. */
#define FS_IDLE_SECONDS 3

#define FS_MOST_WORKERS 1023

/* The slices that one of the team takes first; when they are gone it helps the others. So from call
   to call, and from pass to pass, a CPU works on the memory that it has in its cache. */
typedef struct {
    fs_atomic_t next;        /* slice that nobody has taken */
    ptrdiff_t stop;
    char padding[64 - 2 * sizeof(ptrdiff_t)]; /* a cache line each */
} fs_range_t;

typedef struct {
    fs_lock_t lock;          /* over all that is not atomic */
    fs_signal_t job_posted;
    fs_signal_t worker_left; /* a job, or the team */
    fs_atomic_t busy;        /* one caller at a time has the team */
    fs_atomic_t posted;      /* counts jobs */
    fs_atomic_t inside;      /* workers that have joined the job */
    fs_body_t body;
    void *task;
    fs_range_t ranges[FS_MOST_WORKERS + 1]; /* one for each place in the job; the caller's is 0 */
    int range_count;
    int places;              /* that workers may still take in the job */
    int workers;
    int sleeping;
    fs_atomic_t caller_cpu;  /* when it posted the job; -1 if unknown */
    fs_atomic_t dismissed;   /* workers are to end */
} fs_team_t;

static fs_team_t fs_team = {FS_LOCK_INIT, FS_SIGNAL_INIT, FS_SIGNAL_INIT};

/* A slice that nobody has taken, or -1. */
static ptrdiff_t fs_claim(int place)
{
    for (int k = 0; k < fs_team.range_count; k++) {
        fs_range_t *range = &fs_team.ranges[(place + k) % fs_team.range_count];
        if (fs_get(&range->next) >= range->stop) continue;
        ptrdiff_t slice = fs_take(&range->next);
        if (slice < range->stop) return slice;
    }
    return -1;
}

/* Returns what the last look did. A worker has none. */
static int fs_take_slices(int place, fs_look_t look)
{
    int looked = 0;
    for (ptrdiff_t slice; !looked && (slice = fs_claim(place)) >= 0;) {
        fs_team.body(fs_team.task, slice);
        if (look != NULL) looked = look();
    }
    if (looked)
        for (int k = 0; k < fs_team.range_count; k++)
            fs_swap(&fs_team.ranges[k].next, fs_team.ranges[k].stop);
    return looked;
}

static void fs_keep_apart(void)
{
    ptrdiff_t cpu = fs_get(&fs_team.caller_cpu);
    if (cpu >= 0 && cpu == fs_cpu()) fs_leave_cpu(cpu);
}

/* Called by a worker that has slept long enough, under the lock. */
static void fs_leave_team(void);

static void fs_work(void)
{
    ptrdiff_t seen = 0; /* the last job that this worker has looked at */
    fs_lock(&fs_team.lock);
    while (!fs_get(&fs_team.dismissed)) {
        if (fs_get(&fs_team.posted) != seen) {
            seen = fs_get(&fs_team.posted);
            if (fs_team.places > 0) {
                int place = fs_team.range_count - fs_team.places--;
                fs_take(&fs_team.inside);
                fs_unlock(&fs_team.lock);
                fs_keep_apart();
                fs_take_slices(place, NULL);
                fs_lock(&fs_team.lock);
                fs_swap(&fs_team.inside, fs_team.inside - 1);
                fs_wake_all(&fs_team.worker_left);
            }
            fs_unlock(&fs_team.lock);
            for (int k = 0; k < FS_YIELDS && fs_get(&fs_team.posted) == seen &&
                            !fs_get(&fs_team.dismissed); k++)
                fs_yield();
            fs_lock(&fs_team.lock);
        } else {
            fs_team.sleeping++;
            int woken = fs_wait_seconds(&fs_team.job_posted, &fs_team.lock, FS_IDLE_SECONDS);
            fs_team.sleeping--;
            if (!woken && fs_get(&fs_team.posted) == seen && !fs_get(&fs_team.dismissed)) {
                fs_leave_team();
                break;
            }
        }
    }
    fs_team.workers--;
    fs_unlock(&fs_team.lock);
}

#if defined(_WIN32)

static DWORD WINAPI fs_worker(LPVOID unused)
{
    (void)unused;
    fs_work();
    return 0;
}

static void fs_leave_team(void) {}

static int fs_start_worker(void)
{
    HANDLE thread = CreateThread(NULL, 0, fs_worker, NULL, 0, NULL);
    return thread != NULL && CloseHandle(thread);
}

static int fs_team_install(void) { return 0; }

#else

static pthread_t fs_threads[FS_MOST_WORKERS]; /* the workers that somebody may have to join */

static void fs_leave_team(void)
{
    int k = 0;
    while (!pthread_equal(fs_threads[k], pthread_self())) k++;
    fs_threads[k] = fs_threads[fs_team.workers - 1];
    pthread_detach(pthread_self());
}

static void *fs_worker(void *unused)
{
    fs_work();
    return unused;
}

/* Signals are for the threads that the program made. */
static int fs_start_worker(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&fs_threads[fs_team.workers], NULL, fs_worker, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !failed;
}

/* A child has one thread, and starts with a team of none. The parent's workers end before the
   fork, unless another thread is using them: Python warns of forks with several threads. */
static void fs_before_fork(void)
{
    if (fs_swap(&fs_team.busy, 1)) return;
    fs_lock(&fs_team.lock);
    int workers = fs_team.workers;
    fs_swap(&fs_team.dismissed, 1);
    fs_wake_all(&fs_team.job_posted);
    fs_unlock(&fs_team.lock);
    for (int k = 0; k < workers; k++) pthread_join(fs_threads[k], NULL);
    fs_swap(&fs_team.dismissed, 0);
    fs_swap(&fs_team.busy, 0);
}

static void fs_in_child(void)
{
    const fs_team_t empty = {FS_LOCK_INIT, FS_SIGNAL_INIT, FS_SIGNAL_INIT};
    fs_team = empty;
}

static int fs_team_install(void) { return pthread_atfork(fs_before_fork, NULL, fs_in_child); }

#endif

/* Run body(task, k) for all k from start to stop on the caller and up to threads - 1 workers.
   Returns FS_BUSY, and does nothing, if another caller has the team; FS_STOPPED after a look that
   was not 0; FS_ORPHANED in a child that was forked during a look: what the workers had in hand
   is lost. No lock is held during a look. */
static int fs_team_run(fs_body_t body, void *task, ptrdiff_t start, ptrdiff_t stop, int threads,
                       fs_look_t look)
{
    if (fs_swap(&fs_team.busy, 1)) return FS_BUSY;
    int wanted = threads - 1 < FS_MOST_WORKERS ? threads - 1 : FS_MOST_WORKERS;
    fs_lock(&fs_team.lock);
    while (fs_team.workers < wanted && fs_start_worker()) fs_team.workers++;
    fs_swap(&fs_team.caller_cpu, fs_cpu());
    fs_team.body = body;
    fs_team.task = task;
    fs_team.places = wanted;
    fs_team.range_count = wanted + 1;
    for (int k = 0; k <= wanted; k++) {
        ptrdiff_t share = (stop - start) / (wanted + 1), rest = (stop - start) % (wanted + 1);
        ptrdiff_t first = start + share * k + (k < rest ? k : rest);
        fs_team.ranges[k].stop = first + share + (k < rest);
        fs_swap(&fs_team.ranges[k].next, first);
    }
    ptrdiff_t job = fs_take(&fs_team.posted) + 1;
    if (fs_team.sleeping) fs_wake_all(&fs_team.job_posted);
    fs_unlock(&fs_team.lock);

    int looked = fs_take_slices(0, look);
    if (fs_get(&fs_team.posted) != job) return looked ? FS_STOPPED : FS_ORPHANED;

    fs_lock(&fs_team.lock);
    fs_team.places = 0; /* from here on nobody joins */
    fs_unlock(&fs_team.lock);
    for (int k = 0; k < FS_YIELDS && fs_get(&fs_team.inside); k++) fs_yield();
    fs_lock(&fs_team.lock);
    while (fs_get(&fs_team.inside)) fs_wait(&fs_team.worker_left, &fs_team.lock);
    fs_unlock(&fs_team.lock);
    fs_swap(&fs_team.busy, 0);
    return looked ? FS_STOPPED : FS_DONE;
}

#endif
#endif
