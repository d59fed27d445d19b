"""The argument dtype of nonzero, flatnonzero and argwhere: integers that can hold each index."""

import numpy as np
import pytest
import reference
from arrays import WORD_DTYPES, make
from comparison import assert_same, outcome
from grids import covering
from layouts import LAYOUTS, has_layout

import fastsel

FUNCTIONS = ("nonzero", "flatnonzero", "argwhere")
INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i2", ">u4", ">i8", "q", "Q", "intc"]
SHAPES = [(1,), (63,), (65,), (100,), (9, 14), (2, 3, 21), (5, 0), (0,), (1, 128)]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_each_integer_dtype_equals_the_reference(function, dtype, num_threads):
    for shape in SHAPES:
        array = make("int32", shape, 0.4)
        expected = getattr(reference, function)(array, dtype=dtype)
        assert_same(getattr(fastsel, function)(array, dtype=dtype), expected)


@covering(name=WORD_DTYPES, layout=LAYOUTS, function=FUNCTIONS)
def test_each_dtype_and_layout_of_the_items_equals_the_reference(
    name, layout, function, kernels_with_few_threads
):
    array = make(name, (40, 70), 0.1)
    if has_layout(array.dtype, layout):
        array = LAYOUTS[layout](array)
        for dtype in ("int32", "uint16", ">i8"):
            expected = getattr(reference, function)(array, dtype=dtype)
            assert_same(getattr(fastsel, function)(array, dtype=dtype), expected)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("array", [[0, 3], np.array([0, "a"], object), make("StringDType", 9), 7])
def test_calls_that_numpy_serves_have_the_dtype(function, array):
    array = np.asarray(array)
    if function == "nonzero" and array.ndim == 0:
        expected = outcome(np.nonzero, array)
        assert outcome(fastsel.nonzero, array, dtype="i4") == expected
        return
    expected = getattr(reference, function)(array, dtype="i4")
    assert_same(getattr(fastsel, function)(array, dtype="i4"), expected)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(("dtype", "max_index"), [("i1", 127), ("u1", 255), ("i2", 2**15 - 1)])
def test_index_that_may_not_fit_raises_overflow_error(function, dtype, max_index):
    """An axis that is too long raises, even if no item is non-zero."""
    call = getattr(fastsel, function)
    assert_same(call(np.zeros(max_index + 1), dtype=dtype), call(np.zeros(0), dtype=dtype))
    length, name = max_index + 2, np.dtype(dtype).name
    message = (
        f"^a has a length of {length}, whose indices may not fit dtype {name}: .* {max_index}$"
    )
    for array in (np.zeros(length), np.zeros((length, 1)), np.zeros(length, object)):
        with pytest.raises(OverflowError, match=message):
            call(array, dtype=dtype)


def test_nonzero_needs_each_axis_to_fit_and_flatnonzero_the_size():
    array = np.ones((100, 100), bool)
    assert fastsel.nonzero(array, dtype="i1")[0].dtype == np.int8
    with pytest.raises(OverflowError, match="10000"):
        fastsel.flatnonzero(array, dtype="i1")


def test_overflow_error_comes_before_the_allocation():
    huge = np.broadcast_to(False, 2**62)
    with pytest.raises(OverflowError, match=f"{2**62}.*uint32"):
        fastsel.flatnonzero(huge, dtype=np.uint32)
    with pytest.raises(OverflowError, match=f"{2**31 + 1}.*int32"):
        fastsel.argwhere(np.broadcast_to(False, (2, 2**31 + 1)), dtype=np.int32)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["f4", bool, "m8[s]", object, "S4", "i4,i4", "T"])
def test_other_dtypes_raise_type_error(function, dtype):
    for array in (np.ones(3), np.ones(30_000), [1]):
        with pytest.raises(TypeError, match=r"^dtype must be an integer dtype, got "):
            getattr(fastsel, function)(array, dtype=dtype)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_masked_array_has_the_same_indices_with_a_dtype(function):
    masked = np.ma.array([1, 0, 2, 3], mask=[0, 0, 1, 0])
    without_dtype = getattr(fastsel, function)(masked)
    with_dtype = getattr(fastsel, function)(masked, dtype="i4")
    for ours, expected in zip(np.atleast_1d(with_dtype), np.atleast_1d(without_dtype), strict=True):
        assert_same(np.asarray(ours), np.asarray(expected).astype("i4"))


def test_columns_of_each_dtype_are_contiguous():
    array = make("int32", (90, 90), 0.3)
    for dtype in (None, "i4", "i2"):
        assert fastsel.argwhere(array, dtype=dtype).flags.f_contiguous
        assert all(index.flags.c_contiguous for index in fastsel.nonzero(array, dtype=dtype))


def test_patched_numpy_rejects_the_argument_dtype():
    with fastsel.patched(), pytest.raises(TypeError, match="dtype"):
        np.flatnonzero([1], dtype="i4")
