"""dtype= of nonzero, flatnonzero and argwhere: any integer dtype whose numbers hold each index."""

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
def test_each_integer_dtype(function, dtype, num_threads):
    for shape in SHAPES:
        array = make("int32", shape, 0.4)
        expected = getattr(reference, function)(array, dtype=dtype)
        assert_same(getattr(fastsel, function)(array, dtype=dtype), expected)


@covering(name=WORD_DTYPES, layout=LAYOUTS, function=FUNCTIONS)
def test_each_dtype_and_layout_of_the_items(name, layout, function, few_threads):
    array = make(name, (40, 70), 0.1)
    if has_layout(array.dtype, layout):
        array = LAYOUTS[layout](array)
        for dtype in ("int32", "uint16", ">i8"):
            expected = getattr(reference, function)(array, dtype=dtype)
            assert_same(getattr(fastsel, function)(array, dtype=dtype), expected)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("array", [[0, 3], np.array([0, "a"], object), make("StringDType", 9), 7])
def test_what_numpy_serves(function, array):
    array = np.asarray(array)
    if function == "nonzero" and array.ndim == 0:
        expected = outcome(np.nonzero, array)
        assert outcome(fastsel.nonzero, array, dtype="i4") == expected
        return
    expected = getattr(reference, function)(array, dtype="i4")
    found = getattr(fastsel, function)(array, dtype="i4")
    assert_same(found, expected)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(("dtype", "most"), [("i1", 127), ("u1", 255), ("i2", 2**15 - 1)])
def test_an_index_that_may_not_fit(function, dtype, most):
    """Whether or not an item is non-zero there."""
    call = getattr(fastsel, function)
    assert_same(call(np.zeros(most + 1), dtype=dtype), call(np.zeros(0), dtype=dtype))
    length, name = most + 2, np.dtype(dtype).name
    message = rf"^a has a length of {length}, whose indices may not fit dtype {name}: .* {most}$"
    for array in (np.zeros(length), np.zeros((length, 1)), np.zeros(length, object)):
        with pytest.raises(OverflowError, match=message):
            call(array, dtype=dtype)


def test_each_axis_is_as_long_as_it_is_and_a_flat_array_as_all():
    array = np.ones((100, 100), bool)
    assert fastsel.nonzero(array, dtype="i1")[0].dtype == np.int8
    with pytest.raises(OverflowError, match="10000"):
        fastsel.flatnonzero(array, dtype="i1")


def test_an_error_comes_before_the_memory():
    vast = np.broadcast_to(False, 2**62)
    with pytest.raises(OverflowError, match=f"{2**62}.*uint32"):
        fastsel.flatnonzero(vast, dtype=np.uint32)
    with pytest.raises(OverflowError, match=f"{2**31 + 1}.*int32"):
        fastsel.argwhere(np.broadcast_to(False, (2, 2**31 + 1)), dtype=np.int32)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["f4", bool, "m8[s]", object, "S4", "i4,i4", "T"])
def test_other_dtypes_are_refused(function, dtype):
    for array in (np.ones(3), np.ones(30_000), [1]):
        with pytest.raises(TypeError, match=r"^dtype must be an integer dtype, got "):
            getattr(fastsel, function)(array, dtype=dtype)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_subclass_keeps_its_own_indices(function):
    masked = np.ma.array([1, 0, 2, 3], mask=[0, 0, 1, 0])
    plain = getattr(fastsel, function)(masked)
    found = getattr(fastsel, function)(masked, dtype="i4")
    for ours, theirs in zip(np.atleast_1d(found), np.atleast_1d(plain), strict=True):
        assert_same(np.asarray(ours), np.asarray(theirs).astype("i4"))


def test_columns_lie_as_those_of_intp():
    array = make("int32", (90, 90), 0.3)
    for dtype in (None, "i4", "i2"):
        assert fastsel.argwhere(array, dtype=dtype).flags.f_contiguous
        assert all(index.flags.c_contiguous for index in fastsel.nonzero(array, dtype=dtype))


def test_numpy_has_no_such_argument_with_the_patch_either():
    with fastsel.patched(), pytest.raises(TypeError, match="dtype"):
        np.flatnonzero([1], dtype="i4")
