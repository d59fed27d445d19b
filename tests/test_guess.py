"""The guess at the number of groups, which chooses the engine: never part of the answer."""

import numpy as np
import pytest

from fastsel import _engines

SIZE = 400_000


def guess(array, may_sort=False):
    return _engines.expected_groups(_engines.keys_of(array, True), may_sort)


@pytest.mark.parametrize("dtype", ["i4", "i8", "f8", "U6"])
@pytest.mark.parametrize("groups", [2, 25, 1000, SIZE // 100, SIZE // 10])
def test_groups_of_equal_size(groups, dtype):
    array = np.random.default_rng(groups).integers(0, groups, SIZE).astype(dtype)
    assert groups * 0.7 <= guess(array) <= groups * 1.4


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_one_large_group_among_distinct_keys(share):
    """As of NaN: many small groups are not overlooked."""
    rng = np.random.default_rng(1)
    array = np.where(rng.random(SIZE) < share, np.nan, rng.random(SIZE))
    assert (1 - share) * SIZE * 0.3 <= guess(array) <= SIZE


def test_some_outliers_are_no_cause_for_many_groups():
    array = np.zeros(SIZE)
    array[::1000] = np.arange(0, SIZE, 1000)
    assert guess(array) <= SIZE // 50


@pytest.mark.parametrize("power", [0.7, 1.0, 1.3])
@pytest.mark.parametrize("groups", [100, SIZE // 40, SIZE])
def test_groups_of_a_power_law(groups, power):
    """Most of them are not in the sample."""
    shares = np.arange(1, groups + 1) ** -power
    array = np.random.default_rng(1).choice(groups, SIZE, p=shares / shares.sum())
    true = len(np.unique(array))
    assert true * 0.5 <= guess(array) <= true * 2


@pytest.mark.parametrize("length", [2, 16, 100, 1000])
def test_runs(length):
    """A sample meets each of them but once."""
    starts = np.random.default_rng(1).permutation(SIZE // length + 1)
    array = np.repeat(starts, length)[:SIZE]
    assert 0.7 * len(starts) <= guess(array) <= 4 * len(starts)


@pytest.mark.parametrize("period", [2, 3, 97, 1024, 1562])
def test_no_period_hides_what_lies_between(period):
    array = np.zeros(SIZE, np.int64)
    array[np.arange(SIZE) % period != 0] = np.arange(SIZE - -(-SIZE // period))
    assert 0.9 * SIZE * (1 - 1 / period) <= guess(array) <= SIZE


def test_distinct_keys():
    assert guess(np.random.default_rng(1).permutation(SIZE)) == SIZE


def test_small_arrays_are_not_worth_a_guess():
    assert guess(np.arange(_engines.GUESSED_KEYS)) == 0
    assert guess(np.arange(_engines.SORTED_KEYS), may_sort=True) == 0
    assert guess(np.arange(_engines.SORTED_KEYS + 1), may_sort=True) > 0


def test_keys_that_collide_are_taken_to_be_distinct(monkeypatch):
    class Tables:
        def __init__(self, *arguments):
            pass

        def find(self):
            return False

    monkeypatch.setattr("fastsel._kernels.distinct.Tables", Tables)
    assert guess(np.arange(SIZE) % 10) == SIZE
