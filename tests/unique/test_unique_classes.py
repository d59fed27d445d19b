"""unique of array-likes and of subclasses of ndarray: results and errors are NumPy's."""

import array as array_module

import numpy as np
import pytest
from comparison import assert_same, assert_same_outcome, lists, outcome

import fastsel

ALL = (True, True, True)
NUMPY = np.lib.NumpyVersion(np.__version__)
nan = np.nan


# Array-likes.


class Arraylike:
    """A class that is no array, but converts itself to one."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array

    def __array_wrap__(self, array, context=None, return_scalar=False):
        raise RuntimeError("unique does not wrap its results")


class ArrayInterface:
    def __init__(self, array):
        self.array = array
        self.__array_interface__ = array.__array_interface__


@pytest.mark.parametrize(
    "array_like",
    [
        [3, 1, 3],
        (3, 1, 3),
        range(3),
        [[1, 2], [2, 1]],
        [1.5, 2],
        [True, False, True],
        ["b", "a"],
        [b"b", b"a"],
        [1, "a"],
        3,
        2.5,
        "text",
        b"bytes",
        True,
        np.int8(3),
        np.float32(nan),
        np.datetime64("2020-01-01"),
        [[]],
        [[], []],
        memoryview(b"banana"),
        bytearray(b"banana"),
        array_module.array("i", [3, 1, 3]),
        Arraylike(np.array([3, 1, 3])),
        ArrayInterface(np.array([3.0, 1.0, 3.0])),
        [np.array([1, 2]), np.array([2, 1])],
        {1, 2},
        {"a": 1},
        None,
        [2**64, 1],
        [2**63, 1],
        [1, 2**70],
    ],
    ids=lambda array_like: f"{type(array_like).__name__} {array_like!r:.20}".split(" at ")[0],
)
def test_array_likes_return_or_raise_as_in_numpy(array_like):
    for extras in ((), ALL):
        assert_same_outcome(
            outcome(fastsel.unique, array_like, *extras), outcome(np.unique, array_like, *extras)
        )


# Subclasses of ndarray.


class Tagged(np.ndarray):
    """A subclass whose arrays have a tag, and whose views keep it."""

    def __array_finalize__(self, other):
        self.tag = getattr(other, "tag", None)


def tagged(items):
    array = np.array(items).view(Tagged)
    array.tag = "kept"
    return array


OPTIONS = [
    {},
    {"return_counts": True},
    dict.fromkeys(("return_index", "return_inverse", "return_counts"), True),
]
OPTIONS += [{**options, "axis": 0} for options in OPTIONS]


@pytest.mark.parametrize(
    "items", [[3, 1, 3], [[3, 1], [3, 1]], [2.5, nan, nan], 3, ["b", "a", "b"]], ids=repr
)
def test_a_subclass_is_kept_for_values_and_index_of_flat_results(items):
    array = tagged(items)
    for options in OPTIONS[:3] if array.ndim == 0 else OPTIONS:
        ours, theirs = fastsel.unique(array, **options), np.unique(array, **options)
        assert_same(ours, theirs)
        for our, their in zip(
            *((part if isinstance(part, tuple) else (part,)) for part in (ours, theirs)),
            strict=True,
        ):
            assert getattr(our, "tag", None) == getattr(their, "tag", None)


def test_a_subclass_is_kept_if_values_are_unsorted():
    array = tagged([3, 1, 3])
    values, counts = fastsel.unique(array, return_counts=True, sorted=False)
    assert type(values) is type(fastsel.unique(array, sorted=False)) is Tagged
    assert type(counts) is np.ndarray
    assert lists((values, counts)) == [[3, 1], [2, 1]]


@pytest.mark.skipif(
    NUMPY < "2.3.0", reason="before 2.3, numpy.unique of a matrix returns repeated values"
)
def test_a_matrix_gives_ndarrays():
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix([[3, 1], [3, 1]])
    for options in OPTIONS:
        assert_same(fastsel.unique(matrix, **options), np.unique(matrix, **options))
    assert_same(fastsel.unique(matrix, sorted=False), np.array([3, 1]))


def test_a_memory_map_gives_ndarrays(tmp_path):
    mapped = np.memmap(tmp_path / "items", np.float32, mode="w+", shape=(4,))
    mapped[:] = [3, 1, 3, nan]
    for options in OPTIONS:
        assert_same(fastsel.unique(mapped, **options), np.unique(mapped, **options))


@pytest.mark.parametrize(
    "masked",
    [
        np.ma.array([3, 1, 3, 2, 9], mask=[0, 0, 0, 1, 1]),
        np.ma.array([3, 1, 3]),
        np.ma.array([2.5, nan, 1, nan], mask=[1, 0, 0, 0]),
        np.ma.array([[1, 2], [1, 2], [1, 3]], mask=[[0, 1], [0, 1], [0, 0]]),
        np.ma.masked_all(3, int),
        np.ma.array([3, 1, 3], mask=[0, 0, 0]),
    ],
    ids=["some masked", "none masked", "nan", "rows", "all masked", "false masks"],
)
def test_masked_arrays_keep_their_mask(masked):
    """Masked items become one masked item, unless the slices of a 2-d array are compared."""
    unsorted = [{"sorted": False}] if NUMPY >= "2.3.0" else []
    for options in [*OPTIONS, *unsorted]:
        ours, theirs = fastsel.unique(masked, **options), np.unique(masked, **options)
        if not isinstance(theirs, tuple):
            ours, theirs = (ours,), (theirs,)
        for our, their in zip(ours, theirs, strict=True):
            assert type(our) is type(their)
            assert our.dtype == their.dtype
            assert repr(our.tolist()) == repr(their.tolist())
            assert getattr(our, "mask", None) is getattr(their, "mask", None) or (
                our.mask.tolist() == their.mask.tolist()
            )


def test_a_record_array_stays_a_record_array():
    records = np.rec.array([(1, 2.0), (1, 2.0)], dtype=[("a", "i4"), ("b", "f8")])
    for options in OPTIONS:
        assert_same(fastsel.unique(records, **options), np.unique(records, **options))
