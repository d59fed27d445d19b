"""group_indices: signature, docstring, and the choice of how the positions are found."""

from __future__ import annotations

from typing import SupportsIndex

import numpy as np

from fastsel._core import _gate
from fastsel._core._typing import ArrayLikeOf, Scalar
from fastsel._unique import _unique
from fastsel._unique._outputs import positions_of_groups
from fastsel._unique._results import GroupIndices
from fastsel._unique.groups import Request


def group_indices(
    ar: ArrayLikeOf[Scalar],
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> GroupIndices[Scalar]:
    """The distinct items, or slices, of an array, and where each of them occurs.

    Parameters
    ----------
    ar : array_like, any shape
        Any dtype; read only, never modified.
    axis : int, optional
        Compare the slices along this axis instead of the items of the flattened array.
    equal_nan, sorted : bool, optional
        As in `unique`; ``sorted=False`` is the order of first occurrence.

    Returns
    -------
    GroupIndices
        Named tuple (values, indices, offsets). `values` are the values that `unique` returns for
        the same arguments. ``indices[offsets[k]:offsets[k + 1]]`` are the ascending positions of
        group k in the flattened array or, with an axis, along the axis. The value of group k is
        ``values[k]`` or, with an axis, ``values.take(k, axis)``. `indices` and `offsets` are of
        intp. `indices` has each position once. `offsets` has one item more than there are groups:
        its first item is 0, and its last item is the number of positions.

    Raises
    ------
    AxisError, TypeError, ValueError
        As for `unique`; TypeError also if `ar` is a set, a dict or an iterator.

    Notes
    -----
    **Time.** Numbers of 4 or 8 bytes and strings of fixed width that ascend already (with
    ``sorted=False``, also if they descend) need neither a sort nor an inverse. With `sorted`, other
    numbers are sorted once, together with their positions, if they have many groups and a wide
    range.

    For other arrays, the inverse is computed as by ``unique(ar, return_inverse=True)``. For up to
    4096 groups, or groups of 8 items on average, two passes over the inverse then count the keys of
    each group and write their positions; for more groups, the inverse is sorted.

    **Memory.** Extra memory is that of `unique`, and up to 21 bytes for each item.

    **Threads.** The result is the same for every number of threads and every seed of the hash.

    **NumPy.** Subclasses are treated as base-class arrays (a masked array without its mask). If
    `unique` passes the base-class array to NumPy, NumPy finds the values and the inverse.

    **Groups.** ``numpy.split(indices, offsets[1:-1])`` makes a list with a view of `indices` for
    each group (without groups, the list has one empty view); a loop, as in the examples, makes a
    dict of these views.

    Examples
    --------
    >>> import fastsel, numpy as np
    >>> values, indices, offsets = fastsel.group_indices(["b", "a", "b", "c", "b"])
    >>> values
    array(['a', 'b', 'c'], dtype='<U1')
    >>> indices
    array([1, 0, 2, 4, 3])
    >>> offsets
    array([0, 1, 4, 5])
    >>> np.split(indices, offsets[1:-1])
    [array([1]), array([0, 2, 4]), array([3])]
    >>> bounds = zip(offsets[:-1], offsets[1:])
    >>> where = {v: indices[i:j] for v, (i, j) in zip(values.tolist(), bounds)}
    >>> where["b"]
    array([0, 2, 4])
    >>> fastsel.group_indices([]).offsets
    array([0])
    """
    if _gate.overrides(ar):
        library = _gate.library(ar)
        if not _gate.is_numpy(library):
            return library.group_indices(
                ar, **_gate.non_defaults(axis=axis, equal_nan=equal_nan, sorted=sorted)
            )
    array = ar if type(ar) is np.ndarray else _gate.as_array("ar", ar)
    request = Request(grouped=True, inverse=True, ascending=sorted, equal_nan=equal_nan)
    rows = _unique.rows_of(array, axis)
    found = None if rows is None else _unique.outputs_of_rows(rows, request)
    if found is not None:
        values, *positions = found
        return GroupIndices(_unique.along(values, axis), *positions)
    values, inverse = _unique.unique(
        array, return_inverse=True, axis=axis, equal_nan=equal_nan, sorted=sorted
    )
    groups = values.shape[0 if axis is None else axis]
    return GroupIndices(values, *positions_of_groups(inverse.reshape(-1), groups))
