"""isin: signature, docstring, and whose answer it is."""

from __future__ import annotations

from typing import Literal, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastsel._core import _gate
from fastsel._sets import _membership, _slices
from fastsel._sets._membership import WantedMasks


def isin(
    element: ArrayLike,
    test_elements: ArrayLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: Literal["sort", "table"] | None = None,
    axis: SupportsIndex | None = None,
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
    axis : int, optional
        Take the slices along this axis as items. The arrays have the same lengths along the others.

    Returns
    -------
    ndarray of bool, shape of `element`, or (length of the axis,)
        NaN and NaT are among nothing, nor are slices that have one.

    Raises
    ------
    ValueError
        If `kind` is another one, or is 'table' and the items are not integers or bool, or slices.
    RuntimeError
        If `kind` is 'table' and the range of the test elements exceeds their dtype's maximum.
    AxisError, TypeError, ValueError
        If `axis` is out of range, no integer, or the arrays differ along another axis.

    Notes
    -----
    Expected time is linear in both sizes; keys made to collide cannot slow it beyond a small
    multiple of a sort. Extra memory, for items of 4 or 8 bytes, is up to 2.5 times both arrays, or
    24 MB if that is more; strided arrays are copied once more. The result is the same for every
    number of threads and every seed. Integers are compared as the numbers they are. Objects,
    StringDType, structured dtypes, pairs of dtypes that NumPy does not compare as they are, such as
    8 byte integers and floats, go to NumPy. Slices are compared as by `unique` with an axis, in the
    common dtype; subclasses are taken as plain arrays then.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.isin([[1, 2], [3, 4]], [4, 2, 7])
    array([[False,  True],
           [False,  True]])
    >>> fastsel.isin([1, 2, 3], [2], invert=True)
    array([ True, False,  True])
    >>> fastsel.isin([[1, 2], [3, 4], [2, 1]], [[3, 4], [1, 2]], axis=0)
    array([ True,  True, False])
    """
    axis = _slices.checked_axis(axis, element=element, test_elements=test_elements)
    if not (_gate.overrides(element) or _gate.overrides(test_elements)):
        element, test_elements = np.asarray(element), np.asarray(test_elements)
        if axis is not None:
            if kind is not None and not (isinstance(kind, str) and kind == "sort"):
                raise ValueError(f"kind must be None or 'sort' with an axis, got {kind!r}")
            return among(*_slices.along(axis, element, test_elements), bool(invert))
        if kind is None or (isinstance(kind, str) and _serves(kind, element, test_elements)):
            found = among(element.ravel(), test_elements.ravel(), bool(invert))
            if found is not None:
                return found.reshape(element.shape)
    arguments = _gate.given(assume_unique=assume_unique, invert=invert, kind=kind, axis=axis)
    return _gate.library(element, test_elements).isin(element, test_elements, **arguments)


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


def among(items, tests, invert):
    """Which items are among the tests, or are not; None if NumPy has to say it."""
    if items.dtype.kind == "O" and tests.dtype.kind == "O" and items.ndim == 1:
        return _membership.among_objects(items, tests, invert)
    given = tests
    tests = _membership.as_dtype_of(items, tests)
    if tests is None and items.ndim > 1:
        common = np.result_type(items, given)
        items, tests = items.astype(common), given.astype(common)
    if tests is None:
        return None
    found = _membership.masks(items, tests, WantedMasks(True, False, invert))
    return found and found[0]
