"""How much faster is each operator with more threads? Speed over one thread.

    python benchmarks/scaling.py                            1, 2, 4 ... threads, up to all
    python benchmarks/scaling.py --plot scaling.svg         and a picture (matplotlib)
    python benchmarks/scaling.py --size 1e6 --threads 1 2 8 --op nonzero "unique few"
    OMP_WAIT_POLICY=passive python benchmarks/scaling.py --work --threads 1 2 16 128

The times are compared with the times on the first of the --threads, which is 1 by default.

--work measures the CPU time of all threads instead of the time of a call. The CPU time shows how
much work each further thread adds, also with more threads than CPUs.

The row "copy" is NumPy's copy of the input's bytes on the same number of threads: an operator that
only waits for memory scales no better. docs/threads.md says what to expect, and why. The numbers of
threads are timed in turns; times are medians.
"""

import argparse
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import fastsel

ROUNDS = 5
WARM_CALLS = 2


def main():
    args = arguments().parse_args()
    size = int(args.size)
    clock = time.process_time if args.work else time.perf_counter
    speed_ups = {}
    print(f"{size:.0e} items, milliseconds" + "".join(f"{n:>18}" for n in args.threads))
    for name, call in operators(size, args.op).items():
        times = measure(call, args.threads, args.seconds, clock)
        first = times[args.threads[0]]
        speed_ups[name] = [first / times[n] for n in args.threads]
        row = [
            f"{times[n] * 1e3:10.2f} ({times[n] / first if args.work else first / times[n]:.2f})"
            for n in args.threads
        ]
        print(f"{name:27}" + "".join(f"{cell:>18}" for cell in row), flush=True)
    if args.plot:
        draw(args.plot, args.threads, speed_ups, size)


def arguments():
    max_threads = fastsel.get_num_threads()
    powers = [1 << k for k in range(max_threads.bit_length()) if 1 << k < max_threads]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=float, default=1e7, help="items (default: 1e7)")
    parser.add_argument("--threads", type=int, nargs="+", default=[*powers, max_threads])
    parser.add_argument("--op", nargs="+", help="some of the rows, by their names")
    parser.add_argument("--seconds", type=float, default=0.5, help="per row and number of threads")
    exclusive = parser.add_mutually_exclusive_group()
    exclusive.add_argument(
        "--work", action="store_true", help="CPU time, divided by the CPU time of one thread"
    )
    exclusive.add_argument("--plot", metavar="FILE", help="draw a picture, for example scaling.svg")
    return parser


def operators(size, chosen):
    """name of a row -> function that calls the operator on a number of threads"""
    rng = np.random.default_rng(1)
    floats = np.where(rng.random(size) < 0.3, rng.random(size), 0)
    mask = floats > 0
    rows = size // 8
    ids = rng.integers(0, 2**62, size)
    ascending = np.arange(size) // 3
    matrix = floats[: rows * 8].reshape(rows, 8)
    index = rng.integers(0, size, (size, 1))
    calls = {
        "count_nonzero": lambda: fastsel.count_nonzero(floats),
        "count_nonzero axis": lambda: fastsel.count_nonzero(matrix, axis=0),
        "nonzero": lambda: fastsel.nonzero(floats),
        "argwhere": lambda: fastsel.argwhere(matrix),
        "boolean_mask": lambda: fastsel.boolean_mask(floats, mask),
        "compress axis": lambda: fastsel.compress(mask[:rows], matrix, axis=0),
        "gather_nd": lambda: fastsel.gather_nd(floats, index),
        "unique in order": lambda: fastsel.unique(ascending, return_inverse=True),
        "unique dense": unique_call(ids % 5000),
        "unique few": unique_call(ids % 5000 * 1_000_003),
        "unique many": unique_call(ids % (size // 3) * 1_000_003),
        "unique many, all outputs": unique_call(ids % (size // 3) * 1_000_003, True, True, True),
        "unique distinct, sorted": lambda: fastsel.unique(ids),
    }
    functions = {name: with_threads(call) for name, call in calls.items()}
    functions["copy"] = copy_with_threads(floats)
    unknown = set(chosen or ()) - set(functions)
    if unknown:
        raise SystemExit(
            f"no row is named {', '.join(sorted(unknown))}; rows: {', '.join(functions)}"
        )
    return {name: call for name, call in functions.items() if not chosen or name in chosen}


def unique_call(a, *extras):
    return lambda: fastsel.unique(a, *extras, sorted=False)


def with_threads(call):
    def call_with_threads(threads):
        with fastsel.threads(threads):
            call()

    return call_with_threads


def copy_with_threads(source):
    target = np.empty_like(source)

    def copy(threads):
        bounds = np.linspace(0, source.size, threads + 1).astype(int)
        with ThreadPoolExecutor(threads) as pool:
            list(
                pool.map(
                    lambda k: np.copyto(
                        target[bounds[k] : bounds[k + 1]], source[bounds[k] : bounds[k + 1]]
                    ),
                    range(threads),
                )
            )

    return copy


def measure(call, counts, seconds, clock):
    """number of threads -> the median time of the calls, by this clock"""
    times = {n: [] for n in counts}
    for turn in range(ROUNDS):
        for n in counts[:: 1 if turn % 2 else -1]:
            for _ in range(WARM_CALLS):
                call(n)
            stop = time.perf_counter() + seconds / ROUNDS
            while True:
                start = clock()
                call(n)
                times[n].append(clock() - start)
                if time.perf_counter() > stop:
                    break
    return {n: statistics.median(samples) for n, samples in times.items()}


def draw(file, counts, speed_ups, size):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 6), layout="constrained")
    axes = figure.add_subplot(xlabel="threads", ylabel="speed over one thread")
    axes.set_title(f"fastsel {fastsel.__version__}, {size:.0e} items")
    axes.plot(counts, [n / counts[0] for n in counts], color="lightgrey", label="ideal")
    for k, (name, ratios) in enumerate(speed_ups.items()):
        axes.plot(counts, ratios, marker="o^sv"[k % 4], color=f"C{k % 10}", label=name)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xticks(counts, map(str, counts))
    axes.legend(fontsize="small")
    figure.savefig(file)


if __name__ == "__main__":
    main()
