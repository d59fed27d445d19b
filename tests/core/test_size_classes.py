"""On both sides of each threshold of size, results equal NumPy's, also in class, dtype and
flags. Only the flags of `nonzero` are not compared."""

import itertools
import math
import warnings

import numpy as np
import pytest
from comparison import outcome
from grids import covering
from odd_arguments import THRESHOLDS, Plain, assert_same_answer
from operators import mask_of_every_third

import fastsel

if np.lib.NumpyVersion(np.__version__) < "2.4.0":
    pytest.skip("compares with the answers and errors of NumPy 2.4", allow_module_level=True)

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # deprecated since NumPy 2.5
    CHARARRAY = np.char.chararray
SIZES = [0, 1, *(limit + step for limit in THRESHOLDS for step in (-1, 0, 1))]
DTYPES = ["?", "i4", "i8", "f8", "D", "M8[s]", "U3", "S3", ">i4", "i4,f8", "O", "T"]
LAYOUTS = {
    "c": lambda a: a,
    "f": np.asfortranarray,
    "strided": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "reversed": lambda a: a[::-1],
}


def compress_into_its_class(module, a):
    """Compress `a` into an array of its class."""
    selected = np.asarray(a).ravel()[mask_of_every_third(a.size)]
    return module.compress(mask_of_every_third(a.size), a, out=selected.copy().view(type(a)))


def boolean_mask(module, a, mask):
    return fastsel.boolean_mask(a, mask) if module is fastsel else a[mask]


def gather_nd(module, a):
    """gather_nd of a subclass returns an ndarray; the indices include negative ones."""
    rows = np.arange(-len(a), len(a))
    return fastsel.gather_nd(a, rows[:, None]) if module is fastsel else np.asarray(a)[rows]


def nonzero_coordinates(module, a):
    positions = np.argwhere(np.asarray(a)).astype(np.uint32)
    if module is fastsel:
        return tuple(fastsel.nonzero_coordinates(a, capacity=len(positions)))
    return np.uint32(len(positions)), positions.copy()


# Each call takes the module, fastsel or NumPy, and the array.
POSITION_CALLS = {
    "nonzero": lambda module, a: module.nonzero(a),
    "flatnonzero": lambda module, a: module.flatnonzero(a),
    "argwhere": lambda module, a: module.argwhere(a),
    "count_nonzero": lambda module, a: module.count_nonzero(a),
    "count_nonzero(axis=0)": lambda module, a: module.count_nonzero(a, 0),
    "count_nonzero(axis=-1)": lambda module, a: module.count_nonzero(a, -1, keepdims=True),
    "count_nonzero(keepdims=True)": lambda module, a: module.count_nonzero(a, keepdims=True),
    "nonzero_coordinates": nonzero_coordinates,
}
SELECTION_CALLS = {
    "compress": lambda module, a: module.compress(mask_of_every_third(a.size), a),
    "compress(axis=0)": lambda module, a: module.compress(mask_of_every_third(len(a)), a, 0),
    "compress(axis=-1)": lambda module, a: module.compress(mask_of_every_third(a.shape[-1]), a, -1),
    "compress by the array": lambda module, a: module.compress(a, np.arange(a.size)),
    "compress into its class": compress_into_its_class,
    "extract": lambda module, a: module.extract(mask_of_every_third(*a.shape), a),
    "extract by the array": lambda module, a: module.extract(a, np.arange(a.size)),
    "boolean_mask": lambda module, a: boolean_mask(module, a, mask_of_every_third(*a.shape)),
    "boolean_mask of rows": lambda module, a: boolean_mask(module, a, mask_of_every_third(len(a))),
    "boolean_mask by the array": lambda module, a: boolean_mask(
        module, np.arange(a.size).reshape(a.shape), (a == a[:1]).view(type(a))
    ),
    "gather_nd": gather_nd,
}
UNIQUE_CALLS = {
    "unique": lambda module, a: module.unique(a),
    "unique with all": lambda module, a: module.unique(a, True, True, True),
    "unique with inverse": lambda module, a: module.unique(a, return_inverse=True),
    "unique with counts": lambda module, a: module.unique(a, return_counts=True),
    "unique(axis=0)": lambda module, a: module.unique(a, axis=0),
    "unique(axis=-1) with all": lambda module, a: module.unique(a, True, True, True, axis=-1),
    "unique_all": lambda module, a: tuple(module.unique_all(a)),
    "unique_counts": lambda module, a: tuple(module.unique_counts(a)),
    "unique_inverse": lambda module, a: tuple(module.unique_inverse(a)),
    "unique_values": lambda module, a: np.sort(module.unique_values(a)),
}
SET_CALLS = {
    "isin": lambda module, a: module.isin(a, a[:3]),
    "isin with the array as tests": lambda module, a: module.isin(a[:3], a[:2000], invert=True),
    "intersect1d": lambda module, a: module.intersect1d(a, a[:3]),
    "intersect1d with indices": lambda module, a: module.intersect1d(a[:5], a, return_indices=True),
    "union1d": lambda module, a: module.union1d(a, a[:3]),
    "union1d of another class": lambda module, a: module.union1d(np.asarray(a), a[:3]),
    "setdiff1d": lambda module, a: module.setdiff1d(a, a[:3]),
    "setdiff1d of another class": lambda module, a: module.setdiff1d(np.asarray(a), a[:3]),
    "setxor1d": lambda module, a: module.setxor1d(a[5:], a[:3]),
}
CALLS = POSITION_CALLS | SELECTION_CALLS | UNIQUE_CALLS | SET_CALLS


# Class: a function that returns the items of `a` in an array of the class, or None if it cannot.
CLASSES = {
    "memmap": lambda a: None if a.dtype.hasobject else a.view(np.memmap),
    "matrix": lambda a: a.view(np.matrix) if a.ndim == 2 else None,
    "recarray": lambda a: a.view(np.recarray) if a.dtype.names else None,
    "chararray": lambda a: a.view(CHARARRAY) if a.dtype.kind in "SU" else None,
    "subclass": lambda a: a.view(Plain),
    "masked": lambda a: np.ma.array(a, mask=mask_of_every_third(*a.shape)),
    "without mask": lambda a: np.ma.array(a),
}


def items(dtype, size):
    """Items of which the first is zero. The first three differ, except for bool."""
    numbers = np.random.default_rng(size).integers(0, 40, size)
    numbers[:3] = np.arange(3)[:size]
    if dtype == "i4,f8":
        structures = np.zeros(size, dtype)
        structures["f0"] = numbers
        return structures
    texts = np.where(numbers, numbers.astype("U3"), "")
    return (texts if dtype in ("U3", "S3", "T") else numbers).astype(dtype)


def shapes(size):
    """A shape of one axis, and a shape of two axes whose lengths are as close as possible."""
    columns = max(n for n in range(1, math.isqrt(size) + 2) if size % n == 0)
    return [(size,), (size // columns, columns)]


def flags_of(result):
    if isinstance(result, tuple):
        return [flags_of(part) for part in result]
    flags = getattr(result, "flags", None)
    return flags and [
        *(flags.c_contiguous, flags.f_contiguous),
        *(flags.writeable, flags.aligned),
    ]


def check(call, a):
    ours, expected = (outcome(CALLS[call], module, a) for module in (fastsel, np))
    assert_same_answer(ours, expected)
    # fastsel's nonzero returns contiguous arrays; NumPy's returns columns of one array.
    if expected[0] == "returns" and call != "nonzero":
        assert flags_of(ours[1]) == flags_of(expected[1])


def check_each_size(call, dtype, array_of):
    """Check the call with all SIZES; each array has the next layout."""
    layouts = itertools.cycle(LAYOUTS.values())
    for size in SIZES:
        flat = items(dtype, size)
        for shape in shapes(size):
            a = array_of(next(layouts)(flat.reshape(shape)))
            if a is not None:
                check(call, a)


@covering(call=CALLS, dtype=DTYPES)
def test_arrays_of_each_size_equal_numpy(call, dtype):
    check_each_size(call, dtype, np.asarray)


@covering(at_least=80, kind=CLASSES, call=CALLS, dtype=["i4", "f8", "U3", "i4,f8"])
def test_subclasses_of_each_size_equal_numpy(kind, call, dtype):
    check_each_size(call, dtype, CLASSES[kind])


@covering(call=CALLS, dtype=["i4", "U3"])
def test_memory_maps_of_a_file_equal_numpy(call, dtype, tmp_path):
    """Arrays are maps of a file; the np.memmap of `CLASSES` is a view of another array."""

    def mapped(a):
        if not a.size:
            return None
        result = np.memmap(tmp_path / "items", a.dtype, "w+", shape=a.shape)
        result[...] = a
        return result

    check_each_size(call, dtype, mapped)
