"""fastsel's functions called from code that numba compiles."""

import numpy as np
import pytest
from comparison import assert_same
from grids import covering

import fastsel

numba = pytest.importorskip("numba", reason="needs pip install numba")
from fastsel import _numba  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def _registered():
    """Register fastsel's functions, as numba does itself if fastsel is installed."""
    _numba.register()


@numba.njit
def compiled(a):
    """The results of five functions, and the items of their arrays, as compiled code reads them."""
    columns, flat, rows = fastsel.nonzero(a), fastsel.flatnonzero(a), fastsel.argwhere(a)
    count, values = fastsel.count_nonzero(a), fastsel.unique(a)
    items = [0.0]
    for column in columns:
        for item in column:
            items.append(item)
    for row in rows:
        for item in row:
            items.append(item)
    for item in flat:
        items.append(item)
    for item in values:
        items.append(item)
    return columns, flat, rows, count, values, items


LAYOUTS = {"C": lambda a: a, "strided": lambda a: a[::2], "F": np.asfortranarray}


@covering(dtype=["bool", "float64"], ndim=[1, 2, 3], layout=LAYOUTS)
def test_results_are_those_of_python(dtype, ndim, layout):
    """Arrays of three lengths share one test, because compilation takes most of its time."""
    for length in (0, 3, 20_000):
        numbers = np.arange(2 * length)
        a = (numbers % 7 > 3).astype(dtype) * numbers.astype(dtype)
        a = a.reshape({1: (-1,), 2: (length, 2), 3: (length, 2, 1)}[ndim])
        array = LAYOUTS[layout](a)
        *arrays, count, values, items = compiled(array)
        *expected_arrays, expected_count, expected_values, expected_items = compiled.py_func(array)
        assert_same((*arrays, values), (*expected_arrays, expected_values))
        assert count == expected_count
        assert items == expected_items


@pytest.mark.parametrize("layout", LAYOUTS)
def test_remap_of_three_arrays_is_that_of_python(layout):
    @numba.njit
    def compiled_remap(a, keys, values, rows):
        return fastsel.remap(a, keys, values), fastsel.remap(a, keys, rows)

    a = LAYOUTS[layout](np.arange(60).reshape(20, 3) % 7)
    keys, values = np.arange(7), np.arange(7) * 1.5
    rows = np.arange(14).reshape(7, 2).astype("i2")
    assert_same(compiled_remap(a, keys, values, rows), (values[a], rows[a]))
    with pytest.raises(ValueError, match=r"item 7 at position \(0, 0\) of a"):
        compiled_remap(a + 7, keys, values, rows)


# name: (a call, a pattern of its name in the error)
REFUSED = {
    "isin": (lambda a: fastsel.isin(a, a), r"fastsel\.isin\(array"),
    "gather_nd": (lambda a: fastsel.gather_nd(a, a), r"fastsel\.gather_nd\(array"),
    "set_num_threads": (lambda a: fastsel.set_num_threads(1), r"fastsel\.set_num_threads\("),
    "option": (lambda a: fastsel.unique(a, axis=0), r"fastsel\.unique\(array.*, axis="),
    "default": (lambda a: fastsel.remap(a, a, a, default=a), r"fastsel\.remap\(array.*, default="),
    "two arrays": (lambda a: fastsel.remap(a, a), r"fastsel\.remap\(array"),
    "number": (lambda a: fastsel.flatnonzero(a[0]), r"fastsel\.flatnonzero\(int64\)"),
}


@pytest.mark.parametrize(("call", "name"), REFUSED.values(), ids=REFUSED.keys())
def test_other_calls_raise_an_error_that_names_them(call, name):
    accepted = "nonzero, flatnonzero, argwhere, count_nonzero, unique, remap"
    with pytest.raises(numba.TypingError, match=f"cannot call {name}.*may call {accepted} of"):
        numba.njit(call)(np.arange(3))
