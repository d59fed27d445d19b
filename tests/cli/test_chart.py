"""The chart of speed-ups, read back from its SVG, where texts stand in comments."""

import re

import pytest

from fastsel._cli._chart import draw_speed_ups

pytest.importorskip("matplotlib", reason="needs pip install matplotlib")


def test_chart_says_what_was_measured(tmp_path):
    points = [("nonzero", 100, 12.34), ("nonzero", 100, 0.5), ("unique", 10_000, 0.25)]
    draw_speed_ups(tmp_path / "a.svg", {"heading": points}, "caption")
    texts = re.findall("<!-- (.*?) -->", (tmp_path / "a.svg").read_text())
    assert {"nonzero", "unique", "heading", "caption"} <= set(texts)
    assert {"2.5x", "0.50 to 12", "0.25x"} <= set(texts)


def test_chart_of_the_same_results_is_the_same_file(tmp_path):
    for name in ("a.svg", "b.svg"):
        draw_speed_ups(tmp_path / name, {"heading": [("nonzero", 100, 2.0)]}, "caption")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
