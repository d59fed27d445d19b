"""A thread writes to an input while a call reads it: no crash, and the result has a valid form.

Which state is seen is free. A short while for each function, width and number of dimensions;
FASTSEL_LONG=1 makes it ten seconds each, for a run with AddressSanitizer.
"""

import os

import numpy as np
import pytest
from arrays import make
from comparison import assert_same, outcome
from concurrent_writer import while_writing
from forcing import ALGORITHMS, force
from grids import covering

import fastsel
from fastsel._core import _numpy

pytestmark = pytest.mark.thread_unsafe(reason="has a writer and readers of its own")

SECONDS = 10 if os.environ.get("FASTSEL_LONG") else 0.03
DTYPES = ["bool", "uint8", "int16", "float32", "int64", "complex128", "S3", "U5"]
SHAPES = [(30_000,), (150, 20, 10)]


def positions_are_valid(flat, size):
    assert ((flat >= 0) & (flat < size)).all()
    assert (np.diff(flat) > 0).all()


def check_nonzero(array):
    found = fastsel.nonzero(array)
    found_as = fastsel.nonzero(array, dtype=np.int32)
    for k, length in (
        *zip(found, array.shape, strict=True),
        *zip(found_as, array.shape, strict=True),
    ):
        assert ((k >= 0) & (k < length)).all()
    positions_are_valid(np.ravel_multi_index(found, array.shape), array.size)


def check_flatnonzero(array):
    positions_are_valid(fastsel.flatnonzero(array), array.size)


def check_argwhere(array):
    rows = fastsel.argwhere(array)
    positions_are_valid(np.ravel_multi_index(tuple(rows.T), array.shape), array.size)


def check_nonzero_coordinates(array):
    count, rows = fastsel.nonzero_coordinates(array)
    assert not rows[int(count) :].any()
    found = tuple(rows[: int(count)].T.astype(np.int64))
    positions_are_valid(np.ravel_multi_index(found, array.shape), array.size)


def check_count_nonzero(array):
    assert 0 <= fastsel.count_nonzero(array) <= array.size
    along = fastsel.count_nonzero(array, axis=0)
    assert (np.asarray(along) >= 0).all()
    assert (np.asarray(along) <= len(array)).all()


def check_first_nonzero(array):
    assert -1 <= fastsel.first_nonzero(array) < array.size
    for axis in range(array.ndim):
        along = np.asarray(fastsel.first_nonzero(array, axis=axis))
        assert ((along >= -1) & (along < array.shape[axis])).all()


def check_compress(array):
    """The array is the condition, and then the array that items are selected from."""
    places = np.arange(array.size)
    positions_are_valid(fastsel.compress(array.ravel(), places), array.size)
    assert len(fastsel.compress(places[: len(array)] % 2, array, axis=0)) == len(array) // 2


def check_extract(array):
    positions_are_valid(fastsel.extract(array, np.arange(array.size)), array.size)
    assert len(fastsel.extract(np.arange(array.size) % 2, array)) == array.size // 2


def check_boolean_mask(array):
    places = np.arange(array.size).reshape(array.shape)
    if array.dtype == bool:
        positions_are_valid(fastsel.boolean_mask(places, array), array.size)
    assert len(fastsel.boolean_mask(array, places % 2 == 1)) == array.size // 2


def check_unique(array):
    for keywords in ({"sorted": False}, {"sorted": True}):
        found = fastsel.unique(array, True, True, True, **keywords)
        values, index, inverse, counts = found
        assert len(values) == len(index) == len(counts) <= array.size
        assert ((index >= 0) & (index < array.size)).all()
        assert inverse.shape == array.shape
        assert ((inverse >= 0) & (inverse < len(values))).all()
        assert (counts >= 0).all()


def check_unique_values(array):
    for keywords in ({"sorted": False}, {"sorted": True}, {"sorted": False, "equal_nan": False}):
        values = fastsel.unique(array, **keywords)
        assert values.dtype == array.dtype
        assert 0 < len(values) <= array.size


def check_unique_rows(array):
    rows = array.reshape(len(array) // 2, -1)
    values, inverse = fastsel.unique(rows, axis=0, return_inverse=True, sorted=False)
    assert values.shape[1:] == rows.shape[1:]
    assert ((inverse >= 0) & (inverse < len(values))).all()


def check_group_indices(array):
    for keywords in ({"sorted": False}, {"sorted": True}):
        values, indices, offsets = fastsel.group_indices(array, **keywords)
        assert len(offsets) == len(values) + 1
        assert (np.diff(offsets) >= 0).all()
        assert (np.bincount(indices, minlength=array.size) == 1).all()
        assert (offsets[0], offsets[-1]) == (0, array.size)


def check_sets(array):
    """The array is one of both arrays, or both."""
    for other in (array[: len(array) // 3].copy(), array, array[::-1].copy()):
        for one, another in ((array, other), (other, array)):
            assert fastsel.isin(one, another).shape == one.shape
            index = fastsel.index_in(one, another)
            assert ((index >= -1) & (index < another.size)).all()
            values, index1, index2 = fastsel.intersect1d(one, another, return_indices=True)
            assert len(values) == len(index1) == len(index2)
            assert (index1 < one.size).all()
            assert (index2 < another.size).all()
            assert len(fastsel.setxor1d(one, another)) <= one.size + another.size
            assert len(fastsel.setdiff1d(one, another, assume_unique=True)) <= one.size
            assert len(fastsel.union1d(one, another)) <= one.size + another.size


def check_sets_of_slices(array):
    rows = array.reshape(len(array) // 2, -1)
    for other in (rows[:20].copy(), rows):
        assert fastsel.isin(rows, other, axis=0).shape == (len(rows),)
        values, index1, index2 = fastsel.intersect1d(rows, other, return_indices=True, axis=0)
        assert len(values) == len(index1) == len(index2)
        assert len(fastsel.setxor1d(rows, other, axis=0)) <= len(rows) + len(other)


def check_gather_nd_data(array):
    rows = np.arange(-len(array), len(array))[:, None]
    assert fastsel.gather_nd(array, rows).shape == (2 * len(array), *array.shape[1:])


CHECKS = {
    name.removeprefix("check_"): check
    for name, check in globals().copy().items()
    if name.startswith("check_")
}


def writer_of(array):
    """Writes one state after the other: nothing, everything, something."""
    dtype = array.dtype
    states = [make(dtype, array.shape, density, seed=3) for density in (0.0, 1.0, 0.2)]

    def write():
        for state in states:
            array[...] = state

    return write


@covering(at_least=30, name=CHECKS, dtype=DTYPES, shape=SHAPES)
def test_array_written_meanwhile(name, dtype, shape, forced_kernels):
    array = make(dtype, shape, 0.2, seed=3)
    with fastsel.threads(3):
        while_writing(writer_of(array), lambda: CHECKS[name](array), SECONDS)


@covering(
    dtype=DTYPES,
    name=["nonzero", "argwhere", "nonzero_coordinates", "boolean_mask", "first_nonzero"],
)
def test_transposed_array_written_meanwhile(name, dtype, forced_kernels):
    """Read in tiles, some of whose items are read twice."""
    array = make(dtype, (200, 150), 0.2, seed=3).T
    with fastsel.threads(3):
        while_writing(writer_of(array), lambda: CHECKS[name](array), SECONDS)


@covering(name=CHECKS, dtype=["bool", "float32", "int64"])
def test_small_array_written_meanwhile(name, dtype):
    """The kernels of small arrays read an array that is written meanwhile."""
    array = make(dtype, (10_000,), 0.2, seed=3)
    while_writing(writer_of(array), lambda: CHECKS[name](array), SECONDS)


@pytest.mark.parametrize("dtype", ["int32", "int64", "float64"])
@pytest.mark.parametrize("size", [1000, 5000])
def test_small_distinct_array_written_meanwhile(dtype, size):
    """Sorted, with positions or without; some are repeated after the first few."""
    array = np.random.default_rng(1).permutation(size).astype(dtype)
    array *= 2 ** (50 if array.itemsize == 8 else 10)
    array[-20:] = array[:20]
    while_writing(writer_of(array), lambda: check_unique(array), SECONDS)


@covering(at_least=16, dtype=DTYPES, algorithm=ALGORITHMS)
def test_keys_written_meanwhile(dtype, algorithm, forced_kernels, monkeypatch):
    force(monkeypatch, algorithm)
    array = make(dtype, (30_000,), 0.2, seed=3)
    with fastsel.threads(3):
        while_writing(writer_of(array), lambda: check_unique(array), SECONDS)


@covering(at_least=12, dtype=DTYPES, algorithm=ALGORITHMS)
def test_sets_written_meanwhile(dtype, algorithm, forced_kernels, monkeypatch):
    force(monkeypatch, algorithm)
    array = make(dtype, (30_000,), 0.2, seed=3)
    with fastsel.threads(3):
        while_writing(writer_of(array), lambda: check_sets(array), SECONDS)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("batch_dims", [0, 1])
def test_indices_written_meanwhile(dtype, batch_dims, forced_kernels):
    """Indices that are within the data and beyond it by turns."""
    data = np.arange(20 * 10 * 3).reshape(20, 10, 3)
    indices = np.zeros((20, 500, 1), dtype)
    out = np.zeros(indices.shape[:-1] + data.shape[batch_dims + 1 :], data.dtype)

    def write():
        indices.fill(100)
        indices.fill(7)

    def check():
        for keywords in ({}, {"out": out}):
            found = outcome(fastsel.gather_nd, data, indices, batch_dims, **keywords)
            if found[0] == "raises":
                assert found[1] is IndexError
                assert found[2].startswith("index 100 at position (")
            else:
                assert np.isin(found[1], data).all()

    with fastsel.threads(3):
        while_writing(write, check, SECONDS)


class Array(np.ndarray):
    """Notes what it is indexed with."""

    def __getitem__(self, key):
        self.seen.append(key)
        return np.asarray(self)[key]


def test_numpy_is_handed_a_mask_that_nobody_else_writes(monkeypatch, tmp_path):
    """NumPy's functions read a large mask twice, without the GIL: a change would lead to an index
    out of range, or to a write beyond the result."""
    seen = []

    def spy(name):
        function = getattr(_numpy, name)

        def call(mask, *args, **kwargs):
            seen.append(mask)
            return function(mask, *args, **kwargs)

        monkeypatch.setattr(_numpy, name, call)

    spy("compress")
    spy("extract")
    numbers = np.arange(2000)
    objects, subclass = numbers.astype(object), numbers.view(Array)
    subclass.seen = seen
    mapped = np.memmap(tmp_path / "mask", bool, "w+", shape=(2000,))
    mapped[:] = numbers % 3 == 0
    for mask in (np.array(mapped), mapped):
        kept, some = objects[np.array(mask)], numbers[np.array(mask)]
        assert_same(fastsel.compress(mask, objects), kept)
        assert_same(fastsel.extract(mask, objects), kept)
        with pytest.raises(ValueError):
            fastsel.compress(mask, numbers, out=np.arange(5))
        assert_same(np.asarray(fastsel.compress(mask, subclass)), some)
        assert_same(np.asarray(fastsel.extract(mask, subclass)), some)
        assert_same(fastsel.boolean_mask(subclass, mask), some)
        assert len(seen) == 6
        assert not any(np.may_share_memory(theirs, mask) for theirs in seen)
        seen.clear()
        # These index an array, which nobody sees.
        with monkeypatch.context() as patch:
            patch.setattr("fastsel._selection._selection._for_numpy", np.zeros_like)
            assert len(fastsel.boolean_mask(objects, mask)) == 0
            assert len(fastsel.boolean_mask(np.empty((20_000, 0)), np.ones(20_000, bool))) == 0
        assert_same(fastsel.boolean_mask(numbers, mask), some)
