"""unique, rule by rule: literal inputs and outputs; sorted outputs equal those of numpy.unique."""

import itertools

import numpy as np
import pytest
from comparison import assert_same, lists

import fastsel

ALL = (True, True, True)
NUMPY = np.lib.NumpyVersion(np.__version__)
nan = np.nan


# Each rule has an input, arguments, values, index, inverse and counts.

RULES = {
    "flattens_in_C_order": (
        np.array([[3, 1], [2, 3]], order="F"),
        {},
        [1, 2, 3],
        [1, 2, 0],
        [[2, 0], [1, 2]],
        [1, 1, 2],
    ),
    "zero_dimensions": (np.array(7), {}, [7], [0], 0, [1]),
    "empty_keeps_dtype_and_shape_of_inverse": (np.zeros((0, 3), np.int16), {}, [], [], [], []),
    "empty_list_is_float64": ([], {}, [], [], [], []),
    "axis_gives_inverse_of_one_dimension": (
        np.array([[1, 2, 1], [3, 4, 3]]),
        {"axis": 1},
        [[1, 2], [3, 4]],
        [0, 1],
        [0, 1, 0],
        [2, 1],
    ),
    "True_is_axis_one": (
        np.array([[1, 2, 1], [3, 4, 3]]),
        {"axis": True},
        [[1, 2], [3, 4]],
        [0, 1],
        [0, 1, 0],
        [2, 1],
    ),
    "numbers_ascend_and_nan_is_last": (
        np.array([2, nan, -np.inf, nan, 1.5]),
        {},
        [-np.inf, 1.5, 2.0, nan],
        [2, 4, 0, 1],
        [2, 3, 0, 3, 1],
        [1, 1, 1, 2],
    ),
    "equal_nan_False_keeps_each_nan": (
        np.array([nan, 1, nan]),
        {"equal_nan": False},
        [1.0, nan, nan],
        [1, 0, 2],
        [1, 0, 2],
        [1, 1, 1],
    ),
    "False_is_before_True": (
        np.array([True, False, True]),
        {},
        [False, True],
        [1, 0],
        [1, 0, 1],
        [1, 2],
    ),
    "unsigned_bytes_sort_unsigned": (
        np.array([255, 1, 128], np.uint8),
        {},
        [1, 128, 255],
        [1, 2, 0],
        [2, 0, 1],
        [1, 1, 1],
    ),
    "text_by_code_point_blanks_count_nuls_at_the_end_do_not": (
        np.array(["b ", "b", "B", "b\0"]),
        {},
        ["B", "b", "b "],
        [2, 1, 0],
        [2, 1, 0, 1],
        [1, 2, 1],
    ),
    "bytes_unsigned": (
        np.array([b"\xe9", b"z", b"\xe9"]),
        {},
        [b"z", b"\xe9"],
        [1, 0],
        [1, 0, 1],
        [1, 2],
    ),
    "variable_width_text_keeps_nuls_at_the_end": (
        np.array(["abc\0", "abc", "ab"], "T"),
        {},
        ["ab", "abc", "abc\0"],
        [2, 1, 0],
        [2, 1, 0],
        [1, 1, 1],
    ),
    "raw_void_by_bytes": (
        np.array([b"b\0\0", b"a\0\1", b"b\0\0"], "V3"),
        {},
        [b"a\0\1", b"b\0\0"],
        [1, 0],
        [1, 0, 1],
        [1, 2],
    ),
    "structured_by_field": (
        np.array([(1, -1.0), (0, 5.0), (1, -2.0), (0, 5.0)], "i4,f8"),
        {},
        [(0, 5.0), (1, -2.0), (1, -1.0)],
        [1, 2, 0],
        [2, 0, 1, 0],
        [2, 1, 1],
    ),
    "axis_sorts_negative_integers_right": (
        np.array([[1, -1], [1, -2], [-1, 5]]),
        {"axis": 0},
        [[-1, 5], [1, -2], [1, -1]],
        [2, 1, 0],
        [2, 1, 0],
        [1, 1, 1],
    ),
    "nan_rows_stay_apart": (
        np.array([[nan, 1], [nan, 1]]),
        {"axis": 0},
        [[nan, 1.0], [nan, 1.0]],
        [0, 1],
        [0, 1],
        [1, 1],
    ),
    "objects_of_one_value_collapse_to_the_first": (
        np.array([1, True, 1.0], object),
        {},
        [1],
        [0],
        [0, 0, 0],
        [3],
    ),
    "objects_in_one_dimension_take_an_axis": (
        np.array([2, 1, 2], object),
        {"axis": 0},
        [1, 2],
        [1, 0],
        [1, 0, 1],
        [1, 2],
    ),
    "items_of_no_bytes_S": (np.zeros(3, "S0"), {}, [b""], [0], [0, 0, 0], [3]),
    "items_of_no_bytes_U": (np.zeros(3, "U0"), {}, [""], [0], [0, 0, 0], [3]),
    "items_of_no_bytes_V": (np.zeros(3, "V0"), {}, [b""], [0], [0, 0, 0], [3]),
    "items_without_fields": (np.zeros(3, []), {}, [()], [0], [0, 0, 0], [3]),
}


@pytest.mark.parametrize("rule", RULES)
def test_outputs_follow_the_rule(rule):
    """The outputs equal the literal outputs of the rule, and NumPy's."""
    if rule == "objects_in_one_dimension_take_an_axis" and NUMPY < "2.4.0":
        pytest.skip("before 2.4, numpy.unique of objects accepts no axis")
    array, keywords, *expected = RULES[rule]
    outputs = fastsel.unique(array, *ALL, **keywords)
    assert repr(lists(outputs)) == repr(expected)  # repr, because NaN differs from itself
    assert_same(outputs, np.unique(array, *ALL, **keywords))
    assert_same(fastsel.unique(array, **keywords), outputs[0])


@pytest.mark.parametrize("dtype", ["S0", "U0", "V0", np.dtype([])], ids=str)
@pytest.mark.parametrize("sorted", [True, False])
def test_slices_of_items_of_0_bytes_are_one_value(dtype, sorted):
    """numpy.unique raises ValueError."""
    array = np.ndarray((3, 2), dtype)
    for axis in (0, 1, -1):
        values, *others = fastsel.unique(array, *ALL, axis=axis, sorted=sorted)
        first = np.moveaxis(array, axis, 0)[:1].copy()
        assert_same(values, np.moveaxis(first, 0, axis))
        assert lists(others) == [[0], [0] * array.shape[axis], [array.shape[axis]]]


FIRST_OCCURRENCES = {
    "ints": ([3, 1, 3, 2], [3, 1, 2]),
    "floats": ([2.0, nan, 1.0, nan, 2.0], [2.0, nan, 1.0]),
    "bools": ([True, False, True], [True, False]),
    "text": (["b", "a", "b"], ["b", "a"]),
    "times": (np.array([5, "NaT", 2, "NaT"], "m8[s]").view("i8"), [5, -(2**63), 2]),
    "structured": (np.array([(1, 2), (0, 1), (1, 2)], "i4,i4"), [(1, 2), (0, 1)]),
    "rows": ([[2, 2], [1, 1], [2, 2]], [[2, 2], [1, 1]]),
}


@pytest.mark.parametrize("case", FIRST_OCCURRENCES)
def test_unsorted_is_the_order_of_first_occurrence_with_and_without_extra_outputs(case):
    array, expected = FIRST_OCCURRENCES[case]
    axis = 0 if case == "rows" else None
    for extras in itertools.product((False, True), repeat=3):
        outputs = fastsel.unique(array, *extras, axis=axis, sorted=False)
        assert repr(lists(outputs)[0]) == repr(list(expected))
