"""Memory of large results: what one array gives back serves the next one.

The system clears each page of fresh memory, after a fault for it, which takes longer than to write
it: nonzero of 1e7 bool, half of them True, took 4.4 ms, and takes 2.7 (`compare.py --op nonzero
--size 1e7 --peers numpy`, and with MOST = 0). So arrays of LEAST to MOST bytes get their memory by
a handler of our own (NEP 49), which NumPy calls again when the array is gone; the last two blocks
are kept, and the system takes their pages when it is short of memory (MADV_FREE). To tell it so is
a call of its own: masks of 1e6 float64, whose results malloc keeps, took 0.12 ms, and 0.33 with
LEAST = 1 << 22. Where the system has no such call, and where the user has chosen a handler, all is
NumPy's.
"""
cimport numpy as cnp
from cpython.pycapsule cimport PyCapsule_New
from cpython.ref cimport PyObject
from libc.stdint cimport uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset, strcpy

from fastsel._kernels.strided cimport MAX_DIMS

cdef extern from "memory.h" nogil:
    enum:
        FS_KEPT_RESULTS
    void *fs_exchange(void **slot, void *value)
    void fs_want_huge_pages(void *memory, size_t size)
    int fs_offer(void *memory, size_t size)

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
    LEAST = 1 << 25       # bytes; below, glibc's malloc keeps memory, without a call to the system
    MOST = 1 << 27
    ALIGNMENT = 64        # of the data: a cache line

ctypedef struct header_t:  # stands before the data
    void *start           # what malloc returned
    size_t room           # bytes of data

ctypedef void *data_t
cdef data_t[FS_KEPT_RESULTS + 1] kept
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
    """Give all that is kept back to the system."""
    for k in range(FS_KEPT_RESULTS):
        release(fs_exchange(&kept[k], NULL))


cdef cnp.ndarray new_result(int ndim, cnp.npy_intp *shape, int typenum):
    """A new array; one result of a kernel."""
    return new_array(ndim, shape, cnp.PyArray_DescrFromType(typenum))


cdef cnp.ndarray new_array(int ndim, cnp.npy_intp *shape, cnp.dtype dtype):
    """What is kept for results makes room for those that do not fit otherwise."""
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
    if FS_KEPT_RESULTS and LEAST <= nbytes <= MOST:
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


cdef inline header_t *header_of(void *data) noexcept nogil:
    return <header_t *>data - 1


cdef inline bint fits(void *data, size_t size) noexcept nogil:
    """Neither too small nor, by more than an eighth, too large."""
    return size <= header_of(data).room <= size + size // 8


cdef void release(void *data) noexcept nogil:
    if data != NULL:
        free(header_of(data).start)


cdef void *data_malloc(void *ctx, size_t size) noexcept nogil:
    """A block that is kept, if one fits, or a new one."""
    cdef void *data
    cdef int k
    for k in range(FS_KEPT_RESULTS):
        data = fs_exchange(&kept[k], NULL)
        if data != NULL and fits(data, size):
            return data
        if data != NULL:
            release(fs_exchange(&kept[k], data))
    return fresh(size)


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
    header_of(data).start, header_of(data).room = start, size
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
    cdef size_t room = header_of(data).room
    cdef void *other
    if fits(data, size):
        return data
    other = data_malloc(ctx, size)
    if other != NULL:
        memcpy(other, data, min(size, room))
        data_free(ctx, data, room)
    return other


cdef void data_free(void *ctx, void *data, size_t size) noexcept nogil:
    """Keep the block, if the system can take it back; the oldest one goes."""
    cdef size_t room = header_of(data).room
    cdef int k
    if LEAST <= room <= MOST and fs_offer(data, room):
        for k in range(FS_KEPT_RESULTS):
            data = fs_exchange(&kept[k], data)
            if data == NULL:
                return
    release(data)
