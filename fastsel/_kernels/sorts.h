/* Are NumPy's sorts of numbers vectorised on this CPU, and fast? */
#ifndef FASTSEL_SORTS_H
#define FASTSEL_SORTS_H

/* They are with AVX2 or AVX-512 (x86-simd-sort) and on ARM (Highway). Zen 4, family 0x19, runs their
   compressing stores of AVX-512 in microcode: 1e6 int64 took 50 ms there, and 8 ms on Zen 5. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(_MSC_VER)
#include <cpuid.h>
static int fs_numpy_sorts_fast(void)
{
    unsigned a = 0, b, c, d, family;
    __builtin_cpu_init();
    __get_cpuid(1, &a, &b, &c, &d);
    family = (a >> 8 & 0xf) + (a >> 20 & 0xff);
    if (__builtin_cpu_is("amd") && family == 0x19 && __builtin_cpu_supports("avx512f")) return 0;
    return __builtin_cpu_supports("avx2") != 0;
}
#elif defined(__aarch64__) || defined(_M_ARM64)
static int fs_numpy_sorts_fast(void) { return 1; }
#else
static int fs_numpy_sorts_fast(void) { return 0; }
#endif

#endif
