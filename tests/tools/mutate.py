"""Do the tests notice mutants? A mutant is a kernel, or a header of C, with one token changed.

    python tests/tools/mutate.py --sample 200                  of all kernels, an hour or two
    python tests/tools/mutate.py --sample 10 --kernel gather

The script builds each mutant of a sample and runs the tests of its kernel. The work tree must be
built in place; it is copied, never changed. Each mutant is printed as a line of source before and
after the change. Find out for each mutant that is alive whether a test is missing: many mutants
only make a kernel slower, or change a step whose result is not used.
"""

import argparse
import contextlib
import functools
import io
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import tokenize
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).parents[2]
# The paths of the sources by their names, which no two packages share.
SOURCES = {
    path.name: path.relative_to(ROOT)
    for kind in ("*.p[yx][xd]", "*.h")
    for path in ROOT.glob(f"fastsel/*/{kind}")
}
SELECTION = [
    *("coordinates", "coordinates_directml", "compress", "tiles", "positions", "count_nonzero"),
    *("threads", "bounds"),
]
UNIQUE = [
    *("keys", "complex", "string_dtypes", "dense", "hash_table", "sorting", "unique_promises"),
    *("hostile_keys", "few", "rows", "unique", "out_of_memory", "bounds"),
]
OBJECTS = ["objects", "str_objects", "missing_values"]
THREADS = ["thread_rules", "thread_counts", "openmp"]
GATHER = ["gather_errors", "gather", "bounds"]
SETS = ["set_promises", "sets", "out_of_memory"]
# The tests of each kernel; tests that notice many mutants in little time stand first.
TESTS = {
    "bitmask.pyx": [*SELECTION, "keys", "string_dtypes"],
    "bitmask.pxd": [*SELECTION, "keys", "string_dtypes"],
    "axis_counts.pyx": ["count_nonzero", "memory"],
    "first_nonzero.pyx": ["first_nonzero", "every_operator"],
    "coordinates.pxd": [*SELECTION, "sparse"],
    "coordinates.pyx": [*SELECTION, "sparse"],
    "selected_items.pxd": [*SELECTION],
    "selected_items.pyx": [
        "small",
        "compress",
        "compress_rules",
        "positions",
        "count_nonzero",
        "gather",
        "bounds",
    ],
    "keys.pyx": ["sorting", "dense", "decimals", *UNIQUE],
    "keys.pxd": UNIQUE,
    "lookup_output.pyx": ["remap", "index_in"],
    "lookup_output.pxd": ["remap", "index_in"],
    "majority.pyx": ["majority", "plan"],
    "presorted.pxd": ["presorted", "few"],
    "presorted.pyx": ["presorted", "few", "unique", "bounds"],
    "dense.pxd": ["dense", *UNIQUE],
    "dense.pyx": ["dense", *UNIQUE],
    "decimals.pyx": ["decimals", "decimals_in_sets", *UNIQUE],
    "window.pyx": ["dense", *UNIQUE, *SETS],
    "window.pxd": ["dense", *UNIQUE, *SETS],
    "canonical.pyx": ["keys", *UNIQUE],
    "groups.pyx": ["few", "group_indices", *UNIQUE],
    "groups.pxd": ["few", *UNIQUE],
    "small_arrays.pyx": ["few", *UNIQUE],
    "tables.pyx": ["tables", *UNIQUE],
    "tables.pxd": UNIQUE,
    "recent.pxd": ["tables", *UNIQUE],
    "scatter.pyx": [
        *("scatter", "sorting", "ascending", *UNIQUE, *SETS, "partitions", "written_meanwhile")
    ],
    "scatter.pxd": ["scatter", "sorting", *UNIQUE],
    "part_sort.pyx": ["sorting", "ascending", "few", *UNIQUE],
    "part_sort.pxd": ["sorting"],
    "sorting.pyx": ["sorting", "ascending", *UNIQUE, "written_meanwhile"],
    "sorting.pxd": ["sorting", *UNIQUE],
    "objects.pyx": [*OBJECTS, "hostile", "out_of_memory"],
    "string_objects.pyx": [*OBJECTS, "out_of_memory"],
    "partitions.pyx": ["partitions", *UNIQUE],
    "merge.pyx": ["merge", *SETS],
    "few_tests.pyx": ["few_tests", "index_in", *SETS],
    "window_lookup.pyx": ["index_in", "remap", *SETS],
    "table_lookup.pyx": ["index_in", *SETS],
    "ordered_keys.pxd": ["sorting", "ascending", *UNIQUE],
    "sample.pxd": ["estimate", "sorting", *UNIQUE],
    "sample.pyx": ["estimate", *UNIQUE],
    "results.pyx": ["results", "memory"],
    "results.pxd": ["results", "small"],
    "scratch.pyx": [*UNIQUE, "threads", "results", "memory", "out_of_memory"],
    "scratch.pxd": [*UNIQUE, "memory"],
    "gather.pyx": ["small", *GATHER, "threads", "hostile"],
    "parallel.pyx": ["threads", *THREADS, "interrupts", "fork"],
    "parallel.pxd": ["threads", "gather", "interrupts", *SELECTION],
    "truth.pxd": ["small", "truth", *SELECTION],
    "strided.pxd": [*SELECTION, *GATHER],
    "copying.pxd": ["compress", *GATHER],
    "hash_table.pyx": ["tables", "hash_table", *UNIQUE],
    "hash_table.pxd": ["hash_table", *UNIQUE],
    "blocks.pxd": SELECTION,
    "levels.pyx": SELECTION,
    "levels.pxd": SELECTION,
    "bits.h": SELECTION,
    "level_body.h": [*SELECTION, *UNIQUE],
    "bits_body.h": SELECTION,
    "counts_body.h": ["count_nonzero"],
    "positions_body.h": SELECTION,
    "compress_body.h": ["compress", "compress_rules", "sorting", *SELECTION],
    "offsets_body.h": GATHER,
    "hash_body.h": ["tables", "partitions", "set_promises", *UNIQUE],
    "membership_body.h": ["dense", "set_promises", *SETS],
    "order_body.h": ["presorted", "sorting", *UNIQUE],
    "levels.h": ["config", *SELECTION],
    "hashing.h": ["hash_table", *OBJECTS, "tables", *UNIQUE],
    "memory.h": ["results", "memory", "out_of_memory", "hostile"],
    "clock.h": [*THREADS, "interrupts"],
    "openmp.h": ["threads", *THREADS, "fork", "interrupts"],
    "can_make_threads.h": ["thread_counts"],
    "late_regions.h": ["openmp"],
}
# Files that get no mutants: four compute nothing, and the comparisons of numpy_sorts.h run only if
# NumPy has no quicksort of a dtype.
WITHOUT_MUTANTS = {"level.h", "load_once.h", "numpy_sorts.h", "atomics.h", "atomics.pxd"}
SWAPS = {
    "+": "-", "-": "+", "*": "+", "//": "*", "%": "//", "<<": ">>", ">>": "<<", "&": "|",
    "|": "&", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "and": "or",
    "or": "and", "min": "max", "max": "min", "True": "False", "False": "True", "+=": "-=",
    "not": "", "break": "pass", "continue": "pass", "0": "1", "1": "2", "64": "63", "63": "64",
}  # fmt: skip
# Swaps in C: without Python's operators and words, and with C's own operators.
C_SWAPS = {old: new for old, new in SWAPS.items() if old not in ("//", "%") and not old.isalpha()}
C_SWAPS |= {
    "/": "*", "%": "/", "&&": "||", "||": "&&", "!": "", "^": "|", "|=": "&=", "&=": "|=",
    "^=": "|=", "break": "", "continue": "",
}  # fmt: skip
C_TOKEN = re.compile(
    r"""/\*.*?\*/|//[^\n]*|^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*  # comments, lines of the preprocessor
    |"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])+'|\w+
    |<<=|>>=|->|\+\+|--|<<|>>|&&|\|\||[-+*/%&|^<>=!]=|[^\w\s]""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
# Lines without a computation: imports, `cdef extern` and ctypedef, decorators, and the first lines
# of classes and of `def` functions. Only the speed depends on which memory is prefetched.
NO_COMPUTATION = re.compile(
    r"^\s*(cimport|from|import|cdef extern|ctypedef|def |cdef class|@|(fs_)?prefetch\()"
)
# A mutant hangs, and counts as killed, if its tests take more than TIMEOUT_FACTOR times the time
# that they take without a mutant.
TIMEOUT_FACTOR = 4
MAX_BYTES = 16 << 30


class Mutant(NamedTuple):
    """One token of a kernel or a header, and its replacement."""

    file: str
    row: int
    start: int
    stop: int
    new: str
    level: str = ""  # the CPU level of the mutated code, as FASTSEL_CPU names it; "" for all

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
        tree = WorkTree(Path(folder))
        results = [tree.judge(mutant) for mutant in sample]
    counts = [results.count(verdict) for verdict in ("killed", "alive", "no build")]
    print("{} killed, {} alive, {} not built".format(*counts))


def mutants_of(file):
    """The mutants of a file: one for each token that has a swap and is not part of a declaration,
    and in the header of a CPU level, one for each level that this machine can run."""
    text = (ROOT / SOURCES[file]).read_text()
    return mutants_of_header(file, text) if file.endswith(".h") else mutants_of_cython(file, text)


def mutants_of_header(file, text):
    """Mutants of the lines that are compiled on this machine: one for each token and CPU level."""
    lines, levels = text.splitlines(), compiled_lines(file)
    for token in C_TOKEN.finditer(text):
        if token.group() in C_SWAPS:
            row = text.count("\n", 0, token.start())
            start = token.start() - (text.rfind("\n", 0, token.start()) + 1)
            stop = start + len(token.group())
            neighbours = lines[row][start - 1 : start] + lines[row][stop : stop + 1]
            is_type = token.group() in "*&" and neighbours != "  "
            for level in sorted(levels.get(row, ())) if not is_type else ():
                yield Mutant(file, row, start, stop, C_SWAPS[token.group()], level)


@functools.cache
def compiled_lines(file):
    """row -> CPU levels that this machine can run, for the lines of a header that remain after the
    preprocessor; the only level is "" if the header is not compiled for each level."""
    top = "levels.h" if file.endswith("_body.h") else file
    folders = [*sorted({str(path.parent) for path in SOURCES.values()})]
    folders += [sysconfig.get_path("include"), np.get_include()]
    command = [os.environ.get("CC", "cc"), "-E", "-dD", *(f"-I{folder}" for folder in folders)]
    command += ["-include", "Python.h", "-fopenmp", str(SOURCES[top])]
    text = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^#define FS_LEVEL (\w+)", (ROOT / SOURCES["levels.h"]).read_text(), re.M)
    runnable = {name for name in names if top == "levels.h" and runs_level(name)}
    levels, in_file, row, level = {}, False, 0, ""
    for line in text.splitlines():
        if marker := re.match(r'# (\d+) "(.*)"', line):
            path, row = Path(marker[2]), int(marker[1]) - 1
            in_file = path.name == file
        else:
            if marker := re.match(r"#define FS_LEVEL (\w+)", line):
                level = marker[1]
            if in_file and line.strip():
                level_of_line = level if file.endswith("_body.h") else ""
                if not level_of_line or level_of_line in runnable:
                    levels.setdefault(row, set()).add(level_of_line)
            row += 1
    return levels


@functools.cache
def runs_level(name):
    """Whether this machine can run a CPU level."""
    code = "from fastsel._simd.levels import level_name; print(level_name())"
    environment = os.environ | {"FASTSEL_CPU": name, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-P", "-c", code]
    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return process.stdout.strip() == name


def mutants_of_cython(file, text):
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        row, start, stop = token.start[0] - 1, token.start[1], token.end[1]
        if token.type in (tokenize.OP, tokenize.NAME, tokenize.NUMBER) and token.string in SWAPS:
            line = lines[row]
            after = line[stop : stop + 1]
            # Unless there is a space on each side, these belong to a pointer, an address or a cast.
            is_type = token.string in "*&<>" and (after != " " or line[start - 1] != " ")
            if not is_type and not NO_COMPUTATION.match(line) and "noexcept" not in line:
                yield Mutant(file, row, start, stop, SWAPS[token.string])


def path_of(name):
    """The path of a test file, in any folder of tests."""
    (path,) = ROOT.glob(f"tests/*/test_{name}.py")
    return str(path.relative_to(ROOT))


@functools.cache
def lines_of_use():
    """By file: the lines that may name other files."""
    texts = {name: (ROOT / path).read_text() for name, path in SOURCES.items()}
    return {
        name: "\n".join(re.findall(r".*cimport.*|.*include.*|.*extern from.*", text))
        for name, text in texts.items()
    }


def builds_of(file):
    """The kernels that must be built again if a file changes."""
    sources = lines_of_use()
    files = {file}
    while True:
        stems = "|".join(name.removesuffix(".pxd") for name in files if name.endswith(".pxd"))
        headers = "|".join(re.escape(name) for name in files if name.endswith(".h"))
        uses = re.compile(
            rf"fastsel\.\w+\.({stems or '(?!)'}) cimport"
            rf"|(include|extern from) \"({headers or '(?!)'})\""
        )
        users = {name for name, text in sources.items() if uses.search(text)}
        users |= {name[:-3] + "pyx" for name in files} & set(sources)
        if users <= files:
            return sorted(name[:-4] for name in files if name.endswith(".pyx"))
        files |= users


class WorkTree:
    """A copy of the work tree in which mutants are built and tested."""

    def __init__(self, folder):
        self.tree, self.builds = folder / "tree", folder / "builds"
        shutil.copytree(
            ROOT, self.tree, ignore=shutil.ignore_patterns(".git", ".hypothesis", "build")
        )
        self.builds.mkdir()
        for path in self.tree.glob("fastsel/*/*.so"):
            copy = self.builds / path.relative_to(self.tree)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy)
        self.seconds = {}  # (test file, level): time of its tests without a mutant

    def judge(self, mutant):
        """Build and test a mutant: 'killed', 'alive' or 'no build'."""
        path = self.tree / SOURCES[mutant.file]
        text = path.read_text()
        lines = text.splitlines()
        before, after = lines[mutant.row], mutant.applied(lines)
        lines[mutant.row] = after
        tests = TESTS[mutant.file]
        limit = TIMEOUT_FACTOR * sum(self.seconds_of(name, mutant.level) for name in tests)
        path.write_text("\n".join(lines) + "\n")
        try:
            verdict = self.outcome(mutant, limit)
        finally:
            path.write_text(text)
            shutil.copytree(self.builds, self.tree, dirs_exist_ok=True)
        print(f"{verdict:8} {mutant.file}:{mutant.row + 1} {mutant.level}".rstrip())
        print(f"- {before.strip()}\n+ {after.strip()}", flush=True)
        return verdict

    def seconds_of(self, name, level):
        """The seconds that tests take without a mutant; exits if the tests fail."""
        if (name, level) not in self.seconds:
            start = time.monotonic()
            if self.run_tests([name], level, None):
                raise SystemExit(f"{path_of(name)} fails without a change")
            self.seconds[name, level] = time.monotonic() - start
        return self.seconds[name, level]

    def outcome(self, mutant, limit):
        build = [sys.executable, "setup.py", "build_ext", "--inplace", "--force"]
        environment = os.environ | {"FASTSEL_ONLY": " ".join(builds_of(mutant.file))}
        process = subprocess.run(
            build, cwd=self.tree, env=environment, capture_output=True, check=False
        )
        if process.returncode:
            return "no build"
        tests = TESTS[mutant.file]
        return "killed" if self.run_tests(tests, mutant.level, limit) else "alive"

    def run_tests(self, tests, level, limit):
        """Whether the tests fail, or take longer than the limit in seconds."""
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        command += ["--hypothesis-profile=few", *map(path_of, tests)]
        level_variable = {"FASTSEL_CPU": level} if level else {}
        with subprocess.Popen(
            command,
            cwd=self.tree,
            env=os.environ | {"PYTHONPATH": str(self.tree)} | level_variable,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=limit_memory,
        ) as process:
            try:
                return process.wait(limit) != 0
            except subprocess.TimeoutExpired:
                return True
            finally:
                stop(process.pid)


def limit_memory():
    import resource  # not every system has this module

    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, -1))


def stop(group):
    """End all processes of a process group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
