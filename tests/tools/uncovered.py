"""Which lines of the kernels did a run under coverage.py not reach?

    python tests/tools/uncovered.py .coverage      of kernels built with FASTSEL_TRACE=1

Lines of which uncovered.txt says why are left out. The exit status is 1 if there are others,
or if that file lists a line that has been reached, or is no more.

coverage.py's own report asks Cython's plugin, which reads one C file for each source: it does not
find the files that several kernels include, unless it happens to read those kernels first.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

from coverage import CoverageData

ROOT = Path(__file__).parents[2]
PLACE = re.compile(r' */\* "(fastsel/\w+/\w+\.p[yx][xd])":(\d+)$')
TRACED = re.compile(r" *__Pyx_TraceLine\((\d+),")
# Traced where a module that includes the function is set up, if at all.
HEAD_OF_INLINE = re.compile(r"cdef inline .*[(,:]$")


def kernels():
    """Sources by their names, which no two packages share."""
    return {path.name: path for path in ROOT.glob("fastsel/*/*.p[yx][xd]")}


def traced_lines(sources):
    """file: numbers of the lines that tell a tracer when they run."""
    found = defaultdict(set)
    for source in sorted(ROOT.glob("fastsel/*/*.c")):
        file = None
        for line in source.read_text(encoding="utf-8").splitlines():
            place, traced = PLACE.match(line), TRACED.match(line)
            if place:
                file, number = Path(place[1]).name, int(place[2])
                if file not in sources:  # Cython's own, which kernels share
                    file = None
            elif traced and file and int(traced[1]) == number:
                found[file].add(number)
    return found


def reached_lines(path):
    data = CoverageData(path)
    data.read()
    return {Path(file).name: set(data.lines(file)) for file in data.measured_files()}


def explained():
    """(file, text of the line) of all that tests/tools/uncovered.txt lists."""
    found = set()
    for line in Path(__file__).with_name("uncovered.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            file, text = line.split(": ", 1)
            found.add((file, text))
    return found


def main(path):
    sources = kernels()
    traced, reached, known = traced_lines(sources), reached_lines(path), explained()
    missed, seen, total = set(), 0, 0
    for file in sorted(traced):
        lines = sources[file].read_text(encoding="utf-8").splitlines()
        code = {number for number in traced[file] if not HEAD_OF_INLINE.match(lines[number - 1])}
        missing = sorted(code - reached.get(file, set()))
        print(f"{len(code) - len(missing):4} of {len(code):4} lines of {file}")
        for number in missing:
            line = (file, lines[number - 1].strip())
            missed.add(line)
            if line not in known:
                print(f"     {number}: {line[1]}")
        seen, total = seen + len(code) - len(missing), total + len(code)
    print(f"{seen} of {total} lines, {total - seen} not, {len(missed - known)} without a reason")
    for file, text in sorted(known - missed):
        print(f"reached, or no more: {file}: {text}")
    return 1 if missed != known else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
