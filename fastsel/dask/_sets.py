"""isin of dask arrays, block by block, and the set functions, from the distinct values of each
array."""

from __future__ import annotations

from typing import Any, Literal, overload

import dask.array as da
import numpy as np
from dask.base import tokenize

import fastsel
from fastsel._core import _numpy
from fastsel.dask._blocks import DaskArrayLike, blocks, checked, layer, one_axis, stand_in, task
from fastsel.dask._distinct import unique
from fastsel.dask._selection import boolean_mask


def isin(
    element: DaskArrayLike,
    test_elements: DaskArrayLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: Literal["sort", "table"] | None = None,
) -> da.Array:
    """Which items of a dask array are among the test elements; equals ``fastsel.isin(...)``.

    Parameters
    ----------
    element : dask array or array_like, any shape, any chunks
        Any dtype.
    test_elements : dask array or array_like, any shape, any chunks
        The distinct values of a dask array are found first.
    assume_unique, invert, kind : optional
        As in `fastsel.isin`.

    Returns
    -------
    dask array of bool, shape and chunks of `element`

    Raises
    ------
    TypeError
        If the blocks are not NumPy arrays, at once.
    ValueError
        If `kind` is wrong for these dtypes, at once.
    RuntimeError
        If `kind` is 'table' and the range of the test elements is too wide, when computed.

    Notes
    -----
    Each block has a task, which holds all distinct test elements. If they are objects, they need a
    hash.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> x = da.from_array([3, 1, 3, 2], chunks=2)
    >>> fastsel.dask.isin(x, [1, 2]).compute()
    array([False,  True, False,  True])
    >>> fastsel.dask.isin(x, x[:1], invert=True).compute()
    array([False,  True, False,  True])
    """
    x = checked("element", element)
    if isinstance(test_elements, da.Array):
        tests = unique(checked("test_elements", test_elements), sorted=False)
    else:
        tests = np.asarray(test_elements).ravel()
        tests = da.from_array(tests, chunks=-1, name=False if tests.dtype.hasobject else None)
    _numpy.isin(stand_in(x).ravel()[:0], stand_in(tests), kind=kind)
    name = f"fastsel-isin-{tokenize(x.name, tests.name, bool(invert), kind)}"
    tasks = {
        (name, *block): task(_isin_block, key, (tests.name, 0), invert=bool(invert), kind=kind)
        for block, key in blocks(x).items()
    }
    meta = np.empty((0,) * x.ndim, bool)
    return da.Array(layer(name, tasks, x, tests), name, x.chunks, meta=meta)


@overload
def intersect1d(
    ar1: DaskArrayLike,
    ar2: DaskArrayLike,
    assume_unique: bool = False,
    return_indices: Literal[False] = False,
) -> da.Array: ...
@overload
def intersect1d(
    ar1: DaskArrayLike, ar2: DaskArrayLike, assume_unique: bool, return_indices: Literal[True]
) -> tuple[da.Array, da.Array, da.Array]: ...
@overload
def intersect1d(
    ar1: DaskArrayLike,
    ar2: DaskArrayLike,
    assume_unique: bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[da.Array, da.Array, da.Array]: ...
def intersect1d(
    ar1: DaskArrayLike,
    ar2: DaskArrayLike,
    assume_unique: bool = False,
    return_indices: bool = False,
) -> Any:
    """The sorted distinct values that are in both arrays; equals ``fastsel.intersect1d(...)``.

    Parameters
    ----------
    ar1, ar2 : dask array or array_like, any shape, any chunks
        Any dtype.
    assume_unique : bool, optional
        Changes nothing.
    return_indices : bool, optional
        Also return where the values first occur in each of the flattened arrays.

    Returns
    -------
    values : dask array of the common dtype, shape (k,)
    index1, index2 : dask array of intp, shape (k,)
        One array, or a tuple, as `fastsel.intersect1d`. Each array is one chunk, whose size is
        unknown until computed.

    Raises
    ------
    TypeError, ValueError
        As `unique`, or if the arrays have no common dtype.

    Notes
    -----
    The distinct values of each array are found as by `unique`, then one task compares them.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> x = da.from_array([3, 1, 3, 2], chunks=2)
    >>> fastsel.dask.intersect1d(x, [5, 3, 2]).compute()
    array([2, 3])
    """
    x, y = checked("ar1", ar1), checked("ar2", ar2)
    dtype = np.result_type(x.dtype, y.dtype)
    if not return_indices:
        return _of_distinct(fastsel.intersect1d, dtype, unique(x), unique(y))
    (one, index1), (other, index2) = (unique(array, return_index=True) for array in (x, y))
    return (
        _of_distinct(fastsel.intersect1d, dtype, one, other),
        _of_distinct(_index_of_common, np.intp, one, index1, other),
        _of_distinct(_index_of_common, np.intp, other, index2, one),
    )


def union1d(ar1: DaskArrayLike, ar2: DaskArrayLike) -> da.Array:
    """The sorted distinct values of two arrays; equals ``fastsel.union1d(...)``.

    Parameters
    ----------
    ar1, ar2 : dask array or array_like, any shape, any chunks
        Any dtype.

    Returns
    -------
    dask array of the common dtype, shape (k,)
        One chunk, whose size is unknown until computed.

    Raises
    ------
    TypeError, ValueError
        As `unique`, or if the arrays have no common dtype.

    Notes
    -----
    The distinct values of each array are found as by `unique`, then one task merges them.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> fastsel.dask.union1d(da.from_array([3, 1, 3], chunks=2), [2, 3]).compute()
    array([1, 2, 3])
    """
    x, y = checked("ar1", ar1), checked("ar2", ar2)
    return _of_distinct(fastsel.union1d, np.result_type(x.dtype, y.dtype), unique(x), unique(y))


def setdiff1d(ar1: DaskArrayLike, ar2: DaskArrayLike, assume_unique: bool = False) -> da.Array:
    """The sorted distinct values of `ar1` that are not in `ar2`; ``fastsel.setdiff1d(...)``.

    Parameters
    ----------
    ar1, ar2 : dask array or array_like, any shape, any chunks
        Any dtype.
    assume_unique : bool, optional
        Return the items in the order and the chunks of `ar1`, with repeated items.

    Returns
    -------
    dask array of ar1's dtype, shape (k,)
        Its sizes are unknown until computed.

    Raises
    ------
    TypeError, ValueError
        As `unique`, or if the arrays have no common dtype.

    Notes
    -----
    The notes of `intersect1d` apply; with `assume_unique`, the notes of `isin`.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> x = da.from_array([3, 1, 3, 2], chunks=2)
    >>> fastsel.dask.setdiff1d(x, [2, 5]).compute()
    array([1, 3])
    """
    x = checked("ar1", ar1)
    if assume_unique:
        flat = one_axis("ar1", x if x.ndim else x.reshape(1))
        return boolean_mask(flat, isin(flat, ar2, invert=True))
    others = unique(checked("ar2", ar2))
    return _of_distinct(fastsel.setdiff1d, x.dtype, unique(x), others)


def setxor1d(ar1: DaskArrayLike, ar2: DaskArrayLike, assume_unique: bool = False) -> da.Array:
    """The sorted distinct values that are in exactly one array; ``fastsel.setxor1d(...)``.

    Parameters
    ----------
    ar1, ar2 : dask array or array_like, any shape, any chunks
        Any dtype.
    assume_unique : bool, optional
        Changes nothing.

    Returns
    -------
    dask array of the common dtype, shape (k,)
        One chunk, whose size is unknown until computed.

    Raises
    ------
    TypeError, ValueError
        As `unique`, or if the arrays have no common dtype.

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
    x, y = checked("ar1", ar1), checked("ar2", ar2)
    dtype = np.result_type(x.dtype, y.dtype)
    return _of_distinct(fastsel.setxor1d, dtype, unique(x), unique(y))


def _isin_block(block, tests, invert, kind):
    return fastsel.isin(block, tests, invert=invert, kind=kind)


def _of_distinct(function, dtype, *arrays):
    """The function of these arrays, which have one chunk each, as one task."""
    sources = [array.name for array in arrays]
    name = f"fastsel-sets-{tokenize(function.__name__, sources)}"
    tasks = {(name, 0): task(function, *((source, 0) for source in sources))}
    return da.Array(layer(name, tasks, *arrays), name, ((np.nan,),), meta=np.empty(0, dtype))


def _index_of_common(values, index, others):
    """The first positions of the sorted values that are in the other array."""
    return index[fastsel.isin(values, others)]
