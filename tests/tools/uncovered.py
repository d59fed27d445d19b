"""Which lines of the kernels do the tests not reach?

    FASTSEL_COVERAGE=1 python setup.py build_ext --inplace --force
    PYTHONPATH=. python -m pytest tests
    python tests/tools/uncovered.py

It prints the lines that are not reached, except definitions, which gcov counts as code, and lines
that handle a lack of memory: tests/core/test_out_of_memory.py lets every allocation fail, mostly in
slow tests, which run without gcov. The other lines that remain need what no test can cause, such as
two strings with the same hash. The exit status is 1 unless MIN_SHARE of all lines are reached.

gcov counts lines of C. Before the C of a statement, Cython writes a comment that quotes the
statement.
"""

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLACE = re.compile(r' */\* "([\w./]+)":(\d+)$')
MIN_SHARE = 0.99
LEFT_OUT = re.compile(r".*(MemoryError|NO_MEMORY)|cdef (class |.*\) noexcept nogil:$)")
DEFINITION = re.compile(r" *(?:def|cdef|cpdef) [^=(]*?(\w+)\(")
# Comments before C that belongs to no statement: the end of a function, and its call from Python.
NO_STATEMENT = re.compile(r" */\* (function exit code|Python wrapper) \*/")


def kernels():
    """name -> path of each kernel; no two packages share a name."""
    return {path.name: path for path in ROOT.glob("fastsel/*/*.p[yx][xd]")}


def statements(source):
    """Each line of a source, as (function, statement)."""
    lines, function = [], "module"
    for line in source.read_text(encoding="utf-8").splitlines():
        if match := DEFINITION.match(line):
            function = match[1]
        elif line[:1].strip():
            function = "module"
        lines.append((function, line.strip()))
    return lines


def counts_of_statements():
    """file -> {line of a statement -> number of runs of its lines of C}, of all kernels."""
    runs = defaultdict(lambda: defaultdict(int))
    sources = kernels()
    for source in sorted(ROOT.glob("fastsel/*/*.c")):
        counts, place = counts_of_c(source), None
        for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
            if (match := PLACE.match(line)) or NO_STATEMENT.match(line):
                place = match and (Path(match[1]).name, int(match[2]))
            elif place and number in counts and place[0] in sources:  # not Cython's own files
                file, row = place
                runs[file][row] += counts[number]
    return runs


def counts_of_c(source):
    """line -> number of its runs, for the compiled lines of a kernel's C file."""
    (notes,) = ROOT.glob(f"build/temp*/{source.relative_to(ROOT).with_suffix('.gcno')}")
    command = ["gcov", "--json-format", "--stdout", notes]
    report = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    counts = defaultdict(int)
    for file in json.loads(report)["files"]:
        if Path(file["file"]).name == source.name:
            for line in file["lines"]:
                counts[line["line_number"]] += line["count"]
    return counts


def main():
    sources, reached, total = kernels(), 0, 0
    for file, counts in sorted(counts_of_statements().items()):
        lines = statements(sources[file])
        missing = [
            f"{row}: {': '.join(lines[row - 1])}"
            for row, count in sorted(counts.items())
            if not count and not LEFT_OUT.match(lines[row - 1][1])
        ]
        print(f"{len(counts) - len(missing):4} of {len(counts):4} lines of {file}")
        for line in missing:
            print(f"     {line}")
        reached, total = reached + len(counts) - len(missing), total + len(counts)
    print(f"{reached} of {total} lines")
    return 0 if reached > MIN_SHARE * total else 1


if __name__ == "__main__":
    sys.exit(main())
