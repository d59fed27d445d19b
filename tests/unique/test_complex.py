"""unique of complex numbers: zeros of both signs and NaN in either part."""

import itertools

import numpy as np
import pytest
import reference
from comparison import assert_same, check_unique, lists
from marks import SIGNALLING_NANS
from special_numbers import four_nans

import fastsel
from fastsel._core import _dtypes

pytestmark = SIGNALLING_NANS

COMPLEX = ("complex64", "complex128", "clongdouble")
nan = np.nan


@pytest.mark.parametrize("name", COMPLEX)
def test_four_complex_zeros_are_one_group(name, kernels_with_few_threads):
    zeros = [complex(a, b) for a in (0.0, -0.0) for b in (0.0, -0.0)]
    for order in itertools.permutations(zeros):
        array = np.array([*order, 1, *order], name)
        assert_same(fastsel.unique(array), array[[0, 4]])
        check_unique(fastsel.unique, array)


NANS_AND_NUMBERS = [
    complex(nan, 1),
    complex(1, nan),
    3,
    complex(nan, nan),
    complex(2, nan),
    5j,
    complex(-1, nan),
    complex(nan, -3),
    complex(1, nan),
    3,
]


@pytest.mark.parametrize("name", COMPLEX)
def test_sorted_unique_returns_the_smallest_complex_nan(name, kernels_with_few_threads):
    array = np.array(NANS_AND_NUMBERS, name)
    values, *extras = fastsel.unique(array, True, True, True)
    assert_same(values, array[[5, 2, 6]])
    assert lists(extras) == [[5, 2, 6], [2, 2, 1, 2, 2, 0, 2, 2, 2, 1], [1, 2, 7]]
    assert_same(fastsel.unique(array), array[[5, 2, 6]])
    assert_same(fastsel.unique(array, True, True, True), np.unique(array, True, True, True))


@pytest.mark.parametrize("name", COMPLEX)
def test_unique_in_order_of_first_occurrence_returns_the_first_complex_nan(
    name, kernels_with_few_threads
):
    array = np.array(NANS_AND_NUMBERS, name)
    values, *extras = fastsel.unique(array, True, True, True, sorted=False)
    assert_same(values, array[[0, 2, 5]])
    assert lists(extras) == [[0, 2, 5], [0, 0, 1, 0, 0, 2, 0, 0, 0, 1], [7, 2, 1]]
    assert_same(fastsel.unique(array, sorted=False), array[[0, 2, 5]])


def dispatch_to_numpy(monkeypatch):
    """Make unique call NumPy for complex numbers, as if their parts were pairs of doubles."""
    monkeypatch.setattr("fastsel._unique._keys.loaded_rule", lambda dtype, equal_nan: None)
    monkeypatch.setattr(_dtypes, "key_rule", lambda dtype: None)


@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.parametrize("axis", [None, 0])
def test_unsorted_unique_by_numpy_returns_the_first_complex_nan(axis, name, monkeypatch):
    dispatch_to_numpy(monkeypatch)
    array = np.array(NANS_AND_NUMBERS[1:], name)
    expected = reference.numpy_unique_outputs(array, sorted=False)
    assert expected[1].tolist() == [0, 1, 4]
    if len(np.unique(array, axis=axis)) > 3:
        pytest.skip("before 2.4, numpy.unique with an axis counts each NaN as a value")
    assert_same(fastsel.unique(array, True, True, True, axis, sorted=False), expected)
    assert_same(fastsel.unique(array, axis=axis, sorted=False), expected[0])
    expected_distinct_nans = reference.numpy_unique_outputs(array, equal_nan=False, sorted=False)
    assert_same(
        fastsel.unique(array, True, True, True, equal_nan=False, sorted=False),
        expected_distinct_nans,
    )
    if axis is None:
        pairs = array[: len(array) // 2 * 2].reshape(2, -1)
        expected = reference.numpy_unique_outputs(pairs, sorted=False)
        assert_same(fastsel.unique(pairs, True, True, True, sorted=False), expected)


def test_unsorted_unique_of_a_subclass_returns_the_first_complex_nan():
    class Subclass(np.ndarray):
        pass

    array = np.array(NANS_AND_NUMBERS).view(Subclass)
    assert_same(fastsel.unique(array, sorted=False), array[[0, 2, 5]])


@pytest.mark.parametrize("name", COMPLEX)
def test_distinct_complex_nans_are_in_the_order_of_numpy(name, kernels_with_few_threads):
    """NumPy's order is R + Rj, R + nanj, nan + Rj, nan + nanj, where R is any real number."""
    array = np.array(NANS_AND_NUMBERS, name)
    expected = np.unique(array, True, True, True, equal_nan=False)
    assert expected[1].tolist() == [5, 2, 6, 1, 8, 4, 7, 0, 3]
    assert_same(fastsel.unique(array, True, True, True, equal_nan=False), expected)
    assert_same(fastsel.unique(array, equal_nan=False), expected[0])
    check_unique(fastsel.unique, array)


@pytest.mark.parametrize("name", COMPLEX[:2])
def test_complex_nan_keeps_the_bits_of_the_first(name, kernels_with_few_threads):
    """If several NaN are the smallest in NumPy's order, sorted unique with equal_nan returns the
    first of these NaN."""
    bits = four_nans("f4" if name == "complex64" else "f8")
    parts = [*bits, *np.array([0.0, -0.0, 1.0], bits.dtype)]
    pairs = np.array(list(itertools.product(parts, repeat=2)), bits.dtype)
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(len(pairs))
        # A copy of the integers, because a copy of signalling NaNs may silence them.
        words = pairs.view(f"u{bits.itemsize}")[order]
        check_unique(fastsel.unique, np.ascontiguousarray(words).view(name)[:, 0])


def test_complex_without_nans_sorts_by_real_then_imaginary_part(kernels_with_few_threads):
    array = np.array([1 - 1j, -1 + 2j, 1 + 1j, -1 - 2j, 1 - 1j, complex(np.inf, -np.inf)])
    assert_same(fastsel.unique(array), array[[3, 1, 0, 2, 5]])


@pytest.mark.parametrize("name", COMPLEX)
def test_swapped_complex_is_right_where_numpy_is_not(name, kernels_with_few_threads):
    """If only values are wanted, NumPy 2.4 reads the bytes of '>c16' unswapped: it returns zeros
    of both signs, and NaN of several kinds."""
    array = np.array([nan, 1, nan, -0.0, 0.0, complex(0, -0.0), complex(1, nan)], name)
    swapped = array.astype(array.dtype.newbyteorder())
    for keywords, expected in reference.unique_cases(array):
        actual = fastsel.unique(swapped, **keywords)
        native = [
            part.astype(part.dtype.newbyteorder("="))
            for part in (actual if isinstance(actual, tuple) else (actual,))
        ]
        assert_same(tuple(native), expected if isinstance(expected, tuple) else (expected,))
    assert fastsel.unique(swapped).dtype == swapped.dtype
