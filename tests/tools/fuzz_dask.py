"""Differential fuzzing of fastsel.dask: the same random calls on dask arrays and on NumPy arrays.

    python tests/tools/fuzz_dask.py --seconds 60 --seed 0

Each seed makes up to three calls of a function. The first wrong result, error or name ends the run,
with the command that repeats it.
"""

import argparse
import contextlib
import itertools
import sys
import time
import warnings
from pathlib import Path

import dask
import dask.array as da
import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "shared"))
from arrays import DTYPES, ML_DTYPES
from chunked import checked
from comparison import assert_same_values, outcome
from layouts import LAYOUTS, has_layout
from strategies import NAMES, RARE_ML_DTYPES, WITHOUT_BYTES, from_pool, items

import fastsel
import fastsel.dask
from fastsel.dask import _blocks, _groups

OMITTED = {*WITHOUT_BYTES, *RARE_ML_DTYPES, "structure_without_fields", "unnormal", "M8"}
KINDS = sorted({*NAMES} - OMITTED)
FUNCTIONS = [name for name in fastsel.dask.__all__ if name.islower()]
SETS = ("index_in", "isin", "intersect1d", "union1d", "setdiff1d", "setxor1d")
WITH_AXIS = ("count_nonzero", "first_nonzero", "unique", "group_indices", "compress", *SETS)
ML, FLAG = {*ML_DTYPES.values()}, (False, True)
GROUPING = {"equal_nan": FLAG, "sorted": FLAG, "split_every": (2, 3), "partitions": (None, 1, 4)}
RETURNS = {f"return_{name}": FLAG for name in ("index", "inverse", "counts")}
OPTIONS = {
    **{name: {"dtype": ("i1", ">i4", "i8")} for name in ("nonzero", "flatnonzero", "argwhere")},
    **{f"{name}_nonzero": {"keepdims": FLAG, "axis": ((), (0, -1))} for name in ("count", "first")},
    "nonzero_coordinates": {"n": (None, "effective", 2), "dtype": ("u4", "i4", "i8", "u8")},
    "unique": {**GROUPING, **RETURNS, "inverse_dtype": (None, "i1", ">i4")},
    "group_indices": GROUPING,
    "isin": {"invert": FLAG},
    "intersect1d": {"return_indices": FLAG},
    "setdiff1d": {"assume_unique": FLAG},
    "gather_nd": {"batch_dims": (0, 1, 2)},
}
# Texts of documented errors. NumPy's isin raises the last three for some sizes of the arrays.
DOCUMENTED = ("compute_chunk_sizes", "of the blocks", "the blocks of", "each block of default")
DOCUMENTED += ("compares in one way", "Cannot compare", "Cannot cast", "for the input types")


class Draw:
    """Random arrays and calls of one seed."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.kinds = [self.choice(KINDS) for _ in range(2)]
        self.pools = [items(kind, 20, self.choice([2, 5, 20]), seed) for kind in self.kinds]
        self.chunks, self.name, self.array = {}, self.choice(FUNCTIONS), self.items(self.shape())

    def choice(self, options):
        return options[int(self.random.integers(len(options)))]

    def shape(self):
        ndim, max_size = self.choice([(0, 0), (1, 5), (1, 40), (1, 400), (2, 5), (2, 5), (3, 4)])
        return tuple(self.random.integers(0, max_size + 1, ndim).tolist())

    def items(self, shape):
        """An array of the items of a pool, which repeat, in a layout that keeps the shape."""
        k = self.choice([0, 0, 0, 1])
        array = from_pool(self.pools[k], int(np.prod(shape)), self.choice(range(999)))
        layout = self.choice([name for name in LAYOUTS if "broadcast" not in name])
        is_usable = self.kinds[k] in DTYPES and has_layout(array.dtype, layout)
        return LAYOUTS[layout if is_usable else "C"](array.reshape(shape))

    def lazy(self, array):
        """A dask array. An axis of length 1 has one chunk, because dask broadcasts no others."""
        for length in array.shape:
            if length not in self.chunks or self.choice(range(3)) == 0:
                cuts = self.random.integers(0, length + 1, self.choice(range(4)) * (length != 1))
                self.chunks[length] = tuple(np.diff([0, *sorted(cuts), length]).tolist())
        sizes = tuple(self.chunks[length] for length in array.shape)
        x = da.from_array(array, sizes, name=False if array.dtype.hasobject else None)
        shown = self.choice([2, 2, 0.7, 0.2]) > self.random.random(array.ndim)
        chunks = tuple(k if u else (np.nan,) * len(k) for k, u in zip(sizes, shown, strict=True))
        return x.map_blocks(np.asarray, name=f"{x.name}{chunks}", chunks=chunks, meta=x._meta)

    def call(self):
        """(arrays, lazy arrays, options) of a call; one of the arrays is the same in all calls."""
        choices, ndim = OPTIONS.get(self.name, {}), self.array.ndim
        options = {k: self.choice(v) for k, v in choices.items() if self.choice(FLAG)}
        axis = self.choice([None, *range(-ndim, ndim)] * 3 + [ndim])
        options = {"axis": axis, **options} if self.name in WITH_AXIS else options
        arrays = self.arrays(self.array, **options)
        return arrays, [self.lazy(a) if self.choice(range(5)) else a for a in arrays], options

    def arrays(self, a, axis=None, batch_dims=0, **_):
        axis = axis % a.ndim if axis in range(-a.ndim, a.ndim) else None
        if self.name in ("compress", "extract", "boolean_mask"):
            length = a.size if axis is None else a.shape[axis]
            leading = a.shape[: self.choice(range(a.ndim + 1))]
            fitting = {"compress": (length,), "extract": a.shape}.get(self.name, leading)
            shape = self.choice([fitting, fitting, self.shape()])
            mask = self.choice([*[self.random.random(shape) < 0.4] * 3, self.items(shape)])
            return [a, mask] if self.name == "boolean_mask" else [mask, a]
        if self.name in SETS:
            fitting = (*a.shape[:axis], self.choice(range(9)), *a.shape[(axis or 0) + 1 :])
            return [a, self.items(self.shape() if axis is None else fitting)]
        if self.name == "remap":
            keys = self.choice([self.pools[0], self.items((self.choice(range(20)),))])
            values = self.items((len(keys), *(row := self.choice([(), (), (1,), (2,), (0,)]))))
            shape = self.choice([(), row, a.shape + row, (1,) * (a.ndim + len(row))])
            return [a, keys, values, *self.choice([[], [np.resize(values, shape)]])]
        if self.name == "gather_nd":
            shape = (*a.shape[:batch_dims], *self.shape()[:2], self.choice([1, 1, 2, 3]))
            low, high = self.choice([(0, 1), (0, 1), (-2, 3)])
            return [a, self.random.integers(low, high, shape, self.choice(["i1", "i8"]))]
        return [a]


def result_of(module, name, arrays, options):
    """The arrays that a function returns, as a tuple."""
    if module is fastsel:
        options = {k: v for k, v in options.items() if k not in ("split_every", "partitions")}
    default = {"default": arrays[3]} if len(arrays) == 4 else {}
    result = getattr(module, name)(*arrays[:3], **default, **options)
    if name == "nonzero_coordinates" and module is fastsel:  # fastsel.dask has no unused rows
        return result.count, result.coordinates[: int(result.count)]
    return tuple(result) if isinstance(result, tuple) else (result,)


def has_repeats(array):
    return len(set(map(repr, array.ravel().tolist()))) < array.size


def one_zero(array):
    """The array without the sign of its zeros."""
    return np.where(array == 0, array.dtype.type(0), array) if array.dtype.kind == "f" else array


def may_differ(name, arrays, options, actual, expected):
    """May the outcomes of fastsel.dask and of fastsel differ?"""
    dtypes = {array.dtype for array in arrays}
    has_references = any(dtype.hasobject for dtype in dtypes)
    has_nan = any(a.dtype.char in "OV" and np.any(a != a) for a in arrays)
    is_unsorted = len(dtypes) == 2 and any(d.char == "T" or d in ML for d in dtypes)
    is_passed = len(dtypes) == 2 or any(dtype.char in "OV" for dtype in dtypes)
    may_repeat = "assume_unique" in options and is_passed and any(map(has_repeats, arrays))
    if (name in SETS[2:] and has_nan) or (name in SETS[1:] and is_unsorted) or may_repeat:
        return True  # passed to NumPy, which sorts wrongly or drops repeats
    if actual[0] == "returns":  # only distinct objects need an order, or are compared
        return has_references and expected[0] == "raises" and expected[1] in (TypeError, ValueError)
    needs_order = has_references and (expected[0] == "raises" or "partitions" in options)
    needs_dtype = outcome(np.result_type, *dtypes)[0] == "raises"
    is_refused = issubclass(actual[1], TypeError) and (needs_order or needs_dtype)
    # fastsel.dask does not know that an axis of unknown chunk sizes has length 0.
    is_beyond = "out of bounds for axis" in actual[2] or "beyond the end of" in actual[2]
    is_empty = is_beyond and any(array.size == 0 for array in arrays)
    return is_refused or is_empty or any(text in actual[2] for text in DOCUMENTED)


def check(name, arrays, options, actual):
    """Check an outcome of fastsel.dask."""
    expected = outcome(result_of, fastsel, name, arrays, options)
    if may_differ(name, arrays, options, actual, expected):
        return
    assert actual[0] == expected[0], (actual, expected)
    assert actual[0] == "returns" or actual[1] is expected[1], (actual, expected)
    for pair in zip(actual[1], expected[1], strict=True) if actual[0] == "returns" else ():
        pair = map(np.asarray, pair)
        if name in SETS and any(array.dtype.hasobject for array in arrays):
            pair = map(one_zero, pair)  # fastsel passes objects to NumPy, which returns any zero
        assert_same_values(*pair)


def run(seed):
    """Check the calls of a seed: each by itself and, in case that two have one name, together."""
    draw, built = Draw(seed), []
    _blocks.MIN_BAND_BYTES, _groups.MIN_SAMPLES = draw.choice([1, 64, 1 << 20]), 1
    for arrays, lazy, options in [draw.call() for _ in range(draw.choice([1, 2, 3]))]:
        before = repr([array.tolist() for array in arrays])
        result = outcome(result_of, fastsel.dask, draw.name, lazy, options)
        actual = outcome(checked, *result[1]) if result[0] == "returns" else result
        check(draw.name, arrays, options, actual)
        assert before == repr([array.tolist() for array in arrays]), "an argument has changed"
        built += [(arrays, options, result[1])] if actual[0] == "returns" else []
        if result[0] == "returns" and all(isinstance(a, da.Array) for a in lazy):
            again = result_of(fastsel.dask, draw.name, lazy, options)
            assert [x.name for x in again] == [x.name for x in result[1]], "one call, two names"
    together = iter(checked(*(x for *_, result in built for x in result)))
    for arrays, options, result in built:
        check(draw.name, arrays, options, ("returns", [next(together) for _ in result]))


@contextlib.contextmanager
def quiet():
    """A context without warnings, in which dask computes in this thread."""
    with dask.config.set(scheduler="sync"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    end = time.monotonic() + arguments.seconds
    for seed in itertools.count(arguments.seed):
        try:
            with quiet():
                run(seed)
        except Exception as error:
            error.add_note(f"python tests/tools/fuzz_dask.py --seconds 0 --seed {seed}")
            raise
        if time.monotonic() >= end:
            print(f"{seed - arguments.seed + 1} seeds")
            return


if __name__ == "__main__":
    main()
