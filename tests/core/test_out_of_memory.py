"""Each allocation of each call fails in turn: the call raises an error or returns the right
result, nothing leaks, and the next call returns the right result."""

import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest
from grids import slow
from operators import cases

SHARED = str(Path(__file__).parents[1] / "shared")
CALLS = cases("calls") | cases("calls_for_fewer_dtypes")
COMPILER = shutil.which("gcc") or shutil.which("cc")
pytestmark = [
    pytest.mark.skipif(
        platform.libc_ver()[0] != "glibc" or not COMPILER,
        reason="needs glibc and a C compiler, to replace malloc",
    ),
    pytest.mark.skipif(
        "LD_PRELOAD" in os.environ, reason="another library may have replaced malloc"
    ),
]

SWEEP = """
import ctypes, functools, gc, sys
import numpy as np
import fastsel, fastsel._unique._plan, fastsel._core._gate
import fastsel._core._threads
from operators import cases
from fastsel._unique import _keys
from fastsel._unique.small_arrays import unique_of_few
from fastsel._unique.groups import Request

fastsel._core._threads.MIN_CHUNK_BYTES = 1
fastsel._core._gate.TINY_ITEMS = 0
fastsel._unique._plan.UNSAMPLED_ITEMS = fastsel._unique._plan.MAX_FOR_NUMPY = 0
shim = ctypes.CDLL(None)
shim.fm_arm.argtypes = ctypes.c_long, ctypes.c_int
shim.fm_disarm.restype = shim.fm_in_use.restype = ctypes.c_long
# NumPy's unique throws std::bad_alloc. The first C++ exception of a thread allocates memory, and
# glibc ends the process if this allocation fails.
ctypes.CDLL("libstdc++.so.6").__cxa_get_globals()

gc.freeze()  # gc.collect() after a call must free nothing that the imports have made
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

def forced(algorithm, function, *arguments, **keywords):
    def call():
        token = fastsel._unique._plan.FORCED.set(algorithm)
        try:
            return function(*arguments, **keywords)
        finally:
            fastsel._unique._plan.FORCED.reset(token)
    return call

def few(array, *wanted):
    rule = _keys.loaded_rule(array.dtype, True)
    return unique_of_few(array, rule, _keys.SEEDS, Request(*wanted), None)

few_repeated = np.append(many[:2000] * 2**40, many[:9] * 2**40)
ALL = dict(return_index=True, return_inverse=True, return_counts=True)
calls = cases("calls") | cases("calls_for_fewer_dtypes")
calls = {name: functools.partial(call, fastsel, array) for name, call in calls.items()}
calls |= {
    "first_nonzero": lambda: fastsel.first_nonzero(np.zeros((300, 7))[:, ::2]),
    "first_nonzero_axis": lambda: fastsel.first_nonzero(array, axis=0),
    "nonzero_coordinates_objects": lambda: fastsel.nonzero_coordinates(objects[:500]),
    "gather_nd": lambda: fastsel.gather_nd(array, indices),
    "gather_nd_out": lambda: fastsel.gather_nd(array, indices, out=out).copy(),
    "gather_nd_objects": lambda: fastsel.gather_nd(objects, indices),
    "large_result": lambda: fastsel.flatnonzero(many_ones),
    "unique": lambda: fastsel.unique(many),
    "unique_first": lambda: fastsel.unique(many[:9000], sorted=False),
    "unique_dense": lambda: fastsel.unique(many, sorted=False),
    "unique_dense_all": lambda: fastsel.unique(many % 4, **ALL),
    "unique_few": lambda: few(few_repeated[:500], True, True, True, True),
    "unique_few_values": lambda: few(few_repeated, False, False, False, True),
    "unique_few_table": lambda: few(few_repeated // 2**42, True, True, True, True),
    "unique_few_first": lambda: few(few_repeated, True, True, True, False),
    "unique_texts_in_order": lambda: fastsel.unique(np.sort(texts), **ALL),
    "unique_tables_first": forced("tables", fastsel.unique, many % 3000, sorted=False),
    "unique_sorting": forced("sorting", fastsel.unique, many),
    "unique_sorting_first": forced("sorting", fastsel.unique, many, sorted=False),
    "unique_sorting_first_all": forced("sorting", fastsel.unique, many, **ALL, sorted=False),
    "unique_sorting_all": forced("sorting", fastsel.unique, many, **ALL),
    "unique_partitions_first": forced("partitions", fastsel.unique, many // 2, sorted=False),
    "unique_in_order": forced(None, fastsel.unique, np.arange(20_000) // 2, **ALL),
    "unique_texts": lambda: fastsel.unique(texts, **ALL),
    "unique_sorted_texts": lambda: fastsel.unique(many_texts, **ALL),
    "unique_tables": forced("tables", fastsel.unique, many // 50, **ALL),
    "unique_partitions": forced("partitions", fastsel.unique, many // 2, **ALL, sorted=False),
    "unique_partitions_strings": forced("partitions", fastsel.unique, strings, **ALL),
    "unique_without_majority": forced(
        "without_majority", fastsel.unique, np.where(many % 9, 7, many << 40), **ALL
    ),
    "unique_comparison": forced("comparison", fastsel.unique, many // 2, **ALL),
    "unique_bytes": lambda: fastsel.unique(many.astype(np.uint8), **ALL),
    "unique_strings": lambda: fastsel.unique(strings, **ALL),
    "unique_rows": lambda: fastsel.unique(rows // 9, axis=0, **ALL),
    "unique_rows_of_floats": lambda: fastsel.unique(float_rows, axis=0, **ALL),
    "unique_few_strings": lambda: fastsel.unique(long_strings, **ALL),
    "unique_rows_of_bytes": lambda: fastsel.unique(wide_rows, axis=0),
    "unique_nan": lambda: fastsel.unique(missing, equal_nan=False, **ALL),
    "unique_objects": lambda: fastsel.unique(objects[:3000] // 2, sorted=False),
    "group_indices": lambda: fastsel.group_indices(many % 5),
    "group_indices_sorting": forced("sorting", fastsel.group_indices, many),
    "group_indices_in_order": forced(None, fastsel.group_indices, np.arange(20_000) // 2),
    "group_indices_partitions": forced("partitions", fastsel.group_indices, many, sorted=False),
    "isin": lambda: fastsel.isin(many, flat),
    "isin_range": lambda: fastsel.isin(many % 1000, many[:500]),
    "isin_strings": lambda: fastsel.isin(strings, long_strings),
    "isin_partitions": forced("partitions", fastsel.isin, many[:9000] << 20, many << 20),
    "isin_slices": lambda: fastsel.isin(rows[:900] // 99, rows[:50] // 99, axis=0),
    "intersect1d_slices": lambda: fastsel.intersect1d(
        float_rows[:90], float_rows[:900], return_indices=True, axis=0
    ),
    "setxor1d_slices": forced("comparison", fastsel.setxor1d, rows[:90], rows[40:200], axis=0),
    "index_in": lambda: fastsel.index_in(many, flat),
    "index_in_range": lambda: fastsel.index_in(many % 1000, many[:500]),
    "index_in_strings": lambda: fastsel.index_in(long_strings, strings),
    "index_in_few": lambda: fastsel.index_in(many, many[:5]),
    "index_in_tables": forced("tables", fastsel.index_in, many[:900], many),
    "index_in_partitions": forced("partitions", fastsel.index_in, many[:9000] << 20, many << 20),
    "remap_range": lambda: fastsel.remap(many % 1000, many[many < 1000], flat[:1000], default=-1),
    "remap_few": lambda: fastsel.remap(many % 5, np.arange(5), array[:5]),
    "remap_tables": forced("tables", fastsel.remap, many, many, many),
    "remap_more_keys": forced("tables", fastsel.remap, many[:900], many, many),
    "remap_partitions": forced("partitions", fastsel.remap, many << 20, many << 20, many),
    "remap_objects": lambda: fastsel.remap(many[:500], many, objects),
    "intersect1d_tables": forced("tables", fastsel.intersect1d, many, many[:900], True, True),
    "union1d": lambda: fastsel.union1d(flat, many),
    "setdiff1d": lambda: fastsel.setdiff1d(missing, missing[:500]),
    "setxor1d": forced("partitions", fastsel.setxor1d, many[:9000], many[:300]),
}

def same(result, expected):
    if isinstance(expected, tuple):
        return len(result) == len(expected) and all(map(same, result, expected))
    result, expected = np.asarray(result), np.asarray(expected)
    return result.dtype == expected.dtype and np.array_equal(
        result, expected, equal_nan=expected.dtype.kind == "f"
    )

def sweep(call, expected, all_later):
    n = 1
    while True:
        fastsel.release_memory()
        shim.fm_arm(n, all_later)
        try:
            result = call()
        except MemoryError:
            result = None
        except SystemError as error:  # NumPy's reductions and fancy indexing set no exception
            assert "exception" in str(error)
            result = None
        allocations = shim.fm_disarm()
        assert result is None or same(result, expected), n
        result = call()
        assert same(result, expected), n
        del result
        if allocations < n:
            return n - 1
        n += 1

def check(call, all_later):
    expected = call()
    failures = sweep(call, expected, all_later)
    gc.collect()
    fastsel.release_memory()
    before = shim.fm_in_use()
    sweep(call, expected, all_later)
    gc.collect()
    fastsel.release_memory()
    leaked = shim.fm_in_use() - before
    assert leaked < 20_000, leaked
    return failures

def check_all(ways):
    "Check each call in one of the ways; the calls use the ways in turn."
    for k, (name, call) in enumerate(calls.items()):
        threads, all_later = ways[k % len(ways)]
        try:
            with fastsel.threads(threads):
                print(name, check(call, all_later))
        except BaseException as error:
            error.add_note(f"in {name}")
            raise
"""
# The number of threads, and whether all allocations after the failed one fail, too.
WAYS = [(1, False), (2, True), (2, False), (1, True)]


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    library = tmp_path_factory.mktemp("shim") / "failing_malloc.so"
    source = Path(__file__).with_name("failing_malloc.c")
    subprocess.run([COMPILER, "-O1", "-shared", "-fPIC", source, "-o", library], check=True)
    return str(library)


@pytest.mark.parametrize("ways", [WAYS, *(slow([way]) for way in WAYS)], ids=str)
def test_each_allocation_fails_and_the_next_call_works(ways, shim, run_python):
    code = f"import sys\nsys.path.append({SHARED!r})\n{SWEEP}check_all({ways})"
    failures = [
        int(line.rsplit(maxsplit=1)[1]) for line in run_python(code, LD_PRELOAD=shim).splitlines()
    ]
    assert len(failures) > len(CALLS)
    # A few calls have fewer than 10 allocations: NumPy caches small arrays.
    assert sum(failures) > 10 * len(failures)
