"""Measure the published figures of fastsel beside its peers on this machine, by one command.

    python benchmarks/peers/measure.py
    python benchmarks/peers/measure.py --level v3 base --seconds 0.5

For each CPU level that fastsel and this machine have, compare.py runs with fastsel's kernels of
that level and, on x86-64, with NumPy's vector code limited to the same level. It writes tables to
benchmarks/results, and all figures to build/results; from them, publish.py makes the README's table
and the pictures of speed-ups.
Run this script on an idle machine with every peer installed, on a commit without local changes.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import publish
from numpy._core import _multiarray_umath as core

from fastsel._simd import levels

HERE = Path(__file__).resolve().parent
COMPARE = HERE / "compare.py"
# The levels of x86-64, lowest first. A CPU feature belongs to a level if NumPy's name for it
# contains one of the level's texts.
LEVELS = {"base": "", "v3": "V3 AVX2 FMA3", "v4": "V4 AVX512"}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    present = levels_of_machine()
    parser.add_argument("--level", nargs="+", choices=present, default=present)
    parser.add_argument("--seconds", default="0.5", help="for one cell; default: 0.5")
    args = parser.parse_args()
    publish.RESULTS.mkdir(parents=True, exist_ok=True)
    for level in args.level:
        command = [sys.executable, COMPARE, "--seconds", args.seconds]
        command += ["--json", publish.RESULTS / f"{level}.json"]
        command += ["--markdown", publish.ROOT / "benchmarks" / "results" / f"{level}.md"]
        print(f"{level}: {' '.join(map(str, command))}", flush=True)
        subprocess.run(command, env=environment(level), stdout=subprocess.DEVNULL, check=True)
    publish.main()


def levels_of_machine():
    """The levels up to the level that fastsel chose; on other CPUs than x86-64, base and the level
    that fastsel chose."""
    names = list(LEVELS)
    best = levels.level_name()
    return names[: names.index(best) + 1] if best in names else ["base", best]


def environment(level):
    """The variables that limit fastsel and, on x86-64, NumPy to a level."""
    names = list(LEVELS)
    higher = names[names.index(level) + 1 :] if level in names else []
    texts = [text for name in higher for text in LEVELS[name].split()]
    features = [
        name
        for name in core.__cpu_dispatch__
        if core.__cpu_features__.get(name) and any(text in name for text in texts)
    ]
    return {**os.environ, "FASTSEL_CPU": level, "NPY_DISABLE_CPU_FEATURES": " ".join(features)}


if __name__ == "__main__":
    main()
