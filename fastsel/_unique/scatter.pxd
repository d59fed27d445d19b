"""The scatter of keys to parts; see scatter.pyx."""
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from fastsel._core.parallel cimport Job
from fastsel._core.scratch cimport Memory
from fastsel._unique.keys cimport Keys, keys_t

cdef enum:
    MAX_PART_BITS = 8             # the part of a key is noted in one byte
    MAX_PARTS = 1 << MAX_PART_BITS


cdef class Scatter:
    cdef keys_t keys
    cdef Keys owner               # of what `keys` points to
    cdef readonly Py_ssize_t parts
    cdef readonly Py_ssize_t key_chunks  # chunks of each pass
    cdef uint8_t[::1] part_of     # by key: its part
    cdef Py_ssize_t[::1] starts   # [part][chunk]: where this chunk's words of this part begin
    cdef Memory memory            # of `words`
    # The words of the keys, scattered: of 4 bytes if keys have at most 4, otherwise of 8.
    cdef char *words
    cdef uint32_t[::1] positions  # the positions of the keys, scattered; or None

    # A subclass overrides load and choose_parts; n is at most BATCH.
    cdef void load(self, Py_ssize_t start, Py_ssize_t n, uint64_t *words) noexcept nogil
    cdef void choose_parts(self, Py_ssize_t start, Py_ssize_t n, uint8_t *parts) noexcept nogil
    cdef Py_ssize_t start_of(self, Py_ssize_t part) noexcept nogil
    cdef Py_ssize_t room_of_part(self, Py_ssize_t expected) noexcept nogil
    cdef Py_ssize_t room_beside(self, Py_ssize_t flags) noexcept nogil


cdef class ScatterByHash(Scatter):
    pass


cdef class ScatterKeyPass(Job):
    """A pass over chunks of the keys; chunks are whole blocks."""
    cdef Scatter scatter

    cdef Py_ssize_t first_key(self, Py_ssize_t k) noexcept nogil


cdef Scatter new_scatter_by_value(Keys keys, Py_ssize_t parts, bint positions, int threads)
cdef int scatter_keys(Scatter scatter, int threads) except -1
cdef int read_back(Scatter scatter, const Py_ssize_t *offsets, Py_ssize_t[::1] inverse,
                   int threads) except -1
cdef object read_back_flags(Scatter scatter, const uint8_t[::1] flags, int threads)


cdef inline Py_ssize_t part_share(Py_ssize_t keys) noexcept nogil:
    """The average number of keys in each of MAX_PARTS parts."""
    return keys >> MAX_PART_BITS


cdef inline void next_entries(Scatter scatter, Py_ssize_t k, Py_ssize_t *next_entry) noexcept nogil:
    """Write the first entry of chunk k in each part."""
    cdef const Py_ssize_t[::1] starts = scatter.starts
    cdef Py_ssize_t p
    for p in range(scatter.parts):
        next_entry[p] = starts[p * scatter.key_chunks + k]
