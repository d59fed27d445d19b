"""Odd arguments: the result or the error is NumPy's, whichever kernel the array's size selects.

A function that NumPy lacks returns for every size, or raises the same error for every size.
"""

import re

import numpy as np
import pytest
from comparison import outcome
from grids import covering
from hypothesis import given
from hypothesis import strategies as st
from odd_arguments import (
    ARRAY_LIKES,
    AXES,
    CHUNKS,
    DUCK_ARRAY,
    EACH_SIDE,
    FLAGS,
    LENGTHS,
    Plain,
    assert_same_answer,
    check_outcome,
    check_unique_values,
    parts,
    table,
)

import fastsel

if np.lib.NumpyVersion(np.__version__) < "2.4.0":
    pytest.skip("compares with the answers and errors of NumPy 2.4", allow_module_level=True)


@pytest.fixture(params=LENGTHS, ids="{}_rows".format)
def rows(request):
    return table(request.param)


@covering(axis=AXES, length=LENGTHS)
def test_odd_axis_of_count_nonzero_equals_numpy(axis, length):
    rows = table(length)
    for keywords in ({}, {"keepdims": True}):
        for a in (rows, rows.T, rows.ravel(), rows.tolist(), rows.astype(object), rows.view(Plain)):
            check_outcome("count_nonzero", a, axis=AXES[axis], **keywords)


@covering(axis=AXES, length=LENGTHS)
def test_odd_axis_of_compress_equals_numpy(axis, length):
    rows = table(length)
    for condition in ([1], [True, False], np.array([True]), [0, 0, 1]):
        for a in (rows, rows.T, rows.ravel(), rows.tolist(), rows.astype(object), rows.view(Plain)):
            check_outcome("compress", condition, a, axis=AXES[axis])


@covering(axis=AXES, length=LENGTHS)
def test_odd_axis_of_unique_equals_numpy(axis, length):
    rows = table(length)
    for a in (rows, rows.T, rows.ravel(), rows.tolist(), rows.astype(object), rows.view("f8,f8")):
        check_outcome("unique", a, True, True, True, axis=AXES[axis])
        check_outcome("unique", a, axis=AXES[axis])


def unique_in_order(a, axis):
    """All outputs of `numpy.unique`, in order of first occurrence."""
    values, index, inverse, counts = np.unique(a, True, True, True, axis)
    order = np.argsort(index)
    values = (
        values[order] if a.ndim == 1 else np.moveaxis(np.moveaxis(values, axis, 0)[order], 0, axis)
    )
    return values, index[order], np.argsort(order)[inverse], counts[order]


@covering(axis=AXES, length=LENGTHS)
def test_odd_axis_of_unique_in_order_of_first_occurrence_equals_numpy(axis, length):
    rows = table(length)
    for a in (rows, rows.T, rows.ravel(), rows.astype("U3"), rows.ravel().view("f8,f8")):
        assert_same_answer(
            outcome(fastsel.unique, a, True, True, True, AXES[axis], sorted=False),
            outcome(unique_in_order, a, AXES[axis]),
        )


def test_each_form_of_axis_0_equals_no_axis_for_missing_strings(rows):
    """NumPy's result is no reference: its values lack the missing string."""
    texts = np.where(rows.ravel() == 3, np.nan, rows.ravel().astype(str).astype(object))
    texts = texts.astype(np.dtypes.StringDType(na_object=np.nan))
    for axis in (0, -1, False, np.int8(0), np.array(0)):
        for keywords in ({}, {"equal_nan": False}, {"sorted": False}):
            along_axis = fastsel.unique(texts, True, True, True, axis, **keywords)
            without_axis = fastsel.unique(texts, True, True, True, **keywords)
            assert parts(along_axis) == parts(without_axis)


@covering(flag=FLAGS, length=LENGTHS)
def test_odd_keepdims_of_count_nonzero_equals_numpy(flag, length):
    rows = table(length)
    for axis in (None, 0, (0, 1), ()):
        for a in (rows, rows.tolist(), rows.astype(object)):
            check_outcome("count_nonzero", a, axis, keepdims=FLAGS[flag])


@covering(
    flag=FLAGS,
    length=LENGTHS,
    name=["return_index", "return_inverse", "return_counts", "equal_nan"],
)
def test_odd_flags_of_unique_equal_numpy(flag, length, name):
    rows = table(length)
    for dtype in (float, int, "U3", "S3", ">i4", complex, object):
        a = np.sort(rows.astype(dtype).ravel())
        check_outcome("unique", a, **{name: FLAGS[flag]})
        check_outcome(
            "unique", a, **{"return_index": True, "return_counts": True, name: FLAGS[flag]}
        )
        if dtype is not object:  # NumPy refuses objects with an axis before it reads the flag
            check_outcome("unique", rows.astype(dtype), axis=0, **{name: FLAGS[flag]})
    check_outcome("unique", rows.tolist(), **{name: FLAGS[flag]})
    texts = rows.astype("U1").astype(object)
    check_outcome("unique", texts, **{name: FLAGS[flag]})


@pytest.mark.parametrize("name", ["return_index", "return_inverse", "return_counts", "equal_nan"])
def test_flag_of_two_items_raises_value_error_for_each_size(name):
    for length in LENGTHS:
        for dtype in (float, int, "U3", ">i4", "M8[D]"):
            a = table(length).astype(int).astype(dtype)
            for keywords in ({}, {"axis": 0}, {"sorted": False}, {"return_index": True}):
                with pytest.raises(ValueError, match="The truth value of an array"):
                    fastsel.unique(a, **{**keywords, name: FLAGS["two_items"]})


@covering(flag=FLAGS, length=LENGTHS, name=["intersect1d", "setdiff1d", "setxor1d"])
def test_odd_flags_of_set_functions_equal_numpy(flag, length, name):
    rows = table(length)
    for dtype in (float, int, "U5", ">i4", object):
        distinct = np.arange(2 * length).astype(dtype)
        check_outcome(name, distinct, distinct[3:5], assume_unique=FLAGS[flag])
        if name == "intersect1d":
            check_outcome(
                name, rows.astype(dtype), rows[:1].astype(dtype), return_indices=FLAGS[flag]
            )


@covering(flag=FLAGS, length=LENGTHS)
def test_odd_flags_of_isin_equal_numpy(flag, length):
    rows, value = table(length), FLAGS[flag]
    for dtype in (float, int, "U3", ">i4", object):
        a = rows.astype(dtype)
        for keywords in ({}, {"kind": "sort"}):
            check_outcome("isin", a, a[:1], invert=value, **keywords)
        check_outcome("isin", a, a[:1], kind=value)
        # fastsel always reads the truth value of assume_unique, NumPy in some algorithms only.
        ours = outcome(fastsel.isin, a, a[:1], assume_unique=value)
        expected = outcome(bool, value)
        if expected[0] == "returns":
            expected = outcome(np.isin, a, a[:1])
        assert_same_answer(ours, expected)


def unique_with_bool_of_sorted(a, flag, **extras):
    return fastsel.unique(a, sorted=bool(flag), **extras)


@covering(flag=FLAGS, length=LENGTHS)
def test_odd_sorted_of_unique_acts_as_its_bool(flag, length):
    rows = table(length)
    for dtype in (float, int, "U3", object, "f8,f8"):
        a = rows.astype(dtype).ravel()
        for extras in ({}, {"return_inverse": True}):
            assert_same_answer(
                outcome(fastsel.unique, a, sorted=FLAGS[flag], **extras),
                outcome(unique_with_bool_of_sorted, a, FLAGS[flag], **extras),
            )


def without_numbers(raised):
    """The outcome of a call that raised, with "#" for each number in the text of its error."""
    return raised[0], raised[1:2], re.sub(r"\d+", "#", raised[2])


@pytest.mark.parametrize(
    "value", {**AXES, **FLAGS, "ragged": [[1], [2, 3]], "duck_array": DUCK_ARRAY}
)
@pytest.mark.parametrize(
    "name", ["indices", "batch_dims", "out", "n", "capacity", "fill_value", "count_out"]
)
def test_functions_that_numpy_lacks_raise_the_same_error_for_each_size(name, value):
    """A value that a function accepts for one size is accepted for each size. The numbers in the
    texts of errors may differ."""
    value = {**AXES, **FLAGS, "ragged": [[1], [2, 3]], "duck_array": DUCK_ARRAY}[value]
    outcomes = set()
    for length in EACH_SIDE:
        a = table(length)
        if name in ("indices", "batch_dims", "out"):
            arguments = {"indices": np.zeros((length, 1), int), name: value}
            ours = outcome(fastsel.gather_nd, a, **arguments)
        else:
            ours = outcome(fastsel.nonzero_coordinates, a, **{name: value})
        outcomes.add(without_numbers(ours) if ours[0] == "raises" else "returns")
    assert len(outcomes) == 1, outcomes


odd_axes = st.sampled_from([*AXES.values(), None, 0, 1, -1])
# A flag whose truth value is an error is left out: if a call has two of them, either may raise.
FLAGS_WITH_TRUTH_VALUE = [
    value for name, value in FLAGS.items() if name not in ("two_items", "untrue")
]
odd_flags = st.sampled_from([*FLAGS_WITH_TRUTH_VALUE, False, True])


FUNCTIONS_OF_ONE_ARRAY = (
    *("nonzero", "flatnonzero", "argwhere"),
    *("unique_all", "unique_counts", "unique_inverse", "unique_values"),
)


@st.composite
def odd_calls(draw):
    """The name of a function of NumPy, its arguments and its keywords; any of them may be odd."""
    rows = table(draw(st.sampled_from([*EACH_SIDE[:-2], *CHUNKS])))
    rows = draw(st.sampled_from([rows, rows.T, rows.ravel(), rows.astype(np.int16), rows > 3]))
    a = draw(st.sampled_from([rows, *(kind for kind in ARRAY_LIKES if rows.dtype == float)]))
    if isinstance(a, str):
        try:
            a = ARRAY_LIKES[a](table(len(rows)))
        except (TypeError, ValueError, BufferError):
            a = rows
    name = draw(
        st.sampled_from(["count_nonzero", "compress", "unique", "extract", *FUNCTIONS_OF_ONE_ARRAY])
    )
    if name in FUNCTIONS_OF_ONE_ARRAY:
        return name, (a,), {}
    if name == "count_nonzero":
        return name, (a, draw(odd_axes)), {"keepdims": draw(odd_flags)}
    if name == "unique":
        flags = ("return_index", "return_inverse", "return_counts", "equal_nan")
        return name, (a,), {flag: draw(odd_flags) for flag in flags} | {"axis": draw(odd_axes)}
    conditions = [[1], [0, 1], np.arange(2) > 0, np.arange(len(rows)) % 3, a]
    condition = conditions[draw(st.integers(0, len(conditions) - 1))]
    if name == "extract":
        return name, (condition, a), {}
    out = draw(st.sampled_from([None, None, None, DUCK_ARRAY, [], 0, np.zeros(1), rows[:1].copy()]))
    return name, (condition, a), {"axis": draw(odd_axes), "out": out}


@given(call=odd_calls())
def test_any_odd_call_has_the_outcome_of_numpy(call):
    name, args, kwargs = call
    if name == "unique_values":
        check_unique_values(*args)
    else:
        check_outcome(name, *args, **kwargs)
