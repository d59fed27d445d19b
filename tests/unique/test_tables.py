"""First occurrences of words by tables that are not numbered."""

import numpy as np
import pytest
from collisions import SEEDS, colliding

from fastsel._core import _dtypes
from fastsel._unique.tables import Tables

THREADS = (1, 2, 3, 7)
RNG = np.random.default_rng(7)
MANY = 1 << 20


def found_in(array, threads, most=MANY, expected=0, equal_nan=True):
    """Where the first occurrences are; None if the tables give up."""
    rule = _dtypes.word_rule(array.dtype, equal_nan)
    tables = Tables(array, array.size, rule, None, SEEDS, most, expected, False, False, threads)
    return tables.index if tables.find() else None


def expected_in(array):
    return np.sort(np.unique(array, return_index=True)[1])


def with_late_zeros(size):
    array = RNG.integers(1, 9, size)
    array[size * 2 // 3 :: 7] = 0
    return array


ARRAYS = {
    "few": RNG.integers(-3, 4, 5001),
    "recent ones, then others": np.append(RNG.integers(1, 30, 4000), RNG.permutation(4000)),
    "others between recent ones": np.where(np.arange(9000) % 97, 5, np.arange(9000)),
    "runs": np.repeat(RNG.integers(0, 99, 300), 33),
    "distinct": RNG.permutation(20_000),
    "repeated": RNG.integers(0, 3000, 20_000) << 20,
    "zeros alone": np.zeros(1000, int),
    "zero first": np.append(0, RNG.integers(1, 99, 999)),
    "zero last": np.append(RNG.integers(1, 99, 999), 0),
    "zeros late, in later chunks": with_late_zeros(3000),
    "seeds late": np.append(RNG.integers(1, 99, 2000), [SEEDS[0] >> 1, *[SEEDS[0] % 2**32] * 99]),
    "one": np.ones(1, int),
    "a block and one": np.arange(65) % 64,
    "a batch and one": np.arange(257) % 256,
}


@pytest.mark.parametrize("dtype", ["i4", "u4", "f4", "i8", "u8", "f8", "M8[s]"])
@pytest.mark.parametrize("name", ARRAYS)
def test_first_occurrences(name, dtype):
    array = ARRAYS[name].astype(np.int64).astype(dtype)
    firsts = expected_in(array)
    for threads in THREADS:
        for expected in (0, 100, array.size):
            assert np.array_equal(found_in(array, threads, expected=expected), firsts)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_zeros_of_both_signs_are_one_and_nan_one_or_each_its_own(dtype, threads):
    array = RNG.integers(-2, 3, 3000).astype(dtype)
    array[array == 2] = np.nan
    array[::5] = -0.0
    is_nan = np.isnan(array)
    assert np.array_equal(found_in(array, threads), expected_in(array))
    unequal = found_in(array, threads, equal_nan=False)
    others = np.flatnonzero(~is_nan)[expected_in(array[~is_nan])]
    assert np.array_equal(unequal, np.union1d(others, np.flatnonzero(is_nan)))


@pytest.mark.parametrize("threads", THREADS)
def test_given_up_with_more_words_than_promised(threads):
    array = np.arange(1, 20_001)
    assert found_in(array, threads, most=1000) is None
    assert found_in(array, threads, most=20_000) is not None


@pytest.mark.parametrize("threads", THREADS)
def test_given_up_with_too_many_probes(threads):
    assert found_in(colliding(4000), threads) is None


def test_chunks_that_collide_with_each_other_are_given_up():
    """Each by itself is not."""
    chunks = colliding(4096).reshape(64, 64)
    assert all(found_in(chunk, 1) is not None for chunk in chunks)
    assert found_in(chunks.ravel(), 64) is None
