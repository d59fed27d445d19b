/* Functions of the bits of one word, and a prefetch. */
#ifndef FASTSEL_BITS_H
#define FASTSEL_BITS_H

#include <stdint.h>

#if defined(_MSC_VER)
#include <intrin.h>
#endif

/* Index of the lowest set bit. w is not 0: otherwise the result is undefined. */
static inline int fs_ctz(uint64_t w)
{
#if defined(_MSC_VER)
    unsigned long k;
    _BitScanForward64(&k, w);
    return (int)k;
#else
    return __builtin_ctzll(w);
#endif
}

/* Byte k of the result is the number of set bits in the bytes 0 to k of w. */
static inline uint64_t fs_running_counts(uint64_t w)
{
    w -= (w >> 1) & UINT64_C(0x5555555555555555);
    w = (w & UINT64_C(0x3333333333333333)) + ((w >> 2) & UINT64_C(0x3333333333333333));
    w = (w + (w >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return w * UINT64_C(0x0101010101010101);
}

/* Number of set bits, without the popcnt instruction, which the base x86-64 lacks. */
static inline int fs_popcount(uint64_t w)
{
    return (int)(fs_running_counts(w) >> 56);
}

/* Bit k of the result is set if bit 2 k or bit 2 k + 1 of w is set; the result has 32 bits. */
static inline uint64_t fs_join_pairs(uint64_t w)
{
    w = (w | w >> 1) & UINT64_C(0x5555555555555555);
    w = (w | w >> 1) & UINT64_C(0x3333333333333333);
    w = (w | w >> 2) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    w = (w | w >> 4) & UINT64_C(0x00ff00ff00ff00ff);
    w = (w | w >> 8) & UINT64_C(0x0000ffff0000ffff);
    return (w | w >> 16) & UINT64_C(0x00000000ffffffff);
}

/* Bits 2 k and 2 k + 1 of the result are bit k of w, for the low 32 bits of w. */
static inline uint64_t fs_repeat_bits(uint64_t w)
{
    w &= UINT64_C(0x00000000ffffffff);
    w = (w | w << 16) & UINT64_C(0x0000ffff0000ffff);
    w = (w | w << 8) & UINT64_C(0x00ff00ff00ff00ff);
    w = (w | w << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    w = (w | w << 2) & UINT64_C(0x3333333333333333);
    w = (w | w << 1) & UINT64_C(0x5555555555555555);
    return w | w << 1;
}

/* Prefetches the cache line at p. */
static inline void fs_prefetch(const char *p)
{
#if defined(_MSC_VER) && defined(_M_X64)
    _mm_prefetch(p, _MM_HINT_T0);
#elif defined(_MSC_VER)
    __prefetch(p);
#else
    __builtin_prefetch(p);
#endif
}

#endif
