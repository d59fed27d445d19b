"""nonzero_coordinates: DirectML's NONZERO_COORDINATES on NumPy arrays."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from fastsel._core import _gate, _threads, results
from fastsel._positions import bitmask, coordinates
from fastsel._positions._positions import with_truth

_STRICT_DTYPES = ["float32", "float16", "int32", "int16", "int8", "uint32", "uint16", "uint8"]
_COORDINATE_DTYPES = ["uint32", "int32", "int64", "uint64"]


class NonzeroCoordinates(NamedTuple):
    """The result of `nonzero_coordinates`."""

    count: np.integer[Any]
    coordinates: NDArray[np.integer[Any]]


def nonzero_coordinates(
    x: ArrayLike,
    *,
    n: SupportsIndex | Literal["effective"] | None = None,
    out: NDArray[np.integer[Any]] | None = None,
    count_out: NDArray[np.integer[Any]] | None = None,
    capacity: SupportsIndex | None = None,
    truncate: bool = False,
    fill_value: SupportsIndex = 0,
    dtype: DTypeLike = np.uint32,
    dml_shape: bool = False,
    strict: bool = False,
) -> NonzeroCoordinates:
    """Count the non-zero items, and write their coordinates to a buffer of fixed size, as DirectML.

    Parameters
    ----------
    x : array_like, shape (d0, d1, ...)
        Any dtype; read only, never modified. The effective rank is its number of dimensions without
        the leading dimensions of size 1.
    n : int or "effective", optional
        Number of coordinates per item: the last n of x.ndim coordinates. n is between the effective
        rank ("effective") and x.ndim, which is the default. The other coordinates are all 0.
    out : ndarray, optional
        Array of `dtype` for the coordinates. Its shape is (capacity, n), or leading dimensions of
        size 1 and then (capacity, n); with `dml_shape` or `strict`, it has max(x.ndim, 2)
        dimensions. Rows from `count` on are not changed.
    count_out : ndarray, optional
        Array of `dtype` with one item, for the count, apart from the memory of `out`; with
        `dml_shape` or `strict`, it has x.ndim dimensions.
    capacity : int, optional
        Number of rows of the buffer, x.size by default, as DirectML requires.
    truncate : bool, optional
        Allow a capacity below the count: the coordinates that fit are returned.
    fill_value : int, optional
        Value of the rows from `count` on, unless `out` is given.
    dtype : dtype, optional
        uint32 (as in DirectML), int32, int64 or uint64.
    dml_shape : bool, optional
        Return coordinates of shape (1, ..., 1, capacity, n), with max(x.ndim, 2) dimensions.
    strict : bool, optional
        Raise errors for everything that DirectML refuses: a number of dimensions other than 4 or 5,
        sizes of 0, dtypes of x other than float32, float16 and the integers of up to 32 bits, a
        `dtype` other than uint32, a capacity other than x.size, and an n of 0.

    Returns
    -------
    NonzeroCoordinates
        Named tuple (count, coordinates). ``count`` is the number of non-zero items, a scalar of
        `dtype`; it may exceed the capacity. ``coordinates`` is `out`, or a new array of shape
        (capacity, n): row k has the coordinates of non-zero item k, in C order of the items.
        `dml_shape` adds leading dimensions of size 1.

    Raises
    ------
    ValueError
        If n, capacity, the shape of `out` or `count_out`, or (strict) the shape of x does not fit,
        if `out` or `count_out` is read-only, if the two overlap, or if the count exceeds the
        capacity and `truncate` is False.
    TypeError
        If n (unless it is a str), capacity or `fill_value` is not an integer, if `out` or
        `count_out` is not an ndarray of `dtype`, or if `dtype` or (strict) the dtype of x is not
        accepted.
    OverflowError
        If a coordinate of x may not fit `dtype`, or if the size of x or `fill_value` does not fit
        it; raised before memory for the bitmask or the coordinates is allocated.

    Notes
    -----
    **Zero.** -0.0 is zero, NaN is not.

    **Time and memory.** As in `nonzero`, `x` is read once, into a bitmask of an eighth of a byte
    per item.

    **Errors.** If an error is raised, `out` and `count_out` are unchanged.

    **Subclasses** are treated as base-class arrays (a masked array without its mask).

    **Specification.** The rules are those of DML_NONZERO_COORDINATES_OPERATOR_DESC in DirectML's
    reference.

    Examples
    --------
    >>> import fastsel
    >>> count, coordinates = fastsel.nonzero_coordinates([[1.0, 0.0], [-0.0, 3.5]])
    >>> int(count)
    2
    >>> coordinates[:count]
    array([[0, 0],
           [1, 1]], dtype=uint32)
    """
    if type(x) is not np.ndarray and not _gate.is_numpy(library := _gate.library(x)):
        options = {"out": out, "count_out": count_out, "capacity": capacity, "truncate": truncate}
        options |= {"fill_value": fill_value or False, "dml_shape": dml_shape, "strict": strict}
        return library.nonzero_coordinates(x, n=n, dtype=dtype, **_gate.non_defaults(**options))
    array = _gate.as_array("x", x)
    dtype = _checked_dtype(dtype)
    n = _checked_n(n, array)
    if strict:
        _check_strict(array, n, capacity, dtype)
    capacity = array.size if capacity is None else _gate.integer("capacity", capacity)
    if capacity < 0:
        raise ValueError(f"capacity must be at least 0, got {capacity}")
    _check_coordinates_fit(array, dtype)
    fill_value = _checked_fill_value(fill_value, dtype)
    ndim = array.ndim if dml_shape or strict else None
    rows = None if out is None else _rows_of(out, (capacity, n), dtype, ndim)
    if count_out is not None:
        _check_count_out(count_out, dtype, ndim)
        if rows is not None and np.shares_memory(count_out, rows):
            raise ValueError("count_out must be apart from out, got overlapping arrays")

    threads = _threads.for_bytes(array.nbytes, cost=2)
    items, truth = with_truth(array)
    mask = bitmask.pack(items, *truth, 8 * array.ndim, threads)
    count = mask.total
    if count > capacity and not truncate:
        raise ValueError(
            f"capacity must be at least the count of non-zero items, {count}, got {capacity} "
            "(truncate=True returns the first ones)"
        )
    if rows is None:
        out = rows = results.empty((capacity, n), dtype)
        if count < capacity:
            nbytes = (capacity - count) * n * dtype.itemsize
            coordinates.fill(rows, count, fill_value % 2**64, _threads.for_bytes(nbytes))
    if count > capacity:
        coordinates.truncate(mask, capacity)
    _write(mask, array.shape[array.ndim - n :], rows, threads)
    if count_out is not None:
        count_out[...] = count
    if dml_shape and out.ndim < array.ndim:
        out = rows.reshape((1,) * (array.ndim - 2) + rows.shape)
    return NonzeroCoordinates(dtype.type(count), out)


def _write(mask, shape, rows, threads):
    """Write the coordinates to the first rows; `rows` may have any layout, and be unaligned."""
    if rows.flags.aligned:
        coordinates.write(mask, shape, rows, threads)
    else:
        count = mask.total
        aligned = np.empty((count, len(shape)), rows.dtype)
        coordinates.write(mask, shape, aligned, threads)
        rows[:count] = aligned


def _checked_dtype(dtype):
    dtype = np.dtype(dtype)
    if dtype.name not in _COORDINATE_DTYPES or not dtype.isnative:
        raise TypeError(f"dtype must be one of {', '.join(_COORDINATE_DTYPES)}, got {dtype}")
    return dtype


def _check_strict(array, n, capacity, dtype):
    if array.ndim not in (4, 5):
        raise ValueError(f"x must have 4 or 5 dimensions (strict=True), got {array.ndim}")
    if array.size == 0:
        raise ValueError(f"x must have no size of 0 (strict=True), got shape {array.shape}")
    if n == 0:
        raise ValueError("n must be at least 1 (strict=True), got 0")
    if dtype != np.uint32:
        raise TypeError(f"dtype must be uint32 (strict=True), got {dtype}")
    if array.dtype.name not in _STRICT_DTYPES:
        raise TypeError(
            f"x must have one of the dtypes {', '.join(_STRICT_DTYPES)} (strict=True), "
            f"got {array.dtype}"
        )
    if capacity is not None and capacity != array.size:
        raise ValueError(
            f"capacity must be the size of x, {array.size} (strict=True), got {capacity}"
        )


def _checked_n(n, array):
    """How many of the last coordinates of each item are returned."""
    leading = next((k for k, length in enumerate(array.shape) if length != 1), array.ndim)
    effective = array.ndim - leading
    if n is None:
        return array.ndim
    if isinstance(n, str):
        if n != "effective":
            raise ValueError(f"n must be an integer or 'effective', got {n!r}")
        return effective
    n = _gate.integer("n", n)
    if not effective <= n <= array.ndim:
        raise ValueError(
            f"n must be between {effective} (the effective rank of x) and {array.ndim} (its "
            f"number of dimensions), got {n}"
        )
    return n


def _checked_fill_value(fill_value, dtype):
    value, limits = _gate.integer("fill_value", fill_value), np.iinfo(dtype)
    if not limits.min <= value <= limits.max:
        raise OverflowError(
            f"fill_value must be between {limits.min} and {limits.max} for {dtype.name}, "
            f"got {value}"
        )
    return value


def _check_coordinates_fit(array, dtype):
    max_value = np.iinfo(dtype).max
    if array.size > max_value or any(length - 1 > max_value for length in array.shape):
        raise OverflowError(
            f"x with shape {array.shape} has coordinates or a count beyond {dtype.name}; "
            "dtype=numpy.int64 holds them"
        )


def _rows_of(out, shape, dtype, ndim):
    """`out` as a view of shape (capacity, n), without its leading axes of size 1. If `ndim` is not
    None, `out` must have max(ndim, 2) dimensions."""
    _gate.check_target("out", out, dtype)
    extra = out.ndim - 2
    if extra < 0 or out.shape != (1,) * extra + shape:
        raise ValueError(
            f"out must have shape {shape}, after any dimensions of size 1, got {out.shape}"
        )
    if ndim is not None and out.ndim != max(ndim, 2):
        raise ValueError(
            f"out must have the {max(ndim, 2)} dimensions that dml_shape and strict require, "
            f"got {out.ndim}"
        )
    return out[(0,) * extra]


def _check_count_out(count_out, dtype, ndim):
    _gate.check_target("count_out", count_out, dtype)
    if count_out.size != 1:
        raise ValueError(f"count_out must have one item, got shape {count_out.shape}")
    if ndim is not None and count_out.ndim != ndim:
        raise ValueError(
            f"count_out must have the {ndim} dimensions of x (dml_shape or strict), "
            f"got {count_out.ndim}"
        )
