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

typedef struct {
    const char *name;
    /* pack[log2 width]: items has 64 * blocks items of that width, bits has room for blocks
       words. Bit k of word b is set where item 64 b + k has a significant bit set.
       Returns the number of set bits. */
    ptrdiff_t (*pack[4])(const char *items, uint64_t significant, uint64_t *bits, ptrdiff_t blocks);
    /* The indices of the set bits; the first bit has index first. sparse: most words are 0. All of
       the capacity may be written, so a later call has to write what this one does not. */
    void (*write)(const uint64_t *bits, ptrdiff_t blocks, intptr_t first, int sparse, intptr_t *out,
                  ptrdiff_t capacity);
    /* start + each of n indices becomes its quotient by the length, and a remainder. start is below
       the length, an index below 2^15. */
    void (*divide)(intptr_t *indices, ptrdiff_t n, intptr_t start, intptr_t length,
                   intptr_t *remainders);
    /* keep[log2 width]: items has 64 * blocks items; the last block may have fewer, if the
       capacity is just what is kept: then those that are not there are not read. All of the
       capacity may be written. */
    void (*keep[4])(const uint64_t *bits, ptrdiff_t blocks, const char *items, char *out,
                    ptrdiff_t capacity);
    /* out has room for 64 positions; returns how many bits are set. */
    int (*decode)(uint64_t word, uint8_t *out);
    /* Bit j of word i and bit i of word j change places, in 64 words. */
    void (*transpose)(uint64_t *words);
    /* Number of set bits of blocks words. */
    ptrdiff_t (*count)(const uint64_t *bits, ptrdiff_t blocks);
    /* add_columns[log2 width]: adds to each of length sums, which are as wide as the items, how many
       items of its column have a significant bit set. Rows lie stride bytes apart; those of bytes
       are at most 255. */
    void (*add_columns[4])(const char *items, ptrdiff_t stride, ptrdiff_t rows,
                           uint64_t significant, ptrdiff_t length, void *sums);
    /* Adds to each row's count, which lie step apart, how many of its length bits are set. The rows
       follow each other; one word after their last bit is read if that ends a word. */
    void (*add_rows)(const uint64_t *bits, ptrdiff_t rows, ptrdiff_t length, intptr_t *counts,
                     ptrdiff_t step);
    /* Adds value * stride to each of n offsets; negative values count from wrap. Returns 0 if
       all are below length then. */
    size_t (*add_offsets)(const intptr_t *values, ptrdiff_t n, size_t length, intptr_t wrap,
                          size_t stride, intptr_t *offsets);
    /* The offsets of n rows of one or two signed indices, which are 4 or 8 bytes wide and lie side
       by side. Returns 0 if all are within the lengths. */
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
