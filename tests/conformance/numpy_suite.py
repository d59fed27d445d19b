"""The tests of the installed NumPy, with fastsel's functions in NumPy's place.

A pytest plugin, and the command that runs the tests with it:

    python tests/conformance/numpy_suite.py [arguments for pytest]

NumPy is patched before any test module is imported. The plugin counts and prints the tests that
called each function. The run fails if a test fails, if a function is called by no test, or if a
file has no test that calls a function. In the first run, small arrays reach the kernels of large
arrays. Tests that called a function run again with fastsel as installed, where NumPy serves tiny
arrays.
"""

import functools
import os
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import fastsel
from fastsel import _patch

sys.path.append(str(Path(__file__).parents[1] / "shared"))
from forcing import TUNING

FILES = (
    "numpy.lib.tests.test_arraysetops",
    "numpy.lib.tests.test_function_base",
    "numpy._core.tests.test_numeric",
    "numpy._core.tests.test_multiarray",
    "numpy._core.tests.test_indexing",
    "numpy._core.tests.test_regression",
    "numpy._core.tests.test_stringdtype",
    "numpy._core.tests.test_multithreading",
    "numpy.ma.tests.test_core",
    "numpy.ma.tests.test_extras",
)

# Classes and functions that take seconds, or have thousands of tests, and never call fastsel:
# products of matrices, ctypes, reference cycles, pickles, files, arithmetic of masked arrays,
# promotion of types, sorts, percentiles of fractions. And test_count_nonzero_all, which calls
# count_nonzero half a million times; test_count_nonzero has a part of its arrays.
SLOW = {
    "test_count_nonzero_all",
    "test_percentile_gh_29003_Fraction",
    "TestDot",
    "TestCTypes",
    "TestLeaks",
    "TestPickling",
    "TestIO",
    "TestMaskedArrayArithmetic",
    "TestTypes",
    *(f"test_{sort}_int" for sort in ("sort", "argsort", "partition", "argpartition")),
    *("test_sort_float", "test_argsort_float", "test_partition_fp", "test_argpartition_fp"),
}

# Tests that NumPy 2.5 changed. Since NumPy 2.5, all missing strings are one value if None stands
# for them, as in fastsel.
if np.lib.NumpyVersion(np.__version__) < "2.5.0":
    CHANGED = {"test_unique_vstring_hash_based_not_equal_nan"}
else:
    CHANGED = set()

patch = pytest.MonkeyPatch()
calling_tests = set()  # ids of tests that called a function of fastsel: only these run as installed
called_functions = set()  # names of the functions that the current test has called
tests_of = Counter()  # function -> tests that called it
tests_in = Counter()  # file -> tests that called a function of fastsel
collected_in = Counter()  # file -> tests


def counted(function):
    """`function`, which adds its name to `called_functions` in each call."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        called_functions.add(function.__name__)
        return function(*args, **kwargs)

    return call


def file_of(item):
    return item.nodeid.partition("::")[0]


def pytest_addoption(parser):
    parser.addoption(
        "--as-installed", action="store_true", help="leave tiny arrays to NumPy, as for users"
    )


def pytest_configure(config):
    if not config.getoption("as_installed"):
        for name, value in TUNING:
            patch.setattr(name, value)
        fastsel.set_num_threads(3)
    for name, function in [*_patch.OURS.items()]:
        patch.setitem(_patch.OURS, name, counted(function))
    fastsel.patch_numpy()


def pytest_unconfigure():
    fastsel.unpatch_numpy()
    fastsel.set_num_threads(None)
    patch.undo()


def _names(item):
    """The names of the test's class, if it has one, and function."""
    return {kind.__name__ for kind in (item.cls, item.function) if kind}


def pytest_collection_modifyitems(config, items):
    deselected = [item for item in items if _names(item) & SLOW]
    if config.getoption("as_installed") and calling_tests:
        deselected = [item for item in items if item.nodeid not in calling_tests]
    left_out = {*deselected, *(item for item in items if item.name in CHANGED)}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]
    for counter in (tests_of, tests_in, collected_in):
        counter.clear()
    collected_in.update(map(file_of, items))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    called_functions.clear()
    try:
        return (yield)
    finally:
        tests_of.update(called_functions)
        if called_functions:
            calling_tests.add(item.nodeid)
        tests_in[file_of(item)] += bool(called_functions)


def unreached():
    """Functions that no test called, and files of which no test called a function."""
    return [name for name in _patch.OURS if not tests_of[name]] + [
        file for file in collected_in if not tests_in[file]
    ]


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session, exitstatus):
    if exitstatus == pytest.ExitCode.OK and unreached():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    write = terminalreporter.write_line
    terminalreporter.section(f"NumPy {np.__version__}'s tests that called fastsel")
    for name, count in tests_of.most_common():
        write(f"{count:6} tests called {name}")
    for name, count in collected_in.items():
        write(f"{tests_in[name]:6} of {count:5} in {name}")
    write(f"{tests_in.total():6} of {collected_in.total():5} in all")
    for name in unreached():
        write(f"ERROR: no test has reached {name}", red=True)


def main(arguments):
    """Run NumPy's tests twice, with lowered thresholds and then as installed, without the pytest
    settings of this project."""
    settings = ["-c", os.devnull, "--rootdir", str(Path(np.__file__).parent), "-q"]
    settings += ["-p", "no:cacheprovider", "--disable-warnings"]
    plugins = [sys.modules[__name__]]
    for mode in ([], ["--as-installed"]):
        status = pytest.main([*settings, *mode, *arguments, "--pyargs", *FILES], plugins=plugins)
        if status != pytest.ExitCode.OK:
            break
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
