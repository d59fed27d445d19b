"""Does the time of unique depend on luck? Columns of ids with 20 seeds each: the time of the
slowest seed beside the median.

    python benchmarks/luck.py
    python benchmarks/luck.py --size 1e5 --threads 1

The seeds take turns, so that a change of the machine's speed reaches all of them. The time of a
seed is its fastest call.
"""

import argparse
import time

import numpy as np

import fastsel

COLUMNS = {
    "zipf 1.3, below 60,000": lambda rng, n: rng.zipf(1.3, n) % 60_000,
    "zipf 2": lambda rng, n: rng.zipf(2.0, n),
    "zipf 1.2": lambda rng, n: np.minimum(rng.zipf(1.2, n), 2**40),
    "zipf 1.1, every 7919th": lambda rng, n: (rng.zipf(1.1, n) % 1_000_000) * 7919 + 10**9,
    "pareto": lambda rng, n: (rng.pareto(1.2, n) * 1000).astype(np.int64),
    "lognormal": lambda rng, n: rng.lognormal(8, 2, n).astype(np.int64),
    "poisson": lambda rng, n: rng.poisson(5, n),
    "one typo": lambda rng, n: np.append(rng.integers(0, 100, n - 1), 10**9),
    # If another float has the slot of the frequent one in the filter of recent keys, the filter has
    # only one of the two.
    "60 % are one float": lambda rng, n: rng.random(301)[
        np.where(rng.random(n) < 0.6, 0, rng.integers(1, 301, n))
    ],
    "2 % are -1": lambda rng, n: np.where(rng.random(n) < 0.02, -1, rng.integers(0, 50_000, n)),
}
OUTPUTS = {
    "values": {},
    "counts": {"return_counts": True},
    "all": {"return_index": True, "return_inverse": True, "return_counts": True},
    "sorted=False": {"sorted": False},
}


def fastest(arrays, outputs, calls):
    """The time of the fastest call for each array, in milliseconds."""
    times = np.empty((calls, len(arrays)))
    for row in times:
        for k, array in enumerate(arrays):
            start = time.perf_counter()
            fastsel.unique(array, **outputs)
            row[k] = 1e3 * (time.perf_counter() - start)
    return times.min(axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", type=float, default=1.5e6, help="items; default: 1.5e6")
    parser.add_argument("--seeds", type=int, default=20, help="default: 20")
    parser.add_argument("--threads", type=int, default=fastsel.get_num_threads())
    parser.add_argument("--calls", type=int, default=9, help="calls of each seed; default: 9")
    options = parser.parse_args()
    fastsel.set_num_threads(options.threads)
    print(f"| {'column':23} | {'outputs':12} | median, ms | slowest / median |")
    print("|---|---|---|---|")
    for name, column in COLUMNS.items():
        seeds = range(options.seeds)
        arrays = [column(np.random.default_rng(seed), int(options.size)) for seed in seeds]
        for outputs, keywords in OUTPUTS.items():
            times = fastest(arrays, keywords, options.calls)
            median = np.median(times)
            print(f"| {name:23} | {outputs:12} | {median:10.3f} | {times.max() / median:16.2f} |")


if __name__ == "__main__":
    main()
