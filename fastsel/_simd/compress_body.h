/* Pass 2 of compress: copies the items that the bits of each block select. Included by
   level_body.h.

   compress_u*_block copies the items at p that w selects to out. Whatever w is, the function reads
   64 items and may write 64 items. */

#if FS_LEVEL_NUMBER == 4

#define FS_COMPRESS_BLOCK(width, lanes) \
    static inline void AT(compress_u##width##_block)(uint64_t w, const char *p, char *out) \
    { \
        for (int k = 0; k < 64; k += lanes, p += 64) { \
            __mmask##lanes m = (__mmask##lanes)(w >> k); \
            _mm512_storeu_si512(out, _mm512_maskz_compress_epi##width(m, FS_VECTOR(p, 0))); \
            out += width / 8 * FS_POPCOUNT(m); \
        } \
    }
FS_COMPRESS_BLOCK(8, 64)
FS_COMPRESS_BLOCK(16, 32)
FS_COMPRESS_BLOCK(32, 16)
FS_COMPRESS_BLOCK(64, 8)
#undef FS_COMPRESS_BLOCK

#elif FS_LEVEL_NUMBER == 3

static inline void AT(compress_u8_block)(uint64_t w, const char *p, char *out)
{
    for (int k = 0; k < 64; k += 8) {
        uint8_t m = (uint8_t)(w >> k);
        __m128i index = _mm_loadl_epi64((const __m128i *)fs_positions[m]);
        __m128i v = _mm_loadl_epi64((const __m128i *)(p + k));
        _mm_storel_epi64((__m128i *)out, _mm_shuffle_epi8(v, index));
        out += FS_POPCOUNT(m);
    }
}

static inline void AT(compress_u16_block)(uint64_t w, const char *p, char *out)
{
    __m128i odd = _mm_set1_epi16(0x0100);
    for (int k = 0; k < 64; k += 8) {
        uint8_t m = (uint8_t)(w >> k);
        __m128i index = _mm_loadl_epi64((const __m128i *)fs_positions[m]);
        index = _mm_unpacklo_epi8(index, index); /* item k is the bytes 2 k and 2 k + 1 */
        index = _mm_add_epi8(_mm_add_epi8(index, index), odd);
        __m128i v = _mm_loadu_si128((const __m128i *)(p + 2 * k));
        _mm_storeu_si128((__m128i *)out, _mm_shuffle_epi8(v, index));
        out += 2 * FS_POPCOUNT(m);
    }
}

static inline void AT(compress_u32_block)(uint64_t w, const char *p, char *out)
{
    for (int k = 0; k < 64; k += 8) {
        uint8_t m = (uint8_t)(w >> k);
        __m256i index = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)fs_positions[m]));
        __m256i v = _mm256_loadu_si256((const __m256i *)(p + 4 * k));
        _mm256_storeu_si256((__m256i *)out, _mm256_permutevar8x32_epi32(v, index));
        out += 4 * FS_POPCOUNT(m);
    }
}

static inline void AT(compress_u64_block)(uint64_t w, const char *p, char *out)
{
    __m256i odd = _mm256_set1_epi64x(INT64_C(1) << 32);
    for (int k = 0; k < 64; k += 4) {
        unsigned m = (unsigned)(w >> k) & 15;
        __m128i pos;
        uint32_t four;
        memcpy(&four, fs_positions[m], 4);
        pos = _mm_cvtsi32_si128((int)four);
        __m256i index = _mm256_cvtepu8_epi64(pos); /* item k is the 32-bit lanes 2 k and 2 k + 1 */
        index = _mm256_add_epi64(index, index);
        index = _mm256_add_epi64(_mm256_or_si256(index, _mm256_slli_epi64(index, 32)), odd);
        __m256i v = _mm256_loadu_si256((const __m256i *)(p + 8 * k));
        _mm256_storeu_si256((__m256i *)out, _mm256_permutevar8x32_epi32(v, index));
        out += 8 * FS_POPCOUNT(m);
    }
}

#elif FS_LEVEL_NUMBER == 2

static inline void AT(compress_u8_block)(uint64_t w, const char *p, char *out)
{
    uint64_t before = fs_running_counts(w) << 8;
    for (int k = 0; k < 64; k += 8) {
        uint8x8_t index = vld1_u8(fs_positions[w >> k & 0xff]);
        vst1_u8((uint8_t *)out + (before >> k & 0xff),
                vtbl1_u8(vld1_u8((const uint8_t *)p + k), index));
    }
}

static inline void AT(compress_u16_block)(uint64_t w, const char *p, char *out)
{
    uint64_t before = fs_running_counts(w) << 8;
    for (int k = 0; k < 64; k += 8) {
        uint16x8_t index = vmovl_u8(vld1_u8(fs_positions[w >> k & 0xff]));
        /* Item k is the bytes 2 k and 2 k + 1. */
        index = vmlaq_n_u16(vdupq_n_u16(0x0100), index, 0x0202);
        uint8x16_t v = vld1q_u8((const uint8_t *)p + 2 * k);
        vst1q_u8((uint8_t *)out + 2 * (before >> k & 0xff),
                 vqtbl1q_u8(v, vreinterpretq_u8_u16(index)));
    }
}

static inline void AT(compress_u32_block)(uint64_t w, const char *p, char *out)
{
    uint64_t before = fs_running_counts(w) << 8;
    uint32x4_t bytes = vdupq_n_u32(0x03020100);
    for (int k = 0; k < 64; k += 8) {
        uint16x8_t index = vmovl_u8(vld1_u8(fs_positions[w >> k & 0xff]));
        uint32x4_t low = vmlaq_n_u32(bytes, vmovl_u16(vget_low_u16(index)), 0x04040404);
        uint32x4_t high = vmlaq_n_u32(bytes, vmovl_high_u16(index), 0x04040404);
        uint8x16x2_t v;
        v.val[0] = vld1q_u8((const uint8_t *)p + 4 * k);
        v.val[1] = vld1q_u8((const uint8_t *)p + 4 * k + 16);
        uint8_t *to = (uint8_t *)out + 4 * (before >> k & 0xff);
        vst1q_u8(to, vqtbl2q_u8(v, vreinterpretq_u8_u32(low)));
        vst1q_u8(to + 16, vqtbl2q_u8(v, vreinterpretq_u8_u32(high)));
    }
}

#endif

/* Copies eight items for each byte of w, so that no branch depends on the data. */
#define FS_COMPRESS_BLOCK(width) \
    static inline void AT(compress_u##width##_block)(uint64_t w, const char *p, char *out) \
    { \
        const ptrdiff_t size = width / 8; \
        uint64_t before = fs_running_counts(w) << 8; \
        for (int k = 0; k < 64; k += 8, p += 8 * size) { \
            const uint8_t *index = fs_positions[w >> k & 0xff]; \
            char *to = out + (before >> k & 0xff) * size; \
            for (int j = 0; j < 8; j++) memcpy(to + j * size, p + index[j] * size, size); \
        } \
    }
#if FS_LEVEL_NUMBER == 1
FS_COMPRESS_BLOCK(8)
FS_COMPRESS_BLOCK(16)
FS_COMPRESS_BLOCK(32)
#endif
#if FS_LEVEL_NUMBER <= 2
FS_COMPRESS_BLOCK(64)
#endif
#undef FS_COMPRESS_BLOCK

/* The contract is in level.h. compress_u*_block is called only if the capacity has room for 64 more
   items; the last items are copied one by one, so that nothing is written beyond the capacity.
   Level 4 compresses blocks of items of 1 or 2 bytes without a branch on the number of set bits,
   unless the capacity shows that most blocks have no set bit: then a branch saves reading their
   items. */
#define FS_COMPRESS(width) \
    static void AT(compress_u##width)(const uint64_t *bits, ptrdiff_t blocks, const char *items, \
                                  char *out, ptrdiff_t capacity) \
    { \
        const ptrdiff_t size = width / 8; \
        const char *end = out + capacity * size; \
        ptrdiff_t b = 0; \
        FS_REQUIRE(AT(count)(bits, blocks) <= capacity); \
        FS_REQUIRE(end <= items || blocks == 0 || items + (64 * blocks - 63) * size <= out); \
        if (FS_LEVEL_NUMBER == 4 && width <= 16 && capacity >= blocks >> 1) { \
            for (; b < blocks && end - out >= 64 * size; b++, items += 64 * size) { \
                AT(compress_u##width##_block)(bits[b], items, out); \
                out += FS_POPCOUNT(bits[b]) * size; \
            } \
        } \
        for (; b < blocks; b++, items += 64 * size) { \
            uint64_t w = bits[b]; \
            if (w == 0) continue; \
            int n = FS_POPCOUNT(w); \
            if (n == 64) { \
                memcpy(out, items, 64 * size); \
                out += 64 * size; \
            } else if (n >= FS_DENSE && end - out >= 64 * size) { \
                AT(compress_u##width##_block)(w, items, out); \
                out += n * size; \
            } else { \
                for (; w; w &= w - 1, out += size) memcpy(out, items + fs_ctz(w) * size, size); \
            } \
        } \
    }
FS_FOR_WIDTHS(FS_COMPRESS)
#undef FS_COMPRESS
