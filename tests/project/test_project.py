"""Files beside the package say the same as the package."""

import re
from pathlib import Path

import mutate
import pytest

import fastsel.onnx

ROOT = Path(__file__).parents[2]


def test_the_citation_is_of_this_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", text, re.MULTILINE)[1] == fastsel.__version__


def test_the_changelog_has_this_version():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{fastsel.__version__}]" in text


def test_every_kernel_has_mutants():
    folder = ROOT / "fastsel"
    kernels = [path.name for path in [*folder.glob("*/*.p[yx][xd]"), *folder.glob("*/*.h")]]
    # Each name stands for one file.
    assert sorted(kernels) == sorted([*mutate.WITHOUT_MUTANTS, *mutate.TESTS])
    for file in mutate.TESTS:
        assert mutate.builds_of(file), f"{file} is part of no kernel"


def test_survivors_are_mutants():
    """What survivors.txt explains is a line of a kernel, and one that may be changed. Of headers,
    what may be changed depends on the CPU."""
    for file in {file for file, *_ in mutate.survivors()}:
        lines = (ROOT / mutate.SOURCES[file]).read_text(encoding="utf-8").splitlines()
        explained = {tuple(pair) for name, *pair in mutate.survivors() if name == file}
        if file.endswith(".h"):
            assert {before for before, _ in explained} <= {line.strip() for line in lines}
            continue
        mutants = {
            (lines[mutant.row].strip(), mutant.applied(lines).strip())
            for mutant in mutate.mutants_of(file)
        }
        assert explained <= mutants


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


def test_adapters_keep_their_names():
    """Functions and classes of fastsel.onnx are found, and pickled, by that name."""
    for name in ("UniqueOutputs", "compress", "gather_nd", "non_zero", "unique"):
        assert getattr(fastsel.onnx, name).__module__ == "fastsel.onnx"


def test_no_error_is_swallowed():
    """A C function that cannot raise, and yet calls what may, prints an error and goes on with a
    wrong result. Cython's means to that end, in functions of any kind, is one of Python's."""
    binaries = {
        path.name.partition(".")[0]: path.read_bytes()
        for path in Path(fastsel.__file__).parent.glob("*/*")
        if path.suffix in (".so", ".pyd")
    }
    assert len(binaries) > 20
    if b"Out of bounds on buffer access" in binaries["bitmask"]:
        pytest.skip("a checked build writes an error where it happens, which fails the test")
    swallowing = {name for name, code in binaries.items() if b"PyErr_WriteUnraisable" in code}
    # Cython's own code for memoryviews calls it, which shows that the name is there to be found.
    assert swallowing == {"_cyutility"}


def test_actions_of_a_release_are_pinned():
    text = (ROOT / ".github" / "workflows" / "wheels.yml").read_text(encoding="utf-8")
    used = re.findall(r"uses: (\S+)", text)
    assert len(used) > 5
    assert [action for action in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action)] == []
