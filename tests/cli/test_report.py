"""``fastsel run --report`` and ``--compare``: which calls are counted and compared, and what is
printed."""

import inspect
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from callers import run_in_threads
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
def make_report(monkeypatch):
    """Function that makes a report of the calls of this process."""
    monkeypatch.setattr(_patch, "OURS", dict(_patch.OURS))
    monkeypatch.setattr(_patch, "COUNT", _patch.COUNT)
    monkeypatch.setattr(_plan, "watcher", None)
    with fastsel.patched():
        yield _report.Report


@pytest.fixture
def report(make_report):
    """A report that only counts."""
    return make_report()


@pytest.fixture
def comparison(make_report):
    """A report that also calls NumPy's functions."""
    return make_report(compare=True)


@pytest.fixture
def run(tmp_path):
    """Function that runs a script with options and returns its status and its stderr."""

    def run_script(text, *options, arguments=()):
        (tmp_path / "script.py").write_text(text)
        done = subprocess.run(
            [sys.executable, "-m", "fastsel", "run", *options, "script.py", *arguments],
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


def tallies_of(report):
    return report.total()[0]


def replace(report, name, fastsels, numpys):
    """Make the report count calls of these functions."""
    _patch.OURS[name] = report.counting(name, fastsels, numpys)


def words_of_row(report, name):
    return next(line.split() for line in report.lines() if line.startswith(f"{name} "))


@pytest.mark.parametrize("option", ["--report", "--compare"])
@pytest.mark.parametrize("end", ENDS)
def test_the_report_is_printed_last(run, end, option):
    status, printed = run(CALLS + ENDS[end], option)
    assert status == {"exception": 1, "status": 7}.get(end, 0)
    before, _, report = printed.rpartition(f"\nfastsel run {option}: ")
    assert ("KeyError: 3" in before) == (end == "exception")
    assert row_of(report, "nonzero")[1:3] == ["3", "48"]
    assert row_of(report, "count_nonzero")[1:3] == ["1", "3"]
    assert ("\nunique " in report) == (end in ("thread", "exit_handler"))
    compares, several = option == "--compare", end == "thread"
    assert (" come from several threads\n" in report) == (compares and several)
    assert (" times as long\n" in report) == (compares and not several)
    assert ("  equal\n" in report) == compares


@pytest.mark.parametrize("option", ["--report", "--compare"])
def test_a_call_that_raises_an_error_counts(run, option):
    text = """
import contextlib
import numpy as np
with contextlib.suppress(ValueError):
    np.unique([[1], [2, 3]])
"""
    status, printed = run(text, option)
    assert status == 0
    assert row_of(printed, "unique")[1] == "1"


def test_a_report_without_calls_says_so(run):
    status, printed = run("import numpy as np; np.eye(3)[np.eye(3) > 0]", "--report")
    assert status == 0
    assert printed.splitlines()[-1].startswith("no replaced function was called")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_child_reports_nothing(run):
    text = CALLS + "import os; child = os.fork(); child and os.waitpid(child, 0)"
    _, printed = run(text, "--report")
    assert printed.count("--report") == 1


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [(["--report", "--report"], 1), (["--compare", "x"], 1), (["--reports", "-m", "-c"], 0)],
)
def test_an_option_after_the_script_is_the_scripts_and_is_named_once(run, arguments, lines):
    status, printed = run("import sys; print(sys.argv[1:], file=sys.stderr)", arguments=arguments)
    assert status == 0
    *notes, last = printed.splitlines()
    assert last == str(arguments)
    assert len(notes) == lines
    for note in notes:
        assert note.startswith(f"fastsel run: {arguments[0]} after the script")


def call_every_function():
    a = np.arange(20) % 3
    for name in _numpy.NAMES:
        before = {"compress": [a > 1], "extract": [a > 1]}.get(
            name, [a] if name in SET_FUNCTION_NAMES else []
        )
        getattr(np, name)(*before, a)


def test_every_replaced_function_is_counted(report):
    call_every_function()
    tallies = tallies_of(report)
    assert {*tallies} == {*_numpy.NAMES}
    assert {(tally.calls, tally.items, tally.compared) for tally in tallies.values()} == {
        (1, 20, 0)
    }
    lines = [line for line in report.lines() if not line.startswith("unique chose ")]
    assert lines[1].split() == list(_report.HEADINGS)
    assert sorted(line.split()[0] for line in lines[2:]) == sorted(_numpy.NAMES)
    assert re.fullmatch(
        r"\nfastsel run --report: .* [mu]?s, .* [mu]?s in these functions", lines[0]
    )


def test_every_replaced_function_is_compared(comparison):
    call_every_function()
    for name, tally in tallies_of(comparison).items():
        assert (tally.calls, tally.compared, tally.differences) == (1, 1, []), name
        assert tally.compared_spent == tally.spent
        assert tally.numpy_spent > 0
    lines = [line for line in comparison.lines() if not line.startswith("unique chose ")]
    assert lines[1].split() == list(_report.COMPARED_HEADINGS)
    assert {line.split()[-1] for line in lines[2:-1]} == {"equal"}
    assert lines[-1].startswith("calling NumPy and comparing took ")


def test_the_total_replaces_fastsels_time_by_numpys(comparison, monkeypatch):
    clock = SimpleNamespace(now=0)

    def taking(nanoseconds):
        def nonzero(a):
            clock.now += nanoseconds
            return (np.arange(3),)

        return nonzero

    monkeypatch.setattr(_report, "perf_counter_ns", lambda: clock.now)
    replace(comparison, "nonzero", taking(10**6), taking(9 * 10**6))
    comparison.start = 0
    np.nonzero([1, 1, 1])
    clock.now += 10**6  # the script itself
    head, _, row, last = comparison.lines()
    ending = "2.00 ms; with NumPy's functions 10.0 ms: 5.00 times as long"
    assert head == f"\nfastsel run --compare: {ending}"
    assert row.split() == ["nonzero", "1", "3", "1.00", "ms", "9.00", "ms", "9.00x", "equal"]
    assert " comparing took 9.00 ms;" in last


def test_a_result_that_differs_is_named(comparison):
    replace(comparison, "flatnonzero", fastsel.flatnonzero, lambda a: np.array([7]))
    assert np.flatnonzero([0, 1]).tolist() == [1]
    assert np.flatnonzero([0, 1]).tolist() == [1]
    assert words_of_row(comparison, "flatnonzero")[-2:] == ["2", "DIFFER"]
    lines = [*comparison.lines()]
    assert any(line.startswith("DIFFERS: flatnonzero: output 0 at (0,): 1, ") for line in lines)


def test_an_error_of_numpy_alone_is_a_difference(comparison):
    def refuse(a):
        raise TypeError("not this one")

    replace(comparison, "flatnonzero", fastsel.flatnonzero, refuse)
    assert np.flatnonzero([0, 1]).tolist() == [1]
    assert tallies_of(comparison)["flatnonzero"].differences == ["NumPy: TypeError: not this one"]


NAN = np.array([3.0, np.nan, 1, np.nan])
MANY_NAN = NAN.repeat(50)
ROWS_WITH_NAN = np.array([[1.0, np.nan], [0, 2]]).repeat(50, axis=0)
WITHOUT_DEFINED_ORDER = {
    "values": lambda: np.unique_values(np.array([3, 1, 2, 1])),
    "values_nan": lambda: np.unique_values(NAN),
    "inverse_nan": lambda: np.unique_inverse(NAN),
    "own_nan": lambda: np.unique(NAN, return_inverse=True, equal_nan=False),
    "own_nan_by_0": lambda: np.unique(MANY_NAN, return_inverse=True, equal_nan=0),
    "inverse_of_rows_with_nan": lambda: np.unique(ROWS_WITH_NAN, return_inverse=True, axis=0),
    "rows": lambda: np.unique(np.array([[3, 1], [2, 0], [3, 1]]), axis=0),
    "objects": lambda: np.compress([1, 1], np.array([2.0, np.nan], object)),
    "bytes_of_strings": lambda: np.unique(np.array(["b", "a"], np.dtypes.StringDType())),
    "missing_strings": lambda: np.compress(
        [1, 1], np.array(["b", None], np.dtypes.StringDType(na_object=None))
    ),
}
if "sorted" in inspect.signature(_numpy.unique).parameters:
    WITHOUT_DEFINED_ORDER["unsorted"] = lambda: np.unique([3, 1, 2, 1], sorted=False)
    WITHOUT_DEFINED_ORDER["unsorted_by_0"] = lambda: np.unique([3, 1, 2, 1], sorted=0)
    WITHOUT_DEFINED_ORDER["unsorted_rows"] = lambda: np.unique(
        np.array([[3, 1], [2, 0], [3, 1]]), True, axis=0, sorted=False
    )


@pytest.mark.parametrize("call", WITHOUT_DEFINED_ORDER.values(), ids=WITHOUT_DEFINED_ORDER.keys())
def test_only_what_numpy_defines_is_compared(comparison, call):
    call()
    (tally,) = tallies_of(comparison).values()
    assert (tally.compared, tally.differences) == (1, [])


def test_a_report_changes_no_result_and_no_error(report):
    check_results_and_errors(report)


def test_a_comparison_changes_no_result_and_no_error(comparison):
    check_results_and_errors(comparison)


def check_results_and_errors(report):
    a = np.array([3.0, 0, 3, np.nan])
    np.testing.assert_array_equal(np.unique(a), fastsel.unique(a))
    assert np.count_nonzero(a, keepdims=True).tolist() == [3]
    with pytest.raises(ValueError):
        np.unique(a, axis=1)
    assert tallies_of(report)["unique"].calls == 2


def test_the_report_names_the_algorithms_of_unique_and_their_reasons(report):
    for _ in range(3):
        np.unique(np.arange(20) % 7)
    np.unique(np.arange(100_000) % 7)
    chosen = [line for line in report.lines() if line.startswith("unique chose ")]
    assert chosen == [
        "unique chose sorting 3 times: few keys",
        f"unique chose dense 1 time: {_plan.DENSE.reason}",
    ]


def test_algorithms_of_other_functions_are_not_those_of_unique(report):
    np.union1d(np.arange(100_000) % 7, [3])
    np.unique_values(np.arange(20))
    fastsel.unique(np.arange(20))
    assert not [line for line in report.lines() if line.startswith("unique chose ")]


WITH_EFFECTS = {
    "out": lambda a: np.compress(a > 1, a, None, a[:2].copy()),
    "objects": lambda a: np.unique(np.array([np.float32(3)], object)),
    "list_of_objects": lambda a: np.count_nonzero([np.float32(3)]),
    "subclass": lambda a: np.nonzero(a.view(np.matrix)),
    "masked": lambda a: np.count_nonzero(np.ma.array(a)),
}


@pytest.mark.parametrize("call", WITH_EFFECTS.values(), ids=WITH_EFFECTS.keys())
def test_calls_that_might_have_effects_are_not_compared(comparison, call):
    call(np.arange(4))
    ((name, tally),) = tallies_of(comparison).items()
    assert (tally.calls, tally.compared) == (1, 0)
    head, _, row, reason, _ = comparison.lines()
    assert head.endswith(": 1.00 times as long")
    assert row.split()[-2:] == ["not", "compared"]
    assert reason.startswith(f"not compared: 1 call of {name}, ")
    assert " might have effects; " in reason


@pytest.mark.parametrize("words", [["b", "a"], np.array(["b", None], object)])
def test_objects_of_harmless_types_are_compared(comparison, words):
    np.nonzero(words)
    assert tallies_of(comparison)["nonzero"].compared == 1


def test_numpys_function_gets_the_same_arguments_and_is_not_patched(comparison):
    seen, inner = [], []

    def flatnonzero(a):
        seen.append(a)
        return np.nonzero(np.ravel(a))[0]

    def nonzero(a):
        inner.append(a)
        return _numpy.nonzero(a)

    replace(comparison, "flatnonzero", fastsel.flatnonzero, flatnonzero)
    replace(comparison, "nonzero", fastsel.nonzero, nonzero)
    array = np.arange(5)
    assert np.flatnonzero(array).tolist() == [1, 2, 3, 4]
    assert len(seen) == len(inner) == 1
    assert seen[0] is array
    assert {*tallies_of(comparison)} == {"flatnonzero"}


def test_calls_that_the_program_did_not_make_have_no_row(report):
    objects = np.array([3, 1, 3], object)
    assert np.union1d(objects, objects).tolist() == [1, 3]  # NumPy's union1d calls numpy.unique
    assert np.setxor1d(objects, objects[:2]).tolist() == []
    assert {*tallies_of(report)} == {"union1d", "setxor1d"}


def test_all_small_calls_are_counted(report):
    a = np.ones(3)
    for _ in range(500):
        np.count_nonzero(a)
    assert words_of_row(report, "count_nonzero")[1:3] == ["500", "1,500"]


def test_calls_of_several_threads_are_all_counted(report):
    def many():
        for _ in range(3000):
            np.nonzero(a)

    a, interval = np.ones(3), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        run_in_threads([many] * 3)
    finally:
        sys.setswitchinterval(interval)
    assert words_of_row(report, "nonzero")[1:3] == ["9,000", "27,000"]


def test_a_call_of_another_thread_is_no_inner_call(report):
    """While a call of one thread runs, the calls of other threads are calls of the program."""

    def slow(a):
        run_in_threads([lambda: np.flatnonzero([0, 1])])
        return fastsel.nonzero(a)

    replace(report, "nonzero", slow, _numpy.nonzero)
    np.nonzero([0, 1])
    assert {name: tally.calls for name, tally in tallies_of(report).items()} == {
        "nonzero": 1,
        "flatnonzero": 1,
    }


def test_calls_of_one_other_thread_are_not_those_of_several_threads(comparison):
    run_in_threads([lambda: np.nonzero([0, 1])])
    assert not [line for line in comparison.lines() if "several threads" in line]


def test_items_of_a_list_are_its_length(report):
    np.count_nonzero([[1, 2], [3, 4], [5, 6]])
    np.count_nonzero(np.float64(3))
    assert tallies_of(report)["count_nonzero"].items == 4
