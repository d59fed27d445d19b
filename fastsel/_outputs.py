"""From values, index, inverse and counts in order of first occurrence to what unique returns."""

from typing import NamedTuple

import numpy as np

from fastsel import _ascending, _engines
from fastsel._kernels import texts


class Wanted(NamedTuple):
    """The outputs beside the values."""

    index: bool
    inverse: bool
    counts: bool


class Found(NamedTuple):
    """All four outputs, None where not wanted; the inverse is flat."""

    values: np.ndarray
    index: np.ndarray | None
    inverse: np.ndarray | None
    counts: np.ndarray | None


def outputs(found, wanted, inverse_shape):
    """What the caller gets of them."""
    extras = []
    if wanted.index:
        extras.append(found.index)
    if wanted.inverse:
        extras.append(found.inverse.reshape(inverse_shape))
    if wanted.counts:
        extras.append(found.counts)
    return (found.values, *extras) if extras else found.values


def ordered(found, wanted, sorted, direction=0):
    """All outputs, of those in order of first occurrence."""
    values, index, inverse, counts = found
    finish = _engines.finished(inverse, counts)
    return arranged(values, index, finish, wanted, sorted, direction)


def arranged(values, index, finish, wanted, sorted, direction):
    """The same from values and index in order of first occurrence, what Firsts finish with, and
    whether the values ascend (1) or descend (-1)."""
    order = places = inverse = counts = None
    if sorted and direction < 0:
        order = slice(None, None, -1)
        places = np.arange(len(values) - 1, -1, -1) if wanted.inverse else None
    elif sorted and direction == 0:
        ascending = None if any(wanted) else _ascending.sort(values)
        if ascending is not None:
            values = ascending
        else:
            order, places = _ascending.argsort(values, wanted.inverse)
    if wanted.inverse or wanted.counts:
        inverse, counts = finish(places)
    if order is not None:
        values = _in_order(values, order)
        index = _in_order(index, order) if wanted.index else None
        counts = _in_order(counts, order) if wanted.counts else None
    return Found(values, index, inverse, counts)


def _in_order(output, order):
    """An output in the order of the values; order is indices or a slice."""
    if isinstance(order, slice):
        return np.ascontiguousarray(output[order])
    if output.dtype.kind == "O":
        return texts.moved_into_order(output, order)
    return output.take(order, axis=0)
