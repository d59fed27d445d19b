"""Write the README's table and the pictures from the results in build/results.

    python benchmarks/peers/publish.py

measure.py makes the results, and then calls `main`. From the results of README_LEVEL, `main` writes
the table between the marks in README.md, the pictures of PICTURES in docs, and the card for links
in docs/card.png.
"""

import json
import re
import tomllib
from pathlib import Path

from bars import DARK, LIGHT, bars
from card import draw_card
from cells import CALLS
from heat_map import heat_map

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "build" / "results"
README = ROOT / "README.md"
README_LEVEL = "v3"  # the CPU level that most processors have
# The pictures of the results of README_LEVEL: the function that draws each, and its colours.
PICTURES = {
    "times.svg": (bars, LIGHT),
    "times-dark.svg": (bars, DARK),
    "speed-ups.svg": (heat_map, LIGHT),
    "speed-ups-dark.svg": (heat_map, DARK),
}
# For some rows of the table: the other functions whose outputs the call of the row computes.
OTHER_FUNCTIONS = {
    "unique_first": ["unique_values"],
    "unique_counts": ["unique_counts"],
    "unique_all": ["unique_all", "unique_inverse"],
}
TABLE = re.compile("(?<=<!-- results -->\n).*?(?=<!-- end of results -->)", re.DOTALL)


def main():
    results = json.loads((RESULTS / f"{README_LEVEL}.json").read_text())
    README.write_text(with_table(README.read_text(encoding="utf-8"), results), encoding="utf-8")
    for name, (draw, scheme) in PICTURES.items():
        (ROOT / "docs" / name).write_text(draw(results, scheme), encoding="utf-8")
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
    versions = "fastsel {fastsel}, NumPy {numpy}".format(**results["versions"])
    conditions = f"{results['commit']}; {results['machine']}; {results['threads']} threads each"
    return "\n".join([*lines, "", f"{conditions}; {versions}.", ""])


def calls_of(op):
    """The call of a row, and the functions for which the row stands as well."""
    return ", ".join(f"`{call}`" for call in (CALLS.get(op, op), *OTHER_FUNCTIONS.get(op, [])))


if __name__ == "__main__":
    main()
