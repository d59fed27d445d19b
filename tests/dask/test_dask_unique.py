"""unique, unique_* and group_indices on dask arrays equal fastsel's on the whole array."""

import itertools

import numpy as np
import pytest
from arrays import DTYPES, grouped, make
from comparison import assert_same, outcome
from grids import every_third
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.dtypes import StringDType

import fastsel

da = pytest.importorskip("dask.array", reason='needs pip install "dask[array]" distributed')
from chunked import (  # noqa: E402
    CHUNKINGS,
    assert_declared,
    assert_equal,
    chunked,
    chunkings,
    computed,
    of_unknown_sizes,
    uneven,
)

import fastsel.dask  # noqa: E402

ALL_OUTPUTS = {"return_index": True, "return_inverse": True, "return_counts": True}
ARRAY_API_NAMES = ("unique_all", "unique_counts", "unique_inverse", "unique_values")


def test_signature_starts_as_that_of_fastsel():
    import inspect

    ours, theirs = (
        [p.replace(annotation=p.empty) for p in inspect.signature(f).parameters.values()]
        for f in (fastsel.dask.unique, fastsel.unique)
    )
    assert ours[:8] == theirs
    assert [p.name for p in ours[8:]] == ["split_every", "partitions"]
    assert [p.default for p in ours[8:]] == [8, None]


@pytest.mark.parametrize("dtype", every_third(DTYPES, 0))
@pytest.mark.parametrize(("sorted", "equal_nan"), [(True, True), (False, False)])
def test_items_of_every_dtype_equal_fastsel(dtype, sorted, equal_nan):
    a = grouped(dtype, 60, 20).reshape(12, 5)
    x = chunked(a, uneven(a.shape))
    options = {"sorted": sorted, "equal_nan": equal_nan, **ALL_OUTPUTS}
    assert_equal(fastsel.dask.unique(x, **options), fastsel.unique(a, **options))


@pytest.mark.parametrize("dtype", every_third([name for name in DTYPES if name != "object"], 2))
@pytest.mark.parametrize(("sorted", "partitions"), [(True, None), (False, 3)])
def test_rows_of_every_dtype_equal_fastsel(dtype, sorted, partitions):
    a = grouped(dtype, 40, 3).reshape(10, 4)
    a = np.concatenate([a, a[::-1]])
    x = chunked(a, uneven(a.shape))
    options = {"sorted": sorted, "axis": 0, **ALL_OUTPUTS}
    expected = outcome(fastsel.unique, a, **options)
    if expected[0] == "raises":  # NumPy has no unique rows of this dtype
        assert outcome(fastsel.dask.unique, x, **options)[:2] == expected[:2]
    else:
        result = fastsel.dask.unique(x, partitions=partitions, **options)
        assert_equal(result, expected[1])


@pytest.mark.parametrize("dtype", every_third(DTYPES, 1))
@pytest.mark.parametrize(("sorted", "equal_nan"), [(True, True), (False, False)])
def test_partitions_of_every_dtype_equal_fastsel(dtype, sorted, equal_nan):
    a = grouped(dtype, 90, 50)
    x = chunked(a, ((20, 0, 1, 29, 40),))
    options = {"sorted": sorted, "equal_nan": equal_nan, **ALL_OUTPUTS}
    result = fastsel.dask.unique(x, partitions=5, **options)
    assert result[0].npartitions == 5
    assert_equal(result, fastsel.unique(a, **options))


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("chunking", CHUNKINGS)
def test_every_chunking_equals_fastsel(chunking, axis):
    a = grouped("float32", 60, 20).reshape(12, 5)
    x = chunked(a, CHUNKINGS[chunking](a.shape))
    for options in (ALL_OUTPUTS, {"sorted": False, **ALL_OUTPUTS}, {}):
        assert_equal(
            fastsel.dask.unique(x, axis=axis, **options), fastsel.unique(a, axis=axis, **options)
        )


@settings(max_examples=settings().max_examples // 2)
@given(data=st.data())
def test_any_chunks_and_flags_equal_fastsel(data):
    shape = tuple(data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=3)))
    dtype = data.draw(
        st.sampled_from(["uint8", "int64", "float32", "float64", "complex64", "U3", "M8[s]", "?"])
    )
    a = grouped(dtype, int(np.prod(shape)), data.draw(st.integers(1, 30))).reshape(shape)
    axis = data.draw(st.sampled_from([None, *range(-len(shape), len(shape))]))
    names = ("return_index", "return_inverse", "return_counts", "equal_nan", "sorted")
    options = {name: data.draw(st.booleans(), name) for name in names}
    split_every = data.draw(st.integers(2, 9))
    partitions = data.draw(st.sampled_from([None, None, 1, 2, 5]))
    x = chunked(a, data.draw(chunkings(shape)))
    result = fastsel.dask.unique(
        x, axis=axis, split_every=split_every, partitions=partitions, **options
    )
    assert_equal(result, fastsel.unique(a, axis=axis, **options))
    assert_declared(result)


@pytest.mark.parametrize("flags", [*itertools.product([False, True], repeat=3)])
def test_each_combination_of_outputs_equals_numpy(flags):
    a = np.random.default_rng(1).integers(0, 50, (30, 40))
    for k, chunks in enumerate(((30, 40), (7, 11), (5, 40), (30, 4))):
        x = da.from_array(a, chunks=chunks)
        axis = (None, 0, 1)[(k + sum(flags)) % 3]
        assert_equal(fastsel.dask.unique(x, *flags, axis), np.unique(a, *flags, axis))


@pytest.mark.parametrize("name", ARRAY_API_NAMES)
@pytest.mark.parametrize("chunking", CHUNKINGS)
def test_array_api_functions_equal_fastsel(name, chunking):
    a = np.array([[2.0, np.nan, -0.0], [0.0, np.nan, 2.0]])
    result = getattr(fastsel.dask, name)(chunked(a, CHUNKINGS[chunking](a.shape)))
    expected = getattr(fastsel, name)(a)
    # The classes of fastsel.dask have the same names and fields, but their fields are dask arrays.
    if name != "unique_values":
        assert type(result).__name__ == type(expected).__name__
        assert result._fields == expected._fields
    assert_equal(result, expected)


def test_array_api_functions_take_no_keyword():
    for name in ARRAY_API_NAMES:
        with pytest.raises(TypeError, match="positional-only"):
            getattr(fastsel.dask, name)(x=da.ones(3))


def test_first_occurrence_in_c_order_may_be_in_a_later_block():
    """The result has the bits of the first of equal items in C order."""
    a = np.array([[1.0, 2.0, -0.0, 5.0], [0.0, 5.0, 1.0, 2.0]])
    x = da.from_array(a, chunks=(2, 1))
    expected = fastsel.unique(a, sorted=False, **ALL_OUTPUTS)
    assert expected[0].tolist() == [1, 2, 0, 5]
    assert_equal(fastsel.dask.unique(x, sorted=False, **ALL_OUTPUTS), expected)
    assert np.signbit(fastsel.dask.unique(x).compute()).tolist() == [True, False, False, False]


def test_complex_nans_equal_fastsel_for_any_chunks():
    nan = np.nan
    a = np.array([complex(nan, 1), 1, complex(1, nan), complex(-1, nan), 1, complex(nan, -1)])
    for chunks in (1, 2, 3, 6):
        for options in (
            {},
            ALL_OUTPUTS,
            {"sorted": False, **ALL_OUTPUTS},
            {"equal_nan": False, **ALL_OUTPUTS},
        ):
            x = da.from_array(a, chunks=chunks)
            assert_equal(fastsel.dask.unique(x, **options), fastsel.unique(a, **options))


@pytest.mark.parametrize("dtype", [">i4", ">f8", "struct_padded"])
def test_byte_order_and_padding_of_the_dtype_are_kept(dtype):
    dtype = DTYPES.get(dtype) or np.dtype(dtype)
    x = chunked(grouped(dtype, 12, 5), 3)
    assert fastsel.dask.unique(x).compute().dtype == dtype


@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"partitions": 3}, {"sorted": False}])
def test_unknown_chunk_sizes_equal_fastsel(options):
    a = make("int64", (20, 3)) % 3
    x = of_unknown_sizes(chunked(a, ((4, 0, 16), (3,))))
    result = fastsel.dask.unique(x, **ALL_OUTPUTS, **options)
    options.pop("partitions", None)
    assert_equal(result, fastsel.unique(a, **ALL_OUTPUTS, **options))
    assert np.isnan(result[2].shape[0])


def test_chunk_sizes_that_are_unknown_but_needed_raise():
    x = of_unknown_sizes(chunked(np.ones((4, 4)), 2))
    with pytest.raises(ValueError, match=r"ar .*unknown chunk sizes.*compute_chunk_sizes"):
        fastsel.dask.unique(x, axis=0)
    assert_equal(
        fastsel.dask.unique(x, **ALL_OUTPUTS), fastsel.unique(np.ones((4, 4)), **ALL_OUTPUTS)
    )


def test_0d_array_equals_fastsel():
    a = np.array(7)
    assert_equal(
        fastsel.dask.unique(da.from_array(a), **ALL_OUTPUTS), fastsel.unique(a, **ALL_OUTPUTS)
    )


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (0, 0)])
def test_empty_arrays_equal_fastsel(shape):
    a = np.zeros(shape)
    x = da.from_array(a)
    for axis in (None, *range(len(shape))):
        assert_equal(
            fastsel.dask.unique(x, axis=axis, **ALL_OUTPUTS),
            fastsel.unique(a, axis=axis, **ALL_OUTPUTS),
        )


@pytest.mark.parametrize("axis", [2, -3, 1.0, "0", (0, 1)])
def test_wrong_axis_is_refused_at_once(axis):
    a = np.ones((2, 3))
    expected = outcome(np.unique, a, axis=axis)
    assert expected[0] == "raises"
    assert outcome(fastsel.dask.unique, da.from_array(a), axis=axis) == expected


def test_rows_of_objects_are_refused_at_once():
    a = np.array([["a", "b"]], object)
    expected = outcome(np.unique, a, axis=0)
    assert outcome(fastsel.dask.unique, chunked(a, (1, 2)), axis=0) == expected


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"split_every": 1}, ValueError, "split_every must be at least 2, got 1"),
        ({"split_every": 2.5}, TypeError, "split_every must be an integer, got float"),
        ({"partitions": 0}, ValueError, "partitions must be at least 1, got 0"),
    ],
)
def test_wrong_options_raise(options, error, text):
    with pytest.raises(error, match=text):
        fastsel.dask.unique(da.ones(3), **options)


def test_masked_blocks_are_refused_at_once():
    x = da.ma.masked_equal(da.ones(3), 1)
    with pytest.raises(TypeError, match=r"blocks of type numpy.ndarray, got .* MaskedArray"):
        fastsel.dask.unique(x)


def test_objects_without_an_order_raise_only_if_sorted():
    a = np.array([3, "a", None, "a", 3], object)
    x = da.from_array(a, chunks=2)
    options = {"sorted": False, **ALL_OUTPUTS}
    assert_equal(fastsel.dask.unique(x, **options), fastsel.unique(a, **options))
    assert outcome(fastsel.dask.unique(x).compute)[:2] == ("raises", TypeError)


def test_strings_that_are_longer_than_declared_are_whole():
    """A dask array may declare a dtype that its blocks outgrow."""
    x = da.from_array(np.arange(6), chunks=2).map_blocks(
        lambda block: np.array(["x" * (k + 1) for k in block]), dtype="U1"
    )
    values = fastsel.dask.unique(x).compute()
    assert values.tolist() == ["x" * k for k in range(1, 7)]


def test_codes_of_the_inverse_have_the_smallest_width():
    from fastsel.dask import _blocks, _groups

    rule = _groups.Rule(False, True, True, True, True, False)
    for groups, size in ((1, 1), (256, 1), (257, 2), (65536, 2), (65537, 4)):
        leaf = _groups.leaf(np.arange(groups), _blocks.Location((0,), (groups,)), rule)
        assert leaf.numbers[0].dtype.itemsize == size


NAN_OBJECTS = np.array([np.nan, 0, 2, np.nan, 2, 0, 4, 7, 5, 7] * 4, object)
HARD_TO_PART = {
    "long strings of StringDType": np.array([f"{k % 7}" * 20 for k in range(40)], StringDType()),
    "missing strings": np.array(["b" * 20, np.nan, "a"] * 9, StringDType(na_object=np.nan)),
    "NaN among objects": NAN_OBJECTS,
    "only NaN": np.full(9, np.nan, object),
    "bools of other bytes": np.array([1, 2, 0, 255] * 5, np.uint8).view(bool),
}


@pytest.mark.parametrize("kind", HARD_TO_PART)
@pytest.mark.parametrize("sorted", [True, False])
@pytest.mark.parametrize("equal_nan", [True, False])
def test_partitions_of_items_without_a_simple_order_equal_fastsel(kind, sorted, equal_nan):
    items = HARD_TO_PART[kind]
    x = da.from_array(items, chunks=4, name=False)
    options = {"equal_nan": equal_nan, "sorted": sorted}
    ours = fastsel.dask.unique(x, True, True, True, partitions=3, **options)
    expected = fastsel.unique(items, True, True, True, **options)
    for result, output in zip(da.compute(*ours), expected, strict=True):
        assert result.dtype == output.dtype
        assert repr(result.tolist()) == repr(output.tolist())
    groups = fastsel.dask.group_indices(x, partitions=3, **options)
    expected = fastsel.group_indices(items, **options)
    for result, output in zip(da.compute(*groups), expected, strict=True):
        assert repr(result.tolist()) == repr(output.tolist())


def test_empty_arrays_of_two_structured_dtypes_have_two_names():
    dtypes = [np.dtype([("a", "i2")]), np.dtype([("b", "f2")])]
    results = [
        fastsel.dask.unique(da.from_array(np.zeros((3, 0), dtype), chunks=(2, 1)), axis=1)
        for dtype in dtypes
    ]
    assert [result.dtype for result in da.compute(*results)] == dtypes


def test_each_task_depends_on_few_others():
    """A leaf depends on one block, a merge on `split_every` neighbours, and a task of the inverse
    on the codes of one block and the numbers of their groups."""
    x = da.zeros(100, chunks=1)
    for options in ({}, {"partitions": 4}):
        result = fastsel.dask.unique(x, True, True, True, split_every=5, **options)
        graph = result[2].__dask_graph__()
        graph.validate()
        max_sources = {}
        for key, sources in graph.get_all_dependencies().items():
            step = key[0].partition("-fastsel")[0] if isinstance(key, tuple) else key
            max_sources[step] = max(max_sources.get(step, 0), len(sources))
        assert max_sources["leaf"] == 1
        assert max_sources["inverse"] == 2
        assert options or max(max_sources.values()) == 5


@pytest.mark.parametrize("partitions", [None, 3])
def test_partitions_have_similar_numbers_of_groups(partitions):
    x = da.from_array(np.random.default_rng(0).permutation(30_000), chunks=3000)
    values = fastsel.dask.unique(x, partitions=partitions)
    sizes = [len(block.compute()) for block in values.blocks]
    assert sum(sizes) == 30_000
    assert partitions is None or max(sizes) < 1.5 * 30_000 / partitions


# The function group_indices.


@pytest.mark.parametrize("dtype", every_third(DTYPES, 1))
@pytest.mark.parametrize(("sorted", "partitions"), [(True, None), (False, None)])
def test_group_indices_of_every_dtype_equals_fastsel(dtype, sorted, partitions):
    a = grouped(dtype, 60, 20).reshape(12, 5)
    x = chunked(a, uneven(a.shape))
    groups = fastsel.dask.group_indices(x, sorted=sorted, partitions=partitions)
    assert_equal(tuple(groups), tuple(fastsel.group_indices(a, sorted=sorted)))


@pytest.mark.parametrize("chunks", CHUNKINGS)
@pytest.mark.parametrize("partitions", [None, 1, 3])
@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("sorted", [True, False])
def test_group_indices_of_any_chunks_equals_fastsel(chunks, partitions, axis, sorted):
    a = np.random.default_rng(0).integers(0, 3, (12, 4))
    x = chunked(a, CHUNKINGS[chunks](a.shape))
    groups = fastsel.dask.group_indices(x, axis, sorted=sorted, partitions=partitions)
    assert_equal(tuple(groups), tuple(fastsel.group_indices(a, axis, sorted=sorted)))
    assert_declared(groups.indices)


def test_group_indices_of_unknown_chunk_sizes_equals_fastsel():
    a = np.arange(30) % 7
    x = of_unknown_sizes(chunked(a, uneven(a.shape)))
    assert_equal(tuple(fastsel.dask.group_indices(x)), tuple(fastsel.group_indices(a)))


def test_group_indices_of_empty_and_0d_arrays_equals_fastsel():
    for a in (np.zeros(0), np.float64(3)):
        groups = fastsel.dask.group_indices(da.asarray(a))
        assert_equal(tuple(groups), tuple(fastsel.group_indices(a)))


def test_the_inverse_has_the_dtype():
    array = np.random.default_rng(1).integers(0, 200, (30, 40))
    for partitions in (None, 3):
        values, inverse = fastsel.dask.unique(
            da.from_array(array, chunks=(10, 40)),
            *(False, True),
            partitions=partitions,
            inverse_dtype="u1",
        )
        expected = fastsel.unique(array, return_inverse=True, inverse_dtype="u1")
        assert inverse.dtype == np.uint8
        assert_same((values.compute(), inverse.compute()), expected)
    _, inverse = fastsel.unique(da.from_array(array), return_inverse=True, inverse_dtype="i1")
    with pytest.raises(OverflowError, match="inverse_dtype int8"):
        inverse.compute()
    with pytest.raises(TypeError, match="inverse_dtype must be an integer dtype, got float64"):
        fastsel.unique(da.arange(9), return_inverse=True, inverse_dtype=float)


def test_strings_without_an_order_raise_numpys_error():
    """NumPy's default sort of the long array would end the process."""
    runs = [f"{k:04}" for k in (*range(0, 2000, 2), *range(1, 2000, 2))]
    for items in (["a", None, "b"], [*runs, None]):
        a = np.array(items, np.dtypes.StringDType(na_object=None))
        expected = outcome(np.unique, a, return_index=True)
        for chunks in (-1, 500):
            x = da.from_array(a, chunks=chunks, name=False)
            for function in (fastsel.dask.unique, fastsel.dask.group_indices):
                assert outcome(lambda f, x: computed(f(x)), function, x)[:2] == expected[:2]
        for function in (fastsel.unique, fastsel.group_indices):
            assert outcome(function, a)[:2] == expected[:2]
        extras = {"return_inverse": True, "return_counts": True}
        assert outcome(fastsel.unique, a, **extras)[:2] == expected[:2]
