"""gather_nd follows the rules of ONNX GatherND."""

import numpy as np
import pytest
import reference
from arrays import DTYPES, INTEGER_DTYPES, WORD_DTYPES, make, numbered
from comparison import assert_same
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from layouts import LAYOUTS, has_layout

import fastsel


def valid_indices(data_shape, rows_shape, depth, batch_dims=0, dtype=np.int64):
    """Random index rows within bounds. Some indices may be negative, unless `dtype` is unsigned."""
    rng = np.random.default_rng(depth)
    sizes = data_shape[batch_dims : batch_dims + depth]
    lowest = [0 if np.dtype(dtype).kind == "u" else -size for size in sizes]
    return np.stack(
        [rng.integers(low, size, rows_shape) for low, size in zip(lowest, sizes, strict=True)],
        axis=-1,
    ).astype(dtype)


def numpy_gather(data, indices, batch_dims=0):
    """The result of gather_nd, by NumPy's advanced indexing."""
    row_dims = indices.ndim - 1
    batch_indices = [
        np.arange(size).reshape((-1,) + (1,) * (row_dims - 1 - k))
        for k, size in enumerate(data.shape[:batch_dims])
    ]
    shape = indices.shape[:-1] + data.shape[batch_dims + indices.shape[-1] :]
    result = np.empty(shape, data.dtype)
    result[...] = data[(*batch_indices, *np.moveaxis(indices, -1, 0))]
    return result


def check_equals_reference(data, indices, batch_dims=0):
    assert_same(
        fastsel.gather_nd(data, indices, batch_dims), reference.gather_nd(data, indices, batch_dims)
    )


# Examples: example_1 to example_5 are examples of the ONNX specification.

A22 = [[0, 1], [2, 3]]
A222 = [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]
# name: (batch_dims, data, indices, output)
EXAMPLES = {
    "example_1": (0, A22, [[0, 0], [1, 1]], [0, 3]),
    "example_2": (0, A22, [[1], [0]], [[2, 3], [0, 1]]),
    "example_3": (0, A222, [[0, 1], [1, 0]], [[2, 3], [4, 5]]),
    "example_4": (0, A222, [[[0, 1]], [[1, 0]]], [[[2, 3]], [[4, 5]]]),
    "example_5": (1, A222, [[1], [0]], [[2, 3], [4, 5]]),
    "negative_indices": (0, A22, [[-1, -2], [-2, -1]], [2, 1]),
    "one_row": (0, A22, [1], [2, 3]),
    "batch_of_two": (2, A222, [[[0], [1]], [[1], [0]]], [[0, 3], [5, 6]]),
    "batch_and_more_rows": (
        1,
        A222,
        [[[0], [0], [1]], [[1], [1], [0]]],
        [[[0, 1], [0, 1], [2, 3]], [[6, 7], [6, 7], [4, 5]]],
    ),
    "one_dimension": (0, [5, 6, 7], [[2], [0], [2]], [7, 5, 7]),
}


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_each_example_returns_its_output(example, dtype, num_threads):
    batch_dims, data, indices, output = EXAMPLES[example]
    result = fastsel.gather_nd(np.array(data, dtype), np.array(indices), batch_dims)
    assert type(result) is np.ndarray
    assert result.dtype == dtype
    assert result.tolist() == output


def test_lists_are_converted_to_arrays():
    assert_same(fastsel.gather_nd(A22, [[0, 0], [1, 1]]), np.array([0, 3]))


def test_one_index_row_of_full_depth_returns_a_0d_array(forced_kernels):
    result = fastsel.gather_nd(np.array(A22), np.array([1, 0]))
    assert type(result) is np.ndarray
    assert result.shape == ()
    assert result == 2


# Shapes: ranks up to 5, every depth, and up to 2 batch dimensions.


@pytest.mark.parametrize("batch_dims", [0, 1, 2])
@pytest.mark.parametrize("row_dims", [0, 1, 2], ids="rows{}".format)
def test_every_rank_depth_and_batch_dims_equals_the_reference_and_numpy(
    row_dims, batch_dims, num_threads
):
    for rank in range(batch_dims + 1, 6):
        for depth in range(1, rank - batch_dims + 1):
            shape = (3, 2, 4, 5, 3)[:rank]
            data = numbered("int32", np.arange(np.prod(shape)).reshape(shape))
            rows = shape[:batch_dims] + (7, 3)[:row_dims]
            indices = valid_indices(shape, rows, depth, batch_dims)
            expected = reference.gather_nd(data, indices, batch_dims)
            assert expected.ndim == indices.ndim + rank - depth - 1 - batch_dims
            assert_same(fastsel.gather_nd(data, indices, batch_dims), expected)
            assert_same(numpy_gather(data, indices, batch_dims), expected)


@pytest.mark.parametrize("num_rows", [*range(20), 63, 64, 65, 127, 128, 129, 1000, 4097])
def test_any_number_of_rows_equals_numpy(num_rows, each_num_threads):
    data = numbered("float64", np.arange(60).reshape(5, 4, 3))
    for _ in each_num_threads:
        for depth in (1, 2, 3):
            indices = valid_indices(data.shape, (num_rows,), depth)
            assert_same(fastsel.gather_nd(data, indices), numpy_gather(data, indices))


@pytest.mark.parametrize("batch_dims", [0, 1])
def test_many_rows_of_each_word_dtype_equal_numpy(batch_dims):
    for name in WORD_DTYPES:
        data = numbered(name, np.arange(64 * 50 * 4).reshape(64, 50, 4))
        for depth in range(1, 4 - batch_dims):
            rows = (64, (10, 300, 1500)[depth - 1])
            indices = valid_indices(data.shape, rows, depth, batch_dims)
            assert_same(
                fastsel.gather_nd(data, indices, batch_dims),
                numpy_gather(data, indices, batch_dims),
            )


# name: (shape of data, shape of indices, batch_dims, shape of the result)
EMPTY_CASES = {
    "no_rows": ((3, 4), (0, 1), 0, (0, 4)),
    "no_rows_full_depth": ((3, 4), (2, 0, 2), 0, (2, 0)),
    "no_rows_of_no_data": ((0, 4), (0, 1), 0, (0, 4)),
    "no_rows_of_no_data_full_depth": ((0, 0), (0, 2), 0, (0,)),
    "empty_slices": ((3, 0), (2, 1), 0, (2, 0)),
    "empty_batch": ((0, 3), (0, 2, 1), 1, (0, 2)),
    "empty_batch_of_slices": ((0, 3, 4), (0, 2, 1), 1, (0, 2, 4)),
    "empty_second_batch": ((2, 0, 3), (2, 0, 1), 2, (2, 0)),
}


@pytest.mark.parametrize("case", EMPTY_CASES)
def test_empty_data_or_indices_return_an_empty_result(case, num_threads):
    shape, index_shape, batch_dims, expected = EMPTY_CASES[case]
    result = fastsel.gather_nd(np.ones(shape, "f4"), np.zeros(index_shape, np.int64), batch_dims)
    assert result.shape == expected
    assert result.dtype == np.float32


# Dtypes, widths, layouts, memory.


@pytest.mark.parametrize("name", DTYPES)
def test_data_of_every_dtype_equal_the_reference(name, each_num_threads):
    all_data = (make(name, (20, 3)), numbered(name, np.arange(60).reshape(20, 3)))
    for threads in each_num_threads:
        for data in all_data if threads == 1 else all_data[threads % 2 :][:1]:
            check_equals_reference(data, valid_indices((20, 3), (70,), 1))
            check_equals_reference(data, valid_indices((20, 3), (70,), 2))
            check_equals_reference(data, valid_indices((20, 3), (20, 2), 1, 1), 1)


@pytest.mark.parametrize("name", INTEGER_DTYPES)
def test_indices_of_every_integer_dtype_and_byte_order_equal_the_reference(name, num_threads):
    data = numbered("int16", np.arange(60).reshape(20, 3))
    for depth in (1, 2):
        for code in (name, np.dtype(name).newbyteorder()):
            check_equals_reference(
                data, valid_indices(data.shape, (5, 14), depth, dtype=name).astype(code)
            )


@pytest.mark.parametrize("width", [*range(1, 42), 63, 64, 65, 100, 255, 256, 1000, 4096])
def test_slices_of_every_width_equal_the_reference(width, kernels_with_few_threads):
    data = numbered(np.dtype(f"V{width}"), np.arange(50))
    check_equals_reference(data, valid_indices(data.shape, (130,), 1))
    rows = numbered("uint8", np.arange(20 * width).reshape(20, width))
    check_equals_reference(rows, valid_indices(rows.shape, (130,), 1))


@pytest.mark.parametrize("dtype", ["S0", "U0", "V0"])
def test_items_of_0_bytes_give_a_result_of_the_right_shape_and_dtype(dtype, forced_kernels):
    data = np.zeros((5, 2), dtype)
    result = fastsel.gather_nd(data, [[1], [4]])
    assert result.shape == (2, 2)
    assert result.dtype == data.dtype


@pytest.mark.parametrize("dtype", ["S0", "U0"])
def test_strings_of_0_bytes_stay_empty(dtype, forced_kernels):
    """NumPy makes new arrays of S1 and U1 of these dtypes, which have bytes."""
    data = np.ndarray((5, 2), dtype)
    for _ in range(20):
        # Memory that the result might reuse: 100 items of S1 or U1.
        np.full(100 * np.zeros(1, dtype).nbytes, 7, np.uint8)
        assert not fastsel.gather_nd(data, np.ones((50, 1), int)).view(np.uint8).any()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_of_the_data_equals_the_reference(layout, kernels_with_few_threads):
    for k, (name, dtype) in enumerate(DTYPES.items()):
        if has_layout(dtype, layout):
            data = LAYOUTS[layout](make(name, (6, 5, 4)))
            check_equals_reference(data, valid_indices(data.shape, (20,), 1 + k % 3))
            if k % 3 == 0:
                check_equals_reference(data, valid_indices(data.shape, (data.shape[0], 3), 2, 1), 1)


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if "broadcast" not in name])
def test_every_layout_of_the_indices_equals_the_reference(layout, kernels_with_few_threads):
    data = numbered("int64", np.arange(120).reshape(6, 5, 4))
    for name in INTEGER_DTYPES:
        for depth in (1, 2, 3):
            for rows in ((30,), (5, 6)):
                indices = LAYOUTS[layout](valid_indices(data.shape, rows, depth, dtype=name))
                check_equals_reference(data, indices)


def test_indices_of_stride_0_equal_the_reference(kernels_with_few_threads):
    data = numbered("int64", np.arange(30).reshape(6, 5))
    check_equals_reference(data, np.broadcast_to(np.array([3, 1]), (40, 2)))
    check_equals_reference(data, np.broadcast_to(np.array([[1], [2]]), (2, 2)))


def test_gathered_objects_are_identical_to_those_of_data(kernels_with_few_threads):
    data = np.array([object() for _ in range(20)], object).reshape(10, 2)
    indices = valid_indices(data.shape, (50,), 2)
    result = fastsel.gather_nd(data, indices)
    assert [id(item) for item in result] == [id(data[tuple(row)]) for row in indices]


def test_result_is_contiguous_and_writeable_and_shares_no_memory_with_data(
    kernels_with_few_threads,
):
    data = np.arange(100)
    result = fastsel.gather_nd(data, np.arange(100)[:, None])
    assert result.flags.writeable
    assert result.flags.c_contiguous
    assert not np.shares_memory(result, data)


@pytest.mark.parametrize("name", DTYPES)
def test_input_unmodified(name, kernels_with_few_threads):
    data, indices = make(name, (20, 3)), valid_indices((20, 3), (70,), 2)
    before = data.tolist() if data.dtype.char in "TO" else data.tobytes()
    fastsel.gather_nd(data, indices)
    assert before == (data.tolist() if data.dtype.char in "TO" else data.tobytes())
    assert_same(indices, valid_indices((20, 3), (70,), 2))


# Properties.


@st.composite
def gather_arguments(draw):
    shape = draw(npst.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=5))
    batch_dims = draw(st.integers(0, len(shape) - 1))
    depth = draw(st.integers(1, len(shape) - batch_dims))
    rows = shape[:batch_dims] + draw(
        npst.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=6)
    )
    data = draw(npst.arrays(npst.scalar_dtypes(), shape))
    columns = [
        draw(npst.arrays(np.int64, rows, elements=st.integers(-size, size - 1)))
        for size in shape[batch_dims : batch_dims + depth]
    ]
    return data, np.stack(columns, axis=-1), batch_dims


@given(gather_arguments())
def test_property_equals_numpy_and_the_reference(forced_kernels, arguments):
    with fastsel.threads(2):
        check_equals_reference(*arguments)
    assert_same(numpy_gather(*arguments), reference.gather_nd(*arguments))


@given(npst.arrays(npst.integer_dtypes(), npst.array_shapes(min_side=0, max_side=6)))
def test_property_rows_of_argwhere_gather_the_nonzero_items(forced_kernels, data):
    assert_same(fastsel.gather_nd(data, fastsel.argwhere(data)), data[data != 0])


# Strides, long axes, adjacent slices.


def test_stride_of_an_axis_of_length_1_is_ignored():
    buffer = np.arange(1000)
    for shape, strides in (((1, 5), (8 * 900, 8)), ((3, 1), (8, 8 * 77)), ((1, 1), (-8, 0))):
        data = np.lib.stride_tricks.as_strided(buffer, shape, strides)
        assert data.flags.c_contiguous
        for depth in (1, 2):
            rows = np.zeros((4, depth), np.intp)
            expected = data[tuple(rows.T)]
            assert np.array_equal(fastsel.gather_nd(data, rows), expected)


@pytest.mark.parametrize("index_dtype", ["i4", "i8"])
def test_indices_along_an_axis_longer_than_2_to_the_31_equal_numpy_or_raise(
    index_dtype, kernels_with_few_threads
):
    data = np.broadcast_to(np.arange(5.0), (2**31 + 9, 5))
    rows = np.array([[2**31 - 1, 2], [-(2**31), 0], [-1, -5], [0, 4]] * 50).astype(index_dtype)
    assert_same(fastsel.gather_nd(data, rows), data[tuple(rows.T)])
    assert_same(fastsel.gather_nd(data.T, rows[:, ::-1]), data[tuple(rows.T)])
    one_beyond = np.append(rows.astype("i8"), [[2**31 + 9, 0]], axis=0)
    with pytest.raises(IndexError, match="index 2147483657 at position"):
        fastsel.gather_nd(data, one_beyond)


@pytest.mark.parametrize("width", [1, 3, 8, 12, 100])
def test_runs_of_neighbouring_slices_equal_numpy(width, num_threads):
    """The kernel handles 128 index rows at a time. If most of their slices are adjacent, it copies
    adjacent slices of 3, 12 or 100 bytes together. A run of adjacent slices belongs to all 128
    rows, to some of them, or to more rows."""
    data = np.arange(1000 * width, dtype=np.uint8).reshape(1000, width)
    all_rows = (
        np.arange(1000),
        np.arange(1000)[::-1],
        np.repeat(np.arange(500), 2),
        np.r_[5:205, 100:130, 7, 9, 11:300, 999, 0],
        np.r_[np.random.default_rng(1).integers(0, 1000, 150), 300:700],
    )
    for rows in all_rows:
        assert_same(fastsel.gather_nd(data, rows[:, np.newaxis]), data[rows])
