"""from_dense and SciPy agree on arrays, dtypes, flags and errors."""

import numpy as np
import pytest
from arrays import DTYPES, make
from comparison import assert_same, outcome
from grids import covering
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from layouts import LAYOUTS, has_layout

from fastsel._core import _dtypes
from fastsel._positions import bitmask, coordinates

sparse = pytest.importorskip("scipy.sparse", reason="needs pip install scipy")
import fastsel.sparse  # noqa: E402

FORMATS = {"coo": sparse.coo_array, "csr": sparse.csr_array, "csc": sparse.csc_array}
SCIPY_DTYPES = [
    name
    for name, dtype in DTYPES.items()
    if dtype.kind in "biufc" and dtype.char != "e" and dtype.isbuiltin == 1
]
MATRICES = ((0, 0), (0, 3), (3, 0), (1, 1), (1, 70), (70, 1), (2, 64), (64, 64), (67, 65), (5, 300))


def check_equals_scipy(array, formats=FORMATS):
    """Check that from_dense returns a sparse array with the parts and flags of SciPy's."""
    for name in formats:
        ours, theirs = fastsel.sparse.from_dense(array, name), FORMATS[name](array)
        assert type(ours) is type(theirs)
        assert ours.shape == theirs.shape
        assert ours.nnz == theirs.nnz
        for our_part, their_part in zip(parts(ours), parts(theirs), strict=True):
            assert_same(our_part, their_part)
        if name != "coo":
            assert_flags(ours, theirs)
        assert ours.has_canonical_format is theirs.has_canonical_format is True


def parts(array):
    """The arrays of a sparse array. In bool data, which may have any non-zero byte for True, every
    True gets the byte 1."""
    data = array.data != 0 if array.dtype == bool else array.data
    if array.format == "coo":
        return (data, *array.coords)
    return data, array.indices, array.indptr


def assert_flags(ours, theirs):
    """Check that the flags are those that SciPy computes for a new array of the same parts."""
    fresh = type(ours)((ours.data, ours.indices, ours.indptr), shape=ours.shape)
    assert ours.has_sorted_indices is True
    assert ours.has_sorted_indices == fresh.has_sorted_indices == theirs.has_sorted_indices
    assert ours.has_canonical_format == fresh.has_canonical_format
    ours.check_format(full_check=True)


@covering(at_least=60, dtype=SCIPY_DTYPES, layout=[name for name in LAYOUTS if name != "swapped"])
def test_every_dtype_and_layout_equals_scipy(dtype, layout, kernels_with_few_threads):
    if not has_layout(DTYPES[dtype], layout):
        return
    for shape in ((5, 30), (70, 9), (1, 66)):
        array = LAYOUTS[layout](make(dtype, shape))
        check_equals_scipy(array, FORMATS if array.ndim == 2 else ["coo"])


@pytest.mark.parametrize("shape", MATRICES, ids=str)
def test_every_shape_equals_scipy(shape, num_threads):
    for density in (0, "one", 0.1, 0.5, 1):
        array = make("float64", shape, density)
        check_equals_scipy(array)
        check_equals_scipy(array.T)
        check_equals_scipy(np.asfortranarray(array))


@pytest.mark.parametrize("shape", [(0,), (1,), (64,), (65,), (1000,)], ids=str)
def test_1d_arrays_equal_scipy(shape, num_threads):
    for array in (make("int16", shape), make("int16", shape)[::-1]):
        check_equals_scipy(array, ["coo", "csr"])


@pytest.mark.parametrize("shape", [(2, 3, 4), (0, 2, 3), (2, 1, 3, 65)], ids=str)
def test_3d_and_4d_arrays_equal_scipy(shape, num_threads):
    array = make("complex64", shape)
    check_equals_scipy(array, ["coo"])
    check_equals_scipy(array.T, ["coo"])


@given(
    hnp.arrays(
        st.sampled_from(["bool", "uint8", "float32", "float64"]),
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=150),
        fill=st.just(0),
    )
)
def test_property_any_matrix_equals_scipy(forced_kernels, array):
    with fastsel.threads(3):
        check_equals_scipy(array)
        check_equals_scipy(array[::2, ::-1])


def test_negative_zero_is_zero_and_nan_is_not():
    array = np.array([[0.0, -0.0, np.nan], [-np.inf, 5e-324, 0.0]])
    check_equals_scipy(array)
    assert fastsel.sparse.from_dense(array).nnz == 3


@pytest.mark.parametrize(
    "a",
    [
        [[0, 1], [2, 0]],
        ((0, 1), (2, 0)),
        np.array([[0, 1]]).view(np.matrix),
        np.ma.array([[0, 1]], mask=[[0, 1]]),
    ],
    ids=["list", "tuple", "matrix", "masked array"],
)
def test_array_likes_are_converted_to_arrays(a):
    for name, container in FORMATS.items():
        ours, expected = fastsel.sparse.from_dense(a, name), container(np.asarray(a))
        assert all(map(np.array_equal, parts(ours), parts(expected)))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    "array",
    [
        *(np.zeros((2, 3), dtype) for dtype in DTYPES.values() if dtype.kind not in "biufc"),
        np.zeros((2, 3), "f2"),
        np.zeros((2, 3), np.dtype("i4").newbyteorder()),
        np.array(3.0),
        np.zeros((2, 3, 4)),
        np.zeros(3),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_errors_are_those_of_scipy(array, format):
    ours = outcome(fastsel.sparse.from_dense, array, format)
    theirs = outcome(FORMATS[format], array)
    assert ours[0] == theirs[0]
    if ours[0] == "raises":
        assert ours[1:] == theirs[1:]


def test_unknown_format_raises_with_its_name():
    with pytest.raises(ValueError, match="format must be 'coo', 'csr' or 'csc', got 'bsr'"):
        fastsel.sparse.from_dense([[1]], "bsr")


def test_sparse_array_raises_with_advice():
    with pytest.raises(TypeError, match=r"a must be dense, got a csr_array; its asformat\(\)"):
        fastsel.sparse.from_dense(sparse.csr_array((2, 3)))


def test_input_unmodified():
    array = make("float64", (100, 70))
    before = array.copy()
    for name in FORMATS:
        fastsel.sparse.from_dense(array, name)
    assert_same(array, before)


@pytest.mark.parametrize("rows", [1, 2, 10, 130])
@pytest.mark.parametrize("row_items", [1, 3, 32, 33, 63, 64, 65, 200])
def test_columns_and_row_starts_of_int64_equal_numpy(row_items, rows, num_threads):
    """SciPy needs indices of 8 bytes only for shapes that are too large for a test."""
    array = make("bool", (rows, row_items))
    mask = bitmask.pack(array, *_dtypes.truth(array.dtype), 8, num_threads)
    columns = np.empty((mask.total, 1), np.int64)
    coordinates.write(mask, (row_items,), columns, num_threads)
    assert_same(columns[:, 0], np.nonzero(array)[1].astype(np.int64))
    starts = np.empty(rows, np.int64)
    coordinates.row_starts(mask, row_items, starts, num_threads)
    counts = np.count_nonzero(array, axis=1)
    assert_same(starts, (np.cumsum(counts) - counts).astype(np.int64))


def test_without_scipy_the_error_says_what_to_install(run_python):
    code = """
import sys
sys.modules["scipy"] = None
try:
    import fastsel.sparse
except ImportError as error:
    print(error)
"""
    assert run_python(code).strip() == "fastsel.sparse needs SciPy: pip install scipy"


def test_scipy_is_not_imported_with_fastsel(run_python):
    assert run_python("import sys, fastsel; print('scipy' in sys.modules)").strip() == "False"
