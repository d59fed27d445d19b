"""`fastsel bench`: the table, progress, interruption and the chart of a run."""

import math
import os
import re
import sys

import numpy as np
import pytest

from fastsel._cli import _bench, _progress, _table, _workloads
from fastsel._cli import _commands as command_line

pytestmark = pytest.mark.thread_unsafe(
    reason="captures what the process prints, and replaces functions of modules"
)

TINY = ("--size", "2000")


def make_row(**fields):
    """A measured row, in which by default fastsel is twice as fast as NumPy."""
    measured = {"numpy_seconds": 0.002, "fastsel_seconds": 0.001, "ratio": 2.0}
    row = {"operator": "nonzero", "family": "positions", "workload": "data", "threads": 2}
    row["items"] = 10
    return _bench.Row(**row | measured | {"gigabytes_per_second": 1.5} | fields)


# --- tables, progress, interruption ---------------------------------------------------------


@pytest.fixture(params=["rich", "plain"])
def print_table(request, monkeypatch, capsys):
    """Function that prints a table, with rich or without, and returns its lines."""
    if request.param == "rich":
        pytest.importorskip("rich", reason="needs pip install rich")
    else:
        monkeypatch.setitem(sys.modules, "rich.console", None)

    def lines(*rows):
        _table.print_table(rows)
        return capsys.readouterr().out.splitlines()

    return lines


def test_table_has_a_heading_and_a_line_for_each_row(print_table):
    heading, line = print_table(make_row())
    assert heading.split() == list(_table.HEADINGS)
    assert line.split() == ["nonzero", "data", "2.00", "ms", "1.00", "ms", "2.00x", "1.50", "2"]


def test_table_shows_losses(print_table):
    _, line = print_table(make_row(ratio=0.5))
    assert "LOSS 0.500x" in line


@pytest.mark.parametrize(
    ("ratio", "text"), [(1, "1.00x"), (0.99951, "1.00x"), (0.99949, "LOSS 0.999x")]
)
def test_a_ratio_printed_as_1_is_no_loss(print_table, capsys, ratio, text):
    row = make_row(ratio=ratio)
    _, line = print_table(row)
    assert re.search(" ((LOSS )?[0-9.]+x)", line)[1] == text
    _table.print_summary([row])
    assert f"1 row, {'1 loss' if 'LOSS' in text else '0 losses'}, 0" in capsys.readouterr().out


def test_table_shows_differences(print_table):
    row = _bench.Row("nonzero", "positions", "data", 10, 2, "output 0: dtype int32, NumPy int64")
    _, line = print_table(row)
    assert line.split() == ["nonzero", "data", "DIFFERS", "2"]


def test_table_shows_names_as_they_are(print_table):
    _, line = print_table(make_row(workload="data.npz:a:[red]"))
    assert "data.npz:a:[red]" in line


@pytest.mark.parametrize("width", [40, 50, 60, 200])
def test_a_narrow_terminal_gets_fewer_columns_with_whole_names(print_table, monkeypatch, width):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    row = make_row(operator="count_nonzero(axis=-1)", workload="voxels 1e5x10x10, 30 % set")
    heading, *lines = (re.sub("\x1b\\[[0-9;]*m", "", line) for line in print_table(row))
    columns = [name for name in _table.HEADINGS if name in heading.split()]
    assert columns[:2] == ["operator", "workload"]
    assert "ratio" in columns
    assert (len(columns) == len(_table.HEADINGS)) == (width > 80)
    assert "count_nonzero(axis=-1)" in lines[0]
    assert " 2.00x" in lines[0]
    assert "\N{HORIZONTAL ELLIPSIS}" not in "".join(lines)
    if width >= 60:
        assert max(map(len, [heading, *lines])) <= width


def test_summary_counts_losses(capsys):
    _table.print_summary([make_row(ratio=8.0), make_row(ratio=0.5)])
    out = capsys.readouterr().out
    assert "\n2 rows, 1 loss, 0 results differ from NumPy's\n" in out
    assert "positions 2.00x" in out


def test_summary_counts_differences(capsys):
    _table.print_summary([_bench.Row("nonzero", "positions", "data", 10, 2, "dtype")])
    out = capsys.readouterr().out
    assert "\n1 row, 0 losses, 1 result differs from NumPy's\n" in out
    assert "geometric" not in out


@pytest.mark.parametrize(
    ("seconds", "text"), [(2.5e-7, "0.250 us"), (0.0123, "12.3 ms"), (1, "1.00 s"), (123, "123 s")]
)
def test_duration_has_three_digits_and_a_unit(seconds, text):
    assert _table.duration(seconds) == text


@pytest.mark.parametrize("with_rich", [True, False])
def test_progress_on_a_terminal_names_each_row(bench, capsys, monkeypatch, with_rich):
    if with_rich:
        pytest.importorskip("rich", reason="needs pip install rich")
        monkeypatch.setenv("COLUMNS", "200")
        monkeypatch.setenv("TERM", "xterm")
    else:
        monkeypatch.setitem(sys.modules, "rich.progress", None)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    _, report = bench(*TINY, "--op", "argwhere")
    shown = capsys.readouterr().err
    count = len(report["rows"])
    assert count > 1
    for done, row in enumerate(report["rows"], start=0 if with_rich else 1):
        assert f"{done}/{count}" in shown or f"{done} of {count}" in shown
        assert f"argwhere on {row['workload']}" in shown


def test_progress_without_a_terminal_is_at_most_one_line_per_interval(bench, capsys, monkeypatch):
    bench(*TINY, "--op", "argwhere")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(_progress, "LINE_SECONDS", 0)
    _, report = bench(*TINY, "--op", "argwhere")
    lines = capsys.readouterr().err.splitlines()
    names = [row["workload"] for row in report["rows"]]
    assert len(lines) == len(names) > 1
    for number, (line, name) in enumerate(zip(lines, names, strict=True), 1):
        assert line.startswith(f"{number} of {len(names)}")
        assert line.endswith(f": argwhere on {name}")
        assert ("s left" in line) == (number > 1)


def test_time_left_is_estimated_by_weights(monkeypatch):
    clock = iter([0.0, 0.0, 3.0, 6.0])
    monkeypatch.setattr(_progress.time, "perf_counter", lambda: next(clock))
    lines = []
    assert [*_progress.with_lines("abc", str, [1, 2, 4], lines.append)] == [*"abc"]
    assert lines == ["1 of 3: a", "2 of 3, 18 s left: b", "3 of 3, 8 s left: c"]


def test_the_first_lines_estimate_the_time_of_the_run(bench, capsys):
    bench(*TINY, "--op", "argwhere")
    assert re.search(r"^2 rows, about \d+ s$", capsys.readouterr().out, re.MULTILINE)
    assert [_table.rounded_time(t) for t in (0.2, 71.4, 400)] == ["1 s", "71 s", "7 min"]


@pytest.mark.skipif(not hasattr(os, "getloadavg"), reason="this system has no os.getloadavg")
@pytest.mark.parametrize("load", [0.0, 9999.0])
def test_load_of_a_busy_machine_is_printed(bench, capsys, monkeypatch, load):
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    bench(*TINY, "--op", "argwhere")
    assert ("load 9999.0" in capsys.readouterr().out) == (load > 0)


def test_interrupted_run_shows_its_rows(bench, monkeypatch, capsys):
    rows = iter([make_row()])

    def measure(*cell):
        try:
            return next(rows)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr(command_line, "measure", measure)
    status, report = bench(*TINY)
    assert status == 130
    assert len(report["rows"]) == 1
    left_out = report["left_out"]
    assert left_out == len(_bench.cells_of(_workloads.embedded_workloads(2000))) - 1
    assert capsys.readouterr().out.endswith(f"\ninterrupted: {left_out} rows left out\n")


@pytest.mark.parametrize("moment", ["checked_arrays", "embedded_workloads", "print_table"])
def test_interrupt_before_or_after_the_measurements_is_one_line(capsys, monkeypatch, moment):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(command_line, moment, interrupt)
    assert command_line.main(["bench", *TINY, "--seconds", "0", "--op", "argwhere"]) == 130
    assert capsys.readouterr().err == "fastsel bench: interrupted\n"


# --- the chart --------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml")])
def test_chart_is_a_png_or_svg_file(bench, tmp_path, name, start):
    """Each chosen operator is measured with two sizes, so the chart has two values for it."""
    pytest.importorskip("matplotlib", reason="needs pip install matplotlib")
    chosen = [word for name in ("gather_nd", "unique", "argwhere") for word in ("--op", name)]
    status, report = bench("--size", "100000", *chosen, "--plot", tmp_path / name)
    assert status == 0
    columns = {}
    for row in report["rows"]:
        columns.setdefault(row["operator"], set()).add(round(math.log10(row["items"])))
    assert len(columns) > 4
    assert {*map(tuple, map(sorted, columns.values()))} == {(4, 5)}
    assert (tmp_path / name).read_bytes().startswith(start)


@pytest.mark.parametrize("more", [0, 1, 2])
def test_chart_of_files_has_their_names_and_numbers_of_items(bench, save, tmp_path, more):
    pytest.importorskip("matplotlib", reason="needs pip install matplotlib")
    files = [save(f"d{k}", np.arange(1234 + k)) for k in range(more + 1)]
    bench(*files, "--op", "nonzero", "--plot", tmp_path / "a.svg")
    texts = re.findall("<!-- (.*?) -->", (tmp_path / "a.svg").read_text())
    name = ["d0.npy", "d0.npy, d1.npy", "d0.npy, d1.npy and 1 more"][more]
    assert {name, "times as fast as NumPy"} <= {*texts}
    assert {f"{1234 + k:,}" for k in range(more + 1)} <= {*texts}
