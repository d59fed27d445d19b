"""NumPy's own functions of the names that fastsel shares, as they are without `patch_numpy`.

Calls that fastsel passes to NumPy use these: with NumPy patched, ``numpy.nonzero`` would call
fastsel again. They are copies of the functions behind NumPy's dispatch, and ignore
``__array_function__``. For arrays that may have one, `_gate.library` returns numpy itself.
"""

import inspect
import types

import numpy as np

from fastsel._core._operators import OPERATORS

NAMES = tuple(name for name, operator in OPERATORS.items() if operator.in_numpy)
IMPLEMENTATIONS = {name: inspect.unwrap(getattr(np, name)) for name in NAMES}


def _copy(function):
    """A copy of the function, which keeps its code when that of the original is replaced."""
    copy = types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


globals().update({name: _copy(function) for name, function in IMPLEMENTATIONS.items()})
