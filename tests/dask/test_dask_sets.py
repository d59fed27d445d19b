"""isin, index_in, intersect1d, union1d, setdiff1d and setxor1d on dask arrays."""

import itertools

import numpy as np
import pytest
from arrays import make
from grids import covering
from hypothesis import given, settings
from hypothesis import strategies as st

import fastsel

da = pytest.importorskip("dask.array", reason='needs pip install "dask[array]" distributed')
from chunked import (  # noqa: E402
    CHUNKINGS,
    assert_declared,
    assert_equal,
    chunked,
    chunkings,
    of_unknown_sizes,
)

import fastsel.dask  # noqa: E402

DTYPES = ("bool", "uint8", "int32", "int64", "float64", "complex64", "datetime64", "U3", "S17")
CALLS = {
    "isin": lambda f, a, b, axis=None: f.isin(a, b, axis=axis),
    "isin_invert": lambda f, a, b, axis=None: f.isin(a, b, invert=True, kind="sort", axis=axis),
    "intersect1d": lambda f, a, b, axis=None: f.intersect1d(a, b, axis=axis),
    "intersect1d_indices": lambda f, a, b, axis=None: f.intersect1d(
        a, b, return_indices=True, axis=axis
    ),
    "union1d": lambda f, a, b, axis=None: f.union1d(a, b, axis=axis),
    "setdiff1d": lambda f, a, b, axis=None: f.setdiff1d(a, b, axis=axis),
    "setdiff1d_unique": lambda f, a, b, axis=None: f.setdiff1d(a, b, True, axis=axis),
    "setxor1d": lambda f, a, b, axis=None: f.setxor1d(a, b, axis=axis),
}


@covering(at_least=20, dtype=DTYPES, call=CALLS, chunking=CHUNKINGS)
def test_every_dtype_equals_fastsel(dtype, call, chunking):
    a, b = make(dtype, (7, 9)), make(dtype, (5, 4), seed=1)
    expected = CALLS[call](fastsel, a, b)
    x, y = (chunked(array, CHUNKINGS[chunking](array.shape)) for array in (a, b))
    for first, second in ((x, y), (x, b), (a, y)):
        result = CALLS[call](fastsel, first, second)
        assert_equal(result, expected)
        assert_declared(result)


@settings(max_examples=settings().max_examples // 2)
@given(data=st.data())
def test_any_chunks_equal_fastsel(data):
    shapes = [tuple(data.draw(st.lists(st.integers(0, 7), max_size=3))) for _ in range(2)]
    a, b = (make("int32", shape, seed=k) for k, shape in enumerate(shapes))
    x, y = (chunked(array, data.draw(chunkings(array.shape))) for array in (a, b))
    for call in CALLS.values():
        assert_equal(call(fastsel.dask, x, y), call(fastsel, a, b))


@pytest.mark.parametrize("call", CALLS)
def test_arrays_of_two_dtypes_equal_fastsel(call):
    a, b = np.arange(-3, 9, dtype="i2"), np.arange(5.0)
    assert_equal(CALLS[call](fastsel, chunked(a, ((5, 7),)), b), CALLS[call](fastsel, a, b))


@pytest.mark.parametrize("call", CALLS)
def test_unknown_chunk_sizes_equal_fastsel(call):
    a, b = np.arange(20) % 7, np.arange(5, 12)
    x, y = of_unknown_sizes(chunked(a, ((5, 15),))), of_unknown_sizes(chunked(b, ((3, 4),)))
    assert_equal(CALLS[call](fastsel.dask, x, y), CALLS[call](fastsel, a, b))


def test_wrong_arguments_are_refused_at_once():
    x = da.arange(5, chunks=2)
    with pytest.raises(ValueError, match="Invalid kind"):
        fastsel.isin(x, [1], kind="hash")
    with pytest.raises(ValueError, match="'table' method"):
        fastsel.isin(x, [1.5], kind="table")
    with pytest.raises(TypeError):
        fastsel.union1d(x, da.from_array(np.array(["2001-01-01"], "M8[D]")))


def test_range_too_wide_for_a_table_raises_when_computed():
    x, tests = da.arange(5, chunks=2), np.array([-(2**62), 2**62])
    with pytest.raises(RuntimeError, match="kind='table'"):
        fastsel.isin(x, tests, kind="table").compute()


def test_isin_compares_objects():
    a = np.array(["b", None, "a", 1], object)
    x = chunked(a, ((1, 3),))
    assert_equal(fastsel.isin(x, np.array(["a", 1], object)), np.array([False, False, True, True]))
    assert_equal(fastsel.isin(x, x[2:]), np.array([False, False, True, True]))


STRING_PAIRS = [("i8", "U2"), ("f4", "S2"), ("?", "U5"), ("U2", "S2")]


@pytest.mark.parametrize("dtypes", [*STRING_PAIRS, *(pair[::-1] for pair in STRING_PAIRS)], ids=str)
@pytest.mark.parametrize("lazy", [True, False])
def test_isin_refuses_dtypes_whose_comparison_depends_on_the_size(dtypes, lazy):
    """NumPy compares many items in the common dtype, 1 with "1", but few items by ``==``."""
    x, tests = (da.from_array(np.array([1, 2, 3]).astype(d), chunks=2) for d in dtypes)
    tests = tests if lazy else tests.compute()
    with pytest.raises(TypeError, match="convert one of the arrays to the dtype of the other"):
        fastsel.dask.isin(x, tests)
    with pytest.raises(TypeError, match="convert one of the arrays to the dtype of the other"):
        fastsel.dask.setdiff1d(x, tests, assume_unique=True)


@pytest.mark.parametrize("n_tests", [1, 300])
def test_isin_of_dtypes_of_one_kind_equals_fastsel_for_any_chunks(n_tests):
    """Of these dtypes, NumPy compares few items as it compares many."""
    items, tests = np.arange(40), np.arange(0, 2 * n_tests, 2)
    pairs = itertools.product(["i8", "u2", "f4", "f8", "c16", object], repeat=2)
    pairs = [*pairs, ("U2", "U5"), ("S2", "S5"), ("U3", "T"), ("T", "U3"), ("U3", object)]
    for dtypes in (*pairs, ("M8[s]", "M8[D]"), ("m8[s]", "m8[D]"), ("m8[s]", "i8")):
        a, b = items.astype(dtypes[0]), tests.astype(dtypes[1])
        expected = fastsel.isin(a, b)
        for size in (1, 7, 40):
            x = chunked(a, ((size,) * (40 // size) + ((40 % size,) if 40 % size else ()),))
            assert_equal(fastsel.dask.isin(x, b), expected)


def test_intersect1d_with_indices_compares_in_the_common_dtype():
    a, b = np.arange(12), np.array(["10", "3", "x", "2"])
    x, y = chunked(a, ((5, 7),)), chunked(b, ((1, 3),))
    for first, second, one, other in ((x, y, a, b), (y, x, b, a)):
        expected = fastsel.intersect1d(one, other, return_indices=True)
        assert expected[0].tolist() == ["10", "2", "3"]
        assert_equal(fastsel.dask.intersect1d(first, second, return_indices=True), expected)


# Slices along an axis.


@covering(
    at_least=24,
    dtype=["bool", "int32", "float64", "U3"],
    call=CALLS,
    chunking=CHUNKINGS,
    axis=[0, 1, -1, 2],
)
def test_slices_along_an_axis_equal_fastsel(dtype, call, chunking, axis):
    shapes = [[2, 2, 2], [2, 2, 2]]
    shapes[0][axis], shapes[1][axis] = 9, 5
    a, b = (make(dtype, shape, 0.3, seed=k) for k, shape in enumerate(map(tuple, shapes)))
    expected = CALLS[call](fastsel, a, b, axis)
    x, y = (chunked(array, CHUNKINGS[chunking](array.shape)) for array in (a, b))
    for first, second in ((x, y), (x, b), (a, y)):
        result = CALLS[call](fastsel, first, second, axis)
        assert_equal(result, expected)
        assert_declared(result)


@pytest.mark.parametrize("call", CALLS)
def test_slices_of_unknown_chunk_sizes_equal_fastsel(call):
    a, b = make("int32", (9, 2), 0.3), make("int32", (5, 2), 0.3, seed=1)
    x, y = (of_unknown_sizes(chunked(array, ((2, len(array) - 2), (2,)))) for array in (a, b))
    assert_equal(CALLS[call](fastsel.dask, x, y, 0), CALLS[call](fastsel, a, b, 0))


@pytest.mark.parametrize("call", CALLS)
def test_slices_of_1d_arrays_are_items(call):
    a, b = np.array([3.0, 1, np.nan, 3]), np.array([3.0, np.nan])
    result = CALLS[call](fastsel.dask, chunked(a, ((2, 2),)), chunked(b, ((1, 1),)), -1)
    assert_equal(result, CALLS[call](fastsel, a, b, -1))


@pytest.mark.parametrize("call", CALLS)
def test_slices_of_other_shapes_and_wrong_axes_are_refused_at_once(call):
    x = da.ones((4, 3), chunks=2)
    for arrays, axis in (((x, x[:, :2]), 0), ((x, x[0]), 0), ((x, x), 2), ((x, x), 1.0)):
        a, b = (np.ones(array.shape) for array in arrays)
        with pytest.raises(Exception) as expected:
            CALLS[call](fastsel, a, b, axis)
        with pytest.raises(type(expected.value)) as raised:
            CALLS[call](fastsel.dask, *arrays, axis)
        assert str(raised.value) == str(expected.value)


# The function index_in.


@pytest.mark.parametrize("chunks", CHUNKINGS)
@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("lazy", [True, False])
def test_index_in_of_any_chunks_equals_fastsel(chunks, axis, lazy):
    a = np.random.default_rng(0).integers(0, 3, (12, 3))
    b = np.concatenate((a[5:], a + 1))[:12]
    x = chunked(a, CHUNKINGS[chunks](a.shape))
    y = chunked(b, CHUNKINGS[chunks](b.shape)) if lazy else b
    assert_equal(fastsel.dask.index_in(x, y, axis), fastsel.index_in(a, b, axis))


@pytest.mark.parametrize("shape", [(0,), (0, 2), (2, 0)])
def test_empty_tests_give_minus_1(shape):
    """The tests are in memory, or their chunk sizes are known or unknown."""
    tests = np.zeros(shape)
    lazy = da.from_array(tests, chunks=1)
    rows = da.from_array(np.ones((3, 2)), chunks=2)
    for y in (tests, lazy, lazy.rechunk(-1), of_unknown_sizes(lazy), rows[rows > 9]):
        for x in (rows, rows[:, 0], np.ones(3), np.ones((0, 2)), of_unknown_sizes(rows)):
            assert_equal(fastsel.dask.index_in(x, y), np.full(np.shape(da.compute(x)[0]), -1))
    for y in (np.ones((0, 2)), rows[:0], rows[rows[:, 0] > 9]):
        for x in (rows, np.ones((3, 2)), np.ones((0, 2)), of_unknown_sizes(rows.rechunk({1: -1}))):
            expected = np.full(len(da.compute(x)[0]), -1)
            assert_equal(fastsel.dask.index_in(x, y, axis=0), expected)


def test_index_in_refuses_other_shapes_and_wrong_axes_at_once():
    x = da.ones((4, 3), chunks=2)
    with pytest.raises(ValueError, match="the same lengths except along axis 0"):
        fastsel.dask.index_in(x, x[:, :2], axis=0)
    with pytest.raises(np.exceptions.AxisError):
        fastsel.dask.index_in(x, x, axis=2)


def test_index_in_refuses_a_set_of_tests_at_once():
    x = da.ones(4, chunks=2)
    with pytest.raises(TypeError, match=r"got set \(use list\(test_elements\)\)"):
        fastsel.dask.index_in(x, {1})


# The function remap.

KEYS = np.array([5, 0, 2, 1, 2, 4, 3])
VALUES = {"items": KEYS * 1.5, "rows": np.stack([KEYS, -KEYS], axis=1), "objects": KEYS.astype("O")}


@pytest.mark.parametrize("chunks", CHUNKINGS)
@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("lazy", [True, False])
def test_remap_of_any_chunks_equals_fastsel(chunks, values, lazy):
    a, values = np.random.default_rng(0).integers(0, 6, (12, 3)), VALUES[values]
    x = chunked(a, CHUNKINGS[chunks](a.shape))
    keys, table = KEYS, values
    if lazy:
        keys, table = da.from_array(KEYS, chunks=3), da.from_array(values, chunks=2)
    result = fastsel.dask.remap(x, keys, table)
    assert_equal(result, fastsel.remap(a, KEYS, values))
    assert result.chunks[:2] == x.chunks
    assert_declared(result)
    defaults = np.zeros((12, 3, *values.shape[1:]), np.int8)
    for default, lazy_default in (
        (7, 7),
        (defaults, defaults),
        (defaults[:1], da.from_array(defaults[:1], chunks=1)),
        (values[0], values[0]),
    ):
        expected = fastsel.remap(a, KEYS[:4], values[:4], default=default)
        lazily = fastsel.dask.remap(x, keys[:4], table[:4], default=lazy_default)
        assert_equal(lazily, expected)
        assert_declared(lazily)


@pytest.mark.parametrize("has_unknown_sizes", [False, True])
def test_remap_keeps_items_and_names_missing_ones(has_unknown_sizes):
    a = np.arange(12).reshape(6, 2)
    x = da.from_array(a, chunks=(2, 1))
    x = of_unknown_sizes(x) if has_unknown_sizes else x
    assert_equal(
        fastsel.dask.remap(x, [3, 8], [0, 1], default=x),
        fastsel.remap(a, [3, 8], [0, 1], default=a),
    )
    assert_equal(fastsel.dask.remap(x, np.arange(12), -np.arange(12)), -a)
    with pytest.raises(ValueError, match=r"item 9 at position \(4, 1\) of a"):
        fastsel.dask.remap(x, [*range(9), 10, 11], np.arange(11)).compute()


@pytest.mark.parametrize("has_unknown_sizes", [False, True])
def test_remap_takes_one_default_as_a_dask_array(has_unknown_sizes):
    a = np.array([3, 1, 3, 0])
    x = da.from_array(a, chunks=2)
    x = of_unknown_sizes(x) if has_unknown_sizes else x
    default = da.from_array(a, chunks=3).max()
    assert_equal(fastsel.dask.remap(x, [3], [9], default=default), np.array([9, 3, 9, 3]))
    rows, row = np.array([[9, 8]]), np.array([1, 2])
    expected = fastsel.remap(a, [3], rows, default=row)
    lazy = fastsel.dask.remap(x, [3], rows, default=da.from_array(row, chunks=1))
    assert_equal(lazy, expected)
    narrow = fastsel.dask.remap(x, [3], np.array([9], "u1"), default=-default)
    with pytest.raises(TypeError, match="default must fit the dtype of values, uint8, got -3"):
        narrow.compute()


def test_remap_takes_a_list_of_objects_as_default():
    x, values = da.from_array(np.array([3, 1, 3, 0]), chunks=2), np.array([None], object)
    result = fastsel.dask.remap(x, [3], values, default=["a", 5, "b", 6]).compute()
    assert result.tolist() == [None, 5, None, 6]


def test_remap_uses_the_default_that_it_was_called_with():
    default = np.array([5, 6])
    result = fastsel.dask.remap(da.from_array([1, 9], chunks=1), [1], [[2, 2]], default=default)
    default[:] = 0
    assert result.compute().tolist() == [[2, 2], [5, 6]]


def test_remap_of_arrays_without_items_in_other_chunks():
    x = da.from_array(np.arange(4), chunks=2)
    empty = x[x > 10].compute_chunk_sizes()
    assert_equal(fastsel.dask.remap(empty, [1], [2], default=np.zeros(0, int)), np.zeros(0, int))


def test_remap_takes_values_without_items_in_several_chunks():
    values = da.zeros((0, 0), chunks=((0,), (0, 0)))
    result = fastsel.dask.remap(da.zeros(2, chunks=1), np.zeros(0), values, default=5)
    assert_equal(result, np.zeros((2, 0)))
    for dtype in ("i4", "O", "S3", "M8[s]"):
        values = da.from_array(np.empty(0, dtype), chunks=1)
        default = np.zeros((), dtype)[()]
        result = fastsel.dask.remap(da.zeros(3, chunks=1), np.zeros(0), values, default=default)
        assert_equal(result, np.zeros(3, dtype))


def test_remap_with_other_defaults_has_another_name():
    x = da.from_array(np.array([1, 9]), chunks=1)
    values = da.from_array(np.array([["x", "y"]], object), chunks=-1, name="values")
    defaults = ["a-b", "c"], ["a", "b-c"]
    results = [fastsel.dask.remap(x, [1], values, default=default) for default in defaults]
    for result, default in zip(da.compute(*results), defaults, strict=True):
        assert result.tolist() == [["x", "y"], default]


def test_remap_refuses_a_default_of_other_blocks_where_sizes_are_unknown():
    x = of_unknown_sizes(da.ones((4, 2), chunks=2, dtype=int))
    vector = of_unknown_sizes(da.ones(4, chunks=2, dtype=int))
    broadcast = fastsel.dask.remap(vector, [0], [1], default=da.ones(2, chunks=1, dtype=int))
    with pytest.raises(
        ValueError, match=r"the shape of the block of the result: got \(1,\) and \(2"
    ):
        broadcast.compute()
    with pytest.raises(ValueError, match=r"default must have the blocks .* \(2, 1\), .* got \(4,"):
        fastsel.dask.remap(x, [1], [1], default=da.ones((4, 2), chunks=(1, 2), dtype=int))


def test_zeros_of_both_signs_are_two_strings():
    arrays = np.array([0.0, -0.0]), np.array(["a"])
    assert_equal(fastsel.dask.union1d(*arrays), fastsel.union1d(*arrays))


@pytest.mark.parametrize("name", ["isin", "intersect1d", "union1d", "setdiff1d", "setxor1d"])
@pytest.mark.parametrize("swapped", [False, True])
def test_slices_of_zeros_of_both_signs_are_different_strings(name, swapped):
    numbers, strings = (
        np.stack((items, items), axis=1)
        for items in (np.array([0.0, -0.0, 1, -0.0]), np.array(["a", "-0.0", "b"]))
    )
    arrays = (strings, numbers) if swapped else (numbers, strings)
    result = getattr(fastsel.dask, name)(*(da.from_array(a, chunks=2) for a in arrays), axis=0)
    assert_equal(result, getattr(fastsel, name)(*arrays, axis=0))


def test_remap_refuses_arguments_that_do_not_fit_at_once():
    x = da.ones((4, 3), chunks=2, dtype=int)
    for error, text, arguments, default in (
        (ValueError, "keys must be 1-d", ([[1]], [1]), 0),
        (ValueError, "for each of 2 keys", ([1, 2], [1]), 0),
        (ValueError, "default must broadcast to", ([1], [1]), np.zeros(4, int)),
        (TypeError, "default must fit the dtype of values", ([1], np.array([1], "u1")), -1),
        (TypeError, "default must fit the dtype of values", ([1], np.array([1], "u1")), x),
        (ValueError, r"to .* \(2,\), got \(3,\)", ([1], np.zeros((1, 2))), da.zeros(3, chunks=1)),
    ):
        with pytest.raises(error, match=text):
            fastsel.dask.remap(x, *arguments, default=default)
