"""Signatures and rules of the functions that fastsel shares with the array API standard 2025.12.

The rules follow the standard's text. The standard's own tests are not a package that can be
installed: `array_api_namespace.py` beside this file says how to run them.
"""

import inspect
import runpy
from pathlib import Path

import numpy as np
import pytest

import fastsel

NAMES = runpy.run_path(str(Path(__file__).with_name("array_api_namespace.py")))["NAMES"]
FLOATS = ("float32", "float64", "complex64", "complex128")
DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *FLOATS,
)
SHAPES = [(0,), (1,), (7,), (300,), (3, 0), (4, 5), (2, 3, 4), (20, 30, 2)]


class Standard:
    """The functions, with their signatures in the standard."""

    def nonzero(x, /): ...
    def count_nonzero(x, /, *, axis=None, keepdims=False): ...
    def isin(x1, x2, /, *, invert=False): ...
    def unique_all(x, /): ...
    def unique_counts(x, /): ...
    def unique_inverse(x, /): ...
    def unique_values(x, /): ...


FIELDS = {
    "unique_all": ("values", "indices", "inverse_indices", "counts"),
    "unique_counts": ("values", "counts"),
    "unique_inverse": ("values", "inverse_indices"),
    "unique_values": ("values",),
}


def make_items(dtype, shape):
    """A few values, repeated; floats have NaN and zeros of both signs among them."""
    items = np.random.default_rng(3).integers(0, 5, shape).astype(dtype)
    if dtype in FLOATS:
        items[items == 3] = np.nan
        items[items == 4] = -0.0
    return items


def test_fastsel_has_the_functions_of_the_standard():
    assert set(NAMES) == {name for name in vars(Standard) if name[0] != "_"}
    assert set(NAMES) <= set(fastsel.__all__)


@pytest.mark.parametrize("name", NAMES)
def test_signatures_take_each_call_of_the_standard(name):
    standard = inspect.signature(getattr(Standard, name)).parameters.values()
    ours = inspect.signature(getattr(fastsel, name)).parameters
    positional = [p for p in standard if p.kind is p.POSITIONAL_ONLY]
    assert [p.kind for p in ours.values()][: len(positional)] == [
        p.kind if name.startswith("unique_") else p.POSITIONAL_OR_KEYWORD for p in positional
    ]
    for parameter in standard:
        if parameter.kind is parameter.KEYWORD_ONLY:
            assert ours[parameter.name].default is parameter.default
            assert ours[parameter.name].kind is not parameter.POSITIONAL_ONLY
    required = [p for p in ours.values() if p.default is p.empty]
    assert len(required) == len(positional)


@pytest.mark.usefixtures("kernels_with_few_threads")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_nonzero_and_count_nonzero_follow_the_standard(dtype, shape):
    x = make_items(dtype, shape)
    indices = fastsel.nonzero(x)
    assert isinstance(indices, tuple)
    assert len(indices) == x.ndim
    # The order is C order. NaN is non-zero; zeros of both signs are zero.
    expected = [index for index in np.ndindex(shape) if x[index] != 0]
    assert list(zip(*(axis.tolist() for axis in indices), strict=True)) == expected
    assert {axis.dtype for axis in indices} == {np.dtype(np.intp)}
    count = fastsel.count_nonzero(x)
    assert (count.ndim, count.dtype, int(count)) == (0, np.intp, len(expected))
    for axis in range(-x.ndim, x.ndim):
        for keepdims in (False, True):
            counts = fastsel.count_nonzero(x, axis=axis, keepdims=keepdims)
            assert np.array_equal(counts, (x != 0).sum(axis=axis, keepdims=keepdims))
            assert counts.dtype == np.intp
    all_axes = tuple(range(x.ndim))
    assert fastsel.count_nonzero(x, axis=all_axes, keepdims=True).shape == (1,) * x.ndim


def test_0d_arrays_follow_the_standard():
    with pytest.raises(ValueError, match="0d"):
        fastsel.nonzero(np.asarray(3))
    assert fastsel.count_nonzero(np.asarray(3)) == 1
    for name in ("unique_all", "unique_counts", "unique_inverse"):
        result = getattr(fastsel, name)(np.asarray(3))
        assert result.values.shape == (1,)
        if "inverse_indices" in FIELDS[name]:
            assert result.inverse_indices.shape == ()


@pytest.mark.parametrize("axis", [2, -3, (0, 2)])
def test_invalid_axis_raises(axis):
    with pytest.raises(np.exceptions.AxisError):
        fastsel.count_nonzero(np.ones((2, 2)), axis=axis)


@pytest.mark.usefixtures("kernels_with_few_threads")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", FIELDS)
def test_unique_functions_follow_the_standard(name, dtype, shape):
    x = make_items(dtype, shape)
    result = getattr(fastsel, name)(x)
    arrays = (result,) if name == "unique_values" else result
    if name != "unique_values":
        assert result._fields == FIELDS[name]
    outputs = dict(zip(FIELDS[name], arrays, strict=True))
    values, flat = outputs["values"], x.ravel()
    assert values.dtype == x.dtype
    assert values.ndim == 1
    # Each NaN is a distinct value; zeros of both signs are one value.
    is_nan = values != values
    assert is_nan.sum() == (flat != flat).sum()
    assert set(values[~is_nan].tolist()) == {item for item in flat.tolist() if item == item}
    assert len(set(values[~is_nan].tolist())) == (~is_nan).sum()
    for field, output in outputs.items():
        if field != "values":
            assert output.dtype == np.intp
            assert output.shape == (x.shape if field == "inverse_indices" else values.shape)
    if "indices" in outputs:
        for value, index in zip(values, outputs["indices"], strict=True):
            positions = np.flatnonzero(flat == value)
            assert index == positions[0] if value == value else flat[index] != flat[index]
        assert len(set(outputs["indices"].tolist())) == len(values)
    if "inverse_indices" in outputs:
        rebuilt = values[outputs["inverse_indices"]]
        assert np.array_equal(rebuilt, x, equal_nan=dtype in FLOATS)
    if "counts" in outputs:
        expected = [(flat == value).sum() if value == value else 1 for value in values]
        assert outputs["counts"].tolist() == expected


@pytest.mark.usefixtures("kernels_with_few_threads")
@pytest.mark.parametrize("dtype", DTYPES[1:9])
@pytest.mark.parametrize("other_dtype", DTYPES[1:9])
@pytest.mark.parametrize("invert", [False, True])
def test_isin_compares_integers_of_any_two_dtypes_by_value(dtype, other_dtype, invert):
    x1 = (make_items(dtype, (20, 30)) * 60).astype(dtype)
    x2 = np.array([0, 60, 200], np.int16).astype(other_dtype)
    result = fastsel.isin(x1, x2, invert=invert)
    numbers = {*x2.tolist()}
    assert result.dtype == bool
    assert result.tolist() == [[(item in numbers) != invert for item in row] for row in x1.tolist()]


def test_isin_accepts_a_number_for_either_argument():
    x = np.arange(6, dtype=np.int8).reshape(2, 3)
    result = fastsel.isin(4, x)
    assert (result.dtype, result.shape, bool(result)) == (bool, (), True)
    assert fastsel.isin(x, 4).tolist() == [[False, False, False], [False, True, False]]
    assert not fastsel.isin(np.asarray(7), x, invert=False)
