"""Exact comparison of results and errors, and of fastsel's functions with the reference.

Equal results have the same type, dtype and shape, and the same bits in every item apart from its
padding; items of dtype object are the same objects, items of StringDType are equal.
"""

import numpy as np
import reference
from arrays import LONG_DTYPES, grouped, objects, padding_bytes, scattered

import fastsel

SORTED_SET_FUNCTIONS = ("intersect1d", "union1d", "setdiff1d", "setxor1d")


def value_bytes(array):
    """The bytes of all items in C order, one field after the other, without the padding."""
    if array.dtype.names is not None:
        return b"|".join(value_bytes(array[name]) for name in array.dtype.names)
    if array.dtype.newbyteorder("=") in LONG_DTYPES and padding_bytes(array.dtype):
        parts = np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(-1, 16)
        return (parts[:, :10] if array.dtype.isnative else parts[:, 6:]).tobytes()
    return array.tobytes()


def assert_same(actual, expected):
    """Check that two results are equal as the docstring of this module defines it; tuples are
    compared output by output."""
    if type(expected) is int:  # NumPy's count_nonzero before 2.3
        expected = np.intp(expected)
    assert type(actual) is type(expected), (type(actual), type(expected))
    if isinstance(expected, tuple):
        assert len(actual) == len(expected), (len(actual), len(expected))
        for ours, theirs in zip(actual, expected, strict=True):
            assert_same(ours, theirs)
        return
    assert actual.dtype == expected.dtype, (actual.dtype, expected.dtype)
    assert actual.shape == expected.shape, (actual.shape, expected.shape)
    if expected.dtype == object:
        pairs = zip(actual.ravel().tolist(), expected.ravel().tolist(), strict=True)
        assert all(ours is theirs for ours, theirs in pairs), (actual, expected)
    elif expected.dtype.char == "T":
        assert np.asarray(actual).tolist() == np.asarray(expected).tolist()
    else:
        ours, theirs = np.asarray(actual), np.asarray(expected)
        assert value_bytes(ours) == value_bytes(theirs), (actual, expected)


def assert_same_values(actual, expected):
    """assert_same, but objects, also of fields, may be equal instead of the same, and True, also of
    fields, may have any byte."""
    has_bool = "bool" in str(expected.dtype) or "?" in str(expected.dtype)
    if not (expected.dtype.hasobject or expected.dtype.char == "T" or has_bool):
        assert_same(actual, expected)
        return
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), (actual, expected)
    ours, theirs = actual.tolist(), expected.tolist()
    # NaN is not equal to itself, and arrays in objects have no truth value.
    assert repr(ours) == repr(theirs) or ours == theirs, (actual, expected)


def boolean_index(a, mask):
    """NumPy's a[mask]."""
    return np.asanyarray(a)[mask]


def outcome(function, *args, **kwargs):
    """The outcome of a call: ("returns", result) or ("raises", type, text)."""
    try:
        return ("returns", function(*args, **kwargs))
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError, Warning) as error:
        return ("raises", type(error), str(error))


def assert_same_outcome(actual, expected):
    """Check that two outcomes are the same result, or the same exception with the same text."""
    assert actual[0] == expected[0], (actual, expected)
    if expected[0] == "raises":
        assert actual[1:] == expected[1:]
    else:
        assert_same(actual[1], expected[1])


def lists(outputs):
    """Each output as a list; a single output becomes a list of one list."""
    outputs = outputs if isinstance(outputs, tuple | list) else (outputs,)
    return [output.tolist() for output in outputs]


def check_unique(function, ar, oracle=reference.unique_outputs, **options):
    """Check that `function` returns the expected result for the keyword arguments of each case of
    `reference.unique_cases`."""
    for keywords, expected in reference.unique_cases(ar, oracle, **options):
        try:
            assert_same(function(ar, **keywords), expected)
        except AssertionError as error:
            error.add_note(f"for {ar.dtype} of shape {ar.shape} and {keywords}")
            raise


def check_values_and_index(array, threads=(1, 2, 3, 7)):
    """Check `unique` without and with the index, in both orders, for each number of threads; for
    dtypes of floats and times, with both NaN rules."""
    for equal_nan in (True, False):
        if array.dtype.kind not in "fmM" and not equal_nan:
            continue
        for ascending in (True, False):
            rules = {"equal_nan": equal_nan, "sorted": ascending}
            values, index, *_ = reference.unique_outputs(array, **rules)
            for count in threads:
                with fastsel.threads(count):
                    assert_same(fastsel.unique(array, **rules), values)
                    result = fastsel.unique(array, return_index=True, **rules)
                    assert_same(result, (values, index))


def check_objects(items, **keywords):
    """Check that `fastsel.unique` returns the outputs of `reference.object_outputs`, and return its
    values."""
    outputs = fastsel.unique(objects(*items), True, True, True, sorted=False, **keywords)
    values, index, inverse, counts = reference.object_outputs(items)
    assert len(outputs[0]) == len(values)
    assert all(ours is theirs for ours, theirs in zip(outputs[0], values, strict=True))
    assert [output.tolist() for output in outputs[1:]] == [index, inverse, counts]
    return outputs[0]


def two_arrays(dtype, sizes, make_items=scattered):
    """Two arrays of these sizes, both drawn from one pool of max(sizes) items, so that the arrays
    have items in common."""
    pool = grouped(dtype, 3 * max(*sizes, 1), max(*sizes, 1), make_items=make_items)
    return pool[: sizes[0]], pool[len(pool) - sizes[1] :]


def check_set_functions(first, second):
    """Check that isin, intersect1d, union1d, setdiff1d and setxor1d return what the reference
    returns."""
    for invert in (False, True):
        expected = reference.isin(first, second, invert)
        assert_same(fastsel.isin(first, second, invert=invert), expected)
    assert_same(
        fastsel.intersect1d(first, second, return_indices=True),
        reference.intersect1d(first, second, return_indices=True),
    )
    for name in SORTED_SET_FUNCTIONS:
        assert_same(getattr(fastsel, name)(first, second), getattr(reference, name)(first, second))
    assert_same(
        fastsel.setdiff1d(first, second, assume_unique=True),
        reference.setdiff1d(first, second, assume_unique=True),
    )
