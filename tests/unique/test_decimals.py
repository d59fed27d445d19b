"""The algorithm `decimals`: doubles of few digits, which become integers."""

import numpy as np
import pytest
import reference
from comparison import assert_same
from grids import covering
from hypothesis import given
from hypothesis import strategies as st

import fastsel
from fastsel._unique import _plan

SIZE = 5000
COLUMNS = {
    "ids": lambda r: r.integers(0, 3000, SIZE) + 0.0,
    "negative": lambda r: -r.integers(0, 3000, SIZE) - 1.0,
    "one digit": lambda r: np.round(r.normal(37, 40, SIZE), 1),
    "prices": lambda r: np.round(r.beta(2, 5, SIZE) * 9, 2),
    "three digits": lambda r: np.round(r.random(SIZE), 3),
    "a sentinel": lambda r: np.where(r.random(SIZE) < 0.02, -999.0, r.integers(0, 3000, SIZE)),
    "infinite": lambda r: np.where(
        r.random(SIZE) < 0.02, r.choice([-np.inf, np.inf], SIZE), r.integers(0, 3000, SIZE)
    ),
    "large": lambda r: np.where(
        r.random(SIZE) < 0.02,
        r.choice([-1e17, 1e17], SIZE) + r.integers(0, 900, SIZE) * 1e3,
        r.integers(-900, 900, SIZE),
    ),
}


@pytest.fixture
def chosen(monkeypatch):
    """The algorithms that found groups."""
    names = []
    monkeypatch.setattr(_plan, "watcher", lambda name, reason: names.append(name))
    return names


def column_of(name, nan_share, seed=1):
    """A column of doubles, with zeros of both signs and NaN of both signs."""
    rng = np.random.default_rng(seed)
    column = COLUMNS[name](rng)
    column[rng.random(SIZE) < 0.01] = 0.0
    column[rng.random(SIZE) < nan_share] = np.nan
    signs = np.where(rng.random(SIZE) < 0.5, -1.0, 1.0)
    return np.where((column == 0) | np.isnan(column), np.copysign(column, signs), column)


@covering(
    at_least=40,
    name=list(COLUMNS),
    nan_share=[0, 0.04],
    equal_nan=[True, False],
    sorted=[True, False],
    outputs=[(), ("index",), ("inverse",), ("counts",), ("index", "inverse", "counts")],
    dtype=["<f8", ">f8"],
    threads=[1, 2, 7],
)
def test_columns_of_decimals_equal_the_reference(
    name, nan_share, equal_nan, sorted, outputs, dtype, threads, chosen, kernels_with_few_threads
):
    array = column_of(name, nan_share).astype(dtype)
    rule = {"equal_nan": equal_nan, "sorted": sorted}
    rule |= {f"return_{output}": True for output in outputs}
    with fastsel.threads(threads):
        result = fastsel.unique(array, **rule)
    assert_same(result, reference.unique(array, **rule))
    # The tables of seven threads would take too much memory if they had counts.
    if threads < 7 or "counts" not in outputs:
        assert chosen == ["decimals"]
    assert (result[0] if outputs else result).flags.owndata


@pytest.mark.parametrize("position", [0, 63, 2500, SIZE - 1])
@pytest.mark.parametrize("other", [1 / 3, 0.0001, 5e-324, np.nextafter(7.0, 8), 0.1 + 0.2])
def test_a_double_that_is_no_decimal_makes_way_for_another_algorithm(
    position, other, chosen, kernels_with_few_threads
):
    array = column_of("ids", 0, seed=position)
    array[position] = other
    expected = reference.unique(array, return_inverse=True, sorted=False)
    assert_same(fastsel.unique(array, return_inverse=True, sorted=False), expected)
    assert chosen != ["decimals"]


EDGES = [2.0**51 - 1, 2.0**51, 2.0**51 + 1, 2.0**52 + 1, 2.0**53, 1e300, np.inf, np.nan, 0.0]
EDGES += [2.0**51 / 10, 2.0**51 / 10 - 0.1, 0.5, 1.5, 2.5, 1e-3, 1e-4, 5e-324, 36.6, 0.3, 0.1 + 0.2]


@given(
    st.lists(st.sampled_from([sign * edge for edge in EDGES for sign in (1, -1)]), min_size=1),
    st.sampled_from([1.0, 10.0, 100.0]),
)
def test_edges_among_decimals_equal_the_reference(forced_kernels, edges, scale):
    """1 % of the doubles are edges."""
    array = np.arange(100.0 * len(edges)) % 300 / scale
    array[::100][: len(edges)] = edges
    for flags in ({}, {"return_counts": True}, {"return_inverse": True, "sorted": False}):
        assert_same(fastsel.unique(array, **flags), reference.unique(array, **flags))
