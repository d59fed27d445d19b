"""unique of whole arrays, by every algorithm: sizes, groups, dtypes, layouts, choices of outputs.

Other files of unique: test_keys.py, test_complex.py and test_string_dtypes.py (which items are
equal, and which of them stands for its group), test_rows.py (axis), test_unique_interface.py
(signatures, errors), test_unique_rules.py (each rule, literally), test_unique_classes.py
(array-likes, subclasses), test_unique_promises.py (threads, seeds), test_hostile_keys.py,
test_objects.py, test_str_objects.py and test_missing_values.py (objects, missing strings). The
remaining files of this folder have one algorithm, one step of a call, or group_indices.
"""

import math

import arrays
import numpy as np
import pytest
import reference
from arrays import grouped, values_for_dtype
from comparison import assert_same, check_unique, check_values_and_index, value_bytes
from forcing import ALGORITHMS, force
from grids import covering, slow
from layouts import LAYOUTS, has_layout
from marks import SIGNALLING_NANS
from special_numbers import whole_numbers

import fastsel

pytestmark = SIGNALLING_NANS


DTYPES = {**arrays.DTYPES, **{name: np.dtype(name) for name in ("S9", "S20", "V20")}}
KEY_DTYPES = [
    name
    for name, dtype in DTYPES.items()
    if not dtype.hasobject and dtype.names is None and dtype.char != "T"
]
"""The names of the dtypes whose items can be keys of a fixed number of bytes."""
ML_FLOATS = [name for name in arrays.ML_DTYPES if "float" in name]
NUMBER_DTYPES = ("i2", "i4", "u4", "f4", "i8", "u8", "f8", "M8[s]", "m8[ns]", ">i4", ">f8")
EDGE_SIZES = (*range(10), 15, 16, 17, 31, 32, 33, *range(61, 68))
BLOCK_EDGE_SIZES = (1, 63, 64, 65, 511, 512, 513, 1024, 1025, 3000)
MAKERS = (arrays.scattered, arrays.in_a_row)


def group_counts(size):
    """1, 2, 25, about sqrt(n), n/10 and n groups, as far as they differ and are at most n."""
    counts = {1, 2, 25, math.isqrt(size), size // 10 if size > 100 else 1, size}
    return sorted(count for count in counts if 0 < count <= max(size, 1))


def check_values_and_all_outputs(array, outputs=reference.unique_outputs):
    """Check values alone and all four outputs, in both orders."""
    for in_order in (True, False):
        expected = outputs(array, sorted=in_order)
        assert_same(fastsel.unique(array, sorted=in_order), expected[0])
        assert_same(fastsel.unique(array, True, True, True, sorted=in_order), expected)


def check_algorithms(array, monkeypatch, outputs=reference.unique_outputs):
    """Check that every algorithm returns the expected outputs."""
    rules = [{"sorted": True}, {"sorted": False}]
    if array.dtype.kind in "fcmM" or array.dtype.name in ML_FLOATS:
        rules += [{"sorted": in_order, "equal_nan": False} for in_order in (True, False)]
    expected_outputs = [outputs(array, **rule) for rule in rules]
    for algorithm in ALGORITHMS:
        force(monkeypatch, algorithm)
        for rule, expected in zip(rules, expected_outputs, strict=True):
            try:
                assert_same(fastsel.unique(array, True, True, True, **rule), expected)
                assert_same(fastsel.unique(array, **rule), expected[0])
            except AssertionError as error:
                error.add_note(f"for {array.dtype}, size {array.size}, {algorithm}, {rule}")
                raise


# The reference itself.


@pytest.mark.parametrize("name", DTYPES)
def test_reference_equals_numpy(name):
    """The reference and NumPy agree wherever NumPy is right."""
    for size, maker in ((0, MAKERS[0]), (1, MAKERS[0]), (300, MAKERS[0]), (300, MAKERS[1])):
        array = grouped(name, size, max(size // 4, 1), make_items=maker)
        if name in ML_FLOATS:  # NumPy does not sort their NaN
            array = array[array == array]
        for equal_nan in (True, False):
            for in_order in (True, False):
                ours = reference.unique_outputs(array, equal_nan=equal_nan, sorted=in_order)
                theirs = reference.numpy_unique_outputs(array, equal_nan=equal_nan, sorted=in_order)
                assert_same(ours, theirs)
        if array.dtype.char != "T" and array.dtype.kind not in "Vc":
            np.testing.assert_array_equal(reference.unique(array), np.unique(array))


def test_reference_of_rows_equals_numpy():
    for name in KEY_DTYPES:
        for shape in ((0, 2), (1, 3), (50, 1), (60, 2)):
            array = grouped(name, math.prod(shape), 5).reshape(shape)
            if name in ML_FLOATS:
                array = array[(array == array).all(1)]
            for in_order in (True, False):
                ours = reference.unique_outputs(array, axis=0, sorted=in_order)
                assert_same(ours, reference.numpy_unique_outputs(array, 0, sorted=in_order))


# Sizes, groups, algorithms.


@pytest.mark.parametrize("every_count", [False, slow(True)], ids="every_count_{}".format)
@pytest.mark.parametrize("name", KEY_DTYPES)
def test_small_sizes_with_every_algorithm_equal_the_reference(
    name, every_count, forced_kernels, monkeypatch
):
    step = (1 if every_count else 2) if name in arrays.WORD_DTYPES else 5
    sizes = EDGE_SIZES[KEY_DTYPES.index(name) % step :: step]
    for size in sizes:
        counts = group_counts(size)
        for groups in counts if every_count else [counts[-1 - size % len(counts)]]:
            array = grouped(name, size, groups, make_items=MAKERS[(size + groups) % 2])
            with fastsel.threads(2 if size % 4 == 3 else 1):
                check_algorithms(array, monkeypatch)


@covering(
    name=[
        *("uint8", "int16", "int32", "int64", "float32", "float64"),
        *("complex128", "datetime64", "U3", "S9", "V20"),
    ],
    size=[4095, 4097, 100_000],
    group_items=[1, 10, 300, 4000],
)
def test_large_sizes_with_every_algorithm_equal_numpy(name, size, group_items, monkeypatch):
    groups = -(-size // group_items)
    array = grouped(name, size, groups, make_items=MAKERS[groups % 2])
    check_algorithms(array, monkeypatch, reference.numpy_unique_outputs)


@covering(
    name=DTYPES,
    size_and_groups=[(1000, 31), (4095, 4095), (4096, 409), (4097, 2), (20_000, 2000)],
)
def test_large_arrays_of_every_dtype_equal_the_reference(name, size_and_groups, forced_kernels):
    check_values_and_all_outputs(grouped(name, *size_and_groups))


@pytest.mark.parametrize("dtype", arrays.INTEGER_DTYPES)
def test_ranges_of_integers_equal_numpy(dtype, forced_kernels, monkeypatch):
    """Ranges are narrow or wide, and lie at either end of the dtype, around 0, or from 0 on. The
    width of some ranges overflows the dtype."""
    lowest, highest = np.iinfo(dtype).min, np.iinfo(dtype).max
    rng = np.random.default_rng(3)
    widths = (1, 2, 255, 256, 257, 65535, 65536, 65537, 2**20, highest - lowest)
    for k, width in enumerate(widths):
        width = min(width, highest - lowest)
        starts = sorted({lowest, highest - width, max(lowest, -width // 2), max(lowest, 0)})
        for start in starts[k % 2 :: 2]:
            if start + width > highest:
                continue
            array = rng.integers(start, start + width, 600, dtype, endpoint=True)
            array[[7, 401]] = start, start + width
            check_algorithms(array, monkeypatch, reference.numpy_unique_outputs)


def test_one_large_value_at_several_positions_is_found(forced_kernels, monkeypatch):
    """A sample of the array may miss its one large value."""
    for algorithm in ALGORITHMS:
        force(monkeypatch, algorithm)
        for position in (0, 1, 4999, 9998, 9999):
            array = np.arange(10_000) % 10
            array[position] = 2**62
            check_unique(fastsel.unique, array, reference.numpy_unique_outputs, equal_nan=(True,))


# Outputs.


@pytest.mark.parametrize("name", DTYPES)
def test_every_combination_of_outputs_equals_the_reference(name, kernels_with_few_threads):
    for size, groups in values_for_dtype(name, ((300, 25), (0, 1), (5, 2), (1, 1), (64, 64)), 2):
        check_unique(fastsel.unique, grouped(name, size, groups))


@pytest.mark.parametrize("name", DTYPES)
def test_outputs_are_new_arrays_that_may_be_written(name, forced_kernels):
    array = grouped(name, 300, 300)
    for shape in ((300,), (20, 15)):
        array = array.reshape(shape)
        for output in fastsel.unique(array, True, True, True):
            assert type(output) is np.ndarray
            assert output.flags.writeable
            assert output.flags.c_contiguous
            assert not np.shares_memory(output, array)


@pytest.mark.parametrize("algorithm", [None, *ALGORITHMS])
def test_values_keep_the_metadata_of_the_dtype(algorithm, monkeypatch):
    force(monkeypatch, algorithm)
    array = np.arange(10_000) % 4999 / 4
    array = array.astype(np.dtype("f8", metadata={"unit": "m"}))
    for options in ({}, {"return_inverse": True}, {"return_index": True, "sorted": False}):
        values = fastsel.unique(array, **options)
        values = values[0] if isinstance(values, tuple) else values
        assert values.dtype.metadata == {"unit": "m"}
    assert fastsel.group_indices(array).values.dtype.metadata == {"unit": "m"}


def test_one_output_is_an_array_and_several_are_a_tuple():
    array = np.array([3, 1, 3])
    assert type(fastsel.unique(array)) is np.ndarray
    assert type(fastsel.unique(array, return_counts=True)) is tuple


def test_extra_outputs_are_intp_and_inverse_has_the_shape_of_the_input():
    for shape in ((), (0,), (6,), (2, 3), (1, 2, 3), (2, 0)):
        array = np.zeros(shape, np.int16)
        values, index, inverse, counts = fastsel.unique(array, True, True, True)
        assert index.dtype == inverse.dtype == counts.dtype == np.intp
        assert inverse.shape == shape
        assert values.shape == index.shape == counts.shape == (min(array.size, 1),)


# Layouts.


@pytest.mark.parametrize("name", arrays.DTYPES)
@pytest.mark.parametrize("every_shape", [False, slow(True)], ids="every_shape_{}".format)
def test_every_layout_equals_the_reference(every_shape, name, forced_kernels):
    """Items are read in C order in every layout; the dtype keeps its byte order."""
    for layout, lay in LAYOUTS.items():
        if not has_layout(DTYPES[name], layout):
            continue
        shapes = ((), (0,), (7,), (129,), (3, 0, 2), (5, 13), (3, 4, 6))
        for shape in shapes if every_shape else {shapes[-1], shapes[len(name + layout) % 7]}:
            size = math.prod(shape)
            array = lay(grouped(name, size, max(size // 3, 1)).reshape(shape))
            with fastsel.threads(2 if size == 129 else 1):
                check_values_and_all_outputs(array)


def test_unique_of_a_large_broadcast_array_counts_repeated_items():
    array = np.broadcast_to(np.arange(4.0), (2**16, 4))
    values, index, counts = fastsel.unique(array, return_index=True, return_counts=True)
    assert values.tolist() == [0, 1, 2, 3]
    assert index.tolist() == [0, 1, 2, 3]
    assert counts.tolist() == [2**16] * 4


def test_unique_of_sixty_four_dimensions_equals_the_reference():
    array = np.arange(4).reshape((1,) * 31 + (2,) + (1,) * 31 + (2,))
    assert_same(fastsel.unique(array, True, True, True), reference.unique_outputs(array))


# The four functions of the array API.


@pytest.mark.parametrize(
    "function", ["unique_all", "unique_counts", "unique_inverse", "unique_values"]
)
def test_array_api_functions_equal_the_reference(function, kernels_with_few_threads):
    """Each NaN is a value of its own. Values are sorted, except those of unique_values."""
    for name in DTYPES:
        for shape in values_for_dtype(name, ((300,), (), (0,), (1,), (20, 15)), 3):
            array = grouped(name, math.prod(shape), 25).reshape(shape)
            outputs, expected = (
                getattr(fastsel, function)(array),
                getattr(reference, function)(array),
            )
            assert_same(tuple(outputs) if isinstance(outputs, tuple) else outputs, expected)


# Values and index.


@covering(dtype=NUMBER_DTYPES, algorithm=ALGORITHMS)
def test_values_and_index_from_every_algorithm_equal_the_reference(
    dtype, algorithm, forced_kernels, monkeypatch
):
    force(monkeypatch, algorithm)
    rng = np.random.default_rng(3)
    for k, size in enumerate(BLOCK_EDGE_SIZES):
        for groups in [(1, size, 100, 5)[(k + len(dtype)) % 4]]:
            check_values_and_index(
                whole_numbers(dtype, rng.integers(-1, groups, size)), threads=(1, 3)
            )
    check_values_and_index(
        whole_numbers(dtype, np.append(rng.permutation(9000), [0, -1, 5, -1, 0]))
    )


def test_values_have_the_bits_of_the_first_item_of_their_group(forced_kernels, monkeypatch):
    for algorithm in ALGORITHMS:
        force(monkeypatch, algorithm)
        for name in ("float32", "float64"):
            array = grouped(name, 2000, 30)
            expected = reference.unique_outputs(array, sorted=False)[0]
            assert value_bytes(fastsel.unique(array, sorted=False)) == value_bytes(expected)
