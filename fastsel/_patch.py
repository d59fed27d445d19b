"""patch_numpy: fastsel's functions behind NumPy's names.

NumPy's functions stay the same objects. Only the code of the Python function behind each one, which
NumPy's dispatch calls, is replaced. So references to them remain valid, whenever they were made: a
name imported into another module, a key of a table, a function that numba compiles.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import threading
from collections.abc import Iterator

import numpy as np

from fastsel._core import _gate, _numpy
from fastsel._core._operators import OPERATORS
from fastsel._positions import _positions, small_positions
from fastsel._selection import _selection
from fastsel._sets import _isin, _sets
from fastsel._unique import _distinct

_FUNCTIONS = vars(_positions) | vars(_selection) | vars(_distinct) | vars(_isin) | vars(_sets)
# By name; tests replace them.
OURS = {name: _FUNCTIONS[name] for name in _numpy.NAMES}

# The classes that override none of NumPy's functions.
PLAIN = frozenset({np.ndarray, np.memmap, list, tuple, type(None)})

# A first attempt, for small arrays, before any other check: NumPy counts so fast that one more call
# in between is noticeable. The kernel returns None for all but plain arrays.
COUNT_SMALL = small_positions.count_nonzero
AT_ONCE = {
    "count_nonzero": (
        "axis is None and keepdims is False",
        "_fastsel.COUNT_SMALL(a, _fastsel._gate.SMALL_ITEMS)",
    )
}

_lock = threading.Lock()
_patches = 0


def patch_numpy() -> None:
    """Put fastsel's functions behind NumPy's functions of the same name, in the whole process.

    They are ``nonzero``, ``flatnonzero``, ``argwhere``, ``count_nonzero``, ``compress``,
    ``extract``, ``unique``, ``unique_all``, ``unique_counts``, ``unique_inverse``,
    ``unique_values``, ``isin``, ``intersect1d``, ``union1d``, ``setdiff1d`` and ``setxor1d``. Calls
    are counted: as many calls of `unpatch_numpy` restore them.

    Notes
    -----
    The patch reaches every call of these functions from Python: in your code, in libraries,
    whenever and however they imported the function (xarray's boolean selection, pandas'
    ``Series[mask]`` on a RangeIndex), and in NumPy's own functions, such as ``numpy.delete``. It
    does not reach methods and syntax (``a.nonzero()``, ``a.compress(...)``, ``a[mask]``, hence
    pandas' ``df[mask]`` and scipy.sparse, which call methods), nor functions that numba compiles.
    The functions remain NumPy's objects: as always, NumPy first asks arrays with an
    ``__array_function__`` of their own, tables keyed by the functions work, and numba compiles
    them. May be called from several threads; the functions change for all of them.

    Examples
    --------
    >>> import fastsel, numpy
    >>> fastsel.patch_numpy()
    >>> numpy.unique_values([2, 1, 2])
    array([2, 1])
    >>> fastsel.unpatch_numpy()
    """
    global _patches
    with _lock:
        if _patches == 0:
            for name, function in _numpy.IMPLEMENTATIONS.items():
                # Never removed: a call in another thread may still use it when the patch ends.
                function.__globals__["_fastsel"] = sys.modules[__name__]
                function.__code__ = _CODES[name]
        _patches += 1


def unpatch_numpy() -> None:
    """Undo one `patch_numpy`; the last one restores NumPy's functions.

    Raises
    ------
    RuntimeError
        If NumPy is not patched.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.unpatch_numpy()
    Traceback (most recent call last):
    RuntimeError: unpatch_numpy: NumPy is not patched
    """
    global _patches
    with _lock:
        if _patches == 0:
            raise RuntimeError("unpatch_numpy: NumPy is not patched")
        _patches -= 1
        if _patches == 0:
            for name, function in _numpy.IMPLEMENTATIONS.items():
                function.__code__ = getattr(_numpy, name).__code__


@contextlib.contextmanager
def patched() -> Iterator[None]:
    """`patch_numpy` within a ``with`` block (or, as a decorator, during each call).

    Other threads see the patch as well; it ends when the last block of all threads does.

    Examples
    --------
    >>> import fastsel, numpy
    >>> with fastsel.patched():
    ...     numpy.flatnonzero([0, 1, 1]), numpy.unique_values([2, 1, 2])
    (array([1, 2]), array([2, 1]))
    """
    patch_numpy()
    try:
        yield
    finally:
        unpatch_numpy()


def is_patched() -> bool:
    """Do NumPy's functions lead to fastsel's?"""
    return _patches > 0


def overridden(name, arrays, *args, **kwargs):
    """Serve a call with arrays of other classes. NumPy has already asked those that override its
    functions; a call that comes here with one of them wants NumPy's own result."""
    ours = not any(map(_gate.overrides, arrays))
    return (OURS[name] if ours else getattr(_numpy, name))(*args, **kwargs)


def _code(name):
    """Code with the parameters of NumPy's function, which calls ours."""
    parameters = inspect.signature(_numpy.IMPLEMENTATIONS[name]).parameters.values()
    given = ", ".join(
        p.name if p.kind != p.KEYWORD_ONLY else f"{p.name}={p.name}" for p in parameters
    )
    arrays = [p.name for p in parameters if p.name in OPERATORS[name].arrays]
    signature = inspect.Signature(
        [p.replace(default=p.empty, annotation=p.empty) for p in parameters]
    )
    are_plain = " and ".join(f"type({array}) in _fastsel.PLAIN" for array in arrays)
    at_once = ""
    if name in AT_ONCE:
        condition, call = AT_ONCE[name]
        at_once = f"    if {condition} and (found := {call}) is not None:\n        return found\n"
    namespace = {}
    exec(
        f"def {name}{signature}:\n{at_once}"
        f"    if {are_plain}:\n"
        f"        return _fastsel.OURS[{name!r}]({given})\n"
        f"    return _fastsel.overridden({name!r}, ({', '.join(arrays)},), {given})\n",
        namespace,
    )
    return namespace[name].__code__


_CODES = {name: _code(name) for name in _numpy.NAMES}
