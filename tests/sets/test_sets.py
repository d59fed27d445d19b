"""isin, intersect1d, union1d, setdiff1d and setxor1d of arrays of every dtype, layout and shape."""

import itertools

import numpy as np
import pytest
import reference
from arrays import BYTES_DTYPES, DTYPES, STRUCT_DTYPES, in_a_row, scattered, values_for_dtype
from comparison import (
    SORTED_SET_FUNCTIONS,
    assert_same,
    assert_same_outcome,
    check_set_functions,
    outcome,
    two_arrays,
)
from forcing import ALGORITHMS, force
from grids import covering
from hypothesis import given
from hypothesis import strategies as st
from layouts import LAYOUTS, has_layout
from marks import SIGNALLING_NANS
from numpy.dtypes import StringDType

import fastsel
from fastsel._core import _dtypes

pytestmark = SIGNALLING_NANS

# The dtypes whose items the set functions turn into keys.
KEY_DTYPES = {name: dtype for name, dtype in BYTES_DTYPES.items() if name not in STRUCT_DTYPES}


@covering(
    at_least=60,
    name=KEY_DTYPES,
    layout=LAYOUTS,
    sizes=[(300, 40), (40, 300)],
)
def test_every_dtype_and_layout_equals_the_reference(name, layout, sizes, kernels_with_few_threads):
    dtype = KEY_DTYPES[name]
    if not has_layout(dtype, layout):
        return
    arrays = two_arrays(dtype, sizes)
    check_set_functions(*(LAYOUTS[layout](array) for array in arrays))


@covering(
    at_least=120,
    name=KEY_DTYPES,
    sizes=[(1, 2), (30, 3), (7, 100), (400, 100), (400, 101)],
    make_items=[scattered, in_a_row],
)
def test_arrays_of_up_to_500_items_equal_the_reference(name, sizes, make_items):
    """NumPy serves most of these arrays if their items are not words."""
    check_set_functions(*two_arrays(KEY_DTYPES[name], sizes, make_items))


@pytest.mark.skipif(np.finfo("g").nmant != 63, reason="needs numbers of x87")
def test_few_numbers_of_two_forms_equal_the_reference():
    """The x87 formats have two forms of the numbers below twice the smallest normal one."""
    forms = np.zeros((2, 16), np.uint8)
    forms[:, 7], forms[1, 8] = 0x80, 1
    pool = np.append(forms.view("g").ravel(), np.array([0, 1, 2], "g"))
    rng = np.random.default_rng(1)
    for size in (2, 40, 240):
        first, second = rng.choice(pool, size), rng.choice(pool, size)
        check_set_functions(first, second)
        assert fastsel.unique(first).tobytes() == reference.unique(first).tobytes()


@pytest.mark.parametrize("dtype", ["c8", "c16", "g", "G"])
def test_few_zeros_of_both_signs_and_nan_equal_the_reference(dtype):
    pool = np.array([0.0, -0.0, 1, -1, 2, np.nan, np.inf], dtype)
    if pool.dtype.kind == "c":
        pool = (pool[:, np.newaxis] + pool * pool.dtype.type(1j)).ravel()
    rng = np.random.default_rng(1)
    for size in (1, 2, 5, 40):
        check_set_functions(rng.choice(pool, size), rng.choice(pool, size))


@covering(
    at_least=70,
    name=KEY_DTYPES,
    algorithm=ALGORITHMS,
    inputs=[((1500, 70), scattered), ((70, 1500), in_a_row), ((500, 500), scattered)],
)
def test_every_algorithm_equals_the_reference(
    name, algorithm, inputs, kernels_with_few_threads, monkeypatch
):
    force(monkeypatch, algorithm)
    check_set_functions(*two_arrays(KEY_DTYPES[name], *inputs))


@covering(at_least=24, name=KEY_DTYPES, sizes=[(20_000, 40), (300, 17_000), (17_000, 17_000)])
def test_many_items_of_few_values_equal_the_reference(name, sizes, kernels_with_few_threads):
    """If few items are distinct, the set functions look up the distinct values, not all items."""
    first, second = two_arrays(KEY_DTYPES[name], (90, 60))
    random = np.random.default_rng(1)
    arrays = [
        values[random.integers(0, len(values), size)]
        for values, size in zip((first, second), sizes, strict=True)
    ]
    check_set_functions(*arrays)


@pytest.mark.parametrize("name", KEY_DTYPES)
def test_small_arrays_equal_the_reference(name):
    """No kernel is forced: small arrays take the path of ordinary calls."""
    grid = [*itertools.product((0, 1, 2, 7, 63, 64, 65), repeat=2)]
    for sizes in [*values_for_dtype(name, grid, 8), (1, 700), (700, 1), (130, 130)]:
        check_set_functions(*two_arrays(KEY_DTYPES[name], sizes))


@covering(
    at_least=8,
    name=["int64", "float64", "uint8", "int16", "U8", "complex128"],
    nbytes=[(160_000, 240_000), (600_000, 160_000), (16_000, 560_000)],
)
def test_large_arrays_equal_the_reference(name, nbytes):
    dtype = KEY_DTYPES[name]
    sizes = [length // max(8, dtype.itemsize) for length in nbytes]
    check_set_functions(*two_arrays(dtype, sizes))


@given(data=st.data())
def test_any_integers_equal_the_reference(data):
    """Integers are any int64, or from -70 to 70: both arrays may have some of the small ones."""
    numbers = st.integers(-(2**63), 2**63 - 1) | st.integers(-70, 70)
    first, second = (np.array(data.draw(st.lists(numbers, max_size=40)), "i8") for _ in range(2))
    check_set_functions(first, second)


@given(data=st.data())
def test_any_floats_equal_the_reference(data):
    width = data.draw(st.sampled_from([16, 32, 64]))
    numbers = st.lists(st.floats(width=width), max_size=40)
    first, second = (np.array(data.draw(numbers), f"f{width // 8}") for _ in range(2))
    check_set_functions(first, second)


@pytest.mark.parametrize("name", [name for name in DTYPES if name not in KEY_DTYPES])
def test_other_dtypes_return_or_raise_as_in_numpy(name):
    first, second = two_arrays(DTYPES[name], (30, 20), in_a_row)
    for function in ("isin", *SORTED_SET_FUNCTIONS):
        assert_same_outcome(
            outcome(getattr(fastsel, function), first, second),
            outcome(getattr(np, function), first, second),
        )


# Shapes.

SHAPES = [(), (1,), (0,), (6,), (2, 3), (3, 0, 2), (1, 1, 6)]


@pytest.mark.parametrize("dtype", ["i8", "f4", "U3"])
def test_every_shape_equals_numpy(dtype, kernels_with_few_threads):
    for first_shape, second_shape in itertools.product(SHAPES, repeat=2):
        first, second = np.arange(6).astype(dtype), np.arange(3, 9).astype(dtype)
        first = (
            np.resize(first, first_shape) if np.prod(first_shape) else np.empty(first_shape, dtype)
        )
        second = (
            np.resize(second, second_shape)
            if np.prod(second_shape)
            else np.empty(second_shape, dtype)
        )
        for name in ("isin", *SORTED_SET_FUNCTIONS):
            expected = getattr(np, name)(first, second)
            assert_same(getattr(fastsel, name)(first, second), expected)
            if name != "isin":
                assert_same(getattr(fastsel, name)(first.T, second[...]), expected)


# Equality of items.


def test_nan_never_matches(kernels_with_few_threads):
    for dtype in ("f2", "f4", "f8", "g", "c8", "c16"):
        array = np.array([np.nan, 1, -0.0, np.nan], dtype)
        assert fastsel.isin(array, array).tolist() == [False, True, True, False]
        assert fastsel.isin(array, array, invert=True).tolist() == [True, False, False, True]
        assert fastsel.isin(array, np.array([0.0], dtype)).tolist() == [False, False, True, False]
        assert len(fastsel.intersect1d(array, array)) == 2
        assert len(fastsel.union1d(array, array)) == 3
        assert np.isnan(fastsel.setdiff1d(array, array)).tolist() == [True]
        assert np.isnan(fastsel.setxor1d(array, array)).tolist() == [True, True]


def test_nat_never_matches(kernels_with_few_threads):
    for dtype in ("M8[D]", "m8[s]"):
        for numbers in (np.arange(5), np.arange(5) * 10**12):
            array = numbers.astype("m8[s]").view("i8").view(dtype)
            array[2] = "NaT"
            assert fastsel.isin(array, array).tolist() == [True, True, False, True, True]
            assert len(fastsel.intersect1d(array, array)) == 4
            assert np.isnat(fastsel.setxor1d(array, array)).tolist() == [True, True]


def test_nat_never_matches_in_a_range_of_large_times(kernels_with_few_threads, monkeypatch):
    """The table entry after that of the largest time belongs to NaT."""
    monkeypatch.setattr("fastsel._sets._membership._by_hash", None)
    times = (np.iinfo("i8").max - np.arange(300)).view("M8[s]")
    tests = np.append(times[::2], np.datetime64("NaT", "s"))
    items = np.append(times, [np.datetime64("NaT", "s"), np.datetime64(0, "s")])
    expected = [True, False] * 150 + [False, False]
    assert fastsel.isin(items, tests).tolist() == expected
    assert fastsel.isin(items, tests, invert=True).tolist() == [not found for found in expected]


@pytest.mark.parametrize("n_nan", [1500, 4900])
def test_many_nan_among_the_tests_never_match(n_nan, num_threads, monkeypatch):
    """If at least half of a sample of the tests is NaN, all NaN are removed before the lookup."""
    tests = np.arange(5000) % 100.0
    tests[:n_nan] = np.nan
    assert _dtypes.mostly_nan(tests) == (n_nan == 4900)
    # A hash table has the keys of the smaller array.
    for algorithm, repeats in itertools.product(ALGORITHMS, (1, 30)):
        force(monkeypatch, algorithm)
        items = np.tile(np.append(np.arange(200.0), [np.nan]), repeats)
        expected = ([True] * 100 + [False] * 101) * repeats
        assert fastsel.isin(items, tests).tolist() == expected
        assert fastsel.isin(tests, items).sum() == 5000 - n_nan
        assert fastsel.isin(tests.astype("c16"), items.astype("c16")).sum() == 5000 - n_nan


# Two dtypes.

DTYPES_TO_COMBINE = (
    *("?", "i1", "u1", "i2", "u4", "i4", "i8", "u8", ">i4", "f2", "f4", "f8", "g", "c8", "c16"),
    *("U1", "U3", "S2", "S5", ">U3", "M8[s]", "M8[D]", "m8[s]", "V3", "O"),
)


def edges(dtype):
    """Items of a dtype; numbers are within and beyond the limits of other dtypes."""
    numbers = [0, 1, 2, 3, 100, 127, 128, 200, 255, 256, 2047, 2048, 2049, 32767, 32768, 65535]
    dtype = np.dtype(dtype)
    if dtype.kind in "SUO":
        return np.array(["", "a", "ab", "abc", "abcd", "b"]).astype(dtype)
    if dtype.kind == "V":
        return np.array([b"a", b"abc", b"b"], "S3").view("V3")
    if dtype.kind in "mM":
        return np.array([0, 1, 86400, 86401, -1, -(2**63)], "m8[s]").view("i8").view(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        numbers += [2**24, 2**24 + 1, 2**31 - 1, 2**31, 2**32, -1, -128, -129, info.min, info.max]
        return np.array([k for k in numbers if info.min <= k <= info.max], dtype)
    if dtype.kind == "b":
        return np.array([True, False])
    numbers += [0.5, -1, -0.0, 2**24, 2**31, 1e30, -np.inf, np.nan]
    with np.errstate(over="ignore"):
        return np.array(numbers).astype(dtype)


@pytest.mark.parametrize("dtype", ["i2", "i8", "f8", "U3"])
def test_contiguous_items_at_odd_addresses_equal_the_reference(dtype):
    """The items begin one byte after the start of a buffer; arrays are small and large."""
    for size in (30, 20_000):
        array = (np.arange(size) % 999).astype(dtype)
        at_odd_address = np.frombuffer(b"x" + array.tobytes(), dtype, size, 1)
        assert at_odd_address.flags.c_contiguous
        for first, second in (
            (at_odd_address, array[::2].copy()),
            (array[::2].copy(), at_odd_address),
            (at_odd_address, at_odd_address),
        ):
            check_set_functions(first, second)


@pytest.mark.parametrize("first_dtype", DTYPES_TO_COMBINE)
@pytest.mark.parametrize("second_dtype", DTYPES_TO_COMBINE)
def test_two_dtypes_return_or_raise_as_in_numpy(first_dtype, second_dtype):
    """Values and dtypes equal NumPy's; errors are of the same type. NumPy compares few tests in
    another way than many."""
    first = edges(first_dtype)
    for second in (edges(second_dtype), np.resize(edges(second_dtype), 100)):
        for name in ("isin", *SORTED_SET_FUNCTIONS):
            expected = outcome(getattr(np, name), first, second)
            actual = outcome(getattr(fastsel, name), first, second)
            assert actual[:2] == expected[:2] if expected[0] == "raises" else True, (name, actual)
            if expected[0] == "returns":
                # Zeros and NaN may differ in their bits.
                assert actual[1].dtype == expected[1].dtype
                np.testing.assert_array_equal(actual[1], expected[1])


def test_large_integers_are_compared_exactly():
    """If there are many tests in a wide range, NumPy sorts int64 beside uint64 as float64."""
    tests = np.append(np.arange(50, dtype="u8") * 2**57, np.array([2**53, 2**64 - 1], "u8"))
    items = np.array([2**53, 2**53 + 1, -1, -(2**63)])
    assert fastsel.isin(items, tests).tolist() == [True, False, False, False]
    assert fastsel.isin(tests[-2:], items).tolist() == [True, False]
    assert fastsel.setdiff1d(items, tests).tolist() == [-(2**63), -1, 2**53 + 1]


@covering(at_least=9, share=[0.5, 1],
          dtype=["f2", "f4", "f8", "g", "c8", "c16", "M8[s]", "m8[s]", ">f8"])  # fmt: skip
def test_arrays_of_mostly_nan_equal_the_reference(dtype, share):
    """If at least half of a sample of either array is NaN, the lookup leaves out all NaN."""
    random = np.random.default_rng(2)
    first, second = (random.integers(0, 9000, size) for size in (20_000, 30_000))
    a, b = first.astype(dtype), second.astype(dtype)
    for array in (a, b):
        array[random.random(array.size) < share] = (
            np.array("nat", dtype) if dtype[0] in "mM" else np.nan
        )
    check_set_functions(a, b)


@pytest.mark.parametrize("size", [1, 700, 9000])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c16"])
def test_equal_values_have_the_bits_of_the_first_one(dtype, size, kernels_with_few_threads):
    first = np.tile(np.array([-0.0, 0.0], dtype), size)
    for one, other in ((first, first[::-1]), (first[::-1], first)):
        for name in ("intersect1d", "union1d"):
            assert getattr(fastsel, name)(one, other).tobytes() == one[:1].tobytes()
        for name in ("setdiff1d", "setxor1d"):
            assert getattr(fastsel, name)(one, one[:0]).tobytes() == one[:1].tobytes()


@pytest.mark.parametrize("size", [1, 4, 9, 60, 1001, 17_000])
@pytest.mark.parametrize("n_tests", [0, 1, 2, 15, 900])
@pytest.mark.parametrize(
    "dtype", [StringDType(), StringDType(na_object=np.nan), "U3", ">U3"], ids=str
)
def test_variable_width_strings_are_compared_to_their_ends(size, n_tests, dtype):
    """NumPy before 2.5.1 compares them up to the first NUL."""
    items = ["a\0b", "a\0c", "a", "a\0d", "b"] * (size // 5 + 1)
    tests = ["a\0d", "a\0c", "a\0e"] * (n_tests // 3 + 1)
    items, tests = items[:size], tests[:n_tests]
    for first, second, one, other in (
        (items, tests, StringDType(), dtype),
        (tests, items, dtype, StringDType()),
    ):
        arrays = np.array(first, one), np.array(second, other)
        among = [item in second for item in first]
        assert fastsel.isin(*arrays).tolist() == among
        assert fastsel.isin(*arrays, invert=True).tolist() == [not flag for flag in among]
        index = [second.index(item) if item in second else -1 for item in first]
        assert fastsel.index_in(*arrays).tolist() == index
        common = sorted({*first} & {*second})
        expected = [common, *([array.index(item) for item in common] for array in (first, second))]
        outputs = fastsel.intersect1d(*arrays, return_indices=True)
        assert [output.tolist() for output in outputs] == expected
        assert fastsel.intersect1d(*arrays).tolist() == common
        assert fastsel.union1d(*arrays).tolist() == sorted({*first} | {*second})
        assert fastsel.setdiff1d(*arrays).tolist() == sorted({*first} - {*second})
        assert fastsel.setxor1d(*arrays).tolist() == sorted({*first} ^ {*second})
        for name in ("intersect1d", "union1d", "setdiff1d", "setxor1d"):
            expected = getattr(np, name)(*(array[:0] for array in arrays)).dtype
            assert getattr(fastsel, name)(*arrays).dtype == expected


def test_missing_strings_never_match():
    dtype = StringDType(na_object=np.nan)
    for repeats in (1, 2000):
        first = np.array(["a", np.nan, "b"] * repeats, dtype)
        second = np.array(["b", np.nan, "c"] * repeats, dtype)
        assert fastsel.isin(first, second).tolist() == [False, False, True] * repeats
        assert fastsel.index_in(first, second).tolist() == [-1, -1, 0] * repeats
        assert fastsel.intersect1d(first, second).tolist() == ["b"]
        for name, values in (
            ("union1d", ["a", "b", "c", np.nan]),
            ("setdiff1d", ["a", np.nan]),
            ("setxor1d", ["a", "c", np.nan, np.nan]),
        ):
            assert repr(getattr(fastsel, name)(first, second).tolist()) == repr(values)


@pytest.mark.parametrize("name", ["intersect1d", "union1d", "setdiff1d", "setxor1d"])
@pytest.mark.parametrize("n_tests", [0, 1, 60])
def test_missing_strings_without_order_raise_as_in_numpy(name, n_tests):
    dtype = StringDType(na_object=None)
    first, second = np.array(["a", None, "b"], dtype), np.array(["b"] * n_tests, dtype)
    for arrays in ((first, second), (second, first), (first[:1], second)):
        ours, theirs = (outcome(getattr(m, name), *arrays) for m in (fastsel, np))
        assert_same_outcome(ours, theirs)
