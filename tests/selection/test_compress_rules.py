"""A case for each rule of compress, extract and boolean_mask; its outcome is also NumPy's."""

import tempfile
import warnings

import numpy as np
import pytest
from arrays import WORD_DTYPES, numbered
from comparison import assert_same, assert_same_outcome, boolean_index, outcome
from layouts import as_unaligned

import fastsel

pytestmark = pytest.mark.usefixtures("forced_kernels")
T, F = True, False


class Tagged(np.ndarray):
    """A subclass that passes its attribute `tag` on to its views and copies."""

    def __array_finalize__(self, parent):
        self.tag = getattr(parent, "tag", None)


def tagged(array):
    array = np.asarray(array).view(Tagged)
    array.tag = "mine"
    return array


def matrix(items):
    return np.array(items).view(np.matrix)


def a23():
    return np.arange(6).reshape(2, 3)


def check_rule(ours, theirs, expected):
    """Check that two outcomes are the same, and have the expected items, or an error whose text
    contains `expected`."""
    assert_same_outcome(ours, theirs)
    if isinstance(expected, str):
        assert ours[0] == "raises"
        assert expected in ours[2]
    else:
        assert type(ours[1]) is type(np.asanyarray(expected))
        assert ours[1].shape == np.shape(expected)
        assert ours[1].tolist() == np.asanyarray(expected).tolist()


# name: (condition, a, axis, the expected items or a part of the error's text)
COMPRESS_RULES = {
    "short_condition_drops_the_rest": ([T], [1, 2, 3], None, [1]),
    "empty_condition": ([], [1, 2, 3], None, []),
    "empty_condition_along_axis_1": ([], a23(), 1, [[], []]),
    "long_condition_with_false_tail": ([F, T, F, F, F], [1, 2], None, [2]),
    "long_condition_with_true_tail": (
        [T, F, F, F, T],
        a23(),
        1,
        "index 4 is out of bounds for axis 1 with size 3",
    ),
    "long_condition_without_axis": (
        [F] * 7 + [T],
        a23(),
        None,
        "index 7 is out of bounds for axis 0 with size 6",
    ),
    "first_true_beyond_is_named": (
        [T, T, T, T, T],
        a23(),
        0,
        "index 2 is out of bounds for axis 0 with size 2",
    ),
    "empty_axis_and_a_true": (
        [T],
        np.zeros((2, 0)),
        1,
        "cannot do a non-empty take from an empty axes.",
    ),
    "empty_axis_and_a_true_without_axis": (
        [T],
        [],
        None,
        "cannot do a non-empty take from an empty axes.",
    ),
    "no_bound_when_the_dims_before_are_0": ([T] * 4, np.zeros((0, 3)), 1, np.zeros((0, 4))),
    "bound_when_the_dims_after_are_0": ([T] * 4, np.zeros((2, 3, 0)), 1, "out of bounds"),
    "0d_is_1d": ([T], np.array(5), None, [5]),
    "0d_axis_0": ([T], np.array(5), 0, [5]),
    "0d_axis_-1": ([T], np.array(5), -1, [5]),
    "0d_axis_1": ([T], np.array(5), 1, "axis 1 is out of bounds for array of dimension 1"),
    "scalar_a": ([T], 5, None, [5]),
    "list_a": ([T, F, T], [[1, 2], [3, 4], [5, 6]], 0, [[1, 2], [5, 6]]),
    "axis_out_of_bounds": ([T], a23(), 2, "axis 2 is out of bounds for array of dimension 2"),
    "axis_numpy_integer": ([F, T], a23(), np.int8(0), [[3, 4, 5]]),
    "axis_0d_array": ([F, T], a23(), np.array(0), [[3, 4, 5]]),
    "axis_bool": ([T], a23(), True, "an integer is required for the axis"),
    "axis_float": ([T], a23(), 1.0, "'float' object cannot be interpreted as an integer"),
    "axis_str": ([T], a23(), "0", "'str' object cannot be interpreted as an integer"),
    "axis_tuple": ([T], a23(), (0,), "'tuple' object cannot be interpreted as an integer"),
    "axis_beyond_a_c_int": ([T], a23(), 2**40, ""),
    "condition_list_of_strings": (["a", "", ""], [1, 2, 3], None, [1]),
    "condition_array_of_strings": (np.array(["a", "", " "]), [1, 2, 3], None, [1, 3]),
    "condition_list_of_complex": ([0j, 1j], [1, 2], None, [2]),
    "condition_list_of_floats": ([0.0, -0.0, float("nan")], [1, 2, 3], None, [3]),
    "condition_list_of_objects": ([None, object()], [1, 2], None, [2]),
    "condition_array_of_objects": (np.array([None, "0", 0]), [1, 2, 3], None, [2]),
    "condition_tuple": ((0, 1), [1, 2], None, [2]),
    "condition_range": (range(2), [1, 2], None, [2]),
    "condition_ragged": ([[1], [2, 3]], [1, 2], None, "setting an array element with a sequence"),
    "condition_none": (None, [1, 2], None, "condition must be a 1-d array"),
    "condition_scalar": (1, [1, 2], None, "condition must be a 1-d array"),
    "condition_0d": (np.array(True), [1, 2], None, "condition must be a 1-d array"),
    "condition_2d": (np.ones((1, 2)), [1, 2], None, "condition must be a 1-d array"),
    "condition_list_2d": ([[1, 0]], [1, 2], None, "condition must be a 1-d array"),
    "condition_matrix": (matrix([1, 0]), [1, 2], None, "condition must be a 1-d array"),
    "condition_str": ("ab", [1, 2], None, "condition must be a 1-d array"),
    "condition_bytes": (b"ab", [1, 2], None, "condition must be a 1-d array"),
    "condition_generator": ((k for k in [1]), [1, 2], None, "condition must be a 1-d array"),
    "condition_subclass": (tagged([0, 1]), [1, 2], None, [2]),
    "subclass_of_a_is_kept": ([F, T], tagged([1, 2]), None, tagged([2])),
    "subclass_of_a_is_kept_along_axis": ([F, T], tagged(a23()), 0, tagged([[3, 4, 5]])),
    "matrix_stays_2d": ([F, T, T], matrix([[1, 2, 3]]), None, matrix([[2, 3]])),
    "matrix_along_axis": ([F, T], matrix([[1, 2], [3, 4]]), 0, matrix([[3, 4]])),
}


@pytest.mark.parametrize("rule", COMPRESS_RULES)
def test_compress_equals_numpy_and_the_expected_outcome(rule):
    condition, a, axis, expected = COMPRESS_RULES[rule]
    check_rule(
        outcome(fastsel.compress, condition, a, axis),
        outcome(np.compress, condition, a, axis),
        expected,
    )


# name: (condition, arr, the expected items or a part of the error's text)
EXTRACT_RULES = {
    "shapes_need_not_match": ([[T, F], [F, T]], [1, 2, 3, 4], [1, 4]),
    "condition_and_arr_are_read_in_c_order": (
        np.asfortranarray([[T, F, T], [F, T, F]]),
        np.asfortranarray(a23()),
        [0, 2, 4],
    ),
    "short_condition": ([F, T], a23(), [1]),
    "long_condition_with_false_tail": ([T] + [F] * 9, a23(), [0]),
    "long_condition_with_true_tail": (
        [T] * 7,
        a23(),
        "index 6 is out of bounds for axis 0 with size 6",
    ),
    "0d_condition": (np.array(True), a23(), [0]),
    "0d_condition_and_arr": (True, 7, [7]),
    "0d_false": (0, 7, []),
    "list_arr": ([0, 1], [[1], [2]], [2]),
    "empty_condition_and_arr": ([], [], []),
    "empty_arr_and_a_true": ([T], [], "cannot do a non-empty take from an empty axes."),
    "none_is_falsy": (None, [1], []),
    "str_is_one_item": ("a", [1, 2], [1]),
    "subclass_of_arr_is_kept": ([F, T], tagged([1, 2]), tagged([2])),
    "matrix_becomes_1d": (matrix([[0, 1]]), matrix([[1, 2]]), np.array([2])),
}


@pytest.mark.parametrize("rule", EXTRACT_RULES)
def test_extract_equals_numpy_and_the_expected_outcome(rule):
    condition, arr, expected = EXTRACT_RULES[rule]
    check_rule(
        outcome(fastsel.extract, condition, arr), outcome(np.extract, condition, arr), expected
    )


# name: (a, mask, the expected items or a part of the error's text)
MASK_RULES = {
    "same_shape": (a23(), a23() > 3, [4, 5]),
    "c_order": (np.asfortranarray(a23()), np.asfortranarray(a23() != 1), [0, 2, 3, 4, 5]),
    "leading_dimensions": (a23(), np.array([F, T]), [[3, 4, 5]]),
    "size_of_an_axis_differs": (
        a23(),
        np.array([T]),
        "size of axis is 2 but size of corresponding boolean axis is 1",
    ),
    "too_many_dimensions": (
        a23(),
        np.ones((2, 3, 1), bool),
        "too many indices for array: array is 2-dimensional, but 3 were",
    ),
    "0_long_mask_matches_any_size": (a23(), np.zeros(0, bool), np.zeros((0, 3))),
    "0_long_leading_mask_dimension": (a23(), np.zeros((0, 3), bool), []),
    "0_long_trailing_mask_dimension": (a23(), np.zeros((2, 0), bool), []),
    "0x0_mask": (a23(), np.zeros((0, 0), bool), []),
    "0x5_mask": (a23(), np.zeros((0, 5), bool), "boolean index did not match"),
    "5x0_mask": (a23(), np.zeros((5, 0), bool), "boolean index did not match"),
    "true_adds_an_axis": (a23(), True, [[[0, 1, 2], [3, 4, 5]]]),
    "false_adds_an_axis": (a23(), False, np.zeros((0, 2, 3))),
    "numpy_true": (a23(), np.True_, [[[0, 1, 2], [3, 4, 5]]]),
    "0d_array_and_0d_mask": (np.array(5), np.array(True), [5]),
    "0d_array_and_0d_false": (np.array(5), np.array(False), []),
    "list_mask": (a23(), [F, T], [[3, 4, 5]]),
    "nested_list_mask": (a23(), [[F, T, F], [F, F, T]], [1, 5]),
    "empty_list_mask": (a23(), [], np.zeros((0, 3))),
    "masked_mask": (np.arange(3), np.ma.array([T, T, F], mask=[1, 0, 0]), [0, 1]),
    "subclass_of_a_is_kept": (tagged([1, 2]), np.array([F, T]), tagged([2])),
    "matrix_stays_2d": (matrix([[1, 2], [3, 4]]), np.array([[T, F], [T, T]]), matrix([[1, 3, 4]])),
}


@pytest.mark.parametrize("rule", MASK_RULES)
def test_boolean_mask_equals_numpy_and_the_expected_outcome(rule):
    a, mask, expected = MASK_RULES[rule]
    check_rule(outcome(fastsel.boolean_mask, a, mask), outcome(boolean_index, a, mask), expected)


@pytest.mark.parametrize(
    "operator",
    [
        lambda mask, a: (fastsel.compress(mask, a), np.compress(mask, a)),
        lambda mask, a: (fastsel.extract(mask, a), np.extract(mask, a)),
        lambda mask, a: (fastsel.boolean_mask(a, mask), a[mask]),
    ],
    ids=["compress", "extract", "boolean_mask"],
)
def test_attribute_of_a_subclass_is_passed_on(operator):
    ours, theirs = operator(np.array([F, T, T]), tagged([1, 2, 3]))
    assert_same(ours, theirs)
    assert ours.tag == theirs.tag == "mine"


def test_compress_of_a_memmap_has_its_type_but_not_its_file():
    with tempfile.TemporaryFile() as file:
        a = np.memmap(file, "i4", "w+", shape=(100,))
        ours, theirs = fastsel.compress(a == 0, a), np.compress(a == 0, a)
        assert type(ours) is type(theirs) is np.memmap
        assert ours.tolist() == theirs.tolist()
        assert not np.shares_memory(ours, a)
        del a, ours, theirs


# The argument out.


def with_gaps(dtype, shape):
    """A view with gaps between its items, inside a larger array."""
    larger = np.full(tuple(2 * size + 4 for size in shape), 99, dtype)
    return larger[tuple(slice(2, 2 + 2 * size, 2) for size in shape)]


def readonly(array):
    array.flags.writeable = False
    return array


def strings(*items):
    return np.array(items)


# name: a function that returns new (condition, a, axis, out) for each call
OUT_RULES = {
    "same_dtype": lambda: ([0, 1, 1], a23(), 1, np.zeros((2, 2), int)),
    "without_axis": lambda: ([0, 1, 1], a23(), None, np.zeros(2, int)),
    "empty_result": lambda: ([], a23(), 1, np.zeros((2, 0), int)),
    "list": lambda: ([1], [1, 2], None, [0]),
    "tuple": lambda: ([1], [1, 2], None, (0,)),
    "number": lambda: ([1], [1, 2], None, 5),
    "too_long": lambda: ([1], [1, 2], None, np.zeros(2, int)),
    "too_short": lambda: ([1, 1], [1, 2], None, np.zeros(1, int)),
    "too_many_dimensions": lambda: ([1], [1, 2], None, np.zeros((1, 1), int)),
    "no_broadcast": lambda: ([1, 1], a23(), 0, np.zeros(3, int)),
    "strided": lambda: ([0, 1, 1], a23(), 1, with_gaps(int, (2, 2))),
    "fortran": lambda: ([0, 1, 1], a23(), 1, np.zeros((2, 2), int, "F")),
    "negative_stride": lambda: ([0, 1, 1], np.arange(3), None, np.zeros(2, int)[::-1]),
    "unaligned": lambda: ([0, 1, 1], np.arange(3), None, as_unaligned(np.zeros(2, int))),
    "other_byte_order": lambda: ([0, 1, 1], np.arange(3), None, np.zeros(2, ">i8")),
    "subclass": lambda: ([0, 1, 1], np.arange(3), None, tagged(np.zeros(2, int))),
    "read_only": lambda: ([1], [1, 2], None, readonly(np.zeros(1, int))),
    "read_only_and_too_long": lambda: ([1], [1, 2], None, readonly(np.zeros(3, int))),
    "int64_to_int32": lambda: ([1, 1], np.array([2**40 + 1, -1]), None, np.zeros(2, "i4")),
    "int64_to_uint8": lambda: ([1, 1], np.array([257, -1]), None, np.zeros(2, "u1")),
    "int64_to_bool": lambda: ([1, 1], np.array([0, 256]), None, np.zeros(2, bool)),
    "int64_to_float64": lambda: ([1], np.array([1, 2]), None, np.zeros(1)),
    "float64_to_int64": lambda: ([1, 1], np.array([1.5, 1e30]), None, np.zeros(2, int)),
    "float64_nan_to_int64": lambda: ([1], np.array([np.nan]), None, np.zeros(1, int)),
    "float64_to_float16": lambda: ([1, 1], np.array([1.5, 1e30]), None, np.zeros(2, "f2")),
    "int32_to_int64": lambda: ([1], np.array([1], "i4"), None, np.zeros(1, "i8")),
    "complex_to_float": lambda: ([1], np.array([1 + 2j]), None, np.zeros(1)),
    "str_truncates": lambda: ([0, 1, 1], strings("a", "bcdef", "g"), None, np.zeros(2, "U2")),
    "str_to_longer": lambda: ([0, 1], strings("a", "bcdef"), None, np.zeros(1, "U9")),
    "datetime_truncates": lambda: (
        [1],
        np.array(["2026-05-17"], "M8[D]"),
        None,
        np.zeros(1, "M8[Y]"),
    ),
    "object_to_int": lambda: ([1, 1], np.array([1, "2"], object), None, np.zeros(2, int)),
    "object_that_is_no_int": lambda: ([1], np.array(["a"], object), None, np.zeros(1, int)),
    "object_to_object": lambda: ([0, 1], np.array([1, "2"], object), None, np.zeros(1, object)),
    "int_to_object": lambda: ([0, 1], np.array([1, 2]), None, np.zeros(1, object)),
    "index_error": lambda: ([1, 0, 0, 1], [1, 2, 3], None, np.full(2, 99)),
    "index_error_along_axis": lambda: ([1, 0, 0, 1], a23(), 1, np.full((2, 2), 99)),
    "index_error_with_out_too_short": lambda: ([1, 0, 0, 1], [1, 2, 3], None, np.full(1, 99)),
    "condition_2d": lambda: ([[1]], [1, 2, 3], None, np.full(1, 99)),
    "axis_out_of_bounds": lambda: ([1], a23(), 2, np.full((1, 3), 99)),
    "subclass_of_a": lambda: ([0, 1], tagged([1, 2]), None, np.zeros(1, int)),
    "matrix_a": lambda: ([0, 1], matrix([[1, 2]]), None, np.zeros((1, 1), int)),
}


def call_with_out(function, rule):
    condition, a, axis, out = OUT_RULES[rule]()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = outcome(function, condition, a, axis, out)
    return result, out, [(warning.category, str(warning.message)) for warning in caught]


@pytest.mark.parametrize("rule", OUT_RULES)
def test_compress_to_out_equals_numpy(rule):
    ours, our_out, our_warnings = call_with_out(fastsel.compress, rule)
    theirs, their_out, their_warnings = call_with_out(np.compress, rule)
    assert_same_outcome(ours, theirs)
    assert our_warnings == their_warnings
    if ours[0] == "returns":
        assert ours[1] is our_out
    if isinstance(our_out, np.ndarray):
        assert_same(our_out, their_out)
        if our_out.base is not None:  # nothing is written beside the items
            assert_same(np.asarray(our_out.base), np.asarray(their_out.base))


class Convertible:
    """NumPy converts this object to an array, as it converts a pandas Series."""

    def __array__(self, dtype=None, copy=None):
        return np.array([1, 2, "a", 4], object)


@pytest.mark.filterwarnings("ignore:Implicit casting:DeprecationWarning")  # of NumPy 2.5
@pytest.mark.parametrize("cls", [np.asarray, list, tagged, np.ma.array, lambda _: Convertible()])
@pytest.mark.parametrize("cls_of_out", [np.asarray, tagged, np.ma.array])
def test_out_has_its_former_items_after_an_item_that_cannot_be_converted(cls, cls_of_out):
    out = cls_of_out(with_gaps(int, (4,)))
    with pytest.raises(ValueError, match="invalid literal"):
        fastsel.compress([1, 1, 1, 1], cls(np.array(Convertible())), out=out)
    assert out.tolist() == [99] * 4


@pytest.mark.parametrize("dtype", ["i8", "i4", "f8"])
def test_out_may_be_a_memmap(dtype):
    with tempfile.TemporaryFile() as file:
        out = np.memmap(file, dtype, "w+", shape=(50,))
        a = np.arange(100, dtype=out.dtype)
        assert fastsel.compress(a % 2, a, out=out) is out
        assert out.tolist() == a[1::2].tolist()
        del out


OVERLAPS = {
    "front": lambda b: ([0, 1, 1, 1], b, b[:3]),
    "back": lambda b: ([1, 1, 1], b, b[3:]),
    "reversed": lambda b: ([1, 1, 1, 1, 1, 1], b, b[::-1]),
    "itself": lambda b: ([1, 1, 1, 1, 1, 1], b, b),
    "with_the_condition": lambda b: (b, np.arange(6), b[:5]),
    "shifted_by_one": lambda b: ([1, 1, 1, 1, 1], b, b[1:]),
}


@pytest.mark.parametrize("overlap", OVERLAPS)
def test_out_may_overlap_the_array_or_condition(overlap, kernels_with_few_threads):
    ours, theirs = np.arange(6), np.arange(6)
    for function, array in ((fastsel.compress, ours), (np.compress, theirs)):
        condition, a, out = OVERLAPS[overlap](array)
        assert function(condition, a, out=out) is out
    assert_same(ours, theirs)


def test_large_out_may_overlap_the_array(kernels_with_few_threads):
    for name in WORD_DTYPES:
        mask = np.arange(5000) % 3 != 0
        ours, theirs = numbered(name, np.arange(5000)), numbered(name, np.arange(5000))
        for function, array in ((fastsel.compress, ours), (np.compress, theirs)):
            function(mask, array, out=array[1000 : 1000 + mask.sum()])
        assert_same(ours, theirs)


def test_nothing_is_written_beside_out(each_num_threads):
    """The items next to `out` keep their values, for many numbers of selected items."""
    for _ in each_num_threads:
        for name in ("uint8", "int16", "float32", "int64", "complex128", "V3"):
            array = numbered(name, np.arange(1, 201))
            for n_selected in range(0, 200, 3):
                mask = np.zeros(200, bool)
                mask[(np.arange(n_selected) * 7) % 200] = True
                around = numbered(name, np.full(mask.sum() + 32, 90))
                expected = around.copy()
                expected[16:-16] = array[mask]
                fastsel.compress(mask, array, out=around[16:-16])
                assert_same(around, expected)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_large_out_is_untouched_by_an_index_error(axis, kernels_with_few_threads):
    a = np.arange(90_000).reshape(300, 300)
    condition = np.ones((a.size if axis is None else 300) + 1, bool)
    shape = {None: a.size, 0: (301, 300), 1: (300, 301)}[axis]
    for out in (np.full(shape, -1), np.full(shape, -1)[:-1]):
        with pytest.raises((IndexError, ValueError)):
            fastsel.compress(condition, a, axis, out=out)
        assert (out == -1).all()
