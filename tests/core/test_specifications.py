"""The examples of the ONNX and DirectML specifications, with their names and values.

ONNX's examples belong to NonZero-13, Compress-11, Unique-11 and GatherND-13; DirectML's belong to
DML_NONZERO_COORDINATES_OPERATOR_DESC.
"""

import numpy as np
import pytest
from comparison import assert_same

import fastsel
import fastsel.onnx as fx


def int64(values):
    return np.array(values, np.int64)


# ONNX NonZero.


def test_nonzero_example():
    condition = np.array([[1, 0], [1, 1]], dtype=bool)
    assert_same(fx.non_zero(condition), int64([[0, 1, 1], [0, 0, 1]]))


# ONNX Compress.

MATRIX = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
COMPRESS = {
    "test_compress_0": ([0, 1, 1], {"axis": 0}, [[3, 4], [5, 6]]),
    "test_compress_1": ([0, 1], {"axis": 1}, [[2], [4], [6]]),
    "test_compress_default_axis": ([0, 1, 0, 0, 1], {}, [2, 5]),
    "test_compress_negative_axis": ([0, 1], {"axis": -1}, [[2], [4], [6]]),
}


@pytest.mark.parametrize("name", COMPRESS)
def test_compress_example(name):
    condition, attributes, output = COMPRESS[name]
    actual = fx.compress(MATRIX, np.array(condition).astype(bool), **attributes)
    assert_same(actual, np.array(output, np.float32))


# ONNX Unique: X, attributes, then Y, indices, inverse_indices, counts.

PAIRS = [[1.0, 1.0], [0.0, 1.0], [2.0, 1.0], [0.0, 1.0]]
UNIQUE_PAIRS = [[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]]
UNIQUE = {
    "test_unique_sorted_without_axis": (
        [2.0, 1.0, 1.0, 3.0, 4.0, 3.0],
        {},
        ([1.0, 2.0, 3.0, 4.0], [1, 0, 3, 4], [1, 0, 0, 2, 3, 2], [2, 1, 2, 1]),
    ),
    "test_unique_not_sorted_without_axis": (
        [2.0, 1.0, 1.0, 3.0, 4.0, 3.0],
        {"sorted": 0},
        ([2.0, 1.0, 3.0, 4.0], [0, 1, 3, 4], [0, 1, 1, 2, 3, 2], [1, 2, 2, 1]),
    ),
    "test_unique_sorted_with_axis": (
        [[1, 0, 0], [1, 0, 0], [2, 3, 4]],
        {"sorted": 1, "axis": 0},
        ([[1, 0, 0], [2, 3, 4]], [0, 2], [0, 0, 1], [2, 1]),
    ),
    "test_unique_sorted_with_axis_3d": (
        [PAIRS, PAIRS],
        {"sorted": 1, "axis": 1},
        ([UNIQUE_PAIRS, UNIQUE_PAIRS], [1, 0, 2], [1, 0, 2, 0], [2, 1, 1]),
    ),
    "test_unique_sorted_with_negative_axis": (
        [[1, 0, 0], [1, 0, 0], [2, 3, 3]],
        {"sorted": 1, "axis": -1},
        ([[0, 1], [0, 1], [3, 2]], [1, 0], [1, 0, 0], [2, 1]),
    ),
}


@pytest.mark.parametrize("name", UNIQUE)
def test_unique_example(name):
    x, attributes, (y, *indices_and_counts) = UNIQUE[name]
    actual = fx.unique(np.array(x, np.float32), **attributes)
    assert_same(tuple(actual), (np.array(y, np.float32), *map(int64, indices_and_counts)))


# ONNX GatherND: data, indices, batch_dims, output.

CUBE = [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]
GATHER_ND = {
    "Example 1": ([[0, 1], [2, 3]], [[0, 0], [1, 1]], 0, [0, 3]),
    "Example 2": ([[0, 1], [2, 3]], [[1], [0]], 0, [[2, 3], [0, 1]]),
    "Example 3": (CUBE, [[0, 1], [1, 0]], 0, [[2, 3], [4, 5]]),
    "Example 4": (CUBE, [[[0, 1]], [[1, 0]]], 0, [[[2, 3]], [[4, 5]]]),
    "Example 5": (CUBE, [[1], [0]], 1, [[2, 3], [4, 5]]),
    "test_gathernd_example_int32": ([[0, 1], [2, 3]], [[0, 0], [1, 1]], 0, [0, 3]),
    "test_gathernd_example_float32": (CUBE, [[[0, 1]], [[1, 0]]], 0, [[[2, 3]], [[4, 5]]]),
    "test_gathernd_example_int32_batch_dim1": (CUBE, [[1], [0]], 1, [[2, 3], [4, 5]]),
}


@pytest.mark.parametrize("name", GATHER_ND)
def test_gathernd_example(name):
    data, indices, batch_dims, output = GATHER_ND[name]
    dtype = np.float32 if "float32" in name else np.int32
    actual = fx.gather_nd(np.array(data, dtype), int64(indices), batch_dims)
    assert_same(actual, np.array(output, dtype))


def test_gathernd_indices_are_from_minus_s_to_s_minus_1():
    data = np.arange(3)
    assert fx.gather_nd(data, [[-3], [2]]).tolist() == [0, 2]
    for index in (-4, 3):
        with pytest.raises(IndexError, match=f"index {index} "):
            fx.gather_nd(data, [[index]])


# DirectML: the example, and the statements about OutputCoordinatesTensor.


def test_directml_example():
    tensor = np.array([[[[1.0, 0.0, 0.0, 2.0], [-0.0, 3.5, 0.0, -5.2]]]], np.float32)
    out_count = np.zeros((1, 1, 1, 1), np.uint32)
    out_coordinates = np.full((1, 1, 8, 3), 9, np.uint32)
    fastsel.nonzero_coordinates(
        tensor, n=3, out=out_coordinates, count_out=out_count, dml_shape=True, strict=True
    )
    assert out_count.tolist() == [[[[4]]]]
    assert out_coordinates[0, 0, :4].tolist() == [[0, 0, 0], [0, 0, 3], [0, 1, 1], [0, 1, 3]]
    assert (out_coordinates[0, 0, 4:] == 9).all()  # "will only write a maximum of OutputCount"


def test_directml_coordinates_are_in_order():
    """3 values at {1,0}, {1,2} and {0,5} are written as [[0,5], [1,0], [1,2]]."""
    tensor = np.zeros((1, 1, 2, 6), np.int32)
    tensor[0, 0, [1, 1, 0], [0, 2, 5]] = 1
    count, coordinates = fastsel.nonzero_coordinates(tensor, n=2, strict=True)
    assert coordinates[:count].tolist() == [[0, 5], [1, 0], [1, 2]]


@pytest.mark.parametrize(
    ("sizes", "rank"), [((1, 2, 3, 4), 3), ((1, 1, 5, 5, 5), 3), ((1, 1, 1, 1), 0)], ids=str
)
def test_directml_effective_rank_is_the_number_of_columns(sizes, rank):
    tensor = np.ones(sizes, np.uint8)
    count, coordinates = fastsel.nonzero_coordinates(tensor, n="effective")
    assert coordinates.shape == (count, rank) == (tensor.size, rank)


@pytest.mark.parametrize("n", range(6))
def test_directml_output_has_2_to_4_columns(n):
    """The output for {1,1,12,5} has the sizes {1,1,60,N}, with N from 2 to 4."""
    tensor = np.ones((1, 1, 12, 5), np.float16)
    out = np.zeros((1, 1, 60, n), np.uint32)
    if 2 <= n <= 4:
        count, coordinates = fastsel.nonzero_coordinates(tensor, n=n, out=out, dml_shape=True)
        assert coordinates is out
        assert count == 60
    else:
        with pytest.raises(ValueError, match=r"n must be between 2 .* and 4"):
            fastsel.nonzero_coordinates(tensor, n=n, out=out, dml_shape=True)


def test_directml_input_may_have_five_dimensions():
    coordinates = fastsel.nonzero_coordinates(
        np.ones((1, 1, 2, 3, 4), np.uint16), dml_shape=True, strict=True
    ).coordinates
    assert coordinates.shape == (1, 1, 1, 24, 5)
