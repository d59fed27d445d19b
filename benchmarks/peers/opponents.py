"""The code of the peers for each operator: one function for each way to call a peer.

A function gets a case, prepares the peer's containers if this copies nothing, and returns the call
to measure. A variant with ``ready=True`` does a part of the work outside of the call. If a peer
raises an exception, the report has the text of the exception.
"""

import functools
import math

import numpy as np
import set_opponents  # noqa: F401, the opponents of the set functions register themselves
import unique_opponents  # noqa: F401, the opponents of unique register themselves
from cases import operator_call
from cells import DASK, NONZERO, SPARSE
from implementations import NUMPY, gather_nd, index_arrays
from on_dask import CALLS, computed_by, dask_array, selector
from peers import beforehand, container, onnx_call, tensor, vector
from registry import opponent

MASKED = ("compress", "extract", "boolean_mask")


# nonzero, argwhere, count_nonzero


@opponent("numpy", *NONZERO)
def numpy_nonzero(case):
    function = getattr(NUMPY, case.cell.op)
    return lambda: function(case.x)


@opponent("numpy", "count_along")
def numpy_count_along(case):
    return lambda: np.count_nonzero(case.x, case.cell.axis)


@opponent("torch", "count_along")
def torch_count_along(case):
    x = tensor(case.x)
    return lambda: x.count_nonzero(case.cell.axis)


@opponent("numpy", "nonzero_int32")
def numpy_nonzero_int32(case):
    return lambda: NUMPY.nonzero(case.x, np.int32)


@opponent("torch", "nonzero_int32")
def torch_nonzero_int32(case):
    import torch

    x = tensor(case.x)
    return lambda: tuple(index.to(torch.int32) for index in x.nonzero(as_tuple=True))


@opponent("numpy", "first_nonzero")
def numpy_first_nonzero(case):
    function = NUMPY.first_nonzero
    return lambda: function(case.x)


@opponent("numba", "first_nonzero")
def numba_first_nonzero(case):
    import numba_loops

    x = case.x.reshape(-1) if case.x.flags.c_contiguous else case.x
    return functools.partial(numba_loops.first_nonzero(x.ndim), x)


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
    zero = case.x.dtype.type().item()  # for strings, the empty string
    return lambda: (x() != zero).arg_true()


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
    """The call of `filter`, which polars and pyarrow have under this name."""
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


# gather_nd


@opponent("numpy", "gather_nd", variant="fancy")
def numpy_fancy_index(case):
    return lambda: gather_nd(case.x, case.indices, case.cell.batch_dims)


@opponent("numpy", "gather_nd", variant="take, offsets ready", ready=True)
def numpy_take(case):
    """Takes each slice of the flattened data at an offset that is ready. This is less work than
    gather_nd does, but the opponent counts."""
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
    """A loop that numba compiles in the first call, before calls are timed."""
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


# dask arrays; fastsel without dask shows the overhead of the scheduler, and does not count


@opponent("dask", *DASK)
def dask_array_functions(case):
    return computed_by(dask_array(case), case)


@opponent("dask", *DASK, variant="left out: plain fastsel", ready=True, counts=False)
def fastsel_without_dask(case):
    import fastsel

    return functools.partial(CALLS[case.cell.op], fastsel, case.x, selector(case))
