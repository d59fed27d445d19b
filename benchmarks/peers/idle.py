"""The cost of a pause: the time of calls after 20 ms without a call, on one thread and on all.

    OMP_PROC_BIND=true python benchmarks/peers/idle.py
    python benchmarks/peers/idle.py --op unique_first --size 1e5 --pause 0.1

The limit for calls on all threads: their 95th percentile is at most 1.2 times the 95th percentile
of serial calls, plus 100 us; otherwise the exit status is 1. Small calls use one thread
(`_threads.MIN_CHUNK_BYTES`). In larger calls, the other threads handle the chunks of a thread that
wakes late. The call still waits for this thread to wake: some milliseconds if the operating system
queues the thread on the CPU of the caller, unless OMP_PROC_BIND gives each thread its own CPU.
If two larger calls in a row wait for at least a millisecond, and for at least as long as they
work, calls are serial for a while.
"""

import argparse
import sys
import time

import numpy as np
from cases import build, operator_call
from cells import OPERATORS, cell_of
from timing import seconds_of

import fastsel

LIMIT_RATIO = 1.2
LIMIT_SECONDS = 100e-6


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--op", choices=OPERATORS, metavar="NAME", default="nonzero")
    parser.add_argument("--dtype", default="float64")
    sizes = [1e2, 1e3, 1e4, 1e5, 1e6, 1e7]
    parser.add_argument("--size", type=float, nargs="+", default=sizes, metavar="N")
    parser.add_argument("--threads", type=int, default=fastsel.get_num_threads())
    parser.add_argument("--pause", type=float, default=0.02, metavar="SECONDS")
    parser.add_argument("--calls", type=int, default=100, help="of each kind; default: 100")
    args = parser.parse_args()
    print(f"{args.op} {args.dtype}, after {args.pause:g} s, {args.threads} threads; microseconds")
    print(f"{'size':>8} {'serial p50':>11} {'p95':>9} {'threads p50':>12} {'p95':>9} {'limit':>9}")
    within_limit = [row(args, int(size)) for size in args.size]
    return 0 if all(within_limit) else 1


def row(args, size):
    """Print the row of a size; return whether the time is within the limit."""
    parts = {"dtype": args.dtype, "size": size, "density": 0.1, "groups": str(min(size, 1000))}
    call = operator_call(fastsel, build(cell_of(args.op, parts)))
    times = [
        [after_pause(call, threads, args.pause) for threads in (1, args.threads)]
        for _ in range(args.calls)
    ]
    percentiles = np.percentile(times, [50, 95], axis=0) * 1e6
    (serial, parallel), (serial_95, parallel_95) = percentiles
    limit = LIMIT_RATIO * serial_95 + LIMIT_SECONDS * 1e6
    print(
        f"{size:8.0e} {serial:11.1f} {serial_95:9.1f} {parallel:12.1f} {parallel_95:9.1f} "
        f"{limit:9.1f}{'' if parallel_95 <= limit else '  beyond'}"
    )
    return parallel_95 <= limit


def after_pause(call, threads, pause):
    with fastsel.threads(threads):
        time.sleep(pause)
        return seconds_of(call)


if __name__ == "__main__":
    sys.exit(main())
