"""isin: signature, docstring, and the choice whether fastsel or NumPy serves a call."""

from __future__ import annotations

from typing import Literal, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastsel._core import _dtypes, _gate, _numpy
from fastsel._sets import _axis, _membership


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
        Any dtype; read only, never modified. As in NumPy, a set, a dict or an iterator is one
        object, which equals no item: pass ``list(...)`` instead.
    assume_unique : bool, optional
        Changes neither the result nor the speed, unless the call is passed to NumPy: then repeated
        items may give a wrong result.
    invert : bool, optional
        True marks the items that are not among the test elements.
    kind : {None, 'sort', 'table'}, optional
        Checked as in NumPy; then fastsel chooses the algorithm itself, and a range of any width
        fits. A call that is passed to NumPy uses `kind`.
    axis : int, optional
        Compare slices along this axis instead of items. The arrays must have the same lengths along
        all other axes.

    Returns
    -------
    ndarray of bool, shape of `element`; with `axis`, shape (length of that axis of `element`,)
        NaN and NaT never match, and neither do slices with NaN or NaT.

    Raises
    ------
    ValueError
        If `kind` is not None, 'sort' or 'table'; or if it is 'table', and slices are compared or an
        array has items that are neither integers nor bool.
    RuntimeError
        If `kind` is 'table' and the range of the test elements exceeds their dtype's maximum.
    TypeError
        If the arrays have no common dtype; without `axis`, only if there are so many test
        elements that NumPy does not compare them one by one.
    AxisError, TypeError, ValueError
        If `axis` is out of range or not an integer, if slices have objects or StringDType, or if
        the arrays differ in the number of dimensions or in length along another axis.

    Notes
    -----
    **Equality.** Integers are compared exactly. The result is the same for every number of threads
    and every seed.

    **Time.** Expected time is linear in both sizes. Keys made to collide cost no more than a small
    multiple of a sort. This does not hold for objects, which are looked up as in a Python set:
    objects with equal hashes, such as multiples of ``2**61 - 1``, are compared with one another.

    **Memory.** Extra memory, for items of 4 or 8 bytes, is up to 2.5 times both arrays, or 24 MB if
    that is more. In addition, strided arrays are copied.

    **Slices.** Slices are compared as by `unique` with an axis, in the common dtype.

    **Subclasses.** Subclasses are treated as base-class arrays, as in NumPy, unless they override
    NumPy's functions.

    **NumPy.** Structured dtypes, and pairs of dtypes that are not compared exactly, such as 8 byte
    integers and floats, are passed to NumPy, and so are a few complex numbers and long doubles, and
    any long doubles with fewer than 8 test elements. Object arrays are passed to NumPy, too, unless
    there are at least 8 test elements, and both arrays have only objects that `index_in` looks up
    by their hash.

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
    if axis is not None:
        axis = _axis.checked_axis(axis, element=element, test_elements=test_elements)
    if not (_gate.overrides(element) or _gate.overrides(test_elements)):
        element, test_elements = np.asarray(element), np.asarray(test_elements)
        if axis is not None:
            check_truth(assume_unique)
            if kind is not None and not (isinstance(kind, str) and kind == "sort"):
                raise ValueError(f"kind must be None or 'sort' with an axis, got {kind!r}")
            return among(*_axis.with_axis_first(axis, element, test_elements), bool(invert))
        is_served = kind is None or (
            isinstance(kind, str) and _serves_kind(kind, element, test_elements)
        )
        if is_served:
            check_truth(assume_unique)
            if _membership.numpy_is_faster(element, test_elements):
                with np.errstate(invalid="ignore"):  # a signalling NaN would warn
                    return _numpy.isin(element, test_elements, invert=bool(invert))
            mask = among(element.ravel(), test_elements.ravel(), bool(invert))
            if mask is not None:
                return mask if element.ndim == 1 else mask.reshape(element.shape)
    arguments = _gate.non_defaults(assume_unique=assume_unique, invert=invert, kind=kind, axis=axis)
    return _gate.library(element, test_elements).isin(element, test_elements, **arguments)


def _serves_kind(kind, element, test_elements):
    """May fastsel serve this `kind`? If not, NumPy raises its error."""
    if kind != "table":
        return kind == "sort"
    if element.dtype.kind not in "biu" or test_elements.dtype.kind not in "biu":
        return False
    if test_elements.size == 0 or test_elements.dtype.kind == "b":
        return True
    span = int(test_elements.max()) - int(test_elements.min())
    return span <= np.iinfo(test_elements.dtype).max


def among(items, tests, invert):
    """Which items, or slices along axis 0, are among the tests; with `invert`, which are not.
    Returns None if NumPy serves the call."""
    if items.dtype.kind == "O" and tests.dtype.kind == "O" and items.ndim == 1:
        return _membership.among_objects(items, tests, invert)
    items, tests = _dtypes.without_fields(items), _dtypes.without_fields(tests)
    tests, _ = _membership.fewer_to_convert(items, tests)
    cast = _membership.converted(items, tests)
    if cast is None and (items.ndim > 1 or _membership.are_strings(items.dtype, tests.dtype)):
        common = np.result_type(items, tests)
        items, cast = _dtypes.cast(items, common), (_dtypes.cast(tests, common), None)
    if cast is None:
        return None
    tests, mask = cast
    tests = tests if mask is None else tests[mask]
    masks = _membership.masks(items, tests, False, invert)
    return masks and masks[0]


def check_truth(flag):
    """Raise the error of a flag that has no truth value. The result does not depend on the flag."""
    bool(flag)
