"""Programs that use a library print the same without fastsel and with it. NumPy is patched before
or after the library is imported, only during this import, only before it, or by ``fastsel run``.
Some of the libraries compile NumPy's functions, key tables by them or override them."""

import functools
import importlib.util
import itertools
import os
import subprocess
import sys

import pytest

# library: a program that calls functions of NumPy and of the library, and prints the results
PROGRAMS = {
    "numba": """
import numba

@numba.njit
def compiled(a):
    return np.nonzero(a), np.flatnonzero(a), np.argwhere(a), np.count_nonzero(a), np.unique(a)

@numba.njit
def called(a):
    return nonzero(a), count_nonzero(a), unique(a)

for a in (np.array([2, 0, 1, 2]), np.array([0.5, 0.0])):
    print(compiled(a), called(a))
""",
    "astropy": """
from astropy import units
from astropy.utils.masked import Masked

masked = Masked(np.array([1.0, 0.0, 3.0, 3.0]), mask=[True, False, False, False])
lengths = np.array([3.0, 0.0, 3.0]) * units.m
for a in (masked, lengths, Masked(lengths, mask=[False, False, True])):
    print(np.count_nonzero(a), np.nonzero(a), np.flatnonzero(a), np.argwhere(a))
    print(repr(np.unique(a)), repr(np.compress([1, 0, 1], a)), repr(np.extract([1, 0, 1], a)))
    print(count_nonzero(a), nonzero(a), repr(unique(a)))
""",
    "dask": """
import dask.array

a = dask.array.from_array(np.array([2, 0, 1, 2]), chunks=2)
for result in (np.unique(a), np.count_nonzero(a), np.flatnonzero(a), *np.nonzero(a), np.argwhere(a),
               np.compress([1, 0, 1], a), np.extract([1, 0, 1, 1], a), unique(a), nonzero(a)[0]):
    print(type(result).__module__, result.compute())
""",
    "xarray": """
import xarray

a = xarray.DataArray(np.array([2, 0, 1, 2]), dims="x")
print(a[a > 0].values, np.unique(a), np.count_nonzero(a), np.flatnonzero(a), a.groupby(a).sum())
""",
    "pandas": """
import pandas

series = pandas.Series([2, 0, 1, 2])
print(series[series > 0], series.unique(), np.unique(series), np.flatnonzero(series))
print(np.count_nonzero(series), series.value_counts(), np.compress([1, 0, 1], series))
print(series.to_frame("a").merge(series.to_frame("a")), pandas.Categorical(list("bab")))
""",
    "sklearn": """
from sklearn.preprocessing import LabelEncoder, OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

a = np.arange(20) % 3
print(LabelEncoder().fit_transform(["b", "a", "b"]), OneHotEncoder().fit_transform(a[:, None]))
print(DecisionTreeClassifier().fit(a[:, None], a).predict(a[:, None]))
""",
    "scipy": """
from scipy import ndimage, sparse, stats

a = np.array([[2, 0], [1, 2]])
print(sparse.csr_array(a).nonzero(), sparse.coo_array(a), stats.rankdata(a))
print(stats.mode(a, axis=None))
print(ndimage.label(a), ndimage.find_objects(a))
""",
}
PACKAGES = {"sklearn": "scikit-learn", "dask": '"dask[array]"', "numba": "numba"}
HEAD = "import numpy as np\nfrom numpy import count_nonzero, nonzero, unique\n"
ORDERS = {
    "patched_first": "import fastsel\nfastsel.patch_numpy()\n{head}{program}",
    "patched_last": "{head}{imports}import fastsel\nfastsel.patch_numpy()\n{program}",
    "patched_and_unpatched": "{head}import fastsel\nwith fastsel.patched():\n    pass\n{program}",
    "imported_while_patched": (
        "{head}import fastsel\nwith fastsel.patched():\n    import {library}\n{program}"
    ),
}


def output_of_python(*arguments):
    """The output of Python in a new process."""
    done = subprocess.run(
        [sys.executable, "-P", "-W", "ignore", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@functools.cache
def output_without_fastsel(library):
    """The output of the library's program without fastsel."""
    return output_of_python("-c", HEAD + PROGRAMS[library])


@pytest.mark.parametrize(
    ("library", "order"),
    [
        # pandas always runs: it is imported in little time.
        pytest.param(library, order, marks=() if library == "pandas" else pytest.mark.slow)
        for library, order in itertools.product(PROGRAMS, [*ORDERS, "run"])
    ],
)
def test_every_order_of_imports_prints_the_same(library, order, tmp_path):
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"needs pip install {PACKAGES.get(library, library)}")
    program = PROGRAMS[library]
    assert output_without_fastsel(library)
    if order != "run":
        imports = "\n".join(line for line in program.splitlines() if "import" in line) + "\n"
        code = ORDERS[order].format(head=HEAD, program=program, imports=imports, library=library)
        assert output_of_python("-c", code) == output_without_fastsel(library)
        return
    script = tmp_path / "script.py"
    script.write_text(HEAD + program)
    assert output_of_python("-m", "fastsel", "run", str(script)) == output_without_fastsel(library)
