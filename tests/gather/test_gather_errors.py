"""The errors of gather_nd, and its argument `out`, which an error leaves unchanged."""

import numpy as np
import pytest
import reference
from arrays import INTEGER_DTYPES, WORD_DTYPES, make, numbered
from comparison import assert_same
from layouts import as_unaligned

import fastsel

A23 = np.arange(6).reshape(2, 3)


def index_error_text(data, indices, batch_dims=0, **kwargs):
    """The text of fastsel's IndexError, which is equal to the text of the reference."""
    with pytest.raises(IndexError) as theirs:
        reference.gather_nd(data, indices, batch_dims)
    with pytest.raises(IndexError) as ours:
        fastsel.gather_nd(data, indices, batch_dims, **kwargs)
    assert str(ours.value) == str(theirs.value)
    return str(ours.value)


# name: (data, indices, batch_dims, and value, position, axis and size in the error)
OUT_OF_BOUNDS = {
    "one_beyond": (A23, [[2]], 0, 2, (0, 0), 0, 2),
    "second_axis": (A23, [[0, 3]], 0, 3, (0, 1), 1, 3),
    "one_below": (A23, [[0], [-3]], 0, -3, (1, 0), 0, 2),
    "one_row": (A23, [0, -4], 0, -4, (1,), 1, 3),
    "rows_of_rows": (A23, [[[0, 0], [0, 0]], [[1, 1], [1, 7]]], 0, 7, (1, 1, 1), 1, 3),
    "after_batch": (A23, [[0], [3]], 1, 3, (1, 0), 1, 3),
    "after_two_batches": (np.zeros((2, 3, 4)), np.full((2, 3, 1), 4), 2, 4, (0, 0, 0), 2, 4),
    "smallest_position": (A23, [[0, 0], [1, 5], [9, 9]], 0, 5, (1, 1), 1, 3),
    "smallest_position_in_a_row": (A23, [[8, 9]], 0, 8, (0, 0), 0, 2),
    "axis_of_size_0": (np.zeros((0, 3)), [[0]], 0, 0, (0, 0), 0, 0),
    "empty_slice": (np.zeros((2, 0)), [[5]], 0, 5, (0, 0), 0, 2),
    "inner_axis_of_size_0": (np.zeros((2, 0)), [[1, 0]], 0, 0, (0, 1), 1, 0),
    "int64_lowest": (A23, [[-(2**63)]], 0, -(2**63), (0, 0), 0, 2),
    "int64_highest": (A23, [[0, 2**63 - 1]], 0, 2**63 - 1, (0, 1), 1, 3),
    "uint64_is_never_negative": (A23, np.array([[2**64 - 1]], "u8"), 0, 2**64 - 1, (0, 0), 0, 2),
    "uint32_is_never_negative": (A23, np.array([[2**32 - 1]], "u4"), 0, 2**32 - 1, (0, 0), 0, 2),
    "uint8_is_never_negative": (A23, np.array([[255]], "u1"), 0, 255, (0, 0), 0, 2),
    "int8_lowest": (A23, np.array([[-128]], "i1"), 0, -128, (0, 0), 0, 2),
    "swapped": (A23, np.array([[0], [256]], ">i4"), 0, 256, (1, 0), 0, 2),
}


@pytest.mark.parametrize("case", OUT_OF_BOUNDS)
def test_index_out_of_bounds_raises_with_its_position(case, num_threads):
    data, indices, batch_dims, value, position, axis, size = OUT_OF_BOUNDS[case]
    text = index_error_text(data, np.asarray(indices), batch_dims)
    assert text == (
        f"index {value} at position {position} of indices is out of bounds "
        f"for axis {axis} of data with size {size}"
    )


def test_errors_of_small_arrays_equal_the_reference():
    """No kernel is forced: the kernel of small arrays leaves errors to the kernel of large
    arrays."""
    for data, indices, batch_dims, *_ in OUT_OF_BOUNDS.values():
        index_error_text(data, np.asarray(indices), batch_dims)


@pytest.mark.parametrize("name", INTEGER_DTYPES)
def test_first_index_beyond_each_bound_raises_for_every_integer_dtype(
    name, kernels_with_few_threads
):
    data = np.zeros(100, np.int8)
    good = [99, 0] if name.startswith("u") else [99, 0, -100]
    indices = np.array(good * 30, name)[:, None]
    fastsel.gather_nd(data, indices)
    for bad in [100] if name.startswith("u") else [100, -101]:
        for row in (0, 31, 59):
            wrong = indices.copy()
            wrong[row] = bad
            assert f"index {bad} at position ({row}, 0)" in index_error_text(data, wrong)


BAD_ROWS = {
    "first": [0],
    "last": [999],
    "middle": [500],
    "first_and_last": [0, 999],
    "end_of_a_chunk": [499, 500],
    "each_third": [333, 666],
    "all": list(range(1000)),
    "last_two": [998, 999],
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_same_error_every_time(case, num_threads):
    """The error names the first index out of bounds, even if a thread finds a later one first."""
    data = np.zeros((7, 5), np.int32)
    indices = np.zeros((1000, 2), np.int64)
    for k, row in enumerate(BAD_ROWS[case]):
        indices[row] = (0, 5 + k) if k % 2 else (-8 - k, 0)
    texts = {index_error_text(data, indices) for _ in range(20)}
    assert len(texts) == 1
    assert f"position ({BAD_ROWS[case][0]}, 0)" in texts.pop()


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_every_position_is_checked(dtype, depth, each_num_threads):
    data = np.zeros((4, 5, 3), np.int8)
    for _ in each_num_threads:
        for row in range(19):
            for column in range(depth):
                indices = np.ones((19, depth), dtype)
                indices[row, column] = (-6, 5)[row % 2]
                assert f"position ({row}, {column})" in index_error_text(data, indices)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("default_threshold", [True, False])
def test_no_index_beyond_the_last_row_is_checked(dtype, depth, default_threshold, monkeypatch):
    """Rows beyond the last one have invalid indices, for which a kernel would raise an error. Some
    numbers of rows do not fill the last vector."""
    if not default_threshold:
        monkeypatch.setattr("fastsel._core.parallel.THRESHOLDS.small_items", 0)
    data = np.arange(35, dtype=np.int16).reshape(7, 5)
    limits = np.array(data.shape[:depth])
    rng = np.random.default_rng(2)
    for rows in (*range(20), 127, 128, 129, 255, 256, 257):
        with_invalid_end = np.full((rows + 8, depth), 1000, dtype)
        with_invalid_end[:rows] = rng.integers(-limits, limits, (rows, depth))
        indices = with_invalid_end[:rows]
        assert_same(fastsel.gather_nd(data, indices), data[tuple(indices.T)])


# Invalid arguments.

# name: (data, indices, other arguments, error, part of its text)
INVALID_ARGUMENTS = {
    "float_indices": (A23, [[0.0]], {}, TypeError, "indices"),
    "bool_indices": (A23, [[True]], {}, TypeError, "indices"),
    "str_indices": (A23, [["0"]], {}, TypeError, "indices"),
    "object_indices": (A23, np.array([[0]], object), {}, TypeError, "indices"),
    "complex_indices": (A23, [[0j]], {}, TypeError, "indices"),
    "timedelta_indices": (A23, np.array([[0]], "m8[s]"), {}, TypeError, "indices"),
    "depth_0": (A23, np.zeros((2, 0), int), {}, ValueError, "indices"),
    "depth_beyond_rank": (A23, np.zeros((2, 3), int), {}, ValueError, "indices"),
    "depth_beyond_rank_less_batch": (
        A23,
        np.zeros((2, 2), int),
        {"batch_dims": 1},
        ValueError,
        "indices",
    ),
    "data_0d": (np.array(5), [[0]], {}, ValueError, "data"),
    "indices_0d": (A23, np.array(0), {}, ValueError, "indices"),
    "batch_dims_float": (A23, [[0], [0]], {"batch_dims": 1.0}, TypeError, "batch_dims|integer"),
    "batch_dims_str": (A23, [[0], [0]], {"batch_dims": "1"}, TypeError, "batch_dims|integer"),
    "batch_dims_none": (A23, [[0], [0]], {"batch_dims": None}, TypeError, "batch_dims|integer"),
    "batch_dims_negative": (A23, [[0], [0]], {"batch_dims": -1}, ValueError, "batch_dims"),
    "batch_dims_rank_of_data": (
        A23,
        np.zeros((2, 3, 1), int),
        {"batch_dims": 2},
        ValueError,
        "batch_dims",
    ),
    "batch_dims_rank_of_indices": (
        np.zeros((2, 3, 4)),
        np.zeros((2, 1), int),
        {"batch_dims": 2},
        ValueError,
        "batch_dims",
    ),
    "batch_dims_huge": (A23, [[0], [0]], {"batch_dims": 2**40}, ValueError, "batch_dims"),
    "batch_differs": (A23, [[0], [0], [0]], {"batch_dims": 1}, ValueError, "batch"),
    "batch_of_1_does_not_broadcast": (A23, [[0]], {"batch_dims": 1}, ValueError, "batch"),
    "batch_divides_but_differs": (
        np.zeros((2, 2, 2)),
        np.zeros((4, 1), int),
        {"batch_dims": 1},
        ValueError,
        "batch",
    ),
    "empty_batch_differs": (
        np.zeros((0, 3)),
        np.zeros((1, 1), int),
        {"batch_dims": 1},
        ValueError,
        "batch",
    ),
    "empty_list_of_indices": (A23, np.zeros(0, int), {}, ValueError, "indices"),
}


@pytest.mark.parametrize("case", INVALID_ARGUMENTS)
def test_invalid_arguments_raise(case):
    data, indices, kwargs, error, text = INVALID_ARGUMENTS[case]
    with pytest.raises(error, match=text):
        fastsel.gather_nd(data, indices, **kwargs)


def test_none_as_indices_raises_type_error():
    with pytest.raises(TypeError, match=r"indices must be an array of integers, got None$"):
        fastsel.gather_nd(A23, None)


@pytest.mark.parametrize("container", [tuple, np.array])
def test_positions_of_nonzero_as_indices_raise_with_advice(container):
    """The error has the advice for a tuple or an array of nonzero's positions, and not for three
    other shapes."""
    positions = np.nonzero(A23)
    with pytest.raises(ValueError, match=r"numpy.stack\(indices, axis=-1\) makes index rows"):
        fastsel.gather_nd(A23, container(positions))
    assert_same(fastsel.gather_nd(A23, np.stack(positions, axis=-1)), A23[positions])
    for indices in (np.zeros((3, 3), int), np.zeros((2, 2, 3), int), np.zeros((2, 0), int)):
        with pytest.raises(ValueError, match=r"indices has shape \([0-9, ]*\)$"):
            fastsel.gather_nd(A23, indices)


def test_batch_dims_may_be_of_any_integer_type(forced_kernels):
    expected = reference.gather_nd(A23, [[2], [0]], 1)
    for batch_dims in (1, np.int64(1), np.uint8(1), np.array(1)):
        assert_same(fastsel.gather_nd(A23, [[2], [0]], batch_dims), expected)
        assert_same(fastsel.gather_nd(A23, [[2], [0]], batch_dims=batch_dims), expected)


# The argument out.

INDICES = np.array([[1], [0], [-1]])


def test_out_is_written_and_returned(num_threads):
    for name in WORD_DTYPES:
        data = make(name, (2, 30))
        out = numbered(name, np.zeros((3, 30)))
        assert fastsel.gather_nd(data, INDICES, out=out) is out
        assert_same(out, reference.gather_nd(data, INDICES))


OUT_LAYOUTS = {
    "rows_strided": lambda: np.full((6, 3), 99)[::2],
    "columns_strided": lambda: np.full((3, 6), 99)[:, ::2],
    "fortran": lambda: np.full((3, 3), 99, order="F"),
    "negative": lambda: np.full((3, 3), 99)[::-1, ::-1],
    "unaligned": lambda: as_unaligned(np.full((3, 3), 99)),
}


@pytest.mark.parametrize("layout", OUT_LAYOUTS)
def test_out_may_have_any_layout(layout, kernels_with_few_threads):
    out = OUT_LAYOUTS[layout]()
    assert fastsel.gather_nd(A23, INDICES, out=out) is out
    assert out.tolist() == A23[[1, 0, -1]].tolist()
    base = np.asarray(out.base if out.base is not None else out)
    if layout.endswith("strided"):
        assert (base == 99).sum() == 9  # the gaps are unchanged


def test_out_may_be_0d(forced_kernels):
    out = np.array(99)
    assert fastsel.gather_nd(A23, [1, 2], out=out) is out
    assert out == 5


def test_out_may_have_the_swapped_byte_order_of_data(forced_kernels):
    data = A23.astype(">i4")
    out = np.zeros((3, 3), ">i4")
    fastsel.gather_nd(data, INDICES, out=out)
    assert out.tolist() == A23[[1, 0, -1]].tolist()


WRONG_OUT = {
    "shape": (np.full((3, 2), 99), ValueError),
    "more_rows": (np.full((4, 3), 99), ValueError),
    "leading_1": (np.full((1, 3, 3), 99), ValueError),
    "flat": (np.full(9, 99), ValueError),
    "int32": (np.full((3, 3), 99, np.int32), TypeError),
    "float64": (np.full((3, 3), 99.0), TypeError),
    "other_byte_order": (np.full((3, 3), 99, A23.dtype.newbyteorder()), TypeError),
    "list": ([[99] * 3] * 3, TypeError),
    "number": (99, TypeError),
}


@pytest.mark.parametrize("case", WRONG_OUT)
def test_wrong_out_raises_and_stays_unchanged(case, forced_kernels):
    out, error = WRONG_OUT[case]
    with pytest.raises(error, match=r"\bout\b"):
        fastsel.gather_nd(A23, INDICES, out=out)
    assert (np.asarray(out) == 99).all()


def test_read_only_out_raises_and_stays_unchanged(forced_kernels):
    out = np.full((3, 3), 99)
    out.flags.writeable = False
    with pytest.raises(ValueError, match=r"\bout\b|read-only"):
        fastsel.gather_nd(A23, INDICES, out=out)
    assert (out == 99).all()


@pytest.mark.parametrize("row", [0, 1, 499, 500, 998, 999])
def test_out_is_untouched_by_an_error(row, num_threads):
    for name in ("uint8", "float64", "object", "V3"):
        data = make(name, (6, 4))
        for depth in (1, 2):
            indices = np.ones((1000, depth), np.int64)
            indices[row] = 6
            out = numbered(name, np.full((1000, 4)[: 3 - depth], 90))
            expected = out.copy()
            index_error_text(data, indices, out=out)
            assert_same(out, expected)


def test_nothing_is_written_beside_out(each_num_threads):
    for _ in each_num_threads:
        for name in ("uint8", "int16", "float32", "int64", "complex128", "V3"):
            for rows in (0, 1, 2, 3, 5, 8, 13, 63, 64, 65, 130):
                for width in (1, 2, 3, 5, 17):
                    data = numbered(name, np.arange(4 * width).reshape(4, width))
                    indices = (np.arange(rows) % 8 - 4)[:, None]
                    around = numbered(name, np.full((rows + 2) * width, 90))
                    expected = around.copy()
                    expected[width:-width] = data[indices[:, 0]].ravel()
                    fastsel.gather_nd(data, indices, out=around[width:-width].reshape(rows, width))
                    assert_same(around, expected)


# name: a function that returns data, indices and `out`, which overlaps one of them
OVERLAPS = {
    "data": lambda array: (array, np.arange(100)[::-1, None].copy(), array),
    "data_shifted": lambda array: (array[:-1], np.arange(99)[:, None], array[1:]),
    "indices": lambda array: (np.arange(100) * 7 % 100, array[:, None], array),
    "indices_strided": lambda array: (np.arange(100), array.reshape(50, 2)[:, :1], array[::2]),
}


@pytest.mark.parametrize("overlap", OVERLAPS)
def test_out_may_overlap_data_or_indices(overlap, num_threads):
    array = np.arange(100) * 3 % 100
    data, indices, out = OVERLAPS[overlap](array)
    expected = reference.gather_nd(data.copy(), indices.copy())
    fastsel.gather_nd(data, indices, out=out)
    assert_same(out.copy(), expected)
