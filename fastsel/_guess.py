"""A guess at the number of distinct keys, from a sample: it chooses the engine, no more."""

import math

import numpy as np

from fastsel._kernels import distinct
from fastsel._kernels.sample import sample_of

# Keys looked at: one of so many, and no more than one of 1024 beyond the first few.
SAMPLE_SHARE = 64
LARGE_SHARE = 1024
SAMPLE_KEYS = 1 << 12
MOST_SAMPLE_KEYS = 1 << 14


def groups_of(keys, seeds):
    """How many groups the keys have, about; at least 1 and at most as many as keys."""
    most_drawn = min(max(SAMPLE_KEYS, keys.size // LARGE_SHARE), MOST_SAMPLE_KEYS)
    drawn = max(1, min(most_drawn, keys.size // SAMPLE_SHARE))
    sample, turns = sample_of(keys.data, keys.size, drawn)
    ratio = keys.size / drawn
    # In runs there are no more groups than runs, of which a sample meets these, and twice the
    # deviation of that number.
    runs = ratio * (turns + 2 * math.sqrt(turns) + 4)
    if keys.rule[3]:  # what is alike need not be equal
        runs = keys.size
    job = distinct.Tables(
        *(sample, drawn, keys.rule, None, seeds, None, drawn, drawn, False, True, 1)
    )
    counts = job.finish()[1] if job.find() else ()
    groups = extrapolated(counts, ratio) if 0 < len(counts) < drawn else keys.size
    return int(min(groups, runs, keys.size))


def extrapolated(counts, ratio):
    """How many groups so many times the sample has, in which they were met `counts` times."""
    once, twice, thrice = (int(k) for k in np.bincount(counts, minlength=4)[1:4])
    if once == 0 or twice == 0:
        return len(counts) + once * (ratio - 1)
    rate = 2 * twice / once
    # Of a few met three times, chance may have made twice as many.
    spread = min(3 * (thrice - math.sqrt(thrice)) / twice - rate, 0.999)
    groups = len(counts) + _more_of_gamma(once, rate, max(spread, 1e-9), ratio)
    if spread > rate:  # they are more uneven than any gamma distribution
        return min(groups, _of_power_law(once, twice, len(counts) - once, ratio))
    return groups


def _more_of_gamma(once, rate, spread, ratio):
    """How many more there are if the groups are met at rates of a gamma distribution.

    Then they are met k times with negative binomial probabilities (Fisher, Corbet & Williams 1943),
    whose continuation Efron & Thisted (1976) give from how many were met once, twice and three
    times. It serves groups of equal size, of which all rates are the same.
    """
    shape = (rate - spread) / spread
    if abs(shape) < 1e-6:
        shape = 1e-6
    grown = 1 + spread * (ratio - 1)
    return once / (shape * spread) * (1 - grown**-shape)


def _of_power_law(once, twice, more, ratio):
    """How many groups there are if their rates follow a power law (Pareto) down to a least rate.

    Of rates r with density r ** -(1 + a), `more` groups are met twice or more often, however small
    the least rate is, and of these a / 2 twice: that gives a. Those met once give the least rate.
    """
    a = min(max(2 * twice / more, 0.05), 1.95)
    if abs(a - 1) < 1e-3:
        a = 1.001  # the logarithms that 1 has instead of powers, nearly
    missing = 1 - once / more * (1 - a) / a
    least = 1e-9  # none, or as good as none
    if missing > 0:
        exponent = (math.lgamma(2 - a) + math.log(missing)) / (1 - a)
        least = max(least, ratio * math.exp(min(0, exponent)))
    # The integral of the density from the least rate on, each group as likely to be met as its rate
    # says, up to 1.
    reach = least**-a / a if least >= 1 else 1 / a + (1 - least ** (1 - a)) / (1 - a)
    return more * a / math.gamma(2 - a) * ratio**a * reach
