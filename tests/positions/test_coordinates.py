"""nonzero_coordinates follows the rules of DirectML's NONZERO_COORDINATES."""

import numpy as np
import pytest
import reference
from arrays import DENSITIES, DTYPES, EDGE_SIZES, SIZES, WORD_DTYPES, make, values_for_dtype
from comparison import assert_same
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from layouts import LAYOUTS, has_layout

import fastsel

SHAPES = (
    (5,),
    (1,),
    (0,),
    (4, 5),
    (67, 2),
    (1, 130),
    (3, 0),
    (2, 3, 4),
    (1, 1, 2, 4),
    (1, 2, 3, 4),
    (2, 1, 1, 1),
    (1, 1, 3, 5, 7),
    (2, 3, 2, 3),
    (1, 1, 1, 1),
    (2,) * 8,
)
EFFECTIVE_RANKS = {
    (): 0,
    (1,): 0,
    (2,): 1,
    (0,): 1,
    (1, 0): 1,
    (1, 2): 1,
    (2, 1): 2,
    (1, 2, 3, 4): 3,
    (1, 1, 5, 5, 5): 3,
    (1, 1, 1, 1): 0,
    (1, 1, 2, 1): 2,
    (2, 1, 1, 1): 4,
    (1, 1, 12, 5): 2,
    (1, 1, 1, 1, 1): 0,
}
# The example of DirectML's specification.
EXAMPLE = np.array([[[[1.0, 0.0, 0.0, 2.0], [-0.0, 3.5, 0.0, -5.2]]]], np.float32)


def check_equals_reference(x, **kwargs):
    """Check that fastsel returns what the reference returns."""
    ours = fastsel.nonzero_coordinates(x, **kwargs)
    expected = reference.nonzero_coordinates(x, **kwargs)
    assert type(ours.coordinates) is np.ndarray
    assert type(ours.count) is type(expected.count)
    assert ours.count == expected.count
    assert_same(ours.coordinates, expected.coordinates)


def sentinels(shape, dtype=np.uint32):
    return np.full(shape, 77, dtype)


# The specification.


def test_example_of_the_specification_gives_its_count_and_coordinates(kernels_with_few_threads):
    count, coordinates = fastsel.nonzero_coordinates(EXAMPLE, n=3)
    assert count == 4
    assert coordinates.shape == (8, 3)
    assert coordinates.dtype == np.uint32
    assert coordinates.tolist() == [[0, 0, 0], [0, 0, 3], [0, 1, 1], [0, 1, 3]] + [[0, 0, 0]] * 4


def test_rows_are_in_c_order():
    x = np.zeros((2, 6))
    x[1, 0] = x[1, 2] = x[0, 5] = 1
    count, coordinates = fastsel.nonzero_coordinates(x)
    assert coordinates[: int(count)].tolist() == [[0, 5], [1, 0], [1, 2]]


def test_result_is_a_named_tuple():
    result = fastsel.nonzero_coordinates(EXAMPLE)
    assert isinstance(result, tuple)
    assert result._fields == ("count", "coordinates")
    assert result[0] is result.count
    assert result[1] is result.coordinates


def test_default_n_and_capacity_are_ndim_and_size():
    count, coordinates = fastsel.nonzero_coordinates(EXAMPLE)
    assert coordinates.shape == (8, 4)
    assert coordinates[: int(count)].tolist() == np.argwhere(EXAMPLE).tolist()


def test_only_zeros_of_both_signs_are_zero(kernels_with_few_threads):
    x = np.array([0.0, -0.0, np.nan, np.inf, 1e-45, 1.0], np.float32)
    count, coordinates = fastsel.nonzero_coordinates(x)
    assert coordinates[: int(count), 0].tolist() == [2, 3, 4, 5]


# Sizes, densities, dtypes, layouts.


@pytest.mark.parametrize("name", DTYPES)
def test_every_small_size_equals_the_reference(name, forced_kernels):
    with fastsel.threads(1):
        for size in values_for_dtype(name, SIZES):
            check_equals_reference(make(name, size, DENSITIES[size % len(DENSITIES)]))


@pytest.mark.parametrize("name", WORD_DTYPES)
def test_sizes_around_blocks_equal_the_reference(name, each_num_threads):
    flat = [make(name, size, 0.3) for size in EDGE_SIZES]
    rows = [make(name, (size, 3), 0.7) for size in EDGE_SIZES]
    for threads in each_num_threads:
        for x in {1: flat + rows, 2: flat}.get(threads, rows):
            check_equals_reference(x)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_shape_equals_the_reference(shape, each_num_threads):
    for _ in each_num_threads:
        for name in [*WORD_DTYPES][SHAPES.index(shape) % 3 :: 3]:
            check_equals_reference(make(name, shape))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_equals_the_reference(layout, kernels_with_few_threads):
    for k, (name, dtype) in enumerate(DTYPES.items()):
        if has_layout(dtype, layout):
            for shape in ((3, 4, 5), ((70,), (1, 1, 5, 14))[k % 2]):
                check_equals_reference(LAYOUTS[layout](make(name, shape)))


@pytest.mark.parametrize("density", DENSITIES)
def test_large_arrays_equal_argwhere_followed_by_zeros(density, kernels_with_few_threads):
    for name in WORD_DTYPES:
        x = make(name, (3, 50, 70), density)
        count, coordinates = fastsel.nonzero_coordinates(x)
        assert_same(coordinates[: int(count)], np.argwhere(x).astype(np.uint32))
        assert not coordinates[int(count) :].any()


def test_nested_lists_are_converted_to_an_array():
    count, coordinates = fastsel.nonzero_coordinates([[0, 1], [2, 0]])
    assert (count, coordinates.tolist()) == (2, [[0, 1], [1, 0], [0, 0], [0, 0]])


@pytest.mark.parametrize("truthy", [0, 1])
def test_0d_x_has_coordinates_without_columns(truthy):
    count, coordinates = fastsel.nonzero_coordinates(np.array(truthy))
    assert count == truthy
    assert coordinates.shape == (1, 0)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (1, 0, 2, 1)], ids=str)
def test_empty_x_has_count_0_and_no_rows(shape):
    count, coordinates = fastsel.nonzero_coordinates(np.zeros(shape))
    assert count == 0
    assert coordinates.shape == (0, len(shape))
    assert coordinates.dtype == np.uint32


def test_64_dimensions_equal_the_reference():
    check_equals_reference(make("int8", (2,) * 6).reshape((1, 2) * 6 + (1,) * 52))


@pytest.mark.parametrize("name", WORD_DTYPES)
def test_input_unmodified(name, kernels_with_few_threads):
    x = make(name, (3, 70))
    fastsel.nonzero_coordinates(x)
    assert_same(x, make(name, (3, 70)))


# The argument n.


@pytest.mark.parametrize("shape", EFFECTIVE_RANKS, ids=str)
def test_n_from_effective_rank_to_ndim_equals_the_reference(shape, kernels_with_few_threads):
    x = make("int8", shape, 0.7)
    for n in range(EFFECTIVE_RANKS[shape], len(shape) + 1):
        check_equals_reference(x, n=n)
        check_equals_reference(x, n=np.int64(n))
    check_equals_reference(x, n=None)


@pytest.mark.parametrize("shape", EFFECTIVE_RANKS, ids=str)
def test_n_effective_is_the_effective_rank(shape, kernels_with_few_threads):
    assert reference.effective_rank(shape) == EFFECTIVE_RANKS[shape]
    x = make("int8", shape, 0.7)
    count, coordinates = fastsel.nonzero_coordinates(x, n="effective")
    expected = reference.nonzero_coordinates(x, n=EFFECTIVE_RANKS[shape])
    assert count == expected.count
    assert_same(coordinates, expected.coordinates)


@pytest.mark.parametrize("shape", EFFECTIVE_RANKS, ids=str)
def test_n_out_of_bounds_raises_with_both_bounds(shape):
    for n in (-1, EFFECTIVE_RANKS[shape] - 1, len(shape) + 1, 2**40):
        with pytest.raises(ValueError, match=r"\bn\b") as raised:
            fastsel.nonzero_coordinates(np.ones(shape), n=n)
        assert str(EFFECTIVE_RANKS[shape]) in str(raised.value)
        assert str(len(shape)) in str(raised.value)


@pytest.mark.parametrize("n", ["all", "", 2.0, [2], b"effective"], ids=repr)
def test_n_of_a_wrong_type_or_text_raises(n):
    with pytest.raises((TypeError, ValueError), match=r"\bn\b|integer"):
        fastsel.nonzero_coordinates(EXAMPLE, n=n)


# The arguments capacity, truncate and fill_value.


@pytest.mark.parametrize("capacity", [4, 5, 8, 9, 100])
def test_capacity_is_the_number_of_rows(capacity, kernels_with_few_threads):
    check_equals_reference(EXAMPLE, capacity=capacity)
    check_equals_reference(EXAMPLE, capacity=np.int32(capacity))


@pytest.mark.parametrize("capacity", [0, 1, 3])
def test_capacity_below_count_raises(capacity, kernels_with_few_threads):
    with pytest.raises(ValueError, match="capacity"):
        fastsel.nonzero_coordinates(EXAMPLE, capacity=capacity)


@pytest.mark.parametrize("capacity", [0, 1, 3, 4, 5, 100])
def test_truncate_returns_the_first_rows_and_the_full_count(capacity, kernels_with_few_threads):
    count, coordinates = fastsel.nonzero_coordinates(EXAMPLE, capacity=capacity, truncate=True)
    assert count == 4
    assert_same(coordinates, reference.nonzero_coordinates(EXAMPLE, capacity=capacity).coordinates)


def test_truncate_writes_no_row_beyond_capacity(each_num_threads):
    for _ in each_num_threads:
        for name in ("bool", "float64"):
            x = make(name, (5, 60), 0.5)
            rows = np.argwhere(x).astype(np.uint32)
            for capacity in range(0, 200, 7):
                out = sentinels((capacity + 32, 2))
                count, _ = fastsel.nonzero_coordinates(
                    x, capacity=capacity, truncate=True, out=out[16 : 16 + capacity]
                )
                written = min(len(rows), capacity)
                assert count == len(rows)
                assert_same(out[16 : 16 + written], rows[:written])
                assert (out[:16] == 77).all()
                assert (out[16 + written :] == 77).all()


@pytest.mark.parametrize("capacity", [-1, -(2**40)])
def test_negative_capacity_raises(capacity):
    with pytest.raises(ValueError, match="capacity"):
        fastsel.nonzero_coordinates(EXAMPLE, capacity=capacity)


def test_capacity_that_is_no_integer_raises():
    with pytest.raises(TypeError):
        fastsel.nonzero_coordinates(EXAMPLE, capacity=8.0)


def test_fill_value_fills_the_rows_after_count(kernels_with_few_threads):
    check_equals_reference(EXAMPLE, fill_value=7)
    check_equals_reference(EXAMPLE, fill_value=-1, dtype=np.int64)
    check_equals_reference(EXAMPLE, fill_value=7, capacity=20, n=2)
    check_equals_reference(np.zeros((2, 40)), fill_value=2**32 - 1)


# The argument dtype.


@pytest.mark.parametrize(
    "dtype", [np.uint32, np.int64, np.uint64, np.int32, "uint32", np.dtype("i8")], ids=str
)
def test_coordinates_and_count_have_the_dtype(dtype, kernels_with_few_threads):
    for x in (EXAMPLE, make("int16", (3, 50, 7))):
        check_equals_reference(x, dtype=dtype)
        check_equals_reference(x, dtype=dtype, n=x.ndim, capacity=x.size + 3)
    count, _ = fastsel.nonzero_coordinates(EXAMPLE, dtype=dtype)
    assert type(count) is np.dtype(dtype).type


@pytest.mark.parametrize("dtype", [np.float64, np.uint8, np.int16, bool, "U3", object], ids=str)
def test_other_dtypes_raise(dtype):
    with pytest.raises((TypeError, ValueError), match="dtype"):
        fastsel.nonzero_coordinates(EXAMPLE, dtype=dtype)


TOO_LARGE = {
    "dimension_beyond_uint32": ((2**33,), np.uint32),
    "inner_dimension_beyond_uint32": ((1, 2**33, 1), np.uint32),
    "size_beyond_uint32": ((2**17, 2**16), np.uint32),
    "dimension_beyond_int32": ((2**32,), np.int32),
    "size_beyond_int32": ((2**16, 2**15), np.int32),
}


@pytest.mark.parametrize("case", TOO_LARGE)
def test_shape_too_large_for_the_dtype_raises_overflow_error(case):
    """The error comes before the allocation of the coordinates, which would take 16 GB or more."""
    shape, dtype = TOO_LARGE[case]
    with pytest.raises(OverflowError):
        fastsel.nonzero_coordinates(np.broadcast_to(np.int8(0), shape), dtype=dtype)


def test_long_dimension_that_fits_the_dtype_is_accepted():
    x = np.broadcast_to(np.int8(0), (2**26, 1))
    count, coordinates = fastsel.nonzero_coordinates(x, capacity=10, dtype=np.int32)
    assert count == 0
    assert coordinates.shape == (10, 2)


# Properties, and long rows.


@given(
    x=npst.arrays(
        st.one_of(npst.integer_dtypes(), npst.floating_dtypes(), npst.boolean_dtypes()),
        npst.array_shapes(min_dims=1, max_dims=5, min_side=0, max_side=6),
    ),
    data=st.data(),
)
def test_property_equals_the_reference(forced_kernels, x, data):
    n = data.draw(st.integers(reference.effective_rank(x.shape), x.ndim))
    capacity = x.size + data.draw(st.integers(0, 9))
    dtype = data.draw(st.sampled_from([np.uint32, np.int64]))
    with fastsel.threads(data.draw(st.integers(1, 4))):
        check_equals_reference(
            x, n=n, capacity=capacity, dtype=dtype, fill_value=data.draw(st.integers(0, 9))
        )


@pytest.mark.parametrize("inner", [127, 128, 129, 191, 192, 193, 250, 1000])
def test_long_rows_of_every_density_equal_numpy(inner, each_num_threads):
    """nonzero and argwhere write the indices of inner rows of at least LONG_ROW items (128) row by
    row, if there are two or more non-zero items in a row on average. Other indices, and those of
    nonzero_coordinates, come from divisions."""
    for _ in each_num_threads:
        for density in (0, 0.004, 0.02, 0.1, 0.5, 1):
            array = make("uint8", (2, 37, inner), density)
            assert_same(fastsel.nonzero(array), np.nonzero(array))
            assert_same(fastsel.argwhere(array), np.argwhere(array))
            for dtype in (np.uint32, np.int64):
                count, rows = fastsel.nonzero_coordinates(array, dtype=dtype)
                assert_same(rows[: int(count)], np.argwhere(array).astype(dtype))
