"""patch_numpy: put fastsel's functions in the place of NumPy's."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

from fastsel import _distinct, _numpy, _selection

# NumPy's function and what takes its place.
_OURS = vars(_selection) | vars(_distinct)
REPLACEMENTS = {getattr(_numpy, name): _OURS[name] for name in _numpy.__all__}

_lock = threading.Lock()
_patches = 0


def patch_numpy() -> None:
    """Replace NumPy's functions by fastsel's of the same name, in the whole process.

    They are ``nonzero``, ``flatnonzero``, ``argwhere``, ``count_nonzero``, ``compress``,
    ``extract``, ``unique``, ``unique_all``, ``unique_counts``, ``unique_inverse`` and
    ``unique_values``, wherever a NumPy module holds them. Calls are counted: as many calls of
    `unpatch_numpy` restore them.

    Notes
    -----
    Reached is who looks the function up when it is called: ``np.nonzero(a)`` in your code and in
    libraries (xarray's boolean selection, pandas' ``Series[mask]`` on a RangeIndex), and NumPy's
    own functions that call one of the above, such as ``numpy.isin``. Not reached are methods and
    syntax (``a.nonzero()``, ``a.compress(...)``, ``a[mask]``, hence pandas' ``df[mask]`` and
    scipy.sparse, which call methods), and modules outside of NumPy that ran
    ``from numpy import nonzero`` before.
    Arrays with an ``__array_function__`` of their own are still handed NumPy's function; a
    library that keeps a table keyed by ``np.nonzero`` should be imported before NumPy is patched.
    The first call looks through all loaded modules of NumPy, about a millisecond. May be called
    from several threads; the functions change for all of them.

    Examples
    --------
    >>> import fastsel, numpy
    >>> fastsel.patch_numpy()
    >>> numpy.nonzero is fastsel.nonzero
    True
    >>> fastsel.unpatch_numpy()
    >>> numpy.nonzero is fastsel.nonzero
    False
    """
    global _patches
    with _lock:
        if _patches == 0:
            _replace(REPLACEMENTS)
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
            _replace({ours: theirs for theirs, ours in REPLACEMENTS.items()})


@contextlib.contextmanager
def patched() -> Iterator[None]:
    """`patch_numpy` within a ``with`` block (or, as a decorator, during each call).

    Other threads see the patch as well; it ends when the last block of all threads does.

    Examples
    --------
    >>> import fastsel, numpy
    >>> with fastsel.patched():
    ...     numpy.flatnonzero([0, 1, 1]), numpy.unique is fastsel.unique
    (array([1, 2]), True)
    """
    patch_numpy()
    try:
        yield
    finally:
        unpatch_numpy()


def _replace(replacements):
    """In every loaded module of NumPy; what else has taken a function's place stays there."""
    by_identity = {id(old): new for old, new in replacements.items()}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "numpy" and module is not None:
            for attribute, value in list(vars(module).items()):
                if id(value) in by_identity:
                    setattr(module, attribute, by_identity[id(value)])
