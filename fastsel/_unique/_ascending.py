"""Ascending order, for unique: numbers of 4 and 8 bytes, and what can be read as such, by the
kernel that sorts ranges, all else by NumPy as it is."""

import numpy as np

from fastsel._core import _dtypes, _numpy, _threads
from fastsel._unique import _keys, _plan, strings
from fastsel._unique.keys import ordered_keys
from fastsel._unique.sorting import sorted_groups

# To sort a key takes so many times as long as to copy it.
COST = 8


def items_of(words, flat, index):
    """The items that ascending words stand for, with the bits of their first occurrence."""
    values = words.view(_native_order(flat.dtype))
    if flat.dtype.kind == "f":
        _put_first_bits(values, flat, index)
    return values.astype(flat.dtype, copy=False)


def sort(values):
    """Distinct values, sorted; several NaN may come last, each with its bits. None for what is
    better put into order by argsort."""
    if values.ndim > 1 or values.dtype.kind not in "biufmM" or _dtypes.small_foreign(values.dtype):
        return None
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


def argsort(values, with_ranks):
    """The order that sorts distinct values or rows, NaN last, where several NaN keep theirs; and,
    if wanted, where each of them goes."""
    if _dtypes.small_foreign(values.dtype):
        values = _dtypes.as_float32(values)
    if values.dtype.kind in "OT":
        order = _order_of_objects(values)
        return order, ranks(order) if with_ranks else None
    values = _native(values)
    if _by_kernel(values):
        order, found = _order_of_numbers(values, with_ranks)
        return order, found if found is not None or not with_ranks else ranks(order)
    order = _order_by_leading(values) if values.size > _plan.TINY_ITEMS else None
    if order is None:
        order = _numpy_order(values)
    return order, ranks(order) if with_ranks else None


def ranks(order):
    """Where each item of a permutation went."""
    result = np.empty(len(order), np.intp)
    result[order] = np.arange(len(order))
    return result


def _native_order(dtype):
    return dtype if dtype.isnative else dtype.newbyteorder("=")


def _native(values):
    return values.astype(_native_order(values.dtype), copy=False)


def _by_kernel(values):
    large = values.ndim == 1 and len(values) > _plan.TINY_ITEMS and values.itemsize >= 4
    return large and _dtypes.number_rule(values.dtype) is not None


def _sorted_numbers(values):
    """The words of numbers of 4 or 8 bytes that are distinct, or NaN."""
    return _sorted(values, (False, False, False))[0]


def _order_of_numbers(values, with_ranks):
    """(order, ranks) of numbers of 4 or 8 bytes, stably; ranks may be None."""
    found = _sorted(values, (True, with_ranks, False))
    return (_numpy_order(values), None) if found is None else found[1:3]


def _sorted(values, wanted):
    """What `sorted_groups` says of numbers, each of which is a group."""
    rule = _dtypes.key_rule(values.dtype).part_rule(True)
    order = _dtypes.number_rule(values.dtype)
    threads = _threads.for_bytes(values.nbytes, COST)
    data = np.require(values, requirements="CA")
    return sorted_groups(data, len(values), rule, order, _keys.SEEDS, *wanted, False, threads)


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


def _order_by_leading(values):
    """The order of rows or strings, by a word of their leading items first; None for what has no
    words."""
    words = _leading_word(values)
    if words is None:
        return None
    return _order_by_words(words, lambda some: _numpy_order(values[some]))


def _order_by_words(words, order_of):
    """The order of what has these words; order_of says in which order some stand that have the same
    word."""
    order = argsort(words, False)[0]
    same = np.zeros(len(order) + 1, bool)
    in_order = words[order]
    same[1:-1] = in_order[1:] == in_order[:-1]
    alike = _numpy.flatnonzero(same[1:] | same[:-1])
    if len(alike):
        some = order[alike]
        order[alike] = some[order_of(some)]
    return order


def _leading_word(values):
    """Unsigned words that order rows, strings, bytes or complex numbers, as far as their leading
    items do; or None."""
    if values.ndim > 1:
        return _packed(values.reshape(len(values), -1))
    values = np.ascontiguousarray(values)
    if values.dtype.kind == "c":
        word = _packed(values.view(values.real.dtype).reshape(-1, 2))
        if word is not None:  # a number with a NaN comes after all others
            word[np.isnan(values)] = word.max()
        return word
    if values.dtype.kind in "SUV":
        characters = values.view(np.uint32 if values.dtype.kind == "U" else np.uint8)
        return _packed(characters.reshape(len(values), -1))
    return None


def _packed(rows):
    """Words of as many columns as fit, the first on top; None for dtypes without an order."""
    if rows.dtype.kind in "bu" and rows.itemsize == 1:
        columns = np.zeros((len(rows), 8), np.uint8)
        leading = rows[:, :8]
        columns[:, : leading.shape[1]] = leading != 0 if rows.dtype.kind == "b" else leading
        return columns.view(">u8").ravel().astype(np.uint64)
    order = _dtypes.number_rule(rows.dtype)
    if order is None or rows.dtype.char == "e":  # NumPy orders the NaN of float16 in its own way
        return None
    rule = _dtypes.key_rule(rows.dtype).part_rule(False)
    word, bits = None, 0
    for column in rows.T:
        number = ordered_keys(column, rule, order, _threads.for_bytes(column.nbytes))
        number -= number.min()
        more = int(number.max()).bit_length()
        if bits + more > 64:
            break
        word, bits = number if word is None else word << np.uint64(more) | number, bits + more
    return word


def _order_of_objects(values):
    """The order of distinct objects or strings; NaN, and strings that are missing, come last."""
    objects = values.astype(object, copy=False)
    threads = _threads.for_bytes(objects.nbytes)
    words = strings.leading_words(objects, threads) if len(objects) else None
    if words is not None:
        return _order_by_words(words, lambda some: _python_order(objects[some]))
    is_nan = objects != objects  # as missing strings of StringDType do not say of themselves
    order = _numpy.flatnonzero(~is_nan)
    return np.concatenate([order[_python_order(objects[order])], _numpy.flatnonzero(is_nan)])


def _python_order(objects):
    return np.array(sorted(range(len(objects)), key=objects.tolist().__getitem__), np.intp)


def _numpy_order(values):
    """The same by NumPy's sorts."""
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
