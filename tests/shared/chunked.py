"""Dask arrays for the tests: the same array in many chunkings, computed on each scheduler."""

import dask
import dask.array as da
import numpy as np
from comparison import assert_same
from hypothesis import strategies as st


def even(shape):
    return tuple((size,) for size in shape)


def single(shape):
    """Chunks of one item."""
    return tuple((1,) * size or (0,) for size in shape)


def uneven(shape):
    """Chunks of 1, 2, 3, ... and what is left."""
    return tuple(_growing(size) for size in shape)


def with_empty(shape):
    """Empty chunks at the start, in the middle and at the end."""
    return tuple((0, size // 2, 0, size - size // 2, 0) for size in shape)


def _growing(size):
    found, piece = [], 1
    while size > 0:
        found.append(min(piece, size))
        size -= piece
        piece += 1
    return tuple(found) or (0,)


CHUNKINGS = {"one": even, "single": single, "uneven": uneven, "empty": with_empty}


@st.composite
def chunkings(draw, shape):
    """Any chunks of an array of this shape, up to three or two along an axis, empty ones too."""
    most = 3 - (len(shape) + 1) // 2
    return tuple(
        tuple(
            np.diff(
                [0, *sorted(draw(st.lists(st.integers(0, size), max_size=most))), size]
            ).tolist()
        )
        for size in shape
    )


def chunked(a, chunks):
    """`a` as a dask array, without copies or names that depend on its items."""
    return da.from_array(a, chunks=chunks, name=False)


def of_unknown_sizes(x):
    """The same dask array; what its sizes are along the first axis shows when it is computed."""
    return x[da.ones(x.shape[0], dtype=bool, chunks=(x.chunks[0],))]


def computed(result):
    """A result with its dask arrays computed together, on the scheduler of the test."""
    if isinstance(result, tuple):
        parts = dask.compute(*result)
        return type(result)(*parts) if hasattr(result, "_fields") else parts
    return dask.compute(result)[0]


def assert_declared(result):
    """The computed result has the chunks, dimensions and dtype that the graph declares."""
    for x in result if isinstance(result, tuple) else (result,):
        whole = dask.compute(x)[0]
        assert np.ndim(whole) == x.ndim
        assert np.asarray(whole).dtype == x.dtype
        for sizes, size in zip(x.chunks, np.shape(whole), strict=True):
            assert np.isnan(sum(sizes)) or sum(sizes) == size


def assert_equal(result, expected):
    """A dask result, computed, is the same as an array; 0-d arrays and scalars are the same."""
    found = computed(result)
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for ours, theirs in zip(found, expected, strict=True):
            assert_same(np.asarray(ours), np.asarray(theirs))
    else:
        assert_same(np.asarray(found), np.asarray(expected))
