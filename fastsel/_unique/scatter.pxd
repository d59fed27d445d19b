"""Keys scattered to parts; see scatter.pyx."""
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from fastsel._core.scratch cimport Block
from fastsel._unique.keys cimport keys_t

cdef enum:
    MAX_PART_BITS = 8             # a part number has one byte
    MAX_PARTS = 1 << MAX_PART_BITS

ctypedef fused word_t:
    uint32_t
    uint64_t


cdef class Scatter:
    cdef keys_t keys
    cdef object owned             # arrays that the keys point to
    cdef readonly Py_ssize_t parts
    cdef Py_ssize_t key_blocks    # of 64 keys
    cdef readonly Py_ssize_t key_chunks  # of either pass
    cdef bint narrow              # scattered words have 4 bytes, not 8
    cdef uint8_t[::1] part_of     # by key
    cdef Py_ssize_t[::1] starts   # [part][chunk]: where the words of that part and chunk begin
    cdef Block block              # of the words
    cdef char *words              # scattered
    cdef uint32_t[::1] positions  # scattered: of each word's key; or None

    cdef int describe(self, Py_ssize_t parts, uint8_t[::1] part_of, bint positions,
                      int threads) except -1
    # A subclass says these two of n <= BATCH keys.
    cdef void load(self, Py_ssize_t start, Py_ssize_t n, uint64_t *words) noexcept nogil
    cdef void choose_parts(self, Py_ssize_t start, Py_ssize_t n, uint8_t *parts) noexcept nogil
    cdef Py_ssize_t start_of(self, Py_ssize_t part) noexcept nogil


cdef int scatter_keys(Scatter scatter, int threads) except -1
cdef int read_back(Scatter scatter, const uint32_t[::1] group_ids, const Py_ssize_t[::1] offsets,
                   Py_ssize_t[::1] inverse, int threads) except -1
cdef int read_back_flags(Scatter scatter, const uint8_t[::1] flags, uint8_t[::1] out,
                         int threads) except -1
