"""Strings of StringDType: hashes of their characters, and a check that equal hashes belong to equal
strings, without an object for each string.

The strings are read in rounds. During a round, the thread holds the lock of their allocator.
Between rounds the lock is released, signal handlers run, and they or other threads may change the
array. If a string changes meanwhile, it may get another group, or the check may return False.
"""
cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint64_t
from libc.string cimport memcmp

cdef extern from "hashing.h" nogil:
    uint64_t fs_hash_bytes(const char *p, Py_ssize_t size, uint64_t seed, uint64_t factor)

cdef extern from "numpy/arrayobject.h":
    ctypedef struct npy_string_allocator:
        pass
    ctypedef struct npy_packed_static_string:
        pass
    ctypedef struct npy_static_string:
        size_t size
        const char *buf
    ctypedef struct PyArray_StringDTypeObject:
        pass
    npy_string_allocator *NpyString_acquire_allocator(const PyArray_StringDTypeObject *descr)
    void NpyString_release_allocator(npy_string_allocator *allocator)
    int NpyString_load(
        npy_string_allocator *allocator, const npy_packed_static_string *packed,
        npy_static_string *string)

cnp.import_array()

cdef enum:
    ROUND_STRINGS = 1 << 14   # strings between two checks for signals


def hash_strings(cnp.ndarray strings not None, tuple seeds not None):
    """The hash, uint64, of the characters of each string of a 1-d, contiguous array; None if a
    string is missing. seeds is (seed, factor)."""
    cdef cnp.npy_intp size = cnp.PyArray_SIZE(strings)
    cdef cnp.ndarray hashes = cnp.PyArray_EMPTY(1, &size, cnp.NPY_UINT64, 0)
    cdef uint64_t *out = <uint64_t *>cnp.PyArray_DATA(hashes)
    cdef uint64_t seed = seeds[0], factor = seeds[1]
    cdef npy_string_allocator *allocator
    cdef npy_static_string string
    cdef Py_ssize_t start = 0, i
    cdef bint is_missing = False
    while start < size and not is_missing:
        allocator = lock(strings)
        for i in range(start, min(start + ROUND_STRINGS, size)):
            if not load(allocator, strings, i, &string):
                is_missing = True
                break
            out[i] = fs_hash_bytes(string.buf, string.size, seed, factor)
        NpyString_release_allocator(allocator)
        PyErr_CheckSignals()
        start += ROUND_STRINGS
    return None if is_missing else hashes


def each_equals_first(cnp.ndarray strings not None,
                      const Py_ssize_t[::1] first_positions not None,
                      const Py_ssize_t[::1] inverse not None):
    """Does each string of a 1-d, contiguous array equal the first string of its group? False if a
    string is missing."""
    cdef Py_ssize_t size = cnp.PyArray_SIZE(strings), start = 0, i
    cdef npy_string_allocator *allocator
    cdef npy_static_string string, first
    cdef bint same = True
    while start < size and same:
        allocator = lock(strings)
        for i in range(start, min(start + ROUND_STRINGS, size)):
            if not (load(allocator, strings, i, &string)
                    and load(allocator, strings, first_positions[inverse[i]], &first)
                    and string.size == first.size
                    and memcmp(string.buf, first.buf, string.size) == 0):
                same = False
                break
        NpyString_release_allocator(allocator)
        PyErr_CheckSignals()
        start += ROUND_STRINGS
    return same


cdef inline npy_string_allocator *lock(cnp.ndarray strings) noexcept:
    return NpyString_acquire_allocator(
        <PyArray_StringDTypeObject *>cnp.PyArray_DESCR(strings))


cdef inline bint load(npy_string_allocator *allocator, cnp.ndarray strings, Py_ssize_t i,
                      npy_static_string *string) noexcept:
    """Load string i. Returns False if the string is missing."""
    cdef const char *packed = <const char *>cnp.PyArray_DATA(strings)
    packed += i * cnp.PyArray_ITEMSIZE(strings)
    return NpyString_load(
        allocator, <const npy_packed_static_string *>packed, string) == 0
