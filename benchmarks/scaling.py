"""How fast each operator is with more threads: speed over one thread.

    python benchmarks/scaling.py                            1, 2, 4 ... threads, up to all
    python benchmarks/scaling.py --plot scaling.svg         and a picture (matplotlib)
    python benchmarks/scaling.py --size 1e6 --threads 1 2 8 --op nonzero "unique few"
    OMP_WAIT_POLICY=passive python benchmarks/scaling.py --work --threads 1 2 16 128

--work counts the CPU time of all threads instead, which says by how much the work grows with them,
also if they are more than the CPUs.

"copy" copies the number of bytes of the input, on all threads, by NumPy: what waits for the memory
alone scales no better. docs/scaling.md says what to expect, and why. The numbers of threads take
turns; times are medians.
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
    found = {}
    print(f"{size:.0e} items, milliseconds" + "".join(f"{n:>18}" for n in args.threads))
    for name, call in operators(size, args.op).items():
        times = measure(call, args.threads, args.seconds, clock)
        first = times[args.threads[0]]
        found[name] = [first / times[n] for n in args.threads]
        row = [
            f"{times[n] * 1e3:10.2f} ({times[n] / first if args.work else first / times[n]:.2f})"
            for n in args.threads
        ]
        print(f"{name:27}" + "".join(f"{cell:>18}" for cell in row), flush=True)
    if args.plot:
        draw(args.plot, args.threads, found, size)


def arguments():
    most = fastsel.get_num_threads()
    powers = [1 << k for k in range(most.bit_length()) if 1 << k < most]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=float, default=1e7, help="items (default: 1e7)")
    parser.add_argument("--threads", type=int, nargs="+", default=[*powers, most])
    parser.add_argument("--op", nargs="+", help="some of the rows, by their names")
    parser.add_argument("--seconds", type=float, default=0.5, help="per row and number of threads")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument(
        "--work", action="store_true", help="CPU time, divided by the CPU time of one thread"
    )
    kind.add_argument("--plot", metavar="FILE", help="a picture, such as scaling.svg")
    return parser


def operators(size, chosen):
    """name -> call(threads)"""
    rng = np.random.default_rng(1)
    floats = np.where(rng.random(size) < 0.3, rng.random(size), 0)
    mask = floats > 0
    rows = size // 8
    ids = rng.integers(0, 2**62, size)
    rise = np.arange(size) // 3
    square = floats[: rows * 8].reshape(rows, 8)
    index = rng.integers(0, size, (size, 1))
    calls = {
        "count_nonzero": lambda: fastsel.count_nonzero(floats),
        "count_nonzero axis": lambda: fastsel.count_nonzero(square, axis=0),
        "nonzero": lambda: fastsel.nonzero(floats),
        "argwhere": lambda: fastsel.argwhere(square),
        "boolean_mask": lambda: fastsel.boolean_mask(floats, mask),
        "compress axis": lambda: fastsel.compress(mask[:rows], square, axis=0),
        "gather_nd": lambda: fastsel.gather_nd(floats, index),
        "unique in order": lambda: fastsel.unique(rise, return_inverse=True),
        "unique dense": unique(ids % 5000),
        "unique few": unique(ids % 5000 * 1_000_003),
        "unique many": unique(ids % (size // 3) * 1_000_003),
        "unique many, all outputs": unique(ids % (size // 3) * 1_000_003, True, True, True),
        "unique distinct, sorted": lambda: fastsel.unique(ids),
    }
    limited = {name: on_threads(call) for name, call in calls.items()}
    limited["copy"] = copying(floats)
    unknown = set(chosen or ()) - set(limited)
    if unknown:
        raise SystemExit(
            f"no row is named {', '.join(sorted(unknown))}; rows: {', '.join(limited)}"
        )
    return {name: call for name, call in limited.items() if not chosen or name in chosen}


def unique(a, *extras):
    return lambda: fastsel.unique(a, *extras, sorted=False)


def on_threads(call):
    def limited(threads):
        with fastsel.threads(threads):
            call()

    return limited


def copying(source):
    target = np.empty_like(source)

    def copy(threads):
        cuts = np.linspace(0, source.size, threads + 1).astype(int)
        with ThreadPoolExecutor(threads) as pool:
            list(
                pool.map(
                    lambda k: np.copyto(
                        target[cuts[k] : cuts[k + 1]], source[cuts[k] : cuts[k + 1]]
                    ),
                    range(threads),
                )
            )

    return copy


def measure(call, counts, seconds, clock):
    """threads -> the median of its calls, by that clock"""
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
    return {n: statistics.median(found) for n, found in times.items()}


def draw(file, counts, found, size):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 6), layout="constrained")
    axes = figure.add_subplot(xlabel="threads", ylabel="speed over one thread")
    axes.set_title(f"fastsel {fastsel.__version__}, {size:.0e} items")
    axes.plot(counts, [n / counts[0] for n in counts], color="lightgrey", label="ideal")
    for k, (name, speeds) in enumerate(found.items()):
        axes.plot(counts, speeds, marker="o^sv"[k % 4], color=f"C{k % 10}", label=name)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xticks(counts, map(str, counts))
    axes.legend(fontsize="small")
    figure.savefig(file)


if __name__ == "__main__":
    main()
