"""How much faster do whole programs become?

    python benchmarks/programs/run.py
    python benchmarks/programs/run.py --rounds 9 --markdown benchmarks/results/programs.md

Each program runs in turns with NumPy's functions, with NumPy's functions replaced as by `fastsel
run`, and with fastsel's functions; the results have to be equal. Times are medians for the whole
program, from reading its data to its results, without the imports. The share is the part of the
time with NumPy that is spent in functions that fastsel has.
"""

import argparse
import importlib
import statistics
import sys
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from shared import NUMPY

import fastsel

PROGRAMS = ("regions", "sparse_matrix", "events", "vocabulary", "graph", "mesh", "split", "planes")
HEADINGS = (
    *("program", "with NumPy", "share of these functions"),
    *("`fastsel run`", "times as fast", "calls of fastsel", "times as fast"),
)


def main():
    options = arguments().parse_args()
    lines = [f"| {' | '.join(HEADINGS)} |", "|---" * len(HEADINGS) + "|"]
    for name in options.program or PROGRAMS:
        print(name, file=sys.stderr)
        lines.append(row(name, measure(name, options.rounds, options.step)))
    config = fastsel.show_config(mode="dicts")
    machine = "{cpu}, {cpus} CPUs, kernels {kernels}; threads: {threads}".format(**config)
    versions = "fastsel {fastsel}, NumPy {numpy}".format(**config)
    conditions = f"{machine}; {versions}; medians of {options.rounds} rounds."
    table = "\n".join([*lines, "", conditions])
    print(table)
    if options.markdown:
        options.markdown.write_text(f"{table}\n", encoding="utf-8")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("program", nargs="*", help=f"of {', '.join(PROGRAMS)}; default: all")
    parser.add_argument("--rounds", type=int, default=5, help="of each program (default: 5)")
    parser.add_argument("--step", type=int, default=1, help="take one row or pixel in STEP")
    parser.add_argument("--markdown", type=Path, help="write the table to this file, too")
    return parser


def measure(name, rounds, step):
    """The four times of each round: with NumPy, the part of it in NumPy's functions, with NumPy
    patched, and with fastsel."""
    program = importlib.import_module(name).main
    seconds_in_functions = []  # of the present run
    clocked = SimpleNamespace(
        **{
            key: partial(add_time, seconds_in_functions, function)
            for key, function in vars(NUMPY).items()
        }
    )
    times = []
    for number in range(rounds + 1):
        seconds_in_functions.clear()
        expected, with_numpy = timed(program, clocked, step)
        in_functions = sum(seconds_in_functions)
        with fastsel.patched():
            patched, with_patch = timed(program, NUMPY, step)
        called, with_fastsel = timed(program, fastsel, step)
        for results in (patched, called):
            check_equal(results, expected)
        if number:  # The first round also reads the files into the cache of the system.
            times.append((with_numpy, in_functions, with_patch, with_fastsel))
    return times


def add_time(seconds, function, *args, **kwargs):
    """Call a function, and append the time of the call to `seconds`."""
    start = time.perf_counter()
    result = function(*args, **kwargs)
    seconds.append(time.perf_counter() - start)
    return result


def timed(program, functions, step):
    start = time.perf_counter()
    results = program(functions, step)
    return results, time.perf_counter() - start


def check_equal(results, expected):
    """Raise AssertionError unless names, dtypes and items of all arrays are equal."""
    assert results.keys() == expected.keys()
    for name, array in results.items():
        assert array.dtype == expected[name].dtype, name
        np.testing.assert_array_equal(array, expected[name], name, strict=True)


def row(name, times):
    """A row of the table, with medians of the times of all rounds."""
    with_numpy, in_functions, with_patch, with_fastsel = map(
        statistics.median, zip(*times, strict=True)
    )
    texts = [name, f"{with_numpy * 1e3:.0f} ms", f"{in_functions / with_numpy:.0%}"]
    for seconds in (with_patch, with_fastsel):
        texts += [f"{seconds * 1e3:.0f} ms", f"{with_numpy / seconds:.2f}"]
    return f"| {' | '.join(texts)} |"


if __name__ == "__main__":
    main()
