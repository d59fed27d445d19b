"""An estimate of the number of distinct keys, from a sample: the choice of the algorithm, and the
size of its tables, depend on it, no result."""

import math

import numpy as np

from fastsel._core import _threads
from fastsel._positions import bitmask
from fastsel._unique import tables
from fastsel._unique.sample import sample_of

# A sample has so many times the square root of the number of keys.
SAMPLE_ROOTS = 8


def groups_of(keys, seeds):
    """How many groups the keys have, about; at least 1 and at most as many as keys."""
    drawn = min(SAMPLE_ROOTS * math.isqrt(keys.size), keys.size)
    sample, turns = sample_of(keys.data, keys.size, drawn)
    job = tables.Tables(sample, drawn, keys.rule, None, seeds, drawn, drawn, False, True, 1)
    counts = job.finish()[1] if job.find() else None
    ratio = keys.size / drawn
    # In runs there are no more groups than runs, which end where a key differs from the next one:
    # as often as in the sample, and twice the deviation of that number.
    runs = ratio * (turns + 2 * math.sqrt(turns) + 4)
    if keys.rule[3]:  # keys with the same bits need not be equal
        runs = keys.size
    has_repeated = counts is not None and len(counts) < drawn
    groups = extrapolated(counts, ratio) if has_repeated else keys.size
    if keys.unequal is not None:
        threads = _threads.for_bytes(keys.unequal.nbytes)
        groups = runs = groups + bitmask.from_bits(keys.unequal, 0, threads).total
    return int(min(groups, runs, keys.size))


def extrapolated(counts, ratio):
    """How many groups so many times the sample has, in which they were seen `counts` times."""
    once, twice, thrice = (int(k) for k in np.bincount(counts, minlength=4)[1:4])
    if once == 0 or twice == 0:
        return len(counts) + once * (ratio - 1)
    rate = 2 * twice / once
    # Of a few seen three times, chance may have made twice as many.
    spread = min(3 * (thrice - math.sqrt(thrice)) / twice - rate, 0.999)
    groups = len(counts) + _more_of_gamma(once, rate, max(spread, 1e-9), ratio)
    if spread > rate:  # they are more uneven than any gamma distribution
        # Heaps' law (1978): they grow as a power of the number of keys. The share of new ones among
        # the next keys, once / keys (Good 1953), gives the exponent.
        return min(groups, len(counts) * ratio ** (once / len(counts)))
    return groups


def _more_of_gamma(once, rate, spread, ratio):
    """How many more there are if the groups are seen at rates of a gamma distribution.

    Each is seen k times with a negative binomial probability (Fisher, Corbet & Williams 1943),
    whose continuation Efron & Thisted (1976) give from how many were seen once, twice and three
    times. It serves groups of equal size, of which all rates are the same.
    """
    shape = (rate - spread) / spread
    if abs(shape) < 1e-6:
        shape = 1e-6
    grown = 1 + spread * (ratio - 1)
    return once / (shape * spread) * (1 - grown**-shape)
