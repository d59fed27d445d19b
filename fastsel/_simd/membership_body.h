/* Finds the items that equal one of a few tests, and skips blocks of bytes that were all seen
   before. Compiled once per CPU level (levels.h). */

/* equal_few_u* is among_few of level.h for 64 items. */
#if FS_LEVEL_NUMBER >= 3

/* Byte k of out is bit k of the word: 0 or 1. */
static FS_INLINE void AT(flags)(uint64_t word, uint8_t *out)
{
#if FS_LEVEL_NUMBER == 4
    _mm512_storeu_si512(out, _mm512_maskz_set1_epi8(word, 1));
#else
    const __m256i byte_of = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202,
                                               0x0303030303030303);
    const __m256i bit_of = _mm256_set1_epi64x((long long)UINT64_C(0x8040201008040201));
    for (int k = 0; k < 2; k++) {
        __m256i v = _mm256_set1_epi32((int)(uint32_t)(word >> (32 * k)));
        v = _mm256_and_si256(_mm256_shuffle_epi8(v, byte_of), bit_of);
        v = _mm256_and_si256(_mm256_cmpeq_epi8(v, bit_of), _mm256_set1_epi8(1));
        _mm256_storeu_si256((__m256i *)(out + 32 * k), v);
    }
#endif
}

#define FS_EQUAL_FEW(width) \
    static FS_INLINE void AT(equal_few_u##width)(const char *items, const uint64_t *tests, \
                                                 const uint64_t *masks, ptrdiff_t count, \
                                                 uint8_t *out) \
    { \
        uint64_t other = ~UINT64_C(0); \
        for (ptrdiff_t k = 0; k < count; k++) \
            other &= AT(other_bits_u##width)(items, FS_EACH_##width(masks[k]), \
                                             FS_EACH_##width(tests[k])); \
        AT(flags)(~other, out); \
    }
#elif FS_LEVEL_NUMBER == 1 && FS_SSE2
#define FS_EQUAL_FEW(width) \
    static FS_INLINE void AT(equal_few_u##width)(const char *items, const uint64_t *tests, \
                                                 const uint64_t *masks, ptrdiff_t count, \
                                                 uint8_t *out) \
    { \
        __m128i found[4]; \
        for (int j = 0; j < 4; j++) found[j] = _mm_setzero_si128(); \
        for (ptrdiff_t k = 0; k < count; k++) { \
            __m128i mask = FS_EACH_##width(masks[k]), test = FS_EACH_##width(tests[k]); \
            for (int j = 0; j < 4; j++) \
                found[j] = _mm_or_si128(found[j], AT(equal_16_u##width)( \
                    items + 2 * width * j, mask, test)); \
        } \
        for (int j = 0; j < 4; j++) \
            _mm_storeu_si128((__m128i *)out + j, _mm_and_si128(found[j], _mm_set1_epi8(1))); \
    }
#else
#define FS_EQUAL_FEW(width) \
    static FS_INLINE void AT(equal_few_u##width)(const char *items, const uint64_t *tests, \
                                                 const uint64_t *masks, ptrdiff_t count, \
                                                 uint8_t *out) \
    { \
        uint##width##_t item[64]; \
        uint8_t found[64] = {0}; \
        memcpy(item, items, sizeof item); \
        for (ptrdiff_t k = 0; k < count; k++) { \
            uint##width##_t test = (uint##width##_t)tests[k], mask = (uint##width##_t)masks[k]; \
            for (int j = 0; j < 64; j++) found[j] |= (item[j] & mask) == test; \
        } \
        memcpy(out, found, sizeof found); \
    }
#endif
FS_FOR_WIDTHS(FS_EQUAL_FEW)
#undef FS_EQUAL_FEW

/* The contract is in level.h. */
#define FS_AMONG_FEW(width) \
    static void AT(among_few_u##width)(const char *items, ptrdiff_t n, const uint64_t *tests, \
                                       const uint64_t *masks, ptrdiff_t count, uint8_t *out) \
    { \
        for (ptrdiff_t k = 0; k < count; k++) FS_REQUIRE((tests[k] & ~masks[k]) == 0); \
        for (; n >= 64; n -= 64, items += 64 * (width / 8), out += 64) \
            AT(equal_few_u##width)(items, tests, masks, count, out); \
        if (n > 0) { \
            uint##width##_t rest[64] = {0}; \
            uint8_t flags[64]; \
            memcpy(rest, items, (size_t)n * (width / 8)); \
            AT(equal_few_u##width)((const char *)rest, tests, masks, count, flags); \
            memcpy(out, flags, (size_t)n); \
        } \
    }
FS_FOR_WIDTHS(FS_AMONG_FEW)
#undef FS_AMONG_FEW

/* The contract is in level.h. */
static ptrdiff_t AT(skip_seen)(const char *bytes, ptrdiff_t blocks, const uint8_t *seen)
{
#if FS_LEVEL_NUMBER >= 3
    /* The 256 flags become bits, in two tables of 16 bytes. The low half of a byte is the index
       into a table, and the high half selects the bit. low_rows is the table for bytes whose high
       half is less than 8, high_rows the table for the other bytes. */
    __m128i low_rows = _mm_setzero_si128(), high_rows = low_rows;
    for (int k = 0; k < 8; k++) {
        __m128i low = _mm_loadu_si128((const __m128i *)(seen + 16 * k));
        __m128i high = _mm_loadu_si128((const __m128i *)(seen + 16 * k + 128));
        low_rows = _mm_or_si128(low_rows, _mm_slli_epi16(low, k));
        high_rows = _mm_or_si128(high_rows, _mm_slli_epi16(high, k));
    }
    __m256i rows = _mm256_broadcastsi128_si256(low_rows);
    __m256i rows_from_8 = _mm256_broadcastsi128_si256(high_rows);
    __m256i bit_of = _mm256_set1_epi64x((long long)UINT64_C(0x8040201008040201));
    __m256i half = _mm256_set1_epi8(15);
    for (ptrdiff_t block = 0; block < blocks; block++, bytes += 64) {
        uint32_t other = 0;
        for (int k = 0; k < 64; k += 32) {
            __m256i v = _mm256_loadu_si256((const __m256i *)(bytes + k));
            __m256i low = _mm256_and_si256(v, half);
            __m256i high = _mm256_and_si256(_mm256_srli_epi16(v, 4), half);
            __m256i row = _mm256_blendv_epi8(_mm256_shuffle_epi8(rows, low),
                                             _mm256_shuffle_epi8(rows_from_8, low), v);
            __m256i found = _mm256_and_si256(row, _mm256_shuffle_epi8(bit_of, high));
            found = _mm256_cmpeq_epi8(found, _mm256_setzero_si256());
            other |= (uint32_t)_mm256_movemask_epi8(found);
        }
        if (other) return block;
    }
#else
    const uint8_t *v = (const uint8_t *)bytes;
    for (ptrdiff_t block = 0; block < blocks; block++, v += 64) {
        uint8_t all = 1;
        for (int j = 0; j < 64; j++) all &= seen[v[j]];
        if (!all) return block;
    }
#endif
    return blocks;
}
