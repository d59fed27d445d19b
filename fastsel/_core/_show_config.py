"""show_config: versions, compiler, CPU level, threads, cached memory and environment variables."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np

from fastsel._core import _gate, _memory, _threads, parallel, scratch
from fastsel._simd import levels
from fastsel._version import __version__

PREFIX = "FASTSEL_"
# The environment variables of fastsel at run time, and of its build and its tests.
RUN_VARIABLES = (
    "FASTSEL_CPU",
    "FASTSEL_FORK_THREADS",
    "FASTSEL_HASH_SEED",
    "FASTSEL_KEEP_MB",
    "FASTSEL_NUM_THREADS",
)
BUILD_VARIABLES = (
    "FASTSEL_CHECKED",
    "FASTSEL_COVERAGE",
    "FASTSEL_LONG",
    "FASTSEL_NO_OPENMP",
    "FASTSEL_ONLY",
    "FASTSEL_REQUIRE_OPENMP",
    "FASTSEL_SANITIZE",
    "FASTSEL_WARNINGS",
)


def _is_unknown(name):
    """Is this a variable of fastsel's prefix that fastsel does not have?"""
    return name.startswith(PREFIX) and name not in RUN_VARIABLES + BUILD_VARIABLES


def _warn_of_unknown_variables():
    for name in filter(_is_unknown, sorted(os.environ)):
        import difflib

        ends = {variable.removeprefix(PREFIX): variable for variable in RUN_VARIABLES}
        similar = difflib.get_close_matches(name.removeprefix(PREFIX), ends, 1) or ends
        meant = " or ".join(map(ends.get, similar))
        warnings.warn(
            f"fastsel has no environment variable {name}: did you mean {meant}?",
            RuntimeWarning,
            stacklevel=3,
        )


_warn_of_unknown_variables()
if os.environ.get("FASTSEL_CPU", "") not in ("", "base", "neon", "v3", "v4"):
    _gate.warn_ignored("FASTSEL_CPU", "base, neon, v3 or v4", os.environ["FASTSEL_CPU"])


# Functions by the name under which show_config shows what they return.
FACTS: dict[str, Callable[[], str]] = {}


@overload
def show_config(mode: Literal["stdout"] = "stdout") -> None: ...
@overload
def show_config(mode: Literal["dicts"]) -> dict[str, Any]: ...
def show_config(mode: str = "stdout") -> dict[str, Any] | None:
    """Show versions, compiler, CPU level, how keys are sorted, cached memory, and how many threads
    fastsel uses and why.

    Parameters
    ----------
    mode : {"stdout", "dicts"}, optional
        "stdout" prints the text of ``fastsel info``, for a bug report; "dicts" returns a dict.

    Returns
    -------
    None, or a dict if `mode` is "dicts"

    Raises
    ------
    ValueError
        If `mode` is neither "stdout" nor "dicts".

    Examples
    --------
    >>> import fastsel
    >>> sorted(fastsel.show_config(mode="dicts"))[:3]
    ['compiler', 'cpu', 'cpus']
    """
    if mode not in ("stdout", "dicts"):
        raise ValueError(f"mode must be 'stdout' or 'dicts', got {mode!r}")
    config = {
        "fastsel": __version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "platform": f"{sys.platform} {platform.machine()}",
        # Not platform.platform(), which starts a program.
        "system": f"{platform.system()} {platform.release()}",
        "cpu": _cpu_name(),
        "cpus": os.cpu_count(),
        "compiler": parallel.compiler(),
        "kernels": levels.level_name(),
        **{name: describe() for name, describe in FACTS.items()},
        "threads": _threads.get_num_threads(),
        "threads by": _openmp_description(),
        "threads set by": _threads.deciding_rule(),
        "memory kept": f"{scratch.cached_bytes() / 2**20:.1f} of {_memory.get_keep_mb():g} MB",
        "environment": _VARIABLES_AT_IMPORT,
    }
    if mode == "dicts":
        return config
    width = max(map(len, config))
    for name, value in config.items():
        print(f"{name:{width}}  {value}")
    return None


# The versions of OpenMP by date. The compiler's macro _OPENMP has this date.
_OPENMP_VERSIONS = {
    200203: "2.0",
    200505: "2.5",
    200805: "3.0",
    201107: "3.1",
    201307: "4.0",
    201511: "4.5",
    201811: "5.0",
    202011: "5.1",
    202111: "5.2",
    202411: "6.0",
}


def _openmp_description():
    date, library = parallel.openmp()
    if not date:
        return "serial build, without OpenMP"
    version = f"OpenMP {_OPENMP_VERSIONS.get(date, date)}"
    return f"{version}, {os.path.basename(os.path.realpath(library))}" if library else version


def _cpu_name():
    """The name of the processor."""
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
        for line in lines:
            if line.startswith("model name"):
                return line.partition(": ")[2]
    # Not platform.processor(), which starts a program.
    return os.environ.get("PROCESSOR_IDENTIFIER") or platform.machine()


def _variables():
    """The environment variables of OpenMP and fastsel that are set, each as name=value, and which
    of them fastsel does not have."""
    names = [n for prefix in ("OMP_", PREFIX) for n in sorted(os.environ) if n.startswith(prefix)]
    unknown = [f"(unknown: {name})" for name in names if _is_unknown(name)]
    return [f"{name}={os.environ[name]}" for name in names] + unknown


# At import, because fastsel and OpenMP read most variables only then.
_VARIABLES_AT_IMPORT = " ".join(_variables()) or "nothing set"
