"""fastsel.dask accepts NumPy arrays of objects and of StringDType in place of dask arrays."""

import numpy as np
import pytest
from arrays import objects

import fastsel

da = pytest.importorskip("dask.array", reason='needs pip install "dask[array]" distributed')
import dask  # noqa: E402
from chunked import assert_equal  # noqa: E402

import fastsel.dask  # noqa: E402

ITEMS = {
    "numbers": objects(*[3, 0, 1, 3, 2, 1] * 2),
    "texts": objects(*["b", "", "c", "a", "c", "b"] * 2),
    "StringDType": np.array(["b", "", "c", "a", "c", "b"] * 2, np.dtypes.StringDType()),
}
CALLS_OF_ONE_ARRAY = {
    "nonzero": lambda module, a: module.nonzero(a.reshape(3, 4)),
    "flatnonzero": lambda module, a: module.flatnonzero(a),
    "argwhere": lambda module, a: module.argwhere(a.reshape(3, 4)),
    "count_nonzero": lambda module, a: module.count_nonzero(a),
    "unique": lambda module, a: module.unique(a),
    "unique_first": lambda module, a: module.unique(a, True, True, True, sorted=False),
    "unique_all": lambda module, a: tuple(module.unique_all(a)),
    "unique_counts": lambda module, a: tuple(module.unique_counts(a)),
    "unique_inverse": lambda module, a: tuple(module.unique_inverse(a)),
    "unique_values": lambda module, a: module.unique_values(a),
    "gather_nd": lambda module, a: module.gather_nd(a, [[5], [0], [-1]]),
    "compress": lambda module, a: module.compress([True, False, True], a),
    "extract": lambda module, a: module.extract([True, False, True], a),
    "boolean_mask": lambda module, a: module.boolean_mask(a, np.arange(12) % 3 == 0),
}
# `b` is a NumPy array or a dask array.
CALLS_OF_TWO_ARRAYS = {
    "compress": lambda module, a, b: module.compress(b != b[0], a),
    "extract": lambda module, a, b: module.extract(b != b[0], a),
    "compress by a": lambda module, a, b: module.compress(a, b),
    "extract by a": lambda module, a, b: module.extract(a, b),
    "boolean_mask": lambda module, a, b: module.boolean_mask(a, b != b[0]),
    "isin": lambda module, a, b: module.isin(a, b[2:4]),
    "isin in a": lambda module, a, b: module.isin(b, a[2:4], invert=True),
    "intersect1d": lambda module, a, b: module.intersect1d(a, b[2:], return_indices=True),
    "union1d": lambda module, a, b: module.union1d(b[:3], a[:2]),
    "setdiff1d": lambda module, a, b: module.setdiff1d(a, b[2:4]),
    "setdiff1d of b": lambda module, a, b: module.setdiff1d(b, a[2:4], assume_unique=True),
    "setxor1d": lambda module, a, b: module.setxor1d(a, b[2:4]),
}


@pytest.mark.parametrize("kind", ITEMS)
@pytest.mark.parametrize("call", CALLS_OF_ONE_ARRAY)
def test_calls_of_one_array_equal_fastsel(call, kind):
    a = ITEMS[kind]
    assert_equal(CALLS_OF_ONE_ARRAY[call](fastsel.dask, a), CALLS_OF_ONE_ARRAY[call](fastsel, a))


@pytest.mark.parametrize("kind", ITEMS)
def test_nonzero_coordinates_equals_fastsel_up_to_count(kind):
    a = ITEMS[kind].reshape(3, 4)
    count, coordinates = fastsel.nonzero_coordinates(a)
    result = fastsel.dask.nonzero_coordinates(a)
    assert result.count.compute() == count
    assert result.coordinates.compute().tolist() == coordinates[:count].tolist()


@pytest.mark.parametrize("kind", ITEMS)
@pytest.mark.parametrize("call", CALLS_OF_TWO_ARRAYS)
def test_calls_of_two_arrays_equal_fastsel(call, kind):
    a, b = ITEMS[kind], ITEMS[kind][::-1]
    expected = CALLS_OF_TWO_ARRAYS[call](fastsel, a, b)
    for other in (b, da.from_array(b, chunks=5)):
        assert_equal(CALLS_OF_TWO_ARRAYS[call](fastsel.dask, a, other), expected)
    assert_equal(CALLS_OF_TWO_ARRAYS[call](fastsel, a, da.from_array(b, chunks=5)), expected)


def test_sets_of_objects_and_numbers_equal_fastsel():
    numbers, items = np.arange(6), objects(4, 9, 4)
    x = da.from_array(numbers, chunks=4)
    for name in ("isin", "intersect1d", "union1d", "setdiff1d", "setxor1d"):
        of_numpy, of_dask = getattr(fastsel, name), getattr(fastsel.dask, name)
        assert_equal(of_dask(x, items), of_numpy(numbers, items))
        assert_equal(of_dask(items, x), of_numpy(items, numbers))


def test_list_that_becomes_an_array_of_objects_equals_fastsel():
    items = [None, "a", None]
    assert_equal(fastsel.dask.flatnonzero(items), fastsel.flatnonzero(items))
    assert_equal(fastsel.dask.unique(items, sorted=False), fastsel.unique(items, sorted=False))


@pytest.mark.thread_unsafe(reason="sets dask's configuration, which all threads share")
@pytest.mark.parametrize("kind", ITEMS)
def test_large_arrays_have_several_blocks(kind):
    a = np.tile(ITEMS[kind], 100)
    with dask.config.set({"array.chunk-size": "1kiB"}):
        positions = fastsel.dask.flatnonzero(a)
        outputs = fastsel.dask.unique(a, True, True, True)
    assert positions.npartitions > 5
    assert_equal(positions, fastsel.flatnonzero(a))
    assert_equal(outputs, fastsel.unique(a, True, True, True))


def test_arrays_that_dask_would_name_alike_are_distinguished():
    first, second = objects("a-b", "c"), objects("a", "b-c")
    assert_equal(fastsel.dask.union1d(first, second), fastsel.union1d(first, second))


def test_masked_arrays_are_refused():
    with pytest.raises(TypeError, match="got blocks of type MaskedArray"):
        fastsel.dask.unique(np.ma.array(ITEMS["numbers"]))
