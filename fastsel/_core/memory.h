/* What buffer_cache.pxd, scratch.pyx and results.pyx need of the compiler and the system: an atomic
   exchange, huge
   pages, and pages that are lent to the system. */
#ifndef FASTSEL_MEMORY_H
#define FASTSEL_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#if defined(_MSC_VER)
#include <intrin.h>
static inline void *fs_exchange(void **slot, void *value)
{
    return _InterlockedExchangePointer((void *volatile *)slot, value);
}
#else
static inline void *fs_exchange(void **slot, void *value)
{
    return __atomic_exchange_n(slot, value, __ATOMIC_ACQ_REL);
}
#endif

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
/* Of whole pages; returns whether the system takes the advice. */
static inline int fs_advise(void *memory, size_t size, int advice)
{
    const uintptr_t page = 1 << 16; /* as large as any */
    uintptr_t start = ((uintptr_t)memory + page - 1) & ~(page - 1);
    uintptr_t stop = ((uintptr_t)memory + size) & ~(page - 1);
    return start < stop && madvise((void *)start, stop - start, advice) == 0;
}
#endif

/* Ask for huge pages, as NumPy does for its arrays: fresh small ones cost a fault each. */
static inline void fs_want_huge_pages(void *memory, size_t size)
{
#if defined(MADV_HUGEPAGE)
    (void)fs_advise(memory, size, MADV_HUGEPAGE);
#else
    (void)memory, (void)size;
#endif
}

/* What is there is not needed any more: the system takes the pages when it is short of memory, and
   until then they are written to again without a fault. Returns whether it will. */
static inline int fs_offer(void *memory, size_t size)
{
#if defined(MADV_FREE)
    return fs_advise(memory, size, MADV_FREE);
#else
    (void)memory, (void)size;
    return 0;
#endif
}

/* AddressSanitizer sees the end of a block, and its use after it was given back, only if each is
   malloc's own. Large blocks are kept only where the system can take them. */
#if defined(__SANITIZE_ADDRESS__)
#define FS_CACHED_BLOCKS 0
#define FS_CACHED_LARGE 0
#elif defined(MADV_FREE)
#define FS_CACHED_BLOCKS 4
#define FS_CACHED_LARGE 2
#else
#define FS_CACHED_BLOCKS 4
#define FS_CACHED_LARGE 0
#endif

#endif
