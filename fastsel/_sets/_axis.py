"""The axis of the set functions: checks, and views of the slices."""

import math

import numpy as np

from fastsel._core import _gate


def checked_axis(axis, **arrays):
    """The axis of the slices, counted from 0; None if items are compared: without an axis, or if
    both arrays are 1-d. If an array overrides NumPy's functions, its library checks the axis, which
    is returned as it is."""
    if axis is None or any(map(_gate.overrides, arrays.values())):
        return axis
    arrays = {name: _gate.as_array(name, array) for name, array in arrays.items()}
    axis = checked_axis_of_shapes(axis, **{name: array.shape for name, array in arrays.items()})
    for name, array in arrays.items():
        if axis is not None and array.dtype.hasobject:
            raise TypeError(f"{name} must not have objects with an axis, got dtype {array.dtype}")
    return axis


def checked_axis_of_shapes(axis, **shapes):
    """checked_axis of an axis that is not None, from the shapes of two arrays. An unknown length is
    NaN."""
    (first, one), (second, other) = shapes.items()
    axis, _ = (_gate.checked_axis(axis, len(shape)) for shape in (one, other))
    if len(one) != len(other):
        raise ValueError(
            f"{first} and {second} must have the same number of dimensions with an axis, got "
            f"{len(one)} and {len(other)}"
        )
    for k, lengths in enumerate(zip(one, other, strict=True)):
        if k != axis and lengths[0] != lengths[1] and not any(map(math.isnan, lengths)):
            raise ValueError(
                f"{first} and {second} must have the same lengths except along axis {axis}, got "
                f"{lengths[0]} and {lengths[1]} along axis {k}"
            )
    return axis if len(one) > 1 else None


def with_axis_first(axis, *arrays):
    """Views of the arrays, with `axis` moved to axis 0."""
    return [np.moveaxis(np.asarray(array), axis, 0) for array in arrays]
