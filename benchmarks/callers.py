"""How much faster are many calling threads than one? Each thread calls with its own arrays.

    python benchmarks/callers.py                            eight threads, 1e3 and 1e6 items
    python benchmarks/callers.py --callers 2 8 --size 1e3 --seconds 1
    python benchmarks/callers.py --work                     CPU time of a call, if CPUs are busy

Each call uses one thread (`fastsel.threads(1)`). The table shows the calls per second of one
calling thread, and how many times as many calls per second n calling threads make together. The
best of several rounds counts, because other programs only make a round slower. Small arrays are
served with the GIL, so they gain on free-threaded Python only.

With --work, the table shows the calls per second of CPU time. If n calling threads do not disturb
each other, the ratio is 1; it says nothing of the time that they wait for locks or for the GIL.
"""

import argparse
import sys
import threading
import time

import numpy as np

import fastsel

ROUNDS = 7


def main():
    args = arguments().parse_args()
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    print(f"Python {sys.version.split()[0]}, the GIL is {'on' if gil else 'off'}")
    print(f"{'items':>9}  {'call':12}{'one thread':>12}" + "".join(f"{n:>8}" for n in args.callers))
    for size in map(int, args.size):
        for name, make_call in MAKERS.items():
            counts = [1, *args.callers]
            rates = dict.fromkeys(counts, 0.0)
            for _ in range(ROUNDS):
                for n in counts:
                    calls = [make_call(size, seed) for seed in range(n)]
                    rates[n] = max(rates[n], rate(calls, args.seconds / ROUNDS, args.work))
            gains = "".join(f"{rates[n] / rates[1]:8.2f}" for n in args.callers)
            print(f"{size:9,}  {name:12}{rates[1]:10,.0f}/s{gains}", flush=True)


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--callers", type=int, nargs="+", default=[2, 8], help="calling threads")
    parser.add_argument("--size", type=float, nargs="+", default=[1e3, 1e6], help="items")
    parser.add_argument("--seconds", type=float, default=1.5, help="per number of callers")
    parser.add_argument("--work", action="store_true", help="measure the CPU time")
    return parser


def nonzero(size, seed):
    array = np.random.default_rng(seed).integers(0, 2, size)
    return lambda: fastsel.nonzero(array)


def boolean_mask(size, seed):
    array = np.random.default_rng(seed).random(size)
    mask = array > 0.5
    return lambda: fastsel.boolean_mask(array, mask)


def unique(size, seed):
    array = np.random.default_rng(seed).integers(0, size // 10, size) * 1_000_003
    return lambda: fastsel.unique(array)


def gather_nd(size, seed):
    rows = np.random.default_rng(seed).integers(0, size, (size, 1))
    array = np.arange(size)
    return lambda: fastsel.gather_nd(array, rows)


MAKERS = {f.__name__: f for f in (nonzero, boolean_mask, unique, gather_nd)}


def rate(calls, seconds, work):
    """The calls per second of all threads together, or per second of their CPU time; each thread
    repeats its own call."""
    clock = time.thread_time if work else time.perf_counter
    counts, starts, ends = [], [], []
    barrier = threading.Barrier(len(calls))

    def repeat(call):
        with fastsel.threads(1):
            call()
            barrier.wait()
            count, start, stop = 0, clock(), time.perf_counter() + seconds
            while time.perf_counter() < stop:
                for _ in range(5):
                    call()
                count += 5
            counts.append(count)
            starts.append(start)
            ends.append(clock())

    threads = [threading.Thread(target=repeat, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # With more threads than CPUs, some threads begin when others have ended.
    spent = sum(ends) - sum(starts) if work else max(ends) - min(starts)
    return sum(counts) / spent


if __name__ == "__main__":
    main()
