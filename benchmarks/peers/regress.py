"""Is HEAD slower than BASE? Builds both commits, and times the key cells of both in turns.

    python benchmarks/peers/regress.py main HEAD
    python benchmarks/peers/regress.py v0.1.0 HEAD --op nonzero compress

Each commit is built in an environment of its own, with the NumPy that runs this script. Two
processes of BASE and one of HEAD time every cell in turns. What one of BASE seems slower than the
other is noise: HEAD fails by what goes beyond it, once more when the cell is measured again in
new processes. The exit status is 1 if a cell is slower, 2 if a commit cannot be built.
"""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import venv
from dataclasses import asdict, dataclass
from functools import cached_property
from math import exp, log, sqrt
from pathlib import Path

import numpy as np
from cells import FAMILIES, KEY, OPERATORS, choose

from fastsel._cli._progress import with_progress

HERE = Path(__file__).resolve().parent
SIDES = ("base", "base again", "head")
ROUNDS = 12
BLOCK_SECONDS = 0.03
MIN_SLOWDOWN = 1.05  # less is no reason to stop anyone
STANDARD_ERRORS = 3
NORMAL_MEDIAN = 1.2533  # the standard error of a median, divided by the standard error of a mean
NORMAL_SPREAD = 1.4826  # the standard deviation over the median absolute deviation


@dataclass
class Comparison:
    """The seconds per call in every round, for each of SIDES."""

    seconds: dict[str, list[float]]

    @cached_property
    def change(self):
        """The median of HEAD's time through BASE's."""
        return exp(statistics.median(self.logs("head")))

    @cached_property
    def offset(self):
        """How far the two processes of BASE are apart."""
        return exp(abs(statistics.median(self.logs("base again"))))

    @cached_property
    def spread(self):
        """How far the median of `rounds` rounds may be off."""
        logs = self.logs("base again")
        middle = statistics.median(logs)
        deviation = NORMAL_SPREAD * statistics.median(abs(x - middle) for x in logs)
        return exp(STANDARD_ERRORS * NORMAL_MEDIAN * deviation / sqrt(len(logs)))

    def logs(self, side):
        pairs = zip(self.seconds[side], self.seconds["base"], strict=True)
        return [log(time / base) for time, base in pairs]


def noise(comparison, others):
    """The least change that is more than noise.

    The noise of this cell, or the noise of nine cells of ten if it is greater: all cells
    together show better than a single one how two processes of one build differ.
    """
    usual = np.quantile([other.offset for other in others], 0.9)
    return max(comparison.offset, comparison.spread, float(usual))


def slower(comparisons, others):
    """The names of the cells in which HEAD is slower by more than noise."""
    return [
        name
        for name, found in comparisons.items()
        if found.change > max(MIN_SLOWDOWN, noise(found, others))
    ]


class Contestant:
    """A process of one environment; see contestant.py."""

    def __init__(self, python):
        self.process = subprocess.Popen(
            [python, "-P", HERE / "contestant.py"],
            env={**os.environ, "PYTHONPATH": str(HERE)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def ask(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def main():
    args = arguments().parse_args()
    cells = choose(args.op or ["all"], {}, KEY)
    with tempfile.TemporaryDirectory() as folder:
        base, head = (build(getattr(args, side), Path(folder) / side) for side in ("base", "head"))
        pythons = dict(zip(SIDES, (base, base, head), strict=True))
        first = compare(pythons, cells)
        suspects = slower(first, first.values())
        again = compare(pythons, [cell for cell in cells if cell.name in suspects])
    confirmed = slower(again, [*first.values(), *again.values()])
    print_table(first, again, confirmed)
    return 1 if confirmed else 0


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("base", metavar="BASE", help="a commit, such as main")
    parser.add_argument("head", metavar="HEAD", help="the commit that must not be slower")
    names = [*FAMILIES, *OPERATORS]
    parser.add_argument(
        "--op", nargs="+", choices=names, metavar="NAME", help=f"only these: {', '.join(names)}"
    )
    return parser


def build(commit, folder):
    """Install a commit into a new environment; the path of its Python."""
    print(f"building {commit}", file=sys.stderr)
    source, environment = folder / "source", folder / "environment"
    source.mkdir(parents=True)
    archive = subprocess.Popen(
        ["git", "-C", HERE.parents[1], "archive", commit], stdout=subprocess.PIPE
    )
    subprocess.run(["tar", "-x", "-C", source], stdin=archive.stdout, check=True)
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    run = [python, "-m", "pip", "install", "--quiet", source, f"numpy=={np.__version__}"]
    if archive.wait() or subprocess.run(run, check=False).returncode:
        print(f"{commit} cannot be built", file=sys.stderr)
        sys.exit(2)
    return python


def compare(pythons, cells):
    """Time the cells in new processes: name of the cell -> Comparison."""
    found = {}
    if not cells:
        return found
    with contextlib.ExitStack() as stack:
        contestants = {
            side: stack.enter_context(Contestant(python)) for side, python in pythons.items()
        }
        for cell in with_progress(cells, lambda cell: cell.name, log=True):
            errors = {name: each.ask(asdict(cell)) for name, each in contestants.items()}
            if any(errors.values()):
                print(f"left out: {cell.name}: {errors}", file=sys.stderr)
            else:
                found[cell.name] = Comparison(take_turns(contestants))
    return found


def take_turns(contestants):
    """The seconds of every contestant in every round; the order turns round each time."""
    seconds = {name: [] for name in contestants}
    for turn in range(ROUNDS):
        for name in list(contestants)[:: 1 if turn % 2 else -1]:
            seconds[name].append(contestants[name].ask(BLOCK_SECONDS))
    return seconds


def print_table(first, again, confirmed):
    print("| cell | base ms | head ms | change | noise | measured again |")
    print("|---|---|---|---|---|---|")
    for name, found in first.items():
        times = [f"{statistics.median(found.seconds[side]) * 1e3:.4g}" for side in ("base", "head")]
        second = percent(again[name].change) if name in again else ""
        verdict = f"**{second}, slower**" if name in confirmed else second
        figures = [*times, percent(found.change), percent(noise(found, first.values())), verdict]
        print(f"| {name} | {' | '.join(figures)} |")
    print(f"\n{len(first)} cells, {len(again)} measured again, {len(confirmed)} slower.")


def percent(ratio):
    return f"{ratio - 1:+.1%}"


if __name__ == "__main__":
    sys.exit(main())
