"""Ascending order, for unique: the radix kernel for numbers of 4 and 8 bytes and what can be read
as such, NumPy's sorts for the rest."""

import operator

import numpy as np

from fastsel import _gate, _threads
from fastsel._gather import gather_nd
from fastsel._kernels import bitmask, items, results, texts
from fastsel._kernels.ascending import ascending, numpy_sorts_fast
from fastsel._kernels.ordered import in_order

# About where the kernel and NumPy's sorts take the same time; above it the kernel is faster
# (`compare.py --op unique_sorted --size 1e3 1e4 --groups n`).
RADIX_KEYS = 1 << 11

# Where NumPy's sorts are vectorised and fast, one thread sorts 1e6 int64 in 8 ms and the kernel in
# 22, on two threads in 12; argsort of 1e5 takes 1.5 ms and 3.2, 2.1 on two; of 1e6 24 and 30, 20 on
# two. So there the kernel sorts numbers on this many threads, and puts this many keys in order. It
# also sorts what takes NumPy more than a tenth of a second, in which no signal is handled.
NUMPY_SORTS_FAST = numpy_sorts_fast()
MANY_THREADS = 4
MANY_KEYS = 1 << 18
MOST_SORTED_AT_ONCE = 1 << 24
VECTORISED = "ilqILQfd"

# Up to so many distinct values, a sort that is not vectorised is as fast, and keeps all their bits.
FEW_VALUES = 64

# The kernel numbers groups in 31 bits.
MOST_KEYS = 2**31 - 1

# Strings and rows of more columns of 8 bytes than this are left to NumPy.
MOST_COLUMNS = 16
COLUMN_BYTES = 8


def distinct(flat, keys, wanted):
    """(values, index, inverse, counts) of items whose keys have an order, by sorting them all."""
    if numpy_sorts_faster(flat, wanted):
        return _distinct_by_numpy(flat, keys), None, None, None
    values, *extras = ascending(
        keys.data, keys.size, keys.rule, keys.order, True, *wanted,
        _threads.for_bytes(keys.data.nbytes),
    )  # fmt: skip
    values = values.view(_native_order(flat.dtype))  # as the keys are
    if flat.dtype.kind == "f":
        _put_first_bits(values, flat, extras[0])
    return values.astype(flat.dtype, copy=False), *extras


def numpy_sorts_faster(numbers, wanted=()):
    """Than the kernel, that is: where only values are wanted."""
    if not NUMPY_SORTS_FAST or any(wanted) or numbers.dtype.char not in VECTORISED:
        return False
    few = numbers.ndim == 1 and len(numbers) <= MOST_SORTED_AT_ONCE
    return few and _threads.for_bytes(numbers.nbytes) < MANY_THREADS


def _distinct_by_numpy(flat, keys):
    numbers = np.sort(_native(flat))
    threads = _threads.for_bytes(numbers.nbytes)
    bits, _ = in_order(numbers, len(numbers), keys.rule, keys.order, 0, threads)
    offsets = bitmask.offsets_of(bits, numbers.itemsize, threads)
    values = results.empty((int(offsets[-1]),), numbers.dtype)
    items.keep(numbers, 0, 1, bits, offsets, values, threads)
    if flat.dtype.kind == "f":
        _put_first_bits(values, flat, None)
    return values.astype(flat.dtype, copy=False)


def sort(values):
    """Sorted values, NaN last and each with its bits; None for what is better put into order by
    argsort."""
    if values.ndim > 1 or values.dtype.kind not in "biufmM" or _gate.small_foreign(values.dtype):
        return None
    if len(values) <= FEW_VALUES:
        return np.sort(values, kind="stable")
    native = _native(values)
    if _by_kernel(native) and not numpy_sorts_faster(native):
        result = _sorted_groups(native, False, False)[0].view(native.dtype)
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
    if _by_kernel(values) and (len(values) >= MANY_KEYS or not NUMPY_SORTS_FAST):
        return _sorted_groups(values, True, with_places)[1:3]
    columns = _columns(values) if len(values) >= RADIX_KEYS else None
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


def _sorted_groups(values, index, inverse):
    """(sorted words, order, places, None) of numbers of 4 or 8 bytes."""
    dtype = values.dtype
    return ascending(
        np.require(values, requirements="CA"), len(values), _gate.key_rule(dtype).part_rule(True),
        _gate.order_rule(dtype), False, index, inverse, False, _threads.for_bytes(values.nbytes),
    )  # fmt: skip


def _put_first_bits(values, flat, index):
    """Zero and NaN get the bits of their first occurrence in `flat`, which may have changed."""
    zero = int(np.searchsorted(values, values.dtype.type(0)))
    if zero < len(values) and values[zero] == 0:
        values[zero] = flat[np.argmax(flat == 0) if index is None else index[zero]]
    first = int(np.searchsorted(values, values.dtype.type(np.nan)))
    if first < len(values):
        nans = flat[np.isnan(flat)] if index is None else flat[index[first:]]
        nans = nans[: len(values) - first]
        values[first : first + len(nans)] = nans


def _order_of_columns(columns):
    """The order of rows by their columns, sorted from the last to the first."""
    order = None
    for column in reversed(columns):
        if order is not None:
            column = gather_nd(column, order[:, np.newaxis])
        step = _sorted_groups(column, True, False)[1]
        order = step if order is None else gather_nd(order, step[:, np.newaxis])
    return order


def _columns(values):
    """Columns of numbers that order rows or strings as they are ordered, or None."""
    if values.ndim > 1:
        rows = values.reshape(len(values), -1)
        sortable = _gate.order_rule(rows.dtype) and rows.shape[1] <= MOST_COLUMNS
        return list(np.ascontiguousarray(rows.T)) if sortable else None
    if values.dtype.kind == "U":
        letters = np.ascontiguousarray(values).view(np.uint32).reshape(len(values), -1)
        if letters.max() < 256:
            letters = letters.astype(np.uint8)
    elif values.dtype.kind == "S":
        letters = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), -1)
    else:
        return None
    per_column = 8 // letters.itemsize
    count = -(-letters.shape[1] // per_column)
    if count > MOST_COLUMNS:
        return None
    padded = np.zeros((len(values), count * per_column), letters.dtype.newbyteorder(">"))
    padded[:, : letters.shape[1]] = letters
    return list(padded.view(">u8").T.astype(np.uint64, order="C"))


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
            return _order_of_columns(columns)
    return np.array(sorted(range(len(items)), key=items.__getitem__), np.intp)


def _numpy_order(values):
    """The same by NumPy's sorts."""
    if values.ndim == 1 and NUMPY_SORTS_FAST and values.dtype.char in VECTORISED:
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
