"""The types that type checkers infer for calls of fastsel.dask. dask's functions have no types."""

import importlib
from typing import assert_type

import dask.array as da
import numpy as np

import fastsel.dask

Arrays = tuple[da.Array, ...]

numbers: da.Array = importlib.import_module("dask.array").arange(6, chunks=2)
table: da.Array = importlib.import_module("dask.array").ones((4, 3), chunks=2)

assert_type(fastsel.dask.nonzero(table), Arrays)
assert_type(fastsel.dask.flatnonzero(table), da.Array)
assert_type(fastsel.dask.argwhere([1, 0]), da.Array)
assert_type(fastsel.dask.count_nonzero(table, (0, 1), keepdims=True), da.Array)
assert_type(fastsel.dask.first_nonzero(table, (0, 1), keepdims=True), da.Array)
result = fastsel.dask.nonzero_coordinates(table, n="effective", dtype=np.int64)
assert_type(result, fastsel.dask.NonzeroCoordinates)
assert_type(result.coordinates, da.Array)
assert_type(fastsel.dask.compress([1, 0, 1], table, axis=0), da.Array)
assert_type(fastsel.dask.extract(table, table), da.Array)
assert_type(fastsel.dask.boolean_mask(numbers, [True] * 6), da.Array)
assert_type(fastsel.dask.gather_nd(table, [[0, 1]]), da.Array)
assert_type(fastsel.dask.unique(numbers), da.Array)
assert_type(fastsel.dask.unique(table, axis=0, sorted=False, partitions=2), da.Array)
assert_type(fastsel.dask.unique(numbers, True), Arrays)
assert_type(fastsel.dask.unique(numbers, False, True, split_every=4), Arrays)
assert_type(fastsel.dask.unique(numbers, return_inverse=True), Arrays)
assert_type(fastsel.dask.unique(numbers, return_index=True, return_counts=True), Arrays)
assert_type(fastsel.dask.unique_all(numbers).inverse_indices, da.Array)
assert_type(fastsel.dask.unique_counts(numbers).counts, da.Array)
assert_type(fastsel.dask.unique_inverse(numbers).values, da.Array)
assert_type(fastsel.dask.unique_values(numbers), da.Array)
assert_type(fastsel.dask.group_indices(table, 0, partitions=2), fastsel.dask.GroupIndices)
assert_type(fastsel.dask.group_indices(numbers).indices, da.Array)
assert_type(fastsel.dask.isin(numbers, [1, 2], invert=True, kind="sort"), da.Array)
assert_type(fastsel.dask.isin(table, table, axis=0), da.Array)
assert_type(fastsel.dask.union1d(table, table, axis=0), da.Array)
assert_type(fastsel.dask.index_in(table, table, axis=0), da.Array)
assert_type(fastsel.dask.remap(numbers, [1], [2], default=numbers), da.Array)
assert_type(fastsel.dask.intersect1d(numbers, [1, 2]), da.Array)
assert_type(
    fastsel.dask.intersect1d(numbers, [1, 2], return_indices=True),
    tuple[da.Array, da.Array, da.Array],
)
assert_type(fastsel.dask.union1d(numbers, [1, 2]), da.Array)
assert_type(fastsel.dask.setdiff1d(numbers, [1, 2], assume_unique=True), da.Array)
assert_type(fastsel.dask.setxor1d(numbers, [1, 2]), da.Array)


def run_time_flag(wanted: bool) -> None:
    """A flag that is known at run time only."""
    assert_type(fastsel.dask.unique(numbers, wanted), da.Array | Arrays)


def refused() -> None:
    """Each line is an error for type checkers; an unneeded ignore is an error as well."""
    fastsel.dask.unique(numbers, partitions=0.5)  # type: ignore[call-overload]
    fastsel.dask.isin(numbers, [1], kind="hash")  # type: ignore[arg-type]
