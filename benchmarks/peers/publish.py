"""Write the README's table and the pictures from the results in build/results.

    python benchmarks/peers/publish.py

measure.py makes the results, and then calls `main`. From the results of README_LEVEL, `main` writes
the table between the marks in README.md, the bars in docs/times.svg and docs/times-dark.svg, and
the card for links in docs/card.png; from the results of each CPU level that was measured here, the
heat map in docs/speed-up-LEVEL.svg.
"""

import json
import re
import tomllib
from collections import defaultdict
from pathlib import Path

from bars import DARK, LIGHT, bars
from card import draw_card
from cells import CALLS

from fastsel._cli._chart import draw_speed_ups

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "build" / "results"
README = ROOT / "README.md"
README_LEVEL = "v3"  # the CPU level that most processors have
BARS = {"times.svg": LIGHT, "times-dark.svg": DARK}  # with the times of README_LEVEL
# For some rows of the table: the other functions whose outputs the call of the row computes.
OTHER_FUNCTIONS = {
    "unique_first": ["unique_values"],
    "unique_all": ["unique_all", "unique_counts", "unique_inverse"],
}
TABLE = re.compile("(?<=<!-- results -->\n).*?(?=<!-- end of results -->)", re.DOTALL)


def main():
    for path in sorted(RESULTS.glob("*.json")):
        results = json.loads(path.read_text())
        draw(results, ROOT / "docs" / f"speed-up-{path.stem}.svg")
        if path.stem == README_LEVEL:
            write_readme(results)


def write_readme(results):
    """Write the table of the README, its pictures and the card."""
    README.write_text(with_table(README.read_text(encoding="utf-8"), results), encoding="utf-8")
    for name, scheme in BARS.items():
        (ROOT / "docs" / name).write_text(bars(results, scheme), encoding="utf-8")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    draw_card(ROOT / "docs" / "card.png", results, settings["project"]["description"])


def with_table(text, results):
    """The text of the README with the table of these results in place of the present table."""
    return TABLE.sub(lambda match: table(results), text)


def table(results):
    """A row for each operator: its number of inputs, the two geometric means, its losses."""
    lines = [
        "| function | inputs | over NumPy | over the best peer | losses |",
        "|---|---|---|---|---|",
    ]
    for op, means in results["means"].items():
        ratios = [means[name] for name in ("over_numpy", "over_best")]
        texts = [f"{ratio:.1f}" if ratio else "-" for ratio in ratios]
        columns = [calls_of(op), str(means["cells"]), *texts, str(means["losses"])]
        lines.append(f"| {' | '.join(columns)} |")
    versions = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    conditions = f"{results['commit']}; {results['machine']}; {results['threads']} threads each"
    return "\n".join([*lines, "", f"{conditions}; {versions}.", ""])


def calls_of(op):
    """The call of a row, and the functions for which the row stands as well."""
    return ", ".join(f"`{call}`" for call in (CALLS.get(op, op), *OTHER_FUNCTIONS.get(op, [])))


def draw(results, picture):
    """Draw the heat maps of the speed-ups over NumPy and over the fastest of all peers."""
    panels = defaultdict(list)
    titles = {"over_numpy": "times as fast as NumPy", "over_best": "times as fast as the best peer"}
    for name, title in titles.items():
        for cell in results["cells"]:
            if cell[name] is not None:
                panels[title].append((CALLS.get(cell["op"], cell["op"]), cell["size"], cell[name]))
    versions = results["versions"]
    conditions = f"fastsel {versions['fastsel']}, NumPy {versions['numpy']}, {results['machine']}"
    draw_speed_ups(picture, panels, f"{conditions}, {results['threads']} threads each")


if __name__ == "__main__":
    main()
