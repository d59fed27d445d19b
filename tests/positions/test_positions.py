"""nonzero, flatnonzero and argwhere, and count_nonzero of whole arrays."""

import numpy as np
import pytest
import reference
from arrays import (
    DENSITIES,
    DTYPES,
    EDGE_SIZES,
    LARGE_SIZES,
    SIZES,
    WORD_DTYPES,
    make,
    objects,
    values_for_dtype,
)
from comparison import assert_same, assert_same_outcome, outcome
from grids import covering, slow
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from layouts import LAYOUTS, has_layout

import fastsel

FUNCTIONS = ("nonzero", "flatnonzero", "argwhere", "count_nonzero")
SHAPES = (
    (5,),
    (1,),
    (0,),
    (4, 5),
    (67, 2),
    (2, 67),
    (1, 130),
    (130, 1),
    (3, 0),
    (0, 3),
    (2, 3, 4),
    (3, 1, 45),
    (2, 0, 2),
    (1, 1, 1),
    (2, 3, 2, 3),
    (2, 1, 3, 1, 22),
)


def check_with_reference(function, array):
    """Check that fastsel and the reference return what NumPy returns."""
    expected = getattr(np, function)(array)
    assert_same(getattr(reference, function)(array), expected)
    assert_same(getattr(fastsel, function)(array), expected)


def check_equals_numpy(array):
    """Check all functions of FUNCTIONS against NumPy, without the reference."""
    for function in FUNCTIONS:
        assert_same(getattr(fastsel, function)(array), getattr(np, function)(array))


# Sizes, densities, dtypes, layouts.


@pytest.mark.parametrize("name", DTYPES)
def test_every_small_size_equals_numpy(name, forced_kernels):
    with fastsel.threads(1):
        for size in values_for_dtype(name, SIZES):
            array = make(name, size, DENSITIES[size % len(DENSITIES)])
            for function in FUNCTIONS:
                check_with_reference(function, array)


@pytest.mark.parametrize("name", DTYPES)
def test_sizes_around_blocks_equal_numpy(name, each_num_threads):
    arrays = [make(name, size, 0.3) for size in values_for_dtype(name, EDGE_SIZES)]
    for _ in each_num_threads:
        for array in arrays:
            check_equals_numpy(array)


@pytest.mark.parametrize("name", WORD_DTYPES)
def test_every_small_size_in_several_chunks_equals_numpy(name, forced_kernels):
    with fastsel.threads(3):
        for size in SIZES:
            check_equals_numpy(make(name, size))


@pytest.mark.parametrize("name", DTYPES)
def test_large_sizes_and_densities_equal_numpy(name):
    for k, size in enumerate(values_for_dtype(name, LARGE_SIZES, len(LARGE_SIZES))):
        for density in DENSITIES[k % 2 :: 2] if name in WORD_DTYPES else (0.1,):
            check_equals_numpy(make(name, size, density))


@covering(at_least=24, name=WORD_DTYPES, density=DENSITIES)
def test_every_density_equals_numpy(name, density, kernels_with_few_threads):
    for size in (64, 100, 1000, 5000):
        check_equals_numpy(make(name, size, density))


@pytest.mark.parametrize("name", ["bool", "int32", "float64", "complex128"])
def test_runs_of_nonzero_items_equal_numpy(name, kernels_with_few_threads):
    for run in (3, 64, 100, 1000):
        is_nonzero = np.arange(5000) // run % 2 == 1
        check_equals_numpy(np.where(is_nonzero, make(name, 5000, 1), make(name, 5000, 0)))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_shape_equals_numpy(shape, function, kernels_with_few_threads):
    for name in [*WORD_DTYPES][SHAPES.index(shape) % 2 :: 2]:
        check_with_reference(function, make(name, shape))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("every_shape", [False, slow(True)], ids="every_shape_{}".format)
def test_every_layout_equals_numpy(layout, every_shape, kernels_with_few_threads):
    for k, (name, dtype) in enumerate(DTYPES.items()):
        if has_layout(dtype, layout):
            # The shape (2, 3, 4) has axes of different lengths.
            for shape in SHAPES if every_shape else {(2, 3, 4), SHAPES[k % len(SHAPES)]}:
                check_equals_numpy(LAYOUTS[layout](make(name, shape)))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_of_large_arrays_equals_numpy(layout):
    for name in WORD_DTYPES:
        if has_layout(DTYPES[name], layout):
            check_equals_numpy(LAYOUTS[layout](make(name, (300, 70), 0.1)))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_items_that_overlap_equal_numpy(dtype, kernels_with_few_threads):
    dtype = np.dtype(dtype)
    buffer = make("uint8", 40_000, 0.01)
    for stride in range(1, dtype.itemsize):
        for strides in [(stride, 200), (200, stride)]:
            array = np.ndarray((100, 70), dtype, buffer, strides=strides)
            check_equals_numpy(array)
            for axis in (0, 1):
                expected = np.count_nonzero(array, axis)
                assert_same(fastsel.count_nonzero(array, axis), expected)
                assert_same(
                    fastsel.first_nonzero(array, axis), fastsel.first_nonzero(array.copy(), axis)
                )


def test_64_dimensions_equal_numpy(kernels_with_few_threads):
    check_equals_numpy(make("int8", (2,) * 7).reshape((1, 2) * 7 + (1,) * 50))


# Results.


@pytest.mark.parametrize("shape", [(5,), (4, 5), (2, 3, 4), (0, 3), (130, 2)], ids=str)
def test_nonzero_returns_writeable_ndarrays_that_share_no_memory(shape, kernels_with_few_threads):
    array = make("int64", shape)
    result = fastsel.nonzero(array)
    assert type(result) is tuple
    for k, indices in enumerate(result):
        assert type(indices) is np.ndarray
        assert indices.dtype == np.intp
        assert indices.flags.writeable
        assert not np.shares_memory(indices, array)
        assert not any(np.shares_memory(indices, other) for other in result[k + 1 :])


def test_nonzero_of_a_contiguous_vector_is_contiguous(kernels_with_few_threads):
    assert fastsel.nonzero(make("int8", 1000))[0].flags.c_contiguous


@pytest.mark.parametrize("function", ["nonzero", "flatnonzero", "argwhere"])
def test_result_as_an_index_selects_the_nonzero_items(function, kernels_with_few_threads):
    array = make("float64", (40, 7))
    index = getattr(fastsel, function)(array)
    selected = {
        "nonzero": lambda: array[index],
        "flatnonzero": lambda: array.ravel()[index],
        "argwhere": lambda: array[tuple(index.T)],
    }[function]()
    assert_same(selected, array[array != 0])


@pytest.mark.parametrize("function", FUNCTIONS)
def test_input_unmodified(function, kernels_with_few_threads):
    for name, dtype in DTYPES.items():
        array = make(name, 200)
        before = array.tolist() if dtype.char in "TO" else array.tobytes()
        getattr(fastsel, function)(array)
        assert before == (array.tolist() if dtype.char in "TO" else array.tobytes())


# Scalars and 0-d arrays.

ZERO_DIMENSIONAL = [
    3,
    0,
    2.5,
    -0.0,
    True,
    False,
    "",
    "a",
    b"",
    None,
    1j,
    np.float32(2),
    np.array(7),
    np.array(0),
    np.array(True),
    np.array("NaT", "M8[s]"),
    np.array(b""),
    np.array(None, object),
    np.zeros((), "i4, f8"),
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("value", ZERO_DIMENSIONAL, ids=repr)
def test_scalars_and_0d_arrays_equal_numpy(value, function, forced_kernels):
    assert_same_outcome(
        outcome(getattr(fastsel, function), value), outcome(getattr(np, function), value)
    )


@pytest.mark.parametrize("function", FUNCTIONS[1:])
def test_0d_arrays_of_every_dtype_equal_numpy(function, forced_kernels):
    for name in DTYPES:
        for density in (0, 1):
            check_with_reference(function, make(name, (), density))


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.1.0",
    reason="before 2.1 NumPy accepts 0-d arrays, with a warning, and so does fastsel",
)
@pytest.mark.parametrize(
    ("value", "text"),
    [(np.array(5), "0d arrays"), (np.array(True), "just use"), (5, "0d arrays")],
    ids=repr,
)
def test_nonzero_of_0d_raises(value, text):
    with pytest.raises(ValueError, match=text):
        fastsel.nonzero(value)


def test_flatnonzero_of_0d_is_0_or_empty():
    assert fastsel.flatnonzero(3).tolist() == [0]
    assert fastsel.flatnonzero(0).tolist() == []


@pytest.mark.parametrize(
    ("array", "shape"),
    [
        (np.array(1), (1, 0)),
        (np.array(0), (0, 0)),
        (np.zeros((0, 3)), (0, 2)),
        (np.zeros((2, 0)), (0, 2)),
        (np.zeros((2, 3)), (0, 2)),
        (np.ones((2, 3)), (6, 2)),
    ],
    ids=["truthy 0-d", "falsy 0-d", "0x3", "2x0", "zeros", "ones"],
)
def test_argwhere_has_a_row_for_each_item_and_a_column_for_each_axis(array, shape, forced_kernels):
    result = fastsel.argwhere(array)
    assert result.shape == shape
    assert result.dtype == np.intp
    assert type(result) is np.ndarray


# Objects are asked for their truth in order, and their errors are raised.


class Item:
    """An item that counts how often it is asked for its truth, and raises `error` if given."""

    def __init__(self, truth, error=None):
        self.truth, self.error, self.asked = truth, error, 0

    def __bool__(self):
        self.asked += 1
        if self.error is not None:
            raise self.error
        return self.truth


@pytest.mark.parametrize("function", FUNCTIONS)
def test_error_of_an_item_is_raised_at_once(function, kernels_with_few_threads):
    error = LookupError("mine")
    array = objects(Item(True), Item(False, error), Item(True))
    with pytest.raises(LookupError) as raised:
        getattr(fastsel, function)(array)
    assert raised.value is error
    assert [item.asked for item in array] == [1, 1, 0]


def test_items_whose_truth_changes_raise_runtime_error(kernels_with_few_threads):
    class Toggle:
        state = False

        def __bool__(self):
            self.state = not self.state
            return self.state

    def toggles():
        return objects(Toggle(), Toggle(), Toggle())

    expected = outcome(np.nonzero, toggles())
    assert expected[:2] == ("raises", RuntimeError)
    assert_same_outcome(outcome(fastsel.nonzero, toggles()), expected)


# Properties.

any_array = npst.arrays(
    dtype=st.one_of(
        npst.boolean_dtypes(),
        npst.integer_dtypes(endianness="?"),
        npst.floating_dtypes(endianness="?"),
        npst.complex_number_dtypes(),
        npst.datetime64_dtypes(),
        npst.unicode_string_dtypes(max_len=3),
    ),
    shape=npst.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=9),
)


@given(any_array)
def test_property_equals_numpy(forced_kernels, array):
    with fastsel.threads(2):
        for function in FUNCTIONS:
            assert_same(getattr(fastsel, function)(array), getattr(np, function)(array))


@given(array=any_array, data=st.data())
def test_property_any_view_equals_numpy(forced_kernels, array, data):
    view = array[data.draw(npst.basic_indices(array.shape, allow_ellipsis=True))]
    view = np.atleast_1d(view)
    view = view.transpose(data.draw(st.permutations(range(view.ndim))))
    for function in FUNCTIONS:
        assert_same(getattr(fastsel, function)(view), getattr(np, function)(view))


@given(any_array)
def test_property_count_is_the_number_of_indices(forced_kernels, array):
    count = fastsel.count_nonzero(array)
    assert len(fastsel.flatnonzero(array)) == count
    assert fastsel.argwhere(array).shape == (count, array.ndim)
    assert all(len(indices) == count for indices in fastsel.nonzero(array))


@given(any_array)
def test_property_indices_ascend_and_address_all_nonzero_items(forced_kernels, array):
    flat = fastsel.flatnonzero(array)
    assert (np.diff(flat) > 0).all()
    mask = np.zeros(array.size, bool)
    mask[flat] = True
    assert_same(mask, reference.truth(np.ascontiguousarray(array)).reshape(-1))
    assert_same(
        np.ravel_multi_index(fastsel.nonzero(array), array.shape) if array.size else flat, flat
    )


# Axes of one item, short axes, and axes around 2^15 items. To divide an index by the length of an
# axis, the kernel multiplies if the length is from 2 to 2^15 - 1, and compares if it is greater.
AXIS_SHAPES = [(700, 3), (3, 700), (1, 500), (500, 1), (40, 1, 7, 3), (2, 32767, 2), (2, 32768, 2)]


@pytest.mark.parametrize("shape", AXIS_SHAPES, ids=str)
def test_short_and_long_axes_equal_numpy(shape, num_threads):
    generator = np.random.default_rng(0)
    for density in (0.002, 0.5, 1):
        array = generator.random(shape) < density
        assert_same(fastsel.nonzero(array), np.nonzero(array))
        count, coordinates = fastsel.nonzero_coordinates(array)
        assert_same(coordinates[:count], np.argwhere(array).astype(np.uint32))
