/* What unique does with vectors: words -> slots of a hash table, words in their first slots, words
   among a few known ones, words in order. Compiled once per CPU level (see levels.h). */

#if FS_LEVEL_NUMBER >= 3

#if FS_LEVEL_NUMBER == 4
#define FS_WORDS __m512i
#define FS_OP(name) _mm512_##name
#define FS_BITS(name) _mm512_##name##_si512
#define FS_EACH(word) _mm512_set1_epi64((long long)(word))
#define FS_BLEND_ODD(a, b) _mm512_mask_blend_epi32(0xaaaa, a, b)
#else
#define FS_WORDS __m256i
#define FS_OP(name) _mm256_##name
#define FS_BITS(name) _mm256_##name##_si256
#define FS_EACH(word) _mm256_set1_epi64x((long long)(word))
#define FS_BLEND_ODD(a, b) _mm256_blend_epi32(a, b, 0xaa)
#endif

/* fs_fold of each word, from four products of halves; vectors have no wider ones. */
static FS_INLINE FS_WORDS AT(folded)(FS_WORDS a, FS_WORDS b)
{
    FS_WORDS a_high = FS_OP(srli_epi64)(a, 32), b_high = FS_OP(srli_epi64)(b, 32);
    FS_WORDS low = FS_OP(mul_epu32)(a, b);
    FS_WORDS mid = FS_OP(add_epi64)(FS_OP(mul_epu32)(a_high, b), FS_OP(srli_epi64)(low, 32));
    FS_WORDS mid2 = FS_OP(add_epi64)(FS_OP(mul_epu32)(a, b_high),
                                     FS_BITS(and)(mid, FS_EACH(0xffffffff)));
    FS_WORDS high = FS_OP(add_epi64)(FS_OP(mul_epu32)(a_high, b_high),
                                     FS_OP(add_epi64)(FS_OP(srli_epi64)(mid, 32),
                                                      FS_OP(srli_epi64)(mid2, 32)));
    return FS_BITS(xor)(FS_BLEND_ODD(low, FS_OP(slli_epi64)(mid2, 32)), high);
}

#endif

static void AT(slots)(const uint64_t *words, ptrdiff_t n, uint64_t seed, uint64_t factor, int skip,
                      int shift, uint64_t *slots)
{
    ptrdiff_t j = 0;
#if FS_LEVEL_NUMBER >= 3
    enum { LANES = sizeof(FS_WORDS) / 8 };
    FS_WORDS seeds = FS_EACH(seed), factors = FS_EACH(factor);
    __m128i left = _mm_cvtsi32_si128(skip), right = _mm_cvtsi32_si128(shift);
    for (; j + LANES <= n; j += LANES) {
        FS_WORDS v = FS_BITS(loadu)((const FS_WORDS *)(words + j));
        v = FS_OP(sll_epi64)(AT(folded)(FS_BITS(xor)(v, seeds), factors), left);
        FS_BITS(storeu)((FS_WORDS *)(slots + j), FS_OP(srl_epi64)(v, right));
    }
#endif
    for (; j < n; j++) slots[j] = (fs_fold(words[j] ^ seed, factor) << skip) >> shift;
}

#if FS_LEVEL_NUMBER >= 3
#undef FS_WORDS
#undef FS_OP
#undef FS_BITS
#undef FS_EACH
#undef FS_BLEND_ODD
#endif

/* What lies at the first slots of n words, whose table holds words mixed with the seed: found gets
   the slot plus one of each word that is there, 0 for others; unknown gets those of the others that
   further slots may have, and those that look like an empty slot. Returns how many. */
#if FS_LEVEL_NUMBER == 4
#define FS_FIND(width, held_at, own) \
    static ptrdiff_t AT(find_u##width)(const uint64_t *words, ptrdiff_t n, uint64_t seed, \
                                       const void *held, const uint64_t *first_slots, \
                                       uint32_t *found, uint16_t *unknown) \
    { \
        ptrdiff_t count = 0; \
        uint64_t others = 0; \
        __m512i seeds = _mm512_set1_epi64((long long)seed); \
        for (ptrdiff_t j = 0; j < n; j += 8) { \
            __mmask8 some = (__mmask8)(n - j >= 8 ? 0xff : (1 << (n - j)) - 1); \
            __m512i slots = _mm512_maskz_loadu_epi64(some, first_slots + j); \
            __m512i there = held_at; \
            __m512i word = _mm512_xor_si512(_mm512_maskz_loadu_epi64(some, words + j), seeds); \
            word = own; \
            __mmask8 hit = _mm512_mask_cmpeq_epi64_mask(some, there, word); \
            __mmask8 other = _mm512_mask_test_epi64_mask((__mmask8)(some & ~hit), there, there); \
            other |= _mm512_mask_testn_epi64_mask(some, word, word); \
            slots = _mm512_add_epi64(slots, _mm512_set1_epi64(1)); \
            _mm512_mask_cvtepi64_storeu_epi32(found + j, some, _mm512_maskz_mov_epi64(hit, slots)); \
            others |= (uint64_t)other << (j & 63); \
            if ((j & 63) < 56 && j + 8 < n) continue; \
            for (; others; others &= others - 1) \
                unknown[count++] = (uint16_t)((j & ~63) + fs_ctz(others)); \
        } \
        return count; \
    }
FS_FIND(32, _mm512_cvtepu32_epi64(_mm512_i64gather_epi32(slots, held, 4)),
        _mm512_and_si512(word, _mm512_set1_epi64(0xffffffff)))
FS_FIND(64, _mm512_i64gather_epi64(slots, held, 8), word)
#else
#define FS_FIND(width) \
    static ptrdiff_t AT(find_u##width)(const uint64_t *words, ptrdiff_t n, uint64_t seed, \
                                       const void *held, const uint64_t *first_slots, \
                                       uint32_t *found, uint16_t *unknown) \
    { \
        ptrdiff_t count = 0; \
        for (ptrdiff_t j = 0; j < n; j++) { \
            uint##width##_t word = (uint##width##_t)(words[j] ^ seed); \
            uint##width##_t there = ((const uint##width##_t *)held)[first_slots[j]]; \
            found[j] = (uint32_t)(first_slots[j] + 1) & (0 - (uint32_t)(there == word)); \
            unknown[count] = (uint16_t)j; \
            count += ((there != word) & (there != 0)) | (word == 0); \
        } \
        return count; \
    }
FS_FIND(32)
FS_FIND(64)
#endif
#undef FS_FIND

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

/* Which items are not those that lie at their slots of recent keys, as bits; returns how many. */
#if FS_LEVEL_NUMBER == 4
static ptrdiff_t AT(other_u32)(const char *items, ptrdiff_t blocks, const void *recent,
                                 uint32_t factor, uint64_t *bits)
{
    ptrdiff_t count = 0;
    __m512i factors = _mm512_set1_epi32((int)factor);
    for (ptrdiff_t block = 0; block < blocks; block++, items += 256) {
        uint64_t word = 0;
        for (int k = 0; k < 4; k++) {
            __m512i v = _mm512_loadu_si512(items + 64 * k);
            __m512i slots = _mm512_srli_epi32(_mm512_mullo_epi32(v, factors), 32 - FS_RECENT_BITS);
            __mmask16 differs = _mm512_cmpneq_epi32_mask(
                v, _mm512_i32gather_epi32(slots, recent, 4));
            word |= (uint64_t)differs << (16 * k);
        }
        bits[block] = word;
        count += fs_popcount(word);
    }
    return count;
}

static ptrdiff_t AT(other_u64)(const char *items, ptrdiff_t blocks, const void *recent,
                                 uint32_t factor, uint64_t *bits)
{
    ptrdiff_t count = 0;
    __m512i factors = _mm512_set1_epi64((long long)factor);
    for (ptrdiff_t block = 0; block < blocks; block++, items += 512) {
        uint64_t word = 0;
        for (int k = 0; k < 8; k++) {
            __m512i v = _mm512_loadu_si512(items + 64 * k);
            __m512i slots = _mm512_xor_si512(v, _mm512_srli_epi64(v, 32));
            slots = _mm512_slli_epi64(_mm512_mul_epu32(slots, factors), 32);
            slots = _mm512_srli_epi64(slots, 64 - FS_RECENT_BITS);
            __mmask8 differs = _mm512_cmpneq_epi64_mask(
                v, _mm512_i64gather_epi64(slots, recent, 8));
            word |= (uint64_t)differs << (8 * k);
        }
        bits[block] = word;
        count += fs_popcount(word);
    }
    return count;
}
#else
#define FS_STRANGE(width) \
    static ptrdiff_t AT(other_u##width)(const char *items, ptrdiff_t blocks, const void *recent, \
                                          uint32_t factor, uint64_t *bits) \
    { \
        const uint##width##_t *v = (const uint##width##_t *)items; \
        const uint##width##_t *seen = (const uint##width##_t *)recent; \
        ptrdiff_t count = 0; \
        for (ptrdiff_t block = 0; block < blocks; block++, v += 64) { \
            uint64_t word = 0; \
            for (int j = 0; j < 64; j++) \
                word |= (uint64_t)(v[j] != seen[fs_recent_slot(v[j], factor)]) << j; \
            bits[block] = word; \
            count += fs_popcount(word); \
        } \
        return count; \
    }
FS_STRANGE(32)
FS_STRANGE(64)
#undef FS_STRANGE
#endif

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

/* Sets a bit for each word that differs from the word before it. Words become numbers of the same
   order: the bits of sign are flipped, in words that have it set those of negative, too, and less
   is subtracted. Stops at a block with a word that is not canonical (see keys.pxd), unless all are
   equal to the word before, and returns how many blocks come before it. last is the number before
   the first word, then the last one; seen is 1 if a number was greater than the one before it, plus
   2 if one was less. */
#define FS_TURNS(width) \
    static ptrdiff_t AT(turns_u##width)(const char *items, ptrdiff_t blocks, uint64_t mask, \
                                        uint64_t limit, const uint64_t *order, uint64_t *last, \
                                        uint64_t *bits, int *seen) \
    { \
        const uint##width##_t *v = (const uint##width##_t *)items; \
        uint##width##_t sign = (uint##width##_t)order[0], negative = (uint##width##_t)order[1]; \
        uint##width##_t less = (uint##width##_t)order[2]; \
        uint##width##_t significant = (uint##width##_t)mask; \
        uint##width##_t gap = significant - (uint##width##_t)limit, above = significant + 1; \
        uint##width##_t n[65], changes[64]; \
        n[64] = (uint##width##_t)*last; \
        for (ptrdiff_t block = 0; block < blocks; block++, v += 64) { \
            uint##width##_t beyond = 0, rises = 0, falls = 0, other = 0; \
            n[0] = n[64]; \
            /* In a long run all are the word before, as its number says. */ \
            uint##width##_t word = (n[64] + less) ^ sign; \
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
                            (negative & (uint##width##_t)(0 - (v[j] >> (width - 1))))) - less; \
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
            bits[block] = AT(word_u##width)((const char *)changes, (uint##width##_t)-1); \
            *seen |= (int)(rises | falls << 1); \
        } \
        *last = n[64]; \
        return blocks; \
    }
FS_TURNS(32)
FS_TURNS(64)
#undef FS_TURNS

/* The ordered keys of n words: first canonical (rule is significant, limit and nan), then integers of
   the same order, as above. Each word is loaded once. */
#define FS_ORDERED(width) \
    static void AT(ordered_u##width)(const char *items, ptrdiff_t n, const uint64_t *rule, \
                                     const uint64_t *order, uint64_t *out) \
    { \
        const uint##width##_t *v = (const uint##width##_t *)items; \
        uint##width##_t significant = (uint##width##_t)rule[0], limit = (uint##width##_t)rule[1]; \
        uint##width##_t nan = (uint##width##_t)rule[2], sign = (uint##width##_t)order[0]; \
        uint##width##_t negative = (uint##width##_t)order[1], less = (uint##width##_t)order[2]; \
        if ((uint##width##_t)~(significant & limit) == 0 && negative == 0) { /* integers */ \
            for (ptrdiff_t j = 0; j < n; j++) out[j] = (uint##width##_t)((v[j] ^ sign) - less); \
            return; \
        } \
        for (ptrdiff_t j = 0; j < n; j++) { \
            uint##width##_t word = v[j], magnitude = word & significant; \
            word = magnitude ? word : 0; \
            word = magnitude > limit ? nan : word; \
            word ^= sign ^ (negative & (uint##width##_t)(0 - (word >> (width - 1)))); \
            out[j] = (uint##width##_t)(word - less); \
        } \
    }
FS_ORDERED(8)
FS_ORDERED(16)
FS_ORDERED(32)
FS_ORDERED(64)
#undef FS_ORDERED

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
