"""count_nonzero: its axes, keepdims, and the type of its result."""

import itertools

import numpy as np
import pytest
import reference
from arrays import DTYPES, WORD_DTYPES, make
from comparison import assert_same, assert_same_outcome, outcome
from layouts import LAYOUTS, has_layout
from marks import SIGNALLING_NANS

import fastsel

AXES = (
    None,
    0,
    1,
    2,
    -1,
    -3,
    (),
    (0,),
    (0, 1),
    (2, 0),
    (0, 1, 2),
    (-1, 0),
    3,
    -4,
    (0, 3),
    (0, 0),
    (0, -3),
    True,
    1.0,
    "0",
    [0, 1],
    np.int8(1),
    np.array(1),
    2**40,
)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES, ids=repr)
def test_axis_and_keepdims_equal_numpy(axis, keepdims, forced_kernels):
    shapes = ((2, 3, 4), (0, 3, 2), (70, 3, 2), (5,), (2, 3, 0), ())
    names = ("bool", "int16", "float64", "complex64", "datetime64", "U3", "object", "V3")
    for k, name in enumerate(names):
        for shape in shapes[k % 2 :: 2]:
            array = make(name, shape)
            with np.errstate(invalid="ignore"):  # NumPy warns about signalling NaN
                assert_same_outcome(
                    outcome(fastsel.count_nonzero, array, axis, keepdims=keepdims),
                    outcome(np.count_nonzero, array, axis, keepdims=keepdims),
                )


@pytest.mark.parametrize("itemsize", [*range(1, 34), 64, 65, 127])
def test_every_byte_of_an_item_counts(itemsize):
    """Words of an item may overlap. Item k has one byte that is not zero, k; the last has none."""
    items = np.vstack((np.diag(np.full(itemsize, 7, np.uint8)), np.zeros(itemsize, np.uint8)))
    void, text = items.view(f"V{itemsize}").ravel(), items.view(f"S{itemsize}").ravel()
    unaligned = np.frombuffer(b"x" + items.tobytes(), f"V{itemsize}", offset=1)
    for array in (void, text, unaligned, np.repeat(void, 2)[::2]):
        assert fastsel.count_nonzero(array) == itemsize
        assert fastsel.flatnonzero(array).tolist() == list(range(itemsize))
        assert fastsel.count_nonzero(array.reshape(1, -1), axis=0).tolist() == [1] * itemsize + [0]


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (), (0, 2), (0, 1, 2)], ids=repr)
def test_axis_of_every_layout_equals_numpy(axis, kernels_with_few_threads):
    for k, name in enumerate(WORD_DTYPES):
        for layout in [*LAYOUTS][k % 2 :: 2]:
            if has_layout(DTYPES[name], layout):
                array = LAYOUTS[layout](make(name, (3, 4, 70)))
                with np.errstate(invalid="ignore"):
                    expected = np.count_nonzero(array, axis)
                    assert_same(fastsel.count_nonzero(array, axis), expected)


@pytest.mark.parametrize(
    "array", [np.ones(3), np.array(1), 1, [], np.zeros((0, 2)), np.ones((2, 2))], ids=repr
)
def test_count_nonzero_is_an_intp_scalar(array, forced_kernels):
    assert type(fastsel.count_nonzero(array)) is np.intp


def test_axis_and_keepdims_equal_the_reference(forced_kernels):
    array = make("float32", (3, 4, 5))
    for axis in (None, 0, 1, 2, -1, (), (0, 1), (0, 1, 2)):
        for keepdims in (False, True):
            assert_same(
                fastsel.count_nonzero(array, axis, keepdims=keepdims),
                reference.count_nonzero(array, axis, keepdims=keepdims),
            )


def test_structured_array_with_axis_or_keepdims_raises_type_error():
    array = make("struct_plain", (3, 4))
    assert fastsel.count_nonzero(array) == np.count_nonzero(array)
    assert_same_outcome(
        outcome(fastsel.count_nonzero, array, axis=0), outcome(np.count_nonzero, array, axis=0)
    )
    with pytest.raises(TypeError, match="Cannot cast"):
        fastsel.count_nonzero(array, keepdims=True)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axes", [0, 63, tuple(range(63)), tuple(range(0, 64, 2))], ids=str)
def test_empty_array_of_64_axes_equals_numpy(axes, keepdims):
    """All strides are 1, so that no axes can be viewed as one."""
    empty = np.zeros((1,) * 64, np.int8)[(slice(0, 0),) * 64]
    assert_same(
        fastsel.count_nonzero(empty, axes, keepdims=keepdims),
        np.count_nonzero(empty, axes, keepdims=keepdims),
    )


def test_empty_array_with_a_large_stride_equals_numpy(forced_kernels):
    empty = np.lib.stride_tricks.as_strided(np.zeros(1), shape=(0,), strides=(2**32,))
    assert_same(fastsel.count_nonzero(empty, axis=()), np.count_nonzero(empty, axis=()))


# Some rows are shorter and some longer than a buffer of FLAG_ITEMS (1024) flags. Some arrays have
# more rows than one byte can count (255), or axes that can be viewed as one.
SHAPES = [(5,), (1, 300), (300, 1), (70, 3), (1100, 2), (2, 1100), (1030, 17), (3, 1, 5, 70)]


@pytest.mark.parametrize("name", ["bool", "int16", "float32", "float64", "complex64", "S3"])
@SIGNALLING_NANS
def test_all_combinations_of_axes_equal_numpy(name, num_threads):
    for shape in SHAPES:
        array = make(name, shape)
        for layout in ("C", "F", "strided", "rows_strided", "negative", "broadcast"):
            view = LAYOUTS[layout](array)
            for n_axes in range(view.ndim + 1):
                for axes in itertools.combinations(range(view.ndim), n_axes):
                    assert_same(fastsel.count_nonzero(view, axes), np.count_nonzero(view, axes))


@SIGNALLING_NANS
def test_chunks_of_the_counted_axis_equal_numpy(num_threads):
    for shape, axis in (((100_000, 3), 0), ((3, 100_000), 1), ((40_000, 2, 2), (0, 2))):
        array = make("float32", shape)
        assert_same(fastsel.count_nonzero(array, axis), np.count_nonzero(array, axis))


@pytest.mark.parametrize("size", [0, 100, 300_000])
def test_items_of_subclasses_are_counted_like_those_of_the_base_class(size, forced_kernels):
    class Plain(np.ndarray):
        pass

    items = np.random.default_rng(1).integers(0, 3, size)
    masked = np.ma.array(items, mask=items == 1)
    recorded = items.view([("item", items.dtype)]).view(np.recarray)
    for array in (masked, items.view(Plain), recorded, masked.astype(object)):
        assert fastsel.count_nonzero(array) == np.count_nonzero(array)
        assert type(fastsel.count_nonzero(array)) is np.intp


def test_a_subclass_that_overrides_numpys_functions_counts_its_items():
    class Own(np.ndarray):
        def __array_function__(self, function, types, args, kwargs):
            return function.__name__, args[0] is self

    assert fastsel.count_nonzero(np.ones(3).view(Own)) == ("count_nonzero", True)
