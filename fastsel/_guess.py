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
    """How many groups so many times the sample has, in which they were met `counts` times.

    Groups that are met at rates of a gamma distribution are met k times with negative binomial
    probabilities (Fisher, Corbet & Williams 1943), whose continuation Efron & Thisted (1976) give
    from how many were met once, twice and three times. It serves groups of equal size, of which all
    rates are the same, and those of a power law, of which most are never met in a sample.
    """
    once, twice, thrice = (int(np.count_nonzero(counts == k)) for k in (1, 2, 3))
    if once == 0 or twice == 0:
        return len(counts) + once * (ratio - 1)
    rate = 2 * twice / once
    # Of a few met three times, chance may have made twice as many.
    thrice -= math.sqrt(thrice)
    spread = min(max(3 * thrice / twice - rate, 1e-9), 0.999)
    shape = (rate - spread) / spread
    if abs(shape) < 1e-6:
        shape = 1e-6
    grown = 1 + spread * (ratio - 1)
    return len(counts) + once / (shape * spread) * (1 - grown**-shape)
