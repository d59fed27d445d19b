"""Signatures, array-likes, subclasses, and the protocols of other libraries' arrays."""

import array as standard_array
import inspect

import numpy as np
import pytest
from comparison import assert_same, assert_same_outcome, outcome
from odd_arguments import Overriding, Plain
from operators import SET_FUNCTION_NAMES, TWO_ARRAY_NAMES

import fastsel
from fastsel._core import _numpy
from fastsel._core._operators import OPERATORS

NUMPY_FUNCTIONS = ("nonzero", "flatnonzero", "argwhere", "count_nonzero", "compress", "extract")
FUNCTIONS_OF_ONE_ARRAY = ("nonzero", "flatnonzero", "argwhere", "count_nonzero")


def parameters(function):
    """The names, kinds and defaults of the parameters, without annotations."""
    return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]


@pytest.mark.parametrize("name", [*NUMPY_FUNCTIONS, *SET_FUNCTION_NAMES])
def test_signature_is_that_of_numpy(name):
    ours = parameters(getattr(fastsel, name))
    extra_arguments = OPERATORS[name].extra_arguments
    assert [p for p in ours if p[0] not in extra_arguments] == parameters(getattr(np, name))
    added = [p for p in ours if p[0] in extra_arguments]
    assert added == [(p, inspect.Parameter.KEYWORD_ONLY, None) for p in extra_arguments]


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("boolean_mask", "a, mask"),
        ("first_nonzero", "a, axis=None, *, keepdims=False"),
        ("gather_nd", "data, indices, batch_dims=0, *, out=None"),
        (
            "nonzero_coordinates",
            "x, *, n=None, out=None, count_out=None, capacity=None, truncate=False,"
            " fill_value=0, dtype=numpy.uint32, dml_shape=False, strict=False",
        ),
        ("set_num_threads", "n"),
        ("get_num_threads", ""),
        ("threads", "n"),
    ],
)
def test_functions_that_numpy_lacks_have_these_signatures(name, signature):
    namespace = {"numpy": np}
    exec(f"def expected({signature}): pass", namespace)
    assert parameters(getattr(fastsel, name)) == parameters(namespace["expected"])


@pytest.mark.parametrize("name", NUMPY_FUNCTIONS)
def test_function_has_its_name_and_an_example(name):
    function = getattr(fastsel, name)
    assert function.__name__ == name
    assert ">>>" in function.__doc__


WRONG_CALLS = {
    "nothing": ((), {}),
    "too_many": (([1],) * 5, {}),
    "unknown_keyword": (([1],), {"b": 1}),
    "twice": (([1], [1]), {"a": [1], "arr": [1]}),
}


@pytest.mark.parametrize("name", NUMPY_FUNCTIONS)
@pytest.mark.parametrize("call", WRONG_CALLS)
def test_wrong_arguments_raise_the_error_of_numpy(call, name):
    args, kwargs = WRONG_CALLS[call]
    assert_same_outcome(
        outcome(getattr(fastsel, name), *args, **kwargs),
        outcome(getattr(np, name), *args, **kwargs),
    )


def test_every_parameter_may_be_a_keyword():
    a = np.arange(6).reshape(2, 3)
    for name in FUNCTIONS_OF_ONE_ARRAY:
        assert_same(getattr(fastsel, name)(a=a), getattr(np, name)(a=a))
    assert fastsel.count_nonzero(a=a, axis=0, keepdims=True).tolist() == [[1, 2, 2]]
    out = np.zeros((2, 1), int)
    assert fastsel.compress(condition=[0, 1], a=a, axis=1, out=out) is out
    assert fastsel.extract(condition=a, arr=a).tolist() == [1, 2, 3, 4, 5]
    assert fastsel.boolean_mask(a=a, mask=a > 4).tolist() == [5]


# __array_function__


class Refusing:
    def __array_function__(self, func, types, args, kwargs):
        return NotImplemented


array = Overriding()
OVERRIDDEN_CALLS = {
    **{name: (name, (array,), {}) for name in FUNCTIONS_OF_ONE_ARRAY},
    "count_nonzero_axis": ("count_nonzero", (array,), {"axis": 1, "keepdims": True}),
    "compress_condition": ("compress", (array, [1]), {}),
    "compress_a": ("compress", ([1], array), {"axis": 0}),
    "compress_out": ("compress", ([1], [1]), {"out": array}),
    "extract_condition": ("extract", (array, [1]), {}),
    "extract_arr": ("extract", ([1], array), {}),
}


@pytest.mark.parametrize("case", OVERRIDDEN_CALLS)
def test_array_function_gets_the_numpy_function(case):
    name, args, kwargs = OVERRIDDEN_CALLS[case]
    func, types, got_args, got_kwargs = getattr(fastsel, name)(*args, **kwargs)
    theirs = getattr(np, name)(*args, **kwargs)
    assert func is theirs[0] is getattr(np, name)
    assert set(types) == set(theirs[1]) == {Overriding}
    bound = inspect.signature(getattr(np, name)).bind
    assert bound(*got_args, **got_kwargs) == bound(*theirs[2], **theirs[3])


@pytest.mark.parametrize("case", OVERRIDDEN_CALLS)
def test_array_function_that_returns_not_implemented_is_a_type_error(case):
    name, args, kwargs = OVERRIDDEN_CALLS[case]
    args = [Refusing() if arg is array else arg for arg in args]
    kwargs = {key: Refusing() if arg is array else arg for key, arg in kwargs.items()}
    ours = outcome(getattr(fastsel, name), *args, **kwargs)
    assert ours[:2] == ("raises", TypeError)
    assert_same_outcome(ours, outcome(getattr(np, name), *args, **kwargs))


@pytest.mark.parametrize("name", TWO_ARRAY_NAMES)
def test_array_function_is_called_before_a_ragged_list_is_converted(name):
    ragged = [[1], [1, 2]]
    for args in ((ragged, array), (array, ragged)):
        function, *_ = getattr(fastsel, name)(*args)
        assert function is getattr(np, name)


class OverridingList(list):
    __array_function__ = Overriding.__array_function__


class OverridingTuple(tuple):
    __array_function__ = Overriding.__array_function__


@pytest.mark.parametrize("size", [3, 600, 17000])
@pytest.mark.parametrize("kind", [OverridingList, OverridingTuple])
@pytest.mark.parametrize("name", _numpy.NAMES)
def test_array_function_of_list_subclasses_is_called(name, kind, size):
    overriding, ordinary = kind([True, False, True] * (size // 3)), [True] * size
    calls = [(overriding,)]
    if name in TWO_ARRAY_NAMES:
        array = np.array(ordinary)
        calls = [(overriding, ordinary), (ordinary, overriding)]
        calls += [(overriding, array), (array, overriding)]
    for arguments in calls:
        func, types, got_args, got_kwargs = getattr(fastsel, name)(*arguments)
        assert func is getattr(np, name)
        assert kind in types
        assert any(arg is overriding for arg in (*got_args, *got_kwargs.values()))


def test_list_subclasses_are_lists_where_numpy_has_no_function():
    data, mask = OverridingList([3, 4, 5]), OverridingTuple([True, False, True])
    assert fastsel.boolean_mask(data, mask).tolist() == [3, 5]
    assert fastsel.boolean_mask(np.array(data), mask).tolist() == [3, 5]
    assert fastsel.boolean_mask(data, np.array(mask)).tolist() == [3, 5]
    assert fastsel.gather_nd(data, OverridingList([[2], [0]])).tolist() == [5, 3]
    assert fastsel.nonzero_coordinates(data).count == 3


# Objects with a method of the function's name, and objects that wrap results.


class Duck:
    def nonzero(self):
        return "my nonzero"

    def compress(self, *args, **kwargs):
        return "my compress", args, kwargs


class DuckList(Duck, list):
    """A list that has the methods of Duck."""


@pytest.mark.parametrize("kind", [Duck, DuckList])
def test_method_of_the_argument_is_called(kind):
    assert fastsel.nonzero(kind()) == np.nonzero(kind()) == "my nonzero"
    assert fastsel.compress([1], kind()) == np.compress([1], kind())
    assert fastsel.compress([1], kind(), 0) == np.compress([1], kind(), 0)


@pytest.mark.parametrize("name", ["flatnonzero", "count_nonzero"])
def test_flatnonzero_and_count_nonzero_treat_a_duck_as_one_item(name):
    duck = Duck()
    assert_same(getattr(fastsel, name)(duck), getattr(np, name)(duck))


class Wrapping:
    """Converts to an array, and gets results through __array_wrap__."""

    def __init__(self):
        self.calls = []

    def __array__(self, dtype=None, copy=None):
        return np.array([0, 1, 2], dtype)

    def __array_wrap__(self, array, context=None, return_scalar=False):
        self.calls.append((type(array), array.tolist(), context, return_scalar))
        return "wrapped", array.tolist()


class WrappingAfterError(Wrapping):
    """Its methods raise TypeError, which is ignored: the object is converted to an array."""

    def nonzero(self):
        raise TypeError("not like this")

    def compress(self, *args, **kwargs):
        raise TypeError("not like this")


@pytest.mark.parametrize("kind", [Wrapping, WrappingAfterError])
@pytest.mark.parametrize(
    "call",
    [
        lambda module, a: module.nonzero(a),
        lambda module, a: module.compress([1, 1], a),
        lambda module, a: module.compress([1, 1], a, 0),
    ],
    ids=["nonzero", "compress", "compress_axis"],
)
def test_results_of_nonzero_and_compress_are_wrapped(call, kind):
    ours, theirs = kind(), kind()
    assert call(fastsel, ours) == call(np, theirs)
    assert ours.calls == theirs.calls
    assert len(ours.calls) == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda module, a: module.flatnonzero(a),
        lambda module, a: module.count_nonzero(a),
        lambda module, a: module.extract(a, [1, 2, 3]),
        lambda module, a: module.extract([1, 1], a),
    ],
    ids=["flatnonzero", "count_nonzero", "extract_condition", "extract_arr"],
)
def test_results_of_flatnonzero_count_nonzero_and_extract_are_not_wrapped(call):
    wrapping = Wrapping()
    assert_same(call(fastsel, wrapping), call(np, Wrapping()))
    assert wrapping.calls == []


def test_error_of_a_method_other_than_type_error_is_raised():
    class Broken:
        def nonzero(self):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fastsel.nonzero(Broken())


class Convertible:
    """Converts to an array by __array__ alone."""

    def __array__(self, dtype=None, copy=None):
        return np.array([0, 1, 2], dtype)


class Interface:
    """Converts to an array by __array_interface__ alone."""

    def __init__(self, array):
        self.array = array
        self.__array_interface__ = array.__array_interface__


# Functions that return an object other than an array. Each use needs a new call, because a
# generator can be used only once.
ARRAY_LIKES = {
    "range": lambda: range(3),
    "list": lambda: [0, 1, 2],
    "tuple": lambda: (0, 1, 0),
    "nested": lambda: [[1, 0], [0, 2]],
    "empty_list": list,
    "nested_empty": lambda: [[], []],
    "mixed": lambda: [0, 1.5, True],
    "strings": lambda: ["", "a", " "],
    "none_in_list": lambda: [None, 1],
    "memoryview": lambda: memoryview(b"\0a\0"),
    "bytearray": lambda: bytearray(b"\0a\0"),
    "array_array": lambda: standard_array.array("i", [0, 2, 0]),
    "array_interface": lambda: Interface(np.array([0, 3, 0])),
    "array_method": Convertible,
    "numpy_scalar": lambda: np.float32(2),
    "ragged": lambda: [[1], [2, 3]],
    "none": lambda: None,
    "str": lambda: "abc",
    "bytes": lambda: b"abc",
    "set": lambda: {1},
    "dict": dict,
    "generator": lambda: (k for k in (0, 1)),
    "too_large_an_int": lambda: [2**70, 0],
}


@pytest.mark.parametrize("kind", ARRAY_LIKES)
@pytest.mark.parametrize("name", FUNCTIONS_OF_ONE_ARRAY)
def test_positions_and_counts_of_array_likes_equal_numpy(name, kind, forced_kernels):
    assert_same_outcome(
        outcome(getattr(fastsel, name), ARRAY_LIKES[kind]()),
        outcome(getattr(np, name), ARRAY_LIKES[kind]()),
    )


@pytest.mark.parametrize("kind", ARRAY_LIKES)
@pytest.mark.parametrize("name", ["compress", "extract"])
def test_selections_by_array_likes_equal_numpy(name, kind, forced_kernels):
    a = np.arange(3)
    assert_same_outcome(
        outcome(getattr(fastsel, name), ARRAY_LIKES[kind](), a),
        outcome(getattr(np, name), ARRAY_LIKES[kind](), a),
    )


@pytest.mark.parametrize("kind", ARRAY_LIKES)
@pytest.mark.parametrize("name", ["compress", "extract"])
def test_selections_from_array_likes_equal_numpy(name, kind, forced_kernels):
    a = ARRAY_LIKES[kind]()  # one object for both calls: items of object results are identical
    assert_same_outcome(
        outcome(getattr(fastsel, name), [1, 0], a), outcome(getattr(np, name), [1, 0], a)
    )


# Subclasses of ndarray.


def matrix():
    return np.array([[1, 0, 2], [0, 0, 3]]).view(np.matrix)


@pytest.mark.parametrize(
    "make", [matrix, lambda: np.array([[1, 0], [2, 3]]).view(Plain)], ids=["matrix", "subclass"]
)
@pytest.mark.parametrize("name", FUNCTIONS_OF_ONE_ARRAY)
def test_positions_and_counts_of_a_subclass_are_not_of_the_subclass(name, make, forced_kernels):
    ours = getattr(fastsel, name)(make())
    assert_same(ours, getattr(np, name)(make()))
    for part in ours if isinstance(ours, tuple) else (ours,):
        assert type(part) in (np.ndarray, np.intp)


def test_count_nonzero_of_a_subclass_along_axes_equals_numpy(forced_kernels):
    for a in (matrix(), matrix().view(Plain)):
        for axis in (0, 1, (0, 1)):
            assert_same_outcome(
                outcome(fastsel.count_nonzero, a, axis), outcome(np.count_nonzero, a, axis)
            )


def test_method_of_a_subclass_is_called():
    class Own(np.ndarray):
        def nonzero(self):
            return "my nonzero"

        def compress(self, *args, **kwargs):
            return "my compress", args, kwargs

    a = np.arange(3).view(Own)
    assert fastsel.nonzero(a) == np.nonzero(a)
    assert fastsel.compress([1], a) == np.compress([1], a)


def masked_array():
    return np.ma.array([[1, 2, 0], [3, 0, 4]], mask=[[1, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize("name", ["nonzero", "flatnonzero", "argwhere"])
def test_masked_items_are_not_selected(name, forced_kernels):
    ours, theirs = getattr(fastsel, name)(masked_array()), getattr(np, name)(masked_array())
    assert np.asarray(ours).tolist() == np.asarray(theirs).tolist()
    assert type(ours) is type(theirs)


def test_count_nonzero_ignores_the_mask_of_a_masked_array(forced_kernels):
    assert fastsel.count_nonzero(masked_array()) == np.count_nonzero(masked_array()) == 4


@pytest.mark.parametrize(
    "call",
    [
        lambda module: module.compress([1, 1, 0, 1], masked_array()),
        lambda module: module.compress([0, 1], masked_array(), 0),
        lambda module: module.compress(masked_array()[0], [1, 2, 3]),
        lambda module: module.extract([1, 1, 0, 1], masked_array()),
        lambda module: module.extract(masked_array(), masked_array()),
    ],
    ids=["compress", "compress_axis", "compress_condition", "extract", "extract_both"],
)
def test_selections_by_and_from_masked_arrays_equal_numpy(call, forced_kernels):
    ours, theirs = call(fastsel), call(np)
    assert type(ours) is type(theirs)
    assert np.ma.getmaskarray(ours).tolist() == np.ma.getmaskarray(theirs).tolist()
    assert ours.tolist() == theirs.tolist()


def test_boolean_mask_of_a_masked_array_equals_indexing(forced_kernels):
    mask = np.array([[True, True, False], [False, True, True]])
    ours, theirs = fastsel.boolean_mask(masked_array(), mask), masked_array()[mask]
    assert type(ours) is type(theirs) is np.ma.MaskedArray
    assert ours.tolist() == theirs.tolist()
    assert ours.mask.tolist() == theirs.mask.tolist()
