"""ONNX's operators on NumPy arrays, which need no other package; the rules are in fastsel.onnx."""

from __future__ import annotations

from typing import Generic, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastsel._core import _dtypes, _gate
from fastsel._core._typing import ArrayLikeOf, Flat, Scalar
from fastsel._gather import _gather
from fastsel._positions import _positions
from fastsel._selection import _selection
from fastsel._unique import _unique

_NUMERIC_TYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "bfloat16", "complex64", "complex128"),
)


class UniqueOutputs(NamedTuple, Generic[Scalar]):
    """The result of `unique`, by ONNX's names."""

    Y: NDArray[Scalar]
    indices: Flat[np.int64]
    inverse_indices: Flat[np.int64]
    counts: Flat[np.int64]


def non_zero(X: ArrayLike) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Indices of the non-zero items, one row per axis; ONNX NonZero-13.

    Parameters
    ----------
    X : array_like, any shape
        One of ONNX's tensor types; read only, never modified.

    Returns
    -------
    ndarray of int64, shape (X.ndim, number of non-zero items), C-contiguous
        The columns are in C order. The result for a scalar has shape (0, 1) or (0, 0).

    Raises
    ------
    TypeError
        If the type of X is not one of ONNX's tensor types.

    Notes
    -----
    -0.0 and the empty string are zero, NaN is not. Time and memory are those of `fastsel.nonzero`,
    which returns one array per axis instead. Specification: ONNX NonZero-13.

    Examples
    --------
    >>> import fastsel.onnx
    >>> fastsel.onnx.non_zero([[1, 0], [1, 1]])
    array([[0, 1, 1],
           [0, 0, 1]])
    >>> fastsel.onnx.non_zero(7).shape
    (0, 1)
    """
    array = _tensor("X", X)
    truth = _dtypes.truth(array.dtype)
    if truth is None:  # objects and StringDType: NumPy decides
        return np.array(np.atleast_1d(array).nonzero())[: array.ndim]
    return _positions.find_coordinates(array, truth)


def compress(
    input: ArrayLikeOf[Scalar], condition: ArrayLike, axis: SupportsIndex | None = None
) -> NDArray[Scalar]:
    """The slices of `input` along an axis that a condition selects; ONNX Compress-28.

    Parameters
    ----------
    input : array_like, shape (n, m, ...), at least 1-d
        One of ONNX's tensor types; read only, never modified.
    condition : array_like of bool, shape (k,)
        `condition` may be shorter than the axis (slices beyond its end are not selected), or longer
        if its items beyond the axis are False.
    axis : int, optional
        From -input.ndim to input.ndim - 1; None selects items of the flattened input.

    Returns
    -------
    ndarray of input's dtype, C-contiguous
        The shape of `input` with the axis shortened, or (number of selected items,).

    Raises
    ------
    ValueError
        If `input` is 0-d or `condition` is not 1-d.
    IndexError
        If `condition` is True beyond the end of the axis; AxisError if `axis` is out of range.
    TypeError
        If the type of `input` is not one of ONNX's tensor types, if `condition` is not of bool, or
        if `axis` is not an integer.

    Notes
    -----
    Time and memory are those of `fastsel.compress`. Specification: ONNX Compress-28.

    Examples
    --------
    >>> import fastsel.onnx
    >>> fastsel.onnx.compress([[1, 2], [3, 4], [5, 6]], [False, True, True], axis=0)
    array([[3, 4],
           [5, 6]])
    >>> fastsel.onnx.compress([[1, 2], [3, 4], [5, 6]], [False, True, False, False, True])
    array([2, 5])
    """
    array = _tensor("input", input)
    if array.ndim == 0:
        raise ValueError("input must be at least 1-d, got a 0-d array")
    mask = np.asarray(condition)
    if mask.size == 0 and not hasattr(condition, "dtype"):  # an empty list
        mask = mask.astype(bool)
    if mask.dtype != bool:
        raise TypeError(f"condition must be an array of bool, got dtype {mask.dtype}")
    if mask.ndim != 1:
        raise ValueError(f"condition must be 1-d, got shape {mask.shape}")
    axis = _gate.checked_axis(axis, array.ndim)
    length = array.size if axis is None else array.shape[axis]
    beyond = mask[length:]
    if beyond.any():
        along = "the flattened input" if axis is None else f"axis {axis} of input"
        raise IndexError(
            f"condition is True at position {length + int(beyond.argmax())}, beyond {along}, "
            f"which has size {length}"
        )
    return _selection.compress(mask[:length], array, axis)


def unique(
    X: ArrayLikeOf[Scalar],
    axis: SupportsIndex | None = None,
    sorted: SupportsIndex = 1,
    *,
    equal_nan: bool = True,
) -> UniqueOutputs[Scalar]:
    """The distinct items, or slices, of a tensor, with indices, inverse and counts; ONNX Unique-28.

    Parameters
    ----------
    X : array_like, any shape
        One of ONNX's tensor types; read only, never modified.
    axis : int, optional
        From -X.ndim to X.ndim - 1: compare the slices along this axis. None compares the items of
        the flattened tensor.
    sorted : 0 or 1, optional
        1 is ascending order, and 0 is the order of first occurrence.
    equal_nan : bool, optional
        Count all NaN as one value. Slices with NaN are never equal.

    Returns
    -------
    UniqueOutputs
        Named tuple of ``Y``, of X's dtype, whose shape is (groups,) or the shape of X with `axis`
        shortened; and of three 1-d arrays of int64. ``indices`` has the indices of first
        occurrences in X, flat or along `axis`. ``inverse_indices`` has the index in Y of each item
        or slice of X, and is 1-d for every shape of X. ``counts`` has the number of occurrences.

    Raises
    ------
    ValueError
        If `sorted` is neither 0 nor 1. AxisError if `axis` is out of range.
    TypeError
        If the type of X is not one of ONNX's tensor types, or if `axis` or `sorted` is not an
        integer.

    Notes
    -----
    In ascending order, NaN is last (in slices of float16, NaN is first). Each value has the bits of
    the first item that equals it (-0.0 equals 0.0); NaN among sorted complex values has the bits
    and the index of the smallest NaN, as in NumPy.
    Time and memory are those of `fastsel.unique`. Specification: ONNX Unique-28.

    Examples
    --------
    >>> import fastsel.onnx
    >>> fastsel.onnx.unique([[2.0, 1.0], [1.0, 3.0]], sorted=0).Y
    array([2., 1., 3.])
    >>> fastsel.onnx.unique([[2.0, 1.0], [1.0, 3.0]]).inverse_indices
    array([1, 0, 0, 2])
    """
    every = True, True, True
    return UniqueOutputs(*unique_outputs(X, axis, sorted, every, equal_nan))


def unique_outputs(X, axis, sorted, wanted, equal_nan=True):
    """A list of Y and the three other outputs, with None for outputs that are not wanted; for
    objects and StringDType with `axis`, the indices are never None."""
    array = _tensor("X", X)
    axis = check_attributes(axis, sorted, array.ndim)
    compared = array
    if axis is not None and array.dtype.kind in "OT":
        # Slices of the inverse are compared: the group ids are in the order that is wanted.
        wanted = True, *wanted[1:]
        options = {"equal_nan": equal_nan and array.ndim == 1, "sorted": bool(sorted)}
        compared = _unique.unique(array, return_inverse=True, **options)[1]
    outputs = _unique.unique(
        compared, *wanted, axis, equal_nan=equal_nan, sorted=bool(sorted)
    )  # fmt: skip
    values, *extras = outputs if any(wanted) else (outputs,)
    extra_outputs = [extras.pop(0) if is_wanted else None for is_wanted in wanted]
    if compared is not array:
        values = array.take(extra_outputs[0], axis)
    if extra_outputs[1] is not None:
        extra_outputs[1] = extra_outputs[1].reshape(-1)
    return [values, *extra_outputs]


def check_attributes(axis, sorted, ndim):
    """Check the attributes of Unique for an input of `ndim` dimensions. Returns the axis, counted
    from 0, or None."""
    if _gate.integer("sorted", sorted) not in (0, 1):
        raise ValueError(f"sorted must be 0 or 1, got {sorted}")
    return _gate.checked_axis(axis, ndim)


def gather_nd(
    data: ArrayLikeOf[Scalar], indices: ArrayLike, batch_dims: SupportsIndex = 0
) -> NDArray[Scalar]:
    """The slices of `data` that rows of indices address; ONNX GatherND-13.

    Parameters
    ----------
    data : array_like, shape (b..., d0, d1, ...), at least 1-d
        One of ONNX's tensor types; read only, never modified.
    indices : array_like of integers, shape (b..., n, m, ..., k), at least 1-d
        As in `fastsel.gather_nd`; read only, never modified.
    batch_dims : int, optional
        As in `fastsel.gather_nd`.

    Returns
    -------
    ndarray of data's dtype, shape indices.shape[:-1] + data.shape[batch_dims + k:]

    Raises
    ------
    IndexError, ValueError, TypeError
        As `fastsel.gather_nd`; TypeError if the type of `data` is not one of ONNX's.

    Notes
    -----
    This is `fastsel.gather_nd`, limited to ONNX's types. Specification: ONNX GatherND-13.

    Examples
    --------
    >>> import fastsel.onnx
    >>> fastsel.onnx.gather_nd([[0, 1], [2, 3]], [[1], [0]])
    array([[2, 3],
           [0, 1]])
    """
    return _gather.gather_nd(_tensor("data", data), indices, batch_dims)


def _tensor(name, value):
    """The argument as a base-class array. Raises TypeError if its type is not a tensor type of
    ONNX."""
    array = np.asarray(value)
    dtype = array.dtype
    if dtype.name in _NUMERIC_TYPES or dtype.kind in "UST" or _holds_strings(array):
        return array
    got = "objects other than str and bytes" if dtype.kind == "O" else f"dtype {dtype}"
    raise TypeError(
        f"{name} must be an array of one of ONNX's tensor types, "
        f"{', '.join(_NUMERIC_TYPES)} or strings, got {got}"
    )


def _holds_strings(array):
    return array.dtype.kind == "O" and all(
        issubclass(kind, str | bytes) for kind in set(map(type, array.ravel().tolist()))
    )
