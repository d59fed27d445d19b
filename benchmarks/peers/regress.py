"""Is HEAD slower than BASE? Builds both commits, and times the cells of `KEY` (cells.py) in turns.

    python benchmarks/peers/regress.py main HEAD
    python benchmarks/peers/regress.py HEAD~10 HEAD --op nonzero compress

Each commit is built in an environment of its own, with the version of NumPy that this script uses.
Two processes of BASE and one process of HEAD time every cell in turns. The difference between the
two processes of BASE is noise. A cell fails if HEAD is slower by more than the noise and by more
than 5 %, and is slower again when new processes repeat the measurement. The exit status is 1 if a
cell fails, and 2 if a commit cannot be built.
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
MIN_SLOWDOWN = 1.05  # a slowdown of up to this ratio is accepted
STANDARD_ERRORS = 3
NORMAL_MEDIAN = 1.2533  # the standard error of a median, divided by the standard error of a mean
NORMAL_SPREAD = 1.4826  # the standard deviation over the median absolute deviation


@dataclass
class Comparison:
    """The seconds per call in every round, for each of SIDES."""

    seconds: dict[str, list[float]]

    @cached_property
    def change(self):
        """The median ratio of HEAD's time to BASE's."""
        return exp(statistics.median(self.logs("head")))

    @cached_property
    def offset(self):
        """The median ratio of the times of the two processes of BASE, as a number of 1 or more."""
        return exp(abs(statistics.median(self.logs("base again"))))

    @cached_property
    def spread(self):
        """The ratio by which the median of all rounds may be wrong, within STANDARD_ERRORS."""
        logs = self.logs("base again")
        middle = statistics.median(logs)
        deviation = NORMAL_SPREAD * statistics.median(abs(x - middle) for x in logs)
        return exp(STANDARD_ERRORS * NORMAL_MEDIAN * deviation / sqrt(len(logs)))

    def logs(self, side):
        """The logarithm, for each round, of the ratio of a side's time to BASE's."""
        pairs = zip(self.seconds[side], self.seconds["base"], strict=True)
        return [log(time / base) for time, base in pairs]


def noise(comparison, all_comparisons):
    """The greatest change that can be noise.

    It is the greatest of three ratios: the offset of the cell, its spread, and the offset that nine
    of ten cells do not exceed. All cells together show better than a single cell how two processes
    of one build differ.
    """
    usual_offset = np.quantile([other.offset for other in all_comparisons], 0.9)
    return max(comparison.offset, comparison.spread, float(usual_offset))


def slower(comparisons, all_comparisons):
    """The names of the cells in which HEAD is slower by more than the noise and by more than
    MIN_SLOWDOWN."""
    return [
        name
        for name, comparison in comparisons.items()
        if comparison.change > max(MIN_SLOWDOWN, noise(comparison, all_comparisons))
    ]


class Contestant:
    """A process that runs contestant.py in one environment."""

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
    """Install a commit into a new environment, and return the path of its Python."""
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
    comparisons = {}
    if not cells:
        return comparisons
    with contextlib.ExitStack() as stack:
        contestants = {
            side: stack.enter_context(Contestant(python)) for side, python in pythons.items()
        }
        for cell in with_progress(cells, lambda cell: cell.name, log=True):
            errors = {name: each.ask(asdict(cell)) for name, each in contestants.items()}
            if any(errors.values()):
                print(f"left out: {cell.name}: {errors}", file=sys.stderr)
            else:
                comparisons[cell.name] = Comparison(take_turns(contestants))
    return comparisons


def take_turns(contestants):
    """The seconds of every contestant in every round; the order is reversed after each round."""
    seconds = {name: [] for name in contestants}
    for turn in range(ROUNDS):
        for name in list(contestants)[:: 1 if turn % 2 else -1]:
            seconds[name].append(contestants[name].ask(BLOCK_SECONDS))
    return seconds


def print_table(first, again, confirmed):
    print("| cell | base ms | head ms | change | noise | measured again |")
    print("|---|---|---|---|---|---|")
    for name, comparison in first.items():
        medians = [statistics.median(comparison.seconds[side]) for side in ("base", "head")]
        times = [f"{seconds * 1e3:.4g}" for seconds in medians]
        second = percent(again[name].change) if name in again else ""
        verdict = f"**{second}, slower**" if name in confirmed else second
        noise_text = percent(noise(comparison, first.values()))
        figures = [*times, percent(comparison.change), noise_text, verdict]
        print(f"| {name} | {' | '.join(figures)} |")
    print(f"\n{len(first)} cells, {len(again)} measured again, {len(confirmed)} slower.")


def percent(ratio):
    return f"{ratio - 1:+.1%}"


if __name__ == "__main__":
    sys.exit(main())
