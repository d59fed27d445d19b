/* Atomic operations on numbers and pointers, by compiler; all of them are sequentially consistent,
   but fs_load_pointer, fs_load_relaxed, fs_store_relaxed and fs_mark: a value that they load may be
   out of date. fs_mark stores 1; in most calls, the mark is 1 already. */
#ifndef FASTSEL_ATOMICS_H
#define FASTSEL_ATOMICS_H

#include <stddef.h>
#include <stdint.h>

typedef ptrdiff_t fs_atomic_t;

#if defined(_MSC_VER)
#include <intrin.h>
static inline ptrdiff_t fs_fetch_add(fs_atomic_t *a, ptrdiff_t v)
{
    return (ptrdiff_t)_InterlockedExchangeAdd64((volatile __int64 *)a, v);
}
static inline ptrdiff_t fs_exchange(fs_atomic_t *a, ptrdiff_t v)
{
    return (ptrdiff_t)_InterlockedExchange64((volatile __int64 *)a, v);
}
static inline void *fs_exchange_pointer(void **slot, void *value)
{
    return _InterlockedExchangePointer((void *volatile *)slot, value);
}
static inline void *fs_load_pointer(void **slot) { return *(void *volatile *)slot; }
static inline ptrdiff_t fs_load(fs_atomic_t *a) { return fs_fetch_add(a, 0); }
static inline void fs_store(fs_atomic_t *a, ptrdiff_t v) { fs_exchange(a, v); }
static inline ptrdiff_t fs_load_relaxed(fs_atomic_t *a) { return *(volatile ptrdiff_t *)a; }
static inline void fs_store_relaxed(fs_atomic_t *a, ptrdiff_t v) { *(volatile ptrdiff_t *)a = v; }
static inline void fs_mark(uint8_t *mark)
{
    if (!*(volatile uint8_t *)mark) *(volatile uint8_t *)mark = 1;
}
#else
static inline ptrdiff_t fs_fetch_add(fs_atomic_t *a, ptrdiff_t v)
{
    return __atomic_fetch_add(a, v, __ATOMIC_SEQ_CST);
}
static inline ptrdiff_t fs_exchange(fs_atomic_t *a, ptrdiff_t v)
{
    return __atomic_exchange_n(a, v, __ATOMIC_SEQ_CST);
}
static inline void *fs_exchange_pointer(void **slot, void *value)
{
    return __atomic_exchange_n(slot, value, __ATOMIC_SEQ_CST);
}
static inline void *fs_load_pointer(void **slot)
{
    return __atomic_load_n(slot, __ATOMIC_RELAXED);
}
static inline ptrdiff_t fs_load(fs_atomic_t *a) { return __atomic_load_n(a, __ATOMIC_SEQ_CST); }
static inline void fs_store(fs_atomic_t *a, ptrdiff_t v)
{
    __atomic_store_n(a, v, __ATOMIC_SEQ_CST);
}
static inline ptrdiff_t fs_load_relaxed(fs_atomic_t *a)
{
    return __atomic_load_n(a, __ATOMIC_RELAXED);
}
static inline void fs_store_relaxed(fs_atomic_t *a, ptrdiff_t v)
{
    __atomic_store_n(a, v, __ATOMIC_RELAXED);
}
static inline void fs_mark(uint8_t *mark)
{
    if (!__atomic_load_n(mark, __ATOMIC_RELAXED)) __atomic_store_n(mark, 1, __ATOMIC_RELAXED);
}
#endif

#endif
