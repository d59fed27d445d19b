"""Ascending order, for unique.

If there are more than MIN_ITEMS values, the kernel of sorting.pyx sorts numbers of 4 or 8 bytes,
items that can be read as rows of numbers, and str or bytes objects by their leading characters.
Python sorts other objects, and strings whose leading characters are equal. NumPy sorts all other
items.
"""

import numpy as np

from fastsel._core import _dtypes, _numpy, _show_config, _threads
from fastsel._unique import _keys, part_sort, string_objects
from fastsel._unique.canonical import append_keys, ordered_keys
from fastsel._unique.groups import COST, Request, Search, values_at
from fastsel._unique.sorting import Sorting

# NumPy orders MAX_ROWS or more rows: a word has no room for a row's group and a rank of its column
# if these take more than 32 bits each.
MAX_ROWS = 1 << 32

# NumPy sorts fewer values in the time that the kernel's stages take. It compares complex numbers,
# and strings of characters, in less time than other items that take several words.
MIN_ITEMS = 1000
MIN_COMPLEX_OR_STR = 3000

_show_config.FACTS["sort"] = lambda: "at once" if part_sort.sorts_whole() else "in pieces"


def sort(values):
    """Sort distinct values. There may be several NaN, which come last, each with its own bits.

    Returns None, and the caller uses argsort, for rows and for other dtypes than NumPy's bool,
    integers, floats, dates and times.
    """
    if values.ndim > 1 or values.dtype.kind not in "biufmM" or _dtypes.small_foreign(values.dtype):
        return None
    native = _dtypes.native(values)
    if _by_kernel(native):
        result = _sorted(native, Request()).values
    else:
        # NumPy's vectorised sorts misplace float16 beside NaN (NumPy 2.4, AVX-512), and change the
        # bits of NaN.
        result = np.sort(native, kind="stable" if native.dtype.char == "e" else None)
        if values.dtype.kind == "f":
            nans = native[np.isnan(native)]
            result[len(result) - len(nans) :] = nans
    return result.astype(values.dtype, copy=False)


def argsort(values, with_ranks):
    """(order, ranks): the permutation that sorts values or rows, stably; and its inverse, or None
    without with_ranks. With ranks, the values are distinct, except NaN. NaN come last (in rows of
    float16, first), and keep their order unless NumPy's order of complex numbers distinguishes
    them."""
    values = _dtypes.without_small_foreign(values)
    order = None
    if len(values) < 2:
        order = np.arange(len(values))
    elif values.dtype.kind in "OT":
        order = _order_of_objects(values)
    elif _by_kernel(values := _dtypes.native(values)):
        if with_ranks:
            groups = _sorted(values, Request(index=True, inverse=True))
            found = groups and (groups.index, groups.finish(None)[0])
        else:
            groups = _sorted(values, Request(grouped=True))
            found = groups and (groups.order(), None)
        if found is not None:
            return found
    elif values.size > (MIN_COMPLEX_OR_STR if values.dtype.kind in "cU" else MIN_ITEMS):
        order = _order_by_columns(values)
    if order is None:
        order = _numpy_order(values)
    return order, ranks(order) if with_ranks else None


def ranks(order):
    """The inverse permutation of `order`."""
    result = np.empty(len(order), np.intp)
    result[order] = np.arange(len(order))
    return result


def _by_kernel(values):
    """Does the kernel sort the values? It takes longer for few values, but does not take subnormal
    floats for 0."""
    if values.ndim > 1 or values.itemsize < 4 or _dtypes.number_rule(values.dtype) is None:
        return False
    return len(values) > MIN_ITEMS or (values.dtype.kind == "f" and part_sort.subnormals_are_zero())


def positions(values):
    """(indices, offsets) of the groups of equal numbers of 4 or 8 bytes, in ascending order; None
    for too many numbers."""
    groups = _sorted(values, Request(grouped=True))
    return groups and groups.positions(None)


def _sorted(values, request):
    """The groups of equal numbers, by the kernel; each NaN is a group. None for too many
    numbers."""
    data = np.require(values, requirements="CA")
    keys = _keys.keys_of(data, False)
    threads = _threads.for_bytes(values.nbytes, COST)
    groups = Sorting(Search(keys, data, request, threads, threads))
    return groups if groups.find() else None


def _order_by_columns(values):
    """The order of rows, strings of fixed width, void items or complex numbers; None for MAX_ROWS
    or more values, and for dtypes for which `_columns` returns None.

    The leading columns that fit a word decide first. Rows with equal words are then ordered by a
    word of the next columns, and so on.
    """
    columns = _columns(values) if len(values) < MAX_ROWS else None
    if columns is None:
        return None
    order = tied = groups = None
    column, n_columns = 0, columns.shape[1]
    while True:
        rows = None if order is None else values_at(order, tied)
        words, column = _packed(columns, rows, groups, column)
        if column == n_columns:
            del columns  # frees its memory before the sort
        word_order = argsort(words, False)[0]
        if order is None:
            order = word_order
        else:
            order[tied] = values_at(rows, word_order)
        if column == n_columns:
            return order
        words = values_at(words, word_order)
        is_first = np.ones(len(words) + 1, bool)
        is_first[1:-1] = words[1:] != words[:-1]
        is_tied = ~(is_first[1:] & is_first[:-1])
        if not is_tied.any():
            return order
        groups = np.cumsum(is_first[:-1], dtype=np.uint64)[is_tied]
        tied = _numpy.flatnonzero(is_tied) if tied is None else tied[is_tied]


def _columns(values):
    """A row of numbers for each row, string, void item or complex number. The rows of numbers have
    the order of the values. None for dtypes without such numbers."""
    if values.ndim > 1:
        columns = values.reshape(len(values), -1)
    elif values.dtype.kind == "c":
        # Complex numbers with a NaN come after all other numbers: their first column is 1.
        parts = np.ascontiguousarray(values).view(values.real.dtype).reshape(-1, 2)
        columns = np.column_stack((np.isnan(values), parts)).astype(parts.dtype, copy=False)
    elif values.dtype.kind in "SUV":
        characters = np.uint32 if values.dtype.kind == "U" else np.uint8
        columns = np.ascontiguousarray(values).view(characters).reshape(len(values), -1)
    else:
        return None
    # NumPy's order of structured items (as_records) has NaN of float16 first.
    if _dtypes.number_rule(columns.dtype) is None or columns.dtype.char == "e":
        return None
    if columns.dtype.kind == "b":
        columns = columns.view(np.uint8) != 0  # bytes other than 0 and 1 are True, too
    is_bytes = columns.dtype.kind in "bu" and columns.itemsize == 1
    return _words_of_bytes(columns.view(np.uint8)) if is_bytes else columns


def _words_of_bytes(rows):
    """Rows of bytes as rows of words of eight bytes, padded with 0. The first byte of a word is the
    most significant byte."""
    words = np.zeros((len(rows), -(-rows.shape[1] // 8) * 8), np.uint8)
    words[:, : rows.shape[1]] = rows
    return words.view(">u8").astype(np.uint64)


def _packed(columns, rows, groups, start):
    """(words, stop): for each of these rows (None: all), a word that packs the columns from start
    to stop - 1, as many columns as the word has room for. The highest bits have the row's group,
    unless groups is None. Earlier columns have higher bits than later ones. Overwrites groups.
    """
    rule = _keys.loaded_rule(columns.dtype, True)
    size = len(columns) if rows is None else len(rows)
    threads = _threads.for_bytes(size * columns.itemsize, COST)
    words, bits = groups, 0 if groups is None else int(groups[-1]).bit_length()
    for stop in range(start, columns.shape[1]):
        keys, least, greatest = ordered_keys(columns[:, stop], rows, rule, threads)
        more = (greatest - least).bit_length()
        if bits + more > 64 and stop > start:
            return words, stop
        if bits + more > 64:  # replace the keys by their ranks, which fit beside the groups
            distinct = _sorted(keys, Request(inverse=True))
            if distinct is None:
                values, keys = _numpy.unique(keys, return_inverse=True)
            else:
                values, keys = distinct.values, distinct.finish(None)[0]
            more, least, keys = (len(values) - 1).bit_length(), 0, keys.view(np.uint64)
        # Words without bits are 0: keys of 64 bits cannot shift them.
        words = append_keys(words if bits else None, keys, least, more, threads)
        bits += more
    return words, columns.shape[1]


def _order_of_objects(values):
    """The order of distinct objects or strings. NaN come last, also NaN that stand for missing
    strings."""
    objects = values.astype(object, copy=False)
    threads = _threads.for_bytes(objects.nbytes)
    words = string_objects.pack_leading_characters(objects, threads) if len(objects) else None
    if words is not None:
        order = argsort(words, False)[0]
        sorted_words = words[order]
        same = np.zeros(len(order) + 1, bool)
        same[1:-1] = sorted_words[1:] == sorted_words[:-1]
        tied = _numpy.flatnonzero(same[1:] | same[:-1])
        tied_order = order[tied]
        order[tied] = tied_order[_python_order(objects[tied_order])]
        return order
    # Compare the objects: for an array of StringDType, != is False where a string is missing.
    nans = objects != objects
    order = _numpy.flatnonzero(~nans)
    return np.concatenate([order[_python_order(objects[order])], _numpy.flatnonzero(nans)])


def _python_order(objects):
    return np.array(sorted(range(len(objects)), key=objects.tolist().__getitem__), np.intp)


def _numpy_order(values):
    """The order by NumPy's sorts."""
    if values.ndim == 1:
        return np.argsort(values, kind="stable")
    columns = values.reshape(len(values), -1)
    if columns.dtype.kind == "b":
        # NumPy's sorts would put a True whose byte is 1 before a True whose byte is 2.
        columns = columns.view(np.uint8) != 0
    if columns.dtype.kind in "biumM" or columns.dtype.char in "fd":
        return np.lexsort(columns.T[::-1])
    return np.argsort(as_records(columns), kind="stable")


def as_records(columns):
    """A structured item for each row of a 2-d array. NumPy compares the items field by field."""
    fields = [(f"f{k}", columns.dtype) for k in range(columns.shape[1])]
    return np.ascontiguousarray(columns).view(fields).ravel()
