/* Atomic operations on numbers and pointers; all of them are sequentially consistent, but
   fs_load_pointer, fs_load_relaxed, fs_store_relaxed, fs_store_u32 and fs_mark: a value that they
   load may be out of date. fs_mark stores 1; in most calls, the mark is 1 already. */
#ifndef FASTSEL_ATOMICS_H
#define FASTSEL_ATOMICS_H

#include <stddef.h>
#include <stdint.h>

typedef ptrdiff_t fs_atomic_t;

/* The operations of the compiler. FS_GET and FS_PUT are relaxed. */
#if defined(_MSC_VER)
#include <intrin.h>
#define FS_ADD(p, v) _InterlockedExchangeAdd64((volatile __int64 *)(p), v)
#define FS_SWAP(p, v) _InterlockedExchange64((volatile __int64 *)(p), v)
#define FS_SWAP_POINTER(p, v) _InterlockedExchangePointer((void *volatile *)(p), v)
#define FS_READ(p) FS_ADD(p, 0)
#define FS_STORE(p, v) FS_SWAP(p, v)
#define FS_GET(type, p) (*(type volatile *)(p))
#define FS_PUT(type, p, v) (*(type volatile *)(p) = (v))
#else
#define FS_ADD(p, v) __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST)
#define FS_SWAP(p, v) __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST)
#define FS_SWAP_POINTER(p, v) FS_SWAP(p, v)
#define FS_READ(p) __atomic_load_n(p, __ATOMIC_SEQ_CST)
#define FS_STORE(p, v) __atomic_store_n(p, v, __ATOMIC_SEQ_CST)
#define FS_GET(type, p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define FS_PUT(type, p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)
#endif

static inline ptrdiff_t fs_fetch_add(fs_atomic_t *a, ptrdiff_t v) { return FS_ADD(a, v); }
static inline ptrdiff_t fs_exchange(fs_atomic_t *a, ptrdiff_t v) { return FS_SWAP(a, v); }
static inline ptrdiff_t fs_load(fs_atomic_t *a) { return FS_READ(a); }
static inline void fs_store(fs_atomic_t *a, ptrdiff_t v) { FS_STORE(a, v); }
static inline ptrdiff_t fs_load_relaxed(fs_atomic_t *a) { return FS_GET(ptrdiff_t, a); }
static inline void fs_store_relaxed(fs_atomic_t *a, ptrdiff_t v) { FS_PUT(ptrdiff_t, a, v); }
static inline void *fs_exchange_pointer(void **p, void *v) { return FS_SWAP_POINTER(p, v); }
static inline void *fs_load_pointer(void **p) { return FS_GET(void *, p); }
static inline void fs_store_u32(uint32_t *p, uint32_t v) { FS_PUT(uint32_t, p, v); }
static inline void fs_mark(uint8_t *mark)
{
    if (!FS_GET(uint8_t, mark)) FS_PUT(uint8_t, mark, 1);
}

#endif
