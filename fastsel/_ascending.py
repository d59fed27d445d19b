"""Ascending order, for unique: ranges of numbers of 4 and 8 bytes by NumPy's sorts where they are
fast, such numbers and what can be read as such by the radix kernel, all else by NumPy as it is."""

import operator
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fastsel import _gate, _numpy, _threads
from fastsel._gather import gather_nd
from fastsel._kernels import ranges, texts
from fastsel._kernels.ascending import ascending
from fastsel._kernels.keys import ordered_numbers

# About where the kernel and NumPy's sorts take the same time; above it the kernel is faster
# (`compare.py --op unique_sorted --size 1e3 1e4 --groups n`).
RADIX_KEYS = 1 << 11

# Where NumPy's sorts are vectorised and fast, two threads sort 1e6 int64 in 3.6 ms by ranges and in
# 10 by the radix kernel (with vectors of 32 bytes in 7.1 and 10; `compare.py --op unique_sorted
# --groups n`, with other values of SORT_SPEED).
SORT_SPEED = ranges.numpy_sort_speed()
VECTORISED = "ilqILQfd"

# Up to so many distinct values, a sort that is not vectorised is as fast, and keeps all their bits.
FEW_VALUES = 64

# The kernel numbers groups in 31 bits.
MOST_KEYS = 2**31 - 1

# Texts of more columns of 8 bytes than this are left to Python.
MOST_COLUMNS = 16
COLUMN_BYTES = 8

WORD_BITS = 64
FULL_BITS = 48  # a word of more is sorted without a look at the next column, which would hardly fit

# All words are sorted at once if more than one row in MANY_ALIKE equals another so far; before the
# first sort a sample decides. Of 1e5 rows of 8 float64, 1e3 values each, the order takes 6.5 ms so,
# and 8.6 word by word (`compare.py --op unique_rows --dtype float64 --size 8e5 --width 8 --groups
# n`, which has other values, takes the other way).
SAMPLE = 1024
MANY_ALIKE = 4

# Rows of fewer items are left to np.lexsort, and texts of fewer bytes to NumPy's sort: 1e3 rows of
# 2 int64 take 18 us so, and by columns 24, of 8 160 and 64, 100 rows of 100 uint8 43 and 15
# (`compare.py --op unique_rows --dtype int64 uint8 --size 2e3 8e3 1e4 --width 2 8 100 --groups n`).
ROW_ITEMS = 1 << 12
NARROW_ROW_ITEMS = 1 << 13  # of 1 or 2 bytes
TEXT_BYTES = 1 << 15


def items_of(words, flat, index):
    """The items that ascending words stand for, with the bits of their first occurrence."""
    values = words.view(_native_order(flat.dtype))
    if flat.dtype.kind == "f":
        _put_first_bits(values, flat, index)
    return values.astype(flat.dtype, copy=False)


def sorts_ranges(size, threads):
    """Are so many numbers of 4 or 8 bytes for NumPy's sorts?"""
    return SORT_SPEED > 0 and size <= ranges.most_keys(threads)


def sort(values):
    """Distinct values, sorted; several NaN may come last, each with its bits. None for what is
    better put into order by argsort."""
    if values.ndim > 1 or values.dtype.kind not in "biufmM" or _gate.small_foreign(values.dtype):
        return None
    if len(values) <= FEW_VALUES:
        return np.sort(values, kind="stable")
    native = _native(values)
    if _by_kernel(native):
        result = _sorted_numbers(native).view(native.dtype)
        bits_may_differ = values.dtype.kind == "f"  # of zero and of NaN
    else:
        # NumPy's vectorised sorts misplace float16 beside NaN (NumPy 2.4, AVX-512), and change the
        # bits of NaN.
        result = np.sort(native, kind="stable" if native.dtype.char == "e" else None)
        bits_may_differ = values.dtype.kind == "f" and np.isnan(result[-1])
    if bits_may_differ:
        _put_first_bits(result, native, None)
    return result.astype(values.dtype, copy=False)


def argsort(values, with_places):
    """The order that sorts distinct values or rows, NaN last, where several NaN keep theirs; and,
    if wanted, where each of them goes."""
    if _gate.small_foreign(values.dtype):
        values = _gate.as_float32(values)
    if values.dtype.kind == "O":
        order = _order_of_texts(values)
        return order, places(order) if with_places else None
    values = _native(values)
    if _by_kernel(values):
        return _order_of_numbers(values, with_places)
    columns = _columns(values) if _suits_columns(values) else None
    order = _numpy_order(values) if columns is None else _order_of_columns(columns)
    return order, places(order) if with_places else None


def places(order):
    """Where each item of a permutation went."""
    result = np.empty(len(order), np.intp)
    result[order] = np.arange(len(order))
    return result


def _native_order(dtype):
    return dtype if dtype.isnative else dtype.newbyteorder("=")


def _native(values):
    return values.astype(_native_order(values.dtype), copy=False)


def _by_kernel(values):
    large = values.ndim == 1 and RADIX_KEYS <= len(values) <= MOST_KEYS
    return large and _gate.order_rule(values.dtype) is not None


def _suits_columns(values):
    if values.ndim == 1:
        return len(values) >= RADIX_KEYS or values.nbytes >= TEXT_BYTES
    if values.dtype.itemsize < 4:
        return values.size >= NARROW_ROW_ITEMS
    return len(values) >= RADIX_KEYS or values.size >= ROW_ITEMS


def _sorted_numbers(values):
    """The words of numbers of 4 or 8 bytes that are distinct, or NaN."""
    threads = _threads.for_bytes(values.nbytes)
    if sorts_ranges(len(values), threads):
        job = ranges.Ranges(*_words(values), False, threads)
        if job.sort():
            return job.distinct()
        del job  # and its memory
    return ascending(*_words(values), False, False, False, False, threads)[0]


def _order_of_numbers(values, with_places):
    """(order, places) of numbers of 4 or 8 bytes."""
    threads = _threads.for_bytes(values.nbytes)
    if sorts_ranges(len(values), threads):
        job = ranges.Ranges(*_words(values), True, threads)
        if job.sort():
            return job.order(with_places)
        del job  # and its memory
    return ascending(*_words(values), False, True, with_places, False, threads)[1:3]


def _words(values):
    """What the kernels are told of numbers; each NaN is one by itself."""
    rule = _gate.key_rule(values.dtype).part_rule(True)
    order = _gate.order_rule(values.dtype)
    return np.require(values, requirements="CA"), len(values), rule, order


def _put_first_bits(values, flat, index):
    """Zero and NaN get the bits of their first occurrence in `flat`, which may have changed."""
    zero = int(np.searchsorted(values, values.dtype.type(0)))
    if zero < len(values) and values[zero] == 0:
        values[zero] = flat[np.argmax(flat == 0) if index is None else index[zero]]
    first = int(np.searchsorted(values, values.dtype.type(np.nan)))
    if first < len(values):
        count = len(values) - first
        if index is not None:
            nans = flat[index[first:]]
        elif count == 1:  # of perhaps very many
            start = int(np.argmax(np.isnan(flat)))
            nans = flat[start : start + 1]
            nans = nans[np.isnan(nans)]
        else:
            nans = flat[np.isnan(flat)][:count]
        values[first : first + len(nans)] = nans


def _order_of_columns(columns):
    """The order of rows by columns of unsigned numbers, which is stable.

    Beyond the first word of each row only rows that are alike so far are looked at: word by word,
    or if they are many, all words at once, which are sorted from the last to the first.
    """
    words = _packed(columns)
    word, is_last = next(words)
    order, alike = np.arange(len(word)), np.arange(len(word))
    keys, many = [word], len(word) >= RADIX_KEYS and _seem_repeated(word)
    while True:
        while many and not is_last:
            word, is_last = next(words)
            keys.append(_taken(word, order[alike]))
        step = _order_by(keys)
        order[alike] = order[alike][step]
        if is_last:
            return order
        kept, group = _alike(keys, step)
        if len(kept) == 0:
            return order
        alike = alike[kept]
        many = len(alike) * MANY_ALIKE > len(order) >= RADIX_KEYS
        word, is_last = next(words)
        keys = [group, _taken(word, order[alike])]


def _seem_repeated(word):
    """Do many rows have the same word, as a sample says?"""
    sample = np.sort(word[:: -(-len(word) // SAMPLE)])
    return np.count_nonzero(sample[1:] == sample[:-1]) * MANY_ALIKE > len(sample)


def _packed(columns):
    """Words of as many columns as fit one each, the first on top; and which one is the last."""
    word, bits = None, 0
    for k in range(columns.count):
        number = columns.get(k)
        number = number - number.min()
        more = int(number.max()).bit_length()
        if bits + more > WORD_BITS:
            yield word, False
            word, bits = None, 0
        word, bits = number if word is None else word << np.uint64(more) | number, bits + more
        if bits > FULL_BITS and k + 1 < columns.count:
            yield word, False
            word, bits = None, 0
    yield word, True


def _order_by(keys):
    """The order by the first of these keys, then the second, and so on; it is stable."""
    if len(keys[0]) < RADIX_KEYS:
        return np.lexsort(keys[::-1])
    order = _order_of_numbers(keys[-1], False)[0]
    for key in keys[-2::-1]:
        order = _taken(order, _order_of_numbers(_taken(key, order), False)[0])
    return order


def _alike(keys, order):
    """The places in this order of what equals a neighbour in all keys, and the number of each."""
    is_first = np.ones(len(order) + 1, bool)
    is_first[1:-1] = False
    for key in keys:
        key = _taken(key, order)
        is_first[1:-1] |= key[1:] != key[:-1]
    kept = _numpy.flatnonzero(~(is_first[:-1] & is_first[1:]))
    return kept, np.cumsum(is_first[kept], dtype=np.uint64)


def _taken(items, order):
    return gather_nd(items, order[:, np.newaxis])


class Columns(NamedTuple):
    """Arrays of unsigned numbers that order rows or strings as they are ordered."""

    count: int
    get: Callable


def _columns(values):
    """The Columns of rows or strings, or None."""
    if values.ndim > 1:
        rows = values.reshape(len(values), -1)
        if rows.dtype.kind in "bu" and rows.itemsize <= 2:
            return _columns_of_letters(rows)
        # (NumPy orders the NaN of float16 in its own way.)
        has_order = _gate.number_rule(rows.dtype) and rows.dtype.char != "e"
        return _columns_of_numbers(rows) if has_order else None
    if values.dtype.kind == "U":
        letters = np.ascontiguousarray(values).view(np.uint32).reshape(len(values), -1)
        if letters.max() < 256:
            letters = letters.astype(np.uint8)
    elif values.dtype.kind == "S":
        letters = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), -1)
    else:
        return None
    return _columns_of_letters(letters)


def _columns_of_numbers(rows):
    rule, order = _gate.key_rule(rows.dtype).part_rule(False), _gate.number_rule(rows.dtype)
    threads = _threads.for_bytes(len(rows) * COLUMN_BYTES)
    return Columns(rows.shape[1], lambda k: ordered_numbers(rows[:, k], rule, order, threads))


def _columns_of_letters(letters):
    """Unsigned integers, or bool: of 1 or 2 bytes as many as fit to a column, the first on top."""
    width = COLUMN_BYTES // letters.itemsize if letters.itemsize <= 2 else 1

    def get(k):
        part = letters[:, k * width : (k + 1) * width]
        if letters.dtype.kind == "b":
            part = part.view(np.uint8) != 0  # NumPy's sorts tell the bytes of True apart
        if width == 1:
            return part.ravel().astype(np.uint64)
        column = np.zeros((len(letters), width), f">u{letters.itemsize}")
        column[:, width - part.shape[1] :] = part
        return column.view(">u8").ravel().astype(np.uint64)

    return Columns(-(-letters.shape[1] // width), get)


def _order_of_texts(values):
    """The order of distinct str objects, or bytes: by columns of their letters, if these are few
    and say all, else by Python's sort."""
    items = values.tolist()
    if all(map(operator.lt, items, items[1:])):
        return np.arange(len(items))
    if len(items) >= RADIX_KEYS:
        threads = _threads.for_bytes(len(items) * COLUMN_BYTES)
        columns = texts.columns_of(values, MOST_COLUMNS, threads)
        if columns is not None:
            return _order_of_columns(Columns(len(columns), columns.__getitem__))
    return np.array(sorted(range(len(items)), key=items.__getitem__), np.intp)


def _numpy_order(values):
    """The same by NumPy's sorts."""
    if values.ndim == 1 and SORT_SPEED and values.dtype.char in VECTORISED:
        order = np.argsort(values)  # not stable, but only NaN occurs more than once
        if values.dtype.kind == "f":
            nans = np.count_nonzero(np.isnan(values))
            order[len(order) - nans :].sort()
        return order
    if values.ndim == 1:
        return np.argsort(values, kind="stable")
    columns = values.reshape(len(values), -1)
    if columns.dtype.kind == "b":
        columns = columns.view(np.uint8) != 0  # NumPy's sorts tell the bytes of True apart
    if columns.dtype.kind in "biumM" or columns.dtype.char in "fd":
        return np.lexsort(columns.T[::-1])
    return np.argsort(as_records(columns), kind="stable")


def as_records(columns):
    """Each row as one structured item, which NumPy compares field by field."""
    fields = [(f"f{k}", columns.dtype) for k in range(columns.shape[1])]
    return np.ascontiguousarray(columns).view(fields).ravel()
