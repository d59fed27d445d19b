"""Ascending order, for unique: NumPy's sorts, and what can be made of them."""

import numpy as np

from fastsel import _gate, _selection
from fastsel._gather import gather_nd


def sorts_alone(values):
    """Does NumPy's sort, which is much faster than its argsort, put these into order?"""
    foreign = _gate.small_foreign(values.dtype)
    return values.ndim == 1 and values.dtype.kind in "biufmM" and not foreign


def sort(values):
    """Sorted values, NaN last with the bits they have: NumPy's vectorised sort rewrites them."""
    result = _sort(values)
    if values.dtype.kind == "f" and len(result) and np.isnan(result[-1]):
        nans = values[np.isnan(values)]
        result[len(result) - len(nans) :] = nans
    return result


def argsort(values):
    """The order that sorts values or rows, NaN last; equal ones (NaN) keep theirs."""
    if _gate.small_foreign(values.dtype):
        values = _gate.as_float32(values)
    if values.ndim == 1:
        order = _argsort_packed(values) if values.dtype.kind in "iu" and len(values) else None
        return np.argsort(values, kind="stable") if order is None else order
    columns = values.reshape(len(values), -1)
    if columns.dtype.kind not in "biumM" and columns.dtype.char not in "fd":
        return np.argsort(_as_records(columns), kind="stable")
    return np.lexsort(columns.T[::-1])


def _argsort_packed(values):
    """By sorting words that hold value and position, which takes half the time of an argsort;
    None if the values' range and their number need more than 63 bits."""
    low, high = int(values.min()), int(values.max())
    bits = (len(values) - 1).bit_length()
    if (high - low).bit_length() + bits > 63:
        return None
    wide = values.astype(np.uint64 if values.dtype.kind == "u" else np.int64)
    wide -= wide.dtype.type(low)
    packed = wide.view(np.int64)
    packed <<= bits
    packed |= np.arange(len(values))
    packed.sort()
    packed &= (1 << bits) - 1
    return packed


def places(order):
    """Where each item of a permutation went."""
    result = np.empty(len(order), np.intp)
    result[order] = np.arange(len(order))
    return result


def distinct(flat, equal_nan):
    """Sorted distinct values by sorting first, for data that is nearly all distinct."""
    ordered = _sort(flat)
    result = _selection.boolean_mask(ordered, _starts(ordered, equal_nan))
    if flat.dtype.kind == "f":
        _put_first_bits(result, flat)
    return result


def distinct_with_places(flat, equal_nan):
    """(values, index, inverse, counts) of such data, sorted."""
    order = argsort(flat)
    ordered = gather_nd(flat, order[:, np.newaxis])
    starts = _starts(ordered, equal_nan)
    index = _selection.boolean_mask(order, starts)
    numbers = np.cumsum(starts)
    numbers -= 1
    inverse = np.empty(len(flat), np.intp)
    inverse[order] = numbers
    counts = np.diff(_selection.flatnonzero(starts), append=len(flat))
    return gather_nd(flat, index[:, np.newaxis]), index, inverse, counts


def _sort(values):
    """NumPy's sort; its vectorised one misplaces float16 beside NaN (NumPy 2.4, AVX-512)."""
    return np.sort(values, kind="stable" if values.dtype.char == "e" else None)


def _starts(ordered, equal_nan):
    """Where a new value starts in sorted data."""
    starts = np.ones(len(ordered), bool)
    if ordered.dtype.kind in "mM" and equal_nan:
        ordered = ordered.view(np.int64)  # as integers NaT equals NaT
    np.not_equal(ordered[1:], ordered[:-1], out=starts[1:])
    if ordered.dtype.kind == "f" and equal_nan:
        starts[int(np.searchsorted(ordered, np.nan)) + 1 :] = False
    return starts


def _put_first_bits(values, flat):
    """Zero and NaN get the bits of their first occurrence in `flat`, which may have changed."""
    zero = int(np.searchsorted(values, 0.0))
    if zero < len(values) and values[zero] == 0:
        values[zero] = flat[np.argmax(flat == 0)]
    first = int(np.searchsorted(values, np.nan))
    if first < len(values):
        nans = flat[np.isnan(flat)][: len(values) - first]
        values[first : first + len(nans)] = nans


def _as_records(columns):
    """Each row as one structured item, which NumPy compares field by field."""
    fields = [(f"f{k}", columns.dtype) for k in range(columns.shape[1])]
    return np.ascontiguousarray(columns).view(fields).ravel()
