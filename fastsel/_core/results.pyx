"""Memory of large results: what one array gives back serves the next one.

Arrays of MIN_CACHED to MAX_CACHED bytes get their memory by a handler of our own (NEP 49), which
NumPy calls again when the array is gone; the last two blocks are kept
(buffer_cache.pxd). Where the system
cannot take them back, and where the user has chosen a handler, all is NumPy's.
"""
cimport numpy as cnp
from cpython.pycapsule cimport PyCapsule_New
from cpython.ref cimport PyObject
from libc.stdint cimport uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset, strcpy

from fastsel._core.buffer_cache cimport (
    FS_CACHED_LARGE, MAX_CACHED, MIN_CACHED, cache_or_release, data_t, find_cached, fits, header_of,
    header_t, release_all)
from fastsel._core.strided cimport MAX_DIMS

cdef extern from "memory.h" nogil:
    void fs_want_huge_pages(void *memory, size_t size)

cdef extern from "Python.h":
    int PyGC_Disable()
    int PyGC_Enable()

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
    PyObject *PyDataMem_DefaultHandler
    object PyDataMem_GetHandler()
    object PyDataMem_SetHandler(object handler)

cnp.import_array()

cdef enum:
    ALIGNMENT = 64        # of the data: a cache line

cdef data_t[FS_CACHED_LARGE + 1] cached
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


cpdef void drop() noexcept nogil:
    """Give all cached blocks back to the system."""
    release_all(cached, release)


cdef cnp.ndarray new_result(int ndim, cnp.npy_intp *shape, int typenum):
    """A new array; one result of a kernel."""
    return new_array(ndim, shape, cnp.PyArray_DescrFromType(typenum))


cdef cnp.ndarray new_array(int ndim, cnp.npy_intp *shape, cnp.dtype dtype):
    """Empty the cache for results that do not fit otherwise."""
    try:
        return array_of(ndim, shape, dtype)
    except MemoryError:
        drop()
        return array_of(ndim, shape, dtype)


cdef cnp.ndarray array_of(int ndim, cnp.npy_intp *shape, cnp.dtype dtype):
    cdef double nbytes = dtype.itemsize
    cdef int axis, collects
    for axis in range(ndim):
        nbytes *= shape[axis]
    if FS_CACHED_LARGE and MIN_CACHED <= nbytes <= MAX_CACHED:
        chosen = PyDataMem_GetHandler()
        if <PyObject *>chosen == PyDataMem_DefaultHandler:
            collects = PyGC_Disable()     # which would run code of others, with this handler
            PyDataMem_SetHandler(capsule)
            try:
                return numpy_array(ndim, shape, dtype)
            finally:
                PyDataMem_SetHandler(chosen)
                if collects:
                    PyGC_Enable()
    return numpy_array(ndim, shape, dtype)


cdef void release(void *data) noexcept nogil:
    if data != NULL:
        free(header_of(data).start)


cdef void *data_malloc(void *ctx, size_t size) noexcept nogil:
    cdef void *data = find_cached(cached, size, release)
    return fresh(size) if data == NULL else data


cdef void *fresh(size_t size) noexcept nogil:
    cdef char *start
    cdef char *data
    if size + sizeof(header_t) + ALIGNMENT < size:
        return NULL
    start = <char *>malloc(size + sizeof(header_t) + ALIGNMENT)
    if start == NULL:
        return NULL
    fs_want_huge_pages(start, size)
    data = start + sizeof(header_t) + ALIGNMENT
    data -= <size_t>data % ALIGNMENT
    header_of(data).start, header_of(data).size = start, size
    return data


cdef void *data_calloc(void *ctx, size_t items, size_t size) noexcept nogil:
    cdef void *data
    if size and items > <size_t>-1 // size:
        return NULL
    data = data_malloc(ctx, items * size)
    if data != NULL:
        memset(data, 0, items * size)
    return data


cdef void *data_realloc(void *ctx, void *data, size_t size) noexcept nogil:
    cdef size_t old_size = header_of(data).size
    cdef void *other
    if fits(data, size):
        return data
    other = data_malloc(ctx, size)
    if other != NULL:
        memcpy(other, data, min(size, old_size))
        data_free(ctx, data, old_size)
    return other


cdef void data_free(void *ctx, void *data, size_t size) noexcept nogil:
    cache_or_release(cached, data, release)
