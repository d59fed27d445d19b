"""Selection on NumPy arrays, on all cores: same names, results and errors as NumPy.

The map: a public function (_selection, _distinct, _gather, _coordinates) asks the gate (_gate)
what a kernel may see of its arrays, _threads for how many threads, and calls the kernels
(_kernels), which know bytes but no dtypes. Selections make a bitmask (bitmask), then write
indices (indices) or items (items) from it. unique chooses an engine (_engines), which finds first
occurrences by tables (distinct) or partitions (partitions) and marks them in such a bitmask.
gather_nd checks index rows and copies slices (gather). _patch puts the functions in the place of
NumPy's, which _numpy keeps. fastsel.onnx is ONNX's rules on the same kernels.
"""

from fastsel._config import show_config
from fastsel._coordinates import NonzeroCoordinates, nonzero_coordinates
from fastsel._distinct import unique, unique_all, unique_counts, unique_inverse, unique_values
from fastsel._gather import gather_nd
from fastsel._patch import patch_numpy, patched, unpatch_numpy
from fastsel._selection import (
    argwhere,
    boolean_mask,
    compress,
    count_nonzero,
    extract,
    flatnonzero,
    nonzero,
)
from fastsel._threads import get_num_threads, set_num_threads, threads
from fastsel._version import __version__

__all__ = [
    "NonzeroCoordinates",
    "__version__",
    "argwhere",
    "boolean_mask",
    "compress",
    "count_nonzero",
    "extract",
    "flatnonzero",
    "gather_nd",
    "get_num_threads",
    "nonzero",
    "nonzero_coordinates",
    "patch_numpy",
    "patched",
    "set_num_threads",
    "show_config",
    "threads",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "unpatch_numpy",
]
