"""show_config: what this installation is, and what it decided."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
import warnings
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np

from fastsel import _threads
from fastsel._kernels import bitmask, slices
from fastsel._version import __version__

if os.environ.get("FASTSEL_CPU", "") not in ("", "base", "v3", "v4"):
    warnings.warn(
        f"FASTSEL_CPU must be base, v3 or v4, got {os.environ['FASTSEL_CPU']!r}; it is ignored",
        RuntimeWarning,
        stacklevel=2,
    )


@overload
def show_config(mode: Literal["stdout"] = "stdout") -> None: ...
@overload
def show_config(mode: Literal["dicts"]) -> dict[str, Any]: ...
def show_config(mode: str = "stdout") -> dict[str, Any] | None:
    """Show how fastsel was built, which kernels it chose, and how many threads it uses and why.

    Parameters
    ----------
    mode : {"stdout", "dicts"}, optional
        Print, as ``fastsel info`` does and a bug report wants it, or return a dict.

    Returns
    -------
    dict or None

    Raises
    ------
    ValueError
        If `mode` is another one.

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
        "system": f"{platform.system()} {platform.release()}",  # platform() asks a program
        "cpu": _cpu_name(),
        "cpus": os.cpu_count(),
        "compiler": slices.compiler(),
        "kernels": bitmask.level_name() + ("" if slices.is_threaded() else ", serial build"),
        "threads": _threads.get_num_threads(),
        "threads set by": _threads.why(),
        "environment": _AT_IMPORT,
    }
    if mode == "dicts":
        return config
    width = max(map(len, config))
    for name, value in config.items():
        print(f"{name:{width}}  {value}")
    return None


def _cpu_name():
    """What the processor calls itself."""
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
        for line in lines:
            if line.startswith("model name"):
                return line.partition(": ")[2]
    # Not platform.processor(), which asks a program.
    return os.environ.get("PROCESSOR_IDENTIFIER") or platform.machine()


def _variables():
    """The environment variables that fastsel reads."""
    names = ["OMP_NUM_THREADS", *sorted(name for name in os.environ if name.startswith("FASTSEL_"))]
    return [f"{name}={os.environ[name]}" for name in names if name in os.environ]


_AT_IMPORT = " ".join(_variables()) or "nothing set"  # when they are read
