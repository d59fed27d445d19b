"""isin with few test elements: up to MAX_TESTS if each is one word, up to 4 if they have another
width. isin may then compare each item with each test element, instead of hashing."""

import numpy as np
import pytest

import fastsel
from fastsel._sets import few_tests

DTYPES = (
    *("i1", "u2", "i4", "u8", "i8", "f2", "f4", "f8", "M8[s]", "m8[ns]"),
    *(">u2", ">f4", ">f8", ">i8", ">M8[s]", "c8", "c16", ">c8", ">c16"),
    *("S1", "S2", "S3", "S5", "S6", "S7", "S8", "S9", "S16", "S17", "S40", "U1", "U2", "U6", ">U3"),
)
SIZES = (0, 1, 63, 64, 65, 1000, 33_333)
COUNTS = (1, 2, 4, 5, few_tests.MAX_TESTS, few_tests.MAX_TESTS + 1)


def few_values(dtype, size, rng):
    """Items of at most 40 values. Floats also have zeros and NaN of both signs, times also NaT, and
    strings begin and end with the same characters if they are long."""
    numbers, dtype = rng.integers(0, 40, size), np.dtype(dtype)
    if dtype.kind in "Mm":
        items = numbers.astype("i8").astype(dtype)
        items[::4] = "NaT"
        return items
    if dtype.kind in "SU":
        length = dtype.itemsize // (4 if dtype.kind == "U" else 1)
        return np.array([str(k).center(length, "x") for k in numbers], dtype)
    items = numbers.astype(dtype)
    if dtype.kind in "fc":
        items[::3], items[1::5], items[2::7] = np.nan, -0.0, -np.nan
    if dtype.kind == "c":
        items.imag[::4], items.imag[1::6], items.imag[3::9] = 0.0, -0.0, np.nan
    return items


@pytest.mark.parametrize("dtype", DTYPES)
def test_isin_with_few_tests_equals_numpy(dtype):
    rng = np.random.default_rng(1)
    for size in SIZES:
        items = few_values(dtype, size, rng)
        for count in COUNTS:
            tests = few_values(dtype, count, rng)
            for invert in (False, True):
                for array in (items, items[::-1], items[::2]):
                    expected = np.isin(array, tests, invert=invert)
                    for threads in (1, 2, 3, 7):
                        with fastsel.threads(threads):
                            result = fastsel.isin(array, tests, invert=invert)
                        assert result.dtype == bool
                        assert np.array_equal(result, expected), (size, count)


@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("test", [0.0, -0.0, np.nan, -np.nan, 1.5, np.inf])
def test_isin_with_one_float_equals_numpy(test, invert):
    items = np.array([0.0, -0.0, np.nan, -np.nan, 1.5, -1.5, np.inf, 5e-324])
    result = fastsel.isin(items, test, invert=invert)
    assert result.tolist() == np.isin(items, test, invert=invert).tolist()


def test_items_at_an_odd_address_equal_numpy():
    items = np.frombuffer(b"\0" + np.arange(12, dtype="f8").tobytes(), np.uint8)[1:]
    items = items.view("f8").reshape(3, 4)
    assert not items.flags.aligned
    expected = np.isin(items, [3, 7])
    assert np.array_equal(fastsel.isin(items, [3.0, 7.0]), expected)
    assert np.array_equal(fastsel.isin(items.T, [3.0, 7.0]), expected.T)
