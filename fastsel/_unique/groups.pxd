"""What every algorithm has: the keys, the request, and the interface Groups; see groups.pyx."""
cimport numpy as cnp
from libc.stdint cimport uint64_t

from fastsel._core.parallel cimport Job
from fastsel._positions.bitmask cimport Bitmask
from fastsel._simd.blocks cimport fs_popcount
from fastsel._unique.keys cimport Keys
from fastsel._unique.sample cimport sample_t

cpdef enum:
    # Tables of more than CACHE_BYTES are expected to exceed the cache that a core can use. With
    # such tables, direct addressing takes longer than hashing, and keys are scattered by their hash
    # so that each part's table fits the cache. A group of a hash table takes about GROUP_BYTES.
    CACHE_BYTES = 1 << 23
    GROUP_BYTES = 64
    L2_BYTES = 1 << 18      # fit the L2 cache of a core
    # Hashing or sorting a key, or copying it from a random position, takes about COST times as long
    # as copying adjacent keys.
    COST = 8


cpdef Py_ssize_t table_count(Py_ssize_t nbytes, Py_ssize_t groups,
                             Py_ssize_t threads) noexcept nogil


cdef class Request:
    """What the caller wants beside the values. Made once by a public function."""
    cdef readonly bint index          # the position of the first occurrence of each group
    cdef readonly bint inverse        # the group of each key
    cdef readonly bint counts         # the number of keys of each group
    cdef readonly bint grouped        # the positions of all keys, group after group
    cdef readonly bint ascending      # ascending values; otherwise the order of first occurrence
    cdef readonly bint equal_nan      # all NaN of items are one group; otherwise each is a group
    cdef readonly bint positions      # an output depends on the positions of keys
    cdef readonly bint values_only    # no output but the values
    cdef readonly Py_ssize_t lookups  # how many other keys are looked up in the table
    cdef readonly object inverse_dtype    # None: intp
    cdef int inverse_type             # NumPy's number of a dtype that an algorithm may write


cdef class Search:
    """A search for the groups of equal keys: the keys, the items or slices (`rows`) from which they
    were made, the request, and what a sample says about the keys. Objects, StringDType and empty
    arrays have no keys: what follows from keys is 0 or False."""
    cdef readonly Keys keys           # or None
    cdef readonly cnp.ndarray rows
    cdef readonly Request request
    cdef readonly Py_ssize_t size         # the number of keys
    cdef readonly Py_ssize_t nbytes       # of the keys
    cdef readonly int threads         # for work that takes longer than a copy, such as hashing
    cdef readonly int copy_threads    # for passes that are as fast as a copy
    cdef readonly bint ascends       # ascending values are wanted, and the keys have an order
    # (base, entries) of a direct-address table, or None; `dense` and `decimals` need it.
    cdef public object window
    cdef sample_t sampled
    cdef bint has_sample

    cdef const sample_t *sample(self) except NULL
    cpdef int take_small_sample(self) except -1
    cpdef int expect(self, Py_ssize_t groups) except -1


cdef class Groups(Job):
    cdef readonly Search search
    cdef public object values
    cdef public object index
    cdef public int direction

    cpdef bint find(self) except -1
    cpdef tuple finish(self, ranks)
    cpdef tuple positions(self, ranks)
    cdef int set_first_occurrences(self, cnp.ndarray bits) except -1
    cdef int set_by_mask(self, Bitmask mask) except -1


cpdef int relabel(const Py_ssize_t[::1] ranks, Py_ssize_t[::1] inverse, int threads) except -1
cpdef cnp.ndarray values_at(cnp.ndarray rows, cnp.ndarray positions)


cdef class Ranks:
    """The number of set bits of a bitmask before each bit."""
    cdef const uint64_t[::1] bits
    cdef const Py_ssize_t[::1] before     # set bits before each block

    cdef inline Py_ssize_t rank(self, Py_ssize_t i) noexcept nogil:
        """The number of set bits before bit i."""
        cdef uint64_t below = (<uint64_t>1 << (i & 63)) - 1
        return self.before[i >> 6] + fs_popcount(self.bits[i >> 6] & below)
