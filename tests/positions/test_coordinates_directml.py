"""nonzero_coordinates as DirectML has it: dml_shape and strict."""

import numpy as np
import pytest
import reference
from arrays import ML_DTYPES, make
from comparison import assert_same

import fastsel


@pytest.mark.parametrize(
    ("shape", "n", "expected"),
    [
        ((1, 1, 2, 4), None, (1, 1, 8, 4)),
        ((1, 1, 2, 4), 3, (1, 1, 8, 3)),
        ((1, 1, 3, 5, 7), 3, (1, 1, 1, 105, 3)),
        ((2, 3), None, (6, 2)),
        ((2, 3, 4), None, (1, 24, 3)),
    ],
)
def test_dml_shape_has_the_dimensions_of_x(shape, n, expected, few_threads):
    x = make("float32", shape)
    count, coordinates = fastsel.nonzero_coordinates(x, n=n, dml_shape=True)
    plain = reference.nonzero_coordinates(x, n=n)
    assert count == plain.count
    assert_same(coordinates, plain.coordinates.reshape(expected))


@pytest.mark.parametrize("dtype", ["f4", "f2", "i1", "i2", "i4", "u1", "u2", "u4"])
def test_strict_takes_what_directml_takes(dtype, few_threads):
    for shape in ((1, 1, 2, 4), (1, 2, 3, 2, 4)):
        x = make(dtype, shape)
        count, coordinates = fastsel.nonzero_coordinates(x, strict=True)
        expected = reference.nonzero_coordinates(x)
        assert count == expected.count
        assert_same(coordinates, expected.coordinates)


@pytest.mark.parametrize(
    "shape", [(), (8,), (2, 4), (1, 2, 4), (1, 1, 1, 1, 2, 4), (1,) * 8], ids=str
)
def test_strict_takes_4_or_5_dimensions(shape):
    with pytest.raises(ValueError, match="dim"):
        fastsel.nonzero_coordinates(np.zeros(shape, np.float32), strict=True)


@pytest.mark.parametrize("dtype", ["f8", "i8", "u8", "?", "c8", "U1", "O", "M8[s]", "bfloat16"])
def test_strict_takes_no_other_dtype(dtype):
    array = np.zeros((1, 1, 2, 4), ML_DTYPES.get(dtype, dtype))
    with pytest.raises(TypeError):
        fastsel.nonzero_coordinates(array, strict=True)


@pytest.mark.parametrize("capacity", [9, 7])
def test_strict_capacity_is_the_size(capacity):
    with pytest.raises(ValueError, match="capacity"):
        fastsel.nonzero_coordinates(np.zeros((1, 1, 2, 4), "f4"), capacity=capacity, strict=True)


def test_strict_refuses_what_a_directml_tensor_cannot_be():
    with pytest.raises(ValueError, match="x must have no size of 0"):
        fastsel.nonzero_coordinates(np.zeros((1, 1, 0, 4), "f4"), strict=True)
    with pytest.raises(ValueError, match="n must be at least 1"):
        fastsel.nonzero_coordinates(np.zeros((1, 1, 1, 1), "f4"), n=0, strict=True)
    with pytest.raises(TypeError, match="dtype must be uint32"):
        fastsel.nonzero_coordinates(np.zeros((1, 1, 2, 4), "f4"), dtype=np.int64, strict=True)
