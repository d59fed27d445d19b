/* What each CPU level does its own way (levels.h). */
#ifndef FASTSEL_LEVEL_H
#define FASTSEL_LEVEL_H

#include <stddef.h>
#include <stdint.h>

/* Cells of 2^shift keys each, from low on. Keys below low are in cell 0, all keys above in the last
   one. Keys from gap_low on count as gap_low, but those from gap_high on are less by gap. */
typedef struct {
    uint64_t low;
    uint64_t last;
    uint64_t gap_low;
    uint64_t gap_high;
    uint64_t gap;
    int shift;
} fs_cells_t;

/* Each contract says what the caller guarantees, and what happens otherwise. Nothing is checked. */
typedef struct {
    const char *name;
    /* pack[log2 width]: bit k of word b is set where item 64 b + k has a significant bit set. items
       has 64 * blocks items of that width, of any alignment: with fewer, memory behind them is read
       as items. bits has room for blocks words: with less, what lies behind is overwritten. Returns
       the number of set bits. */
    ptrdiff_t (*pack[4])(const char *items, uint64_t significant, uint64_t *bits, ptrdiff_t blocks);
    /* The indices of the set bits; the first bit has index first. out has room for capacity
       indices, and capacity is at least the number of set bits: with less, what lies behind is
       overwritten. All of the capacity may be written: what this call leaves behind its indices has
       to be written by a later one, or it stays undefined. sparse: most words are 0; a wrong guess
       costs time. */
    void (*write)(const uint64_t *bits, ptrdiff_t blocks, intptr_t first, int sparse, intptr_t *out,
                  ptrdiff_t capacity);
    /* start + each of n indices becomes its quotient by the length, and a remainder. 0 <= start <
       length, and 0 <= index < 2^15: beyond, quotients and remainders are wrong. */
    void (*divide)(intptr_t *indices, ptrdiff_t n, intptr_t start, intptr_t length,
                   intptr_t *remainders);
    /* compress[log2 width]: the items whose bits are set, side by side. items has 64 * blocks
       items; the last block may have fewer, but only if the capacity is the number of set bits:
       otherwise the memory behind them is read. out has room for capacity items, at least the
       number of set bits: with less, what lies behind is overwritten. All of the capacity may be
       written. out and items do not overlap: otherwise items are overwritten before they are read.
       */
    void (*compress[4])(const uint64_t *bits, ptrdiff_t blocks, const char *items, char *out,
                        ptrdiff_t capacity);
    /* The positions of the set bits. out has room for 64 positions, however many bits are set: with
       less, what lies behind is overwritten. Returns how many bits are set. */
    int (*decode)(uint64_t word, uint8_t *out);
    /* Bit j of word i and bit i of word j change places, in 64 words: with fewer, what lies behind
       takes part. */
    void (*transpose)(uint64_t *words);
    /* Number of set bits of blocks words: with fewer, what lies behind counts. */
    ptrdiff_t (*count)(const uint64_t *bits, ptrdiff_t blocks);
    /* add_columns[log2 width]: adds to each of length sums, which are as wide as the items, how
       many items of its column have a significant bit set. Rows lie stride bytes apart, and each
       has length items: with fewer, memory behind them is read. A sum that began at 0 holds 255
       rows of items of 1 byte, 2^16 - 1 of 2 bytes, and so on: with more rows it wraps around. */
    void (*add_columns[4])(const char *items, ptrdiff_t stride, ptrdiff_t rows,
                           uint64_t significant, ptrdiff_t length, void *sums);
    /* Adds to each row's count, which lie step apart, how many of its length bits are set. The rows
       follow each other in bits. Where the last row ends a word, the word behind it is read, and
       bits has to have it: otherwise that read is beyond the array. */
    void (*add_rows)(const uint64_t *bits, ptrdiff_t rows, ptrdiff_t length, intptr_t *counts,
                     ptrdiff_t step);
    /* Adds value * stride to each of n offsets; negative values count from wrap. Returns 0 if all
       values are below length then. Otherwise offsets that address memory outside of the array are
       among the results, and the caller must use none of them. */
    size_t (*add_offsets)(const intptr_t *values, ptrdiff_t n, size_t length, intptr_t wrap,
                          size_t stride, intptr_t *offsets);
    /* The offsets of n rows of one or two signed indices, which are 4 or 8 bytes wide, aligned, and
       lie side by side; of other widths or numbers of axes, other bytes are taken for indices.
       lengths and strides have one item per axis. Returns 0 if all indices are within the lengths.
       Otherwise the caller must use none of the offsets, as with add_offsets. */
    size_t (*row_offsets)(const char *rows, ptrdiff_t width, ptrdiff_t axes, ptrdiff_t n,
                          const intptr_t *lengths, const intptr_t *strides, intptr_t *offsets);
    /* (hash << skip) >> shift of each of n words: what first_slot of hash_table.pyx gives for one. */
    void (*hash_to_slots)(const uint64_t *words, ptrdiff_t n, uint64_t seed, uint64_t factor, int skip,
                  int shift, uint64_t *slots);
    /* probe_first_slots[slots have 8 bytes]: n words in their first slots. See hash_body.h. */
    ptrdiff_t (*probe_first_slots[2])(const uint64_t *words, ptrdiff_t n, uint64_t seed, const void *held,
                         const uint64_t *first_slots, uint32_t *found, uint16_t *unknown);
    /* among_few[log2 width]: out says which of n items, as they lie in memory, are one of count
       tests: where the bits of the test's mask are those of the test. */
    void (*among_few[4])(const char *items, ptrdiff_t n, const uint64_t *tests,
                         const uint64_t *masks, ptrdiff_t count, uint8_t *out);
    /* mark_not_recent[width is 8]: which items are not those that lie at their slot of recent keys
       (fs_recent_slot), as bits. Returns how many. */
    ptrdiff_t (*mark_not_recent[2])(const char *items, ptrdiff_t blocks, const void *recent, uint32_t factor,
                          uint64_t *bits);
    /* In how many blocks of bytes, from the first one on, each byte has a 1 among these 256. */
    ptrdiff_t (*skip_seen)(const char *bytes, ptrdiff_t blocks, const uint8_t *seen);
    /* mark_changes[width is 8]: which words differ from the one before, as bits. See order_body.h. */
    ptrdiff_t (*mark_changes[2])(const char *items, ptrdiff_t blocks, uint64_t significant, uint64_t limit,
                          const uint64_t *order, uint64_t *last, uint64_t *bits, int *seen);
    /* ordered[log2 width]: n words -> integers of the same order. See order_body.h. */
    void (*ordered[4])(const char *items, ptrdiff_t n, const uint64_t *rule, const uint64_t *order,
                       uint64_t *out);
    /* The cells of n keys. */
    void (*cells_of)(const uint64_t *keys, ptrdiff_t n, const fs_cells_t *cells, uint32_t *out);
} fs_level_t;

#endif
