"""Items and rows -> canonical keys, for what cannot be made canonical as it is loaded, if they are
not so as they lie; and items -> numbers of the same order.

A key is made of parts: the halves of a complex number, the items of a row. Each part follows the
one rule of its dtype.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastsel._simd.blocks cimport blocks_of
from fastsel._unique.ordered_numbers cimport number_of
from fastsel._core.scratch cimport Scratch
from fastsel._core.parallel cimport chunk_count, chunk_start, for_chunks
from fastsel._core.strided cimport (
    advance, cursor_t, describe, item, run_length, seek, strided_t)

cnp.import_array()

ctypedef enum part_kind:
    RAW = 0       # bytes as they are
    WORD = 1      # 1, 2, 4 or 8 bytes under a rule
    EXTENDED = 2  # x87 extended precision: 64 bit mantissa, 16 bit sign and exponent, padding
    QUAD = 3      # IEEE quad precision: the rule is that of its upper half

ctypedef struct canonical_task:
    strided_t items               # n * items_per_key of them, in C order
    Py_ssize_t itemsize
    part_kind kind
    Py_ssize_t width              # bytes of a part
    rule_t rule
    Py_ssize_t keys
    Py_ssize_t items_per_key
    Py_ssize_t key_width          # bytes of a key, at least its items; the rest is 0
    bint collapse                 # a key with a nan part is nan in all parts
    Py_ssize_t blocks
    Py_ssize_t chunks
    char *out
    uint64_t *unequal           # bitmask of the keys with a nan part, or NULL

ctypedef struct canonical_check:
    const char *words
    Py_ssize_t size
    Py_ssize_t width
    Py_ssize_t chunks
    rule_t rule
    uint8_t *other              # of each chunk

ctypedef struct numbers_task:
    const char *items
    Py_ssize_t stride
    Py_ssize_t width
    Py_ssize_t size
    Py_ssize_t chunks
    rule_t rule
    uint64_t[3] order
    uint64_t *out


def ordered_numbers(cnp.ndarray items not None, tuple rule not None, tuple order not None,
                    int threads):
    """The items of a 1-d array, of 1 to 8 bytes, as unsigned numbers of 8 bytes that are ordered
    as they are; rule and order as for other kernels."""
    cdef numbers_task task
    cdef cnp.npy_intp size = cnp.PyArray_SIZE(items)
    out = cnp.PyArray_EMPTY(1, &size, cnp.NPY_UINT64, 0)
    task.items, task.out = <const char *>cnp.PyArray_DATA(items), <uint64_t *>cnp.PyArray_DATA(out)
    task.stride, task.width = cnp.PyArray_STRIDE(items, 0), cnp.PyArray_ITEMSIZE(items)
    task.size, task.chunks = size, chunk_count(size, threads, 2 * sizeof(uint64_t))
    task.rule.significant, task.rule.limit, task.rule.nan, task.rule.nan_unequal = rule
    task.order = order
    with nogil:
        for_chunks(numbers_chunk, &task, task.chunks, threads)
    return out


cdef void numbers_chunk(void *context, Py_ssize_t k) noexcept nogil:
    cdef const numbers_task *task = <const numbers_task *>context
    cdef Py_ssize_t i
    cdef uint64_t word
    for i in range(chunk_start(task.size, task.chunks, k),
                   chunk_start(task.size, task.chunks, k + 1)):
        word = load_word(task.items + i * task.stride, task.width)
        task.out[i] = number_of(task.order, canonical(&task.rule, word))


def are_canonical(cnp.ndarray items not None, Py_ssize_t width, tuple rule not None, int threads):
    """Are all parts, of 1 to 8 bytes, of a C-contiguous array canonical already, and is
    none nan if those equal nothing?"""
    cdef canonical_check task
    cdef Scratch scratch = Scratch()
    cdef Py_ssize_t k
    task.words, task.width = <const char *>cnp.PyArray_DATA(items), width
    task.size = cnp.PyArray_NBYTES(items) // width
    task.chunks = chunk_count(task.size, threads, width)
    task.rule.significant, task.rule.limit, task.rule.nan, task.rule.nan_unequal = rule
    task.other = <uint8_t *>scratch.take(task.chunks)
    with nogil:
        for_chunks(check_chunk, &task, task.chunks, threads)
    for k in range(task.chunks):
        if task.other[k]:
            return False
    return True


cdef void check_chunk(void *context, Py_ssize_t k) noexcept nogil:
    cdef const canonical_check *task = <const canonical_check *>context
    cdef Py_ssize_t start = chunk_start(task.size, task.chunks, k)
    cdef Py_ssize_t stop = chunk_start(task.size, task.chunks, k + 1), n
    cdef const char *words
    cdef bint other = False
    while start < stop and not other:
        words = task.words + start * task.width
        n = min(stop - start, BATCH)
        if task.width == 8:
            other = has_other(&task.rule, words, n, <uint64_t>task.rule.nan)
        elif task.width == 4:
            other = has_other(&task.rule, words, n, <uint32_t>task.rule.nan)
        elif task.width == 2:
            other = has_other(&task.rule, words, n, <uint16_t>task.rule.nan)
        else:
            other = has_other(&task.rule, words, n, <uint8_t>task.rule.nan)
        start += n
    task.other[k] = other


cdef inline bint has_other(const rule_t *rule, const char *words, Py_ssize_t n,
                           any_t nan) noexcept nogil:
    """Is one of n words not canonical, or nan that equals nothing?"""
    cdef any_t word, magnitude, significant = <any_t>rule.significant, limit = <any_t>rule.limit
    cdef any_t gap = <any_t>(rule.significant - rule.limit), beyond = 0
    cdef bint has_nan = False
    cdef Py_ssize_t j
    if rule.significant > rule.limit and rule.limit:  # floats: see load_numbers
        for j in range(n):
            memcpy(&word, words + j * sizeof(any_t), sizeof(any_t))
            magnitude = word & significant
            beyond |= (<any_t>(magnitude - 1) & word) | <any_t>(magnitude + gap)
        return (beyond & <any_t>(significant + 1)) != 0
    for j in range(n):
        memcpy(&word, words + j * sizeof(any_t), sizeof(any_t))
        beyond |= <any_t>((word if word <= limit else nan) ^ word)
        has_nan |= word == nan
    return beyond != 0 or (rule.nan_unequal and has_nan)


def canonical_keys(cnp.ndarray items not None, Py_ssize_t keys, int kind, Py_ssize_t width,
                   tuple rule not None, bint collapse, cnp.ndarray out not None,
                   uint64_t[::1] unequal, int threads):
    """Write the canonical form of items, in C order, to out: `keys` keys of equal width. There is
    at least one key, and none is empty.

    kind and width describe a part, rule is (significant, limit, nan, nan_unequal). With
    collapse a key that has a nan part becomes nan throughout; unequal, if given, gets a bit for
    each such key.
    """
    cdef canonical_task task
    describe(&task.items, items, 0, cnp.PyArray_NDIM(items))
    task.itemsize = cnp.PyArray_ITEMSIZE(items)
    task.kind = <part_kind>kind
    task.width = width
    task.rule.significant, task.rule.limit, task.rule.nan, task.rule.nan_unequal = rule
    task.keys = keys
    task.items_per_key = task.items.size // keys
    task.key_width = cnp.PyArray_NBYTES(out) // keys
    task.collapse = collapse
    task.blocks = blocks_of(keys)
    task.chunks = chunk_count(task.blocks, threads, 64 * task.key_width)
    task.out = <char *>cnp.PyArray_DATA(out)
    task.unequal = &unequal[0] if unequal is not None else NULL
    with nogil:
        for_chunks(canonical_chunk, &task, task.chunks, threads)


cdef void canonical_chunk(void *context, Py_ssize_t k) noexcept nogil:
    cdef canonical_task *task = <canonical_task *>context
    cdef Py_ssize_t key = chunk_start(task.blocks, task.chunks, k) * 64
    cdef Py_ssize_t stop = min(chunk_start(task.blocks, task.chunks, k + 1) * 64, task.keys)
    cdef Py_ssize_t used = task.items_per_key * task.itemsize
    cdef char *out
    cdef bint has_nan
    cdef uint64_t word = 0
    cdef cursor_t cursor
    seek(&cursor, &task.items, key * task.items_per_key)
    while key < stop:
        out = task.out + key * task.key_width
        has_nan = write_items(task, &cursor, out)
        memset(out + used, 0, task.key_width - used)
        if has_nan:
            word |= <uint64_t>1 << (key & 63)
            if task.collapse:
                write_nan(task, out, used)
        key += 1
        if task.unequal != NULL and ((key & 63) == 0 or key == stop):
            task.unequal[(key - 1) >> 6] = word
            word = 0


cdef bint write_items(const canonical_task *task, cursor_t *cursor, char *out) noexcept nogil:
    """The items of one key; returns whether a part is nan."""
    cdef Py_ssize_t left = task.items_per_key, length, together, j
    cdef Py_ssize_t stride = task.items.strides[task.items.ndim - 1]
    cdef const char *source
    cdef bint has_nan = False
    while left:
        length = run_length(cursor, &task.items, left)
        source = item(cursor, &task.items)
        together = length if stride == task.itemsize else 1
        for j in range(length // together):
            has_nan |= write_parts(task, source + j * stride, together * task.itemsize, out)
            out += together * task.itemsize
        advance(cursor, &task.items, length)
        left -= length
    return has_nan


cdef inline bint write_parts(const canonical_task *task, const char *source, Py_ssize_t size,
                             char *out) noexcept nogil:
    """The parts of so many bytes that lie side by side; returns whether one of them is nan."""
    cdef Py_ssize_t part
    cdef bint has_nan = False
    if task.kind == RAW:
        memcpy(out, source, size)
    elif task.kind == EXTENDED:
        for part in range(size // task.width):
            has_nan |= write_extended(source + part * task.width, out + part * task.width,
                                      task.width)
    elif task.kind == QUAD:
        for part in range(size // 16):
            has_nan |= write_quad(&task.rule, source + part * 16, out + part * 16)
    elif task.width == 8:
        has_nan = write_words(&task.rule, source, size // 8, out, <uint64_t>task.rule.nan)
    elif task.width == 4:
        has_nan = write_words(&task.rule, source, size // 4, out, <uint32_t>task.rule.nan)
    elif task.width == 2:
        has_nan = write_words(&task.rule, source, size // 2, out, <uint16_t>task.rule.nan)
    else:
        has_nan = write_words(&task.rule, source, size, out, <uint8_t>task.rule.nan)
    return has_nan


cdef inline bint write_words(const rule_t *rule, const char *source, Py_ssize_t n, char *out,
                             any_t nan) noexcept nogil:
    """The canonical form of n words; returns whether one of them is nan."""
    cdef any_t word, magnitude, key, most = 0
    cdef any_t significant = <any_t>rule.significant, limit = <any_t>rule.limit
    cdef bint has_nan = False
    cdef Py_ssize_t j
    for j in range(n):
        memcpy(&word, source + j * sizeof(any_t), sizeof(any_t))
        magnitude = word & significant
        key = word if magnitude else 0
        key = key if magnitude <= limit else nan
        most = max(most, magnitude)
        has_nan |= rule.nan_unequal and word == nan
        memcpy(out + j * sizeof(any_t), &key, sizeof(any_t))
    return has_nan or most > limit


cdef inline bint write_extended(const char *source, char *out, Py_ssize_t width) noexcept nogil:
    cdef uint64_t mantissa
    cdef uint64_t exponent = 0
    memcpy(&mantissa, source, 8)
    memcpy(&exponent, source + 8, 2)
    cdef uint64_t leading = mantissa >> 63, magnitude = exponent & 0x7fff
    # Without its leading bit a number is none, but for the smallest ones, which may have it.
    cdef bint is_nan = magnitude and (not leading or (magnitude == 0x7fff and mantissa << 1))
    if is_nan:
        mantissa, exponent = <uint64_t>3 << 62, 0x7fff
    elif mantissa == 0:
        exponent = 0
    elif magnitude == 0:
        exponent |= leading
    memset(out, 0, width)
    memcpy(out, &mantissa, 8)
    memcpy(out + 8, &exponent, 2)
    return is_nan


cdef inline bint write_quad(const rule_t *rule, const char *source, char *out) noexcept nogil:
    cdef uint64_t[2] half  # the lower, the upper
    memcpy(half, source, 16)
    # What is in the lower half matters to the rule as one bit.
    cdef uint64_t magnitude = (half[1] | (half[0] != 0)) & rule.significant
    if magnitude > rule.limit:
        half[0], half[1] = 0, rule.nan
    elif magnitude == 0:
        half[1] = 0
    memcpy(out, half, 16)
    return magnitude > rule.limit


cdef void write_nan(const canonical_task *task, char *out, Py_ssize_t used) noexcept nogil:
    """The one key of all that have a nan part."""
    cdef Py_ssize_t part
    if task.kind == WORD:
        for part in range(used // task.width):
            memcpy(out + part * task.width, &task.rule.nan, task.width)
    else:
        memset(out, 0xff, used)
