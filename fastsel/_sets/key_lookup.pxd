"""Keys of one array in a hash table of the other one's; see key_lookup.pyx."""
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from fastsel._unique.hash_table cimport table_t
from fastsel._unique.keys cimport keys_t

ctypedef struct side_t:
    keys_t keys
    const void *words             # scattered, of 4 or 8 bytes; NULL: keys as they lie
    bint narrow                   # scattered words have 4 bytes
    const uint32_t *positions     # of scattered words; NULL: words are enough
    # By key, or as scattered: what is known of each key; NULL for what is not wanted.
    uint8_t *found                # is it among the keys of the other side?
    Py_ssize_t *index             # the position of the first key that equals it, or -1
    uint32_t *places              # the same plus one
    # By group of the table: the first key of this side that belongs to it; NULL if not wanted.
    Py_ssize_t *firsts


cdef int describe_side(side_t *side, keys, tuple seeds) except -1
cdef Py_ssize_t compare_ranges(const side_t *items, const side_t *tests, table_t *table,
                               Py_ssize_t test, Py_ssize_t stop_test, Py_ssize_t item,
                               Py_ssize_t stop_item, bint invert) noexcept nogil
cdef Py_ssize_t look_up(const table_t *table, const keys_t *table_keys, const side_t *side,
                        Py_ssize_t start, Py_ssize_t stop, uint8_t *marks, bint are_tests,
                        uint8_t invert) noexcept nogil


cdef inline Py_ssize_t marks_size(const table_t *table) noexcept nogil:
    """One for each slot, one for the key without a slot, and one for keys that are not found."""
    return (<Py_ssize_t>1 << table.slot_bits) + 2
