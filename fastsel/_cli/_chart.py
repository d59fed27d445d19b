"""The chart of speed-ups: a heat map with a row for each operator and a column for each size.

A *field* shows the ratios of one operator and size. Sizes are rounded to powers of ten, or exact.
matplotlib is imported only to draw.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from fastsel._cli._workloads import BadInputError

Point = tuple[str, int, float]  # operator, number of items, ratio
Size = tuple[int, str]  # a number to sort by, and its text

SUFFIXES = (".png", ".svg")
# Lengths in inches.
FIELD_WIDTH, FIELD_HEIGHT = 0.86, 0.42
LABELS_WIDTH = 2.5
MIN_WIDTH = 6.0  # for the text at the foot
HEADING_HEIGHT, LINE_HEIGHT = 0.85, 0.17
FOOT_HEIGHT = 0.62
DEEPEST_RATIO = 30  # ratios from here on get the deepest blue, their inverses the deepest red
NO_LOSS = 0.995  # from this ratio on, the chart shows at least 1.0x
DEEPEST_RED, DEEPEST_BLUE = (0.70, 0.09, 0.17), (0.13, 0.40, 0.67)


def check_chart_file(path: Path) -> None:
    """Raise BadInputError if the file's suffix is not one of SUFFIXES or matplotlib is missing, and
    OSError if the file cannot be written. Called before a long run."""
    if path.suffix not in SUFFIXES:
        raise BadInputError(f"--plot {path}: the name has to end in {' or '.join(SUFFIXES)}")
    if find_spec("matplotlib") is None:
        raise BadInputError("--plot needs the package matplotlib: pip install matplotlib")
    path.open("a").close()


def draw_speed_ups(
    path: Path, heading: str, points: Iterable[Point], caption: str, exact: bool = False
) -> None:
    """Write the chart of the points to a .png or .svg file.

    A field shows the geometric mean of its ratios and, if there are several, the smallest and the
    largest one below it. A field whose mean is below NO_LOSS is red, and so is the text of a
    smallest ratio below NO_LOSS. A field without a measurement is left blank. Sizes are rounded to
    powers of ten unless they are `exact`.
    """
    import matplotlib
    from matplotlib.figure import Figure

    fields = grouped(points, exact)
    operators = list(dict.fromkeys(operator for operator, _ in fields))
    sizes = sorted({size for _, size in fields})
    heading_height = HEADING_HEIGHT + LINE_HEIGHT * heading.count("\n")
    height = heading_height + FOOT_HEIGHT + FIELD_HEIGHT * len(operators)
    width = max(MIN_WIDTH, LABELS_WIDTH + FIELD_WIDTH * len(sizes) + 0.35)
    figure = Figure((width, height))
    axes = figure.subplots()
    figure.subplots_adjust(
        left=LABELS_WIDTH / width,
        right=1 - 0.15 / width,
        bottom=FOOT_HEIGHT / height,
        top=1 - heading_height / height,
    )
    draw_fields(axes, fields, operators, sizes)
    axes.set_title(f"{heading}\nby number of items", fontsize=10, pad=22)
    axes.set_yticks(range(len(operators)), operators)
    explained = "Large: geometric mean. Small: least to greatest. Red: slower. Blank: not measured."
    figure.text(0.15 / width, 0.13 / height, f"{explained}\n{caption}", fontsize=8, color="0.3")
    # A fixed salt and no date, so that the same results give the same file.
    with matplotlib.rc_context({"svg.hashsalt": "fastsel"}):
        dateless = {"metadata": {"Date": None}} if path.suffix == ".svg" else {}
        figure.savefig(path, dpi=160, facecolor="white", **dateless)


def grouped(points: Iterable[Point], exact: bool) -> dict[tuple[str, Size], list[float]]:
    """The ratios by operator and by the number of items and its text, or by the nearest power of
    ten."""
    fields: dict[tuple[str, Size], list[float]] = {}
    for operator, items, ratio in points:
        decade = round(math.log10(items))
        size = (items, f"{items:,}") if exact else (decade, f"$10^{{{decade}}}$")
        fields.setdefault((operator, size), []).append(ratio)
    return fields


def draw_fields(axes, fields, operators, sizes) -> None:
    """Draw one field for each operator and size."""
    for row, operator in enumerate(operators):
        for column, size in enumerate(sizes):
            if ratios := fields.get((operator, size)):
                draw_field(axes, column, row, ratios)
    axes.set_xlim(-0.5, len(sizes) - 0.5)
    axes.set_ylim(len(operators) - 0.5, -0.5)
    axes.set_xticks(range(len(sizes)), [text for _, text in sizes])
    axes.tick_params(length=0, labeltop=True, labelbottom=False)
    axes.spines[:].set_visible(False)


def draw_field(axes, column, row, ratios) -> None:
    mean, least, greatest = statistics.geometric_mean(ratios), min(ratios), max(ratios)
    strength = min(1.0, abs(math.log(mean)) / math.log(DEEPEST_RATIO))
    deepest = DEEPEST_RED if mean < NO_LOSS else DEEPEST_BLUE
    color = [1 - strength * (1 - part) for part in deepest]
    axes.add_patch(rectangle(column, row, color))
    style = {"ha": "center", "va": "center", "color": text_color_on(color)}
    weight = "bold" if mean < NO_LOSS else "normal"
    y = row - 0.13 if len(ratios) > 1 else row
    axes.text(column, y, f"{short_ratio(mean)}x", weight=weight, **style)
    if len(ratios) > 1:
        if least < NO_LOSS:  # on white: no red can be read on blue
            style |= {"color": DEEPEST_RED, "weight": "bold"}
            style["bbox"] = {"facecolor": "white", "edgecolor": "none", "boxstyle": "round,pad=0.2"}
        text = f"{short_ratio(least)} to {short_ratio(greatest)}"
        axes.text(column, row + 0.28, text, size=6.5, **style)


def text_color_on(color) -> str:
    """Black or white, whichever has the greater contrast to a colour; this contrast is at least
    4.5."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color]
    luminance = 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    return "black" if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "white"


def rectangle(column, row, color):
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.48, row - 0.46), 0.96, 0.92, facecolor=color, edgecolor="0.85")


def short_ratio(ratio: float) -> str:
    """The ratio with two decimals below 1, one below 10, and none from 10 on."""
    if ratio < NO_LOSS:
        return f"{ratio:.2f}"
    return f"{ratio:.0f}" if ratio >= 9.95 else f"{ratio:.1f}"
