"""Which lines of the kernels do the tests not reach?

    FASTSEL_COVERAGE=1 python setup.py build_ext --inplace --force
    PYTHONPATH=. python -m pytest tests
    python tests/tools/uncovered.py

Lines that uncovered.txt explains are not printed. The exit status is 1 if other lines are not
reached, if uncovered.txt lists a line that does not exist, or if gcov counted no line.

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
DEFINITION = re.compile(r" *(?:def|cdef|cpdef) [^=(]*?(\w+)\(")
# Comments before C that belongs to no statement: the end of a function, and its call from Python.
NO_STATEMENT = re.compile(r" */\* (function exit code|Python wrapper) \*/")


def kernels():
    """name -> path of each kernel; no two packages share a name."""
    return {path.name: path for path in ROOT.glob("fastsel/*/*.p[yx][xd]")}


def statements(source):
    """Each line of a source, as "function: statement"."""
    lines, function = [], "module"
    for line in source.read_text(encoding="utf-8").splitlines():
        if match := DEFINITION.match(line):
            function = match[1]
        elif line[:1].strip():
            function = "module"
        lines.append(f"{function}: {line.strip()}")
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


def explained_lines():
    """The lines that tests/tools/uncovered.txt lists, as (file, "function: statement")."""
    lines = set()
    for line in Path(__file__).with_name("uncovered.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            file, text = line.split(": ", 1)
            lines.add((file, text))
    return lines


def main():
    sources, explained = kernels(), explained_lines()
    missed, reached, total = set(), 0, 0
    nonexistent = {
        (file, text)
        for file, text in explained
        if file not in sources or text not in statements(sources[file])
    }
    for file, counts in sorted(counts_of_statements().items()):
        lines = statements(sources[file])
        missing = sorted(row for row, count in counts.items() if not count)
        print(f"{len(counts) - len(missing):4} of {len(counts):4} lines of {file}")
        for row in missing:
            line = (file, lines[row - 1])
            missed.add(line)
            if line not in explained:
                print(f"     {row}: {line[1]}")
        reached, total = reached + len(counts) - len(missing), total + len(counts)
    unexplained = missed - explained
    print(f"{reached} of {total} lines, {total - reached} not, {len(unexplained)} without a reason")
    for file, text in sorted(nonexistent):
        print(f"no such line: {file}: {text}")
    return 1 if nonexistent or unexplained or not total else 0


if __name__ == "__main__":
    sys.exit(main())
