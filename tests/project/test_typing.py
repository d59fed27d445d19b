"""The examples for type checkers are programs that run; the checkers themselves run in CI."""

import importlib
import importlib.resources
import inspect
import runpy
import typing
from pathlib import Path

import pytest

import fastsel

TYPING = Path(__file__).parents[1] / "typing"
EXAMPLES = {
    "fastsel": ("examples.py", None),
    "fastsel.dask": ("dask_examples.py", "dask"),
    "fastsel.onnx": ("onnx_examples.py", "onnx"),
    "fastsel.sparse": ("sparse_examples.py", "scipy"),
}


@pytest.mark.parametrize("module", EXAMPLES)
def test_the_typed_examples_run_and_have_every_public_name(module):
    name, package = EXAMPLES[module]
    if package:
        pytest.importorskip(package, reason=f"needs pip install {package}")
    assert runpy.run_path(str(TYPING / name))["fastsel"] is fastsel
    text = (TYPING / name).read_text(encoding="utf-8")
    public = [public for public in dir(importlib.import_module(module)) if public[0] != "_"]
    names = [public for public in public if not inspect.ismodule(getattr(fastsel, public, None))]
    assert len(names) > 0
    assert [public for public in names if f"{module}.{public}" not in text] == []


@pytest.mark.parametrize("module", EXAMPLES)
def test_every_public_function_has_types(module):
    """Each parameter and the result have a type. A stub has the types of the functions of
    `_unique.py`, which are not checked here."""
    if package := EXAMPLES[module][1]:
        pytest.importorskip(package, reason=f"needs pip install {package}")
    if module == "fastsel.onnx":
        pytest.importorskip("onnxruntime", reason="needs pip install onnxruntime")
    names = [name for name in dir(importlib.import_module(module)) if name[0] != "_"]
    functions = [getattr(importlib.import_module(module), name) for name in names]
    for function in filter(inspect.isfunction, functions):
        signature = inspect.signature(function)
        if function.__module__ != "fastsel._unique._unique":
            assert signature.return_annotation is not signature.empty, function
            for parameter in signature.parameters.values():
                assert parameter.annotation is not parameter.empty, (function, parameter)
            if module in ("fastsel", "fastsel.onnx"):
                assert "return" in typing.get_type_hints(function), function


def test_the_package_says_that_it_is_typed():
    files = importlib.resources.files(fastsel)
    assert files.joinpath("py.typed").is_file()
    assert files.joinpath("_unique", "_unique.pyi").is_file()
