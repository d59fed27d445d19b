/* Functions for scratch.pyx that depend on the compiler or the system: huge pages, and returning
   the free memory of malloc. */
#ifndef FASTSEL_MEMORY_H
#define FASTSEL_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#if defined(__linux__)
#include <malloc.h>
#include <sys/mman.h>
#endif

/* Ask for huge pages, as NumPy does for its arrays: each small page costs a page fault. */
static inline void fs_want_huge_pages(void *memory, size_t size)
{
#if defined(MADV_HUGEPAGE)
    const uintptr_t page = 1 << 16; /* 64 KiB: the largest ordinary page of the supported systems */
    uintptr_t start = ((uintptr_t)memory + page - 1) & ~(page - 1);
    uintptr_t stop = ((uintptr_t)memory + size) & ~(page - 1);
    if (start < stop) (void)madvise((void *)start, stop - start, MADV_HUGEPAGE);
#else
    (void)memory, (void)size;
#endif
}

/* Return the free memory of glibc's malloc to the system. By itself, this malloc returns only large
   blocks and memory at the top of its heap. With another C library, nothing happens. */
static inline void fs_trim(void)
{
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

/* AddressSanitizer finds accesses beyond a block, or after it was freed, only if malloc allocates
   and frees each block. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FS_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(FS_SANITIZED)
#define FS_MAY_CACHE 0
#else
#define FS_MAY_CACHE 1
#endif

#endif
