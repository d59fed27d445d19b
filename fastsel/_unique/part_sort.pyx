"""The sort of one part, which should fit the cache. The keys of the part are scattered once more,
by their leading bits, to pieces of about PIECE_KEYS keys, and NumPy sorts each piece.

An entry is a number of 4 bytes that moves along with its key, for example the key's position. To
sort a piece with entries, each key is packed into one word with its position within the piece; the
word has only the bits of the key below the bits that chose the piece. NumPy sorts these words, so
equal keys keep their order. If the words of a piece would have more than 64 bits, the piece is
sorted like a part, by its own minimum and maximum. A long piece, which has many keys that are close
to each other, is also sorted like a part. But if there are no entries, NumPy sorts a long piece of
a long piece.

NumPy's sort of some thousand keys takes 2 to 6 ns a key on x86-64 CPUs with AVX2 or AVX-512, about
as long as pieces of even keys and less than pieces of uneven keys. But it takes 20 to 35 ns a key
on AMD's Zen 4 with AVX-512, and on x86-64 CPUs without AVX2. So the first call that needs to know
compares NumPy's sort of uint64 with pieces, and the process keeps the answer, for all numbers of 4
and 8 bytes.
"""
import numpy as np

cimport numpy as cnp
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastsel._core.atomics cimport fs_atomic_t, fs_load_relaxed, fs_store_relaxed
from fastsel._core.scratch cimport alloc, dealloc
from fastsel._simd.blocks cimport FS_REQUIRE, blocks_of, wide_t
from fastsel._simd.levels cimport level
from fastsel._unique.keys cimport canonical, keys_t
from fastsel._unique.ordered_keys cimport bit_length

cdef extern from "clock.h" nogil:
    int64_t fs_microseconds()

cdef extern from "numpy_sorts.h" nogil:
    ctypedef int (*fs_sort_t)(void *keys, cnp.npy_intp length, void *array) noexcept nogil
    fs_sort_t fs_sort_of(cnp.ndarray array)
    bint fs_subnormals_are_zero()

ctypedef fused packed_t:
    uint32_t
    uint64_t

ctypedef struct pieces_t:
    uint64_t low                  # the lowest key
    int shift                     # the piece of a key is its distance from low >> shift
    bint by_magnitude             # float_bits of the distance take its place
    Py_ssize_t count
    uint32_t *starts              # by piece: its length; after the scatter, its end

cdef enum:
    PIECE_KEYS = 64         # NumPy's sort is fastest for pieces of this length
    LONG_PIECE = 1024       # a longer piece is sorted like a part
    UNEVEN_SHARE = 8        # pieces are uneven if one of them has more than this share of the keys
    MIN_PIECE_BITS = 5      # log2 of the minimum number of pieces of one scatter,
    MAX_PIECE_BITS = 12     # and of the maximum; there are fewer if few bits of the keys differ
    MAX_DEPTH = 16          # of nested scatters; each uses at least MIN_PIECE_BITS of the key

# NumPy's sorts by word_kind, each of words of 4 and of 8 bytes. The last argument of a sort is an
# array, of which the sort reads the dtype. Code without the GIL has pointers to these arrays.
cdef list empty_arrays = [np.empty(0, f"{kind}{width}") for kind in "uif" for width in (4, 8)]
cdef fs_sort_t numpy_sorts[6]
cdef void *sorted_arrays[6]
cdef int each
for each in range(6):
    numpy_sorts[each] = fs_sort_of(empty_arrays[each])
    sorted_arrays[each] = <void *>empty_arrays[each]
# The answer of whole_is_faster; -1 before its first call. Without the GIL, several threads may
# compare at once.
cdef fs_atomic_t whole_was_faster = -1


cdef void numpy_sort(wide_t *words, Py_ssize_t n, word_kind kind) noexcept nogil:
    cdef int k = 2 * kind + (sizeof(wide_t) == 8)
    numpy_sorts[k](words, n, sorted_arrays[k])


cdef word_kind kind_of(const keys_t *keys) noexcept nogil:
    """The kind of numbers as which NumPy sorts the words of these keys. Signed integers and floats
    need no ordered keys, which take a pass to make and a pass to turn back; and with AVX2,
    comparing unsigned integers of 8 bytes takes longer. UNSIGNED: ordered keys are sorted."""
    cdef word_kind kind = (
        UNSIGNED if keys.rule.sign == 0 else SIGNED if keys.rule.negative == 0 else FLOATS)
    if kind == FLOATS and fs_subnormals_are_zero():
        return UNSIGNED
    return UNSIGNED if numpy_sorts[2 * kind + (keys.width == 8)] == NULL else kind


def subnormals_are_zero():
    """Does the CPU take subnormal floats for 0 in this thread?"""
    return fs_subnormals_are_zero()


cdef void sort_words(const keys_t *keys, wide_t *words, Py_ssize_t n,
                     word_kind kind) noexcept nogil:
    """Sort n canonical words, or ordered keys if they are UNSIGNED, by one call of NumPy's sort. It
    may change the bits of NaN; then NaN gets the bits of rule.nan again."""
    cdef Py_ssize_t first_nan = 0, stop = n, middle
    numpy_sort(words, n, kind)
    while kind == FLOATS and first_nan < stop:
        middle = (first_nan + stop) >> 1
        if canonical(&keys.rule, words[middle]) == <wide_t>keys.rule.nan:
            stop = middle
        else:
            first_nan = middle + 1
    for middle in range(first_nan, n if kind == FLOATS else 0):
        words[middle] = <wide_t>keys.rule.nan


# ---- memory -----------------------------------------------------------------------------


cdef inline size_t pieces_bytes(Py_ssize_t room) noexcept nogil:
    """The bytes of the packed words of one piece, which would be too many for the stack of nested
    scatters, and of the starts of pieces, for all nested scatters of `room` keys."""
    return sizeof(uint64_t) * LONG_PIECE + (
        sizeof(uint32_t) * MAX_DEPTH * ((<Py_ssize_t>1 << piece_bits(room)) + 1))


cdef size_t sorter_bytes(Py_ssize_t width, Py_ssize_t room, bint with_entries) noexcept nogil:
    """The bytes that sorter_start allocates, before alloc rounds them up."""
    return room * (width + (sizeof(uint32_t) if with_entries else 0)) + pieces_bytes(room)


cdef int sorter_start(sorter_t *sorter, Py_ssize_t width, Py_ssize_t room,
                      bint with_entries) noexcept nogil:
    """Allocate the memory of a sorter for parts of at most `room` keys, fewer than 2^32: otherwise
    starts wrap around. Returns 0, or -1 if there is no memory; in both cases the caller frees the
    sorter."""
    FS_REQUIRE(room < <Py_ssize_t>1 << 32)
    sorter.keys, sorter.packed = alloc(room * width), <uint64_t *>alloc(pieces_bytes(room))
    sorter.entries = <uint32_t *>alloc(room * sizeof(uint32_t)) if with_entries else NULL
    return -1 if sorter.keys == NULL or sorter.packed == NULL or (
        with_entries and sorter.entries == NULL) else 0


cdef void sorter_free(sorter_t *sorter) noexcept nogil:
    dealloc(sorter.keys)
    dealloc(sorter.entries)
    dealloc(sorter.packed)


# ---- the sort ---------------------------------------------------------------------------


cdef void sort_keys(sorter_t *sorter, wide_t *keys, Py_ssize_t n, uint32_t *entries) noexcept nogil:
    """Sort n > 0 keys, stably, and write them to sorter.keys; `keys` are undefined afterwards. If
    `entries` is not NULL, they are sorted along with the keys, in place, and the sorter was started
    with entries. n is at most the room for which it was started."""
    FS_REQUIRE(n > 0 and (entries == NULL or sorter.entries != NULL))
    # The comparison of both ways does not come here: its answer is not known yet.
    if entries == NULL and fs_load_relaxed(&whole_was_faster) > 0:
        memcpy(sorter.keys, keys, n * sizeof(wide_t))
        numpy_sort(<wide_t *>sorter.keys, n, UNSIGNED)
        return
    sorter.moved = entries
    sorter.starts = <uint32_t *>(sorter.packed + LONG_PIECE)
    sort_range(sorter, keys, 0, n, False)


cdef bint whole_is_faster() except -1:
    """Should NumPy sort some thousand keys at once? The first call sorts a small part both ways."""
    cdef uint64_t[PART_KEYS] keys
    cdef sorter_t sorter
    cdef int64_t whole, pieces, fastest_whole = 1 << 60, fastest_pieces = fastest_whole
    cdef uint64_t key = 1
    cdef int k
    if fs_load_relaxed(&whole_was_faster) < 0:
        if sorter_start(&sorter, sizeof(uint64_t), PART_KEYS, False) != 0:
            sorter_free(&sorter)
            raise MemoryError()
        for _ in range(3):
            for k in range(PART_KEYS):
                key = key * <uint64_t>0xd1342543de82ef95 + 1     # Steele & Vigna, 2021
                keys[k] = key
            memcpy(sorter.keys, keys, sizeof(keys))
            whole = -fs_microseconds()
            numpy_sort(<uint64_t *>sorter.keys, PART_KEYS, UNSIGNED)
            whole += fs_microseconds()
            pieces = -fs_microseconds()
            sort_keys(&sorter, keys, PART_KEYS, NULL)
            pieces += fs_microseconds()
            fastest_whole = min(fastest_whole, whole)
            fastest_pieces = min(fastest_pieces, pieces)
        sorter_free(&sorter)
        # Pieces are fastest for even keys, as these are; uneven keys take up to three times that.
        fs_store_relaxed(&whole_was_faster, 2 * fastest_whole <= 3 * fastest_pieces)
    return fs_load_relaxed(&whole_was_faster) != 0


def sorts_whole(force=None):
    """whole_is_faster. With `force`, set the answer; -1 compares again."""
    if force is not None:
        fs_store_relaxed(&whole_was_faster, force)
    return whole_is_faster()


cdef inline int piece_bits(Py_ssize_t n) noexcept nogil:
    """log2 of the maximum number of pieces of n keys."""
    cdef int bits = 0
    while bits < MAX_PIECE_BITS and n >> bits > PIECE_KEYS:
        bits += 1
    return max(bits, MIN_PIECE_BITS)


cdef void sort_range(sorter_t *sorter, wide_t *keys, Py_ssize_t start, Py_ssize_t stop,
                     bint is_piece) noexcept nogil:
    """Sort keys start to stop - 1, by a scatter to pieces unless they are few. is_piece: these keys
    are a piece."""
    cdef wide_t *out = <wide_t *>sorter.keys
    cdef wide_t low = keys[start], high = low
    cdef uint64_t reach
    cdef pieces_t pieces
    cdef Py_ssize_t n = stop - start, i
    cdef int range_bits
    for i in range(start + 1, stop):
        low, high = min(low, keys[i]), max(high, keys[i])
    if low == high:                         # equal keys: entries stay in order
        memcpy(out + start, keys + start, n * sizeof(wide_t))
        return
    reach = high - low
    range_bits = bit_length(reach)
    if n <= 2 * PIECE_KEYS and range_bits + bit_length(n - 1) <= 64:
        memcpy(out + start, keys + start, n * sizeof(wide_t))
        if sorter.moved != NULL:
            memcpy(sorter.entries + start, sorter.moved + start, n * sizeof(uint32_t))
        sort_piece(sorter, keys, start, stop, low, range_bits, True)
        return
    pieces.low, pieces.by_magnitude = low, False
    pieces.shift = max(0, range_bits - piece_bits(n))
    pieces.count = <Py_ssize_t>(reach >> pieces.shift) + 1
    pieces.starts = sorter.starts
    if (count_pieces(keys, start, stop, &pieces) > max(n // UNEVEN_SHARE, LONG_PIECE)
            and not is_piece):
        # Most keys are close to the lowest key, as in heavy-tailed data: the leading bits of the
        # distance as a float choose the piece, so pieces are the longer the farther they are away.
        pieces.by_magnitude, reach = True, float_bits(reach)
        pieces.shift = max(0, bit_length(reach) - piece_bits(n))
        pieces.count = <Py_ssize_t>(reach >> pieces.shift) + 1
        count_pieces(keys, start, stop, &pieces)
    scatter_to_pieces(sorter, keys, start, stop, &pieces)
    sorter.starts += pieces.count
    sort_pieces(sorter, keys, start, &pieces, is_piece)
    sorter.starts -= pieces.count


cdef inline void sort_pieces(sorter_t *sorter, wide_t *keys, Py_ssize_t start,
                             const pieces_t *pieces, bint are_nested) noexcept nogil:
    """Sort the pieces of scattered keys, of which the first is key `start`."""
    cdef Py_ssize_t piece, position = start, end
    for piece in range(pieces.count):
        end = pieces.starts[piece]
        if end - position > 1 and pieces.by_magnitude:
            sort_again(sorter, keys, position, end)
        elif end - position > 1 and pieces.shift:
            sort_piece(sorter, keys, position, end,
                       <wide_t>(pieces.low + (<uint64_t>piece << pieces.shift)), pieces.shift,
                       are_nested)
        elif sorter.moved != NULL:
            memcpy(sorter.moved + position, sorter.entries + position,
                   (end - position) * sizeof(uint32_t))
        position = end


cdef inline void sort_again(sorter_t *sorter, wide_t *keys, Py_ssize_t start,
                            Py_ssize_t stop) noexcept nogil:
    """Sort a piece of scattered keys like a part."""
    memcpy(keys + start, <wide_t *>sorter.keys + start, (stop - start) * sizeof(wide_t))
    if sorter.moved != NULL:
        memcpy(sorter.moved + start, sorter.entries + start, (stop - start) * sizeof(uint32_t))
    sort_range(sorter, keys, start, stop, True)


cdef inline Py_ssize_t count_pieces(const wide_t *keys, Py_ssize_t start, Py_ssize_t stop,
                                    const pieces_t *pieces) noexcept nogil:
    """Write the number of keys of each piece to pieces.starts. Returns the greatest number."""
    cdef uint32_t *counts = pieces.starts
    cdef Py_ssize_t i, longest = 0
    memset(counts, 0, pieces.count * sizeof(uint32_t))
    for i in range(start, stop):
        counts[piece_of(pieces, keys[i])] += 1
    for i in range(pieces.count):
        longest = max(longest, <Py_ssize_t>counts[i])
    return longest


cdef inline void scatter_to_pieces(sorter_t *sorter, const wide_t *keys, Py_ssize_t start,
                                   Py_ssize_t stop, const pieces_t *pieces) noexcept nogil:
    """Write keys start to stop - 1, and their entries, to the sorter in the order of their pieces.
    pieces.starts has the number of keys of each piece, and gets the end of each piece."""
    cdef wide_t *out = <wide_t *>sorter.keys
    cdef uint32_t *out_entries = sorter.entries
    cdef const uint32_t *entries = sorter.moved
    cdef uint32_t *starts = pieces.starts
    cdef Py_ssize_t i, piece, position = start
    cdef uint32_t count
    for piece in range(pieces.count):
        count = starts[piece]
        starts[piece] = <uint32_t>position
        position += count
    for i in range(start, stop):
        piece = piece_of(pieces, keys[i])
        position = starts[piece]
        starts[piece] = <uint32_t>(position + 1)
        out[position] = keys[i]
        if entries != NULL:
            out_entries[position] = entries[i]


cdef inline Py_ssize_t piece_of(const pieces_t *pieces, wide_t key) noexcept nogil:
    cdef uint64_t distance = <wide_t>(key - <wide_t>pieces.low)
    return <Py_ssize_t>(
        (float_bits(distance) if pieces.by_magnitude else distance) >> pieces.shift)


cdef inline uint64_t float_bits(uint64_t distance) noexcept nogil:
    """An integer that grows with the distance, about as its logarithm: the bits of distance + 1 as
    a float, less those of 1. Distances from 2^53 on may be rounded, all to the same side."""
    cdef double number = <double>distance + 1
    cdef uint64_t bits
    memcpy(&bits, &number, sizeof(bits))
    return bits - (<uint64_t>0x3ff << 52)


cdef inline void sort_piece(sorter_t *sorter, wide_t *keys, Py_ssize_t start, Py_ssize_t stop,
                            wide_t low, int shift, bint is_nested) noexcept nogil:
    """Sort one piece: its keys are in sorter.keys, its entries in sorter.entries. The keys are from
    low to low + 2^shift - 1. is_nested: this is a piece of a piece."""
    cdef wide_t *piece = <wide_t *>sorter.keys + start
    cdef Py_ssize_t n = stop - start
    cdef int position_bits = bit_length(n - 1)
    cdef bint with_entries = sorter.moved != NULL
    cdef bint fits = not with_entries or shift + position_bits <= 64
    if n > LONG_PIECE and (with_entries or not is_nested) or not fits:
        sort_again(sorter, keys, start, stop)
    elif not with_entries:
        numpy_sort(piece, n, UNSIGNED)
    elif shift + position_bits <= 32:
        sort_packed(piece, sorter.entries + start, sorter.moved + start, n, low, position_bits,
                    <uint32_t *>sorter.packed)
    else:
        sort_packed(piece, sorter.entries + start, sorter.moved + start, n, low, position_bits,
                    sorter.packed)


cdef inline void sort_packed(wide_t *keys, const uint32_t *entries, uint32_t *out, Py_ssize_t n,
                             wide_t low, int position_bits, packed_t *packed) noexcept nogil:
    """Sort n keys in place, and write their entries to out. A packed word has the position in its
    low bits, and the key minus low above them; both fit the word: otherwise keys change. `packed`
    gets n words."""
    cdef packed_t mask = (<packed_t>1 << position_bits) - 1
    cdef Py_ssize_t i
    for i in range(n):
        packed[i] = (<packed_t>(keys[i] - low) << position_bits) | <packed_t>i
    numpy_sort(packed, n, UNSIGNED)
    for i in range(n):
        keys[i] = <wide_t>(packed[i] >> position_bits) + low
        out[i] = entries[packed[i] & mask]


# ---- runs -------------------------------------------------------------------------------


cdef Py_ssize_t mark_runs(const wide_t *keys, Py_ssize_t n, uint64_t nan, bint nan_unequal,
                          uint64_t *run_starts) noexcept nogil:
    """Set the bit of the first of n > 0 sorted keys, of each key that differs from the key before
    it and, with nan_unequal, of each nan, which sorts last. Clear all other bits, to the end of the
    last block; run_starts has a word for each block. Returns the number of set bits."""
    cdef Py_ssize_t whole = n >> 6, j
    mark_block(keys, min(n, 64), keys[0], run_starts)
    if whole > 1:
        level.mark_runs[sizeof(wide_t) == 8](
            <const char *>(keys + 64), whole - 1, run_starts + 1)
    if whole and n & 63:
        mark_block(keys + 64 * whole, n & 63, keys[64 * whole - 1], run_starts + whole)
    run_starts[0] |= 1
    j = n - 1
    while nan_unequal and j >= 0 and keys[j] == <wide_t>nan:
        run_starts[j >> 6] |= <uint64_t>1 << (j & 63)
        j -= 1
    return level.count(run_starts, blocks_of(n))


cdef inline void mark_block(const wide_t *keys, Py_ssize_t n, wide_t last,
                            uint64_t *bits) noexcept nogil:
    """mark_runs for up to 64 keys; `last` is the key before them, or equals the first one."""
    cdef wide_t[65] copy
    cdef Py_ssize_t j
    copy[0] = last
    memcpy(copy + 1, keys, n * sizeof(wide_t))
    for j in range(n + 1, 65):
        copy[j] = copy[n]
    level.mark_runs[sizeof(wide_t) == 8](<const char *>(copy + 1), 1, bits)
