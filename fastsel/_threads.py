"""How many threads a call uses, and why."""

from __future__ import annotations

import contextlib
import contextvars
import math
import operator
import os
import threading
import warnings
from collections.abc import Iterator
from typing import SupportsIndex

from fastsel._kernels import slices

# Less than this many bytes of input and output per thread is not worth waking a thread for.
# A core moves 64 KiB from its cache in about 5 us, and a sleeping thread takes longer to wake.
MIN_SLICE_BYTES = 1 << 16

# More threads than this are never asked for.
MOST_THREADS = max(64, os.cpu_count() or 1)

_chosen = None  # set_num_threads
_local = contextvars.ContextVar("fastsel_threads", default=None)  # with threads(n)
_environment = None  # a count and the variable that asks for it
_available = 1  # affinity and quota
_forked = False


def set_num_threads(n: SupportsIndex | None) -> None:
    """Set how many threads fastsel may use, for the whole process.

    Parameters
    ----------
    n : int or None
        At least 1; more than max(64, number of CPUs) counts as that. None goes back to the
        environment's choice.

    Raises
    ------
    TypeError
        If n is not an integer.
    ValueError
        If n is less than 1.

    Examples
    --------
    >>> import fastsel
    >>> fastsel.set_num_threads(2)
    >>> fastsel.get_num_threads()
    2
    >>> fastsel.set_num_threads(None)
    """
    global _chosen
    _chosen = None if n is None else _checked(n)


def get_num_threads() -> int:
    """How many threads a large call would use here and now.

    Returns
    -------
    int
        The first of these that is given: ``with fastsel.threads(n)``, `set_num_threads`, in a
        child made by fork 1 or FASTSEL_FORK_THREADS, the environment variables
        FASTSEL_NUM_THREADS and OMP_NUM_THREADS (read at import), the CPUs that this process may
        use (affinity and cgroup quota). A serial build cuts its work alike, and runs it in turn.

    Examples
    --------
    >>> import fastsel
    >>> with fastsel.threads(3):
    ...     fastsel.get_num_threads()
    3
    """
    return _limit()[0]


@contextlib.contextmanager
def threads(n: SupportsIndex) -> Iterator[None]:
    """Limit the threads of the calls within a ``with`` block, in this thread (or task) only.

    Parameters
    ----------
    n : int
        At least 1.

    Raises
    ------
    TypeError, ValueError
        As `set_num_threads`.

    Examples
    --------
    >>> import fastsel
    >>> with fastsel.threads(1):
    ...     fastsel.flatnonzero([0, 1, 1])
    array([1, 2])
    """
    token = _local.set(_checked(n))
    try:
        yield
    finally:
        _local.reset(token)


def for_bytes(nbytes):
    """Threads for a call that moves that many bytes."""
    if nbytes < 2 * MIN_SLICE_BYTES:
        return 1
    return min(get_num_threads(), nbytes // MIN_SLICE_BYTES)


def why():
    """The rule that decided get_num_threads(), in words."""
    return _limit()[1]


def _limit():
    if (n := _local.get()) is not None:
        return n, "with fastsel.threads(n)"
    if _chosen is not None:
        return _chosen, "fastsel.set_num_threads"
    if _forked:
        return _forked, "a child made by fork"
    if _environment is not None:
        return _environment
    return _available, "CPUs of this process (affinity, cgroup quota)"


def _checked(n):
    try:
        count = operator.index(n)
    except TypeError:
        raise TypeError(f"n must be an integer, got {type(n).__name__}") from None
    if count < 1:
        raise ValueError(f"n must be at least 1, got {count}")
    return min(count, MOST_THREADS)


def _from_environment(name):
    """The thread count that a variable asks for, or None with a warning if it is nonsense."""
    text = os.environ.get(name, "").strip()
    if not text:
        return None
    first = text.split(",")[0].strip() if name == "OMP_NUM_THREADS" else text  # per nesting level
    if not first.isdecimal() or int(first) < 1:
        warnings.warn(
            f"{name} must be a whole number of at least 1, got {text!r}; it is ignored",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return min(int(first), MOST_THREADS)


def _cpus():
    """CPUs that this process may use: its affinity, and the quota of its cgroup, rounded up."""
    affinity = getattr(os, "sched_getaffinity", None)
    cpus = len(affinity(0)) if affinity else os.cpu_count() or 1
    quota = _quota()
    return cpus if quota is None else max(1, min(cpus, math.ceil(quota)))


def _quota(root="/sys/fs/cgroup"):
    """CPUs' worth of time that cgroup v2 or v1 grants, or None."""
    try:
        with open(f"{root}/cpu.max") as file:
            quota, period = file.read().split()
    except (OSError, ValueError):
        try:
            with (
                open(f"{root}/cpu/cpu.cfs_quota_us") as quota_file,
                open(f"{root}/cpu/cpu.cfs_period_us") as period_file,
            ):
                quota, period = quota_file.read().strip(), period_file.read().strip()
        except OSError:
            return None
    if not quota.isdecimal() or not period.isdecimal() or int(period) == 0:
        return None  # "max", or -1: no limit
    return int(quota) / int(period)


def _start():
    global _environment, _available
    for name in ("FASTSEL_NUM_THREADS", "OMP_NUM_THREADS"):
        if _environment is None and (count := _from_environment(name)) is not None:
            _environment = count, name
    _available = _cpus()
    slices.set_main_thread(threading.main_thread().ident)


def _after_fork():
    """Many workers with many threads each are too many: a child starts with one."""
    global _chosen, _forked, _available
    _chosen = None
    _forked = _from_environment("FASTSEL_FORK_THREADS") or 1
    _available = _cpus()
    slices.set_main_thread(threading.get_ident())


_start()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
