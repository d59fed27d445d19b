"""Declarations of level.h and bits.h, and what kernels need to call them. A block is 64 items and
their 64 bits in the bitmask.

The functions of fs_level_t are written in C, and compiled once per CPU level; `level` of levels.pxd
is the level in use.
"""
from libc.stdint cimport int64_t, intptr_t, uint8_t, uint16_t, uint32_t, uint64_t

# word_t is an item as an unsigned integer; wide_t has 4 or 8 bytes.
ctypedef fused word_t:
    uint8_t
    uint16_t
    uint32_t
    uint64_t

ctypedef fused wide_t:
    uint32_t
    uint64_t

cdef extern from "level.h" nogil:
    enum:
        FS_LINE_BYTES

    void FS_REQUIRE(bint condition)

    ctypedef struct rule_t "fs_rule_t":
        uint64_t significant
        uint64_t limit
        uint64_t nan
        uint64_t sign
        uint64_t negative
        uint64_t minimum
        bint is_ordered
        bint nan_unequal
        int character_width

    ctypedef struct fs_cells_t:
        uint64_t low
        uint64_t last
        uint64_t gap_low
        uint64_t gap_high
        uint64_t gap
        int shift

    ctypedef struct fs_level_t:
        const char *name
        Py_ssize_t (*pack[4])(
            const char *items, uint64_t significant, uint64_t *bits,
            Py_ssize_t blocks) noexcept nogil
        Py_ssize_t (*skip_zeros)(
            const char *items, uint64_t significant, Py_ssize_t lines) noexcept nogil
        void (*write)(
            const uint64_t *bits, Py_ssize_t blocks, intptr_t first, bint sparse, intptr_t *out,
            Py_ssize_t capacity) noexcept nogil
        void (*split_index)(
            intptr_t *indices, Py_ssize_t n, intptr_t start, intptr_t length,
            intptr_t *remainders) noexcept nogil
        void (*compress[4])(
            const uint64_t *bits, Py_ssize_t blocks, const char *items, char *out,
            Py_ssize_t capacity) noexcept nogil
        int (*decode)(uint64_t word, uint8_t *out) noexcept nogil
        void (*transpose)(uint64_t *words) noexcept nogil
        Py_ssize_t (*count)(const uint64_t *bits, Py_ssize_t blocks) noexcept nogil
        void (*add_columns[4])(
            const char *items, Py_ssize_t stride, Py_ssize_t rows, uint64_t significant,
            Py_ssize_t length, void *sums) noexcept nogil
        void (*add_rows)(
            const uint64_t *bits, Py_ssize_t rows, Py_ssize_t length, intptr_t *counts,
            Py_ssize_t step) noexcept nogil
        size_t (*add_offsets)(
            const intptr_t *values, Py_ssize_t n, size_t length, intptr_t wrap, size_t stride,
            intptr_t *offsets) noexcept nogil
        size_t (*row_offsets)(
            const char *rows, Py_ssize_t width, Py_ssize_t axes, Py_ssize_t n,
            const intptr_t *lengths, const intptr_t *strides, intptr_t *offsets) noexcept nogil
        void (*hash_to_slots)(
            const uint64_t *words, Py_ssize_t n, uint64_t seed, uint64_t factor, int skip,
            int shift, uint64_t *slots) noexcept nogil
        Py_ssize_t (*probe_first_slots[2])(
            const uint64_t *words, Py_ssize_t n, uint64_t seed, const void *table,
            const uint64_t *first_slots, bint empty, uint32_t *found_slots,
            uint16_t *unknown) noexcept nogil
        void (*among_few[4])(
            const char *items, Py_ssize_t n, const uint64_t *tests, const uint64_t *masks,
            Py_ssize_t count, uint8_t *out) noexcept nogil
        Py_ssize_t (*mark_not_recent[2])(
            const char *items, Py_ssize_t blocks, const void *recent, uint32_t factor,
            uint64_t *bits, uint32_t *slots) noexcept nogil
        Py_ssize_t (*skip_seen)(
            const char *bytes, Py_ssize_t blocks, const uint8_t *seen) noexcept nogil
        Py_ssize_t (*mark_changes[2])(
            const char *items, Py_ssize_t blocks, const rule_t *rule, uint64_t *last,
            uint64_t *bits, int *seen) noexcept nogil
        void (*mark_runs[2])(
            const char *words, Py_ssize_t blocks, uint64_t *bits) noexcept nogil
        void (*ordered_keys[4])(
            const char *items, Py_ssize_t n, const rule_t *rule, uint64_t *out) noexcept nogil
        void (*narrow_ordered_keys)(
            const char *items, Py_ssize_t n, const rule_t *rule, uint32_t *out) noexcept nogil
        bint (*decimal_keys)(
            const char *items, Py_ssize_t n, double scale, int64_t *keys) noexcept nogil
        void (*cells_of)(
            const uint64_t *keys, Py_ssize_t n, const fs_cells_t *cells,
            uint32_t *out) noexcept nogil

cdef extern from "bits.h" nogil:
    int fs_ctz(uint64_t word) noexcept
    uint64_t fs_join_pairs(uint64_t pairs) noexcept
    uint64_t fs_repeat_bits(uint64_t word) noexcept
    int fs_popcount(uint64_t word) noexcept
    void fs_prefetch(const char *p) noexcept


cdef inline Py_ssize_t blocks_of(Py_ssize_t items) noexcept nogil:
    """The number of blocks of `items` items."""
    return (items >> 6) + ((items & 63) != 0)


cdef inline bint is_sparse(Py_ssize_t set_bits, Py_ssize_t blocks) noexcept nogil:
    """Are there fewer set bits than an eighth of the blocks? Then most blocks have no set bit, and
    the CPU predicts a branch on a zero word."""
    return set_bits < blocks >> 3


cdef inline bint is_item(Py_ssize_t width) noexcept nogil:
    """Do the functions of a level take items of width bytes?"""
    return width == 1 or width == 2 or width == 4 or width == 8


cdef inline int log2_width(Py_ssize_t width) noexcept nogil:
    """log2 of a width of 1, 2, 4 or 8 bytes: the index into a level's functions by width."""
    return 0 if width == 1 else 1 if width == 2 else 2 if width == 4 else 3
