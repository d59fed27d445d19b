"""An estimate of the number of distinct keys, from a sample: the choice of the algorithm, and the
size of its tables, depend on it, no result."""

import math

import numpy as np

from fastsel._unique import tables
from fastsel._unique.sample import sample_of

# A sample has one of so many keys, at most SAMPLE_KEYS. Of so few groups that each is seen eight
# times among FEW_KEYS, these say enough.
SAMPLE_SHARE = 128
SAMPLE_KEYS = 1 << 14
FEW_KEYS = 256


def groups_of(keys, seeds):
    """How many groups the keys have, about; at least 1 and at most as many as keys."""
    drawn = min(SAMPLE_KEYS, max(1, keys.size // SAMPLE_SHARE))
    counts, turns = _sampled(keys, min(drawn, FEW_KEYS), seeds)
    if drawn > FEW_KEYS and (counts is None or 8 * len(counts) > FEW_KEYS):
        counts, turns = _sampled(keys, drawn, seeds)
    else:
        drawn = min(drawn, FEW_KEYS)
    ratio = keys.size / drawn
    # In runs there are no more groups than runs, of which a sample meets these, and twice the
    # deviation of that number.
    runs = ratio * (turns + 2 * math.sqrt(turns) + 4)
    if keys.rule[3]:  # keys with the same bits need not be equal
        runs = keys.size
    has_repeated = counts is not None and len(counts) < drawn
    groups = extrapolated(counts, ratio) if has_repeated else keys.size
    if keys.unequal is not None:
        groups = runs = groups + int(np.bitwise_count(keys.unequal).sum())
    return int(min(groups, runs, keys.size))


def _sampled(keys, drawn, seeds):
    """(counts, turns): of the groups of a sample, None if their table gives up; and how many of
    these keys differ from the next one."""
    sample, turns = sample_of(keys.data, keys.size, drawn)
    job = tables.Tables(sample, drawn, keys.rule, None, seeds, drawn, drawn, False, True, 1)
    return (job.finish()[1] if job.find() else None), turns


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
        least = len(counts) + once * once / (2 * twice)  # of any distribution (Chao 1984)
        return min(groups, max(least, _of_power_law(once, twice, len(counts) - once, ratio)))
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


def _of_power_law(once, twice, more, ratio):
    """How many groups there are if their rates follow a power law (Pareto) down to a least rate.

    Of rates r with density r ** -(1 + a), `more` groups are seen twice or more often, however small
    the least rate is, and of these a / 2 twice: that gives a. Those seen once give the least rate.
    """
    a = min(max(2 * twice / more, 0.05), 1.95)
    if abs(a - 1) < 1e-3:
        a = 1.001  # the logarithms that 1 has instead of powers, nearly
    missing = 1 - once / more * (1 - a) / a
    least = 1e-9  # none, or as good as none
    if missing > 0:
        exponent = (math.lgamma(2 - a) + math.log(missing)) / (1 - a)
        least = max(least, ratio * math.exp(min(0, exponent)))
    # The integral of the density from the least rate on, a group is as likely seen as its rate
    # says, up to 1.
    reach = least**-a / a if least >= 1 else 1 / a + (1 - least ** (1 - a)) / (1 - a)
    return more * a / math.gamma(2 - a) * ratio**a * reach
