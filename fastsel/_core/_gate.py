"""Dispatch: choose a kernel, an adapter or the NumPy function for a call."""

import array
import importlib
import operator
import sys
import warnings
from collections.abc import Iterable

import numpy as np

from fastsel._core import _numpy

# The classes of array-likes that base_array converts by np.asarray. For any other object that is
# not an array (a duck array, a pandas Series, a generator, a subclass of list with its own
# methods), base_array returns None. Its caller then calls the NumPy function, which applies NumPy's
# rules, or converts the object.
_CONVERTED = frozenset({list, tuple, range, array.array, memoryview, np.memmap})

# False if the interpreter runs without the GIL.
HAS_GIL = getattr(sys, "_is_gil_enabled", lambda: True)()

# Up to TINY_ITEMS items, NumPy's own loops finish before our kernels for large arrays have started
# (benchmarks/asv/suite/bench_tiny.py). For these arrays NumPy also holds the GIL. So no thread can
# write to the array between the two passes of NumPy's nonzero: after such a write, NumPy would read
# or write out of bounds.
TINY_ITEMS = 500 if HAS_GIL else 0

# The defaults of the arguments that are passed to `non_defaults`. An argument that is not listed
# has the default False.
_DEFAULTS = {
    "axis": None,
    "out": None,
    "count_out": None,
    "capacity": None,
    "kind": None,
    "equal_nan": True,
    "sorted": True,
}

# (name of a library's module, name of its array class): name of the adapter's module.
_ADAPTERS = {}


def base_array(a):
    """`a` as a base-class ndarray if it is one, or of a class of _CONVERTED; otherwise None."""
    if type(a) is np.ndarray:
        return a
    if type(a) in _CONVERTED:
        return np.asarray(a)
    return None


def index_dtype(dtype, name="dtype"):
    """The argument `name` as the dtype of indices: intp for None, TypeError if it is no integer
    dtype."""
    if dtype is None:
        return np.dtype(np.intp)
    dtype = np.dtype(dtype)
    if dtype.kind not in "iu":
        raise TypeError(f"{name} must be an integer dtype, got {dtype}")
    return dtype


def as_array(name, value):
    """``np.asarray(value)``; an error names the argument. Raises TypeError for a set, a dict or an
    iterator, of which NumPy makes an array of one object."""
    try:
        array = np.asarray(value)
    except ValueError as error:  # lists of different lengths
        raise ValueError(f"{name} cannot be converted to an array: {error}") from error
    is_one_object = array.ndim == 0 and array.dtype == object
    if is_one_object and isinstance(value, Iterable) and not hasattr(value, "__array__"):
        # SciPy's sparse arrays have toarray.
        advice = f"{name}.toarray()" if hasattr(value, "toarray") else f"list({name})"
        kind = type(value).__name__
        raise TypeError(f"{name} must be an array_like, got {kind} (use {advice})")
    return array


def check_out(out, shape, dtype, name_of_dtype):
    """Raise an error unless `out` is a writeable array of this shape and dtype."""
    check_target("out", out, dtype, name_of_dtype)
    if out.shape != shape:
        raise ValueError(f"out must have shape {shape}, got {out.shape}")


def check_target(name, out, dtype, name_of_dtype="dtype"):
    """Raise an error unless the argument `name` is a writeable array of this dtype."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"{name} must be an ndarray, got {type(out).__name__}")
    if out.dtype != dtype:
        raise TypeError(f"{name} must have {name_of_dtype} {dtype}, got {out.dtype}")
    if not out.flags.writeable:
        raise ValueError(f"{name} must be writeable, got a read-only array")


def overrides(a):
    """Does the class of `a` override NumPy's functions by its own __array_function__?"""
    method = getattr(type(a), "__array_function__", None)
    return method is not None and method is not np.ndarray.__array_function__


def register_adapter(library: str, array_class: str, adapter: str) -> None:
    """Register an adapter: a module whose functions are called with arrays of another library.

    Parameters
    ----------
    library : str
        The name of the module that has the class, such as ``"dask.array"``. The module is not
        imported.
    array_class : str
        The name of the class in that module. The class must have an ``__array_function__``.
    adapter : str
        The name of the module whose functions are called, for example ``"fastsel.dask"``. The
        first call with an array of the class imports it.

    Raises
    ------
    TypeError
        If an argument is not a string.

    Notes
    -----
    The adapter has functions with the names and the parameters of fastsel's functions; optional
    parameters may be missing, and there may be more parameters. A call with an array of the class,
    or of a subclass, calls the adapter's function of the same name. Optional arguments that have
    their default values are left out, except `batch_dims` of `gather_nd`, and `n` and `dtype` of
    `nonzero_coordinates`.

    NumPy's function is called instead of the adapter's function, and calls ``__array_function__``,
    in three cases:

    - the adapter lacks the function;
    - the adapter has a function ``__fastsel_serves__``, which returns False for one of the arrays
      of the class;
    - an argument of another class overrides NumPy's functions.

    If NumPy lacks the function, too, as for `gather_nd`, the call raises TypeError in the first
    case. In the other two cases, ``numpy.asarray`` converts the arrays (`boolean_mask` calls
    ``a[mask]``).

    A later call of `register_adapter` with the same library and class replaces the adapter.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.register_adapter("dask.array", "Array", "fastsel.dask")   # as fastsel itself does
    """
    for name, value in {"library": library, "array_class": array_class, "adapter": adapter}.items():
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a str, got {type(value).__name__}")
    _ADAPTERS[library, array_class] = adapter


class _Adapter:
    """The functions of an adapter, and NumPy's functions where the adapter lacks them."""

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        function = getattr(self._module, name, None) or getattr(np, name, None)
        if function is None:
            raise TypeError(
                f"fastsel.{name} does not take this array: its adapter, {self._module.__name__}, "
                f"has no function {name}"
            )
        return function


def library(*arrays):
    """The module, or adapter, whose functions accept these arrays.

    Returns `_numpy` if no array overrides NumPy's functions; an adapter if all arrays that override
    them are of the adapter's class and the adapter accepts them; otherwise numpy.
    """
    if not any(map(overrides, arrays)):
        return _numpy
    # A copy: another thread may register an adapter meanwhile.
    for (name, array_class), adapter in _ADAPTERS.copy().items():
        array_type = getattr(sys.modules.get(name), array_class, None)
        if array_type is None or not any(isinstance(a, array_type) for a in arrays):
            continue
        if any(overrides(a) for a in arrays if not isinstance(a, array_type)):
            return np
        module = importlib.import_module(adapter)
        serves = getattr(module, "__fastsel_serves__", None)
        if serves and not all(serves(a) for a in arrays if isinstance(a, array_type)):
            return np
        return _Adapter(module)
    return np


def is_numpy(library):
    """Is this numpy or `_numpy`, and not an adapter? Neither numpy nor `_numpy` has the functions
    of OPERATORS that are not `in_numpy`."""
    return library is np or library is _numpy


def non_defaults(**arguments):
    """The arguments that differ from their defaults."""
    return {k: value for k, value in arguments.items() if value is not _DEFAULTS.get(k, False)}


def tiny(array):
    """May NumPy's own nonzero be called for this array? It may if the array has at most TINY_ITEMS
    items, unless the array is a 1-d view with a stride of 2 GiB or more, up or down: for such a
    view, NumPy 2.3 to 2.5 reads out of bounds."""
    return array.size <= TINY_ITEMS and (
        array.base is None
        or array.ndim != 1
        or -(2**31) < array.strides[0] < 2**31
        or array.size == 0
    )


def warn_ignored(name, accepted, value):
    """Warn that an environment variable has a value that is ignored."""
    message = f"{name} must be {accepted}, got {value!r}; it is ignored"
    warnings.warn(message, RuntimeWarning, stacklevel=3)


def integer(name, value):
    """The argument as an int, or TypeError with the argument's name."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {type(value).__name__}") from None


def checked_axis(axis, ndim):
    """The axis, counted from 0; None for None. AxisError for any integer out of range: NumPy's
    functions raise other errors if an integer does not fit a C int."""
    if axis is None:
        return None
    axis = integer("axis", axis)
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    return axis % ndim


def axes(axis, ndim):
    """The axes as a tuple of numbers from 0; None if `axis` is not valid, or has a class that NumPy
    has to check."""
    if axis is None:
        return tuple(range(ndim))
    if type(axis) is int:
        return (axis % ndim,) if -ndim <= axis < ndim else None
    numbers = axis if type(axis) is tuple else (axis,)
    if any(isinstance(k, bool) or not isinstance(k, int | np.integer) for k in numbers):
        return None
    if any(not -ndim <= k < ndim for k in numbers):
        return None
    normalized = tuple(int(k) % ndim for k in numbers)
    return normalized if len(set(normalized)) == len(normalized) else None


def like(result, a):
    """The selection `result` from `a`; as a memmap if `a` is a memmap, as in NumPy."""
    return result.view(np.memmap) if type(a) is np.memmap else result
