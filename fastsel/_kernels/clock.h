/* Milliseconds since some moment in the past. */
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
static int64_t fs_milliseconds(void) { return (int64_t)GetTickCount64(); }

#else

#include <time.h>
static int64_t fs_milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

#endif
#endif
