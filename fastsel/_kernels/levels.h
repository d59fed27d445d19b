/* The loops over blocks that profit from vector instructions, once per CPU level.

   level_body.h and what it includes are the one source; it is included here for each level that the compiler can
   target, and fs_level() picks the best that this CPU runs (or the one that FASTSEL_CPU names).
   Every level writes the same bytes. The base level is plain C and is all there is elsewhere
   than on x86-64 with gcc or clang. */
#ifndef FASTSEL_LEVELS_H
#define FASTSEL_LEVELS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hashing.h"

#if defined(_MSC_VER)
#include <intrin.h>
#endif

#if defined(_MSC_VER)
#define FS_INLINE __forceinline
#else
#define FS_INLINE inline __attribute__((always_inline))
#endif

#if defined(__x86_64__) && defined(__GNUC__) && !defined(_MSC_VER)
#define FS_X86 1
#include <immintrin.h>
/* The compiler may not assume anything about the vector v from here on, not even where it is. */
#define FS_OPAQUE(v) __asm__ volatile("" : "+v"(v))
#else
#define FS_X86 0
#endif

/* ---- single words ---------------------------------------------------------------------- */

/* Index of the lowest set bit; w is not 0. */
static inline int fs_ctz(uint64_t w)
{
#if defined(_MSC_VER) && defined(_WIN64)
    unsigned long k;
    _BitScanForward64(&k, w);
    return (int)k;
#elif defined(_MSC_VER)
    unsigned long k;
    if (_BitScanForward(&k, (unsigned long)w)) return (int)k;
    _BitScanForward(&k, (unsigned long)(w >> 32));
    return (int)k + 32;
#else
    return __builtin_ctzll(w);
#endif
}

/* Number of set bits, without the popcnt instruction that plain x86-64 lacks. */
static inline int fs_popcount(uint64_t w)
{
    w -= (w >> 1) & UINT64_C(0x5555555555555555);
    w = (w & UINT64_C(0x3333333333333333)) + ((w >> 2) & UINT64_C(0x3333333333333333));
    w = (w + (w >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (int)((w * UINT64_C(0x0101010101010101)) >> 56);
}

/* Bit k: whether bit 2 k or bit 2 k + 1 is set; 32 bits. */
static inline uint64_t fs_join_pairs(uint64_t w)
{
    w = (w | w >> 1) & UINT64_C(0x5555555555555555);
    w = (w | w >> 1) & UINT64_C(0x3333333333333333);
    w = (w | w >> 2) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    w = (w | w >> 4) & UINT64_C(0x00ff00ff00ff00ff);
    w = (w | w >> 8) & UINT64_C(0x0000ffff0000ffff);
    return (w | w >> 16) & UINT64_C(0x00000000ffffffff);
}

/* Ask for the cache line at p, which will be read soon. */
static inline void fs_prefetch(const char *p)
{
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
    _mm_prefetch(p, _MM_HINT_T0);
#elif defined(_MSC_VER)
    __prefetch(p);
#else
    __builtin_prefetch(p);
#endif
}

/* fs_positions[m] lists the set bits of the byte m, lowest first; the rest are 0. */
static uint8_t fs_positions[256][8];

static inline void fs_fill_positions(void)
{
    for (int m = 0; m < 256; m++)
        for (int k = 0, n = 0; k < 8; k++)
            if (m >> k & 1) fs_positions[m][n++] = (uint8_t)k;
}

/* ---- the levels ------------------------------------------------------------------------ */

typedef struct {
    const char *name;
    /* pack[log2 width]: items has 64 * blocks items of that width, bits has room for blocks
       words. Bit k of word b is set where item 64 b + k has a bit in common with care.
       Returns the number of set bits. */
    ptrdiff_t (*pack[4])(const char *items, uint64_t care, uint64_t *bits, ptrdiff_t blocks);
    /* The indices of the set bits; the first bit has index first. sparse: most words are 0. All of
       the room may be written, so a later call has to write what this one does not. */
    void (*write)(const uint64_t *bits, ptrdiff_t blocks, intptr_t first, int sparse, intptr_t *out,
                  ptrdiff_t room);
    /* keep[log2 width]: items has 64 * blocks items. The room, as above. */
    void (*keep[4])(const uint64_t *bits, ptrdiff_t blocks, const char *items, char *out,
                    ptrdiff_t room);
    /* out has room for 64 positions; returns how many bits are set. */
    int (*decode)(uint64_t word, uint8_t *out);
    /* Bit j of word i and bit i of word j change places, in 64 words. */
    void (*transpose)(uint64_t *words);
    /* Number of set bits of blocks words. */
    ptrdiff_t (*count)(const uint64_t *bits, ptrdiff_t blocks);
    /* Adds value * stride to each of n offsets; negative values count from wrap. Returns 0 if
       all are below length then. */
    size_t (*add_offsets)(const intptr_t *values, ptrdiff_t n, size_t length, intptr_t wrap,
                          size_t stride, intptr_t *offsets);
    /* The offsets of n rows of one or two signed indices, which are 4 or 8 bytes wide and lie side
       by side. Returns 0 if all are within the lengths. */
    size_t (*row_offsets)(const char *rows, ptrdiff_t width, ptrdiff_t axes, ptrdiff_t n,
                          const intptr_t *lengths, const intptr_t *strides, intptr_t *offsets);
    /* (hash << skip) >> shift of each of n words: what first_slot of table.pxd gives for one. */
    void (*slots)(const uint64_t *words, ptrdiff_t n, uint64_t seed, uint64_t factor, int skip,
                  int shift, uint64_t *slots);
    /* known[log2 width - 1]: in how many blocks, from the first one on, no item differs from all of
       four. Items are aligned. */
    ptrdiff_t (*known[3])(const char *items, ptrdiff_t blocks, const uint64_t *known);
    /* In how many blocks of bytes, from the first one on, each byte has a 1 among these 256. */
    ptrdiff_t (*met)(const char *bytes, ptrdiff_t blocks, const uint8_t *met);
    /* turns[width is 8]: which words differ from the one before, as bits. See slots_body.h. */
    ptrdiff_t (*turns[2])(const char *items, ptrdiff_t blocks, uint64_t care, uint64_t limit,
                          const uint64_t *order, uint64_t *last, uint64_t *bits, int *seen);
} fs_level_t;

#define FS_JOIN_(a, b) a##_##b
#define FS_JOIN(a, b) FS_JOIN_(a, b)
#define AT(name) FS_JOIN(name, FS_LEVEL)

#define FS_LEVEL base
#define FS_LEVEL_NUMBER 1
#include "level_body.h"
#undef FS_LEVEL
#undef FS_LEVEL_NUMBER

#if FS_X86
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,lzcnt,popcnt")
#endif
#define FS_LEVEL v3
#define FS_LEVEL_NUMBER 3
#include "level_body.h"
#undef FS_LEVEL
#undef FS_LEVEL_NUMBER
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2"))), apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")
#endif
#define FS_LEVEL v4
#define FS_LEVEL_NUMBER 4
#include "level_body.h"
#undef FS_LEVEL
#undef FS_LEVEL_NUMBER
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

/* The level in use; called once, when a module is imported. */
static inline const fs_level_t *fs_level(void)
{
    const char *wish = getenv("FASTSEL_CPU");
    int limit = 4;
    if (wish != NULL && strcmp(wish, "base") == 0) limit = 1;
    if (wish != NULL && strcmp(wish, "v3") == 0) limit = 3;
    fs_fill_positions();
#if FS_X86
    __builtin_cpu_init();
    if (limit >= 4 && __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vbmi") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2"))
        return &fs_level_v4;
    if (limit >= 3 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("popcnt"))
        return &fs_level_v3;
#endif
    (void)limit;
    return &fs_level_base;
}

#endif
