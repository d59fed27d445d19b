"""Functions that make the arrays of a cell, the call of its operator, and the check of a result."""

import functools
import math
from typing import NamedTuple

import numpy as np
from cells import DASK, DASK_MASKED, DASK_UNIQUE, GROUPED, SETS, SPARSE, UNIQUE, Cell
from inputs import index_rows, items, keys, mask, rows, two_sets, two_sets_of_rows
from on_dask import CALLS, selector

from fastsel._cli import _bench

# The calls of `fastsel bench`, which the operators have here, too.
FORMS = getattr(_bench, "FORMS", None) or _bench.OPERATORS  # regress.py measures older commits, too
BENCH_CALLS = {entry.label: entry.call for entry in FORMS if entry.label in SETS}
BATCHES = {0: (), 1: (16,), 2: (4, 4)}


class Case(NamedTuple):
    """A cell with its arrays; ``x`` is the data from which the operator selects."""

    cell: Cell
    x: np.ndarray
    mask: np.ndarray | None = None
    indices: np.ndarray | None = None
    tests: np.ndarray | None = None

    @property
    def axis(self):
        """The axis of compress and unique: None for one-dimensional data."""
        return None if self.x.ndim == 1 else self.cell.axis

    @property
    def sorted(self):
        """Whether unique's result is sorted, not in first-occurrence order."""
        return not self.cell.op.endswith("_first")

    @property
    def array(self):
        """`x`, by the name that it has in the workloads of `fastsel bench`."""
        return self.x

    @property
    def values(self):
        """A number for each test, for remap."""
        return np.arange(len(self.tests)) * 10

    @property
    def buffers(self):
        """The memory that a single pass over every input reads, as flat arrays."""
        arrays = [a for a in (self.x, self.mask, self.indices, self.tests) if a is not None]
        return [(a if a.flags.forc else a.base).ravel(order="K") for a in arrays]


def build(cell):
    """The arrays of the cell."""
    if cell.op in (*UNIQUE, *GROUPED, *DASK_UNIQUE):
        return Case(cell, unique_input(cell))
    if cell.op in SETS:
        x, tests = two_sets(cell.dtype, cell.size, cell.tests, cell.distribution)
        return Case(cell, x, tests=tests)
    if cell.op == "isin_rows":
        x, tests = two_sets_of_rows(cell.dtype, cell.size // cell.width, cell.tests, cell.width)
        return Case(cell, x, tests=tests)
    if cell.op in ("gather_nd", "dask_gather_nd"):
        return gather_case(cell)
    if cell.op in ("compress", "extract", "boolean_mask", *DASK_MASKED):
        x = items(cell.dtype, row_shape(cell), 1.0, layout=cell.layout)
        return Case(cell, x, mask(x.shape[cell.axis], cell.density, cell.distribution))
    if cell.op == "first_nonzero":
        return Case(cell, first_input(cell))
    side = round(cell.size ** (1 / cell.ndim))
    shape = (cell.size // side ** (cell.ndim - 1), *[side] * (cell.ndim - 1))
    if cell.ndim == 1:
        shape = row_shape(cell)
    return Case(cell, items(cell.dtype, shape, cell.density, cell.distribution, cell.layout))


def row_shape(cell):
    return (cell.size // cell.width, cell.width) if cell.width > 1 else (cell.size,)


def first_input(cell):
    """Zeros up to the first non-zero item, and then, in C order, one non-zero item of ten."""
    x = items(cell.dtype, row_shape(cell), 0.0, layout=cell.layout)
    x.flat[int(cell.first * cell.size) :: 10] = 1
    return x


def unique_input(cell):
    if "rows" in cell.op:
        count = cell.size // cell.width
        return rows(cell.dtype, count, cell.width, cell.groups, cell.distribution)
    return keys(cell.dtype, cell.size, cell.groups, cell.distribution)


def gather_case(cell):
    """Two coordinates address a slice of ``width`` items. Data and output have about equal size."""
    batch = BATCHES[cell.batch_dims]
    count = cell.size // cell.width // math.prod(batch)
    side = math.isqrt(count)
    slice_shape = (cell.width,) if cell.width > 1 else ()
    data = items(cell.dtype, (*batch, side, side, *slice_shape), 1.0)
    indices = index_rows((side, side), (*batch, count), cell.index, cell.distribution)
    return Case(cell, data, indices=indices)


def operator_call(functions, case):
    """The cell's operator as a call; `functions` is fastsel, or NUMPY of implementations."""
    x, op = case.x, case.cell.op
    if op in SPARSE:
        return functools.partial(functions.sparse.from_dense, x, op.removeprefix("sparse_"))
    if op in DASK:
        return functools.partial(CALLS[op], functions, x, selector(case))
    if op in BENCH_CALLS:
        return functools.partial(BENCH_CALLS[op], functions, case)
    arguments = {
        "count_along": (x, case.cell.axis),
        "compress": (case.mask, x, case.axis),
        "extract": (case.mask, x),
        "boolean_mask": (x, case.mask),
        "unique_counts": (x, False, False, True),
        "unique_all": (x, True, True, True),
        "gather_nd": (x, case.indices, case.cell.batch_dims),
        "isin_rows": (x, case.tests),
    }
    keywords = {"dtype": np.int32} if op == "nonzero_int32" else {}
    if op == "isin_rows":
        keywords["axis"] = 0
    if op in UNIQUE:
        keywords["sorted"] = case.sorted
        keywords["axis"] = case.axis
    if op in GROUPED:
        keywords["sorted"] = case.sorted
    names = {"count_along": "count_nonzero", "nonzero_int32": "nonzero", "isin_rows": "isin"}
    names |= dict.fromkeys(UNIQUE, "unique") | dict.fromkeys(GROUPED, "group_indices")
    name = names.get(op, op)
    function = getattr(functions, name)
    return functools.partial(function, *arguments.get(op, (x,)), **keywords)


def arrays(result):
    """A result as a list of NumPy arrays, with None for an output that an opponent lacks."""
    if isinstance(result, (tuple, list)):
        return [output for part in result for output in arrays(part)]
    if result is None:
        return [None]
    if hasattr(result, "nnz"):  # SciPy's sparse arrays
        indices = result.coords if result.format == "coo" else (result.indices, result.indptr)
        return [result.data, *indices]
    if hasattr(result, "numpy"):  # tensors of torch and ONNX Runtime
        return [result.numpy()]
    return [np.asarray(result)]


def agrees(result, reference, any_order):
    """Whether each output of an opponent equals NumPy's; an output that is None is not compared."""
    outputs = arrays(result)
    if len(outputs) != len(reference):
        return False
    pairs = zip(outputs, reference, strict=True)
    return all(same(a, b, any_order) for a, b in pairs if a is not None)


def same(output, expected, any_order):
    """Whether shapes and values are equal, in the dtype of `expected`; with ``any_order``, both are
    sorted first."""
    if output.shape != expected.shape:
        return False
    output = output.astype(expected.dtype, copy=False)
    if any_order:
        output, expected = sort(output), sort(expected)
    return np.array_equal(output, expected, equal_nan=expected.dtype.kind in "fc")


def sort(a):
    """The items, or the rows of a matrix, in ascending order."""
    return np.sort(a) if a.ndim == 1 else a[np.lexsort(a.T[::-1])]
