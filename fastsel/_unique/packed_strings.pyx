"""Strings of StringDType: hashes of their characters, and a check that equal hashes belong to equal
strings, without an object for each string.

The strings are read in rounds. During a round, the caller holds the lock of their allocator, and
all threads load strings, which only reads. It keeps the GIL, and no signal handler runs: a thread
that has the GIL, or a handler, may wait for the lock. Between rounds, they may change the array. If
a string changes meanwhile, it may get another group, or the check may return False.
"""
cimport numpy as cnp
from libc.stdint cimport uint64_t
from libc.string cimport memcmp

from fastsel._unique.string_rounds cimport StringRounds

cdef extern from "hashing.h" nogil:
    uint64_t fs_hash_bytes(const char *p, Py_ssize_t size, uint64_t seed, uint64_t factor)

cdef extern from "numpy/arrayobject.h" nogil:
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


cdef class PackedPass(StringRounds):
    """A pass over the strings of a 1-d, contiguous array. A chunk fails at a missing string."""
    cdef cnp.ndarray strings
    cdef const char *packed
    cdef Py_ssize_t width         # of a packed string
    cdef npy_string_allocator *allocator

    def __cinit__(self, cnp.ndarray strings, *_):
        assert cnp.PyArray_ISCARRAY_RO(strings)
        self.strings, self.packed = strings, <const char *>cnp.PyArray_DATA(strings)
        self.width = cnp.PyArray_ITEMSIZE(strings)

    cdef int run_round(self, int threads) except -1:
        self.allocator = NpyString_acquire_allocator(
            <PyArray_StringDTypeObject *>cnp.PyArray_DESCR(self.strings))
        try:
            self.run_with_gil(threads, False)
        finally:
            NpyString_release_allocator(self.allocator)
        return 0

    cdef inline bint load(self, Py_ssize_t i, npy_static_string *string) noexcept nogil:
        """Load string i. Returns False if the string is missing."""
        return NpyString_load(
            self.allocator, <const npy_packed_static_string *>(self.packed + i * self.width),
            string) == 0


def hash_strings(cnp.ndarray strings not None, tuple seeds not None, int threads):
    """The hash, uint64, of the characters of each string of a 1-d, contiguous array; None if a
    string is missing. seeds is (seed, factor)."""
    cdef HashPacked job = HashPacked(strings)
    cdef cnp.npy_intp size = cnp.PyArray_SIZE(strings)
    hashes = cnp.PyArray_EMPTY(1, &size, cnp.NPY_UINT64, 0)
    job.hashes = hashes
    job.seed, job.factor = seeds
    return hashes if job.run_until_failure(cnp.PyArray_SIZE(strings), threads) else None


cdef class HashPacked(PackedPass):
    cdef uint64_t[::1] hashes
    cdef uint64_t seed
    cdef uint64_t factor

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t i
        cdef npy_static_string string
        for i in range(self.first(k), self.first(k + 1)):
            if not self.load(i, &string):
                self.failed[k] = True
                return
            self.hashes[i] = fs_hash_bytes(string.buf, string.size, self.seed, self.factor)


def each_equals_first(cnp.ndarray strings not None,
                      const Py_ssize_t[::1] first_positions not None,
                      const Py_ssize_t[::1] inverse not None, int threads):
    """Does each string of a 1-d, contiguous array equal the first string of its group? False if a
    string is missing."""
    cdef ComparePacked job = ComparePacked(strings)
    job.first_positions, job.inverse = first_positions, inverse
    return job.run_until_failure(cnp.PyArray_SIZE(strings), threads)


cdef class ComparePacked(PackedPass):
    """A chunk also fails at a string that does not equal the first string of its group."""
    cdef const Py_ssize_t[::1] first_positions
    cdef const Py_ssize_t[::1] inverse

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t i
        cdef npy_static_string string, first
        for i in range(self.first(k), self.first(k + 1)):
            if not (self.load(i, &string)
                    and self.load(self.first_positions[self.inverse[i]], &first)
                    and string.size == first.size
                    and memcmp(string.buf, first.buf, string.size) == 0):
                self.failed[k] = True
                return
