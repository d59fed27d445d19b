"""The types that type checkers infer for calls of fastsel.onnx."""

from typing import Any, assert_type

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx.reference.op_run import OpRun

import fastsel.onnx

floats: NDArray[np.float32] = np.array([3.0, 0.0, 1.0, 3.0], np.float32)

assert_type(fastsel.onnx.non_zero(floats), np.ndarray[tuple[int, int], np.dtype[np.int64]])
assert_type(fastsel.onnx.compress(floats, [True, False]), NDArray[np.float32])
assert_type(fastsel.onnx.compress([1, 2], np.array([True]), axis=0), NDArray[Any])
assert_type(fastsel.onnx.unique(floats), fastsel.onnx.UniqueOutputs[np.float32])
assert_type(fastsel.onnx.unique(floats, None, 0, equal_nan=False).Y, NDArray[np.float32])
assert_type(fastsel.onnx.unique([2, 1]).counts, np.ndarray[tuple[int], np.dtype[np.int64]])
assert_type(fastsel.onnx.gather_nd(floats, [[0]]), NDArray[np.float32])
assert_type(fastsel.onnx.gather_nd([1, 2], [[0]], batch_dims=0), NDArray[Any])
assert_type(fastsel.onnx.OPS, list[type[OpRun]])


def of_model(model: onnx.ModelProto) -> fastsel.onnx.BackendRep:
    """Load a model in ONNX Runtime, which has no types, and in onnx's backend."""
    session: Any = fastsel.onnx.onnxruntime_session(model, providers=["CPUExecutionProvider"])
    assert session
    assert_type(fastsel.onnx.Backend.supports_device("CPU"), bool)
    return fastsel.onnx.Backend.prepare(model)


def refused() -> None:
    """Each line is an error for type checkers; an unneeded ignore is an error as well."""
    fastsel.onnx.unique(floats, sorted="1")  # type: ignore[arg-type]
    fastsel.onnx.non_zero()  # type: ignore[call-arg]
