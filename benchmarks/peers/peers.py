"""Code that the opponents share: the packages of each peer, its threads, and its containers."""

import os
from importlib.util import find_spec

import numpy as np

PACKAGES = {
    "fastsel": ("fastsel",),
    "numpy": ("numpy",),
    "scipy": ("scipy",),
    "arraykit": ("arraykit",),
    "torch": ("torch",),
    "onnxruntime": ("onnxruntime", "onnx"),
    "polars": ("polars",),
    "pyarrow": ("pyarrow",),
    "pandas": ("pandas",),
    "duckdb": ("duckdb",),
    "fastremap": ("fastremap",),
    "skimage": ("skimage",),
    "numba": ("numba",),
    "dask": ("dask",),
}


class UnsupportedError(Exception):
    """The peer cannot run this cell, or would take too much time or memory."""


def require(condition, reason):
    """Raise an UnsupportedError with the reason unless the condition holds."""
    if not condition:
        raise UnsupportedError(reason)


def missing_packages(peer):
    """The packages of this peer that are not installed."""
    return [package for package in PACKAGES[peer] if find_spec(package) is None]


def limit_threads(count):
    """Limit every peer to this number of threads. Call it before any peer is imported."""
    for name in ("OMP_NUM_THREADS", "POLARS_MAX_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = str(count)


def thread_count():
    return int(os.environ["OMP_NUM_THREADS"])


def container(make, a, shared="iuf"):
    """A function that returns the peer's container of an array.

    C-contiguous data of the ``shared`` kinds is wrapped once, outside of the timed call, because
    this copies nothing. Other data is converted in every call: polars and pyarrow make a bitmap of
    bools.
    """
    if a.dtype.kind in shared and a.flags.c_contiguous:
        return beforehand(make, a)
    return lambda: make(a)


def beforehand(make, a):
    """A function that returns a container, which is made once, outside of the timed call."""
    ready = make(a)
    return lambda: ready


def vector(case):
    """The one-dimensional data, for a peer whose columns have one dimension."""
    require(case.x.ndim == 1, "one dimension only")
    return case.x


def tensor(a):
    """A torch tensor that shares NumPy's memory."""
    import torch

    return torch.from_numpy(a)


def onnx_call(op_type, inputs, rank, **attributes):
    """A call of ONNX Runtime on a model of one node; its output stays in the runtime's memory."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = thread_count()
    model = one_node_model(op_type, inputs, rank, attributes)
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    values = [container(ort_value, a, shared="biuf") for a in inputs]
    return lambda: session.run_with_ort_values(
        None, {f"x{k}": value() for k, value in enumerate(values)}
    )[0]


def ort_value(a):
    import onnxruntime

    return onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(a))


def one_node_model(op_type, inputs, rank, attributes):
    """The bytes of a model with inputs x0, x1, ... and an output of this rank."""
    from onnx import TensorProto, helper

    kinds = [helper.np_dtype_to_tensor_dtype(a.dtype) for a in inputs]
    declare = helper.make_tensor_value_info
    names = [f"x{k}" for k in range(len(inputs))]
    shapes = [[None] * a.ndim for a in inputs]
    graph = helper.make_graph(
        [helper.make_node(op_type, names, ["y"], **attributes)],
        op_type,
        [declare(*each) for each in zip(names, kinds, shapes, strict=True)],
        [declare("y", TensorProto.INT64 if op_type == "NonZero" else kinds[0], [None] * rank)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    return model.SerializeToString()
