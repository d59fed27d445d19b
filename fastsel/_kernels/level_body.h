/* Loops over blocks of 64 items, compiled once per CPU level (see levels.h).
   FS_LEVEL_NUMBER is 1 (plain C), 3 (AVX2) or 4 (AVX-512 with VBMI2). */

#if FS_LEVEL_NUMBER >= 3
#define FS_POPCOUNT(w) __builtin_popcountll(w)
#else
#define FS_POPCOUNT(w) fs_popcount(w)
#endif

/* ---- pass 1: 64 items -> one word ------------------------------------------------------ */

#if FS_LEVEL_NUMBER == 4

static inline uint64_t AT(word_u8)(const char *p, uint8_t care)
{
    return _mm512_test_epi8_mask(_mm512_loadu_si512(p), _mm512_set1_epi8((char)care));
}

static inline uint64_t AT(word_u16)(const char *p, uint16_t care)
{
    __m512i c = _mm512_set1_epi16((short)care);
    uint64_t low = _mm512_test_epi16_mask(_mm512_loadu_si512(p), c);
    return low | (uint64_t)_mm512_test_epi16_mask(_mm512_loadu_si512(p + 64), c) << 32;
}

static inline uint64_t AT(word_u32)(const char *p, uint32_t care)
{
    __m512i c = _mm512_set1_epi32((int)care);
    uint64_t w = 0;
    for (int k = 0; k < 4; k++)
        w |= (uint64_t)_mm512_test_epi32_mask(_mm512_loadu_si512(p + 64 * k), c) << (16 * k);
    return w;
}

static inline uint64_t AT(word_u64)(const char *p, uint64_t care)
{
    __m512i c = _mm512_set1_epi64((long long)care);
    uint64_t w = 0;
    for (int k = 0; k < 8; k++)
        w |= (uint64_t)_mm512_test_epi64_mask(_mm512_loadu_si512(p + 64 * k), c) << (8 * k);
    return w;
}

#elif FS_LEVEL_NUMBER == 3

/* All ones in each lane of width bits where the item has no bit in common with care. */
#define FS_ZERO_LANES(bits_, p, c) \
    _mm256_cmpeq_epi##bits_(_mm256_and_si256(_mm256_loadu_si256((const __m256i *)(p)), c), \
                            _mm256_setzero_si256())

static inline uint64_t AT(word_u8)(const char *p, uint8_t care)
{
    __m256i c = _mm256_set1_epi8((char)care);
    uint32_t low = (uint32_t)_mm256_movemask_epi8(FS_ZERO_LANES(8, p, c));
    uint32_t high = (uint32_t)_mm256_movemask_epi8(FS_ZERO_LANES(8, p + 32, c));
    return ~(low | (uint64_t)high << 32);
}

static inline uint64_t AT(word_u16)(const char *p, uint16_t care)
{
    __m256i c = _mm256_set1_epi16((short)care);
    uint64_t w = 0;
    for (int k = 0; k < 2; k++) {
        __m256i z = _mm256_packs_epi16(FS_ZERO_LANES(16, p + 64 * k, c),
                                       FS_ZERO_LANES(16, p + 64 * k + 32, c));
        z = _mm256_permute4x64_epi64(z, 0xd8); /* packs works within 128-bit halves */
        w |= (uint64_t)(uint32_t)_mm256_movemask_epi8(z) << (32 * k);
    }
    return ~w;
}

static inline uint64_t AT(word_u32)(const char *p, uint32_t care)
{
    __m256i c = _mm256_set1_epi32((int)care);
    uint64_t w = 0;
    for (int k = 0; k < 8; k++)
        w |= (uint64_t)_mm256_movemask_ps(_mm256_castsi256_ps(FS_ZERO_LANES(32, p + 32 * k, c)))
             << (8 * k);
    return ~w;
}

static inline uint64_t AT(word_u64)(const char *p, uint64_t care)
{
    __m256i c = _mm256_set1_epi64x((long long)care);
    uint64_t w = 0;
    for (int k = 0; k < 16; k++)
        w |= (uint64_t)_mm256_movemask_pd(_mm256_castsi256_pd(FS_ZERO_LANES(64, p + 32 * k, c)))
             << (4 * k);
    return ~w;
}

#else

/* 64 bytes that are 0 or 1 -> one word: each byte's bit moves to the top byte of a product. */
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

#define FS_WORD(width) \
    static inline uint64_t AT(word_u##width)(const char *p, uint##width##_t care) \
    { \
        uint8_t flags[64]; \
        for (int k = 0; k < 64; k++) { \
            uint##width##_t v; \
            memcpy(&v, p + k * sizeof v, sizeof v); \
            flags[k] = (v & care) != 0; \
        } \
        return AT(pack_flags)(flags); \
    }
FS_WORD(8)
FS_WORD(16)
FS_WORD(32)
FS_WORD(64)
#undef FS_WORD

#endif

#define FS_PACK(width) \
    static ptrdiff_t AT(pack_u##width)(const char *items, uint64_t care, uint64_t *bits, \
                                       ptrdiff_t blocks) \
    { \
        ptrdiff_t count = 0; \
        for (ptrdiff_t b = 0; b < blocks; b++) { \
            uint64_t w = AT(word_u##width)(items + b * 64 * (width / 8), (uint##width##_t)care); \
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

static ptrdiff_t AT(count)(const uint64_t *bits, ptrdiff_t blocks)
{
    ptrdiff_t count = 0;
    for (ptrdiff_t b = 0; b < blocks; b++) count += FS_POPCOUNT(bits[b]);
    return count;
}

/* In each square of 2 d words and as many bits: the right upper quarter and the left lower one
   change places. d is a constant where this is called, so that the compiler sees vectors. */
static FS_INLINE void AT(swap_quarters)(uint64_t *words, int d, uint64_t left)
{
    for (int k = 0; k < 64; k += 2 * d) {
        for (int i = k; i < k + d; i++) {
            uint64_t swapped = (words[i] >> d ^ words[i + d]) & left;
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

/* ---- pass 2: one word -> positions ------------------------------------------------------ */

#if FS_LEVEL_NUMBER == 4
/* The positions of the set bits, a byte each. */
static inline __m512i AT(positions)(uint64_t word)
{
    __m512i iota = _mm512_set_epi8(63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47,
                                   46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30,
                                   29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13,
                                   12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return _mm512_maskz_compress_epi8(word, iota);
}
#endif

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

/* The fast writers store whole vectors, up to 64 slots from where they stand; what lies beyond
   the set bits is overwritten by the next block of the same cut. So they run only while 64 slots
   are left in this cut, and the plain loop, which writes exactly the set bits, ends it. */
#define FS_WHOLE 64

static void AT(write)(const uint64_t *bits, ptrdiff_t blocks, intptr_t first, int sparse,
                      intptr_t *out, ptrdiff_t room)
{
    const intptr_t *end = out + room;
    ptrdiff_t b = 0;
#if FS_LEVEL_NUMBER == 4 && INTPTR_MAX == INT64_MAX
    /* Whether a word is 0, or has one set bit or two, is not foreseen where it is as likely as not,
       so no branch asks: pass 2 of 1e7 bools at a density of .01 took .39 ms, and takes .12. Where
       most words are 0 a branch is foreseen and saves the store. */
    uint64_t never_skip = !sparse;
    for (; b < blocks && end - out >= FS_WHOLE; b++, first += 64) {
        uint64_t w = bits[b];
        if ((w | never_skip) == 0) continue;
        int n = FS_POPCOUNT(w);
        __m512i base = _mm512_set1_epi64(first);
        __m512i at = AT(positions)(w);
        __m512i v = _mm512_cvtepu8_epi64(_mm512_castsi512_si128(at));
        _mm512_storeu_si512(out, _mm512_add_epi64(v, base));
        if (n > 8) {
            uint8_t more[64];
            _mm512_storeu_si512(more, at);
            for (int k = 8; k < n; k += 8) {
                v = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)(more + k)));
                _mm512_storeu_si512(out + k, _mm512_add_epi64(v, base));
            }
        }
        out += n;
    }
#endif
    (void)sparse;
    for (; b < blocks; b++, first += 64) {
        uint64_t w = bits[b];
        if (w == 0) continue;
#if FS_LEVEL_NUMBER != 4 || INTPTR_MAX != INT64_MAX
        int n = FS_POPCOUNT(w);
        if (n > 8 && end - out >= FS_WHOLE) {
#if FS_LEVEL_NUMBER == 3 && INTPTR_MAX == INT64_MAX
            for (int k = 0; k < 64; k += 8) {
                uint8_t m = (uint8_t)(w >> k);
                __m256i base = _mm256_set1_epi64x(first + k);
                __m128i at = _mm_loadl_epi64((const __m128i *)fs_positions[m]);
                __m256i low = _mm256_cvtepu8_epi64(at);
                __m256i high = _mm256_cvtepu8_epi64(_mm_srli_si128(at, 4));
                _mm256_storeu_si256((__m256i *)out, _mm256_add_epi64(low, base));
                _mm256_storeu_si256((__m256i *)(out + 4), _mm256_add_epi64(high, base));
                out += FS_POPCOUNT(m);
            }
            continue;
#else
            if (n > 24) { /* store always, advance by the bit: no branch depends on the data */
                for (int k = 0; k < 64; k++) {
                    *out = first + k;
                    out += w >> k & 1;
                }
                continue;
            }
#endif
        }
#endif
        for (; w; w &= w - 1) *out++ = first + fs_ctz(w);
    }
}

/* ---- pass 2: one word -> kept items ----------------------------------------------------- */

#if FS_LEVEL_NUMBER == 4

/* Moves the items of one block that w selects to out; writes up to 64 slots. */
static inline void AT(keep_u8_block)(uint64_t w, const char *p, char *out)
{
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(w, _mm512_loadu_si512(p)));
}

static inline void AT(keep_u16_block)(uint64_t w, const char *p, char *out)
{
    for (int k = 0; k < 2; k++) {
        __mmask32 m = (__mmask32)(w >> (32 * k));
        _mm512_storeu_si512(out, _mm512_maskz_compress_epi16(m, _mm512_loadu_si512(p + 64 * k)));
        out += 2 * FS_POPCOUNT(m);
    }
}

static inline void AT(keep_u32_block)(uint64_t w, const char *p, char *out)
{
    for (int k = 0; k < 4; k++) {
        __mmask16 m = (__mmask16)(w >> (16 * k));
        _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(m, _mm512_loadu_si512(p + 64 * k)));
        out += 4 * FS_POPCOUNT(m);
    }
}

static inline void AT(keep_u64_block)(uint64_t w, const char *p, char *out)
{
    for (int k = 0; k < 8; k++) {
        __mmask8 m = (__mmask8)(w >> (8 * k));
        _mm512_storeu_si512(out, _mm512_maskz_compress_epi64(m, _mm512_loadu_si512(p + 64 * k)));
        out += 8 * FS_POPCOUNT(m);
    }
}

#elif FS_LEVEL_NUMBER == 3

static inline void AT(keep_u8_block)(uint64_t w, const char *p, char *out)
{
    for (int k = 0; k < 64; k += 8) {
        uint8_t m = (uint8_t)(w >> k);
        __m128i at = _mm_loadl_epi64((const __m128i *)fs_positions[m]);
        __m128i v = _mm_loadl_epi64((const __m128i *)(p + k));
        _mm_storel_epi64((__m128i *)out, _mm_shuffle_epi8(v, at));
        out += FS_POPCOUNT(m);
    }
}

static inline void AT(keep_u16_block)(uint64_t w, const char *p, char *out)
{
    __m128i odd = _mm_set1_epi16(0x0100);
    for (int k = 0; k < 64; k += 8) {
        uint8_t m = (uint8_t)(w >> k);
        __m128i at = _mm_loadl_epi64((const __m128i *)fs_positions[m]);
        at = _mm_unpacklo_epi8(at, at); /* item k is the bytes 2 k and 2 k + 1 */
        at = _mm_add_epi8(_mm_add_epi8(at, at), odd);
        __m128i v = _mm_loadu_si128((const __m128i *)(p + 2 * k));
        _mm_storeu_si128((__m128i *)out, _mm_shuffle_epi8(v, at));
        out += 2 * FS_POPCOUNT(m);
    }
}

static inline void AT(keep_u32_block)(uint64_t w, const char *p, char *out)
{
    for (int k = 0; k < 64; k += 8) {
        uint8_t m = (uint8_t)(w >> k);
        __m256i at = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)fs_positions[m]));
        __m256i v = _mm256_loadu_si256((const __m256i *)(p + 4 * k));
        _mm256_storeu_si256((__m256i *)out, _mm256_permutevar8x32_epi32(v, at));
        out += 4 * FS_POPCOUNT(m);
    }
}

static inline void AT(keep_u64_block)(uint64_t w, const char *p, char *out)
{
    __m256i odd = _mm256_set1_epi64x(INT64_C(1) << 32);
    for (int k = 0; k < 64; k += 4) {
        unsigned m = (unsigned)(w >> k) & 15;
        __m128i pos;
        uint32_t four;
        memcpy(&four, fs_positions[m], 4);
        pos = _mm_cvtsi32_si128((int)four);
        __m256i at = _mm256_cvtepu8_epi64(pos); /* item k is the 32-bit lanes 2 k and 2 k + 1 */
        at = _mm256_add_epi64(at, at);
        at = _mm256_add_epi64(_mm256_or_si256(at, _mm256_slli_epi64(at, 32)), odd);
        __m256i v = _mm256_loadu_si256((const __m256i *)(p + 8 * k));
        _mm256_storeu_si256((__m256i *)out, _mm256_permutevar8x32_epi32(v, at));
        out += 8 * FS_POPCOUNT(m);
    }
}

#else

/* Store always, advance by the bit: no branch depends on the data. */
#define FS_KEEP_BLOCK(width) \
    static inline void AT(keep_u##width##_block)(uint64_t w, const char *p, char *out) \
    { \
        for (int k = 0; k < 64; k++) { \
            memcpy(out, p + k * (width / 8), width / 8); \
            out += (w >> k & 1) * (width / 8); \
        } \
    }
FS_KEEP_BLOCK(8)
FS_KEEP_BLOCK(16)
FS_KEEP_BLOCK(32)
FS_KEEP_BLOCK(64)
#undef FS_KEEP_BLOCK

#endif

/* Blocks with fewer kept items than this are written bit by bit. */
#if FS_LEVEL_NUMBER == 4
#define FS_DENSE 4
#elif FS_LEVEL_NUMBER == 3
#define FS_DENSE 10
#else
#define FS_DENSE 24
#endif

/* Of narrow items a block is kept without asking how many, as in write: compress of 1e7 uint8 at a
   density of .01 took .56 ms, and takes .27. Where most blocks have none they need not be read. */
#define FS_DENSE_IS_ALL(width) (FS_LEVEL_NUMBER == 4 && width <= 16)

#define FS_KEEP(width) \
    static void AT(keep_u##width)(const uint64_t *bits, ptrdiff_t blocks, const char *items, \
                                  char *out, ptrdiff_t room) \
    { \
        const ptrdiff_t size = width / 8; \
        const char *end = out + room * size; \
        ptrdiff_t b = 0; \
        if (FS_DENSE_IS_ALL(width) && room >= blocks >> 1) { \
            for (; b < blocks && end - out >= FS_WHOLE * size; b++, items += 64 * size) { \
                AT(keep_u##width##_block)(bits[b], items, out); \
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
            } else if (n >= FS_DENSE && end - out >= FS_WHOLE * size) { \
                AT(keep_u##width##_block)(w, items, out); \
                out += n * size; \
            } else { \
                for (; w; w &= w - 1, out += size) memcpy(out, items + fs_ctz(w) * size, size); \
            } \
        } \
    }
FS_KEEP(8)
FS_KEEP(16)
FS_KEEP(32)
FS_KEEP(64)
#undef FS_KEEP

#include "offsets_body.h"
#include "slots_body.h"

#define FS_TEXT_(x) #x
#define FS_TEXT(x) FS_TEXT_(x)

static const fs_level_t AT(fs_level) = {
    FS_TEXT(FS_LEVEL),
    {AT(pack_u8), AT(pack_u16), AT(pack_u32), AT(pack_u64)},
    AT(write),
    {AT(keep_u8), AT(keep_u16), AT(keep_u32), AT(keep_u64)},
    AT(decode),
    AT(transpose),
    AT(count),
    AT(add_offsets),
    AT(row_offsets),
    AT(slots),
    {AT(known_u16), AT(known_u32), AT(known_u64)},
    {AT(strange_u32), AT(strange_u64)},
    AT(met),
    {AT(turns_u32), AT(turns_u64)},
    {AT(within_u32), AT(within_u64)},
    {AT(placed_u32), AT(placed_u64)},
};

#undef FS_TEXT
#undef FS_TEXT_
#undef FS_DENSE
#undef FS_DENSE_IS_ALL
#undef FS_WHOLE
#undef FS_POPCOUNT
#ifdef FS_ZERO_LANES
#undef FS_ZERO_LANES
#endif
