"""The types that type checkers infer for calls: run mypy --strict and pyright over this file.

``tests/project/test_typing.py`` also runs the files of examples: each example works, and each
public name has one. `beside_numpy.py` compares types with NumPy's.
"""

from contextlib import AbstractContextManager
from typing import Any, assert_type

import numpy as np
from numpy.typing import ArrayLike, NDArray

import fastsel

Indices = NDArray[np.intp]
FlatIndices = np.ndarray[tuple[int], np.dtype[np.intp]]
FlatInt32 = np.ndarray[tuple[int], np.dtype[np.int32]]

floats: NDArray[np.float32] = np.array([3.0, 0.0, 1.0, 3.0], np.float32)
table: NDArray[np.int16] = np.array([[1, 0], [2, 5], [1, 0]], np.int16)
flags: NDArray[np.bool_] = floats > 1

# positions
assert_type(fastsel.nonzero(floats), tuple[FlatIndices, ...])
assert_type(fastsel.nonzero([3, 0, 1]), tuple[FlatIndices, ...])
assert_type(fastsel.flatnonzero(table), FlatIndices)
assert_type(fastsel.nonzero(table, dtype=np.int32), tuple[FlatInt32, ...])
assert_type(
    fastsel.flatnonzero(table, dtype=np.dtype(np.uint8)), np.ndarray[tuple[int], np.dtype[np.uint8]]
)
assert_type(
    fastsel.flatnonzero(table, dtype="int32"), np.ndarray[tuple[int], np.dtype[np.integer[Any]]]
)
assert_type(
    fastsel.argwhere(table, dtype=np.int32), np.ndarray[tuple[int, int], np.dtype[np.int32]]
)
assert_type(fastsel.argwhere(table), np.ndarray[tuple[int, int], np.dtype[np.intp]])
assert_type(fastsel.count_nonzero(floats), np.intp)
assert_type(fastsel.count_nonzero(table, axis=1, keepdims=True), Indices)
assert_type(fastsel.count_nonzero(table, (0, 1), keepdims=True), Indices)
assert_type(fastsel.count_nonzero(table, axis=1), Any)
assert_type(fastsel.first_nonzero(floats), np.intp)
assert_type(fastsel.first_nonzero(table, axis=1, keepdims=True), Indices)
assert_type(fastsel.first_nonzero(table, axis=1), Any)
result = fastsel.nonzero_coordinates(table, n="effective", dtype=np.int64)
assert_type(result, fastsel.NonzeroCoordinates)
assert_type(result.coordinates, NDArray[np.integer[Any]])
count, coordinates = result
assert_type(count, np.integer[Any])
assert_type(coordinates, NDArray[np.integer[Any]])

# selection: results have the scalar type of the array; for a list, only extract knows the type
assert_type(fastsel.compress(flags, floats), NDArray[np.float32])
assert_type(fastsel.compress([True, False, True], table, axis=0), NDArray[np.int16])
assert_type(fastsel.compress([True, False], [1, 2]), NDArray[Any])
out: NDArray[np.int16] = np.empty((2, 2), np.int16)
assert_type(fastsel.compress([1, 0, 1], table, 0, out), NDArray[np.int16])
assert_type(fastsel.compress([1, 0, 1], table, axis=0, out=out), NDArray[np.int16])
assert_type(fastsel.extract(flags, floats), np.ndarray[tuple[int], np.dtype[np.float32]])
integers = [5, 6]
assert_type(fastsel.extract([0, 1], integers), np.ndarray[tuple[int], np.dtype[np.int_]])
assert_type(fastsel.boolean_mask(floats, flags), NDArray[np.float32])
assert_type(fastsel.boolean_mask([5, 6], [False, True]), NDArray[Any])

# gather_nd
assert_type(fastsel.gather_nd(floats, [[0], [2]]), NDArray[np.float32])
assert_type(fastsel.gather_nd([[1, 2], [3, 4]], [[0], [1]], batch_dims=1), NDArray[Any])
assert_type(fastsel.gather_nd(table, [[0], [2]], out=out), NDArray[np.int16])

# unique: one array, or a tuple of arrays
assert_type(fastsel.unique(floats), NDArray[np.float32])
assert_type(fastsel.unique([3, 1, 3]), NDArray[Any])
assert_type(fastsel.unique(table, axis=0, sorted=False), NDArray[np.int16])
assert_type(fastsel.unique(floats, True), tuple[NDArray[np.float32], Indices])
assert_type(fastsel.unique(floats, False, True), tuple[NDArray[np.float32], Indices])
assert_type(fastsel.unique(floats, False, False, True), tuple[NDArray[np.float32], Indices])
assert_type(fastsel.unique(floats, return_index=True), tuple[NDArray[np.float32], Indices])
assert_type(fastsel.unique(floats, return_inverse=True), tuple[NDArray[np.float32], Indices])
assert_type(fastsel.unique([3, 1], return_counts=True), tuple[NDArray[Any], Indices])
assert_type(fastsel.unique(table, True, True), tuple[NDArray[np.int16], Indices, Indices])
assert_type(fastsel.unique(table, True, False, True), tuple[NDArray[np.int16], Indices, Indices])
assert_type(fastsel.unique(table, False, True, True), tuple[NDArray[np.int16], Indices, Indices])
assert_type(
    fastsel.unique(table, return_index=True, return_counts=True),
    tuple[NDArray[np.int16], Indices, Indices],
)
assert_type(
    fastsel.unique(table, return_inverse=True, return_counts=True, axis=0, equal_nan=False),
    tuple[NDArray[np.int16], Indices, Indices],
)
assert_type(
    fastsel.unique(floats, True, True, True),
    tuple[NDArray[np.float32], Indices, Indices, Indices],
)
assert_type(fastsel.unique(np.float32(3)), NDArray[np.float32])
scalars = [np.int64(3), np.int64(1)]
assert_type(fastsel.unique(scalars, return_counts=True), tuple[NDArray[np.int64], Indices])

assert_type(fastsel.unique_all(floats).values, NDArray[np.float32])
assert_type(fastsel.unique_all(floats).inverse_indices, Indices)
assert_type(fastsel.unique_counts(table).values, NDArray[np.int16])
assert_type(fastsel.unique_counts([2, 1]).counts, Indices)
assert_type(fastsel.unique_inverse(table).inverse_indices, Indices)
assert_type(fastsel.unique_values(floats), NDArray[np.float32])
assert_type(fastsel.unique_values([2, 1]), NDArray[Any])

assert_type(fastsel.group_indices(floats), fastsel.GroupIndices[np.float32])
assert_type(fastsel.group_indices(table, axis=0, sorted=False).values, NDArray[np.int16])
assert_type(fastsel.group_indices([2, 1]).values, NDArray[Any])
assert_type(fastsel.group_indices([2, 1]).offsets, Indices)

# sets
assert_type(fastsel.isin(table, [1, 2]), NDArray[np.bool_])
assert_type(fastsel.isin([1, 2], floats, invert=True, kind="sort"), NDArray[np.bool_])
assert_type(fastsel.isin(table, table, axis=0), NDArray[np.bool_])
assert_type(fastsel.intersect1d(table, table, axis=0), NDArray[np.int16])
assert_type(
    fastsel.intersect1d(table, table, return_indices=True, axis=0),
    tuple[NDArray[np.int16], Indices, Indices],
)
assert_type(fastsel.union1d(table, table, axis=0), NDArray[np.int16])
assert_type(fastsel.setdiff1d(table, table, axis=1), NDArray[np.int16])
assert_type(fastsel.setxor1d(table, table, axis=-1), NDArray[np.int16])
assert_type(fastsel.index_in(table, [1, 2]), Indices)
assert_type(fastsel.index_in([[1, 2]], table, axis=0), Indices)
assert_type(fastsel.remap(table, [0, 1, 2, 5], floats), NDArray[np.float32])
assert_type(fastsel.remap([1, 2], [1], [2], default=0), NDArray[Any])
assert_type(fastsel.remap(table, [1], table[0, :1], default=table, out=table), NDArray[np.int16])
assert_type(fastsel.intersect1d(floats, floats), NDArray[np.float32])
assert_type(fastsel.intersect1d([1, 2], [2, 3], True), NDArray[Any])
assert_type(
    fastsel.intersect1d(table, table, return_indices=True),
    tuple[NDArray[np.int16], Indices, Indices],
)
assert_type(fastsel.intersect1d([1, 2], [2], False, True), tuple[NDArray[Any], Indices, Indices])
assert_type(fastsel.union1d(floats, floats), NDArray[np.float32])
assert_type(fastsel.union1d([1], [2]), NDArray[Any])
assert_type(fastsel.setdiff1d(floats, [1.5]), NDArray[np.float32])
assert_type(fastsel.setdiff1d([1], [2], assume_unique=True), NDArray[Any])
assert_type(fastsel.setxor1d(table, table), NDArray[np.int16])
assert_type(fastsel.setxor1d([1], [2]), NDArray[Any])

# threads and configuration
assert_type(fastsel.get_num_threads(), int)
with fastsel.threads(np.int64(1)):
    fastsel.set_num_threads(2)
    fastsel.set_num_threads(None)
limit: AbstractContextManager[None] = fastsel.threads(1)
fastsel.set_keep_mb(12.5)
fastsel.set_keep_mb(None)
assert_type(fastsel.get_keep_mb(), float)
assert_type(fastsel.release_memory(), int)
patch: AbstractContextManager[None] = fastsel.patched()
fastsel.patch_numpy()
fastsel.unpatch_numpy()
fastsel.register_adapter("dask.array", "Array", adapter="fastsel.dask")
assert_type(fastsel.show_config(mode="dicts"), dict[str, Any])
assert_type(fastsel.__version__, str)


def of_any_array_like(x: ArrayLike) -> NDArray[Any]:
    """Arguments may have the type ArrayLike, which functions of other libraries accept, too."""
    assert_type(fastsel.flatnonzero(x), FlatIndices)
    assert_type(fastsel.isin(x, x), NDArray[np.bool_])
    return fastsel.unique(x)


def refused() -> None:
    """Each line is an error for type checkers; an unneeded ignore is an error as well."""
    fastsel.unique(floats, sort=False)  # type: ignore[call-overload]
    fastsel.unique(floats, axis=0.5)  # type: ignore[call-overload]
    fastsel.unique_all(x=floats)  # type: ignore[call-arg]
    fastsel.isin(floats, [1.5], kind="hash")  # type: ignore[arg-type]
    fastsel.gather_nd(floats, [[0]], batch_dims=1.0)  # type: ignore[call-overload]
    fastsel.nonzero_coordinates(table, n="all")  # type: ignore[arg-type]
    fastsel.register_adapter("dask.array", object, "fastsel.dask")  # type: ignore[arg-type]
    fastsel.set_num_threads("2")  # type: ignore[arg-type]
    fastsel.show_config("json")  # type: ignore[call-overload]
