"""Odd arrays and array-likes: the result or the error is NumPy's, at each size of LENGTHS."""

import numpy as np
import pytest
from comparison import outcome
from grids import covering
from odd_arguments import (
    ARRAY_LIKES,
    DUCK_ARRAY,
    LENGTHS,
    DuckArray,
    assert_same_answer,
    check_outcome,
    check_unique_values,
    table,
)

import fastsel

if np.lib.NumpyVersion(np.__version__) < "2.4.0":
    pytest.skip("compares with the answers and errors of NumPy 2.4", allow_module_level=True)


@covering(
    at_least=152,
    kind=ARRAY_LIKES,
    length=LENGTHS,
    name=["nonzero", "flatnonzero", "argwhere", "count_nonzero"],
)
def test_positions_and_counts_of_array_likes_equal_numpy(kind, length, name):
    check_outcome(name, ARRAY_LIKES[kind](table(length)))


@covering(kind=ARRAY_LIKES, length=LENGTHS)
def test_counts_along_axes_of_array_likes_equal_numpy(kind, length):
    rows = table(length)
    a = ARRAY_LIKES[kind](rows)
    for axis in (0, 1, (0, 1), ()):
        check_outcome("count_nonzero", a, axis)
        check_outcome("count_nonzero", a, axis, keepdims=True)


@covering(at_least=76, kind=ARRAY_LIKES, length=LENGTHS, name=["compress", "extract"])
def test_selections_by_and_from_array_likes_equal_numpy(kind, length, name):
    rows = table(length)
    odd = ARRAY_LIKES[kind](rows)
    for condition in ([True, False], [0, 1, 0, 0], rows.ravel() > 3, rows > 3):
        check_outcome(name, condition, odd)
    check_outcome(name, odd, rows)
    check_outcome(name, odd, rows.ravel())
    check_outcome(name, odd, odd)


@covering(kind=ARRAY_LIKES, length=LENGTHS)
def test_unique_of_array_likes_equals_numpy(kind, length):
    rows = table(length)
    odd = ARRAY_LIKES[kind](rows)
    for extras in ({}, {"return_index": True}, {"return_inverse": True, "return_counts": True}):
        check_outcome("unique", odd, **extras)
        check_outcome("unique", odd, axis=0, **extras)
    for name in ("unique_all", "unique_counts", "unique_inverse"):
        check_outcome(name, odd)


@covering(kind=ARRAY_LIKES, length=LENGTHS)
def test_array_like_out_of_compress_equals_numpy(kind, length):
    rows = table(length)
    condition = np.arange(len(rows)) % 2 == 0
    for selected in (rows[::2], rows[::2].astype(int)):
        ours, theirs = (ARRAY_LIKES[kind](selected.copy()) for _ in range(2))
        if isinstance(theirs, np.ndarray | DuckArray):
            result = outcome(fastsel.compress, condition, rows, 0, ours)
            expected = outcome(np.compress, condition, rows, 0, theirs)
            if expected[0] == "returns" and theirs is not DUCK_ARRAY:
                assert result[1] is ours
            assert_same_answer(result, expected)
        else:
            check_outcome("compress", condition, rows, 0, theirs)


@covering(kind=ARRAY_LIKES, length=LENGTHS)
def test_boolean_mask_of_odd_arrays_equals_indexing(kind, length):
    rows = table(length)
    a = ARRAY_LIKES[kind](rows)
    if isinstance(a, np.ndarray):
        mask = np.arange(a.size).reshape(a.shape) % 2 == 0
        assert_same_answer(outcome(fastsel.boolean_mask, a, mask), outcome(lambda: a[mask]))


@covering(kind=ARRAY_LIKES, length=LENGTHS)
def test_unique_values_of_array_likes_equal_numpy(kind, length):
    check_unique_values(ARRAY_LIKES[kind](table(length)))
