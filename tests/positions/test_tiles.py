"""Arrays whose memory is not in C order are read in tiles: transposed arrays and views of them."""

import itertools

import numpy as np
import pytest
from arrays import make
from comparison import assert_same
from hypothesis import given
from hypothesis import strategies as st

import fastsel
from fastsel._positions.bitmask import count_nonzero, pack

FUNCTIONS = ("nonzero", "flatnonzero", "argwhere", "count_nonzero")
DTYPES = ["bool", "int16", ">i4", "float64", "complex128", "float16", "S3", "U2", "M8[s]"]
# Around a tile (64 rows), and around eight tiles one below the other (512) that are read together.
ROWS = (63, 64, 65, 100, 127, 128, 511, 513, 700)
# Around the minimum of columns for tiles (16), and around a tile (64).
COLUMNS = (15, 16, 17, 63, 64, 65, 130)


def check_equals_numpy(array):
    for function in FUNCTIONS:
        assert_same(getattr(fastsel, function)(array), getattr(np, function)(array))


def lay_out(array, order):
    """A copy whose axes lie in memory in `order`, the outermost one first."""
    return array.transpose(order).copy().transpose(np.argsort(order))


@pytest.mark.parametrize("rows", ROWS)
def test_lengths_around_tiles_equal_numpy(rows, each_num_threads):
    arrays = [
        np.asfortranarray(make(name, (rows, columns), 0.2))
        for columns in COLUMNS
        for name in ("bool", "float64")
    ]
    for _ in each_num_threads:
        for array in arrays:
            check_equals_numpy(array)


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_and_density_equals_numpy(name, each_num_threads):
    arrays = [
        np.asfortranarray(make(name, (200, 70), density)) for density in (0.0, 0.01, 0.5, 1.0)
    ]
    for _ in each_num_threads:
        for array in arrays:
            check_equals_numpy(array)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("shape", [(5, 70, 40), (70, 3, 40), (90, 80, 20), (1, 70, 33)])
def test_every_order_of_three_axes_equals_numpy(shape, order, each_num_threads):
    array = lay_out(make("int32", shape, 0.1), order)
    for _ in each_num_threads:
        check_equals_numpy(array)


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_every_order_of_four_axes_equals_numpy(order, each_num_threads):
    shape = (3, 70, 2, 30)
    array = lay_out(make("uint8", shape, 0.1), order)
    for _ in each_num_threads:
        check_equals_numpy(array)


@pytest.mark.parametrize("name", ["bool", "float64", "complex64"])
def test_views_of_transposed_arrays_equal_numpy(name, each_num_threads):
    array = np.asfortranarray(make(name, (300, 200), 0.2))
    repeated = np.broadcast_to(array[:, None], (300, 3, 200))
    for _ in each_num_threads:
        for view in (
            array[::-1],
            array[:, ::-1],
            array[::2],
            array[::-3, 5:],
            array[1:, ::3],
            repeated,
            repeated.transpose(1, 0, 2),
            np.broadcast_to(array[:, :1], (300, 90)),
        ):
            check_equals_numpy(view)


def test_unaligned_read_only_array_equals_numpy(each_num_threads):
    array = np.asfortranarray(make("float64", (150, 90), 0.2))
    buffer = np.empty(array.nbytes + 1, np.uint8)
    unaligned = buffer[1:].view("float64").reshape(90, 150).T
    unaligned[...] = array
    unaligned.flags.writeable = False
    assert not unaligned.flags.aligned
    for _ in each_num_threads:
        check_equals_numpy(unaligned)


def test_selections_and_coordinates_of_a_transposed_mask_equal_numpy(each_num_threads):
    mask = np.asfortranarray(make("bool", (130, 70), 0.3))
    values = np.arange(130 * 70).reshape(130, 70)
    for _ in each_num_threads:
        assert_same(fastsel.boolean_mask(values, mask), values[mask])
        assert_same(fastsel.extract(mask, values), np.extract(mask, values))
        count, rows = fastsel.nonzero_coordinates(mask)
        assert_same(rows[: int(count)], np.argwhere(mask).astype(np.uint32))


@pytest.mark.parametrize("moved", [0, 100_000])
def test_offsets_are_the_same_with_and_without_tiles(moved, each_num_threads):
    """The chunks of pass 2, between which signals are handled, do not depend on the tiles."""
    mask = make("bool", (128, 150), 0.5)
    for threads in each_num_threads:
        offsets = [
            np.asarray(pack(array, 1, np.array([255], np.uint64), moved, threads).offsets)
            for array in (mask, np.asfortranarray(mask))
        ]
        assert_same(*offsets)


def test_count_of_planes_with_short_inner_rows_equals_numpy(each_num_threads):
    """In memory, 3 items lie side by side, and a gap of one item follows."""
    planes = make("uint8", (40, 50, 4), 0.5)[..., :3].transpose(2, 0, 1)
    for _ in each_num_threads:
        assert fastsel.count_nonzero(planes) == np.count_nonzero(planes)


def test_count_of_an_empty_array_is_0():
    assert count_nonzero(np.zeros((3, 0, 70))) == 0


@given(data=st.data())
def test_property_any_transposed_view_equals_numpy(forced_kernels, data):
    ndim = data.draw(st.integers(2, 4))
    long_lengths = st.integers(1, 150)
    shape = [data.draw(long_lengths if axis < 2 else st.integers(1, 4)) for axis in range(ndim)]
    order = data.draw(st.permutations(range(ndim)))
    array = make(data.draw(st.sampled_from(DTYPES)), shape, data.draw(st.floats(0, 1)))
    view = array.transpose(order)
    steps = [data.draw(st.sampled_from([1, 1, 2, -1])) for _ in range(ndim)]
    view = view[tuple(slice(None, None, step) for step in steps)]
    with fastsel.threads(data.draw(st.sampled_from([1, 2, 3, 7]))):
        check_equals_numpy(view)
