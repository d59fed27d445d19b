"""What ``fastsel bench`` prints: the table (with rich, if it is installed) and the summary."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import fastsel
from fastsel._cli._bench import FORMS, Row, geometric_means

HEADINGS = ("operator", "workload", "NumPy", "fastsel", "ratio", "GB/s", "threads")
NUMBER_HEADINGS = HEADINGS[2:]
# The columns that a narrow terminal leaves out, in this order.
DISPENSABLE = ("threads", "GB/s", "NumPy", "fastsel")
WORKLOAD_WIDTH = 16  # The least width of the workloads' names, which rich wraps.


def digits(value: float) -> str:
    """The value with three significant digits, or all digits before the decimal point."""
    return f"{value:#.3g}" if value < 99.95 else f"{value:.0f}"


def duration(seconds: float) -> str:
    """A time in s or ms if it is at least 1 in this unit, otherwise in us."""
    for unit, scale in (("s", 1), ("ms", 1e3)):
        if seconds * scale >= 1:
            return f"{digits(seconds * scale)} {unit}"
    return f"{digits(seconds * 1e6)} us"


def rounded_time(seconds: float) -> str:
    """A time that is an estimate: in seconds, or from two minutes on in minutes."""
    return f"{max(seconds, 1):.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def texts_of(row: Row) -> tuple[str, ...]:
    """The texts of a row of the table, in the order of HEADINGS."""
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


def aligned(lines: Sequence[Sequence[str]], names: int) -> Iterator[str]:
    """Columns of text: the first `names` columns aligned left, the numbers after them right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        columns = enumerate(zip(line, widths, strict=True))
        yield "  ".join(
            f"{text:{'<' if k < names else '>'}{width}}" for k, (text, width) in columns
        )


def fitting(lines: Sequence[Sequence[str]], width: int, wraps: bool) -> list[Sequence[str]]:
    """The lines without the columns for which a terminal of this width has no room. If the table
    `wraps` the workloads, they need WORKLOAD_WIDTH or less."""
    columns = {column[0]: column for column in zip(*lines, strict=True)}
    widths = {heading: max(map(len, column)) for heading, column in columns.items()}
    if wraps:
        widths["workload"] = min(widths["workload"], WORKLOAD_WIDTH)
    for heading in DISPENSABLE:
        if sum(widths[name] + 2 for name in columns) - 2 <= width:
            break
        del columns[heading]
    return list(zip(*columns.values(), strict=True))


def print_table(rows: Sequence[Row]) -> None:
    """Print the table: by rich, if it is installed, with losses and differences in red; otherwise
    as text. A narrow terminal gets fewer columns."""
    lines: list[Sequence[str]] = [HEADINGS, *map(texts_of, rows)]
    try:
        from rich.console import Console
        from rich.table import Table
    except ImportError:
        Console = None
    on_terminal = sys.stdout.isatty()
    if on_terminal:
        lines = fitting(lines, shutil.get_terminal_size().columns, Console is not None)
    if Console is None:
        names = len(lines[0]) - len({*lines[0]} & {*NUMBER_HEADINGS})
        print(*aligned(lines, names), sep="\n")
        return
    table = Table(box=None, padding=(0, 1), collapse_padding=True, pad_edge=False)
    for heading in lines[0]:
        table.add_column(
            heading,
            justify="right" if heading in NUMBER_HEADINGS else "left",
            no_wrap=heading != "workload",
        )
    for row, texts in zip(rows, lines[1:], strict=True):
        style = "bold red" if row.difference else "red" if row.is_loss else ""
        table.add_row(*texts, style=style)
    width = None if on_terminal else 120
    Console(width=width, markup=False, emoji=False, highlight=False).print(table)


def counted(number: int, noun: str) -> str:
    """The number and the noun, in the plural unless the number is 1: 2 rows, 2 losses."""
    ending = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{number} {noun}{ending}"


def print_summary(rows: list[Row], left_out: int = 0) -> None:
    """Print notes on operators, the number of losses, the geometric means, every difference, and
    the number of rows that an interrupted run left out."""
    shown = {row.operator for row in rows}
    for form in FORMS:
        if form.note and form.label in shown:
            print(f"{form.label}: {form.note}")
    losses = counted(sum(row.is_loss for row in rows), "loss")
    differences = sum(bool(row.difference) for row in rows)
    differ = f"{counted(differences, 'result')} {'differs' if differences == 1 else 'differ'}"
    print(f"\n{counted(len(rows), 'row')}, {losses}, {differ} from NumPy's")
    if means := geometric_means(rows):
        ratios = ", ".join(f"{name} {digits(mean)}x" for name, mean in means.items())
        print(f"geometric means of the ratios: {ratios}")
    for row in rows:
        if row.difference:
            print(f"DIFFERS: {row.operator}, {row.workload}: {row.difference}")
    if left_out:
        print(f"interrupted: {counted(left_out, 'row')} left out")


def environment() -> dict[str, Any]:
    """The configuration, and the load of the machine now."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return {**fastsel.show_config(mode="dicts"), "load": load}
