"""isin and the functions of sorted sets: signatures, docstrings, and what is made of two masks.

_membership finds which items are among those of the other array; unique puts what is kept into
order.
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
        Changes nothing: the result is right, and as fast, either way.
    invert : bool, optional
        Say which items are not among them.
    kind : {None, 'sort', 'table'}, optional
        Changes nothing but NumPy's errors for 'table': fastsel chooses by the items.

    Returns
    -------
    ndarray of bool, shape of `element`
        NaN and NaT are among nothing.

    Raises
    ------
    ValueError
        If `kind` is another one, or is 'table' and the items are not integers or bool.
    RuntimeError
        If `kind` is 'table' and the range of the test elements exceeds their dtype's maximum.

    Notes
    -----
    Expected time is linear in both sizes; keys made to collide cannot slow it beyond a small
    multiple of a sort. Extra memory, for items of 4 or 8 bytes, is up to 2.5 times both arrays, or
    24 MB if that is more; strided arrays are copied once more. The result is the same for every
    number of threads and every seed. Integers are compared as the numbers they are. Objects,
    StringDType, structured dtypes, pairs of dtypes that NumPy does not compare as they are, such as
    8 byte integers and floats, go to NumPy.

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
        Of equal items, the bits of the first one in `ar1`. NaN and NaT equal nothing.
    index1, index2 : ndarray of intp, shape (k,)
        One array if only the values are asked for, otherwise a tuple.

    Raises
    ------
    TypeError
        If the arrays have no common dtype, or objects cannot be ordered.

    Notes
    -----
    As `isin`, and then as `unique` of the items that are in both; these take extra memory, too.
    What isin or unique leaves to NumPy, and subclasses, go to NumPy.

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
    size = min(len(index1), len(index2))  # which differ if another thread writes to the arrays
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
        Of equal items, the bits of the first one. All NaN are one value.

    Raises
    ------
    TypeError
        If the arrays have no common dtype, or objects cannot be ordered.

    Notes
    -----
    As `unique` of both arrays, one after the other.

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
        Return them as they come in `ar1`, repeated ones, too.

    Returns
    -------
    ndarray of ar1's dtype, shape (k,)
        All NaN are one value, whatever `ar2` has.

    Raises
    ------
    TypeError
        If the arrays have no common dtype, or objects cannot be ordered.

    Notes
    -----
    As `isin`, and then as `unique` of the items that are left; these take extra memory, too.

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
        The NaN of each array are one value, and not the same as the other array's.

    Raises
    ------
    TypeError
        If the arrays have no common dtype, or objects cannot be ordered.

    Notes
    -----
    As `intersect1d`.

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
    """What `unique` makes of the NaN among the items, which is one of them, or none."""
    is_nan = _dtypes.is_nan(items)
    if items.dtype.kind == "c" or items.size == 0:
        return unique(extract(is_nan, items))
    first = int(is_nan.argmax())
    return items[first : first + 1][is_nan[first : first + 1]]


def _check_truth(flag):
    """A flag that changes nothing raises its error all the same if it is neither true nor false."""
    bool(flag)


def _serves(kind, element, test_elements):
    """May this kind of numpy.isin be served? If not, it raises its error."""
    if kind != "table":
        return kind == "sort"
    if element.dtype.kind not in "biu" or test_elements.dtype.kind not in "biu":
        return False
    if test_elements.size == 0 or test_elements.dtype.kind == "b":
        return True
    span = int(test_elements.max()) - int(test_elements.min())
    return span <= np.iinfo(test_elements.dtype).max


def _among(items, tests, invert):
    """Which items are among the tests, or are not; None if NumPy has to say it."""
    if items.dtype.kind == "O" and tests.dtype.kind == "O":
        return _membership.among_objects(items, tests, invert)
    tests = _membership.as_dtype_of(items, tests)
    if tests is None:
        return None
    found = _membership.masks(items, tests, WantedMasks(True, False, invert))
    return found and found[0]


def _plain(*arrays):
    """The arrays, flat; None if one is of a class that NumPy, or its own library, has to see."""
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
    """The arrays, flat and of their common dtype; None if NumPy has to see them."""
    arrays = _plain(ar1, ar2)
    if arrays is None:
        return None
    one, other = (array.dtype for array in arrays)
    if one == other and one.isnative:
        return arrays
    if not _membership.compares_exactly(one, other):
        return None
    common = np.result_type(one, other)
    if common.kind == "f" and one.kind + other.kind in ("iu", "ui"):  # large ones are not exact
        return None
    return [array.astype(common, copy=False) for array in arrays]
