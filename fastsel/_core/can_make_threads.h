/* fs_can_make: can the system create a number of threads now? An OpenMP runtime ends the process if
   the system refuses a thread. Not all limits can be read: RLIMIT_NPROC counts the user's threads
   in all containers, any parent cgroup may have a pids.max, and the address space and the kernel
   have limits too. So fs_can_make creates the threads and ends them again. */
#ifndef FASTSEL_CAN_MAKE_THREADS_H
#define FASTSEL_CAN_MAKE_THREADS_H

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

typedef struct {
    pthread_t thread;
    pthread_mutex_t *gate;
    long id; /* the thread's id in the system */
} fs_trial_t;

/* Kernels keep buffers on the stack: with less than this, they may overflow it. */
enum { FS_MIN_STACK_BYTES = 1 << 16 };

/* The number of bytes of a stack size such as "512k"; 0 if the text is no such size, or if the size
   is 1 << 40 or more. */
static size_t fs_stack_bytes_of(const char *text)
{
    char *unit;
    unsigned long long number;
    int shift;
    if (text == NULL) return 0;
    while (isspace((unsigned char)*text)) text++;
    number = isdigit((unsigned char)*text) ? strtoull(text, &unit, 10) : 0;
    if (!number) return 0;
    while (isspace((unsigned char)*unit)) unit++;
    shift = *unit == 'B' || *unit == 'b'   ? 0
            : *unit == 'M' || *unit == 'm' ? 20
            : *unit == 'G' || *unit == 'g' ? 30
                                           : 10;
    return number < (1ull << 40) >> shift ? (size_t)number << shift : 0;
}

static void *fs_wait_at_gate(void *argument)
{
    fs_trial_t *trial = argument;
#if defined(__linux__)
    trial->id = syscall(SYS_gettid);
#endif
    pthread_mutex_lock(trial->gate);
    pthread_mutex_unlock(trial->gate);
    return NULL;
}

/* Waits until the system no longer counts a joined thread. Linux counts the thread for some
   microseconds after the join, or longer if the CPUs are busy. Returns 0 if Linux still counts the
   thread after 50000 pauses, a second or more. On other systems, returns 1 at once. */
static int fs_wait_until_gone(const fs_trial_t *trial)
{
#if defined(__linux__)
    struct timespec pause = {0, 20000};
    for (int k = 0; k < 50000; k++) {
        if (syscall(SYS_tgkill, (long)getpid(), trial->id, 0)) return 1;
        nanosleep(&pause, NULL);
    }
    return 0;
#else
    return trial != NULL;
#endif
}

static int fs_can_make(int threads)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_attr_t attributes;
    fs_trial_t *trials = calloc((size_t)threads + 1, sizeof(fs_trial_t));
    size_t bytes = 0, asked = fs_stack_bytes_of(getenv("OMP_STACKSIZE"));
    int made = 0, gone = 0;
    if (!asked) asked = fs_stack_bytes_of(getenv("GOMP_STACKSIZE")); /* of libgomp */
    if ((asked && asked < FS_MIN_STACK_BYTES) || trials == NULL || pthread_attr_init(&attributes)) {
        free(trials);
        return 0;
    }
    /* Beside the stack, the runtime needs some kilobytes for each thread. */
    pthread_attr_getstacksize(&attributes, &bytes);
    pthread_attr_setstacksize(&attributes, (asked > bytes ? asked : bytes) + (1 << 16));
    pthread_mutex_lock(&gate);
    for (; made < threads; made++) {
        trials[made].gate = &gate;
        if (pthread_create(&trials[made].thread, &attributes, fs_wait_at_gate, &trials[made])) break;
    }
    pthread_mutex_unlock(&gate);
    for (int k = 0; k < made; k++) pthread_join(trials[k].thread, NULL);
    while (gone < made && fs_wait_until_gone(&trials[gone])) gone++;
    pthread_attr_destroy(&attributes);
    free(trials);
    return gone == threads;
}

#endif
