"""One entry for each operator: its calls, over which the tests of all operators run. Also lists of
operators, by number of arrays and by family.

The reference loop of an operator is the function of the same name in reference.py. The calls of an
entry run in these tests:

- every operator equals the reference, for each dtype and layout and several numbers of threads
  (test_every_operator.py); the same bytes on every CPU level (result_digests.py); references
  (test_references.py); each allocation fails (test_out_of_memory.py); dask arrays
  (test_dask_protocols.py): `calls`, `calls_for_fewer_dtypes`
- sizes beyond memory, objects that run code (test_hostile.py): `huge`, `of_objects`
- other threads run during a call (test_gil.py): `large`
- another thread writes to the array during a call (test_written_meanwhile.py): `while_written`
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

import fastsel
from fastsel._core._operators import OPERATORS


def numpy_names_of_family(family):
    """The names of the operators of a family that are also NumPy functions."""
    return [name for name, op in OPERATORS.items() if op.family == family and op.in_numpy]


# Operators with the name of a NumPy function. They have one or two arrays as required arguments.
NUMPY_NAMES = [name for name, op in OPERATORS.items() if op.in_numpy]
ONE_ARRAY_NAMES = [name for name in NUMPY_NAMES if len(OPERATORS[name].arrays) == 1]
TWO_ARRAY_NAMES = [name for name in NUMPY_NAMES if name not in ONE_ARRAY_NAMES]
SET_FUNCTION_NAMES = numpy_names_of_family("sets")

Call = Callable[[Any, Any], Any]
NO_CALLS = MappingProxyType({})


class Examples(NamedTuple):
    """The calls of an operator. Each dict has calls by the name of a test case."""

    # Functions of a module, which is fastsel, fastsel.dask or the reference, and of a 2-d array of
    # at least four rows and six columns.
    calls: Mapping[str, Call]
    # The same, but not for objects, StringDType and structures, for which these calls raise, or
    # NumPy serves them.
    calls_for_fewer_dtypes: Mapping[str, Call] = NO_CALLS
    # Calls without arguments, whose input or result is larger than any memory.
    huge: Mapping[str, Callable[[], Any]] = NO_CALLS
    # Functions of a 1-d array of objects, which compare or hash them, or test them for truth.
    of_objects: Mapping[str, Callable[[Any], Any]] = NO_CALLS
    # Functions of a million distinct integers that return a function that releases the GIL, and
    # its arguments.
    large: Mapping[str, Callable[[Any], tuple]] = NO_CALLS
    # Functions that call the operator with an array of at least 60 rows that another thread writes
    # to, and check that the result has a valid form.
    while_written: tuple[Callable[[Any], None], ...] = ()


HUGE = np.broadcast_to(False, 2**62)


def mask_of_every_third(*shape):
    """A mask of this shape; one item of three is True."""
    return np.arange(np.prod(shape)).reshape(shape) % 3 == 1


def two_sets(numbers):
    """Two arrays of large numbers; half of the first one's items are in the second."""
    return numbers * 1_000_003, numbers[::2] * 1_000_003


# Results while another thread writes to the array.


def assert_valid_positions(flat, size):
    assert ((flat >= 0) & (flat < size)).all()
    assert (np.diff(flat) > 0).all()


def check_nonzero(array):
    indices = fastsel.nonzero(array)
    indices_int32 = fastsel.nonzero(array, dtype=np.int32)
    for k, length in (
        *zip(indices, array.shape, strict=True),
        *zip(indices_int32, array.shape, strict=True),
    ):
        assert ((k >= 0) & (k < length)).all()
    assert_valid_positions(np.ravel_multi_index(indices, array.shape), array.size)


def check_flatnonzero(array):
    assert_valid_positions(fastsel.flatnonzero(array), array.size)


def check_argwhere(array):
    rows = fastsel.argwhere(array)
    assert_valid_positions(np.ravel_multi_index(tuple(rows.T), array.shape), array.size)


def check_nonzero_coordinates(array):
    count, rows = fastsel.nonzero_coordinates(array)
    assert not rows[int(count) :].any()
    indices = tuple(rows[: int(count)].T.astype(np.int64))
    assert_valid_positions(np.ravel_multi_index(indices, array.shape), array.size)


def check_count_nonzero(array):
    assert 0 <= fastsel.count_nonzero(array) <= array.size
    counts = np.asarray(fastsel.count_nonzero(array, axis=0))
    assert (counts >= 0).all()
    assert (counts <= len(array)).all()


def check_first_nonzero(array):
    assert -1 <= fastsel.first_nonzero(array) < array.size
    for axis in range(array.ndim):
        indices = np.asarray(fastsel.first_nonzero(array, axis=axis))
        assert ((indices >= -1) & (indices < array.shape[axis])).all()


def check_compress(array):
    """The array is the condition, and then the array that items are selected from."""
    positions = np.arange(array.size)
    assert_valid_positions(fastsel.compress(array.ravel(), positions), array.size)
    rows = fastsel.compress(array.ravel(), np.repeat(positions, 3).reshape(-1, 3), axis=0)
    assert (rows == rows[:, :1]).all()
    assert_valid_positions(rows[:, 0], array.size)
    assert len(fastsel.compress(positions[: len(array)] % 2, array, axis=0)) == len(array) // 2


def check_extract(array):
    assert_valid_positions(fastsel.extract(array, np.arange(array.size)), array.size)
    assert len(fastsel.extract(np.arange(array.size) % 2, array)) == array.size // 2


def check_boolean_mask(array):
    positions = np.arange(array.size).reshape(array.shape)
    if array.dtype == bool:
        assert_valid_positions(fastsel.boolean_mask(positions, array), array.size)
    assert len(fastsel.boolean_mask(array, positions % 2 == 1)) == array.size // 2


def check_unique(array):
    for keywords in ({"sorted": False}, {"sorted": True}):
        values, index, inverse, counts = fastsel.unique(array, True, True, True, **keywords)
        assert len(values) == len(index) == len(counts) <= array.size
        assert ((index >= 0) & (index < array.size)).all()
        assert inverse.shape == array.shape
        assert ((inverse >= 0) & (inverse < len(values))).all()
        assert (counts >= 0).all()


def check_unique_values(array):
    for keywords in ({"sorted": False}, {"sorted": True}, {"sorted": False, "equal_nan": False}):
        values = fastsel.unique(array, **keywords)
        assert values.dtype == array.dtype
        assert 0 < len(values) <= array.size


def check_unique_rows(array):
    rows = array.reshape(len(array) // 2, -1)
    values, inverse = fastsel.unique(rows, axis=0, return_inverse=True, sorted=False)
    assert values.shape[1:] == rows.shape[1:]
    assert ((inverse >= 0) & (inverse < len(values))).all()


def check_group_indices(array):
    for keywords in ({"sorted": False}, {"sorted": True}):
        values, indices, offsets = fastsel.group_indices(array, **keywords)
        assert len(offsets) == len(values) + 1
        assert (np.diff(offsets) >= 0).all()
        assert (np.bincount(indices, minlength=array.size) == 1).all()
        assert (offsets[0], offsets[-1]) == (0, array.size)


def others(array):
    """The pairs of arguments of functions of two arrays: the array is the first, the second or
    both."""
    for other in (array[: len(array) // 3].copy(), array, array[::-1].copy()):
        yield from ((array, other), (other, array))


def check_sets(array):
    for first, second in others(array):
        assert fastsel.isin(first, second).shape == first.shape
        values, index1, index2 = fastsel.intersect1d(first, second, return_indices=True)
        assert len(values) == len(index1) == len(index2)
        assert (index1 < first.size).all()
        assert (index2 < second.size).all()
        assert len(fastsel.setxor1d(first, second)) <= first.size + second.size
        assert len(fastsel.setdiff1d(first, second, assume_unique=True)) <= first.size
        assert len(fastsel.union1d(first, second)) <= first.size + second.size


def check_index_in(array):
    for first, second in others(array):
        index = fastsel.index_in(first, second)
        assert ((index >= -1) & (index < second.size)).all()


def check_remap(array):
    """The values are numbers that only remap can write: an item without a key gets the default."""
    for first, second in others(array):
        values = np.arange(second.size) + 7
        result = fastsel.remap(first, second.ravel(), values, default=-1)
        assert ((result == -1) | (result >= 7) & (result < second.size + 7)).all()
        fastsel.remap(first, np.arange(second.size) * 1.5, second.ravel(), default=second.flat[0])


def check_sets_of_slices(array):
    rows = array.reshape(len(array) // 2, -1)
    for other in (rows[:20].copy(), rows):
        assert fastsel.isin(rows, other, axis=0).shape == (len(rows),)
        values, index1, index2 = fastsel.intersect1d(rows, other, return_indices=True, axis=0)
        assert len(values) == len(index1) == len(index2)
        assert len(fastsel.setxor1d(rows, other, axis=0)) <= len(rows) + len(other)


def check_gather_nd_data(array):
    rows = np.arange(-len(array), len(array))[:, None]
    assert fastsel.gather_nd(array, rows).shape == (2 * len(array), *array.shape[1:])


EXAMPLES = {
    "nonzero": Examples(
        {
            "nonzero": lambda f, a: f.nonzero(a),
            "nonzero of other dtypes": lambda f, a: f.nonzero(a, dtype="i4"),
        },
        huge={"nonzero": lambda: fastsel.nonzero(HUGE)},
        of_objects={"nonzero": fastsel.nonzero},
        large={"nonzero": lambda n: (fastsel.nonzero, n)},
        while_written=(check_nonzero,),
    ),
    "flatnonzero": Examples(
        {
            "flatnonzero": lambda f, a: f.flatnonzero(a),
            "flatnonzero of other dtypes": lambda f, a: f.flatnonzero(a, dtype="u4"),
        },
        huge={"flatnonzero": lambda: fastsel.flatnonzero(HUGE)},
        of_objects={"flatnonzero": fastsel.flatnonzero},
        large={"flatnonzero": lambda n: (fastsel.flatnonzero, n)},
        while_written=(check_flatnonzero,),
    ),
    "argwhere": Examples(
        {
            "argwhere": lambda f, a: f.argwhere(a),
            "argwhere of other dtypes": lambda f, a: f.argwhere(a, dtype=">i8"),
            "argwhere of two bytes": lambda f, a: f.argwhere(a, dtype="u2"),
        },
        huge={"argwhere": lambda: fastsel.argwhere(HUGE.reshape(2**31, 2**31))},
        of_objects={"argwhere": fastsel.argwhere},
        large={"argwhere": lambda n: (fastsel.argwhere, n.reshape(-1, 8))},
        while_written=(check_argwhere,),
    ),
    "count_nonzero": Examples(
        {"count_nonzero": lambda f, a: f.count_nonzero(a)},
        {"count_nonzero along an axis": lambda f, a: f.count_nonzero(a, 0)},
        huge={"count_nonzero": lambda: fastsel.count_nonzero(np.zeros((2**31, 0, 2**31)), axis=1)},
        of_objects={"count_nonzero": fastsel.count_nonzero},
        large={"count_nonzero": lambda n: (fastsel.count_nonzero, n.reshape(-1, 8), 0)},
        while_written=(check_count_nonzero,),
    ),
    "first_nonzero": Examples(
        {
            f"first_nonzero {axis}": lambda f, a, axis=axis: (
                f.first_nonzero(a, axis),
                f.first_nonzero(a[3:], axis),
            )
            for axis in (None, 0, 1, (0, 1), ())
        },
        huge={"first_nonzero": lambda: fastsel.first_nonzero(HUGE.reshape(2**60, 4), axis=1)},
        of_objects={  # every second item: all are tested, because none is true
            "first_nonzero": lambda a: fastsel.first_nonzero(a[::2]),
            "first_nonzero_axis": lambda a: fastsel.first_nonzero(a[::2], axis=0),
        },
        large={
            "first_nonzero": lambda n: (fastsel.first_nonzero, np.zeros(1 << 22)),
            "first_nonzero_axis": lambda n: (fastsel.first_nonzero, np.zeros((1024, 1024)), 0),
        },
        while_written=(check_first_nonzero,),
    ),
    "nonzero_coordinates": Examples(
        {"nonzero_coordinates": lambda f, a: tuple(f.nonzero_coordinates(a, n=a.ndim))},
        huge={"nonzero_coordinates": lambda: fastsel.nonzero_coordinates(HUGE, dtype=np.int64)},
        of_objects={"nonzero_coordinates": fastsel.nonzero_coordinates},
        large={"nonzero_coordinates": lambda n: (fastsel.nonzero_coordinates, n.reshape(-1, 8))},
        while_written=(check_nonzero_coordinates,),
    ),
    "compress": Examples(
        {"compress": lambda f, a: f.compress(mask_of_every_third(len(a)), a, 0)},
        huge={
            "compress": lambda: fastsel.compress(HUGE, HUGE),
            "compress_rows": lambda: fastsel.compress([True], HUGE.reshape(1, 2**62), axis=0),
        },
        of_objects={"compress": lambda a: fastsel.compress(a, np.arange(len(a)))},
        large={"compress": lambda n: (fastsel.compress, n, n)},
        while_written=(check_compress,),
    ),
    "extract": Examples(
        {"extract": lambda f, a: f.extract(mask_of_every_third(*a.shape), a)},
        huge={"extract": lambda: fastsel.extract(HUGE, HUGE)},
        of_objects={"extract": lambda a: fastsel.extract(a, np.arange(len(a)))},
        large={"extract": lambda n: (fastsel.extract, n, n)},
        while_written=(check_extract,),
    ),
    "boolean_mask": Examples(
        {"boolean_mask": lambda f, a: f.boolean_mask(a, mask_of_every_third(*a.shape[:-1]))},
        huge={"boolean_mask": lambda: fastsel.boolean_mask(HUGE, HUGE)},
        large={"boolean_mask": lambda n: (fastsel.boolean_mask, n, n > 1)},
        while_written=(check_boolean_mask,),
    ),
    "unique": Examples(
        {
            "unique": lambda f, a: f.unique(a, True, True, True),
            "unique with a short inverse": lambda f, a: f.unique(
                a, return_inverse=True, inverse_dtype="i2"
            ),
            "unique with an inverse of 4 bytes": lambda f, a: f.unique(
                a, return_inverse=True, inverse_dtype="i4"
            ),
            "unique in order of first occurrence": lambda f, a: f.unique(
                a, True, True, True, sorted=False
            ),
        },
        {
            "unique along an axis": lambda f, a: f.unique(a, True, True, True, 0),
            "unique along an axis, in order of first occurrence": lambda f, a: f.unique(
                a, True, True, True, 0, sorted=False
            ),
        },
        huge={
            "unique": lambda: fastsel.unique(HUGE),
            "unique_rows": lambda: fastsel.unique(HUGE.reshape(2**31, 2**31), axis=0),
        },
        of_objects={
            "unique": fastsel.unique,
            "unique_first": lambda a: fastsel.unique(a, sorted=False, return_inverse=True),
        },
        large={
            "unique_in_order": lambda n: (fastsel.unique, np.arange(len(n))),
            "unique_dense": lambda n: (fastsel.unique, n % 1000),
            "unique_tables": lambda n: (fastsel.unique, n % 1000 * 1_000_003),
            "unique_partitions": lambda n: (fastsel.unique, n // 10 * 1_000_003),
            "unique_sorting": lambda n: (fastsel.unique, n * 1_000_003),
        },
        while_written=(check_unique, check_unique_values, check_unique_rows),
    ),
    "unique_all": Examples({"unique_all": lambda f, a: tuple(f.unique_all(a))}),
    "unique_counts": Examples({"unique_counts": lambda f, a: tuple(f.unique_counts(a))}),
    "unique_inverse": Examples({"unique_inverse": lambda f, a: tuple(f.unique_inverse(a))}),
    "unique_values": Examples({"unique_values": lambda f, a: f.unique_values(a)}),
    "group_indices": Examples(
        {"group_indices": lambda f, a: tuple(f.group_indices(a, sorted=False))},
        {
            "group_indices along an axis": lambda f, a: tuple(f.group_indices(a, 0)),
            "group_indices, ascending": lambda f, a: tuple(f.group_indices(a)),
        },
        huge={"group_indices": lambda: fastsel.group_indices(HUGE)},
        of_objects={"group_indices": lambda a: fastsel.group_indices(a, sorted=False)},
        large={
            "group_indices": lambda n: (fastsel.group_indices, n % 1000),
            "group_indices_sorting": lambda n: (fastsel.group_indices, n * 1_000_003),
        },
        while_written=(check_group_indices,),
    ),
    "isin": Examples(
        {},
        {
            "isin": lambda f, a: f.isin(a, a[1:3]),
            "isin of slices": lambda f, a: f.isin(a, a[1:3], axis=0),
        },
        huge={
            "isin": lambda: fastsel.isin(HUGE, [True]),
            "isin_tests": lambda: fastsel.isin([True], HUGE),
        },
        of_objects={"isin": lambda a: fastsel.isin(a, a[::20].copy())},
        large={
            "isin_range": lambda n: (fastsel.isin, n, n[:1000]),
            "isin_table": lambda n: (fastsel.isin, n * 1_000_003, n[:1000] * 1_000_003),
            "isin_partitions": lambda n: (fastsel.isin, n * 1_000_003, n[::2] * 1_000_003),
        },
        while_written=(check_sets, check_sets_of_slices),
    ),
    "index_in": Examples(
        {},
        {
            "index_in": lambda f, a: f.index_in(a, a[1:3]),
            "index_in along an axis": lambda f, a: f.index_in(a, a[::-2], 0),
        },
        huge={
            "index_in": lambda: fastsel.index_in(HUGE, [True]),
            "index_in_tests": lambda: fastsel.index_in([True], HUGE),
        },
        of_objects={"index_in": lambda a: fastsel.index_in(a, a[::20].copy())},
        large={
            "index_in": lambda n: (fastsel.index_in, n, n[::2]),
            "index_in_partitions": lambda n: (fastsel.index_in, n * 1_000_003, n[::2] * 1_000_003),
        },
        while_written=(check_index_in,),
    ),
    "remap": Examples(
        {},
        {
            "remap": lambda f, a: f.remap(a, a[1:3].ravel(), np.arange(a[1:3].size), default=-1),
            "remap to rows": lambda f, a: f.remap(
                a[::2, :4], a.ravel(), a.reshape(-1, 1), default=a.ravel()[:1]
            ),
            "remap to itself": lambda f, a: f.remap(a, a[0].ravel(), a[1].ravel(), default=a),
        },
        huge={
            "remap": lambda: fastsel.remap(HUGE, [False], [1]),
            "remap_keys": lambda: fastsel.remap([True], HUGE, HUGE, default=False),
            "remap_values": lambda: fastsel.remap(
                [True] * 9, [True], np.broadcast_to(1.5, (1, 2**59))
            ),
        },
        of_objects={"remap": lambda a: fastsel.remap(a, a[::20].copy(), a[:15].copy(), default=0)},
        large={
            "remap": lambda n: (fastsel.remap, n, n, n),
            "remap_tables": lambda n: (
                fastsel.remap,
                n % 1000 * 10**6,
                n[n < 1000] * 10**6,
                n[:1000],
            ),
        },
        while_written=(check_remap,),
    ),
    "intersect1d": Examples(
        {},
        {
            "intersect1d": lambda f, a: f.intersect1d(a, a[:2], return_indices=True),
            "intersect1d of slices": lambda f, a: f.intersect1d(
                a[:, ::2], a[:, 1:4], return_indices=True, axis=1
            ),
        },
        huge={"intersect1d": lambda: fastsel.intersect1d(HUGE, HUGE)},
        large={"intersect1d": lambda n: (fastsel.intersect1d, *two_sets(n))},
    ),
    "union1d": Examples(
        {},
        {
            "union1d": lambda f, a: f.union1d(a, a[::-1]),
            "union1d of slices": lambda f, a: f.union1d(a, a[::-1], axis=0),
        },
        huge={"union1d": lambda: fastsel.union1d(HUGE, [True])},
        of_objects={"union1d": lambda a: fastsel.union1d(a, a[::2])},
        large={"union1d": lambda n: (fastsel.union1d, *two_sets(n))},
    ),
    "setdiff1d": Examples(
        {},
        {
            "setdiff1d": lambda f, a: f.setdiff1d(a, a[1:3]),
            "setdiff1d of slices": lambda f, a: f.setdiff1d(a, a[1:3], axis=0),
        },
        huge={"setdiff1d": lambda: fastsel.setdiff1d(HUGE, [True], assume_unique=True)},
        large={"setdiff1d": lambda n: (fastsel.setdiff1d, *two_sets(n))},
    ),
    "setxor1d": Examples(
        {},
        {
            "setxor1d": lambda f, a: f.setxor1d(a[2:], a[:-1]),
            "setxor1d of slices": lambda f, a: f.setxor1d(a[2:], a[:-1], axis=0),
        },
        huge={"setxor1d": lambda: fastsel.setxor1d([True], HUGE)},
        large={"setxor1d": lambda n: (fastsel.setxor1d, *two_sets(n))},
    ),
    "gather_nd": Examples(
        {"gather_nd": lambda f, a: f.gather_nd(a, [[0, 2], [-1, -2], [1, 1]])},
        huge={
            "gather_nd": lambda: fastsel.gather_nd([1.5, 2.5], np.broadcast_to([[1]], (2**59, 1))),
            # The size of the result does not fit in an intp.
            "gather_nd_slices": lambda: fastsel.gather_nd(
                np.broadcast_to(1.0, (2, 2**40)), np.broadcast_to([[1]], (2**40, 1))
            ),
        },
        large={"gather_nd": lambda n: (fastsel.gather_nd, n, n[:, None])},
        while_written=(check_gather_nd_data,),
    ),
}


def cases(field, names=tuple(EXAMPLES)):
    """The calls of these operators in one field of their entries, by the name of the test case."""
    return {label: call for name in names for label, call in getattr(EXAMPLES[name], field).items()}
