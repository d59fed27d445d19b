"""patch_numpy: fastsel's functions behind NumPy's names.

NumPy's functions stay the same objects. NumPy's dispatch calls a Python function behind each of
them, and only the code of this Python function is replaced. So all references to NumPy's functions
remain valid: a name imported into another module, a key of a table, a function that numba compiles.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import linecache
import os
import sys
import threading
from collections.abc import Iterator

import numpy as np

from fastsel._core import _gate, _numpy
from fastsel._core._operators import OPERATORS
from fastsel._positions import _positions, bitmask
from fastsel._selection import _selection
from fastsel._sets import _isin, _sets
from fastsel._unique import _unique


def _ascending(numpy_unique_values):
    """unique_values in ascending order: NumPy's function has this order in some versions, and for
    some dtypes in the others. NumPy's function serves items that cannot be ordered."""

    def unique_values(x, /):
        try:
            return _unique.unique(x, equal_nan=False)
        except (TypeError, ValueError):
            return numpy_unique_values(x)

    return unique_values


def _with_numpys_class(name):
    """fastsel's function `name`, which returns the class of NumPy's function: a process without
    fastsel can read a pickle of it."""
    function, numpys_class = _FUNCTIONS[name], type(getattr(_numpy, name)([1]))
    return functools.wraps(function)(lambda x, /: numpys_class(*function(x)))


_FUNCTIONS = vars(_positions) | vars(_selection) | vars(_unique) | vars(_isin) | vars(_sets)
# fastsel's functions by the names of NumPy's; tests and `fastsel run --report` replace them.
OURS = {name: _FUNCTIONS[name] for name in _numpy.NAMES}
OURS["unique_values"] = _ascending(_numpy.unique_values)
_WITH_TUPLES = "unique_all", "unique_counts", "unique_inverse"
OURS |= {name: _with_numpys_class(name) for name in _WITH_TUPLES}
# NumPy's functions, for arrays that override them. If these functions call each other, NumPy's
# dispatch asks the arrays again.
_NUMPYS = {
    name: _numpy.copy_of(function, function.__globals__)
    for name, function in _numpy.IMPLEMENTATIONS.items()
}
_NUMPYS["unique_values"] = _ascending(_NUMPYS["unique_values"])

# The usual classes that do not override NumPy's functions: they need no further check.
NOT_OVERRIDING = frozenset({np.ndarray, np.memmap, list, tuple, type(None)})

# The first lines of count_nonzero: NumPy counts small arrays in so little time that one more Python
# call in between is noticeable. The kernel returns None for arrays that it does not serve.
COUNT = bitmask.count_nonzero
COUNT_AT_ONCE = """\
    if axis is None and keepdims is False and (found := _fastsel.COUNT(a)) is not None:
        return found
"""

_lock = threading.RLock()  # a signal handler of the thread that holds it may patch, too
_patches = 0


def patch_numpy() -> None:
    """Replace NumPy's functions by fastsel's functions of the same name, in the whole process.

    The functions are ``nonzero``, ``flatnonzero``, ``argwhere``, ``count_nonzero``, ``compress``,
    ``extract``, ``unique``, ``unique_all``, ``unique_counts``, ``unique_inverse``,
    ``unique_values``, ``isin``, ``intersect1d``, ``union1d``, ``setdiff1d`` and ``setxor1d``. Calls
    are counted: each call needs its own call of `unpatch_numpy`.

    Notes
    -----
    **Reach.** The patch reaches every call of these functions from Python: in your code, in
    libraries (xarray's boolean selection, pandas' ``Series[mask]`` on a RangeIndex), and in NumPy's
    own functions, for example ``numpy.nanpercentile``. It does not matter when and how the function
    was imported.

    The patch does not reach methods and syntax (``a.nonzero()``, ``a.compress(...)``,
    ``a[mask]``), which pandas' ``df[mask]`` and scipy.sparse use. It does not reach calls in
    code that numba compiles.

    **Objects.** The functions remain NumPy's objects: NumPy still calls ``__array_function__`` of
    arrays that override it, tables keyed by the functions work, and numba compiles the functions.

    **Order.** ``numpy.unique_values`` returns ascending values for every dtype, unlike
    `fastsel.unique_values`; objects without an order have the order of NumPy's function.

    **Threads.** Several threads and signal handlers may call `patch_numpy`; it replaces the
    functions for all threads. On free-threaded Python, call it before threads start.

    Examples
    --------
    >>> import fastsel, numpy
    >>> fastsel.patch_numpy()
    >>> numpy.unique([2, 1, 2])
    array([1, 2])
    >>> fastsel.unpatch_numpy()
    """
    global _patches
    with _lock:
        _patches += 1
        try:
            _follow_count()
        except BaseException:  # of a signal handler
            unpatch_numpy()
            raise


def unpatch_numpy() -> None:
    """Undo one call of `patch_numpy`; undoing the last one restores NumPy's functions.

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
        try:
            _follow_count()
        except BaseException:  # of a signal handler
            _follow_count()
            raise


def _follow_count():
    """Give NumPy's functions fastsel's code if `_patches` is positive, otherwise their own code.
    Each step reads the count again: a signal handler may have changed it between two steps."""
    for name, function in _numpy.IMPLEMENTATIONS.items():
        # This name is never removed: a call in another thread may still use it later.
        function.__globals__["_fastsel"] = sys.modules[__name__]
        numpys = getattr(_numpy, name).__code__
        code = _CODES[name] if _patches else numpys
        if function.__code__ is not code:
            function.__code__ = code


def _after_fork():
    """At the fork, another thread may have held the lock, and replaced some of the functions."""
    global _lock
    _lock = threading.RLock()
    _follow_count()


@contextlib.contextmanager
def patched() -> Iterator[None]:
    """Replace NumPy's functions, as `patch_numpy` does, in a ``with`` block or decorated function.

    A decorator replaces NumPy's functions during each call; the call of a coroutine function or a
    generator function ends before its code runs, so use a ``with`` block in it. The patch holds for
    all threads, and ends with the last block of all threads.

    Examples
    --------
    >>> import fastsel, numpy
    >>> with fastsel.patched():
    ...     numpy.flatnonzero([0, 1, 1]), numpy.unique([2, 1, 2])
    (array([1, 2]), array([1, 2]))
    """
    patch_numpy()
    try:
        yield
    finally:
        unpatch_numpy()


def is_patched() -> bool:
    """Do NumPy's functions lead to fastsel's?"""
    return _patches > 0


def call_with_other_classes(name, arrays, *args, **kwargs):
    """Serve a call with arrays of classes beyond NOT_OVERRIDING. NumPy's dispatch has already asked
    arrays that override its functions: if there is such an array, the caller wants NumPy's own
    result."""
    ours = not any(map(_gate.overrides, arrays))
    return (OURS[name] if ours else _NUMPYS[name])(*args, **kwargs)


def _code(name):
    """Code that has the parameters of NumPy's function and calls fastsel's function.
    `inspect.getsource` and tracebacks show its source."""
    parameters = inspect.signature(_numpy.IMPLEMENTATIONS[name]).parameters.values()
    call_arguments = ", ".join(
        p.name if p.kind != p.KEYWORD_ONLY else f"{p.name}={p.name}" for p in parameters
    )
    arrays = [p.name for p in parameters if p.name in OPERATORS[name].arrays]
    signature = inspect.Signature([p.replace(annotation=p.empty) for p in parameters])
    no_override = " and ".join(f"type({array}) in _fastsel.NOT_OVERRIDING" for array in arrays)
    at_once = COUNT_AT_ONCE if name == "count_nonzero" else ""
    source = (
        f"def {name}{signature}:\n{at_once}"
        f"    if {no_override}:\n"
        f"        return _fastsel.OURS[{name!r}]({call_arguments})\n"
        f"    return _fastsel.call_with_other_classes("
        f"{name!r}, ({', '.join(arrays)},), {call_arguments})\n"
    )
    file = f"<fastsel behind numpy.{name}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    namespace = {}
    exec(compile(source, file, "exec"), namespace)
    return namespace[name].__code__


_CODES = {name: _code(name) for name in _numpy.NAMES}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
