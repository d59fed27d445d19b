"""Numbers whose dtype has fields, such as ``np.dtype(("f8", [("low", "u4"), ("high", "u4")]))``:
each operator has the result that it has for the same numbers without fields."""

import numpy as np
import pytest
from arrays import LONG_DTYPES

import fastsel
from fastsel._core import _dtypes
from fastsel._unique import _keys

SIZES = (0, 5, 700, 17_000)
SHARES = (0, "one", 0.4, 0.6, 0.99, 1)

FLAGS = [
    {"return_index": k & 1, "return_inverse": k & 2, "return_counts": k & 4, "equal_nan": k < 8}
    for k in range(16)
]
SET_FUNCTIONS = ("isin", "intersect1d", "union1d", "setdiff1d", "setxor1d", "index_in")


def with_fields(dtype):
    """The dtype with two fields, each of half of its bytes, in the byte order of the dtype."""
    dtype = np.dtype(dtype)
    native = dtype.newbyteorder("=")
    half = f"u{dtype.itemsize // 2}" if dtype.itemsize <= 16 else "V16"
    fielded = np.dtype((native, [("low", half), ("high", half)]))
    return fielded if dtype.isnative else fielded.newbyteorder()


def make_numbers(dtype, size, share):
    """Numbers of which some are zero; this share of them, or one, is NaN or NaT."""
    random = np.random.default_rng(7)
    numbers = random.integers(0, size // 3 + 1, size).astype(dtype)
    if numbers.dtype.kind in "fcmM":
        is_nan = np.arange(size) == size // 2 if share == "one" else random.random(size) < share
        numbers[is_nan] = "NaT" if numbers.dtype.kind in "mM" else np.nan
    return numbers


def assert_same_numbers(actual, expected, dtype=None):
    """Check that two results have the same bytes. `dtype` is the dtype, with fields or without, of
    the first output."""
    if isinstance(expected, tuple):
        assert len(actual) == len(expected)
        for k, (ours, theirs) in enumerate(zip(actual, expected, strict=True)):
            assert_same_numbers(ours, theirs, None if k else dtype)
        return
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    assert actual.dtype.str == expected.dtype.str
    assert actual.dtype.fields == (dtype and dtype.fields)
    actual = actual.view(actual.dtype.str)
    if actual.dtype.newbyteorder("=") in LONG_DTYPES:  # their padding may differ
        np.testing.assert_array_equal(actual, expected)
    else:
        assert actual.tobytes() == expected.tobytes()


DTYPES = ["f8", ">f8", "f4", "f2", ">f2", "i8", ">i8", "c16", ">c16", "M8[25s]", "longdouble"]


@pytest.fixture(params=DTYPES)
def pairs(request):
    """(numbers with fields, the same numbers without them), of each size and share of NaN."""
    numbers = [make_numbers(request.param, size, s) for size in SIZES for s in SHARES]
    return [(array.view(with_fields(request.param)), array) for array in numbers]


def test_unique_and_group_indices(pairs):
    for fielded, plain in pairs:
        calls = [(fastsel.unique, flags) for flags in FLAGS]
        calls += [(fastsel.unique, flags | {"sorted": False}) for flags in FLAGS]
        calls += [(fastsel.group_indices, {"sorted": flag}) for flag in (True, False)]
        names = ("unique_all", "unique_counts", "unique_inverse", "unique_values")
        calls += [(getattr(fastsel, name), {}) for name in names]
        for function, keywords in calls:
            expected = function(plain, **keywords)
            assert_same_numbers(function(fielded, **keywords), expected, fielded.dtype)


def test_unique_along_an_axis(pairs):
    """The values have no fields and are native, as in NumPy."""
    for fielded, plain in pairs:
        if len(plain):
            native = plain.astype(plain.dtype.newbyteorder("="))
            arguments = {"axis": 0, "return_inverse": True}
            actual = fastsel.unique(fielded.reshape(-1, 1), **arguments)
            expected = fastsel.unique(native.reshape(-1, 1), **arguments)
            np.testing.assert_array_equal(actual[0], expected[0])
            if native.dtype.kind not in "mM":  # NumPy leaves the order of NaT undefined
                assert actual[1].tolist() == expected[1].tolist()


def check_set_functions(fielded, plain, other, plain_other):
    """Check that the functions have the results that they have without the fields. The common dtype
    of numbers has no fields, that of strings may have them."""
    for one, two, plain_one, plain_two in (
        (fielded, other, plain, plain_other),
        (other, fielded, plain_other, plain),
    ):
        common = np.result_type(one, two)
        for name in SET_FUNCTIONS:
            function = getattr(fastsel, name)
            dtype = {"isin": None, "index_in": None, "setdiff1d": one.dtype}.get(name, common)
            assert_same_numbers(function(one, two), function(plain_one, plain_two), dtype)
        assert_same_numbers(
            fastsel.intersect1d(one, two, return_indices=True),
            fastsel.intersect1d(plain_one, plain_two, return_indices=True),
            common,
        )


def test_set_functions(pairs):
    """The other array has fields, or not; few items, or many; the other byte order."""
    for fielded, plain in pairs:
        for part in (slice(None, None, 2), slice(3)):
            check_set_functions(fielded, plain, fielded[part], plain[part])
            check_set_functions(fielded, plain, plain[part], plain[part])
        swapped = plain[::2].astype(plain.dtype.newbyteorder())
        check_set_functions(fielded, plain, swapped.view(with_fields(swapped.dtype)), swapped)


def test_selection_and_positions(pairs):
    for fielded, plain in pairs:
        for name in ("nonzero", "flatnonzero", "argwhere", "count_nonzero", "first_nonzero"):
            function = getattr(fastsel, name)
            assert_same_numbers(function(fielded), function(plain))
        assert_same_numbers(*map(fastsel.nonzero_coordinates, (fielded, plain)))
        mask = np.arange(len(plain)) % 3 == 0
        indices = np.flatnonzero(mask).reshape(-1, 1)
        for function, *arguments in (
            (lambda a: fastsel.compress(a, a),),
            (lambda a: fastsel.extract(a, a),),
            (fastsel.boolean_mask, mask),
            (fastsel.gather_nd, indices),
        ):
            ours, theirs = (function(array, *arguments) for array in (fielded, plain))
            assert_same_numbers(ours, theirs, fielded.dtype)


@pytest.mark.parametrize("name", ["S8", "U2", ">U2", "?"])
def test_strings_and_bool_with_fields(name):
    halves = {"S8": "S4", "U2": "U1", ">U2": "U1", "?": "u1"}[name]
    fields = [("low", halves), ("high", halves)][: 1 if name == "?" else 2]
    plain = (np.arange(900) % 7).astype(name)
    dtype = np.dtype((plain.dtype.newbyteorder("="), fields))
    fielded = plain.view(dtype if plain.dtype.isnative else dtype.newbyteorder())
    assert_same_numbers(fastsel.unique(fielded), fastsel.unique(plain), fielded.dtype)
    for part in (slice(3), slice(3, None)):
        check_set_functions(fielded, plain, fielded[part], plain[part])
        check_set_functions(fielded, plain, plain[part], plain[part])


@pytest.mark.parametrize("share", [0.4, 0.6, 1])
@pytest.mark.parametrize("dtype", [np.longdouble, np.clongdouble])
def test_long_doubles_without_keys_are_left_to_numpy(dtype, share, monkeypatch):
    """Long doubles of two doubles (ppc64) have no keys; other ones are treated alike here."""
    numbers = make_numbers(dtype, 2000, share)[::-1]
    others = numbers[:500].copy()
    calls = [(fastsel.unique, numbers), (fastsel.unique_counts, numbers)]
    calls += [(getattr(fastsel, name), numbers, others) for name in SET_FUNCTIONS]
    expected = [function(*arrays) for function, *arrays in calls]
    caches = _dtypes.key_rule, _dtypes.loaded_key_rule, _keys.loaded_rule
    for cached in caches:
        cached.cache_clear()
    key_rule_of_float = _dtypes._float_key_rule
    monkeypatch.setattr(
        _dtypes,
        "_float_key_rule",
        lambda size, bits: None if size > 8 else key_rule_of_float(size, bits),
    )
    try:
        assert _dtypes.key_rule(np.dtype(dtype)) is None or np.dtype(dtype).itemsize <= 16
        for (function, *arrays), result in zip(calls, expected, strict=True):
            np.testing.assert_equal(function(*arrays), result)
    finally:
        for cached in caches:
            cached.cache_clear()
