"""remap of dask arrays, block by block."""

from __future__ import annotations

import dask.array as da
import numpy as np
from dask.base import tokenize

import fastsel
from fastsel._core import _gate
from fastsel._sets._remap import NO_DEFAULT, as_stored, check_default, check_keys, missing
from fastsel.dask._blocks import (
    DaskArrayLike,
    array_of,
    blocks,
    checked_array,
    locations,
    one_block,
    rechunked,
    task,
    unknown,
)


def remap(
    a: DaskArrayLike,
    keys: DaskArrayLike,
    values: DaskArrayLike,
    *,
    default: DaskArrayLike = NO_DEFAULT,
) -> da.Array:
    """A dask array with each item replaced: an item that equals ``keys[j]`` becomes ``values[j]``.

    Parameters
    ----------
    a : dask array or array_like, any shape, any chunks
        Any dtype.
    keys : dask array or array_like, shape (n,)
        Any dtype. If keys are equal, the first one counts.
    values : dask array or array_like, shape (n, ...)
        A value, or a row of values, for each key. Any dtype.
    default : dask array or array_like, optional
        The value for items that are not among the keys, as in `fastsel.remap`; ``default=a`` keeps
        these items. If chunk sizes of `a` are unknown, a single value, a single row, or a dask
        array with the blocks of the result.

    Returns
    -------
    dask array of the dtype of `values`, shape a.shape + values.shape[1:]
        The chunks are those of `a`, and one chunk along each later axis. The result equals
        ``fastsel.remap(...)``.

    Raises
    ------
    ValueError, TypeError
        When called, as `fastsel.remap`, if the blocks are not NumPy arrays, or if `keys` or
        `values` have several chunks of unknown sizes. When computed, if the dtype of `values`
        cannot hold a default of a dask array without dimensions, or if chunk sizes are unknown and
        a block of `default` has another shape than the block of the result.
    ValueError
        When computed, if there is no default and an item is not among the keys. The message names
        the first such item of a block, and its position in the whole `a`.

    Notes
    -----
    The task of each block holds all keys and values.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> x = da.from_array([3, 1, 3, 2], chunks=2)
    >>> fastsel.dask.remap(x, [1, 2, 3], [10, 20, 30]).compute()
    array([30, 10, 30, 20])
    >>> fastsel.dask.remap(x, [3], [0], default=x).compute()
    array([0, 1, 0, 2])
    """
    x, keys, values = checked_array("a", a), one_block("keys", keys), one_block("values", values)
    if not any(map(unknown, keys.chunks + values.chunks)):
        check_keys(keys, values)
    shape, rows = x.shape + values.shape[1:], values.chunks[1:]
    defaults, options = None, {}
    if default is not NO_DEFAULT:
        defaults, options = _defaults(default, x, values, shape)
    token = defaults
    if "default" in options:  # dask would join the strings of an array of objects by "-"
        token = str(options["default"].dtype), options["default"].tolist()
    name = f"fastsel-remap-{tokenize(x.name, keys.name, values.name, token)}"
    places, tasks = locations(x, name)
    for block, key in blocks(x).items():
        block_of_result = (*block, *(0,) * len(rows))
        sources = [key, (keys.name, 0), (values.name, *(0,) * values.ndim), places[block]]
        if defaults is not None:
            is_one = defaults.ndim < values.ndim
            sources.append((defaults.name, *((0,) * defaults.ndim if is_one else block_of_result)))
        tasks[(name, *block_of_result)] = task(_remap_block, *sources, **options)
    sources = [array for array in (x, keys, values, defaults) if array is not None]
    return array_of(name, tasks, x.chunks + rows, values.dtype, *sources)


def _defaults(default, x, values, shape):
    """(defaults, options): the defaults as a dask array, of one block if they are one value, or
    row, for all items, otherwise with the blocks of the result; or None, and the default as an
    option of each task."""
    if not isinstance(default, da.Array):
        default = _gate.as_array("default", as_stored(default, values.dtype))
        default = default.copy()  # the caller may change it before the result is computed
        if default.ndim < values.ndim:
            check_default(default, values.dtype, values.shape[1:])
            return None, {"default": default}
    defaults = checked_array("default", default)
    is_one, sizes = defaults.ndim < values.ndim, x.chunks + values.chunks[1:]
    known = not any(map(unknown, defaults.chunks + (values.chunks[1:] if is_one else sizes)))
    if defaults.ndim > 0:
        sample = defaults._meta
        if known:
            sample = np.broadcast_to(np.empty(1, defaults.dtype), defaults.shape)
        broadcast_shape = values.shape[1:] if is_one else shape
        check_default(sample, values.dtype, broadcast_shape if known else sample.shape)
    if is_one:
        return one_block("default", defaults), {}
    if known:
        return rechunked(da.broadcast_to(defaults, shape), sizes), {}
    numblocks = x.numblocks + values.numblocks[1:]
    if defaults.numblocks != numblocks:
        raise ValueError(
            f"default must have the blocks of the result, {numblocks}, where chunk sizes are "
            f"unknown, got {defaults.numblocks}"
        )
    return defaults, {"exact": True}


def _remap_block(block, keys, values, location, *defaults, exact=False, **options):
    if defaults:
        options["default"] = default = defaults[0]
        shape = block.shape + values.shape[1:]
        if exact and default.shape != shape:
            raise ValueError(
                f"each block of default must have the shape of the block of the result: got "
                f"{default.shape} and {shape}"
            )
    try:
        return fastsel.remap(block, keys, values, **options)
    except ValueError:
        is_missing = fastsel.index_in(block, keys) < 0
        if options or not is_missing.any():
            raise
        raise missing(block, is_missing.argmax(), location.start) from None
