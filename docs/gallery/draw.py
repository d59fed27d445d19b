"""The pictures of the gallery: ``python docs/gallery/draw.py [FOLDER]``, with matplotlib.

Each function draws the arrays that the examples of its page have made.
"""

import doctest
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
BLUE, RED, GREY = "#2166ac", "#b2182b", "#bbbbbb"


def main(folder=HERE):
    from matplotlib.figure import Figure

    for name, draw in PICTURES.items():
        figure = Figure((6.8, 2.6), layout="constrained")
        draw(figure, variables_of(HERE / f"{name}.md"))
        figure.savefig(Path(folder) / f"{name}.png", dpi=150, metadata={"Software": None})


def variables_of(page):
    """Run the examples of a page, and return their variables by name."""
    text = page.read_text(encoding="utf-8")
    examples = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(examples, clear_globs=False)
    if runner.failures:
        raise SystemExit(f"{page.name}: an example fails")
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
        axes.set_title(title, fontsize=10)
        axes.set_axis_off()
    for axes, stays in (left, page["found"] != 0), (middle, page["stays"]):
        image = np.where(stays, shades, 0)[page["inverse"]]
        axes.imshow(image, cmap="Blues", vmin=0, vmax=1.2, interpolation="nearest")
    right.imshow(page["renumbered"] > 0, cmap="Greys", vmax=6)
    right.plot(*page["borders"].T[::-1], ",", color=BLUE)
    right.plot(*page["centres"].T[::-1], "+", color=RED)


def draw_events(figure, page):
    left, right = figure.subplots(1, 2, width_ratios=(2, 1))
    hours, alarm = page["time"] / 3600, page["alarm"]
    left.plot(hours[::4], page["value"][::4], ",", color=GREY)
    left.plot(hours[alarm], page["value"][alarm], ".", color=RED, markersize=3)
    left.axhline(33, color=RED, linewidth=0.5)
    left.set(xlabel="hour", ylabel="reading", xlim=(0, 24), title="value > 33")
    right.barh(page["sensors"], page["alarms"], color=BLUE)
    right.set(title="alarms of each sensor")


def draw_graph(figure, page):
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.3))
    for ends, weight in zip(page["segments"], page["weights"], strict=True):
        left.plot(*ends.T, color=BLUE, linewidth=0.3 * weight)
    left.plot(*page["place"].T, "o", color="black", markersize=3)
    left.set_aspect("equal")
    left.set_axis_off()
    left.set_title(f"{len(page['nodes'])} nodes, {len(page['links'])} edges", fontsize=10)
    right.bar(page["node"], page["neighbours"], color=BLUE)
    right.set(title="neighbours of each node", xlabel="node")


def draw_tokens(figure, page):
    left, right = figure.subplots(1, 2, width_ratios=(1.6, 1))
    ids, frequent = page["ids"], page["frequent"]
    at = np.arange(len(ids))
    left.plot(at, ids, ".", color=GREY)
    left.plot(at[frequent[ids]], ids[frequent[ids]], ".", color=RED)
    left.set(xlabel="position in the text", ylabel="id", title="ids, frequent words in red")
    order = np.argsort(-page["counts"], kind="stable")[:8]
    colors = [RED if frequent[k] else GREY for k in order]
    right.barh(
        page["vocabulary"][order][::-1].tolist(), page["counts"][order][::-1], color=colors[::-1]
    )
    right.set(title="commonest words")


PICTURES = {
    "label-image": draw_labels,
    "event-table": draw_events,
    "graph-edges": draw_graph,
    "tokens": draw_tokens,
}

if __name__ == "__main__":
    main(*sys.argv[1:])
