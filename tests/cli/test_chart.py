"""The chart of speed-ups, read back from its SVG, where texts stand in comments."""

import re
import tomllib
from pathlib import Path

import pytest

from fastsel._cli import _chart
from fastsel._cli._chart import draw_speed_ups

pytest.importorskip("matplotlib", reason="needs pip install matplotlib")


def test_the_extra_bench_has_matplotlib():
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert "matplotlib" in tomllib.loads(text)["project"]["optional-dependencies"]["bench"]


def test_chart_says_what_was_measured(tmp_path):
    points = [("nonzero", 100, 12.34), ("nonzero", 100, 0.5), ("unique", 10_000, 0.25)]
    draw_speed_ups(tmp_path / "a.svg", "heading", points, "caption")
    texts = re.findall("<!-- (.*?) -->", (tmp_path / "a.svg").read_text())
    assert {"nonzero", "unique", "heading", "caption"} <= set(texts)
    assert {"2.5x", "0.50 to 12", "0.25x"} <= set(texts)


def test_a_loss_within_a_field_is_red_and_bold(tmp_path):
    for name, least in {"loss": 0.5, "gain": 2.0}.items():
        points = [("nonzero", 100, least), ("nonzero", 100, 1e6)]
        draw_speed_ups(tmp_path / f"{name}.svg", "heading", points, "caption")
    loss, gain = ((tmp_path / f"{name}.svg").read_text() for name in ("loss", "gain"))
    for text in ("fill: #b2172b", "DejaVuSans-Bold"):
        assert text in loss
        assert text not in gain


@pytest.mark.parametrize("deepest", [_chart.DEEPEST_RED, _chart.DEEPEST_BLUE])
def test_text_can_be_read_on_its_field(deepest):
    def luminance(color):
        parts = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color)
        return sum(a * b for a, b in zip((0.2126, 0.7152, 0.0722), parts, strict=True))

    for percent in range(101):
        color = [1 - percent / 100 * (1 - part) for part in deepest]
        ink = {"black": 0, "white": 1}[_chart.text_color_on(color)]
        low, high = sorted((luminance(color), ink))
        assert (high + 0.05) / (low + 0.05) >= 4.5


def test_a_ratio_printed_as_1_is_no_loss(tmp_path):
    for name, ratio in {"even": 0.996, "slower": 0.994}.items():
        draw_speed_ups(tmp_path / f"{name}.svg", "heading", [("nonzero", 100, ratio)], "caption")
    even, slower = ((tmp_path / f"{name}.svg").read_text() for name in ("even", "slower"))
    assert "<!-- 1.0x -->" in even
    assert "DejaVuSans-Bold" not in even
    assert "<!-- 0.99x -->" in slower
    assert "DejaVuSans-Bold" in slower


def test_chart_of_the_same_results_is_the_same_file(tmp_path):
    for name in ("a.svg", "b.svg"):
        draw_speed_ups(tmp_path / name, "heading", [("nonzero", 100, 2.0)], "caption")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
