"""The history that asv measured, as one picture: what ``asv publish`` shows, without a network.

    python benchmarks/plot.py history.svg "bench_selection.Flat.time_nonzero"
    python benchmarks/plot.py history.png "Flat.time_unique.*int64"

A panel for each benchmark and input, a line for each implementation and number of threads, a
commit beside the other in order of their dates. The pattern is searched in the benchmark's name
with its parameters, as ``asv run -b`` does.
"""

import argparse
import itertools
import json
import re
import sys
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).parent
LINES = ("implementation", "num_threads")
COLUMNS = 4
MAX_PANELS = 60
PANEL = (3.2, 2.1)  # inches
COLORS = {"numpy": "0.45", "fastsel": "#2166ac"}


def main():
    parser = arguments()
    args = parser.parse_args()
    panels = history(args.results, re.compile(args.pattern))
    if not panels:
        parser.error(f"{args.results} has no result of such a benchmark: run asv first")
    if len(panels) > MAX_PANELS:
        parser.error(f"the pattern finds {len(panels)} panels, more than {MAX_PANELS}")
    draw(args.file, panels)
    return 0


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the picture, .png or .svg")
    parser.add_argument("pattern", metavar="REGEX", help="which benchmarks")
    parser.add_argument(
        "--results", type=Path, default=HERE / ".asv" / "results", help="where asv keeps its own"
    )
    return parser


def history(folder, pattern):
    """The values by panel, line and commit; the commits in order of their dates."""
    from asv.results import iter_results

    benchmarks = json.loads((folder / "benchmarks.json").read_text())
    panels = defaultdict(lambda: defaultdict(dict))
    for result in sorted(iter_results(folder), key=lambda result: result.date):
        for name in result.get_all_result_keys():
            if name in benchmarks:
                add(panels, benchmarks[name], result, pattern)
    return panels


def add(panels, benchmark, result, pattern):
    """Enter every value of one benchmark at one commit."""
    name, names = benchmark["name"], benchmark["param_names"]
    params = result.get_result_params(name)
    values = result.get_result_value(name, params)
    for combination, value in zip(itertools.product(*params), values, strict=True):
        full = f"{name}({', '.join(combination)})" if combination else name
        if value is None or value != value or not pattern.search(full):
            continue
        given = {key: text.strip("'") for key, text in zip(names, combination, strict=True)}
        line = " ".join(given.pop(key) for key in LINES if given.get(key, "None") != "None")
        inputs = ", ".join(f"{key} {text}" for key, text in given.items() if key not in LINES)
        title = (name, inputs, benchmark["unit"])
        panels[title][line][result.commit_hash[:8]] = value


def draw(path, panels):
    from matplotlib.figure import Figure

    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure((PANEL[0] * columns, PANEL[1] * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False).flat
    for axes, (title, lines) in itertools.zip_longest(grid, panels.items(), fillvalue=(None, None)):
        if title is None:
            axes.remove()
        else:
            draw_panel(axes, title, lines)
    figure.savefig(path, dpi=150)


def draw_panel(axes, title, lines):
    """The lines of one input, each with its name at its last value."""
    name, inputs, unit = title
    commits = list(dict.fromkeys(commit for values in lines.values() for commit in values))
    for label, values in lines.items():
        color = COLORS.get(label.partition(" ")[0], "black")
        x = [commits.index(commit) for commit in values]
        style = "--" if label.endswith(" 1") else "-"
        axes.plot(x, list(values.values()), style, marker="o", markersize=3, color=color)
        axes.annotate(
            label,
            (x[-1], list(values.values())[-1]),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=6,
            color=color,
        )
    axes.set_yscale("log" if unit == "seconds" else "linear")
    axes.set_ylabel(unit, fontsize=6)
    axes.set_title("\n".join([*name.split(".", 1), inputs]), fontsize=7)
    axes.set_xticks(range(len(commits)), commits, rotation=30, ha="right")
    axes.tick_params(labelsize=6, which="both")
    axes.set_xlim(-0.3, len(commits) - 0.3 + 0.35 * len(commits))
    axes.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    sys.exit(main())
