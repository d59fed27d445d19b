"""What the benchmarks conclude from their figures; the figures themselves are no test."""

import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def regress(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks" / "peers")
    import regress

    return regress


@pytest.fixture
def compared(regress):
    """Function that makes the comparison of a cell; its sides scatter by this share."""
    generator = np.random.default_rng(1)

    def make(change=1.0, again=1.0, scatter=0.01):
        factors = {"base": 1.0, "base again": again, "head": change}
        rounds = {
            side: list(factor * np.exp(scatter * generator.standard_normal(regress.ROUNDS)))
            for side, factor in factors.items()
        }
        return regress.Comparison(rounds)

    return make


def slower(regress, **comparisons):
    return regress.slower(comparisons, comparisons.values())


def test_same_speed_is_no_regression(regress, compared):
    cells = {f"cell{k}": compared() for k in range(20)}
    assert slower(regress, **cells) == []


def test_slower_cell_is_a_regression(regress, compared):
    assert slower(regress, a=compared(), b=compared(change=1.3), c=compared()) == ["b"]


def test_faster_cell_is_no_regression(regress, compared):
    assert slower(regress, a=compared(), b=compared(change=0.5)) == []


def test_less_than_the_least_slowdown_is_no_regression(regress, compared):
    assert slower(regress, a=compared(change=1.04, scatter=0.001)) == []


def test_slowdown_within_the_scatter_is_noise(regress, compared):
    assert slower(regress, a=compared(change=1.3, scatter=0.5), b=compared()) == []


def test_slowdown_within_the_offset_of_equal_builds_is_noise(regress, compared):
    assert slower(regress, a=compared(change=1.3, again=1.35)) == []
    others = {f"cell{k}": compared(again=1.4) for k in range(9)}
    assert slower(regress, a=compared(change=1.3), **others) == []


def test_faster_second_process_of_base_is_noise_too(regress, compared):
    assert slower(regress, a=compared(change=1.3, again=1 / 1.35)) == []


def test_limit_moves_as_many_bytes(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks" / "peers")
    import timing

    out = timing.parallel_loop([np.ones(1001, bool), np.ones(50)], 8000, 3)()
    assert out.nbytes == 8000
    assert (out == 1).all()


def test_every_loop_of_a_level_has_its_speed():
    loops = re.findall(r"\(\*(\w+)[)\[]", (ROOT / "fastsel/_simd/level.h").read_text("utf-8"))
    page = (ROOT / "docs" / "loops.md").read_text("utf-8")
    assert loops
    assert [name for name in loops if f"| `{name}`" not in page] == []
