"""gather_nd: ONNX GatherND-13 on NumPy arrays, every index checked."""

from __future__ import annotations

from typing import Any, SupportsIndex, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastsel._core import _dtypes, _gate, _threads, results
from fastsel._core._typing import ArrayLikeOf, Scalar
from fastsel._gather import gather

Out = TypeVar("Out", bound=NDArray[Any])


@overload
def gather_nd(
    data: ArrayLikeOf[Scalar],
    indices: ArrayLike,
    batch_dims: SupportsIndex = 0,
    *,
    out: None = None,
) -> NDArray[Scalar]: ...
@overload
def gather_nd(
    data: ArrayLike, indices: ArrayLike, batch_dims: SupportsIndex = 0, *, out: Out
) -> Out: ...
def gather_nd(
    data: ArrayLike,
    indices: ArrayLike,
    batch_dims: SupportsIndex = 0,
    *,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """The slices of `data` that rows of indices address; ONNX GatherND-13.

    Parameters
    ----------
    data : array_like, shape (b..., d0, d1, ...), at least 1-d
        Any dtype, any layout; read only, never modified.
    indices : array_like of integers, shape (b..., n, m, ..., k), at least 1-d
        The last axis holds index rows of 1 <= k <= data.ndim - batch_dims integers of any width,
        signed or not. Negative indices count from the end. Read only, never modified.
    batch_dims : int, optional
        Number of leading axes that `data` and `indices` share. For each position i along these
        axes, the index rows in ``indices[i]`` address slices of ``data[i]``. 0 <= batch_dims <
        min(data.ndim, indices.ndim).
    out : ndarray, optional
        Array for the result, of the shape of the result and data's dtype. It may overlap the
        inputs.

    Returns
    -------
    ndarray of data's dtype, shape indices.shape[:-1] + data.shape[batch_dims + k:]
        The slices, C-contiguous; or `out`. With ``batch_dims=0``, the result equals
        ``data[tuple(numpy.moveaxis(indices, -1, 0))]``.

    Raises
    ------
    IndexError
        If an index is out of bounds, even if the slices are empty. The message names the first
        index out of bounds in C order, its position, and the axis of `data`.
    ValueError
        If the shapes do not fit, `batch_dims` is out of range, or `out` has another shape or is
        read-only.
    TypeError
        If `indices` is not of an integer dtype, `batch_dims` is not an integer, `out` is not an
        array of data's dtype, or an argument is a set, a dict or an iterator.

    Notes
    -----
    **Index rows.** NumPy's indexing uses one array per axis, ``data[rows, columns]``; `gather_nd`
    uses one index row per slice, which has one index for each indexed axis. `argwhere` returns
    index rows; ``numpy.stack(indices, axis=-1)`` makes index rows from one array per axis, for
    example from the tuple that `nonzero` returns. A tuple of two arrays of two positions each has
    the shape of two index rows, and is read as index rows.

    **Time and memory.** `indices` is read once. With `out`, and for objects and StringDType, all
    indices are checked first; this takes 8 bytes per index row. `out` is unchanged if an error is
    raised.

    **Threads.** The result, and the error, are the same for every number of threads. The value of
    an index that is checked is the value that is used: if another thread writes to `indices` during
    the call, nothing outside of `data` is read.

    **Subclasses** are treated as base-class arrays (a masked array without its mask).

    **Specification.** The rules are those of ONNX GatherND-13.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.gather_nd([[0, 1], [2, 3]], [[0, 0], [1, 1]])
    array([0, 3])
    >>> fastsel.gather_nd([[0, 1], [2, 3]], fastsel.argwhere([[1, 0], [1, 1]]))
    array([0, 2, 3])
    >>> fastsel.gather_nd([[0, 1], [2, 3]], [[1], [-2]])
    array([[2, 3],
           [0, 1]])
    >>> fastsel.gather_nd([[10, 11], [20, 21]], [[1], [0]], batch_dims=1)
    array([11, 20])
    """
    if type(batch_dims) is int and batch_dims == 0 and out is None:
        result = gather.gather_nd(data, indices)
        if result is not None:
            return result
    if not type(data) is type(indices) is np.ndarray:
        library = _gate.library(data, indices)
        if not _gate.is_numpy(library):
            return library.gather_nd(data, indices, batch_dims, **_gate.non_defaults(out=out))
    data = _gate.as_array("data", data)
    indices = _integer_rows(indices)
    batch_dims = _checked_batch_dims(batch_dims, data, indices)
    depth = _checked_depth(data, indices, batch_dims)
    shape = indices.shape[:-1] + data.shape[batch_dims + depth :]
    if out is not None:
        _gate.check_out(out, shape, data.dtype, "data's dtype")
    if not _dtypes.movable(data.dtype):
        return _gather_objects(data, indices, batch_dims, depth, shape, out)
    if out is None:
        # Check and copy in one pass: if a check fails, the result is discarded.
        return _checked(data, indices, batch_dims, results.empty(shape, data.dtype))
    return _gather_into(out, data, indices, batch_dims, depth)


def _gather_into(out, data, indices, batch_dims, depth):
    """Check all indices, then write to `out`. If `out` is not C-contiguous or may overlap `data`,
    the kernel writes to a new array, which is copied to `out`."""
    offsets = _checked(data, indices, batch_dims)
    as_is = out.flags.c_contiguous and not np.may_share_memory(out, data)
    result = out if as_is else np.empty(out.shape, out.dtype)
    threads = _threads.for_bytes(result.nbytes + offsets.nbytes, cost=2)
    gather.copy(data, batch_dims + depth, offsets, result, threads)
    if not as_is:
        out[...] = result
    return out


def _gather_objects(data, indices, batch_dims, depth, shape, out):
    """gather_nd for items with references or of itemsize 0: the kernel checks the indices, and
    NumPy copies the items."""
    data = np.ascontiguousarray(data)
    offsets = _checked(data, indices, batch_dims)
    if data.itemsize and 0 not in shape:
        slices = data.reshape(-1, *data.shape[batch_dims + depth :])
        offsets //= slices.strides[0]
        result = slices[offsets].reshape(shape)
    else:
        result = np.zeros(shape, data.dtype)  # NumPy makes S1 of S0, and U1 of U0
    if out is None:
        return result
    out[...] = result
    return out


def _checked(data, indices, batch_dims, out=None):
    """Check all indices. Returns `out` with the slices; if it is None, the byte offset in `data` of
    each index row."""
    nbytes, cost = (indices.nbytes, 1) if out is None else (out.nbytes + indices.nbytes, 2)
    threads = _threads.for_bytes(nbytes, cost)
    out, fault = gather.gather(data, indices, batch_dims, out, threads)
    if fault is None:
        return out
    row, column, value = fault
    position = (*map(int, np.unravel_index(row, indices.shape[:-1])), column)
    axis = batch_dims + column
    raise IndexError(
        f"index {value} at position {position} of indices is out of bounds for axis {axis} of "
        f"data with size {data.shape[axis]}"
    )


def _integer_rows(indices):
    """The indices, aligned and in native byte order; an empty list counts as integers. TypeError
    for another dtype, ValueError for a 0-d array."""
    array = _gate.as_array("indices", indices)
    if array.dtype.kind not in "iu" and not (array.size == 0 and not hasattr(indices, "dtype")):
        if indices is None:
            raise TypeError("indices must be an array of integers, got None")
        advice = ""
        if array.dtype.kind in "bf":
            masks = array.dtype.kind == "b"
            advice = f" ({'boolean_mask takes masks' if masks else 'astype(int) converts them'})"
        raise TypeError(f"indices must be an array of integers, got dtype {array.dtype}{advice}")
    if array.ndim == 0:
        raise ValueError("indices must be at least 1-d, got a 0-d array")
    if array.dtype.kind not in "iu":
        return array.astype(np.intp)
    if not (array.flags.aligned and array.dtype.isnative):
        return array.astype(array.dtype.newbyteorder("="))
    return array


def _checked_batch_dims(batch_dims, data, indices):
    count = _gate.integer("batch_dims", batch_dims)
    if data.ndim == 0:
        raise ValueError("data must be at least 1-d, got a 0-d array")
    max_batch_dims = min(data.ndim, indices.ndim) - 1
    if not 0 <= count <= max_batch_dims:
        raise ValueError(
            f"batch_dims must be between 0 and {max_batch_dims} for data with {data.ndim} "
            f"dimensions and indices with {indices.ndim}, got {count}"
        )
    if data.shape[:count] != indices.shape[:count]:
        raise ValueError(
            f"data and indices must be equal in the first {count} of their dimensions "
            f"(batch_dims={count}), got shapes {data.shape} and {indices.shape}"
        )
    return count


def _checked_depth(data, indices, batch_dims):
    depth = indices.shape[-1]
    max_depth = data.ndim - batch_dims
    if not 1 <= depth <= max_depth:
        advice = ""
        if indices.ndim == 2 and 1 <= len(indices) <= data.ndim and depth > max_depth:
            advice = "; numpy.stack(indices, axis=-1) makes index rows of one array per axis"
        elif max_depth == 1:
            advice = "; indices[..., numpy.newaxis] has a row for each index"
        raise ValueError(
            f"the last dimension of indices must be between 1 and {max_depth} (data.ndim - "
            f"batch_dims), got {depth}: indices has shape {indices.shape}{advice}"
        )
    return depth
