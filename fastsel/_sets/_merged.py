"""setxor1d and setdiff1d of numbers, dates and times: a merge of the ascending distinct numbers of
both arrays."""

import numpy as np

from fastsel._core import _dtypes, _threads
from fastsel._sets import few_tests
from fastsel._sets.merge import merged
from fastsel._unique import _keys, _plan
from fastsel._unique._unique import unique
from fastsel._unique.part_sort import subnormals_are_zero

# An array has few values if it has FEW_SHARE items for each value.
FEW_SHARE = 32

# setdiff1d sorts most numbers of the first array anyway. A sort of the second array, and a merge,
# take less time than lookups in its hash table if it has at most one number for MERGED_SHARE
# numbers of the first array.
MERGED_SHARE = 8


def can_merge(first, second):
    """Are these 1-d arrays of one dtype, of native numbers or times that the kernel compares? It
    does not take these: C has no float16, a bool that is true may have any bits, and the CPU may
    take subnormal floats for 0."""
    dtype = first.dtype
    return (
        first.ndim == 1
        and dtype == second.dtype
        and dtype.char not in "?e"
        and _keys.loaded_rule(dtype, True) is not None
        and _dtypes.number_rule(dtype) is not None
        and not (dtype.kind == "f" and subnormals_are_zero())
    )


def has_few_values(sampled):
    return FEW_SHARE * sampled.expected <= sampled.size


def merges_difference(first, second, sampled):
    """Does it take less time to merge than to look up the numbers of the first array? Lookups in a
    window, of few values, and comparisons with few tests take less time than a merge. sampled is a
    Search that has a sample of the first array; None if this array is small."""
    return (
        sampled is not None
        and second.size * MERGED_SHARE <= first.size
        and not few_tests.are_few(second, words=True)
        and can_merge(first, second)
        and not has_few_values(sampled)
        and _plan.window(sampled) is None
    )


def merged_numbers(first, second, exclusive_or):
    """The ascending numbers that are in the first array alone or, with exclusive_or, in one array
    alone. NaN equals no NaN of the other array."""
    (first, first_nan), (second, second_nan) = map(_distinct_numbers, (first, second))
    threads = _threads.for_bytes(first.nbytes + second.nbytes)
    result = merged(first, second, exclusive_or, threads)
    nans = (first_nan, second_nan) if exclusive_or else (first_nan,)
    return np.concatenate((result, *nans), dtype=first.dtype) if any(map(len, nans)) else result


def _distinct_numbers(items):
    """(numbers, nan): the ascending distinct numbers, and the NaN or NaT, if there is one."""
    values = unique(items)
    size = len(values)
    if size and values[-1] != values[-1]:
        size -= 1
    return values[:size], values[size:]
