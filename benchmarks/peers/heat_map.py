"""The heat map of the page on performance: how many times as fast as NumPy, by function and number
of items, and beside it how many times as fast as the best peer.

Each number is a geometric mean over inputs. This module writes the SVG itself, with text elements,
which a reader can select and a test can read.
"""

import math
import statistics
from collections import defaultdict

from bars import CODE, FONT, MARGIN, WIDTH, conditions, quiet, text
from cells import CALLS

from fastsel._cli._chart import DEEPEST_RATIO, NO_LOSS, short_ratio, text_color_on

TITLE = "Times as fast as NumPy"
SIZES = {4: "to 1e4", 5: "1e5", 6: "1e6", 7: "1e7"}  # decimal exponent: heading
BEST = "best peer"
NAME_SIZE = 11  # of the font, with which the longest call fits beside the fields
FIELD, ROW, HEADING, FOOT = 41, 23, 82, 90  # in pixels
INKS = {"black": "#000000", "white": "#ffffff"}
FIRST_FIELD = WIDTH - 6 - FIELD * (len(SIZES) + 1)
NOTES = (
    "Geometric means of the inputs. Red and bold: slower.",
    "Empty: not measured. Best peer: all numbers of items.",
)


def heat_map(results, scheme):
    """The picture as the text of an SVG file."""
    rows = fields_of(results)
    height = HEADING + ROW * len(rows) + FOOT
    lines = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' "
        f"width='{WIDTH}' height='{height}' role='img' {FONT} font-size='12'>",
        f"<title>{TITLE}, by function and number of items</title>",
        f"<rect width='{WIDTH}' height='{height}' fill='{scheme.background}'/>",
        text(MARGIN, 28, TITLE, f"font-size='17' font-weight='600' fill='{scheme.text}'"),
        text(MARGIN, 48, "by number of items; at the right, over all peers", quiet(scheme)),
    ]
    for place, heading in enumerate([*SIZES.values(), *BEST.split()]):
        x, y = FIRST_FIELD + FIELD * (min(place, len(SIZES)) + 0.5), HEADING - 8
        y -= 14 * (heading == BEST.split()[0])
        lines.append(text(x, y, heading, f"fill='{scheme.text}' text-anchor='middle'"))
    for row, (call, fields) in enumerate(rows.items()):
        y = HEADING + ROW * row
        style = f"{CODE} font-size='{NAME_SIZE}' fill='{scheme.text}'"
        lines.append(text(6, y + 15, call, style))
        for place, key in enumerate([*SIZES, BEST]):
            if ratios := fields.get(key):
                x = FIRST_FIELD + FIELD * place
                lines += field(x, y, statistics.geometric_mean(ratios), scheme)
    for place, words in enumerate((*NOTES, *conditions(results))):
        y = HEADING + ROW * len(rows) + 20 + 18 * place
        lines.append(text(MARGIN, y, words, f"fill='{scheme.quiet}'"))
    return "\n".join([*lines, "</svg>", ""])


def fields_of(results):
    """For each call, the ratios by the decimal exponent of the number of items, and for BEST."""
    rows = defaultdict(lambda: defaultdict(list))
    for cell in results["cells"]:
        fields = rows[CALLS.get(cell["op"], cell["op"])]
        if cell["over_numpy"] is not None:
            fields[max(min(SIZES), round(math.log10(cell["size"])))].append(cell["over_numpy"])
        if cell["over_best"] is not None:
            fields[BEST].append(cell["over_best"])
    return rows


def field(x, y, ratio, scheme):
    """A rectangle with its number: a mixture of the background and the deepest colour."""
    deepest = scheme.fastsel if ratio >= NO_LOSS else scheme.slower
    strength = min(1.0, abs(math.log(ratio)) / math.log(DEEPEST_RATIO))
    color = mixed(scheme.background, deepest, 0.1 + 0.9 * strength)
    ink = INKS[text_color_on([part / 255 for part in channels(color)])]
    weight = "normal" if ratio >= NO_LOSS else "bold"
    yield (
        f"<rect x='{x + 1}' y='{y + 1}' width='{FIELD - 2}' height='{ROW - 2}' rx='2' "
        f"fill='{color}'/>"
    )
    style = f"text-anchor='middle' font-weight='{weight}' fill='{ink}'"
    yield text(x + FIELD / 2, y + 16, short_ratio(ratio), style)


def mixed(first, second, share):
    """The colour between two colours, with this share of the second."""
    parts = zip(channels(first), channels(second), strict=True)
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in parts)


def channels(color):
    return [int(color[k : k + 2], 16) for k in (1, 3, 5)]
