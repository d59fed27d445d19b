"""ONNX's NonZero, Compress, Unique and GatherND: the rules of ONNX on fastsel's kernels.

`non_zero`, `compress`, `unique` and `gather_nd` take and return NumPy arrays and need no other
package. `OPS` (for ``onnx.reference.ReferenceEvaluator(model, new_ops=fastsel.onnx.OPS)``) and
`Backend` (for onnx's backend tests) need onnx (the extra ``onnx``).
`onnxruntime_session` makes a session of ONNX Runtime that runs NonZero and Unique also on types
for which ONNX Runtime has no kernel (the extra ``onnxruntime``).

The functions serve NonZero-9 and 13, Compress-9, 11 and 28, Unique-11 and 28, GatherND-11, 12 and
13, on all 16 tensor types of the newest version: bool, the integers, float16, float32, float64,
bfloat16 (of ml_dtypes), complex64, complex128 and strings (str objects, NumPy's `U`, `S` and
StringDType).

Where the specification, onnx's reference evaluator (1.23) and ONNX Runtime (1.31) disagree or are
silent, this module has these rules:

- NonZero of a scalar has shape (0, N), as specified; ONNX Runtime returns (1, N).
- Compress needs a condition with one dimension, as specified; ONNX Runtime flattens others.
- Compress needs booleans, as specified; the reference takes numbers.
- Compress raises IndexError if the condition is True beyond the end; ONNX Runtime ignores it.
- Compress and GatherND refuse a scalar input, as specified; the reference's Compress returns (1,).
- Unique without axis, or of one dimension, counts all NaN as one value, the last; the
  specification is silent, and ONNX Runtime mixes NaN up with other values. With
  ``equal_nan=False`` each NaN is a value of its own.
- Unique with axis treats rows with NaN as different, as the reference; ONNX Runtime merges some.
- Unique with ``sorted=0`` returns the order of first occurrence for every shape, axis and number of
  outputs, as specified; the reference does this for 1-D inputs with several outputs only.
- Unique refuses a `sorted` other than 0 and 1; for other values the reference sorts, ONNX Runtime
  does not.
- Unique takes strings with axis, as ONNX Runtime; the reference raises TypeError.
- Unique of shape (n, 0) along axis 0 is one empty row; ONNX Runtime ends the process.
- GatherND checks each index, even if the gathered slices are empty; ONNX Runtime does not check
  them in this case.
- GatherND refuses index rows of length 0, as specified; ONNX Runtime copies all of data for each.
- GatherND needs equal batch dimensions, as specified; ONNX Runtime accepts some different ones.
- GatherND of a batch of size 0 is empty; the reference raises an error.
- GatherND takes indices of any integer type; the specification has only int64.
"""

from typing import TYPE_CHECKING, Any

from fastsel.onnx._operators import UniqueOutputs, compress, gather_nd, non_zero, unique

if TYPE_CHECKING:  # for type checkers; see __getattr__
    from fastsel.onnx._evaluator import OPS as OPS
    from fastsel.onnx._evaluator import Backend as Backend
    from fastsel.onnx._evaluator import BackendRep as BackendRep
    from fastsel.onnx._onnxruntime import onnxruntime_session as onnxruntime_session

__all__ = ["UniqueOutputs", "compress", "gather_nd", "non_zero", "unique"]

# Pickle and the documentation find the functions by the name of this module.
for _public in (UniqueOutputs, compress, gather_nd, non_zero, unique):
    _public.__module__ = __name__
del _public


def __dir__() -> list[str]:
    """The public names; some are imported on first use."""
    return [*__all__, "OPS", "Backend", "BackendRep", "onnxruntime_session"]


def __getattr__(name: str) -> Any:
    """Import the names that need other packages on first use."""
    if name in ("OPS", "Backend", "BackendRep"):
        from fastsel.onnx import _evaluator as module
    elif name == "onnxruntime_session":
        from fastsel.onnx import _onnxruntime as module
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(module, name)
