"""The arguments dml_shape and strict of nonzero_coordinates, which follow DirectML."""

import numpy as np
import pytest
import reference
from arrays import ML_DTYPES, make
from comparison import assert_same

import fastsel


@pytest.mark.parametrize(
    ("shape", "n", "expected_shape"),
    [
        ((1, 1, 2, 4), None, (1, 1, 8, 4)),
        ((1, 1, 2, 4), 3, (1, 1, 8, 3)),
        ((1, 1, 3, 5, 7), 3, (1, 1, 1, 105, 3)),
        ((2, 3), None, (6, 2)),
        ((2, 3, 4), None, (1, 24, 3)),
    ],
)
def test_dml_shape_gives_coordinates_the_ndim_of_x(
    shape, n, expected_shape, kernels_with_few_threads
):
    x = make("float32", shape)
    count, coordinates = fastsel.nonzero_coordinates(x, n=n, dml_shape=True)
    expected = reference.nonzero_coordinates(x, n=n)
    assert count == expected.count
    assert_same(coordinates, expected.coordinates.reshape(expected_shape))


@pytest.mark.parametrize("dtype", ["f4", "f2", "i1", "i2", "i4", "u1", "u2", "u4"])
def test_strict_accepts_the_dtypes_of_directml(dtype, kernels_with_few_threads):
    for shape in ((1, 1, 2, 4), (1, 2, 3, 2, 4)):
        x = make(dtype, shape)
        count, coordinates = fastsel.nonzero_coordinates(x, strict=True)
        expected = reference.nonzero_coordinates(x)
        assert count == expected.count
        assert_same(coordinates, expected.coordinates)


@pytest.mark.parametrize(
    "shape", [(), (8,), (2, 4), (1, 2, 4), (1, 1, 1, 1, 2, 4), (1,) * 8], ids=str
)
def test_strict_raises_for_other_ndim_than_4_and_5(shape):
    with pytest.raises(ValueError, match="dim"):
        fastsel.nonzero_coordinates(np.zeros(shape, np.float32), strict=True)


@pytest.mark.parametrize("dtype", ["f8", "i8", "u8", "?", "c8", "U1", "O", "M8[s]", "bfloat16"])
def test_strict_raises_for_other_dtypes(dtype):
    array = np.zeros((1, 1, 2, 4), ML_DTYPES.get(dtype, dtype))
    with pytest.raises(TypeError):
        fastsel.nonzero_coordinates(array, strict=True)


@pytest.mark.parametrize("capacity", [9, 7])
def test_strict_raises_for_another_capacity_than_the_size(capacity):
    with pytest.raises(ValueError, match="capacity"):
        fastsel.nonzero_coordinates(np.zeros((1, 1, 2, 4), "f4"), capacity=capacity, strict=True)


def test_strict_raises_for_empty_x_and_n_0_and_dtype_int64():
    with pytest.raises(ValueError, match="x must have no size of 0"):
        fastsel.nonzero_coordinates(np.zeros((1, 1, 0, 4), "f4"), strict=True)
    with pytest.raises(ValueError, match="n must be at least 1"):
        fastsel.nonzero_coordinates(np.zeros((1, 1, 1, 1), "f4"), n=0, strict=True)
    with pytest.raises(TypeError, match="dtype must be uint32"):
        fastsel.nonzero_coordinates(np.zeros((1, 1, 2, 4), "f4"), dtype=np.int64, strict=True)
