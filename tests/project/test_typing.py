"""The examples for type checkers are calls that work; the checkers themselves run in CI."""

import importlib.resources
import runpy
from pathlib import Path

import fastsel

EXAMPLES = Path(__file__).parents[1] / "typing" / "examples.py"


def test_the_typed_examples_run():
    assert runpy.run_path(str(EXAMPLES))["fastsel"] is fastsel


def test_the_package_says_that_it_is_typed():
    files = importlib.resources.files(fastsel)
    assert files.joinpath("py.typed").is_file()
    assert files.joinpath("_unique", "_distinct.pyi").is_file()
