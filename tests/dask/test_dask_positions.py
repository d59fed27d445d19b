"""The functions that find or count non-zero items, on dask arrays: any chunks, any dtype."""

import numpy as np
import pytest
from arrays import DTYPES, make
from comparison import outcome
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
    uneven,
)

import fastsel.dask  # noqa: E402

NAMES = ("nonzero", "flatnonzero", "argwhere", "count_nonzero")


@pytest.fixture(params=[1 << 20, 1], ids=["wide", "narrow"])
def min_band_bytes(request, monkeypatch):
    """A size that bands may have even if the blocks are smaller. With 1 byte, bands are divided
    along later axes, too."""
    monkeypatch.setattr("fastsel.dask._blocks.MIN_BAND_BYTES", request.param)


@covering(dtype=DTYPES, name=NAMES)
def test_every_dtype_equals_fastsel(dtype, name):
    a = make(dtype, (7, 9))
    result = getattr(fastsel.dask, name)(chunked(a, uneven(a.shape)))
    assert_equal(result, getattr(fastsel, name)(a))


@covering(
    at_least=28,
    shape=[(11,), (5, 6), (3, 4, 5), (1, 20), (0,), (0, 3), (3, 0)],
    chunking=CHUNKINGS,
    name=NAMES,
)
def test_every_chunking_equals_numpy(shape, chunking, name, min_band_bytes):
    a = make("int16", shape)
    x = chunked(a, CHUNKINGS[chunking](shape))
    result = getattr(fastsel.dask, name)(x)
    assert_declared(result)
    assert_equal(result, getattr(np, name)(a))


@settings(max_examples=settings().max_examples // 2)
@given(data=st.data())
def test_any_chunks_equal_numpy(data):
    shape = tuple(data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=3)))
    a = make(data.draw(st.sampled_from(["bool", "int64", "float64", "U3", "object"])), shape)
    x = chunked(a, data.draw(chunkings(shape)))
    for name in NAMES:
        assert_equal(getattr(fastsel.dask, name)(x), getattr(np, name)(a))
    axes = st.sampled_from(range(-len(shape), len(shape)))
    axis = data.draw(st.none() | axes | st.sets(st.integers(0, len(shape) - 1)).map(tuple))
    keepdims = data.draw(st.booleans())
    with np.errstate(invalid="ignore"):  # NumPy casts signalling NaN
        expected = np.count_nonzero(a, axis, keepdims=keepdims)
    assert_equal(fastsel.dask.count_nonzero(x, axis, keepdims=keepdims), expected)


@pytest.mark.parametrize("name", NAMES)
def test_unknown_chunk_sizes_equal_numpy(name):
    a = make("int64", (20, 3))
    result = getattr(fastsel.dask, name)(of_unknown_sizes(chunked(a, ((4, 0, 16), (3,)))))
    assert_equal(result, getattr(np, name)(a))


@pytest.mark.parametrize("name", ["nonzero", "flatnonzero", "argwhere"])
def test_unknown_chunk_sizes_with_chunks_along_other_axes_raise(name):
    x = of_unknown_sizes(chunked(np.ones((4, 4)), ((2, 2), (2, 2))))
    with pytest.raises(ValueError, match=r"a has .*unknown chunk sizes.*compute_chunk_sizes"):
        getattr(fastsel.dask, name)(x)


def test_bands_are_at_most_as_large_as_the_blocks(monkeypatch):
    """They may be larger with `whole_rows`, or if MIN_BAND_BYTES is larger than a block."""
    monkeypatch.setattr("fastsel.dask._blocks.MIN_BAND_BYTES", 1)
    from fastsel.dask._blocks import bands

    x = da.zeros((100, 40, 30), chunks=(10, 10, 10))
    assert bands("x", x).chunksize == (1, 10, 30)
    assert bands("x", x, whole_rows=True).chunksize == (1, 40, 30)
    assert bands("x", da.zeros((1, 5000), chunks=(1, 50))).chunksize == (1, 50)
    monkeypatch.setattr("fastsel.dask._blocks.MIN_BAND_BYTES", 8 * 40 * 30 * 5)
    assert bands("x", x).chunksize == (5, 40, 30)


@pytest.mark.parametrize("name", ["flatnonzero", "argwhere", "count_nonzero"])
@pytest.mark.parametrize("item", [0, 7])
def test_0d_arrays_equal_fastsel(name, item):
    a = np.array(item)
    assert_equal(getattr(fastsel.dask, name)(da.from_array(a)), getattr(fastsel, name)(a))


def test_nonzero_of_a_0d_array_is_refused_at_once():
    a = np.array(3)
    assert outcome(fastsel.dask.nonzero, da.from_array(a)) == outcome(np.nonzero, a)


@pytest.mark.parametrize("axis", [2, -3, 1.0, (0, 0), (0, 2)])
def test_wrong_axis_is_refused_at_once(axis):
    a = np.ones((2, 3))
    expected = outcome(np.count_nonzero, a, axis)
    assert expected[0] == "raises"
    assert outcome(fastsel.dask.count_nonzero, da.from_array(a), axis) == expected


def test_structured_items_with_an_axis_are_refused_at_once():
    a = make("struct_plain", (4, 5))
    x = chunked(a, ((2, 2), (3, 2)))
    expected = outcome(np.count_nonzero, a, 0)
    assert expected[0] == "raises"
    assert outcome(fastsel.dask.count_nonzero, x, 0) == expected
    assert_equal(fastsel.dask.count_nonzero(x), fastsel.count_nonzero(a))


@pytest.mark.parametrize("name", NAMES)
def test_masked_blocks_are_refused_at_once(name):
    x = da.ma.masked_equal(da.ones(3), 1)
    with pytest.raises(TypeError, match=r"a must be .* type numpy.ndarray, got .* MaskedArray"):
        getattr(fastsel.dask, name)(x)


@pytest.mark.parametrize("axis", [0, -1, None])
def test_an_axis_of_a_0d_array_is_counted_as_by_numpy(axis):
    for keepdims in (False, True):
        expected = np.count_nonzero(np.array(-2), axis=axis, keepdims=keepdims)
        x = da.from_array(np.array(-2))
        result = fastsel.dask.count_nonzero(x, axis=axis, keepdims=keepdims)
        assert result.compute() == expected


@pytest.mark.parametrize("n", [None, "effective", 2, 3])
@pytest.mark.parametrize("dtype", ["uint32", "int64"])
def test_nonzero_coordinates_equals_fastsel_up_to_count(dtype, n):
    a = make("float32", (1, 7, 9))
    x = chunked(a, ((1,), (3, 4), (5, 4)))
    count, rows = fastsel.dask.nonzero_coordinates(x, n=n, dtype=dtype)
    expected = fastsel.nonzero_coordinates(a, n=n, dtype=dtype)
    assert_equal((count, rows), (expected.count, expected.coordinates[: expected.count]))


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((3, 4), {"n": 1}),
        ((3, 4), {"n": 3}),
        ((3, 4), {"n": 1.5}),
        ((3, 4), {"dtype": "int16"}),
        ((2**32, 1), {}),
    ],
)
def test_wrong_arguments_of_nonzero_coordinates_are_refused_at_once(shape, options):
    a = np.broadcast_to(np.ones((), "i1"), shape)
    x = da.zeros(shape, dtype="i1", chunks=2**30)
    expected = outcome(fastsel.nonzero_coordinates, a, **options)
    assert expected[0] == "raises"
    assert outcome(fastsel.dask.nonzero_coordinates, x, **options) == expected


def test_coordinates_of_unknown_sizes_are_refused_at_once():
    with pytest.raises(ValueError, match="x must have known chunk sizes"):
        fastsel.dask.nonzero_coordinates(of_unknown_sizes(da.ones(4, chunks=2)))


@covering(
    at_least=24,
    shape=[(11,), (5, 6), (3, 4, 5), (1, 20), (0,), (0, 3), (3, 0), ()],
    chunking=CHUNKINGS,
    density=[0, 0.1, 0.6],
)
def test_first_nonzero_of_every_chunking_equals_fastsel(shape, chunking, density):
    a = make("int16", shape, density)
    x = chunked(a, CHUNKINGS[chunking](shape))
    for axis in (None, *range(-a.ndim, a.ndim), (), (0, a.ndim - 1) if a.ndim > 1 else None):
        for keepdims in (False, True):
            expected = fastsel.first_nonzero(a, axis, keepdims=keepdims)
            result = fastsel.dask.first_nonzero(x, axis, keepdims=keepdims)
            assert_declared(result)
            assert_equal(result, expected)


@covering(dtype=DTYPES)
def test_first_nonzero_of_every_dtype_equals_fastsel(dtype):
    a = make(dtype, (7, 9), 0.05)
    x = chunked(a, uneven(a.shape))
    for axis in (None, 0, 1):
        assert_equal(fastsel.dask.first_nonzero(x, axis), fastsel.first_nonzero(a, axis))


def test_first_nonzero_of_unknown_chunk_sizes_equals_fastsel():
    a = make("int64", (20, 3), 0.05)
    x = of_unknown_sizes(chunked(a, ((4, 0, 16), (1, 2))))
    for axis in (None, 0, 1):
        assert_equal(fastsel.dask.first_nonzero(x, axis), fastsel.first_nonzero(a, axis))


@pytest.mark.parametrize("axis", [2, -3, 1.0, (0, 0), (0, 2)])
def test_first_nonzero_refuses_a_wrong_axis_at_once(axis):
    a = np.ones((2, 3))
    expected = outcome(fastsel.first_nonzero, a, axis)
    assert expected[0] == "raises"
    assert outcome(fastsel.dask.first_nonzero, da.from_array(a), axis) == expected


@covering(name=["nonzero", "flatnonzero", "argwhere"], dtype=["i1", "u4", ">i4", "i8"])
def test_indices_have_the_given_dtype(name, dtype):
    a = make("int16", (9, 11))
    x = chunked(a, uneven(a.shape))
    for y in (x, of_unknown_sizes(x.rechunk((3, -1)))):
        result = getattr(fastsel.dask, name)(y, dtype=dtype)
        assert_declared(result)
        assert_equal(result, getattr(fastsel, name)(a, dtype=dtype))
    assert_equal(getattr(fastsel, name)(x, dtype=dtype), getattr(fastsel, name)(a, dtype=dtype))
    with pytest.raises(TypeError, match="integer dtype"):
        getattr(fastsel.dask, name)(x, dtype="f4")


@pytest.mark.parametrize("name", ["nonzero", "flatnonzero", "argwhere"])
def test_indices_that_may_not_fit_the_dtype_raise(name):
    x = da.zeros((300, 2), chunks=(100, 2))
    with pytest.raises(OverflowError, match=r"a has a length of [36]00.*uint8"):
        getattr(fastsel.dask, name)(x, dtype="u1")
    lazy = getattr(fastsel.dask, name)(of_unknown_sizes(x), dtype="u1")
    with pytest.raises(OverflowError, match=r"a has a length of [36]00.*uint8"):
        (lazy[0] if name == "nonzero" else lazy).compute()


@pytest.mark.parametrize("shape", [(0, 5000), (0, 300, 2), (5000, 0)])
def test_arrays_without_items_may_have_long_axes(shape):
    for a in (np.zeros(shape), np.zeros(shape, object)):
        assert_equal(fastsel.dask.argwhere(a), np.argwhere(a))
        assert fastsel.dask.unique(a).compute().size == 0


def test_equal_calls_of_a_0d_array_have_one_name():
    x, results = da.from_array(np.array(5)), []
    for k in range(5):
        results.append(fastsel.dask.first_nonzero(x))
        for number in range(200):  # other contents for memory that is not initialized
            np.full((), 200 * k + number, np.intp)
    assert len({result.name for result in results}) == 1
