/* Sorts contiguous numbers by NumPy's C API, without the GIL: a thread of a parallel region cannot
   acquire the GIL if there is no memory for its Python thread state. */
#ifndef FASTSEL_NUMPY_SORTS_H
#define FASTSEL_NUMPY_SORTS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <numpy/arrayobject.h>

typedef int (*fs_sort_t)(void *keys, npy_intp length, void *array);

static int fs_compare_u32(const void *a, const void *b)
{
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return (one > other) - (one < other);
}

static int fs_compare_u64(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return (one > other) - (one < other);
}

/* fs_sort_of returns fs_qsort if NumPy's ArrFuncs have no quicksort of the dtype. */
static int fs_qsort(void *keys, npy_intp length, void *array)
{
    size_t width = (size_t)PyArray_ITEMSIZE((PyArrayObject *)array);
    qsort(keys, (size_t)length, width, width == 4 ? fs_compare_u32 : fs_compare_u64);
    return 0;
}

/* Does the CPU take subnormal floats for 0 in this thread (FTZ and DAZ, FZ)? Then a sort of floats
   may leave them in any order, and even replace one by another. */
static inline int fs_subnormals_are_zero(void)
{
    uint64_t one = 1;
    double least;
    volatile double number;
    memcpy(&least, &one, sizeof least);
    number = least;
    return number == 0;
}

/* The sort for an array of numbers of 4 or 8 bytes; the array is the last argument of the sort.
   NULL for signed integers and floats if NumPy's ArrFuncs have none. */
static inline fs_sort_t fs_sort_of(PyArrayObject *array)
{
    fs_sort_t sort = (fs_sort_t)PyDataType_GetArrFuncs(PyArray_DESCR(array))->sort[NPY_QUICKSORT];
    return sort != NULL || !PyTypeNum_ISUNSIGNED(PyArray_TYPE(array)) ? sort : fs_qsort;
}

#endif
