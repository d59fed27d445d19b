"""Odd axes, flags and array-likes, lengths around each threshold, and comparisons with NumPy."""

import array as standard_array
import inspect

import numpy as np
from comparison import outcome

import fastsel
from fastsel._core import _gate, _threads, parallel
from fastsel._unique import _plan

THRESHOLDS = (
    _plan.MAX_FOR_NUMPY,
    *([_gate.TINY_ITEMS] if _gate.HAS_GIL else []),  # without the GIL no array is tiny
    _plan.UNSAMPLED_ITEMS,
    parallel.THRESHOLDS.small_items,
    2 * parallel.THRESHOLDS.small_items,
)
# Lengths of a `table`, which has two items in each row. The tables of LENGTHS have fewer items than
# the first threshold, or a number of items between two thresholds. The tables of EACH_SIDE have
# four items, as many items as a threshold, or two more.
LENGTHS = [2, *(threshold // 2 + 1 for threshold in THRESHOLDS[:-1])]
EACH_SIDE = sorted({2, *(threshold // 2 + step for threshold in THRESHOLDS for step in (0, 1))})
# Lengths of a `table` for which `_threads.for_bytes`, given its bytes, returns 1 and 2, if at least
# two threads are allowed.
CHUNKS = [_threads.MIN_CHUNK_BYTES // 8 + step for step in (-1, 0)]


class Index:
    """An object that is an integer by its method `__index__`."""

    def __index__(self):
        return 1


class RaisesInBool:
    """An object whose truth value is an error."""

    def __bool__(self):
        raise ZeroDivisionError("neither true nor false")


class DuckArray:
    """An array-like with `__array_function__`, which returns what NumPy passes to it."""

    def __array_function__(self, function, types, args, kwargs):
        bound = inspect.signature(function).bind(*args, **kwargs)
        bound.apply_defaults()
        return function, {*types}, [(name, id(value)) for name, value in bound.arguments.items()]


class Overriding:
    """An array of another library, which overrides NumPy's functions."""

    def __array_function__(self, func, types, args, kwargs):
        return func, types, args, kwargs


class Plain(np.ndarray):
    """A subclass without methods of its own."""


DUCK_ARRAY = DuckArray()
AXES = {
    "true": True,
    "false": False,
    "numpy_bool": np.True_,
    "float": 0.0,
    "numpy_float": np.float64(1),
    "nan": float("nan"),
    "text": "0",
    "empty_tuple": (),
    "tuple": (0,),
    "tuple_of_both": (1, 0),
    "tuple_twice": (0, 0),
    "tuple_of_bool": (True,),
    "nested_tuple": ((0,),),
    "list": [0],
    "int8": np.int8(-1),
    "uint64": np.uint64(1),
    "0-d": np.array(1),
    "1-d": np.array([1]),
    "index": Index(),
    "too_large": 2,
    "too_small": -3,
    "beyond_int": 2**31,
    "beyond_int64": 2**70,
    "object": object(),
}
FLAGS = {
    "none": None,
    "one": 1,
    "zero": 0,
    "two": 2,
    "beyond_int": 2**70,
    "float": 1.0,
    "zero_float": 0.0,
    "true": np.True_,
    "false": np.False_,
    "int8": np.int8(1),
    "text": "x",
    "no_text": "",
    "list": [],
    "0-d": np.array(True),
    "two_items": np.array([True, False]),
    "untrue": RaisesInBool(),
    "no_value": np._NoValue,
}


def table(length):
    return np.arange(2 * length, dtype=np.float64).reshape(length, 2) % 7


ARRAY_LIKES = {
    "none": lambda a: None,
    "number": lambda a: 3,
    "text": lambda a: "abc",
    "list": lambda a: a.tolist(),
    "tuple": lambda a: tuple(a.tolist()),
    "flat_list": lambda a: a.ravel().tolist(),
    "texts": lambda a: a.astype(str).tolist(),
    "ragged": lambda a: [*a.tolist(), [1]],
    "set": lambda a: {1, 2},
    "dict": lambda a: {1: 2},
    "range": lambda a: range(len(a)),
    "memoryview": lambda a: memoryview(a),
    "memoryview_strided": lambda a: memoryview(a)[::2],
    "array_array": lambda a: standard_array.array("d", a.ravel()),
    "0-d": lambda a: a[0, 0],
    "0-d_array": lambda a: np.array(1.5),
    "3-d": lambda a: a.reshape(1, *a.shape),
    "masked": lambda a: np.ma.array(a, mask=a == 3),
    "masked_nothing": lambda a: np.ma.array(a, mask=a == 9),
    "without_mask": lambda a: np.ma.array(a),
    "matrix": lambda a: a.view(np.matrix),
    "recarray": lambda a: a.view([("x", "f8"), ("y", "f8")]).view(np.recarray),
    "subclass": lambda a: a.view(Plain),
    "objects": lambda a: a.astype(object),
    "objects_without_order": lambda a: np.where(a == 3, "a", a.astype(object)),
    "objects_of_none": lambda a: np.where(a == 3, None, a.astype(object)),
    "objects_without_truth": lambda a: np.full(a.shape, RaisesInBool()),
    "StringDType": lambda a: a.astype(np.dtypes.StringDType()),
    "missing": lambda a: np.where(a == 3, None, a.astype(str).astype(object)).astype(
        np.dtypes.StringDType(na_object=None)
    ),
    "structured": lambda a: a.view("f8,f8"),
    "readonly": lambda a: np.broadcast_to(a, a.shape),
    "swapped": lambda a: a.astype(">f8"),
    "strided": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "datetimes": lambda a: a.astype(int).astype("M8[D]"),
    "strings": lambda a: a.astype("U3"),
    "bytes": lambda a: a.astype("S3"),
    "bool": lambda a: a > 3,
    "duck_array": lambda a: DUCK_ARRAY,
}


def parts(result):
    """Class, dtype, shape, items and mask of an array or a scalar of NumPy; a list of them for a
    tuple; any other result itself."""
    if isinstance(result, tuple):
        return [parts(output) for output in result]
    if not isinstance(result, np.ndarray | np.generic):
        return result
    items = np.asarray(result).tolist()
    mask = result.mask.tolist() if isinstance(result, np.ma.MaskedArray) else None
    return type(result), result.dtype, result.shape, items, mask


def assert_same_answer(ours, theirs):
    """Check that two outcomes are the same result, or errors of the same class and text. The text
    is not compared if items have no order: it names the types of the first two items that a sort
    cannot compare, and fastsel may compare other items first than NumPy.
    """
    if theirs[0] == "returns":
        assert (ours[0], parts(ours[1])) == (theirs[0], parts(theirs[1]))
    else:
        compared = 2 if "not supported between instances of" in theirs[2] else 3
        assert ours[:compared] == theirs[:compared]


def check_outcome(name, *args, **kwargs):
    """Check that fastsel's function has the outcome of NumPy's function."""
    assert_same_answer(
        outcome(getattr(fastsel, name), *args, **kwargs),
        outcome(getattr(np, name), *args, **kwargs),
    )


def unique_values_by_unique(a):
    return fastsel.unique(a, equal_nan=False, sorted=False)


def items_of(values):
    """The texts of the items (repr), sorted; without repetition for StringDType, because before
    NumPy 2.5 each missing string was a value of its own, even if it equals itself."""
    items = map(repr, values.tolist())
    return sorted(set(items) if values.dtype.kind == "T" else items)


def check_unique_values(a):
    """Check that `fastsel.unique_values` has NumPy's outcome, with the values in any order, or the
    outcome of `fastsel.unique` if NumPy cannot order the items."""
    ours, theirs = outcome(fastsel.unique_values, a), outcome(np.unique_values, a)
    if theirs[0] == "raises" and "not supported between instances of" in theirs[2]:
        theirs = outcome(unique_values_by_unique, a)
    if ours[0] == theirs[0] == "returns" and isinstance(theirs[1], np.ndarray):
        ours, theirs = (
            (kind, [type(values), values.dtype, items_of(values)])
            for kind, values in (ours, theirs)
        )
    assert ours == theirs
