/* The functions of a CPU level (levels.h). */
#ifndef FASTSEL_LEVEL_H
#define FASTSEL_LEVEL_H

#include <stddef.h>
#include <stdint.h>

#define FS_LINE_BYTES 256

/* A checked build ends the process where a caller breaks a contract: room, alignment, a range. */
#if defined(FASTSEL_CHECKED)
#include <stdio.h>
#include <stdlib.h>
#define FS_REQUIRE(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "broken contract: %s (%s:%d)\n", #condition, __FILE__, __LINE__); \
            abort(); \
        } \
    } while (0)
#else
#define FS_REQUIRE(condition) ((void)(0 && (condition)))
#endif
#define FS_IS_ALIGNED(pointer, width) ((uintptr_t)(pointer) % (width) == 0)

/* The rule of keys: which words are equal, and their order.

   word & significant is the magnitude. If the magnitude is 0, the word becomes 0; if it exceeds
   limit, the word becomes nan. For integers, significant and limit are all ones, and no word
   changes.

   A canonical word becomes an ordered key, an unsigned integer in the order of the items: the bits
   of sign are flipped; if the sign bit of the word is set, the bits of negative are flipped too;
   then minimum is subtracted. For dates and times, minimum is 1, so that NaT, the smallest integer,
   becomes the largest key. Of integers and times, negative is 0. */
typedef struct {
    uint64_t significant, limit, nan;
    uint64_t sign, negative, minimum; /* all 0 unless is_ordered */
    int is_ordered;
    int nan_unequal;     /* an item that is nan equals no item, not even itself */
    int character_width; /* bytes of a character; 0 unless the keys are native 1-d strings */
} fs_rule_t;

/* Cells 1 to last have 2^shift key values each, and cell 1 begins at low. Keys below low are in
   cell 0, keys behind cell `last` are in cell `last`. Between gap_low and gap_high there are no
   cells: a key between them counts as gap_low, and gap is subtracted from each key from gap_high
   on. */
typedef struct {
    uint64_t low;
    uint64_t last;
    uint64_t gap_low;
    uint64_t gap_high;
    uint64_t gap;
    int shift;
} fs_cells_t;

/* Each contract says what the caller guarantees, and what breaks otherwise. FS_REQUIRE checks some
   of them. If an array is shorter than its contract says, the memory behind it is read or written.
*/
typedef struct {
    const char *name;
    /* pack[log2 width]: bit k of word b becomes 1 if item 64 b + k has a significant bit set,
       otherwise 0. items has 64 * blocks items of that width, of any alignment, and bits has room
       for `blocks` words. Returns the number of set bits. */
    ptrdiff_t (*pack[4])(const char *items, uint64_t significant, uint64_t *bits, ptrdiff_t blocks);
    /* Returns the number of lines of FS_LINE_BYTES bytes before the first line that has one of the
       significant bits of its words of 8 bytes set, or `lines` if there is none. items have any
       alignment. */
    ptrdiff_t (*skip_zeros)(const char *items, uint64_t significant, ptrdiff_t lines);
    /* Writes the indices of the set bits of `blocks` words; the first bit has index `first`. out
       has room for `capacity` indices, at least the number of set bits. The call may write all of
       the capacity; behind its indices, out is undefined until a later call writes there. sparse
       says that most words are 0; a wrong value only costs time. */
    void (*write)(const uint64_t *bits, ptrdiff_t blocks, intptr_t first, int sparse, intptr_t *out,
                  ptrdiff_t capacity);
    /* Divides start + index by length, for each of n indices: the quotient replaces the index, and
       the remainder is written to remainders. 0 <= start < length and 0 <= index < 2^15: otherwise
       the results are wrong. */
    void (*split_index)(intptr_t *indices, ptrdiff_t n, intptr_t start, intptr_t length,
                   intptr_t *remainders);
    /* compress[log2 width]: writes the items whose bits are set to out, side by side. items has
       64 * blocks items; the last block may have fewer, but only if the capacity is the number of
       set bits. out has room for `capacity` items, at least the number of set bits. The call may
       write all of the capacity. out and items do not overlap: otherwise items are overwritten
       before they are read. */
    void (*compress[4])(const uint64_t *bits, ptrdiff_t blocks, const char *items, char *out,
                        ptrdiff_t capacity);
    /* Writes the positions of the set bits. out has room for 64 positions, even if few bits are
       set. Returns the number of set bits. */
    int (*decode)(uint64_t word, uint8_t *out);
    /* Transposes 64 words: bit j of word i and bit i of word j are swapped. */
    void (*transpose)(uint64_t *words);
    /* Returns the number of set bits of `blocks` words. */
    ptrdiff_t (*count)(const uint64_t *bits, ptrdiff_t blocks);
    /* add_columns[log2 width]: counts the items of each column that have a significant bit set, and
       adds the counts to sums, which are as wide as the items. Rows lie stride bytes apart, and
       each row has length items, of any alignment. A sum that starts at 0 can wrap around after 255
       rows of 1-byte items, 2^16 - 1 rows of 2-byte items, and so on. */
    void (*add_columns[4])(const char *items, ptrdiff_t stride, ptrdiff_t rows,
                           uint64_t significant, ptrdiff_t length, void *sums);
    /* Counts the set bits of each row, and adds the counts to counts[0], counts[step] and so on. A
       row has length bits, and the rows follow each other in bits. If the last row ends with a
       word, the next word is read too. */
    void (*add_rows)(const uint64_t *bits, ptrdiff_t rows, ptrdiff_t length, intptr_t *counts,
                     ptrdiff_t step);
    /* Adds value * stride to each of n offsets; wrap is added to negative values first. Returns 0
       if all values are then from 0 to length - 1. Otherwise some offsets may address memory
       outside of the array, and the caller must use no offset. */
    size_t (*add_offsets)(const intptr_t *values, ptrdiff_t n, size_t length, intptr_t wrap,
                          size_t stride, intptr_t *offsets);
    /* Writes the offsets of n rows of one or two signed indices. Indices are 4 or 8 bytes wide,
       aligned, and side by side: with another width or number of axes, other bytes are read as
       indices. lengths and strides have one item per axis. The length is added to a negative index.
       Returns 0 if all indices are then within the lengths. Otherwise the caller must use no
       offset, as with add_offsets. */
    size_t (*row_offsets)(const char *rows, ptrdiff_t width, ptrdiff_t axes, ptrdiff_t n,
                          const intptr_t *lengths, const intptr_t *strides, intptr_t *offsets);
    /* Writes (hash << skip) >> shift of each of n words to slots: the first slot of the word in a
       hash table, or its part in a scatter by hash. The hash is fs_fold(word ^ seed, factor). */
    void (*hash_to_slots)(const uint64_t *words, ptrdiff_t n, uint64_t seed, uint64_t factor,
                          int skip, int shift, uint64_t *slots);
    /* probe_first_slots[slots have 8 bytes]: compares n words with their first slots. See
       hash_body.h. */
    ptrdiff_t (*probe_first_slots[2])(const uint64_t *words, ptrdiff_t n, uint64_t seed,
                                      const void *table, const uint64_t *first_slots, int empty,
                                      uint32_t *found_slots, uint16_t *unknown);
    /* among_few[log2 width]: out[j] is 1 if item j equals one of `count` tests: if
       (item & masks[k]) == tests[k] for some k; otherwise 0. tests[k] has no bit that masks[k]
       lacks: otherwise the levels may differ. */
    void (*among_few[4])(const char *items, ptrdiff_t n, const uint64_t *tests,
                         const uint64_t *masks, ptrdiff_t count, uint8_t *out);
    /* mark_not_recent[width is 8]: writes a bit for each of 64 * blocks aligned items of 4 or 8
       bytes: 1 if the item differs from the recent key in its slot. recent has 2^FS_RECENT_BITS
       keys. slots gets the slot of each item (fs_recent_slot). Returns the number of set bits. If
       another thread changes an item meanwhile, its bit may be 0 or 1, beside any slot. */
    ptrdiff_t (*mark_not_recent[2])(const char *items, ptrdiff_t blocks, const void *recent,
                                    uint32_t factor, uint64_t *bits, uint32_t *slots);
    /* Returns the index of the first block of 64 bytes that has a byte b with seen[b] == 0, or
       `blocks` if there is none. seen has 256 items, 0 or 1. */
    ptrdiff_t (*skip_seen)(const char *bytes, ptrdiff_t blocks, const uint8_t *seen);
    /* mark_changes[width is 8]: writes a bit for each word of up to `blocks` blocks: 1 if the word
       differs from the word before it. See order_body.h. */
    ptrdiff_t (*mark_changes[2])(const char *items, ptrdiff_t blocks, const fs_rule_t *rule,
                                 uint64_t *last, uint64_t *bits, int *seen);
    /* mark_runs[width is 8]: writes a bit for each of 64 * blocks words. See order_body.h. */
    void (*mark_runs[2])(const char *words, ptrdiff_t blocks, uint64_t *bits);
    /* ordered_keys[log2 width]: writes the ordered keys of n aligned words. See order_body.h. */
    void (*ordered_keys[4])(const char *items, ptrdiff_t n, const fs_rule_t *rule, uint64_t *out);
    /* ordered_keys of words of 4 bytes, in 4 bytes each. */
    void (*narrow_ordered_keys)(const char *items, ptrdiff_t n, const fs_rule_t *rule,
                                uint32_t *out);
    /* Writes an integer for each of n aligned doubles, if they are decimals. See order_body.h. */
    int (*decimal_keys)(const char *items, ptrdiff_t n, double scale, int64_t *keys);
    /* Writes the cell of each of n keys. */
    void (*cells_of)(const uint64_t *keys, ptrdiff_t n, const fs_cells_t *cells, uint32_t *out);
} fs_level_t;

#endif
