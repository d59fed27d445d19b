"""The plugin for NumPy's tests counts the tests that call fastsel; the run fails if a function or a
file has none."""

import os
from pathlib import Path

import pytest
from operators import ONE_ARRAY_NAMES, TWO_ARRAY_NAMES

FOLDER = Path(__file__).parent

EVERY_CALL = f"""
import numpy as np
from numpy import nonzero
from fastsel import _patch

def test_of_one_array():
    assert _patch.is_patched()
    for name in {[name for name in ONE_ARRAY_NAMES if name != "nonzero"]}:
        getattr(np, name)([0, 1])
    nonzero([0, 1])

def test_of_two_arrays():
    for name in {TWO_ARRAY_NAMES}:
        getattr(np, name)([0, 1], [1, 2])

def test_nothing():
    assert np.add(1, 1) == 2
"""
NO_CALL = "def test_nothing():\n    assert 'nonzero'\n"


@pytest.fixture
def run_suite(run_python, tmp_path):
    """A function that runs test files with the plugin and returns the exit status and output."""

    def run(**files):
        for name, text in files.items():
            (tmp_path / f"test_{name}.py").write_text(text)
        arguments = ["-c", os.devnull, "--rootdir", str(tmp_path), str(tmp_path)]
        code = f"""
import sys
sys.path.insert(0, {str(FOLDER)!r})
import numpy_suite, pytest
print("status", int(pytest.main({arguments}, plugins=[numpy_suite])))
"""
        printed = run_python(code, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
        return int(printed.split()[-1]), printed

    return run


def test_tests_that_call_fastsel_are_counted(run_suite):
    status, printed = run_suite(calls=EVERY_CALL)
    assert status == 0
    assert "1 tests called nonzero" in printed
    assert "1 tests called unique_values" in printed
    assert "2 of     3 in all" in printed


def test_function_that_no_test_calls_fails_the_run(run_suite):
    status, printed = run_suite(none=NO_CALL)
    assert status == 1
    assert "no test has reached nonzero" in printed


def test_file_without_a_call_fails_the_run(run_suite):
    status, printed = run_suite(calls=EVERY_CALL, none=NO_CALL)
    assert status == 1
    assert "no test has reached test_none.py" in printed


def test_failed_test_fails_the_run(run_suite):
    status, _ = run_suite(calls=EVERY_CALL + "    assert False\n")
    assert status == 1
