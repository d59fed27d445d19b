"""First occurrences in arrays of Python objects, and of StringDType with NaN.

Python's dict is the table here: it knows the objects' hash and equality.
"""

import math

import numpy as np

from fastsel import _engines


def of_strings(flat, equal_nan):
    """The Firsts of a 1-d array of str, bytes, or strings of which some are missing (NaN).

    None for other objects and other StringDTypes, where NumPy's rules decide.
    """
    items = flat.tolist()
    if flat.dtype.kind == "T":
        if not _nan_is_missing(flat.dtype):
            return None
        items = _with_missing(items, equal_nan)
    elif set(map(type, items)) not in ({str}, {bytes}):
        return None
    return _by_dict(items)


def first_occurrences(flat, equal_nan):
    """The Firsts of a 1-d array of objects, or of strings of which some are missing, by their
    hash; None if one of them has none."""
    items = flat.tolist()
    if flat.dtype.kind == "T":
        items = _with_missing(items, equal_nan)
    try:
        return _by_dict(items)
    except TypeError:
        return None


def _with_missing(items, equal_nan):
    """A stand-in for the missing strings, or if they are not equal, one for each."""
    missing = object()
    return [x if isinstance(x, str) else missing if equal_nan else object() for x in items]


def _by_dict(items):
    ranks = {}
    numbers = (ranks.setdefault(item, len(ranks)) for item in items)
    inverse = np.fromiter(numbers, np.intp, len(items))
    keys = _engines.keys_of(inverse, False)
    firsts = _engines.first_occurrences(keys, False, True, _engines.expected_groups(keys))
    return firsts._replace(finish=_engines.finished(inverse, firsts.finish()[1]))


def _nan_is_missing(dtype):
    """Is this a StringDType whose missing value is NaN? np.unique loses it (NumPy 2.4)."""
    missing = getattr(dtype, "na_object", None)
    return isinstance(missing, float) and math.isnan(missing)
