"""How many threads a call uses, and why."""

from __future__ import annotations

import contextlib
import contextvars
import math
import os
import threading
from collections.abc import Iterator
from typing import SupportsIndex

from fastsel._core import _gate, parallel

# With fewer than MIN_CHUNK_BYTES of input and output per thread, a parallel region does not pay: a
# core moves MIN_CHUNK_BYTES from its cache in about 10 us. On two CPUs, waking a sleeping thread
# takes 0.1 ms. If calls follow each other, the thread does not sleep, and starting it takes 2 us. A
# threshold for sleeping threads would make repeated calls with 1e5 items slower.
MIN_CHUNK_BYTES = 1 << 18

# The maximum number of threads of a call. set_num_threads, threads and the command line refuse a
# greater count; a greater count in fastsel's variables is ignored with a warning, and a greater
# count of OpenMP is reduced to MAX_THREADS.
MAX_THREADS = max(64, os.cpu_count() or 1)

_chosen = None  # the count of set_num_threads, or None
_local = contextvars.ContextVar("fastsel_threads", default=None)  # the count of threads(n)
_environment = None  # (count, variable) of a variable that decides, or None
_openmp_asked = False  # OMP_NUM_THREADS is set and valid, and FASTSEL_NUM_THREADS is not
_available = 1  # the count of _cpus()
_fork_count = 0  # in a child made by fork: the default count


def set_num_threads(n: SupportsIndex | None) -> None:
    """Set the number of threads that fastsel may use, for the whole process.

    Parameters
    ----------
    n : int or None
        From 1 to max(64, number of CPUs). None restores the default, which the environment decides
        (see `get_num_threads`).

    Raises
    ------
    TypeError
        If n is neither an integer nor None.
    ValueError
        If n is less than 1 or greater than max(64, number of CPUs).

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
    """The number of threads that a large call would use now, in this thread.

    Returns
    -------
    int
        At most OMP_THREAD_LIMIT. A build without OpenMP also returns the number: it divides work
        into the same chunks, and runs them one after the other.

    Notes
    -----
    The first setting of this list that applies decides the number:

    1. ``with fastsel.threads(n)``
    2. `set_num_threads`
    3. in a child made by fork: FASTSEL_FORK_THREADS, or 1
    4. the environment variable FASTSEL_NUM_THREADS (read at import)
    5. OpenMP's setting: OMP_NUM_THREADS, or a limit of threadpoolctl below the number of rule 6
    6. the CPUs that this process may use (affinity and cgroup quota)

    Examples
    --------
    >>> import fastsel
    >>> with fastsel.threads(3):
    ...     fastsel.get_num_threads()
    3
    """
    return _count_and_rule()[0]


def threads(n: SupportsIndex) -> contextlib.AbstractContextManager[None]:
    """Set the number of threads for calls in a ``with`` block, in this thread or asyncio task.

    Asyncio tasks that are created in the block use this number, too. Other threads use it only if
    they run in a copy of the block's context, as with ``asyncio.to_thread``. A call of `threads`
    alone has no effect. Each block needs its own call of `threads`.

    Parameters
    ----------
    n : int
        From 1 to max(64, number of CPUs).

    Raises
    ------
    TypeError
        If n is not an integer.
    ValueError
        If n is less than 1 or greater than max(64, number of CPUs).

    Examples
    --------
    >>> import fastsel
    >>> with fastsel.threads(1):
    ...     fastsel.flatnonzero([0, 1, 1])
    array([1, 2])
    """
    return _limited(_checked(n))


@contextlib.contextmanager
def _limited(count) -> Iterator[None]:
    token = _local.set(count)
    try:
        yield
    finally:
        _local.reset(token)


def for_bytes(nbytes, cost=1):
    """The number of threads for a call that reads and writes `nbytes`. `cost` is the call's time
    per byte, divided by the time per byte of a copy from the cache."""
    work = nbytes * cost
    if work < 2 * MIN_CHUNK_BYTES:
        return 1
    return min(get_num_threads(), work // MIN_CHUNK_BYTES)


def deciding_rule():
    """The rule that decides get_num_threads(), in words."""
    return _count_and_rule()[1]


def _count_and_rule():
    openmp, limit = parallel.max_threads()
    count, rule = _unlimited_count_and_rule(openmp)
    return (count, rule) if count <= limit else (limit, "OMP_THREAD_LIMIT")


def _unlimited_count_and_rule(openmp):
    """(count, the rule that decides), before OMP_THREAD_LIMIT. openmp is the count that OpenMP
    would use, or 0 in a serial build."""
    if (n := _local.get()) is not None:
        return n, "with fastsel.threads(n)"
    if (n := _chosen) is not None:  # read once: another thread may set it to None
        return n, "fastsel.set_num_threads"
    if _fork_count:
        return _fork_count, "a child made by fork"
    if _environment is not None:
        return _environment
    if openmp > 0 and (_openmp_asked or openmp < _available):
        return min(openmp, MAX_THREADS), "OMP_NUM_THREADS or threadpoolctl"
    return _available, "CPUs of this process (affinity, cgroup quota)"


def _checked(n):
    if isinstance(n, bool):  # True for 1 is a mistake: it asks for threads, and turns them off.
        raise TypeError("n must be an integer, got bool")
    count = _gate.integer("n", n)
    if not 1 <= count <= MAX_THREADS:
        raise ValueError(f"n must be from 1 to {MAX_THREADS}, got {count}")
    return count


def _from_environment(name):
    """The thread count in a variable, at most MAX_THREADS. None if the variable is not set, or,
    with a warning, if its value is not a valid count."""
    text = os.environ.get(name, "").strip()
    if not text:
        return None
    of_openmp = name == "OMP_NUM_THREADS"
    first = text.split(",")[0].strip() if of_openmp else text  # one count per nesting level
    count = int(first) if first.isdecimal() else 0
    if count < 1 or (count > MAX_THREADS and not of_openmp):
        accepted = "of at least 1" if of_openmp else f"from 1 to {MAX_THREADS}"
        _gate.warn_ignored(name, f"a whole number {accepted}", text)
        return None
    return min(count, MAX_THREADS)


def _cpus():
    """How many CPUs this process may use: the CPUs of its affinity, but at most the quota of its
    cgroup, rounded up."""
    cpus = parallel.processors() or _affinity()
    quota = _quota()
    return cpus if quota is None else max(1, min(cpus, math.ceil(quota)))


def _affinity():
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _quota(root="/sys/fs/cgroup"):
    """The CPU time that cgroup v2 or v1 grants, in CPUs; None if no limit is found."""
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
    global _environment, _openmp_asked, _available
    if (count := _from_environment("FASTSEL_NUM_THREADS")) is not None:
        _environment = count, "FASTSEL_NUM_THREADS"
    elif (count := _from_environment("OMP_NUM_THREADS")) is not None:
        _openmp_asked = True
        if not parallel.is_threaded():
            _environment = count, "OMP_NUM_THREADS"
    _available = _cpus()
    parallel.set_thread_rule(for_bytes)
    parallel.set_main_thread(threading.main_thread().ident)


def _after_fork():
    """Drop the number of set_num_threads, and count the CPUs again. A forked child uses one thread
    by default: a program that forks may have many workers. In a child that is forked within
    ``with threads(n)``, n still decides."""
    global _chosen, _fork_count, _available
    _chosen = None
    _fork_count = _from_environment("FASTSEL_FORK_THREADS") or 1
    _available = _cpus()
    parallel.set_main_thread(threading.get_ident())


_start()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
