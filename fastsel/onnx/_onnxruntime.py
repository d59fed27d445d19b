"""fastsel's operators in ONNX Runtime, by the Python operators of onnxruntime-extensions."""

from __future__ import annotations

import functools
import os
from typing import Any

try:
    import onnx
    import onnxruntime
    import onnxruntime_extensions
except ImportError as error:
    raise ImportError(
        "fastsel.onnx.onnxruntime_session needs onnx, onnxruntime and onnxruntime-extensions: "
        "pip install onnx onnxruntime onnxruntime-extensions"
    ) from error

from fastsel.onnx import _operators as functions

DOMAIN = onnxruntime_extensions.default_opset_domain()

# For each operator, the types for which ONNX Runtime 1.31 has no CPU kernel, and for which a Python
# operator is possible. Python operators accept neither float16, bfloat16 nor complex numbers, and
# return wrong uint64 from 2**63 on.
TYPES_WITHOUT_KERNEL = {
    "NonZero": ("int8", "int16", "uint16", "uint32", "uint64", "double", "string"),
    "Unique": ("bool", "int16", "int32", "uint8", "uint16", "uint32"),
}


def onnxruntime_session(
    model: onnx.ModelProto | str | os.PathLike[str] | bytes, options: Any = None, **kwargs: Any
) -> onnxruntime.InferenceSession:
    """An ``onnxruntime.InferenceSession`` whose NonZero and Unique accept more types.

    fastsel runs nodes of NonZero with int8, int16, uint16, uint32, uint64, float64 or strings, and
    nodes of Unique with bool, int16, int32, uint8, uint16 or uint32. ONNX Runtime runs all other
    nodes.

    Parameters
    ----------
    model : onnx.ModelProto, path or bytes
    options : onnxruntime.SessionOptions, optional
        Use the options only for this session: onnxruntime-extensions are registered with them, and
        ONNX Runtime refuses a second registration.
    **kwargs
        Further arguments of ``onnxruntime.InferenceSession``, for example `providers`.

    Returns
    -------
    onnxruntime.InferenceSession

    Raises
    ------
    ImportError
        If onnx, onnxruntime or onnxruntime-extensions is not installed.
    TypeError
        If `model` is none of the types above.
    ValueError
        If `sorted` of a Unique node that runs on fastsel is neither 0 nor 1. AxisError if the
        `axis` of such a node is out of range.

    Notes
    -----
    **Use.** The session is for models that would not load otherwise, not for speed:
    onnxruntime-extensions passes each output to ONNX Runtime as a Python list. An error within an
    operator, for example a lack of memory, ends the process.

    **Limits.** onnxruntime-extensions accepts neither float16, bfloat16 nor complex numbers, and
    returns wrong uint64 from 2**63 on: so fastsel does not run Unique of uint64. For these types,
    and where ONNX Runtime has other rules (see `fastsel.onnx`), use onnx's ReferenceEvaluator with
    `fastsel.onnx.OPS`. Nodes whose input has no known type or rank in the model, and nodes within
    If, Loop, Scan and functions of the model, are not changed.

    Examples
    --------
    >>> import numpy as np, onnx.parser, fastsel.onnx
    >>> model = onnx.parser.parse_model(
    ...     '<ir_version: 8, opset_import: ["" : 21]>'
    ...     "graph (uint8[n] X) => (uint8[u] Y) { Y = Unique(X) }"
    ... )
    >>> session = fastsel.onnx.onnxruntime_session(model, providers=["CPUExecutionProvider"])
    >>> session.run(None, {"X": np.array([3, 1, 3], np.uint8)})
    [array([1, 3], dtype=uint8)]
    """
    _register()
    if options is None:
        options = onnxruntime.SessionOptions()
    options.register_custom_ops_library(onnxruntime_extensions.get_library_path())
    rewritten = _rewritten(_loaded(model))
    return onnxruntime.InferenceSession(rewritten.SerializeToString(), options, **kwargs)


def _loaded(model):
    if isinstance(model, bytes):
        return onnx.load_from_string(model)
    if isinstance(model, str | os.PathLike):
        return onnx.load(model)
    if not isinstance(model, onnx.ModelProto):
        kind = type(model).__name__
        raise TypeError(f"model must be an onnx.ModelProto, a path or bytes, got {kind}")
    return model


@functools.cache
def _register():
    """Declare each operator once per type; ONNX Runtime chooses by the type of a node's input."""
    types = onnxruntime_extensions.PyCustomOpDef
    int64 = types.dt_int64
    for name in TYPES_WITHOUT_KERNEL["NonZero"]:
        onnxruntime_extensions.onnx_op(
            op_type="FastselNonZero", inputs=[getattr(types, f"dt_{name}")], outputs=[int64]
        )(functions.non_zero)
    for name in TYPES_WITHOUT_KERNEL["Unique"]:
        tensor_type = getattr(types, f"dt_{name}")
        onnxruntime_extensions.onnx_op(
            op_type="FastselUnique",
            inputs=[tensor_type],
            outputs=[tensor_type, int64, int64, int64],
            attrs={"flat": int64, "axis": int64, "sorted": int64},
        )(_unique)


def _unique(X, flat, axis, sorted):
    return tuple(functions.unique(X, None if flat else axis, sorted))


def _rewritten(model):
    """A copy of the model with fastsel's operators for the types of TYPES_WITHOUT_KERNEL."""
    rewritten = onnx.shape_inference.infer_shapes(model)
    graph = rewritten.graph
    tensor_types = {tensor.name: (tensor.data_type, tensor.dims) for tensor in graph.initializer}
    for value in (*graph.input, *graph.value_info, *graph.output):
        if value.type.tensor_type.HasField("shape"):
            tensor_type = value.type.tensor_type
            tensor_types[value.name] = tensor_type.elem_type, tensor_type.shape.dim
    for node in graph.node:
        is_standard = node.domain in ("", "ai.onnx")
        names = TYPES_WITHOUT_KERNEL.get(node.op_type, ()) if is_standard else ()
        elem_type, shape = tensor_types.get(node.input[0] if node.input else "", (0, ()))
        if onnx.TensorProto.DataType.Name(elem_type).lower() in names:
            _rewrite(node, len(shape))
    if all(entry.domain != DOMAIN for entry in rewritten.opset_import):
        rewritten.opset_import.append(onnx.helper.make_opsetid(DOMAIN, 1))
    return rewritten


def _rewrite(node, ndim):
    """Replace a node by fastsel's operator. A Python operator has neither optional outputs nor
    optional attributes. An error in it ends the process, so the attributes are checked here."""
    if node.op_type == "Unique":
        node_attributes = {attribute.name: attribute.i for attribute in node.attribute}
        axis, sorted = node_attributes.get("axis"), node_attributes.get("sorted", 1)
        functions.check_attributes(axis, sorted, ndim)
        names = [*node.output, "", "", ""][:4]
        del node.attribute[:], node.output[:]
        attributes = {"flat": int(axis is None), "axis": axis or 0, "sorted": sorted}
        node.attribute.extend(map(onnx.helper.make_attribute, attributes, attributes.values()))
        node.output.extend(name or f"{names[0]}/unnamed_{k}" for k, name in enumerate(names))
    node.op_type = f"Fastsel{node.op_type}"
    node.domain = DOMAIN
