"""Sorting on several threads: the same as NumPy's sort, however the values fall into ranges."""

import numpy as np
import pytest

import fastsel
from fastsel import _ascending

SIZES = (1, 2, 63, 64, 65, 1000, 4097)

VALUES = {
    "random": lambda n, r: r.integers(-50, 50, n),
    "all_equal": lambda n, r: np.full(n, 7),
    "two_values": lambda n, r: r.integers(0, 2, n),
    "sorted": lambda n, r: np.arange(n),
    "reversed": lambda n, r: np.arange(n)[::-1],
    "floats_with_nan": lambda n, r: np.where(r.random(n) < 0.3, np.nan, r.random(n)),
    "mostly_nan": lambda n, r: np.where(r.random(n) < 0.9, np.nan, r.random(n)),
    "dates_with_nat": lambda n, r: np.where(
        r.random(n) < 0.3, np.datetime64("NaT"), r.integers(0, 99, n).astype("M8[s]")
    ),
    "strided": lambda n, r: r.integers(0, 99, 3 * n)[::3],
    "swapped": lambda n, r: r.integers(0, 99, n).astype(">i4"),
}


@pytest.fixture
def many_pieces(monkeypatch):
    """Pieces of two values are worth a thread."""
    monkeypatch.setattr(_ascending, "MIN_SORT_ITEMS", 2)
    monkeypatch.setattr(_ascending, "SAMPLE", 8)


def payload_nan(count):
    """NaN that differ in their payloads."""
    bits = np.uint64(0x7FF8000000000000) + np.arange(count, dtype=np.uint64)
    return bits.view(np.float64)


@pytest.mark.parametrize("kind", VALUES)
def test_sort_equals_numpy(kind, many_pieces):
    for size in SIZES:
        values = VALUES[kind](size, np.random.default_rng(size))
        for threads in (1, 2, 3, 7):
            with fastsel.threads(threads):
                result = _ascending.sort(values)
            expected = np.sort(values)
            assert result.dtype == expected.dtype
            equal_nan = values.dtype.kind in "fM"
            assert np.array_equal(result, expected, equal_nan=equal_nan), (size, threads)


@pytest.mark.parametrize("kind", VALUES)
def test_argsort_is_as_stable_as_numpys(kind, many_pieces):
    for size in SIZES:
        values = VALUES[kind](size, np.random.default_rng(size))
        expected = np.argsort(values, kind="stable")
        for threads in (1, 2, 3, 7):
            with fastsel.threads(threads):
                assert np.array_equal(_ascending.argsort(values, "stable"), expected), size


def test_sort_keeps_the_bits_of_nan(many_pieces):
    values = np.concatenate((payload_nan(40), np.arange(100.0)))
    for threads in (1, 2, 7):
        with fastsel.threads(threads):
            result = _ascending.sort(values)
        assert result[100:].tobytes() == values[:40].tobytes()


def test_values_are_not_modified(many_pieces):
    values = np.random.default_rng(1).random(1000)
    before = values.copy()
    with fastsel.threads(3):
        _ascending.sort(values)
        _ascending.argsort(values, "quicksort")
    assert values.tobytes() == before.tobytes()


def test_places_inverts_a_permutation():
    order = np.random.default_rng(2).permutation(100)
    assert np.array_equal(_ascending.places(order)[order], np.arange(100))
