/* Pass 1 of selection: packs each block of 64 items into 64 bits of the bitmask. Also skips
   zeros, counts the set bits of blocks, and transposes squares of 64 x 64 bits. Included by
   level_body.h; the contracts of pack, skip_zeros, count and transpose are in level.h.

   block_bits_u* returns the 64 bits of the 64 items at p, of any alignment. */

/* With AVX2 and SSE2: all ones in each lane of vector k whose bits in c equal v. */
#define FS_EQUAL_LANES(width, p, k, c, v) \
    FS_OP(cmpeq_epi##width)(FS_BITS(and)(FS_VECTOR(p, k), c), v)

#if FS_LEVEL_NUMBER >= 3

/* other_bits_u*: a bit for each of 64 items at p, 1 if its bits in c differ from v, otherwise 0. v
   has no bit that c lacks. */
#if FS_LEVEL_NUMBER == 4
#define FS_OTHER_BITS(width) \
    static FS_INLINE uint64_t AT(other_bits_u##width)(const char *p, __m512i c, __m512i v) \
    { \
        uint64_t w = 0; \
        for (int k = 0; k < width / 8; k++) \
            w |= (uint64_t)_mm512_test_epi##width##_mask(_mm512_xor_si512(FS_VECTOR(p, k), v), c) \
                 << (512 / width * k); \
        return w; \
    }
FS_FOR_WIDTHS(FS_OTHER_BITS)
#else
#define FS_OTHER_BITS(width, bits_of_lanes) \
    static FS_INLINE uint64_t AT(other_bits_u##width)(const char *p, __m256i c, __m256i v) \
    { \
        uint64_t w = 0; \
        for (int k = 0; k < width / 4; k++) { \
            __m256i equal = FS_EQUAL_LANES(width, p, k, c, v); \
            w |= (uint64_t)(uint32_t)bits_of_lanes << (256 / width * k); \
        } \
        return ~w; \
    }
FS_OTHER_BITS(8, _mm256_movemask_epi8(equal))
FS_OTHER_BITS(32, _mm256_movemask_ps(_mm256_castsi256_ps(equal)))
FS_OTHER_BITS(64, _mm256_movemask_pd(_mm256_castsi256_pd(equal)))

static FS_INLINE uint64_t AT(other_bits_u16)(const char *p, __m256i c, __m256i v)
{
    uint64_t w = 0;
    for (int k = 0; k < 4; k += 2) {
        __m256i equal = _mm256_packs_epi16(FS_EQUAL_LANES(16, p, k, c, v),
                                           FS_EQUAL_LANES(16, p, k + 1, c, v));
        equal = _mm256_permute4x64_epi64(equal, 0xd8); /* packs works within 128-bit halves */
        w |= (uint64_t)(uint32_t)_mm256_movemask_epi8(equal) << (16 * k);
    }
    return ~w;
}
#endif
#undef FS_OTHER_BITS

#define FS_BLOCK_BITS(width) \
    static inline uint64_t AT(block_bits_u##width)(const char *p, uint##width##_t significant) \
    { \
        return AT(other_bits_u##width)(p, FS_EACH_##width(significant), FS_BITS(setzero)()); \
    }

#elif FS_LEVEL_NUMBER == 2

/* Packs 64 bytes, each 0 or all ones, into 64 bits. Byte k keeps only bit k % 8; then pairwise sums
   make one byte of every eight bytes. */
static inline uint64_t AT(pack_lanes)(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d)
{
    uint8x16_t bit = vreinterpretq_u8_u64(vdupq_n_u64(UINT64_C(0x8040201008040201)));
    a = vpaddq_u8(vandq_u8(a, bit), vandq_u8(b, bit));
    c = vpaddq_u8(vandq_u8(c, bit), vandq_u8(d, bit));
    a = vpaddq_u8(a, c);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(a, a)), 0);
}

/* Returns a byte for each of 16 items: all ones if the item has a significant bit set, otherwise
   0. */
static inline uint8x16_t AT(nonzero_lanes_u8)(const char *p, uint64_t significant)
{
    return vtstq_u8(vld1q_u8((const uint8_t *)p), vdupq_n_u8((uint8_t)significant));
}

static inline uint8x16_t AT(nonzero_lanes_u16)(const char *p, uint64_t significant)
{
    uint16x8_t c = vdupq_n_u16((uint16_t)significant);
    uint16x8_t low = vtstq_u16(vld1q_u16((const uint16_t *)p), c);
    uint16x8_t high = vtstq_u16(vld1q_u16((const uint16_t *)(p + 16)), c);
    return vuzp1q_u8(vreinterpretq_u8_u16(low), vreinterpretq_u8_u16(high));
}

/* Returns a lane of 2 bytes for each of 8 items of 4 or 8 bytes: all ones if the item has a
   significant bit set, otherwise 0. */
static inline uint16x8_t AT(eight_nonzero_lanes_u32)(const char *p, uint64_t significant)
{
    uint32x4_t c = vdupq_n_u32((uint32_t)significant);
    uint32x4_t low = vtstq_u32(vld1q_u32((const uint32_t *)p), c);
    uint32x4_t high = vtstq_u32(vld1q_u32((const uint32_t *)(p + 16)), c);
    return vuzp1q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high));
}

static inline uint16x8_t AT(eight_nonzero_lanes_u64)(const char *p, uint64_t significant)
{
    uint64x2_t c = vdupq_n_u64(significant);
    uint32x4_t four[2];
    for (int k = 0; k < 2; k++, p += 32) {
        uint64x2_t low = vtstq_u64(vld1q_u64((const uint64_t *)p), c);
        uint64x2_t high = vtstq_u64(vld1q_u64((const uint64_t *)(p + 16)), c);
        four[k] = vuzp1q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(high));
    }
    return vuzp1q_u16(vreinterpretq_u16_u32(four[0]), vreinterpretq_u16_u32(four[1]));
}

static inline uint8x16_t AT(nonzero_lanes_u32)(const char *p, uint64_t significant)
{
    return vuzp1q_u8(vreinterpretq_u8_u16(AT(eight_nonzero_lanes_u32)(p, significant)),
                     vreinterpretq_u8_u16(AT(eight_nonzero_lanes_u32)(p + 32, significant)));
}

static inline uint8x16_t AT(nonzero_lanes_u64)(const char *p, uint64_t significant)
{
    return vuzp1q_u8(vreinterpretq_u8_u16(AT(eight_nonzero_lanes_u64)(p, significant)),
                     vreinterpretq_u8_u16(AT(eight_nonzero_lanes_u64)(p + 64, significant)));
}

#define FS_BLOCK_BITS(width) \
    static inline uint64_t AT(block_bits_u##width)(const char *p, uint##width##_t significant) \
    { \
        return AT(pack_lanes)(AT(nonzero_lanes_u##width)(p, significant), \
                              AT(nonzero_lanes_u##width)(p + 2 * width, significant), \
                              AT(nonzero_lanes_u##width)(p + 4 * width, significant), \
                              AT(nonzero_lanes_u##width)(p + 6 * width, significant)); \
    }

#elif FS_LEVEL_NUMBER == 1 && FS_SSE2

/* equal_16_u*: a byte for each of 16 items, -1 if its bits in c equal v, otherwise 0. */
static FS_INLINE __m128i AT(equal_16_u8)(const char *p, __m128i c, __m128i v)
{
    return FS_EQUAL_LANES(8, p, 0, c, v);
}

static FS_INLINE __m128i AT(equal_16_u16)(const char *p, __m128i c, __m128i v)
{
    return _mm_packs_epi16(FS_EQUAL_LANES(16, p, 0, c, v), FS_EQUAL_LANES(16, p, 1, c, v));
}

static FS_INLINE __m128i AT(equal_16_u32)(const char *p, __m128i c, __m128i v)
{
    __m128i low = _mm_packs_epi32(FS_EQUAL_LANES(32, p, 0, c, v), FS_EQUAL_LANES(32, p, 1, c, v));
    __m128i high = _mm_packs_epi32(FS_EQUAL_LANES(32, p, 2, c, v), FS_EQUAL_LANES(32, p, 3, c, v));
    return _mm_packs_epi16(low, high);
}

/* SSE2 does not compare 64 bits: the halves of an item are compared, and give neighbouring bytes of
   low and high. */
static FS_INLINE __m128i AT(equal_16_u64)(const char *p, __m128i c, __m128i v)
{
    __m128i low = AT(equal_16_u32)(p, c, v), high = AT(equal_16_u32)(p + 64, c, v);
    return _mm_packus_epi16(_mm_and_si128(low, _mm_srli_epi16(low, 8)),
                            _mm_and_si128(high, _mm_srli_epi16(high, 8)));
}

#define FS_BLOCK_BITS(width) \
    static inline uint64_t AT(block_bits_u##width)(const char *p, uint##width##_t significant) \
    { \
        __m128i c = FS_EACH_##width(significant), zero = _mm_setzero_si128(); \
        uint64_t w = 0; \
        for (int k = 0; k < 4; k++) \
            w |= (uint64_t)(uint32_t)_mm_movemask_epi8( \
                     AT(equal_16_u##width)(p + 2 * width * k, c, zero)) << (16 * k); \
        return ~w; \
    }

#else

/* Packs 64 bytes, each 0 or 1, into 64 bits: a multiplication moves the bits of eight bytes to the
   top byte of the product. */
static inline uint64_t AT(pack_flags)(const uint8_t *flags)
{
    uint64_t w = 0;
    for (int k = 0; k < 8; k++) {
        uint64_t v = 0;
        for (int j = 0; j < 8; j++) v |= (uint64_t)flags[8 * k + j] << (8 * j);
        w |= ((v * UINT64_C(0x0102040810204080)) >> 56) << (8 * k);
    }
    return w;
}

#define FS_BLOCK_BITS(width) \
    static inline uint64_t AT(block_bits_u##width)(const char *p, uint##width##_t significant) \
    { \
        uint8_t flags[64]; \
        for (int k = 0; k < 64; k++) { \
            uint##width##_t v; \
            memcpy(&v, p + k * sizeof v, sizeof v); \
            flags[k] = (v & significant) != 0; \
        } \
        return AT(pack_flags)(flags); \
    }

#endif
FS_FOR_WIDTHS(FS_BLOCK_BITS)
#undef FS_BLOCK_BITS
#undef FS_EQUAL_LANES

#define FS_PACK(width) \
    static ptrdiff_t AT(pack_u##width)(const char *items, uint64_t significant, uint64_t *bits, \
                                       ptrdiff_t blocks) \
    { \
        ptrdiff_t count = 0; \
        for (ptrdiff_t b = 0; b < blocks; b++) { \
            uint64_t w = AT(block_bits_u##width)(items + b * 64 * (width / 8), \
                                           (uint##width##_t)significant); \
            bits[b] = w; \
            count += FS_POPCOUNT(w); \
        } \
        return count; \
    }
FS_FOR_WIDTHS(FS_PACK)
#undef FS_PACK

static ptrdiff_t AT(skip_zeros)(const char *items, uint64_t significant, ptrdiff_t lines)
{
    for (ptrdiff_t k = 0; k < lines; k++, items += FS_LINE_BYTES) {
        uint64_t any = 0;
        for (int j = 0; j < FS_LINE_BYTES; j += 8) {
            uint64_t word;
            memcpy(&word, items + j, sizeof word);
            any |= word;
        }
        if (any & significant) return k;
    }
    return lines;
}

static ptrdiff_t AT(count)(const uint64_t *bits, ptrdiff_t blocks)
{
    ptrdiff_t count = 0;
    for (ptrdiff_t b = 0; b < blocks; b++) count += FS_POPCOUNT(bits[b]);
    return count;
}

/* Swaps the upper right and the lower left quarter of each square of 2 d words by 2 d bits, of 64
   words. In left_half, the lower d of each 2 d bits are set: otherwise other bits are swapped.
   Callers pass a constant d, so that the compiler vectorizes the loop. */
static FS_INLINE void AT(swap_quarters)(uint64_t *words, int d, uint64_t left_half)
{
    for (int k = 0; k < 64; k += 2 * d) {
        for (int i = k; i < k + d; i++) {
            uint64_t swapped = (words[i] >> d ^ words[i + d]) & left_half;
            words[i + d] ^= swapped;
            words[i] ^= swapped << d;
        }
    }
}

static void AT(transpose)(uint64_t *words)
{
    AT(swap_quarters)(words, 32, UINT64_C(0x00000000ffffffff));
    AT(swap_quarters)(words, 16, UINT64_C(0x0000ffff0000ffff));
    AT(swap_quarters)(words, 8, UINT64_C(0x00ff00ff00ff00ff));
    AT(swap_quarters)(words, 4, UINT64_C(0x0f0f0f0f0f0f0f0f));
    AT(swap_quarters)(words, 2, UINT64_C(0x3333333333333333));
    AT(swap_quarters)(words, 1, UINT64_C(0x5555555555555555));
}
