"""Files beside the package agree with the package; names are shown where users look for them; no
kernel swallows an error."""

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import mutate
import platforms
import pytest

import fastsel.onnx

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("file", ["CITATION.cff", "recipe/recipe.yaml"])
def test_files_that_name_a_version_name_this_one(file):
    text = (ROOT / file).read_text(encoding="utf-8")
    versions = re.findall(r'^ *version: "?([\d.]+)"?$', text, re.MULTILINE)
    assert versions == [fastsel.__version__]


def collected(*options):
    """The names of the tests of a file that pytest collects with these options, or its error."""
    file = ROOT / "tests" / "unique" / "test_estimate.py"
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "--collect-only", "-q", *options, str(file)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return done.stderr.strip()
    return sorted(line for line in done.stdout.splitlines() if "::" in line)


def test_each_test_is_in_one_of_three_parts():
    tests = collected()
    parts = [collected(f"--part={k}/3") for k in (1, 2, 3)]
    assert sorted(itertools.chain(*parts)) == sorted(tests)
    assert min(map(len, parts)) > 0


@pytest.mark.parametrize("part", ["0/3", "4/3", "3"])
def test_a_part_that_does_not_exist_is_an_error_of_one_line(part):
    message = f"ERROR: --part must be K/N, such as 1/3 or 3/3, got {part}"
    assert collected(f"--part={part}") == message


def test_mutate_knows_every_kernel():
    folder = ROOT / "fastsel"
    kernels = [path.name for path in [*folder.glob("*/*.p[yx][xd]"), *folder.glob("*/*.h")]]
    # Each name stands for one file.
    assert sorted(kernels) == sorted([*mutate.WITHOUT_MUTANTS, *mutate.TESTS])
    for file in mutate.TESTS:
        assert mutate.builds_of(file), f"{file} is part of no kernel"


def test_tab_completion_shows_what_users_call(run_python):
    printed = run_python("""
import fastsel
assert dir(fastsel) == sorted(fastsel.__all__)
import fastsel.onnx
print(set(dir(fastsel)) - set(fastsel.__all__))
""")
    assert printed.strip() == "{'onnx'}"


def test_tab_completion_of_adapters_shows_what_users_call():
    pytest.importorskip("scipy", reason="needs pip install scipy")
    import fastsel.sparse

    assert dir(fastsel.sparse) == ["from_dense"]
    assert {"Backend", "OPS", "onnxruntime_session", "unique"} <= set(dir(fastsel.onnx))


def test_public_names_of_onnx_have_the_module_fastsel_onnx():
    """pickle and help() then find them in fastsel.onnx, not in a private module."""
    for name in ("UniqueOutputs", "compress", "gather_nd", "non_zero", "unique"):
        assert getattr(fastsel.onnx, name).__module__ == "fastsel.onnx"


def test_no_error_is_swallowed():
    """A C function that cannot raise, but calls a function that may, prints the error and goes on
    with a wrong result. Cython prints it with PyErr_WriteUnraisable."""
    binaries = {
        path.name.partition(".")[0]: path.read_bytes()
        for path in Path(fastsel.__file__).parent.glob("*/*")
        if path.suffix in (".so", ".pyd")
    }
    assert len(binaries) > 20
    if b"Out of bounds on buffer access" in binaries["bitmask"]:
        pytest.skip("a checked build reports an index out of bounds by PyErr_WriteUnraisable")
    swallowing = {name for name, code in binaries.items() if b"PyErr_WriteUnraisable" in code}
    # Cython's code for memoryviews, in _cyutility, calls it: the search can find this name.
    assert swallowing == {"_cyutility"}


def test_pythons_of_wheels_are_those_of_the_classifiers():
    supported = [python.version for python in platforms.WITH_GIL]
    classifiers = platforms.PROJECT["classifiers"]
    assert [
        name.rpartition(" :: ")[2]
        for name in classifiers
        if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", name)
    ] == supported
    assert platforms.PROJECT["requires-python"] == f">={supported[0]}"
    text = (ROOT / "docs" / "getting-started.md").read_text(encoding="utf-8")
    assert f"Python {supported[0]} to {supported[-1]}" in " ".join(text.split())
