"""The chart of speed-ups, read back from its SVG, where texts stand in comments."""

import re
import tomllib
from pathlib import Path

import pytest

from fastsel._cli._chart import draw_speed_ups

pytest.importorskip("matplotlib", reason="needs pip install matplotlib")


def test_what_the_readme_installs_can_draw():
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert "matplotlib" in tomllib.loads(text)["project"]["optional-dependencies"]["bench"]


def test_chart_says_what_was_measured(tmp_path):
    points = [("nonzero", 100, 12.34), ("nonzero", 100, 0.5), ("unique", 10_000, 0.25)]
    draw_speed_ups(tmp_path / "a.svg", {"heading": points}, "caption")
    texts = re.findall("<!-- (.*?) -->", (tmp_path / "a.svg").read_text())
    assert {"nonzero", "unique", "heading", "caption"} <= set(texts)
    assert {"2.5x", "0.50 to 12", "0.25x"} <= set(texts)


def test_what_is_written_as_1_is_no_loss(tmp_path):
    for name, ratio in {"even": 0.996, "slower": 0.994}.items():
        draw_speed_ups(tmp_path / f"{name}.svg", {"heading": [("nonzero", 100, ratio)]}, "caption")
    even, slower = ((tmp_path / f"{name}.svg").read_text() for name in ("even", "slower"))
    assert "<!-- 1.0x -->" in even
    assert "DejaVuSans-Bold" not in even
    assert "<!-- 0.99x -->" in slower
    assert "DejaVuSans-Bold" in slower


def test_chart_of_the_same_results_is_the_same_file(tmp_path):
    for name in ("a.svg", "b.svg"):
        draw_speed_ups(tmp_path / name, {"heading": [("nonzero", 100, 2.0)]}, "caption")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
