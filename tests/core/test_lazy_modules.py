"""fastsel.dask, fastsel.onnx and fastsel.sparse are imported on first use."""

import pytest

import fastsel

PACKAGES = {"dask": "dask", "onnx": "numpy", "sparse": "scipy"}
IMPORTED = """
import sys, fastsel
before = "fastsel.{name}" in sys.modules
print(before, fastsel.{name}.__name__, "{name}" in dir(fastsel))
"""
MISSING = """
import sys
sys.modules["{package}"] = None  # an import of it raises ImportError, as if it were missing
import fastsel
try:
    {expression}
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize("name", PACKAGES)
def test_a_module_is_imported_on_first_use(name, run_forked):
    pytest.importorskip(PACKAGES[name], reason=f"needs pip install {PACKAGES[name]}")
    assert run_forked(IMPORTED.format(name=name)).split() == ["False", f"fastsel.{name}", "True"]


@pytest.mark.parametrize(
    ("expression", "package", "text"),
    [
        ("fastsel.dask", "dask", 'pip install "dask[array]"'),
        ("from fastsel import dask", "dask", 'pip install "dask[array]"'),
        ("fastsel.sparse", "scipy", "pip install scipy"),
        ("fastsel.onnx.OPS", "onnx", "pip install onnx"),
        ("fastsel.onnx.onnxruntime_session", "onnxruntime", "pip install onnx onnxruntime"),
    ],
)
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    expression, package, text, run_forked
):
    printed = run_forked(MISSING.format(expression=expression, package=package))
    assert text in printed


def test_other_names_are_no_attributes():
    assert not hasattr(fastsel, "pandas")
    with pytest.raises(AttributeError, match="module 'fastsel' has no attribute 'uniqe'"):
        fastsel.uniqe  # noqa: B018
