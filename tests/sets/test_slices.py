"""The argument `axis` of the set functions: slices are compared instead of items."""

import functools
import itertools

import numpy as np
import pytest
import reference
from arrays import BYTES_DTYPES, STRUCT_DTYPES, make
from comparison import assert_same, assert_same_outcome, outcome
from forcing import ALGORITHMS, force
from grids import covering
from layouts import LAYOUTS, has_layout
from marks import SIGNALLING_NANS

import fastsel
from fastsel._unique import _numpy_unique

pytestmark = SIGNALLING_NANS

SORTED_SET_FUNCTIONS = ("intersect1d", "union1d", "setdiff1d", "setxor1d")
SLICE_LAYOUTS = [name for name in LAYOUTS if "broadcast" not in name]  # broadcasting adds an axis
KEY_DTYPES = [name for name in BYTES_DTYPES if name not in STRUCT_DTYPES]


def two_arrays_of_slices(dtype, sizes, width=3, axis=0):
    """Two arrays with `sizes` slices along the axis; about half of the slices of each array are in
    the other array."""
    pool = make(dtype, (6, width), 0.5)
    rng = np.random.default_rng(sum(sizes))
    arrays = [
        pool[rng.integers(low, low + 4, size)] for low, size in zip((0, 2), sizes, strict=True)
    ]
    return [np.moveaxis(array, 0, axis) for array in arrays]


def check_set_functions_of_slices(first, second, axis):
    for invert in (False, True):
        expected = reference.isin(first, second, invert, axis)
        assert_same(fastsel.isin(first, second, invert=invert, axis=axis), expected)
    assert_same(
        fastsel.intersect1d(first, second, return_indices=True, axis=axis),
        reference.intersect1d(first, second, return_indices=True, axis=axis),
    )
    for name in SORTED_SET_FUNCTIONS:
        expected = getattr(reference, name)(first, second, axis=axis)
        assert_same(getattr(fastsel, name)(first, second, axis=axis), expected)
    assert_same(
        fastsel.setdiff1d(first, second, assume_unique=True, axis=axis),
        reference.setdiff1d(first, second, assume_unique=True, axis=axis),
    )


@covering(at_least=60, name=KEY_DTYPES, layout=SLICE_LAYOUTS, axis=[0, 1, -1])
def test_every_dtype_and_layout_equals_the_reference(name, layout, axis, kernels_with_few_threads):
    arrays = two_arrays_of_slices(name, (40, 15), axis=axis)
    if has_layout(arrays[0].dtype, layout):
        check_set_functions_of_slices(*(LAYOUTS[layout](array) for array in arrays), axis)


@covering(
    at_least=40,
    name=["bool", "uint8", "int32", "int64", "float32", "float64", "complex128", "U3", "S3"],
    algorithm=ALGORITHMS,
    sizes=[(300, 40), (40, 300)],
    width=[1, 2, 5],
)
def test_every_algorithm_equals_the_reference(
    name, algorithm, sizes, width, num_threads, monkeypatch
):
    force(monkeypatch, algorithm)
    check_set_functions_of_slices(*two_arrays_of_slices(name, sizes, width), 0)


@pytest.mark.parametrize("name", STRUCT_DTYPES)
def test_slices_of_structured_items_are_compared_as_by_numpy_unique(name):
    first, second = two_arrays_of_slices(name, (20, 9))
    joined = np.concatenate((first, second))
    assert_same_outcome(
        outcome(fastsel.union1d, first, second, axis=0), outcome(np.unique, joined, axis=0)
    )
    if outcome(np.unique, joined, axis=0)[0] == "returns":
        check_set_functions_of_slices(first, second, 0)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2])
def test_slices_of_several_dimensions_equal_the_reference(axis, kernels_with_few_threads):
    rng = np.random.default_rng(axis % 3)
    first, second = rng.integers(0, 2, (4, 4, 4)), rng.integers(0, 2, (4, 4, 4))
    second[..., :2, 1:3] = first[..., :2, 1:3]
    for one, other in ((first, second), (first.astype("f4"), second.astype("f4"))):
        check_set_functions_of_slices(one, other, axis)
        check_set_functions_of_slices(np.take(one, [0, 2, 0], axis), other, axis)


@pytest.mark.parametrize("dtype", ["i8", "f8", "U3"])
def test_no_slices_and_slices_without_items_equal_the_reference(dtype, kernels_with_few_threads):
    shapes = [(0, 3), (4, 3), (0, 0), (4, 0), (1, 0), (2, 0, 3), (0, 2, 3)]
    for first_shape, second_shape in itertools.product(shapes, repeat=2):
        if first_shape[1:] == second_shape[1:]:
            check_set_functions_of_slices(
                np.ones(first_shape, dtype), np.ones(second_shape, dtype), 0
            )


def test_an_axis_of_one_dimension_changes_no_result(kernels_with_few_threads):
    """All NaN are one value, and objects are accepted, as without an axis."""
    first, second = np.array([3, 1, np.nan, 3, np.nan]), np.array([3.0, np.nan])
    for a, b in ((first, second), (first.astype(object)[:2], second.astype(object)[:1])):
        for name in ("isin", *SORTED_SET_FUNCTIONS):
            for axis in (0, -1):
                expected = getattr(fastsel, name)(a, b)
                assert_same(getattr(fastsel, name)(a, b, axis=axis), expected)


def test_a_slice_with_nan_never_matches(num_threads):
    rows = np.array([[1.0, np.nan], [1.0, 2.0], [-0.0, 1.0], [0.0, 1.0], [1.0, np.nan]])
    assert fastsel.isin(rows, rows, axis=0).tolist() == [False, True, True, True, False]
    assert len(fastsel.intersect1d(rows, rows, axis=0)) == 2
    assert len(fastsel.union1d(rows, rows, axis=0)) == 6
    assert len(fastsel.setdiff1d(rows, rows, axis=0)) == 2
    assert len(fastsel.setxor1d(rows, rows, axis=0)) == 4


def test_the_first_of_equal_slices_is_returned(kernels_with_few_threads):
    rows = np.array([[0.0, 1.0], [-0.0, 1.0]])
    for order in (rows, rows[::-1]):
        values, index, _ = fastsel.intersect1d(order, rows, return_indices=True, axis=0)
        assert index.tolist() == [0]
        assert values.tobytes() == order[:1].tobytes()


@pytest.mark.parametrize(
    ("first_dtype", "second_dtype"),
    [
        *(("i4", "i8"), ("u1", "i2"), ("i8", "u8"), ("f4", "f8"), ("i8", "f8"), ("i4", "c16")),
        *(("U2", "U5"), ("M8[s]", "M8[ms]"), ("bool", "u1"), (">i4", "i4"), ("f4", "c8")),
    ],
)
def test_slices_of_two_dtypes_are_compared_in_their_common_dtype(
    first_dtype, second_dtype, kernels_with_few_threads
):
    a = np.array([[0, 1], [1, 1], [3, 0], [0, 1]]).astype(first_dtype)
    b = np.array([[1, 1], [1, 0], [0, 1]]).astype(second_dtype)
    common = np.result_type(a, b)
    for first, second in ((a, b), (b, a)):
        in_common_dtype = first.astype(common), second.astype(common)
        assert_same(fastsel.isin(first, second, axis=0), reference.isin(*in_common_dtype, axis=0))
        for name in ("intersect1d", "union1d", "setxor1d"):
            expected = getattr(reference, name)(*in_common_dtype, axis=0)
            assert_same(getattr(fastsel, name)(first, second, axis=0), expected)
        result = fastsel.setdiff1d(first, second, axis=0)
        assert result.dtype == first.dtype
        assert_same(result.astype(common), reference.setdiff1d(*in_common_dtype, axis=0))


@pytest.mark.parametrize("dtype", ["S0", "U0", "V0", np.dtype([])], ids=str)
def test_slices_of_items_of_0_bytes_are_equal(dtype, kernels_with_few_threads):
    many, few, none = (np.ndarray((size, 2), dtype) for size in (300, 2, 0))
    assert fastsel.isin(many, few, axis=0).tolist() == [True] * 300
    assert fastsel.index_in(many, few, axis=0).tolist() == [0] * 300
    assert fastsel.setdiff1d(many, few, assume_unique=True, axis=0).shape == (0, 2)
    shapes = {"intersect1d": (1, 0), "union1d": (1, 1), "setdiff1d": (0, 1), "setxor1d": (0, 1)}
    for name, sizes in shapes.items():
        for other, size in zip((few, none), sizes, strict=True):
            values = getattr(fastsel, name)(many, other, axis=0)
            assert_same(values, many[:size].copy())


def test_large_integers_are_compared_exactly():
    rows = np.array([[2**63, 1], [5, 1]], np.uint64)
    tests = np.array([[-(2**63), 1], [5, 1]])
    assert fastsel.isin(rows, tests, axis=0).tolist() == [False, True]
    assert fastsel.setdiff1d(tests, rows, axis=0).tolist() == [[-(2**63), 1]]


@pytest.mark.parametrize("name", ["isin", "index_in", *SORTED_SET_FUNCTIONS])
def test_errors_name_the_wrong_arguments(name):
    call = getattr(fastsel, name)
    names = ("ar1", "ar2") if name in SORTED_SET_FUNCTIONS else ("element", "test_elements")
    a = np.ones((4, 3))
    with pytest.raises(np.exceptions.AxisError, match="axis 2 is out of bounds"):
        call(a, a, axis=2)
    for axis in (2**40, -(2**70)):  # neither fits a C int
        with pytest.raises(np.exceptions.AxisError, match=f"axis {axis} is out of bounds"):
            call(a, a, axis=axis)
    with pytest.raises(np.exceptions.AxisError):
        call(1, 2, axis=0)
    with pytest.raises(TypeError, match="axis must be an integer, got float"):
        call(a, a, axis=1.0)
    with pytest.raises(
        ValueError,
        match=f"{names[0]} and {names[1]} must have the same lengths except along axis 0, got 3 "
        "and 2 along axis 1",
    ):
        call(a, a[:, :2], axis=0)
    with pytest.raises(ValueError, match="the same number of dimensions with an axis, got 2 an"):
        call(a, a[0], axis=0)
    with pytest.raises(TypeError, match=f"{names[1]} must not have objects with an axis"):
        call(a, a.astype(object), axis=0)
    with pytest.raises(ValueError, match=f"{names[0]} cannot be converted"):
        call([[1], [1, 2]], a, axis=0)


@pytest.mark.parametrize("kind", ["table", "hash", 3, ["sort"]])
def test_kind_with_an_axis_must_be_none_or_sort(kind):
    a = np.ones((4, 3), int)
    assert fastsel.isin(a, a, kind="sort", axis=1).all()
    with pytest.raises(ValueError, match="kind must be None or 'sort' with an axis, got"):
        fastsel.isin(a, a, kind=kind, axis=0)


def test_patched_numpy_functions_have_no_axis():
    for name in ("isin", *SORTED_SET_FUNCTIONS):
        with fastsel.patched(), pytest.raises(TypeError, match="axis"):
            getattr(np, name)([[1]], [[1]], axis=0)


def test_input_unmodified(kernels_with_few_threads):
    first, second = two_arrays_of_slices("float64", (50, 20))
    before = first.tobytes(), second.tobytes()
    first.flags.writeable = second.flags.writeable = False
    for call in (*(getattr(fastsel, name) for name in SORTED_SET_FUNCTIONS), fastsel.isin):
        functools.partial(call, axis=0)(first, second)
    assert (first.tobytes(), second.tobytes()) == before


def test_subclasses_are_treated_as_ndarrays(monkeypatch):
    monkeypatch.setattr(_numpy_unique, "as_given", None)  # NumPy serves no call
    masked = np.ma.array([[1, 2], [3, 4]], mask=[[1, 0], [0, 0]])
    assert fastsel.isin(masked, [[1, 2]], axis=0).tolist() == [True, False]
    assert type(fastsel.union1d(masked, masked, axis=0)) is np.ndarray
