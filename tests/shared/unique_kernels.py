"""The kernels of unique, called with keywords: each takes some ten arguments by position."""

from collisions import SEEDS

from fastsel._core import _dtypes
from fastsel._unique.dense import dense
from fastsel._unique.partitions import Partitions
from fastsel._unique.presence import ascending_values
from fastsel._unique.scatter import ScatterByHash
from fastsel._unique.small_unique import unique_small
from fastsel._unique.sorting import ScatterByValue, sorted_groups
from fastsel._unique.tables import Tables

# All bits of a word are significant, and no word is NaN.
INTEGER_RULE = ((1 << 64) - 1, (1 << 64) - 1, 0, False)


def make_tables(
    array,
    *,
    rule=INTEGER_RULE,
    seeds=SEEDS,
    max_groups=1 << 20,
    expected=0,
    inverse=False,
    counts=False,
    threads=1,
):
    """The tables of `array`, whose rows are keys, before they are filled."""
    return Tables(
        array, len(array), rule, None, seeds, max_groups, expected, inverse, counts, threads
    )


def make_partitions(
    array,
    *,
    rule=INTEGER_RULE,
    unequal=None,
    seeds=SEEDS,
    expected=1,
    inverse=False,
    counts=False,
    threads=1,
):
    """The partitions of `array`, whose rows are keys, before the keys are scattered."""
    return Partitions(array, len(array), rule, unequal, seeds, expected, inverse, counts, threads)


def scatter_by_hash(keys, *, seeds=SEEDS, positions=True, threads=1):
    return ScatterByHash(keys.data, keys.size, keys.rule, None, seeds, None, positions, threads)


def scatter_by_value(keys, *, seeds=SEEDS, positions=True, threads=1):
    return ScatterByValue(
        keys.data, keys.size, keys.rule, keys.order_map, seeds, positions, threads
    )


def sort_keys(
    keys, *, seeds=SEEDS, index=False, inverse=False, counts=False, merged=True, threads=1
):
    """(values, index, inverse, counts); None if the keys are not for this kernel."""
    return sorted_groups(
        *(keys.data, keys.size, keys.rule, keys.order_map, seeds),
        *(index, inverse, counts, merged, threads),
    )


def integer_order(dtype):
    """The order map of an integer dtype: the sign bit of a signed one is inverted."""
    return (0 if dtype.kind == "u" else 1 << 8 * dtype.itemsize - 1), 0, 0


def find_dense(array, value_range, *, ascending=False, inverse=False, counts=False, threads=1):
    """(first_occurrences, inverse, counts) of integers; None if one is beyond the range."""
    return dense(
        *(array, array.size, INTEGER_RULE, integer_order(array.dtype), value_range),
        *(ascending, inverse, counts, threads),
    )


def find_ascending(array, value_range, *, threads=1):
    """The distinct integers, ascending; None if one is beyond the range."""
    return ascending_values(
        array, array.size, INTEGER_RULE, integer_order(array.dtype), value_range, threads
    )


def find_small(
    array,
    *,
    equal_nan=True,
    seeds=SEEDS,
    index=False,
    inverse=False,
    counts=False,
    ascending=False,
    entries=0,
):
    """(values, index, inverse, counts) of a small array; None if its keys collide."""
    rules = _dtypes.word_rule(array.dtype, equal_nan), _dtypes.number_rule(array.dtype)
    return unique_small(array, *rules, seeds, index, inverse, counts, ascending, entries, 16)
