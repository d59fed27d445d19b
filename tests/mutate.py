"""Do the tests notice? Changes one token of a kernel at a time, builds it and runs its tests.

    python tests/mutate.py --sample 200                  of all kernels, an hour or two
    python tests/mutate.py --sample 10 --kernel gather

The work tree must be built in place; it is copied, never changed. A mutant that lives is printed
as a line of source before and after. Those of which tests/survivors.txt says why no test can
notice them are counted apart; the exit status is 1 if more than one of ten others lives.
"""

import argparse
import contextlib
import io
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tokenize
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
KERNELS = Path("fastsel/_kernels")
SELECTION = ["coordinates", "compress", "tiles", "selection", "threads", "bounds"]
DISTINCT = [
    *("distinct_values", "distinct_places", "flooding", "ascending", "distinct_promises"),
    *("distinct_rows", "distinct", "out_of_memory", "bounds"),
]
GATHER = ["gather_errors", "gather", "bounds"]
# Kernel: its tests, those that notice most in little time first.
TESTS = {
    "bitmask.pyx": [*SELECTION, "distinct_values"],
    "indices.pyx": [*SELECTION, "sparse"],
    "items.pyx": ["compress", "compress_rules", "selection", "gather", "bounds"],
    "small.pyx": ["small", *GATHER, "gate"],
    "plain.pxd": ["small", "smallsort", *GATHER, "gate"],
    "pairs.pyx": ["pairs", "small", "distinct_values", *DISTINCT],
    "smallsort.pyx": ["smallsort", "small", "distinct_places", "distinct_firsts", *DISTINCT],
    "keys.pyx": DISTINCT,
    "keys.pxd": DISTINCT,
    "distinct.pyx": ["small", *DISTINCT, "distinct_firsts"],
    "distinct.pxd": DISTINCT,
    "few.pyx": ["small", "distinct_firsts", "distinct_flags", *DISTINCT],
    "changes.pxd": ["ranges", "small", "pairs", "distinct_firsts"],
    "known.pxd": ["distinct_firsts", "distinct_flags", "bounds"],
    "flags.pyx": ["distinct_flags", "distinct_places", "out_of_memory", "bounds"],
    "flagset.pxd": ["distinct_flags", "distinct_places", "bounds"],
    "words.pyx": ["distinct_firsts", *DISTINCT],
    "wordset.pxd": ["distinct_firsts", *DISTINCT],
    "ordered.pxd": ["distinct_firsts", "distinct_flags"],
    "ordered.pyx": ["distinct_firsts", "distinct", "bounds"],
    "objects.pyx": ["distinct_objects", "hostile", "out_of_memory"],
    "texts.pyx": ["distinct_objects", "out_of_memory"],
    "partitions.pyx": [*DISTINCT, "distinct_firsts"],
    "ascending.pyx": ["ascending", *DISTINCT, "written_meanwhile"],
    "ranges.pyx": ["ranges", "ascending", *DISTINCT, "written_meanwhile"],
    "numbers.pxd": ["ranges", "ascending", *DISTINCT],
    "places.pxd": DISTINCT,
    "sample.pxd": ["guess", "ranges", *DISTINCT],
    "sample.pyx": ["guess", *DISTINCT],
    "radix.pxd": ["ascending", *DISTINCT],
    "results.pyx": ["results", "memory"],
    "results.pxd": ["results", "small"],
    "kept.pxd": ["results", "memory", "out_of_memory"],
    "scratch.pyx": [*DISTINCT, "threads", "results", "memory"],
    "scratch.pxd": [*DISTINCT, "memory"],
    "gather.pyx": [*GATHER, "threads", "hostile"],
    "slices.pyx": ["threads", "thread_rules", "interrupts", "fork"],
    "slices.pxd": ["threads", "gather", "interrupts", *SELECTION],
    "truth.pxd": SELECTION,
    "tiles.pxd": ["tiles", *SELECTION],
    "strided.pxd": [*SELECTION, *GATHER],
    "chunks.pxd": ["compress", *GATHER],
    "table.pxd": DISTINCT,
    "ranks.pxd": DISTINCT,
    "blocks.pxd": SELECTION,
    "levels.pyx": SELECTION,
    "levels.pxd": SELECTION,
}
SWAPS = {
    "+": "-", "-": "+", "*": "+", "//": "*", "%": "//", "<<": ">>", ">>": "<<", "&": "|",
    "|": "&", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "and": "or",
    "or": "and", "min": "max", "max": "min", "True": "False", "False": "True", "+=": "-=",
    "not": "", "break": "pass", "continue": "pass", "0": "1", "1": "2", "64": "63", "63": "64",
}  # fmt: skip
# Lines without a computation: declarations, imports, what a decorator or an enum says.
QUIET = re.compile(r"^\s*(cimport|from|import|cdef extern|ctypedef|def |cdef class|@)")
# A mutant that takes so much longer than the kernel itself hangs.
PATIENCE = 4
MOST_BYTES = 16 << 30


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
    print(f"{len(sample)} of {len(mutants)} mutants, seed {args.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        results = [bench.judge(mutant) for mutant in sample]
    killed, alive = results.count("killed"), results.count("alive")
    known, not_built = results.count("explained"), results.count("no build")
    print(f"{killed} killed, {alive} alive, {known} explained, {not_built} not built")
    return 1 if alive * 10 > killed + alive else 0


def mutants_of(file):
    """Every token of the file's code that has a swap."""
    text = (ROOT / KERNELS / file).read_text()
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        row, start, stop = token.start[0] - 1, token.start[1], token.end[1]
        if token.type in (tokenize.OP, tokenize.NAME, tokenize.NUMBER) and token.string in SWAPS:
            line = lines[row]
            after = line[stop : stop + 1]
            # A pointer, an address or a cast: an operator between two operands has spaces.
            is_type = token.string in "*&<>" and (after != " " or line[start - 1] != " ")
            if not is_type and not QUIET.match(line) and "noexcept" not in line:
                yield Mutant(file, row, start, stop, SWAPS[token.string])


def builds_of(file):
    """The kernels that a file is a part of."""
    sources = {path.name: path.read_text() for path in (ROOT / KERNELS).glob("*.p[yx][xd]")}
    parts = {file}
    while True:
        stems = "|".join(part.removesuffix(".pxd") for part in parts if part.endswith(".pxd"))
        uses = re.compile(rf"_kernels\.({stems}) cimport") if stems else re.compile("(?!)")
        more = {name for name, text in sources.items() if uses.search(text)}
        more |= {part[:-3] + "pyx" for part in parts} & set(sources)
        if more <= parts:
            return sorted(part[:-4] for part in parts if part.endswith(".pyx"))
        parts |= more


def survivors():
    """Mutants that no test can notice: (file, line before, line after)."""
    lines = (ROOT / "tests" / "survivors.txt").read_text().splitlines()
    lines = [line for line in lines if line and not line.startswith("#")]
    found = set()
    for line in lines:
        if line[0] not in "-+":
            file = line
        elif line[0] == "-":
            before = line[2:]
        else:
            found.add((file, before, line[2:]))
    return found


class Bench:
    """A copy of the work tree in which mutants are built and tested."""

    def __init__(self, folder):
        self.tree, self.builds = folder / "tree", folder / "builds"
        shutil.copytree(
            ROOT, self.tree, ignore=shutil.ignore_patterns(".git", ".hypothesis", "build")
        )
        self.builds.mkdir()
        for path in (self.tree / KERNELS).glob("*.so"):
            shutil.copy2(path, self.builds)
        self.seconds = {}
        self.survivors = survivors()

    def judge(self, mutant):
        """'killed', 'alive', 'explained' or 'no build'."""
        path = self.tree / KERNELS / mutant.file
        text = path.read_text()
        lines = text.splitlines()
        before, after = lines[mutant.row], mutant.applied(lines)
        lines[mutant.row] = after
        limit = PATIENCE * sum(map(self.unchanged, TESTS[mutant.file]))
        path.write_text("\n".join(lines) + "\n")
        try:
            verdict = self.outcome(mutant.file, limit)
        finally:
            path.write_text(text)
            for build in self.builds.iterdir():
                shutil.copy2(build, self.tree / KERNELS)
        before, after = before.strip(), after.strip()
        if verdict == "alive" and (mutant.file, before, after) in self.survivors:
            verdict = "explained"
        print(f"{verdict:9} {mutant.file}:{mutant.row + 1}")
        print(f"- {before}\n+ {after}", flush=True)
        return verdict

    def unchanged(self, name):
        """Seconds that tests take with the kernels as they are, with which they pass."""
        if name not in self.seconds:
            start = time.monotonic()
            if self.run_tests([name], None):
                raise SystemExit(f"tests/test_{name}.py fails without a change")
            self.seconds[name] = time.monotonic() - start
        return self.seconds[name]

    def outcome(self, file, limit):
        build = [sys.executable, "setup.py", "build_ext", "--inplace", "--force"]
        environment = os.environ | {"FASTSEL_ONLY": " ".join(builds_of(file))}
        built = subprocess.run(
            build, cwd=self.tree, env=environment, capture_output=True, check=False
        )
        if built.returncode:
            return "no build"
        return "killed" if self.run_tests(TESTS[file], limit) else "alive"

    def run_tests(self, tests, limit):
        """Do they fail, or hang?"""
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        command += ["--hypothesis-profile=few", *(f"tests/test_{name}.py" for name in tests)]
        with subprocess.Popen(
            command,
            cwd=self.tree,
            env=os.environ | {"PYTHONPATH": str(self.tree)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=limit_memory,
        ) as tested:
            try:
                return tested.wait(limit) != 0
            except subprocess.TimeoutExpired:
                return True
            finally:
                stop(tested.pid)


def limit_memory():
    import resource  # which not every system has

    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, -1))


def stop(group):
    """What a mutant has started must not outlive it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
