"""The sort of one part, in the cache of one thread; see part_sort.pyx."""
from libc.stdint cimport uint32_t, uint64_t

from fastsel._simd.blocks cimport wide_t
from fastsel._unique.keys cimport keys_t

cdef enum:
    PART_KEYS = 4096              # minimum average size of parts, in keys

ctypedef enum word_kind:          # the kind of numbers as which NumPy sorts words
    UNSIGNED = 0
    SIGNED = 1
    FLOATS = 2

ctypedef struct sorter_t:
    void *keys                    # the sorted keys, after sort_keys
    uint32_t *entries             # working memory for entries; NULL if keys have no entries
    uint32_t *moved               # the entries that move along with the keys, or NULL
    uint64_t *packed              # packed words of one piece; then starts of pieces, by depth
    uint32_t *starts              # the unused rest of this memory


cdef int sorter_start(sorter_t *sorter, Py_ssize_t width, Py_ssize_t room,
                      bint with_entries) noexcept nogil
cdef size_t sorter_bytes(Py_ssize_t width, Py_ssize_t room, bint with_entries) noexcept nogil
cdef void sorter_free(sorter_t *sorter) noexcept nogil
cdef void sort_keys(sorter_t *sorter, wide_t *keys, Py_ssize_t n, uint32_t *entries) noexcept nogil
cdef word_kind kind_of(const keys_t *keys) noexcept nogil
cdef void sort_words(const keys_t *keys, wide_t *words, Py_ssize_t n,
                     word_kind kind) noexcept nogil
cdef bint whole_is_faster() except -1
cdef Py_ssize_t mark_runs(const wide_t *keys, Py_ssize_t n, uint64_t nan, bint nan_unequal,
                          uint64_t *run_starts) noexcept nogil
