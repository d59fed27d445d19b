"""index_in: signature, docstring, and the choice of an algorithm, for `remap`, too.

The choice is as in _membership: a few tests are compared with each item, words of a narrow range
have a direct-address table, other keys are hashed. `unique` groups items without keys, and keys
that need too many probes. Objects have their own algorithms.
"""

from __future__ import annotations

from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastsel._core import _dtypes, _gate, _numpy, _threads
from fastsel._sets import _axis, _membership, few_tests
from fastsel._sets.lookup_output import Output
from fastsel._sets.table_lookup import (
    find_by_partitions,
    find_by_table,
    find_by_table_of_items,
    find_in_few_keys,
)
from fastsel._unique import _keys, _plan
from fastsel._unique._unique import unique
from fastsel._unique.groups import Request
from fastsel._unique.tables import Tables

_NUMBER_KINDS = set("biufc")


def index_in(
    element: ArrayLike, test_elements: ArrayLike, axis: SupportsIndex | None = None
) -> NDArray[np.intp]:
    """Where each item of `element` first occurs among the test elements; -1 if it does not occur.

    Parameters
    ----------
    element : array_like, any shape
        Any dtype; read only, never modified.
    test_elements : array_like, any shape
        Any dtype; read only, never modified. Items may be repeated, in any order.
    axis : int, optional
        Look for the slices of `element` along this axis among the slices of `test_elements`,
        instead of the items. The arrays must have the same lengths along all other axes.

    Returns
    -------
    ndarray of intp, shape of `element`; with `axis`, shape (length of that axis of `element`,)
        For each item, the position of the first equal item in the flattened test elements, or along
        the axis. As in `isin`, NaN and NaT, and slices with NaN or NaT, never match.

    Raises
    ------
    AxisError, TypeError
        If `axis` is out of range or not an integer, or if slices have objects or StringDType.
    TypeError
        If an argument is a set, a dict or an iterator: ``list(...)`` makes an array_like. If both
        dtypes are of one kind, but have no common dtype: for example, structured dtypes
        with different fields, or timedelta64 in years and in days.
    ValueError
        With `axis`, if the arrays differ in the number of dimensions or in length along another
        axis.

    Notes
    -----
    **Equality.** Numbers are compared as in `isin`; numbers of ml_dtypes are compared as float32,
    and an 8 byte integer and a float as floats. Objects are compared with ``==``. Items of dtypes
    that NumPy does not compare, such as numbers and strings, are never equal. Two structured items,
    or two strings of StringDType, are equal if `unique` puts them into one group.

    **Time and memory.** Time and memory are those of `isin`, and 8 bytes for each item of
    `element`. If objects are not all Python numbers, str, bytes, None, dates, Decimal, Fraction,
    UUID, scalars of pandas, or tuples of these, each object is compared with each test element.

    **Threads.** The result is the same for every number of threads and every seed.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.index_in([[1, 2], [3, 4]], [4, 2, 7, 2])
    array([[-1,  1],
           [-1,  0]])
    >>> fastsel.index_in(["b", "x"], ["a", "b", "c"])
    array([ 1, -1])
    >>> fastsel.index_in([[5, 6], [1, 2]], [[1, 2], [3, 4]], axis=0)
    array([-1,  0])
    >>> fastsel.index_in([1.5], [])
    array([-1])
    """
    if _gate.overrides(element) or _gate.overrides(test_elements):
        library = _gate.library(element, test_elements)
        if not _gate.is_numpy(library):
            return library.index_in(element, test_elements, **_gate.non_defaults(axis=axis))
    items = _gate.as_array("element", element)
    tests = _gate.as_array("test_elements", test_elements)
    axis = _axis.checked_axis(axis, element=items, test_elements=tests)
    if axis is None:
        index = index_of(items.ravel(), tests.ravel())
        return index if items.ndim == 1 else index.reshape(items.shape)
    return index_of(*_axis.with_axis_first(axis, items, tests))


def index_of(items, tests):
    """The position of the first test that equals each item, or slice along axis 0; or -1."""
    if items.size == 0 and len(tests) > 0:  # slices without items are equal
        return np.zeros(len(items), np.intp)
    compared = comparable(items, tests)
    if compared is None:
        return np.full(len(items), -1)
    items, tests, positions = compared
    index = find(items, tests, Output(len(items)))
    return index if positions is None else np.where(index < 0, index, positions[index])


def comparable(items, tests):
    """(items, tests, positions): items and tests, or slices along axis 0, in one dtype, and the
    positions of these tests among all tests. The positions are None if they are all tests. Returns
    None if no item can equal a test."""
    if len(items) == 0 or len(tests) == 0:
        return None
    if "O" in (items.dtype.kind, tests.dtype.kind):
        return items.astype(object), tests.astype(object), None
    items, tests = _dtypes.without_fields(items), _dtypes.without_fields(tests)
    if items.dtype != tests.dtype:  # NumPy may have no common dtype for a small foreign dtype
        items, tests = map(_dtypes.without_small_foreign, (items, tests))
    tests, first = _membership.fewer_to_convert(items, tests)
    cast = _membership.converted(items, tests)
    if cast is None:
        if not _are_comparable(items.dtype, tests.dtype):
            return None
        both = np.result_type(items, tests)
        return _dtypes.cast(items, both), _dtypes.cast(tests, both), first
    tests, mask = cast
    if mask is None:
        return items, tests, first
    held = _numpy.flatnonzero(mask)
    positions = held if first is None else first[held]
    return (items, tests[held], positions) if len(held) else None


def _are_comparable(one, other):
    """Can items of two different dtypes be equal? NumPy compares timedelta64 with integers that fit
    int64."""
    kinds = {one.kind, other.kind}
    if len(kinds) == 1 or kinds == {"U", "T"}:
        return True
    if "m" in kinds:
        number = other if one.kind == "m" else one
        return number.kind in "biu" and np.can_cast(number, np.int64)
    return kinds <= _NUMBER_KINDS


def find(items, tests, output):
    """The result of `output`, which is written for the first test that equals each item, or slice
    along axis 0. The arrays are `comparable`."""
    if items.dtype.kind == "O":
        return _write_all(output, _index_of_objects(items, tests))
    forced = _plan.FORCED.get()
    rule = None
    if items.ndim == 1 and forced is None:
        rule = _keys.loaded_rule(items.dtype, False)
    if rule and few_tests.are_few(tests, words=True):
        threads = _threads.for_bytes(items.nbytes * len(tests))
        return few_tests.find_in_few(items, tests, rule, output, threads)
    if rule and _membership.are_hashed_at_once(items, tests):
        result = find_in_few_keys(items, tests, rule, _keys.SEEDS, output)
        if result is not None:
            return result
    if max(len(items), len(tests)) > _membership.MAX_KEYS:
        return _write_all(output, _by_pieces(items, tests))
    result = None
    if items.dtype.kind != "T":
        keys = _keys.keys_of(items, False), _keys.keys_of(tests, False)
        if keys[0] is not None:
            result = _by_keys(*keys, output, forced)
    return _write_all(output, _by_unique(items, tests)) if result is None else result


def _write_all(output, index):
    return output.write_all(index, _threads.for_bytes(index.nbytes))


def _by_pieces(items, tests):
    """The index, from the index of each piece of the items in each piece of the tests."""
    index = np.full(len(items), -1)
    for items_piece in _membership.pieces(len(items)):
        for tests_piece in reversed(_membership.pieces(len(tests))):
            piece = items[items_piece]
            found = find(piece, tests[tests_piece], Output(len(piece)))
            is_found = found >= 0
            found += tests_piece.start
            np.copyto(index[items_piece], found, where=is_found)
    return index


def _by_keys(items, tests, output, forced):
    """The result of `output` by a direct-address table, or by hash tables; None if hash tables need
    too many probes, or if another algorithm is `forced`."""
    if forced in (None, "dense"):
        result = _membership.by_window(items, tests, output, False)
        if result is not None:
            return result
    if forced not in (None, "tables", "partitions"):
        return None
    swapped = items.size < tests.size
    table, others = (items, tests) if swapped else (tests, items)
    request = Request(index=True, inverse=swapped, lookups=others.size)
    algorithm, search, expected = _membership.hash_plan(others, table, request, forced)
    result = None
    if algorithm == "tables":
        tables = Tables(search)
        if tables.find():
            look_up = find_by_table_of_items if swapped else find_by_table
            result = look_up(tables, others, output, search.threads)
    if result is None:
        if swapped:
            _, _, expected = _membership.hash_plan(items, tests, request, forced)
        result = find_by_partitions(tests, items, expected, output, search.threads)
    return result


def _index_of_objects(items, tests):
    """The index of objects: by Python's hash if it agrees with ``==``; otherwise each test is
    compared with all items."""
    if _membership.are_hashed_by_value(items.tolist(), tests.tolist()):
        numbered = reversed([*enumerate(tests.tolist())])
        try:
            positions = {test: k for k, test in numbered if test == test}
            index = (positions.get(item, -1) for item in items.tolist())
            return np.fromiter(index, np.intp, len(items))
        except TypeError:  # an object has no hash
            pass
    index = np.full(len(items), -1)
    for k in reversed(range(len(tests))):
        index[(items == tests[k : k + 1]).astype(bool)] = k
    return index


def _by_unique(items, tests):
    """The index by `unique` of tests and items together: if the first occurrence of an item's group
    is a test, it is the first test that equals the item."""
    axis = 0 if items.ndim > 1 else None
    _, index, inverse = unique(
        np.concatenate((tests, items)), True, True, axis=axis, equal_nan=False, sorted=False
    )
    first = index[inverse[len(tests) :]]
    return np.where(first < len(tests), first, -1)
