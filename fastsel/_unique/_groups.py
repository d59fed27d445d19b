"""Which outputs are wanted, and the groups of equal keys that an algorithm returns."""

from typing import NamedTuple

from fastsel._core import _threads
from fastsel._unique import _ascending
from fastsel._unique.inverse import group_positions, relabel

# For up to MAX_COUNTED_GROUPS groups, positions_of_groups counts the keys of each group in each
# chunk of the inverse; for more groups, it sorts the inverse with its positions.
MAX_COUNTED_GROUPS = 1 << 12


class Wanted(NamedTuple):
    """Which outputs are wanted beside the values."""

    index: bool
    inverse: bool
    counts: bool

    # True if the positions of all keys are wanted, group after group (indices and offsets).
    grouped = False


class _WantedByGroup(Wanted):
    grouped = True


# The inverse is wanted, too: an algorithm that does not sort positions finds them from the inverse.
WANTED_BY_GROUP = _WantedByGroup(index=False, inverse=True, counts=False)


class Groups:
    """Groups of equal keys, in the order in which an algorithm finds them.

    `values` has one item, or slice, of each group. `index` has the position of the first occurrence
    of each group, or is None. `direction` is 1 if the values ascend, -1 if they descend, 0 if the
    algorithm does not say.
    """

    def __init__(self, values, index, inverse=None, counts=None, direction=0):
        self.values, self.index, self.direction = values, index, direction
        self._inverse, self._counts = inverse, counts

    def inverse_and_counts(self, ranks=None):
        """(inverse, counts); an output that is not wanted may be None.

        With ranks, the inverse has the rank of each key's group instead of its `group_id`. The
        counts stay in the order of the values. Call this once: it may relabel the inverse in place.
        """
        if ranks is not None and self._inverse is not None:
            relabel(ranks, self._inverse, _threads.for_bytes(self._inverse.nbytes))
        return self._inverse, self._counts

    def indices_and_offsets(self, ranks=None):
        """(indices, offsets): the positions of all keys, group after group; and where each group
        begins in indices, then the number of keys. With ranks, groups are in the order of their
        ranks. Call this once."""
        inverse, _ = self.inverse_and_counts(ranks)
        return positions_of_groups(inverse, len(self.values))


def positions_of_groups(inverse, groups):
    """(indices, offsets) of `Groups.indices_and_offsets`, from the inverse."""
    if groups > MAX_COUNTED_GROUPS:
        found = _ascending.positions(inverse)
        if found is not None:
            return found
    return group_positions(inverse, groups, _threads.for_bytes(2 * inverse.nbytes))
