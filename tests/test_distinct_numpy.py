"""unique as a drop-in for numpy.unique: signatures, errors, classes, array-likes, protocols."""

import array as array_module
import inspect
import itertools
import pickle

import numpy as np
import pytest
import reference
from arrays import assert_same, assert_same_outcome, outcome

import fastsel

ALL = (True, True, True)
FOUR = {
    "unique_all": ("values", "indices", "inverse_indices", "counts"),
    "unique_counts": ("values", "counts"),
    "unique_inverse": ("values", "inverse_indices"),
    "unique_values": None,
}
NUMPY = np.lib.NumpyVersion(np.__version__)
nan = np.nan


def lists(outputs):
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    return [output.tolist() for output in outputs]


# Signatures.


@pytest.mark.skipif(NUMPY < "2.3.0", reason="the argument `sorted` came with NumPy 2.3")
def test_signature_is_that_of_numpy():
    ours, theirs = (inspect.signature(module.unique).parameters for module in (fastsel, np))
    assert list(ours) == list(theirs)
    for name, parameter in theirs.items():
        assert ours[name].default == parameter.default
        assert ours[name].kind == parameter.kind


@pytest.mark.parametrize("name", FOUR)
def test_signature_of_the_four_is_that_of_the_array_api(name):
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


@pytest.mark.parametrize("name", FOUR)
@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((), {}), ((), {"x": [1]}), (([1], [2]), {}), (([1],), {"equal_nan": True})],
)
def test_wrong_arguments_of_the_four_raise_as_in_numpy(name, args, kwargs):
    expected = outcome(getattr(np, name), *args, **kwargs)
    assert expected[:2] == ("raises", TypeError)
    assert outcome(getattr(fastsel, name), *args, **kwargs) == expected


def test_every_argument_may_be_given_by_name():
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
    "thing",
    [[[1], [2, 3]], [1, [2]], np.ma.masked_all(2)[:0]],
    ids=["ragged", "ragged too", "empty masked"],
)
def test_what_makes_no_array_raises_as_in_numpy(thing):
    assert_same_outcome(outcome(fastsel.unique, thing), outcome(np.unique, thing))


def test_the_same_error_every_time():
    expected = outcome(np.unique, np.zeros((2, 3)), axis=2)
    for _ in range(3):
        assert outcome(fastsel.unique, np.zeros((2, 3)), axis=2) == expected
        assert fastsel.unique(np.zeros((2, 3)), axis=1).shape == (2, 1)


def test_an_error_of_the_conversion_propagates():
    class Failing:
        def __array__(self, dtype=None, copy=None):
            raise ZeroDivisionError("no array")

    for name in ("unique", *FOUR):
        with pytest.raises(ZeroDivisionError, match="no array"):
            getattr(fastsel, name)(Failing())


# What stands in the rules, case by case: input, arguments, values, index, inverse, counts.

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
def test_rule(rule):
    """Literally, and as NumPy says itself."""
    if rule == "objects_in_one_dimension_take_an_axis" and NUMPY < "2.4.0":
        pytest.skip("NumPy takes no axis for objects before 2.4")
    array, keywords, *expected = RULES[rule]
    outputs = fastsel.unique(array, *ALL, **keywords)
    assert repr(lists(outputs)) == repr(expected)  # repr: NaN in the lists
    assert_same(outputs, np.unique(array, *ALL, **keywords))
    assert_same(fastsel.unique(array, **keywords), outputs[0])


FIRST_MET = {
    "ints": ([3, 1, 3, 2], [3, 1, 2]),
    "floats": ([2.0, nan, 1.0, nan, 2.0], [2.0, nan, 1.0]),
    "bools": ([True, False, True], [True, False]),
    "text": (["b", "a", "b"], ["b", "a"]),
    "times": (np.array([5, "NaT", 2, "NaT"], "m8[s]").view("i8"), [5, -(2**63), 2]),
    "structured": (np.array([(1, 2), (0, 1), (1, 2)], "i4,i4"), [(1, 2), (0, 1)]),
    "rows": ([[2, 2], [1, 1], [2, 2]], [[2, 2], [1, 1]]),
}


@pytest.mark.parametrize("case", FIRST_MET)
def test_unsorted_is_the_order_of_first_occurrence_with_and_without_extra_outputs(case):
    array, expected = FIRST_MET[case]
    axis = 0 if case == "rows" else None
    for extras in itertools.product((False, True), repeat=3):
        outputs = fastsel.unique(array, *extras, axis=axis, sorted=False)
        assert repr(lists(outputs)[0]) == repr(list(expected))


# The four functions of the array API.


@pytest.mark.parametrize("name", ["unique_all", "unique_counts", "unique_inverse"])
def test_named_tuples_have_the_names_of_numpy_and_can_be_pickled(name):
    result = getattr(fastsel, name)([3.0, 1.0, 3.0])
    theirs = getattr(np, name)([3.0, 1.0, 3.0])
    assert isinstance(result, tuple)
    assert type(result).__name__ == type(theirs).__name__
    assert result._fields == theirs._fields == FOUR[name]
    assert_same(tuple(result), tuple(theirs))
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(result, protocol))
        assert type(again) is type(result)
        assert_same(tuple(again), tuple(result))


@pytest.mark.parametrize("name", FOUR)
def test_the_four_take_lists_and_scalars(name):
    for thing in (3, [], [2, 1, 2], [[1.5, nan], [nan, 1.5]], "text", True):
        ours, theirs = getattr(fastsel, name)(thing), getattr(np, name)(thing)
        if name == "unique_values":  # in any order
            assert type(ours) is np.ndarray
            ours, theirs = np.sort(ours), np.sort(theirs)
        assert_same(tuple(ours), tuple(theirs))


def test_the_four_keep_nans_apart_and_zeros_together():
    array = np.array([nan, 0.0, -0.0, nan])
    assert lists(fastsel.unique_all(array))[1:] == [[1, 0, 3], [1, 0, 0, 2], [2, 1, 1]]
    assert fastsel.unique_counts(array).counts.tolist() == [2, 1, 1]
    assert fastsel.unique_inverse(array.reshape(2, 2)).inverse_indices.tolist() == [[1, 0], [0, 2]]
    assert np.isnan(fastsel.unique_values(array)).sum() == 2
    assert len(fastsel.unique_values(array)) == 3


# Array-likes.


class Arraylike:
    """Not an array, but becomes one."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array

    def __array_wrap__(self, array, context=None, return_scalar=False):
        raise RuntimeError("unique does not wrap its results")


class Interface:
    def __init__(self, array):
        self.array = array
        self.__array_interface__ = array.__array_interface__


@pytest.mark.parametrize(
    "thing",
    [
        [3, 1, 3],
        (3, 1, 3),
        range(3),
        [[1, 2], [2, 1]],
        [1.5, 2],
        [True, False, True],
        ["b", "a"],
        [b"b", b"a"],
        [1, "a"],
        3,
        2.5,
        "text",
        b"bytes",
        True,
        np.int8(3),
        np.float32(nan),
        np.datetime64("2020-01-01"),
        [[]],
        [[], []],
        memoryview(b"banana"),
        bytearray(b"banana"),
        array_module.array("i", [3, 1, 3]),
        Arraylike(np.array([3, 1, 3])),
        Interface(np.array([3.0, 1.0, 3.0])),
        [np.array([1, 2]), np.array([2, 1])],
        {1, 2},
        {"a": 1},
        None,
        [2**64, 1],
        [2**63, 1],
        [1, 2**70],
    ],
    ids=lambda thing: f"{type(thing).__name__} {thing!r:.20}".split(" at ")[0],
)
def test_array_likes(thing):
    for extras in ((), ALL):
        assert_same_outcome(
            outcome(fastsel.unique, thing, *extras), outcome(np.unique, thing, *extras)
        )


# Subclasses of ndarray.


class Tagged(np.ndarray):
    """A subclass without methods of its own."""

    def __array_finalize__(self, other):
        self.tag = getattr(other, "tag", None)


def tagged(items):
    array = np.array(items).view(Tagged)
    array.tag = "kept"
    return array


FORMS = [
    {},
    {"return_counts": True},
    dict.fromkeys(("return_index", "return_inverse", "return_counts"), True),
]
FORMS += [{**form, "axis": 0} for form in FORMS]


@pytest.mark.parametrize(
    "items", [[3, 1, 3], [[3, 1], [3, 1]], [2.5, nan, nan], 3, ["b", "a", "b"]], ids=repr
)
def test_a_subclass_is_kept_for_values_and_index_of_flat_results(items):
    array = tagged(items)
    for form in FORMS[:3] if array.ndim == 0 else FORMS:
        ours, theirs = fastsel.unique(array, **form), np.unique(array, **form)
        assert_same(ours, theirs)
        for our, their in zip(
            *((part if isinstance(part, tuple) else (part,)) for part in (ours, theirs)),
            strict=True,
        ):
            assert getattr(our, "tag", None) == getattr(their, "tag", None)


def test_a_subclass_is_kept_in_the_order_of_first_occurrence():
    array = tagged([3, 1, 3])
    values, counts = fastsel.unique(array, return_counts=True, sorted=False)
    assert type(values) is type(fastsel.unique(array, sorted=False)) is Tagged
    assert type(counts) is np.ndarray
    assert lists((values, counts)) == [[3, 1], [2, 1]]


@pytest.mark.skipif(NUMPY < "2.3.0", reason="NumPy fails on a matrix itself before 2.3")
def test_a_matrix_gives_one_dimension_and_plain_arrays():
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix([[3, 1], [3, 1]])
    for form in FORMS:
        assert_same(fastsel.unique(matrix, **form), np.unique(matrix, **form))
    assert_same(fastsel.unique(matrix, sorted=False), np.array([3, 1]))


def test_a_memory_map_gives_plain_arrays(tmp_path):
    mapped = np.memmap(tmp_path / "items", np.float32, mode="w+", shape=(4,))
    mapped[:] = [3, 1, 3, nan]
    for form in FORMS:
        assert_same(fastsel.unique(mapped, **form), np.unique(mapped, **form))


@pytest.mark.parametrize(
    "masked",
    [
        np.ma.array([3, 1, 3, 2, 9], mask=[0, 0, 0, 1, 1]),
        np.ma.array([3, 1, 3]),
        np.ma.array([2.5, nan, 1, nan], mask=[1, 0, 0, 0]),
        np.ma.array([[1, 2], [1, 2], [1, 3]], mask=[[0, 1], [0, 1], [0, 0]]),
        np.ma.masked_all(3, int),
    ],
    ids=["some masked", "none masked", "nan", "rows", "all masked"],
)
def test_masked_arrays_keep_their_mask(masked):
    """Masked items come out as one masked item, except along an axis of several."""
    for form in FORMS:
        ours, theirs = fastsel.unique(masked, **form), np.unique(masked, **form)
        if not isinstance(theirs, tuple):
            ours, theirs = (ours,), (theirs,)
        for our, their in zip(ours, theirs, strict=True):
            assert type(our) is type(their)
            assert our.dtype == their.dtype
            assert repr(our.tolist()) == repr(their.tolist())


def test_a_record_array_stays_one():
    records = np.rec.array([(1, 2.0), (1, 2.0)], dtype=[("a", "i4"), ("b", "f8")])
    for form in FORMS:
        assert_same(fastsel.unique(records, **form), np.unique(records, **form))


# Dispatch.


class Duck:
    def __array_function__(self, function, types, args, kwargs):
        return function, tuple(types), args, kwargs


class Overriding(np.ndarray):
    __array_function__ = Duck.__array_function__


@pytest.mark.parametrize("duck", [Duck(), np.zeros(3).view(Overriding)], ids=["duck", "subclass"])
def test_an_override_gets_the_numpy_function_and_the_arguments(duck):
    calls = [{}, {"return_counts": True, "axis": 1}, {"equal_nan": False, "return_index": True}]
    for arguments in [*calls, {"sorted": False}] if NUMPY >= "2.3.0" else calls:
        function, types, args, kwargs = fastsel.unique(duck, **arguments)
        assert function is np.unique
        assert types == (type(duck),)
        given = inspect.signature(fastsel.unique).bind(*args, **kwargs)
        expected = inspect.signature(fastsel.unique).bind(duck, **arguments)
        given.apply_defaults()
        expected.apply_defaults()
        assert given.arguments == expected.arguments
    for name in FOUR:
        function, types, args, kwargs = getattr(fastsel, name)(duck)
        assert function is getattr(np, name)
        assert (types, args, kwargs) == ((type(duck),), (duck,), {})


def test_an_override_that_declines_raises_as_in_numpy():
    class Declining(Duck):
        def __array_function__(self, function, types, args, kwargs):
            return NotImplemented

    for name in ("unique", *FOUR):
        duck = Declining()
        expected = outcome(getattr(np, name), duck)
        assert expected[:2] == ("raises", TypeError)
        assert outcome(getattr(fastsel, name), duck) == expected


def test_an_override_inside_a_list_is_not_asked():
    duck = Duck()
    assert fastsel.unique([duck]).tolist() == [duck]
