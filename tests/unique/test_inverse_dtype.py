"""The argument inverse_dtype of unique: integers that can hold each index into the values."""

import tracemalloc

import numpy as np
import pytest
from arrays import WORD_DTYPES, make
from comparison import assert_same
from forcing import ALGORITHMS, force
from grids import covering
from layouts import LAYOUTS, has_layout

import fastsel

INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i2", ">u4", ">i8", "q", "Q", "intc"]
# A range for a direct-address table, with and without keys outside of it, and other keys.
COLUMNS = {
    "narrow": lambda n: n % 100,
    "with outliers": lambda n: np.where(n % 1000 == 7, 10**12 - n % 3 * 10**12, n % 100),
    "wide": lambda n: n % 100 * 10**9,
    "sorted": lambda n: n // 10 % 100,
    "floats": lambda n: n % 100 / 7,
}


def with_dtype(outputs, dtype, position=1):
    """The outputs of unique, with the inverse in this dtype."""
    return tuple(
        output.astype(dtype) if k == position else output for k, output in enumerate(outputs)
    )


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("size", [0, 1, 90, 3000, 100_000])
def test_each_integer_dtype_equals_the_inverse_of_intp(dtype, size):
    for column in COLUMNS.values():
        array = column(np.random.default_rng(size).permutation(size))
        for order in (True, False):
            expected = fastsel.unique(array, return_inverse=True, sorted=order)
            actual = fastsel.unique(array, return_inverse=True, sorted=order, inverse_dtype=dtype)
            assert_same(actual, with_dtype(expected, dtype))


@covering(algorithm=ALGORITHMS, column=COLUMNS, order=[True, False], threads=[1, 3])
def test_each_algorithm_writes_the_dtype(
    algorithm, column, order, threads, forced_kernels, monkeypatch
):
    force(monkeypatch, algorithm)
    array = COLUMNS[column](np.random.default_rng(3).permutation(20_000)).reshape(100, 200)
    with fastsel.threads(threads):
        expected = fastsel.unique(array, True, True, True, sorted=order)
        for dtype in ("i4", "u4", "u2"):
            actual = fastsel.unique(array, True, True, True, sorted=order, inverse_dtype=dtype)
            assert_same(actual, with_dtype(expected, dtype, 2))


@covering(name=[*WORD_DTYPES, "U3", "StringDType"], layout=LAYOUTS)
def test_each_dtype_and_layout_of_the_items_has_an_inverse_of_4_bytes(name, layout):
    array = make(name, (9, 14), 0.5)
    if has_layout(array.dtype, layout):
        array = LAYOUTS[layout](array)
        for axis in (None, 0, 1):
            if axis is None or name != "StringDType":
                expected = fastsel.unique(array, return_inverse=True, axis=axis)
                actual = fastsel.unique(
                    array, return_inverse=True, axis=axis, inverse_dtype=np.int32
                )
                assert_same(actual, with_dtype(expected, "i4"))


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("char", "FDGgdeMSUV?O")
def test_few_items_of_each_kind_have_an_inverse_of_each_dtype(char, dtype):
    """NumPy answers for a few complex numbers or long doubles, and sorts objects."""
    for size in (1, 3, 100):
        numbers = np.arange(size) % 7
        array = numbers.astype("V8" if char == "V" else "M8[s]" if char == "M" else char)
        for order in (True, False):
            outputs = fastsel.unique(array, True, True, True, sorted=order)
            actual = fastsel.unique(array, True, True, True, sorted=order, inverse_dtype=dtype)
            assert_same(actual, with_dtype(outputs, dtype, 2))


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("equal_nan", [True, False])
def test_objects_with_nan_have_an_inverse_of_each_dtype(equal_nan, dtype):
    for items in ([1, float("nan"), 2], [float("nan")] * 3, [True, float("nan"), 0.5]):
        array = np.array(items, object)
        for order in (True, False):
            given = {"sorted": order, "equal_nan": equal_nan, "return_inverse": True}
            outputs = fastsel.unique(array, **given)
            actual = fastsel.unique(array, **given, inverse_dtype=dtype)
            assert_same(actual, with_dtype(outputs, dtype))


class Subclass(np.ndarray):
    pass


@pytest.mark.parametrize(
    "array",
    [
        [],
        [[3, 1], [1, 1]],
        np.zeros((2, 0)),
        np.array(5),
        np.ma.array([1, 1, 3], mask=[0, 1, 0]),
        np.array([4, 2, 4]).view(Subclass),
        np.array([(1, 2), (0, 1), (1, 2)], "i4,i4"),
        np.array([2, "a", 2], object)[::2],
    ],
)
def test_calls_that_numpy_serves_have_the_dtype(array):
    for order in (True, False):
        expected = fastsel.unique(array, return_inverse=True, sorted=order)
        actual = fastsel.unique(array, return_inverse=True, sorted=order, inverse_dtype="i1")
        assert_same(actual, with_dtype(expected, "i1"))


@pytest.mark.parametrize(
    ("dtype", "most"), [("i1", 128), ("u1", 256), (">i2", 2**15), ("u2", 2**16)]
)
@pytest.mark.parametrize("factor", [1, 10**9])
def test_more_values_than_the_dtype_can_count_raise_overflow_error(dtype, most, factor):
    array = np.tile(np.arange(most + 1), 2) * factor
    values, inverse = fastsel.unique(array[:most], return_inverse=True, inverse_dtype=dtype)
    assert inverse.max() == most - 1 == len(values) - 1
    message = f"^ar has {most + 1} distinct values, .* inverse_dtype {np.dtype(dtype).name}: .* "
    for items in (array, array.astype("V8").view("i4,i4")):  # NumPy serves the second one
        with pytest.raises(OverflowError, match=message + f"{most - 1}$"):
            fastsel.unique(items, return_inverse=True, inverse_dtype=dtype)
    assert len(fastsel.unique(array, inverse_dtype=dtype)) == most + 1


@pytest.mark.parametrize("dtype", [float, "?", "U1", object, "M8[s]"])
def test_other_dtypes_raise_type_error(dtype):
    message = f"^inverse_dtype must be an integer dtype, got {np.dtype(dtype)}".replace("[", r"\[")
    for array in ([1], np.arange(2000)):
        with pytest.raises(TypeError, match=message):
            fastsel.unique(array, return_inverse=True, inverse_dtype=dtype)


@pytest.mark.thread_unsafe(reason="measures the memory of the process")
def test_an_inverse_of_4_bytes_of_labels_takes_half_the_memory():
    labels = np.random.default_rng(1).integers(0, 1000, 1 << 20, np.int32)

    def peak(dtype):
        fastsel.release_memory()
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        fastsel.unique(labels, return_inverse=True, inverse_dtype=dtype)
        return tracemalloc.get_traced_memory()[1] - before

    tracemalloc.start()
    try:
        saved = peak(None) - peak("i4")
    finally:
        tracemalloc.stop()
    assert saved > 0.95 * labels.nbytes
