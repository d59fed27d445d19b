"""isin and the set functions: signatures, docstrings, and results from two masks.

_membership finds which items are in the other array; unique sorts the selected items.
"""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastsel._core import _dtypes, _gate
from fastsel._core._typing import ArrayOf, Scalar
from fastsel._positions._positions import flatnonzero
from fastsel._selection._selection import extract
from fastsel._sets import _membership
from fastsel._sets._membership import WantedMasks
from fastsel._unique._distinct import unique


def isin(
    element: ArrayLike,
    test_elements: ArrayLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: Literal["sort", "table"] | None = None,
) -> NDArray[np.bool_]:
    """Which items of `element` are among the test elements; equals ``numpy.isin(...)``.

    Parameters
    ----------
    element : array_like, any shape
        Any dtype; read only, never modified.
    test_elements : array_like, any shape
        As `element`.
    assume_unique : bool, optional
        Changes neither the result nor the speed.
    invert : bool, optional
        True marks the items that are not among the test elements.
    kind : {None, 'sort', 'table'}, optional
        fastsel chooses the algorithm itself; 'table' only raises NumPy's errors.

    Returns
    -------
    ndarray of bool, shape of `element`
        NaN and NaT never match.

    Raises
    ------
    ValueError
        If `kind` has another value, or is 'table' and the items are not integers or bool.
    RuntimeError
        If `kind` is 'table' and the range of the test elements exceeds their dtype's maximum.

    Notes
    -----
    **Equality.** Integers are compared exactly. The result is the same for every number of threads
    and every seed.

    **Time.** Expected time is linear in both sizes. Keys made to collide cost no more than a small
    multiple of a sort.

    **Memory.** Extra memory, for items of 4 or 8 bytes, is up to 2.5 times both arrays, or 24 MB if
    that is more. Strided arrays are copied once more.

    **NumPy.** Objects, StringDType, structured dtypes, and pairs of dtypes that NumPy converts
    before it compares them, such as 8 byte integers and floats, go to NumPy.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.isin([[1, 2], [3, 4]], [4, 2, 7])
    array([[False,  True],
           [False,  True]])
    >>> fastsel.isin([1, 2, 3], [2], invert=True)
    array([ True, False,  True])
    """
    if not (_gate.overrides(element) or _gate.overrides(test_elements)):
        element, test_elements = np.asarray(element), np.asarray(test_elements)
        if kind is None or (isinstance(kind, str) and _serves(kind, element, test_elements)):
            _check_truth(assume_unique)
            found = _among(element.ravel(), test_elements.ravel(), bool(invert))
            if found is not None:
                return found.reshape(element.shape)
    arguments = _gate.given(assume_unique=assume_unique, invert=invert, kind=kind)
    return _gate.library(element, test_elements).isin(element, test_elements, **arguments)


@overload
def intersect1d(
    ar1: ArrayOf[Scalar],
    ar2: ArrayOf[Scalar],
    assume_unique: bool = False,
    return_indices: Literal[False] = False,
) -> NDArray[Scalar]: ...
@overload
def intersect1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    return_indices: Literal[False] = False,
) -> NDArray[Any]: ...
@overload
def intersect1d(
    ar1: ArrayOf[Scalar],
    ar2: ArrayOf[Scalar],
    assume_unique: bool,
    return_indices: Literal[True],
) -> tuple[NDArray[Scalar], NDArray[np.intp], NDArray[np.intp]]: ...
@overload
def intersect1d(
    ar1: ArrayOf[Scalar],
    ar2: ArrayOf[Scalar],
    assume_unique: bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[NDArray[Scalar], NDArray[np.intp], NDArray[np.intp]]: ...
@overload
def intersect1d(
    ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool, return_indices: Literal[True]
) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[np.intp]]: ...
@overload
def intersect1d(
    ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, *, return_indices: Literal[True]
) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[np.intp]]: ...
def intersect1d(
    ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """The sorted distinct values that are in both arrays; equals ``numpy.intersect1d(...)``.

    Parameters
    ----------
    ar1, ar2 : array_like, any shape
        Any dtype; read only, never modified.
    assume_unique : bool, optional
        Changes nothing: repeated values do no harm.
    return_indices : bool, optional
        Also return where the values first occur in each of the flattened arrays.

    Returns
    -------
    values : ndarray of the common dtype, shape (k,)
        Equal items have the bits of the first one in `ar1`. NaN and NaT never match.
    index1, index2 : ndarray of intp, shape (k,)
        One array if only the values are wanted, otherwise a tuple.

    Raises
    ------
    TypeError
        If the arrays have no common dtype, or objects cannot be ordered.

    Notes
    -----
    The notes of `isin` apply, and then the notes of `unique` to the items that are in both arrays,
    which are copied. Subclasses go to NumPy.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.intersect1d([3, 1, 3, 2], [5, 3, 2])
    array([2, 3])
    >>> fastsel.intersect1d([3, 1, 3, 2], [5, 3, 2], return_indices=True)
    (array([2, 3]), array([3, 0]), array([2, 1]))
    """
    both = _together(ar1, ar2)
    found = both and _membership.masks(*both, WantedMasks(True, bool(return_indices), False))
    if found is None:
        arguments = _gate.given(assume_unique=assume_unique, return_indices=return_indices)
        return _gate.library(ar1, ar2).intersect1d(ar1, ar2, **arguments)
    _check_truth(assume_unique)
    if not return_indices:
        return unique(extract(found[0], both[0]))
    (values, index1), (_, index2) = (
        unique(extract(mask, array), return_index=True)
        for mask, array in zip(found, both, strict=True)
    )
    found = values, flatnonzero(found[0])[index1], flatnonzero(found[1])[index2]
    size = min(len(index1), len(index2))  # they differ if another thread writes to the arrays
    return found if len(index1) == len(index2) else tuple(output[:size] for output in found)


@overload
def union1d(ar1: ArrayOf[Scalar], ar2: ArrayOf[Scalar]) -> NDArray[Scalar]: ...
@overload
def union1d(ar1: ArrayLike, ar2: ArrayLike) -> NDArray[Any]: ...
def union1d(ar1: ArrayLike, ar2: ArrayLike) -> NDArray[Any]:
    """The sorted distinct values of two arrays; equals ``numpy.union1d(...)``.

    Parameters
    ----------
    ar1, ar2 : array_like, any shape
        Any dtype; read only, never modified.

    Returns
    -------
    ndarray of the common dtype, shape (k,)
        Equal items have the bits of the first one. All NaN are one value.

    Raises
    ------
    TypeError
        If the arrays have no common dtype, or objects cannot be ordered.

    Notes
    -----
    The notes of `unique` apply to the concatenated arrays.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.union1d([3, 1, 3], [[2, 3]])
    array([1, 2, 3])
    """
    if _gate.overrides(ar1) or _gate.overrides(ar2):
        return _gate.library(ar1, ar2).union1d(ar1, ar2)
    return unique(np.concatenate((ar1, ar2), axis=None))


@overload
def setdiff1d(
    ar1: ArrayOf[Scalar], ar2: ArrayLike, assume_unique: bool = False
) -> NDArray[Scalar]: ...
@overload
def setdiff1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> NDArray[Any]: ...
def setdiff1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> NDArray[Any]:
    """The sorted distinct values of `ar1` that are not in `ar2`; equals ``numpy.setdiff1d(...)``.

    Parameters
    ----------
    ar1, ar2 : array_like, any shape
        Any dtype; read only, never modified.
    assume_unique : bool, optional
        Return the items in the order of `ar1`, with repeated items.

    Returns
    -------
    ndarray of ar1's dtype, shape (k,)
        All NaN of `ar1` are one value, even if `ar2` has NaN.

    Raises
    ------
    TypeError
        If the arrays have no common dtype, or objects cannot be ordered.

    Notes
    -----
    The notes of `isin` apply, and then the notes of `unique` to the items that are not in `ar2`,
    which are copied.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.setdiff1d([3, 1, 3, 2], [2, 5])
    array([1, 3])
    >>> fastsel.setdiff1d([3, 1, 3, 2], [2, 5], assume_unique=True)
    array([3, 1, 3])
    """
    arrays = _plain(ar1, ar2)
    found = arrays and _among(*arrays, True)
    if found is None:
        arguments = _gate.given(assume_unique=assume_unique)
        return _gate.library(ar1, ar2).setdiff1d(ar1, ar2, **arguments)
    kept = extract(found, arrays[0])
    del found
    return kept if assume_unique else unique(kept)


@overload
def setxor1d(
    ar1: ArrayOf[Scalar], ar2: ArrayOf[Scalar], assume_unique: bool = False
) -> NDArray[Scalar]: ...
@overload
def setxor1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> NDArray[Any]: ...
def setxor1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> NDArray[Any]:
    """The sorted distinct values that are in exactly one array; equals ``numpy.setxor1d(...)``.

    Parameters
    ----------
    ar1, ar2 : array_like, any shape
        Any dtype; read only, never modified.
    assume_unique : bool, optional
        Changes nothing: repeated values do no harm.

    Returns
    -------
    ndarray of the common dtype, shape (k,)
        The NaN of each array are one value, and differ from the NaN of the other array.

    Raises
    ------
    TypeError
        If the arrays have no common dtype, or objects cannot be ordered.

    Notes
    -----
    The notes of `isin` apply, and then the notes of `unique` to the items that are in one array
    only, which are copied. Subclasses go to NumPy.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.setxor1d([3, 1, 3, 2], [2, 5])
    array([1, 3, 5])
    """
    both = _together(ar1, ar2)
    if both and assume_unique and any(_gate.plain(ar) is None for ar in (ar1, ar2)):
        both = None  # NumPy's result has the dtype of the array beside a Python number
    found = both and _membership.masks(*both, WantedMasks(True, True, True))
    if found is None:
        arguments = _gate.given(assume_unique=assume_unique)
        return _gate.library(ar1, ar2).setxor1d(ar1, ar2, **arguments)
    nans = list(map(_nan_of, both)) if both[0].dtype.kind not in "biuSU" else []
    if sum(map(len, nans)):
        found = [mask & ~_dtypes.is_nan(items) for mask, items in zip(found, both, strict=True)]
    kept = np.concatenate(list(map(extract, found, both)))
    del found
    values = unique(kept)
    if nans:
        values = np.concatenate((values, unique(np.concatenate(nans), equal_nan=False)))
    return values


def _nan_of(items):
    """The NaN among the distinct items: one, or none."""
    is_nan = _dtypes.is_nan(items)
    if items.dtype.kind == "c" or items.size == 0:
        return unique(extract(is_nan, items))
    first = int(is_nan.argmax())
    return items[first : first + 1][is_nan[first : first + 1]]


def _check_truth(flag):
    """Raise the error of a flag that has no truth value, even if the flag changes nothing."""
    bool(flag)


def _serves(kind, element, test_elements):
    """May fastsel serve this `kind`? If not, NumPy raises its error."""
    if kind != "table":
        return kind == "sort"
    if element.dtype.kind not in "biu" or test_elements.dtype.kind not in "biu":
        return False
    if test_elements.size == 0 or test_elements.dtype.kind == "b":
        return True
    span = int(test_elements.max()) - int(test_elements.min())
    return span <= np.iinfo(test_elements.dtype).max


def _among(items, tests, invert):
    """Which items are among the tests, or are not; None if NumPy serves the call."""
    if items.dtype.kind == "O" and tests.dtype.kind == "O":
        return _membership.among_objects(items, tests, invert)
    tests = _membership.as_dtype_of(items, tests)
    if tests is None:
        return None
    found = _membership.masks(items, tests, WantedMasks(True, False, invert))
    return found and found[0]


def _plain(*arrays):
    """The arrays, flat; None if the class of one needs NumPy or its own library."""
    if any(map(_gate.overrides, arrays)):
        return None
    found = []
    for array in arrays:
        plain = _gate.plain(array)
        array = np.asanyarray(array) if plain is None else plain
        if type(array) is not np.ndarray:
            return None
        found.append(array.ravel())
    return found


def _together(ar1, ar2):
    """The arrays, flat and of their common dtype; None if NumPy serves the call."""
    arrays = _plain(ar1, ar2)
    if arrays is None:
        return None
    one, other = (array.dtype for array in arrays)
    if one == other and one.isnative:
        return arrays
    if not _membership.compares_exactly(one, other):
        return None
    common = np.result_type(one, other)
    if common.kind == "f" and one.kind + other.kind in ("iu", "ui"):  # not exact if large
        return None
    return [array.astype(common, copy=False) for array in arrays]
