"""Lookup of the keys of one array in a hash table of another array; see key_lookup.pyx."""
from libc.stdint cimport uint8_t, uint32_t

from fastsel._sets.lookup_output cimport output_t
from fastsel._unique.hash_table cimport table_t
from fastsel._unique.keys cimport keys_t

cdef extern from *:
    """
    /* Sets a mark. Other threads may set it at the same time; in most calls it is set already. */
    static inline void fs_mark(uint8_t *mark)
    {
    #if defined(_MSC_VER)
        if (!*(volatile uint8_t *)mark) *(volatile uint8_t *)mark = 1;
    #else
        if (!__atomic_load_n(mark, __ATOMIC_RELAXED)) __atomic_store_n(mark, 1, __ATOMIC_RELAXED);
    #endif
    }
    """
    void fs_mark(uint8_t *mark) noexcept nogil

ctypedef struct lookup_t:
    keys_t keys
    const void *words             # scattered words of 4 or 8 bytes; NULL: keys are not scattered
    bint four_bytes               # scattered words have 4 bytes
    const uint32_t *positions     # of the scattered words; NULL if not needed
    # The range that is looked up, or added: indices of keys or, if scattered, of the words.
    Py_ssize_t start
    Py_ssize_t stop
    # Outputs by key, in the order of keys or scattered words; NULL for outputs that are not wanted.
    uint8_t *mask                 # 1 if the other side has the key; with invert, 1 if it does not
    uint8_t invert
    output_t *output              # of the position of the first equal key of the other side, or -1
    uint32_t *positions_plus_1    # this position plus one
    const uint32_t *by_slot       # for these two outputs: see fill_by_slot; or NULL
    # By group of the table: position of the first key of this side in the group; NULL if not
    # wanted.
    Py_ssize_t *first_positions


cdef Py_ssize_t compare_ranges(const lookup_t *items, const lookup_t *tests,
                               table_t *table) noexcept nogil
cdef void fill_by_slot(const table_t *table, uint32_t *by_slot) noexcept nogil
cdef Py_ssize_t look_up(const table_t *table, const keys_t *table_keys, const lookup_t *side,
                        uint8_t *marks, bint are_tests) noexcept nogil


cdef inline Py_ssize_t length_by_slot(const table_t *table) noexcept nogil:
    """The length of an array by what `find_keys` writes: one item for each slot, one for the key
    without a slot, and one for keys that are not found."""
    return (<Py_ssize_t>1 << table.slot_bits) + 2
