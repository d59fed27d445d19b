"""The groups in arrays of Python objects and of StringDType."""

import numpy as np

from fastsel._core import _gate, _threads
from fastsel._unique import _keys, string_objects
from fastsel._unique._groups import KnownGroups, find_groups, inverse_and_counts
from fastsel._unique.groups import COST, Request, values_at
from fastsel._unique.keys import Keys
from fastsel._unique.objects import groups_of_objects, take_objects


def groups_of(flat, request):
    """The Groups of a 1-d array of objects or StringDType; None if NumPy's comparisons decide.

    NumPy's comparisons decide the order of objects that are not all str or all bytes, the order of
    strings of which some are missing and not NaN, and the equality of objects without a hash. In a
    Python without the GIL another thread may replace objects meanwhile, so a copy of the array is
    used, which has its own references.
    """
    if not _gate.HAS_GIL and flat.dtype.kind == "O":
        flat = flat.copy()
    if flat.dtype.kind == "T":
        groups = _hashed_strings(flat)
        if groups is not None:
            return groups
    items = flat if flat.dtype.kind == "O" else flat.astype(object)
    if runs := string_objects.find_runs(items):
        starts, direction = runs
        outputs = inverse_and_counts(starts, len(items), request)
        groups = KnownGroups(items[starts], starts, *outputs, direction)
    else:
        groups = _hashed_strings(items)
    if groups is None:
        if request.ascending and (
            items is flat or not all(isinstance(x, str) or differs_from_itself(x) for x in items)
        ):
            return None
        return groups_by_hash(flat, request)
    if items is not flat:
        groups.values = flat[groups.index]
    return groups


def groups_by_hash(flat, request):
    """The Groups by Python's hash and equality; None if an object has no hash. With equal_nan, all
    NaN are one group; otherwise each NaN is a group. A missing string counts as NaN if it does not
    equal itself, or if this comparison raises an error."""
    items = flat.tolist()
    missing, if_it_raises = object(), flat.dtype.kind == "T"
    keys = (
        (missing if request.equal_nan else object()) if differs_from_itself(x, if_it_raises) else x
        for x in items
    )
    keys = np.fromiter(keys, object, len(items))
    try:
        first_positions, inverse = groups_of_objects(keys, request.inverse or request.counts)
    except TypeError:
        return None
    index = np.array(first_positions, np.intp)
    counts = np.bincount(inverse) if request.counts else None
    return KnownGroups(flat[index], index, inverse, counts)


def differs_from_itself(item, if_it_raises=False):
    """Does the object differ from itself? Returns if_it_raises if the comparison raises."""
    try:
        return bool(item != item)
    except Exception:  # the functions that compare objects raise it again
        return if_it_raises


def _hashed_strings(array):
    """The Groups of a 1-d array of str objects, of bytes objects, or of StringDType, in order of
    first occurrence; None for other arrays, and if a string is missing.

    The keys are hashes of 8 bytes, and each string is compared with the first string of its hash.
    Also returns None if these strings differ: because two different strings have one hash (for each
    pair of strings, the chance is 1 in 2^64), or because another thread has changed the array.
    """
    threads = _threads.for_bytes(array.nbytes, COST)
    hashes = string_objects.hash_strings(array, _keys.SEEDS, threads)
    if hashes is None:
        return None
    keys = Keys(hashes, _keys.raw_rule(), _keys.SEEDS)
    groups = find_groups(keys, hashes, Request(True, True, True, ascending=False))
    index, (inverse, counts) = groups.index, groups.finish(None)
    if array.dtype.kind == "O":
        values = take_objects(array, index)
        is_equal = string_objects.each_equals(array, values, inverse, threads)
    else:
        values = array[index]
        is_equal = string_objects.each_equals(array, array, values_at(index, inverse), threads)
    return KnownGroups(values, index, inverse, counts) if is_equal else None
