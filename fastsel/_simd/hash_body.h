/* Computes the first slots of words in a hash table; compares words with their first slots, or with
   recent keys. Compiled once per CPU level (see levels.h). */

#if FS_LEVEL_NUMBER >= 3

#if FS_LEVEL_NUMBER == 4
#define FS_BLEND_ODD(a, b) _mm512_mask_blend_epi32(0xaaaa, a, b)
#else
#define FS_BLEND_ODD(a, b) _mm256_blend_epi32(a, b, 0xaa)
#endif

/* fs_fold of each word, from four products of 32-bit halves: no vector instruction multiplies to
   128 bits. */
static FS_INLINE FS_WORDS AT(folded)(FS_WORDS a, FS_WORDS b)
{
    FS_WORDS a_high = FS_OP(srli_epi64)(a, 32), b_high = FS_OP(srli_epi64)(b, 32);
    FS_WORDS low = FS_OP(mul_epu32)(a, b);
    FS_WORDS mid = FS_OP(add_epi64)(FS_OP(mul_epu32)(a_high, b), FS_OP(srli_epi64)(low, 32));
    FS_WORDS mid2 = FS_OP(add_epi64)(FS_OP(mul_epu32)(a, b_high),
                                     FS_BITS(and)(mid, FS_EACH_64(0xffffffff)));
    FS_WORDS high = FS_OP(add_epi64)(FS_OP(mul_epu32)(a_high, b_high),
                                     FS_OP(add_epi64)(FS_OP(srli_epi64)(mid, 32),
                                                      FS_OP(srli_epi64)(mid2, 32)));
    return FS_BITS(xor)(FS_BLEND_ODD(low, FS_OP(slli_epi64)(mid2, 32)), high);
}
#undef FS_BLEND_ODD

#endif

static void AT(hash_to_slots)(const uint64_t *words, ptrdiff_t n, uint64_t seed, uint64_t factor,
                              int skip, int shift, uint64_t *slots)
{
    ptrdiff_t j = 0;
    FS_REQUIRE(0 <= skip && skip < 64 && 0 <= shift && shift < 64);
#if FS_LEVEL_NUMBER >= 3
    enum { LANES = sizeof(FS_WORDS) / 8 };
    FS_WORDS seeds = FS_EACH_64(seed), factors = FS_EACH_64(factor);
    __m128i left = _mm_cvtsi32_si128(skip), right = _mm_cvtsi32_si128(shift);
    for (; j + LANES <= n; j += LANES) {
        FS_WORDS v = FS_VECTOR(words + j, 0);
        v = FS_OP(sll_epi64)(AT(folded)(FS_BITS(xor)(v, seeds), factors), left);
        FS_BITS(storeu)((FS_WORDS *)(slots + j), FS_OP(srl_epi64)(v, right));
    }
#endif
    for (; j < n; j++) slots[j] = (fs_fold(words[j] ^ seed, factor) << skip) >> shift;
}

/* Compares n words with their first slots. A slot of the table has word ^ seed, or 0 if it is
   empty. found_slots[j] becomes first_slots[j] + 1 if the slot has word j, otherwise 0. unknown
   lists, in their order, the indices of the words that the first slot does not decide: the slot has
   another word, or word ^ seed is 0, which looks like an empty slot. If `empty` is 1, unknown also
   lists the words whose first slot is empty. Returns the number of listed words. unknown has room
   for n indices, rounded up to a multiple of 64.

   At level 4, `gathered` is the words in the slots, and slot_word is `word` narrowed to a slot. */
#if FS_LEVEL_NUMBER == 4
/* Writes `start` plus the position of each set bit of a word, and returns their number. out has room
   for 64 indices, even if fewer bits are set. */
static inline ptrdiff_t AT(list_bits)(uint64_t bits, ptrdiff_t start, uint16_t *out)
{
    static const uint16_t steps[32] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
        16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    __m512i indices = _mm512_add_epi16(_mm512_loadu_si512(steps), _mm512_set1_epi16((short)start));
    ptrdiff_t count = fs_popcount(bits & 0xffffffff);
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi16((__mmask32)bits, indices));
    indices = _mm512_add_epi16(indices, _mm512_set1_epi16(32));
    _mm512_storeu_si512(out + count, _mm512_maskz_compress_epi16((__mmask32)(bits >> 32), indices));
    return fs_popcount(bits);
}

#define FS_PROBE(width, gathered, slot_word) \
    static ptrdiff_t AT(probe_first_slots_u##width)( \
        const uint64_t *words, ptrdiff_t n, uint64_t seed, const void *table, \
        const uint64_t *first_slots, int empty, uint32_t *found_slots, uint16_t *unknown) \
    { \
        ptrdiff_t count = 0; \
        uint64_t listed = 0; \
        __m512i seeds = FS_EACH_64(seed), all_used = FS_EACH_64(empty ? -1 : 0); \
        for (ptrdiff_t j = 0; j < n; j += 8) { \
            __mmask8 some = (__mmask8)(n - j >= 8 ? 0xff : (1 << (n - j)) - 1); \
            __m512i slots = _mm512_maskz_loadu_epi64(some, first_slots + j); \
            __m512i there = gathered; \
            __m512i word = _mm512_xor_si512(_mm512_maskz_loadu_epi64(some, words + j), seeds); \
            word = slot_word; \
            __mmask8 zero = _mm512_mask_testn_epi64_mask(some, word, word); \
            __mmask8 hit = _mm512_mask_cmpeq_epi64_mask((__mmask8)(some & ~zero), there, word); \
            __m512i used = _mm512_or_si512(there, all_used); \
            __mmask8 other = _mm512_mask_test_epi64_mask((__mmask8)(some & ~hit), used, used); \
            slots = _mm512_add_epi64(slots, FS_EACH_64(1)); \
            slots = _mm512_maskz_mov_epi64(hit, slots); \
            _mm512_mask_cvtepi64_storeu_epi32(found_slots + j, some, slots); \
            listed |= (uint64_t)(other | zero) << (j & 63); \
            if ((j & 63) < 56 && j + 8 < n) continue; \
            count += AT(list_bits)(listed, j & ~(ptrdiff_t)63, unknown + count); \
            listed = 0; \
        } \
        return count; \
    }
FS_PROBE(32, _mm512_cvtepu32_epi64(_mm512_i64gather_epi32(slots, table, 4)),
        _mm512_and_si512(word, FS_EACH_64(0xffffffff)))
FS_PROBE(64, _mm512_i64gather_epi64(slots, table, 8), word)
#else
#define FS_PROBE(width) \
    static ptrdiff_t AT(probe_first_slots_u##width)( \
        const uint64_t *words, ptrdiff_t n, uint64_t seed, const void *table, \
        const uint64_t *first_slots, int empty, uint32_t *found_slots, uint16_t *unknown) \
    { \
        ptrdiff_t count = 0; \
        for (ptrdiff_t j = 0; j < n; j++) { \
            uint##width##_t word = (uint##width##_t)(words[j] ^ seed); \
            uint##width##_t there = ((const uint##width##_t *)table)[first_slots[j]]; \
            int hit = (there == word) & (word != 0); \
            found_slots[j] = (uint32_t)(first_slots[j] + 1) & (0 - (uint32_t)hit); \
            unknown[count] = (uint16_t)j; \
            count += (!hit) & ((there != 0) | (word == 0) | empty); \
        } \
        return count; \
    }
FS_PROBE(32)
FS_PROBE(64)
#endif
#undef FS_PROBE

/* The contract is in level.h. */
#if FS_LEVEL_NUMBER == 4
/* v       a vector of items
   folded  the words that fs_recent_slot multiplies
   slots   the slots of the items
   there   the recent keys in these slots
   With 8-byte items, the upper halves of all lanes of factors and of slots are 0. */
#define FS_MARK_NOT_RECENT(width, folded, there, store_slots) \
    static ptrdiff_t AT(mark_not_recent_u##width)( \
        const char *items, ptrdiff_t blocks, const void *recent, uint32_t factor, uint64_t *bits, \
        uint32_t *out) \
    { \
        ptrdiff_t count = 0; \
        FS_REQUIRE(FS_IS_ALIGNED(items, width / 8)); \
        __m512i factors = FS_EACH_##width(factor); \
        for (ptrdiff_t block = 0; block < blocks; block++) { \
            uint64_t word = 0; \
            for (int k = 0; k < 64; k += 512 / width, items += 64, out += 512 / width) { \
                __m512i v = FS_VECTOR(items, 0), slots = _mm512_mullo_epi32(folded, factors); \
                slots = _mm512_srli_epi32(slots, 32 - FS_RECENT_BITS); \
                word |= (uint64_t)_mm512_cmpneq_epi##width##_mask(v, there) << k; \
                store_slots; \
            } \
            bits[block] = word; \
            count += fs_popcount(word); \
        } \
        return count; \
    }
FS_MARK_NOT_RECENT(32, v, _mm512_i32gather_epi32(slots, recent, 4), _mm512_storeu_si512(out, slots))
FS_MARK_NOT_RECENT(64, _mm512_xor_si512(v, _mm512_srli_epi64(v, 32)),
                   _mm512_i64gather_epi64(slots, recent, 8),
                   _mm256_storeu_si256((__m256i *)out, _mm512_cvtepi64_epi32(slots)))
#else
#define FS_MARK_NOT_RECENT(width) \
    static ptrdiff_t AT(mark_not_recent_u##width)( \
        const char *items, ptrdiff_t blocks, const void *recent, uint32_t factor, uint64_t *bits, \
        uint32_t *slots) \
    { \
        const uint##width##_t *v = (const uint##width##_t *)items; \
        const uint##width##_t *seen = (const uint##width##_t *)recent; \
        ptrdiff_t count = 0; \
        FS_REQUIRE(FS_IS_ALIGNED(items, width / 8)); \
        for (ptrdiff_t j = 0; j < 64 * blocks; j++) slots[j] = fs_recent_slot(v[j], factor); \
        for (ptrdiff_t block = 0; block < blocks; block++, v += 64, slots += 64) { \
            uint64_t word = 0; \
            for (int j = 0; j < 64; j++) word |= (uint64_t)(v[j] != seen[slots[j]]) << j; \
            bits[block] = word; \
            count += fs_popcount(word); \
        } \
        return count; \
    }
FS_MARK_NOT_RECENT(32)
FS_MARK_NOT_RECENT(64)
#endif
#undef FS_MARK_NOT_RECENT
