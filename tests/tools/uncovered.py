"""Which lines of the kernels do the tests not reach?

    FASTSEL_COVERAGE=1 python setup.py build_ext --inplace --force
    PYTHONPATH=. python -m pytest tests
    python tests/tools/uncovered.py

Lines of which uncovered.txt says why are left out. The exit status is 1 if there are others,
or if that file lists a line that is no more.

gcov counts lines of C. Before the lines of a statement, Cython writes a comment that quotes it.
"""

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLACE = re.compile(r' */\* "(fastsel/\w+/\w+\.p[yx][xd])":(\d+)$')
DEFINITION = re.compile(r" *(?:def|cdef|cpdef) [^=(]*?(\w+)\(")
# What is no statement's: the end of a function, and the call of one from Python.
OTHER = re.compile(r" */\* (function exit code|Python wrapper) \*/")


def kernels():
    """Sources by their names, which no two packages share."""
    return {path.name: path for path in ROOT.glob("fastsel/*/*.p[yx][xd]")}


def statements(source):
    """Each line, as "function: statement"."""
    found, function = [], "module"
    for line in source.read_text(encoding="utf-8").splitlines():
        if match := DEFINITION.match(line):
            function = match[1]
        elif line[:1].strip():
            function = "module"
        found.append(f"{function}: {line.strip()}")
    return found


def counts_of_statements():
    """file: {line of a statement: how many times one of its lines of C was run}, of all kernels."""
    found = defaultdict(lambda: defaultdict(int))
    sources = kernels()
    for source in sorted(ROOT.glob("fastsel/*/*.c")):
        counts, place = counts_of_c(source), None
        for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
            if (match := PLACE.match(line)) or OTHER.match(line):
                place = match and (Path(match[1]).name, int(match[2]))
            elif place and number in counts and place[0] in sources:  # else Cython's own
                file, row = place
                found[file][row] += counts[number]
    return found


def counts_of_c(source):
    """{line: how many times it was run} of a kernel's C file, of lines that were compiled."""
    (notes,) = ROOT.glob(f"build/temp*/{source.relative_to(ROOT).with_suffix('.gcno')}")
    command = ["gcov", "--json-format", "--stdout", notes]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    counts = defaultdict(int)
    for file in json.loads(told)["files"]:
        if Path(file["file"]).name == source.name:
            for line in file["lines"]:
                counts[line["line_number"]] += line["count"]
    return counts


def explained():
    """(file, "function: statement") of all that tests/tools/uncovered.txt lists."""
    found = set()
    for line in Path(__file__).with_name("uncovered.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            file, text = line.split(": ", 1)
            found.add((file, text))
    return found


def main():
    sources, known = kernels(), explained()
    missed, seen, total = set(), 0, 0
    gone = {
        (file, text)
        for file, text in known
        if file not in sources or text not in statements(sources[file])
    }
    for file, counts in sorted(counts_of_statements().items()):
        lines = statements(sources[file])
        missing = sorted(row for row, count in counts.items() if not count)
        print(f"{len(counts) - len(missing):4} of {len(counts):4} lines of {file}")
        for row in missing:
            line = (file, lines[row - 1])
            missed.add(line)
            if line not in known:
                print(f"     {row}: {line[1]}")
        seen, total = seen + len(counts) - len(missing), total + len(counts)
    print(f"{seen} of {total} lines, {total - seen} not, {len(missed - known)} without a reason")
    for file, text in sorted(gone):
        print(f"no more: {file}: {text}")
    return 1 if gone or missed - known or not total else 0


if __name__ == "__main__":
    sys.exit(main())
