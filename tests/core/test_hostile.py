"""Sizes and objects chosen to do harm: a call raises an exception or returns a result, and neither
crashes nor leaks."""

import gc
import sys
import threading

import numpy as np
import pytest
from comparison import assert_same, assert_same_outcome, outcome
from grids import covering
from operators import cases

import fastsel

# Sizes beyond the memory of any machine.

BEYOND_MEMORY = cases("huge")


@pytest.mark.parametrize("name", BEYOND_MEMORY)
def test_sizes_beyond_memory_raise_an_error(name, kernels_with_few_threads):
    with pytest.raises((MemoryError, ValueError)) as caught:
        BEYOND_MEMORY[name]()
    assert type(caught.value) is not ValueError or "array" in str(caught.value)


# Shapes with large dimensions and no items.

EMPTY_SHAPES = [(2**20, 0, 2**20), (0, 2**20), (2**59, 0), (1, 2**30, 0)]


@pytest.mark.parametrize("shape", EMPTY_SHAPES, ids=str)
def test_empty_arrays_with_large_dimensions_equal_numpy(shape, kernels_with_few_threads):
    array = np.zeros(shape)
    assert_same(fastsel.nonzero(array), np.nonzero(array))
    assert_same(fastsel.flatnonzero(array), np.flatnonzero(array))
    assert_same(fastsel.argwhere(array), np.argwhere(array))
    assert fastsel.count_nonzero(array) == 0
    assert fastsel.first_nonzero(array) == -1
    assert_same(fastsel.boolean_mask(array, array > 0), array[array > 0])
    assert_same(fastsel.extract(array, array), np.extract(array, array))
    assert_same(fastsel.unique(array), np.unique(array))
    assert fastsel.isin(array, [1.5]).shape == shape
    assert_same(fastsel.setxor1d(array, [1.5]), np.array([1.5]))
    assert_same_outcome(
        outcome(fastsel.compress, [1, 0, 1], array, axis=0),
        outcome(np.compress, [1, 0, 1], array, axis=0),
    )
    if shape[0]:
        assert_same(fastsel.gather_nd(array, [[shape[0] - 1]]), array[[shape[0] - 1]])
    with pytest.raises(IndexError, match="out of bounds"):
        fastsel.gather_nd(array, [[shape[0]]])


@pytest.mark.parametrize("index", [2**63 - 1, -(2**63), 2**31, -(2**31) - 1, 5, -6])
@pytest.mark.parametrize("position", [0, 64, 4095, -1])
def test_one_bad_index_among_many_is_named(index, position, kernels_with_few_threads):
    rows = np.zeros((5000, 1), np.int64)
    rows[position] = index
    with pytest.raises(IndexError, match=rf"index {index} at position \({position % 5000}, 0\)"):
        fastsel.gather_nd(np.arange(5), rows)


# Objects that run code when they are compared, hashed or tested for truth.


class Item:
    """An object that calls a function whenever it is compared, hashed or tested for truth."""

    def __init__(self, number, function):
        self.number, self.function = number, function

    def __bool__(self):
        self.function()
        return self.number % 2 == 1

    def __hash__(self):
        self.function()
        return self.number

    def __eq__(self, other):
        self.function()
        return self.number == other.number

    def __lt__(self, other):
        self.function()
        return self.number < other.number


OBJECT_CALLS = cases("of_objects")


def items(function, size=300):
    array = np.empty(size, object)
    array[:] = [Item(k % 50, function) for k in range(size)]
    return array


class RefusedError(Exception):
    pass


@pytest.mark.thread_unsafe(reason="counts references")
@covering(name=OBJECT_CALLS, calls_before_error=[0, 1, 100])
def test_errors_of_objects_are_raised_and_leave_no_reference(
    name, calls_before_error, kernels_with_few_threads
):
    """The call raises the error of the object; all reference counts are as before."""
    calls_left = 0

    def function():
        nonlocal calls_left
        calls_left -= 1
        if calls_left < 0:
            raise RefusedError

    array = items(function)
    counts = [sys.getrefcount(item) for item in array.tolist()]
    for _ in range(3):
        calls_left = calls_before_error
        with pytest.raises(RefusedError):
            OBJECT_CALLS[name](array)
    gc.collect()
    assert [sys.getrefcount(item) for item in array.tolist()] == counts


@pytest.mark.parametrize("name", OBJECT_CALLS)
def test_objects_may_change_the_array(name, kernels_with_few_threads):
    """The call returns a result or raises RuntimeError. The array still has valid items."""
    rng = np.random.default_rng(5)

    def function():
        if len(array):
            array[rng.integers(len(array))] = Item(int(rng.integers(50)), lambda: None)

    array = np.empty(0, object)
    array = items(function)
    kind, *result = outcome(OBJECT_CALLS[name], array)
    assert kind == "returns" or result[0] is RuntimeError
    gc.collect()
    assert {type(item) for item in array.tolist()} == {Item}


@pytest.mark.parametrize("name", OBJECT_CALLS)
def test_objects_may_call_fastsel_in_another_thread(name, kernels_with_few_threads):
    """Other threads call `flatnonzero` while the first thread is within a call; their results are
    right."""
    numbers = np.arange(2000) % 7
    expected = np.flatnonzero(numbers)
    results, calls = [], 0

    def function():
        nonlocal calls
        calls += 1
        if calls % 500 == 1:
            thread = threading.Thread(target=lambda: results.append(fastsel.flatnonzero(numbers)))
            thread.start()
            thread.join()

    outer = outcome(OBJECT_CALLS[name], items(function))
    assert outer[0] == "returns"
    assert results
    assert all((result == expected).all() for result in results)


@pytest.mark.parametrize("name", OBJECT_CALLS)
def test_objects_may_call_fastsel(name, kernels_with_few_threads):
    """The outer call and the calls of the objects return the right results."""
    numbers = np.arange(2000) % 7
    selected, distinct = np.flatnonzero(numbers), np.unique(numbers)
    calls = 0

    def function():
        nonlocal calls
        calls += 1
        if calls % 50 == 1:
            assert_same(fastsel.flatnonzero(numbers), selected)
            assert_same(fastsel.unique(numbers), distinct)

    array = items(function)
    result = OBJECT_CALLS[name](array)
    assert calls
    for item in array.tolist():
        item.function = lambda: None
    assert_same(result, OBJECT_CALLS[name](array))


# Memory does not grow.

PRINT_GROWTH = """
import numpy as np
import fastsel

rng = np.random.default_rng(1)
array = rng.integers(0, 3, (100_000, 4))
keys = rng.integers(0, 50_000, 200_000)
few_values = keys % 100
rows = rng.integers(-100_000, 100_000, (50_000, 1))
bad = np.append(rows, [[100_000]], axis=0)

def assert_raises(call):
    try:
        call()
    except (IndexError, ValueError):
        return
    raise AssertionError

def all_calls():
    fastsel.nonzero(array)
    fastsel.argwhere(array)
    fastsel.count_nonzero(array, axis=0)
    fastsel.nonzero_coordinates(array)
    fastsel.compress(array[:, 0], array, axis=0)
    fastsel.extract(array, array)
    fastsel.boolean_mask(array, array > 1)
    fastsel.gather_nd(array, rows)
    fastsel.unique(keys, True, True, True)
    fastsel.unique(few_values, True, True, True, sorted=False)
    fastsel.unique(array, axis=0)
    fastsel.isin(keys, few_values[::3])
    fastsel.intersect1d(keys, keys[::2] * 3, return_indices=True)
    fastsel.setxor1d(keys, array)
    assert_raises(lambda: fastsel.gather_nd(array, bad))
    assert_raises(lambda: fastsel.compress([1] * 100_001, array, axis=0))
    assert_raises(lambda: fastsel.nonzero_coordinates(array, capacity=3))

def resident_kb():
    return int(open("/proc/self/statm").read().split()[1]) * 4

# Memory that a thread keeps for later calls grows once. On a busy machine, some calls run on one
# thread, so that it takes more calls until both threads have this memory. A leak grows each time.
with fastsel.threads(2):
    for _ in range(10):
        before = resident_kb()
        for _ in range(40):
            all_calls()
        grown_kb = resident_kb() - before
        if grown_kb < 1500:
            break
print(grown_kb)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
def test_memory_does_not_grow_with_the_number_of_calls(run_python):
    """A bitmask of `array` that leaked in each of 40 calls would take 2 MB, an inverse of `keys`
    64 MB."""
    assert int(run_python(PRINT_GROWTH)) < 1500


@pytest.mark.parametrize("shape", [(2**40, 0), (2**40, 3, 0)])
def test_compress_does_not_loop_over_empty_rows(shape):
    array = np.empty(shape)
    assert fastsel.compress(np.ones(array.shape[1], bool), array, axis=1).shape == shape
