"""Does one more item change the time of a call? Prints the steps, up and down, of all operators.

    python benchmarks/steps.py
    python benchmarks/steps.py --op nonzero gather_nd --max-items 5e4

Where another way begins to serve a call, for example at a threshold of `_gate`, `_plan` or
`_threads`, or where another allocator serves its memory, the times of n and n + 1 items may differ.
Every row is called with n and with n + 1 items on one thread, for all n that are 0, a power of two,
or the value of a constant of THRESHOLDS; a constant that counts bytes is also divided by 8, the
width of an index. Powers of two are the thresholds within kernels and allocators.

A step is a change of more than MIN_MICROSECONDS and MIN_RATIO. A suspected step is timed again, and
is printed if it stays. Before the first call, the process allocates and frees large blocks, as a
program does that has worked for a while: afterwards, malloc takes more memory from its heap.
"""

import argparse
import itertools
import time

import numpy as np

import fastsel
from fastsel._cli import _bench, _workloads
from fastsel._core import _gate, _operators, _threads
from fastsel._gather import _gather
from fastsel._unique import _plan

THRESHOLDS = (_gate, _plan, _threads, _gather)
MIN_MICROSECONDS = 3
MIN_RATIO = 1.12
BLOCKS = 12
BLOCK_SECONDS = 2e-4
SEQUENCE = np.random.default_rng(1).integers(0, 2**40, 1 << 23)
TRIALS = 4  # the last trials repeat suspected steps, with twice as many blocks each time


def main():
    args = arguments().parse_args()
    use_memory()
    pairs = steps = 0
    with fastsel.threads(1):
        for name, make in rows(args.op).items():
            for n in sizes(int(args.max_items)):
                pairs += 1
                if before_and_after := step(make(n), make(n + 1)):
                    steps += 1
                    before, after = before_and_after
                    print(
                        f"{name:32}{n:>9,} -> {n + 1:<9,}{before:8.1f} -> {after:.1f} us",
                        flush=True,
                    )
    print(f"{steps} steps in {pairs} pairs")


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--op", nargs="+", choices=list(_operators.OPERATORS), metavar="NAME")
    parser.add_argument("--max-items", type=float, default=3e5)
    return parser


def use_memory():
    """Allocate and free blocks of 1 to 16 MB. Later, malloc takes blocks of these sizes from its
    heap, too."""
    for megabytes in (1, 4, 16):
        np.ones(megabytes << 20, np.uint8)


def sizes(max_items):
    """The numbers of items n whose n -> n + 1 is timed, ascending."""
    constants = {
        size
        for module in THRESHOLDS
        for name, value in vars(module).items()
        if name.isupper() and type(value) is int
        for size in (value, value // 8 if "BYTES" in name else value)
    }
    powers = {1 << k for k in range(max_items.bit_length())}
    return sorted(n for n in {0, *powers, *constants} if 0 <= n <= max_items)


def rows(chosen):
    """name of a row -> function that makes the call with n items"""
    return {
        f"{name} {kind}": make
        for name, kinds in calls().items()
        for kind, make in kinds.items()
        if not chosen or name in chosen
    }


def calls():
    """name of an operator -> kind of input -> function that makes the call with n items"""
    f = fastsel
    positions = {
        name: {
            "float64": lambda n, call=call: bind(call, floats(n)),
            "bool, sparse": lambda n, call=call: bind(call, mask(n, 0.01)),
            "float64 2-D": lambda n, call=call: bind(call, floats(n).reshape(1, n)),
        }
        for name, call in functions("nonzero flatnonzero argwhere count_nonzero first_nonzero")
    }
    positions["nonzero_coordinates"] = {"float64": lambda n: bind(f.nonzero_coordinates, floats(n))}
    selection = {
        name: {
            "half": lambda n, call=call: bind(call, mask(n, 0.5), floats(n)),
            "most": lambda n, call=call: bind(call, mask(n, 0.99), floats(n)),
            "few": lambda n, call=call: bind(call, mask(n, 0.01), floats(n)),
            "half, strided": lambda n, call=call: bind(call, mask(n, 0.5), floats(2 * n)[::2]),
        }
        for name, call in {
            "compress": f.compress,
            "extract": f.extract,
            "boolean_mask": lambda m, a: f.boolean_mask(a, m),
        }.items()
    }
    selection["compress"]["rows"] = lambda n: bind(
        f.compress, mask(n, 0.5), floats(8 * n).reshape(n, 8), axis=0
    )
    keys = {"few groups": few, "many groups": many, "sorted": lambda n: np.arange(n) // 3}
    distinct = {
        name: {
            kind: lambda n, call=call, make=make: bind(call, make(n)) for kind, make in keys.items()
        }
        for name, call in functions(
            "unique unique_all unique_counts unique_inverse unique_values group_indices"
        )
    }
    distinct["unique"] |= {
        "float64, many groups": lambda n: bind(f.unique, floats(n)),
        "S4, few groups": lambda n: bind(f.unique, few(n).astype("S4")),
        "first occurrence, few groups": lambda n: bind(f.unique, few(n), sorted=False),
        "first occurrence, many groups": lambda n: bind(f.unique, many(n), sorted=False),
    }
    sets = {
        operator.label: {
            "few tests": lambda n, call=operator.call: with_tests(call, many(n), few(5)),
            "many tests": lambda n, call=operator.call: with_tests(call, many(n), many(n)[::-2]),
        }
        for operator in _bench.FORMS
        if operator.family == "sets" and operator.label == operator.function
    }
    gather = {
        "items": lambda n: bind(f.gather_nd, floats(n + 1), many(n)[:, None] % (n + 1)),
        "rows": lambda n: bind(f.gather_nd, floats(8 * n + 8).reshape(-1, 8), few(n)[:, None] % 2),
    }
    return {**positions, **selection, **distinct, **sets, "gather_nd": gather}


def functions(names):
    return [(name, getattr(fastsel, name)) for name in names.split()]


def bind(call, *arguments, **options):
    return lambda: call(*arguments, **options)


def with_tests(call, array, tests):
    return bind(call, fastsel, _workloads.Workload("", array, tests=tests))


def floats(n):
    """n items, all but one in eight of which are not zero"""
    return np.where(random(n) % 8 > 0, random(n) / 7, 0.0)


def mask(n, density):
    return random(n) % 1000 < density * 1000


def few(n):
    return random(n) % 20 * 1_000_003


def many(n):
    return random(n) % max(1, n // 2) * 1_000_003


def random(n):
    """The first n of one sequence of integers, so that one more item does not change the others."""
    return SEQUENCE[:n].copy()


def step(first, second):
    """(microseconds of the first call, of the second call) if they differ by a step, or None."""
    best = [float("inf")] * 2
    for trial in range(TRIALS):
        times = measure((first, second), BLOCKS << trial)
        best = [min(pair) for pair in zip(best, times, strict=True)]
        low, high = sorted(best)
        if high - low <= MIN_MICROSECONDS or high <= MIN_RATIO * low:
            return None
    return best


def measure(calls, blocks):
    """The least microseconds of each call; blocks of calls take turns."""
    counts = [max(1, int(BLOCK_SECONDS / seconds(call, 3))) for call in calls]
    best = [float("inf")] * len(calls)
    for _ in range(blocks):
        for k, call in enumerate(calls):
            best[k] = min(best[k], seconds(call, counts[k]) * 1e6)
    return best


def seconds(call, count):
    """The mean time of a call, in a loop of `count` calls."""
    start = time.perf_counter()
    for _ in itertools.repeat(None, count):
        call()
    return (time.perf_counter() - start) / count


if __name__ == "__main__":
    main()
