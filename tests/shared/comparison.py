"""Exact comparison of results and of errors: type, dtype, shape and every bit of a value."""

import numpy as np
from arrays import LONG_DTYPES, padding_bytes


def value_bytes(array):
    """The bytes that carry the value of each item, in C order; padding left out."""
    if array.dtype.names is not None:
        return b"|".join(value_bytes(array[name]) for name in array.dtype.names)
    if array.dtype.newbyteorder("=") in LONG_DTYPES and padding_bytes(array.dtype):
        parts = np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(-1, 16)
        return (parts[:, :10] if array.dtype.isnative else parts[:, 6:]).tobytes()
    return array.tobytes()


def assert_same(actual, expected):
    """Same type, dtype, shape and, bit by bit, the same items."""
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


def outcome(function, *args, **kwargs):
    """What a call does: ("returns", result) or ("raises", type, text)."""
    try:
        return ("returns", function(*args, **kwargs))
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError, Warning) as error:
        return ("raises", type(error), str(error))


def assert_same_outcome(actual, expected):
    """The same result, or the same exception with the same text."""
    assert actual[0] == expected[0], (actual, expected)
    if expected[0] == "raises":
        assert actual[1:] == expected[1:]
    else:
        assert_same(actual[1], expected[1])


def lists(outputs):
    """One output or several as lists."""
    outputs = outputs if isinstance(outputs, tuple | list) else (outputs,)
    return [output.tolist() for output in outputs]
