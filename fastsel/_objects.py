"""First occurrences in arrays of Python objects, and of StringDType with NaN."""

import math

import numpy as np

from fastsel import _engines
from fastsel._kernels import texts
from fastsel._kernels.objects import first_objects


def in_order(flat, inverse):
    """(values, index, inverse, counts, direction) of a 1-d array of str, or bytes, that ascend (1)
    or descend (-1) already; None for others."""
    runs = texts.runs_of(flat) if flat.dtype.kind == "O" else None
    if runs is None:
        return None
    starts, direction = runs
    counts = np.diff(starts, append=len(flat))
    numbers = np.repeat(np.arange(len(starts)), counts) if inverse else None
    return flat[starts], starts, numbers, counts, direction


def of_strings(flat, inverse, equal_nan):
    """(values, index, inverse, counts) in order of first occurrence, of a 1-d array of str, bytes,
    or strings of which some are missing (NaN).

    None for other objects and other StringDTypes, where NumPy's rules decide.
    """
    if flat.dtype.kind == "T":
        return first_occurrences(flat, inverse, equal_nan) if _nan_is_missing(flat.dtype) else None
    return first_objects(flat, True, _engines.SEEDS, inverse)


def first_occurrences(flat, inverse, equal_nan):
    """The same of a 1-d array of any objects, or strings of which some are missing, by their hash;
    None if one of them has none."""
    items = _with_missing(flat, equal_nan) if flat.dtype.kind == "T" else flat
    try:
        values, index, *extras = first_objects(items, False, _engines.SEEDS, inverse)
    except TypeError:
        return None
    return (values if items is flat else flat[index]), index, *extras


def _with_missing(flat, equal_nan):
    """Objects instead of strings: one for all that are missing, or if they are not equal, one for
    each."""
    missing = object()
    items = (x if isinstance(x, str) else missing if equal_nan else object() for x in flat.tolist())
    return np.fromiter(items, object, len(flat))


def _nan_is_missing(dtype):
    """Is this a StringDType whose missing value is NaN? np.unique loses it (NumPy 2.4)."""
    missing = getattr(dtype, "na_object", None)
    return isinstance(missing, float) and math.isnan(missing)
