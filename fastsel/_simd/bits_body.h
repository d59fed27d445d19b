/* Pass 1 of selection: packs each block of 64 items into 64 bits of the bitmask. Also skips
   zeros, counts the set bits of blocks, and transposes squares of 64 x 64 bits. Included by
   level_body.h; the contracts of pack, skip_zeros, count and transpose are in level.h.

   block_bits_u* returns the 64 bits of the 64 items at p, of any alignment. If p has fewer items,
   it is overrun. In these functions, each lane of c has the significant bits of an item. */

#if FS_LEVEL_NUMBER == 4

static inline uint64_t AT(block_bits_u8)(const char *p, uint8_t significant)
{
    return _mm512_test_epi8_mask(_mm512_loadu_si512(p), _mm512_set1_epi8((char)significant));
}

static inline uint64_t AT(block_bits_u16)(const char *p, uint16_t significant)
{
    __m512i c = _mm512_set1_epi16((short)significant);
    uint64_t low = _mm512_test_epi16_mask(_mm512_loadu_si512(p), c);
    return low | (uint64_t)_mm512_test_epi16_mask(_mm512_loadu_si512(p + 64), c) << 32;
}

static inline uint64_t AT(block_bits_u32)(const char *p, uint32_t significant)
{
    __m512i c = _mm512_set1_epi32((int)significant);
    uint64_t w = 0;
    for (int k = 0; k < 4; k++)
        w |= (uint64_t)_mm512_test_epi32_mask(_mm512_loadu_si512(p + 64 * k), c) << (16 * k);
    return w;
}

static inline uint64_t AT(block_bits_u64)(const char *p, uint64_t significant)
{
    __m512i c = _mm512_set1_epi64((long long)significant);
    uint64_t w = 0;
    for (int k = 0; k < 8; k++)
        w |= (uint64_t)_mm512_test_epi64_mask(_mm512_loadu_si512(p + 64 * k), c) << (8 * k);
    return w;
}

#elif FS_LEVEL_NUMBER == 3

/* All ones in each lane of bits_ bits whose item has no significant bit set. */
#define FS_ZERO_LANES(bits_, p, c) \
    _mm256_cmpeq_epi##bits_(_mm256_and_si256(_mm256_loadu_si256((const __m256i *)(p)), c), \
                            _mm256_setzero_si256())

static inline uint64_t AT(block_bits_u8)(const char *p, uint8_t significant)
{
    __m256i c = _mm256_set1_epi8((char)significant);
    uint32_t low = (uint32_t)_mm256_movemask_epi8(FS_ZERO_LANES(8, p, c));
    uint32_t high = (uint32_t)_mm256_movemask_epi8(FS_ZERO_LANES(8, p + 32, c));
    return ~(low | (uint64_t)high << 32);
}

static inline uint64_t AT(block_bits_u16)(const char *p, uint16_t significant)
{
    __m256i c = _mm256_set1_epi16((short)significant);
    uint64_t w = 0;
    for (int k = 0; k < 2; k++) {
        __m256i z = _mm256_packs_epi16(FS_ZERO_LANES(16, p + 64 * k, c),
                                       FS_ZERO_LANES(16, p + 64 * k + 32, c));
        z = _mm256_permute4x64_epi64(z, 0xd8); /* packs works within 128-bit halves */
        w |= (uint64_t)(uint32_t)_mm256_movemask_epi8(z) << (32 * k);
    }
    return ~w;
}

static inline uint64_t AT(block_bits_u32)(const char *p, uint32_t significant)
{
    __m256i c = _mm256_set1_epi32((int)significant);
    uint64_t w = 0;
    for (int k = 0; k < 8; k++)
        w |= (uint64_t)_mm256_movemask_ps(_mm256_castsi256_ps(FS_ZERO_LANES(32, p + 32 * k, c)))
             << (8 * k);
    return ~w;
}

static inline uint64_t AT(block_bits_u64)(const char *p, uint64_t significant)
{
    __m256i c = _mm256_set1_epi64x((long long)significant);
    uint64_t w = 0;
    for (int k = 0; k < 16; k++)
        w |= (uint64_t)_mm256_movemask_pd(_mm256_castsi256_pd(FS_ZERO_LANES(64, p + 32 * k, c)))
             << (4 * k);
    return ~w;
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
FS_BLOCK_BITS(8)
FS_BLOCK_BITS(16)
FS_BLOCK_BITS(32)
FS_BLOCK_BITS(64)
#undef FS_BLOCK_BITS

#elif FS_LEVEL_NUMBER == 1 && FS_SSE2

/* Vectors whose lanes are all x; membership_body.h has them, too, and undefines them. */
#define FS_EACH_8(x) _mm_set1_epi8((char)(x))
#define FS_EACH_16(x) _mm_set1_epi16((short)(x))
#define FS_EACH_32(x) _mm_set1_epi32((int)(x))
#define FS_EACH_64(x) _mm_set1_epi64x((long long)(x))

/* All ones in each lane of vector k whose bits in c equal v. */
#define FS_EQUAL_LANES(width, p, k, c, v) \
    _mm_cmpeq_epi##width(_mm_and_si128(_mm_loadu_si128((const __m128i *)(p) + (k)), c), v)

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
FS_BLOCK_BITS(8)
FS_BLOCK_BITS(16)
FS_BLOCK_BITS(32)
FS_BLOCK_BITS(64)
#undef FS_BLOCK_BITS
#undef FS_EQUAL_LANES

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
FS_BLOCK_BITS(8)
FS_BLOCK_BITS(16)
FS_BLOCK_BITS(32)
FS_BLOCK_BITS(64)
#undef FS_BLOCK_BITS

#endif

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
FS_PACK(8)
FS_PACK(16)
FS_PACK(32)
FS_PACK(64)
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

/* Swaps the upper right and the lower left quarter of each square of 2 d words by 2 d bits. words
   has 64 words: a smaller array is overrun. In left_half, the lower d of each 2 d bits are set:
   otherwise other bits are swapped. Callers pass a constant d, so that the compiler vectorizes the
   loop. */
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

#ifdef FS_ZERO_LANES
#undef FS_ZERO_LANES
#endif
