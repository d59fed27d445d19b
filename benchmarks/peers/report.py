"""The results as Markdown, which lists every loss, and as JSON."""

import platform
import subprocess
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from pathlib import Path

import numpy as np
from cells import CALLS, Cell
from peers import PACKAGES
from registry import OPPONENTS
from timing import MemorySpeed, Timing

import fastsel
from fastsel._cli._table import environment

FASTSEL = "fastsel"
NO_FIGURE = "-"
RAISED = "raised"  # begins the refusal of an opponent that raises an exception of its own


@dataclass
class Result:
    """The results of a cell: timings by name, and the reasons why other names have no timing."""

    cell: Cell
    timings: dict[str, Timing] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    limit: Timing | None = None

    def fastest(self, admitted):
        """The name of the fastest opponent among the admitted ones."""
        names = [o.name for o in OPPONENTS[self.cell.op] if o.name in self.timings and admitted(o)]
        return min(names, key=lambda name: self.timings[name].median, default=None)

    def over(self, name):
        """The opponent's median time divided by fastsel's; None if either has no timing."""
        if name is None or FASTSEL not in self.timings:
            return None
        return self.timings[name].median / self.timings[FASTSEL].median

    @property
    def best(self):
        """The name of the fastest opponent that counts."""
        return self.fastest(lambda opponent: opponent.counts)

    @property
    def over_best(self):
        return self.over(self.best)

    @property
    def over_numpy(self):
        """The ratio over the fastest of NumPy's forms that do the whole work in the call."""
        return self.over(
            self.fastest(lambda opponent: opponent.peer == "numpy" and not opponent.ready)
        )

    @property
    def limit_share(self):
        """The speed of fastsel divided by the speed of a parallel loop that moves the
        same number of bytes."""
        if self.limit is None or FASTSEL not in self.timings:
            return None
        # Minimum times, because the scheduler may wake the threads of the loop late.
        return self.limit.minimum / self.timings[FASTSEL].minimum


@dataclass
class Run:
    """All results of one run of compare.py."""

    threads: int
    memory: MemorySpeed
    missing: dict[str, list[str]]
    results: list[Result] = field(default_factory=list)

    @property
    def wrong(self):
        """Whether a result differs from NumPy's, or fastsel raised an error."""
        return any(result.wrong or FASTSEL in result.refusals for result in self.results)


def markdown(run):
    """The summary, the losses, and for each operator a table and the opponents without a timing."""
    blocks = [heading(run), summary(run), losses(run)]
    for op, results in by_operator(run.results):
        blocks.append(operator_block(op, results))
    return "\n\n".join(blocks) + "\n"


def by_operator(results):
    groups = groupby(results, key=lambda result: result.cell.op)
    return [(op, list(members)) for op, members in groups]


def heading(run):
    memory = run.memory
    lines = [
        f"{commit()}; {machine()}; {run.threads} threads; "
        f"memory: read {memory.read / 1e9:.1f} GB/s, "
        f"fresh write {memory.fresh_write / 1e9:.1f} GB/s.",
        ", ".join(f"{name} {number}" for name, number in versions().items()) + ".",
    ]
    for peer, packages in run.missing.items():
        lines.append(f"Missing: {peer} (not installed: {', '.join(packages)}).")
    lines.append(
        "A cell is one input of a function: its dtype, its number of items, and the distribution "
        "of the items. Times are milliseconds per call, median (minimum). *Over NumPy* is the "
        "median time of NumPy's fastest form divided by the median time of fastsel; *over the "
        "best* is the same ratio for the fastest opponent: above 1, fastsel is faster. *Over the "
        "loop* is the minimum time of a parallel loop divided by the minimum time of fastsel, "
        "timed in turns for 1e6 items or more. The loop reads the inputs once, and writes the "
        "number of bytes that the outputs have. So the ratio is the share that fastsel reaches of "
        "the limit that memory sets. It can be above 1 if fastsel uses the memory of an earlier "
        "result again, or reads only the rows that it selects."
    )
    return "\n\n".join(lines)


def summary(run):
    """The geometric means of every operator."""
    head = ["operator", "cells", "over NumPy", "over the best", "losses", "over the loop"]
    table = [head]
    for op, results in by_operator(run.results):
        figures = means(results)
        ratios = [ratio_text(figures[name]) for name in ("over_numpy", "over_best")]
        counts = [str(figures[name]) for name in ("cells", "losses")]
        loop = loop_text(figures["limit_share"])
        table.append([call_text(op), counts[0], *ratios, counts[1], loop])
    return "\n".join(["## Geometric means", "", *aligned(table)])


def losses(run):
    """Every cell in which an opponent is faster, the worst first."""
    lost = [r for r in run.results if r.over_best is not None and r.over_best < 1]
    lost.sort(key=lambda result: result.over_best)
    lines = [
        f"- {call_text(r.cell.op)}, {r.cell.label}: {r.over_best:.2f} of {r.best}" for r in lost
    ]
    return "\n".join(["## Losses", "", *(lines or ["None."])])


def operator_block(op, results):
    names = [opponent.name for opponent in OPPONENTS[op]]
    names = [FASTSEL, *(name for name in names if any(name in r.timings for r in results))]
    head = ["cell", *names, "over NumPy", "over the best", "over the loop"]
    lines = aligned([head, *(row(result, names) for result in results)])
    lines += ["", means_line(results), *problems(results)]
    command = f"To repeat it: `python benchmarks/peers/compare.py --op {op}`."
    return "\n".join([f"## {call_text(op)}", "", command, "", *lines])


def call_text(op):
    """The call of the operator, as Markdown code."""
    return f"`{CALLS.get(op, op)}`"


def row(result, names):
    times = [timing_text(result.timings.get(name)) for name in names]
    loop = loop_text(result.limit_share)
    over_best = ratio_text(result.over_best, f" {result.best}")
    return [result.cell.label, *times, ratio_text(result.over_numpy), over_best, loop]


def timing_text(timing):
    if timing is None:
        return NO_FIGURE
    return f"{milliseconds(timing.median)} ({milliseconds(timing.minimum)})"


def milliseconds(seconds):
    return np.format_float_positional(seconds * 1e3, precision=3, fractional=False, trim="-")


def ratio_text(ratio, suffix=""):
    if ratio is None:
        return NO_FIGURE
    text = f"{ratio:.2f}{suffix}"
    return text if ratio >= 1 else f"**{text}, loss**"


def loop_text(share):
    """The share without the mark of a loss, because the loop does not do the operator's work."""
    return NO_FIGURE if share is None else f"{share:.2f}"


def aligned(rows):
    """A Markdown table; the cells of a column have the same width."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, ["-" * width for width in widths])
    return [
        "| " + " | ".join(text.ljust(n) for text, n in zip(cells, widths, strict=True)) + " |"
        for cells in rows
    ]


def means(results):
    """The geometric means of the ratios over NumPy's fastest form, the best opponent and the limit,
    and the numbers of losses and cells."""
    over_numpy = [r.over_numpy for r in results if r.over_numpy is not None]
    over_best = [r.over_best for r in results if r.over_best is not None]
    shares = [r.limit_share for r in results if r.limit_share is not None]
    return {
        "over_numpy": geometric_mean(over_numpy),
        "over_best": geometric_mean(over_best),
        "limit_share": geometric_mean(shares),
        "losses": len([ratio for ratio in over_best if ratio < 1]),
        "cells": len(results),
    }


def geometric_mean(ratios):
    return float(np.exp(np.mean(np.log(ratios)))) if ratios else None


def means_line(results):
    figures = means(results)
    return (
        f"Geometric mean: {ratio_text(figures['over_numpy'])} over NumPy's fastest form, "
        f"{ratio_text(figures['over_best'])} over the best opponent; "
        f"losses: {figures['losses']} of {figures['cells']} cells."
    )


def problems(results):
    """The wrong results, and then each reason why an opponent did not run, with the number of its
    cells. The text of a peer's exception is in the JSON only."""
    reasons = defaultdict(int)
    for result in results:
        for name, reason in result.refusals.items():
            if name != FASTSEL and reason.startswith(RAISED):
                reason = "refuses the input"
            reasons[f"- Not run: {name}: {reason}"] += 1
    lines = [
        f"- WRONG: {name} differs from NumPy in {result.cell.label}."
        for result in results
        for name in result.wrong
    ]
    lines += [f"{reason} (cells: {count})" for reason, count in reasons.items()]
    return ["", *lines] if lines else []


def as_json(run):
    """All figures of the run as dictionaries and lists for JSON, in seconds and bytes."""
    return {
        "commit": commit(),
        "machine": machine(),
        "config": fastsel.show_config(mode="dicts"),
        "versions": versions(),
        "threads": run.threads,
        "memory_bytes_per_second": run.memory._asdict(),
        "missing": run.missing,
        "means": {op: means(results) for op, results in by_operator(run.results)},
        "cells": [cell_json(result) for result in run.results],
    }


def cell_json(result):
    return {
        **asdict(result.cell),
        "label": result.cell.label,
        "seconds": {name: timing._asdict() for name, timing in result.timings.items()},
        "best": result.best,
        "over_numpy": result.over_numpy,
        "over_best": result.over_best,
        "limit_seconds": result.limit and result.limit.minimum,
        "limit_share": result.limit_share,
        "not_run": result.refusals,
        "wrong": result.wrong,
    }


def commit():
    """The commit of this source folder and its date, and whether fastsel has local changes; or that
    there is no commit."""
    command = ["git", "-C", Path(__file__).parent, "log", "-1", "--format=Commit %h of %cs"]
    log = subprocess.run(command, capture_output=True, text=True, check=False)
    if log.returncode:
        return "No commit"
    command[3:] = ["status", "--porcelain", "--untracked-files=no", "--", "../../fastsel"]
    changed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return log.stdout.strip() + ", changed" * bool(changed)


def machine():
    facts = environment()
    return f"{facts['cpu']}, {facts['cpus']} CPUs, {platform.system()} {platform.machine()}"


def versions():
    """The versions of fastsel, Python and the installed peers."""
    numbers = {FASTSEL: fastsel.__version__, "Python": platform.python_version()}
    for package in PACKAGES:
        try:
            numbers[package] = version(package)
        except PackageNotFoundError:
            continue
    return numbers
