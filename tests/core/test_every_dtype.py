"""Random calls of FUNCTIONS with any array have NumPy's outcome, except for the differences of
docs/differences.md; for these, this file and the reference compute the expected outcome.

A call runs with or without lowered thresholds, by fastsel's name or, while NumPy is patched, by
NumPy's name. --hypothesis-profile=search tries more calls.
"""

import contextlib
import operator

import numpy as np
import pytest
import reference
from arrays import (
    ML_DTYPES,
)
from comparison import assert_same, assert_same_outcome, outcome
from forcing import ALGORITHMS, TUNING, force
from hypothesis import given, settings
from hypothesis import strategies as st
from marks import SIGNALLING_NANS
from odd_arguments import Plain, assert_same_answer
from strategies import arrays_of_any_kind

import fastsel

pytestmark = [
    SIGNALLING_NANS,
    pytest.mark.thread_unsafe(reason="forces an algorithm for the process"),
    pytest.mark.skipif(
        np.lib.NumpyVersion(np.__version__) < "2.4.0",
        reason="compares with the results of NumPy 2.4 and later",
    ),
]


def is_nan(item):
    try:
        return bool(item != item)
    except Exception:
        return False


def is_hashable(array):
    """Whether all items have a hash."""
    return outcome(hash, tuple(array.ravel().tolist()))[0] == "returns"


def numpy_is_wrong_or_undefined(name, array, equal_nan):
    """Whether np.unique may be wrong for the dtype (docs/differences.md), or may have a result that
    is not defined: for example, for bool items with bytes other than 0 and 1."""
    dtype = array.dtype
    return (
        name in ML_DTYPES
        or dtype.kind == "b"
        or (dtype.kind == "c" and not dtype.isnative)
        or (dtype.kind in "mM" and not equal_nan)
    )


def object_outputs(array, equal_nan, sorted):
    """The outputs of unique for objects that have a hash, grouped by hash and `==`; NaN is last if
    sorted."""
    flat = array.ravel()
    groups = {}
    for position, item in enumerate(flat.tolist()):
        nan = is_nan(item)
        key = (nan, position if nan and not equal_nan else None if nan else item)
        groups.setdefault(key, []).append(position)
    groups = list(groups.items())
    if sorted:
        not_nan = [pair for pair in groups if not pair[0][0]]
        not_nan.sort(key=lambda pair: pair[0][1])
        groups = not_nan + [pair for pair in groups if pair[0][0]]
    return outputs_of_groups(flat, array.shape, [group for _, group in groups])


def outputs_of_groups(flat, shape, groups):
    """Values, index, inverse and counts from the positions of each group."""
    index = np.array([group[0] for group in groups], np.intp)
    inverse = np.empty(len(flat), np.intp)
    for group_id, group in enumerate(groups):
        inverse[group] = group_id
    counts = np.array([len(group) for group in groups], np.intp)
    return flat[index], index, inverse.reshape(shape), counts


def expected_outputs(name, a, axis, equal_nan, sorted):
    """The expected outcome of unique with all outputs; ("unknown",) if the reference would take
    too long."""
    array = np.asarray(a)
    numpy_outcome = outcome(np.unique, a, True, True, True, axis=axis, equal_nan=equal_nan)
    has_axis = outcome(np.unique, np.zeros(array.shape), axis=axis)[0] == "returns"
    is_flat = has_axis and (axis is None or array.ndim == 1)
    has_outputs = numpy_outcome[0] == "returns" or not sorted
    by_hash = not sorted or any(map(is_nan, array.ravel().tolist()))
    if is_flat and has_outputs and array.dtype.kind == "O" and by_hash and is_hashable(array):
        return "returns", object_outputs(array, equal_nan, sorted)
    if is_flat and has_outputs and array.dtype.char == "T":
        return "returns", string_outputs(array, equal_nan, sorted)
    if numpy_outcome[0] == "raises":
        return numpy_outcome
    axis = None if is_flat else operator.index(axis)
    oracle = reference.numpy_unique_outputs
    if numpy_is_wrong_or_undefined(name, array, equal_nan) and array.size:
        oracle = reference.unique_outputs
        if array.size > 3000:
            return ("unknown",)
    return "returns", oracle(array, axis, equal_nan=equal_nan, sorted=sorted)


def string_outputs(array, equal_nan, sorted):
    """The outputs of unique for StringDType. Missing items are one group. If they are NaN and
    `equal_nan` is False, each missing item is a group. Sorted, these groups are last. If na_object
    is a str, a missing item is this text."""
    flat = array.ravel()
    one_group = equal_nan or getattr(array.dtype, "na_object", None) is None
    texts = flat.tolist()
    groups = {}
    for position, item in enumerate(texts):
        is_text = isinstance(item, str)
        key = (not is_text, item if is_text else None if one_group else position)
        groups.setdefault(key, []).append(position)
    order = list(groups.items())
    if sorted:
        order.sort(key=lambda pair: (pair[0][0], pair[0][1] if not pair[0][0] else pair[1][0]))
    return outputs_of_groups(flat, array.shape, [group for _, group in order])


# The functions of the calls; `unique` has many arguments, and is chosen more often.
FUNCTIONS = (
    *("nonzero", "flatnonzero", "argwhere", "count_nonzero", "compress", "extract"),
    *("unique", "unique", "unique", "unique_all", "unique_counts", "unique_inverse"),
    "unique_values",
)
# Functions that make an `out` for compress, valid or not, from the result of NumPy.
OUT_MAKERS = {
    "same": lambda a: a.copy(),
    "fortran": lambda a: a.copy(order="F"),
    "strided": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "swapped": lambda a: a.astype(a.dtype.newbyteorder()),
    "object": lambda a: a.astype(object),
    "longer": lambda a: np.concatenate([a, a, a[:1]]),
    "readonly": lambda a: np.broadcast_to(a, a.shape),
    "other": lambda a: np.zeros(a.shape, "i2"),
    "list": lambda a: a.tolist(),
    "subclass": lambda a: a.copy().view(Plain),
}


def keywords_with_out(function, args, kwargs):
    """The keywords, in which a name of OUT_MAKERS is replaced by the `out` that it stands for."""
    if kwargs.get("out") is None:
        return kwargs
    result = outcome(getattr(np, function), *args, axis=kwargs["axis"])
    template = np.asarray(result[1]) if result[0] == "returns" else np.zeros(3)
    try:
        out = OUT_MAKERS[kwargs["out"]](template)
    except (TypeError, ValueError, IndexError):
        out = template.copy()
    return {**kwargs, "out": out}


odd_flag = st.sampled_from([None, 1, 0, 2, "x", "", np.True_, np.False_, [], np.array(True), 1.0])
odd_axis = st.sampled_from(
    [True, np.True_, 0.0, "0", (), (0,), [0], np.int8(-1), np.uint64(1), np.array(0), 3, -4, 2**70]
)


@st.composite
def calls(draw):
    """A tuple (kind of array, name of the function, arguments, keywords); few arguments are odd."""
    kind, a = draw(arrays_of_any_kind())
    ndim = np.ndim(a)
    usual_axis = st.sampled_from([None, None, *range(-ndim, ndim)])
    axis = draw(st.one_of(usual_axis, usual_axis, usual_axis, odd_axis))
    function = draw(st.sampled_from(FUNCTIONS))
    if function == "count_nonzero":
        if ndim > 1 and draw(st.booleans()):
            axis = draw(st.sampled_from([(0, 1), (-1,), (1, 0), (), (0, 0)]))
        flags = [False, True] if draw(st.integers(0, 6)) else [None, "x", 1, 0, np.True_]
        return kind, function, (a,), {"axis": axis, "keepdims": draw(st.sampled_from(flags))}
    if function == "unique":
        flags = {
            name: draw(st.one_of(st.booleans(), st.booleans(), odd_flag))
            for name in ("return_index", "return_inverse", "return_counts", "equal_nan")
        }
        return kind, function, (a,), {**flags, "axis": axis, "sorted": draw(st.booleans())}
    if function in ("compress", "extract"):
        size = np.size(a) if axis is None or function == "extract" else None
        if size is None:
            shape = np.shape(a)
            size = shape[axis] if type(axis) is int and -len(shape) <= axis < len(shape) else 5
        size = max(size + draw(st.sampled_from([0, 0, 0, -1, 1, 3])), 0)
        seed = draw(st.integers(0, 99))
        if draw(st.integers(0, 3)):
            condition = np.random.default_rng(seed).random(size) < draw(
                st.sampled_from([0, 0.1, 0.5, 1])
            )
            if draw(st.booleans()) and size:
                condition[-4:] = False
        else:
            _, condition = draw(arrays_of_any_kind())
            if not isinstance(condition, list) and function == "compress":
                condition = condition.ravel()[:size]
            elif isinstance(condition, list):
                condition = condition[:size]
        keywords = {}
        if function == "compress":
            keywords["axis"] = axis
            keywords["out"] = draw(st.sampled_from([None, None, None, *OUT_MAKERS]))
        return kind, function, (condition, a), keywords
    return kind, function, (a,), {}


@contextlib.contextmanager
def call_settings(threads, thresholds_down, algorithm):
    """Set the number of threads, the thresholds and the algorithm of unique for a call."""
    with pytest.MonkeyPatch.context() as patch, fastsel.threads(threads):
        if thresholds_down:
            for name, value in TUNING:
                patch.setattr(name, value)
        force(patch, algorithm)
        yield


def flags_of(array):
    return array.flags.writeable, array.flags.c_contiguous, array.flags.f_contiguous


def outputs(result):
    return result if isinstance(result, tuple) else (result,)


def assert_same_outputs(actual, expected):
    """Check that the outputs have the same dtypes, shapes and items; their classes may differ."""
    assert actual[0] == "returns", (actual, expected)
    for ours, theirs in zip(outputs(actual[1]), expected, strict=True):
        assert_same(np.asarray(ours), np.asarray(theirs))


def check_selection(function, args, kwargs, actual, out):
    keywords = keywords_with_out(function, args, kwargs)
    expected = outcome(getattr(np, function), *args, **keywords)
    if out is not None:
        if isinstance(out, np.ndarray):
            if out.dtype.hasobject:  # both calls have their own objects
                assert repr(out.tolist()) == repr(keywords["out"].tolist())
            else:
                assert_same(out, keywords["out"])
        if expected[0] == "returns":
            assert actual[1] is out
            return
    assert_same_outcome(actual, expected)
    array = np.asarray(args[-1])
    if isinstance(actual[1], np.ndarray) and not (array.dtype.kind in "bSU" and 0 in array.strides):
        assert flags_of(actual[1]) == flags_of(expected[1])


FLAGS = ("return_index", "return_inverse", "return_counts")
STANDARD_FLAGS = {
    "unique_all": FLAGS,
    "unique_counts": ("return_counts",),
    "unique_inverse": ("return_inverse",),
    "unique_values": (),
}


def check_unique(kind, function, args, kwargs, patched, actual):
    a = args[0]
    wanted = STANDARD_FLAGS.get(function, [name for name in FLAGS if kwargs.get(name)])
    # numpy.unique_values sorts while NumPy is patched; fastsel.unique_values does not sort.
    sorted = kwargs.get("sorted", patched or function != "unique_values")
    if isinstance(a, Plain):  # fastsel calls NumPy
        keywords = {name: value for name, value in kwargs.items() if name != "sorted"}
        expected = outcome(getattr(np, function), *args, **keywords)
        if function == "unique_values" and sorted:  # ascending, unless the items have no order
            ascending = outcome(np.unique, a, equal_nan=False)
            expected = ascending if ascending[0] == "returns" else expected
        if not sorted:
            return
    else:
        equal_nan = bool(kwargs.get("equal_nan", False))
        expected = expected_outputs(kind, a, kwargs.get("axis"), equal_nan, sorted)
        if expected[0] == "returns":
            values, *extras = expected[1]
            chosen = [extra for name, extra in zip(FLAGS, extras, strict=True) if name in wanted]
            expected = "returns", (values, *chosen)
    if expected[0] == "raises":
        assert_same_answer(actual, expected)
    elif expected[0] == "returns":
        assert_same_outputs(actual, outputs(expected[1]))


def check(call, threads, thresholds_down, algorithm, patched):
    kind, function, args, kwargs = call
    keywords = keywords_with_out(function, args, kwargs)
    with call_settings(threads, thresholds_down, algorithm):
        if patched:
            with fastsel.patched():
                actual = outcome(getattr(np, function), *args, **keywords)
        else:
            actual = outcome(getattr(fastsel, function), *args, **keywords)
    if function.startswith("unique"):
        check_unique(kind, function, args, kwargs, patched, actual)
    else:
        check_selection(function, args, kwargs, actual, keywords.get("out"))


@settings(max_examples=9 * settings().max_examples)
@given(
    call=calls(),
    threads=st.sampled_from([1, 2, 3, 7]),
    thresholds_down=st.booleans(),
    algorithm=st.sampled_from([None, None, *ALGORITHMS]),
    patched=st.booleans(),
)
def test_any_call(call, threads, thresholds_down, algorithm, patched):
    check(call, threads, thresholds_down, algorithm, patched)
