/* What scratch.pyx needs of compiler and system: an atomic exchange, and huge pages. */
#ifndef FASTSEL_SCRATCH_H
#define FASTSEL_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

#if defined(_MSC_VER)
#include <intrin.h>
static void *fs_exchange(void **slot, void *value)
{
    return _InterlockedExchangePointer((void *volatile *)slot, value);
}
#else
static void *fs_exchange(void **slot, void *value)
{
    return __atomic_exchange_n(slot, value, __ATOMIC_ACQ_REL);
}
#endif

/* Ask for huge pages, as NumPy does for its arrays: fresh small ones cost a fault each. */
#if defined(__linux__)
#include <sys/mman.h>
static void fs_want_huge_pages(void *memory, size_t size)
{
    const uintptr_t page = 4096;
    uintptr_t start = ((uintptr_t)memory + page - 1) & ~(page - 1);
    (void)madvise((void *)start, (size - (start - (uintptr_t)memory)) & ~(size_t)(page - 1),
                  MADV_HUGEPAGE);
}
#else
static void fs_want_huge_pages(void *memory, size_t size) { (void)memory, (void)size; }
#endif

/* AddressSanitizer sees the end of a block, and its use after it was given back, only if each is
   malloc's own. */
#if defined(__SANITIZE_ADDRESS__)
#define FS_KEPT_BLOCKS 0
#else
#define FS_KEPT_BLOCKS 4
#endif

#endif
