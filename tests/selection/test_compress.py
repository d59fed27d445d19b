"""compress, extract and boolean_mask."""

import numpy as np
import pytest
import reference
from arrays import (
    DENSITIES,
    DTYPES,
    EDGE_SIZES,
    LARGE_SIZES,
    SIZES,
    WORD_DTYPES,
    choose,
    make,
    numbered,
    pools,
    values_for_dtype,
)
from comparison import assert_same, assert_same_outcome, boolean_index, outcome
from grids import covering, slow
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from layouts import LAYOUTS, has_layout

import fastsel

# name: (fastsel's function, NumPy's, the reference's), each called with (mask, array)
OPERATORS = {
    "compress": (fastsel.compress, np.compress, reference.compress),
    "extract": (fastsel.extract, np.extract, reference.extract),
    "boolean_mask": (
        lambda mask, array: fastsel.boolean_mask(array, mask),
        lambda mask, array: boolean_index(array, mask),
        lambda mask, array: reference.boolean_mask(array, mask),
    ),
}


def check_equals_numpy(mask, array):
    for ours, theirs, _ in OPERATORS.values():
        assert_same(ours(mask, array), theirs(mask, array))


def mask_of(size, density=0.5):
    return choose(size, density, np.random.default_rng(size))


# Sizes, densities, dtypes, layouts.


@pytest.mark.parametrize("name", DTYPES)
def test_every_small_size_equals_numpy(name, forced_kernels):
    with fastsel.threads(1):
        for size in values_for_dtype(name, SIZES):
            mask, array = mask_of(size, DENSITIES[size % len(DENSITIES)]), make(name, size)
            for ours, theirs, oracle in OPERATORS.values():
                expected = theirs(mask, array)
                assert_same(oracle(mask, array), expected)
                assert_same(ours(mask, array), expected)


@pytest.mark.parametrize("name", DTYPES)
def test_sizes_around_blocks_equal_numpy(name, each_num_threads):
    arrays = [numbered(name, np.arange(size)) for size in values_for_dtype(name, EDGE_SIZES)]
    for _ in each_num_threads:
        for array in arrays:
            check_equals_numpy(mask_of(array.size), array)


@pytest.mark.parametrize("name", DTYPES)
def test_large_sizes_and_densities_equal_numpy(name):
    for k, size in enumerate(values_for_dtype(name, LARGE_SIZES, len(LARGE_SIZES))):
        array = make(name, size)
        for density in DENSITIES[k % 2 :: 2] if name in WORD_DTYPES else (0.1,):
            check_equals_numpy(mask_of(size, density), array)


@covering(at_least=24, name=WORD_DTYPES, density=DENSITIES)
def test_every_density_equals_numpy(name, density, kernels_with_few_threads):
    for size in (64, 100, 1000, 5000):
        check_equals_numpy(mask_of(size, density), numbered(name, np.arange(size)))


@pytest.mark.parametrize("run", [3, 64, 100, 1000])
def test_runs_of_selected_items_equal_numpy(run, kernels_with_few_threads):
    for name in WORD_DTYPES:
        check_equals_numpy(np.arange(5000) // run % 2 == 1, numbered(name, np.arange(5000)))


@pytest.mark.parametrize("width", [*range(1, 42), 63, 64, 65, 100, 255, 256, 1000])
def test_items_of_every_width_equal_numpy(width, kernels_with_few_threads):
    check_equals_numpy(mask_of(300), numbered(np.dtype(f"V{width}"), np.arange(300)))


def test_items_of_0_bytes_equal_numpy(kernels_with_few_threads):
    for dtype in ("S0", "U0", "V0", np.dtype([])):
        array = np.zeros(100, dtype)
        check_equals_numpy(mask_of(100), array)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("every_shape", [False, slow(True)], ids="every_shape_{}".format)
def test_every_layout_equals_numpy(layout, every_shape, kernels_with_few_threads):
    lay_out, shapes = LAYOUTS[layout], [(67,), (5, 30), (3, 4, 5), (0, 3), (2, 1, 66)]
    for k, (name, dtype) in enumerate(DTYPES.items()):
        if has_layout(dtype, layout):
            for shape in shapes if every_shape else {(3, 4, 5), shapes[k % 5]}:
                array = lay_out(make(name, shape))
                check_any_shape_equals_numpy(mask_of(array.size).reshape(array.shape), array)


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "swapped"])
def test_every_layout_of_the_mask_equals_numpy(layout, kernels_with_few_threads):
    for k, shape in enumerate(((67,), (5, 30), (3, 4, 5), (0, 3), (2, 1, 66))):
        mask = LAYOUTS[layout](make("bool", shape))
        for name in [*WORD_DTYPES][k % 3 :: 3]:
            check_any_shape_equals_numpy(mask, make(name, mask.shape))


def check_any_shape_equals_numpy(mask, array):
    assert_same(fastsel.extract(mask, array), np.extract(mask, array))
    assert_same(fastsel.boolean_mask(array, mask), array[mask])
    row_mask = mask[(slice(None),) + (0,) * (mask.ndim - 1)] if mask.size else mask.ravel()
    assert_same(fastsel.compress(row_mask, array, axis=0), np.compress(row_mask, array, 0))
    assert_same(fastsel.compress(mask.reshape(-1), array), np.compress(mask.reshape(-1), array))


# Slices along every axis, rows of every length and layout, and masks of leading dimensions.


@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1], ids=repr)
def test_every_axis_equals_numpy(axis, each_num_threads):
    shapes = ((130, 3, 2), (3, 130, 2), (2, 3, 130), (70, 1, 5), (1, 1, 200))
    for threads in each_num_threads:
        for k, name in enumerate(WORD_DTYPES):
            for shape in shapes[(k + threads) % 2 :: 2]:
                array = numbered(name, np.arange(np.prod(shape)).reshape(shape))
                length = array.size if axis is None else shape[axis]
                for density in (0, 0.1, 0.9, 1):
                    mask = mask_of(length, density)
                    assert_same(fastsel.compress(mask, array, axis), np.compress(mask, array, axis))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_axis_of_every_layout_equals_numpy(layout, axis, kernels_with_few_threads):
    for name in [*WORD_DTYPES][axis::3]:
        if has_layout(DTYPES[name], layout):
            array = LAYOUTS[layout](make(name, (20, 30, 4)))
            mask = mask_of(array.shape[axis])
            assert_same(fastsel.compress(mask, array, axis), np.compress(mask, array, axis))


@pytest.mark.parametrize("dtype", ["i1", "f4", "f8", "D"])
def test_few_selected_items_before_dense_ones_equal_numpy(dtype):
    generator = np.random.default_rng(0)
    for size in (16385, 20000, 131071, 131072, 131073):
        array = np.arange(size).astype(dtype)
        for count in (0, 1, 100, size // 50):
            mask = np.zeros(size, bool)
            mask[generator.integers(size, size=count)] = True
            for dense_start in (size, size - 1000, 16000):
                mask[dense_start:] = True
                assert_same(fastsel.boolean_mask(array, mask), array[mask])
                assert_same(fastsel.compress(mask, array), array[mask])


@pytest.mark.parametrize("row_items", [2, 5, 70])
def test_rows_of_strided_items_equal_numpy(row_items, num_threads):
    for name in ("int8", "int16", "float32", "datetime64", "complex128", "U3"):
        rows = numbered(name, np.arange(300 * row_items).reshape(300, row_items))
        for layout in ("F", "strided", "rows_strided", "negative"):
            array = LAYOUTS[layout](rows)
            for density in (0.02, 0.9):
                mask = mask_of(len(array), density)
                expected = np.compress(mask, array, 0)
                assert_same(fastsel.compress(mask, array, 0), expected)
                np.testing.assert_array_equal(fastsel.boolean_mask(array, mask), expected)


@pytest.mark.parametrize("row_items", [1, 2, 3, 7, 8, 16, 17, 64, 100, 1000])
def test_rows_of_every_length_equal_numpy(row_items, kernels_with_few_threads):
    for name in WORD_DTYPES:
        array = numbered(name, np.arange(200 * row_items).reshape(200, row_items))
        mask = mask_of(200)
        expected = np.compress(mask, array, 0)
        assert_same(fastsel.compress(mask, array, 0), expected)
        assert_same(fastsel.boolean_mask(array, mask), expected)
        assert_same(reference.compress(mask, array, 0), expected)


@covering(
    length=[2, 3, 7, 8, 10, 63, 64, 65, 100, 128, 192, 1000, 1023, 1024, 1025],
    name=["uint8", "int16", "float32", "float64", "complex128"],
)
def test_columns_of_contiguous_rows_equal_numpy(length, name, kernels_with_few_threads):
    """In an array of 64 rows or more, a mask of at most MAX_TILED_ROW (1024) items, at least half
    of them True, is repeated until a copy ends at the end of a block. The 64th copy always ends
    there. Short repetitions are then doubled."""
    for rows in (2, 63, 64, 65, 200):
        array = make(name, rows * length).reshape(rows, length)
        for density in (0.05, 0.5, 0.95) if rows % 2 else (0, 0.5, 1):
            mask = mask_of(length, density)
            assert_same(fastsel.compress(mask, array, axis=1), np.compress(mask, array, axis=1))
            assert_same(
                fastsel.compress(mask, array[np.newaxis], axis=2),
                np.compress(mask, array[np.newaxis], axis=2),
            )


def test_few_columns_in_many_cache_lines_equal_numpy(kernels_with_few_threads):
    """At most 32 (ROW_LINES) cache lines of a row are prefetched."""
    array = numbered("float64", np.arange(40_000)).reshape(100, 400)
    mask = np.arange(400) % 10 == 3
    assert_same(fastsel.compress(mask, array, axis=1), np.compress(mask, array, axis=1))


@pytest.mark.parametrize("name", ["complex128", "U4", "V16", "S16"])
@pytest.mark.parametrize("density", [0.01, 0.05, 0.1, 0.3, 0.5, 0.9, 0.99, 1])
def test_items_of_16_bytes_equal_numpy(name, density, kernels_with_few_threads):
    """Blocks with many runs of selected items are compressed as pairs of 8 bytes; neighbouring
    groups of blocks may have many runs or few."""
    for size in (63, 64, 65, 64 * 32, 64 * 33 + 5, 10_000):
        array = numbered(name, np.arange(size))
        mask = mask_of(size, density)
        mask[size // 2 : size * 3 // 4] = True
        assert_same(fastsel.boolean_mask(array, mask), array[mask])
        assert_same(fastsel.compress(mask, array), array[mask])


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("length", [3, 64, 100, 1000, 1100])
def test_most_columns_of_many_rows_equal_numpy(length, threads):
    """No kernel is forced: these arrays have too many selected items for the offsets of a row."""
    for name in ("bool", "int16", "float32", "complex128"):
        array = make(name, 120_000 // length * length).reshape(-1, length)
        mask = mask_of(length, 0.8)
        with fastsel.threads(threads):
            assert_same(fastsel.compress(mask, array, axis=1), np.compress(mask, array, axis=1))


@pytest.mark.parametrize("axis", [None, 0])
def test_kernel_of_small_arrays_refuses_a_2d_condition(axis):
    for shape in ((1, 2), (2, 1), (2, 2)):
        with pytest.raises(ValueError, match="condition must be a 1-d array"):
            fastsel.compress(np.ones(shape, bool), np.arange(4), axis)


@pytest.mark.parametrize("name", ["uint8", "float64", "V3", "S20"])
def test_rows_with_gaps_in_memory_equal_numpy(name, kernels_with_few_threads):
    array = make(name, (70, 6, 5))[:, ::2]
    mask = choose(70, 0.5, np.random.default_rng(1))
    assert_same(fastsel.compress(mask, array, axis=0), array[mask])
    assert_same(fastsel.boolean_mask(array, mask), array[mask])


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_mask_of_leading_dimensions_equals_numpy(dims, kernels_with_few_threads):
    for name in ("int8", "float64", "U3", "object", "struct_padded"):
        array = make(name, (5, 6, 7, 3))
        mask = make("bool", array.shape[:dims])
        expected = array[mask]
        assert_same(fastsel.boolean_mask(array, mask), expected)
        assert_same(reference.boolean_mask(array, mask), expected)


# Results.


@pytest.mark.parametrize("axis", [None, 0, 1], ids=repr)
@pytest.mark.parametrize("layout", ["C", "F", "strided", "readonly", "memmap"])
def test_compress_returns_a_contiguous_array_that_owns_its_memory(
    layout, axis, kernels_with_few_threads
):
    array = LAYOUTS[layout](make("float32", (30, 20)))
    result = fastsel.compress(
        np.ones(array.size if axis is None else array.shape[axis]), array, axis
    )
    assert result.flags.c_contiguous
    assert result.flags.owndata
    assert result.flags.writeable
    assert not np.shares_memory(result, array)


@pytest.mark.parametrize("operator", OPERATORS)
def test_byte_order_is_kept(operator, kernels_with_few_threads):
    for code in (">i4", ">f8", "<U3", ">U3", ">M8[s]", ">c16", "<i2"):
        array = numbered(np.dtype(code).newbyteorder("="), np.arange(100)).astype(code)
        result = OPERATORS[operator][0](mask_of(100), array)
        assert result.dtype.str == np.dtype(code).str
        assert_same(result, OPERATORS[operator][1](mask_of(100), array))


@pytest.mark.parametrize("operator", OPERATORS)
def test_metadata_of_the_dtype_is_kept(operator, kernels_with_few_threads):
    array = np.arange(100).astype(np.dtype("i4", metadata={"unit": "m"}))
    result = OPERATORS[operator][0](mask_of(100), array)
    assert result.dtype.metadata == OPERATORS[operator][1](mask_of(100), array).dtype.metadata
    assert result.dtype.metadata == {"unit": "m"}


@covering(name=DTYPES, operator=OPERATORS)
def test_input_unmodified(name, operator, kernels_with_few_threads):
    array, mask = make(name, 200), mask_of(200)
    before = array.tolist() if array.dtype.char in "TO" else array.tobytes()
    OPERATORS[operator][0](mask, array)
    assert before == (array.tolist() if array.dtype.char in "TO" else array.tobytes())
    assert_same(mask, mask_of(200))


@pytest.mark.parametrize("operator", OPERATORS)
def test_selected_objects_are_identical_to_those_of_the_array(operator, kernels_with_few_threads):
    array = np.array([object() for _ in range(100)], object)
    mask = mask_of(100)
    selected = OPERATORS[operator][0](mask, array)
    assert [id(item) for item in selected] == [id(array[k]) for k in np.flatnonzero(mask)]


class Subclass(np.ndarray):
    pass


# Items of which one cannot be converted to the dtype, after others that can be.
UNCONVERTIBLE = {
    "objects": (np.array([1, 2, "x", 4], object), "f8"),
    "objects, foreign byte order": (np.array([1, 2, "x", 4], object), ">i4"),
    "objects, dates": (np.array([1, 2, "x", 4], object), "M8[s]"),
    "strings": (np.append(np.arange(3000).astype("U32"), ["x", "4"]), "f8"),
    "bytes": (np.append(np.arange(3000).astype("S32"), [b"x", b"4"]), "f8"),
    "overflow": (np.array([1, 2, 1e300, 4]), "f4"),
}


@pytest.mark.filterwarnings("ignore:Implicit casting:DeprecationWarning")  # of NumPy 2.5
@covering(
    items=UNCONVERTIBLE,
    axis=[None, 0],
    make_out=[np.zeros, lambda n, dtype: np.zeros(2 * n, dtype)[::2],
              lambda n, dtype: np.zeros(n, dtype).view(Subclass)],
)  # fmt: skip
def test_out_is_unchanged_if_an_item_cannot_be_converted_to_its_dtype(items, axis, make_out):
    array, dtype = UNCONVERTIBLE[items]
    out = make_out(len(array), dtype)
    with np.errstate(over="raise"), pytest.raises((ValueError, FloatingPointError)):
        fastsel.compress(np.ones(len(array)), array, axis, out)
    assert_same(np.asarray(out), np.zeros(len(array), dtype))
    part = out[:2]
    assert fastsel.compress(np.arange(len(array)) < 2, array, axis, part) is part
    assert_same(np.asarray(part), array[:2].astype(dtype))


class Overriding:
    def __array_function__(self, function, types, arguments, keywords):
        return "mine"


@pytest.mark.parametrize("dtype", [object, "U3", "f4"])
def test_a_condition_that_overrides_compress_decides_its_result(dtype):
    assert fastsel.compress(Overriding(), np.arange(4).astype(dtype), None, np.zeros(4)) == "mine"


def test_an_array_beside_a_condition_that_overrides_numpy_is_not_converted():
    ragged = [[1], [2, 3]]
    assert fastsel.compress(Overriding(), ragged) == "mine"
    assert fastsel.extract(Overriding(), ragged) == "mine"


@pytest.mark.parametrize("name", DTYPES)
def test_condition_of_any_dtype_selects_by_its_nonzero_items(name, kernels_with_few_threads):
    condition, array = make(name, 200), np.arange(200)
    expected = reference.flatnonzero(condition)
    assert_same(fastsel.compress(condition, array), expected)
    assert_same(fastsel.extract(condition, array), expected)


# Properties, the truthy items of each dtype, and rows of strided items.


@st.composite
def compress_arguments(draw):
    shape = draw(npst.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=9))
    dtype = draw(st.one_of(npst.scalar_dtypes(), npst.unicode_string_dtypes(max_len=3)))
    array = draw(npst.arrays(dtype, shape))
    axis = draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    length = array.size if axis is None else shape[axis]
    condition = draw(npst.arrays(bool, st.integers(0, length + 2)))
    return condition, array, axis


@given(compress_arguments())
def test_property_compress_equals_numpy(forced_kernels, arguments):
    with fastsel.threads(2):
        assert_same_outcome(outcome(fastsel.compress, *arguments), outcome(np.compress, *arguments))


@given(st.data())
def test_property_boolean_mask_equals_numpy(forced_kernels, data):
    shape = data.draw(npst.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=6))
    array = data.draw(npst.arrays(npst.scalar_dtypes(), shape))
    mask = data.draw(npst.arrays(bool, shape[: data.draw(st.integers(0, len(shape)))]))
    assert_same(fastsel.boolean_mask(array, mask), array[mask])


@given(st.data())
def test_property_mask_and_its_negation_split_the_array(forced_kernels, data):
    array = data.draw(npst.arrays(npst.integer_dtypes(), npst.array_shapes(min_side=0, max_side=9)))
    mask = data.draw(npst.arrays(bool, array.shape))
    selected, others = fastsel.boolean_mask(array, mask), fastsel.boolean_mask(array, ~mask)
    assert len(selected) + len(others) == array.size
    rebuilt = np.empty_like(array)
    rebuilt[mask], rebuilt[~mask] = selected, others
    assert_same(rebuilt, array)


def test_only_truthy_items_are_selected(kernels_with_few_threads):
    for name, dtype in DTYPES.items():
        array = make(name, 300)
        assert len(fastsel.compress(array, array)) == reference.count_nonzero(array)
        assert dtype == fastsel.compress(array, array).dtype
        falsy, truthy = pools(dtype)
        assert len(fastsel.extract(falsy, falsy)) == 0
        assert len(fastsel.extract(truthy, truthy)) == len(truthy)


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4"])
def test_rows_of_two_strided_items_equal_numpy(dtype):
    """A row has as many bytes as one larger item, but its two items do not lie side by side."""
    pool = np.arange(2 * 40_000).reshape(2, 40_000).astype(dtype)
    mask = np.arange(40_000) % 7 != 0
    assert_same(fastsel.boolean_mask(pool.T, mask), pool.T[mask])
    assert_same(fastsel.compress(mask, pool.T, axis=0), np.compress(mask, pool.T, axis=0))
