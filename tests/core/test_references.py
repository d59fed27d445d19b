"""References to objects and arguments, and leaks."""

import contextlib
import gc
import sys
import tracemalloc
from collections import Counter
from functools import partial

import numpy as np
import pytest
from arrays import make
from comparison import assert_same
from operators import cases

import fastsel

pytestmark = [
    pytest.mark.usefixtures("forced_kernels"),
    pytest.mark.thread_unsafe(reason="counts references and the memory of the process"),
]

RECORD = np.dtype([("number", "i4"), ("item", "O")])


class Item:
    """A truthy object that equals no other."""


def object_arrays():
    """Some objects, and arrays that refer to them: an array of objects and one of structures."""
    items = [Item() for _ in range(300)]
    array = np.empty(300, object)
    array[:] = items
    record = np.zeros(300, RECORD)
    record["item"] = items
    return items, {"object": array, "struct": record}


# Functions that select or gather items of an array of 300 objects.
PICKS = {
    "compress": lambda a: fastsel.compress(np.arange(300) % 3, a),
    "compress_axis": lambda a: fastsel.compress([1, 0, 1], a.reshape(100, 3), axis=1),
    "compress_out": lambda a: fastsel.compress(np.arange(300) % 3, a, out=np.zeros(200, a.dtype)),
    "extract": lambda a: fastsel.extract(np.arange(300) % 3, a),
    "boolean_mask": lambda a: fastsel.boolean_mask(a, np.arange(300) % 3 != 0),
    "gather_nd": lambda a: fastsel.gather_nd(a, np.arange(-300, 300)[:, None]),
    "gather_nd_slices": lambda a: fastsel.gather_nd(a.reshape(100, 3), [[0], [-1], [0]]),
    "gather_nd_out": lambda a: fastsel.gather_nd(a, [[0], [1]], out=np.zeros(2, a.dtype)),
}


@pytest.mark.parametrize("kind", ["object", "struct"])
@pytest.mark.parametrize("pick", PICKS)
def test_each_copy_of_an_object_is_a_reference(pick, kind):
    items, arrays = object_arrays()
    before = [sys.getrefcount(item) for item in items]
    result = PICKS[pick](arrays[kind])
    picked = (result if kind == "object" else result["item"]).ravel().tolist()
    copies = Counter(id(item) for item in picked)
    del picked
    assert copies
    assert [sys.getrefcount(item) for item in items] == [
        count + copies[id(item)] for count, item in zip(before, items, strict=True)
    ]
    del result
    gc.collect()
    assert [sys.getrefcount(item) for item in items] == before


@pytest.mark.parametrize("pick", PICKS)
def test_objects_outlive_the_array_they_came_from(pick):
    items, arrays = object_arrays()
    result = PICKS[pick](arrays["object"])
    del items, arrays
    gc.collect()
    assert all(type(item) is Item for item in result.ravel())


def test_structures_with_objects_are_truthy_if_any_field_is(kernels_with_few_threads):
    records = np.array([(0, None), (1, None), (0, "a"), (0, "")], RECORD)
    assert_same(fastsel.nonzero(records), np.nonzero(records))
    assert fastsel.flatnonzero(records).tolist() == [1, 2]
    assert fastsel.count_nonzero(records) == 2


def calls_and_arguments():
    """A dict of calls on small arrays, and the arrays that are the arguments of these calls: the
    calls of all operators, and calls that raise an error."""
    a = make("int32", (40, 5))
    mask = make("bool", 40)
    out = np.zeros((0, 5), np.int32)
    calls = {**cases("calls"), **cases("calls_for_fewer_dtypes")}
    return {
        **{name: partial(call, fastsel, a) for name, call in calls.items()},
        "index_in_lengths": lambda: fastsel.index_in(a, a[:, :2], axis=0),
        "isin_axis": lambda: fastsel.isin(a, a, axis=2),
        "nonzero_0d": lambda: fastsel.nonzero(np.array(1)),
        "compress_beyond": lambda: fastsel.compress([1] * 50, a, axis=0),
        "compress_wrong_out": lambda: fastsel.compress(mask, a, axis=0, out=out),
        "extract_beyond": lambda: fastsel.extract([1] * 500, a),
        "boolean_mask_mismatch": lambda: fastsel.boolean_mask(a, mask[:-1]),
        "gather_nd_beyond": lambda: fastsel.gather_nd(a, [[0], [40]]),
        "gather_nd_wrong_out": lambda: fastsel.gather_nd(a, [[0]], out=out),
        "unique_axis": lambda: fastsel.unique(a, axis=2),
        "isin_kind": lambda: fastsel.isin(a, a, kind="hash"),
        "nonzero_coordinates_capacity": lambda: fastsel.nonzero_coordinates(a, capacity=1),
    }, (a, mask, out)


@pytest.mark.parametrize("name", calls_and_arguments()[0])
def test_no_reference_stays_and_memory_does_not_grow(name):
    """The test counts the references to the arguments. Some of the calls raise."""
    functions, arguments = calls_and_arguments()
    call = functions[name]

    def call_often():
        for _ in range(100):
            with contextlib.suppress(IndexError, ValueError, DeprecationWarning):
                call()

    def growth():
        first = tracemalloc.get_traced_memory()[0]
        call_often()
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - first

    call_often()
    gc.collect()
    before = [sys.getrefcount(argument) for argument in arguments]
    tracemalloc.start()
    try:
        call_often()
        min_growth = min(growth() for _ in range(3))  # another thread may allocate meanwhile
    finally:
        tracemalloc.stop()
    assert [sys.getrefcount(argument) for argument in arguments] == before
    assert min_growth < 5_000
