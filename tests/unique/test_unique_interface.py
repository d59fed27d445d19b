"""unique as a drop-in for numpy.unique: signatures, errors, array-API functions, overrides."""

import inspect
import pickle

import numpy as np
import pytest
import reference
from comparison import assert_same, assert_same_outcome, lists, outcome

import fastsel

ALL = (True, True, True)
ARRAY_API_FUNCTIONS = {
    "unique_all": ("values", "indices", "inverse_indices", "counts"),
    "unique_counts": ("values", "counts"),
    "unique_inverse": ("values", "inverse_indices"),
    "unique_values": None,
}
NUMPY = np.lib.NumpyVersion(np.__version__)
nan = np.nan


# Signatures.


@pytest.mark.skipif(NUMPY < "2.3.0", reason="the argument `sorted` came with NumPy 2.3")
def test_signature_is_that_of_numpy_and_inverse_dtype():
    ours, theirs = (inspect.signature(module.unique).parameters for module in (fastsel, np))
    assert list(ours) == [*theirs, "inverse_dtype"]
    for name, parameter in theirs.items():
        assert ours[name].default == parameter.default
        assert ours[name].kind == parameter.kind


@pytest.mark.parametrize("name", ARRAY_API_FUNCTIONS)
def test_signature_of_array_api_functions_is_that_of_the_standard(name):
    (parameter,) = inspect.signature(getattr(fastsel, name)).parameters.values()
    assert (parameter.name, parameter.kind) == ("x", inspect.Parameter.POSITIONAL_ONLY)
    assert parameter.default is inspect.Parameter.empty


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((), {}),
        (([1], 1, 1, 1, None, True), {}),
        (([1],), {"inverse": True}),
        (([1],), {"ar": [1]}),
    ],
)
def test_wrong_arguments_raise_as_in_numpy(args, kwargs):
    expected = outcome(np.unique, *args, **kwargs)
    assert expected[:2] == ("raises", TypeError)
    assert outcome(fastsel.unique, *args, **kwargs) == expected


@pytest.mark.parametrize("name", ARRAY_API_FUNCTIONS)
@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((), {}), ((), {"x": [1]}), (([1], [2]), {}), (([1],), {"equal_nan": True})],
)
def test_wrong_arguments_of_array_api_functions_raise_as_in_numpy(name, args, kwargs):
    expected = outcome(getattr(np, name), *args, **kwargs)
    assert expected[:2] == ("raises", TypeError)
    assert outcome(getattr(fastsel, name), *args, **kwargs) == expected


def test_every_argument_can_be_passed_by_keyword():
    expected = reference.unique([3, 1, 3], *ALL)
    outputs = fastsel.unique(
        ar=[3, 1, 3],
        return_index=True,
        return_inverse=True,
        return_counts=True,
        axis=None,
        equal_nan=True,
        sorted=True,
    )
    assert_same(outputs, expected)


def test_flags_are_read_by_their_truth():
    for flag in (1, "yes", np.True_, [0], 2.5):
        assert_same(
            fastsel.unique([3, 1, 3], flag, flag, flag, equal_nan=flag, sorted=flag),
            reference.unique([3, 1, 3], *ALL),
        )
    for flag in (0, "", np.False_, [], None):
        assert_same(fastsel.unique([3, 1, 3], flag, flag, flag, sorted=flag), np.array([3, 1]))
        assert len(fastsel.unique([nan, nan], equal_nan=flag)) == 2


# Errors.

AXES = (
    0,
    1,
    2,
    -1,
    -2,
    -3,
    True,
    False,
    0.0,
    1.0,
    "x",
    (0,),
    (1,),
    (0, 1),
    (),
    [0],
    np.int64(1),
    np.int8(-1),
    np.array(0),
    np.float64(0),
    2**31,
    2**40,
    -(2**70),
)


@pytest.mark.parametrize("axis", AXES, ids=repr)
def test_each_axis_returns_or_raises_as_in_numpy(axis):
    for shape in ((), (3,), (2, 3), (2, 1, 3), (0,), (0, 2)):
        array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
        for extras in ((), ALL):
            expected = outcome(np.unique, array, *extras, axis=axis)
            assert_same_outcome(outcome(fastsel.unique, array, *extras, axis=axis), expected)


@pytest.mark.parametrize(
    "array_like",
    [[[1], [2, 3]], [1, [2]], np.ma.masked_all(2)[:0]],
    ids=["ragged lists", "number and list", "empty masked"],
)
def test_ragged_and_empty_masked_input_returns_or_raises_as_in_numpy(array_like):
    assert_same_outcome(outcome(fastsel.unique, array_like), outcome(np.unique, array_like))


def test_a_wrong_axis_raises_the_error_of_numpy_every_time():
    expected = outcome(np.unique, np.zeros((2, 3)), axis=2)
    for _ in range(3):
        assert outcome(fastsel.unique, np.zeros((2, 3)), axis=2) == expected
        assert fastsel.unique(np.zeros((2, 3)), axis=1).shape == (2, 1)


def test_an_error_of_the_conversion_propagates():
    class Failing:
        def __array__(self, dtype=None, copy=None):
            raise ZeroDivisionError("no array")

    for name in ("unique", *ARRAY_API_FUNCTIONS):
        with pytest.raises(ZeroDivisionError, match="no array"):
            getattr(fastsel, name)(Failing())


# The four functions of the array API.


@pytest.mark.parametrize("name", ["unique_all", "unique_counts", "unique_inverse"])
def test_named_tuples_have_the_names_of_numpy_and_can_be_pickled(name):
    result = getattr(fastsel, name)([3.0, 1.0, 3.0])
    theirs = getattr(np, name)([3.0, 1.0, 3.0])
    assert isinstance(result, tuple)
    assert type(result).__name__ == type(theirs).__name__
    assert result._fields == theirs._fields == ARRAY_API_FUNCTIONS[name]
    assert_same(tuple(result), tuple(theirs))
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(result, protocol))
        assert type(again) is type(result)
        assert_same(tuple(again), tuple(result))


@pytest.mark.parametrize("name", ARRAY_API_FUNCTIONS)
def test_array_api_functions_accept_lists_and_scalars(name):
    for array_like in (3, [], [2, 1, 2], [[1.5, nan], [nan, 1.5]], "text", True):
        ours, theirs = getattr(fastsel, name)(array_like), getattr(np, name)(array_like)
        if name == "unique_values":  # NumPy does not define the order
            assert type(ours) is np.ndarray
            ours, theirs = np.sort(ours), np.sort(theirs)
        assert_same(tuple(ours), tuple(theirs))


def test_array_api_functions_keep_nans_apart_and_zeros_together():
    array = np.array([nan, 0.0, -0.0, nan])
    assert lists(fastsel.unique_all(array))[1:] == [[1, 0, 3], [1, 0, 0, 2], [2, 1, 1]]
    assert fastsel.unique_counts(array).counts.tolist() == [2, 1, 1]
    assert fastsel.unique_inverse(array.reshape(2, 2)).inverse_indices.tolist() == [[1, 0], [0, 2]]
    assert np.isnan(fastsel.unique_values(array)).sum() == 2
    assert len(fastsel.unique_values(array)) == 3


# Dispatch.


class Duck:
    def __array_function__(self, function, types, args, kwargs):
        return function, tuple(types), args, kwargs


class Overriding(np.ndarray):
    __array_function__ = Duck.__array_function__


@pytest.mark.parametrize("duck", [Duck(), np.zeros(3).view(Overriding)], ids=["duck", "subclass"])
def test_an_override_gets_the_numpy_function_and_the_arguments(duck):
    all_keywords = [
        {},
        {"return_counts": True, "axis": 1},
        {"equal_nan": False, "return_index": True},
    ]
    for keywords in [*all_keywords, {"sorted": False}] if NUMPY >= "2.3.0" else all_keywords:
        function, types, args, kwargs = fastsel.unique(duck, **keywords)
        assert function is np.unique
        assert types == (type(duck),)
        bound = inspect.signature(fastsel.unique).bind(*args, **kwargs)
        expected = inspect.signature(fastsel.unique).bind(duck, **keywords)
        bound.apply_defaults()
        expected.apply_defaults()
        assert bound.arguments == expected.arguments
    for name in ARRAY_API_FUNCTIONS:
        function, types, args, kwargs = getattr(fastsel, name)(duck)
        assert function is getattr(np, name)
        assert (types, args, kwargs) == ((type(duck),), (duck,), {})


def test_an_override_that_declines_raises_as_in_numpy():
    class Declining(Duck):
        def __array_function__(self, function, types, args, kwargs):
            return NotImplemented

    for name in ("unique", *ARRAY_API_FUNCTIONS):
        duck = Declining()
        expected = outcome(getattr(np, name), duck)
        assert expected[:2] == ("raises", TypeError)
        assert outcome(getattr(fastsel, name), duck) == expected


def test_an_override_inside_a_list_is_not_called():
    duck = Duck()
    assert fastsel.unique([duck]).tolist() == [duck]
