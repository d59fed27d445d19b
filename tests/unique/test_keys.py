"""The keys of items: which items are equal, which item is the value of its group, where NaN and NaT
sort.

Every value is the first of its group, bit by bit: `values` has the sign of zero and the payload of
NaN that `array[index]` has, whether or not unique returns the index. test_complex.py has the
exception: sorted complex NaN.
"""

import itertools

import arrays
import numpy as np
import pytest
import reference
from comparison import assert_same, check_unique, lists
from grids import covering
from marks import SIGNALLING_NANS
from special_numbers import four_nans

import fastsel
from fastsel._core import _dtypes
from fastsel._unique import _keys
from fastsel._unique.canonical import canonical_keys
from fastsel._unique.keys import Rule

pytestmark = SIGNALLING_NANS


FLOATS = ("float16", "float32", "float64", "longdouble")
COMPLEX = ("complex64", "complex128", "clongdouble")
SIGNED_ML_FLOATS = [  # dtypes that have a negative zero
    name for name in arrays.ML_DTYPES if "float" in name and not name.endswith(("fnuz", "e8m0fnu"))
]
NAN_ML_FLOATS = [
    name
    for name in arrays.ML_DTYPES
    if "float" in name and np.isnan(float(arrays.ML_DTYPES[name].type("nan")))
]
nan = np.nan


# Padding.


@pytest.mark.parametrize("width", [3, 5, 6, 7])
def test_keys_of_3_5_6_and_7_bytes_are_padded_with_zeros(width, each_num_threads):
    wide = np.random.default_rng(1).integers(0, 256, (1000, width + 2)).astype(np.uint8)
    rows = wide[:, :width].copy()
    items = rows.view(f"V{width}")[:, 0]
    cases = {
        "rows": (rows, rows),
        "rows_with_gaps": (wide[:, :width], rows),
        "reversed_rows": (rows[::-1], rows[::-1]),
        "columns": (np.asfortranarray(rows), rows),
        "strided_bytes": (np.repeat(rows.ravel(), 2)[::2].reshape(rows.shape), rows),
        "three_axes": (rows.reshape(-1, 1, width), rows),
        "items": (items, rows),
        "one_item": (items[:1], rows[:1]),
        "strided_items": (items[::2], rows[::2]),
        "reversed_items": (items[::-1], rows[::-1]),
    }
    if width == 6:
        cases["gaps_within_rows"] = (wide.reshape(1000, 2, 4)[..., :3], None)
    for _ in each_num_threads:
        for name, (array, as_bytes) in cases.items():
            padded = np.zeros((len(array), 4 if width == 3 else 8), np.uint8)
            padded[:, :width] = array.reshape(-1, width) if as_bytes is None else as_bytes
            assert np.array_equal(_keys.keys_of(array, True).data, padded), name


# Zeros.


@pytest.mark.parametrize("name", [*FLOATS, *SIGNED_ML_FLOATS])
def test_zeros_are_one_group_with_the_sign_of_the_first(name, kernels_with_few_threads):
    for first in (0.0, -0.0):
        array = np.array([1, first, -first, 1, first, -1] * 20, arrays.DTYPES[name])
        for in_order, position in ((True, 1), (False, 1)):
            values, index, counts = fastsel.unique(array, True, return_counts=True, sorted=in_order)
            assert counts[position] == 60
            assert index[position] == 1
            assert_same(values[position : position + 1], array[1:2])
        check_unique(fastsel.unique, array)


# NaNs.


@pytest.mark.parametrize("name", FLOATS[:3])
def test_nan_keeps_the_bits_of_the_first(name, kernels_with_few_threads):
    for order in itertools.permutations(four_nans(name).view(f"u{np.dtype(name).itemsize}")):
        nans = np.array(order).view(name)
        array = np.concatenate([np.array([2, 1], name), nans, np.array([1, np.inf], name), nans])
        assert_same(fastsel.unique(array), array[[1, 0, 7, 2]])
        assert_same(fastsel.unique(array, sorted=False), array[[0, 1, 2, 7]])
        check_unique(fastsel.unique, array)


@SIGNALLING_NANS
@pytest.mark.parametrize("equal_nan", [True, False])
@pytest.mark.parametrize("share", [0.4, 0.5, 0.9, 1])
@pytest.mark.parametrize("name", ["f4", "f8", ">f8", "M8[s]", "m8[ns]"])
def test_values_are_the_numbers_and_then_nan_if_many_items_are_nan(
    name, share, equal_nan, kernels_with_few_threads
):
    """NaN with different bits, or NaT, are at random positions or at every 16th position. In the
    second case, the sample that looks for NaN may have nothing else."""
    rng = np.random.default_rng(1)
    nans = np.array(["NaT"], name) if name[0] in "mM" else four_nans(name)
    items = rng.integers(-90, 90, 1024).astype(name)
    for nan_mask in (rng.random(1024) < share, np.arange(1024) % 16 == 0):
        array = np.where(nan_mask, rng.choice(nans, 1024), items).astype(name)
        for view in (array, array[::-1], np.repeat(array, 2)[::2]):
            before = view.tobytes()
            values = fastsel.unique(view, equal_nan=equal_nan)
            is_nan = np.isnan(view)
            expected = np.unique(view[~is_nan])
            assert_same(values[: len(expected)], expected)
            nan_items = view[is_nan]
            assert (
                values[len(expected) :].tobytes()
                == (nan_items[:1] if equal_nan else nan_items).tobytes()
            )
            assert values.dtype == view.dtype
            assert view.tobytes() == before


@pytest.mark.parametrize("name", FLOATS[:3])
def test_equal_nan_false_keeps_every_nan_and_its_bits(name, kernels_with_few_threads):
    nans = four_nans(name)
    array = np.concatenate([nans, np.array([2, 2], name), nans])
    values, index, inverse, counts = fastsel.unique(array, True, True, True, equal_nan=False)
    assert_same(values, array[[4, 0, 1, 2, 3, 6, 7, 8, 9]])
    assert index.tolist() == [4, 0, 1, 2, 3, 6, 7, 8, 9]
    assert inverse.tolist() == [1, 2, 3, 4, 0, 0, 5, 6, 7, 8]
    assert counts.tolist() == [2] + [1] * 8
    check_unique(fastsel.unique, array)


@pytest.mark.parametrize("name", [*FLOATS, *NAN_ML_FLOATS])
def test_nans_are_one_group_that_sorts_last(name, kernels_with_few_threads):
    array = np.array([nan, 1, nan, 4, nan], arrays.DTYPES[name])
    values, *extras = fastsel.unique(array, True, True, True)
    assert_same(values, array[[1, 3, 0]])
    assert lists(extras) == [[1, 3, 0], [2, 0, 2, 1, 2], [1, 1, 3]]
    values, *extras = fastsel.unique(array, True, True, True, sorted=False)
    assert_same(values, array[[0, 1, 3]])
    assert lists(extras) == [[0, 1, 3], [0, 1, 0, 2, 0], [3, 1, 1]]
    check_unique(fastsel.unique, array)


@pytest.mark.parametrize("name", [*FLOATS, *COMPLEX, "datetime64", "timedelta64", *NAN_ML_FLOATS])
def test_arrays_of_nans_only_equal_the_reference(name, kernels_with_few_threads):
    item = "NaT" if "time" in name else arrays.DTYPES[name].type("nan")
    for size in (1, 2, 65, 1000):
        check_unique(fastsel.unique, np.full(size, item, arrays.DTYPES[name]))


@pytest.mark.parametrize("name", FLOATS)
def test_infinities_subnormals_and_extremes_sort_as_numbers(name, kernels_with_few_threads):
    falsy, truthy = arrays.pools(arrays.DTYPES[name])
    array = arrays.join([truthy, falsy, truthy[::-1].copy()])
    check_unique(fastsel.unique, array)


def test_subnormal_long_doubles_keep_their_sign(kernels_with_few_threads):
    tiny = np.finfo(np.longdouble).smallest_subnormal
    array = np.array([tiny, -tiny, 0, -0.0, 3 * tiny, -3 * tiny, tiny])
    assert array.dtype == np.longdouble
    assert_same(fastsel.unique(array), np.array([-3 * tiny, -tiny, 0, tiny, 3 * tiny]))
    check_unique(fastsel.unique, array)


def test_long_double_ignores_its_padding(kernels_with_few_threads):
    array = np.array([1, 2, 1, -0.0, 0.0, nan, nan], np.longdouble)
    unused = arrays.padding_bytes(array.dtype)
    raw = array.view(np.uint8).reshape(len(array), -1)
    for row in range(len(array) if unused else 0):
        raw[row, -unused:] = row + 1
    check_unique(fastsel.unique, array)


@covering(name=["int8", "uint8", "float16", "int16", *arrays.ML_DTYPES], threads=[1, 3])
def test_every_bit_pattern_of_small_dtypes_equals_the_reference(name, threads, forced_kernels):
    dtype = arrays.DTYPES[name]
    patterns = np.arange(256**dtype.itemsize, dtype=f"u{dtype.itemsize}")
    shuffled = np.random.default_rng(4).permutation(patterns).view(dtype)
    if name.startswith(("float4", "float6")):  # the format does not use all bits
        shuffled = shuffled.astype(np.float32).astype(dtype)
    for in_order in (True, False):
        expected = reference.unique_outputs(shuffled, sorted=in_order)
        with fastsel.threads(threads):
            assert_same(fastsel.unique(shuffled, True, True, True, sorted=in_order), expected)
            assert_same(fastsel.unique(shuffled, sorted=in_order), expected[0])


# IEEE quads.


def keys_of_quads(quads, parts, collapse):
    """The keys of numbers of `parts` IEEE quads, each given as (upper, lower) halves; and, unless
    NaN collapses, a bit for each number with a NaN part, as the text of a binary number."""
    halves = np.array(quads, np.uint64).reshape(-1, 2)[:, ::-1].ravel()
    items = halves.view(f"V{16 * parts}")
    keys = np.empty_like(items)
    rule = _dtypes._float_key_rule(16, 112)
    part_rule = Rule(*rule.part_rule(not collapse))
    unequal = canonical_keys(items, rule.kind, rule.width, part_rule, collapse, keys, 1)
    return [key.tobytes() for key in keys], None if collapse else f"{unequal[0]:b}"


def test_keys_of_ieee_quads_are_equal_for_zeros_and_for_nans():
    """IEEE quads are the longdouble of many processors."""
    inf, sign = 0x7FFF << 48, 1 << 63
    numbers = [(0, 1), (sign, 1), (0, sign), (1, 0), (inf - 1, 7), (inf, 0), (sign | inf, 0)]
    zeros = [(0, 0), (sign, 0)]
    nans = [(inf, 1), (inf, sign), (inf | 1 << 47, 0), (sign | inf, 9), (2**64 - 1, 2**64 - 1)]
    zero = bytes(16)
    unchanged = [
        b"".join(half.to_bytes(8, "little") for half in (lower, upper)) for upper, lower in numbers
    ]
    assert keys_of_quads(numbers, 1, False) == (unchanged, "0")
    assert keys_of_quads(zeros, 1, False) == ([zero, zero], "0")
    keys, unequal = keys_of_quads(nans, 1, False)
    assert set(keys) == {keys[0]}
    assert not {keys[0]} & {*unchanged, zero}
    assert unequal == "11111"


@pytest.mark.parametrize("collapse", [True, False])
def test_keys_of_complex_ieee_quads_are_equal_for_zeros_and_for_collapsed_nans(collapse):
    inf, sign, one = 0x7FFF << 48, 1 << 63, (0x3FFF << 48, 0)
    numbers = [
        ((0, 0), one),
        ((sign, 0), one),
        ((inf, 1), one),
        (one, (sign | inf, 1)),
        (one, one),
    ]
    keys, unequal = keys_of_quads(numbers, 2, collapse)
    assert keys[0] == keys[1] == bytes(16) + keys[4][16:]
    assert (keys[2] == keys[3]) == collapse
    assert len({keys[0], *keys[2:]}) == (3 if collapse else 4)
    assert unequal == (None if collapse else "1100")


# Times, booleans, small integers.


@pytest.mark.parametrize("dtype", ["M8[s]", "m8[s]", "M8[D]", ">M8[ns]", "m8"])
def test_nats_are_one_group_that_sorts_last_unless_equal_nan_is_false(
    dtype, kernels_with_few_threads
):
    """If only values are wanted, NumPy 2.3 and 2.4 count all NaT of M8 as one value even with
    equal_nan=False."""
    nat = np.iinfo(np.int64).min
    array = np.array([nat, -5, nat, 3, -5], np.dtype(dtype).byteorder + "i8").view(dtype)
    assert_same(fastsel.unique(array), array[[1, 3, 0]])
    assert_same(fastsel.unique(array, equal_nan=False), array[[1, 3, 0, 2]])
    assert_same(fastsel.unique(array, equal_nan=False, sorted=False), array[[0, 1, 2, 3]])
    assert len(fastsel.unique_values(array)) == 4
    check_unique(fastsel.unique, array)


def test_bool_has_two_values_whatever_its_bytes(kernels_with_few_threads):
    array = np.array([2, 0, 255, 1, 0, 128] * 30, np.uint8).view(bool)
    for in_order, order in ((True, [False, True]), (False, [True, False])):
        values, index, inverse, counts = fastsel.unique(array, True, True, True, sorted=in_order)
        assert values.tolist() == fastsel.unique(array, sorted=in_order).tolist() == order
        assert index.tolist() == ([1, 0] if in_order else [0, 1])
        assert inverse.tolist() == [order.index(item) for item in array.tolist()]
        assert counts.tolist() == ([60, 120] if in_order else [120, 60])


def test_four_bit_integers_are_compared_as_numbers(kernels_with_few_threads):
    """Bits beyond the number do not tell two items apart."""
    for name in arrays.ML_DTYPES.keys() & {"int4", "uint4"}:
        array = np.array([0x13, 0x03, 0xF8, 0x08, 0xE3], np.uint8).view(arrays.DTYPES[name])
        _, index, inverse, counts = fastsel.unique(array, True, True, True, sorted=False)
        assert lists([index, inverse, counts]) == [[0, 2], [0, 0, 1, 1, 0], [3, 2]]


def test_infinite_and_negative_bfloat16_sort_as_numbers(kernels_with_few_threads):
    array = np.array([2, -np.inf, 0.5, np.inf, -3, -0.0, nan, 2], arrays.DTYPES["bfloat16"])
    assert_same(fastsel.unique(array), array[[1, 4, 5, 2, 0, 3, 6]])


# Structured items.


def test_fields_compare_as_numbers_and_nan_keeps_items_apart(kernels_with_few_threads):
    dtype = np.dtype([("a", "i1"), ("b", "f8")], align=True)
    array = np.array([(1, 2), (0, -0.0), (-1, nan), (0, 0.0), (1, 2), (-1, nan)], dtype)
    values, *extras = fastsel.unique(array, True, True, True)
    assert_same(values, array[[2, 5, 1, 0]])
    assert lists(extras) == [[2, 5, 1, 0], [3, 2, 0, 2, 3, 1], [1, 1, 2, 2]]
    check_unique(fastsel.unique, array)


def test_padding_between_fields_does_not_count(kernels_with_few_threads):
    dtype = np.dtype([("a", "i1"), ("b", "f8")], align=True)
    array = np.zeros(40, dtype)
    array.view(np.uint8).reshape(40, 16)[:, 1:8] = np.arange(40)[:, None]
    assert fastsel.unique(array, return_counts=True)[1].tolist() == [40]
    assert fastsel.unique(array, return_counts=True, sorted=False)[1].tolist() == [40]


def test_first_zero_stands_for_its_group_in_long_structured_arrays(kernels_with_few_threads):
    array = np.array(
        [("b", 1)] * 20 + [("a", -0.0)] + [("a", 0.0)] * 400, [("x", "S3"), ("y", "f8")]
    )
    for items in (array, array[::-1]):
        check_unique(fastsel.unique, items)


@pytest.mark.skipif(
    np.finfo(np.longdouble).nmant != 63, reason="longdouble is not the 80-bit format of x87"
)
def test_x87_numbers_of_any_bits_are_grouped_as_by_numpy(kernels_with_few_threads):
    """Numbers without their leading bit are NaN or tiny; some tiny numbers have two
    representations."""
    rng = np.random.default_rng(0)
    bits = np.zeros((300, 2), np.uint64)
    bits[:, 0] = rng.choice(
        np.array([0, 1, 5, 1 << 62, 1 << 63, (1 << 63) + 1, 3 << 62], "u8"), 300
    )
    bits[:, 1] = rng.choice(np.array([0, 1, 2, 0x3FFF, 0x7FFF, 0x8000, 0x8001, 0xFFFF], "u8"), 300)
    numbers = bits.reshape(-1).view(np.longdouble)
    for equal_nan in (True, False):
        with np.errstate(invalid="ignore"):
            _, *theirs = np.unique(numbers, True, True, True, equal_nan=equal_nan)
            values, *ours = fastsel.unique(numbers, True, True, True, equal_nan=equal_nan)
        for our, their in zip(ours, theirs, strict=True):
            assert our.tolist() == their.tolist()
        assert values.tobytes() == numbers[ours[0]].tobytes()
        assert np.array_equal(fastsel.flatnonzero(numbers), np.flatnonzero(numbers))
