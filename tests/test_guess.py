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


def test_distinct_keys():
    assert guess(np.random.default_rng(1).permutation(SIZE)) == SIZE


def test_small_arrays_are_not_worth_a_guess():
    assert guess(np.arange(_engines.GUESSED_KEYS)) == 0
    assert guess(np.arange(_engines.SORTED_KEYS), may_sort=True) == 0
    assert guess(np.arange(_engines.SORTED_KEYS + 1), may_sort=True) > 0


def test_keys_that_collide_are_taken_to_be_distinct(monkeypatch):
    monkeypatch.setattr(_engines, "_by_tables", lambda *arguments: None)
    assert guess(np.zeros(SIZE)) == SIZE
