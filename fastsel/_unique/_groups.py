"""Which outputs are wanted, and the groups of equal keys that an algorithm returns."""

from typing import NamedTuple

from fastsel._core import _threads
from fastsel._unique.relabel import relabel


class Wanted(NamedTuple):
    """The outputs beside the values."""

    index: bool
    inverse: bool
    counts: bool


class Groups:
    """Groups of equal keys, in the order in which an algorithm finds them.

    Attributes
    ----------
    values : ndarray
        One item, or slice, of each group.
    index : ndarray of intp or None
        The position of each group's first occurrence.
    direction : int
        1 if the values ascend, -1 if they descend, 0 if neither is known.
    """

    def __init__(self, values, index, inverse=None, counts=None, direction=0):
        self.values, self.index, self.direction = values, index, direction
        self._inverse, self._counts = inverse, counts

    def inverse_and_counts(self, ranks=None):
        """(inverse, counts); None for an output that is not wanted.

        With ranks, the inverse has the rank of each group instead. The counts stay in the order of
        the values. Call this once: it may relabel the inverse in place.
        """
        if ranks is not None and self._inverse is not None:
            relabel(ranks, self._inverse, _threads.for_bytes(self._inverse.nbytes))
        return self._inverse, self._counts
