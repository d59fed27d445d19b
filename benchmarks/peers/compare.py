"""Compare fastsel with its peers in one run.

    python benchmarks/peers/compare.py                        a modest set of cells
    python benchmarks/peers/compare.py --op nonzero --dtype float64 --size 1e7
    python benchmarks/peers/compare.py --op unique_first --groups 1000 n --peers polars pandas
    python benchmarks/peers/compare.py --op dask              fastsel.dask beside dask.array
    python benchmarks/peers/compare.py --full --list          the cells of the whole grid

``pip install ".[peers]"`` installs the peers except torch; the output names peers that are missing.
Every result is compared with NumPy's before its call is timed. The exit status is 1 if a result is
wrong, or if fastsel raises an error.
"""

import argparse
import importlib
import json
import sys
from pathlib import Path

import opponents  # noqa: F401, the opponents register themselves
from cases import agrees, arrays, build, operator_call
from cells import DASK, FAMILIES, FULL, MODEST, OPERATORS, SPARSE, choose
from implementations import NUMPY
from on_dask import computed_by
from peers import PACKAGES, UnsupportedError, limit_threads, missing_packages
from registry import OPPONENTS, Opponent
from report import FASTSEL, RAISED, Result, Run, as_json, markdown
from timing import memory_speed, parallel_loop, race

import fastsel
from fastsel._cli._progress import with_progress

LIMIT = "limit"  # the name of parallel_loop in a race
EQUATE_NAN = ("duckdb", "pandas", "polars", "pyarrow")
LIMIT_ITEMS = 1_000_000  # fewer items fit the caches of many CPUs
NOISY = 3  # a median of more than NOISY times the minimum is measured again,
REPEATS = 2  # at most REPEATS times

PART_OPTIONS = {
    "dtype": (str, "dtype of the items, such as float64, U8 or object"),
    "size": (float, "number of items, such as 1e7"),
    "density": (float, "share of the items that is selected, 0 to 1"),
    "groups": (str, "number of distinct values: 1000, n/10, n"),
    "tests": (float, "number of items of the other set, for isin and other functions of sets"),
    "distribution": (str, "random, runs, sorted, zipf, nan and others, see inputs.py"),
    "layout": (str, "C, transposed, strided or reversed, for positions and selection"),
    "ndim": (int, "number of dimensions, for the functions of positions"),
    "width": (int, "items in a row, or in a slice of gather_nd"),
    "axis": (int, "axis of compress and count_along"),
    "batch_dims": (int, "0, 1 or 2, for gather_nd"),
    "index": (str, "int32 or int64, for gather_nd"),
}


def main():
    parser = arguments()
    args = parser.parse_args()
    replaced = {part: values for part in PART_OPTIONS if (values := getattr(args, part))}
    cells = choose(args.op or ["all"], replaced, FULL if args.full else MODEST)
    if not cells:
        parser.error("no operator has this cell")
    if args.list:
        print(*(cell.name for cell in cells), f"{len(cells)} cells", sep="\n")
        return 0
    run = measure_all(cells, args)
    text = markdown(run)
    print(text, end="")
    if args.markdown:
        args.markdown.write_text(text)
    if args.json:
        args.json.write_text(json.dumps(as_json(run), indent=1) + "\n")
    return 1 if run.wrong else 0


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    several = {"nargs": "+", "action": "extend"}
    names = [*FAMILIES, *OPERATORS]
    parser.add_argument("--op", choices=names, metavar="NAME", help=", ".join(names), **several)
    for part, (kind, text) in PART_OPTIONS.items():
        parser.add_argument(
            f"--{part.replace('_', '-')}", type=kind, metavar="X", help=text, **several
        )
    peers = {"choices": PACKAGES, "metavar": "NAME", "help": ", ".join(PACKAGES)}
    parser.add_argument("--peers", **peers, **several)
    parser.add_argument("--threads", type=int, default=2, help="of each side; default: 2")
    parser.add_argument("--seconds", type=float, default=2, help="for one cell; default: 2")
    parser.add_argument("--full", action="store_true", help="the whole grid, which takes days")
    parser.add_argument("--list", action="store_true", help="print the cells and stop")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables there too")
    return parser


def measure_all(cells, args):
    """Measure every cell. Ctrl-C ends the run early; the results of the finished cells are kept."""
    limit_threads(args.threads)
    peers = [peer for peer in PACKAGES if peer == "numpy" or peer in (args.peers or PACKAGES)]
    missing = {peer: packages for peer in peers if (packages := missing_packages(peer))}
    run = Run(args.threads, memory_speed(args.threads), missing)
    present = [peer for peer in peers if peer not in missing]
    if missing_packages("scipy"):
        cells = [cell for cell in cells if cell.op not in SPARSE]
    try:
        for cell in with_progress(cells, lambda cell: cell.name, log=True):
            with fastsel.threads(args.threads):
                run.results.append(measure(cell, present, args))
    except KeyboardInterrupt:
        print("stopped early", file=sys.stderr)
    return run


def measure(cell, peers, args):
    """Check and time one cell."""
    case = build(cell)
    expected = arrays(operator_call(NUMPY, case)())
    result = Result(cell)
    contenders = [OURS, *(opponent for opponent in OPPONENTS[cell.op] if opponent.peer in peers)]
    calls = {}
    for contender in contenders:
        call = admit(contender, case, expected, result)
        if call is not None:
            calls[contender.name] = call
    result.timings = steady_timings(calls, args.seconds)
    if cell.size >= LIMIT_ITEMS and FASTSEL in calls and not has_references(case):
        loop = parallel_loop(case.buffers, sum(a.nbytes for a in expected), args.threads)
        # This race is without the peers: their threads slow down Python's threads.
        result.limit = race({FASTSEL: calls[FASTSEL], LIMIT: loop}, args.seconds / 2)[LIMIT]
    return result


def steady_timings(calls, seconds):
    """The timings of a race. Calls with noisy timings race again, and the timing with the lower
    median is kept."""
    timings = race(calls, seconds)
    for _ in range(REPEATS):
        noisy = [name for name, t in timings.items() if t.median > NOISY * t.minimum]
        if not noisy:
            break
        again = race({name: calls[name] for name in noisy}, seconds)
        timings |= {name: min(again[name], timings[name]) for name in noisy}
    return timings


def has_references(case):
    """Whether the array only refers to the data of its items, or to a part of the data."""
    return case.x.dtype.kind in "OT"


def admit(contender, case, expected, result):
    """The call of a contender whose result is right. Otherwise None, and ``result`` says why."""
    if case.cell.distribution == "nan" and contender.peer in EQUATE_NAN:
        result.refusals[contender.name] = "equates NaN"
        return None
    try:
        call = contender.prepare(case)
        outputs = contender.finish(call())
    except UnsupportedError as error:
        result.refusals[contender.name] = str(error)
        return None
    except Exception as error:  # each peer raises its own classes of errors
        text = str(error).strip().partition("\n")[0]
        result.refusals[contender.name] = f"{RAISED} {type(error).__name__}: {text}"[:120]
        return None
    if agrees(outputs, expected, contender.any_order):
        return call
    result.wrong.append(contender.name)
    return None


def fastsel_call(case):
    """The cell's operator as a call of fastsel."""
    if case.cell.op in SPARSE:
        importlib.import_module("fastsel.sparse")
    if case.cell.op in DASK:
        return computed_by(importlib.import_module("fastsel.dask"), case)
    return operator_call(fastsel, case)


OURS = Opponent(FASTSEL, FASTSEL, fastsel_call)

if __name__ == "__main__":
    sys.exit(main())
