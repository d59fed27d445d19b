/* What scratch.pyx needs of the compiler and the system: atomics, and huge pages. */
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
static inline ptrdiff_t fs_add(ptrdiff_t *sum, ptrdiff_t value)
{
    return (ptrdiff_t)_InterlockedExchangeAdd64((volatile __int64 *)sum, value) + value;
}
#else
static inline void *fs_exchange(void **slot, void *value)
{
    return __atomic_exchange_n(slot, value, __ATOMIC_ACQ_REL);
}
static inline ptrdiff_t fs_add(ptrdiff_t *sum, ptrdiff_t value)
{
    return __atomic_add_fetch(sum, value, __ATOMIC_ACQ_REL);
}
#endif

#if defined(__linux__)
#include <sys/mman.h>
#endif

/* Ask for huge pages, as NumPy does for its arrays: fresh small ones cost a fault each. */
static inline void fs_want_huge_pages(void *memory, size_t size)
{
#if defined(MADV_HUGEPAGE)
    const uintptr_t page = 1 << 16; /* as large as any */
    uintptr_t start = ((uintptr_t)memory + page - 1) & ~(page - 1);
    uintptr_t stop = ((uintptr_t)memory + size) & ~(page - 1);
    if (start < stop) (void)madvise((void *)start, stop - start, MADV_HUGEPAGE);
#else
    (void)memory, (void)size;
#endif
}

/* AddressSanitizer sees the end of a block, and its use after it was given back, only if each is
   malloc's own. */
#if defined(__SANITIZE_ADDRESS__)
#define FS_KEEPS 0
#else
#define FS_KEEPS 1
#endif

#endif
