"""group_indices: the groups of unique, and the positions of each group."""

import arrays
import numpy as np
import pytest
import reference
from arrays import DTYPES, grouped
from comparison import assert_same
from forcing import ALGORITHMS, force
from hypothesis import given
from hypothesis import strategies as st
from layouts import LAYOUTS, has_layout
from marks import SIGNALLING_NANS

import fastsel
from fastsel._unique import _outputs, _plan

pytestmark = SIGNALLING_NANS


def by_unique(array, **options):
    """The groups by unique, and their positions by a stable sort of its inverse."""
    values, inverse, counts = fastsel.unique(
        array, return_inverse=True, return_counts=True, **options
    )
    indices = np.argsort(inverse.ravel(), kind="stable")
    return values, indices, np.append(0, np.cumsum(counts))


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_and_layout_equals_the_reference(name, each_num_threads):
    dtype = DTYPES[name]
    items = grouped(dtype, 120, 30).reshape(20, 6)
    arrays_by_layout = {
        layout: lay(items) for layout, lay in LAYOUTS.items() if has_layout(dtype, layout)
    }
    cases = [
        (array, options, reference.group_indices(array, **options))
        for array in arrays_by_layout.values()
        for options in ({"sorted": False}, {"sorted": False, "equal_nan": False})
    ]
    for _ in each_num_threads:
        for array, options, expected in cases:
            before = array.copy()
            assert_same(tuple(fastsel.group_indices(array, **options)), expected)
            assert_same(array, before)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("sorted", [True, False])
@pytest.mark.parametrize("equal_nan", [True, False])
@pytest.mark.parametrize("dtype", ["int32", "float64", "M8[s]", "uint8", "S9"])
def test_every_algorithm_equals_the_reference(
    algorithm, sorted, equal_nan, dtype, each_num_threads, monkeypatch
):
    options = {"sorted": sorted, "equal_nan": equal_nan}
    inputs = [
        grouped(dtype, 3000, groups, make_items=maker)
        for groups, maker in ((9, arrays.scattered), (2500, arrays.in_a_row))
    ]
    cases = [(array, reference.group_indices(array, **options)) for array in inputs]
    force(monkeypatch, algorithm)
    for _ in each_num_threads:
        for array, expected in cases:
            assert_same(tuple(fastsel.group_indices(array, **options)), expected)


@pytest.mark.parametrize("reversed_order", [False, True])
@pytest.mark.parametrize("sorted", [True, False])
def test_items_in_order_are_grouped_as_by_unique(reversed_order, sorted, each_num_threads):
    array = np.repeat(np.arange(3000.0), 7)[:: -1 if reversed_order else 1]
    expected = by_unique(array, sorted=sorted)
    for _ in each_num_threads:
        assert_same(tuple(fastsel.group_indices(array, sorted=sorted)), expected)


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
@pytest.mark.parametrize("sorted", [True, False])
def test_slices_along_an_axis_equal_the_reference(axis, sorted, each_num_threads):
    inputs = arrays.make("int16", (40, 40), 0.1) % 2, np.zeros((6, 9)), np.ones((5, 1))
    cases = [(array, reference.group_indices(array, axis, sorted=sorted)) for array in inputs]
    for _ in each_num_threads:
        for array, expected in cases:
            assert_same(tuple(fastsel.group_indices(array, axis, sorted=sorted)), expected)


def test_slices_along_an_axis_of_many_items_are_grouped_as_by_unique(each_num_threads):
    array = np.random.default_rng(0).integers(0, 9, (2, 20_000))
    expected = by_unique(array, axis=1)
    for _ in each_num_threads:
        assert_same(tuple(fastsel.group_indices(array, axis=1)), expected)


@pytest.mark.parametrize("groups", [1, 7, _outputs.MAX_COUNTED_GROUPS, 12_500, 20_000])
@pytest.mark.parametrize("size", [_plan.UNSAMPLED_ITEMS, _plan.UNSAMPLED_ITEMS + 1, 100_001])
@pytest.mark.parametrize("sorted", [True, False])
def test_num_threads_agnosticism(groups, size, sorted, each_num_threads):
    array = np.random.default_rng(groups).integers(0, groups, size) * 1_000_003
    expected = by_unique(array, sorted=sorted)
    for _ in each_num_threads:
        assert_same(tuple(fastsel.group_indices(array, sorted=sorted)), expected)


@pytest.mark.parametrize("groups", [1, 3, 64, _outputs.MAX_COUNTED_GROUPS + 1])
def test_positions_of_groups_of_every_number_of_items_equal_a_stable_argsort(
    groups, kernels_with_few_threads
):
    for size in (*range(groups, groups + 68), 3 * groups + 1):
        inverse = np.append(np.arange(groups), np.arange(size - groups) * 7 % groups)
        indices, offsets = _outputs.positions_of_groups(inverse, groups)
        assert_same(indices, np.argsort(inverse, kind="stable"))
        assert_same(offsets, np.append(0, np.cumsum(np.bincount(inverse))))


@pytest.mark.parametrize("threads", [1, 3])
def test_many_groups_are_counted_if_they_cannot_be_sorted(threads, monkeypatch):
    monkeypatch.setattr(_outputs._sort, "positions", lambda inverse: None)
    inverse = np.random.default_rng(0).permutation(np.repeat(np.arange(9000), 3))
    with fastsel.threads(threads):
        indices, offsets = _outputs.positions_of_groups(inverse, 9000)
    assert_same(indices, np.argsort(inverse, kind="stable"))
    assert_same(offsets, np.arange(0, 27_001, 3))


def test_a_group_that_another_thread_took_from_the_inverse_has_no_positions():
    inverse = np.delete(np.arange(9000), 7)
    indices, offsets = _outputs.positions_of_groups(inverse, 9000)
    assert_same(indices, np.arange(8999))
    assert_same(offsets, np.append(np.arange(8), np.arange(7, 9000)))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)])
@pytest.mark.parametrize("sorted", [True, False])
def test_an_empty_array_has_no_groups(shape, sorted):
    values, indices, offsets = fastsel.group_indices(np.zeros(shape, "f4"), sorted=sorted)
    assert_same((values, indices, offsets), (np.zeros(0, "f4"), np.zeros(0, int), np.zeros(1, int)))


def test_slices_without_items_are_equal():
    assert_same(fastsel.group_indices(np.zeros((3, 0)), 0).offsets, np.array([0, 3]))


def test_complex_nan_is_the_smallest_if_sorted():
    array = np.tile([complex(np.nan, 2), 1, complex(np.nan, 1)], 6000)
    values, indices, offsets = fastsel.group_indices(array)
    assert_same(values, np.array([1, complex(np.nan, 1)]))
    assert_same(offsets, np.array([0, 6000, 18_000]))
    assert_same(indices[:6000], np.arange(1, 18_000, 3))


def test_values_have_the_bits_of_the_first_equal_item():
    array = np.tile([5.0, -0.0, 0.0, np.nan], 9000)
    values = fastsel.group_indices(array).values
    assert np.signbit(values).tolist() == [True, False, np.signbit(np.nan)]


def test_objects_lists_and_scalars_are_grouped():
    assert_same(tuple(fastsel.group_indices([2, 1, 2])), reference.group_indices([2, 1, 2]))
    values, indices, _ = fastsel.group_indices(np.array([3, "a", 3], object), sorted=False)
    assert values.tolist() == [3, "a"]
    assert indices.tolist() == [0, 2, 1]
    assert fastsel.group_indices(5).offsets.tolist() == [0, 1]


@pytest.mark.parametrize("size", [30, 30_000])
def test_errors_are_those_of_unique(size):
    array = np.arange(size)
    for axis, error in ((1, np.exceptions.AxisError), (0.5, TypeError), ("x", TypeError)):
        with pytest.raises(error) as expected:
            fastsel.unique(array, axis=axis)
        with pytest.raises(error) as actual:
            fastsel.group_indices(array, axis=axis)
        assert str(actual.value) == str(expected.value)
    with pytest.raises(TypeError):
        fastsel.group_indices(np.array([3, "a"] * size, object))
    with pytest.raises(ValueError, match="ar cannot be converted"):
        fastsel.group_indices([[1], [1, 2]])


@given(st.lists(st.integers(-3, 3) | st.just(2**40), max_size=200), st.booleans())
def test_any_integers_equal_the_reference(items, sorted):
    array = np.array(items, np.int64)
    outputs = fastsel.group_indices(array, sorted=sorted)
    assert_same(tuple(outputs), reference.group_indices(array, sorted=sorted))
    assert sum(map(len, np.split(outputs.indices, outputs.offsets[1:-1]))) == array.size
