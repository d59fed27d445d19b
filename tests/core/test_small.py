"""Small arrays, without forced kernels: results equal NumPy's bit for bit."""

import numpy as np
import pytest
from arrays import make
from comparison import assert_same
from grids import covering
from layouts import LAYOUTS

import fastsel
from fastsel._gather import gather
from fastsel._positions import bitmask, coordinates, selected_items

SIZES = (0, 1, 2, 7, 63, 64, 65, 500, 501, 999, 1000, 1001, 4159, 16383, 16384, 16385)
DTYPES = ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "g", "F", "D", ">i4", "M8[s]", "U3", "O"]


def numbers(dtype, size):
    """Random numbers, about a third of which are zero."""
    values = np.random.default_rng(size).integers(0, 3, size)
    return (
        values.astype("i8").astype(dtype) if np.dtype(dtype).kind == "M" else values.astype(dtype)
    )


def mask_of(size, density=0.3):
    return np.random.default_rng(size + 1).random(size) < density


@pytest.mark.parametrize("density", [0, 0.02, 0.5, 0.98, 1])
@pytest.mark.parametrize("dtype", ["i1", "u2", "f4", "f8", "D"])
def test_selections_of_each_density_equal_numpy(dtype, density):
    for size in SIZES:
        mask = mask_of(size, density)
        x = np.arange(size).astype(dtype)
        assert_same(fastsel.boolean_mask(x, mask), x[mask])
        assert_same(fastsel.nonzero(x * mask)[0], np.nonzero(x * mask)[0])
        assert_same(fastsel.flatnonzero(mask), np.flatnonzero(mask))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_negative_zero_is_zero_and_nan_is_nonzero(dtype):
    x = np.array([0.0, -0.0, np.nan, -np.nan, np.inf, 1e-7, -1e-7] * 9, dtype)
    assert_same(fastsel.flatnonzero(x), np.flatnonzero(x))
    assert fastsel.count_nonzero(x) == np.count_nonzero(x)


def test_bool_of_any_byte_equals_numpy():
    flags = np.arange(300, dtype=np.uint8).view(bool)
    x = np.arange(300)
    assert_same(fastsel.boolean_mask(x, flags), x[flags])
    assert_same(fastsel.flatnonzero(flags), np.flatnonzero(flags))
    assert fastsel.count_nonzero(flags) == len(np.flatnonzero(flags))


@pytest.mark.parametrize("dtype", DTYPES)
def test_selections_positions_and_counts_equal_numpy(dtype):
    for size in SIZES:
        x, mask = numbers(dtype, size), mask_of(size)
        assert_same(fastsel.boolean_mask(x, mask), x[mask])
        assert_same(fastsel.compress(mask, x), np.compress(mask, x))
        assert_same(fastsel.compress(mask[: size // 2], x), np.compress(mask[: size // 2], x))
        assert_same(fastsel.extract(mask, x), np.extract(mask, x))
        if np.dtype(dtype).kind != "O":
            assert_same(fastsel.nonzero(x)[0], np.nonzero(x)[0])
            assert_same(fastsel.flatnonzero(x), np.flatnonzero(x))
        count = fastsel.count_nonzero(x)
        assert type(count) is np.intp
        assert count == np.count_nonzero(x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_unique_equals_numpy(dtype):
    for size in SIZES:
        x = numbers(dtype, size)
        assert_same(fastsel.unique(x), np.unique(x))
        for ours, theirs in zip(
            fastsel.unique(x, True, True, True), np.unique(x, True, True, True), strict=True
        ):
            assert_same(ours, theirs)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("special", [0.0, -0.0, np.nan, np.inf])
def test_unique_of_floats_has_the_bits_of_the_first_item(dtype, special):
    for size in (5, 400, 1000):
        x = np.random.default_rng(size).integers(1, 9, size).astype(dtype)
        x[size // 2] = special
        x[size // 3] = -special
        values, index = np.unique(x, return_index=True)
        assert_same(fastsel.unique(x), values)
        assert fastsel.unique(x).tobytes() == x[index].tobytes()


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("ends", ["both", "low", "high"])
def test_unique_at_the_ends_of_the_range_equals_numpy(dtype, ends):
    """Modulo 2^bits, values near both limits of the dtype are one narrow range. As numbers, they
    are far apart."""
    limits = np.iinfo(dtype)
    steps = np.random.default_rng(1).integers(0, 100, 5000).astype(dtype)
    low, high = limits.min + steps, limits.max - steps
    x = {"low": low, "high": high, "both": np.where(steps % 3, low, high)}[ends].astype(dtype)
    assert_same(fastsel.unique(x), np.unique(x))


KEY_DTYPES = ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "F", "M8[s]", "S1", "S8", "U1", "U2"]
KEYS = {
    "few": lambda rng, size: rng.integers(-99, 99, size),
    "wide": lambda rng, size: rng.integers(-(2**62), 2**62, 300)[rng.integers(300, size=size)],
    "distinct": lambda rng, size: rng.integers(-(2**62), 2**62, size),
    "runs": lambda rng, size: np.repeat(rng.integers(-(2**62), 2**62, size), 9)[:size],
    "pairs": lambda rng, size: np.repeat(rng.integers(-(2**62), 2**62, size), 2)[:size],
    "narrow, one outlier": lambda rng, size: np.arange(size) % 99 + (np.arange(size) == 5) * 2**40,
}


@covering(at_least=28, dtype=KEY_DTYPES, keys=KEYS)
def test_unique_ascending_and_in_order_of_first_occurrence_equals_numpy(dtype, keys):
    """The kernel of small arrays handles up to 16,384 items."""
    for size in (0, 1, 2, 9, 127, 128, 129, 1000, 4095, 4096, 8192, 16384, 16385):
        words = KEYS[keys](np.random.default_rng(size), size).astype("i8")
        with np.errstate(over="ignore"):
            x = words.astype(dtype)
        expected = np.unique(x, True, True, True)
        for ours, theirs in zip(fastsel.unique(x, True, True, True), expected, strict=True):
            assert_same(ours, theirs)
        order = np.argsort(expected[1])
        values, index, inverse, counts = fastsel.unique(x, True, True, True, sorted=False)
        assert values.tobytes() == fastsel.unique(x, sorted=False).tobytes()
        assert values.tobytes() == expected[0][order].tobytes()
        assert_same(index, expected[1][order])
        assert_same(order[inverse], expected[2])
        assert_same(counts, expected[3][order])


@pytest.mark.parametrize("equal_nan", [True, False])
@pytest.mark.parametrize("dtype", ["f4", "f8", "M8[s]"])
def test_unique_of_nan_in_runs_follows_equal_nan(dtype, equal_nan):
    """With equal_nan=False each NaN is a group; otherwise all NaNs are one group, with the bits of
    the first one."""
    integer = f"i{np.dtype(dtype).itemsize}"
    x = np.repeat(np.arange(40).astype(integer).astype(dtype), 30)
    bits = x.view(integer)
    bits[100:130] = bits[600:601] = np.array("NaT" if dtype[0] == "M" else "nan", dtype).view(
        integer
    )
    if dtype[0] == "f":
        bits[110] += 3
        bits[601] = np.array(-0.0, dtype).view(integer)
    index = np.unique(x, return_index=True, equal_nan=equal_nan)[1]
    expected = x[np.sort(index)].tobytes()
    assert fastsel.unique(x, equal_nan=equal_nan, sorted=False).tobytes() == expected
    for repeats in (1, 50):
        many = np.tile(x, repeats)
        index = np.unique(many, return_index=True, equal_nan=equal_nan)[1]
        values, first_positions, inverse, counts = fastsel.unique(
            many, True, True, True, equal_nan=equal_nan, sorted=False
        )
        assert_same(first_positions, np.sort(index))
        assert values.tobytes() == many[np.sort(index)].tobytes()
        assert np.array_equal(values[inverse], many, equal_nan=True)
        assert_same(counts, np.bincount(inverse))


def test_equal_nan_may_be_any_object_with_a_truth_value():
    x = np.array([np.nan, 1, np.nan])
    assert len(fastsel.unique(x, equal_nan=np.array(False))) == 3
    assert len(fastsel.unique(x, equal_nan=[1], sorted=False)) == 2


def test_strings_at_an_odd_address_are_grouped():
    x = np.frombuffer(b"." + b"abcdefgh" * 50 + b"hgfedcba" * 50, np.uint8)[1:].view("S8")
    assert_same(fastsel.unique(x, sorted=False), np.array([b"abcdefgh", b"hgfedcba"]))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_layout_equals_numpy(layout):
    x = LAYOUTS[layout](make("i4", (4, 6)))
    mask = mask_of(x.size).reshape(x.shape)
    assert_same(fastsel.boolean_mask(x, mask), x[mask])
    assert_same(fastsel.extract(mask, x), np.extract(mask, x))
    assert fastsel.count_nonzero(x) == np.count_nonzero(x)
    assert_same(fastsel.unique(x), np.unique(x))
    index = np.unique(x, return_index=True)[1]
    assert_same(fastsel.unique(x, sorted=False), x.ravel()[np.sort(index)])
    rows = np.argwhere(mask)
    assert_same(fastsel.gather_nd(x, rows), x[mask])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_gather_nd_equals_indexing(dtype, depth):
    data = numbers(dtype, 60).reshape(3, 4, 5)
    for shape in ((0,), (1,), (7,), (2, 3), (200,)):
        rows = np.random.default_rng(depth).integers(-3, 3, (*shape, depth))
        assert_same(fastsel.gather_nd(data, rows), data[tuple(np.moveaxis(rows, -1, 0))])


@pytest.mark.parametrize("dtype", ["i1", "u2", "f4", "f8", "D", "g"])
@pytest.mark.parametrize(
    "shape", [(70, 3), (130, 2, 4), (1000, 10), (65, 1), (3, 0), (0, 3), (5, 1, 8)]
)
def test_selections_of_rows_equal_numpy(dtype, shape):
    a = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    mask = mask_of(shape[0])
    assert_same(fastsel.boolean_mask(a, mask), a[mask])
    for condition in (mask, mask[: shape[0] // 2]):
        assert_same(fastsel.compress(condition, a, axis=0), np.compress(condition, a, axis=0))
        assert_same(fastsel.compress(condition, a), np.compress(condition, a))
    pairs = np.random.default_rng(1).random(shape[:2]) < 0.5
    assert_same(fastsel.boolean_mask(a, pairs), a[pairs])


def test_lengths_and_indices_out_of_bounds_raise_index_error():
    x = np.arange(10)
    with pytest.raises(IndexError):
        fastsel.boolean_mask(x, np.ones(9, bool))
    with pytest.raises(IndexError):
        fastsel.compress(np.ones(11, bool), x)
    with pytest.raises(IndexError):
        fastsel.extract(np.ones(11, bool), x)
    longer = np.zeros(11, bool)
    assert_same(fastsel.compress(longer, x), np.compress(longer, x))
    with pytest.raises(IndexError, match="index 10 at position"):
        fastsel.gather_nd(x, np.array([[3], [10]]))


def test_compress_of_a_small_mask_with_a_large_result_equals_numpy():
    """The mask is small, but its result is large; an axis out of bounds is an error."""
    mask, array = mask_of(100), np.arange(1_000_000).reshape(10_000, 100)
    for axis in (65, -65):
        with pytest.raises(np.exceptions.AxisError):
            fastsel.compress(mask, array, axis)
    assert_same(fastsel.compress(mask, array, 1), np.compress(mask, array, 1))


@pytest.mark.parametrize("dtype", [">f2", ">f4", ">f8"])
def test_byte_swapped_negative_zero_is_zero(dtype):
    array = np.array([-0.0, 0.0, 1.0, -0.0, 2.0], dtype)
    assert fastsel.nonzero(array)[0].tolist() == [2, 4]
    assert fastsel.flatnonzero(array).tolist() == [2, 4]
    assert fastsel.extract(array, array).tolist() == [1, 2]


ENTRY_SIZES = (0, 1, 63, 64, 65, 500, 501, 16384, 16385, 131072, 131073)


@pytest.mark.parametrize("layout", ["c", "strided"])
@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != "O"])
def test_one_call_of_a_kernel_serves_arrays_of_every_size(dtype, layout):
    """NumPy, which would return the same arrays, is not called for any of these sizes."""
    for size in ENTRY_SIZES:
        x, mask = numbers(dtype, size), mask_of(size)
        if layout == "strided":
            x, mask = np.repeat(x, 2)[::2], np.repeat(mask, 2)[::2]
        index = np.flatnonzero(x)
        rows = index[: size // 4, np.newaxis]
        count = bitmask.count_nonzero(x)
        assert_same(count, np.intp(len(index)))
        assert_same(coordinates.flatnonzero(x), index)
        assert_same(coordinates.nonzero(x), index[np.newaxis])
        assert_same(selected_items.extract(mask, x), x[mask])
        assert_same(selected_items.compress_axis(mask, x, None), x[mask])
        assert_same(selected_items.compress_axis(x, mask, 0), mask[index])
        assert_same(selected_items.boolean_mask(x, mask), x[mask])
        assert_same(gather.gather_nd(x, rows), x[rows[:, 0]])


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 4)])
def test_one_call_of_a_kernel_serves_empty_arrays(shape):
    x, mask = np.ones(shape), np.ones(shape[0], bool)
    assert_same(coordinates.nonzero(x), np.array(np.nonzero(x)))
    assert_same(selected_items.boolean_mask(x, mask), x[mask])
    assert_same(selected_items.compress_axis(mask, x, 0), np.compress(mask, x, 0))
    rows = np.zeros((0, 1), int)
    assert_same(gather.gather_nd(x, rows), x[rows[:, 0]])


@pytest.mark.parametrize("kind", ["f8", "?"])
@pytest.mark.parametrize("density", [0.001, 0.5, 1])
@pytest.mark.parametrize("width", ["u1", "f8", "D"])
def test_masks_at_the_limits_of_the_stack_equal_numpy(kind, density, width):
    """A mask of 128 KiB has its bits on the stack, and a result of up to 256 KiB needs no job."""
    limit = 131072 // np.dtype(kind).itemsize
    for size in (limit - 1, limit, limit + 1):
        mask, x = mask_of(size, density), np.arange(size).astype(width)
        assert_same(fastsel.compress(mask.astype(kind), x), x[mask])
        columns = x[:1000].reshape(500, 2)
        selected = np.array([0, 1]).astype(kind)
        assert_same(fastsel.compress(selected, columns, axis=1), columns[:, 1:])


@pytest.mark.parametrize("size", [1, 63, 64, 65, 127, 1000])
@pytest.mark.parametrize("dtype", ["u1", "u2", "f4", "f8", "F", "D"])
def test_items_around_the_array_are_not_read_as_its_items(dtype, size):
    """The last items are packed together with items before them, or with zeros."""
    around = np.ones(size + 128, dtype)
    x = around[64 : size + 64]
    x[:] = 0
    assert fastsel.count_nonzero(x) == 0
    x[-1] = 1
    assert fastsel.flatnonzero(x).tolist() == [size - 1]
    assert fastsel.first_nonzero(x) == size - 1
