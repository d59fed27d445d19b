"""onnx's own backend tests of the four operators, by its runner, on fastsel's Backend."""

import importlib
import re
import warnings

import pytest

import fastsel.onnx

runner = pytest.importorskip("onnx.backend.test.runner", reason="needs pip install onnx")

FAMILIES = ("nonzero", "compress", "unique", "gathernd")


def import_ours(package):
    for family in FAMILIES:
        importlib.import_module(f"{package.__name__}.{family}")


def backend_tests():
    """The runner's tests of our operators on the CPU, by name."""
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        # The cases of all of onnx's operators, of convolutions among them, would take seconds.
        patch.setattr("onnx.backend.test.loader.import_recursive", import_ours, raising=False)
        nodes = runner.Runner(fastsel.onnx.Backend).test_cases["OnnxBackendNodeModelTest"]
    pattern = re.compile(rf"test_({'|'.join(FAMILIES)})_.*_cpu$")
    return {name: test for name, test in vars(nodes).items() if pattern.match(name)}


TESTS = backend_tests()


@pytest.mark.parametrize("name", TESTS)
def test_onnx(name):
    TESTS[name](None)


def test_every_family_is_there():
    assert len(TESTS) >= 16  # the number in onnx 1.23
    for family in FAMILIES:
        assert any(name.startswith(f"test_{family}_") for name in TESTS)


def test_the_runner_runs_our_operators(monkeypatch):
    """A test fails once an operator of ours gives a wrong answer."""
    monkeypatch.setattr("fastsel.onnx._operators.non_zero", lambda X: fastsel.nonzero(X)[0][None])
    with pytest.raises(AssertionError):
        TESTS["test_nonzero_example_cpu"](None)
