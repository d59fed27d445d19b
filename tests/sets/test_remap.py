"""remap: each item that equals a key becomes the value of this key."""

import datetime

import numpy as np
import pytest
import reference
from arrays import DTYPES, grouped, in_a_row, objects, scattered
from comparison import assert_same, two_arrays
from forcing import ALGORITHMS, force
from hypothesis import given
from hypothesis import strategies as st
from layouts import LAYOUTS, has_layout
from marks import SIGNALLING_NANS
from numpy.dtypes import StringDType
from special_numbers import numbers_with_nan_and_zeros

import fastsel
from fastsel._sets._membership import FEW_ITEMS
from fastsel._sets.few_tests import MAX_TESTS
from fastsel._unique import _keys

pytestmark = SIGNALLING_NANS

# Values of each width that has a loop of its own, of other widths, and of rows.
VALUE_DTYPES = ("u1", "f2", ">i4", "f8", "c16", "S3", "U5", "V32", "object")
ROWS = ((), (1,), (3,), (2, 5))


def values_of(dtype, length, row=()):
    return grouped(np.dtype(dtype), length * int(np.prod(row)), 50).reshape(length, *row)


def case(a, keys, values, **options):
    """A call, and the outcome of the reference: a result, or the text of an error."""
    try:
        return (a, keys, values), options, reference.remap(a, keys, values, **options)
    except ValueError as error:
        return (a, keys, values), options, str(error)


def check(arguments, options, expected):
    """fastsel has the outcome of the reference, and leaves the arguments unmodified."""
    before = tuple(argument.copy() for argument in arguments)
    if isinstance(expected, str):
        with pytest.raises(ValueError) as caught:
            fastsel.remap(*arguments, **options)
        assert expected in str(caught.value)
    else:
        assert_same(fastsel.remap(*arguments, **options), expected)
    assert_same(tuple(argument.copy() for argument in arguments), before)


def assert_equals_the_reference(a, keys, values, **options):
    check(*case(a, keys, values, **options))


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_and_layout_of_items_equals_the_reference(name, each_num_threads):
    dtype = DTYPES[name]
    items = grouped(dtype, 120, 30).reshape(20, 6)
    layouts = [lay(items) for layout, lay in LAYOUTS.items() if has_layout(dtype, layout)]
    keys = grouped(dtype, 60, 30)[::-2]
    cases = [
        case(array, some_keys, np.arange(len(some_keys), dtype="u2"), **options)
        for array in layouts
        for some_keys in (keys, keys[:3], items.ravel())
        for options in ({}, {"default": 65535})
    ]
    for _ in each_num_threads:
        for each in cases:
            check(*each)


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_and_layout_of_values_equals_the_reference(name, each_num_threads):
    dtype = DTYPES[name]
    values = grouped(dtype, 90, 30).reshape(15, 6)
    layouts = [lay(values) for layout, lay in LAYOUTS.items() if has_layout(dtype, layout)]
    items = np.arange(40).reshape(8, 5)
    cases = [
        each
        for array in layouts
        for rows in (array, array.ravel()[::-1], array[..., None])
        for each in (
            case(items % len(rows), np.arange(len(rows)), rows),
            case(items % len(rows), np.arange(len(rows) - 1), rows[:-1], default=rows[-1]),
        )
    ]
    for _ in each_num_threads:
        for each in cases:
            check(*each)


@pytest.mark.parametrize("row", ROWS, ids=str)
@pytest.mark.parametrize("dtype", VALUE_DTYPES)
def test_rows_and_defaults_equal_the_reference(dtype, row, kernels_with_few_threads):
    keys = np.arange(40) * 3
    items = np.arange(600).reshape(100, 6) % 150
    values = values_of(dtype, 40, row)
    defaults = values_of(dtype, 600, row).reshape(*items.shape, *row)
    assert_equals_the_reference(items, keys, values)
    assert_equals_the_reference(items // 50 * 3, keys, values)
    for default in (defaults, defaults[0, 0], defaults[:, :1], np.asfortranarray(defaults)):
        assert_equals_the_reference(items, keys, values, default=default)


@pytest.mark.parametrize("name", ["uint8", "int16", "int32", "int64", "float64", "U3", "V16"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_equals_the_reference(name, algorithm, each_num_threads, monkeypatch):
    force(monkeypatch, algorithm)
    makers = [scattered] if name in ("U3", "V16") else [scattered, in_a_row]
    sizes = ((900, 60), (60, 900), (500, 500), (200, 1))
    pairs = [two_arrays(np.dtype(name), size, maker) for size in sizes for maker in makers]
    cases = [
        case(items, keys, np.arange(len(keys)) * 1000, **options)
        for items, keys in pairs
        for options in ({}, {"default": -np.arange(len(items)) - 1})
    ]
    for _ in each_num_threads:
        for each in cases:
            check(*each)


@pytest.mark.parametrize("num_keys", [1, 2, MAX_TESTS, MAX_TESTS + 1, 100, 20_000])
@pytest.mark.parametrize("size", [1, 67, FEW_ITEMS, 100_001])
@pytest.mark.parametrize("step", [1, 1_000_003])
def test_num_threads_agnosticism(num_keys, size, step, each_num_threads):
    rng = np.random.default_rng(size)
    keys = rng.permutation(num_keys) * step
    positions = rng.integers(0, num_keys, size)
    values = rng.integers(0, 2**40, num_keys)
    items, expected = keys[positions], values[positions]
    with_gaps = items.copy()
    with_gaps[size // 2 :: 7] = -1
    filled = np.where(with_gaps < 0, np.arange(size), expected)
    for _ in each_num_threads:
        assert_same(fastsel.remap(items, keys, values), expected)
        assert_same(fastsel.remap(with_gaps, keys, values, default=np.arange(size)), filled)
        with pytest.raises(ValueError, match=f"item -1 at position {size // 2} of a"):
            fastsel.remap(with_gaps, keys, values)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("dtype", ["float16", "float64", "M8[s]", "complex128"])
def test_nan_is_missing_and_zeros_are_equal(
    dtype, algorithm, kernels_with_few_threads, monkeypatch
):
    force(monkeypatch, algorithm)
    items = numbers_with_nan_and_zeros(dtype)
    for keys in (items, items[3:5], items[3:4], items[::-1], items[:40]):
        assert_equals_the_reference(items, keys, np.arange(len(keys)), default=-1)
        assert_equals_the_reference(items, keys, np.arange(len(keys)))


def test_the_first_of_equal_keys_counts(kernels_with_few_threads):
    keys = np.array([5, 7, 5, 7, 9])
    assert fastsel.remap([9, 7, 5], keys, [1, 2, 3, 4, 5]).tolist() == [5, 2, 1]
    many = np.tile(keys, 2000)
    assert fastsel.remap([9, 7, 5], many, np.arange(len(many))).tolist() == [4, 1, 0]


@pytest.mark.parametrize("item_dtype", ["?", "i1", "u2", "i8", "u8", "f4", "f8", "c8"])
@pytest.mark.parametrize("key_dtype", ["?", "i1", "u2", "i8", "u8", "f4", "f8", "c8"])
def test_two_dtypes_are_compared_as_in_index_in(item_dtype, key_dtype, kernels_with_few_threads):
    """Keys that the dtype of the items cannot hold are left out, with their values."""
    with np.errstate(all="ignore"):
        items, keys = (
            np.array([300, 1, 0, -1, 2**40, 100, 2]).astype(dtype)
            for dtype in (item_dtype, key_dtype)
        )
    for some_keys in (keys, np.tile(keys, 5)):
        index, values = fastsel.index_in(items, some_keys), np.arange(len(some_keys)) + 7
        expected = np.where(index < 0, -1, values[index])
        assert_same(fastsel.remap(items, some_keys, values, default=-1), expected)


@pytest.mark.parametrize(
    ("items", "keys"),
    [
        (objects("a", 2, None, "a"), objects("a", None, 3, "a", 2)),
        (objects(*[datetime.date(2026, 1, day) for day in (1, 2, 3)]),) * 2,
        (np.array(["é", "", "a"], "T"), np.array(["a", "é", ""], "T")),
        (np.array(["ab", "c"]), np.array([1.5, 2.5])),
        (np.array(["ab", "c"]), np.array(["c", "ab", "x"], "T")),
    ],
)
def test_objects_strings_and_what_never_matches(items, keys):
    for values in (np.arange(len(keys)), objects(*"vwxyz")[: len(keys)]):
        assert_equals_the_reference(items, keys, values)
        assert_equals_the_reference(items, keys, values, default=values[0])


def test_keys_that_collide_give_the_same_result(kernels_with_few_threads, monkeypatch):
    """A factor of 1 gives all these keys one slot: the tables give up."""
    monkeypatch.setattr(_keys, "SEEDS", (0, 1))
    keys = np.arange(1, 3000, dtype=np.uint64) << np.uint64(20)
    items = np.append(keys[::-1], keys)
    values = np.arange(len(keys))
    assert_same(fastsel.remap(items, keys, values), np.append(values[::-1], values))
    items[77] = 5
    with pytest.raises(ValueError, match="item 5 at position 77 of a"):
        fastsel.remap(items, keys, values)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 2)])
@pytest.mark.parametrize("num_keys", [0, 2, 50])
@pytest.mark.parametrize("row", [(), (3,), (0,), (0, 2)])
def test_empty_arrays_equal_the_reference(shape, num_keys, row):
    values = np.zeros((num_keys, *row), "f4")
    for items in (np.zeros(shape, int), np.zeros(4, int) + 1):
        for options in ({}, {"default": 5}):
            assert_equals_the_reference(items, np.arange(num_keys), values, **options)


def test_a_single_item_gives_an_array():
    assert_same(fastsel.remap(5, [3, 5], [1.5, 2.5]), np.array(2.5))
    assert_same(fastsel.remap(5, [3, 5], [[1, 2], [3, 4]]), np.array([3, 4]))
    with pytest.raises(ValueError, match=r"item 6 at position \(\) of a is not among the keys"):
        fastsel.remap(6, [3, 5], [1.5, 2.5])


# Defaults.


@pytest.mark.parametrize(
    ("dtype", "default"),
    [
        *[("u1", 0), ("u1", 255), ("u1", True), ("u1", np.int64(7)), ("i1", -128), ("f4", 0.1)],
        *[("f4", np.nan), ("f4", np.inf), ("f4", 2**40), ("c8", 1.5), ("f8", 3), ("O", None)],
        *[("S3", b"abc"), ("U2", "é"), ("M8[s]", np.datetime64("NaT", "s")), ("?", False)],
        *[("i4", np.array([5, 6], "i2")), ("f8", [1, 2]), ("O", ["a", 5])],
        *[("M8[D]", np.datetime64("NaT", "ns"))],
        *[("c8", complex(np.nan, 1)), (StringDType(na_object=None), None)],
    ],
)
def test_defaults_that_fit(dtype, default):
    values = np.zeros(2, dtype)
    result = fastsel.remap([1, 9], [1, 2], values, default=default)
    expected = np.array([0, 0], dtype)
    expected[...] = default
    expected[0] = values[0]
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    ("dtype", "default"),
    [
        *[("u1", -1), ("u1", 256), ("i1", 128), ("u1", 1.0), ("i4", np.nan), ("f4", 1e300)],
        *[("?", 1), ("f8", 1j), ("U2", "abc"), ("S3", "abc"), ("i4", "5"), ("i4", None)],
        *[("M8[s]", np.datetime64("2026-01-01T00:00:00.5")), ("i8", np.datetime64("2026"))],
        *[("u1", [1, 2]), ("i4", np.array([1, 2])), ("f4", [1.5, 2.5]), ("U2", ["a", "abc"])],
        *[("c8", complex(np.nan, 1e300)), ("c8", complex(1e300, np.inf)), (StringDType(), None)],
    ],
)
def test_defaults_that_do_not_fit_raise_an_error(dtype, default):
    for items in ([1, 9], [1, 1]):
        with pytest.raises(TypeError, match="default must fit the dtype of values"):
            fastsel.remap(items, [1, 2], np.zeros(2, dtype), default=default)


def test_lists_of_strings_and_missing_strings_are_defaults():
    for missing in (None, np.nan):
        values = np.array(["x"], StringDType(na_object=missing))
        result = fastsel.remap([1, 9, 8], [1], values, default=["a", "b", missing])
        assert result.dtype == values.dtype
        assert result[:2].tolist() == ["x", "b"]
        assert result[2] is missing
    with pytest.raises(TypeError, match="default must fit the dtype of values"):
        fastsel.remap([1, 9], [1], np.array(["x"], StringDType(na_object="?")), default=["a", None])


def test_items_that_no_key_can_equal_are_named_with_both_dtypes():
    with pytest.raises(
        ValueError,
        match=r"item 1 .* among the keys, because items of int64 never equal keys of <U1;",
    ):
        fastsel.remap(np.array([1, 2]), np.array(["1", "2"]), [3, 4])
    with pytest.raises(ValueError, match="item 1 at position 0 of a is not among the keys;"):
        fastsel.remap(np.array([1], "i1"), np.array([300]), [3])


def test_long_items_are_shortened_in_the_error():
    with pytest.raises(ValueError, match="not among the keys") as error:
        fastsel.remap(np.array(["x" * 5000]), ["a"], [1])
    assert len(str(error.value)) < 250


def test_a_default_of_another_shape_raises_an_error():
    for default in ([1, 2], np.zeros((2, 3), int), np.zeros((1, 3), int)):
        with pytest.raises(ValueError, match=r"default must broadcast to .* \(3,\), got \("):
            fastsel.remap([1, 2, 3], [1], [1], default=default)


def test_the_array_as_default_keeps_its_items(kernels_with_few_threads):
    labels = np.arange(5000).reshape(50, 100) % 300
    keys = np.arange(0, 300, 3)
    expected = np.where(labels % 3 == 0, -labels, labels)
    assert_same(fastsel.remap(labels, keys, -keys, default=labels), expected)
    transposed = fastsel.remap(labels.T, keys, -keys, default=labels.T)
    assert_same(transposed, np.ascontiguousarray(expected.T))


# out.


@pytest.mark.parametrize("has_default", [True, False])
def test_out_equals_the_result(has_default, kernels_with_few_threads):
    items, keys = np.arange(600).reshape(20, 30) % 7, np.arange(7)
    values = np.arange(7) * 1.5
    options = {"default": -1} if has_default else {}
    expected = fastsel.remap(items, keys, values, **options)
    room = np.zeros((40, 60))
    outs = np.zeros((20, 30)), np.zeros((30, 20)).T, room[::2, ::-2], np.zeros((20, 30), order="F")
    for out in outs:
        assert fastsel.remap(items, keys, values, out=out, **options) is out
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("has_default", [True, False])
def test_out_may_be_an_argument_or_overlap_it(has_default, kernels_with_few_threads):
    options = {"default": -1} if has_default else {}
    for step in (1, 1_000_003):
        labels = np.arange(300) % 30 * step
        keys, values = np.arange(30) * step, np.arange(30) * 7
        expected = fastsel.remap(labels, keys, values, **options)
        for shift in (0, 1):
            room = np.append(labels, labels[:1])
            out = room[shift : shift + 300]
            fastsel.remap(room[:300], keys, values, out=out, **options)
            assert_same(out.copy(), expected)
        many_keys = np.append(keys, -1 - np.arange(270))
        for argument in range(2):
            arguments = [many_keys.copy(), np.append(values, np.zeros(270, int))]
            fastsel.remap(labels, *arguments, out=arguments[argument], **options)
            assert_same(arguments[argument], expected)
    kept = np.arange(300)
    assert fastsel.remap(kept, [3], [0], default=kept, out=kept) is kept
    assert kept.tolist() == [0, 1, 2, 0, *range(4, 300)]


def test_nothing_is_written_if_an_item_is_missing(kernels_with_few_threads):
    for values in (np.arange(50), objects(*range(50)), np.zeros((50, 4))):
        out = np.full((3, 100, *values.shape[1:]), 77).astype(values.dtype)
        before = out.copy()
        items = np.arange(300).reshape(3, 100) % 50
        items[2, 5] = 99
        with pytest.raises(ValueError, match=r"item 99 at position \(2, 5\) of a"):
            fastsel.remap(items, np.arange(50), values, out=out)
        assert_same(out, before)


def test_an_out_that_does_not_fit_raises_an_error():
    read_only = np.zeros(2, int)
    read_only.flags.writeable = False
    for error, text, out in (
        (TypeError, "out must be an ndarray, got list", [0, 0]),
        (TypeError, "out must have the dtype of values int64, got float64", np.zeros(2)),
        (ValueError, r"out must have shape \(2,\), got \(3,\)", np.zeros(3, int)),
        (ValueError, "out must be writeable, got a read-only array", read_only),
    ):
        with pytest.raises(error, match=text):
            fastsel.remap([1, 1], [1], np.array([5], np.int64), out=out)


# Errors.


@pytest.mark.parametrize(
    ("items", "text"),
    [
        (np.array([[1, 7], [8, 1]]), r"item 7 at position \(0, 1\) of a"),
        (np.array([1.0, np.nan]), "item nan at position 1 of a"),
        (np.array(["x", "1"]), "item 'x' at position 0 of a"),
        (np.array([b"x"]), "item b'x' at position 0 of a"),
        (objects(1, "x"), "item 'x' at position 1 of a"),
        (np.array(["x"], "T"), "item 'x' at position 0 of a"),
        (np.array(["2026-01-01"], "M8[D]"), "item 2026-01-01 at position 0 of a"),
        (np.array([(1, 2)], "i1,i1"), r"item \(1, 2\) at position 0 of a"),
    ],
)
def test_the_first_missing_item_is_named(items, text):
    values = np.array([1])
    for some_values in (values, values.astype(object)):
        with pytest.raises(
            ValueError, match=f"^{text} is not among the keys(, because .*)?; `default` gives"
        ):
            fastsel.remap(items, [1], some_values)


def test_arguments_that_do_not_fit_raise_an_error():
    for text, keys, values in (
        (r"keys must be 1-d, got shape \(\)", 1, [1]),
        (r"keys must be 1-d, got shape \(1, 2\)", [[1, 2]], [1]),
        (
            r"values must have one value, or row, for each of 2 keys, got shape \(3,\)",
            [1, 2],
            [1] * 3,
        ),
        (r"for each of 2 keys, got shape \(\)", [1, 2], 5),
        ("keys cannot be converted to an array", [[1], [1, 2]], [1, 2]),
    ):
        with pytest.raises(ValueError, match=text):
            fastsel.remap([1], keys, values)
    with pytest.raises(TypeError):
        fastsel.remap([1], [1], [1], 0)
    years, days = np.array([1], "m8[Y]"), np.array([1], "m8[D]")
    with pytest.raises(TypeError):
        fastsel.remap(years, days, [1])


@given(
    items=st.lists(st.integers(-9, 9), max_size=80),
    keys=st.lists(st.integers(-9, 9), max_size=30),
    dtypes=st.tuples(*[st.sampled_from(["i1", "i4", "i8", "f4", "U2"])] * 2),
    value_dtype=st.sampled_from(["i1", "f8", "S2", "V3"]),
    has_default=st.booleans(),
)
def test_random_arrays_equal_the_reference(items, keys, dtypes, value_dtype, has_default):
    items, keys = (np.array(numbers, int).astype(dtypes[0]) for numbers in (items, keys))
    values = values_of(value_dtype, len(keys) + 1)
    options = {"default": values[-1]} if has_default else {}
    assert_equals_the_reference(items, keys, values[:-1], **options)
