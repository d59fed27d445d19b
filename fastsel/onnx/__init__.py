"""ONNX's NonZero, Compress, Unique and GatherND: the rules of ONNX on fastsel's kernels.

`non_zero`, `compress`, `unique` and `gather_nd` take and return NumPy arrays and need no other
package. `OPS` (for ``onnx.reference.ReferenceEvaluator(model, new_ops=fastsel.onnx.OPS)``),
`Backend` and `BackendRep` (for onnx's backend tests) need onnx (the extra ``onnx``).
`onnxruntime_session` makes a session of ONNX Runtime that runs NonZero and Unique also on some
types for which ONNX Runtime has no kernel (the extra ``onnxruntime``).

The functions have the rules of NonZero-9 and 13, Compress-9, 11 and 28, Unique-11 and 28,
GatherND-11, 12 and 13, for all 16 tensor types that the newest versions accept: bool, the integers,
float16, float32, float64, bfloat16 (of ml_dtypes), complex64, complex128 and strings (str objects,
NumPy's `U`, `S` and StringDType).

In some cases the specification, onnx's reference evaluator (1.23) and ONNX Runtime (1.31) disagree,
or the specification has no rule. In these cases, this module has these rules:

- NonZero of a scalar has shape (0, N), as specified; ONNX Runtime returns (1, N).
- Compress needs a condition with one dimension, as specified; ONNX Runtime flattens conditions with
  more dimensions.
- Compress needs booleans, as specified; the reference evaluator also accepts numbers.
- Compress raises IndexError if the condition is True beyond the end; ONNX Runtime ignores such
  items.
- Compress and GatherND refuse a scalar input, as specified; the reference evaluator's Compress
  returns an array of shape (1,).
- Unique without axis, or of one dimension, counts all NaN as one value, which is last in ascending
  order; the specification has no rule for NaN, and ONNX Runtime mixes NaN up with other values.
  With ``equal_nan=False`` each NaN is a value of its own.
- Unique with axis treats rows with NaN as different, as the reference evaluator does; ONNX Runtime
  merges some of these rows.
- Unique with ``sorted=0`` returns the values in order of first occurrence for every shape, axis and
  number of outputs, as specified; the reference evaluator does this only for 1-D inputs with
  several outputs.
- Unique refuses a `sorted` other than 0 and 1; for other values the reference evaluator sorts, and
  ONNX Runtime does not.
- Unique accepts strings with axis, as ONNX Runtime does; the reference evaluator raises TypeError
  for str objects and StringDType.
- Unique of shape (n, 0) along axis 0 is one empty row; ONNX Runtime ends the process.
- GatherND checks each index, even if the gathered slices are empty; ONNX Runtime does not check
  indices in this case.
- GatherND refuses index rows of length 0, as specified; ONNX Runtime copies all of data for each
  index row.
- GatherND needs equal batch dimensions, as specified; ONNX Runtime accepts some unequal ones.
- GatherND of a batch of size 0 is empty; the reference evaluator raises an error.
- GatherND accepts indices of any integer type; the specification allows only int64.
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
    """On first use, import the names that need other packages."""
    if name in ("OPS", "Backend", "BackendRep"):
        from fastsel.onnx import _evaluator as module
    elif name == "onnxruntime_session":
        from fastsel.onnx import _onnxruntime as module
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(module, name)
