"""remap: signature, docstring and checks. The lookup is that of index_in; it writes values instead
of positions."""

from __future__ import annotations

import math
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastsel._core import _dtypes, _gate, results
from fastsel._core._typing import ArrayLikeOf, Scalar
from fastsel._sets._index_in import comparable, find, index_of
from fastsel._sets.lookup_output import Output

# The default of `default`: an item that is not among the keys is an error.
NO_DEFAULT = np._NoValue

Out = TypeVar("Out", bound=NDArray[Any])


@overload
def remap(
    a: ArrayLike,
    keys: ArrayLike,
    values: ArrayLikeOf[Scalar],
    *,
    default: ArrayLike = ...,
    out: None = None,
) -> NDArray[Scalar]: ...
@overload
def remap(
    a: ArrayLike, keys: ArrayLike, values: ArrayLike, *, default: ArrayLike = ..., out: Out
) -> Out: ...
def remap(
    a: ArrayLike,
    keys: ArrayLike,
    values: ArrayLike,
    *,
    default: ArrayLike = NO_DEFAULT,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """The array `a` with each item replaced: an item that equals ``keys[j]`` becomes ``values[j]``.

    Parameters
    ----------
    a : array_like, any shape
        Any dtype; read only, never modified.
    keys : array_like, shape (n,)
        Any dtype; read only, never modified. If keys are equal, the first one counts.
    values : array_like, shape (n, ...)
        A value, or a row of values, for each key. Any dtype; read only, never modified.
    default : array_like, optional
        The value for items that are not among the keys: one value for all items, or an array that
        broadcasts to the shape of the result. ``default=a`` keeps these items. Without a default,
        they are an error.
    out : ndarray, optional
        Array for the result, of the shape of the result and the dtype of `values`. It may be `a`,
        or overlap another argument.

    Returns
    -------
    ndarray of the dtype of `values`, shape a.shape + values.shape[1:]
        The values, C-contiguous; or `out`.

    Raises
    ------
    ValueError
        If there is no default and an item is not among the keys: the message names the first such
        item in C order, and its position. If `keys` is not 1-d, `values` has another length,
        `default` does not broadcast, or `out` has another shape or is read-only.
    TypeError
        If the dtype of `values` cannot hold the default: an array needs a dtype that NumPy casts
        safely to the dtype of `values`; a single number needs a kind that this dtype can hold (no
        float for integers), and a value that fits (floats round it); a string must not be longer;
        and a time must be NumPy's (no datetime object). If `out` is not an array of the dtype of
        `values`, or if the dtypes of `a` and `keys` are as in the TypeError of `index_in`.

    Notes
    -----
    **Equality** is that of `index_in`. NaN and NaT equal no key, so they become the default.

    **Time and memory.** Time and memory are those of `index_in`, but no positions are written: the
    lookup writes the values. Integers of a narrow range are looked up in a table. With `out`, the
    result is a new array first, and is copied then, if an item could be missing or `out` is not
    C-contiguous or overlaps another argument. Values with references (objects, StringDType) are
    copied by NumPy. `out` is unchanged if an error is raised.

    **Threads.** The result, and the error, are the same for every number of threads and every seed.

    **Subclasses** are treated as base-class arrays (a masked array without its mask).

    Examples
    --------
    >>> import fastsel
    >>> fastsel.remap([[1, 2], [2, 7]], keys=[1, 2, 7], values=[10, 20, 70])
    array([[10, 20],
           [20, 70]])
    >>> fastsel.remap(["b", "x"], ["a", "b"], [0, 1], default=-1)
    array([ 1, -1])
    >>> labels = [0, 5, 9, 5]
    >>> fastsel.remap(labels, [5], [1], default=labels)
    array([0, 1, 9, 1])
    >>> fastsel.remap([3, 1], [1, 3], [[255, 0, 0], [0, 0, 255]])
    array([[  0,   0, 255],
           [255,   0,   0]])
    """
    library = _gate.library(a, keys, values, default)
    if not _gate.is_numpy(library):
        options = {} if default is NO_DEFAULT else {"default": default}
        return library.remap(a, keys, values, **options, **_gate.non_defaults(out=out))
    items, keys = _gate.as_array("a", a), _gate.as_array("keys", keys)
    values = _gate.as_array("values", values)
    check_keys(keys, values)
    shape = items.shape + values.shape[1:]
    if default is not NO_DEFAULT:
        default = _fitting_default(default, values, shape)
    if out is not None:
        _gate.check_out(out, shape, values.dtype, "the dtype of values")
    if 0 in shape or not _dtypes.movable(values.dtype):
        result = _by_index(items, keys, values, default, shape)
    else:
        result = _by_lookup(items, keys, values, default, out, shape)
    if out is not None and result is not out:
        out[...] = result
    return result if out is None else out


def check_keys(keys, values):
    """Raise ValueError unless there is one value, or row of values, for each key."""
    if keys.ndim != 1:
        raise ValueError(f"keys must be 1-d, got shape {keys.shape}")
    if values.ndim == 0 or values.shape[0] != keys.shape[0]:
        raise ValueError(
            f"values must have one value, or row, for each of {keys.shape[0]} keys, got shape "
            f"{values.shape}"
        )


def check_default(default, dtype, shape):
    """Raise an error unless an array with this dtype can hold the default, which broadcasts to this
    shape."""
    if not (np.can_cast(default.dtype, dtype, "safe") or _fits(default, dtype)):
        given = repr(default.item()) if default.ndim == 0 else f"dtype {default.dtype}"
        raise TypeError(f"default must fit the dtype of values, {dtype}, got {given}")
    try:
        np.broadcast_to(default, shape)
    except ValueError:
        raise ValueError(
            f"default must broadcast to the shape of the result, {shape}, got {default.shape}"
        ) from None


def _fits(default, dtype):
    """Can a dtype hold a single number or time? A float may be rounded."""
    kinds = default.dtype.kind + dtype.kind
    same_kind = set(kinds) <= {"i", "u"} or np.can_cast(default.dtype, dtype, "same_kind")
    if default.ndim > 0 or not same_kind:
        return False
    with np.errstate(all="ignore"):
        cast = default.astype(dtype)
        if kinds[1] in "fc":  # each part of a complex number
            parts = (cast.real, default.real), (cast.imag, default.imag)
            return all(np.isfinite(one) == np.isfinite(other) for one, other in parts)
        return bool(cast == default or (_dtypes.is_nan(cast) and _dtypes.is_nan(default)))


def as_stored(default, dtype):
    """A default that is no array, as an array of this dtype, if it has objects or missing strings:
    np.asarray would make strings of ["a", 5], and an array of objects of a missing string."""
    if hasattr(default, "dtype") or not (dtype.kind == "O" or hasattr(dtype, "na_object")):
        return default
    objects = np.array(default, object)
    if dtype.kind == "T" and not all(
        isinstance(item, str) or item is dtype.na_object for item in objects.ravel().tolist()
    ):
        return default
    return objects.astype(dtype, copy=False)


def _fitting_default(default, values, shape):
    """The default, C-contiguous and in the dtype of the values: one value, or row, for all items;
    or an array of the shape of the result."""
    default = _gate.as_array("default", as_stored(default, values.dtype))
    check_default(default, values.dtype, shape)
    shape = values.shape[1:] if default.ndim < values.ndim else shape
    return np.asarray(_dtypes.cast(np.broadcast_to(default, shape), values.dtype), order="C")


def _by_lookup(items, keys, values, default, out, shape):
    """The result for values that are copied as bytes: `out`, if it may be written to before all
    items have been found, or a new array."""
    has_default = default is not NO_DEFAULT
    arrays = items, keys, values, default
    if out is None or not (
        has_default
        and out.flags.c_contiguous
        and not any(np.may_share_memory(out, array) for array in arrays)
    ):
        out = results.empty(shape, values.dtype)
    compared = comparable(items.ravel(), keys)
    if compared is None:
        if not has_default:
            raise missing(items, 0, keys_dtype=keys.dtype)
        out[...] = default
        return out
    flat, keys, positions = compared
    values = np.ascontiguousarray(values if positions is None else values[positions])
    output = Output(len(flat), values, default if has_default else None, out)
    find(flat, keys, output)
    if not has_default and output.first_missing >= 0:
        raise missing(items, output.first_missing)
    return out


def _by_index(items, keys, values, default, shape):
    """The result for values that NumPy copies, and for results without items."""
    index = index_of(items.ravel(), keys)
    found = index >= 0
    width = math.prod(values.shape[1:])

    def elements(rows):
        # NumPy 2.0 damages strings of StringDType when an index selects whole rows of them.
        return rows[:, None] * width + np.arange(width)

    flat = values.reshape(-1)
    if default is NO_DEFAULT:
        if not found.all():
            raise missing(items, found.argmin())
        return flat[elements(index)].reshape(shape)
    result = np.empty(shape, values.dtype)
    result[...] = default
    result.reshape(-1)[elements(found.nonzero()[0])] = flat[elements(index[found])]
    return result


def missing(items, position, start=None, keys_dtype=None):
    """The error for the item at this position in C order, which is not among the keys. `start` is
    the index of the first item in the whole array, of which `items` may be a block. With
    `keys_dtype`, the error says so if strings never equal items of this dtype."""
    index = np.unravel_index(position, items.shape)
    item = items[index]
    shown = repr(getattr(item, "item", lambda: item)()) if items.dtype.kind in "SUTO" else item
    cause = ""
    if keys_dtype is not None and (items.dtype.kind in "SUT") != (keys_dtype.kind in "SUT"):
        cause = f", because items of {items.dtype} never equal keys of {keys_dtype}"
    shown = f"{shown:.100}..." if isinstance(shown, str) and len(shown) > 100 else shown
    at = tuple(int(k) + first for k, first in zip(index, start or [0] * len(index), strict=True))
    return ValueError(
        f"item {shown} at position {at[0] if len(at) == 1 else at} of a is not among the keys"
        f"{cause}; `default` gives such items a value"
    )
