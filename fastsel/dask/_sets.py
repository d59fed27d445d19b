"""isin of dask arrays, block by block, and the set functions, from the distinct values of each
array."""

from __future__ import annotations

from typing import Any, Literal, SupportsIndex, overload

import dask.array as da
import numpy as np
from dask.base import tokenize

import fastsel
from fastsel._core import _numpy
from fastsel._sets._axis import checked_axis_of_shapes
from fastsel.dask._blocks import (
    DaskArrayLike,
    array_of,
    bands,
    blocks,
    checked_array,
    one_axis,
    one_block,
    stand_in,
    task,
)
from fastsel.dask._selection import boolean_mask, compress
from fastsel.dask._unique import unique


def isin(
    element: DaskArrayLike,
    test_elements: DaskArrayLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: Literal["sort", "table"] | None = None,
    axis: SupportsIndex | None = None,
) -> da.Array:
    """Which items of a dask array are among the test elements; equals ``fastsel.isin(...)``.

    Parameters
    ----------
    element : dask array or array_like, any shape, any chunks
        Any dtype.
    test_elements : dask array or array_like, any shape, any chunks
        Any dtype. The distinct values of a dask array, and with `axis` the distinct slices of any
        array, are found first.
    assume_unique, invert, kind : optional
        As in `fastsel.isin`.
    axis : int, optional
        Take the slices along this axis as items, as `fastsel.isin` does.

    Returns
    -------
    dask array of bool, shape and chunks of `element`, or shape (length of the axis,)

    Raises
    ------
    AxisError, TypeError
        When called, if the blocks are not NumPy arrays, if `axis` is out of range or not an
        integer, if slices have objects or StringDType, or if the arrays have no common dtype.
        Without `axis`, also for strings beside bytes, numbers or bool: NumPy's result then depends
        on the size of the arrays.
    ValueError
        When called, if `kind` is wrong for these dtypes; or, with `axis`, if the arrays differ in
        the number of dimensions or in length along another axis, or if an array has several blocks
        along another axis and unknown chunk sizes.
    RuntimeError
        When computed, if `kind` is 'table' and the range of the test elements is too wide.

    Notes
    -----
    The task of each block holds all test elements, or only the distinct ones if these are found
    first. Objects of a dask array of test elements must have a hash or an order, as for
    ``unique(sorted=False)``. With `axis`, the arrays are rechunked so that no slice is divided.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> x = da.from_array([3, 1, 3, 2], chunks=2)
    >>> fastsel.dask.isin(x, [1, 2]).compute()
    array([False,  True, False,  True])
    >>> fastsel.dask.isin(x, x[:1], invert=True).compute()
    array([False,  True, False,  True])
    """
    x = checked_array("element", element)
    if axis is not None:
        tests = checked_array("test_elements", test_elements)
        axis = checked_axis_of_shapes(axis, element=x.shape, test_elements=tests.shape)
    if axis is not None:
        few = (np.zeros((1, 1), array.dtype) for array in (x, tests))
        fastsel.isin(*few, kind=kind, axis=0)  # raises the errors of kind and of the dtypes
        x, tests = _converted(x, tests)
        x = bands("element", np.moveaxis(x, axis, 0), whole_rows=True)
        tests = np.moveaxis(unique(tests, axis=axis, sorted=False), axis, 0)
    else:
        if isinstance(test_elements, da.Array):
            tests = unique(checked_array("test_elements", test_elements), sorted=False)
        else:
            tests = one_block("test_elements", np.asarray(test_elements).ravel())
        _numpy.isin(stand_in(x).ravel()[:0], stand_in(tests), kind=kind)
        _check_comparison(x.dtype, tests.dtype)
    axes = x.ndim if axis is None else 1
    options = {"invert": bool(invert), "kind": kind, "axis": None if axis is None else 0}
    name = f"fastsel-isin-{tokenize(x.name, tests.name, options)}"
    tests_key = (tests.name, *(0,) * tests.ndim)
    tasks = {
        (name, *block[:axes]): task(fastsel.isin, key, tests_key, **options)
        for block, key in blocks(x).items()
    }
    return array_of(name, tasks, x.chunks[:axes], bool, x, tests)


@overload
def intersect1d(
    ar1: DaskArrayLike,
    ar2: DaskArrayLike,
    assume_unique: bool = False,
    return_indices: Literal[False] = False,
    *,
    axis: SupportsIndex | None = None,
) -> da.Array: ...
@overload
def intersect1d(
    ar1: DaskArrayLike,
    ar2: DaskArrayLike,
    assume_unique: bool,
    return_indices: Literal[True],
    *,
    axis: SupportsIndex | None = None,
) -> tuple[da.Array, da.Array, da.Array]: ...
@overload
def intersect1d(
    ar1: DaskArrayLike,
    ar2: DaskArrayLike,
    assume_unique: bool = False,
    *,
    return_indices: Literal[True],
    axis: SupportsIndex | None = None,
) -> tuple[da.Array, da.Array, da.Array]: ...
def intersect1d(
    ar1: DaskArrayLike,
    ar2: DaskArrayLike,
    assume_unique: bool = False,
    return_indices: bool = False,
    *,
    axis: SupportsIndex | None = None,
) -> Any:
    """The sorted distinct values that are in both arrays; equals ``fastsel.intersect1d(...)``.

    Parameters
    ----------
    ar1, ar2 : dask array or array_like, any shape, any chunks
        Any dtype. Chunk sizes may be unknown, as in `unique`.
    assume_unique : bool, optional
        Changes nothing.
    return_indices : bool, optional
        Also return the positions at which the values first occur in each of the arrays, flattened
        or along `axis`.
    axis : int, optional
        Take the slices along this axis as items, as `fastsel.intersect1d` does.

    Returns
    -------
    values : dask array of the common dtype, shape (k,), or that of `ar1` with `axis` of length k
    index1, index2 : dask array of intp, shape (k,)
        One array, or a tuple, as `fastsel.intersect1d` returns them. Each array is one chunk, whose
        size is unknown until computed.

    Raises
    ------
    AxisError, TypeError, ValueError
        As `unique`. When called, also if the arrays have no common dtype, or with `axis` if they
        differ in the number of dimensions or in length along another axis.

    Notes
    -----
    The distinct values of each array are found as by `unique`; then one task for each output
    compares them.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> x = da.from_array([3, 1, 3, 2], chunks=2)
    >>> fastsel.dask.intersect1d(x, [5, 3, 2]).compute()
    array([2, 3])
    """
    x, y, axis = _pair(ar1, ar2, axis)
    dtype = np.result_type(x.dtype, y.dtype)
    if axis is not None:
        x, y = _converted(x, y)
    if not return_indices:
        return _of_distinct(
            fastsel.intersect1d, dtype, axis, unique(x, axis=axis), unique(y, axis=axis)
        )
    (one, index1), (other, index2) = (unique(a, return_index=True, axis=axis) for a in (x, y))
    return (
        _of_distinct(fastsel.intersect1d, dtype, axis, one, other),
        _of_distinct(_index1_of_common, np.intp, axis, index1, one, other),
        _of_distinct(_index2_of_common, np.intp, axis, index2, one, other),
    )


def union1d(
    ar1: DaskArrayLike, ar2: DaskArrayLike, *, axis: SupportsIndex | None = None
) -> da.Array:
    """The sorted distinct values of two arrays; equals ``fastsel.union1d(...)``.

    Parameters
    ----------
    ar1, ar2 : dask array or array_like, any shape, any chunks
        Any dtype. Chunk sizes may be unknown, as in `unique`.
    axis : int, optional
        Take the slices along this axis as items, as `fastsel.union1d` does.

    Returns
    -------
    dask array of the common dtype, shape (k,), or that of `ar1` with `axis` of length k
        One chunk, whose size is unknown until computed.

    Raises
    ------
    AxisError, TypeError, ValueError
        As `unique`. When called, also if the arrays have no common dtype, or with `axis` if they
        differ in the number of dimensions or in length along another axis.

    Notes
    -----
    The distinct values of each array are found as by `unique`; then one task merges them.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> fastsel.dask.union1d(da.from_array([3, 1, 3], chunks=2), [2, 3]).compute()
    array([1, 2, 3])
    """
    x, y, axis = _pair(ar1, ar2, axis)
    dtype = np.result_type(x.dtype, y.dtype)
    x, y = _converted(x, y)
    return _of_distinct(fastsel.union1d, dtype, axis, unique(x, axis=axis), unique(y, axis=axis))


def setdiff1d(
    ar1: DaskArrayLike,
    ar2: DaskArrayLike,
    assume_unique: bool = False,
    *,
    axis: SupportsIndex | None = None,
) -> da.Array:
    """The sorted distinct values of `ar1` not in `ar2`; equals ``fastsel.setdiff1d(...)``.

    Parameters
    ----------
    ar1, ar2 : dask array or array_like, any shape, any chunks
        Any dtype. Chunk sizes may be unknown, as in `unique`.
    assume_unique : bool, optional
        Return the items in the order of `ar1`, with repeated items.
    axis : int, optional
        Take the slices along this axis as items, as `fastsel.setdiff1d` does.

    Returns
    -------
    dask array of ar1's dtype, shape (k,), or that of `ar1` with `axis` of length k
        One chunk or, with `assume_unique`, one for each block of `ar1`. Their sizes are unknown
        until computed.

    Raises
    ------
    AxisError, TypeError, ValueError
        As `unique`, and as `fastsel.setdiff1d`; errors of `axis` and of the shapes when called.

    Notes
    -----
    The notes of `intersect1d` apply; with `assume_unique`, the notes of `isin`. With
    `assume_unique` and without `axis`, an `ar1` of several dimensions is rechunked as by
    `nonzero`.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> x = da.from_array([3, 1, 3, 2], chunks=2)
    >>> fastsel.dask.setdiff1d(x, [2, 5]).compute()
    array([1, 3])
    """
    x, y, axis = _pair(ar1, ar2, axis)
    if assume_unique and axis is not None:
        return compress(isin(x, y, invert=True, axis=axis), x, axis=axis)
    if assume_unique:
        flat = one_axis("ar1", x if x.ndim else x.reshape(1))
        return boolean_mask(flat, isin(flat, ar2, invert=True))
    if axis is not None and _converted(x, y)[0].dtype.char != x.dtype.char:
        x = np.moveaxis(bands("ar1", np.moveaxis(x, axis, 0), whole_rows=True), 0, axis)
        return unique(compress(isin(x, y, invert=True, axis=axis), x, axis=axis), axis=axis)
    if axis is not None:
        _, y = _converted(x, y)
    values, others = unique(x, axis=axis), unique(y, axis=axis)
    return _of_distinct(fastsel.setdiff1d, x.dtype, axis, values, others)


def setxor1d(
    ar1: DaskArrayLike,
    ar2: DaskArrayLike,
    assume_unique: bool = False,
    *,
    axis: SupportsIndex | None = None,
) -> da.Array:
    """The sorted distinct values that are in exactly one array; equals ``fastsel.setxor1d(...)``.

    Parameters
    ----------
    ar1, ar2 : dask array or array_like, any shape, any chunks
        Any dtype. Chunk sizes may be unknown, as in `unique`.
    assume_unique : bool, optional
        Changes nothing.
    axis : int, optional
        Take the slices along this axis as items, as `fastsel.setxor1d` does.

    Returns
    -------
    dask array of the common dtype, shape (k,), or that of `ar1` with `axis` of length k
        One chunk, whose size is unknown until computed.

    Raises
    ------
    AxisError, TypeError, ValueError
        As `intersect1d`.

    Notes
    -----
    The notes of `intersect1d` apply.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> x = da.from_array([3, 1, 3, 2], chunks=2)
    >>> fastsel.dask.setxor1d(x, [2, 5]).compute()
    array([1, 3, 5])
    """
    x, y, axis = _pair(ar1, ar2, axis)
    dtype = np.result_type(x.dtype, y.dtype)
    if axis is not None:
        x, y = _converted(x, y)
    return _of_distinct(fastsel.setxor1d, dtype, axis, unique(x, axis=axis), unique(y, axis=axis))


def _check_comparison(one, other):
    """Raise a TypeError for two dtypes whose items NumPy's isin compares in their common dtype if
    there are many tests, but each by ``==`` if there are few: each block would have its own
    result."""
    kinds = {one.kind, other.kind}
    if len(kinds) == 2 and kinds & {"S", "U"} and not kinds & {"O", "T"}:
        raise TypeError(
            f"element and test_elements must have dtypes that NumPy compares in one way, got {one} "
            f"and {other}: convert one of the arrays to the dtype of the other"
        )


def _pair(ar1, ar2, axis):
    """(x, y, axis): the arguments as dask arrays, and the axis of the slices, None for items."""
    x, y = checked_array("ar1", ar1), checked_array("ar2", ar2)
    if axis is not None:
        axis = checked_axis_of_shapes(axis, ar1=x.shape, ar2=y.shape)
    return x, y, axis


def _converted(x, y):
    """The arrays in their common dtype if it has strings, because 0.0 and -0.0 become two strings;
    otherwise as they are. NumPy's functions of items, except union1d, convert distinct items."""
    dtype = np.result_type(x.dtype, y.dtype)
    return [a.astype(dtype) for a in (x, y)] if dtype.char in "SUT" else [x, y]


def _of_distinct(function, dtype, axis, *arrays):
    """Call the function with these arrays in one task. Each array has one chunk; the result has the
    axes of the first array."""
    sources = [array.name for array in arrays]
    name = f"fastsel-sets-{tokenize(function.__name__, axis, sources)}"
    keys = [(array.name, *(0,) * array.ndim) for array in arrays]
    options = {} if axis is None else {"axis": axis}
    like = arrays[0]
    chunks = tuple(
        (np.nan,) if axis in (None, k) or like.ndim == 1 else (size,)
        for k, size in enumerate(like.shape)
    )
    tasks = {(name, *(0,) * like.ndim): task(function, *keys, **options)}
    return array_of(name, tasks, chunks, dtype, *arrays)


def _index1_of_common(index, one, other, axis=None):
    """The first positions of the values of `one` that are among those of `other`; `index` has the
    first position of each value of `one`."""
    return index[fastsel.intersect1d(one, other, return_indices=True, axis=axis)[1]]


def _index2_of_common(index, one, other, axis=None):
    """_index1_of_common, for the values and the index of `other`."""
    return index[fastsel.intersect1d(one, other, return_indices=True, axis=axis)[2]]
