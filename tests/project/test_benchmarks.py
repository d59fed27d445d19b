"""The regressions that regress.py finds in given times, the calls and sizes of steps.py, the rows
of scaling.py and on_gpu.py, and the loop whose time is the limit that memory sets. No time is
checked."""

import importlib
import re
from pathlib import Path

import numpy as np
import pytest

import fastsel
from fastsel._core import _gate, _threads, parallel
from fastsel._core._operators import OPERATORS

ROOT = Path(__file__).parents[2]


@pytest.fixture
def regress(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks" / "peers")
    import regress

    return regress


@pytest.fixture
def compare(regress):
    """A function that makes the comparison of a cell. `change` is the time of head, and `again` the
    time of the second process of base, both divided by the time of base; all times scatter by
    `scatter`."""
    generator = np.random.default_rng(1)

    def make(change=1.0, again=1.0, scatter=0.01):
        factors = {"base": 1.0, "base again": again, "head": change}
        rounds = {
            side: list(factor * np.exp(scatter * generator.standard_normal(regress.ROUNDS)))
            for side, factor in factors.items()
        }
        return regress.Comparison(rounds)

    return make


def slower_cells(regress, **comparisons):
    return regress.slower(comparisons, comparisons.values())


def test_same_speed_is_no_regression(regress, compare):
    cells = {f"cell{k}": compare() for k in range(20)}
    assert slower_cells(regress, **cells) == []


def test_slower_cell_is_a_regression(regress, compare):
    assert slower_cells(regress, a=compare(), b=compare(change=1.3), c=compare()) == ["b"]


def test_faster_cell_is_no_regression(regress, compare):
    assert slower_cells(regress, a=compare(), b=compare(change=0.5)) == []


def test_slowdown_below_the_minimum_is_no_regression(regress, compare):
    assert slower_cells(regress, a=compare(change=1.04, scatter=0.001)) == []


def test_slowdown_within_the_scatter_is_noise(regress, compare):
    assert slower_cells(regress, a=compare(change=1.3, scatter=0.5), b=compare()) == []


def test_slowdown_within_the_offset_of_equal_builds_is_noise(regress, compare):
    assert slower_cells(regress, a=compare(change=1.3, again=1.35)) == []
    noisy_cells = {f"cell{k}": compare(again=1.4) for k in range(9)}
    assert slower_cells(regress, a=compare(change=1.3), **noisy_cells) == []


def test_faster_second_process_of_base_is_noise_too(regress, compare):
    assert slower_cells(regress, a=compare(change=1.3, again=1 / 1.35)) == []


def test_loop_of_the_memory_limit_writes_the_given_bytes(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks" / "peers")
    import timing

    out = timing.parallel_loop([np.ones(1001, bool), np.ones(50)], 8000, 3)()
    assert out.nbytes == 8000
    assert (out == 1).all()


def test_each_row_of_scaling_is_a_call_that_runs(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    scaling = importlib.import_module("scaling")
    names = []
    for name, call in scaling.operators(2000, None):
        call(2)
        names.append(name)
    assert len(names) == len(set(names)) > 35
    with pytest.raises(SystemExit, match="no row is named x; rows: "):
        next(scaling.operators(2000, ["x"]))


def test_scaling_prints_the_part_on_one_thread(monkeypatch, capsys):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    scaling = importlib.import_module("scaling")
    scaling.print_serial_parts(2000, ["nonzero", "copy"], 0)
    heading, row = capsys.readouterr().out.splitlines()
    assert heading.startswith("2e+03 items")
    name, *numbers = row.split()
    work, serial, speed_up = map(float, numbers)
    assert name == "nonzero"
    assert work >= serial >= 0
    assert 1 <= speed_up <= 16


def test_each_row_of_on_gpu_is_right(monkeypatch, capsys):
    """Without a peer, the row has fastsel on all threads and on one."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks" / "peers")
    on_gpu = importlib.import_module("on_gpu")
    monkeypatch.setattr(on_gpu, "missing_packages", lambda peer: [peer])
    monkeypatch.setattr(on_gpu, "limit_threads", lambda threads: None)
    monkeypatch.setattr("sys.argv", ["on_gpu.py", "--size", "1e4", "--seconds", "0"])
    with fastsel.threads(2):
        assert on_gpu.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert "# torch has no CUDA device here, so only the CPU is measured." in lines
    rows = lines[lines.index("## 1e4 items") + 1 :]
    assert [row[:34].strip() for row in rows] == [*on_gpu.ROWS]
    form = r"fastsel2 \d+\.\d\dms\(1\.00\)  fastsel1 \d+\.\d\dms\(\d+\.\d\d\)"
    assert all(re.fullmatch(form, row[35:]) for row in rows)


def test_tables_do_not_quote_exceptions_of_peers(regress):
    """The JSON has their texts. An exception of fastsel is in the tables, too."""
    report = importlib.import_module("report")
    cells = importlib.import_module("cells")
    refusals = {"torch": "raised TypeError: no", "polars": "one dimension only"}
    results = [report.Result(cells.Cell("nonzero"), refusals=refusals) for _ in range(2)]
    results[0].refusals = refusals | {"torch": "raised ValueError: no", "fastsel": "raised Bug: x"}
    assert report.problems(results) == [
        "",
        "- Not run: torch: refuses the input (cells: 2)",
        "- Not run: polars: one dimension only (cells: 2)",
        "- Not run: fastsel: raised Bug: x (cells: 1)",
    ]


def test_a_published_table_quotes_no_exception():
    for path in (ROOT / "benchmarks" / "results").glob("*.md"):
        assert not re.search(r"Not run: .*(Error|Exception)", path.read_text("utf-8")), path


def test_steps_are_looked_for_in_operators_of_each_family(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import steps

    calls = steps.calls()
    assert set(calls) <= set(OPERATORS)
    families = {operator.family for operator in OPERATORS.values()}
    assert {OPERATORS[name].family for name in calls} == families
    for kinds in calls.values():
        for make in kinds.values():
            for n in (0, 1, 1001):
                make(n)()


def test_steps_are_looked_for_at_every_threshold_and_power_of_two(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import steps

    sizes = steps.sizes(300_000)
    assert {0, 1, _gate.TINY_ITEMS, parallel.THRESHOLDS.small_items, 1 << 17, 1 << 18} <= set(sizes)
    assert _threads.MIN_CHUNK_BYTES // 8 in sizes
    assert max(sizes) <= 300_000


@pytest.mark.parametrize(
    ("change", "is_step"), [(1, False), (1.1, False), (1.5, True), (0.5, True)]
)
def test_a_step_is_a_change_up_or_down(monkeypatch, change, is_step):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import steps

    monkeypatch.setattr(steps, "measure", lambda calls, blocks: [100.0, 100.0 * change])
    assert (steps.step(None, None) is not None) == is_step
    monkeypatch.setattr(steps, "measure", lambda calls, blocks: [1.0, change])
    assert steps.step(None, None) is None
