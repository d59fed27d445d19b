"""Odd arguments: the answer, error included, is NumPy's, and does not depend on the input's size.

Every odd value of every argument is tried at sizes on both sides of each threshold.
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
    check,
    check_values,
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
def test_axis_of_count_nonzero(axis, length):
    rows = table(length)
    for keywords in ({}, {"keepdims": True}):
        for a in (rows, rows.T, rows.ravel(), rows.tolist(), rows.astype(object), rows.view(Plain)):
            check("count_nonzero", a, axis=AXES[axis], **keywords)


@covering(axis=AXES, length=LENGTHS)
def test_axis_of_compress(axis, length):
    rows = table(length)
    for condition in ([1], [True, False], np.array([True]), [0, 0, 1]):
        for a in (rows, rows.T, rows.ravel(), rows.tolist(), rows.astype(object), rows.view(Plain)):
            check("compress", condition, a, axis=AXES[axis])


@covering(axis=AXES, length=LENGTHS)
def test_axis_of_unique(axis, length):
    rows = table(length)
    for a in (rows, rows.T, rows.ravel(), rows.tolist(), rows.astype(object), rows.view("f8,f8")):
        check("unique", a, True, True, True, axis=AXES[axis])
        check("unique", a, axis=AXES[axis])


def unique_in_order(a, axis):
    """NumPy's answer in order of first occurrence, along the axes that NumPy takes."""
    values, index, inverse, counts = np.unique(a, True, True, True, axis)
    order = np.argsort(index)
    values = (
        values[order] if a.ndim == 1 else np.moveaxis(np.moveaxis(values, axis, 0)[order], 0, axis)
    )
    return values, index[order], np.argsort(order)[inverse], counts[order]


@covering(axis=AXES, length=LENGTHS)
def test_axis_of_unique_in_order(axis, length):
    rows = table(length)
    for a in (rows, rows.T, rows.ravel(), rows.astype("U3"), rows.ravel().view("f8,f8")):
        assert_same_answer(
            outcome(fastsel.unique, a, True, True, True, AXES[axis], sorted=False),
            outcome(unique_in_order, a, AXES[axis]),
        )


def test_axis_of_missing_strings(rows):
    """Where NumPy is wrong, every way to say 0 is ours to answer."""
    texts = np.where(rows.ravel() == 3, np.nan, rows.ravel().astype(str).astype(object))
    texts = texts.astype(np.dtypes.StringDType(na_object=np.nan))
    for axis in (0, -1, False, np.int8(0), np.array(0)):
        for keywords in ({}, {"equal_nan": False}, {"sorted": False}):
            found = fastsel.unique(texts, True, True, True, axis, **keywords)
            assert parts(found) == parts(fastsel.unique(texts, True, True, True, **keywords))


@covering(flag=FLAGS, length=LENGTHS)
def test_keepdims(flag, length):
    rows = table(length)
    for axis in (None, 0, (0, 1), ()):
        for a in (rows, rows.tolist(), rows.astype(object)):
            check("count_nonzero", a, axis, keepdims=FLAGS[flag])


@covering(
    flag=FLAGS,
    length=LENGTHS,
    name=["return_index", "return_inverse", "return_counts", "equal_nan"],
)
def test_flags_of_unique(flag, length, name):
    rows = table(length)
    for dtype in (float, int, "U3", "S3", ">i4", complex, object):
        a = np.sort(rows.astype(dtype).ravel())
        check("unique", a, **{name: FLAGS[flag]})
        check("unique", a, **{"return_index": True, "return_counts": True, name: FLAGS[flag]})
        if dtype is not object:  # for which an axis is an error of its own
            check("unique", rows.astype(dtype), axis=0, **{name: FLAGS[flag]})
    check("unique", rows.tolist(), **{name: FLAGS[flag]})
    texts = rows.astype("U1").astype(object)
    check("unique", texts, **{name: FLAGS[flag]})


@pytest.mark.parametrize("name", ["return_index", "return_inverse", "return_counts", "equal_nan"])
def test_a_flag_without_a_truth_is_an_error_in_each_size(name):
    for length in LENGTHS:
        for dtype in (float, int, "U3", ">i4", "M8[D]"):
            a = table(length).astype(int).astype(dtype)
            for keywords in ({}, {"axis": 0}, {"sorted": False}, {"return_index": True}):
                with pytest.raises(ValueError, match="The truth value of an array"):
                    fastsel.unique(a, **{**keywords, name: FLAGS["two_items"]})


@covering(flag=FLAGS, length=LENGTHS, name=["intersect1d", "setdiff1d", "setxor1d"])
def test_flags_of_sets(flag, length, name):
    rows = table(length)
    for dtype in (float, int, "U5", ">i4", object):
        distinct = np.arange(2 * length).astype(dtype)
        check(name, distinct, distinct[3:5], assume_unique=FLAGS[flag])
        if name == "intersect1d":
            check(name, rows.astype(dtype), rows[:1].astype(dtype), return_indices=FLAGS[flag])


@covering(flag=FLAGS, length=LENGTHS)
def test_flags_of_isin(flag, length):
    rows, value = table(length), FLAGS[flag]
    for dtype in (float, int, "U3", ">i4", object):
        a = rows.astype(dtype)
        for keywords in ({}, {"kind": "sort"}):
            check("isin", a, a[:1], invert=value, **keywords)
        check("isin", a, a[:1], kind=value)
        # NumPy looks at it in some of its algorithms.
        found = outcome(fastsel.isin, a, a[:1], assume_unique=value)
        expected = outcome(bool, value)
        if expected[0] == "returns":
            expected = outcome(np.isin, a, a[:1])
        assert_same_answer(found, expected)


def unique_by_truth(a, flag, **extras):
    return fastsel.unique(a, sorted=bool(flag), **extras)


@covering(flag=FLAGS, length=LENGTHS)
def test_sorted_is_a_truth(flag, length):
    rows = table(length)
    for dtype in (float, int, "U3", object, "f8,f8"):
        a = rows.astype(dtype).ravel()
        for extras in ({}, {"return_inverse": True}):
            assert_same_answer(
                outcome(fastsel.unique, a, sorted=FLAGS[flag], **extras),
                outcome(unique_by_truth, a, FLAGS[flag], **extras),
            )


def without_numbers(found):
    """What a call did, but for the sizes that its error names."""
    return found[0], found[1:2], re.sub(r"\d+", "#", found[2])


@pytest.mark.parametrize(
    "value", {**AXES, **FLAGS, "ragged": [[1], [2, 3]], "duck_array": DUCK_ARRAY}
)
@pytest.mark.parametrize(
    "name", ["indices", "batch_dims", "out", "n", "capacity", "fill_value", "count_out"]
)
def test_errors_of_our_own_functions(name, value):
    """The same for each size; a value that is fine is none of the odd ones."""
    value = {**AXES, **FLAGS, "ragged": [[1], [2, 3]], "duck_array": DUCK_ARRAY}[value]
    errors = set()
    for length in EACH_SIDE:
        a = table(length)
        if name in ("indices", "batch_dims", "out"):
            arguments = {"indices": np.zeros((length, 1), int), name: value}
            found = outcome(fastsel.gather_nd, a, **arguments)
        else:
            found = outcome(fastsel.nonzero_coordinates, a, **{name: value})
        errors.add(without_numbers(found) if found[0] == "raises" else "returns")
    assert len(errors) == 1, errors


odd_axes = st.sampled_from([*AXES.values(), None, 0, 1, -1])
# Of several without a truth, it is open which one raises first.
HAVE_TRUTH = [value for name, value in FLAGS.items() if name not in ("two_items", "untrue")]
odd_flags = st.sampled_from([*HAVE_TRUTH, False, True])


OF_AN_ARRAY = (
    *("nonzero", "flatnonzero", "argwhere"),
    *("unique_all", "unique_counts", "unique_inverse", "unique_values"),
)


@st.composite
def odd_calls(draw):
    """A function of NumPy's name, and arguments of which any may be odd."""
    rows = table(draw(st.sampled_from([*EACH_SIDE[:-2], *CHUNKS])))
    rows = draw(st.sampled_from([rows, rows.T, rows.ravel(), rows.astype(np.int16), rows > 3]))
    a = draw(st.sampled_from([rows, *(kind for kind in ARRAY_LIKES if rows.dtype == float)]))
    if isinstance(a, str):
        try:
            a = ARRAY_LIKES[a](table(len(rows)))
        except (TypeError, ValueError, BufferError):
            a = rows
    name = draw(st.sampled_from(["count_nonzero", "compress", "unique", "extract", *OF_AN_ARRAY]))
    if name in OF_AN_ARRAY:
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
def test_any_odd_call(call):
    name, args, kwargs = call
    if name == "unique_values":
        check_values(*args)
    else:
        check(name, *args, **kwargs)
