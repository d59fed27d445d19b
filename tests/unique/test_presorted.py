"""unique of keys that ascend or descend already, and of keys that nearly do."""

import itertools

import numpy as np
import pytest
import reference
from comparison import assert_same, check_unique, check_values_and_index
from grids import covering
from special_numbers import whole_numbers
from unique_kernels import find_presorted

import fastsel

EDGE_SIZES = (1, 63, 64, 65, 511, 512, 513, 1024, 1025, 3000)
ORDERS = {
    "ascending": np.arange(3000),
    "descending": np.arange(3000)[::-1],
    "runs": np.arange(3000) // 7,
    "runs_descending": -(np.arange(3000) // 65),
    "constant": np.full(3000, 4),
    "both_signs": np.arange(3000) - 1500,
    "in_two_runs": np.arange(3000) // 1500,
}


@covering(dtype=["i4", "u4", "i8", "u8", "f4", "f8", "M8[s]", ">i8"], order=ORDERS)
def test_keys_that_are_or_are_not_in_order_equal_the_reference(dtype, order, forced_kernels):
    """For keys in order, all outputs are compared. Values and index are compared for arrays in
    which two keys are replaced by keys near them, and for arrays with NaN or NaT at the end or at
    the start."""
    items = ORDERS[order]
    if dtype == "u4" and items.min() < 0:
        items = items - items.min()
    for size in EDGE_SIZES[len(dtype + order) % 2 :: 2]:
        array = whole_numbers(dtype, items[:size])
        check_unique(fastsel.unique, array)
    array = whole_numbers(dtype, items)
    for position in (1, 63, 64, 512, 2998):
        broken = array.copy()
        broken[[position, position + 1]] = broken[[position + 1, position - 1]]
        check_values_and_index(broken, threads=(3,))
    if array.dtype.kind in "fM":
        for nans in ([0], [-1], [-2, -1], [0, 1, 2]):
            changed = array.copy()
            changed[nans] = "NaT" if changed.dtype.kind == "M" else np.nan
            check_values_and_index(changed, threads=(1, 3))


@pytest.mark.parametrize("equal_nan", [True, False])
@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("forced", [True, False])
def test_all_outputs_of_keys_in_order_equal_the_reference(forced, in_order, equal_nan, request):
    """Without the fixture `forced_kernels`, the kernel of small arrays serves the keys."""
    if forced:
        request.getfixturevalue("forced_kernels")
    for items in ([-0.0, 0.0, 0.0, 1, np.nan, np.nan], [np.nan, np.nan, 2, 0.0, -0.0]):
        for repeats in (100, 300):
            array = np.repeat(items, repeats)
            array[-1:].view(np.uint64)[:] |= np.uint64(1)
            rules = {"equal_nan": equal_nan, "sorted": in_order}
            for threads in (1, 3):
                with fastsel.threads(threads):
                    outputs = fastsel.unique(array, True, True, True, **rules)
                assert_same(outputs, reference.unique_outputs(array, **rules))


@pytest.mark.parametrize("size", [1000, 1024, 5000, 20_000])
@pytest.mark.parametrize("dtype", ["i4", "u8", "f4", "M8[s]", "S4", "U3"])
def test_descending_keys_are_reversed(dtype, size):
    """Every combination of outputs is compared."""
    for groups in (2, size // 10, size):
        array = np.sort(np.random.default_rng(1).integers(0, groups, size).astype(dtype))[::-1]
        values, *extras = np.unique(array, True, True, True)
        for flags in itertools.product((False, True), repeat=3):
            expected = (values, *itertools.compress(extras, flags))
            for items in (array, array.copy()):
                outputs = fastsel.unique(items, *flags)
                assert_same(outputs if any(flags) else (outputs,), expected)


def test_keys_whose_order_breaks_late_equal_the_reference(forced_kernels):
    for position in (19_999, 10_000):
        array = np.arange(20_000)
        array[position] = 5
        check_values_and_index(array, threads=(1, 3))
        check_values_and_index(array[::-1].copy(), threads=(2, 7))


@pytest.mark.parametrize("dtype", ["S1", "S3", "S4", "S8", "S9", "U1", "U2", "U5", ">U5"])
def test_strings_that_are_or_are_not_in_order_equal_the_reference(dtype, forced_kernels):
    """U dtypes have characters above 0xff and 0xffff. In some arrays, two strings are exchanged."""
    characters = "\x01a\xff" if dtype[0] == "S" else "\x01a\u0100\U0001f600"
    width = int(dtype.lstrip(">SU"))
    texts = ["".join(t) for t in itertools.product(characters, repeat=min(width, 5))]
    texts = [text.encode("latin-1") if dtype[0] == "S" else text for text in texts]
    for items in (texts, texts[::-1], [text for text in texts for _ in range(3)], texts[:1] * 70):
        array = np.array(items, dtype)
        check_unique(fastsel.unique, array)
        for position in (0, 63, 64, len(array) - 2):
            broken = array.copy()
            broken[[position % len(array), -1]] = broken[[-1, position % len(array)]]
            check_values_and_index(broken, threads=(1,))


@pytest.mark.parametrize("dtype", ["i4", "f8", "S3", "U3"])
def test_runs_in_order_have_a_direction(dtype):
    """Runs ascend or descend; a single run counts as ascending."""
    items = np.repeat(np.arange(10, 60), 7).astype(dtype)
    for array, direction in ((items, 1), (items[::-1], -1), (items[:7], 1)):
        runs = find_presorted(array)
        assert runs is not None
        assert runs.direction == direction
    unordered = np.append(items, items[0])
    assert find_presorted(unordered) is None
