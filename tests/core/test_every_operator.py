"""Every operator equals the reference, for every layout that arrays of the dtype can have, and 1,
2, 3 and 7 threads. The calls of OPERATORS run for every dtype. The calls of
OPERATORS_FOR_FEWER_DTYPES do not run for objects, StringDType and structures."""

import numpy as np
import pytest
import reference
from arrays import BYTES_DTYPES, DTYPES, STRUCT_DTYPES, make, objects
from comparison import assert_same
from layouts import LAYOUTS, has_layout
from marks import SIGNALLING_NANS

import fastsel

pytestmark = SIGNALLING_NANS


def mask_of_every_third(*shape):
    """A mask of this shape; one item of three is True."""
    return np.arange(np.prod(shape)).reshape(shape) % 3 == 1


def unique_in_both_orders(module, a):
    return tuple(module.unique(a, True, True, True, sorted=flag) for flag in (True, False))


def unique_along_an_axis(module, a):
    return tuple(module.unique(a, True, True, True, 0, sorted=flag) for flag in (True, False))


def positions_in_other_dtypes(module, a):
    return (
        *module.nonzero(a, dtype="i4"),
        module.flatnonzero(a, dtype="u4"),
        module.argwhere(a, dtype="u1"),
        module.argwhere(a, dtype=">i8"),
    )


def first_nonzero_along_axes(module, a):
    axes = (None, 0, 1, (0, 1), ())
    return tuple(module.first_nonzero(array, axis) for array in (a, a[3:]) for axis in axes)


def sets_of_slices(module, a):
    return (
        module.isin(a, a[1:3], axis=0),
        *module.intersect1d(a[:, ::2], a[:, 1:4], return_indices=True, axis=1),
        module.union1d(a, a[::-1], axis=0),
        module.setdiff1d(a, a[1:3], axis=0),
        module.setxor1d(a[2:], a[:-1], axis=0),
    )


# Functions with two arguments: a module, which is fastsel or the reference, and an array.
OPERATORS = {
    "nonzero": lambda module, a: module.nonzero(a),
    "flatnonzero": lambda module, a: module.flatnonzero(a),
    "argwhere": lambda module, a: module.argwhere(a),
    "indices of other dtypes": positions_in_other_dtypes,
    "count_nonzero": lambda module, a: module.count_nonzero(a),
    "first_nonzero": first_nonzero_along_axes,
    "nonzero_coordinates": lambda module, a: tuple(module.nonzero_coordinates(a)),
    "compress": lambda module, a: module.compress(mask_of_every_third(len(a)), a, 0),
    "extract": lambda module, a: module.extract(mask_of_every_third(*a.shape), a),
    "boolean_mask": lambda module, a: module.boolean_mask(a, mask_of_every_third(*a.shape[:-1])),
    "unique": unique_in_both_orders,
    "unique_all": lambda module, a: tuple(module.unique_all(a)),
    "unique_counts": lambda module, a: tuple(module.unique_counts(a)),
    "unique_inverse": lambda module, a: tuple(module.unique_inverse(a)),
    "unique_values": lambda module, a: module.unique_values(a),
    "group_indices": lambda module, a: tuple(module.group_indices(a, sorted=False)),
    "gather_nd": lambda module, a: module.gather_nd(a, [[0, 2], [-1, -2], [1, 1]]),
}
# For objects, StringDType and structures, some of these calls raise, and NumPy serves others.
OPERATORS_FOR_FEWER_DTYPES = {
    "count_nonzero along an axis": lambda module, a: module.count_nonzero(a, 0),
    "unique along an axis": unique_along_an_axis,
    "group_indices along an axis": lambda module, a: tuple(module.group_indices(a, 0)),
    "group_indices, ascending": lambda module, a: tuple(module.group_indices(a)),
    "isin": lambda module, a: module.isin(a, a[1:3]),
    "index_in": lambda module, a: module.index_in(a, a[1:3]),
    "index_in along an axis": lambda module, a: module.index_in(a, a[::-2], 0),
    "intersect1d": lambda module, a: module.intersect1d(a, a[:2], return_indices=True),
    "union1d": lambda module, a: module.union1d(a, a[::-1]),
    "setdiff1d": lambda module, a: module.setdiff1d(a, a[1:3]),
    "sets of slices": sets_of_slices,
    "setxor1d": lambda module, a: module.setxor1d(a[2:], a[:-1]),
}


@pytest.mark.parametrize("name", DTYPES)
def test_every_operator_equals_the_reference(name, each_num_threads):
    operators, dtype = OPERATORS, DTYPES[name]
    if name in BYTES_DTYPES and name not in STRUCT_DTYPES:
        operators = OPERATORS | OPERATORS_FOR_FEWER_DTYPES
    items = objects(*[0, 3, 1, 2, 0] * 18) if name == "object" else make(name, 90)
    arrays = {
        layout: lay(items.reshape(15, 6))
        for layout, lay in LAYOUTS.items()
        if has_layout(dtype, layout)
    }
    arrays["rows_backwards"] = arrays["C"][::-1]
    arrays["columns_backwards"] = arrays["readonly"][:, ::-1]
    if "swapped" in arrays:
        arrays["swapped_backwards"] = arrays["swapped"][::-1]
    expected = {
        (layout, operator): call(reference, array)
        for layout, array in arrays.items()
        for operator, call in operators.items()
    }
    for _ in each_num_threads:
        for (layout, operator), result in expected.items():
            assert_same(operators[operator](fastsel, arrays[layout]), result)
