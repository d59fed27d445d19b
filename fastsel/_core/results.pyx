"""Memory of results: a new array gets the memory of a deleted array, if a cached block fits.

If a block of the result's size can be cached (scratch.pyx), the array gets a cached block, or a new
block if no cached block fits. The array also gets fastsel's memory handler (NEP 49), which NumPy
calls when the array is resized or freed. To NumPy it is an array that owns its data, like any
other. NumPy allocates smaller and larger arrays, arrays of items with references, and all arrays if
the user has set a memory handler.
"""
cimport numpy as cnp
from cpython.exc cimport PyErr_Clear
from cpython.object cimport PyObject, PyTypeObject
from cpython.pycapsule cimport PyCapsule_New
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XINCREF
from libc.stdint cimport uint8_t
from libc.string cimport memcpy, memset, strcpy

from fastsel._core.scratch cimport (
    alloc_large, evict_all, fits, dealloc_large, may_cache, size_of)
from fastsel._core.strided cimport MAX_DIMS

cdef extern from "numpy/arrayobject.h":
    ctypedef struct PyDataMemAllocator:
        void *ctx
        void *(*malloc)(void *ctx, size_t size) noexcept nogil
        void *(*calloc)(void *ctx, size_t items, size_t size) noexcept nogil
        void *(*realloc)(void *ctx, void *data, size_t size) noexcept nogil
        void (*free)(void *ctx, void *data, size_t size) noexcept nogil
    ctypedef struct PyDataMem_Handler:
        char name[127]
        uint8_t version
        PyDataMemAllocator allocator
    ctypedef struct PyArrayObject_fields:
        PyObject *mem_handler
    PyTypeObject PyArray_Type
    PyObject *PyDataMem_DefaultHandler
    object PyDataMem_GetHandler()
    cnp.ndarray PyArray_Empty(int ndim, cnp.npy_intp *shape, cnp.dtype descr, int fortran)
    PyObject *try_empty "PyArray_Empty"(
        int ndim, cnp.npy_intp *shape, cnp.dtype descr, int fortran)
    cnp.ndarray PyArray_NewFromDescr(
        PyTypeObject *subtype, cnp.dtype descr, int ndim, const cnp.npy_intp *shape,
        const cnp.npy_intp *strides, void *data, int flags, PyObject *obj)
    bint PyDataType_REFCHK(cnp.dtype)

cdef PyDataMem_Handler handler
memset(&handler, 0, sizeof(handler))
strcpy(handler.name, b"fastsel")
handler.version = 1
handler.allocator.malloc = data_malloc
handler.allocator.calloc = data_calloc
handler.allocator.realloc = data_realloc
handler.allocator.free = data_free
cdef object capsule = PyCapsule_New(&handler, b"mem_handler", NULL)


def empty(tuple shape not None, cnp.dtype dtype not None):
    """numpy.empty(shape, dtype)."""
    cdef cnp.npy_intp[MAX_DIMS] lengths
    cdef int axis
    if len(shape) > MAX_DIMS:
        raise ValueError(f"shape must have at most {MAX_DIMS} axes, got {len(shape)}")
    try:
        for axis in range(len(shape)):
            lengths[axis] = shape[axis]
    except OverflowError:
        raise ValueError(f"shape must have fewer than 2^63 items along each axis, got {shape}")
    return new_array(<int>len(shape), lengths, dtype)


cdef cnp.ndarray new_result(cnp.npy_intp length, int typenum):
    """A new 1-d array for a result of a kernel; its items are undefined."""
    return new_array(1, &length, cnp.PyArray_DescrFromType(typenum))


cdef cnp.ndarray new_array(int ndim, cnp.npy_intp *shape, cnp.dtype dtype):
    cdef double nbytes = dtype.itemsize
    cdef PyObject *array
    cdef void *data
    cdef int axis
    for axis in range(ndim):
        nbytes *= shape[axis]
    if may_cache(nbytes) and not PyDataType_REFCHK(dtype) and has_default_handler():
        data = alloc_large(<size_t>nbytes)
        if data != NULL:
            return array_around(data, ndim, shape, dtype)
    Py_INCREF(dtype)          # PyArray_Empty steals this reference
    array = try_empty(ndim, shape, dtype, 0)
    if array == NULL:         # without a try statement, which would cost every call
        PyErr_Clear()
        evict_all()
        Py_INCREF(dtype)
        return PyArray_Empty(ndim, shape, dtype, 0)
    result = <object>array
    Py_DECREF(result)
    return result


cdef bint has_default_handler() except -1:
    chosen = PyDataMem_GetHandler()
    return <PyObject *>chosen == PyDataMem_DefaultHandler


cdef cnp.ndarray array_around(void *data, int ndim, cnp.npy_intp *shape, cnp.dtype dtype):
    """Make an array around a block, and then let it own the block."""
    cdef cnp.ndarray array
    try:
        Py_INCREF(dtype)      # PyArray_NewFromDescr steals this reference
        array = PyArray_NewFromDescr(
            &PyArray_Type, dtype, ndim, shape, NULL, data, cnp.NPY_ARRAY_CARRAY, NULL)
    except BaseException:
        dealloc_large(data)
        raise
    (<PyArrayObject_fields *>array).mem_handler = <PyObject *>capsule
    Py_XINCREF(<PyObject *>capsule)
    cnp.PyArray_ENABLEFLAGS(array, cnp.NPY_ARRAY_OWNDATA)
    return array


cdef void *data_malloc(void *ctx, size_t size) noexcept nogil:
    return alloc_large(size)


cdef void *data_calloc(void *ctx, size_t items, size_t size) noexcept nogil:
    cdef void *data
    if size and items > <size_t>-1 // size:
        return NULL
    data = alloc_large(items * size)
    if data != NULL:
        memset(data, 0, items * size)
    return data


cdef void *data_realloc(void *ctx, void *data, size_t size) noexcept nogil:
    cdef void *other
    if fits(data, size):
        return data
    other = alloc_large(size)
    if other != NULL:
        memcpy(other, data, min(size, size_of(data)))
        dealloc_large(data)
    return other


cdef void data_free(void *ctx, void *data, size_t size) noexcept nogil:
    dealloc_large(data)
