"""What does cached memory gain? The time of the same calls with each limit of cached memory.

    python benchmarks/peers/kept_memory.py                  speed-ups over 0 MB, by size
    python benchmarks/peers/kept_memory.py --mb 0 32 512 --size 1e5 1e6 --cells

Without cached memory, a call that is repeated also gets the memory of its last result, from the
heap. Among calls of other kinds, it often gets fresh pages, and is slower. Therefore each cell is
measured alone, where its time is the median, and among all cells of its size in random order, where
its time is the mean. The last result stays alive, or the last four results among other cells.
"""

import argparse
import math
import statistics
import time

import numpy as np

import fastsel

ROUNDS = 3
ALIVE = 4


def main():
    args = arguments().parse_args()
    print("size      calls  " + "".join(f"{mb:>9g}" for mb in args.mb) + "  MB")
    for size in map(int, args.size):
        calls = cells(size)
        alone = {name: measure({name: call}, args)[name] for name, call in calls.items()}
        show(size, "alone", alone, statistics.median, args)
        show(size, "mixed", measure(calls, args), statistics.fmean, args)


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mb", nargs="+", type=float, default=[0, 64, 512], help="limits")
    parser.add_argument("--size", nargs="+", type=float, default=[1e5, 1e6, 1e7], help="items")
    parser.add_argument("--seconds", type=float, default=0.4, help="per cell and limit")
    parser.add_argument("--cells", action="store_true", help="print the microseconds of each cell")
    return parser


def cells(size):
    rng = np.random.default_rng(1)
    calls = {}
    for density in (0.01, 0.1, 0.5, 0.9):
        mask = rng.random(size) < density
        a = np.where(mask, rng.random(size), 0)
        calls[f"nonzero {density}"] = lambda a=a: fastsel.nonzero(a)
        for dtype in ("int32", "float64"):
            a = np.arange(size).astype(dtype)
            calls[f"boolean_mask {dtype} {density}"] = lambda a=a, mask=mask: fastsel.boolean_mask(
                a, mask
            )
    for groups in (1000, size // 10, size):
        a = rng.integers(0, groups, size) * 1_000_003
        calls[f"unique_first {groups}"] = lambda a=a: fastsel.unique(a, sorted=False)
        calls[f"unique_all {groups}"] = lambda a=a: fastsel.unique(a, True, True, True)
    return calls


def measure(calls, args):
    """name of a cell -> limit in megabytes -> the times of all calls in seconds"""
    times = {name: {mb: [] for mb in args.mb} for name in calls}
    alive = [None] * (ALIVE if len(calls) > 1 else 1)
    rng = np.random.default_rng(1)
    names = list(calls)
    for turn in range(ROUNDS):
        for mb in args.mb[:: 1 if turn % 2 else -1]:
            fastsel.release_memory()
            fastsel.set_keep_mb(mb)
            stop = time.perf_counter() + args.seconds * len(calls) / ROUNDS
            passes = 0
            while passes < 2 or time.perf_counter() < stop:
                for k, name in enumerate(rng.permutation(names)):
                    start = time.perf_counter()
                    alive[k % len(alive)] = calls[name]()  # frees an earlier result
                    if passes:  # the first pass warms up
                        times[name][mb].append(time.perf_counter() - start)
                passes += 1
    return times


def show(size, kind, times, summary, args):
    """Print the geometric means of the speed-ups of all cells over the first limit, and with
    `--cells` the time of each cell."""
    summaries = {name: [summary(limits[mb]) for mb in args.mb] for name, limits in times.items()}
    if args.cells:
        for name, row in summaries.items():
            print(f"{size:<9} {name:26}" + "".join(f"{seconds * 1e6:9.0f}" for seconds in row))
    means = [
        math.exp(statistics.fmean(math.log(row[0] / row[k]) for row in summaries.values()))
        for k in range(len(args.mb))
    ]
    print(f"{size:<9} {kind:7}" + "".join(f"{mean:9.2f}" for mean in means), flush=True)


if __name__ == "__main__":
    main()
