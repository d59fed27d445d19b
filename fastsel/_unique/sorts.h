/* What an array's own sort calls for numbers that lie side by side, as NumPy's C API has it: a worker
   thread cannot take the interpreter lock where there is no memory for its thread state. */
#ifndef FASTSEL_SORTS_H
#define FASTSEL_SORTS_H

#include <numpy/arrayobject.h>

typedef int (*fs_sort_t)(void *numbers, npy_intp length, void *array);

/* The sort of an array's dtype, which takes the array as its last argument; NULL if a later NumPy
   has none. */
static inline fs_sort_t fs_sort_of(PyArrayObject *array)
{
    return (fs_sort_t)PyDataType_GetArrFuncs(PyArray_DESCR(array))->sort[NPY_QUICKSORT];
}

#endif
