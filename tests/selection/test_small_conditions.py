"""Every small shape with small conditions. A condition that does not fit raises NumPy's error."""

import itertools

import numpy as np
import pytest
from arrays import make, numbered
from comparison import assert_same_outcome, boolean_index, outcome

import fastsel

SMALL_SHAPES = [shape for ndim in range(4) for shape in itertools.product(range(4), repeat=ndim)]
CONDITIONS = [
    np.array(list(bits), int).astype(bool)
    for bits in (
        "",
        "0",
        "1",
        "00",
        "01",
        "10",
        "11",
        "000",
        "010",
        "101",
        "111",
        "0001",
        "1000",
        "1111",
    )
]


@pytest.mark.parametrize("axis", [None, 0, 1, 2, 3, -1, -2, -3, -4], ids=repr)
@pytest.mark.parametrize("force_kernels", [True, False], ids=["kernels", "defaults"])
def test_compress_of_every_small_shape_and_condition_equals_numpy(axis, force_kernels, request):
    if force_kernels:
        request.getfixturevalue("forced_kernels")
    for shape in SMALL_SHAPES:
        array = numbered("int16", np.arange(np.prod(shape, dtype=int)).reshape(shape))
        for condition in CONDITIONS if force_kernels else CONDITIONS[::3]:
            assert_same_outcome(
                outcome(fastsel.compress, condition, array, axis),
                outcome(np.compress, condition, array, axis),
            )


@pytest.mark.parametrize("force_kernels", [True, False], ids=["kernels", "defaults"])
def test_extract_of_every_small_shape_and_condition_equals_numpy(force_kernels, request):
    if force_kernels:
        request.getfixturevalue("forced_kernels")
    conditions = CONDITIONS + [make("int8", shape) for shape in SMALL_SHAPES if len(shape) != 1]
    for shape in SMALL_SHAPES:
        array = numbered("int16", np.arange(np.prod(shape, dtype=int)).reshape(shape))
        for condition in conditions:
            assert_same_outcome(
                outcome(fastsel.extract, condition, array), outcome(np.extract, condition, array)
            )


@pytest.mark.parametrize("force_kernels", [True, False], ids=["kernels", "defaults"])
def test_boolean_mask_of_every_small_shape_and_mask_equals_numpy(force_kernels, request):
    if force_kernels:
        request.getfixturevalue("forced_kernels")
    for shape in SMALL_SHAPES:
        array = numbered("int16", np.arange(np.prod(shape, dtype=int)).reshape(shape))
        for mask_shape in SMALL_SHAPES if force_kernels else SMALL_SHAPES[::3]:
            mask = make("bool", mask_shape, 0.6)
            assert_same_outcome(
                outcome(fastsel.boolean_mask, array, mask), outcome(boolean_index, array, mask)
            )
