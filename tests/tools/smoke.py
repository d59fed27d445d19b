"""Calls on small arrays that reach the kernels, for tools that make a program slow.

    PYTHONMALLOC=malloc valgrind --num-callers=40 --log-file=log python tests/tools/smoke.py
    grep fastsel/_ log     # without the reports about Python itself and the dynamic linker

Nearly all results are compared with NumPy's or with the input, so that their bytes are read:
valgrind reports the use of bytes that were never written.
"""

import pkgutil
import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "shared"))
from forcing import ALGORITHMS, TUNING

import fastsel

SIZES = (0, 1, 63, 64, 65, 200, 1030)
DTYPES = ("?", "u1", "i2", "f4", "i8", "c16", "V3", "S20", "M8[s]")


def layouts(array):
    """The array itself; then with a larger stride, a negative stride, in Fortran order, and at an
    odd address."""
    spaced = np.repeat(array, 2, axis=0)
    unaligned = np.empty(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    unaligned[...] = array
    return array, spaced[::2], array[::-1].copy()[::-1], np.asfortranarray(array), unaligned


def check_selection(array, mask, rows):
    """Check functions of selection and gather_nd; `rows` are the positions that `mask` selects."""
    indices = np.nonzero(array)
    for ours, theirs in zip(fastsel.nonzero(array), indices, strict=True):
        assert np.array_equal(ours, theirs)
    assert np.array_equal(fastsel.argwhere(array), np.argwhere(array))
    assert np.array_equal(fastsel.count_nonzero(array, axis=0), np.count_nonzero(array, axis=0))
    count, coordinates = fastsel.nonzero_coordinates(array, dtype=np.int32)
    assert np.array_equal(coordinates[: int(count)], np.stack(indices, axis=1))
    assert fastsel.compress(mask, array, axis=0).tobytes() == array[rows].tobytes()
    assert fastsel.extract(mask, array[:, 0]).tobytes() == array[rows, 0].tobytes()
    assert fastsel.boolean_mask(array, mask).tobytes() == array[rows].tobytes()
    pairs = np.stack((rows, rows % 3), axis=1)
    assert fastsel.gather_nd(array, rows[:, None]).tobytes() == array[rows].tobytes()
    assert fastsel.gather_nd(array, pairs - [0, 3]).tobytes() == array[rows, rows % 3].tobytes()


def check_unique(array):
    for algorithm in ALGORITHMS:
        fastsel._unique._plan.FORCED.set(algorithm)
        for axis, equal_nan in ((None, True), (None, False), (0, True), (0, False)):
            values, index, inverse, counts = fastsel.unique(
                array, True, True, True, axis=axis, equal_nan=equal_nan
            )
            assert values[inverse].tobytes() == array.tobytes()
            assert counts.sum() == inverse.size
            alone = fastsel.unique(array, return_counts=True, axis=axis, equal_nan=equal_nan)[1]
            assert np.array_equal(alone, counts)
            assert array.take(index, axis=axis).tobytes() == values.tobytes()


def main():
    for name, value in TUNING:
        module, variable = name.rsplit(".", 1)
        setattr(pkgutil.resolve_name(module), variable, value)
    rng = np.random.default_rng(1)
    for threads in (1, 3):
        fastsel.set_num_threads(threads)
        for dtype in map(np.dtype, DTYPES):
            for size in SIZES:
                numbers = rng.integers(0, 4, (size, 3))
                items = (
                    numbers.astype(dtype)
                    if dtype.kind != "V"
                    else np.frombuffer(rng.bytes(9 * size), dtype).reshape(size, 3)
                )
                if dtype.kind in "fcM":
                    items[numbers == 3] = dtype.type("nat" if dtype.kind == "M" else "nan")
                mask = rng.random(size) < 0.4
                for array in layouts(items):
                    check_selection(array, mask, np.flatnonzero(mask))
                check_unique(items)


if __name__ == "__main__":
    main()
