/* NumPy's sorts of numbers: how to call them without Python, and whether they are fast. */
#ifndef FASTSEL_SORTS_H
#define FASTSEL_SORTS_H

#include <numpy/arrayobject.h>

/* What np.sort calls with the interpreter lock released, for numbers that lie side by side; the
   third argument is an array whose dtype says more where that is needed, which is not here. NULL if
   a later NumPy has none. */
typedef int (*fs_sort_t)(void *numbers, npy_intp length, void *array);

static inline fs_sort_t fs_numpy_sort(int typenum)
{
    PyArray_Descr *descr = PyArray_DescrFromType(typenum); /* one of NumPy's own, which stay */
    fs_sort_t sort = (fs_sort_t)PyDataType_GetArrFuncs(descr)->sort[NPY_QUICKSORT];
    Py_DECREF(descr);
    return sort;
}

/* 0, or 1 if they are vectorised on this CPU, or 2 if by vectors of 64 bytes: with AVX2 and AVX-512
   (x86-simd-sort), and on ARM (Highway). Zen 4, family 0x19, runs their compressing stores of
   AVX-512 in microcode: 1e6 int64 took 50 ms there, and 8 ms on Zen 5. The other says whether those
   of 2 bytes are vectorised. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(_MSC_VER)
#include <cpuid.h>
static inline int fs_numpy_sort_speed(void)
{
    unsigned a = 0, b, c, d, family;
    __builtin_cpu_init();
    __get_cpuid(1, &a, &b, &c, &d);
    family = (a >> 8 & 0xf) + (a >> 20 & 0xff);
    if (__builtin_cpu_supports("avx512dq"))
        return __builtin_cpu_is("amd") && family == 0x19 ? 0 : 2;
    return __builtin_cpu_supports("avx2") != 0;
}
static inline int fs_numpy_sorts_short(void)
{
    return fs_numpy_sort_speed() == 2 && __builtin_cpu_supports("avx512vbmi2");
}
#elif defined(__aarch64__) || defined(_M_ARM64)
static inline int fs_numpy_sort_speed(void) { return 1; }
static inline int fs_numpy_sorts_short(void) { return 1; }
#else
static inline int fs_numpy_sort_speed(void) { return 0; }
static inline int fs_numpy_sorts_short(void) { return 0; }
#endif

#endif
