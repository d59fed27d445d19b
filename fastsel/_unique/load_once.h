/* Loads from the caller's memory, which another thread may write to at any time. */
#ifndef FASTSEL_LOAD_ONCE_H
#define FASTSEL_LOAD_ONCE_H

#include <stddef.h>
#include <string.h>

#if defined(_MSC_VER)
#include <intrin.h>
#endif

/* A memcpy whose copy the compiler must use. Without the barrier, it could load the source again
   after the copy was checked. */
static inline void fs_load_once(void *copy, const void *source, size_t size)
{
    memcpy(copy, source, size);
#if defined(_MSC_VER)
    _ReadWriteBarrier();
#else
    __asm__ volatile("" : : "r"(copy) : "memory");
#endif
}

#endif
