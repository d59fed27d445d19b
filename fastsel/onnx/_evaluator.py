"""fastsel's operators in onnx's reference evaluator, and a backend for onnx's tests."""

from __future__ import annotations

from typing import Any

try:
    from onnx import ModelProto, NodeProto
    from onnx.backend import base
    from onnx.checker import check_model
    from onnx.reference import ReferenceEvaluator
    from onnx.reference.op_run import OpRun
except ImportError as error:
    raise ImportError(
        "fastsel.onnx.OPS and fastsel.onnx.Backend need onnx: pip install onnx"
    ) from error

from fastsel.onnx import _operators as functions


class OperatorRun(OpRun):
    """An operator whose errors keep their messages."""

    def run(self, *args, **kwargs):
        try:
            return super().run(*args, **kwargs)
        except TypeError as error:  # onnx replaces it by one that names neither input nor dtype
            raise error.__cause__ or error from None


class NonZero(OperatorRun):
    """NonZero-9, 13."""

    def _run(self, X):
        return (functions.non_zero(X),)


class Compress(OperatorRun):
    """Compress-9, 11, 28."""

    def _run(self, input, condition, axis=None):
        return (functions.compress(input, condition, axis),)


class Unique(OperatorRun):
    """Unique-11, 28; outputs that the node does not name are not computed."""

    def _run(self, X, axis=None, sorted=1):
        names = [*self.onnx_node.output, "", "", ""][1:4]
        outputs = functions.unique_outputs(X, axis, sorted, [bool(name) for name in names])
        # The evaluator accepts only arrays here; `run` removes these placeholders.
        return tuple(outputs[0] if output is None else output for output in outputs)

    def run(self, *args, **kwargs):
        outputs = super().run(*args, **kwargs)
        names = self.onnx_node.output
        # The evaluator stores outputs by name, and looks up an absent input by the name "": an
        # output without a name has to be None.
        return tuple(out if name else None for name, out in zip(names, outputs, strict=False))


class GatherND(OperatorRun):
    """GatherND-11, 12, 13."""

    def _run(self, data, indices, batch_dims=0):
        return (functions.gather_nd(data, indices, batch_dims),)


OPS: list[type[OpRun]] = [NonZero, Compress, Unique, GatherND]


class BackendRep(base.BackendRep):
    """A model that is ready to run."""

    def __init__(self, model: ModelProto) -> None:
        self._evaluator = ReferenceEvaluator(model, new_ops=OPS)
        constants = {constant.name for constant in model.graph.initializer}
        self._inputs = [name for name in self._evaluator.input_names if name not in constants]

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The outputs, for inputs in the model's order or by name."""
        if not isinstance(inputs, dict):
            inputs = dict(zip(self._inputs, inputs, strict=True))
        return tuple(self._evaluator.run(None, inputs))


class Backend(base.Backend):
    """onnx's reference evaluator with fastsel's operators, on the CPU."""

    @classmethod
    def prepare(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> BackendRep:
        """The model as a BackendRep."""
        if not cls.supports_device(device):
            raise ValueError(f"device must be 'CPU', got {device!r}")
        check_model(model)
        return BackendRep(model)

    @classmethod
    def run_node(
        cls,
        node: NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Any = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """The outputs of a single node."""
        super().run_node(node, inputs, device, outputs_info, **kwargs)
        names = [name for name in node.input if name]
        evaluator = ReferenceEvaluator(node, new_ops=OPS)
        outputs = [name for name in node.output if name]
        return tuple(evaluator.run(outputs, dict(zip(names, inputs, strict=True))))

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Is the device a CPU?"""
        return base.Device(device).type == base.DeviceType.CPU
