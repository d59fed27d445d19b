"""The set functions and lookups of doubles of few digits, which become integers."""

import numpy as np
import pytest
import reference
from comparison import assert_same
from grids import covering

import fastsel
from fastsel._sets import _membership

FUNCTIONS = ("isin", "index_in", "intersect1d", "setdiff1d", "setxor1d", "union1d")


@pytest.fixture
def conversions(monkeypatch):
    """Whether each conversion to integers succeeded."""
    successes = []
    convert = _membership.integers_of

    def spy(*args):
        keys = convert(*args)
        successes.append(keys is not None)
        return keys

    monkeypatch.setattr(_membership, "integers_of", spy)
    return successes


def two_columns(scale, size, n_tests, others_share):
    """Items and tests: decimals, NaN, infinity, zeros of both signs; and in the items doubles that
    are no decimals."""
    rng = np.random.default_rng(1)
    items = rng.integers(-900, 900, size) / scale
    tests = rng.integers(0, 900, n_tests) / scale
    is_other = rng.random(size) < others_share
    items[is_other] = rng.random(is_other.sum())
    items[[1, 3, 5]], tests[[2, 4, 6]] = (np.nan, np.inf, -0.0), (np.nan, np.inf, 0.0)
    return items, tests


@covering(
    at_least=24,
    function=FUNCTIONS,
    scale=[1, 10, 1000],
    sizes=[(12_000, 6000), (17_000, 300), (300, 17_000)],
    others_share=[0, 0.3],
    dtype=["<f8", ">f8"],
    threads=[1, 2, 7],
)
def test_decimals_equal_the_reference(
    function, scale, sizes, others_share, dtype, threads, forced_kernels
):
    items, tests = (array.astype(dtype) for array in two_columns(scale, *sizes, others_share))
    with fastsel.threads(threads):
        result = getattr(fastsel, function)(items, tests)
    assert_same(result, getattr(reference, function)(items, tests))


@pytest.mark.parametrize("tests_have_another", [False, True])
def test_a_test_that_is_no_decimal_makes_way_for_another_algorithm(
    tests_have_another, conversions, forced_kernels
):
    items, tests = two_columns(10, 12_000, 6000, 0.3)
    if tests_have_another:
        tests[2500] = items[17] = 1 / 3
    assert_same(fastsel.isin(items, tests), reference.isin(items, tests))
    assert conversions[0] == (not tests_have_another)
