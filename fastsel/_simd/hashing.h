/* The hash of keys. The hash of a word is fs_fold(word ^ seed, factor). fs_fold combines the two
   halves of a product of 128 bits by xor. */
#ifndef FASTSEL_HASHING_H
#define FASTSEL_HASHING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(_MSC_VER)
#include <intrin.h>
#endif

static inline uint64_t fs_fold(uint64_t a, uint64_t b)
{
#if defined(__SIZEOF_INT128__)
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#elif defined(_M_X64)
    uint64_t high, low = _umul128(a, b, &high);
    return low ^ high;
#else /* MSVC for ARM64 */
    return (a * b) ^ __umulh(a, b);
#endif
}

/* The slot of a key in the filter of recent keys (recent.pxd), which has 2^FS_RECENT_BITS slots. */
enum { FS_RECENT_BITS = 13 };
static inline uint32_t fs_recent_slot(uint64_t word, uint32_t factor)
{
    return ((uint32_t)(word ^ word >> 32) * factor) >> (32 - FS_RECENT_BITS);
}

/* The last 8 of size bytes, as one word. If size is less than 8, the word has all bytes, and may
   have a byte more than once. */
static inline uint64_t fs_last_bytes(const char *p, ptrdiff_t size)
{
    uint64_t word = 0;
    uint32_t first, last;
    if (size >= 8) {
        memcpy(&word, p + size - 8, 8);
    } else if (size >= 4) {
        memcpy(&first, p, 4);
        memcpy(&last, p + size - 4, 4);
        word = (uint64_t)first << 32 | last;
    } else if (size > 0) {
        word = (uint8_t)p[0] | (uint64_t)(uint8_t)p[size >> 1] << 8 | (uint64_t)(uint8_t)p[size - 1] << 16;
    }
    return word;
}

/* Hash of size bytes. More than 64 bytes are hashed in four lanes: the multiplications of one lane
   do not wait for those of another. */
static inline uint64_t fs_hash_bytes(const char *p, ptrdiff_t size, uint64_t seed, uint64_t factor)
{
    uint64_t word, words[4], last = fs_last_bytes(p, size);
    uint64_t h = seed ^ (uint64_t)size * factor; /* bytes of a key could cancel the size alone */
    if (size > 64) {
        uint64_t lanes[4] = {h, h, h, h};
        for (; size > 32; p += 32, size -= 32) {
            memcpy(words, p, 32);
            for (int k = 0; k < 4; k++) lanes[k] = fs_fold(lanes[k] ^ words[k], factor);
        }
        h = lanes[0];
        for (int k = 1; k < 4; k++) h = fs_fold(h, factor) ^ lanes[k];
    }
    for (; size > 8; p += 8, size -= 8) {
        memcpy(&word, p, 8);
        h = fs_fold(h ^ word, factor);
    }
    return fs_fold(h ^ last, factor);
}

#endif
