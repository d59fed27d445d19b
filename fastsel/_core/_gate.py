"""The gate: which arguments a kernel may see, and which NumPy, or an adapter, serves."""

import array
import importlib
import operator
import sys

import numpy as np

from fastsel._core import _numpy

# Array-likes that NumPy would simply convert. Everything else that is not an array (a duck array, a
# pandas Series, a generator) goes to the NumPy function, which knows the rules.
_CONVERTED = (list, tuple, range, array.array, memoryview)

# Free-threaded interpreters have no lock that lets one thread at a time run Python code.
HAS_LOCK = getattr(sys, "_is_gil_enabled", lambda: True)()

# Up to this many items, NumPy's own loops finish before our kernels for large arrays have started
# (benchmarks/asv/suite/bench_tiny.py). Up to this many, NumPy also holds the interpreter lock, so
# that no other thread can write to the array between the two passes of its nonzero, which would not
# notice.
TINY_ITEMS = 500 if HAS_LOCK else 0

# Up to this many items, one call of a kernel for small arrays is faster than several kernels on
# several threads.
SMALL_ITEMS = 1 << 14

# The defaults of arguments; of all others it is False.
_DEFAULTS = {
    "axis": None,
    "out": None,
    "count_out": None,
    "capacity": None,
    "kind": None,
    "equal_nan": True,
    "sorted": True,
}

# (library, class of its arrays): module of functions; all three are names.
_ADAPTERS = {}


def plain(a):
    """`a` as a base-class ndarray, or None if the NumPy function has to see it as it is."""
    if type(a) is np.ndarray:
        return a
    if type(a) is np.memmap:
        return a.view(np.ndarray)
    if isinstance(a, _CONVERTED):
        return np.asarray(a)
    return None


def as_array(name, value):
    """``np.asarray(value)``, with an error that names the argument."""
    try:
        return np.asarray(value)
    except ValueError as error:  # lists of different lengths
        raise ValueError(f"{name} is no array, and none can be made of it: {error}") from error


def overrides(a):
    """Does `a` override NumPy's functions, by an __array_function__ of its own?"""
    method = getattr(type(a), "__array_function__", None)
    return method is not None and method is not np.ndarray.__array_function__


def register_adapter(library: str, array_class: str, adapter: str) -> None:
    """Have the functions of a module, the adapter, serve the arrays of another library.

    Parameters
    ----------
    library : str
        The name of the module that has the class, such as ``"dask.array"``. It is not imported.
    array_class : str
        The name of the class in that module. It must have an ``__array_function__``.
    adapter : str
        The name of the module whose functions are called, such as ``"fastsel.dask"``. It is
        imported by the first call with such an array.

    Raises
    ------
    TypeError
        If an argument is no string.

    Notes
    -----
    The adapter has functions with the names and the leading arguments of fastsel's. A call with an
    array of the class, or of a subclass, calls the adapter's function of the same name with the
    arguments that differ from their defaults. If the adapter lacks the function, NumPy's is called,
    which asks the array; `boolean_mask`, `first_nonzero`, `gather_nd` and `nonzero_coordinates`,
    which NumPy lacks, raise TypeError. The adapter may have a function ``__fastsel_serves__``: it
    is called with each array of the class, and if it returns False for one of them, NumPy's
    function is called. NumPy's function is also called if an argument of another class overrides
    NumPy's functions. A later call with the same library and class replaces the adapter.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.register_adapter("dask.array", "Array", "fastsel.dask")   # as fastsel itself does
    """
    for name, value in {"library": library, "array_class": array_class, "adapter": adapter}.items():
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a name, a str, got {type(value).__name__}")
    _ADAPTERS[library, array_class] = adapter


class _Adapter:
    """The functions of an adapter, and NumPy's in the place of those that it lacks."""

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        function = getattr(self._module, name, None) or getattr(np, name, None)
        if function is None:
            raise TypeError(
                f"fastsel.{name} does not take this array: its adapter, {self._module.__name__}, "
                "has no such function"
            )
        return function


def library(*arrays):
    """The object whose functions serve these arrays: an adapter, if one of them is of its class and
    none of another class overrides NumPy's functions; numpy, if one overrides them; else `_numpy`.
    """
    if not any(map(overrides, arrays)):
        return _numpy
    for (name, array_class), adapter in _ADAPTERS.items():
        known = getattr(sys.modules.get(name), array_class, None)
        if known is None or not any(isinstance(a, known) for a in arrays):
            continue
        if any(overrides(a) for a in arrays if not isinstance(a, known)):
            return np
        module = importlib.import_module(adapter)
        serves = getattr(module, "__fastsel_serves__", None)
        if serves and not all(serves(a) for a in arrays if isinstance(a, known)):
            return np
        return _Adapter(module)
    return np


def is_numpy(library):
    """Are these NumPy's functions? They lack boolean_mask, first_nonzero, gather_nd and
    nonzero_coordinates."""
    return library is np or library is _numpy


def given(**arguments):
    """The arguments that differ from their defaults."""
    return {k: value for k, value in arguments.items() if value is not _DEFAULTS.get(k, False)}


def tiny(array):
    """May NumPy's own nonzero serve this array? Up to TINY_ITEMS, and not the 1-d ones with a
    stride of 2 GiB or more, on which it reads out of bounds (NumPy 2.3 to 2.5)."""
    return array.size <= TINY_ITEMS and (
        array.base is None
        or array.ndim != 1
        or -(2**31) < array.strides[0] < 2**31
        or array.size == 0
    )


def integer(name, value):
    """The argument as an int; floats and the like are refused by its name."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {type(value).__name__}") from None


def axes(axis, ndim):
    """The axes, counted from 0, or None if NumPy has to raise the error."""
    if axis is None:
        return tuple(range(ndim))
    numbers = axis if type(axis) is tuple else (axis,)
    if any(isinstance(k, bool) or not isinstance(k, int | np.integer) for k in numbers):
        return None
    if any(not -ndim <= k < ndim for k in numbers):
        return None
    found = tuple(int(k) % ndim for k in numbers)
    return found if len(set(found)) == len(found) else None


def like(result, a):
    """A selection from `a` in the class that NumPy gives it: a memmap stays one."""
    return result.view(np.memmap) if type(a) is np.memmap else result
