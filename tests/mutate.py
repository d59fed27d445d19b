"""Do the tests notice? Changes one token of a kernel at a time, builds it and runs its tests.

    python tests/mutate.py --sample 200                  of all kernels, hours
    python tests/mutate.py --sample 10 --kernel gather

The work tree must be built in place; it is copied, never changed. A mutant that lives is printed
as a line of source before and after; the exit status is 1 if more than one of ten lives.
"""

import argparse
import io
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tokenize
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
KERNELS = Path("fastsel/_kernels")
SELECTION = ["test_selection", "test_compress", "test_coordinates", "test_threads"]
DISTINCT = ["test_distinct", "test_distinct_values", "test_distinct_rows", "test_flooding"]
GATHER = ["test_gather", "test_gather_errors"]
# Kernel: its tests, those that notice most first.
TESTS = {
    "bitmask.pyx": SELECTION,
    "indices.pyx": SELECTION,
    "items.pyx": ["test_compress", "test_selection", "test_gather"],
    "keys.pyx": DISTINCT,
    "distinct.pyx": [*DISTINCT, "test_distinct_promises"],
    "partitions.pyx": [*DISTINCT, "test_distinct_promises"],
    "ascending.pyx": ["test_ascending", *DISTINCT],
    "gather.pyx": GATHER,
    "slices.pyx": ["test_threads", "test_interrupts"],
    "slices.pxd": ["test_threads", "test_interrupts"],
    "strided.pxd": [*SELECTION, *GATHER],
    "chunks.pxd": ["test_compress", *GATHER],
    "table.pxd": DISTINCT,
    "ranks.pxd": DISTINCT,
    "blocks.pxd": SELECTION,
}
SWAPS = {
    "+": "-", "-": "+", "*": "+", "//": "*", "%": "//", "<<": ">>", ">>": "<<", "&": "|",
    "|": "&", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "and": "or",
    "or": "and", "min": "max", "max": "min", "True": "False", "False": "True", "+=": "-=",
    "not": "", "break": "pass", "continue": "pass", "0": "1", "1": "2", "64": "63", "63": "64",
}  # fmt: skip
# Lines without a computation: declarations, imports, what a decorator or an enum says.
QUIET = re.compile(r"^\s*(cimport|from|import|cdef extern|ctypedef|def |cdef class|@)")
TEST_SECONDS = 300


class Mutant(NamedTuple):
    """One token of one kernel, and what takes its place."""

    file: str
    row: int
    start: int
    stop: int
    new: str

    def applied(self, lines):
        line = lines[self.row]
        return line[: self.start] + self.new + line[self.stop :]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sample", type=int, default=20, help="how many mutants; default: 20")
    parser.add_argument("--kernel", nargs="+", default=[], metavar="NAME", help="such as gather")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    files = [file for file in TESTS if not args.kernel or file.split(".")[0] in args.kernel]
    mutants = [mutant for file in files for mutant in mutants_of(file)]
    sample = random.Random(args.seed).sample(mutants, min(args.sample, len(mutants)))
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".git", ".hypothesis"))
        results = [judge(tree, mutant) for mutant in sample]
    killed, alive = results.count("killed"), results.count("alive")
    print(f"{killed} killed, {alive} alive, {results.count('no build')} not built")
    return 1 if alive * 10 > killed + alive else 0


def mutants_of(file):
    """Every token of the file's code that has a swap."""
    text = (ROOT / KERNELS / file).read_text()
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        row, start = token.start[0] - 1, token.start[1]
        if token.type in (tokenize.OP, tokenize.NAME, tokenize.NUMBER) and token.string in SWAPS:
            line = lines[row]
            is_pointer = token.string in "*&" and line[token.end[1] : token.end[1] + 1] != " "
            if not is_pointer and not QUIET.match(line) and "noexcept" not in line:
                yield Mutant(file, row, start, token.end[1], SWAPS[token.string])


def judge(tree, mutant):
    """'killed', 'alive' or 'no build'."""
    path = tree / KERNELS / mutant.file
    text = path.read_text()
    lines = text.splitlines()
    before, after = lines[mutant.row], mutant.applied(lines)
    lines[mutant.row] = after
    path.write_text("\n".join(lines) + "\n")
    try:
        verdict = outcome(tree, TESTS[mutant.file])
    finally:
        path.write_text(text)
    print(f"{verdict:8} {mutant.file}:{mutant.row + 1}", flush=True)
    if verdict == "alive":
        print(f"    - {before.strip()}\n    + {after.strip()}")
    return verdict


def outcome(tree, tests):
    build = [sys.executable, "setup.py", "build_ext", "--inplace"]
    if subprocess.run(build, cwd=tree, capture_output=True, check=False).returncode:
        return "no build"
    names = [f"tests/{name}.py" for name in tests]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *names]
    environment = os.environ | {"PYTHONPATH": str(tree)}
    try:
        done = subprocess.run(
            command,
            cwd=tree,
            env=environment,
            capture_output=True,
            timeout=TEST_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "killed"
    return "killed" if done.returncode else "alive"


if __name__ == "__main__":
    sys.exit(main())
