/* The loops that profit from vector instructions, compiled once per CPU level.

   All levels have one source, level_body.h, which is included here for each level that the compiler
   can target. fs_best_level() chooses the best level that this CPU runs, up to the level that
   FASTSEL_CPU names; a name that is no level is ignored. Every level has the same results. The base
   level is plain C, or C with SSE2; only gcc and clang on x86-64 and AArch64 have another level. */
#ifndef FASTSEL_LEVELS_H
#define FASTSEL_LEVELS_H

#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "hashing.h"
#include "level.h"

#if defined(_MSC_VER)
#define FS_INLINE __forceinline
#else
#define FS_INLINE inline __attribute__((always_inline))
#endif

#if defined(__x86_64__) && defined(__GNUC__) && !defined(_MSC_VER)
#define FS_X86 1
#include <immintrin.h>
/* From here on the compiler does not know that the vector v was loaded from memory: so it cannot
   load v again. */
#define FS_OPAQUE(v) __asm__ volatile("" : "+v"(v))
#else
#define FS_X86 0
#endif

/* Every x86-64 CPU has SSE2, for the base level. -DFS_SSE2=0 compiles plain C instead, as for other
   CPUs. */
#if !defined(FS_SSE2)
#if defined(__SSE2__) || defined(_M_X64)
#define FS_SSE2 1
#else
#define FS_SSE2 0
#endif
#endif
#if FS_SSE2
#include <emmintrin.h>
#endif

#if defined(__aarch64__) && defined(__GNUC__)
#define FS_NEON 1
#include <arm_neon.h>
#else
#define FS_NEON 0
#endif

/* fs_positions[m] has the positions of the set bits of the byte m, ascending, then zeros. */
static uint8_t fs_positions[256][8];

#define FS_JOIN_(a, b) a##_##b
#define FS_JOIN(a, b) FS_JOIN_(a, b)
#define AT(name) FS_JOIN(name, FS_LEVEL)

#define FS_LEVEL base
#define FS_LEVEL_NUMBER 1
#include "level_body.h"

#if FS_NEON /* every AArch64 CPU has NEON */
#define FS_LEVEL neon
#define FS_LEVEL_NUMBER 2
#include "level_body.h"
#endif

#if FS_X86
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,popcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt")
#endif
#define FS_LEVEL v3
#define FS_LEVEL_NUMBER 3
#include "level_body.h"
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2"))), apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")
#endif
#define FS_LEVEL v4
#define FS_LEVEL_NUMBER 4
#include "level_body.h"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

/* Fills fs_positions, which levels 1 to 3 use, and returns the level to use. */
static const fs_level_t *fs_best_level(void)
{
    const char *wish = getenv("FASTSEL_CPU");
    int limit = 4;
    if (wish != NULL && strcmp(wish, "base") == 0) limit = 1;
    if (wish != NULL && strcmp(wish, "neon") == 0) limit = 2;
    if (wish != NULL && strcmp(wish, "v3") == 0) limit = 3;
    for (int m = 0; m < 256; m++)
        for (int k = 0, n = 0; k < 8; k++)
            if (m >> k & 1) fs_positions[m][n++] = (uint8_t)k;
#if FS_X86
    __builtin_cpu_init();
    if (limit >= 3 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt")) {
        if (limit >= 4 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
            __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2"))
            return &fs_level_v4;
        return &fs_level_v3;
    }
#endif
#if FS_NEON
    if (limit >= 2) return &fs_level_neon;
#endif
    (void)limit;
    return &fs_level_base;
}

#endif
