"""``fastsel run --report``: which calls are counted, which are sampled, and what is printed."""

import os
import subprocess
import sys

import numpy as np
import pytest
from operators import SETS

import fastsel
from fastsel import _patch
from fastsel._cli import _report
from fastsel._core import _numpy

ENDS = {
    "end": "",
    "exception": "raise KeyError(3)",
    "status": "import sys; sys.exit(7)",
    "thread": "import threading; threading.Thread(target=np.unique, args=([3],)).start()",
    "exit_handler": "import atexit; atexit.register(np.unique, [3])",
}
CALLS = """
import numpy as np
for k in range(3):
    np.nonzero(np.eye(4))
np.count_nonzero([1, 0, 2])
"""


@pytest.fixture
def report(monkeypatch):
    """A report of the calls of this process, which samples whatever it may."""
    monkeypatch.setattr(_patch, "OURS", dict(_patch.OURS))
    monkeypatch.setattr(_patch, "COUNT_SMALL", _patch.COUNT_SMALL)
    monkeypatch.setattr(_report, "MAX_SHARE", 1e9)
    monkeypatch.setattr(_report, "SAMPLED_PART", 0)
    with fastsel.patched():
        yield _report.Report()


@pytest.fixture
def run(tmp_path):
    """Function that runs a script with --report: its status and what it prints on stderr."""

    def run_script(text):
        (tmp_path / "script.py").write_text(text)
        done = subprocess.run(
            [sys.executable, "-m", "fastsel", "run", "--report", "script.py"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        return done.returncode, done.stderr

    return run_script


def row_of(report, name):
    return next(line.split() for line in report.splitlines() if line.startswith(f"{name} "))


@pytest.mark.parametrize("end", ENDS)
def test_report_is_the_last_that_is_printed(run, end):
    status, printed = run(CALLS + ENDS[end])
    assert status == {"exception": 1, "status": 7}.get(end, 0)
    before, _, report = printed.rpartition("\nfastsel run --report: ")
    assert ("KeyError: 3" in before) == (end == "exception")
    assert row_of(report, "nonzero")[1:3] == ["3", "48"]
    assert row_of(report, "count_nonzero")[1:3] == ["1", "3"]
    assert ("\nunique " in report) == (end in ("thread", "exit_handler"))
    assert report.endswith(" timed with both\n")


def test_nothing_to_report(run):
    status, printed = run("import numpy as np; np.eye(3)[np.eye(3) > 0]")
    assert status == 0
    assert printed.splitlines()[-1].startswith("no function was called that is replaced")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_child_reports_nothing(run):
    _, printed = run(CALLS + "import os; child = os.fork(); child and os.waitpid(child, 0)")
    assert printed.count("--report") == 1


def test_every_replaced_function_is_counted_and_sampled(report):
    a = np.arange(20) % 3
    for name in _numpy.NAMES:
        before = {"compress": [a > 1], "extract": [a > 1]}.get(name, [a] if name in SETS else [])
        getattr(np, name)(*before, a)
    for name, record in report.records.items():
        assert (record.name, record.calls, record.items, record.samples) == (name, 1, 20, 1)
        assert record.ratio > 0
    lines = list(report.lines())
    assert lines[1].split() == list(_report.HEADINGS)
    assert sorted(line.split()[0] for line in lines[2:-2]) == sorted(_numpy.NAMES)
    assert {line.split()[-1] for line in lines[2:-2]} == {"1"}
    assert lines[-1].endswith("from 16 calls timed with both")


def test_results_and_errors_are_as_without(report):
    a = np.array([3.0, 0, 3, np.nan])
    np.testing.assert_array_equal(np.unique(a), fastsel.unique(a))
    assert np.count_nonzero(a, keepdims=True).tolist() == [3]
    with pytest.raises(ValueError):
        np.unique(a, axis=1)
    assert report.records["unique"].calls == 1


WITH_EFFECTS = {
    "out": lambda a: np.compress(a > 1, a, None, a[:2].copy()),
    "objects": lambda a: np.unique(np.array([np.float32(3)], object)),
    "list_of_objects": lambda a: np.count_nonzero([np.float32(3)]),
    "subclass": lambda a: np.nonzero(a.view(np.matrix)),
    "masked": lambda a: np.count_nonzero(np.ma.array(a)),
}


@pytest.mark.parametrize("call", WITH_EFFECTS.values(), ids=WITH_EFFECTS.keys())
def test_calls_that_might_have_effects_are_not_sampled(report, call):
    call(np.arange(4))
    record = next(record for record in report.records.values() if record.calls)
    assert (record.calls, record.samples) == (1, 0)
    assert texts(report, record.name)[-3:] == ["-", "-", "0"]
    assert [*report.lines()][-2] == f"not sampled, and taken as equally fast: {record.name}"
    assert "whole program" not in "".join(report.lines())


def texts(report, name):
    return next(line.split() for line in report.lines() if line.startswith(f"{name} "))


@pytest.mark.parametrize("words", [["b", "a"], np.array(["b", None], object)])
def test_plain_objects_are_sampled(report, words):
    np.nonzero(words)
    assert report.records["nonzero"].samples == 1


def test_numpys_side_is_numpys_and_sees_the_same_arguments(report, monkeypatch):
    seen = []

    def flatnonzero(a):
        seen.append((a, {name: _patch.OURS[name] for name in _numpy.NAMES}))
        return np.nonzero(np.ravel(a))[0]

    array = np.arange(5)
    with monkeypatch.context() as patch:
        patch.setattr(_numpy, "flatnonzero", flatnonzero)
        assert np.flatnonzero(array).tolist() == [1, 2, 3, 4]
        theirs = {name: getattr(_numpy, name) for name in _numpy.NAMES}
    (given, meanwhile), *others = seen
    assert not others
    assert given is array
    assert meanwhile == theirs
    assert report.records["nonzero"].calls == 0
    assert _patch.OURS["nonzero"] is not _numpy.nonzero


def test_a_call_beyond_the_budget_is_cut_to_its_first_rows():
    args = (np.ones((1000, 100)),)
    assert _report.piece_of("nonzero", args, 100_000, 1e6) is args
    (piece,) = _report.piece_of("nonzero", args, 100_000, 20_050.5)
    assert piece.shape == (200, 100)
    assert np.shares_memory(piece, args[0])
    assert _report.piece_of("nonzero", (np.ones((1, 10**5)),), 10**5, 2e4) is None


def test_condition_and_array_are_cut_alike():
    mask, array = np.ones(10**5, bool), np.ones(10**5)
    for name, others in {"extract": (), "compress": (None, None)}.items():
        condition, piece, *rest = _report.piece_of(name, (mask, array, *others), 10**5, 2e4)
        assert len(condition) == len(piece) == 20_000
        assert tuple(rest) == others
    columns = (np.ones(100, bool), array.reshape(-1, 100), 1, None)
    assert _report.piece_of("compress", columns, 10**5, 2e4) is None


def test_the_first_time_some_items_say_how_long_numpy_takes(report, monkeypatch):
    sizes = []
    monkeypatch.setattr(report, "time_numpy", lambda *call: sizes.append(call[1][0].size) or 1000)
    record = _report.Record("unique", spent=10)
    for _ in range(2):
        report.sample(record, (np.arange(10**6),), {}, 10**6, spent=1)
    assert sizes == [_report.MIN_PIECE, 10**6, 10**6]
    report.sample(record, (np.arange(10.0**6),), {}, 10**6, spent=1)
    assert sizes[3:] == [_report.MIN_PIECE, 10**6]
    assert record.samples == 3


def test_no_sample_of_fewer_items_than_the_smallest_piece(report, monkeypatch):
    sizes = []
    monkeypatch.setattr(report, "time_numpy", lambda *call: sizes.append(call[1][0].size) or 1000)
    monkeypatch.setattr(_report, "MAX_SHARE", 1e-9)
    report.start -= 10**12  # 1000 ns may be spent
    kind = np.dtype(int), ()
    record = _report.Record("unique", spent=10, times={kind: 1000})
    report.sample(record, (np.arange(10**6),), {}, 10**6, spent=1)
    assert sizes == []
    record.times[kind], report.sampling, record.sampling = 0.1, 0, 0
    report.sample(record, (np.arange(10**6),), {}, 10**6, spent=1)
    assert len(sizes) == 1
    assert _report.MIN_PIECE <= sizes[0] < 10**4


def test_no_budget_no_sample(report, monkeypatch):
    monkeypatch.setattr(_report, "MAX_SHARE", 0)
    np.unique(np.arange(10**5))
    assert report.records["unique"].samples == 0


def test_estimates():
    record = _report.Record("nonzero", spent=100)
    record.add_sample(theirs=300, sampled=10, items=10, spent=100)
    assert record.ratio == 3
    record.spent = 400
    record.add_sample(theirs=30, sampled=10, items=20, spent=60)
    assert record.ratio == (300 + 60) / (100 + 60)
    sorting = _report.Record("unique", spent=100)
    sorting.add_sample(theirs=300, sampled=16, items=256, spent=100)
    assert sorting.ratio == 3 * 16 * 2


def test_many_short_calls_are_no_longer_counted(report, monkeypatch):
    monkeypatch.setattr(_report, "FREE_CALLS", 1024)
    monkeypatch.setattr(_report, "MAX_SHARE", 0)
    a = np.ones(3)
    for _ in range(5000):
        np.count_nonzero(a)
    assert report.records["count_nonzero"].calls == 2048
    assert _patch.OURS["count_nonzero"] is report.originals["count_nonzero"]
    assert _patch.COUNT_SMALL is report.count_small
    np.nonzero(a)
    assert texts(report, "nonzero")[1] == "1"
    assert texts(report, "count_nonzero")[1:3] == ["2,048+", "6,144+"]
    assert [*report.lines()][-1].startswith("+: ")


def test_lists_count_by_their_length(report):
    np.count_nonzero([[1, 2], [3, 4], [5, 6]])
    np.count_nonzero(np.float64(3))
    assert report.records["count_nonzero"].items == 4
