"""Files beside the package say the same as the package."""

import re
from pathlib import Path

import mutate

import fastsel

ROOT = Path(__file__).parents[1]


def test_the_citation_is_of_this_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", text, re.MULTILINE)[1] == fastsel.__version__


def test_the_changelog_has_this_version():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{fastsel.__version__}]" in text


def test_every_kernel_has_mutants():
    kernels = {path.name for path in (ROOT / mutate.KERNELS).glob("*.p[yx][xd]")}
    assert kernels == set(mutate.TESTS)
    for file in kernels:
        assert mutate.builds_of(file), f"{file} is part of no kernel"


def test_survivors_are_mutants():
    """What tests/survivors.txt explains is a line of a kernel, and one that may be changed."""
    mutants = set()
    for file in mutate.TESTS:
        lines = (ROOT / mutate.KERNELS / file).read_text(encoding="utf-8").splitlines()
        for mutant in mutate.mutants_of(file):
            mutants.add((file, lines[mutant.row].strip(), mutant.applied(lines).strip()))
    assert mutate.survivors() <= mutants
