"""Dask arrays for the tests: the same array in many chunkings."""

import dask
import dask.array as da
import numpy as np
from comparison import assert_same
from hypothesis import strategies as st


def one_chunk(shape):
    return tuple((size,) for size in shape)


def one_item_chunks(shape):
    return tuple((1,) * size or (0,) for size in shape)


def uneven(shape):
    """Chunks of 1, 2, 3, ... items, and a last chunk of the items that remain."""
    return tuple(_growing(size) for size in shape)


def with_empty(shape):
    """Empty chunks at the start, in the middle and at the end."""
    return tuple((0, size // 2, 0, size - size // 2, 0) for size in shape)


def _growing(size):
    sizes, next_size = [], 1
    while size > 0:
        sizes.append(min(next_size, size))
        size -= next_size
        next_size += 1
    return tuple(sizes) or (0,)


CHUNKINGS = {
    "one": one_chunk,
    "single": one_item_chunks,
    "uneven": uneven,
    "empty": with_empty,
}


@st.composite
def chunkings(draw, shape):
    """Any chunks, also empty ones, of an array of this shape with at most four axes: up to three
    along an axis, or two if the array has three or four axes."""
    max_cuts = 3 - (len(shape) + 1) // 2
    return tuple(
        tuple(
            np.diff(
                [0, *sorted(draw(st.lists(st.integers(0, size), max_size=max_cuts))), size]
            ).tolist()
        )
        for size in shape
    )


def chunked(a, chunks):
    """`a` as a dask array, whose name is random, not a hash of its items."""
    return da.from_array(a, chunks=chunks, name=False)


def of_unknown_sizes(x):
    """A dask array of the same items, whose chunk sizes along the first axis are unknown."""
    return x[da.ones(x.shape[0], dtype=bool, chunks=(x.chunks[0],))]


def computed(result):
    """The result with its dask arrays computed together."""
    if isinstance(result, tuple):
        parts = dask.compute(*result)
        return type(result)(*parts) if hasattr(result, "_fields") else parts
    return dask.compute(result)[0]


def checked(*arrays):
    """The dask arrays, computed together. Each block must be a NumPy array or scalar of the dtype
    and the chunk sizes of its dask array, as far as these are known."""
    kept = dask.persist(*arrays)
    for x in kept:
        assert type(x._meta) is np.ndarray, type(x._meta)
        for place in np.ndindex(x.numblocks):
            block = x.dask[x.name, *place]
            assert isinstance(block, np.ndarray | np.generic), type(block)
            assert block.dtype == x.dtype, (block.dtype, x.dtype)
            sizes = [along[k] for along, k in zip(x.chunks, place, strict=True)]
            assert np.ndim(block) == len(sizes)
            assert np.all((np.array(sizes) == block.shape) | np.isnan(sizes)), (sizes, block.shape)
    return dask.compute(*kept)


def assert_declared(result):
    """Check each block of the dask arrays, as `checked` does."""
    checked(*(result if isinstance(result, tuple) else (result,)))


def assert_equal(result, expected):
    """Check that a computed dask result equals the expected array, or tuple of arrays; a scalar
    equals a 0-d array."""
    found = computed(result)
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for ours, theirs in zip(found, expected, strict=True):
            assert_same(np.asarray(ours), np.asarray(theirs))
    else:
        assert_same(np.asarray(found), np.asarray(expected))
