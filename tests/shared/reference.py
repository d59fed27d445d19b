"""Every operator in a slow form of Python and NumPy, short enough to check by reading.

No function here calls the NumPy function that it restates, except `numpy_unique_outputs`. Only some
errors are restated: nonzero of a 0-d array, and indices out of bounds.
"""

import builtins
import itertools
import math
from collections import namedtuple

import numpy as np

Coordinates = namedtuple("Coordinates", ["count", "coordinates"])


def truth(array):
    """A bool array of the same shape that says which items are selected."""
    dtype = array.dtype
    if dtype.names is not None:
        selected = np.zeros(array.shape, bool)
        for name in dtype.names:
            if dtype.fields[name][0].subdtype is None:
                selected |= truth(array[name])
            else:
                selected |= _test_each(
                    lambda item: any(item.tobytes()), _items(array[name], array.ndim), array.shape
                )
        return selected
    if dtype.isbuiltin == 2:  # a dtype of another package, such as bfloat16
        with np.errstate(invalid="ignore"):  # a signalling NaN
            return array.astype(np.float64) != 0
    if dtype.kind == "b":
        return array.view(np.uint8) != 0
    if dtype.kind in "iufc":
        with np.errstate(invalid="ignore"):
            return array != 0
    if dtype.char == "T":
        return _test_each(lambda item: _is_true_string(item, dtype), array.flat, array.shape)
    if dtype.char == "O":
        return _test_each(bool, array.flat, array.shape)
    # Times, strings and raw bytes are selected if any bit is set.
    return _test_each(lambda item: any(item.tobytes()), array.flat, array.shape)


def _items(array, ndim):
    return (array[index] for index in np.ndindex(array.shape[:ndim]))


def _test_each(test, items, shape):
    return np.array([test(item) for item in items], bool).reshape(shape)


def _is_true_string(item, dtype):
    missing = getattr(dtype, "na_object", "")
    if missing is item or (isinstance(missing, str) and missing == item):
        return False if isinstance(missing, str) else item != item  # only NaN differs from itself
    return len(item) > 0


def argwhere(a, *, dtype=np.intp):
    array = np.asarray(a)
    coordinates = itertools.product(*map(range, array.shape))
    rows = [*itertools.compress(coordinates, truth(array).ravel().tolist())]
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
    firsts = np.full(shape, -1, np.intp)
    for address in np.ndindex(*shape):
        searched = true[tuple(slice(None) if k in axes else j for k, j in enumerate(address))]
        for index, is_true in enumerate(searched.reshape(-1).tolist()):
            if is_true:
                firsts[address] = index
                break
    if not keepdims:
        firsts = firsts.reshape([size for k, size in enumerate(true.shape) if k not in axes])
    return firsts if firsts.ndim else firsts[()]


def compress(condition, a, axis=None):
    array = np.asarray(a)
    if axis is None:
        array, axis = array.reshape(-1), 0
    elif array.ndim == 0:
        array = array.reshape(1)
    axis %= array.ndim
    positions = flatnonzero(condition).tolist()
    before = (slice(None),) * axis
    out = np.empty((*array.shape[:axis], len(positions), *array.shape[axis + 1 :]), array.dtype)
    for k, position in enumerate(positions):
        # Slices of one item: as a scalar, an item may lose some bits.
        out[(*before, slice(k, k + 1))] = array[(*before, slice(position, position + 1))]
    return out


def extract(condition, arr):
    return compress(np.asarray(condition).reshape(-1), arr)


def boolean_mask(a, mask):
    array, mask = np.asarray(a), np.asarray(mask)
    rows = argwhere(mask).tolist()
    out = np.empty((len(rows), *array.shape[mask.ndim :]), array.dtype)
    for k, row in enumerate(rows):
        out[k : k + 1] = array[(*row, None)]
    return out


def gather_nd(data, indices, batch_dims=0):
    data, indices = np.asarray(data), np.asarray(indices)
    *rows, depth = indices.shape
    slices = np.empty((*rows, *data.shape[batch_dims + depth :]), data.dtype)
    for row in np.ndindex(*rows):
        address = list(row[:batch_dims])
        for k in range(depth):
            axis = batch_dims + k
            value, size = int(indices[(*row, k)]), data.shape[axis]
            if not -size <= value < size:
                raise IndexError(
                    f"index {value} at position {(*row, k)} of indices is out of bounds "
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


# unique: keys that sort and compare as the items do, and a dict from keys to positions.


def _keys(items, field=False):
    """Two lists for a 1-d array: keys that sort and compare as the items do in NumPy, and whether
    each item is missing: NaN, NaT or a missing string.

    A missing value sorts last; but in fields and rows NumPy sorts NaN of float16 first.
    """
    dtype = items.dtype
    if dtype.names is not None:
        return _row_keys([items[name] for name in dtype.names], len(items))
    if items.ndim > 1:  # a sub-array field: NumPy sorts it by its bytes
        return [item.tobytes() for item in items], [False] * len(items)
    if dtype.kind == "c":
        (real, nan_real), (imag, nan_imag) = _keys(items.real), _keys(items.imag)
        missing = [left or right for left, right in zip(nan_real, nan_imag, strict=True)]
        return list(zip(nan_real, nan_imag, real, imag, strict=True)), missing
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
    rank = -1 if field and dtype.type is np.float16 else 1
    return [
        (rank, 0) if is_missing else (0, value)
        for is_missing, value in zip(missing, values, strict=True)
    ], missing


def _row_keys(columns, count):
    """Keys of rows, which sort by their items from left to right; a row with a missing item is
    missing."""
    if not columns:
        return [()] * count, [False] * count
    keys, missing = zip(*(_keys(column, field=True) for column in columns), strict=True)
    return list(zip(*keys, strict=True)), list(map(any, zip(*missing, strict=True)))


NAN = object()  # the name of the group of all NaN, which differs from every key


def unique_outputs(ar, axis=None, *, equal_nan=True, sorted=True):
    """The values, index, inverse and counts of `unique`."""
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
    index = [group[0] for group in groups]
    if sorted:
        for group_id, group in enumerate(groups):
            if missing[group[0]]:  # otherwise all keys of the group are equal
                index[group_id] = min(group, key=keys.__getitem__)
        order = builtins.sorted(range(len(groups)), key=lambda group_id: keys[index[group_id]])
        groups = [groups[group_id] for group_id in order]
        index = [index[group_id] for group_id in order]

    index = np.array(index, np.intp)
    inverse = [None] * len(rows)
    for group_id, group in enumerate(groups):
        for position in group:
            inverse[position] = group_id
    counts = np.array([len(group) for group in groups], np.intp)
    values = np.moveaxis(rows[index], 0, axis)
    return values, index, np.array(inverse, np.intp).reshape(inverse_shape), counts


def object_outputs(items):
    """The values, index, inverse and counts of a list of hashable objects, in order of first
    occurrence, by a dict."""
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
    inverse_dtype=np.intp,
):
    """numpy.unique, whose values are the first items of their groups; sorted=False returns them in
    order of first occurrence.

    There is one exception, as in NumPy: for complex NaN, sorted values have the smallest NaN.
    """
    values, index, inverse, counts = unique_outputs(ar, axis, equal_nan=equal_nan, sorted=sorted)
    outputs = values, index, inverse.astype(inverse_dtype), counts
    return _choose_outputs(outputs, return_index, return_inverse, return_counts)


def _choose_outputs(outputs, *requested):
    values, *extras = outputs
    extras = tuple(itertools.compress(extras, requested))
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
    """The values of `unique`; the positions of the items, group after group; and the offsets at
    which the groups begin, with the number of items as the last offset."""
    values, _, inverse, _ = unique_outputs(ar, axis, equal_nan=equal_nan, sorted=sorted)
    positions = {}
    for position, group in enumerate(inverse.ravel().tolist()):
        positions.setdefault(group, []).append(position)
    groups = [positions[group] for group in range(len(positions))]
    indices = np.array([*itertools.chain(*groups)], np.intp)
    offsets = np.array([0, *itertools.accumulate(map(len, groups))], np.intp)
    return values, indices, offsets


# sets: a Python set of keys, and `unique`.

# A signalling NaN makes NumPy warn where it converts items to a common dtype.
QUIET = np.errstate(invalid="ignore")


def isin(element, test_elements, invert=False, axis=None):
    """A bool array that says whether each item, or slice, is one of the test elements, or with
    `invert` whether it is not. NaN never matches."""
    return np.asarray((index_in(element, test_elements, axis) < 0) == bool(invert))


@QUIET
def index_in(element, test_elements, axis=None):
    """For each item or slice, the position of the first test element that equals it; -1 if there is
    none. NaN never matches."""
    element, tests = np.asarray(element), np.asarray(test_elements)
    if axis is None:
        items = np.concatenate((tests.reshape(-1), element.reshape(-1)))
        keys, missing = _keys(items)
        shape, length = element.shape, tests.size
    else:
        rows = np.concatenate((np.moveaxis(tests, axis, 0), np.moveaxis(element, axis, 0)))
        table = rows.reshape(len(rows), math.prod(rows.shape[1:]))
        keys, missing = _row_keys(list(table.T), len(rows))
        shape, length = element.shape[axis], tests.shape[axis]
    first_positions = {}
    for position, (key, nan) in enumerate(zip(keys[:length], missing[:length], strict=True)):
        if not nan:
            first_positions.setdefault(key, position)
    positions = [first_positions.get(key, -1) for key in keys[length:]]
    positions = [-1 if nan else k for k, nan in zip(positions, missing[length:], strict=True)]
    return np.array(positions, np.intp).reshape(shape)


def remap(a, keys, values, *, default=..., out=None):
    """Each item that equals ``keys[j]`` becomes ``values[j]``, for the first such j; another item
    becomes the default. A missing item without a default is an error."""
    a, values = np.asarray(a), np.asarray(values)
    result = np.empty(a.shape + values.shape[1:], values.dtype)
    if default is not ...:
        result[...] = default
    rows = result.reshape(a.size, *values.shape[1:])
    for k, position in enumerate(index_in(a, keys).ravel().tolist()):
        if position >= 0:
            rows[k : k + 1] = values[position : position + 1]  # as bytes: bools may be other than 1
        elif default is ...:
            at = tuple(map(int, np.unravel_index(k, a.shape)))
            raise ValueError(f"position {at[0] if len(at) == 1 else at} of a is not among the keys")
    if out is None:
        return result
    out[...] = result
    return out


def _flat_without_axis(axis, *arrays):
    """The arrays, flattened if `axis` is None, and the axis along which their items lie."""
    arrays = [np.reshape(a, -1) if axis is None else np.asarray(a) for a in arrays]
    return (*arrays, axis or 0)


@QUIET
def intersect1d(ar1, ar2, return_indices=False, axis=None):
    """The unique values of the first array that are in the second array; with `return_indices`,
    also the indices of these values in both arrays."""
    one, other, along = _flat_without_axis(axis, ar1, ar2)
    common_dtype = np.concatenate((one, other), along).dtype
    values1, index1, *_ = unique_outputs(one, axis)
    values2, index2, *_ = unique_outputs(other, axis)
    in_other, in_one = isin(values1, other, axis=axis), isin(values2, one, axis=axis)
    common = compress(in_other, values1, along).astype(common_dtype)
    return (common, index1[in_other], index2[in_one]) if return_indices else common


@QUIET
def union1d(ar1, ar2, axis=None):
    one, other, along = _flat_without_axis(axis, ar1, ar2)
    return unique(np.concatenate((one, other), along), axis=axis)


@QUIET
def setdiff1d(ar1, ar2, assume_unique=False, axis=None):
    one, other, along = _flat_without_axis(axis, ar1, ar2)
    values = one if assume_unique else unique(one, axis=axis)
    return compress(isin(values, other, invert=True, axis=axis), values, along)


@QUIET
def setxor1d(ar1, ar2, axis=None):
    """The values of each array that are not in the other array; NaN of both arrays is returned."""
    differences = setdiff1d(ar1, ar2, axis=axis), setdiff1d(ar2, ar1, axis=axis)
    return unique(np.concatenate(differences, axis or 0), axis=axis, equal_nan=False)


def numpy_unique_outputs(ar, axis=None, *, equal_nan=True, sorted=True):
    """The outputs of `unique_outputs` by numpy.unique, for arrays too large for this module.

    NumPy's own outputs are wrong for StringDType with NaN and for NaN of ml_dtypes.
    """
    _, index, inverse, counts = np.unique(ar, True, True, True, axis=axis, equal_nan=equal_nan)
    if not sorted:
        if ar.dtype.kind == "c" and equal_nan and axis is None and np.isnan(ar).any():
            index[-1] = np.isnan(ar).argmax()  # NumPy has the smallest NaN, not the first
        order = np.argsort(index)
        ranks = np.empty_like(order)
        ranks[order] = np.arange(len(order))
        index, inverse, counts = index[order], ranks[inverse], counts[order]
    values = ar.reshape(-1)[index] if axis is None else np.take(ar, index, axis)
    return values, index, inverse, counts


def unique_cases(
    ar, oracle=unique_outputs, *, axis=None, equal_nan=(True, False), sorted=(True, False)
):
    """Yield the keyword arguments and the expected result of `unique`, for each combination of the
    NaN rules, the orders and the extra outputs."""
    names = ("return_index", "return_inverse", "return_counts")
    for nan, ascending in itertools.product(equal_nan, sorted):
        rules = {"equal_nan": nan, "sorted": ascending}
        outputs = oracle(ar, axis, **rules)
        for requested in itertools.product((False, True), repeat=3):
            keywords = dict(zip(names, requested, strict=True), axis=axis, **rules)
            yield keywords, _choose_outputs(outputs, *requested)
