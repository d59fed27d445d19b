"""Measure the speed of each loop of fastsel/_simd at each CPU level, and write
benchmarks/results/loops.md.

    python benchmarks/loops/measure.py

The script needs a C compiler (the variable CC, or cc), and half a minute on an idle machine.
"""

import os
import re
import subprocess
import tempfile
from pathlib import Path

from fastsel._cli._table import environment

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = ROOT / "benchmarks" / "results" / "loops.md"
LEVELS = ("base", "neon", "v3", "v4")
COPY = "memcpy"
INTRODUCTION = """# Speed of the loops

`fastsel/_simd` has the innermost loops, compiled once for each
[CPU level](../../docs/performance.md#by-cpu-level). The table has the gigabytes per second that a
loop reads and writes, on one thread, with its data in the first-level cache, and in brackets the
ratio to `memcpy`. For `compress`, all items count as read,
so a figure of `compress` may exceed the figure of `memcpy`. The rows of the loops `write` and
`compress` at each density decide constants, for example `FS_DENSE`: a block of 64 items with fewer
set bits is written bit by bit. `python benchmarks/loops/measure.py` writes this page.
"""


def main():
    tables = {}
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "loops"
        compiler = os.environ.get("CC", "cc")
        source = ["-I", ROOT / "fastsel" / "_simd", HERE / "loops.c"]
        subprocess.run([compiler, "-O3", *source, "-o", program], check=True)
        for level in LEVELS:
            name, speeds = speeds_at(program, level)
            tables[name] = speeds
    PAGE.write_text(page(tables), encoding="utf-8")


def speeds_at(program, level):
    """The name of the CPU level that runs, which is `level` or the machine's best level below it,
    and the speed of each loop."""
    run = subprocess.run(
        [program],
        env={**os.environ, "FASTSEL_CPU": level},
        capture_output=True,
        text=True,
        check=True,
    )
    (_, name), *lines = (line.split("\t") for line in run.stdout.splitlines())
    return name, {loop: float(speed) for loop, speed in lines}


def page(tables):
    """The text of the page; its table has a column for each level."""
    lines = [INTRODUCTION, f"| loop | {' | '.join(tables)} |", "|---" * (len(tables) + 1) + "|"]
    for loop in next(iter(tables.values())):
        name = re.sub(r"^\w+", r"`\g<0>`", loop)
        cells = (speed_text(speeds[loop], speeds[COPY]) for speeds in tables.values())
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", f"Measured on: {environment()['cpu']}.", ""])


def speed_text(speed, copy):
    return f"{speed:.1f} ({speed / copy:.2f})"


if __name__ == "__main__":
    main()
