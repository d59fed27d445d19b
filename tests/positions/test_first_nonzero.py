"""first_nonzero: the position that it finds, axes, objects, and the type of its result."""

import itertools

import numpy as np
import pytest
import reference
from arrays import DTYPES, WORD_DTYPES, make
from comparison import assert_same, outcome
from layouts import LAYOUTS, has_layout
from marks import SIGNALLING_NANS

import fastsel
from fastsel._core import _threads
from fastsel._core.parallel import THRESHOLDS

SMALL_ITEMS = THRESHOLDS.small_items
# Some rows are shorter and some longer than the FLAG_ITEMS (1024) items of one step of a search.
SHAPES = [(5,), (1, 300), (300, 1), (70, 3), (1100, 2), (2, 1100), (1030, 17), (3, 1, 5, 70)]
SHAPES += [(40, 2, 100), (0, 3), (3, 0, 2), (4, 20, 257)]
LARGE = (4, 300, 257)  # not for strings: the reference tests their truth one by one
NAMES = ["bool", "int16", "float32", "float64", "complex64", "S3"]
LAYOUTS_OF_AXES = ("C", "F", "strided", "rows_strided", "negative", "broadcast")


@SIGNALLING_NANS
@pytest.mark.parametrize(
    ("name", "shape"),
    [*itertools.product(NAMES, SHAPES), *((name, LARGE) for name in NAMES if name != "S3")],
    ids=str,
)
def test_any_axes_of_any_layout_equal_numpy(name, shape, kernels_with_few_threads):
    for density, layout in zip((0, 0.002, 0.05, 0.5, 0.05, 0.002), LAYOUTS_OF_AXES, strict=True):
        view = LAYOUTS[layout](make(name, shape, density))
        for n_axes in range(view.ndim + 1):
            for axes in itertools.combinations(range(view.ndim), n_axes):
                expected = by_numpy(view, axes)
                assert_same(fastsel.first_nonzero(view, axes), expected)


def by_numpy(array, axes):
    """The result by NumPy's argmax, for arrays that are too large for the reference."""
    kept_axes = [k for k in range(array.ndim) if k not in axes]
    truth = reference.truth(array).transpose(*kept_axes, *axes)
    rows = rows_that_end_in_true(truth, len(kept_axes))
    first = rows.argmax(-1)
    return np.where(first == rows.shape[-1] - 1, -1, first)[()]


def rows_that_end_in_true(truth, n_kept_axes):
    """The truth of the items of each search as a row, with True at the end."""
    shape = truth.shape[:n_kept_axes]
    rows = np.ones((*shape, int(np.prod(truth.shape[n_kept_axes:])) + 1), bool)
    rows[..., :-1] = truth.reshape(*shape, rows.shape[-1] - 1)
    return rows


@pytest.mark.parametrize("name", WORD_DTYPES)
def test_each_layout_of_each_dtype_equals_the_reference(name, kernels_with_few_threads):
    for layout in LAYOUTS:
        if has_layout(DTYPES[name], layout):
            array = LAYOUTS[layout](make(name, (3, 4, 70), 0.02))
            for axis in (None, 0, 1, -1, (), (0, 2), (2, 0)):
                expected = reference.first_nonzero(array, axis, keepdims=True)
                assert_same(fastsel.first_nonzero(array, axis, keepdims=True), expected)


@pytest.mark.parametrize("size", [1, 63, 64, 65, 1023, 1024, 1025, 5000])
@pytest.mark.parametrize("dtype", ["bool", "int32", "float64", "complex128"])
def test_first_item_at_several_positions_is_found(dtype, size, num_threads):
    """The positions are at both ends and in between. Every 7th item after the first one is also
    non-zero."""
    for position in {0, 1, size // 3, size // 2, size - 2, size - 1} & set(range(size)):
        array = np.zeros(size, dtype)
        array[position::7] = 1
        assert fastsel.first_nonzero(array) == position
        assert fastsel.first_nonzero(np.repeat(array, 2)[::2]) == position
        assert fastsel.first_nonzero(array, axis=0) == position
    assert fastsel.first_nonzero(np.zeros(size, dtype)) == -1


@pytest.mark.parametrize("dtype", ["bool", "int16", "int32", "float64", "complex128", "S3"])
def test_each_position_behind_skipped_zeros_is_found(dtype, kernels_with_few_threads):
    """Behind the first 1,024 items, lines of 256 bytes of zeros, also of negative zeros, are
    skipped."""
    array = np.zeros(1024 + 2 * 256 // np.dtype(dtype).itemsize + 3, dtype)
    if array.dtype.kind in "fc":
        array = -array
    for position in range(1000, len(array)):
        zero = array[position]
        array[position] = 1
        assert fastsel.first_nonzero(array) == position
        assert fastsel.first_nonzero(array[None], axis=1) == position
        array[position] = zero
    assert fastsel.first_nonzero(array) == -1


def test_waves_with_default_thresholds_find_the_first_item():
    min_bytes = _threads.MIN_CHUNK_BYTES
    array = np.zeros(9 * min_bytes, np.uint8)
    for threads in (1, 3):
        with fastsel.threads(threads):
            assert fastsel.first_nonzero(array) == -1
            for position in (0, 2 * min_bytes - 1, 2 * min_bytes, 5 * min_bytes, array.size - 1):
                array[position] = 1
                array[-1] = 1
                assert fastsel.first_nonzero(array) == position
                assert fastsel.first_nonzero(array[::-1][::-1].reshape(9, -1)) == position
                array[[position, -1]] = 0


@pytest.mark.parametrize("size", [0, 1, SMALL_ITEMS - 1, SMALL_ITEMS, 40_000, 2**20, 2**20 + 1])
def test_small_and_large_arrays_with_default_thresholds_give_the_first_position(size):
    for dtype in ("?", "u1", "i2", "f4", "f8", ">i4", "g"):
        array = np.zeros(size, dtype)
        assert_same(fastsel.first_nonzero(array), np.intp(-1))
        for position in range(size - 1, -1, -1 - size // 5):
            array[position] = 1
            assert_same(fastsel.first_nonzero(array), np.intp(position))


@pytest.mark.parametrize(
    "array", [np.ones(3), np.array(1), 1, [], np.zeros((0, 2)), np.ones((2, 2)), "a"], ids=repr
)
def test_result_is_an_intp_scalar(array, forced_kernels):
    result = fastsel.first_nonzero(array)
    assert type(result) is np.intp
    assert result == (0 if np.size(array) else -1)
    assert_same(
        fastsel.first_nonzero(array, keepdims=True), np.full((1,) * np.ndim(array), result)[...]
    )


@pytest.mark.parametrize("axis", [3, -4, (0, 3), (0, 0), (0, -3), True, 1.0, "0", [0, 1]], ids=repr)
@pytest.mark.parametrize("dtype", ["int16", "object"])
def test_wrong_axis_raises_the_error_of_count_nonzero(axis, dtype):
    array = np.zeros((2, 3, 4), dtype)
    expected = outcome(np.count_nonzero, array.astype(bool), axis)
    assert expected[0] == "raises"
    assert outcome(fastsel.first_nonzero, array, axis) == expected


@pytest.mark.parametrize("axis", [2**40, -(2**70), np.int64(2**40), (0, 2**40)], ids=repr)
def test_axis_that_does_not_fit_a_c_int_raises_axis_error(axis):
    with pytest.raises(np.exceptions.AxisError, match=r"axis -?\d{13,} is out of bounds"):
        fastsel.first_nonzero(np.zeros((2, 3)), axis)


@pytest.mark.parametrize("axis", [np.int8(1), np.array(1)])
def test_axis_may_be_a_numpy_integer_or_a_0d_array(axis):
    array = make("int16", (2, 3, 4))
    assert_same(fastsel.first_nonzero(array, axis), fastsel.first_nonzero(array, 1))


def test_ragged_list_raises_with_the_name_of_the_argument():
    with pytest.raises(ValueError, match=r"^a cannot be converted"):
        fastsel.first_nonzero([[1, 2], [3]])


class Truth:
    """An item whose class counts how often all items are asked for their truth. An item with the
    truth None raises."""

    asked = 0

    def __init__(self, truth):
        self.truth = truth

    def __bool__(self):
        Truth.asked += 1
        if self.truth is None:
            raise RuntimeError("neither")
        return self.truth


@pytest.mark.thread_unsafe(reason="counts the calls of __bool__ of all threads together")
@pytest.mark.parametrize("first", [0, 5, 4095, 4096, 9999])
def test_objects_are_asked_up_to_the_first_true_one(first):
    array = np.array([Truth(k == first if k <= first else None) for k in range(10_000)], object)
    Truth.asked = 0
    assert fastsel.first_nonzero(array.reshape(100, 100)) == first
    assert Truth.asked == first + 1
    with pytest.raises(RuntimeError, match="neither"):
        fastsel.first_nonzero(np.append(array[first + 1 :], Truth(None)))
    array[-1] = Truth(None)
    with pytest.raises(RuntimeError, match="neither"):
        fastsel.first_nonzero(array.reshape(100, 100), axis=1)


def test_object_without_a_truth_raises_the_error_of_numpy():
    array = np.array([0, None, np.zeros(2)], object)
    assert outcome(fastsel.first_nonzero, array) == outcome(np.nonzero, array)


def test_structured_item_is_nonzero_by_its_fields_and_not_its_padding():
    array = np.zeros(
        (5000, 2), np.dtype({"names": ["a", "b"], "formats": ["u1", "f8"], "offsets": [0, 8]})
    )
    array.view(np.uint8).reshape(5000, -1)[:, 1:8] = 1
    assert fastsel.first_nonzero(array) == -1
    array["b"][4000, 1] = np.nan
    assert fastsel.first_nonzero(array) == 8001
    assert fastsel.first_nonzero(array, axis=0).tolist() == [-1, 4000]


def numbers_with_fields():
    """Arrays whose items are zero as numbers, but not in their fields, or the other way round."""
    halves = np.dtype(("f8", [("low", "u4"), ("high", "u4")]))
    parts = np.dtype(("c16", [("real", "u8"), ("imag", "u8")]))
    low = np.dtype(("i8", {"names": ["low"], "formats": ["i4"], "offsets": [0], "itemsize": 8}))
    yield np.full(20_000, -0.0).astype(halves)
    yield np.full(20_000, complex(-0.0, -0.0)).astype(parts)
    yield np.full(20_000, 1 << 40).astype(low)
    yield np.full(20_000, -0.0).astype([("number", halves)])["number"]


def test_number_with_fields_is_tested_as_a_number():
    for array in numbers_with_fields():
        for a in (array, array[:100], array[::2]):
            is_true = bool(np.count_nonzero(a))
            assert fastsel.first_nonzero(a) == is_true - 1
            assert fastsel.count_nonzero(a) == np.count_nonzero(a)
            assert_same(fastsel.flatnonzero(a), np.flatnonzero(a))
            assert fastsel.nonzero_coordinates(a).count == np.count_nonzero(a)
            assert_same(fastsel.extract(a, a), np.extract(a, a))


def test_input_unmodified(kernels_with_few_threads):
    for name in WORD_DTYPES:
        array = make(name, (60, 5), 0.05)
        before = array.tobytes()
        array.flags.writeable = False
        fastsel.first_nonzero(array)
        fastsel.first_nonzero(array, axis=0)
        assert array.tobytes() == before


def test_masked_array_is_searched_without_its_mask():
    assert fastsel.first_nonzero(np.ma.array([0, 5, 7], mask=[0, 1, 0])) == 1
