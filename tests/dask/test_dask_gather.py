"""gather_nd on dask arrays: data in any chunks, and indices in any chunks or in memory."""

import numpy as np
import pytest
from arrays import DTYPES, make
from comparison import outcome
from grids import every_third
from hypothesis import given, settings
from hypothesis import strategies as st

import fastsel

da = pytest.importorskip("dask.array", reason='needs pip install "dask[array]" distributed')
from chunked import (  # noqa: E402
    assert_declared,
    assert_equal,
    chunked,
    chunkings,
    of_unknown_sizes,
    uneven,
)

import fastsel.dask  # noqa: E402


def index_rows(rng, shape, rows, depth, batch_dims=0):
    """Random index rows within bounds; some indices are negative."""
    sizes = shape[batch_dims : batch_dims + depth]
    return np.stack([rng.integers(-size, size, rows) for size in sizes], axis=-1)


@pytest.mark.parametrize("dtype", every_third(DTYPES, 0))
@pytest.mark.parametrize("chunked_indices", [False, True])
def test_every_dtype_equals_fastsel(dtype, chunked_indices):
    if dtype == "StringDType" and np.lib.NumpyVersion(np.__version__) < "2.3.0":
        pytest.skip("before 2.3, NumPy's indexing mixes up strings if each slice is one string")
    a = make(dtype, (6, 5, 3))
    indices = index_rows(np.random.default_rng(0), a.shape, (4, 7), 2)
    x = chunked(a, uneven(a.shape))
    rows = chunked(indices, uneven(indices.shape)) if chunked_indices else indices
    assert_equal(fastsel.dask.gather_nd(x, rows), fastsel.gather_nd(a, indices))


@settings(max_examples=settings().max_examples // 2)
@given(data=st.data())
def test_any_chunks_equal_fastsel(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)))
    batch_dims = data.draw(st.integers(0, len(shape) - 1))
    depth = data.draw(st.integers(1, len(shape) - batch_dims))
    rows = shape[:batch_dims] + tuple(data.draw(st.lists(st.integers(0, 5), max_size=2)))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    indices = index_rows(rng, shape, rows, depth, batch_dims)
    a = make("int64", shape)
    x = chunked(a, data.draw(chunkings(shape)))
    expected = fastsel.gather_nd(a, indices, batch_dims)
    for given_indices in (indices, chunked(indices, data.draw(chunkings(indices.shape)))):
        result = fastsel.dask.gather_nd(x, given_indices, batch_dims)
        assert_equal(result, expected)
        assert_declared(result)


@pytest.mark.parametrize("dtype", ["i1", "u1", ">i4", "u8", "i8"])
def test_indices_of_any_integer_dtype_equal_numpy(dtype):
    a = np.arange(100)
    indices = np.array([[3], [99], [0]], dtype)
    x = da.from_array(a, chunks=30)
    for rows in (indices, da.from_array(indices, chunks=2)):
        assert_equal(fastsel.dask.gather_nd(x, rows), a[[3, 99, 0]])


@pytest.mark.parametrize("index", [5, -6, 2**40])
def test_index_out_of_bounds_raises_the_error_of_fastsel(index):
    a = np.ones((4, 5))
    indices = np.zeros((3, 6, 2), int)
    indices[2, 4, 1] = index
    x = da.from_array(a, chunks=2)
    expected = outcome(fastsel.gather_nd, a, indices)
    assert expected[1] is IndexError
    assert outcome(fastsel.dask.gather_nd, x, indices) == expected
    lazy = fastsel.dask.gather_nd(x, da.from_array(indices, chunks=2))
    assert outcome(lazy.compute) == expected


def test_unsigned_index_beyond_int64_raises_the_error_of_fastsel():
    x = da.from_array(np.arange(4), chunks=2)
    expected = outcome(fastsel.gather_nd, np.arange(4), np.array([[2**63]], "u8"))
    assert expected[:2] == ("raises", IndexError)
    assert outcome(fastsel.dask.gather_nd, x, np.array([[2**63]], "u8")) == expected


@pytest.mark.parametrize(
    ("shape", "indices", "batch_dims"),
    [
        ((3, 4), np.zeros((2, 3), int), 0),
        ((3, 4), np.zeros((2, 0), int), 0),
        ((3, 4), np.zeros((2, 1), int), 1),
        ((3, 4), np.zeros((2, 1), int), 2),
        ((3, 4), np.zeros((2, 1), int), 0.5),
        ((3, 4), np.zeros((2, 1)), 0),
        ((3, 4), np.array(0), 0),
        ((), np.zeros((2, 1), int), 0),
    ],
)
def test_wrong_arguments_are_refused_at_once(shape, indices, batch_dims):
    a = np.ones(shape)
    expected = outcome(fastsel.gather_nd, a, indices, batch_dims)
    assert expected[0] == "raises"
    for rows in (indices, da.from_array(indices)):
        assert outcome(fastsel.dask.gather_nd, da.from_array(a), rows, batch_dims) == expected


def test_unknown_chunk_sizes_are_refused_at_once():
    x = of_unknown_sizes(da.ones(4, chunks=2))
    finds_them = r"compute_chunk_sizes\(\) finds them$"
    with pytest.raises(
        ValueError, match=f"^data must have known chunk sizes .* 0: data.{finds_them}"
    ):
        fastsel.dask.gather_nd(x, [[0]])
    rows = x.astype(int)
    text = f"^indices must have known chunk sizes .* {{}}: indices.{finds_them}"
    with pytest.raises(ValueError, match=text.format(1)):
        fastsel.dask.gather_nd(da.ones(4), rows[np.newaxis])
    with pytest.raises(ValueError, match=text.format(0)):
        fastsel.dask.gather_nd(da.ones((4, 4)), rows[:, np.newaxis], 1)


@pytest.mark.parametrize("dtype", ["int64", "U3", "object"])
@pytest.mark.parametrize("shape", [(30,), (7, 9), (4, 5, 6), (0, 3), (3, 0)])
def test_rows_of_unknown_number_equal_fastsel(dtype, shape):
    """The rows of argwhere and of nonzero gather the items that are not zero."""
    a = make(dtype, shape)
    x = chunked(a, uneven(shape))
    stacked = da.stack(fastsel.dask.nonzero(x), axis=-1, allow_unknown_chunksizes=True)
    for rows in (fastsel.dask.argwhere(x), stacked):
        assert np.isnan(rows.shape[0])
        result = fastsel.dask.gather_nd(x, rows)
        assert_equal(result, fastsel.gather_nd(a, fastsel.argwhere(a)))
        assert_declared(result)
    slices = fastsel.dask.gather_nd(x, fastsel.dask.argwhere(x)[:, :1])
    assert_equal(slices, fastsel.gather_nd(a, fastsel.argwhere(a)[:, :1]))


def test_rows_of_unknown_number_within_batches_equal_fastsel():
    a, indices = np.arange(24).reshape(4, 6), np.arange(4 * 5).reshape(4, 5, 1) % 6
    selected = da.from_array(indices, chunks=(2, 2, 1))
    rows = fastsel.dask.compress(da.arange(5, chunks=2) % 2 == 0, selected, 1)
    assert np.isnan(rows.shape[1])
    result = fastsel.dask.gather_nd(da.from_array(a, chunks=(3, 2)), rows, 1)
    assert_equal(result, fastsel.gather_nd(a, indices[:, ::2], 1))


def test_index_out_of_bounds_in_a_block_of_unknown_size_is_named_within_its_block():
    a = np.arange(8)
    rows = fastsel.dask.argwhere(da.from_array(a, chunks=4))
    lazy = fastsel.dask.gather_nd(da.from_array(a[:7], chunks=3), rows)
    text = r"index 7 at position \(3, 0\) of block \(1,\) of indices .* axis 0 .* size 7"
    with pytest.raises(IndexError, match=text):
        lazy.compute()


def test_a_batch_of_length_0_gathers_nothing():
    indices = np.zeros((0, 4, 1), int)
    for rows in (indices, da.from_array(indices, chunks=2)):
        result = fastsel.dask.gather_nd(da.zeros((0, 9), chunks=3), rows, 1)
        assert_equal(result, np.zeros((0, 4)))


def test_blocks_that_no_index_addresses_are_not_computed():
    def fail_beyond(block, block_info):
        if block_info[0]["chunk-location"] != (1,):
            raise AssertionError("this block is not needed")
        return block

    x = da.arange(12, chunks=4).map_blocks(fail_beyond, dtype=int, meta=np.empty(0, int))
    assert fastsel.dask.gather_nd(x, [[5], [4]]).compute().tolist() == [5, 4]


def test_strings_that_are_longer_than_declared_are_whole():
    """A dask array may declare a dtype that its blocks outgrow."""
    x = da.from_array(np.arange(6), chunks=2).map_blocks(
        lambda block: np.array(["x" * (k + 1) for k in block]), dtype="U1"
    )
    assert fastsel.dask.gather_nd(x, [[5], [0]]).compute().tolist() == ["xxxxxx", "x"]
