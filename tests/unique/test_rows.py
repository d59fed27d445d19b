"""unique along an axis: rows compare item by item in C order; a row with NaN equals no other."""

import itertools
import math

import arrays
import numpy as np
import pytest
import reference
from arrays import grouped
from comparison import assert_same, check_unique, outcome
from forcing import ALGORITHMS, force
from grids import covering, slow
from layouts import LAYOUTS, as_axes_rolled, has_layout
from marks import SIGNALLING_NANS

import fastsel

pytestmark = SIGNALLING_NANS


WIDTHS = (1, 2, 3, 8, 17, 100)
DTYPES = {**arrays.DTYPES, **{name: np.dtype(name) for name in ("S9", "S20", "V20")}}
ROW_DTYPES = [name for name, dtype in DTYPES.items() if not dtype.hasobject and dtype.char != "T"]
nan = np.nan


def rows_of(name, count, width, groups):
    """Random rows of at most `groups` groups."""
    rng = np.random.default_rng([count, width, groups])
    pool = grouped(name, groups * width, max(groups * width // 3, 1)).reshape(groups, width)
    if groups > 1:  # pairs of groups have equal first halves
        pool[1::2, : width // 2] = pool[::2, : width // 2][: len(pool) // 2]
    return pool[rng.integers(groups, size=count)] if groups < count else pool[:count]


def check_values_and_all_outputs(array, axis):
    """Check values alone and all four outputs, in both orders."""
    for in_order in (True, False):
        expected = reference.unique_outputs(array, axis, sorted=in_order)
        check_outputs(array, axis, in_order, expected)


def check_outputs(array, axis, in_order, expected):
    assert_same(fastsel.unique(array, axis=axis, sorted=in_order), expected[0])
    assert_same(fastsel.unique(array, True, True, True, axis, sorted=in_order), expected)


@pytest.mark.parametrize("name", ROW_DTYPES)
@pytest.mark.parametrize("every_size", [False, slow(True)], ids="every_size_{}".format)
def test_rows_of_every_dtype_and_width_equal_the_reference(every_size, name, forced_kernels):
    for width in WIDTHS:
        sizes = ((1, 1), (2, 2), (30, 1), (40, 5), (65, 65))
        for count, groups in (
            sizes if every_size else sizes[(width + ROW_DTYPES.index(name)) % 4 :: 4]
        ):
            with fastsel.threads(2 if count == 65 else 1):
                check_values_and_all_outputs(rows_of(name, count, width, groups), 0)


@pytest.mark.parametrize(
    "name",
    [
        "bool",
        "uint8",
        "int16",
        "int64",
        "float16",
        "float32",
        "float64",
        "complex128",
        "datetime64",
        "U2",
        "S3",
    ],
)
def test_every_small_number_of_rows_with_every_algorithm_equals_the_reference(
    name, forced_kernels, monkeypatch
):
    for count in arrays.SIZES[len(name) % 3 :: 3]:
        width, groups = WIDTHS[count % 4], (1, 2, max(count // 4, 1), count)[count // 4 % 4]
        array = rows_of(name, count, width, groups) if count else grouped(name, 0, 1).reshape(0, 3)
        expected_outputs = [
            reference.unique_outputs(array, 0, sorted=in_order) for in_order in (True, False)
        ]
        for algorithm in ALGORITHMS[count % 2 :: 2]:
            force(monkeypatch, algorithm)
            for in_order, expected in zip((True, False), expected_outputs, strict=True):
                with fastsel.threads(2 if count % 4 == 3 else 1):
                    outputs = fastsel.unique(array, True, True, True, 0, sorted=in_order)
                    assert_same(outputs, expected)
                    assert_same(fastsel.unique(array, axis=0, sorted=in_order), expected[0])


@covering(
    name=["uint8", "int64", "float32", "float64"],
    width=[2, 8, 100],
    count_and_groups=[(4095, 10), (4096, 4096), (4097, 400), (20_000, 2000)],
)
def test_many_rows_equal_numpy(name, width, count_and_groups, monkeypatch):
    count, groups = count_and_groups
    array = rows_of(name, count, width, groups)
    for in_order in (True, False):
        expected = reference.numpy_unique_outputs(array, 0, sorted=in_order)
        for algorithm in ALGORITHMS:
            force(monkeypatch, algorithm)
            check_outputs(array, 0, in_order, expected)


@pytest.mark.parametrize("name", ["uint8", "float64", "U3", "S9", "struct_padded", "bfloat16"])
def test_every_combination_of_outputs_equals_the_reference(name, kernels_with_few_threads):
    for shape, axis in (((50, 3), 0), ((3, 50), 1), ((4, 5, 2), 1)):
        array = grouped(name, math.prod(shape), 3).reshape(shape)
        check_unique(fastsel.unique, array, axis=axis)


# Axes and layouts.


@pytest.mark.parametrize("name", ["bool", "int32", "float64", "S3", "complex64", "V3"])
def test_every_axis_equals_the_reference(name, kernels_with_few_threads):
    for shape in ((6, 4), (4, 3, 5), (2, 3, 2, 2), (1, 1, 7), (12, 1)):
        array = grouped(name, math.prod(shape), 2).reshape(shape)
        for axis in range(-len(shape), len(shape)):
            check_values_and_all_outputs(array, axis)


@covering(
    name=["uint8", "int32", "float64", "complex128", "U2", "V16", "struct_gaps", "bfloat16"],
    axis=[0, 1, -1],
)
def test_every_layout_equals_the_reference(name, axis, kernels_with_few_threads):
    shapes = ((40, 2), (3, 40), (5, 4, 6), (1, 8), (0, 3), (3, 0))
    for k, (layout, lay) in enumerate(LAYOUTS.items()):
        if not has_layout(DTYPES[name], layout):
            continue
        for shape in {(5, 4, 6), shapes[(k + len(name)) % len(shapes)]}:
            check_values_and_all_outputs(
                lay(grouped(name, math.prod(shape), 2).reshape(shape)), axis
            )


def test_axis_of_one_dimension_is_the_whole_array(kernels_with_few_threads):
    """NaNs are one group, as in a whole array and not as in rows."""
    array = np.array([nan, 2, 1, nan, -0.0, 0.0])
    for axis in (0, -1):
        check_unique(fastsel.unique, array, axis=axis)
        assert_same(
            fastsel.unique(array, True, True, True, axis), fastsel.unique(array, True, True, True)
        )


@pytest.mark.parametrize(
    ("shape", "axis", "values", "extras"),
    [
        ((0, 3), 0, (0, 3), ([], [], [])),
        ((0, 3), 1, (0, 1), ([0], [0, 0, 0], [3])),
        ((3, 0), 0, (1, 0), ([0], [0, 0, 0], [3])),
        ((3, 0), 1, (3, 0), ([], [], [])),
        ((0, 0), 0, (0, 0), ([], [], [])),
        ((0, 0), 1, (0, 0), ([], [], [])),
        ((2, 0, 3), 0, (1, 0, 3), ([0], [0, 0], [2])),
        ((2, 0, 3), 1, (2, 0, 3), ([], [], [])),
        ((2, 0, 3), 2, (2, 0, 1), ([0], [0, 0, 0], [3])),
        ((0, 2, 3), -1, (0, 2, 1), ([0], [0, 0, 0], [3])),
    ],
)
def test_rows_without_items_are_equal_and_no_rows_have_no_values(shape, axis, values, extras):
    for name in ROW_DTYPES:
        array = np.zeros(shape, DTYPES[name])
        for in_order in (True, False):
            outputs = fastsel.unique(array, True, True, True, axis, sorted=in_order)
            assert outputs[0].shape == values
            assert outputs[0].dtype == array.dtype
            assert tuple(extra.tolist() for extra in outputs[1:]) == extras
            assert fastsel.unique(array, axis=axis, sorted=in_order).shape == values


def test_inverse_is_one_dimensional_and_rebuilds_the_input(kernels_with_few_threads):
    array = grouped("int16", 60, 2).reshape(3, 10, 2)
    for axis in range(3):
        values, inverse = fastsel.unique(array, return_inverse=True, axis=axis)
        assert inverse.shape == (array.shape[axis],)
        assert_same(np.take(values, inverse, axis), array)


def test_values_are_new_memory_that_may_be_written(kernels_with_few_threads):
    array = np.arange(12.0).reshape(3, 4)
    for axis in (0, 1):
        for in_order in (True, False):
            values = fastsel.unique(array, axis=axis, sorted=in_order)
            assert not np.shares_memory(values, array)
            values[:] = 0
    assert_same(array, np.arange(12.0).reshape(3, 4))


# Order and equality of rows.


def test_first_different_item_decides_the_order(kernels_with_few_threads):
    for width in (2, 3, 8, 17, 100, 1000):
        base = np.full(width, 7, np.int32)
        rows = [base]
        for position in {0, 1, width // 2, width - 2, width - 1}:
            for value in (-(2**31), -1, 6, 8, 2**31 - 1):
                rows.append(np.where(np.arange(width) == position, value, base))
        array = np.random.default_rng(width).permutation(np.array(rows * 2, np.int32))
        values = fastsel.unique(array, axis=0)
        assert values.tolist() == sorted(map(list, set(map(tuple, array.tolist()))))
        check_values_and_all_outputs(array, 0)


def test_negative_numbers_sort_before_positive_ones(kernels_with_few_threads):
    for dtype in ("int8", "int16", "int32", "int64", "float16", "float32", "float64"):
        numbers = np.array([-100, -2, -1, 0, 1, 2, 100], dtype)
        array = np.array(list(itertools.product(numbers, repeat=2)), dtype)
        mixed = array[np.random.default_rng(1).permutation(len(array))]
        assert_same(fastsel.unique(mixed, axis=0), array)


def test_rows_with_the_same_items_in_another_order_differ(kernels_with_few_threads):
    for width in (2, 3, 4, 5):
        array = np.array(list(itertools.permutations(range(width))) * 3, np.int64)
        values, counts = fastsel.unique(array, return_counts=True, axis=0)
        assert values.tolist() == sorted(map(list, itertools.permutations(range(width))))
        assert set(counts.tolist()) == {3}


def test_rows_that_cancel_out_differ(kernels_with_few_threads):
    """Neither sum nor exclusive-or of the items tells these rows apart."""
    numbers = np.arange(200)
    array = np.stack([numbers, numbers, -numbers, -numbers], axis=1)
    check_values_and_all_outputs(array, 0)
    assert len(fastsel.unique(array, axis=0)) == 200
    assert len(fastsel.unique(array[:, :2].copy(), axis=0)) == 200


@pytest.mark.parametrize("dtype", ["f4", "f8", "g", "c8", "c16", "G", ">f8"])
def test_nan_rows_stay_apart_and_nan_sorts_last_in_its_column(dtype, kernels_with_few_threads):
    array = np.array([[nan, 1], [1, nan], [1, 2], [nan, 1], [0, 5], [nan, nan], [1, nan]], dtype)
    expected = np.unique(array, True, True, True, axis=0)
    assert expected[1].tolist() == [4, 2, 1, 6, 0, 3, 5]
    assert_same(fastsel.unique(array, True, True, True, axis=0), expected)
    check_values_and_all_outputs(array, 0)


def test_half_precision_nan_sorts_first_in_its_column_as_in_numpy(kernels_with_few_threads):
    array = np.array([[1, nan], [2, 1], [nan, 1], [1, 1], [nan, 0], [nan, 1]], np.float16)
    expected = np.unique(array, True, True, True, axis=0)
    assert_same(fastsel.unique(array, True, True, True, axis=0), expected)
    assert expected[1].tolist() == [4, 2, 5, 0, 3, 1]


@pytest.mark.parametrize("kind", "mM")
def test_nat_rows_stay_apart_and_nat_sorts_last_in_its_column(kind, kernels_with_few_threads):
    array = np.array([["NaT", 1], [1, "NaT"], [-1, 2], ["NaT", 1], [1, 3]], kind + "8[s]")
    assert_same(fastsel.unique(array, axis=0), array[[2, 4, 1, 0, 3]])
    check_values_and_all_outputs(array, 0)


def test_complex_nan_rows_are_in_the_order_of_numpy(kernels_with_few_threads):
    parts = (complex(nan, 1), complex(1, nan), complex(nan, nan), complex(-1, nan), 3, 1j)
    for dtype in ("c8", "c16", "G"):
        array = np.array(list(itertools.product(parts, repeat=2)), dtype)
        array = np.concatenate([array, array])
        assert_same(
            fastsel.unique(array, True, True, True, axis=0),
            np.unique(array, True, True, True, axis=0),
        )
        check_values_and_all_outputs(array, 0)


def test_bfloat16_rows_sort_as_numbers(kernels_with_few_threads):
    array = np.array(
        [[2, nan], [1, 5], [-1, 3], [-0.0, 3], [0, 3], [nan, 1], [2, 1], [nan, 1]],
        DTYPES["bfloat16"],
    )
    values, index, counts = fastsel.unique(array, True, return_counts=True, axis=0)
    assert index.tolist() == [2, 3, 1, 6, 0, 5, 7]
    assert counts.tolist() == [1, 2, 1, 1, 1, 1, 1]
    assert_same(values, array[index])


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g", "c8", "c16", "G", "bfloat16"])
def test_zeros_of_both_signs_are_equal_and_the_first_row_is_kept(dtype, kernels_with_few_threads):
    zeros = np.array(list(itertools.product([0.0, -0.0], repeat=3)))
    for first in range(len(zeros)):
        array = np.roll(zeros, -first, axis=0).astype(arrays.DTYPES.get(dtype, dtype))
        array = np.concatenate([array, array + np.ones(1, array.dtype), array])
        assert len(fastsel.unique(array, axis=0)) == 2
        check_values_and_all_outputs(array, 0)


@pytest.mark.parametrize("count", [3, 1025])
def test_rows_with_one_item_that_is_not_canonical_equal_the_reference(
    count, kernels_with_few_threads
):
    """unique copies rows if an item is -0.0, NaN, NaT, or a bool with a byte other than 0 and 1.
    Rows of long doubles are always copied."""
    for dtype in ("f2", "f4", "f8", "g", "c8", "c16", "M8[s]", "m8[D]", "bool"):
        not_canonical = {"M": "NaT", "m": "NaT", "b": True}.get(np.dtype(dtype).kind, -0.0)
        canonical = (np.arange(count * 4) % 7).astype(dtype).reshape(count, 4)
        check_values_and_all_outputs(canonical, 0)
        for position in (0, canonical.size // 2, canonical.size - 1):
            for value in (
                (not_canonical, np.nan) if canonical.dtype.kind in "fc" else (not_canonical,)
            ):
                array = canonical.copy()
                array.flat[position] = value
                if dtype == "bool":
                    array.view(np.uint8).flat[position] = 255
                check_values_and_all_outputs(array, 0)


def test_bool_rows_compare_as_truth(kernels_with_few_threads):
    array = np.array([[2, 0], [1, 0], [0, 255], [0, 1], [128, 0]], np.uint8).view(bool)
    values, *extras = fastsel.unique(array, True, True, True, axis=0)
    assert values.tolist() == [[False, True], [True, False]]
    assert [extra.tolist() for extra in extras] == [[2, 0], [1, 1, 0, 0, 1], [2, 3]]


def test_nuls_at_the_end_of_an_item_do_not_move_into_the_next(kernels_with_few_threads):
    array = np.array([["a", "ba"], ["ab", "a"], ["a\0", "ba"], ["", "aba"]], "S3")
    check_values_and_all_outputs(array, 0)
    check_values_and_all_outputs(array.astype("U3"), 0)
    assert fastsel.unique(array, return_counts=True, axis=0)[1].tolist() == [1, 2, 1]


def test_rows_of_more_dimensions_compare_in_c_order(kernels_with_few_threads):
    array = np.array([[[1, 2], [3, 0]], [[1, 2], [0, 9]], [[1, 0], [9, 9]], [[1, 2], [3, 0]]])
    for laid_out in (array, np.asfortranarray(array), as_axes_rolled(array)):
        values, index = fastsel.unique(laid_out, return_index=True, axis=0)
        assert index.tolist() == [2, 1, 0]
        assert_same(values, array[[2, 1, 0]])


def test_long_rows_equal_the_reference(kernels_with_few_threads):
    for dtype in ("u1", "i8", "f4", "S7"):
        array = grouped(dtype, 12 * 5000, 50).reshape(12, 5000)
        array[6:] = array[:6]
        array[9, 4999] = array[9, 0]
        array[10, 0] = array[10, 4999]
        check_values_and_all_outputs(array, 0)


@pytest.mark.parametrize(
    "array",
    [
        np.array([[1, 2], [1, 2]], object),
        np.zeros((2, 2), [("a", "O")]),
        np.zeros((2, 2), "T"),
    ],
    ids=["object", "field of objects", "StringDType"],
)
def test_rows_of_references_are_refused_as_in_numpy(array):
    for axis in (0, 1, -1):
        for in_order in (True, False):
            actual = outcome(fastsel.unique, array, axis=axis, sorted=in_order)
            assert actual == outcome(np.unique, array, axis=axis)
            assert actual[:2] == ("raises", TypeError)


def test_rows_of_bool_with_other_bytes_than_1_are_in_order(kernels_with_few_threads):
    """Bytes 1 and 255 are both True: the next item decides."""
    for repeats in (1, 1000):
        rows = np.array([[255, 0], [1, 1], [255, 1], [0, 7], [1, 0]] * repeats, np.uint8)
        values, counts = fastsel.unique(rows.view(bool), axis=0, return_counts=True)
        assert values.tolist() == [[False, True], [True, False], [True, True]]
        assert counts.tolist() == [repeats, 2 * repeats, 2 * repeats]
