"""unique of text, bytes and raw bytes: equality and order of items and of missing strings."""

import itertools

import numpy as np
import pytest
import reference
from comparison import assert_same, check_unique, lists
from grids import covering
from numpy.dtypes import StringDType

import fastsel

nan = np.nan


def strings(na, *items):
    return np.array(items, StringDType(na_object=na))


@pytest.mark.parametrize("kind", "SU")
def test_trailing_nuls_do_not_count_but_spaces_and_inner_nuls_do(kind, kernels_with_few_threads):
    array = np.array(["a", "a ", "a\0b", "a\0", "", " ", "\0", "A", "a"], f"{kind}3")
    assert_same(fastsel.unique(array), array[[4, 5, 7, 0, 2, 1]])
    check_unique(fastsel.unique, array)


def test_bytes_sort_unsigned(kernels_with_few_threads):
    array = np.array([b"\xff", b"\x7f", b"\x80", b"\x00\x01", b"\xff"], "S2")
    assert_same(fastsel.unique(array), array[[3, 1, 2, 0]])


@pytest.mark.parametrize("order", "<>")
def test_text_sorts_by_code_point(order, kernels_with_few_threads):
    array = np.array(["\U0001f600", "\uffff", "\ud800", "é", "z", "\uffff"], order + "U1")
    values, *extras = fastsel.unique(array, True, True, True)
    assert_same(values, array[[4, 3, 2, 1, 0]])
    assert lists(extras) == [[4, 3, 2, 1, 0], [4, 3, 2, 1, 0, 3], [1, 1, 1, 2, 1]]
    assert values.dtype == array.dtype


@pytest.mark.parametrize("name", ["V1", "V3", "V16", "V20", "S3", "S9", "S20"])
def test_items_that_differ_in_one_byte_equal_the_reference(name, kernels_with_few_threads):
    dtype = np.dtype(name)
    for byte in range(dtype.itemsize):
        raw = np.full((256, dtype.itemsize), 7, np.uint8)
        raw[:, byte] = np.arange(256)[::-1]
        array = np.concatenate([raw, raw]).view(dtype)[:, 0]
        for in_order in (True, False):
            expected = reference.unique_outputs(array, sorted=in_order)
            assert_same(fastsel.unique(array, True, True, True, sorted=in_order), expected)


TEXTS = ("b", "abc", "a", "abc\0", "", "é" * 40, "x" * 300, "b", "sixteen bytes ..", "é" * 40)


def test_variable_width_strings_sort_by_code_point_and_keep_nuls(kernels_with_few_threads):
    array = np.array(TEXTS, StringDType())
    assert fastsel.unique(array).tolist() == sorted(set(TEXTS))
    check_unique(fastsel.unique, array)
    check_unique(fastsel.unique, np.array(TEXTS * 50, StringDType(coerce=False)))


def test_nan_among_strings_is_not_lost_with_extra_outputs(kernels_with_few_threads):
    """NumPy 2.4 drops the NaN, and adds its count to that of another value."""
    array = strings(nan, "b", nan, "a", nan)
    values, *extras = fastsel.unique(array, True, True, True)
    assert values.tolist() == fastsel.unique(array).tolist() == ["a", "b", nan]
    assert lists(extras) == [[2, 0, 1], [1, 2, 0, 2], [1, 1, 2]]
    values, *extras = fastsel.unique(array, True, True, True, equal_nan=False)
    assert values.tolist() == ["a", "b", nan, nan]
    assert lists(extras) == [[2, 0, 1, 3], [1, 2, 0, 3], [1, 1, 1, 1]]
    check_unique(fastsel.unique, array)
    check_unique(fastsel.unique, strings(nan, *TEXTS * 9, nan, *TEXTS, nan))


def test_missing_string_that_is_a_string_equals_that_string(kernels_with_few_threads):
    array = strings("N", "b", "N", "a", "b", "", "N")
    check_unique(fastsel.unique, array, equal_nan=(True,))


@pytest.mark.parametrize("na", [None, ...])
def test_missing_string_without_order_cannot_be_sorted(na, kernels_with_few_threads):
    array = strings(na, "b", na, "a", "b", na)
    for extras in itertools.product((False, True), repeat=3):
        with pytest.raises(ValueError, match="Cannot compare null that is not a nan-like value"):
            fastsel.unique(array, *extras)


@pytest.mark.parametrize("na", [None, ...])
def test_missing_string_without_order_keeps_the_order_of_first_occurrence(
    na, kernels_with_few_threads
):
    array = strings(na, "b", na, "a", "b", na)
    values, *extras = fastsel.unique(array, True, True, True, sorted=False)
    assert values.tolist() == fastsel.unique(array, sorted=False).tolist() == ["b", na, "a"]
    assert lists(extras) == [[0, 1, 2], [0, 1, 2, 0, 1], [2, 2, 1]]


@covering(
    at_least=20,
    dtype=["S3", "S8", "S9", "S12", "S40", "U1", "U2", "U3", "U9", "V12"],
    size=[1, 10, 64, 65, 255, 257, 1000, 1001, 3000],
)
def test_small_arrays_of_texts_equal_the_reference(dtype, size):
    """No kernel is forced: small arrays take the path of ordinary calls. Some are at odd
    addresses."""
    width = int(dtype[1:])
    generator = np.random.default_rng(size)
    for groups in (1, 5, size):
        characters = generator.integers(1, 4, (groups, width), np.uint8)  # with common prefixes
        pool = characters.astype("u4" if dtype[0] == "U" else "u1").view(dtype).ravel()
        array = pool[generator.integers(0, groups, size)] if groups < size else pool
        shifted = np.empty(array.nbytes + 1, np.uint8)[1:]
        shifted[:] = array.view(np.uint8)
        for items in (array, shifted.view(dtype)):
            check_unique(fastsel.unique, items)


@pytest.mark.parametrize("na", [None, nan, "a\0c"])
@pytest.mark.parametrize("size", [4, 5, 30, 100, 101, 300, 1000, 1001, 17_000])
def test_variable_width_strings_that_differ_after_a_nul_are_distinct_at_every_size(size, na):
    """NumPy before 2.5.1 compares them up to the first NUL. No kernel is forced."""
    pool = ["a\0e", "a\0d", "a\0", "a\0c", "a", "a\0b", nan if na is nan else ""][-size:]
    dtype = StringDType() if na is None else StringDType(na_object=na)
    array = np.array([pool[k % len(pool)] for k in range(size)], dtype)
    texts = array.tolist()
    groups = {
        text: [k for k, item in enumerate(texts) if item is text or item == text] for text in pool
    }
    for in_order in (True, False):
        values = [*groups]
        if in_order:
            values.sort(key=lambda text: (text is nan, "" if text is nan else text))
        positions = [groups[text] for text in values]
        index = [where[0] for where in positions]
        inverse = np.empty(size, int)
        for k, where in enumerate(positions):
            inverse[where] = k
        extras = index, inverse.tolist(), [*map(len, positions)]
        for flags in itertools.product((False, True), repeat=3):
            expected = [values, *itertools.compress(extras, flags)]
            assert lists(fastsel.unique(array, *flags, sorted=in_order)) == expected
        found = fastsel.group_indices(array, sorted=in_order)
        assert lists(found) == [
            values,
            [k for where in positions for k in where],
            [0, *itertools.accumulate(map(len, positions))],
        ]
        if na is not nan:  # otherwise each NaN is a value
            if in_order:
                assert lists(fastsel.unique_all(array)) == [values, *extras]
                assert lists(fastsel.unique_counts(array)) == [values, extras[2]]
                assert lists(fastsel.unique_inverse(array)) == [values, extras[1]]
            else:
                assert fastsel.unique_values(array).tolist() == values
