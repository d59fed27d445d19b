"""Find the groups of equal keys by the algorithms of the plan."""

import numpy as np

from fastsel._core import _dtypes, _numpy, _threads, results
from fastsel._positions import coordinates, selected_items
from fastsel._unique import _keys, _plan, _sort
from fastsel._unique._outputs import outputs_of
from fastsel._unique.canonical import canonical_keys
from fastsel._unique.decimals import Decimals
from fastsel._unique.dense import Dense
from fastsel._unique.groups import COST, Groups, Request, Search, relabel, values_at
from fastsel._unique.majority import inverse_of_all, mark_others
from fastsel._unique.part_sort import subnormals_are_zero
from fastsel._unique.partitions import Partitions
from fastsel._unique.presorted import Presorted
from fastsel._unique.small_arrays import groups_of_few
from fastsel._unique.sorting import Sorting
from fastsel._unique.tables import Tables


def search_for(keys, rows, request):
    """The Search for the groups of the keys of these items, or slices; keys is None if they have
    none."""
    nbytes = rows.nbytes if keys is None else keys.size * keys.width
    threads = _threads.for_bytes(nbytes, COST)
    return Search(keys, rows, request, threads, 1 if threads == 1 else _threads.for_bytes(nbytes))


def find_groups(keys, rows, request):
    """The Groups: of few keys, at once; otherwise by the first algorithm of the plan that does not
    give way. None if NumPy's comparisons decide, for objects without keys."""
    search = search_for(keys, rows, request)
    groups = groups_of_few(search, _plan.watcher) if _plan.are_few(search) else None
    if groups is not None:
        return groups
    for plan in _plan.plans(search):
        groups = ALGORITHMS[plan.algorithm](search)
        if groups.find():
            _plan.note(*plan)
            return groups
    return None


class KnownGroups(Groups):
    """Groups that `find` finds with their inverse and counts, where these are requested."""

    def know(self, values, index, inverse=None, counts=None, direction=0):
        """Set the groups. Returns True, as `find` does."""
        self.values, self.index, self.direction = values, index, direction
        self._inverse, self._counts = inverse, counts
        return True

    def finish(self, ranks):
        if ranks is not None and self._inverse is not None:
            relabel(ranks, self._inverse, _threads.for_bytes(self._inverse.nbytes))
        return self._inverse, self._counts


def inverse_and_counts(starts, size, request):
    """(inverse, counts) of `size` keys of which equal keys lie side by side, from the start of each
    run; None for outputs that are not requested."""
    inverse = counts = None
    if request.inverse or request.counts:
        counts = np.diff(starts, append=size)
    if request.inverse:
        inverse = np.repeat(np.arange(len(starts)), counts)
    return inverse, counts


class NoItems(KnownGroups):
    """No groups, of an empty array of any dtype."""

    def find(self):
        none = np.empty(0, np.intp)
        return self.know(self.search.rows.copy(), none, none, none, 1)


class PresortedComplex(KnownGroups):
    """Complex numbers that ascend already. NumPy's comparisons are in the order of its sort, and
    NaN is never in order."""

    def find(self):
        rows = self.search.rows
        with np.errstate(invalid="ignore"):  # NaN would warn
            first = rows[:64]
            if not (first[1:] >= first[:-1]).all():
                return False
            rises = rows[1:] > rows[:-1]
            if not (rises.all() or (rises | (rows[1:] == rows[:-1])).all()):
                return False
        starts = np.concatenate(([0], 1 + coordinates.flatnonzero(rises)))
        extras = inverse_and_counts(starts, len(rows), self.search.request)
        return self.know(rows[starts], starts, *extras, 1)


class WithoutMajority(KnownGroups):
    """Searches only the items that differ from the most frequent one, after one pass that marks
    them. Serves numbers, dates and times of 4 or 8 bytes. Gives way if more than half of the items
    differ (a quarter, with positions or in order of first occurrence, which take memory), if the
    most frequent item is a NaN that equals no other, or if the CPU takes subnormal floats for 0."""

    def find(self):
        search, items, request = self.search, self.search.keys.data, self.search.request
        keys, threads, size = search.keys, search.copy_threads, search.size
        are_words = keys.is_ordered and keys.width >= 4
        if not are_words or (items.dtype.kind == "f" and subnormals_are_zero()):
            return False
        mask, first = mark_others(search)
        same = items[first : first + 1].copy()
        by_position = request.index or not request.ascending
        if (4 if by_position or request.inverse else 2) * mask.total > size:
            return False
        if keys.has_unequal_nan and _dtypes.is_nan(same)[0]:
            return False
        others = results.empty((mask.total,), items.dtype)
        selected_items.compress(items, 0, 1, mask, others, threads)
        wanted = Request(by_position, request.inverse, request.counts, request.ascending)
        keys = _keys.keys_of(others, not keys.has_unequal_nan) if mask.total else None
        values, index, inverse, counts = outputs_of(find_groups(keys, others, wanted), wanted)
        if by_position:
            index = values_at(coordinates.flat(mask, threads), index)
        majority_id = (
            values.searchsorted(same)[0] if request.ascending else index.searchsorted(first)
        )
        values = np.concatenate((values[:majority_id], same, values[majority_id:]))
        index = np.insert(index, majority_id, first) if request.index else None
        if request.inverse:
            inverse = inverse_of_all(mask, inverse, majority_id, size, threads)
        if request.counts:
            counts = np.insert(counts, majority_id, size - mask.total)
        return self.know(values, index, inverse, counts, request.ascending)


class Comparison(KnownGroups):
    """NumPy sorts the bytes of the keys by comparisons, and no choice of keys makes this slow."""

    def find(self):
        # Eight more bytes follow each key: its position + 1 if the key has NaN or NaT, and these
        # equal no other key; otherwise 0.
        keys, request = self.search.keys, self.search.request
        width = keys.width
        out = np.empty((keys.size, width + 8), np.uint8)
        kind = _dtypes.WORD if keys.is_word else _dtypes.RAW
        source = keys.data.reshape(keys.size, -1).view(f"u{width}" if keys.is_word else np.uint8)
        unequal = canonical_keys(source, kind, width, keys.rule, False, out, 1)
        unequal = keys.unequal if unequal is None else unequal
        if unequal is not None:
            bits = np.asarray(unequal).view(np.uint8)
            at = _numpy.flatnonzero(np.unpackbits(bits, count=keys.size, bitorder="little"))
            out[at, width:] = (at + 1).reshape(-1, 1).view(np.uint8)
        _, index, *extras = _numpy.unique(
            out.view(f"V{width + 8}").ravel(), True, request.inverse, request.counts
        )
        order, ranks = _sort.argsort(index, True)
        index = index[order]
        inverse = ranks[extras[0]] if request.inverse else None
        counts = extras[-1][order] if request.counts else None
        return self.know(self.search.rows[index], index, inverse, counts)


# _objects adds the algorithms of items without keys.
ALGORITHMS = {
    "no_items": NoItems,
    "presorted": Presorted,
    "presorted_complex": PresortedComplex,
    "dense": Dense,
    "decimals": Decimals,
    "without_majority": WithoutMajority,
    "sorting": Sorting,
    "tables": Tables,
    "partitions": Partitions,
    "comparison": Comparison,
}
