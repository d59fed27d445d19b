/* Times each loop of fs_level_t on data in the first-level cache, on one thread, at the CPU level
   that FASTSEL_CPU names, or at the best level of this CPU below it. Prints the name of the level,
   and then a line for each loop: its name, a tab, and the bytes that it reads and writes per
   nanosecond. measure.py builds and runs this program. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <time.h>

#include "levels.h"

enum { BLOCKS = 32, ITEMS = 64 * BLOCKS, CALLS = 200, ROUNDS = 60, SEED = 12345 };

static uint64_t items[ITEMS + 64], out[2 * ITEMS + 64], words[ITEMS + 64], slots[ITEMS + 64];
static uint64_t bits[BLOCKS + 2], held[ITEMS + 64];
static uint32_t numbers[ITEMS + 64];
static uint16_t unknown[ITEMS + 64];
static uint8_t seen[256];
static volatile uint64_t sink;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Takes the time of CALLS calls ROUNDS times, and prints the speed of the fastest round. */
#define TIME(name, traffic, call) \
    do { \
        double best = 1e30; \
        for (int r = 0; r < ROUNDS; r++) { \
            double start = now(); \
            for (int c = 0; c < CALLS; c++) { \
                call; \
                __asm__ volatile("" ::: "memory"); \
            } \
            double spent = now() - start; \
            if (spent < best) best = spent; \
        } \
        printf("%s\t%.4f\n", name, (double)(traffic) * CALLS / best); \
    } while (0)

static uint64_t state = 88172645463325252u;
static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* Sets about of_64 of the 64 bits of each word; returns the number of set bits. */
static ptrdiff_t set_bits(int of_64)
{
    ptrdiff_t total = 0;
    for (int b = 0; b < BLOCKS; b++) {
        bits[b] = 0;
        for (int k = 0; k < 64; k++) bits[b] |= (uint64_t)((int)(next() >> 40 & 63) < of_64) << k;
        total += fs_popcount(bits[b]);
    }
    return total;
}

/* A word with all bits of an item of 2^log2_width bytes set. */
static uint64_t all_bits(int log2_width) { return ~(uint64_t)0 >> (64 - (8 << log2_width)); }

int main(void)
{
    const fs_level_t *level = fs_best_level();
    static const int densities[] = {1, 4, 16, 32, 63};
    char name[80];
    for (int k = 0; k < ITEMS + 64; k++) items[k] = words[k] = next();
    memset(seen, 1, sizeof seen);
    printf("level\t%s\n", level->name);
    TIME("memcpy", 16 * ITEMS, memcpy(out, items, 8 * ITEMS));
    for (int w = 0; w < 4; w++) {
        ptrdiff_t size = 1 << w;
        uint64_t all = all_bits(w);
        snprintf(name, sizeof name, "pack, %d bytes", 1 << w);
        TIME(name, ITEMS * size + ITEMS / 8,
             sink = (uint64_t)level->pack[w]((char *)items, all, bits, BLOCKS));
    }
    for (int d = 0; d < 5; d++) {
        ptrdiff_t total = set_bits(densities[d]);
        snprintf(name, sizeof name, "write, %d of 64 set", densities[d]);
        TIME(name, ITEMS / 8 + 8 * total,
             level->write(bits, BLOCKS, 0, densities[d] == 1, (intptr_t *)out, total));
        for (int w = 0; w < 4; w++) {
            snprintf(name, sizeof name, "compress, %d bytes, %d of 64 set", 1 << w, densities[d]);
            TIME(name, ITEMS / 8 + (ITEMS << w) + (total << w),
                 level->compress[w](bits, BLOCKS, (char *)items, (char *)out, total));
        }
    }
    for (int k = 0; k < ITEMS; k++) out[k] = (uint64_t)k;
    TIME("split_index", 24 * ITEMS, level->split_index((intptr_t *)out, ITEMS, 0, 9, (intptr_t *)slots));
    set_bits(16);
    TIME("decode, 16 of 64 set", 8 + 64, sink = (uint64_t)level->decode(bits[0], (uint8_t *)out));
    TIME("transpose", 2 * 64 * 8, level->transpose(words));
    TIME("count", ITEMS, sink = (uint64_t)level->count(items, ITEMS / 8));
    for (int w = 0; w < 4; w++) {
        uint64_t all = all_bits(w);
        snprintf(name, sizeof name, "add_columns, %d bytes", 1 << w);
        memset(out, 0, sizeof out);
        TIME(name, ITEMS << w, level->add_columns[w]((char *)items, 64 << w, ITEMS / 64, all, 64, out));
    }
    TIME("add_rows, rows of 10", ITEMS / 8,
         level->add_rows(bits, ITEMS / 10 - 1, 10, (intptr_t *)out, 1));
    for (int k = 0; k < ITEMS; k++) slots[k] = next() % 40;
    TIME("add_offsets", 24 * ITEMS,
         sink = level->add_offsets((intptr_t *)slots, ITEMS, 40, 40, 8, (intptr_t *)out));
    {
        intptr_t lengths[2] = {40, 40}, strides[2] = {320, 8};
        TIME("row_offsets, 2 indices of 8 bytes", 12 * ITEMS,
             sink = level->row_offsets((char *)slots, 8, 2, ITEMS / 2, lengths, strides, (intptr_t *)out));
    }
    for (int k = 0; k < ITEMS; k++) words[k] = next();
    TIME("hash_to_slots", 16 * ITEMS,
         level->hash_to_slots(words, ITEMS, SEED, 0x9e3779b97f4a7c15u, 0, 53, slots));
    for (int k = 0; k < ITEMS; k++) held[slots[k]] = words[k] ^ SEED;
    for (int w = 0; w < 2; w++) {
        snprintf(name, sizeof name, "probe_first_slots, slots of %d bytes", 4 << w);
        TIME(name, 20 * ITEMS + (ITEMS << (2 + w)),
             sink = (uint64_t)level->probe_first_slots[w](
                 words, ITEMS, SEED, held, slots, 0, numbers, unknown));
    }
    for (int w = 0; w < 4; w++) {
        uint64_t tests[4] = {1, 2, 3, 4}, masks[4];
        for (int k = 0; k < 4; k++) masks[k] = all_bits(w);
        snprintf(name, sizeof name, "among_few, 4 tests of %d bytes", 1 << w);
        TIME(name, (ITEMS << w) + ITEMS,
             level->among_few[w]((char *)items, ITEMS, tests, masks, 4, (uint8_t *)out));
    }
    memset(out, 0, sizeof out);
    for (int w = 0; w < 2; w++) {
        static uint64_t recent[1 << FS_RECENT_BITS];
        snprintf(name, sizeof name, "mark_not_recent, %d bytes", 4 << w);
        TIME(name, 2 * (ITEMS << (2 + w)) + ITEMS / 8 + 4 * ITEMS,
             sink = (uint64_t)level->mark_not_recent[w](
                 (char *)items, BLOCKS, recent, 0x9e3779b1u, bits, numbers));
    }
    TIME("skip_seen", ITEMS, sink = (uint64_t)level->skip_seen((char *)items, BLOCKS, seen));
    for (int w = 0; w < 2; w++) {
        uint64_t order[3] = {w ? (uint64_t)1 << 63 : 1u << 31, 0, 0}, last = 0;
        int directions = 0;
        snprintf(name, sizeof name, "mark_changes, %d bytes", 4 << w);
        TIME(name, (ITEMS << (2 + w)) + ITEMS / 8,
             sink = (uint64_t)level->mark_changes[w](
                 (char *)items, BLOCKS, all_bits(2 + w), all_bits(2 + w), order, &last, bits, &directions));
    }
    for (int w = 0; w < 2; w++) {
        snprintf(name, sizeof name, "mark_runs, %d bytes", 4 << w);
        TIME(name, (ITEMS << (2 + w)) + ITEMS / 8,
             level->mark_runs[w]((char *)items + (4 << w), BLOCKS - 1, bits));
    }
    for (int w = 0; w < 4; w++) {
        uint64_t all = all_bits(w);
        uint64_t rule[3] = {all, all, 0}, order[3] = {(uint64_t)1 << ((8 << w) - 1), 0, 0};
        snprintf(name, sizeof name, "ordered_keys, %d bytes", 1 << w);
        TIME(name, (ITEMS << w) + 8 * ITEMS, level->ordered_keys[w]((char *)items, ITEMS, rule, order, out));
    }
    {
        uint64_t all = all_bits(2), rule[3] = {all, all, 0}, order[3] = {1u << 31, 0, 0};
        TIME("narrow_ordered_keys", 8 * ITEMS,
             level->narrow_ordered_keys((char *)items, ITEMS, rule, order, numbers));
    }
    {
        fs_cells_t cells = {0, 255, ~(uint64_t)0, ~(uint64_t)0, 0, 56};
        TIME("cells_of", 12 * ITEMS, level->cells_of(items, ITEMS, &cells, numbers));
    }
    return 0;
}
