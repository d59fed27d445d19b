"""``fastsel run --report``: which calls are counted, which are sampled, and what is printed."""

import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from operators import SET_FUNCTION_NAMES

import fastsel
from fastsel import _patch
from fastsel._cli import _report
from fastsel._core import _numpy
from fastsel._unique import _plan

pytestmark = pytest.mark.thread_unsafe(reason="patches NumPy's functions")

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
    """A report of the calls of this process, with unlimited time for samples."""
    monkeypatch.setattr(_patch, "OURS", dict(_patch.OURS))
    monkeypatch.setattr(_patch, "COUNT_SMALL", _patch.COUNT_SMALL)
    monkeypatch.setattr(_plan, "watcher", None)
    monkeypatch.setattr(_report, "ALLOWANCE", 1 << 62)
    with fastsel.patched():
        yield _report.Report()


@pytest.fixture
def run(tmp_path):
    """Function that runs a script with --report and returns its status and its stderr."""

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
def test_the_report_is_printed_last(run, end):
    status, printed = run(CALLS + ENDS[end])
    assert status == {"exception": 1, "status": 7}.get(end, 0)
    before, _, report = printed.rpartition("\nfastsel run --report: ")
    assert ("KeyError: 3" in before) == (end == "exception")
    assert row_of(report, "nonzero")[1:3] == ["3", "48"]
    assert row_of(report, "count_nonzero")[1:3] == ["1", "3"]
    assert ("\nunique " in report) == (end in ("thread", "exit_handler"))
    assert (" several threads\n" in report) == (end == "thread")
    assert report.endswith(", which no other line includes\n")


def test_a_report_without_calls_says_so(run):
    status, printed = run("import numpy as np; np.eye(3)[np.eye(3) > 0]")
    assert status == 0
    assert printed.splitlines()[-1].startswith("no replaced function was called")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_child_reports_nothing(run):
    _, printed = run(CALLS + "import os; child = os.fork(); child and os.waitpid(child, 0)")
    assert printed.count("--report") == 1


def test_every_replaced_function_is_counted_and_sampled(report):
    a = np.arange(20) % 3
    for name in _numpy.NAMES:
        before = {"compress": [a > 1], "extract": [a > 1]}.get(
            name, [a] if name in SET_FUNCTION_NAMES else []
        )
        getattr(np, name)(*before, a)
    for name, record in report.records.items():
        assert (record.name, record.calls, record.items, record.samples) == (name, 1, 20, 1)
        assert _report.of_function([*record.kinds.values()])[1] == 0
    lines = [line for line in report.lines() if not line.startswith("unique chose ")]
    assert lines[1].split() == list(_report.HEADINGS)
    assert sorted(line.split()[0] for line in lines[2:-2]) == sorted(_numpy.NAMES)
    assert {line.split()[-1] for line in lines[2:-2]} == {"1"}
    assert " from 16 calls that also ran NumPy's function; " in lines[-1]


def test_a_report_changes_no_result_and_no_error(report):
    a = np.array([3.0, 0, 3, np.nan])
    np.testing.assert_array_equal(np.unique(a), fastsel.unique(a))
    assert np.count_nonzero(a, keepdims=True).tolist() == [3]
    with pytest.raises(ValueError):
        np.unique(a, axis=1)
    assert report.records["unique"].calls == 1


def test_the_report_names_the_algorithms_of_unique_and_their_reasons(report):
    for _ in range(3):
        np.unique(np.arange(20) % 7)
    np.unique(np.arange(100_000) % 7)
    chosen = [line for line in report.lines() if line.startswith("unique chose ")]
    assert chosen == [
        f"unique chose small 3 times: {_plan.SMALL.reason}",
        "unique chose dense 1 time: the keys are of a narrow range",
    ]


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
    assert record.reason == _report.EFFECTS
    assert words_of_row(report, record.name)[-4:] == ["no", "estimate", "-", "0"]
    *_, verdict, reason = report.lines()
    assert verdict == "no estimate for the whole program"
    assert reason.startswith(f"not timed with NumPy: {record.name}, ")
    assert reason.endswith(f": {_report.EFFECTS}")


def words_of_row(report, name):
    return next(line.split() for line in report.lines() if line.startswith(f"{name} "))


@pytest.mark.parametrize("words", [["b", "a"], np.array(["b", None], object)])
def test_objects_of_harmless_types_are_sampled(report, words):
    np.nonzero(words)
    assert report.records["nonzero"].samples == 1


def test_numpys_function_is_timed_with_the_same_arguments_and_without_patch(report, monkeypatch):
    seen, inner = [], []

    def flatnonzero(a):
        seen.append(a)
        return np.nonzero(np.ravel(a))[0]

    def nonzero(a):
        inner.append(a)
        return _numpy.nonzero(a)

    monkeypatch.setattr(report.records["flatnonzero"], "numpy", flatnonzero)
    monkeypatch.setattr(report.records["nonzero"], "numpy", nonzero)
    array = np.arange(5)
    assert np.flatnonzero(array).tolist() == [1, 2, 3, 4]
    assert len(seen) == len(inner) == 1
    assert seen[0] is array
    assert report.records["nonzero"].calls == 0


def test_calls_that_the_program_did_not_make_have_no_row(report):
    objects = np.array([3, 1, 3], object)
    assert np.union1d(objects, objects).tolist() == [1, 3]  # NumPy's union1d calls numpy.unique
    assert np.setxor1d(objects, objects[:2]).tolist() == []
    assert {r.name for r in report.records.values() if r.calls} == {"union1d", "setxor1d"}


@pytest.fixture
def timer(monkeypatch):
    """A timer that records the sizes of arrays; each call takes `fixed` ns, and one ns per item."""
    sizes, timer = [], SimpleNamespace(fixed=1000)

    def timed(record, args, kwargs):
        sizes.append(args[record.array].size)
        return (timer.fixed + sizes[-1],) * 2

    monkeypatch.setattr(_report, "timed", timed)
    timer.sizes = sizes
    return timer


def test_the_first_rows_are_timed_before_a_large_array(report, timer):
    np.nonzero(np.ones(10**6))
    np.nonzero(np.ones(10**6))
    assert timer.sizes == [_report.PROBE_ITEMS, 10**6, 10**6]
    np.nonzero(np.ones(10**6, np.float32))  # another kind of call
    assert timer.sizes[3:] == [_report.PROBE_ITEMS, 10**6]
    assert report.records["nonzero"].samples == 3


def test_fixed_costs_of_the_first_rows_are_not_extrapolated(report, timer, monkeypatch):
    timer.fixed = 10**6
    monkeypatch.setattr(_report, "ALLOWANCE", 150 * 10**6)
    monkeypatch.setattr(_report, "MAX_SHARE", 0)
    np.nonzero(np.ones(10**6))
    assert timer.sizes == [_report.PROBE_ITEMS, 16 * _report.PROBE_ITEMS, 10**6]


def test_a_call_that_is_too_long_for_numpy_is_not_sampled(report, timer, monkeypatch):
    monkeypatch.setattr(_report, "ALLOWANCE", 10)
    monkeypatch.setattr(_report, "MAX_SHARE", 0)
    np.unique(np.arange(10**5))
    assert timer.sizes == [_report.PROBE_ITEMS]
    assert words_of_row(report, "unique")[-4:] == ["no", "estimate", "-", "0"]
    assert [*report.lines()][-1].endswith(f": {_report.TOO_LONG}")


def test_a_second_sample_leaves_time_to_other_functions(report, timer, monkeypatch):
    monkeypatch.setattr(_report, "MAX_SHARE", 0)
    monkeypatch.setattr(_report, "PART_OF_REST", 1e-18)
    for _ in range(3):
        np.nonzero(np.ones(1000))
    assert timer.sizes == [1000]


def test_a_part_of_equal_calls_is_sampled(report, timer):
    a = np.ones(100)
    for _ in range(400):
        np.nonzero(a)
    assert report.records["nonzero"].calls == 400
    assert report.records["nonzero"].samples == 400 * _report.SAMPLED_PART


def test_a_piece_has_the_first_rows_of_each_array():
    record = _report.Record("compress", fastsel.compress)
    mask, array = np.ones(100, bool), np.ones((100, 30))
    condition, piece, *rest = _report.piece_of(record, (mask, array, 0, None), 0.2)
    assert condition.shape == (20,)
    assert piece.shape == (20, 30)
    assert np.shares_memory(piece, array)
    assert rest == [0, None]


def test_small_arrays_of_similar_sizes_are_of_one_kind_and_kinds_are_limited(report, monkeypatch):
    np.unique(np.ones(4))
    np.unique(np.ones(5, int), return_counts=True)
    assert len(report.records["unique"].kinds) == 1
    monkeypatch.setattr(_report, "MAX_KINDS", 3)
    for kind in ("i1", "i2", "i4", "i8"):
        np.unique(np.ones(1000, kind))
    kinds = report.records["unique"].kinds
    assert len(kinds) == 4
    assert kinds[None].calls == 2


def test_all_small_calls_are_counted(report):
    a = np.ones(3)
    for _ in range(500):
        np.count_nonzero(a)
    assert words_of_row(report, "count_nonzero")[1:3] == ["500", "1,500"]
    assert report.counting_time(500) > 0


def test_calls_of_one_other_thread_are_not_those_of_several_threads(report):
    thread = threading.Thread(target=np.nonzero, args=([0, 1],))
    thread.start()
    thread.join()
    assert not [line for line in report.lines() if "several threads" in line]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        ((1.234, 12.34), "1.2 to 12 s"),
        ((0.5, 1.0), "0.50 to 1.0 s"),
        ((0.01234, 0.9), "12 to 900 ms"),
        ((1e-6, 9.99e-4), "1.0 to 999 us"),
    ],
)
def test_a_range_of_times_has_one_unit(seconds, text):
    assert _report.duration_range(_report.Range(*seconds)) == text


def test_items_of_a_list_are_its_length(report):
    np.count_nonzero([[1, 2], [3, 4], [5, 6]])
    np.count_nonzero(np.float64(3))
    assert report.records["count_nonzero"].items == 4
