"""An estimate of the number of groups, from a sample of the keys. The choice of the algorithm and
the size of its tables depend on the estimate; results do not."""

import math

import numpy as np

from fastsel._core import _threads
from fastsel._positions import bitmask
from fastsel._unique import tables
from fastsel._unique.sample import sample_of

# For n keys, the sample has SAMPLE_ROOTS * isqrt(n) keys, at most n.
SAMPLE_ROOTS = 8


def groups_of(keys, seeds):
    """An estimate of the number of groups of the keys, from 1 to the number of keys."""
    drawn = min(SAMPLE_ROOTS * math.isqrt(keys.size), keys.size)
    sample, changes = sample_of(keys.data, keys.size, drawn)
    sampled = keys._replace(data=sample, size=drawn, unequal=None)
    job = tables.Tables(sampled, seeds, drawn, drawn, False, True, 1)
    counts = job.finish()[1] if job.find() else None
    ratio = keys.size / drawn
    # There are at most as many groups as runs of equal keys. A key that differs from the next key
    # ends a run. Two standard deviations, and 4 for small numbers, are added to the number of such
    # keys in the sample.
    runs = ratio * (changes + 2 * math.sqrt(changes) + 4)
    if keys.rule[3]:  # keys with the same bits need not be equal
        runs = keys.size
    has_repeated = counts is not None and len(counts) < drawn
    groups = extrapolated(counts, ratio) if has_repeated else keys.size
    if keys.unequal is not None:
        threads = _threads.for_bytes(keys.unequal.nbytes)
        groups = runs = groups + bitmask.from_bits(keys.unequal, 0, threads).total
    return int(min(groups, runs, keys.size))


def extrapolated(counts, ratio):
    """The estimated number of groups in an array that has `ratio` times as many keys as the sample;
    counts are the counts of the groups of the sample."""
    once, twice, thrice = (int(k) for k in np.bincount(counts, minlength=4)[1:4])
    if once == 0 or twice == 0:
        return len(counts) + once * (ratio - 1)
    rate = 2 * twice / once
    # If few groups were seen three times, their number may be far above its expected value by
    # chance, so one standard deviation is subtracted from it.
    spread = min(3 * (thrice - math.sqrt(thrice)) / twice - rate, 0.999)
    groups = len(counts) + _more_of_gamma(once, rate, max(spread, 1e-9), ratio)
    if spread > rate:  # the groups are more uneven than any gamma distribution
        # Heaps' law (1978): the number of groups grows as a power of the number of keys. Good
        # (1953): the share of new groups among the next keys is once / keys. So the exponent is
        # once / groups.
        return min(groups, len(counts) * ratio ** (once / len(counts)))
    return groups


def _more_of_gamma(once, rate, spread, ratio):
    """The estimated number of groups beyond those of the sample, if the rates of the groups follow
    a gamma distribution.

    The probability that a group is seen k times is then negative binomial (Fisher, Corbet &
    Williams 1943). Efron & Thisted (1976) extrapolate it from the numbers of groups that were seen
    once, twice and three times. The estimate also fits groups of equal size, whose rates are equal.
    """
    shape = (rate - spread) / spread
    if abs(shape) < 1e-6:
        shape = 1e-6
    grown = 1 + spread * (ratio - 1)
    return once / (shape * spread) * (1 - grown**-shape)
