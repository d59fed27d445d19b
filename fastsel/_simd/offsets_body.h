/* Turns index rows into byte offsets, for gathers. Compiled once per CPU level (see levels.h). */

/* The contract is in level.h. */
static size_t AT(add_offsets)(const intptr_t *values, ptrdiff_t n, size_t length, intptr_t wrap,
                              size_t stride, intptr_t *offsets)
{
    size_t bad = 0;
    for (ptrdiff_t j = 0; j < n; j++) {
        size_t v = (size_t)values[j] + (size_t)(values[j] < 0 ? wrap : 0);
        bad |= v >= length;
        offsets[j] += (intptr_t)(v * stride);
    }
    return bad;
}

/* offsets_of is row_offsets of level.h for a constant width and number of axes. Each index is
   loaded once, so that the value that is checked is the value that is used, whatever another thread
   writes meanwhile: FS_OPAQUE hides from the compiler that a vector came from memory; volatile does
   so for scalars. If an index were loaded twice, it could pass the check and then address memory
   outside of the data. */

static FS_INLINE size_t AT(scalar_offsets)(const char *rows, ptrdiff_t width, ptrdiff_t axes,
                                           ptrdiff_t n, const intptr_t *lengths,
                                           const intptr_t *strides, intptr_t *offsets)
{
    size_t bad = 0;
    for (ptrdiff_t j = 0; j < n; j++) {
        offsets[j] = 0;
        for (ptrdiff_t axis = 0; axis < axes; axis++, rows += width) {
            int64_t v = width == 8 ? *(const volatile int64_t *)rows : *(const volatile int32_t *)rows;
            v += v < 0 ? lengths[axis] : 0;
            bad |= (uint64_t)v >= (uint64_t)lengths[axis];
            offsets[j] += (intptr_t)((size_t)v * (size_t)strides[axis]);
        }
    }
    return bad;
}

#if FS_LEVEL_NUMBER == 4

/* The offsets of eight rows. live has a bit for each row to read; pairs has two bits for each such
   row. bad gets the bit of each row that has an index out of bounds. */
static FS_INLINE __m512i AT(eight_offsets)(const char *rows, ptrdiff_t width, ptrdiff_t axes,
                                           __mmask8 live, __mmask16 pairs, const __m512i *lengths,
                                           const __m512i *strides, __mmask8 *bad)
{
    const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odd = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
    __m512i v[2], sum = _mm512_setzero_si512();
    if (axes == 1 && width == 8) {
        v[0] = _mm512_maskz_loadu_epi64(live, rows);
        FS_OPAQUE(v[0]);
    } else if (axes == 1) {
        __m256i narrow = _mm256_maskz_loadu_epi32(live, rows);
        FS_OPAQUE(narrow);
        v[0] = _mm512_cvtepi32_epi64(narrow);
    } else if (width == 8) {
        __m512i low = _mm512_maskz_loadu_epi64((__mmask8)pairs, rows);
        __m512i high = _mm512_maskz_loadu_epi64((__mmask8)(pairs >> 8), rows + 64);
        FS_OPAQUE(low);
        FS_OPAQUE(high);
        v[0] = _mm512_permutex2var_epi64(low, even, high);
        v[1] = _mm512_permutex2var_epi64(low, odd, high);
    } else {
        __m512i both = _mm512_maskz_loadu_epi32(pairs, rows);
        FS_OPAQUE(both);
        v[0] = _mm512_srai_epi64(_mm512_slli_epi64(both, 32), 32);
        v[1] = _mm512_srai_epi64(both, 32);
    }
    for (ptrdiff_t axis = 0; axis < axes; axis++) {
        __m512i index = _mm512_mask_add_epi64(v[axis], _mm512_movepi64_mask(v[axis]), v[axis],
                                              lengths[axis]);
        *bad |= _mm512_mask_cmpge_epu64_mask(live, index, lengths[axis]);
        sum = _mm512_add_epi64(sum, _mm512_mullo_epi64(index, strides[axis]));
    }
    return sum;
}

static FS_INLINE size_t AT(offsets_of)(const char *rows, ptrdiff_t width, ptrdiff_t axes,
                                       ptrdiff_t n, const intptr_t *lengths,
                                       const intptr_t *strides, intptr_t *offsets)
{
    __m512i length[2], stride[2];
    __mmask8 bad = 0;
    ptrdiff_t j = 0;
    for (ptrdiff_t axis = 0; axis < axes; axis++) {
        length[axis] = _mm512_set1_epi64(lengths[axis]);
        stride[axis] = _mm512_set1_epi64(strides[axis]);
    }
    for (; j + 8 <= n; j += 8, rows += 8 * axes * width)
        _mm512_storeu_si512(offsets + j, AT(eight_offsets)(rows, width, axes, 0xff, 0xffff, length,
                                                           stride, &bad));
    if (j < n) { /* masked stores only here: the CPU delays loads that follow them */
        __mmask8 live = (__mmask8)((1u << (n - j)) - 1);
        __mmask16 pairs = (__mmask16)((1u << (2 * (n - j))) - 1);
        _mm512_mask_storeu_epi64(offsets + j, live,
                                 AT(eight_offsets)(rows, width, axes, live, pairs, length, stride,
                                                   &bad));
    }
    return bad;
}

#elif FS_LEVEL_NUMBER == 3

/* Handles four rows at a time if lengths and strides fit 32 bits. Then indices within bounds fit
   32 bits, too, and one multiplication is exact. If an index is out of bounds, only the check is
   exact. */
static FS_INLINE size_t AT(offsets_of)(const char *rows, ptrdiff_t width, ptrdiff_t axes,
                                       ptrdiff_t n, const intptr_t *lengths,
                                       const intptr_t *strides, intptr_t *offsets)
{
    __m256i good = _mm256_set1_epi64x(-1); /* negative while indices are within bounds */
    int64_t last[8] = {0};                 /* the last rows, if they are fewer than four */
    for (ptrdiff_t axis = 0; axis < axes; axis++)
        if (lengths[axis] > INT32_MAX || strides[axis] > INT32_MAX || strides[axis] < INT32_MIN)
            return AT(scalar_offsets)(rows, width, axes, n, lengths, strides, offsets);
    for (ptrdiff_t j = 0; j < n; j += 4, rows += 4 * axes * width) {
        __m256i v[2], sum = _mm256_setzero_si256();
        if (n - j < 4) {
            memcpy(last, rows, (size_t)((n - j) * axes * width));
            rows = (const char *)last;
        }
        if (axes == 1 && width == 8) {
            v[0] = _mm256_loadu_si256((const __m256i *)rows);
            FS_OPAQUE(v[0]);
        } else if (axes == 1) {
            __m128i narrow = _mm_loadu_si128((const __m128i *)rows);
            FS_OPAQUE(narrow);
            v[0] = _mm256_cvtepi32_epi64(narrow);
        } else if (width == 8) {
            __m256i low = _mm256_loadu_si256((const __m256i *)rows);
            __m256i high = _mm256_loadu_si256((const __m256i *)(rows + 32));
            FS_OPAQUE(low);
            FS_OPAQUE(high);
            v[0] = _mm256_unpacklo_epi64(low, high); /* rows 0, 2, 1, 3 */
            v[1] = _mm256_unpackhi_epi64(low, high);
        } else {
            __m256i both = _mm256_loadu_si256((const __m256i *)rows);
            FS_OPAQUE(both);
            /* Each lane of 64 bits has an index twice: the sign of the index is the sign of the
               lane. */
            v[0] = _mm256_shuffle_epi32(both, 0xa0);
            v[1] = _mm256_shuffle_epi32(both, 0xf5);
        }
        for (ptrdiff_t axis = 0; axis < axes; axis++) {
            __m256i length, index, beyond; /* beyond is negative if index is below the length */
            if (axes == 2 && width == 4) {
                length = _mm256_set1_epi32((int)lengths[axis]);
                index = _mm256_add_epi32(
                    v[axis], _mm256_and_si256(_mm256_srai_epi32(v[axis], 31), length));
                beyond = _mm256_sub_epi32(index, length);
            } else {
                length = _mm256_set1_epi64x(lengths[axis]);
                index = _mm256_cmpgt_epi64(_mm256_setzero_si256(), v[axis]);
                index = _mm256_add_epi64(v[axis], _mm256_and_si256(index, length));
                beyond = _mm256_sub_epi64(index, length);
            }
            good = _mm256_and_si256(good, _mm256_andnot_si256(index, beyond));
            sum = _mm256_add_epi64(sum, _mm256_mul_epi32(index, _mm256_set1_epi64x(strides[axis])));
        }
        if (axes == 2 && width == 8) sum = _mm256_permute4x64_epi64(sum, 0xd8);
        if (n - j < 4) {
            _mm256_storeu_si256((__m256i *)last, sum);
            memcpy(offsets + j, last, (size_t)(n - j) * sizeof(intptr_t));
        } else {
            _mm256_storeu_si256((__m256i *)(offsets + j), sum);
        }
    }
    return (size_t)(_mm256_movemask_pd(_mm256_castsi256_pd(good)) ^ 15);
}

#else

static FS_INLINE size_t AT(offsets_of)(const char *rows, ptrdiff_t width, ptrdiff_t axes,
                                       ptrdiff_t n, const intptr_t *lengths,
                                       const intptr_t *strides, intptr_t *offsets)
{
    return AT(scalar_offsets)(rows, width, axes, n, lengths, strides, offsets);
}

#endif

static size_t AT(row_offsets)(const char *rows, ptrdiff_t width, ptrdiff_t axes, ptrdiff_t n,
                              const intptr_t *lengths, const intptr_t *strides, intptr_t *offsets)
{
    FS_REQUIRE(axes == 1 || axes == 2);
    FS_REQUIRE((width == 4 || width == 8) && FS_IS_ALIGNED(rows, width));
    if (axes == 1 && width == 8) return AT(offsets_of)(rows, 8, 1, n, lengths, strides, offsets);
    if (axes == 1) return AT(offsets_of)(rows, 4, 1, n, lengths, strides, offsets);
    if (width == 8) return AT(offsets_of)(rows, 8, 2, n, lengths, strides, offsets);
    return AT(offsets_of)(rows, 4, 2, n, lengths, strides, offsets);
}
