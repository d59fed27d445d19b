"""Digests of the results of operators, one for each dtype, on arrays of some layouts.

Run as a script, this module prints a digest for each dtype, as JSON.
"""

import hashlib
import itertools
import json
import warnings
from functools import partial

import numpy as np
import pytest
from arrays import DTYPES, WORD_DTYPES, choose, grouped, in_a_row, make, scattered
from comparison import outcome, value_bytes
from forcing import TUNING
from layouts import LAYOUTS, has_layout
from operators import cases

import fastsel

SHAPE = (9, 89)
CALLS = cases("calls") | cases("calls_for_fewer_dtypes")
UNIQUE_KEYWORDS = [
    {"sorted": False},
    {"return_index": True, "equal_nan": False},
    {"return_counts": True, "axis": 0},
]


def add(digest, result):
    """Add all parts of a result, or of an exception, to the digest."""
    if isinstance(result, tuple):
        for part in (len(result), *result):
            add(digest, part)
    elif not isinstance(result, np.ndarray | np.generic):
        digest.update(repr(result).encode())
    else:
        digest.update(repr((result.dtype, result.shape)).encode())
        has_bytes = result.dtype.char not in "TO"
        digest.update(value_bytes(result) if has_bytes else repr(result.tolist()).encode())


def calls(array, rng):
    """The calls of operators.py with this array, and calls with masks of its shape, and with
    indices, also out of bounds."""
    yield from (partial(call, fastsel, array) for call in CALLS.values())
    for axis in (None, 0, -1):
        yield partial(fastsel.first_nonzero, array[3:][..., ::2], axis)
    yield partial(fastsel.nonzero_coordinates, array, n=array.size, fill_value=-1)
    for density in (0.02, 0.5, 0.95):
        mask = choose(array.size, density, rng).reshape(array.shape)
        yield partial(fastsel.boolean_mask, array, mask)
        yield partial(fastsel.extract, mask, array)
        yield partial(fastsel.compress, mask[0], array, axis=-1)
    yield partial(fastsel.extract, array, array)
    for lengths, width in itertools.product((array.shape[:1], array.shape[:2]), ("i4", "i8")):
        rows = np.stack([rng.integers(-n, n, 67) for n in lengths], -1).astype(width)
        yield partial(fastsel.gather_nd, array, rows)
        rows[41, -1] = -lengths[-1] - 1
        yield partial(fastsel.gather_nd, array, rows)
    yield from (partial(fastsel.unique, array, **keywords) for keywords in UNIQUE_KEYWORDS)
    yield partial(fastsel.group_indices, array, 0, equal_nan=False)
    for subset in (array[::3], array.ravel()[:40]):
        for one, other in ((array, subset), (subset, array)):
            yield partial(fastsel.isin, one, other)
            yield partial(fastsel.index_in, one, other)
            yield partial(fastsel.remap, one, other.ravel(), other.ravel(), default=array.flat[0])
            yield partial(fastsel.remap, one, other.ravel(), np.arange(other.size))
            yield partial(fastsel.intersect1d, one, other, return_indices=True)
        yield partial(fastsel.setxor1d, array, subset)
        yield partial(fastsel.setdiff1d, array, subset)
        yield partial(fastsel.union1d, array, subset)
    yield partial(fastsel.isin, array, array[::3], axis=0)
    yield partial(fastsel.setxor1d, array[..., ::2], array[..., 1:9], axis=-1)


def add_calls(digest, array):
    for call in calls(array, np.random.default_rng(0)):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            add(digest, outcome(call))


def digest_of(dtype_position, name, dtype):
    """The digest for one dtype. Small arrays in at most two layouts reach the kernels of large
    arrays. If the dtype is one of WORD_DTYPES, arrays of 700 and of 20,000 items are added."""
    digest = hashlib.sha256()
    with pytest.MonkeyPatch.context() as patch:
        for threshold, value in TUNING:
            patch.setattr(threshold, value)
        for layout in [*LAYOUTS][dtype_position % 7 :: 7]:
            if has_layout(dtype, layout):
                for array in (make(dtype, SHAPE, 0.3), grouped(dtype, 801, 30).reshape(SHAPE)):
                    add_calls(digest, LAYOUTS[layout](array))
    if name in WORD_DTYPES:
        for groups, make_items in ((40, scattered), (2000, in_a_row), (20_000, scattered)):
            add_calls(digest, grouped(dtype, 700, groups, make_items=make_items))
            rows = grouped(dtype, 20_000, groups, make_items=make_items).reshape(-1, 20)
            add_calls(digest, rows)
    return digest.hexdigest()


if __name__ == "__main__":
    dtypes = enumerate(DTYPES.items())
    print(
        json.dumps(
            {
                name: digest_of(dtype_position, name, dtype)
                for dtype_position, (name, dtype) in dtypes
            }
        )
    )
