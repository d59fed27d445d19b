"""How much faster is each operator with more threads? Speed over one thread.

    python benchmarks/scaling.py                            1, 2, 4 ... threads, up to all
    python benchmarks/scaling.py --plot scaling.svg         and a picture (matplotlib)
    python benchmarks/scaling.py --size 1e6 --threads 1 2 8 --op nonzero "unique few"
    OMP_WAIT_POLICY=passive python benchmarks/scaling.py --work --threads 1 2 16 128
    OMP_WAIT_POLICY=passive python benchmarks/scaling.py --serial

The times are compared with the times on the first of the --threads, which is 1 by default.

--work measures the CPU time of all threads instead of the time of a call. The CPU time shows how
much work each further thread adds, also with more threads than CPUs.

--serial measures the part of a call that runs on one thread. On two threads, the calling thread
does this part and half of the rest, and the other thread does half of the rest. So the difference
of their CPU times is the part. "16 threads" is the speed-up on 16 threads if the threads share the
rest equally.

The row "copy" is NumPy's copy of the input's bytes on the same number of threads: an operator that
only waits for memory scales no better. docs/scaling.md says what to expect, and why. The numbers of
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
    if args.serial:
        print_serial_parts(size, args.op, args.seconds)
        return
    clock = time.process_time if args.work else time.perf_counter
    speed_ups = {}
    print(f"{size:.0e} items, milliseconds" + "".join(f"{n:>18}" for n in args.threads))
    for name, run in operators(size, args.op):
        times = measure(run, args.threads, args.seconds, clock)
        first = times[args.threads[0]]
        speed_ups[name] = [first / times[n] for n in args.threads]
        row = [
            f"{times[n] * 1e3:10.2f} ({times[n] / first if args.work else first / times[n]:.2f})"
            for n in args.threads
        ]
        print(f"{name:27}" + "".join(f"{cell:>18}" for cell in row), flush=True)
    if args.plot:
        draw(args.plot, args.threads, speed_ups, size)


def print_serial_parts(size, chosen, seconds):
    print(f"{size:.0e} items, milliseconds   CPU time   on one thread   16 threads")
    for name, run in operators(size, chosen):
        if name == "copy":  # its calling thread only waits
            continue
        work = measure(run, [2], seconds, time.process_time)[2]
        lead = measure(run, [2], seconds, lead_of_this_thread)[2]
        serial = min(max(lead, 0), work)
        limit = work / (serial + (work - serial) / 16)
        print(f"{name:27}{work * 1e3:12.2f}{serial * 1e3:16.2f}{limit:13.1f}", flush=True)


def lead_of_this_thread():
    """The CPU time of this thread without the CPU time of all other threads."""
    return 2 * time.thread_time() - time.process_time()


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
    exclusive.add_argument(
        "--serial",
        action="store_true",
        help="the part on one thread, measured on two threads",
    )
    exclusive.add_argument("--plot", metavar="FILE", help="draw a picture, for example scaling.svg")
    return parser


def operators(size, chosen):
    """Yield the name of a row, and a function that calls the operator on a number of threads. The
    arrays of a row are made when the row is next, so that only one row's arrays are in memory."""
    rows = {**positions_and_selection(size), **distinct(size), **sets(size)}
    unknown = set(chosen or ()) - set(rows)
    if unknown:
        raise SystemExit(f"no row is named {', '.join(sorted(unknown))}; rows: {', '.join(rows)}")
    for name, make in rows.items():
        if not chosen or name in chosen:
            yield name, make()


def positions_and_selection(size):
    """name of a row -> function that makes the arrays of the row, and returns its call"""
    rng = np.random.default_rng(1)
    floats = np.where(rng.random(size) < 0.3, rng.random(size), 0)
    mask = floats > 0
    rows = size // 8
    matrix = floats[: rows * 8].reshape(rows, 8)
    matrix_mask = mask[: rows * 8].reshape(rows, 8)
    late = np.zeros_like(matrix)
    late[-1] = 1
    return {
        "count_nonzero": lambda: call(fastsel.count_nonzero, floats),
        "count_nonzero axis": lambda: call(fastsel.count_nonzero, matrix, axis=0),
        "first_nonzero axis": lambda: call(fastsel.first_nonzero, late, axis=0),
        "nonzero": lambda: call(fastsel.nonzero, floats),
        "nonzero F order": lambda: call(fastsel.nonzero, np.asfortranarray(matrix)),
        "argwhere": lambda: call(fastsel.argwhere, matrix),
        "argwhere F order": lambda: call(fastsel.argwhere, np.asfortranarray(matrix)),
        "nonzero_coordinates": lambda: call(fastsel.nonzero_coordinates, matrix),
        "boolean_mask": lambda: call(fastsel.boolean_mask, floats, mask),
        "boolean_mask F order": lambda: call(
            fastsel.boolean_mask, np.asfortranarray(matrix), np.asfortranarray(matrix_mask)
        ),
        "compress axis": lambda: call(fastsel.compress, mask[:rows], matrix, axis=0),
        "gather_nd": lambda: call(fastsel.gather_nd, floats, rng.integers(0, size, (size, 1))),
        "copy": lambda: copy_with_threads(floats),
    }


def distinct(size):
    """As positions_and_selection, for `unique` and `group_indices`."""
    ids = np.random.default_rng(1).integers(0, 2**62, size)
    extras = {"return_index": True, "return_inverse": True, "return_counts": True}

    def few():
        return ids % 5000 * 1_000_003

    def many():
        return ids % (size // 3) * 1_000_003

    def rows():
        """Rows of 4 items, of which a third are distinct."""
        pool = np.random.default_rng(2).integers(0, 1000, (size // 12, 4))
        return pool[ids[: size // 4] % len(pool)]

    def nearly_sorted():
        return np.where(ids % 100, np.arange(size), ids % size)

    def unique(make, **arguments):
        return lambda: call(fastsel.unique, make(), **arguments)

    return {
        "unique in order": unique(lambda: np.arange(size) // 3, return_inverse=True),
        "unique nearly sorted": unique(nearly_sorted, **extras),
        "unique dense": unique(lambda: ids % 5000, sorted=False),
        "unique few": unique(few, sorted=False),
        "unique many": unique(many, sorted=False),
        "unique many, all outputs": unique(many, sorted=False, **extras),
        "unique distinct, sorted": unique(lambda: ids),
        "unique 60 % NaN": unique(lambda: np.where(ids % 5 < 3, np.nan, ids)),
        "unique float32, all outputs": unique(lambda: ids.astype(np.float32), **extras),
        "unique int16, all outputs": unique(lambda: ids.astype(np.int16), **extras),
        "unique complex128": unique(lambda: many() + 1j),
        "unique rows": unique(rows, axis=0, sorted=False),
        "unique rows, sorted": unique(rows, axis=0),
        "unique rows float32, sorted": unique(lambda: rows().astype(np.float32), axis=0),
        "unique S12": unique(lambda: (ids % (size // 3)).astype("S12"), sorted=False),
        "unique U10": unique(lambda: (ids % (size // 3)).astype("U10"), sorted=False),
        "unique StringDType": unique(lambda: few().astype("T"), sorted=False),
        "unique objects": unique(lambda: few().astype("U").astype(object), sorted=False),
        "group_indices few": lambda: call(fastsel.group_indices, few()),
        "group_indices many": lambda: call(fastsel.group_indices, many()),
    }


def sets(size):
    """As positions_and_selection, for lookups and for two sets of half of the items."""
    ids = np.random.default_rng(1).integers(0, 2**62, size) % size * 1_000_003
    half = size // 2
    tests = ids[: size // 10]

    def of_two(name):
        return lambda: call(getattr(fastsel, name), ids[:half], ids[half:])

    return {
        "isin few tests": lambda: call(fastsel.isin, ids, ids[:100]),
        "isin many tests": lambda: call(fastsel.isin, ids, tests),
        "index_in": lambda: call(fastsel.index_in, ids, tests),
        "remap": lambda: call(fastsel.remap, ids, tests, np.arange(len(tests)), default=-1),
        **{name: of_two(name) for name in ("intersect1d", "union1d", "setdiff1d", "setxor1d")},
    }


def call(function, *arrays, **arguments):
    def call_with_threads(threads):
        with fastsel.threads(threads):
            function(*arrays, **arguments)

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


def measure(run, counts, seconds, clock):
    """number of threads -> the median time of the calls, by this clock"""
    times = {n: [] for n in counts}
    for turn in range(ROUNDS):
        for n in counts[:: 1 if turn % 2 else -1]:
            for _ in range(WARM_CALLS):
                run(n)
            stop = time.perf_counter() + seconds / ROUNDS
            while True:
                start = clock()
                run(n)
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
