"""The README's table and the pictures of speed show the published results, with the names that the
text uses."""

import importlib
import itertools
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BARS = ["times.svg", "times-dark.svg"]
HEAT_MAPS = ["speed-ups.svg", "speed-ups-dark.svg"]
PICTURES = [*BARS, *HEAT_MAPS]
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


def table_of_the_readme():
    """Call -> cells of its row, in the table of results."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text[text.index("<!-- results -->") : text.index("<!-- end of results -->")]
    return {row[0].split("`")[1]: row[1:] for row in rows_of(table) if "`" in row[0]}


def rows_of(text):
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]


def published_tables(publish):
    """Heading -> rows of the table below it, in the published results of the README's level."""
    path = ROOT / "benchmarks" / "results" / f"{publish.README_LEVEL}.md"
    _, *sections = path.read_text(encoding="utf-8").split("\n## ")
    return {section.partition("\n")[0]: rows_of(section) for section in sections}


def rounded(figure):
    """The figure of a table, from which a figure with one decimal differs by at most half of it."""
    return pytest.approx(float(figure.strip("*").removesuffix(", loss")), abs=0.0551)


def test_the_table_of_the_readme_has_the_published_figures(publish):
    published = {row[0].strip("`"): row for row in published_tables(publish)["Geometric means"]}
    assert len(table_of_the_readme()) > 10
    for call, (inputs, *ratios, losses) in table_of_the_readme().items():
        _, cells, over_numpy, over_best, lost, _ = published[call]
        assert (inputs, losses) == (cells, lost), call
        for shown, figure in zip(ratios, (over_numpy, over_best), strict=True):
            assert shown == figure or float(shown) == rounded(figure), call


@pytest.mark.parametrize("name", BARS)
def test_bars_have_the_published_ratios(publish, name):
    bars = importlib.import_module("bars")
    shown = re.findall(r"([\d.]+) times as fast", (DOCS / name).read_text(encoding="utf-8"))
    assert len(shown) == len(bars.SHOWN)
    tables = published_tables(publish)
    for (op, label), ratio in zip(bars.SHOWN.items(), shown, strict=True):
        head, _, *rows = tables[f"`{bars.CALLS.get(op, op)}`"]
        (figure,) = [row[head.index("over NumPy")] for row in rows if row[0] == label]
        assert float(ratio) == rounded(figure), op


def test_every_picture_is_tested(publish):
    assert sorted(publish.PICTURES) == sorted(PICTURES)


@pytest.mark.parametrize("name", BARS)
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


@pytest.mark.parametrize("name", BARS)
def test_bars_have_names_of_the_table(name):
    assert set(functions_of(name)) <= set(table_of_the_readme())


def lines_of(name):
    return [text.text for text in texts_of(name) if text.text]


@pytest.mark.parametrize("name", BARS)
def test_bars_say_what_was_measured_and_how_to_read_them(publish, name):
    """The dtype and the density of each input, the scales, the direction, and the CPU level."""
    bars = sys.modules["bars"]
    assert bars.INPUTS.keys() == bars.SHOWN.keys()
    for op, label in bars.SHOWN.items():
        assert label.split()[0] in bars.INPUTS[op]
        assert "10 %" in bars.INPUTS[op]
        assert label.endswith((" density 0.1", " 1e7 1e6 groups"))
    lines = lines_of(name)
    explained = {"shorter is faster", "Each function has its own scale."}
    assert {*explained, *bars.INPUTS.values()} <= {*lines}
    assert any(line.endswith("both with AVX2") for line in lines)


@pytest.mark.parametrize("name", HEAT_MAPS)
def test_rows_of_the_heat_map_have_the_names_of_the_table(name):
    functions = [*table_of_the_readme()]
    assert len(functions) > 10
    assert functions_of(name) == functions
    assert any(line.endswith("both with AVX2") for line in lines_of(name))


@pytest.mark.parametrize("name", HEAT_MAPS)
def test_last_numbers_of_the_heat_map_are_those_of_the_table(name):
    """The ratios over the best peer, which the picture rounds from 10 on."""
    lines = [*lines_of(name), ""]
    drawn = {}
    for line, following in itertools.pairwise(lines):
        if line in table_of_the_readme():
            function = line
        elif re.fullmatch(r"[\d.]+", line) and not re.fullmatch(r"[\d.]+", following):
            drawn[function] = float(line)
    assert drawn == {
        function: pytest.approx(float(ratio), abs=0.05 if float(ratio) < 9.95 else 0.5)
        for function, (_, _, ratio, _) in table_of_the_readme().items()
    }


@pytest.mark.parametrize("name", PICTURES)
def test_no_text_of_a_picture_is_cut_off(name):
    root = ElementTree.parse(DOCS / name).getroot()
    width = int(root.get("width"))
    for text in texts_of(name):
        size = float(text.get("font-size", root.get("font-size")))
        length = MAX_CHARACTER_WIDTH * size * len(text.text)
        part = {"end": 1, "middle": 0.5}.get(text.get("text-anchor"), 0)
        start = float(text.get("x")) - part * length
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
def test_texts_of_a_picture_can_be_read(publish, name):
    """A text has a contrast of at least 4.5 to the rectangle that was drawn last before it and
    contains its place."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    background = publish.PICTURES[name][1].background
    assert f"fill='{background}'" in (DOCS / name).read_text(encoding="utf-8")
    fields = []
    for element in ElementTree.parse(DOCS / name).iter():
        if element.tag.endswith("rect"):
            x, y = (float(element.get(key, 0)) for key in ("x", "y"))
            ends = x + float(element.get("width")), y + float(element.get("height"))
            fields.append(((x, y), ends, element.get("fill")))
        elif element.tag.endswith("text"):
            at = float(element.get("x")), float(element.get("y")) - 4
            below = [
                fill
                for (left, top), (right, bottom), fill in fields
                if left <= at[0] <= right and top <= at[1] <= bottom
            ]
            assert contrast(element.get("fill"), below[-1]) >= 4.5, element.text
