"""The pictures of the gallery: ``python docs/gallery/draw.py [FOLDER]``, with matplotlib.

Each function draws the arrays that the example of one section of docs/gallery.md has made.
"""

import doctest
import re
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
PAGE = HERE.with_name("gallery.md")
BLUE, RED, GREY = "#2166ac", "#b2182b", "#999999"
WIDTH = 6.8  # inches


def main(folder=HERE):
    from matplotlib.figure import Figure

    for name, (title, height, draw) in PICTURES.items():
        figure = Figure((WIDTH, height), layout="constrained")
        draw(figure, variables_of(title))
        figure.savefig(Path(folder) / f"{name}.png", dpi=150, metadata={"Software": None})


def variables_of(title):
    """Run the examples of a section of the gallery, and return their variables by name."""
    sections = re.split("^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    (text,) = (section for section in sections if section.startswith(f"{title}\n"))
    examples = doctest.DocTestParser().get_doctest(text, {}, title, str(PAGE), 0)
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(examples, clear_globs=False)
    if runner.failures:
        raise SystemExit(f"{title}: an example fails")
    return examples.globs


def draw_labels(figure, page):
    shades = np.random.default_rng(1).permutation(np.linspace(0.15, 1, 61))
    left, middle, right = figure.subplots(1, 3)
    titles = {
        left: f"labels: {len(page['found']) - 1} objects",
        middle: f"at least 100 pixels: {page['renumbered'].max()} objects",
        right: "borders and centres",
    }
    for axes, title in titles.items():
        axes.set_title(title, fontsize=9)
        axes.set(xticks=[], yticks=[])
    for axes, stays in (left, page["found"] != 0), (middle, page["stays"]):
        image = np.where(stays, shades, 0)[page["inverse"]]
        axes.imshow(image, cmap="Blues", vmin=0, vmax=1.2, interpolation="nearest")
    right.imshow(page["renumbered"] > 0, cmap="Greys", vmax=6)
    right.plot(*page["borders"].T[::-1], ".", color=BLUE, markersize=1, markeredgewidth=0)
    right.plot(*page["centres"].T[::-1], "+", color=RED)


def draw_events(figure, page):
    left, right = figure.subplots(1, 2, width_ratios=(2, 1))
    hours, alarm = page["time"] / 3600, page["alarm"]
    left.plot(hours[::4], page["value"][::4], ".", color=GREY, markersize=2, markeredgewidth=0)
    left.plot(hours[alarm], page["value"][alarm], ".", color=RED, markersize=4, markeredgewidth=0)
    left.axhline(33, color=RED, linewidth=0.8)
    left.set(xlabel="hour of the day", ylabel="reading", xlim=(0, 24), title="alarms: value > 33")
    left.set_xticks(range(0, 25, 6))
    right.barh(page["sensors"], page["alarms"], color=BLUE)
    right.set(title="alarms of each sensor", xlabel="number of alarms")


def draw_graph(figure, page):
    """The graph as a matrix: edges drawn as lines would hide each other."""
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.35))
    first, second = page["compact"].T
    matrix = np.zeros_like(page["matrix"])
    matrix[first, second] = matrix[second, first] = page["weights"]
    shown = left.imshow(np.where(matrix, matrix, np.nan), cmap="Blues", vmin=-2)
    figure.colorbar(
        shown, ax=left, label="calls", boundaries=np.arange(0.5, 10), ticks=range(1, 10)
    )
    left.set(title=f"{len(page['nodes'])} nodes, {len(page['links'])} edges", xlabel="node")
    left.set(ylabel="node")
    right.bar(page["node"], page["neighbours"], color=BLUE)
    right.set(title="neighbours of each node", xlabel="node", ylabel="neighbours")


def draw_tokens(figure, page):
    left, right = figure.subplots(1, 2, width_ratios=(1.6, 1))
    ids, frequent = page["ids"], page["frequent"]
    at = np.arange(len(ids))
    left.plot(at, ids, ".", color=GREY)
    left.plot(at[frequent[ids]], ids[frequent[ids]], ".", color=RED)
    left.set(xlabel="position in the text", ylabel="id", title="id of each word, frequent in red")
    order = np.argsort(-page["counts"], kind="stable")[:8]
    colors = [RED if frequent[k] else GREY for k in order]
    right.barh(
        page["vocabulary"][order][::-1].tolist(), page["counts"][order][::-1], color=colors[::-1]
    )
    right.set(title="commonest words", xlabel="number of occurrences")


# For each picture: the title of its section, its height in inches, its function.
PICTURES = {
    "label-image": ("A label image", 1.88, draw_labels),
    "event-table": ("An event table", 2.6, draw_events),
    "graph-edges": ("Graph edges", 2.9, draw_graph),
    "tokens": ("Tokens", 2.6, draw_tokens),
}

if __name__ == "__main__":
    main(*sys.argv[1:])
