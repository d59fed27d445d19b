"""Every operator again, in plain Python and NumPy: slow, and short enough to be seen right.

No function here calls the NumPy function that it restates. Inputs are arrays; nothing is checked
beyond what the answer needs.
"""

import builtins
import itertools
import math
from collections import namedtuple

import numpy as np

Coordinates = namedtuple("Coordinates", ["count", "coordinates"])


def truth(array):
    """A bool array of the same shape: is the item selected?"""
    dtype = array.dtype
    if dtype.names is not None:
        chosen = np.zeros(array.shape, bool)
        for name in dtype.names:
            if dtype.fields[name][0].subdtype is None:
                chosen |= truth(array[name])
            else:
                chosen |= _each(
                    lambda item: any(item.tobytes()), _items(array[name], array.ndim), array.shape
                )
        return chosen
    if dtype.isbuiltin == 2:  # a dtype of another package, such as bfloat16
        with np.errstate(invalid="ignore"):  # a signalling NaN
            return array.astype(np.float64) != 0
    if dtype.kind == "b":
        return array.view(np.uint8) != 0
    if dtype.kind in "iufc":
        with np.errstate(invalid="ignore"):
            return array != 0
    if dtype.char == "T":
        return _each(lambda item: _is_text(item, dtype), array.flat, array.shape)
    if dtype.char == "O":
        return _each(bool, array.flat, array.shape)
    # Times, strings and raw bytes: any bit.
    return _each(lambda item: any(item.tobytes()), array.flat, array.shape)


def _items(array, ndim):
    return (array[index] for index in np.ndindex(array.shape[:ndim]))


def _each(test, items, shape):
    return np.array([test(item) for item in items], bool).reshape(shape)


def _is_text(item, dtype):
    missing = getattr(dtype, "na_object", "")
    if missing is item or (isinstance(missing, str) and missing == item):
        return False if isinstance(missing, str) else item != item  # only NaN differs from itself
    return len(item) > 0


def argwhere(a, *, dtype=np.intp):
    array = np.asarray(a)
    places = itertools.product(*map(range, array.shape))
    rows = [*itertools.compress(places, truth(array).ravel().tolist())]
    return np.array(rows, dtype).reshape(len(rows), array.ndim)


def nonzero(a, *, dtype=np.intp):
    array = np.asarray(a)
    if array.ndim == 0:
        raise ValueError("0-d")
    rows = argwhere(array, dtype=dtype)
    return tuple(rows[:, axis].copy() for axis in range(array.ndim))


def flatnonzero(a, *, dtype=np.intp):
    return argwhere(np.asarray(a).reshape(-1), dtype=dtype)[:, 0].copy()


def count_nonzero(a, axis=None, *, keepdims=False):
    array = np.asarray(a)
    if axis is None:
        axis = tuple(range(array.ndim))
    axes = [k % array.ndim for k in np.atleast_1d(np.array(axis, int))] if array.ndim else []
    counts = truth(array).astype(np.intp)
    for k in axes:
        counts = sum(
            (counts[(slice(None),) * k + (slice(j, j + 1),)] for j in range(counts.shape[k])),
            np.zeros((*counts.shape[:k], 1, *counts.shape[k + 1 :]), np.intp),
        )
    if not keepdims:
        counts = counts.reshape([size for k, size in enumerate(counts.shape) if k not in axes])
    return counts if counts.ndim else counts[()]


def first_nonzero(a, axis=None, *, keepdims=False):
    array = np.asarray(a)
    if axis is None:
        axis = tuple(range(array.ndim))
    axes = {k % array.ndim for k in np.atleast_1d(np.array(axis, int))} if array.ndim else set()
    true = truth(array)
    shape = [1 if k in axes else size for k, size in enumerate(true.shape)]
    found = np.full(shape, -1, np.intp)
    for place in np.ndindex(*shape):
        searched = true[tuple(slice(None) if k in axes else j for k, j in enumerate(place))]
        for index, is_true in enumerate(searched.reshape(-1).tolist()):
            if is_true:
                found[place] = index
                break
    if not keepdims:
        found = found.reshape([size for k, size in enumerate(true.shape) if k not in axes])
    return found if found.ndim else found[()]


def compress(condition, a, axis=None):
    array = np.asarray(a)
    if axis is None:
        array, axis = array.reshape(-1), 0
    elif array.ndim == 0:
        array = array.reshape(1)
    axis %= array.ndim
    kept = flatnonzero(condition).tolist()
    before = (slice(None),) * axis  # slices of one item, since a scalar may lose some bits
    out = np.empty((*array.shape[:axis], len(kept), *array.shape[axis + 1 :]), array.dtype)
    for place, position in enumerate(kept):
        out[(*before, slice(place, place + 1))] = array[(*before, slice(position, position + 1))]
    return out


def extract(condition, arr):
    return compress(np.asarray(condition).reshape(-1), arr)


def boolean_mask(a, mask):
    array, mask = np.asarray(a), np.asarray(mask)
    rows = argwhere(mask).tolist()
    out = np.empty((len(rows), *array.shape[mask.ndim :]), array.dtype)
    for place, row in enumerate(rows):
        out[place : place + 1] = array[(*row, None)]
    return out


def gather_nd(data, indices, batch_dims=0):
    data, indices = np.asarray(data), np.asarray(indices)
    *rows, depth = indices.shape
    slices = np.empty((*rows, *data.shape[batch_dims + depth :]), data.dtype)
    for row in np.ndindex(*rows):
        address = list(row[:batch_dims])
        for place in range(depth):
            axis = batch_dims + place
            value, size = int(indices[(*row, place)]), data.shape[axis]
            if not -size <= value < size:
                raise IndexError(
                    f"index {value} at position {(*row, place)} of indices is out of bounds "
                    f"for axis {axis} of data with size {size}"
                )
            address.append(value + size if value < 0 else value)
        slices[(*row, None)] = data[(*address, None)]
    return slices


def effective_rank(shape):
    """The number of dimensions without the leading ones of size 1."""
    while shape and shape[0] == 1:
        shape = shape[1:]
    return len(shape)


def nonzero_coordinates(x, n=None, capacity=None, fill_value=0, dtype=np.uint32):
    array = np.asarray(x)
    rows = argwhere(array)
    n = array.ndim if n is None else n
    capacity = array.size if capacity is None else capacity
    coordinates = np.full((capacity, n), fill_value, dtype)
    coordinates[: len(rows)] = rows[:capacity, array.ndim - n :]
    return Coordinates(np.dtype(dtype).type(len(rows)), coordinates)


# unique: keys that sort and compare as the items do, a dict of positions, nothing clever.


def _keys(items, field=False):
    """Two lists for a 1-d array: keys that sort and compare as NumPy's items do, and is it a NaN.

    A missing value sorts last; but in fields and rows NumPy sorts it first for half precision.
    """
    dtype = items.dtype
    if dtype.names is not None:
        return _row_keys([items[name] for name in dtype.names], len(items))
    if items.ndim > 1:  # a sub-array field: NumPy sorts it by its bytes
        return [item.tobytes() for item in items], [False] * len(items)
    if dtype.kind == "c":
        (real, no_real), (imag, no_imag) = _keys(items.real), _keys(items.imag)
        missing = [left or right for left, right in zip(no_real, no_imag, strict=True)]
        return list(zip(no_real, no_imag, real, imag, strict=True)), missing
    if dtype.kind in "mM":
        missing = np.isnat(items).tolist()
        values = items.astype(np.int64).tolist()
    elif dtype.char == "T":
        values = items.tolist()
        missing = [not isinstance(value, str) for value in values]
    elif dtype.type is np.void:
        values = [item.tobytes() for item in items]
        missing = [False] * len(values)
    elif issubclass(dtype.type, (np.floating, np.longdouble)):
        values = items.tolist()
        missing = [value != value for value in values]
    elif dtype.kind not in "biuSUO":  # the numbers of ml_dtypes
        values = [float(item) for item in items]
        missing = [value != value for value in values]
    else:
        return items.tolist(), [False] * len(items)
    last = -1 if field and dtype.type is np.float16 else 1
    return [
        (last, 0) if no else (0, value) for no, value in zip(missing, values, strict=True)
    ], missing


def _row_keys(columns, count):
    """Keys of rows: the items of a row decide in turn, and one NaN makes the row a NaN."""
    if not columns:
        return [()] * count, [False] * count
    keys, missing = zip(*(_keys(column, field=True) for column in columns), strict=True)
    return list(zip(*keys, strict=True)), list(map(any, zip(*missing, strict=True)))


NAN = object()  # the name of a group of NaN, unlike any key


def unique_outputs(ar, axis=None, *, equal_nan=True, sorted=True):
    """Values, index, inverse and counts of `unique`."""
    ar = np.asarray(ar)
    if axis is None or ar.ndim == 1:
        rows, axis, inverse_shape = ar.reshape(-1), 0, ar.shape
        keys, missing = _keys(rows)
        one_nan = equal_nan and rows.dtype.names is None
    else:
        rows = np.moveaxis(ar, axis, 0)
        inverse_shape = rows.shape[:1]
        table = rows.reshape(len(rows), math.prod(rows.shape[1:]))
        keys, missing = _row_keys(list(table.T), len(rows))
        one_nan = False

    groups = {}
    for position, (key, nan) in enumerate(zip(keys, missing, strict=True)):
        name = key if not nan else NAN if one_nan else (NAN, position)
        groups.setdefault(name, []).append(position)
    groups = list(groups.values())
    shown = [group[0] for group in groups]
    if sorted:
        for number, group in enumerate(groups):
            if missing[group[0]]:  # others have the same key
                shown[number] = min(group, key=keys.__getitem__)
        order = builtins.sorted(range(len(groups)), key=lambda group: keys[shown[group]])
        groups = [groups[group] for group in order]
        shown = [shown[group] for group in order]

    index = np.array(shown, np.intp)
    inverse = [None] * len(rows)
    for number, group in enumerate(groups):
        for position in group:
            inverse[position] = number
    counts = np.array([len(group) for group in groups], np.intp)
    values = np.moveaxis(rows[index], 0, axis)
    return values, index, np.array(inverse, np.intp).reshape(inverse_shape), counts


def object_outputs(items):
    """The four outputs for a list of hashable objects, in order of first occurrence, by a dict."""
    group_ids = {}
    inverse = [group_ids.setdefault(item, len(group_ids)) for item in items]
    index = [inverse.index(group) for group in range(len(group_ids))]
    counts = [inverse.count(group) for group in range(len(group_ids))]
    return list(group_ids), index, inverse, counts


def unique(
    ar,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    *,
    equal_nan=True,
    sorted=True,
):
    """numpy.unique, where each value is the first of its kind and sorted=False keeps the order met.

    One exception, as in NumPy: sorted values show complex NaN by the smallest one.
    """
    outputs = unique_outputs(ar, axis, equal_nan=equal_nan, sorted=sorted)
    return _wanted(outputs, return_index, return_inverse, return_counts)


def _wanted(outputs, *wanted):
    values, *extras = outputs
    extras = tuple(itertools.compress(extras, wanted))
    return (values, *extras) if extras else values


def unique_all(x, /):
    return unique(x, True, True, True, equal_nan=False)


def unique_counts(x, /):
    return unique(x, return_counts=True, equal_nan=False)


def unique_inverse(x, /):
    return unique(x, return_inverse=True, equal_nan=False)


def unique_values(x, /):
    return unique(x, equal_nan=False, sorted=False)


def group_indices(ar, axis=None, *, equal_nan=True, sorted=True):
    """The values of unique, and a list of positions for each of them."""
    values, _, inverse, _ = unique_outputs(ar, axis, equal_nan=equal_nan, sorted=sorted)
    positions = {}
    for position, group in enumerate(inverse.ravel().tolist()):
        positions.setdefault(group, []).append(position)
    groups = [positions[group] for group in range(len(positions))]
    indices = np.array([*itertools.chain(*groups)], np.intp)
    offsets = np.array([0, *itertools.accumulate(map(len, groups))], np.intp)
    return values, indices, offsets


# sets: a Python set of keys, and unique.

# A signalling NaN makes NumPy warn where it converts items to a common dtype.
QUIET = np.errstate(invalid="ignore")


@QUIET
def isin(element, test_elements, invert=False, axis=None):
    """A bool array: is the item, or slice, one of the test elements, or none of them? NaN equals
    nothing."""
    element, tests = np.asarray(element), np.asarray(test_elements)
    if axis is None or element.ndim == 1:
        size, shape = element.size, element.shape
        keys, missing = _keys(np.concatenate((element.reshape(-1), tests.reshape(-1))))
    else:
        rows = np.concatenate([np.moveaxis(a, axis, 0) for a in (element, tests)])
        size, shape = element.shape[axis], element.shape[axis]
        table = rows.reshape(len(rows), math.prod(rows.shape[1:]))
        keys, missing = _row_keys(list(table.T), len(rows))
    known = {*itertools.compress(keys[size:], (not no for no in missing[size:]))}
    found = [key in known for key in keys[:size]]
    return np.array([k != bool(invert) for k in found], bool).reshape(shape)


@QUIET
def index_in(element, test_elements, axis=None):
    """Where each item, or slice, first occurs among the test elements, or -1; NaN is nowhere."""
    element, tests = np.asarray(element), np.asarray(test_elements)
    if axis is None:
        both = np.concatenate((tests.reshape(-1), element.reshape(-1)))
        keys, missing = _keys(both)
        shape, length = element.shape, tests.size
    else:
        both = np.concatenate((np.moveaxis(tests, axis, 0), np.moveaxis(element, axis, 0)))
        table = both.reshape(len(both), math.prod(both.shape[1:]))
        keys, missing = _row_keys(list(table.T), len(both))
        shape, length = element.shape[axis], tests.shape[axis]
    firsts = {}
    for position, (key, nan) in enumerate(zip(keys[:length], missing[:length], strict=True)):
        if not nan:
            firsts.setdefault(key, position)
    found = [firsts.get(key, -1) for key in keys[length:]]
    found = [-1 if nan else k for k, nan in zip(found, missing[length:], strict=True)]
    return np.array(found, np.intp).reshape(shape)


def _in_one_row(axis, *arrays):
    """The arrays, which are flat without an axis, and the axis of the items."""
    arrays = [np.reshape(a, -1) if axis is None else np.asarray(a) for a in arrays]
    return (*arrays, axis or 0)


@QUIET
def intersect1d(ar1, ar2, return_indices=False, axis=None):
    """The values of `unique` of both arrays that are in both."""
    one, other, along = _in_one_row(axis, ar1, ar2)
    common = np.concatenate((one, other), along).dtype
    values, index1, *_ = unique_outputs(one, axis)
    others, index2, *_ = unique_outputs(other, axis)
    in_other, in_one = isin(values, other, axis=axis), isin(others, one, axis=axis)
    found = compress(in_other, values, along).astype(common), index1[in_other], index2[in_one]
    return found if return_indices else found[0]


@QUIET
def union1d(ar1, ar2, axis=None):
    one, other, along = _in_one_row(axis, ar1, ar2)
    return unique(np.concatenate((one, other), along), axis=axis)


@QUIET
def setdiff1d(ar1, ar2, assume_unique=False, axis=None):
    one, other, along = _in_one_row(axis, ar1, ar2)
    kept = one if assume_unique else unique(one, axis=axis)
    return compress(isin(kept, other, invert=True, axis=axis), kept, along)


@QUIET
def setxor1d(ar1, ar2, axis=None):
    """Each array has a NaN of its own."""
    parts = setdiff1d(ar1, ar2, axis=axis), setdiff1d(ar2, ar1, axis=axis)
    return unique(np.concatenate(parts, axis or 0), axis=axis, equal_nan=False)


def numpy_unique_outputs(ar, axis=None, *, equal_nan=True, sorted=True):
    """The same four from numpy.unique, for arrays too large for this module.

    Not for what NumPy itself gets wrong: StringDType with NaN, NaN of ml_dtypes.
    """
    _, index, inverse, counts = np.unique(ar, True, True, True, axis=axis, equal_nan=equal_nan)
    if not sorted:
        if ar.dtype.kind == "c" and equal_nan and axis is None and np.isnan(ar).any():
            index[-1] = np.isnan(ar).argmax()  # NumPy shows the smallest, not the first
        order = np.argsort(index)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        index, inverse, counts = index[order], rank[inverse], counts[order]
    values = ar.reshape(-1)[index] if axis is None else np.take(ar, index, axis)
    return values, index, inverse, counts


def unique_cases(
    ar, oracle=unique_outputs, *, axis=None, equal_nan=(True, False), sorted=(True, False)
):
    """Keyword arguments and expected result for each combination of the extra outputs."""
    names = ("return_index", "return_inverse", "return_counts")
    for nan, order in itertools.product(equal_nan, sorted):
        outputs = oracle(ar, axis, equal_nan=nan, sorted=order)
        for wanted in itertools.product((False, True), repeat=3):
            keywords = dict(zip(names, wanted, strict=True), axis=axis, equal_nan=nan, sorted=order)
            yield keywords, _wanted(outputs, *wanted)
