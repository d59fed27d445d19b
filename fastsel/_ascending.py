"""Ascending order, for unique: NumPy's sorts, on several threads where they are worth it.

NumPy's sort releases the interpreter lock, so ranges of values are sorted by plain Python
threads: what is below the median of a sample by one, the rest by another.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from fastsel import _gate, _selection, _threads

# A thread is started for so many values; sorting them takes 2 to 5 ms, starting it 0.1.
MIN_SORT_ITEMS = 1 << 16

# Values of the sample whose median splits a range.
SAMPLE = 1 << 10


def sorts_alone(values):
    """Does NumPy's sort, which is much faster than its argsort, put these into order?"""
    foreign = _gate.small_foreign(values.dtype)
    return values.ndim == 1 and values.dtype.kind in "biufmM" and not foreign


def sort(values):
    """Sorted values, NaN last with the bits they have: NumPy's vectorised sort rewrites them."""
    result = _sort(values, _thread_count(values))
    if values.dtype.kind == "f" and len(result) and np.isnan(result[-1]):
        nans = values[np.isnan(values)]
        result[len(result) - len(nans) :] = nans
    return result


def argsort(values, kind):
    """The order that sorts distinct values or rows, NaN last; kind matters only for several NaN."""
    if _gate.small_foreign(values.dtype):
        values = _gate.as_float32(values)
    if sorts_alone(values):
        return _argsort(values, kind, _thread_count(values))
    if values.ndim == 1:
        return np.argsort(values, kind=kind)
    columns = values.reshape(len(values), -1)
    if columns.dtype.kind not in "biumM" and columns.dtype.char not in "fd":
        return np.argsort(_as_records(columns), kind="stable")
    return np.lexsort(columns.T[::-1])


def places(order):
    """Where each item of a permutation went."""
    result = np.empty(len(order), np.intp)
    result[order] = np.arange(len(order))
    return result


def distinct(flat, equal_nan):
    """Sorted distinct values by sorting first, for data that is nearly all distinct."""
    ordered = _sort(flat, _thread_count(flat))
    if flat.dtype.kind == "f":
        return _distinct_floats(ordered, flat, equal_nan)
    different = np.empty(len(ordered), bool)
    different[0] = True
    # As integers NaT equals NaT; as dates it equals nothing.
    words = ordered.view(f"i{ordered.itemsize}") if equal_nan else ordered
    np.not_equal(words[1:], words[:-1], out=different[1:])
    return _selection.boolean_mask(ordered, different)


def _distinct_floats(ordered, flat, equal_nan):
    """Of sorted floats; zeros and NaN get the bits of their first occurrence in `flat`."""
    numbers = int(np.searchsorted(ordered, np.nan))
    different = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:numbers], ordered[: max(0, numbers - 1)], out=different[1:numbers])
    if equal_nan:
        different[numbers + 1 :] = False
    result = _selection.boolean_mask(ordered, different)
    zero = int(np.searchsorted(result, 0.0))
    if zero < len(result) and result[zero] == 0:
        result[zero] = flat[np.argmax(flat == 0)]
    if numbers < len(ordered):
        first = int(np.searchsorted(result, np.nan))
        nans = flat[np.isnan(flat)][: len(result) - first]  # flat may have changed meanwhile
        result[first : first + len(nans)] = nans
    return result


def _thread_count(values):
    return min(_threads.get_num_threads(), len(values) // MIN_SORT_ITEMS)


def _sort(values, threads):
    """A sorted copy."""
    if threads < 2 or len(values) < MIN_SORT_ITEMS:
        return np.sort(values)
    below = _below_median(values)
    middle = int(_selection.count_nonzero(below))
    result = np.empty_like(values)
    _selection.compress(below, values, out=result[:middle])
    _selection.compress(~below, values, out=result[middle:])
    halves = result[:middle], result[middle:]
    with ThreadPoolExecutor(1) as other:
        job = other.submit(_sort_in_place, halves[0], threads // 2)
        _sort_in_place(halves[1], threads - threads // 2)
        job.result()
    return result


def _sort_in_place(values, threads):
    if threads < 2:
        values.sort()
    else:
        values[...] = _sort(values, threads)


def _argsort(values, kind, threads):
    """np.argsort; as stable as `kind`, because both halves keep their order."""
    if threads < 2 or len(values) < MIN_SORT_ITEMS:
        return np.argsort(values, kind=kind)
    below = _below_median(values)
    halves = _selection.flatnonzero(below), _selection.flatnonzero(~below)
    with ThreadPoolExecutor(1) as other:
        job = other.submit(_argsort_at, values, halves[0], kind, threads // 2)
        high = _argsort_at(values, halves[1], kind, threads - threads // 2)
        return np.concatenate((job.result(), high))


def _argsort_at(values, at, kind, threads):
    """The positions `at` in the order of their values."""
    return at[_argsort(values[at], kind, threads)]


def _below_median(values):
    """Which values are below the median of a sample; NaN and NaT are not, they come last."""
    sample = np.sort(values[:: max(1, len(values) // SAMPLE)])
    return values < sample[len(sample) // 2]


def _as_records(columns):
    """Each row as one structured item, which NumPy compares field by field."""
    fields = [(f"f{k}", columns.dtype) for k in range(columns.shape[1])]
    return np.ascontiguousarray(columns).view(fields).ravel()
