"""A thread writes to an input while a call reads it: no crash, and the result has a valid form.

Each item may be read in any state. In each case, the thread writes for SECONDS: 0.03, or 3 with
FASTSEL_LONG=1, as in the long check's run with AddressSanitizer.
"""

import os

import numpy as np
import pytest
from arrays import make
from callers import run_in_threads
from comparison import assert_same, outcome
from concurrent_writer import while_writing
from forcing import ALGORITHMS, force
from grids import covering
from operators import EXAMPLES, check_unique, check_unique_values

import fastsel
from fastsel._core import _gate, _numpy
from fastsel._unique import _objects

pytestmark = pytest.mark.thread_unsafe(reason="starts a thread that writes while the test reads")

SECONDS = 3 if os.environ.get("FASTSEL_LONG") else 0.03
DTYPES = ["bool", "uint8", "int16", "float32", "float64", "int64", "complex128", "S3", "U5"]
SHAPES = [(30_000,), (150, 20, 10)]


CHECKS = {
    check.__name__.removeprefix("check_"): check
    for examples in EXAMPLES.values()
    for check in examples.while_written
}


def writer_of(array):
    """A function that writes three states, one after the other: none, all and about 20 % of the
    items are non-zero."""
    dtype = array.dtype
    states = [make(dtype, array.shape, density, seed=3) for density in (0.0, 1.0, 0.2)]

    def write():
        for state in states:
            array[...] = state

    return write


@covering(at_least=40, name=CHECKS, dtype=DTYPES, shape=SHAPES)
def test_array_written_meanwhile_gives_valid_results(name, dtype, shape, forced_kernels):
    array = make(dtype, shape, 0.2, seed=3)
    with fastsel.threads(3):
        while_writing(writer_of(array), lambda: CHECKS[name](array), SECONDS)


@pytest.mark.parametrize("dtype", ["int64", "float64", "datetime64[s]"])
def test_setxor1d_merges_arrays_written_meanwhile(dtype):
    """The merge may get distinct numbers that do not ascend, and several NaN or NaT."""
    ascending = np.arange(300_000).astype(dtype)
    missing = {"i": 600_000, "f": np.nan, "M": np.datetime64("NaT", "s")}[ascending.dtype.kind]
    first, second = ascending.copy(), ascending.copy()

    def write():
        first[:: first.size // 8] = ascending[-1]
        first[::3] = missing
        first[...] = ascending

    def check():
        assert len(fastsel.setxor1d(first, second)) <= first.size + second.size

    with fastsel.threads(2):
        while_writing(write, check, SECONDS)


@covering(
    dtype=DTYPES,
    name=["nonzero", "argwhere", "nonzero_coordinates", "boolean_mask", "first_nonzero"],
)
def test_transposed_array_written_meanwhile_gives_valid_results(name, dtype, forced_kernels):
    """The array is read in tiles; items of one word may be read twice."""
    array = make(dtype, (200, 150), 0.2, seed=3).T
    with fastsel.threads(3):
        while_writing(writer_of(array), lambda: CHECKS[name](array), SECONDS)


@covering(name=CHECKS, dtype=["bool", "float32", "int64"])
def test_small_array_written_meanwhile_gives_valid_results(name, dtype):
    """No kernel is forced: most calls read the array in a kernel of small arrays."""
    array = make(dtype, (10_000,), 0.2, seed=3)
    while_writing(writer_of(array), lambda: CHECKS[name](array), SECONDS)


@pytest.mark.parametrize("dtype", ["int32", "int64", "float64"])
@pytest.mark.parametrize("size", [1000, 5000])
def test_small_distinct_array_written_meanwhile_gives_valid_results(dtype, size):
    """Nearly all keys are distinct, before and after each write. For ascending values, they are
    sorted with their positions; for values in order of first occurrence, they are added to a hash
    table."""
    array = np.random.default_rng(1).permutation(size).astype(dtype)
    array *= 2 ** (50 if array.itemsize == 8 else 10)
    array[-20:] = array[:20]
    states = array[::-1].copy(), 2 * array

    def write():
        for state in states:
            array[...] = state

    while_writing(write, lambda: CHECKS["unique"](array), SECONDS)


@covering(at_least=16, dtype=DTYPES, algorithm=ALGORITHMS)
def test_keys_written_meanwhile_give_valid_results(dtype, algorithm, forced_kernels, monkeypatch):
    force(monkeypatch, algorithm)
    array = make(dtype, (30_000,), 0.2, seed=3)
    with fastsel.threads(3):
        while_writing(writer_of(array), lambda: CHECKS["unique"](array), SECONDS)


@covering(at_least=12, dtype=DTYPES, algorithm=ALGORITHMS)
def test_sets_written_meanwhile_give_valid_results(dtype, algorithm, forced_kernels, monkeypatch):
    force(monkeypatch, algorithm)
    array = make(dtype, (30_000,), 0.2, seed=3)
    with fastsel.threads(3):
        for name in ("sets", "index_in", "remap"):
            while_writing(writer_of(array), lambda name=name: CHECKS[name](array), SECONDS)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("batch_dims", [0, 1])
def test_indices_written_meanwhile_give_valid_results(dtype, batch_dims, forced_kernels):
    """The indices are alternately within the data and beyond it, with a wide dtype far beyond it.
    Nothing beyond the data is read."""
    beyond = min(2**40, np.iinfo(dtype).max)
    data = np.arange(20 * 10 * 3).reshape(20, 10, 3)
    indices = np.zeros((20, 500, 1), dtype)
    out = np.zeros(indices.shape[:-1] + data.shape[batch_dims + 1 :], data.dtype)

    def write():
        indices.fill(beyond)
        indices.fill(7)

    def check():
        for keywords in ({}, {"out": out}):
            ours = outcome(fastsel.gather_nd, data, indices, batch_dims, **keywords)
            if ours[0] == "raises":
                assert ours[1] is IndexError
                assert ours[2].startswith(f"index {beyond} at position (")
            else:
                assert np.isin(ours[1], data).all()

    with fastsel.threads(3):
        while_writing(write, check, SECONDS)


# The items that threads write into arrays of objects. The lists have references to these items, so
# no write frees an item: NumPy, which copies the array, does not promise to survive that.
POOLS = {
    "str": [f"text {k % 900}" for k in range(3000)],
    "wide_str": [chr(0x3B1 + k % 9) * (k % 50) for k in range(3000)],
    "bytes": [b"%d" % (k % 900) for k in range(3000)],
    "tuples": [(k % 900, "a") for k in range(3000)],
    "mixed": [[k % 900, f"{k % 900}", k % 900 + 0.5][k % 3] for k in range(3000)],
}


@pytest.mark.parametrize("name", POOLS)
def test_objects_replaced_meanwhile_give_valid_results(name, kernels_with_few_threads):
    pool, array = POOLS[name], np.empty(3000, object)
    array[:] = pool
    known = set(map(id, pool))

    def write():
        array[:] = pool
        array[::2] = pool[1500:]
        array.fill(pool[7])

    def check():
        values, index, inverse, counts = fastsel.unique(array, True, True, True, sorted=False)
        assert set(map(id, values)) <= known
        assert len(set(values)) == len(values) == len(index) == len(counts)
        assert counts.sum() == array.size
        assert ((inverse >= 0) & (inverse < len(values))).all()
        if name in ("str", "wide_str", "bytes"):
            values = fastsel.unique(array).tolist()
            assert values == sorted(set(values))
        assert fastsel.isin(array, array[:50]).shape == array.shape

    with fastsel.threads(3):
        while_writing(write, check, SECONDS)


@pytest.mark.parametrize("name", ["short", "long", "of_any_length"])
def test_strings_replaced_meanwhile_give_valid_results(name):
    """Short strings lie in the items of the array; long strings lie in the arena of the dtype, or
    have memory of their own."""
    lengths = {"short": [1], "long": [60], "of_any_length": [0, 3, 15, 16, 60, 300]}[name]
    texts = [f"{k % 900:05}" * lengths[k % len(lengths)] for k in range(3000)]
    array = np.array(texts, np.dtypes.StringDType())
    states = array[::-1].copy(), array.copy(), np.full(3000, texts[7], np.dtypes.StringDType())

    def write():
        for state in states:
            array[...] = state

    def check():
        check_unique(array)
        check_unique_values(array)
        assert set(fastsel.unique(array, sorted=False)) <= set(texts)

    while_writing(write, check, SECONDS)


def test_strings_that_another_thread_drops_are_not_read(monkeypatch):
    """Without the GIL, unique reads a copy of an array of objects. Another thread replaces all
    items, which frees them, after the copy is made."""
    array = np.empty(3000, object)
    array[:] = [f"text {k % 900}" for k in range(3000)]
    expected = [f"text {k}" for k in range(900)]
    find_runs = _objects.string_objects.find_runs

    def drop_all(items):
        if items is not array:
            run_in_threads([lambda: array.fill(None)])
        return find_runs(items)

    monkeypatch.setattr(_gate, "HAS_GIL", False)
    monkeypatch.setattr(_objects.string_objects, "find_runs", drop_all)
    assert fastsel.unique(array, sorted=False).tolist() == expected
    assert array[0] is None


class RecordingArray(np.ndarray):
    """An array that records each index that it gets."""

    def __getitem__(self, key):
        self.seen.append(key)
        return np.asarray(self)[key]


def test_numpy_gets_a_copy_of_the_mask(monkeypatch, tmp_path):
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
    objects, subclass = numbers.astype(object), numbers.view(RecordingArray)
    subclass.seen = seen
    mapped = np.memmap(tmp_path / "mask", bool, "w+", shape=(2000,))
    mapped[:] = numbers % 3 == 0
    for mask in (np.array(mapped), mapped):
        selected_objects, selected_numbers = objects[np.array(mask)], numbers[np.array(mask)]
        assert_same(fastsel.compress(mask, objects), selected_objects)
        assert_same(fastsel.extract(mask, objects), selected_objects)
        with pytest.raises(ValueError):
            fastsel.compress(mask, numbers, out=np.arange(5))
        assert_same(np.asarray(fastsel.compress(mask, subclass)), selected_numbers)
        assert_same(np.asarray(fastsel.extract(mask, subclass)), selected_numbers)
        assert_same(fastsel.boolean_mask(subclass, mask), selected_numbers)
        assert len(seen) == 6
        assert not any(np.may_share_memory(theirs, mask) for theirs in seen)
        seen.clear()
        # This call indexes an ndarray, which records nothing. The patched `_for_numpy` returns a
        # mask without True: if the calls select nothing, they have used this mask.
        with monkeypatch.context() as patch:
            patch.setattr("fastsel._selection._selection._for_numpy", np.zeros_like)
            assert len(fastsel.boolean_mask(objects, mask)) == 0
            rows_of_nothing = np.empty((20_000, 0))  # a kernel selects them
            assert_same(
                fastsel.boolean_mask(rows_of_nothing, np.ones(20_000, bool)), rows_of_nothing
            )
        assert_same(fastsel.boolean_mask(numbers, mask), selected_numbers)
