"""The card that a chat or a forum shows for a link to the documentation: 1200 by 630 pixels."""

from bars import DARK, SHOWN
from cells import CALLS

SELECTED = {(0, 1), (1, 2), (2, 0), (2, 2)}  # squares (row, column) of the logo, docs/logo.svg


def draw_card(path, results, description):
    """Write a PNG with the project's name and description and the ratios of the README's bars."""
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyBboxPatch

    figure = Figure((12, 6.3), facecolor=DARK.background)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 1200), ylim=(630, 0))
    axes.set_axis_off()
    for row in range(3):
        for column in range(3):
            color = DARK.fastsel if (row, column) in SELECTED else DARK.numpy
            corner = (88 + 34 * column, 78 + 34 * row)
            axes.add_patch(FancyBboxPatch(corner, 18, 18, "round,pad=4", color=color))
    axes.text(215, 150, "fastsel", size=58, weight="bold", color=DARK.text)
    first_line, _, second_line = description.partition(": ")
    axes.text(80, 248, first_line, size=27, color=DARK.text)
    axes.text(80, 296, second_line, size=22, color=DARK.quiet)
    cells = {(cell["op"], cell["label"]): cell for cell in results["cells"]}
    axes.text(80, 380, "times as fast as NumPy, 10 million items", size=19, color=DARK.quiet)
    for k, shown in enumerate(SHOWN.items()):
        x = 80 + 216 * k
        ratio = f"{cells[shown]['over_numpy']:.1f}"
        axes.text(x, 470, ratio, size=44, weight="bold", color=DARK.fastsel)
        axes.text(x, 520, CALLS.get(shown[0], shown[0]), size=18, color=DARK.text)
    figure.savefig(path, dpi=100, metadata={"Software": None})
