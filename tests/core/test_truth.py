"""Which items of each dtype are non-zero: all functions that test items follow the same rules."""

import re
from pathlib import Path

import numpy as np
import pytest
import reference
from arrays import (
    BYTES_DTYPES,
    DTYPES,
    ML_DTYPES,
    from_bits,
    join,
    make,
    pools,
    take_items,
    values_for_dtype,
)
from numpy.dtypes import StringDType

import fastsel
from fastsel._core import _dtypes

pytestmark = pytest.mark.usefixtures("forced_kernels")

# Each function returns the positions of the non-zero items of a 1-d array: an array, or a
# NonzeroCoordinates.
SELECTORS = {
    "nonzero": lambda a: fastsel.nonzero(a)[0],
    "flatnonzero": fastsel.flatnonzero,
    "argwhere": lambda a: fastsel.argwhere(a)[:, 0],
    "compress": lambda a: fastsel.compress(a, np.arange(a.size)),
    "extract": lambda a: fastsel.extract(a, np.arange(a.size)),
    "nonzero_coordinates": lambda a: fastsel.nonzero_coordinates(a, dtype=np.int64),
}


def selected_positions(name, array):
    positions = SELECTORS[name](array)
    if name == "nonzero_coordinates":
        positions = positions.coordinates[: int(positions.count), 0]
    return positions.tolist()


def structured(values, dtype):
    """A structured array with these tuples as items."""
    array = np.zeros(len(values), dtype)
    for k, value in enumerate(values):
        array[k] = value
    return array


def zero_with_padding(fill):
    array = np.full(16, fill, np.uint8).view(np.dtype([("a", "i1"), ("b", "f8")], align=True))
    array["a"] = 0
    array["b"] = 0
    return array


def long_double_zeros():
    """Zeros of dtype longdouble, with bits set in the padding bytes, if there are any."""
    falsy, _ = pools(np.dtype("longdouble"))
    return falsy


DTYPES_WITH_ZERO = [name for name in DTYPES if name != "float8_e8m0fnu"]

nan = float("nan")
BYTE = np.uint8
# name: (array, which items are non-zero)
RULES = {
    "bool_any_byte_but_0": (from_bits([0, 1, 2, 254, 255], BYTE, bool), [0, 1, 1, 1, 1]),
    "int_any_bit": (np.array([0, 1, -1, -128], np.int8), [0, 1, 1, 1]),
    "int_swapped_any_bit": (np.array([0, 1, 256, -(2**31)], ">i4"), [0, 1, 1, 1]),
    "uint64_top_bit": (np.array([0, 2**63], np.uint64), [0, 1]),
    "float_negative_zero_is_zero": (np.array([0.0, -0.0]), [0, 0]),
    "float_nan_is_truthy": (np.array([nan, -nan]), [1, 1]),
    "float_inf_is_truthy": (np.array([np.inf, -np.inf], "f4"), [1, 1]),
    "float_subnormal_is_truthy": (np.array([5e-324, -5e-324]), [1, 1]),
    "float32_subnormal_is_truthy": (from_bits([1, 2**31 + 1], np.uint32, "f4"), [1, 1]),
    "float16_subnormal_is_truthy": (from_bits([1, 0x8001], np.uint16, "f2"), [1, 1]),
    "float_signalling_nan_is_truthy": (
        from_bits([0x7F800001, 0xFF800001], np.uint32, "f4"),
        [1, 1],
    ),
    "float_swapped_negative_zero": (np.array([-0.0, 2.0, 5e-324], ">f8"), [0, 1, 1]),
    "longdouble_negative_zero": (np.array([0.0, -0.0, nan, 1], "longdouble"), [0, 0, 1, 1]),
    "longdouble_padding_is_ignored": (long_double_zeros(), [0, 0]),
    "complex_all_zeros": (np.array([0, complex(-0.0, -0.0), complex(0.0, -0.0)]), [0, 0, 0]),
    "complex_imaginary_nan": (np.array([complex(0, nan), complex(nan, 0)]), [1, 1]),
    "complex_imaginary_only": (np.array([1j, -1j, 0], "c8"), [1, 1, 0]),
    "complex_swapped": (np.array([complex(-0.0, -0.0), 1j], ">c16"), [0, 1]),
    "datetime_nat_is_truthy": (np.array(["NaT", "1970-01-01", "1969-12-31"], "M8[D]"), [1, 0, 1]),
    "timedelta_nat_is_truthy": (np.array(["NaT", 0, -1], "m8[s]"), [1, 0, 1]),
    "bytes_empty_is_falsy": (np.array([b"", b"\0", b" ", b"0", b"False"]), [0, 0, 1, 1, 1]),
    "bytes_after_nul": (np.array([b"\0a", b"\0\0"]), [1, 0]),
    "str_empty_is_falsy": (np.array(["", "\0", " ", "0", "False"]), [0, 0, 1, 1, 1]),
    "str_after_nul": (np.array(["\0a", "\0\0"]), [1, 0]),
    "str_swapped": (np.array(["", "a", "\0b"], ">U2"), [0, 1, 1]),
    "str_high_plane": (np.array(["\U00010000", ""]), [1, 0]),
    "bytes_0_wide": (np.zeros(3, "S0"), [0, 0, 0]),
    "str_0_wide": (np.zeros(3, "U0"), [0, 0, 0]),
    "void_0_wide": (np.zeros(3, "V0"), [0, 0, 0]),
    "void_any_byte": (
        from_bits([[0, 0, 0], [0, 0, 1], [128, 0, 0]], BYTE, "V3").ravel(),
        [0, 1, 1],
    ),
    "string_dtype_length": (np.array(["", " ", "0", "\0"], StringDType()), [0, 1, 1, 1]),
    "string_dtype_nan_is_truthy": (np.array(["", nan, "a"], StringDType(na_object=nan)), [0, 1, 1]),
    "string_dtype_none_is_falsy": (
        np.array(["", None, "a"], StringDType(na_object=None)),
        [0, 0, 1],
    ),
    "string_dtype_text_na_is_falsy": (
        np.array(["", "N", "a"], StringDType(na_object="N")),
        [0, 0, 1],
    ),
    "struct_any_field": (structured([(0, 0), (1, 0), (0, 1)], "i4, f8"), [0, 1, 1]),
    "struct_negative_zero_field": (structured([(0, -0.0), (0, nan)], "i4, f8"), [0, 1]),
    "struct_nested": (
        structured([(0, (0, 0)), (0, (0, 1))], [("a", "i1"), ("b", "i1, i1")]),
        [0, 1],
    ),
    "struct_subarray_is_bytes": (
        structured([([0, 0],), ([0, -0.0],)], [("a", "f4", (2,))]),
        [0, 1],
    ),
    "struct_padding_is_ignored": (zero_with_padding(0xFF), [0]),
    "struct_swapped_field": (structured([(0,), (256,)], [("a", ">i2")]), [0, 1]),
    "struct_no_fields": (np.zeros(2, np.dtype([])), [0, 0]),
    "object_bool_of_item": (
        np.array([None, 0, "", (), "0", -1, 0.0, nan], object),
        [0, 0, 0, 0, 1, 1, 0, 1],
    ),
    "object_slots_never_set": (np.empty(3, object), [0, 0, 0]),
}
if ML_DTYPES:
    RULES |= {
        "bfloat16_zeros": (np.array([0.0, -0.0, nan, 1e-40], ML_DTYPES["bfloat16"]), [0, 0, 1, 1]),
        "float8_e5m2_zeros": (
            from_bits([0, 128, 1, 0x7F], BYTE, ML_DTYPES["float8_e5m2"]),
            [0, 0, 1, 1],
        ),
        "float8_e4m3fn_zeros": (
            from_bits([0, 128, 1, 0xFF], BYTE, ML_DTYPES["float8_e4m3fn"]),
            [0, 0, 1, 1],
        ),
        # In the fnuz formats, the bit pattern of negative zero is NaN.
        "float8_e4m3fnuz_nan": (from_bits([0, 128], BYTE, ML_DTYPES["float8_e4m3fnuz"]), [0, 1]),
        "float8_e5m2fnuz_nan": (from_bits([0, 128], BYTE, ML_DTYPES["float8_e5m2fnuz"]), [0, 1]),
        "float8_e8m0fnu_has_no_zero": (
            from_bits([0, 1, 255], BYTE, ML_DTYPES["float8_e8m0fnu"]),
            [1, 1, 1],
        ),
        # Only the low half of the byte belongs to the number.
        "int4_low_half": (
            from_bits([0, 0x10, 0xF0, 1, 8], BYTE, ML_DTYPES["int4"]),
            [0, 0, 0, 1, 1],
        ),
        "uint4_low_half": (from_bits([0, 0x10, 0xF8], BYTE, ML_DTYPES["uint4"]), [0, 0, 1]),
    }


@pytest.mark.parametrize("rule", RULES)
def test_selection_follows_the_rule(rule):
    array, truthy = RULES[rule]
    for selector in SELECTORS:
        assert selected_positions(selector, array) == np.flatnonzero(truthy).tolist(), selector


@pytest.mark.parametrize("rule", RULES)
def test_rule_is_that_of_numpy_and_of_the_reference(rule):
    array, truthy = RULES[rule]
    expected = np.flatnonzero(truthy).tolist()
    assert np.nonzero(array)[0].tolist() == expected
    assert reference.flatnonzero(array).tolist() == expected


@pytest.mark.parametrize("rule", RULES)
def test_count_follows_the_rule(rule):
    array, truthy = RULES[rule]
    assert fastsel.count_nonzero(array) == sum(truthy)


def test_bool_of_any_byte_but_0_counts_as_one():
    assert fastsel.count_nonzero(np.full(1000, 255, BYTE).view(bool)) == 1000


def test_mask_selects_by_any_bool_byte_but_0():
    mask = from_bits([0, 2, 255, 1, 0], BYTE, bool)
    assert fastsel.boolean_mask(np.arange(5), mask).tolist() == [1, 2, 3]


# Positions among 130 items: all of the first block, and those around the end of each block.
POSITIONS = (*range(70), 126, 127, 128, 129)


@pytest.mark.parametrize("name", DTYPES_WITH_ZERO)
def test_one_nonzero_item_is_found_at_each_position(name):
    falsy, truthy = pools(DTYPES[name])
    pool = join([falsy, truthy])
    for position in values_for_dtype(name, POSITIONS):
        indices = np.arange(130) % len(falsy)
        indices[position] = len(falsy) + position % len(truthy)
        array = take_items(pool, indices)
        assert fastsel.flatnonzero(array).tolist() == [position]
        assert fastsel.first_nonzero(array) == position
        assert fastsel.count_nonzero(array) == 1


@pytest.mark.parametrize("name", DTYPES_WITH_ZERO)
def test_one_zero_is_left_out_at_each_position(name):
    falsy, truthy = pools(DTYPES[name])
    pool = join([truthy, falsy])
    for position in values_for_dtype(name, POSITIONS):
        indices = np.arange(130) % len(truthy)
        indices[position] = len(truthy) + position % len(falsy)
        array = take_items(pool, indices)
        assert fastsel.flatnonzero(array).tolist() == [k for k in range(130) if k != position]


@pytest.mark.parametrize(
    "name",
    [name for name, dtype in BYTES_DTYPES.items() if dtype.names is None and dtype.itemsize <= 2],
)
def test_every_bit_pattern_follows_numpy(name):
    dtype = DTYPES[name]
    array = np.arange(256**dtype.itemsize, dtype=f"u{dtype.itemsize}").view(dtype)
    expected = reference.flatnonzero(array)
    assert expected.tolist() == np.flatnonzero(array).tolist()
    for selector in SELECTORS:
        assert selected_positions(selector, array) == expected.tolist(), selector
    assert fastsel.count_nonzero(array) == len(expected)


@pytest.mark.parametrize("name", DTYPES)
def test_random_items_follow_the_reference(name):
    array = make(name, 300)
    expected = reference.flatnonzero(array).tolist()
    for selector in SELECTORS:
        assert selected_positions(selector, array) == expected, selector


def test_item_whose_truth_is_no_bool_raises_the_error_of_numpy():
    class Two:
        def __bool__(self):
            return 2

    array = np.array([Two()], object)
    with pytest.raises(TypeError) as theirs:
        np.nonzero(array)
    with pytest.raises(TypeError) as ours:
        fastsel.nonzero(array)
    assert str(ours.value) == str(theirs.value)


def test_item_that_is_an_array_raises_value_error():
    array = np.empty(2, object)
    array[:] = [np.arange(2), 1]
    with pytest.raises(ValueError, match="The truth value of an array"):
        fastsel.nonzero(array)
    with pytest.raises(ValueError, match="The truth value of an array"):
        fastsel.count_nonzero(array)


@pytest.mark.parametrize("name", ML_DTYPES)
def test_signalling_nan_of_ml_dtypes_causes_no_warning(name):
    falsy, truthy = pools(ML_DTYPES[name])
    items = np.concatenate([falsy, truthy])
    for in_order in (True, False):
        fastsel.unique(items, sorted=in_order)
    assert fastsel.count_nonzero(items[:, None], axis=0).tolist() == [len(truthy)]


def test_the_page_of_dtypes_names_each_dtype_that_has_no_kernel():
    of_numpy = {"object", "StringDType"}
    of_ml = {"float8_e8m0fnu", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"} & {*ML_DTYPES}
    assert {k for k, dtype in DTYPES.items() if _dtypes.truth(dtype) is None} == of_numpy | of_ml
    assert {k for k, dtype in DTYPES.items() if not _dtypes.movable(dtype)} == of_numpy
    page = (Path(__file__).parents[2] / "docs" / "dtypes.md").read_text()
    rows = re.findall(r"^\| (.*?) \| NumPy \| NumPy \|", page, re.MULTILINE)
    assert "StringDType" in rows
    assert all("objects" in row for row in rows if row != "StringDType")
    assert len(rows) > 1
    footnote = page[page.index("\n3. ") : page.index("\n4. ")]
    # Of the float8 formats, only float8_e8m0fnu lacks a kernel: the page has its full name.
    for name in of_ml:
        assert (name if name.startswith("float8") else name.split("_")[0]) in footnote
