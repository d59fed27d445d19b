"""Every example in the README is what a reader would see."""

import doctest
from pathlib import Path

import fastsel

README = Path(__file__).parents[1] / "README.md"


def readme_examples():
    """The examples as one doctest, each at its line of the README."""
    assert README.is_file(), f"{README} is missing: the tests belong into a clone, beside it"
    text = README.read_text(encoding="utf-8")
    return doctest.DocTestParser().get_doctest(text, {}, README.name, str(README), 0)


def test_readme_examples():
    report = []
    results = doctest.DocTestRunner(verbose=False).run(readme_examples(), out=report.append)
    assert results.attempted > 0
    assert not results.failed, "".join(report)


def test_readme_has_an_example_of_every_public_function():
    source = "".join(example.source for example in readme_examples().examples)
    functions = [name for name in fastsel.__all__ if name.islower() and name[0] != "_"]
    assert [name for name in functions if f"fastsel.{name}(" not in source] == []
