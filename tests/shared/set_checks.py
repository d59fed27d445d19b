"""Two arrays as sets, and each function of sets on them."""

import reference
from arrays import grouped, scattered
from comparison import assert_same

import fastsel

SORTED = ("intersect1d", "union1d", "setdiff1d", "setxor1d")


def two_arrays(dtype, sizes, make_items=scattered):
    """Arrays of which about half the items are in the other one."""
    pool = grouped(dtype, 3 * max(*sizes, 1), max(*sizes, 1), make_items=make_items)
    return pool[: sizes[0]], pool[len(pool) - sizes[1] :]


def check_all(first, second):
    """Each function gives what the slow twin does."""
    for invert in (False, True):
        expected = reference.isin(first, second, invert)
        assert_same(fastsel.isin(first, second, invert=invert), expected)
    assert_same(
        fastsel.intersect1d(first, second, return_indices=True),
        reference.intersect1d(first, second, return_indices=True),
    )
    for name in SORTED:
        assert_same(getattr(fastsel, name)(first, second), getattr(reference, name)(first, second))
    assert_same(
        fastsel.setdiff1d(first, second, assume_unique=True),
        reference.setdiff1d(first, second, assume_unique=True),
    )
