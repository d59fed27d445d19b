"""First occurrences in arrays of Python objects and of StringDType."""

import numpy as np

from fastsel._core import _gate
from fastsel._unique import _keys, string_runs
from fastsel._unique._algorithms import Groups, finished
from fastsel._unique.objects import first_objects


def groups_of(flat, inverse, equal_nan, sorted):
    """The Groups of a 1-d array of objects or StringDType; None where NumPy's comparisons decide.

    These order objects that are not all str or all bytes, and strings of which some are missing
    and not NaN; and they tell apart objects that have no hash. Without the interpreter lock another
    thread may replace objects meanwhile: a copy of the array has references of its own.
    """
    if not _gate.HAS_LOCK and flat.dtype.kind == "O":
        flat = flat.copy()
    items = flat if flat.dtype.kind == "O" else flat.astype(object)
    found = _in_order(items, inverse) or first_objects(items, True, _keys.SEEDS, inverse)
    if found is None:
        if sorted and (items is flat or not all(isinstance(x, str) or is_nan(x) for x in items)):
            return None
        return groups_by_hash(flat, inverse, equal_nan)
    values, index, numbers, counts, *direction = found
    values = values if items is flat else flat[index]
    return Groups(values, index, finished(numbers, counts), *direction)


def groups_by_hash(flat, inverse, equal_nan):
    """The same by Python's hash and equality; None if an object has no hash. NaN is one group, or
    each its own, and so is what stands for missing strings, unless it equals itself."""
    items = flat.tolist()
    missing, doubtful = object(), flat.dtype.kind == "T"
    keys = ((missing if equal_nan else object()) if is_nan(x, doubtful) else x for x in items)
    keys = np.fromiter(keys, object, len(items))
    try:
        _, index, numbers, counts = first_objects(keys, False, _keys.SEEDS, inverse)
    except TypeError:
        return None
    values = flat[index]
    return Groups(values, index, finished(numbers, counts))


def is_nan(item, doubtful=False):
    """Does the object differ from itself? `doubtful` if it does not say."""
    try:
        return bool(item != item)
    except Exception:  # then that is for the functions to raise that compare objects
        return doubtful


def _in_order(flat, inverse):
    """(values, index, inverse, counts, direction) of a 1-d array of str, or bytes, that ascend (1)
    or descend (-1) already; None for others."""
    runs = string_runs.runs_of(flat)
    if runs is None:
        return None
    starts, direction = runs
    counts = np.diff(starts, append=len(flat))
    numbers = np.repeat(np.arange(len(starts)), counts) if inverse else None
    return flat[starts], starts, numbers, counts, direction
