"""The examples for type checkers are calls that work; the checkers themselves run in CI."""

import importlib.resources
import runpy
from pathlib import Path

import fastsel

EXAMPLES = Path(__file__).parent / "typing" / "examples.py"


def test_the_typed_examples_run():
    assert runpy.run_path(str(EXAMPLES))["fastsel"] is fastsel


def test_the_package_says_that_it_is_typed():
    files = importlib.resources.files(fastsel)
    assert files.joinpath("py.typed").is_file()
    assert files.joinpath("_distinct.pyi").is_file()


def test_every_kernel_has_a_stub():
    names = [file.name for file in importlib.resources.files("fastsel._kernels").iterdir()]
    kernels = {name.removesuffix(".pyx") for name in names if name.endswith(".pyx")}
    assert kernels
    assert kernels <= {name.removesuffix(".pyi") for name in names if name.endswith(".pyi")}
