"""Which items are non-zero: counts, first positions, the bitmask, and what is written from it."""

from fastsel._core import _dtypes
from fastsel._positions import bitmask

bitmask.set_truth_rule(_dtypes.truth)
