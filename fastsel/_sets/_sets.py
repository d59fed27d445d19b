"""intersect1d, union1d, setdiff1d and setxor1d: signatures, docstrings, and results from masks.

`_membership` finds which items are in the other array; `unique` sorts the selected items. setxor1d
of numbers merges the sorted distinct numbers of both arrays instead, and setdiff1d does where that
takes less time (_merged).
"""

from __future__ import annotations

from typing import Any, Literal, SupportsIndex, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastsel._core import _dtypes, _gate, _numpy
from fastsel._core._typing import ArrayLikeOf, ArrayOf, Scalar
from fastsel._positions._positions import flatnonzero
from fastsel._selection._selection import boolean_mask
from fastsel._sets import _axis, _membership
from fastsel._sets._isin import among, check_truth
from fastsel._sets._merged import can_merge, has_few_values, merged_numbers, merges_difference
from fastsel._unique import _keys, _plan
from fastsel._unique._algorithms import search_for
from fastsel._unique._unique import along, unique
from fastsel._unique.groups import Request

# A lookup of the distinct values of an array takes less time than a lookup of all its items, if the
# array has at least MANY_ITEMS items, and few of them are distinct.
MANY_ITEMS = 1 << 12


@overload
def intersect1d(
    ar1: ArrayOf[Scalar],
    ar2: ArrayOf[Scalar],
    assume_unique: bool = False,
    return_indices: Literal[False] = False,
    *,
    axis: SupportsIndex | None = None,
) -> NDArray[Scalar]: ...
@overload
def intersect1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    return_indices: Literal[False] = False,
    *,
    axis: SupportsIndex | None = None,
) -> NDArray[Any]: ...
@overload
def intersect1d(
    ar1: ArrayOf[Scalar],
    ar2: ArrayOf[Scalar],
    assume_unique: bool,
    return_indices: Literal[True],
    *,
    axis: SupportsIndex | None = None,
) -> tuple[NDArray[Scalar], NDArray[np.intp], NDArray[np.intp]]: ...
@overload
def intersect1d(
    ar1: ArrayOf[Scalar],
    ar2: ArrayOf[Scalar],
    assume_unique: bool = False,
    *,
    return_indices: Literal[True],
    axis: SupportsIndex | None = None,
) -> tuple[NDArray[Scalar], NDArray[np.intp], NDArray[np.intp]]: ...
@overload
def intersect1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool,
    return_indices: Literal[True],
    *,
    axis: SupportsIndex | None = None,
) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[np.intp]]: ...
@overload
def intersect1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    *,
    return_indices: Literal[True],
    axis: SupportsIndex | None = None,
) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[np.intp]]: ...
def intersect1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    return_indices: bool = False,
    *,
    axis: SupportsIndex | None = None,
) -> Any:
    """The sorted distinct values that are in both arrays; equals ``numpy.intersect1d(...)``.

    Parameters
    ----------
    ar1, ar2 : array_like, any shape
        Any dtype; read only, never modified.
    assume_unique : bool, optional
        Changes nothing, unless the call is passed to NumPy: then repeated items may give a wrong
        result.
    return_indices : bool, optional
        Also return the positions at which the values first occur in each array.
    axis : int, optional
        Compare slices along this axis instead of items. The arrays must have the same lengths along
        all other axes.

    Returns
    -------
    values : ndarray of the common dtype, shape (k,); with `axis`, ar1's shape, but k along `axis`
        Each value has the bits of the first item of `ar1` that equals it (-0.0 equals 0.0), unless
        NumPy serves the call. NaN and NaT never match.
    index1, index2 : ndarray of intp, shape (k,)
        Positions of the first occurrences in the flattened `ar1` and `ar2`; with `axis`, positions
        along it. With `return_indices`, the result is the tuple (values, index1, index2), otherwise
        only values.

    Raises
    ------
    TypeError
        If the arrays have no common dtype, or objects cannot be ordered.
    AxisError, TypeError, ValueError
        If `axis` is out of range or not an integer, if slices have objects or StringDType, or if
        the arrays differ in the number of dimensions or in length along another axis.

    Notes
    -----
    The notes of `isin` apply, but NumPy serves all objects. The items that are in both arrays are
    copied, and the notes of `unique` apply to the copy. Without `axis`, NumPy serves subclasses,
    and dtypes whose common dtype cannot hold all their integers (int64 and uint64).

    Examples
    --------
    >>> import fastsel
    >>> fastsel.intersect1d([3, 1, 3, 2], [5, 3, 2])
    array([2, 3])
    >>> fastsel.intersect1d([3, 1, 3, 2], [5, 3, 2], return_indices=True)
    (array([2, 3]), array([3, 0]), array([2, 1]))
    >>> fastsel.intersect1d([[1, 2], [3, 4]], [[5, 6], [3, 4]], axis=0)
    array([[3, 4]])
    """
    axis = _axis.checked_axis(axis, ar1=ar1, ar2=ar2)
    both = _in_common_dtype(ar1, ar2, axis)
    if both and axis is None and _membership.numpy_finds_values(*both):
        check_truth(assume_unique)
        return _numpy.intersect1d(*both, return_indices=return_indices)
    if both and not return_indices:
        both = [_values_if_few(items, _small_sample(items)) for items in both]
    masks = both and _membership.masks(*both, bool(return_indices), False)
    if masks is None:
        arguments = _gate.non_defaults(
            assume_unique=assume_unique, return_indices=return_indices, axis=axis
        )
        return _by_library("intersect1d", ar1, ar2, arguments)
    check_truth(assume_unique)
    if not return_indices:
        return unique(along(boolean_mask(both[0], masks[0]), axis), axis=axis)
    (values, index1), (_, index2) = (
        unique(along(boolean_mask(array, mask), axis), return_index=True, axis=axis)
        for mask, array in zip(masks, both, strict=True)
    )
    if len(index1) != len(index2):  # another thread has written to the arrays
        size = min(len(index1), len(index2))
        values, index1, index2 = values.take(range(size), axis), index1[:size], index2[:size]
    return values, flatnonzero(masks[0])[index1], flatnonzero(masks[1])[index2]


@overload
def union1d(
    ar1: ArrayOf[Scalar], ar2: ArrayOf[Scalar], *, axis: SupportsIndex | None = None
) -> NDArray[Scalar]: ...
@overload
def union1d(
    ar1: ArrayLike, ar2: ArrayLike, *, axis: SupportsIndex | None = None
) -> NDArray[Any]: ...
def union1d(ar1: ArrayLike, ar2: ArrayLike, *, axis: SupportsIndex | None = None) -> NDArray[Any]:
    """The sorted distinct values of two arrays; equals ``numpy.union1d(...)``.

    Parameters
    ----------
    ar1, ar2 : array_like, any shape
        Any dtype; read only, never modified.
    axis : int, optional
        Compare slices along this axis instead of items. The arrays must have the same lengths along
        all other axes.

    Returns
    -------
    ndarray of the common dtype, shape (k,); with `axis`, ar1's shape, but k along `axis`
        Each value has the bits of the first item that equals it (-0.0 equals 0.0), in `ar1` and
        then `ar2`. All NaN are one value; with `axis`, each slice with NaN is a value of its own.

    Raises
    ------
    TypeError
        If the arrays have no common dtype, or objects cannot be ordered.
    AxisError, TypeError, ValueError
        If `axis` is out of range or not an integer, if slices have objects or StringDType, or if
        the arrays differ in the number of dimensions or in length along another axis; ValueError
        also if missing strings have no order, as in `unique`.

    Notes
    -----
    The notes of `unique` apply to the concatenated arrays.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.union1d([3, 1, 3], [[2, 3]])
    array([1, 2, 3])
    """
    axis = _axis.checked_axis(axis, ar1=ar1, ar2=ar2)
    if _gate.overrides(ar1) or _gate.overrides(ar2):
        return _gate.library(ar1, ar2).union1d(ar1, ar2, **_gate.non_defaults(axis=axis))
    if axis is not None:
        return unique(np.concatenate(list(map(np.asarray, (ar1, ar2))), axis), axis=axis)
    return unique(np.concatenate((_native_items(ar1), _native_items(ar2)), axis=None))


def setdiff1d(
    ar1: ArrayLikeOf[Scalar],
    ar2: ArrayLike,
    assume_unique: bool = False,
    *,
    axis: SupportsIndex | None = None,
) -> NDArray[Scalar]:
    """The sorted distinct values of `ar1` that are not in `ar2`; equals ``numpy.setdiff1d(...)``.

    Parameters
    ----------
    ar1, ar2 : array_like, any shape
        Any dtype; read only, never modified.
    assume_unique : bool, optional
        Return the items in the order of `ar1`, with repeated items. If the call is passed to NumPy,
        repeated items may give a wrong result.
    axis : int, optional
        Compare slices along this axis instead of items. The arrays must have the same lengths along
        all other axes.

    Returns
    -------
    ndarray of ar1's dtype, shape (k,); with `axis`, ar1's shape, but k along `axis`
        NaN of `ar1` never match NaN of `ar2`. All NaN are one value, unless `assume_unique`; with
        `axis`, each slice with NaN is a value of its own.

    Raises
    ------
    TypeError
        If the arrays have no common dtype; without `axis`, only if `ar2` has so many items
        that NumPy does not compare them one by one. If objects cannot be ordered.
    AxisError, TypeError, ValueError
        If `axis` is out of range or not an integer, if slices have objects or StringDType, or if
        the arrays differ in the number of dimensions or in length along another axis.

    Notes
    -----
    The notes of `isin` apply, but NumPy serves objects, unless the objects of both arrays are all
    str, all bytes, or all bool, int or float. The items that are not in `ar2` are copied, and the
    notes of `unique` apply to the copy. Without `axis`, subclasses are passed to NumPy.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.setdiff1d([3, 1, 3, 2], [2, 5])
    array([1, 3])
    >>> fastsel.setdiff1d([3, 1, 3, 2], [2, 5], assume_unique=True)
    array([3, 1, 3])
    """
    axis = _axis.checked_axis(axis, ar1=ar1, ar2=ar2)
    arrays = _base_arrays(ar1, ar2, axis)
    is_served = arrays and _membership.are_ordered(*arrays)
    dtypes = [array.dtype for array in arrays or ()]
    is_deduplicated = is_served and not assume_unique
    if is_deduplicated and axis is None and _membership.numpy_finds_values(*arrays):
        return _numpy.setdiff1d(*arrays)
    if is_deduplicated and _membership.compares_exactly(*dtypes):
        sampled = _small_sample(arrays[0])
        if merges_difference(*arrays, sampled):
            return merged_numbers(*arrays, exclusive_or=False)
        arrays[0] = _values_if_few(arrays[0], sampled)
    mask = among(*arrays, True) if is_served else None
    if mask is None:
        arguments = _gate.non_defaults(assume_unique=assume_unique, axis=axis)
        library, native = _gate.library(ar1, ar2), _native_items(ar1)
        if library is not _numpy:
            return library.setdiff1d(ar1, ar2, **arguments)
        result = _numpy.setdiff1d(native, _native_items(ar2), **arguments)
        return result if native is ar1 else result.astype(ar1.dtype)
    selected = along(boolean_mask(arrays[0], mask), axis)
    del mask
    return selected if assume_unique else unique(selected, axis=axis)


@overload
def setxor1d(
    ar1: ArrayOf[Scalar],
    ar2: ArrayOf[Scalar],
    assume_unique: bool = False,
    *,
    axis: SupportsIndex | None = None,
) -> NDArray[Scalar]: ...
@overload
def setxor1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    *,
    axis: SupportsIndex | None = None,
) -> NDArray[Any]: ...
def setxor1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    *,
    axis: SupportsIndex | None = None,
) -> NDArray[Any]:
    """The sorted distinct values that are in exactly one array; equals ``numpy.setxor1d(...)``.

    Parameters
    ----------
    ar1, ar2 : array_like, any shape
        Any dtype; read only, never modified.
    assume_unique : bool, optional
        Changes nothing, unless the call is passed to NumPy: then repeated items may give a wrong
        result.
    axis : int, optional
        Compare slices along this axis instead of items. The arrays must have the same lengths along
        all other axes.

    Returns
    -------
    ndarray of the common dtype, shape (k,); with `axis`, ar1's shape, but k along `axis`
        All NaN of one array are one value, which differs from the NaN of the other array; with
        `axis`, each slice with NaN is a value of its own.

    Raises
    ------
    TypeError
        If the arrays have no common dtype, or objects cannot be ordered.
    AxisError, TypeError, ValueError
        If `axis` is out of range or not an integer, if slices have objects or StringDType, or if
        the arrays differ in the number of dimensions or in length along another axis.

    Notes
    -----
    The notes of `isin` apply, but NumPy serves all objects. The items that are in only one array
    are copied, and the notes of `unique` apply to the copy, or to both arrays. Without `axis`,
    NumPy serves subclasses, and dtypes whose common dtype cannot hold all their integers (int64
    and uint64).

    Examples
    --------
    >>> import fastsel
    >>> fastsel.setxor1d([3, 1, 3, 2], [2, 5])
    array([1, 3, 5])
    """
    axis = _axis.checked_axis(axis, ar1=ar1, ar2=ar2)
    both = _in_common_dtype(ar1, ar2, axis)
    bases = map(_gate.base_array, (ar1, ar2))
    if both and assume_unique and axis is None and any(base is None for base in bases):
        both = None  # for an array and a Python number, NumPy's result has the array's dtype
    if both and can_merge(*both):
        return merged_numbers(*both, exclusive_or=True)
    if both and axis is None and _membership.numpy_finds_values(*both):
        return _numpy.setxor1d(*both)
    both = both and [_values_if_few(items, _small_sample(items)) for items in both]
    masks = both and _membership.masks(*both, True, True)
    if masks is None:
        arguments = _gate.non_defaults(assume_unique=assume_unique, axis=axis)
        return _by_library("setxor1d", ar1, ar2, arguments)
    selected = along(np.concatenate(list(map(boolean_mask, both, masks))), axis)
    del masks
    values = unique(selected, axis=axis)
    has_nan = axis is None and both[0].dtype.kind not in "biuSU" and values.size > 0
    if has_nan and _dtypes.is_nan(values[-1:])[0]:
        nan_of_each = [unique(boolean_mask(items, _dtypes.is_nan(items))) for items in both]
        nans = unique(np.concatenate(nan_of_each), equal_nan=False)
        values = np.concatenate((values[~_dtypes.is_nan(values)], nans))
    return values


def _small_sample(items):
    """A Search that has a small sample of many 1-d items; otherwise None."""
    if items.size < MANY_ITEMS or items.ndim > 1 or _plan.FORCED.get():
        return None
    if _keys.loaded_rule(items.dtype, True) is None:
        return None
    search = search_for(_keys.keys_of(items, True), items, Request())
    search.take_small_sample()
    return search


def _values_if_few(items, sampled):
    """The distinct values of items of which few are distinct; otherwise the items."""
    return unique(items) if sampled and has_few_values(sampled) else items


def _base_arrays(ar1, ar2, axis):
    """The arrays, flattened or, with an axis, with their slices along axis 0. Returns None if NumPy
    or another library serves the class of an array."""
    arrays = ar1, ar2
    if any(map(_gate.overrides, arrays)):
        return None
    if axis is not None:
        return _axis.with_axis_first(axis, *arrays)
    flat_arrays = []
    for array in arrays:
        base = _gate.base_array(array)
        array = np.asanyarray(array) if base is None else base
        if type(array) is not np.ndarray:
            return None
        flat_arrays.append(array.ravel())
    return flat_arrays


def _by_library(name, ar1, ar2, arguments):
    """The result of NumPy's function, or of the function of the library of the arrays."""
    library = _gate.library(ar1, ar2)
    if library is _numpy:
        ar1, ar2 = _native_items(ar1), _native_items(ar2)
    return getattr(library, name)(ar1, ar2, **arguments)


def _native_items(array):
    """The array to pass to NumPy, which takes equal complex numbers of foreign byte order for
    different ones, and does not swap the bytes of characters that become StringDType."""
    is_affected = type(array) is np.ndarray and array.dtype.kind in "cU"
    return _dtypes.native(array) if is_affected else array


def _in_common_dtype(ar1, ar2, axis):
    """The arrays of _base_arrays, in their common dtype; None if NumPy serves the call."""
    arrays = _base_arrays(ar1, ar2, axis)
    if arrays is None:
        return None
    one, other = (array.dtype for array in arrays)
    if _membership.are_strings(one, other):
        if not _membership.are_ordered(*arrays):
            return None
        return [_dtypes.cast(array, np.result_type(one, other)) for array in arrays]
    # Equal dtypes may differ in their characters, fields and metadata.
    same = (one.char, one.fields, other.fields) == (other.char, None, None)
    if same and one.metadata is None and one == other and one.isnative:
        return arrays
    if axis is None and not _membership.compares_exactly(one, other):
        return None
    common = np.result_type(one, other)
    # uint64 and signed integers have the common dtype float64, which cannot hold large integers.
    inexact = common.kind == "f" and one.kind + other.kind in ("iu", "ui")
    if axis is None and inexact:
        return None
    return [_dtypes.cast(array, common) for array in arrays]
