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
    """Results, and what compiled code reads of them."""
    columns, flat, rows = fastsel.nonzero(a), fastsel.flatnonzero(a), fastsel.argwhere(a)
    count, values = fastsel.count_nonzero(a), fastsel.unique(a)
    seen = [0.0]
    for column in columns:
        for item in column:
            seen.append(item)
    for row in rows:
        for item in row:
            seen.append(item)
    for item in flat:
        seen.append(item)
    for item in values:
        seen.append(item)
    return columns, flat, rows, count, values, seen


LAYOUTS = {"C": lambda a: a, "strided": lambda a: a[::2], "F": np.asfortranarray}


@covering(dtype=["bool", "float64"], ndim=[1, 2, 3], layout=LAYOUTS)
def test_results_are_those_of_python(dtype, ndim, layout):
    """Arrays of every length share one test, because compiling takes longest."""
    for length in (0, 3, 20_000):
        numbers = np.arange(2 * length)
        a = (numbers % 7 > 3).astype(dtype) * numbers.astype(dtype)
        a = a.reshape({1: (-1,), 2: (length, 2), 3: (length, 2, 1)}[ndim])
        array = LAYOUTS[layout](a)
        expected = compiled.py_func(array)
        found = compiled(array)
        assert_same((*found[:3], found[4]), (*expected[:3], expected[4]))
        assert found[3] == expected[3]
        assert found[5] == expected[5]


REFUSED = {
    "isin": (lambda a: fastsel.isin(a, a), r"fastsel\.isin\(array"),
    "gather_nd": (lambda a: fastsel.gather_nd(a, a), r"fastsel\.gather_nd\(array"),
    "set_num_threads": (lambda a: fastsel.set_num_threads(1), r"fastsel\.set_num_threads\("),
    "option": (lambda a: fastsel.unique(a, axis=0), r"fastsel\.unique\(array.*, axis="),
    "number": (lambda a: fastsel.flatnonzero(a[0]), r"fastsel\.flatnonzero\(int64\)"),
}


@pytest.mark.parametrize(("call", "named"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_not_served_is_refused_by_name(call, named):
    served = "nonzero, flatnonzero, argwhere, count_nonzero, unique"
    with pytest.raises(numba.TypingError, match=f"cannot call {named}.*may call {served} of"):
        numba.njit(call)(np.arange(3))
