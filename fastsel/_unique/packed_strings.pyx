"""Strings of StringDType: hashes of their characters, and a check that equal hashes belong to equal
strings, without an object for each string.

The strings are read in rounds. During a round, the caller holds the lock of their allocator, and
all threads load strings, which only reads. It also holds the GIL: a thread that waits for the lock
may hold the GIL. Between rounds the lock is released, signal handlers run, and they or other
threads may change the array. If a string changes meanwhile, it may get another group, or the check
may return False.
"""
cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcmp

from fastsel._core.parallel cimport Job, chunk_count, chunk_start
from fastsel._core.scratch cimport new_u8

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

cdef enum:
    ROUND_STRINGS = 1 << 16   # strings between two checks for signals: some milliseconds
    STRING_BYTES = 128        # about how many bytes of a string a thread reads


cdef class PackedPass(Job):
    """A pass over the strings of a 1-d, contiguous array, in rounds. A chunk fails at a missing
    string, and the pass ends after this round."""
    cdef cnp.ndarray strings
    cdef const char *packed
    cdef Py_ssize_t width         # of a packed string
    cdef npy_string_allocator *allocator
    cdef Py_ssize_t start         # index of the first string of the round
    cdef Py_ssize_t size          # number of strings of the round
    cdef uint8_t[::1] failed      # by chunk: 1 if it has failed

    def __cinit__(self, cnp.ndarray strings, *_):
        assert cnp.PyArray_ISCARRAY_RO(strings)
        self.strings, self.packed = strings, <const char *>cnp.PyArray_DATA(strings)
        self.width = cnp.PyArray_ITEMSIZE(strings)

    cdef bint run_until_failure(self, int threads) except -1:
        """Handle all strings, or stop after the round in which a chunk fails. Returns whether no
        chunk has failed."""
        cdef Py_ssize_t k, size = cnp.PyArray_SIZE(self.strings)
        self.failed = new_u8(chunk_count(ROUND_STRINGS, threads, STRING_BYTES))
        self.failed[:] = False
        self.start = 0
        while self.start < size:
            self.size = min(size - self.start, ROUND_STRINGS)
            self.chunks = chunk_count(self.size, threads, STRING_BYTES)
            self.allocator = NpyString_acquire_allocator(
                <PyArray_StringDTypeObject *>cnp.PyArray_DESCR(self.strings))
            self.run_with_gil(threads)
            NpyString_release_allocator(self.allocator)
            for k in range(self.chunks):
                if self.failed[k]:
                    return False
            self.start += self.size
            PyErr_CheckSignals()
        return True

    cdef Py_ssize_t first(self, Py_ssize_t k) noexcept nogil:
        """The index of the first string of chunk k of the round."""
        return self.start + chunk_start(self.size, self.chunks, k)

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
    return hashes if job.run_until_failure(threads) else None


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
    return job.run_until_failure(threads)


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
