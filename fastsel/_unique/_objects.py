"""The algorithms for 1-d arrays of Python objects and of StringDType, which have no keys."""

import numpy as np

from fastsel._core import _gate
from fastsel._unique import _keys, string_objects
from fastsel._unique._algorithms import ALGORITHMS, KnownGroups, find_groups, inverse_and_counts
from fastsel._unique.groups import Request, values_at
from fastsel._unique.keys import Keys
from fastsel._unique.objects import groups_of_objects, take_objects


def own_items(array):
    """The array, or a copy of it: C-contiguous, and aligned. In a Python without the GIL another
    thread may replace objects meanwhile, so objects are copied: the copy has its own references."""
    array = np.require(array, requirements="CA")  # with an axis, it may have any strides
    return array if _gate.HAS_GIL or array.dtype.kind != "O" else array.copy()


class StringRuns(KnownGroups):
    """Objects that are all str, or all bytes, and ascend or descend already."""

    def find(self):
        items = self.search.rows
        runs = string_objects.find_runs(items) if items.dtype.kind == "O" else None
        if not runs:
            return False
        starts, direction = runs
        extras = inverse_and_counts(starts, len(items), self.search.request)
        return self.know(items[starts], starts, *extras, direction)


class HashedStrings(KnownGroups):
    """Objects that are all str, or all bytes, or StringDType: groups in order of first occurrence.
    Gives way if a string is missing.

    The keys are hashes of 8 bytes, and each string is compared with the first string of its hash.
    Also gives way if these strings differ: because two different strings have one hash (for each
    pair of strings, the chance is 1 in 2^64), or because another thread has changed the array.
    """

    def find(self):
        array, threads = self.search.rows, self.search.threads
        hashes = string_objects.hash_strings(array, _keys.SEEDS, threads)
        if hashes is None:
            return False
        keys = Keys(hashes, _keys.raw_rule(), _keys.SEEDS)
        groups = find_groups(keys, hashes, Request(True, True, True, ascending=False))
        index, (inverse, counts) = groups.index, groups.finish(None)
        if array.dtype.kind == "O":
            values = take_objects(array, index)
            is_equal = string_objects.each_equals(array, values, inverse, threads)
        else:
            values, firsts = array[index], values_at(index, inverse)
            is_equal = string_objects.each_equals(array, array, firsts, threads)
        return is_equal and self.know(values, index, inverse, counts)


class HashedObjects(KnownGroups):
    """Groups by Python's hash and equality, in order of first occurrence. Gives way if an object
    has no hash. Also gives way if the groups are to ascend and NumPy's comparisons decide their
    order: for objects, and for strings if some are missing and not NaN."""

    def find(self):
        rows = self.search.rows
        if self.search.request.ascending and (
            rows.dtype.kind == "O"
            or not all(isinstance(x, str) or differs_from_itself(x) for x in rows.tolist())
        ):
            return False
        return self.find_in_any_order()

    def find_in_any_order(self):
        """`find`, if the caller orders the groups. With equal_nan, all NaN are one group; otherwise
        each NaN is a group. A missing string counts as NaN if it does not equal itself, or if this
        comparison raises an error."""
        flat, request = self.search.rows, self.search.request
        items, if_it_raises = flat.tolist(), flat.dtype.kind == "T"
        nan = object() if request.equal_nan else None
        keys = (nan or object() if differs_from_itself(x, if_it_raises) else x for x in items)
        keys = np.fromiter(keys, object, len(items))
        try:
            first_positions, inverse = groups_of_objects(keys, request.inverse or request.counts)
        except TypeError:
            return False
        index = np.array(first_positions, np.intp)
        counts = np.bincount(inverse) if request.counts else None
        return self.know(flat[index], index, inverse, counts)


def differs_from_itself(item, if_it_raises=False):
    """Does the object differ from itself? Returns if_it_raises if the comparison raises."""
    try:
        return bool(item != item)
    except Exception:  # the functions that compare objects raise it again
        return if_it_raises


ALGORITHMS.update(
    string_runs=StringRuns, hashed_strings=HashedStrings, hashed_objects=HashedObjects
)
