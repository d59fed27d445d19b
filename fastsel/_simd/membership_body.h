/* Words among a few known ones, bytes among 256 flags. Compiled once per CPU level (levels.h). */

/* out says which of n words are among a few. */
static void AT(any_of)(const uint64_t *words, ptrdiff_t n, const uint64_t *few, ptrdiff_t count,
                       uint8_t *out)
{
#if FS_LEVEL_NUMBER == 4
    for (ptrdiff_t j = 0; j < n; j += 8) {
        __mmask8 some = (__mmask8)(n - j >= 8 ? 0xff : (1 << (n - j)) - 1), found = 0;
        __m512i word = _mm512_maskz_loadu_epi64(some, words + j);
        for (ptrdiff_t k = 0; k < count; k++)
            found |= _mm512_cmpeq_epi64_mask(word, _mm512_set1_epi64((long long)few[k]));
        _mm_mask_storeu_epi8(out + j, some, _mm_maskz_set1_epi8(found, 1));
    }
#else
    for (ptrdiff_t start = 0; start < n; start += 64) {
        ptrdiff_t some = n - start < 64 ? n - start : 64;
        uint64_t word[64] = {0}, found[64] = {0};
        memcpy(word, words + start, (size_t)some * 8);
        for (ptrdiff_t k = 0; k < count; k++)
            for (int j = 0; j < 64; j++) found[j] |= word[j] == few[k];
        for (ptrdiff_t j = 0; j < some; j++) out[start + j] = (uint8_t)found[j];
    }
#endif
}

/* In how many blocks of bytes, from the first one on, each byte has a 1 among these 256. */
static ptrdiff_t AT(skip_seen)(const char *bytes, ptrdiff_t blocks, const uint8_t *seen)
{
#if FS_LEVEL_NUMBER >= 3
    /* The 256 as bits: one of 16 bytes for each low half of a byte, with one bit for each high half
       below 8, and one for those from 8 on. */
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
