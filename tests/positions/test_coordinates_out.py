"""The arguments out, count_out and fill_value of nonzero_coordinates."""

import numpy as np
import pytest
from arrays import EDGE_SIZES, make
from layouts import as_unaligned

import fastsel

EXAMPLE = np.array([[[[1.0, 0.0, 0.0, 2.0], [-0.0, 3.5, 0.0, -5.2]]]], np.float32)


def sentinels(shape, dtype=np.uint32):
    return np.full(shape, 77, dtype)


OUT_SHAPES = {
    "matrix": (8, 4),
    "one_leading_1": (1, 8, 4),
    "full_shape": (1, 1, 8, 4),
    "more_leading_1s": (1, 1, 1, 1, 8, 4),
}


@pytest.mark.parametrize("shape", OUT_SHAPES.values(), ids=list(OUT_SHAPES))
def test_out_is_written_up_to_count(shape, kernels_with_few_threads):
    out = sentinels(shape)
    count, coordinates = fastsel.nonzero_coordinates(EXAMPLE, out=out)
    assert count == 4
    assert np.shares_memory(coordinates, out)
    rows = out.reshape(8, 4)
    assert rows[:4].tolist() == np.argwhere(EXAMPLE).tolist()
    assert (rows[4:] == 77).all()


def test_2d_out_is_returned():
    out = sentinels((8, 4))
    assert fastsel.nonzero_coordinates(EXAMPLE, out=out).coordinates is out


@pytest.mark.parametrize(
    "out",
    [
        sentinels((16, 4))[::2],
        sentinels((8, 8))[:, ::2],
        np.asfortranarray(sentinels((8, 4))),
        sentinels((8, 4))[::-1],
        as_unaligned(sentinels((8, 4))),
    ],
    ids=["rows_strided", "columns_strided", "fortran", "negative", "unaligned"],
)
def test_out_may_have_any_layout(out, kernels_with_few_threads):
    fastsel.nonzero_coordinates(EXAMPLE, out=out)
    assert out[:4].tolist() == np.argwhere(EXAMPLE).tolist()
    assert (out[4:] == 77).all()


def test_fill_value_is_not_written_to_out(kernels_with_few_threads):
    out = sentinels((8, 4))
    fastsel.nonzero_coordinates(EXAMPLE, out=out, fill_value=5)
    assert (out[4:] == 77).all()


def test_nothing_is_written_beside_out(each_num_threads):
    for _ in each_num_threads:
        for dtype in (np.uint32, np.int64):
            for size in EDGE_SIZES:
                x = make("int16", (size, 2))
                around = sentinels((2 * size + 32, 2), dtype)
                fastsel.nonzero_coordinates(x, out=around[16:-16], dtype=dtype)
                rows = np.argwhere(x)
                assert (around[16 : 16 + len(rows)] == rows).all()
                assert (around[:16] == 77).all()
                assert (around[16 + len(rows) :] == 77).all()


def test_out_with_the_given_dtype_is_returned(kernels_with_few_threads):
    out = sentinels((8, 4), np.int64)
    assert fastsel.nonzero_coordinates(EXAMPLE, out=out, dtype=np.int64).coordinates is out
    assert out[:4].tolist() == np.argwhere(EXAMPLE).tolist()


WRONG_OUT = {
    "too_few_rows_though_count_fits": (ValueError, sentinels((5, 4))),
    "too_many_rows": (ValueError, sentinels((9, 4))),
    "too_few_columns": (ValueError, sentinels((8, 3))),
    "too_many_columns": (ValueError, sentinels((8, 5))),
    "one_dimension": (ValueError, sentinels(32)),
    "leading_2": (ValueError, sentinels((2, 8, 4))),
    "transposed": (ValueError, sentinels((4, 8))),
    "int64": (TypeError, sentinels((8, 4), np.int64)),
    "int32": (TypeError, sentinels((8, 4), np.int32)),
    "float32": (TypeError, sentinels((8, 4), np.float32)),
    "list": (TypeError, sentinels((8, 4)).tolist()),
}


@pytest.mark.parametrize("case", WRONG_OUT)
def test_wrong_out_raises_and_stays_unchanged(case):
    error, out = WRONG_OUT[case]
    with pytest.raises(error, match=r"\bout\b"):
        fastsel.nonzero_coordinates(EXAMPLE, out=out)
    assert (np.asarray(out) == 77).all()


def test_read_only_out_raises_and_stays_unchanged():
    out = sentinels((8, 4))
    out.flags.writeable = False
    with pytest.raises(ValueError, match=r"\bout\b"):
        fastsel.nonzero_coordinates(EXAMPLE, out=out)
    assert (out == 77).all()


def test_out_needs_capacity_rows(kernels_with_few_threads):
    out = sentinels((20, 4))
    assert fastsel.nonzero_coordinates(EXAMPLE, out=out, capacity=20).coordinates is out
    assert out[:4].tolist() == np.argwhere(EXAMPLE).tolist()
    with pytest.raises(ValueError, match=r"\bout\b"):
        fastsel.nonzero_coordinates(EXAMPLE, out=sentinels((8, 4)), capacity=20)


def test_out_is_untouched_when_capacity_is_too_small(kernels_with_few_threads):
    out = sentinels((3, 4))
    with pytest.raises(ValueError, match="capacity"):
        fastsel.nonzero_coordinates(EXAMPLE, out=out, capacity=3)
    assert (out == 77).all()


@pytest.mark.parametrize("mode", ["dml_shape", "strict"])
def test_dml_shape_and_strict_need_outputs_with_the_ndim_of_x(mode, kernels_with_few_threads):
    """DirectML requires the same number of dimensions for x, out and count_out."""
    for name, shape in OUT_SHAPES.items():
        out, count_out = sentinels(shape), sentinels((1,) * len(shape))
        if name == "full_shape":
            fastsel.nonzero_coordinates(EXAMPLE, out=out, count_out=count_out, **{mode: True})
            assert out.reshape(8, 4)[:4].tolist() == np.argwhere(EXAMPLE).tolist()
            assert count_out == 4
        else:
            for outputs in ({"out": out}, {"count_out": count_out}):
                (argument,) = outputs
                with pytest.raises(ValueError, match=rf"^{argument} must have the \d dimensions"):
                    fastsel.nonzero_coordinates(EXAMPLE, **outputs, **{mode: True})
        assert (out == 77).all() == (name != "full_shape")


def test_dml_shape_returns_out():
    for x, shape in ((EXAMPLE, (1, 1, 8, 4)), (np.array([1, 0, 2]), (3, 1))):
        out = sentinels(shape)
        assert fastsel.nonzero_coordinates(x, out=out, dml_shape=True).coordinates is out


# The argument count_out.


def test_count_out_may_not_overlap_out():
    out = np.full((4, 2), 77, np.uint32)
    with pytest.raises(ValueError, match="count_out must be apart from out"):
        fastsel.nonzero_coordinates([[1, 0], [0, 2]], out=out, count_out=out[1:2, :1])
    assert (out == 77).all()
    between = np.full((4, 3), 77, np.uint32)  # the count is in a column beside the coordinates
    count, _ = fastsel.nonzero_coordinates(
        [[1, 0], [0, 2]], out=between[:, :2], count_out=between[:1, 2:]
    )
    assert between[:2].tolist() == [[0, 0, count], [1, 1, 77]]


@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1, 1)], ids=str)
@pytest.mark.parametrize("dtype", [np.uint32, np.int64])
def test_count_out_receives_the_count(dtype, shape, kernels_with_few_threads):
    count_out = np.full(shape, 77, dtype)
    count, _ = fastsel.nonzero_coordinates(EXAMPLE, count_out=count_out, dtype=dtype)
    assert count == 4
    assert (count_out == 4).all()


def test_count_out_receives_the_true_count_when_truncated():
    count_out = sentinels((1,))
    fastsel.nonzero_coordinates(EXAMPLE, count_out=count_out, capacity=1, truncate=True)
    assert count_out[0] == 4


@pytest.mark.parametrize(
    ("count_out", "error"),
    [
        (np.zeros(2, np.uint32), ValueError),
        (np.zeros(0, np.uint32), ValueError),
        (np.zeros(1, np.int64), TypeError),
        (np.zeros(1, np.float32), TypeError),
        ([0], TypeError),
    ],
    ids=["two", "empty", "int64", "float32", "list"],
)
def test_wrong_count_out_raises(count_out, error):
    with pytest.raises(error, match="count_out"):
        fastsel.nonzero_coordinates(EXAMPLE, count_out=count_out)


def test_read_only_count_out_raises():
    count_out = sentinels((1,))
    count_out.flags.writeable = False
    with pytest.raises(ValueError, match="count_out"):
        fastsel.nonzero_coordinates(EXAMPLE, count_out=count_out)


# The argument fill_value, and out in a field of records.


@pytest.mark.parametrize("fill_value", [1.5, "x", None, [1, 2]])
def test_fill_value_must_be_an_integer(fill_value):
    with pytest.raises(TypeError, match="fill_value must be an integer, got"):
        fastsel.nonzero_coordinates([1, 0], fill_value=fill_value)


@pytest.mark.parametrize("fill_value", [-1, 2**32])
def test_fill_value_must_fit_the_dtype(fill_value):
    with pytest.raises(OverflowError, match="fill_value must be between 0 and 4294967295"):
        fastsel.nonzero_coordinates([1, 0], fill_value=fill_value)


def test_out_in_a_packed_field_leaves_the_other_fields_unchanged():
    record = np.dtype([("a", "u1"), ("at", "u4", (2,)), ("b", "u1")])
    records = np.zeros(4, record)
    records["a"] = records["b"] = 77
    fastsel.nonzero_coordinates([[0, 1], [1, 1]], out=records["at"])
    assert records["at"].tolist() == [[0, 1], [1, 0], [1, 1], [0, 0]]
    assert (records["a"] == 77).all()
    assert (records["b"] == 77).all()
