"""onnx's own backend tests of the four operators, run by onnx's runner on fastsel's Backend."""

import importlib
import re
import warnings

import pytest

import fastsel.onnx

runner = pytest.importorskip("onnx.backend.test.runner", reason="needs pip install onnx")

FAMILIES = ("nonzero", "compress", "unique", "gathernd")


def import_families(package):
    for family in FAMILIES:
        importlib.import_module(f"{package.__name__}.{family}")


def backend_tests():
    """The runner's tests of the four operators on the CPU, by name."""
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        # Importing the cases of all operators of onnx, such as convolutions, would take seconds.
        patch.setattr("onnx.backend.test.loader.import_recursive", import_families, raising=False)
        nodes = runner.Runner(fastsel.onnx.Backend).test_cases["OnnxBackendNodeModelTest"]
    pattern = re.compile(rf"test_({'|'.join(FAMILIES)})_.*_cpu$")
    return {name: test for name, test in vars(nodes).items() if pattern.match(name)}


TESTS = backend_tests()


@pytest.mark.parametrize("name", TESTS)
def test_backend_passes_the_test_of_onnx(name):
    TESTS[name](None)


def test_every_operator_has_tests():
    assert len(TESTS) >= 16  # the number in onnx 1.23
    for family in FAMILIES:
        assert any(name.startswith(f"test_{family}_") for name in TESTS)


def test_wrong_result_of_fastsel_fails_a_test(monkeypatch):
    monkeypatch.setattr("fastsel.onnx._operators.non_zero", lambda X: fastsel.nonzero(X)[0][None])
    with pytest.raises(AssertionError):
        TESTS["test_nonzero_example_cpu"](None)
