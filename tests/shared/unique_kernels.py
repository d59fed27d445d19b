"""The kernels of unique as functions with keyword arguments: a kernel has positional arguments."""

from collisions import SEEDS

from fastsel._core import _dtypes
from fastsel._unique._keys import Keys
from fastsel._unique.dense import dense
from fastsel._unique.partitions import Partitions
from fastsel._unique.presence import ascending_values
from fastsel._unique.scatter import ScatterByHash
from fastsel._unique.small_unique import unique_small
from fastsel._unique.sorting import ScatterByValue, sorted_groups
from fastsel._unique.tables import Tables

# All bits of a word are significant, and no word is NaN.
INTEGER_RULE = ((1 << 64) - 1, (1 << 64) - 1, 0, False)


def keys_of(array, rule, unequal=None):
    """The Keys of an array; each row is a key."""
    width = array.nbytes // max(1, len(array))
    return Keys(array, len(array), width, rule, unequal, None)


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
    """The tables of `array`, before keys are added to them; each row is a key."""
    keys = keys_of(array, rule)
    return Tables(keys, seeds, max_groups, expected, inverse, counts, threads)


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
    """The partitions of `array`, before its keys are scattered; each row is a key."""
    keys = keys_of(array, rule, unequal=unequal)
    return Partitions(keys, seeds, expected, inverse, counts, threads)


def scatter_by_hash(keys, *, seeds=SEEDS, positions=True, threads=1):
    return ScatterByHash(keys._replace(unequal=None), seeds, None, positions, threads)


def scatter_by_value(keys, *, seeds=SEEDS, positions=True, threads=1):
    return ScatterByValue(keys, seeds, positions, threads)


def sort_keys(
    keys, *, seeds=SEEDS, index=False, inverse=False, counts=False, merged=True, threads=1
):
    """(values, index, inverse, counts), as `sorted_groups` returns them; None if there are too many
    keys."""
    return sorted_groups(keys, seeds, index, inverse, counts, merged, threads)


def sign_bit(dtype):
    """The bit that is flipped to make ordered keys of integers: the sign bit, or 0 for an unsigned
    dtype."""
    return 0 if dtype.kind == "u" else 1 << 8 * dtype.itemsize - 1


def integers(array):
    """The Keys of an array of integers."""
    order_map = sign_bit(array.dtype), 0, 0
    return Keys(array, array.size, array.itemsize, INTEGER_RULE, None, order_map)


def find_dense(array, value_range, *, ascending=False, inverse=False, counts=False, threads=1):
    """(first_occurrences, inverse, counts) of integers, as `dense` returns them; None if an integer
    is out of range."""
    return dense(integers(array), value_range, ascending, inverse, counts, threads)


def find_ascending(array, value_range, *, threads=1):
    """The distinct integers, ascending; None if an integer is out of range."""
    return ascending_values(integers(array), value_range, threads)


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
    """(values, index, inverse, counts) of a small array, as `unique_small` returns them; None if
    the array is empty or a hash table takes too many probes."""
    rules = _dtypes.loaded_key_rule(array.dtype, equal_nan), _dtypes.number_rule(array.dtype)
    return unique_small(array, *rules, seeds, index, inverse, counts, ascending, entries, 16)
