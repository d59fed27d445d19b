"""What the peers do for each operator: one function per peer and operator.

A function gets a case, prepares what copies nothing, and returns the call to measure. A variant
called ``ready`` does a part of the work outside the call. What a peer refuses, by an exception, is
reported in its own words.
"""

import functools
import math
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from cases import operator_call
from cells import DASK, NONZERO, SPARSE
from implementations import NUMPY, gather_nd, index_arrays
from on_dask import CALLS, computed_by, dask_array, selector
from peers import UnsupportedError, beforehand, container, onnx_call, tensor, thread_count, vector

MASKED = ("compress", "extract", "boolean_mask")
VALUES = ("unique_sorted", "unique_first")
ROWS = ("unique_rows", "unique_rows_first")
OPPONENTS = defaultdict(list)  # operator -> its opponents


class Opponent(NamedTuple):
    """One column of the table."""

    peer: str
    name: str
    prepare: Callable  # case -> the call to measure
    finish: Callable = lambda result: result  # to NumPy's form, for the check only
    any_order: bool = False  # the result promises no order
    ready: bool = False  # a part of the work is done outside the call
    counts: bool = True  # can be the best


def opponent(peer, *operators, variant="", **properties):
    """Register the function below as an opponent for these operators."""
    name = f"{peer} {variant}".strip()

    def register(prepare):
        for op in operators:
            OPPONENTS[op].append(Opponent(peer, name, prepare, **properties))
        return prepare

    return register


# nonzero, argwhere, count_nonzero


@opponent("numpy", *NONZERO)
def numpy_nonzero(case):
    function = getattr(NUMPY, case.cell.op)
    return lambda: function(case.x)


@opponent("torch", "nonzero")
def torch_nonzero(case):
    x = tensor(case.x)
    return lambda: x.nonzero(as_tuple=True)


@opponent("torch", "argwhere", "count_nonzero")
def torch_method(case):
    return getattr(tensor(case.x), case.cell.op)


@opponent("onnxruntime", "nonzero", finish=lambda value: list(value.numpy()))
@opponent("onnxruntime", "argwhere", finish=lambda value: value.numpy().T)
def onnxruntime_nonzero(case):
    return onnx_call("NonZero", [case.x], rank=2)


@opponent("polars", "nonzero")
def polars_nonzero(case):
    import polars

    x = container(polars.Series, vector(case))
    if case.x.dtype == bool:
        return lambda: x().arg_true()
    return lambda: (x() != 0).arg_true()


@opponent("polars", "count_nonzero")
def polars_count_nonzero(case):
    import polars

    x = container(polars.Series, vector(case))
    if case.x.dtype == bool:
        return lambda: x().sum()
    return lambda: (x() != 0).sum()


@opponent("pyarrow", "nonzero")
def pyarrow_nonzero(case):
    import pyarrow
    from pyarrow import compute

    x = container(pyarrow.array, vector(case))
    return lambda: compute.indices_nonzero(x())


@opponent("pyarrow", "count_nonzero")
def pyarrow_count_nonzero(case):
    import pyarrow
    from pyarrow import compute

    x = container(pyarrow.array, vector(case))
    if case.x.dtype == bool:
        return lambda: compute.sum(x()).as_py()
    return lambda: compute.sum(compute.not_equal(x(), 0)).as_py()


# compress, extract, boolean_mask


@opponent("numpy", "compress", "boolean_mask", variant="compress")
def numpy_compress(case):
    axis = None if case.x.ndim == 1 else case.cell.axis
    return lambda: np.compress(case.mask, case.x, axis)


@opponent("numpy", "extract", variant="extract")
def numpy_extract(case):
    return lambda: np.extract(case.mask, case.x)


@opponent("numpy", *MASKED, variant="a[m]")
def numpy_index(case):
    where = (slice(None),) * case.cell.axis + (case.mask,)
    return lambda: case.x[where]


@opponent("torch", *MASKED, variant="a[m]")
def torch_index(case):
    x, mask = tensor(case.x), tensor(case.mask)
    where = (slice(None),) * case.cell.axis + (mask,)
    return lambda: x[where]


@opponent("torch", *MASKED, variant="masked_select")
def torch_masked_select(case):
    x, mask = tensor(vector(case)), tensor(case.mask)
    return lambda: x.masked_select(mask)


@opponent("onnxruntime", *MASKED)
def onnxruntime_compress(case):
    return onnx_call("Compress", [case.x, case.mask], rank=case.x.ndim, axis=case.cell.axis)


def column_filter(case, make, make_mask):
    """polars and pyarrow spell it alike."""
    x, mask = container(make, vector(case)), make_mask(make, case.mask)
    return lambda: x().filter(mask())


@opponent("polars", *MASKED)
def polars_filter(case):
    import polars

    return column_filter(case, polars.Series, container)


@opponent("polars", *MASKED, variant="mask ready", ready=True, counts=False)
def polars_filter_mask_ready(case):
    import polars

    return column_filter(case, polars.Series, beforehand)


@opponent("pyarrow", *MASKED)
def pyarrow_filter(case):
    import pyarrow

    return column_filter(case, pyarrow.array, container)


@opponent("pyarrow", *MASKED, variant="mask ready", ready=True, counts=False)
def pyarrow_filter_mask_ready(case):
    import pyarrow

    return column_filter(case, pyarrow.array, beforehand)


# unique values: where a sorted result is asked for, a peer without order sorts its distinct values


@opponent("numpy", "unique_sorted")
def numpy_unique(case):
    return lambda: np.unique(case.x)


@opponent("numpy", "unique_first", variant="any order", any_order=True)
def numpy_unique_values(case):
    return lambda: np.unique_values(case.x)


@opponent("numpy", "unique_first", "unique_rows_first", variant="first")
def numpy_unique_first(case):
    axis = None if case.x.ndim == 1 else 0
    return lambda: NUMPY.unique(case.x, axis=axis, sorted=False)


@opponent("numpy", "unique_sorted", variant="sort, mask")
@opponent("numpy", "unique_first", variant="sort, mask", any_order=True)
def numpy_sort_mask(case):
    def sort_mask():
        x = np.sort(case.x)
        changes = np.empty(x.size, bool)
        changes[0] = True
        np.not_equal(x[1:], x[:-1], out=changes[1:])
        return x[changes]

    return sort_mask


@opponent("torch", "unique_sorted")
@opponent("torch", "unique_first", variant="any order", any_order=True)
def torch_unique(case):
    x = tensor(case.x)
    return lambda: x.unique(sorted=case.sorted)


@opponent("polars", "unique_sorted")
@opponent("polars", "unique_first", variant="any order", any_order=True)
def polars_unique(case):
    import polars

    x = container(polars.Series, case.x)
    if case.sorted:
        return lambda: x().unique().sort()
    return lambda: x().unique()


@opponent("polars", "unique_first", variant="first")
def polars_unique_first(case):
    import polars

    x = container(polars.Series, case.x)
    return lambda: x().unique(maintain_order=True)


@opponent("pandas", *VALUES)
def pandas_unique(case):
    import pandas

    if case.sorted:
        return lambda: np.sort(pandas.unique(case.x))
    return lambda: pandas.unique(case.x)


@opponent("pyarrow", *VALUES)
def pyarrow_unique(case):
    import pyarrow

    x = container(pyarrow.array, case.x)
    if case.sorted:
        return lambda: x().unique().sort()
    return lambda: x().unique()


@opponent("duckdb", "unique_sorted")
@opponent("duckdb", "unique_first", variant="any order", any_order=True)
def duckdb_unique(case):
    import duckdb

    connection = duckdb.connect(config={"threads": thread_count()})
    connection.register("items", {"x": case.x})
    query = "SELECT DISTINCT x FROM items" + " ORDER BY x" * case.sorted
    return lambda: connection.execute(query).fetchnumpy()["x"]


@opponent("fastremap", "unique_sorted")
@opponent("fastremap", "unique_first", variant="sorted", any_order=True)
def fastremap_unique(case):
    import fastremap

    if case.x.dtype.kind == "i" and case.x.dtype.itemsize < 4:
        raise UnsupportedError("fastremap 1.21 writes beyond its own arrays for int8 and int16")
    return lambda: fastremap.unique(case.x)


# unique with index, inverse and counts; None stands for an output that the peer does not have


@opponent("numpy", "unique_all")
def numpy_unique_all(case):
    return lambda: np.unique(case.x, True, True, True)


@opponent("torch", "unique_all", variant="no index", finish=lambda r: (r[0], None, r[1], r[2]))
def torch_unique_all(case):
    x = tensor(case.x)
    return lambda: x.unique(sorted=True, return_inverse=True, return_counts=True)


@opponent("pandas", "unique_all", variant="no index")
def pandas_unique_all(case):
    import pandas

    def factorize_count():
        codes, values = pandas.factorize(case.x, sort=True)
        return values, None, codes, np.bincount(codes)

    return factorize_count


# unique rows


@opponent("numpy", "unique_rows")
def numpy_unique_rows(case):
    return lambda: np.unique(case.x, axis=0)


@opponent("torch", "unique_rows")
@opponent("torch", "unique_rows_first", variant="sorted", any_order=True)
def torch_unique_rows(case):
    x = tensor(case.x)
    return lambda: x.unique(dim=0)


@opponent("pandas", *ROWS)
def pandas_unique_rows(case):
    import pandas

    frame = pandas.DataFrame(case.x, copy=False)
    if case.sorted:
        return lambda: frame.drop_duplicates().sort_values(list(frame.columns))
    return frame.drop_duplicates


def polars_rows(case, frame, maintain_order=False):
    def sorted_rows():
        rows = frame().unique()
        return rows.sort(rows.columns)

    if case.sorted:
        return sorted_rows
    return lambda: frame().unique(maintain_order=maintain_order)


def polars_frame(case):
    """A function that copies the rows to the columns of a data frame."""
    import polars

    return functools.partial(polars.DataFrame, case.x, orient="row")


@opponent("polars", "unique_rows")
@opponent("polars", "unique_rows_first", variant="any order", any_order=True)
def polars_unique_rows(case):
    return polars_rows(case, polars_frame(case))


@opponent("polars", "unique_rows_first", variant="first")
def polars_unique_rows_first(case):
    return polars_rows(case, polars_frame(case), maintain_order=True)


@opponent("polars", "unique_rows", variant="frame ready", ready=True, counts=False)
@opponent("polars", "unique_rows_first", variant="first, frame ready", ready=True, counts=False)
def polars_unique_rows_frame_ready(case):
    frame = polars_frame(case)()
    return polars_rows(case, lambda: frame, maintain_order=True)


# gather_nd


@opponent("numpy", "gather_nd", variant="fancy")
def numpy_fancy_index(case):
    return lambda: gather_nd(case.x, case.indices, case.cell.batch_dims)


@opponent("numpy", "gather_nd", variant="take, offsets ready", ready=True)
def numpy_take(case):
    """Slices of the flattened data by one ready offset each: less work, yet it counts."""
    axes = index_arrays(case.indices, case.cell.batch_dims)
    lead, slice_shape = case.x.shape[: len(axes)], case.x.shape[len(axes) :]
    offsets = np.ravel_multi_index(np.broadcast_arrays(*axes), lead)
    slices = case.x.reshape(-1, *slice_shape)
    return lambda: slices.take(offsets, axis=0)


@opponent("torch", "gather_nd")
def torch_index_axes(case):
    x, indices = tensor(case.x), tensor(case.indices)
    batch = index_arrays(case.indices, case.cell.batch_dims)[: case.cell.batch_dims]
    batch = [tensor(positions) for positions in batch]
    return lambda: x[(*batch, *indices.unbind(-1))]


@opponent("numba", "gather_nd", variant="parallel loop")
def numba_gather_nd(case):
    """Compiled by the first call, which checks the result."""
    import numba_loops

    batch_dims, indices = case.cell.batch_dims, case.indices
    axes = case.x.shape[batch_dims : batch_dims + indices.shape[-1]]
    slices = case.x.reshape(-1, math.prod(case.x.shape[batch_dims + len(axes) :]))
    rows = indices.reshape(math.prod(indices.shape[:batch_dims]), -1, len(axes))
    shape = indices.shape[:-1] + case.x.shape[batch_dims + len(axes) :]
    call = functools.partial(
        numba_loops.gather_nd(), slices, np.array(axes), rows, len(slices) // len(rows)
    )
    return lambda: call()[0].reshape(shape)


@opponent("onnxruntime", "gather_nd")
def onnxruntime_gather_nd(case):
    rank = case.indices.ndim - 1 + case.x.ndim - case.cell.batch_dims - case.indices.shape[-1]
    inputs = [case.x, case.indices]
    return onnx_call("GatherND", inputs, rank=rank, batch_dims=case.cell.batch_dims)


# sparse arrays from dense ones


@opponent("scipy", *SPARSE)
def scipy_from_dense(case):
    return operator_call(NUMPY, case)


# dask arrays: without dask is the overhead of the scheduler, no opponent


@opponent("dask", *DASK)
def dask_own(case):
    return computed_by(dask_array(case), case)


@opponent("dask", *DASK, variant="left out: plain fastsel", ready=True, counts=False)
def plain_fastsel(case):
    import fastsel

    return functools.partial(CALLS[case.cell.op], fastsel, case.x, selector(case))
