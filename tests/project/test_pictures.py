"""The pictures of speed show the published results, with the names that the text uses."""

import importlib
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from fastsel._core._operators import OPERATORS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PICTURES = ["times.svg", "times-dark.svg"]
# The width of a character divided by the size of its font is 0.6 in monospaced fonts, and less in
# others on average.
MAX_CHARACTER_WIDTH = 0.61


@pytest.fixture
def publish(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks" / "peers")
    return importlib.import_module("publish")


def texts_of(name):
    return [element for element in ElementTree.parse(DOCS / name).iter() if "text" in element.tag]


def functions_of(name):
    """The functions that a picture names: its texts in a monospaced font."""
    return [text.text for text in texts_of(name) if "monospace" in text.get("font-family", "")]


def functions_of_the_table():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text[text.index("<!-- results -->") : text.index("<!-- end of results -->")]
    return re.findall(r"^\| `([^|`]*)`[^|]* \|", table, re.MULTILINE)


def test_results_of_each_level_have_each_function(publish):
    levels = [path.stem for path in publish.RESULTS.glob("*.json")]
    assert publish.README_LEVEL in levels
    for level in levels:
        assert set(OPERATORS) - publish.functions_of(publish.results_of(level)) == set()


@pytest.mark.parametrize("name", PICTURES)
def test_bars_are_those_of_the_results(publish, name):
    drawn = publish.bars(publish.results_of(publish.README_LEVEL), publish.BARS[name])
    assert (DOCS / name).read_text(encoding="utf-8") == drawn


def test_every_picture_of_bars_is_tested(publish):
    assert sorted(publish.BARS) == sorted(PICTURES)


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("document", ["README.md", "docs/index.md"])
def test_text_beside_the_bars_names_their_functions(document, name):
    functions = functions_of(name)
    assert len(functions) == 5
    text = (ROOT / document).read_text(encoding="utf-8")
    alt_texts = re.findall(r"(?::alt: |alt=\")([^\"\n]*)", text)
    assert alt_texts
    for alt_text in alt_texts:
        assert alt_text.endswith(f": {', '.join(functions)}")
    assert name in text


@pytest.mark.parametrize("name", PICTURES)
def test_bars_have_names_of_the_table(name):
    assert set(functions_of(name)) <= set(functions_of_the_table())


def test_rows_of_the_heat_map_have_the_names_of_the_table():
    """The names are in comments: matplotlib draws each text as outlines, beside a comment."""
    functions = functions_of_the_table()
    assert len(functions) > 10
    drawn = re.findall("<!-- (.*) -->", (DOCS / "speed-up-v3.svg").read_text(encoding="utf-8"))
    assert [text for text in drawn if text in functions] == functions


@pytest.mark.parametrize("name", PICTURES)
def test_no_text_of_the_bars_is_cut_off(name):
    width = int(ElementTree.parse(DOCS / name).getroot().get("width"))
    for text in texts_of(name):
        size = float(text.get("font-size", 14))
        length = MAX_CHARACTER_WIDTH * size * len(text.text)
        start = float(text.get("x")) - (length if text.get("text-anchor") == "end" else 0)
        assert start >= 0, text.text
        assert start + length <= width, text.text


def luminance(color):
    parts = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first, second):
    dark, light = sorted([luminance(first), luminance(second)])
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("name", PICTURES)
def test_texts_of_the_bars_can_be_read(publish, name):
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    background = publish.BARS[name].background
    assert f"fill='{background}'" in (DOCS / name).read_text(encoding="utf-8")
    for text in texts_of(name):
        assert contrast(text.get("fill"), background) >= 4.5, text.text
