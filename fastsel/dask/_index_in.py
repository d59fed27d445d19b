"""index_in of dask arrays, block by block."""

from __future__ import annotations

from typing import SupportsIndex

import dask.array as da
import numpy as np
from dask.base import tokenize

import fastsel
from fastsel._sets._axis import checked_axis_of_shapes
from fastsel.dask._blocks import (
    DaskArrayLike,
    array_of,
    bands,
    blocks,
    checked_array,
    one_block,
    task,
)
from fastsel.dask._unique import unique


def index_in(
    element: DaskArrayLike, test_elements: DaskArrayLike, axis: SupportsIndex | None = None
) -> da.Array:
    """Where each item of a dask array first occurs among the test elements; -1 where it does not.

    Parameters
    ----------
    element : dask array or array_like, any shape, any chunks
        Any dtype.
    test_elements : dask array or array_like, any shape, any chunks
        Any dtype. If this is a dask array, its distinct values are found first.
    axis : int, optional
        Look for slices along this axis, as `fastsel.index_in` does.

    Returns
    -------
    dask array of intp, shape and chunks of `element`, or (length of the axis,)
        Positions in the whole of `test_elements`, flattened or along the axis. The result equals
        ``fastsel.index_in(...)``.

    Raises
    ------
    AxisError, TypeError, ValueError
        When called, as `fastsel.index_in`, or if the blocks are not NumPy arrays.
    ValueError
        With `axis`, when called, if an array has several blocks along another axis and unknown
        chunk sizes; when computed, if lengths along another axis that were unknown differ.
    TypeError
        When computed, if objects of a dask array of test elements have neither a hash nor an order.

    Notes
    -----
    The task of each block holds all test elements, or the distinct ones if they are a dask array.
    Objects of such a dask array must have a hash or an order, as for ``unique(sorted=False)``. With
    `axis`, dask arrays are rechunked so that no slice is divided.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> x = da.from_array([3, 1, 3, 2], chunks=2)
    >>> fastsel.dask.index_in(x, [1, 2]).compute()
    array([-1,  0, -1,  1])
    >>> fastsel.dask.index_in([2, 9], x).compute()
    array([ 3, -1])
    """
    x = checked_array("element", element)
    is_lazy = isinstance(test_elements, da.Array)
    tests = (checked_array if is_lazy else one_block)("test_elements", test_elements)
    if axis is not None:
        axis = checked_axis_of_shapes(axis, element=x.shape, test_elements=tests.shape)
    if axis is not None:
        few = (np.zeros((1, 1), array.dtype) for array in (x, tests))
        fastsel.index_in(*few, axis=0)  # raises the errors of the dtypes
        x = bands("element", np.moveaxis(x, axis, 0), whole_rows=True)
    found = unique(tests, return_index=True, axis=axis, sorted=False) if is_lazy else [tests]
    sources = [(array.name, *(0,) * array.ndim) for array in found]
    name = f"fastsel-index-in-{tokenize(x.name, found[0].name, axis)}"
    axes = x.ndim if axis is None else 1
    tasks = {
        (name, *block[:axes]): task(_index_in_block, key, *sources, axis=axis)
        for block, key in blocks(x).items()
    }
    return array_of(name, tasks, x.chunks[:axes], np.intp, x, *found)


def _index_in_block(block, tests, index=None, axis=None):
    if axis is not None:  # the blocks have the axis first
        tests = np.moveaxis(tests, axis, 0)
    found = fastsel.index_in(block, tests, None if axis is None else 0)
    if index is not None:
        is_found = found >= 0
        found[is_found] = index[found[is_found]]
    return found
