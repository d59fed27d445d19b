"""The limit of the memory that is cached between calls, and its release."""

from __future__ import annotations

import math
import numbers
import os
import threading

from fastsel._core import _gate, scratch

DEFAULT_MB = 64.0

_limit_mb = DEFAULT_MB
# Held while _limit_mb and the limit of the kernels change. A signal handler of the thread that
# holds it may change them, too.
_lock = threading.RLock()


def set_keep_mb(mb: float | None) -> None:
    """Set the limit of the memory that fastsel caches between calls, for the whole process.

    Getting fresh memory takes time: a page fault for every page. So fastsel caches the
    working memory of its calls, and the memory of deleted results of 16 KiB or more, for later
    calls, up to this limit. The memory of arrays that are larger than the limit is never cached.

    Parameters
    ----------
    mb : number or None
        The limit in megabytes (2^20 bytes), at least 0; 0 caches nothing. None restores the
        default: the environment variable FASTSEL_KEEP_MB (read at import), or 64.

    Raises
    ------
    TypeError
        If mb is neither a real number nor None.
    ValueError
        If mb is less than 0, or NaN.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.set_keep_mb(256)
    >>> fastsel.get_keep_mb()
    256.0
    >>> fastsel.set_keep_mb(None)
    """
    global _limit_mb
    limit_mb = _default if mb is None else _checked(mb)
    limit_bytes = _bytes(limit_mb)
    with _lock:  # No signal handler runs between the two changes: no call ends between them.
        _limit_mb = limit_mb
        scratch.set_limit(limit_bytes)


def get_keep_mb() -> float:
    """The maximum number of megabytes that fastsel caches between calls.

    Returns
    -------
    float
        The number passed to the last call of `set_keep_mb`. Without such a call, or after
        ``set_keep_mb(None)``: the environment variable FASTSEL_KEEP_MB (read at import), or 64.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.set_keep_mb(0)
    >>> fastsel.get_keep_mb()
    0.0
    >>> fastsel.set_keep_mb(None)
    """
    return _limit_mb


def release_memory() -> int:
    """Return all cached memory to the system, and with glibc also the free memory of malloc.

    Returns
    -------
    int
        The number of bytes that were cached.

    Examples
    --------
    >>> import fastsel
    >>> _ = fastsel.release_memory()
    >>> fastsel.release_memory()
    0
    """
    return scratch.release_all()


def _checked(mb):
    if not isinstance(mb, numbers.Real):
        raise TypeError(f"mb must be a number or None, got {type(mb).__name__}")
    if not mb >= 0:
        raise ValueError(f"mb must be at least 0, got {mb}")
    try:
        return float(mb)
    except OverflowError:
        return math.inf


def _bytes(mb):
    return int(min(mb * 2**20, 2.0**62))


def _from_environment():
    """The limit of FASTSEL_KEEP_MB; DEFAULT_MB if the variable is not set, or, with a warning, if
    its value is not a limit."""
    text = os.environ.get("FASTSEL_KEEP_MB", "").strip()
    if not text:
        return DEFAULT_MB
    try:
        return _checked(float(text))
    except ValueError:
        _gate.warn_ignored("FASTSEL_KEEP_MB", "a number of at least 0", text)
        return DEFAULT_MB


def _after_fork():
    """Empty the cache. At the fork, another thread may have held the lock, between its two
    changes."""
    global _lock
    _lock = threading.RLock()
    scratch.clear_in_child()
    scratch.set_limit(_bytes(_limit_mb))


_default = _from_environment()
set_keep_mb(None)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
