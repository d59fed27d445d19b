"""Every allocation of every function fails once: MemoryError, nothing kept, the next call works."""

import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

CALLS = 41
COMPILER = shutil.which("gcc") or shutil.which("cc")
pytestmark = [
    pytest.mark.skipif(
        platform.libc_ver()[0] != "glibc" or not COMPILER,
        reason="malloc is replaced by way of glibc and a C compiler",
    ),
    pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="a sanitizer has replaced malloc"),
]

SWEEP = """
import ctypes, gc, sys
import numpy as np
import fastsel, fastsel._distinct, fastsel._engines, fastsel._selection, fastsel._small
import fastsel._threads
from fastsel._kernels import results, scratch

fastsel._threads.MIN_SLICE_BYTES = 1
fastsel._selection.TINY_ITEMS = fastsel._distinct.TINY_ITEMS = 0
fastsel._small.SORTED_ITEMS = fastsel._small.PLACED_ITEMS = fastsel._small.FEW_ITEMS = 0
fastsel._small.MOST_FIRSTS = {}
shim = ctypes.CDLL(None)
shim.fm_arm.argtypes = ctypes.c_long, ctypes.c_int
shim.fm_disarm.restype = shim.fm_in_use.restype = ctypes.c_long

rng = np.random.default_rng(1)
array = rng.integers(0, 2, (300, 7)) * rng.integers(0, 1000, (300, 7))
flat = array.ravel()
many = rng.permutation(20_000)
many_ones = np.ones(5_000_000, bool)
strings = many[:3000].astype("S7")
rows = many.reshape(-1, 2)
float_rows, long_strings = rows / 7, strings[:200].astype("S9")
wide_rows = rng.integers(0, 3, (9000, 9)).astype(np.uint8)
indices = rng.integers(-300, 300, (999, 1))
objects = many.astype(object)
texts = np.array([f"text {k}" for k in range(500)], object)
many_texts = np.array([f"text {k}" for k in range(2500)], object)
missing = np.where(many % 3 == 0, np.nan, many)
out = np.empty((999, 7), array.dtype)

def forced(engine, function, *arguments, **keywords):
    def call():
        fastsel._engines.FORCE_ENGINE = engine
        return function(*arguments, **keywords)
    return call

def kernel(name, *arguments):
    function = getattr(getattr(fastsel._small, name.split(".")[0]), name.split(".")[1])
    return lambda: tuple(output for output in function(*arguments) if output is not None)

RULES = (2**64 - 1, 2**64 - 1, 0, False), (2**63, 0, 0)
few_repeated = np.append(many[:2000] * 2**40, many[:9] * 2**40)
ALL = dict(return_index=True, return_inverse=True, return_counts=True)
calls = {
    "nonzero": lambda: fastsel.nonzero(array),
    "flatnonzero": lambda: fastsel.flatnonzero(array[:, ::2]),
    "argwhere": lambda: fastsel.argwhere(array),
    "count_nonzero_axis": lambda: fastsel.count_nonzero(array, axis=0),
    "nonzero_coordinates": lambda: fastsel.nonzero_coordinates(array),
    "nonzero_coordinates_objects": lambda: fastsel.nonzero_coordinates(objects[:500]),
    "compress": lambda: fastsel.compress(array[:, 1], array, axis=0),
    "extract": lambda: fastsel.extract(array, array),
    "boolean_mask": lambda: fastsel.boolean_mask(array, array > 500),
    "gather_nd": lambda: fastsel.gather_nd(array, indices),
    "gather_nd_out": lambda: fastsel.gather_nd(array, indices, out=out).copy(),
    "gather_nd_objects": lambda: fastsel.gather_nd(objects, indices),
    "large_result": lambda: fastsel.flatnonzero(many_ones),
    "unique": lambda: fastsel.unique(many),
    "unique_first": lambda: fastsel.unique(many[:9000], sorted=False),
    "unique_flags": lambda: fastsel.unique(many, sorted=False),
    "unique_few_words": lambda: fastsel.unique(many % 4, sorted=False),
    "unique_pairs": kernel("pairs.unique", few_repeated, *RULES, True, True, True),
    "unique_repeated": kernel("smallsort.firsts", few_repeated, True, 0xC2B2AE3500000001),
    "unique_small_sort": lambda: fastsel._small.smallsort.unique(many[:3000], 4000, 0, 4000),
    "unique_texts_in_order": lambda: fastsel.unique(np.sort(texts), **ALL),
    "unique_words": forced("words", fastsel.unique, many, sorted=False),
    "unique_ranges": forced("ranges", fastsel.unique, many),
    "unique_ranges_first": forced("ranges", fastsel.unique, many, **ALL, sorted=False),
    "unique_ranges_placed": forced("ranges", fastsel.unique, many, **ALL),
    "unique_partitions_first": forced("partitions", fastsel.unique, many // 2, sorted=False),
    "unique_in_order": forced(None, fastsel.unique, np.arange(20_000) // 2, **ALL),
    "unique_texts": lambda: fastsel.unique(texts, **ALL),
    "unique_sorted_texts": lambda: fastsel.unique(many_texts, **ALL),
    "unique_tables": forced("tables", fastsel.unique, many // 50, **ALL),
    "unique_partitions": forced("partitions", fastsel.unique, many // 2, **ALL, sorted=False),
    "unique_partitions_strings": forced("partitions", fastsel.unique, strings, **ALL),
    "unique_sort": forced("sort", fastsel.unique, many // 2, **ALL),
    "unique_bytes": lambda: fastsel.unique(many.astype(np.uint8), **ALL),
    "unique_strings": lambda: fastsel.unique(strings, **ALL),
    "unique_rows": lambda: fastsel.unique(rows // 9, axis=0, **ALL),
    "unique_rows_of_floats": lambda: fastsel.unique(float_rows, axis=0, **ALL),
    "unique_few_strings": lambda: fastsel.unique(long_strings, **ALL),
    "unique_rows_of_bytes": lambda: fastsel.unique(wide_rows, axis=0),
    "unique_nan": lambda: fastsel.unique(missing, equal_nan=False, **ALL),
    "unique_objects": lambda: fastsel.unique(objects[:3000] // 2, sorted=False),
}

def same(found, expected):
    if isinstance(expected, tuple):
        return len(found) == len(expected) and all(map(same, found, expected))
    return np.array_equal(found, expected, equal_nan=np.asarray(expected).dtype.kind == "f")

def sweep(call, expected, all_later):
    n = 1
    while True:
        scratch.drop(), results.drop()
        shim.fm_arm(n, all_later)
        try:
            result = call()
        except MemoryError:
            result = None
        except SystemError as error:  # NumPy's reductions and fancy indexing forget to set one
            assert "exception" in str(error)
            result = None
        seen = shim.fm_disarm()
        assert result is None or same(result, expected), n
        result = call()
        assert same(result, expected), n
        del result
        if seen < n:
            return n - 1
        n += 1

def check(call, all_later):
    expected = call()
    points = sweep(call, expected, all_later)
    gc.collect()
    scratch.drop(), results.drop()
    before = shim.fm_in_use()
    sweep(call, expected, all_later)
    gc.collect()
    scratch.drop(), results.drop()
    kept = shim.fm_in_use() - before
    assert kept < 20_000, kept
    return points

def check_all(threads, all_later):
    with fastsel.threads(threads):
        for name, call in calls.items():
            try:
                print(name, check(call, all_later))
            except BaseException as error:
                error.add_note(f"in {name}")
                raise
"""


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    library = tmp_path_factory.mktemp("shim") / "failing_malloc.so"
    source = Path(__file__).with_name("failing_malloc.c")
    subprocess.run([COMPILER, "-O1", "-shared", "-fPIC", source, "-o", library], check=True)
    return str(library)


@pytest.mark.parametrize("all_later", [False, True], ids=["one_fails", "all_later_fail"])
@pytest.mark.parametrize("threads", [1, 2])
def test_each_allocation_fails(threads, all_later, shim, run_python):
    code = f"{SWEEP}check_all({threads}, {all_later})"
    points = [int(line.split()[1]) for line in run_python(code, 300, LD_PRELOAD=shim).splitlines()]
    assert len(points) == CALLS
    assert sum(points) > 10 * CALLS  # the small arrays of a few calls come from NumPy's own cache
