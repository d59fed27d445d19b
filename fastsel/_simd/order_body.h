/* Loops that mark the words that differ from the word before, make ordered keys, make integers of
   decimals, and find the cells (fs_cells_t) of ordered keys. The compiler vectorizes this C for each
   CPU level (levels.h). */

/* Writes a bit for each word: 1 if the word differs from the word before it. Words become ordered
   keys by the rule.

   Stops at a block of floats that has -0.0 or a NaN, even a canonical one, unless all words of the
   block equal the word before the block. Returns the number of blocks before the block at which it
   stops, or `blocks`. last is the ordered key before the first word, and becomes the ordered key of
   the last word whose bit was written. Sets bit 0 of seen if an ordered key is greater than the one
   before it, bit 1 if it is less. */
#define FS_MARK_CHANGES(width) \
    static ptrdiff_t AT(mark_changes_u##width)(const char *items, ptrdiff_t blocks, \
                                               const fs_rule_t *rule, uint64_t *last, \
                                               uint64_t *bits, int *seen) \
    { \
        const uint##width##_t *v = (const uint##width##_t *)items; \
        uint##width##_t sign = (uint##width##_t)rule->sign; \
        uint##width##_t negative = (uint##width##_t)rule->negative; \
        uint##width##_t minimum = (uint##width##_t)rule->minimum; \
        uint##width##_t significant = (uint##width##_t)rule->significant; \
        uint##width##_t gap = significant - (uint##width##_t)rule->limit, above = significant + 1; \
        uint##width##_t n[65], changes[64]; \
        n[64] = (uint##width##_t)*last; \
        for (ptrdiff_t block = 0; block < blocks; block++, v += 64) { \
            uint##width##_t beyond = 0, rises = 0, falls = 0, other = 0; \
            n[0] = n[64]; \
            /* Fast path: all words of the block are equal to the word before it. */ \
            uint##width##_t word = (n[64] + minimum) ^ sign; \
            word ^= negative & (uint##width##_t)(0 - (word >> (width - 1))); \
            for (int j = 0; j < 64; j++) other |= (uint##width##_t)(v[j] ^ word); \
            if (other == 0) { \
                bits[block] = 0; \
                continue; \
            } \
            for (int j = 0; j < 64; j++) { \
                uint##width##_t magnitude = v[j] & significant; \
                beyond |= (uint##width##_t)(magnitude - 1) & v[j]; \
                beyond |= (uint##width##_t)(magnitude + gap); \
                n[j + 1] = (v[j] ^ sign ^ \
                            (negative & (uint##width##_t)(0 - (v[j] >> (width - 1))))) - minimum; \
            } \
            if (beyond & above) { \
                *last = n[0]; \
                return block; \
            } \
            for (int j = 0; j < 64; j++) { \
                rises |= (uint##width##_t)(n[j + 1] > n[j]); \
                falls |= (uint##width##_t)(n[j + 1] < n[j]); \
                changes[j] = n[j + 1] ^ n[j]; \
            } \
            bits[block] = AT(block_bits_u##width)((const char *)changes, (uint##width##_t)-1); \
            *seen |= (int)(rises | falls << 1); \
        } \
        *last = n[64]; \
        return blocks; \
    }
FS_MARK_CHANGES(32)
FS_MARK_CHANGES(64)
#undef FS_MARK_CHANGES

/* Writes a bit for each word: 1 if it differs from the word before it. The word before the first one
   is read, too. */
#define FS_MARK_RUNS(width) \
    static void AT(mark_runs_u##width)(const char *words, ptrdiff_t blocks, uint64_t *bits) \
    { \
        const uint##width##_t *v = (const uint##width##_t *)words; \
        uint##width##_t changes[64]; \
        for (ptrdiff_t block = 0; block < blocks; block++, v += 64) { \
            for (int j = 0; j < 64; j++) changes[j] = v[j] ^ v[j - 1]; \
            bits[block] = AT(block_bits_u##width)((const char *)changes, (uint##width##_t)-1); \
        } \
    }
FS_MARK_RUNS(32)
FS_MARK_RUNS(64)
#undef FS_MARK_RUNS

/* Writes the ordered keys of n words by the rule; the words need not be canonical. */
#define FS_ORDERED_KEYS(name, width, out_t) \
    static void AT(name)(const char *items, ptrdiff_t n, const fs_rule_t *rule, out_t *out) \
    { \
        const uint##width##_t *v = (const uint##width##_t *)items; \
        FS_REQUIRE(FS_IS_ALIGNED(items, width / 8)); \
        uint##width##_t significant = (uint##width##_t)rule->significant; \
        uint##width##_t limit = (uint##width##_t)rule->limit, nan = (uint##width##_t)rule->nan; \
        uint##width##_t sign = (uint##width##_t)rule->sign; \
        uint##width##_t negative = (uint##width##_t)rule->negative; \
        uint##width##_t minimum = (uint##width##_t)rule->minimum; \
        if ((uint##width##_t)~(significant & limit) == 0 && negative == 0) { /* integers */ \
            for (ptrdiff_t j = 0; j < n; j++) out[j] = (uint##width##_t)((v[j] ^ sign) - minimum); \
            return; \
        } \
        for (ptrdiff_t j = 0; j < n; j++) { \
            uint##width##_t word = v[j], magnitude = word & significant; \
            word = magnitude ? word : 0; \
            word = magnitude > limit ? nan : word; \
            word ^= sign ^ (negative & (uint##width##_t)(0 - (word >> (width - 1)))); \
            out[j] = (uint##width##_t)(word - minimum); \
        } \
    }
FS_ORDERED_KEYS(ordered_keys_u8, 8, uint64_t)
FS_ORDERED_KEYS(ordered_keys_u16, 16, uint64_t)
FS_ORDERED_KEYS(ordered_keys_u32, 32, uint64_t)
FS_ORDERED_KEYS(ordered_keys_u64, 64, uint64_t)
FS_ORDERED_KEYS(narrow_ordered_keys, 32, uint32_t)
#undef FS_ORDERED_KEYS

#ifdef __FAST_MATH__
#error "decimal_keys needs sums and NaN as IEEE 754 defines them"
#endif

/* Writes an integer for each of n decimals: doubles that equal an integer divided by scale, and
   doubles whose product with scale is at least 2^51. The integer is the product with scale,
   or for large doubles the bits, with their sign. Different decimals have different integers, in
   the same order. NaN becomes INT64_MAX, and so does another double that is no decimal; if there
   is one, returns 0. */
static int AT(decimal_keys)(const char *items, ptrdiff_t n, double scale, int64_t *keys)
{
    const double *v = (const double *)items;
    FS_REQUIRE(FS_IS_ALIGNED(items, 8));
    const double to_integer = 6755399441055744.0, limit = 2251799813685248.0; /* 1.5 * 2^52, 2^51 */
    uint64_t all = 1, bits_of_0;
    memcpy(&bits_of_0, &to_integer, sizeof bits_of_0);
    for (ptrdiff_t j = 0; j < n; j++) {
        double x = v[j], sum = x * scale + to_integer, whole = sum - to_integer;
        int is_small = (whole < limit) & (whole > -limit);
        int is_decimal;
        uint64_t bits, bits_of_x, magnitude;
        memcpy(&bits, &sum, sizeof bits);
        memcpy(&bits_of_x, &x, sizeof bits_of_x);
        magnitude = bits_of_x & INT64_MAX;
        /* A CPU that takes subnormal numbers for 0 must not make them equal. */
        is_decimal = (!is_small) | ((whole / scale == x) & ((whole != 0) | (magnitude == 0)));
        all &= (uint64_t)is_decimal;
        bits = is_small ? bits - bits_of_0 : x < 0 ? 0 - magnitude : magnitude;
        keys[j] = x == x && is_decimal ? (int64_t)bits : INT64_MAX;
    }
    return (int)all;
}

static void AT(cells_of)(const uint64_t *keys, ptrdiff_t n, const fs_cells_t *cells, uint32_t *out)
{
    uint64_t low = cells->low, last = cells->last - 1, gap = cells->gap;
    uint64_t gap_low = cells->gap_low, gap_high = cells->gap_high;
    int shift = cells->shift;
    for (ptrdiff_t j = 0; j < n; j++) {
        uint64_t key = keys[j] < gap_low ? keys[j] : gap_low;
        key = keys[j] >= gap_high ? keys[j] - gap : key;
        uint64_t cell = (key - low) >> shift;
        cell = (cell < last ? cell : last) + 1;
        out[j] = (uint32_t)(key >= low ? cell : 0);
    }
}
