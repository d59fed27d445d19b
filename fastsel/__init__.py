"""Selection on NumPy arrays, on all cores: same names, results and errors as NumPy.

Find non-zero items        nonzero, flatnonzero, argwhere, count_nonzero, first_nonzero,
                           nonzero_coordinates
Select items by a mask     compress, extract, boolean_mask (a[mask])
Find distinct items        unique, unique_all, unique_counts, unique_inverse, unique_values
Find where items occur     group_indices, index_in
Replace items by a table    remap
Sets                       isin, intersect1d, union1d, setdiff1d, setxor1d
Gather items by index      gather_nd (ONNX GatherND)
Replace NumPy's functions  patch_numpy, unpatch_numpy, patched; "fastsel run script.py"
Threads, configuration     threads, set_num_threads, get_num_threads, show_config
Cached memory              set_keep_mb, get_keep_mb, release_memory
Other libraries' arrays    register_adapter

    >>> import fastsel
    >>> fastsel.unique([3, 1, 3, 2], sorted=False)   # in order of first occurrence
    array([3, 1, 2])

The docstring of each function, for example help(fastsel.unique), describes arguments, results,
errors and cost. On the command line, "fastsel bench" compares fastsel with NumPy on your machine,
and "fastsel info" shows the build, the kernels and the threads. These modules are imported on first
use: fastsel.onnx (ONNX's rules), fastsel.dask (dask arrays), fastsel.sparse (SciPy's sparse
arrays).
"""

# A call runs the public function, dispatch (which checks dtype and layout, and passes arrays
# without a kernel to NumPy) and the kernels, which read words or bytes. The functions are in five
# packages: _positions, _selection, _unique, _gather and _sets, which share _core and _simd.
# docs/internals.md describes the steps, docs/source.md the files and what each package imports.

import typing as _typing

try:
    import fastsel._core.parallel as _kernel
except ModuleNotFoundError as error:
    if error.name != "fastsel._core.parallel":
        raise
    raise ImportError(
        f"the kernels of fastsel are not built in {__path__[0]}, which hides any installed fastsel "
        "from Python: build them with `pip install -e .`, or start Python in another folder"
    ) from None

from fastsel._core._gate import register_adapter
from fastsel._core._memory import get_keep_mb, release_memory, set_keep_mb
from fastsel._core._show_config import show_config
from fastsel._core._threads import get_num_threads, set_num_threads, threads
from fastsel._gather._gather import gather_nd
from fastsel._patch import patch_numpy, patched, unpatch_numpy
from fastsel._positions._first_nonzero import first_nonzero
from fastsel._positions._nonzero_coordinates import NonzeroCoordinates, nonzero_coordinates
from fastsel._positions._positions import argwhere, count_nonzero, flatnonzero, nonzero
from fastsel._selection._selection import boolean_mask, compress, extract
from fastsel._sets._index_in import index_in
from fastsel._sets._isin import isin
from fastsel._sets._remap import remap
from fastsel._sets._sets import intersect1d, setdiff1d, setxor1d, union1d
from fastsel._unique._group_indices import GroupIndices, group_indices
from fastsel._unique._unique import unique, unique_all, unique_counts, unique_inverse, unique_values
from fastsel._version import __version__

__all__ = [
    "GroupIndices",
    "NonzeroCoordinates",
    "__version__",
    "argwhere",
    "boolean_mask",
    "compress",
    "count_nonzero",
    "extract",
    "first_nonzero",
    "flatnonzero",
    "gather_nd",
    "get_keep_mb",
    "get_num_threads",
    "group_indices",
    "index_in",
    "intersect1d",
    "isin",
    "nonzero",
    "nonzero_coordinates",
    "patch_numpy",
    "patched",
    "register_adapter",
    "release_memory",
    "remap",
    "set_keep_mb",
    "set_num_threads",
    "setdiff1d",
    "setxor1d",
    "show_config",
    "threads",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "unpatch_numpy",
]

del _kernel

register_adapter("dask.array", "Array", adapter="fastsel.dask")


if not _typing.TYPE_CHECKING:  # For a type checker, a module with __getattr__ has every name.

    def __getattr__(name):
        """On first use, import the modules that need other packages."""
        if name in ("dask", "onnx", "sparse"):
            import importlib

            return importlib.import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    """The public names, and the public modules that are imported."""
    return sorted({*__all__, *(name for name in globals() if name[0] != "_")})
