"""First occurrences in arrays of Python objects, and of StringDType with NaN.

Python's dict is the table here: it knows the objects' hash and equality.
"""

import math

import numpy as np

from fastsel import _engines


def first_occurrences(flat, equal_nan, sorted):
    """The Firsts of a 1-d array, or None where NumPy's rules decide.

    Sorted, these are the object arrays that are not all str or all bytes, which NumPy compares
    with `<` and `==`; unsorted, only those with an item that has no hash.
    """
    items = _items(flat, equal_nan, sorted)
    if not items:
        return None
    ranks = {}
    try:
        numbers = (ranks.setdefault(item, len(ranks)) for item in items)
        inverse = np.fromiter(numbers, np.intp, len(items))
    except TypeError:
        return None
    firsts = _engines.first_occurrences(_engines.keys_of(inverse, False), False, True)
    return firsts._replace(inverse=inverse)


def _items(flat, equal_nan, sorted):
    """The objects to compare, or None."""
    items = flat.tolist()
    if flat.dtype.kind == "T":
        if not _nan_is_missing(flat.dtype):
            return None
        nan = object()
        return [x if isinstance(x, str) else nan if equal_nan else object() for x in items]
    if sorted and set(map(type, items)) not in ({str}, {bytes}):
        return None
    return items


def _nan_is_missing(dtype):
    """Is this a StringDType whose missing value is NaN? np.unique loses it (NumPy 2.4)."""
    missing = getattr(dtype, "na_object", None)
    return isinstance(missing, float) and math.isnan(missing)
