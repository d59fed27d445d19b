/* fs_microseconds: microseconds since a fixed moment. fs_thread_microseconds: the CPU time of this
   thread in microseconds. Windows does not measure CPU time finely enough; there,
   fs_thread_microseconds is fs_microseconds. */
#ifndef FASTSEL_CLOCK_H
#define FASTSEL_CLOCK_H

#include <stdint.h>

#if defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
static inline int64_t fs_microseconds(void)
{
    LARGE_INTEGER now, rate;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&rate);
    return now.QuadPart / rate.QuadPart * 1000000 +
           now.QuadPart % rate.QuadPart * 1000000 / rate.QuadPart;
}
static inline int64_t fs_thread_microseconds(void) { return fs_microseconds(); }

#else

#include <time.h>
static inline int64_t fs_read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}
static inline int64_t fs_microseconds(void) { return fs_read_clock(CLOCK_MONOTONIC); }
static inline int64_t fs_thread_microseconds(void) { return fs_read_clock(CLOCK_THREAD_CPUTIME_ID); }

#endif
#endif
