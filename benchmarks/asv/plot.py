"""The history that asv measured, as one picture. Unlike the pages of asv, it needs no network.

    python benchmarks/asv/plot.py history.svg "bench_selection.Flat.time_nonzero"
    python benchmarks/asv/plot.py history.png "Flat.time_unique.*int64"

The picture has a panel for each benchmark and input, with a line for each implementation and number
of threads, on a logarithmic scale. Commits have equal distances, in the order of their dates. The
pattern is searched in the benchmark's name with its parameters, as by ``asv run -b``.
"""

import argparse
import itertools
import json
import re
import sys
from collections import defaultdict
from datetime import UTC, datetime
from math import log
from pathlib import Path

HERE = Path(__file__).parent
LINE_PARAMETERS = ("implementation", "num_threads")
COLUMNS = 4
MAX_PANELS = 60
PANEL_SIZE = (3.2, 2.4)  # inches
MARGIN = 1.5  # factor above and below the values, without which noise would fill the panel
LABEL_HEIGHT = 0.1
UNITS = {"seconds": "s", "bytes": "B"}
COLORS = {"numpy": "0.45", "fastsel": "#2166ac"}


def main():
    parser = arguments()
    args = parser.parse_args()
    panels, dates = history(args.results, re.compile(args.pattern))
    if not panels:
        parser.error(f"{args.results} has no result of this benchmark: run asv first")
    if len(panels) > MAX_PANELS:
        parser.error(f"the pattern finds {len(panels)} panels, more than {MAX_PANELS}")
    draw(args.file, panels, dates)
    return 0


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the picture, .png or .svg")
    parser.add_argument("pattern", metavar="REGEX", help="which benchmarks")
    parser.add_argument(
        "--results", type=Path, default=HERE / ".asv" / "results", help="asv's folder of results"
    )
    return parser


def history(folder, pattern):
    """panel -> line -> commit -> value; and the date of each commit, in their order."""
    from asv.results import iter_results

    benchmarks = json.loads((folder / "benchmarks.json").read_text())
    panels = defaultdict(lambda: defaultdict(dict))
    results = sorted(iter_results(folder), key=lambda result: result.date)
    for result in results:
        for name in result.get_all_result_keys():
            if name in benchmarks:
                add(panels, benchmarks[name], result, pattern)
    dates = {
        result.commit_hash: datetime.fromtimestamp(result.date / 1000, UTC) for result in results
    }
    return panels, dates


def add(panels, benchmark, result, pattern):
    """Enter every value of one benchmark at one commit."""
    name, names = benchmark["name"], benchmark["param_names"]
    params = result.get_result_params(name)
    values = result.get_result_value(name, params)
    for combination, value in zip(itertools.product(*params), values, strict=True):
        full_name = f"{name}({', '.join(combination)})" if combination else name
        if value is None or value != value or not pattern.search(full_name):
            continue
        texts = {key: text.strip("'") for key, text in zip(names, combination, strict=True)}
        line = " ".join(
            texts.pop(key) for key in LINE_PARAMETERS if texts.get(key, "None") != "None"
        )
        inputs = ", ".join(
            f"{key} {text}" for key, text in texts.items() if key not in LINE_PARAMETERS
        )
        title = (name, inputs, benchmark["unit"])
        panels[title][line][result.commit_hash] = value


def draw(path, panels, dates):
    import matplotlib
    from matplotlib.figure import Figure

    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure((PANEL_SIZE[0] * columns, PANEL_SIZE[1] * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False).flat
    for axes, (title, lines) in itertools.zip_longest(grid, panels.items(), fillvalue=(None, None)):
        if title is None:
            axes.remove()
        else:
            draw_panel(axes, title, lines, dates)
    figure.supxlabel("date of the commit (UTC)", fontsize=8)
    figure.supylabel("one call, logarithmic scale", fontsize=8)
    # A fixed salt and no date, so that the same results give the same file.
    with matplotlib.rc_context({"svg.hashsalt": "fastsel"}):
        dateless = {"metadata": {"Date": None}} if path.suffix == ".svg" else {}
        figure.savefig(path, dpi=150, **dateless)


def draw_panel(axes, title, lines, dates):
    """The lines of one input on a logarithmic scale, each with its name at its right end."""
    from matplotlib.ticker import EngFormatter, NullFormatter

    name, inputs, unit = title
    commits = sorted({commit for values in lines.values() for commit in values}, key=dates.get)
    values = [value for line in lines.values() for value in line.values()]
    low, high = min(values) / MARGIN, max(values) * MARGIN
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    axes.yaxis.set_major_formatter(EngFormatter(UNITS.get(unit, ""), places=1))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_yticks([low * MARGIN, high / MARGIN])
    for label, line in lines.items():
        style = "--" if label.endswith(" 1") else "-"
        x = [commits.index(commit) for commit in line]
        axes.plot(x, list(line.values()), style, marker="o", markersize=3, color=color_of(label))
    ends = {label: list(line.values())[-1] for label, line in lines.items()}
    heights = {label: log(end / low) / log(high / low) for label, end in ends.items()}
    for label, height in spread(heights).items():
        text = f"{label} thread{'s' * (label[-1] != '1')}" if label[-1].isdigit() else label
        style = {"color": color_of(label), "fontsize": 6, "va": "center"}
        axes.text(1, height, text, transform=axes.transAxes, **style)
    axes.set_title("\n".join([*name.split(".", 1), inputs]), fontsize=7)
    axes.set_xticks(range(len(commits)), labels_of([dates[commit] for commit in commits]))
    axes.tick_params(labelsize=6, which="both")
    axes.tick_params(axis="x", rotation=90)
    axes.spines[["top", "right"]].set_visible(False)


def labels_of(dates):
    """The dates as labels; with the time of day if several commits are of one day."""
    of_one_day = len({date.date() for date in dates}) < len(dates)
    return [date.strftime("%Y-%m-%d %H:%M" if of_one_day else "%Y-%m-%d") for date in dates]


def color_of(label):
    return COLORS.get(label.partition(" ")[0], "black")


def spread(heights):
    """The heights of the labels; a label that would overlap the label below it is moved up."""
    spread_heights = {}
    previous = -1.0
    for label in sorted(heights, key=heights.get):
        previous = spread_heights[label] = max(heights[label], previous + LABEL_HEIGHT)
    return spread_heights


if __name__ == "__main__":
    sys.exit(main())
