"""The functions of fastsel.onnx: ONNX's rules, where they differ from NumPy's, and errors."""

import numpy as np
import pytest
import reference
from arrays import DTYPES, make, scattered
from comparison import assert_same
from layouts import LAYOUTS, as_swapped, has_layout
from numpy.dtypes import StringDType

import fastsel.onnx as fx
from fastsel.onnx import UniqueOutputs

TYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
    *("S3", "U3", "StringDType"),
    *(["bfloat16"] if "bfloat16" in DTYPES else []),
)
OTHER_TYPES = sorted(set(DTYPES) - {*TYPES, *(n for n in DTYPES if n[0] in "SU"), "object"})
TEXTS = np.array([["b", "a"], ["", "é"], ["b", "a"], ["\U0001f600", "\uffff"]], object)


def check_unique(array, axis=None, sorted=1, **kwargs):
    outputs = fx.unique(array, axis, sorted, **kwargs)
    values, index, inverse, counts = reference.unique_outputs(
        array, axis, sorted=bool(sorted), **kwargs
    )
    assert type(outputs) is UniqueOutputs
    for actual, expected in zip(outputs, (values, index, inverse.reshape(-1), counts), strict=True):
        assert_same(np.asarray(actual), np.asarray(expected))


# Every type.


@pytest.mark.parametrize("name", TYPES)
def test_every_type_equals_the_reference(name, kernels_with_few_threads):
    for shape in ((), (1,), (70,), (5, 14), (3, 4, 6), (0,), (3, 0)):
        array = make(name, shape)
        assert_same(fx.non_zero(array), np.ascontiguousarray(reference.argwhere(array).T))
        # NumPy cannot compare rows of StringDType; test_unique_slices_of_strings_... has them.
        if name != "StringDType":
            check_unique(array, sorted=0)
            for axis in range(-array.ndim, array.ndim):
                check_unique(array, axis, 0)
                check_unique(array, axis, 1)
        if shape:
            condition = make("bool", (shape[0],)).view(np.uint8) != 0
            assert_same(fx.compress(array, condition, 0), reference.compress(condition, array, 0))
            assert_same(
                fx.compress(array, condition, -len(shape)), fx.compress(array, condition, 0)
            )
            rows = np.arange(-shape[0], shape[0])[:, None]
            assert_same(fx.gather_nd(array, rows), reference.gather_nd(array, rows))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_equals_the_reference(layout, kernels_with_few_threads):
    for name in TYPES:
        if has_layout(DTYPES[name], layout):
            array = LAYOUTS[layout](make(name, (6, 15)))
            assert_same(fx.non_zero(array), np.ascontiguousarray(reference.argwhere(array).T))
            condition = np.arange(array.size) % 3 == 0
            assert_same(fx.compress(array, condition), reference.compress(condition, array))


@pytest.mark.parametrize("name", OTHER_TYPES)
def test_types_that_the_operators_lack_raise_type_error(name):
    array = make(name, (3,))
    calls = {
        "X": [lambda: fx.non_zero(array), lambda: fx.unique(array)],
        "input": [lambda: fx.compress(array, [True])],
        "data": [lambda: fx.gather_nd(array, [[0]])],
    }
    for argument, functions in calls.items():
        for function in functions:
            with pytest.raises(TypeError, match=f"^{argument} must be an array of one of ONNX's"):
                function()


def test_objects_that_are_no_strings_raise_type_error():
    with pytest.raises(TypeError, match=r"X must be .* got objects other than str"):
        fx.non_zero(np.array(["a", None], object))


# NonZero.


@pytest.mark.parametrize("scalar", [0, 3, 0.0, -0.0, np.nan, "", " ", True, 1j, 0j], ids=repr)
def test_nonzero_of_a_scalar_has_no_row(scalar):
    result = fx.non_zero(scalar)
    assert result.shape == (0, int(scalar != 0 and scalar != ""))
    assert result.dtype == np.int64


@pytest.mark.parametrize("shape", [(3, 50), (2, 3, 40), (70,), (0, 3), (2, 0)], ids=str)
def test_nonzero_is_one_contiguous_array(shape, kernels_with_few_threads):
    for name in ("bool", "float16", "StringDType"):
        result = fx.non_zero(make(name, shape))
        assert result.flags.c_contiguous
        assert result.dtype == np.int64
        assert result.shape[0] == len(shape)


def test_only_empty_strings_are_zero():
    texts = np.array([["", " "], ["0", ""]], object)
    assert fx.non_zero(texts).tolist() == [[0, 1], [1, 0]]
    assert fx.non_zero(np.array("", object)).shape == (0, 0)


# Compress.


def test_compress_condition_may_be_shorter_or_end_in_false():
    array = np.arange(6).reshape(3, 2)
    assert fx.compress(array, [True], axis=0).tolist() == [[0, 1]]
    assert fx.compress(array, [False, True] + [False] * 9, axis=1).tolist() == [[1], [3], [5]]
    assert fx.compress(array, []).tolist() == []
    assert fx.compress(array, np.zeros(0, bool), axis=-1).shape == (3, 0)


@pytest.mark.parametrize(
    ("condition", "axis", "text"),
    [
        ([0, 0, 0, 1], 0, "condition is True at position 3, beyond axis 0 of input, .* size 3"),
        ([0, 0, 0, 1, 1], 1, "at position 3, beyond axis 1 of input, .* size 2"),
        ([0] * 7 + [1], None, "at position 7, beyond the flattened input, .* size 6"),
    ],
)
def test_compress_true_beyond_the_end_raises(condition, axis, text):
    array = np.arange(6).reshape(3, 2)
    with pytest.raises(IndexError, match=text):
        fx.compress(array, np.array(condition, bool), axis)


def test_compress_true_beyond_an_empty_axis_raises():
    for shape, axis in (((0, 3), 0), ((0, 3), 1), ((2, 0, 3), 1), ((0,), None)):
        with pytest.raises(IndexError, match="condition is True"):
            fx.compress(np.zeros(shape), [False] * 3 + [True], axis)


@pytest.mark.parametrize(
    ("condition", "error", "text"),
    [
        ([1, 0], TypeError, "condition must be an array of bool, got dtype int64"),
        ([1.0], TypeError, "got dtype float64"),
        (np.zeros(0), TypeError, "got dtype float64"),
        (["a"], TypeError, "got dtype <U1"),
        (True, ValueError, r"condition must be 1-d, got shape \(\)"),
        ([[True]], ValueError, r"condition must be 1-d, got shape \(1, 1\)"),
    ],
)
def test_compress_condition_of_a_wrong_dtype_or_shape_raises(condition, error, text):
    with pytest.raises(error, match=text):
        fx.compress([1, 2], condition)


def test_compress_of_a_scalar_raises():
    with pytest.raises(ValueError, match="input must be at least 1-d, got a 0-d array"):
        fx.compress(5, [True])


# Unique.


def test_unique_inverse_is_1d_and_indices_are_int64():
    outputs = fx.unique(np.array([[2.0, 1.0], [1.0, 3.0]]))
    assert outputs._fields == ("Y", "indices", "inverse_indices", "counts")
    assert outputs.inverse_indices.tolist() == [1, 0, 0, 2]
    assert {output.dtype for output in outputs[1:]} == {np.dtype(np.int64)}


@pytest.mark.parametrize("name", ["float32", "float64", "float16", "bfloat16", "complex64"])
def test_unique_nans_are_one_group_at_the_end(name, kernels_with_few_threads):
    array = scattered(name, 300)
    array[::7] = np.array(np.nan, array.dtype)
    for sorted in (0, 1):
        for equal_nan in (True, False):
            check_unique(array, None, sorted, equal_nan=equal_nan)
    y, _, inverse, counts = fx.unique(array.reshape(3, 100))
    with np.errstate(invalid="ignore"):  # signalling NaN
        nans = (array != array).sum()
        assert y[-1] != y[-1]
    assert counts[-1] == nans == (inverse == len(y) - 1).sum()


def test_unique_rows_with_nan_stay_apart():
    outputs = fx.unique(np.array([[np.nan, 1], [np.nan, 1], [0, 1], [0, 1]]), axis=0)
    assert outputs.counts.tolist() == [2, 1, 1]


def test_unique_zeros_are_one_group_with_the_sign_of_the_first():
    y, indices, _, counts = fx.unique([-0.0, 0.0, 1.0])
    assert np.signbit(y).tolist() == [True, False]
    assert (indices.tolist(), counts.tolist()) == ([0, 2], [2, 1])


@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1, -3])
def test_unique_unsorted_is_the_order_of_first_occurrence(axis, kernels_with_few_threads):
    array = np.random.default_rng(5).integers(3, size=(4, 5, 6)).astype(np.float32)
    check_unique(array, axis, 0)


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
@pytest.mark.parametrize("sorted", [0, 1])
@pytest.mark.parametrize("dtype", [object, np.dtypes.StringDType()], ids=["object", "StringDType"])
def test_unique_slices_of_strings_equal_the_reference(dtype, axis, sorted):
    values, *expected = reference.unique_outputs(TEXTS.astype("U2"), axis, sorted=bool(sorted))
    y, *actual = fx.unique(TEXTS.astype(dtype), axis, sorted)
    assert y.dtype == dtype
    assert y.tolist() == values.tolist()
    for ours, theirs in zip(actual, expected, strict=True):
        assert_same(ours, theirs)


@pytest.mark.parametrize("sorted", [0, 1])
def test_unique_slices_of_strings_with_nan_stay_apart(sorted):
    X = np.array([["b", np.nan], ["b", "a"], ["b", np.nan]], StringDType(na_object=np.nan))
    for equal_nan in (False, True):
        outputs = fx.unique(X, axis=0, sorted=sorted, equal_nan=equal_nan)
        assert outputs.counts.tolist() == [1, 1, 1]
        assert sorted == 0 or outputs.indices.tolist() == [1, 0, 2]


def test_unique_1d_strings_with_an_axis_are_items():
    X = np.array(["b", np.nan, np.nan], StringDType(na_object=np.nan))
    assert fx.unique(X, 0).counts.tolist() == [1, 2]
    assert fx.unique(X, 0, equal_nan=False).counts.tolist() == [1, 1, 1]


def test_unique_slices_in_order_of_first_occurrence_need_no_order():
    X = np.array([["b", None], ["a", "b"], ["b", None]], StringDType(na_object=None))
    assert fx.unique(X, axis=0, sorted=0).counts.tolist() == [2, 1]


def test_unique_strings_are_in_the_order_of_code_points():
    """The order of code points is the order of the bytes in UTF-8."""
    y = fx.unique(TEXTS).Y
    assert y.tolist() == sorted(set(TEXTS.ravel()), key=lambda text: text.encode())


def test_unique_of_a_scalar_is_one_group():
    outputs = fx.unique(np.float32(3))
    assert [output.tolist() for output in outputs] == [[3.0], [0], [0], [1]]
    assert outputs.Y.dtype == np.float32


# (shape, axis): (shape of Y, indices, inverse_indices, counts)
EMPTY = {
    ((3, 0), 0): ((1, 0), [0], [0, 0, 0], [3]),
    ((3, 0), 1): ((3, 0), [], [], []),
    ((0, 3), 0): ((0, 3), [], [], []),
    ((0, 3), 1): ((0, 1), [0], [0, 0, 0], [3]),
    ((0, 0), 0): ((0, 0), [], [], []),
    ((0,), None): ((0,), [], [], []),
    ((0, 3), None): ((0,), [], [], []),
}


@pytest.mark.parametrize(("shape", "axis"), EMPTY)
@pytest.mark.parametrize("dtype", ["float32", "object", "uint8", "bfloat16"])
@pytest.mark.parametrize("sorted", [0, 1])
def test_unique_of_empty_arrays_returns_the_expected_groups(shape, axis, dtype, sorted):
    array = np.zeros(shape, DTYPES[dtype] if dtype != "object" else object)
    y, *indices = fx.unique(array, axis, sorted)
    assert (y.shape, *(output.tolist() for output in indices)) == EMPTY[shape, axis]
    assert y.dtype == array.dtype
    assert {output.dtype for output in indices} == {np.dtype(np.int64)}


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: fx.unique([1], sorted=2), ValueError, "sorted must be 0 or 1, got 2"),
        (lambda: fx.unique([1], sorted=-1), ValueError, "sorted must be 0 or 1, got -1"),
        (lambda: fx.unique([1], sorted=1.0), TypeError, "sorted must be an integer, got float"),
        (lambda: fx.unique([1], sorted=None), TypeError, "sorted must be an integer"),
        (lambda: fx.unique(5, axis=0), np.exceptions.AxisError, "axis 0 .* dimension 0"),
        (lambda: fx.unique([[1]], axis=2), np.exceptions.AxisError, "axis 2 .* dimension 2"),
        (lambda: fx.unique([[1]], axis=-3), np.exceptions.AxisError, "axis -3 .* dimension 2"),
        (lambda: fx.unique([1], axis=0.0), TypeError, "axis must be an integer, got float"),
        (lambda: fx.compress([1], [True], 1), np.exceptions.AxisError, "axis 1 .* dimension 1"),
        (lambda: fx.compress([1], [True], "0"), TypeError, "axis must be an integer, got str"),
    ],
)
def test_wrong_attributes_raise(call, error, text):
    with pytest.raises(error, match=text):
        call()


# GatherND follows the rules of fastsel.gather_nd, which has tests of its own.


@pytest.mark.parametrize(
    ("data", "indices", "batch_dims", "error", "text"),
    [
        (np.zeros((2, 2)), [[0, 2]], 0, IndexError, "index 2 .* axis 1 of data with size 2"),
        (np.zeros((2, 0)), [[5]], 0, IndexError, "index 5 .* axis 0 of data with size 2"),
        (np.zeros((0, 2)), [[0]], 0, IndexError, "index 0 .* axis 0 of data with size 0"),
        (np.zeros(2), np.zeros((2, 0), int), 0, ValueError, "between 1 and 1"),
        (np.zeros(2), [[0, 0]], 0, ValueError, "between 1 and 1"),
        (np.zeros((2, 2, 2)), np.zeros((4, 1), int), 1, ValueError, "must be equal"),
        (np.zeros((2, 2)), np.zeros((1, 1), int), 1, ValueError, "must be equal"),
        (np.zeros(2), [[0]], -1, ValueError, "batch_dims must be between 0 and 0"),
        (np.zeros(2), [[0]], 1, ValueError, "batch_dims must be between 0 and 0"),
        (np.zeros(2), 0, 0, ValueError, "indices must be at least 1-d"),
        (5, [[0]], 0, ValueError, "data must be at least 1-d"),
        (np.zeros(2), [[0.0]], 0, TypeError, "indices must be an array of integers"),
        (np.zeros((2, 2)), [[0]], 0.0, TypeError, "batch_dims must be an integer"),
    ],
)
def test_gather_nd_raises_for_wrong_arguments(data, indices, batch_dims, error, text):
    with pytest.raises(error, match=text):
        fx.gather_nd(data, indices, batch_dims)


def test_gather_nd_returns_the_shapes_of_onnx():
    assert fx.gather_nd(np.zeros((0, 2, 2)), np.zeros((0, 1), int), 1).shape == (0, 2)
    assert fx.gather_nd([5, 6], [1]).shape == ()
    assert fx.gather_nd(np.zeros((2, 3)), np.zeros((0, 2), int)).shape == (0,)
    assert fx.gather_nd(np.zeros((0, 3)), np.zeros((0, 1), np.int32)).shape == (0, 3)


def test_swapped_byte_order_is_accepted():
    array = as_swapped(np.array([0, 2, 1], np.int32))
    assert fx.non_zero(array).tolist() == [[1, 2]]
    assert fx.unique(array).Y.tolist() == [0, 1, 2]


def test_bfloat16_is_sorted_by_value():
    array = np.array([2, 0, -0.0, np.nan, 1, np.nan], DTYPES["bfloat16"])
    y, indices, _, counts = fx.unique(array)
    assert y[:-1].tolist() == [0, 1, 2]
    assert np.isnan(y[-1])
    assert (indices.tolist(), counts.tolist()) == ([1, 4, 0, 3], [2, 1, 1, 2])


# The functions where onnx is not installed.


def test_functions_of_arrays_need_no_onnx(run_python):
    printed = run_python("""
import sys
sys.modules["onnx"] = None  # as if it were not installed
import fastsel.onnx
print(fastsel.onnx.non_zero([0, 1]).tolist(), fastsel.onnx.unique([2, 2]).Y.tolist())
for name in ("OPS", "Backend", "NoSuchName"):
    try:
        getattr(fastsel.onnx, name)
    except (ImportError, AttributeError) as error:
        print(type(error).__name__, error)
""")
    assert printed.splitlines() == [
        "[[1]] [2]",
        *["ImportError fastsel.onnx.OPS and fastsel.onnx.Backend need onnx: "
          "pip install onnx"] * 2,
        "AttributeError module 'fastsel.onnx' has no attribute 'NoSuchName'",
    ]  # fmt: skip


def test_importing_fastsel_imports_no_onnx(run_python):
    code = "import sys, fastsel.onnx; print([m for m in sys.modules if m.split('.')[0] == 'onnx'])"
    assert run_python(code).strip() == "[]"
