"""compress, extract and boolean_mask on dask arrays."""

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
    CHUNKINGS,
    assert_declared,
    assert_equal,
    chunked,
    chunkings,
    of_unknown_sizes,
    uneven,
)

import fastsel.dask  # noqa: E402


@pytest.mark.parametrize("dtype", every_third(DTYPES, 1))
def test_every_dtype_equals_fastsel(dtype):
    a, mask = make(dtype, (7, 9)), make("bool", (7, 9)) == 1
    x, m = chunked(a, uneven(a.shape)), chunked(mask, ((7,), (4, 5)))
    assert_equal(fastsel.dask.boolean_mask(x, m), fastsel.boolean_mask(a, mask))
    assert_equal(fastsel.dask.extract(x, x), fastsel.extract(a, a))
    condition = a[:, 0].copy()
    for given_condition in (condition, chunked(condition, ((3, 4),))):
        assert_equal(
            fastsel.dask.compress(given_condition, x, 0), fastsel.compress(condition, a, 0)
        )


@settings(max_examples=settings().max_examples // 2)
@given(data=st.data())
def test_any_chunks_equal_numpy(data):
    shape = tuple(data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=3)))
    a = make("int32", shape)
    x = chunked(a, data.draw(chunkings(shape)))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))

    def in_memory_or_not(array):
        return data.draw(
            st.sampled_from([array, chunked(array, data.draw(chunkings(array.shape)))])
        )

    mask = rng.random(shape[: data.draw(st.integers(1, len(shape)))]) < 0.5
    result = fastsel.dask.boolean_mask(x, in_memory_or_not(mask))
    assert_equal(result, a[mask])
    assert_declared(result)
    axis = data.draw(st.sampled_from([None, *range(-len(shape), len(shape))]))
    size = a.size if axis is None else shape[axis]
    condition = rng.random(data.draw(st.integers(0, size + 3))) < 0.5
    condition[size:] = False
    result = fastsel.dask.compress(in_memory_or_not(condition), x, axis)
    assert_equal(result, np.compress(condition, a, axis))
    assert_declared(result)
    flat = in_memory_or_not(condition[: a.size])
    assert_equal(fastsel.dask.extract(flat, x), np.extract(condition[: a.size], a))


@pytest.mark.parametrize("chunking", CHUNKINGS)
def test_condition_that_selects_beyond_the_end_raises(chunking):
    a = np.arange(12).reshape(3, 4)
    x = chunked(a, CHUNKINGS[chunking](a.shape))
    condition = np.array([0, 1, 0, 0, 0, 1, 1], bool)
    for axis in (0, 1):
        expected = outcome(np.compress, condition, a, axis)
        assert expected[0] == "raises"
        assert outcome(fastsel.dask.compress, condition, x, axis) == expected
        lazy = fastsel.dask.compress(chunked(condition, ((3, 4),)), x, axis)
        with pytest.raises(IndexError, match=f"beyond the end of axis {axis} with size"):
            lazy.compute()
    expected = outcome(np.extract, np.ones(13), a)
    assert outcome(fastsel.dask.extract, np.ones(13), x) == expected


@pytest.mark.parametrize("dtype", ["f8", "U3", "M8[s]", "i4,f8", object], ids=str)
def test_condition_may_select_beyond_the_end_of_an_array_without_items(dtype):
    """NumPy reads nothing if an axis before the one of the slices has length 0."""
    for shape, axis in (((0, 1), 1), ((0, 0), 1), ((0, 1, 3), -2), ((3, 0, 2), 2), ((0, 2, 0), 1)):
        for condition in ([0, 1], [1, 0, 1], [0, 0, 0, 0], [1]):
            a, expected = np.empty(shape, dtype), np.compress(condition, np.empty(shape), axis)
            lazy = chunked(np.array(condition), ((1, len(condition) - 1),))
            for given_condition in (condition, np.array(condition), lazy):
                for x in (da.from_array(a, chunks=1), da.from_array(a, chunks=a.shape)):
                    result = fastsel.dask.compress(given_condition, x, axis)
                    assert_equal(result, expected.astype(dtype))
                    assert_declared(result)
    for shape, axis in (((1, 0), 0), ((0, 1), 0), ((3, 0, 0), 1)):
        with pytest.raises(IndexError):
            fastsel.dask.compress([0, 0, 1], da.zeros(shape), axis).compute()


@pytest.mark.parametrize("length", [0, 3])
def test_lazy_conditions_of_an_array_with_an_inner_axis_of_length_0_select_nothing(length):
    x = da.zeros((2, 0, 5), chunks=(1, 1, 5))
    condition = da.zeros(length, dtype=bool, chunks=2)
    assert_equal(fastsel.dask.extract(condition, x), np.zeros(0))
    assert_equal(fastsel.dask.compress(condition, x), np.zeros(0))
    with pytest.raises(IndexError, match="selects beyond the end"):
        fastsel.dask.extract(da.ones(3, dtype=bool, chunks=2), x).compute()


def test_one_selected_item_has_one_chunk():
    """dask broadcasts an axis of length 1 by its first chunk."""
    a = np.arange(12).reshape(4, 3)
    x = da.from_array(a, chunks=(1, 2))
    for k in range(4):
        mask = np.arange(4) == k
        for result in (fastsel.dask.boolean_mask(x, mask), fastsel.dask.compress(mask, x, axis=0)):
            assert result.chunks == ((1,), (2, 1))
            assert_equal(result + a, a[mask] + a)
    columns = fastsel.dask.compress([False, False, True], x, axis=1)
    assert_equal(columns + a, a[:, 2:] + a)


def test_a_masked_condition_counts_without_its_mask():
    condition = np.ma.array([1, 0, 1, 1], mask=[1, 0, 0, 0], dtype=bool)
    x = da.from_array(np.arange(5, 9), chunks=2)
    assert_equal(fastsel.dask.compress(condition, x), np.array([5, 7, 8]))


def test_lengths_are_known_if_the_condition_is_in_memory():
    x = da.zeros((6, 4), chunks=2)
    assert fastsel.dask.compress([0, 1, 1, 1, 0, 0], x, 0).chunks == ((1, 2, 0), (2, 2))
    assert fastsel.dask.boolean_mask(x, np.ones((6, 4), bool)).shape == (24,)
    assert np.isnan(fastsel.dask.boolean_mask(x, x == 0).shape[0])


@pytest.mark.parametrize(
    "condition",
    [[1, 0, 1], (0.0, 0.5, 1), ["", "a", ""], [], [[1]], None, 1, "abc"],
    ids=str,
)
def test_array_like_conditions_equal_fastsel(condition):
    a = np.arange(3)
    expected = outcome(fastsel.compress, condition, a)
    ours = outcome(fastsel.dask.compress, condition, da.from_array(a, chunks=2))
    if expected[0] == "raises":
        assert ours == expected
    else:
        assert_equal(ours[1], expected[1])


@pytest.mark.parametrize("length", [0, 1, 2, 4, 5])
def test_a_shorter_condition_that_is_a_dask_array_equals_numpy(length):
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="needs pip install ml_dtypes")
    a = np.arange(10).reshape(5, 2)
    x = da.from_array(a, chunks=(2, 1))
    for dtype in (bool, ml_dtypes.float8_e8m0fnu):  # which has no zero
        condition = da.ones(length, chunks=3, dtype=dtype)
        assert_equal(fastsel.dask.compress(condition, x, 0), a[:length])
        assert_equal(fastsel.dask.extract(condition, x), a.ravel()[:length])
    hidden = x.map_blocks(np.asarray, chunks=(x.chunks[0], (np.nan, np.nan)), meta=x._meta)
    assert_equal(fastsel.dask.compress(da.ones(length, dtype=bool), hidden, 0), a[:length])


def test_nonzero_items_of_a_condition_select():
    a = np.arange(4.0)
    for condition in (np.array([0, -0.0, np.nan, 2]), np.array(["", " ", "0", ""]), a > 1):
        for given_condition in (chunked(condition, ((1, 3),)), condition):
            result = fastsel.dask.compress(given_condition, da.from_array(a, chunks=3))
            assert_equal(result, np.compress(condition, a))


@pytest.mark.parametrize("axis", [2, -3, 1.0, "0"])
def test_wrong_axis_is_refused_at_once(axis):
    a = np.ones((2, 3))
    expected = outcome(np.compress, [1], a, axis)
    assert expected[0] == "raises"
    assert outcome(fastsel.dask.compress, [1], da.from_array(a), axis) == expected


def test_compress_of_a_0d_array_equals_numpy():
    a = np.array(5)
    for axis in (None, 0, -1):
        assert_equal(fastsel.dask.compress([1], da.from_array(a), axis), np.compress([1], a, axis))


@pytest.mark.parametrize(
    "mask",
    [
        np.ones((3, 2), bool),
        np.ones(2, bool),
        np.ones((2, 3, 1), bool),
        np.zeros((5, 0), bool),
        [1, 0],
        [0.5, 1.0],
    ],
    ids=str,
)
def test_wrong_masks_are_refused_at_once(mask):
    a = np.ones((4, 3))
    assert outcome(fastsel.boolean_mask, a, mask)[:2] == ("raises", IndexError)
    for given_mask in (mask, da.from_array(mask)):
        with pytest.raises(IndexError):
            fastsel.dask.boolean_mask(da.from_array(a), given_mask)


@pytest.mark.parametrize("shown", [(True, False), (False, True), (False, False)], ids=str)
def test_a_mask_of_another_shape_is_refused_if_sizes_are_unknown(shown):
    arrays = [da.from_array(np.ones((3, 2))), da.from_array(np.ones((2, 3), bool))]
    arrays = [x if known else of_unknown_sizes(x) for x, known in zip(arrays, shown, strict=True)]
    with pytest.raises(IndexError):
        fastsel.dask.boolean_mask(*arrays).compute()


def test_a_mask_of_other_chunks_is_refused_if_sizes_are_unknown():
    x = of_unknown_sizes(da.from_array(np.ones((4, 1)), chunks=(2, 1)))
    mask = da.from_array(np.ones((1, 4), bool), chunks=(1, 2))
    with pytest.raises((IndexError, ValueError)):
        fastsel.dask.boolean_mask(x, of_unknown_sizes(mask)).compute()


def test_a_list_of_empty_lists_is_an_empty_mask():
    assert_equal(fastsel.dask.boolean_mask(da.zeros((5, 0)), [[]] * 5), np.zeros(0))


@pytest.mark.parametrize("mask", [np.zeros((0, 3), bool), np.zeros(0, bool), [], True, False])
def test_masks_that_numpy_accepts_equal_numpy(mask):
    a = np.arange(6).reshape(2, 3)
    x = da.from_array(a, chunks=1)
    assert_equal(fastsel.dask.boolean_mask(x, mask), a[np.array(mask, bool)])
    assert_equal(
        fastsel.dask.boolean_mask(x, da.from_array(np.array(mask, bool))), a[np.array(mask, bool)]
    )


def test_unknown_chunk_sizes_equal_numpy():
    a = make("int64", (20, 3))
    x = of_unknown_sizes(chunked(a, ((4, 0, 16), (3,))))
    assert_equal(fastsel.dask.boolean_mask(x, x > 1), a[a > 1])
    assert_equal(fastsel.dask.boolean_mask(x, x[:, 0] > 1), a[a[:, 0] > 1])
    assert_equal(fastsel.dask.extract(x, x), np.extract(a, a))
    assert_equal(fastsel.dask.compress(x[:, 1], x, 0), np.compress(a[:, 1], a, 0))
    assert_equal(fastsel.dask.compress([1, 0, 1], x, 1), np.compress([1, 0, 1], a, 1))


def test_chunk_sizes_that_are_unknown_but_needed_raise():
    x = of_unknown_sizes(da.ones(6, chunks=2))
    with pytest.raises(ValueError, match="along axis 0 are unknown"):
        fastsel.dask.compress([1, 0], x)
    with pytest.raises(ValueError, match="same chunks as axis 0, where sizes are unknown"):
        fastsel.dask.boolean_mask(x, da.ones(6, dtype=bool, chunks=3))
    shorter = x[of_unknown_sizes(da.ones(6, chunks=2)) > 1]
    with pytest.raises(IndexError, match="in one of the blocks"):
        fastsel.dask.boolean_mask(x, shorter > 0).compute()
