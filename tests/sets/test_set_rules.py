"""The rules of NumPy's set functions: `kind`, `assume_unique`, array-likes, objects."""

import datetime
import itertools
import uuid
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from comparison import assert_same, assert_same_outcome, outcome
from odd_arguments import Overriding, Plain
from operators import SET_FUNCTION_NAMES

import fastsel

# The argument kind.


@pytest.mark.parametrize(
    "kind", [None, "sort", "table", "hash", "", b"sort", 1, [], np.str_("sort")], ids=repr
)
@pytest.mark.parametrize(
    ("element", "tests"),
    [
        ([1, 2, 3], [2, 5]),
        ([1, 2, 3], []),
        (np.arange(9, dtype="u1"), np.array([1, 200], "i2")),
        (np.array([1, 2], "i1"), np.array([-128, 127], "i1")),
        (np.array([1, 2], "i8"), np.array([-(2**62), 2**62], "i8")),
        (np.array([True, False]), np.array([True])),
        (np.array([1, 2]), np.array([True, True])),
        ([1.0, 2.0], [2]),
        ([1, 2], [2.0]),
        (["a", "b"], ["b"]),
        (np.array([1, None]), [1]),
        ([1, None], {1}),
    ],
    ids=str,
)
def test_kind_of_isin_returns_or_raises_as_in_numpy(kind, element, tests):
    assert_same_outcome(
        outcome(fastsel.isin, element, tests, kind=kind),
        outcome(np.isin, element, tests, kind=kind),
    )


def test_kind_table_makes_no_table_of_a_wide_range():
    """NumPy's table would have 2^61 + 1 entries, more than any memory holds."""
    tests = np.array([0, 2**61])
    result = fastsel.isin(np.arange(3), tests, kind="table")
    assert result.tolist() == [True, False, False]


# The argument assume_unique.


def test_assume_unique_of_repeated_values_gives_the_right_result():
    """NumPy's results may be wrong for repeated values. fastsel's results are the same as without
    assume_unique, except that setdiff1d keeps the order and the repeated values."""
    first, second = np.array([3, 1, 3, 2, 1]), np.array([2, 5, 3, 3])
    for name in ("isin", "intersect1d", "setxor1d"):
        function = getattr(fastsel, name)
        assert_same(function(first, second, assume_unique=True), function(first, second))
    assert fastsel.setdiff1d(first, second, assume_unique=True).tolist() == [1, 1]


@pytest.mark.parametrize("dtype", ["i8", "f8", "U3", "u1"])
def test_assume_unique_of_distinct_values_equals_numpy(dtype, kernels_with_few_threads):
    rng = np.random.default_rng(1)
    first, second = (rng.permutation(200)[:100].astype(dtype) for _ in range(2))
    for name in ("isin", "intersect1d", "setxor1d", "setdiff1d"):
        assert_same(
            getattr(fastsel, name)(first, second, assume_unique=True),
            getattr(np, name)(first, second, assume_unique=True),
        )
    assert_same(
        fastsel.intersect1d(first, second, True, True), np.intersect1d(first, second, True, True)
    )


# Array-likes and classes.


# With assume_unique, setxor1d of older NumPy does not flatten the arrays.
SETXOR1D_FLATTENS = outcome(np.setxor1d, [[1]], [2], True)[0] == "returns"

SET = {1, 2}  # one object for all calls: assert_same compares objects by identity
ARRAY_LIKES = {
    "list": lambda: [3, 1, 3],
    "tuple": lambda: (1, 2),
    "nested": lambda: [[1, 2], [3, 4]],
    "range": lambda: range(2, 5),
    "memoryview": lambda: memoryview(b"\1\2"),
    "number": lambda: 3,
    "float": lambda: 2.5,
    "numpy_scalar": lambda: np.int8(3),
    "0-d": lambda: np.array(3),
    "empty": list,
    "strings": lambda: ["a", "b"],
    "string": lambda: "a",
    "none": lambda: None,
    "set": lambda: SET,
    "ragged": lambda: [[1], [2, 3]],
    "matrix": lambda: np.array([[1, 2], [3, 3]]).view(np.matrix),
    "subclass": lambda: np.array([3, 1, 3]).view(Plain),
    "masked": lambda: np.ma.array([1, 2, 3, 3], mask=[1, 0, 0, 1]),
    "int8": lambda: np.array([1, 2], "i1"),
    "strided": lambda: np.arange(9)[::-2],
}


@pytest.mark.parametrize("first", ARRAY_LIKES)
@pytest.mark.parametrize("second", ARRAY_LIKES)
def test_array_likes_return_or_raise_as_in_numpy(first, second, forced_kernels):
    for name in SET_FUNCTION_NAMES:
        ours, theirs = (
            outcome(getattr(module, name), ARRAY_LIKES[first](), ARRAY_LIKES[second]())
            for module in (fastsel, np)
        )
        assert ours[:1] == theirs[:1]
        if ours[0] == "raises":
            assert ours[1] is theirs[1]
            continue
        assert_same(np.asarray(ours[1]), np.asarray(theirs[1]))
        assert type(ours[1]) is type(theirs[1])
        assert np.ma.getmaskarray(ours[1]).tolist() == np.ma.getmaskarray(theirs[1]).tolist()
        if name in ("intersect1d", "setdiff1d") or (name == "setxor1d" and SETXOR1D_FLATTENS):
            ours, theirs = (
                outcome(getattr(module, name), ARRAY_LIKES[first](), ARRAY_LIKES[second](), True)
                for module in (fastsel, np)
            )
            assert ours[:1] == theirs[:1]
            assert ours[0] == "raises" or np.asarray(ours[1]).dtype == np.asarray(theirs[1]).dtype


def test_memmap_gives_the_results_of_an_array(tmp_path, forced_kernels):
    mapped = np.memmap(tmp_path / "items", "i4", "w+", shape=(100,))
    mapped[:] = np.arange(100) % 7
    for name in SET_FUNCTION_NAMES:
        result = getattr(fastsel, name)(mapped, [1, 5, 9])
        assert_same(result, getattr(np, name)(np.asarray(mapped), [1, 5, 9]))


@pytest.mark.parametrize("name", SET_FUNCTION_NAMES)
@pytest.mark.parametrize("position", [0, 1])
@pytest.mark.parametrize("dtype", ["i8", ">c16", ">U1"])
def test_an_override_gets_the_numpy_function_and_the_arguments(name, position, dtype):
    arrays = [np.arange(3).astype(dtype), np.arange(2).astype(dtype)]
    arrays[position] = Overriding()
    func, types, args, kwargs = getattr(fastsel, name)(*arrays)
    assert func is getattr(np, name)
    assert {*types} >= {Overriding}
    assert [*args] == arrays or args is arrays
    assert kwargs == {}


@pytest.mark.parametrize("dtype", [">c16", ">U3", ">i4"])
@pytest.mark.parametrize("assume_unique", [False, True])
def test_setdiff1d_keeps_the_byte_order_beside_a_subclass(dtype, assume_unique):
    arrays = np.array([1, 2, 3]).astype(dtype), np.array([[1, 5]]).astype(dtype).view(Plain)
    expected = np.setdiff1d(*(array.astype(dtype[1:]) for array in arrays)).astype(dtype)
    assert_same(fastsel.setdiff1d(*arrays, assume_unique), expected)


@pytest.mark.parametrize("name", SET_FUNCTION_NAMES)
def test_arrays_of_unlike_dtypes_return_or_raise_as_in_numpy(name):
    for first, second in (
        (np.arange(3), np.array(["2001-01-01"], "M8[D]")),
        (np.zeros(20, "i4,f4"), np.zeros(20)),
        (np.array([1, "a", None], object), np.array([1])),
    ):
        ours, theirs = (outcome(getattr(m, name), first, second) for m in (fastsel, np))
        assert ours[0] == theirs[0]
        if theirs[0] == "raises":
            assert ours[1] is theirs[1]
        else:
            assert_same(ours[1], theirs[1])


OBJECTS = {
    "str": lambda k: str(k % 50),
    "bytes": lambda k: str(k % 50).encode(),
    "int": lambda k: k % 50 - 25,
    "float": lambda k: float("nan") if k % 7 == 0 else k % 50 / 2,
    "mixed": lambda k: [k % 3, float(k % 3), str(k % 3), None, True, 1j, b"1", 2**70][k % 8],
    "nan": lambda k: float("nan"),
    "tuple": lambda k: (k % 3,),
    "list": lambda k: [k % 3],
    "equal_to_all": lambda k: EqualToAll() if k % 9 == 0 else k % 20,
}


class EqualToAll:
    """An object that equals each object. NumPy compares it with each item; a Python set compares it
    only with items of the same hash."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 7


@pytest.mark.parametrize("kind", OBJECTS)
@pytest.mark.parametrize("count", [1, 7, 8, 60])
@pytest.mark.parametrize("invert", [False, True])
def test_isin_of_objects_returns_or_raises_as_in_numpy(kind, count, invert):
    items, tests = np.empty(300, object), np.empty(count, object)
    for array, step in ((items, 1), (tests, 3)):
        for k in range(len(array)):
            array[k] = OBJECTS[kind](k * step)

    def call(function):
        return function(items, tests, invert=invert)

    assert_same_outcome(outcome(call, fastsel.isin), outcome(call, np.isin))


@pytest.mark.parametrize(
    "name", [*(name for name in SET_FUNCTION_NAMES if name != "union1d"), "index_in"]
)
def test_signalling_nan_cause_no_warning_where_numpy_does_not_warn(name, recwarn):
    small = np.arange(100, dtype=np.float32)
    small[3:4].view(np.uint32)[:] = 0x7F800001
    large = np.arange(60_000.0)
    for first, second in ((large, small), (small, large), (large + 0j, small)):
        getattr(fastsel, name)(first, second)
        getattr(fastsel, name)(first[:, np.newaxis], second[:, np.newaxis], axis=0)
    assert [str(warning.message) for warning in recwarn] == []


@pytest.mark.parametrize("size", [4, 100, 3000])
@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("name", ["isin", "setdiff1d", "intersect1d", "index_in"])
def test_signalling_nan_in_complex_numbers_cause_no_warning(name, dtype, size, recwarn):
    """NumPy's isin would warn."""
    first, second = np.arange(size).astype(dtype), np.arange(3).astype(dtype)
    part = first.view(first.real.dtype)[5:6]
    part.view(f"u{part.itemsize}")[:] = 0x7F800001 if dtype == "c8" else 0x7FF0000000000001
    getattr(fastsel, name)(first, second)
    assert [str(warning.message) for warning in recwarn] == []


@pytest.mark.parametrize("size", [0, 5, 20_000])
@pytest.mark.parametrize("name", ["intersect1d", "union1d", "setdiff1d", "setxor1d"])
def test_equal_dtypes_of_different_characters_have_the_result_dtype_of_numpy(name, size):
    """Where long has 8 bytes, "l" equals "q", and where it has 4 bytes, "l" equals "i"."""
    numbers = np.arange(size)
    for first, second in itertools.product("ilqpILQPdgDG", repeat=2):
        if np.dtype(first) == np.dtype(second):
            arrays = numbers.astype(first), numbers[3:].astype(second)
            ours, theirs = (getattr(library, name)(*arrays) for library in (fastsel, np))
            assert ours.dtype.char == theirs.dtype.char, (first, second)
            assert_same(ours, theirs)


@pytest.mark.parametrize("count", [0, 1, 2, 7, 8, 9, 60, 3000])
def test_setdiff1d_of_objects_without_a_common_order_returns_or_raises_as_in_numpy(count):
    """Repeated complex numbers are objects without an order: NumPy's unique raises an error."""
    for items in (
        ["a", "b"],
        ["a", 1],
        [1, 2.5],
        [2],
        [1j, 2j],
        [None],
        [None, None],
        [(1,), (2,)],
    ):
        for tests in ([1j] * count, ["b", 1] * count, [None] * count, ["b"] * count, [1] * count):
            first, second = np.empty(len(items), object), np.empty(len(tests), object)
            first[:], second[:] = items, tests
            for arrays in ((first, second), (second, first)):
                ours, theirs = (outcome(m.setdiff1d, *arrays) for m in (fastsel, np))
                assert ours[:2] == theirs[:2] if theirs[0] == "raises" else ours[0] == "returns"
                if theirs[0] == "returns":
                    assert ours[1].tolist() == theirs[1].tolist()


NOON = datetime.datetime(2026, 1, 1, 12)
VALUES = {
    "dates": [NOON.date(), NOON, NOON.replace(tzinfo=datetime.UTC), NOON.time(), NOON - NOON],
    "numbers": [Decimal("0.5"), 0.5, Fraction(1, 2), Decimal("NaN"), Decimal(2), 2, 2 + 0j, True],
    "tuples": [(1, "a"), (1.0, "a"), ((1, 2), None), ((1, 2.0), None), (), (float("nan"),), "a"],
    "tuples_of_lists": [(1, [2]), (1.0, [2]), ([2],), (2,), (2.0,), ("a",), ()],
    "tuples_of_equal_to_all": [(1, EqualToAll()), (1, 2), (EqualToAll(), 2), (3, 4), ()],
    "ids": [uuid.UUID(int=5), uuid.UUID(int=6), 5, "5", uuid.UUID(int=5)],
}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("count", [1, 8, 60])
def test_objects_that_are_hashed_are_found_as_by_comparison(kind, count):
    rng = np.random.default_rng(count)
    items, tests = np.empty(200, object), np.empty(count, object)
    for array in (items, tests):
        for k, number in enumerate(rng.integers(0, len(VALUES[kind]), len(array)).tolist()):
            array[k] = VALUES[kind][number]
    equal = [[k for k, test in enumerate(tests) if item == test] for item in items]
    expected = [positions[0] if positions else -1 for positions in equal]
    assert fastsel.index_in(items, tests).tolist() == expected
    assert fastsel.isin(items, tests).tolist() == [index >= 0 for index in expected]


def test_scalars_of_pandas_are_found():
    pandas = pytest.importorskip("pandas", reason="needs pip install pandas")
    days = pandas.date_range("2026-01-01", periods=3000, tz="Europe/Paris").to_numpy(object)
    assert fastsel.index_in(days[::-1], days).tolist() == [*range(2999, -1, -1)]
    assert fastsel.isin(np.array([days[5], pandas.NaT, 3], object), days).tolist() == [
        True,
        False,
        False,
    ]


def test_offsets_of_pandas_are_compared_as_in_numpy():
    """Equal offsets may have different hashes."""
    pandas = pytest.importorskip("pandas", reason="needs pip install pandas")
    tests, items = np.empty(9, object), np.empty(2, object)
    tests[:] = [pandas.offsets.Hour(k) for k in range(1, 10)]
    items[:] = [pandas.Timedelta(hours=2), pandas.offsets.Minute(60)]
    assert fastsel.isin(items, tests).tolist() == [True, True]
    assert fastsel.index_in(items, tests).tolist() == [1, 0]


def test_a_comparison_with_na_of_pandas_raises_the_error_of_numpy():
    pandas = pytest.importorskip("pandas", reason="needs pip install pandas")
    names = np.array([*"abcdefghij"], object)
    for items, tests in (
        (np.array(["a", pandas.NA], object), names),
        (names, [*"bcdefghi", pandas.NA]),
    ):
        for function in (fastsel.isin, fastsel.index_in, np.isin):
            with pytest.raises(TypeError, match="NA is ambiguous"):
                function(items, np.array(tests, object))


def test_objects_of_equal_hashes_are_found_by_equality():
    """Multiples of 2^61 - 1 have the hash 0; -1 and -2 have the hash -2."""
    numbers = [*(k * (2**61 - 1) for k in range(40)), -1, -2, 0.5]
    items, tests = np.array(numbers, object), np.array(numbers[::-2], object)
    among = [k % 2 == 0 for k in range(43)]
    assert fastsel.isin(items, tests).tolist() == among
    index = [numbers[::-2].index(number) if k % 2 == 0 else -1 for k, number in enumerate(numbers)]
    assert fastsel.index_in(items, tests).tolist() == index
    assert fastsel.setdiff1d(items, tests).tolist() == sorted(numbers[1::2])
    assert fastsel.unique(np.repeat(items, 3), sorted=False).tolist() == numbers


@pytest.mark.parametrize("kind", ["i8", "f8", "f2", "?", "M8[s]", "S3", ">i4", "c16"])
@pytest.mark.parametrize("name", ["intersect1d", "union1d", "setdiff1d", "setxor1d"])
def test_metadata_of_the_dtype_is_that_of_numpy(name, kind):
    items = (np.arange(3000) % 60).astype("i8").astype(kind)
    described = items.astype(np.dtype(kind, metadata={"unit": "m"}))
    for size in (40, 3000):
        for first, second in itertools.product((items, described), repeat=2):
            args = first[:size], second[size // 4 : size]
            ours, theirs = getattr(fastsel, name)(*args), getattr(np, name)(*args)
            assert ours.dtype.metadata == theirs.dtype.metadata
