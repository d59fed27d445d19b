"""setxor1d of numbers, dates and times: from the ascending distinct numbers of both arrays."""

import numpy as np

from fastsel._core import _threads
from fastsel._sets.merge import exclusive_or
from fastsel._unique._unique import unique
from fastsel._unique.pieces import subnormals_are_zero


def exclusive_numbers(one, other):
    """The ascending numbers that are in exactly one of two arrays of a dtype. NaN equals no NaN of
    the other array."""
    dtype = one.dtype
    # exclusive_or does not take these: C has no float16, a bool that is true may have any bits, and
    # the CPU may take subnormal floats for 0.
    if dtype.char in "?e" or (dtype.kind == "f" and subnormals_are_zero()):
        both = np.concatenate((unique(one), unique(other)))
        values, counts = unique(both, return_counts=True, equal_nan=False)
        return values[counts == 1]
    numbers, nans = zip(*map(_distinct_numbers, (one, other)), strict=True)
    word = np.int64 if dtype.kind in "mM" else dtype
    threads = _threads.for_bytes(sum(values.nbytes for values in numbers))
    result = exclusive_or(*(values.view(word) for values in numbers), dtype, threads)
    return np.concatenate((result, *nans)) if any(map(len, nans)) else result


def _distinct_numbers(items):
    """(numbers, nan): the ascending distinct numbers, and the NaN or NaT, if there is one."""
    values = unique(items)
    size = values.size
    if size and items.dtype.kind not in "iu" and np.isnan(values[-1]):
        size -= 1
    return values[:size], values[size:]
