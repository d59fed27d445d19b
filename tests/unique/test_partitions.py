"""The algorithm `partitions`: keys scattered by hash, and one table for each part."""

import itertools

import numpy as np
import pytest
import reference
from collisions import colliding
from comparison import assert_same
from forcing import force
from special_numbers import whole_numbers
from unique_kernels import make_partitions

import fastsel

DTYPES = ("i4", "u4", "f4", "i8", "u8", "f8", "M8[s]", "S5", "U3")
FLAGS = tuple(itertools.product((False, True), repeat=3))


def items_of(dtype, ids):
    """An item for each group id. Id 0 is NaN or NaT for floats and times; id 1 is 0.0 or -0.0 for
    floats."""
    if np.dtype(dtype).kind in "SU":
        return ids.astype("U9").astype(dtype)
    return whole_numbers(dtype, ids - (np.dtype(dtype).kind != "u"))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("groups", [1, 300, 9000])
def test_every_output_equals_the_reference(dtype, groups, forced_kernels, monkeypatch):
    """Every combination of index, inverse and counts is requested."""
    force(monkeypatch, "partitions")
    array = items_of(dtype, np.random.default_rng(groups).integers(0, groups, 9001))
    for equal_nan, in_order in itertools.product((True, False), repeat=2):
        values, *extras = reference.unique_outputs(array, equal_nan=equal_nan, sorted=in_order)
        for threads, flags in zip(itertools.cycle((1, 2, 7)), FLAGS):
            with fastsel.threads(threads):
                outputs = fastsel.unique(array, *flags, equal_nan=equal_nan, sorted=in_order)
            expected = (values, *itertools.compress(extras, flags))
            assert_same(outputs if any(flags) else (outputs,), expected)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("width", [4, 8])
def test_the_index_has_the_first_occurrences(width, threads):
    """The expected number of groups is too low, about right, and too high."""
    for groups in (2, 700, 20_000):
        keys = np.random.default_rng(groups).integers(0, groups, 20_000).astype(f"u{width}")
        first_positions = np.sort(np.unique(keys, return_index=True)[1])
        for expected in (1, groups, len(keys)):
            partitions = make_partitions(keys, expected=expected, threads=threads)
            assert partitions.find()
            assert np.array_equal(partitions.index, first_positions)


def test_partitions_give_up_on_collisions():
    for keys, succeeds in ((colliding(200, 16), False), (colliding(200), True)):
        assert make_partitions(keys, expected=len(keys), counts=True).find() is succeeds
