"""Tests of libraries with NumPy patched; each call is compared with NumPy's.

A pytest plugin, and the command that runs the tests that call the functions most often:

    python tests/conformance/library_suites.py [arguments for pytest]

Small arrays reach the kernels. The run fails if a call differs, if a test fails, or if a function
in REACHED is called by no test.
"""

import os
import pkgutil
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import fastsel
from fastsel import _patch
from fastsel._core import _numpy

sys.path.append(str(Path(__file__).parents[1] / "shared"))
from forcing import TUNING

FILES = (
    "pandas.tests.test_algos",
    "pandas.tests.arrays.categorical",
    "pandas.tests.reshape.merge.test_merge",
    "pandas.tests.reshape.test_cut",
    "pandas.tests.indexes.multi",
    "sklearn.preprocessing.tests.test_label",
    "sklearn.preprocessing.tests.test_encoders",
    "sklearn.utils.tests.test_multiclass",
    "sklearn.utils.tests.test_unique",
    "sklearn.metrics.tests.test_ranking",
    "sklearn.model_selection.tests.test_split",
    "scipy.stats.tests.test_stats",
    "scipy.ndimage.tests.test_measurements",
    "scipy.cluster.tests.test_hierarchy",
    "scipy.sparse.csgraph.tests",
    "numpy.ma.tests",
    "astropy.table.tests.test_groups",
    "astropy.table.tests.test_index",
    "astropy.table.tests.test_masked",
    "astropy.table.tests.test_np_utils",
    "astropy.table.tests.test_operations",
    "astropy.table.tests.test_table",
    "astropy.units.tests.test_quantity",
    "astropy.units.tests.test_quantity_array_methods",
    "astropy.units.tests.test_quantity_non_ufuncs",
    "astropy.units.tests.test_structured",
    "astropy.utils.masked.tests",
    "unyt.tests.test_array_functions",
    "unyt.tests.test_subclass",
    "unyt.tests.test_unyt_array",
    "xarray.tests.test_combine",
    "xarray.tests.test_concat",
    "xarray.tests.test_dataarray",
    "xarray.tests.test_duck_array_ops",
    "xarray.tests.test_groupby",
    "xarray.tests.test_indexing",
    "xarray.tests.test_missing",
    "xarray.tests.test_variable",
)
# With polars 2, xarray's TestArrowPyCapsule fails, also with NumPy's own functions.
CHOSEN = "not TestArrowPyCapsule"
# Functions that the tests must call.
REACHED = ("nonzero", "flatnonzero", "count_nonzero", "unique", "argwhere")

calls = Counter()
differences = Counter()


def outcome(function, args, kwargs):
    try:
        return function(*args, **kwargs), None
    except Exception as error:
        return None, error


def is_same(ours, theirs):
    """Whether class, dtype, shape and the text of the items are equal; NaN equals NaN."""
    if type(theirs) is int:  # count_nonzero returns int before NumPy 2.3
        theirs = np.intp(theirs)
    if type(ours) is not type(theirs):
        return False
    if isinstance(theirs, tuple):
        return len(ours) == len(theirs) and all(map(is_same, ours, theirs))
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
        return False
    return repr(ours.tolist()) == repr(theirs.tolist())


def compared(name):
    """A function that calls fastsel's function, and compares each call with NumPy's function."""
    ours, theirs = _patch.OURS[name], getattr(_numpy, name)

    def call(*args, **kwargs):
        result, error = outcome(ours, args, kwargs)
        expected, their_error = outcome(theirs, args, kwargs)
        calls[name] += 1
        if name == "unique_values" or not kwargs.get("sorted", True):
            our_items, their_items = np.sort(result, axis=None), np.sort(expected, axis=None)
        else:
            our_items, their_items = result, expected
        if name.startswith("unique_") and error is None:  # the named tuples differ in their class
            our_items, their_items = map(tuple, (our_items, their_items))
        if type(error) is not type(their_error) or not is_same(our_items, their_items):
            test = os.environ.get("PYTEST_CURRENT_TEST", "")
            differences[
                f"{name}: {result!r} {error!r}, not {expected!r} {their_error!r}: {test}"
            ] += 1
        if error is not None:
            raise error
        return result

    return call


def pytest_configure(config):
    for name, value in TUNING:
        module, _, attribute = name.rpartition(".")
        setattr(pkgutil.resolve_name(module), attribute, value)
    fastsel.set_num_threads(3)
    _patch.OURS.update({name: compared(name) for name in _patch.OURS})
    fastsel.patch_numpy()


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session, exitstatus):
    if exitstatus == pytest.ExitCode.OK and (differences or not all(map(calls.get, REACHED))):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    write = terminalreporter.write_line
    terminalreporter.section("calls that were compared with NumPy's")
    for name, count in calls.most_common():
        write(f"{count:8} calls of {name}")
    write(f"{differences.total():8} differ")
    for difference in differences:
        write(f"DIFFERS: {difference}", red=True)
    for name in REACHED:
        if not calls[name]:
            write(f"ERROR: no test has reached {name}", red=True)


def main(arguments):
    """Run the tests of the libraries, without the pytest settings of this project."""
    settings = ["-c", os.devnull, "--rootdir", os.getcwd(), "-q", "-p", "no:cacheprovider"]
    settings += ["--disable-warnings", "--tb=short", "-k", CHOSEN]
    return pytest.main([*settings, *arguments, "--pyargs", *FILES], plugins=[sys.modules[__name__]])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
