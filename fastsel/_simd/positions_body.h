/* Pass 2 of selection: writes the positions of the set bits of each block. Included by
   level_body.h. */

#if FS_LEVEL_NUMBER == 4
/* The positions of the set bits, one byte for each, then zeros. */
static inline __m512i AT(positions)(uint64_t word)
{
    __m512i iota = _mm512_set_epi8(63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47,
                                   46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30,
                                   29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13,
                                   12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return _mm512_maskz_compress_epi8(word, iota);
}
#endif

/* The contract is in level.h. */
static int AT(decode)(uint64_t word, uint8_t *out)
{
    int n = FS_POPCOUNT(word);
#if FS_LEVEL_NUMBER == 4
    _mm512_storeu_si512(out, AT(positions)(word));
#else
    for (int k = 0; word; k++, word &= word - 1) out[k] = (uint8_t)fs_ctz(word);
#endif
    return n;
}

/* write_block writes the indices of the set bits of w to out; the first bit has index first. It may
   write 64 slots, even if few bits are set. */

#if FS_LEVEL_NUMBER == 4

static inline void AT(write_block)(uint64_t w, intptr_t first, intptr_t *out)
{
    int n = FS_POPCOUNT(w);
    __m512i base = _mm512_set1_epi64(first);
    __m512i positions = AT(positions)(w);
    __m512i v = _mm512_cvtepu8_epi64(_mm512_castsi512_si128(positions));
    _mm512_storeu_si512(out, _mm512_add_epi64(v, base));
    if (n > 8) {
        uint8_t more[64];
        _mm512_storeu_si512(more, positions);
        for (int k = 8; k < n; k += 8) {
            v = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)(more + k)));
            _mm512_storeu_si512(out + k, _mm512_add_epi64(v, base));
        }
    }
}

#elif FS_LEVEL_NUMBER == 3

static inline void AT(write_block)(uint64_t w, intptr_t first, intptr_t *out)
{
    for (int k = 0; k < 64; k += 8) {
        uint8_t m = (uint8_t)(w >> k);
        __m256i base = _mm256_set1_epi64x(first + k);
        __m128i positions = _mm_loadl_epi64((const __m128i *)fs_positions[m]);
        __m256i low = _mm256_cvtepu8_epi64(positions);
        __m256i high = _mm256_cvtepu8_epi64(_mm_srli_si128(positions, 4));
        _mm256_storeu_si256((__m256i *)out, _mm256_add_epi64(low, base));
        _mm256_storeu_si256((__m256i *)(out + 4), _mm256_add_epi64(high, base));
        out += FS_POPCOUNT(m);
    }
}

#elif FS_LEVEL_NUMBER == 2

static inline void AT(write_block)(uint64_t w, intptr_t first, intptr_t *out)
{
    uint64_t before = fs_running_counts(w) << 8;
    for (int k = 0; k < 64; k += 8) {
        int64_t *to = (int64_t *)out + (before >> k & 0xff);
        uint64x2_t base = vdupq_n_u64((uint64_t)(first + k));
        uint16x8_t positions = vmovl_u8(vld1_u8(fs_positions[w >> k & 0xff]));
        uint32x4_t low = vmovl_u16(vget_low_u16(positions)), high = vmovl_high_u16(positions);
        vst1q_s64(to, vreinterpretq_s64_u64(vaddw_u32(base, vget_low_u32(low))));
        vst1q_s64(to + 2, vreinterpretq_s64_u64(vaddw_high_u32(base, low)));
        vst1q_s64(to + 4, vreinterpretq_s64_u64(vaddw_u32(base, vget_low_u32(high))));
        vst1q_s64(to + 6, vreinterpretq_s64_u64(vaddw_high_u32(base, high)));
    }
}

#else

static inline void AT(write_block)(uint64_t w, intptr_t first, intptr_t *out)
{
    uint64_t before = fs_running_counts(w) << 8;
    for (int k = 0; k < 64; k += 8) {
        intptr_t *to = out + (before >> k & 0xff);
        uint8_t positions[8]; /* a copy: the compiler cannot know that out is not fs_positions */
        memcpy(positions, fs_positions[w >> k & 0xff], 8);
        for (int j = 0; j < 8; j++) to[j] = first + k + positions[j];
    }
}

#endif

/* The contract is in level.h. A block may write more slots than it has set bits; the next block of
   the same chunk overwrites them. The last indices are written one by one, so that nothing is
   written beyond the capacity. */
static void AT(write)(const uint64_t *bits, ptrdiff_t blocks, intptr_t first, int sparse,
                      intptr_t *out, ptrdiff_t capacity)
{
    const intptr_t *end = out + capacity;
    ptrdiff_t b = 0;
    FS_REQUIRE(AT(count)(bits, blocks) <= capacity);
#if FS_LEVEL_NUMBER == 4
    /* The CPU cannot predict the number of set bits, so words with 0 to 8 set bits take the same
       branches. If most words are 0, a branch is predicted, and saves the store. */
    uint64_t never_skip = !sparse;
    for (; b < blocks && end - out >= 64; b++, first += 64) {
        if ((bits[b] | never_skip) == 0) continue;
        AT(write_block)(bits[b], first, out);
        out += FS_POPCOUNT(bits[b]);
    }
#endif
    (void)sparse;
    for (; b < blocks; b++, first += 64) {
        uint64_t w = bits[b];
        if (w == 0) continue;
        int n = FS_POPCOUNT(w);
        if (FS_LEVEL_NUMBER < 4 && n >= FS_DENSE && end - out >= 64) {
            AT(write_block)(w, first, out);
            out += n;
        } else {
            for (; w; w &= w - 1) *out++ = first + fs_ctz(w);
        }
    }
}

/* The contract is in level.h. The quotient comes from a multiplication by a factor of 32 bits, and
   is exact for dividends below 2^32 / length. For lengths of at least 2^15 the quotient is 0 or 1,
   and a comparison is enough. For length 1 the factor would have 33 bits. */
static void AT(split_index)(intptr_t *indices, ptrdiff_t n, intptr_t start, intptr_t length,
                            intptr_t *remainders)
{
    const uint32_t factor = (uint32_t)((UINT64_C(1) << 32) / (uint64_t)length + 1);
    ptrdiff_t j = 0;
    FS_REQUIRE(0 <= start && start < length);
    if (length >= 1 << 15 || length == 1) {
        for (; j < n; j++) {
            intptr_t dividend = indices[j] + start;
            intptr_t quotient = length == 1 ? dividend : dividend >= length;
            indices[j] = quotient;
            remainders[j] = dividend - quotient * length;
        }
        return;
    }
#if FS_LEVEL_NUMBER >= 3
    for (; j + 4 <= n; j += 4) {
        __m256i dividend = _mm256_add_epi64(_mm256_loadu_si256((const __m256i *)(indices + j)),
                                            _mm256_set1_epi64x(start));
        __m256i quotient = _mm256_srli_epi64(
            _mm256_mul_epu32(dividend, _mm256_set1_epi32((int)factor)), 32);
        __m256i product = _mm256_mul_epu32(quotient, _mm256_set1_epi32((int)length));
        _mm256_storeu_si256((__m256i *)(indices + j), quotient);
        _mm256_storeu_si256((__m256i *)(remainders + j), _mm256_sub_epi64(dividend, product));
    }
#endif
    for (; j < n; j++) {
        intptr_t dividend = indices[j] + start;
        intptr_t quotient = (intptr_t)(((uint64_t)dividend * factor) >> 32);
        indices[j] = quotient;
        remainders[j] = dividend - quotient * length;
    }
}
