"""Copies of NumPy's functions that fastsel has, too; a patch of NumPy does not change the copies.

Calls that fastsel passes to NumPy use these copies: while NumPy is patched, ``numpy.nonzero`` would
call fastsel again. A copy is of the Python function behind NumPy's dispatch, so it ignores
``__array_function__``. A copy calls other copies. For arrays that override NumPy's functions,
`_gate.library` returns numpy itself, or an adapter.
"""

import inspect
import types

import numpy as np

from fastsel._core._operators import OPERATORS

NAMES = tuple(name for name, operator in OPERATORS.items() if operator.in_numpy)
IMPLEMENTATIONS = {name: inspect.unwrap(getattr(np, name)) for name in NAMES}


def copy_of(function, namespace):
    """A copy of the function. The copy looks up global names in `namespace`, and keeps its code if
    the code of the original is replaced."""
    copy = types.FunctionType(
        function.__code__,
        namespace,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _copies():
    """The copies, by name. The copied functions of one NumPy module share a copy of its namespace.
    In this copy, the functions of all copied modules are copies, too, and a module with the copies
    stands for numpy."""
    namespaces = {id(f.__globals__): dict(f.__globals__) for f in IMPLEMENTATIONS.values()}
    copies = {
        name: copy_of(function, namespaces[id(function.__globals__)])
        for name, function in IMPLEMENTATIONS.items()
    }
    numpy = types.ModuleType("numpy")
    vars(numpy).update(copies)

    def from_numpy(name):  # looked up late: numpy imports some of its modules on first use
        value = getattr(np, name)
        setattr(numpy, name, value)
        return value

    numpy.__getattr__ = from_numpy
    replaced = {id(np): numpy} | {id(getattr(np, name)): copies[name] for name in NAMES}
    for namespace in namespaces.values():
        for name, value in namespace.items():
            if id(value) in replaced:
                namespace[name] = replaced[id(value)]
            elif type(value) is types.FunctionType and id(value.__globals__) in namespaces:
                namespace[name] = copy_of(value, namespaces[id(value.__globals__)])
    return copies


globals().update(_copies())
