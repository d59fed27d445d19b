"""The estimate of the number of groups: the algorithm depends on it, and no result does."""

import numpy as np
import pytest
from unique_kernels import estimate as estimate_of

from fastsel._unique import _keys
from fastsel._unique.sample import extrapolated

SIZE = 400_000


def estimate(array):
    return estimate_of(_keys.keys_of(array, True))


@pytest.mark.parametrize("dtype", ["i4", "i8", "f8", "U6"])
@pytest.mark.parametrize("groups", [2, 25, 1000, SIZE // 100, SIZE // 10])
def test_groups_of_equal_size_are_estimated_within_a_factor_of_1_5(groups, dtype):
    array = np.random.default_rng(groups).integers(0, groups, SIZE).astype(dtype)
    assert groups * 0.7 <= estimate(array) <= groups * 1.4


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_one_large_group_does_not_hide_distinct_keys(share):
    """NaN is the large group. All other keys are distinct."""
    rng = np.random.default_rng(1)
    array = np.where(rng.random(SIZE) < share, np.nan, rng.random(SIZE))
    assert (1 - share) * SIZE * 0.3 <= estimate(array) <= SIZE


def test_some_outliers_do_not_raise_the_estimate_to_many_groups():
    array = np.zeros(SIZE)
    array[::1000] = np.arange(0, SIZE, 1000)
    assert estimate(array) <= SIZE // 50


@pytest.mark.parametrize("power", [0.7, 1.0, 1.3])
@pytest.mark.parametrize("groups", [100, SIZE // 40, SIZE])
def test_groups_of_a_power_law_are_estimated_within_a_factor_of_4(groups, power):
    """If there are many groups, most groups are not in the sample, so their number is uncertain."""
    shares = np.arange(1, groups + 1) ** -power
    array = np.random.default_rng(1).choice(groups, SIZE, p=shares / shares.sum())
    true_groups = len(np.unique(array))
    assert true_groups * 0.5 <= estimate(array) <= true_groups * 4


@pytest.mark.parametrize("length", [2, 16, 100, 1000])
def test_runs_of_equal_keys_are_estimated_within_a_factor_of_4(length):
    """The sample has one key of a short run, or none."""
    starts = np.random.default_rng(1).permutation(SIZE // length + 1)
    array = np.repeat(starts, length)[:SIZE]
    assert 0.7 * len(starts) <= estimate(array) <= 4 * len(starts)


@pytest.mark.parametrize("period", [2, 3, 97, 1024, 1562])
def test_periodic_keys_do_not_hide_the_keys_between_them(period):
    array = np.zeros(SIZE, np.int64)
    array[np.arange(SIZE) % period != 0] = np.arange(SIZE - -(-SIZE // period))
    assert 0.9 * SIZE * (1 - 1 / period) <= estimate(array) <= SIZE


def test_estimate_of_distinct_keys_is_exact():
    assert estimate(np.random.default_rng(1).permutation(SIZE)) == SIZE


@pytest.mark.parametrize(("share", "groups"), [(0.29, 177), (0.1, 100), (0.5, 177)])
def test_few_groups_do_not_hide_keys_that_are_not_repeated(share, groups):
    """Keys that the sample has more than once do not show how many keys are not repeated."""
    rng = np.random.default_rng(7)
    size, sample_size = 2_400_000, 4096
    for _ in range(20):
        not_repeated = rng.integers(groups, 2**62, sample_size)
        sample = np.where(
            rng.random(sample_size) < share, rng.integers(0, groups, sample_size), not_repeated
        )
        counts = np.unique(sample, return_counts=True)[1]
        seen = np.bincount(counts, minlength=4)[1:4].tolist()
        assert extrapolated(len(counts), *seen, size / sample_size) > (1 - share) * size / 10


def test_keys_with_nan_count_as_distinct():
    array = np.full(SIZE, complex(np.nan, 0))
    array[::3] = np.random.default_rng(1).integers(0, 20, len(array[::3]))
    keys = _keys.keys_of(array, False)
    assert estimate_of(keys) >= 2 * SIZE // 3
