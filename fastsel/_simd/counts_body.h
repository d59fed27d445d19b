/* Counts along axes: add_columns_u* counts items of columns, add_rows counts bits of rows. Included
   by level_body.h; the contracts are in level.h. The compiler vectorizes add_columns_u*. */

#define FS_IS_SET(width, item) AT(is_set_u##width)(item, (uint##width##_t)significant)

#define FS_ADD_COLUMNS(width) \
    static inline uint##width##_t AT(is_set_u##width)(const char *item, \
                                                      uint##width##_t significant) \
    { \
        uint##width##_t v; \
        memcpy(&v, item, sizeof v); /* it may be unaligned */ \
        return (v & significant) != 0; \
    } \
    /* Four rows at a time, so that each sum is loaded and stored once for four rows. */ \
    static void AT(add_columns_u##width)(const char *items, ptrdiff_t stride, ptrdiff_t rows, \
                                         uint64_t significant, ptrdiff_t length, void *sums) \
    { \
        const ptrdiff_t size = width / 8; \
        uint##width##_t *sum = (uint##width##_t *)sums; \
        for (; rows >= 4; rows -= 4, items += 4 * stride) { \
            const char *second = items + stride, *third = second + stride, *last = third + stride; \
            for (ptrdiff_t j = 0; j < length; j++) \
                sum[j] += FS_IS_SET(width, items + j * size) + FS_IS_SET(width, second + j * size) + \
                          FS_IS_SET(width, third + j * size) + FS_IS_SET(width, last + j * size); \
        } \
        for (; rows; rows--, items += stride) \
            for (ptrdiff_t j = 0; j < length; j++) sum[j] += FS_IS_SET(width, items + j * size); \
    }
FS_FOR_WIDTHS(FS_ADD_COLUMNS)
#undef FS_ADD_COLUMNS
#undef FS_IS_SET

static void AT(add_rows)(const uint64_t *bits, ptrdiff_t rows, ptrdiff_t length, intptr_t *counts,
                         ptrdiff_t step)
{
    ptrdiff_t row_end = 0, block = 0;
    intptr_t before = 0; /* set bits of bits[block] that belong to earlier rows */
    for (; rows; rows--, counts += step) {
        intptr_t count = -before;
        row_end += length;
        for (; block < row_end >> 6; block++) count += FS_POPCOUNT(bits[block]);
        before = FS_POPCOUNT(bits[block] & ((UINT64_C(1) << (row_end & 63)) - 1));
        *counts += count + before;
    }
}
