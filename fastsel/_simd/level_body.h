/* The functions of fs_level_t, compiled once per CPU level (see levels.h).
   FS_LEVEL_NUMBER is 1 (plain C, or SSE2), 2 (NEON), 3 (AVX2) or 4 (AVX-512 with VBMI2). This file
   undefines it, and FS_LEVEL. */

#if FS_LEVEL_NUMBER >= 2
#define FS_POPCOUNT(w) __builtin_popcountll(w)
#else
#define FS_POPCOUNT(w) fs_popcount(w)
#endif

/* Where write and compress branch on the number of set bits, they write blocks with fewer than
   FS_DENSE set bits bit by bit. */
#if FS_LEVEL_NUMBER == 4
#define FS_DENSE 4
#elif FS_LEVEL_NUMBER == 3
#define FS_DENSE 10
#elif FS_LEVEL_NUMBER == 2
#define FS_DENSE 16
#else
#define FS_DENSE 24
#endif

/* The vectors of levels 3 and 4, and of SSE2: the names of their type and functions; FS_EACH_*, a
   vector whose lanes are all x; FS_VECTOR, vector k of the memory at p, of any alignment. */
#if FS_LEVEL_NUMBER == 4
#define FS_WORDS __m512i
#define FS_OP(name) _mm512_##name
#define FS_BITS(name) _mm512_##name##_si512
#define FS_EACH_64(x) _mm512_set1_epi64((long long)(x))
#else
#if FS_LEVEL_NUMBER == 3
#define FS_WORDS __m256i
#define FS_OP(name) _mm256_##name
#define FS_BITS(name) _mm256_##name##_si256
#else
#define FS_WORDS __m128i
#define FS_OP(name) _mm_##name
#define FS_BITS(name) _mm_##name##_si128
#endif
#define FS_EACH_64(x) FS_OP(set1_epi64x)((long long)(x))
#endif
#define FS_EACH_8(x) FS_OP(set1_epi8)((char)(x))
#define FS_EACH_16(x) FS_OP(set1_epi16)((short)(x))
#define FS_EACH_32(x) FS_OP(set1_epi32)((int)(x))
#define FS_VECTOR(p, k) FS_BITS(loadu)((const FS_WORDS *)(p) + (k))

#define FS_FOR_WIDTHS(define) define(8) define(16) define(32) define(64)

#include "bits_body.h"
#include "counts_body.h"
#include "positions_body.h"
#include "compress_body.h"
#include "offsets_body.h"
#include "hash_body.h"
#include "membership_body.h"
#include "order_body.h"

#define FS_TEXT_(x) #x
#define FS_TEXT(x) FS_TEXT_(x)

static const fs_level_t AT(fs_level) = {
    FS_TEXT(FS_LEVEL),
    {AT(pack_u8), AT(pack_u16), AT(pack_u32), AT(pack_u64)},
    AT(skip_zeros),
    AT(write),
    AT(split_index),
    {AT(compress_u8), AT(compress_u16), AT(compress_u32), AT(compress_u64)},
    AT(decode),
    AT(transpose),
    AT(count),
    {AT(add_columns_u8), AT(add_columns_u16), AT(add_columns_u32), AT(add_columns_u64)},
    AT(add_rows),
    AT(add_offsets),
    AT(row_offsets),
    AT(hash_to_slots),
    {AT(probe_first_slots_u32), AT(probe_first_slots_u64)},
    {AT(among_few_u8), AT(among_few_u16), AT(among_few_u32), AT(among_few_u64)},
    {AT(mark_not_recent_u32), AT(mark_not_recent_u64)},
    AT(skip_seen),
    {AT(mark_changes_u32), AT(mark_changes_u64)},
    {AT(mark_runs_u32), AT(mark_runs_u64)},
    {AT(ordered_keys_u8), AT(ordered_keys_u16), AT(ordered_keys_u32), AT(ordered_keys_u64)},
    AT(narrow_ordered_keys),
    AT(decimal_keys),
    AT(cells_of),
};

#undef FS_TEXT
#undef FS_TEXT_
#undef FS_WORDS
#undef FS_OP
#undef FS_BITS
#undef FS_EACH_8
#undef FS_EACH_16
#undef FS_EACH_32
#undef FS_EACH_64
#undef FS_VECTOR
#undef FS_FOR_WIDTHS
#undef FS_DENSE
#undef FS_POPCOUNT
#undef FS_LEVEL
#undef FS_LEVEL_NUMBER
