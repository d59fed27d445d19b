"""Differential fuzzing: bytes become arrays, and calls of operators with these arrays.

The arrays have dtypes of RAW_DTYPES, and many layouts.

    pip install atheris
    python tests/tools/fuzz.py selection -max_total_time=30 corpus/selection

The first argument is a target: selection, coordinates, unique, sets, slices or gather. The other
arguments are libFuzzer's. If a result differs from NumPy's or from tests/shared/reference.py, the
run ends and writes the bytes to a file; ``python tests/tools/fuzz.py selection FILE`` runs them
again.
"""

import sys
from pathlib import Path

if __name__ == "__main__":  # before any other import of fastsel: the fuzzer traces its lines
    import atheris

    with atheris.instrument_imports(include=["fastsel"]):
        import fastsel

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "shared"))
import reference
from arrays import DTYPES
from comparison import assert_same, assert_same_outcome, outcome
from forcing import ALGORITHMS
from layouts import LAYOUTS, has_layout

import fastsel
from fastsel._core import _gate, _threads, parallel
from fastsel._sets._membership import compares_exactly
from fastsel._unique import _keys, _plan

# bool, and the dtypes whose items can be any bytes.
RAW_DTYPES = [
    name
    for name, dtype in DTYPES.items()
    if dtype.kind in "biufcmMSV" and dtype.char not in "gG" and dtype.names is None
]


class Reader:
    """Reads values from the bytes of the fuzzer, and zeros after their end."""

    def __init__(self, data):
        self.data, self.position = data, 0

    def bytes(self, count):
        read = self.data[self.position : self.position + count]
        self.position += count
        return read + bytes(count - len(read))

    def integer(self, low, high):
        width = max(1, (high - low).bit_length() + 7 >> 3)
        return low + int.from_bytes(self.bytes(width), "little") % (high - low + 1)

    def choice(self, options):
        return options[self.integer(0, len(options) - 1)]

    def flag(self):
        return self.integer(0, 1) == 1

    def shape(self, max_dims=4, max_items=1 << 12):
        """A shape of at most `max_items` items, even if each size of zero were one."""
        shape = []
        for _ in range(self.integer(0, max_dims)):
            shape.append(self.integer(0, max_items))
            max_items //= max(1, shape[-1])
        return tuple(shape)

    def array(self, shape=None, dtypes=RAW_DTYPES):
        """An array in any layout that keeps the shape. Its bytes repeat a pool of 1 to 256 bytes,
        so that items repeat; a bool item is the lowest bit of a byte."""
        dtype = DTYPES[self.choice(dtypes)]
        shape = self.shape() if shape is None else shape
        size = int(np.prod(shape)) * dtype.itemsize
        pool = self.bytes(self.integer(1, 256))
        array = np.frombuffer((pool * (size // len(pool) + 1))[:size], np.uint8)
        if dtype.kind == "b":
            array = array & 1
        array = array.view(dtype).reshape(shape).copy()
        layout = self.choice(list(LAYOUTS))
        laid_out = LAYOUTS[layout](array) if has_layout(dtype, layout) else array
        return laid_out if laid_out.shape == shape else array

    def change_settings(self):
        """Set thresholds, the minimum size of a chunk, the algorithm of unique and the seeds of the
        hash; return a context that limits the threads."""
        _gate.TINY_ITEMS = _plan.UNSAMPLED_ITEMS = _plan.MAX_FOR_NUMPY = self.choice([0, 500])
        parallel.THRESHOLDS.small_items = 32 * _gate.TINY_ITEMS
        _threads.MIN_CHUNK_BYTES = self.choice([1, 64, 1 << 16])
        _plan.FORCED.set(self.choice([*[None] * 6, *ALGORITHMS]))
        _keys.SEEDS = self.integer(0, 2**64 - 1), self.integer(0, 2**64 - 1) | 1
        return fastsel.threads(self.integer(1, 7))


def outcome_without_warnings(function, *arguments, **keywords):
    """The outcome of a function, without NumPy's floating-point warnings."""
    with np.errstate(all="ignore"):
        return outcome(function, *arguments, **keywords)


def selection(reader):
    array = reader.array()
    name = reader.choice(
        [
            *("nonzero", "flatnonzero", "argwhere", "count_nonzero", "first_nonzero"),
            *("compress", "extract", "mask"),
        ]
    )
    axis = reader.choice([None, *range(-array.ndim, array.ndim)])
    if name == "count_nonzero":
        arguments = (array, axis)
    elif name == "compress":
        length = array.size if axis is None else array.shape[axis]
        arguments = (reader.array((reader.integer(0, length + 1),)), array, axis)
    elif name == "extract":
        arguments = (reader.array(array.shape if reader.flag() else None), array)
    elif name == "mask":
        dims = reader.integer(0, array.ndim)
        mask = reader.array(array.shape[:dims], ["bool"])
        assert_same_outcome(
            outcome(fastsel.boolean_mask, array, mask),
            outcome_without_warnings(lambda: array[mask]),
        )
        return
    elif name == "first_nonzero":
        array = array[reader.integer(0, len(array)) :] if array.ndim else array
        assert_same(fastsel.first_nonzero(array, axis), reference.first_nonzero(array, axis))
        return
    else:
        arguments = (array,)
    expected = outcome_without_warnings(getattr(np, name), *arguments)
    assert_same_outcome(outcome(getattr(fastsel, name), *arguments), expected)


def coordinates(reader):
    array = reader.array()
    if array.ndim == 0:
        return
    dtype = np.dtype(reader.choice(["u4", "i4", "i8", "u8"]))
    count, rows = fastsel.nonzero_coordinates(array, dtype=dtype)
    assert_same(fastsel.argwhere(array, dtype=dtype), reference.argwhere(array, dtype=dtype))
    assert_same(fastsel.flatnonzero(array, dtype=dtype), reference.flatnonzero(array, dtype=dtype))
    expected = reference.nonzero_coordinates(array, dtype=dtype)
    assert count == expected.count
    assert_same(rows, expected.coordinates)


def unique(reader):
    array = reader.array()
    axis = reader.choice([None, *range(array.ndim)])
    if axis is not None and array.size == 0:
        return  # fastsel calls NumPy's function
    rules = {"equal_nan": reader.flag(), "sorted": reader.flag()}
    outputs = fastsel.unique(array, True, True, True, axis, **rules)
    expected = reference.unique(array, True, True, True, axis, **rules)
    for ours, theirs in zip(outputs, expected, strict=True):
        assert_same(ours, theirs)
    assert_same(fastsel.unique(array, axis=axis, **rules), outputs[0])
    for k, name in enumerate(["index", "inverse", "counts"], 1):
        alone = fastsel.unique(array, axis=axis, **{f"return_{name}": True}, **rules)
        assert_same(alone[1], outputs[k])
    groups = fastsel.group_indices(array, axis, **rules)
    assert_same(tuple(groups), reference.group_indices(array, axis, **rules))


def sets(reader):
    """isin and index_in, of one dtype or of two dtypes."""
    first = reader.array()
    if reader.flag():
        name = reader.choice(RAW_DTYPES)
        second = reader.array(dtypes=[name])
    else:
        second = first.ravel()[:: reader.integer(1, 5)][: reader.integer(0, 300)]
    if not compares_exactly(first.dtype, second.dtype):
        return  # isin calls NumPy's function; index_in compares in the common dtype
    assert_same(fastsel.isin(first, second), reference.isin(first, second))
    assert_same(fastsel.index_in(first, second), reference.index_in(first, second))
    assert_same(fastsel.index_in(second, first), reference.index_in(second, first))


def slices(reader):
    """The set functions on items, and on slices along an axis."""
    dtype = reader.choice(["bool", "uint8", "int32", "int64", "float32", "float64", "S3"])
    width, axis = reader.integer(1, 4), None
    one, other = (reader.array((reader.integer(0, 60), width), [dtype]) for _ in range(2))
    if reader.flag():
        axis = reader.integer(0, 1)
        one, other = (np.moveaxis(array, 0, axis) for array in (one, other))
    invert = reader.flag()
    result = fastsel.isin(one, other, invert=invert, axis=axis)
    assert_same(result, reference.isin(one, other, invert, axis))
    assert_same(fastsel.index_in(one, other, axis), reference.index_in(one, other, axis))
    for name in ("intersect1d", "union1d", "setdiff1d", "setxor1d"):
        expected = getattr(reference, name)(one, other, axis=axis)
        assert_same(getattr(fastsel, name)(one, other, axis=axis), expected)


def gather(reader):
    data = reader.array()
    if data.ndim == 0:
        return
    batch_dims = reader.integer(0, data.ndim - 1)
    depth = reader.integer(1, data.ndim - batch_dims)
    shape = (*data.shape[:batch_dims], *reader.shape(2, 64), depth)
    indices = reader.array(shape, ["int8", "int16", "int32", "int64", "uint8", "uint64"])
    if reader.flag():  # indices within bounds, unless an axis has no items
        indices = indices % max(1, min(127, *data.shape))
    result = outcome(fastsel.gather_nd, data, indices, batch_dims)
    lengths = np.array(data.shape[batch_dims : batch_dims + depth], object)
    exact = indices.astype(object)
    if ((exact >= -lengths) & (exact < lengths)).all():
        assert_same(result[1], reference.gather_nd(data, indices.astype(np.int64), batch_dims))
    else:
        assert result[:2] == ("raises", IndexError), result


TARGETS = {
    "selection": selection,
    "coordinates": coordinates,
    "unique": unique,
    "sets": sets,
    "slices": slices,
    "gather": gather,
}


def run(target, data):
    reader = Reader(data)
    with reader.change_settings():
        TARGETS[target](reader)


def main():
    target = sys.argv.pop(1)
    atheris.Setup(sys.argv, lambda data: run(target, data))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
